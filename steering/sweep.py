"""The sweep: every question's yes/no margin at every magnitude of every vector.

Batches of questions are the outer loop. Each batch is run once without steering; all vectors and magnitudes then reuse
what does not depend on them (`open_models.prefill`), so memory grows neither with the number of questions nor with
that of magnitudes, and each finished batch is handed on at once.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from einops import repeat
from torch import Tensor

from common import InputError
from elicitation.questions import Question
from elicitation.yes_no import MASS_FLOOR
from open_models import OpenModel
from open_models.batches import halving_on_out_of_memory
from open_models.prefill import Prefilled, SharedPrefix
from steering.processes import gather, own_share
from steering.prompt_set import PromptSet
from steering.vectors import SteeringSpec, SteeringVector

ROWS_PER_QUESTION = 64
"""More rows than this side by side pay for a mask that grows with their square."""

COLUMNS = ["question_id", "vector_id", "layer", "positions", "magnitude", "margin", "mass"]

Sink = Callable[[pd.DataFrame], None]


@dataclass(frozen=True)
class SweepResult:
    """The answers of a sweep.

    Attributes:
        table: one row per question, vector and magnitude; columns `question_id, vector_id, layer, positions,
            magnitude, margin, mass`, ordered by vector, question and magnitude.
    """

    table: pd.DataFrame

    def margins(self, vector_id: str) -> pd.DataFrame:
        """Questions x magnitudes; nan where the answer counts as unread (mass below 0.1)."""
        own = self.table[self.table["vector_id"] == vector_id]
        read = own.assign(margin=own["margin"].where(own["mass"] >= MASS_FLOOR))
        return read.pivot(index="question_id", columns="magnitude", values="margin")


def sweep(
    model: OpenModel,
    questions: PromptSet | Sequence[Question],
    vectors: Sequence[SteeringVector],
    magnitudes: Sequence[float] | Mapping[str, Sequence[float]],
    spec: SteeringSpec | None = None,
    *,
    sink: Sink | None = None,
    done: Collection[str] = frozenset(),
    progress: Callable[[int], None] | None = None,
    batch_size: int | None = None,
) -> SweepResult:
    """Ask every question at every magnitude of every vector.

    Args:
        questions: a `PromptSet`, or questions that are put into the neutral metacognitive prompt.
        magnitudes: one list for all vectors, or a list per `vector_id`; in units of `spec.unit`, positive towards yes.
        sink: is given each finished batch's table, for example to write it to disk.
        done: question ids that need not be asked again; they are missing from the result.
        progress: is told how many questions were finished.

    Returns:
        The table of this call's questions; with several processes, of all of them, in each process.

    Raises:
        InputError: a vector of another model, no vector, no magnitude, or an endless one.
    """
    spec = spec or SteeringSpec()
    grids = _check(model, vectors, magnitudes)
    prompts = PromptSet.of(model, questions)
    names = prompts.question_ids
    # Prefix and batches are those of all questions, so that a resumed sweep ends with the same bits as an unbroken one.
    batches = prompts.batches(model, batch_size, ROWS_PER_QUESTION)
    left = [[index for index in batch if names[index] not in done] for batch in batches]
    todo = [batch for batch in left if batch]
    frames: list[pd.DataFrame] = []
    if todo:
        layers = sorted({vector.layer for vector in vectors})
        whole = spec.positions != "last"
        prefix = model.run_prefix(prompts.sequences, layers if whole else [])

        def work(batch: list[int]) -> pd.DataFrame:
            return _sweep_batch(model, prompts.subset([names[index] for index in batch]), prefix, vectors, grids, spec)

        for batch in own_share(todo):
            for frame in halving_on_out_of_memory(work, batch):
                frames.append(frame)
                if sink:
                    sink(frame)
                if progress:
                    progress(frame["question_id"].nunique())
    frames = gather(frames)
    table = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=COLUMNS)
    place = {question: index for index, question in enumerate(prompts.question_ids)}
    order = table["question_id"].map(place)
    table = table.assign(_order=order).sort_values(["vector_id", "_order", "magnitude"], kind="stable")
    return SweepResult(table.drop(columns="_order").reset_index(drop=True))


def _check(
    model: OpenModel,
    vectors: Sequence[SteeringVector],
    magnitudes: Sequence[float] | Mapping[str, Sequence[float]],
) -> dict[str, list[float]]:
    if not vectors:
        raise InputError("the sweep was given no steering vector; extract one first")
    for vector in vectors:
        vector.check_model(model)
        model.check_layers([vector.layer])
    identifiers = [vector.vector_id for vector in vectors]
    if len(set(identifiers)) < len(identifiers):
        raise InputError(f"two vectors share a name among {', '.join(identifiers)}; leave one out")
    grids = {
        name: sorted({float(m) for m in (magnitudes[name] if isinstance(magnitudes, Mapping) else magnitudes)})
        for name in identifiers
    }
    for name, grid in grids.items():
        if not grid or not np.isfinite(grid).all():
            raise InputError(f"the magnitudes of {name} are {grid}; give at least one number, all of them finite")
    return grids


def _sweep_batch(
    model: OpenModel,
    prompts: PromptSet,
    prefix: SharedPrefix,
    vectors: Sequence[SteeringVector],
    grids: Mapping[str, Sequence[float]],
    spec: SteeringSpec,
) -> pd.DataFrame:
    layers = sorted({vector.layer for vector in vectors})
    prefilled = model.prefill(prompts.sequences, layers, prefix, whole=spec.positions != "last")
    frames = []
    for vector in vectors:
        grid = torch.tensor(grids[vector.vector_id], dtype=torch.float32, device=model.device)
        answers = [
            model.readout.margin_and_mass(_steer(model, prefilled, vector, chunk, spec), prompts.tokens)
            for chunk in grid.split(ROWS_PER_QUESTION)
        ]
        margin, mass = (torch.cat(parts, dim=1).double().cpu().numpy() for parts in zip(*answers, strict=True))
        frames.append(
            pd.DataFrame(
                {
                    "question_id": np.repeat(np.array(prompts.question_ids, dtype=object), len(grid)),
                    "vector_id": vector.vector_id,
                    "layer": vector.layer,
                    "positions": spec.positions,
                    "magnitude": np.tile(np.array(grids[vector.vector_id]), len(prompts)),
                    "margin": margin.ravel(),
                    "mass": mass.ravel(),
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def _steer(
    model: OpenModel, prefilled: Prefilled, vector: SteeringVector, magnitudes: Tensor, spec: SteeringSpec
) -> Tensor:
    """Final residual streams, `question magnitude d_model`."""
    additions = vector.addition(magnitudes, spec)
    if spec.positions == "last":
        rows = repeat(additions, "row d_model -> question row d_model", question=len(prefilled.final))
        return model.steer_last(prefilled, vector.layer, rows)
    return model.steer_all(prefilled, vector.layer, additions)
