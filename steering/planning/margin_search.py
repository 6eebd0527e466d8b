"""Follow the margins of a batch of questions until their crossings stand, each row at its own magnitude."""

from collections.abc import Callable, Sequence

import numpy as np
import torch

from onedial.models.forward.runner import Runner, Started, plainly_edited
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.models.tokens import pad_batch
from steering.interventions import Intervention
from steering.planning.margin_curves import MarginCurve

Evaluate = Callable[[Sequence[int], Sequence[float]], list[float]]
"""Margins of questions (by their place in the batch) at magnitudes, one each."""


class MarginSearch:
    """What stays the same over all batches of one call."""

    def __init__(
        self,
        model: OpenModel,
        prompts: PromptSet,
        intervention: Intervention,
        low: float,
        high: float,
        tolerance: float,
        runner: Runner | None = None,
    ) -> None:
        self.model, self.prompts, self.intervention = model, prompts, intervention
        self.edits = intervention.edits()
        self.range = (low, high, tolerance)
        self._runner = None if runner is None else (model.dtype, runner)

    def runner(self) -> Runner:
        """What runs the prompts, their common beginning run once in the model's present dtype."""
        if self._runner is None or self._runner[0] != self.model.dtype:
            lowest = [min(self.intervention.layers)]
            self._runner = (
                self.model.dtype,
                self.model.runner(self.prompts.sequences, lowest, self.intervention.at),
            )
        return self._runner[1]

    def batch(
        self, batch: list[int], start: list[list[float]], started: Started | None = None
    ) -> tuple[list[MarginCurve], list[int]]:
        """Follow each question's curve until its crossings stand; also the forward rows that each one took.

        Args:
            start: where to look first, for each question.
            started: the batch as `runner` has started it, where several interventions share one start.
        """
        sequences = [self.prompts.sequences[index] for index in batch]
        curves = [MarginCurve(*self.range) for _ in batch]
        last = self.intervention.at == "last"
        started = started or self.runner().start(sequences)
        unsteered = self.model.readout.margin(started.final, self.prompts.tokens).tolist()
        for curve, margin in zip(curves, unsteered, strict=True):
            if curve.low <= 0 <= curve.high:
                curve.add([0.0], [margin])
        spent = [0] * len(batch)
        if last:
            evaluate = self._at_last(started)
        else:
            shared = sorted(set.intersection(*(set(own) for own in start)))
            self._add_shared(started, curves, shared)
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

    def _at_last(self, started: Started) -> Evaluate:
        def evaluate(places: Sequence[int], magnitudes: Sequence[float]) -> list[float]:
            at = torch.tensor(magnitudes, dtype=torch.float32, device=self.model.device)
            counts = np.bincount(places, minlength=len(started.final))
            if len(set(counts.tolist())) == 1:  # the same number of points for every question, as in the first round
                final = self.runner().steer(started, self.edits, at.view(len(counts), -1)).flatten(0, 1)
            else:
                final = self.runner().steer(self.runner().pick(started, places), self.edits, at[:, None])[:, 0]
            return self.model.readout.margin(final, self.prompts.tokens).tolist()

        return evaluate

    def _add_shared(self, started: Started, curves: list[MarginCurve], magnitudes: Sequence[float]) -> None:
        at = torch.tensor(magnitudes, dtype=torch.float32, device=self.model.device)
        final = self.runner().steer(started, self.edits, at[None])
        for curve, margins in zip(curves, self.model.readout.margin(final, self.prompts.tokens).tolist(), strict=True):
            curve.add(magnitudes, margins)

    def _by_plain_forward(self, sequences: Sequence[Sequence[int]]) -> Evaluate:
        def evaluate(places: Sequence[int], magnitudes: Sequence[float]) -> list[float]:
            stack = self.model.stack
            batch = pad_batch([sequences[place] for place in places], stack.pad_id).to(stack.device)
            at = torch.tensor(magnitudes, dtype=torch.float32, device=stack.device)
            with plainly_edited(stack, self.edits, at, batch.attention_mask):
                final = self.model.final_residual(batch)
            return self.model.readout.margin(final, self.prompts.tokens).tolist()

        return evaluate


def _evaluate_all(curves: list[MarginCurve], wanted: Sequence[Sequence[float]], evaluate: Evaluate) -> list[int]:
    """Add the wanted points to the curves, all in one go; returns how many each question took."""
    places = [place for place, magnitudes in enumerate(wanted) for _ in magnitudes]
    flat = [magnitude for magnitudes in wanted for magnitude in magnitudes]
    if flat:
        for place, magnitude, margin in zip(places, flat, evaluate(places, flat), strict=True):
            curves[place].add([magnitude], [margin])
    return [len(magnitudes) for magnitudes in wanted]


def _add_up(one: list[int], other: list[int]) -> list[int]:
    return [a + b for a, b in zip(one, other, strict=True)]
