"""Run every prompt once, then with its stream edited at many settings, and read something off.

    rows = [rows_of(intervention, magnitudes) for intervention in interventions]
    read_along(model, prompts, rows, margins_of(model, prompts))         # of each question (margin and mass, row)

Batches of questions are the outer loop. Each batch is run once unedited; all rows then go on from what does not depend
on them (`onedial.models.forward.runner`), so that memory grows neither with the questions nor with the rows. Several
processes share the batches. Sweeps, side effects and the tests of causes are this function with other rows or another
readout.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from onedial.asking.instruments import YES_NO_TOKENS, TokenReader
from onedial.asking.prompts import PromptTemplate
from onedial.asking.sweep_tables import SWEEP_COLUMNS
from onedial.asking.yes_no import is_read
from onedial.core.errors import InputError
from onedial.models.forward.batches import Progress, map_batches
from onedial.models.forward.residual import Edits, Site, beginning_of
from onedial.models.forward.runner import Started
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.models.questions import SLOT, Questions
from steering.interventions import Intervention
from steering.pushes import Magnitudes, numbers_of

ROWS_PER_QUESTION = 64
"""More rows than this side by side pay for a mask that grows with their square."""

Numbers = NDArray[np.float64]
Sink = Callable[[pd.DataFrame], None]
Grids = Mapping[str, Magnitudes]
Readout = Callable[[Started, Float[Tensor, "question row d_model"]], Float[Tensor, "number question row"]]
"""From a batch as it was run unedited, and the final streams of its rows, to some numbers of each row."""


@dataclass(frozen=True)
class Rows:
    """Rows of every question: one way to edit the stream, at several settings.

    Attributes:
        edits: what is done at each layer; without any, the prompts as they are.
        settings: one line that serves all questions, or a line for each; float32.
        at: "last" or "all" positions of the prompt. together: never split, since rows are exchanged between.
    """

    edits: Edits
    settings: Float[Tensor, "questions row"]
    at: str = "last"
    together: bool = False


def rows_of(intervention: Intervention, magnitudes: Sequence[float]) -> Rows:
    """An intervention at some magnitudes, in its unit."""
    return Rows(intervention.edits(), torch.tensor([list(magnitudes)], dtype=torch.float32), intervention.reads_at)


UNEDITED = Rows({}, torch.zeros(1, 1))
"""One row of each question: its prompt as it is."""


@torch.inference_mode()
def read_along(
    model: OpenModel,
    prompts: PromptSet,
    rows: Sequence[Rows],
    readout: Readout,
    *,
    done: Collection[str] = frozenset(),
    sink: Callable[[list[int], Sequence[Numbers]], None] | None = None,
    progress: Progress | None = None,
) -> list[Numbers]:
    """Run every question at every row, and read something off it.

    Args:
        rows: side by side; at least one.
        done: question ids that need not be asked again. Prefix and batches are those of all questions, so that a task
            that was interrupted ends with the same bits as one that was not.
        sink: is given places and numbers of each finished part of a batch, and nothing is kept then.
        progress: is told how many questions were finished.

    Returns:
        Of each question that was asked (number, row), in their order; with several processes of all of them in each.
        Nothing with a sink.

    Raises:
        InputError: not even one question fits into memory.
    """
    widest = max([ROWS_PER_QUESTION, *(each.settings.shape[1] for each in rows if each.together)])
    left = {place for place, name in enumerate(prompts.question_ids) if name not in done}
    if not left:
        return []
    shared = {id(each.settings): each.settings for each in rows}
    moved = {key: lines.to(model.device) for key, lines in shared.items()}
    runners = {
        at: model.runner(
            prompts.sequences,
            [beginning_of(each.edits)[0] for each in rows if each.at == at and each.edits],
            at,
            within=any(isinstance(place, Site) for each in rows if each.at == at for place in each.edits),
        )
        for at in dict.fromkeys(each.at for each in rows)
    }

    @torch.inference_mode()
    def work(batch: list[int]) -> Numbers:
        sequences = [prompts.sequences[place] for place in batch]
        started = {at: runner.start(sequences) for at, runner in runners.items()}
        picked = {key: lines if len(lines) == 1 else lines[batch] for key, lines in moved.items()}

        def read(side_by_side: int) -> Tensor:
            answers = []
            for each in rows:
                rows_here = picked[id(each.settings)]
                for chunk in rows_here.split(rows_here.shape[1] if each.together else side_by_side, dim=1):
                    final = started[each.at].final[:, None]
                    if each.edits:
                        final = runners[each.at].steer(started[each.at], each.edits, chunk)
                    answers.append(readout(started[each.at], final))
            # One copy for all of them: the host waits for the device once in a batch.
            return torch.cat(answers, dim=2).double().cpu()

        values = read(ROWS_PER_QUESTION)
        if not values.isfinite().all():  # what overflows at one magnitude is no number at those beside it either
            values = torch.where(values.isfinite(), values, read(1))
        return values.numpy().swapaxes(0, 1)

    return map_batches(
        prompts.batches(model, widest), lambda batch: list(work(batch)), only=left, sink=sink,
        progress=progress,
    )  # fmt: skip


def margins_of(model: OpenModel, prompts: PromptSet) -> Readout:
    """Margin and mass of yes and no."""
    return lambda started, final: torch.stack(model.readout.margin_and_mass(final, prompts.tokens))


def read_margins(
    model: OpenModel, prompts: PromptSet, rows: Sequence[Rows], progress: Progress | None = None
) -> Numbers:
    """Read (question, row) margins; nan where the answer counts as unread."""
    numbers = read_along(model, prompts, rows, margins_of(model, prompts), progress=progress)
    margin, mass = np.stack(numbers, axis=1)
    return np.where(is_read(mass), margin, np.nan)


@dataclass(frozen=True)
class Kept:
    """What a table keeps of each row.

    Attributes:
        columns: of the numbers. readout: gives them, or what `reckon` makes them of, question by question.
    """

    columns: Sequence[str]
    readout: Readout
    reckon: Callable[[Numbers], Numbers] = lambda numbers: numbers


def answers_along(
    model: OpenModel,
    interventions: Sequence[Intervention],
    prompts: PromptSet,
    magnitudes: Magnitudes | Grids,
    *,
    kept: Kept | None = None,
    done: Collection[str] = frozenset(),
    sink: Sink | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Ask every question at every magnitude of every intervention: by default for margin and mass.

    Args:
        magnitudes: a number or several for all, or for each intervention_id; in its unit.
        sink: is given the table of each finished part of a batch. The rest: as in `read_along`.

    Returns:
        question_id, intervention_id, magnitude and what is kept (`SWEEP_COLUMNS`), by intervention, question and
        magnitude; empty with a sink.

    Raises:
        InputError: as `check_sweep`.
    """
    grids = check_sweep(model, interventions, magnitudes)
    kept = kept or Kept(SWEEP_COLUMNS[3:], margins_of(model, prompts))
    names = np.array(prompts.question_ids, dtype=object)
    ends = np.cumsum([0, *(len(grids[each.intervention_id]) for each in interventions)])

    def table(places: Sequence[int], numbers: Sequence[Numbers]) -> pd.DataFrame:
        values = np.stack([kept.reckon(each) for each in numbers])  # question number row
        frames = []
        for each, start, end in zip(interventions, ends, ends[1:], strict=False):
            keys = {
                "question_id": np.repeat(names[list(places)], end - start),
                "intervention_id": each.intervention_id,
                "magnitude": np.tile(np.array(grids[each.intervention_id], dtype=float), len(places)),
            }
            frames.append(pd.DataFrame(keys | {c: values[:, n, start:end].ravel() for n, c in enumerate(kept.columns)}))
        return pd.concat(frames, ignore_index=True)

    read_rows = read_along(
        model,
        prompts,
        [rows_of(each, grids[each.intervention_id]) for each in interventions],
        kept.readout,
        done=done,
        sink=None if sink is None else lambda places, numbers: sink(table(places, numbers)),
        progress=progress,
    )
    if not read_rows:
        return pd.DataFrame(columns=[*SWEEP_COLUMNS[:3], *kept.columns])
    asked = [place for place, name in enumerate(names) if name not in done]
    return table(asked, read_rows).sort_values("intervention_id", kind="stable", ignore_index=True)


