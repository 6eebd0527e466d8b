"""The sweep: every question's yes/no margin at every magnitude of every intervention.

Batches of questions are the outer loop. Each batch is run once without steering; all interventions and magnitudes then
reuse what does not depend on them (`onedial.models.forward.runner`), so memory grows neither with the number of
questions nor with that of magnitudes, and each finished batch is handed on at once.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from onedial.asking import SWEEP_COLUMNS, PromptTemplate, is_read
from onedial.core import InputError, notice, one_line
from onedial.models import AtHand, OpenModel, PromptSet, Runner, gather, halving_on_out_of_memory, own_share
from steering.at_hand import prompts_at_hand
from steering.interventions import Intervention, as_interventions
from steering.pushes import Push, say_if_far
from steering.vectors import SteeringVector

ROWS_PER_QUESTION = 64
"""More rows than this side by side pay for a mask that grows with their square."""

Sink = Callable[[pd.DataFrame], None]
Grids = Mapping[str, Sequence[float]]
Pushed = Intervention | SteeringVector | Sequence[Intervention | SteeringVector]


@dataclass(frozen=True)
class SweepResult:
    """The answers of a sweep.

    Attributes:
        table: one row per question, intervention and magnitude; columns `question_id, intervention_id, magnitude,
            margin, mass`, ordered by intervention, question and magnitude.
    """

    table: pd.DataFrame

    __repr__ = one_line

    def margins(self, intervention_id: str) -> pd.DataFrame:
        """Questions x magnitudes; nan where the answer counts as unread (mass below 0.1)."""
        own = self.table[self.table["intervention_id"] == intervention_id]
        read = own.assign(margin=own["margin"].where(is_read(own["mass"])))
        return read.pivot(index="question_id", columns="magnitude", values="margin")

    def rates(self) -> pd.DataFrame:
        """The dose-response: by intervention and magnitude, `yes_rate` among the answers that could be read with its
        standard error `se` = sqrt(p (1 - p) / n_read), and how many were read (`n_read`) and were not (`n_unread`).

            result.rates()["yes_rate"].unstack("intervention_id").plot()
        """
        read = is_read(self.table["mass"])
        yes = (self.table["margin"] > 0).astype(float).where(read)
        by = yes.groupby([self.table["intervention_id"], self.table["magnitude"]], sort=False)
        rates = by.agg(yes_rate="mean", n_read="count", n_unread="size").sort_index()
        rates["n_unread"] -= rates["n_read"]
        spread = rates["yes_rate"] * (1 - rates["yes_rate"])
        rates.insert(1, "se", np.sqrt(spread / rates["n_read"].where(rates["n_read"] > 0)))
        return pd.DataFrame(rates)


def sweep(
    model: OpenModel,
    interventions: Pushed,
    questions: PromptSet | AtHand,
    magnitudes: Sequence[float] | Grids | None = None,
    *,
    prompt: PromptTemplate | str | None = None,
    sink: Sink | None = None,
    done: Collection[str] = frozenset(),
    progress: Callable[[int], None] | None = None,
    batch_size: int | None = None,
) -> SweepResult:
    """Ask every question at every magnitude of every intervention.

        sweep(model, vector, ["Who sang Hurt first?", "What is 7 times 8?"]).rates()      # asked as the vector was read
        sweep(model, [vector, random_vector(vector, 1)], "my_questions.csv", [-0.2, 0, 0.2], prompt="neutral")

    Args:
        interventions: one or several; a vector by itself is added at the answer position, in residual norms.
        questions: a `PromptSet`; or texts, rows, a data frame, the name of a set or file (`onedial.load_questions`),
            or `Question`s.
        magnitudes: one list for all, or a list per `intervention_id`; in its unit, positive towards yes. By default 25
            even ones over the stretch in which the first intervention turns the answers (`doubling` on the first 32
            questions).
        prompt: how questions are put: a template, the name of a framing, or a text with {question}; by default as they
            were when the vectors were read.
        sink: is given each finished batch's table, for example to write it to disk. Nothing is kept then.
        done: question ids that need not be asked again; they are missing from the result.
        progress: is told how many questions were finished.

    Returns:
        The table of this call's questions; with several processes, of all of them, in each process. Empty with a sink.

    Raises:
        InputError: an intervention of another model, a push, which has a magnitude already, none at all, or one in the
            questions' place; an endless magnitude or an empty list; questions without a prompt, where the vectors
            remember none.

    >>> from onedial import load_model, load_questions
    >>> from steering import extract_vector
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=24)
    >>> vector = extract_vector(model, questions[4:], layer=21)
    >>> sweep(model, vector, questions[:4], [0.0, 0.5]).rates().shape[0]
    2
    """
    if _are_pushed(questions):
        raise InputError("the vectors stand where the questions belong; write sweep(model, vectors, questions)")
    asked = as_interventions(interventions)
    prompts = prompts_at_hand(model, asked, questions, prompt)
    looking = magnitudes is not None and not isinstance(questions, PromptSet)  # a program that looks for the range
    if magnitudes is None:  # itself is not told that it does
        from steering.planning.layers import even_grid

        magnitudes = even_grid(model, prompts, asked)
    elif looking:
        say_if_far(asked, magnitudes)
    grids = check_sweep(model, asked, magnitudes)
    names = prompts.question_ids
    # Prefix and batches are those of all questions, so that a resumed sweep ends with the same bits as an unbroken one.
    batches = prompts.batches(model, batch_size, ROWS_PER_QUESTION)
    left = [[index for index in batch if names[index] not in done] for batch in batches]
    todo = [batch for batch in left if batch]
    frames: list[pd.DataFrame] = []
    settings = {name: torch.tensor(grid, dtype=torch.float32, device=model.device) for name, grid in grids.items()}
    if todo:
        runners = _runners(model, prompts, asked)

        def work(batch: list[int]) -> pd.DataFrame:
            own = prompts.subset([names[index] for index in batch])
            return pd.concat(
                [
                    _sweep_batch(model, own, runner, [each for each in asked if each.at == at], grids, settings)
                    for at, runner in runners
                ],
                ignore_index=True,
            )

        frames = tables_of_batches(work, own_share(todo), sink, progress)
    if sink:
        return SweepResult(pd.DataFrame(columns=SWEEP_COLUMNS))
    frames = gather(frames)
    table = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=SWEEP_COLUMNS)
    place = {question: index for index, question in enumerate(prompts.question_ids)}
    order = table["question_id"].map(place)
    table = table.assign(_order=order).sort_values(["intervention_id", "_order", "magnitude"], kind="stable")
    result = SweepResult(table.drop(columns="_order").reset_index(drop=True))
    if looking:
        _say_if_still(result, asked[0].intervention_id)
    return result


def grid_of(magnitudes: Iterable[float]) -> list[float]:
    """Each magnitude once, ascending; what rounding has left of 0 (2.8e-17 in the middle of an even grid) is 0.

    >>> grid_of([0.3, 0.0, -0.3, -2.8e-17])
    [-0.3, 0.0, 0.3]
    """
    given = [float(magnitude) for magnitude in magnitudes]
    nothing = 1e-12 * max(filter(math.isfinite, map(abs, given)), default=0.0)
    return sorted({0.0 if abs(magnitude) <= nothing else magnitude for magnitude in given})


def tables_of_batches(
    work: Callable[[list[int]], pd.DataFrame],
    batches: Iterable[list[int]],
    sink: Sink | None,
    progress: Callable[[int], None] | None,
) -> list[pd.DataFrame]:
    """The table of each batch, smaller where memory ran out; with a sink they go there and none is kept."""
    frames = []
    for batch in batches:
        for frame in halving_on_out_of_memory(work, batch):
            if sink:
                sink(frame)
            else:
                frames.append(frame)
            if progress:
                progress(frame["question_id"].nunique())
    return frames


def _say_if_still(result: SweepResult, intervention_id: str) -> None:
    """Notice that no answer is another one at another magnitude."""
    margins = result.margins(intervention_id)
    yes = (margins > 0).where(margins.notna()).astype(float)
    if margins.shape[1] > 1 and not (yes.max(axis=1) > yes.min(axis=1)).any():
        notice(
            f"{intervention_id} turns no answer between {margins.columns[0]:g} and {margins.columns[-1]:g}; try larger "
            "magnitudes, another layer, contrast or prompt"
        )


def _are_pushed(given: object) -> bool:
    first = given[0] if isinstance(given, Sequence) and not isinstance(given, str) and given else given
    return isinstance(first, SteeringVector | Intervention | Push)


def _runners(model: OpenModel, prompts: PromptSet, interventions: Sequence[Intervention]) -> list[tuple[str, Runner]]:
    """One runner for each kind of position, which keeps the stream where its interventions begin."""
    kinds = dict.fromkeys(each.at for each in interventions)
    return [
        (at, model.runner(prompts.sequences, [min(each.layers) for each in interventions if each.at == at], at))
        for at in kinds
    ]


def check_sweep(
    model: OpenModel, interventions: Sequence[Intervention], magnitudes: Sequence[float] | Grids
) -> dict[str, list[float]]:
    """The magnitudes of each intervention, ascending.

    Raises:
        InputError: as in `sweep`.
    """
    if not interventions:
        raise InputError("the sweep was given no intervention; extract a steering vector first")
    for each in interventions:
        each.check_model(model)
    identifiers = [each.intervention_id for each in interventions]
    if len(set(identifiers)) < len(identifiers):
        raise InputError(f"two interventions share a name among {', '.join(identifiers)}; leave one out")
    grids = {name: grid_of(magnitudes[name] if isinstance(magnitudes, Mapping) else magnitudes) for name in identifiers}
    for name, grid in grids.items():
        if not grid or not np.isfinite(grid).all():
            raise InputError(f"the magnitudes of {name} are {grid}; give at least one number, all of them finite")
    return grids


def _sweep_batch(
    model: OpenModel,
    prompts: PromptSet,
    runner: Runner,
    interventions: Sequence[Intervention],
    grids: Mapping[str, Sequence[float]],
    settings: Mapping[str, Float[Tensor, " magnitude"]],
) -> pd.DataFrame:
    started = runner.start(prompts.sequences)

    def answers(side_by_side: int) -> Tensor:
        """(margin or mass, question, magnitude of every intervention), some magnitudes at once."""
        read = [
            torch.stack(model.readout.margin_and_mass(runner.steer(started, each.edits(), chunk[None]), prompts.tokens))
            for each in interventions
            for chunk in settings[each.intervention_id].split(side_by_side)
        ]
        return torch.cat(read, dim=2).double().cpu()  # one copy: the host waits for the device once in a batch

    found = answers(ROWS_PER_QUESTION)
    if not found.isfinite().all():  # what overflows at one magnitude is no number at those beside it either
        found = torch.where(found.isfinite(), found, answers(1))
    frames = []
    for each, own in zip(
        interventions, found.split([len(settings[each.intervention_id]) for each in interventions], dim=2), strict=True
    ):
        margin, mass = own.numpy()
        frames.append(
            pd.DataFrame(
                {
                    "question_id": np.repeat(np.array(prompts.question_ids, dtype=object), own.shape[2]),
                    "intervention_id": each.intervention_id,
                    "magnitude": np.tile(np.array(grids[each.intervention_id]), len(prompts)),
                    "margin": margin.ravel(),
                    "mass": mass.ravel(),
                }
            )
        )
    return pd.concat(frames, ignore_index=True)
