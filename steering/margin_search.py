"""Follow the margins of a batch of questions until their crossings stand, each row at its own magnitude."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from common import InputError
from open_models import OpenModel
from open_models.prefill import Prefilled, SharedPrefix
from open_models.tokens import TokenBatch, pad_batch
from steering.apply import prompt_edit
from steering.margin_curves import MarginCurve
from steering.prompt_set import PromptSet
from steering.vectors import SteeringSpec, SteeringVector

Evaluate = Callable[[Sequence[int], Sequence[float]], list[float]]
"""Margins of questions (by their place in the batch) at magnitudes, one each."""


class MarginSearch:
    """What stays the same over all batches of one call."""

    def __init__(
        self,
        model: OpenModel,
        prompts: PromptSet,
        vector: SteeringVector,
        spec: SteeringSpec,
        low: float,
        high: float,
        tolerance: float,
    ) -> None:
        self.model, self.prompts, self.vector, self.spec = model, prompts, vector, spec
        self.range = (low, high, tolerance)
        self._prefix: tuple[torch.dtype, SharedPrefix] | None = None

    def prefix(self) -> SharedPrefix:
        """The prompts' common beginning, run once in the model's present dtype."""
        if self._prefix is None or self._prefix[0] != self.model.dtype:
            layers = [] if self.spec.positions == "last" else [self.vector.layer]
            self._prefix = (self.model.dtype, self.model.run_prefix(self.prompts.sequences, layers))
        return self._prefix[1]

    def batch(self, batch: list[int], start: list[list[float]]) -> tuple[list[MarginCurve], list[int]]:
        """Follow each question's curve until its crossings stand; also the forward rows that each one took."""
        sequences = [self.prompts.sequences[index] for index in batch]
        curves = [MarginCurve(*self.range) for _ in batch]
        last = self.spec.positions == "last"
        prefilled = self.model.prefill(sequences, [self.vector.layer], self.prefix(), whole=not last)
        unsteered = self.model.readout.margin(prefilled.final, self.prompts.tokens).tolist()
        for curve, margin in zip(curves, unsteered, strict=True):
            if curve.low <= 0 <= curve.high:
                curve.add([0.0], [margin])
        spent = [0] * len(batch)
        if last:
            evaluate = self._at_last(prefilled)
        else:
            shared = sorted(set.intersection(*(set(own) for own in start)))
            self._add_shared(prefilled, curves, shared)
            spent = [len(shared)] * len(batch)
            start = [[magnitude for magnitude in own if magnitude not in shared] for own in start]
            evaluate = self._by_plain_forward(sequences)
        spent = _add_up(spent, _evaluate_all(curves, start, evaluate))
        active = list(range(len(batch)))
        while active:
            wanted = {place: curves[place].wanted() for place in active}
            active = [place for place in active if wanted[place]]
            now = [wanted.get(place, []) for place in range(len(batch))]
            spent = _add_up(spent, _evaluate_all(curves, now, evaluate))
        return curves, spent

    def _at_last(self, prefilled: Prefilled) -> Evaluate:
        def evaluate(places: Sequence[int], magnitudes: Sequence[float]) -> list[float]:
            at = torch.tensor(magnitudes, dtype=torch.float32, device=self.model.device)
            counts = np.bincount(places, minlength=len(prefilled.final))
            if len(set(counts.tolist())) == 1:  # the same number of points for every question, as in the first round
                additions = self.vector.addition(at.view(len(counts), -1), self.spec)
                final = self.model.steer_last(prefilled, self.vector.layer, additions).flatten(0, 1)
            else:
                additions = self.vector.addition(at[:, None], self.spec)
                final = self.model.steer_last(_take(prefilled, places), self.vector.layer, additions)[:, 0]
            return self.model.readout.margin(final, self.prompts.tokens).tolist()

        return evaluate

    def _add_shared(self, prefilled: Prefilled, curves: list[MarginCurve], magnitudes: Sequence[float]) -> None:
        at = torch.tensor(magnitudes, dtype=torch.float32, device=self.model.device)
        final = self.model.steer_all(prefilled, self.vector.layer, self.vector.addition(at, self.spec))
        for curve, margins in zip(curves, self.model.readout.margin(final, self.prompts.tokens).tolist(), strict=True):
            curve.add(magnitudes, margins)

    def _by_plain_forward(self, sequences: Sequence[Sequence[int]]) -> Evaluate:
        def evaluate(places: Sequence[int], magnitudes: Sequence[float]) -> list[float]:
            batch = pad_batch([sequences[place] for place in places], self.model.pad_id).to(self.model.device)
            at = torch.tensor(magnitudes, dtype=torch.float32, device=self.model.device)
            edit = prompt_edit(batch.attention_mask, self.vector.addition(at, self.spec)[:, None], self.spec)
            with self.model.edit_residual(self.vector.layer, edit):
                final = self.model.final_residual(batch)
            return self.model.readout.margin(final, self.prompts.tokens).tolist()

        return evaluate


@contextlib.contextmanager
def widened(model: OpenModel) -> Iterator[None]:
    """While the context lasts, the weights are float32; afterwards they are bit for bit what they were.

    Raises:
        InputError: the weights do not fit into memory in float32, or were offloaded.
    """
    narrow: dict[torch.nn.Parameter, torch.dtype] = {
        parameter: parameter.dtype for parameter in model.hf.parameters() if parameter.dtype != torch.float32
    }
    try:
        for parameter in narrow:
            if parameter.device.type == "meta":
                raise InputError("weights that were offloaded can't be widened to float32; pass recheck=False")
            parameter.data = parameter.data.float()
        yield
    except torch.OutOfMemoryError as error:
        raise InputError("the weights in float32 do not fit into memory; pass recheck=False") from error
    finally:
        for parameter, dtype in narrow.items():
            parameter.data = parameter.data.to(dtype)


def _evaluate_all(curves: list[MarginCurve], wanted: Sequence[Sequence[float]], evaluate: Evaluate) -> list[int]:
    """Add the wanted points to the curves, all in one go; returns how many each question took."""
    places = [place for place, magnitudes in enumerate(wanted) for _ in magnitudes]
    flat = [magnitude for magnitudes in wanted for magnitude in magnitudes]
    if flat:
        for place, magnitude, margin in zip(places, flat, evaluate(places, flat), strict=True):
            curves[place].add([magnitude], [margin])
    return [len(magnitudes) for magnitudes in wanted]


def _take(prefilled: Prefilled, places: Sequence[int]) -> Prefilled:
    """The prefilled questions at some places, repeats allowed."""
    index = torch.tensor(places, device=prefilled.final.device)

    def pick(tensor: torch.Tensor) -> torch.Tensor:
        return tensor[index.to(tensor.device)]

    batch = prefilled.batch
    kept: list[Any] = [entry and (pick(entry[0]), pick(entry[1])) for entry in prefilled.keys_and_values or []]
    return replace(
        prefilled,
        batch=TokenBatch(pick(batch.input_ids), pick(batch.attention_mask), pick(batch.position_ids)),
        keys_and_values=kept or None,
        residuals={layer: pick(stream) for layer, stream in prefilled.residuals.items()},
        final=pick(prefilled.final),
    )


def _add_up(one: list[int], other: list[int]) -> list[int]:
    return [a + b for a, b in zip(one, other, strict=True)]