def check_sweep(
    model: OpenModel, interventions: Sequence[Intervention], magnitudes: Magnitudes | Grids
) -> dict[str, list[float]]:
    """The magnitudes of each intervention, ascending.

    Raises:
        InputError: as in `steering.sweep`.
    """
    if not interventions:
        raise InputError("the sweep was given no intervention; extract a steering vector first")
    for each in interventions:
        each.check_model(model)
    identifiers = [each.intervention_id for each in interventions]
    if len(set(identifiers)) < len(identifiers):
        raise InputError(f"two interventions share a name among {', '.join(identifiers)}; leave one out")
    if isinstance(magnitudes, Mapping) and (lacking := set(identifiers) - set(magnitudes)):
        raise InputError(
            f"there are no magnitudes for {min(lacking)}; give a list for each intervention, or one for all"
        )
    grids = {
        name: grid_of(numbers_of(magnitudes[name] if isinstance(magnitudes, Mapping) else magnitudes))
        for name in identifiers
    }
    for name, grid in grids.items():
        if not grid or not np.isfinite(grid).all():
            raise InputError(f"the magnitudes of {name} are {grid}; give at least one number, all of them finite")
    return grids


def grid_of(magnitudes: Iterable[float]) -> list[float]:
    """Each magnitude once, ascending; what rounding has left of 0 (2.8e-17 in the middle of an even grid) is 0.

    >>> grid_of([0.3, 0.0, -0.3, -2.8e-17])
    [-0.3, 0.0, 0.3]
    """
    given = [float(magnitude) for magnitude in magnitudes]
    nothing = 1e-12 * max(filter(math.isfinite, map(abs, given)), default=0.0)
    return sorted({0.0 if abs(magnitude) <= nothing else magnitude for magnitude in given})


def prompts_for(
    model: OpenModel,
    interventions: Sequence[Intervention],
    questions: PromptSet | Questions,
    prompt: PromptTemplate | str | None = None,
    answers: tuple[str, str] | None = None,
) -> PromptSet:
    """Put the questions into the given prompt, else into the one under which the vectors were read.

    Args:
        answers: two words that stand in the places of yes and no; a prompt that the vectors remember, and that leaves
            the beginning of the answer open, has it begun by "Answer:" then, so that one of them can follow.

    Raises:
        InputError: the vectors do not tell which that was, or were read under several; a prompt beside a `PromptSet`,
            which has one; or as `PromptSet.build`.
    """
    if isinstance(questions, PromptSet):
        if prompt is not None or answers is not None:
            raise InputError(
                "a PromptSet has its prompt and answers; give the questions themselves, or leave these out"
            )
        return questions
    if prompt is None:
        read_under = {vector.template: vector.vector_id for each in interventions for vector in each.vectors}
        prompt = next(iter(read_under))
        if prompt is None or len(read_under) > 1:
            known = " and ".join(repr(each.name) for each in read_under if each is not None)
            came = f"{', '.join(read_under.values())} does not say under which prompt it was read"
            if len(read_under) > 1 and known:
                came = f"the vectors were read under the prompts {known}"
            raise InputError(f"{came}; say how to ask, by prompt='neutral', another framing, or a text with {SLOT}")
        if answers is not None and not prompt.assistant_prefix:
            prompt = replace(prompt, assistant_prefix="Answer:")
    reader = YES_NO_TOKENS if answers is None else TokenReader({word: _spellings(word) for word in answers})
    return PromptSet.build(model, questions, prompt, reader=reader)


def _spellings(word: str) -> tuple[str, ...]:
    """A word as it may begin an answer: as it is, lower and capitalised, with and without a blank before it."""
    forms = dict.fromkeys([word, word.lower(), word.capitalize(), word.upper()])
    return tuple(blank + form for form in forms for blank in ("", " "))
