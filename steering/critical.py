"""Critical magnitudes: where, on the dial, each question's answer flips.

A question says yes when its margin is positive. The magnitudes at which the margin crosses zero answer every target at
once: the yes rate and each answer at any magnitude follow from them by counting, without another forward.

Positions `last`: a few points on each side of 0 (0 itself is the unsteered prompt and costs nothing), then each
crossing is closed in on by interpolation (`steering.planning.margin_curves`). Every (question, crossing) has its own
magnitude; what has converged is run no more.

Positions `prompt` and `all`: one magnitude for a whole batch lets all questions share the prompts' common beginning,
so the curve is laid through Chebyshev nodes first; then each crossing is checked, and moved if need be, at its own
magnitude by a plain forward.

A model in bfloat16 or float16 evaluates its own, slightly rough curve: additions below about 1/256 of the residual
stream are rounded away, so a tolerance finer than that means little there; load it in float32 for more.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from onedial.asking.prompts import PromptTemplate
from onedial.asking.sweep_tables import CROSSING_COLUMNS
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.models.forward.batches import Progress, map_batches
from onedial.models.forward.runner import Runner, plainly_edited
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.models.questions import Questions
from onedial.models.tokens import pad_batch
from steering.interventions import Intervention, SteeringVector, as_intervention
from steering.planning.margin_curves import MarginCurve
from steering.reading import prompts_for

CRITICAL_COLUMNS = ["question_id", "n_roots", "magnitude", "status", "yes_at_low", "evaluations"]
OK, ALWAYS_YES, ALWAYS_NO = "ok", "none in range: always yes", "none in range: always no"

SCAN_PER_SIDE = 2
NODES = 11
ROWS_PER_CROSSING = {True: 6, False: 12}
"""Forward rows that a question's crossings take, at positions `last` and at others; measured, for forecasts."""
CONTROL_FINENESS = 400
"""Crossings along controls are found to this part of their range: what is compared are orders, not places."""


@dataclass(frozen=True)
class CriticalMagnitudes:
    """Where the answers flip between `low` and `high`.

    Attributes:
        table: one row per question and crossing, ordered by question and magnitude; a question without one has one
            row with magnitude nan. Columns `question_id, n_roots, magnitude, status` ("ok", "none in range: always
            yes" or "... always no"), `yes_at_low` (the answer at `low`), `evaluations` (forward rows spent on it,
            beside the one prefill).
        low, high: the range.
        tolerance: to which the magnitudes were asked for.
    """

    table: pd.DataFrame
    low: float
    high: float
    tolerance: float

    __repr__ = one_line

    @property
    def n_roots(self) -> pd.Series:
        """Crossings of each question, index question_id. Above 1 the answer does not follow the dial one way."""
        return self.table.groupby("question_id", sort=False)["n_roots"].first()

    def answers_at(self, magnitude: float) -> pd.Series:
        """Each question's answer at one magnitude: 1.0 for yes, 0.0 for no, index question_id.

        Raises:
            InputError: the magnitude lies outside the range.
        """
        if not self.low <= magnitude <= self.high:
            raise InputError(
                f"magnitude {magnitude} lies outside {self.low}..{self.high}, where the crossings were sought; "
                "give one inside, or look for them in a wider range"
            )
        passed = (self.table["magnitude"] < magnitude).groupby(self.table["question_id"], sort=False).sum()
        at_low = self.table.groupby("question_id", sort=False)["yes_at_low"].first()
        return (at_low ^ (passed % 2 == 1)).astype(float).rename(magnitude)

    def yes_rate(self, magnitudes: Sequence[float]) -> pd.Series:
        """The dose-response: the share of questions answered yes, index magnitude."""
        rates = [self.answers_at(magnitude).mean() for magnitude in magnitudes]
        return pd.Series(rates, index=pd.Index(magnitudes, name="magnitude"), name="yes_rate")


def critical_magnitudes(
    model: OpenModel,
    questions: PromptSet | Questions,
    intervention: Intervention | SteeringVector,
    *,
    low: float,
    high: float,
    tolerance: float = 1e-4,
    scan: int | None = None,
    progress: Progress | None = None,
    batch_size: int | None = None,
    prompt: PromptTemplate | str | None = None,
) -> CriticalMagnitudes:
    """Find every magnitude in a range at which a question's answer flips.

    Two crossings closer together than the first points are found only if the curve between them shows it; random
    directions, whose curves wind most, want a larger `scan`.

    Args:
        questions, prompt: as in `steering.sweep`.
        intervention: a vector by itself is added at the answer position, in residual norms.
        low, high: the range, in the intervention's unit.
        tolerance: of the magnitudes.
        scan: first points; for positions `last` those on each side of 0 (2 by default), else the number of Chebyshev
            nodes (11 by default).
        progress: is told how many questions were finished.

    Returns:
        With several processes, the crossings of all questions in each process.

    Raises:
        InputError: an empty range, a tolerance that is not positive, too few first points, an intervention of another
            model.

    >>> from onedial import load_model, load_questions
    >>> from steering import extract_vector
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=24)
    >>> vector = extract_vector(model, questions[4:], layer=21)
    >>> type(critical_magnitudes(model, questions[:4], vector, low=-1.0, high=1.0)).__name__
    'CriticalMagnitudes'
    """
    intervention = as_intervention(intervention)
    search = Search.of(intervention, low, high, tolerance, scan)
    intervention.check_model(model)
    prompts = prompts_for(model, [intervention], questions, prompt)
    found = _crossed(model, prompts, [search], batch_size=batch_size, progress=progress)
    return CriticalMagnitudes(_table(prompts.question_ids, found, 0), low, high, tolerance)


def crossings_along(
    model: OpenModel,
    prompts: PromptSet,
    ranges: Mapping[str, tuple[float, float]],
    interventions: Sequence[Intervention],
    *,
    sink: Callable[[pd.DataFrame], object],
    done: Collection[str] = frozenset(),
    progress: Progress | None = None,
) -> None:
    """Where the answers turn along many interventions, in one pass over the questions: for controls.

    Each batch of questions is run once without steering, and all interventions go on from there. In 16 bits the
    crossings are those of the rough curve.

    Args:
        ranges: intervention_id -> (low, high), in its unit; a crossing is found to 1/400 of that.
        sink: is given each finished batch's table, with the columns `CROSSING_COLUMNS`, and the unsteered `margin` and
            `mass` of the row's question.
        done: question ids that need not be asked again.
        progress: is told how many questions were finished.

    Raises:
        InputError: as `critical_magnitudes`.

    >>> from onedial import load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> from steering import extract_vector
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=24)
    >>> dial, tables = Intervention.of(extract_vector(model, questions, layer=21)), []
    >>> prompts = PromptSet.build(model, questions, METACOGNITIVE)
    >>> crossings_along(model, prompts, {dial.intervention_id: (-0.5, 0.5)}, [dial], sink=tables.append)
    >>> sorted(set(tables[0]["intervention_id"])) == [dial.intervention_id]
    True
    """
    searches = []
    for each in interventions:
        each.check_model(model)
        low, high = ranges[each.intervention_id]
        searches.append(Search.of(each, low, high, (high - low) / CONTROL_FINENESS))

    def keep(batch: list[int], found: Sequence[Crossed]) -> None:
        order = np.argsort(batch)
        own, found = [prompts.question_ids[batch[place]] for place in order], [found[place] for place in order]
        unsteered = pd.DataFrame([(each.margin, each.mass) for each in found], columns=["margin", "mass"], index=own)
        tables = [
            _table(own, found, number).assign(intervention_id=search.intervention.intervention_id)
            for number, search in enumerate(searches)
        ]
        sink(pd.concat(tables, ignore_index=True)[CROSSING_COLUMNS].join(unsteered, on="question_id"))

    _crossed(model, prompts, searches, done=done, sink=keep, progress=progress)


@dataclass(frozen=True, eq=False)
class Search:
    """Where crossings along an intervention are sought; `first`: the magnitudes that are looked at first."""

    intervention: Intervention
    low: float
    high: float
    tolerance: float
    first: list[float]

    @classmethod
    def of(
        cls, intervention: Intervention, low: float, high: float, tolerance: float, scan: int | None = None
    ) -> "Search":
        """See `critical_magnitudes`."""
        first = _first_points(low, high, tolerance, intervention.at, scan)
        return cls(intervention, low, high, tolerance, first)


@dataclass(frozen=True, eq=False)
class Crossed:
    """One question: its unsteered answer, and its curve along each intervention."""

    margin: float
    mass: float
    curves: list[MarginCurve]


def _crossed(
    model: OpenModel,
    prompts: PromptSet,
    searches: Sequence[Search],
    *,
    batch_size: int | None = None,
    done: Collection[str] = frozenset(),
    sink: Callable[[list[int], Sequence[Crossed]], None] | None = None,
    progress: Progress | None = None,
) -> list[Crossed]:
    """Every question along every intervention; each batch is run once unsteered, and all of them go on from there."""
    left = {place for place, name in enumerate(prompts.question_ids) if name not in done}
    if not left:
        return []
    acting = [search.intervention for search in searches]
    runners = {
        at: model.runner(prompts.sequences, [min(each.layers) for each in acting if each.at == at], at)
        for at in dict.fromkeys(each.at for each in acting)
    }

    def work(batch: list[int]) -> list[Crossed]:
        started = {at: runner.start([prompts.sequences[place] for place in batch]) for at, runner in runners.items()}
        final = next(iter(started.values())).final
        unsteered = [each.double().cpu().tolist() for each in model.readout.margin_and_mass(final, prompts.tokens)]
        along = []
        for search in searches:
            at = search.intervention.at
            along.append(follow(model, prompts, batch, search, runners[at], started[at]))
        return [
            Crossed(margin, mass, list(curves))
            for margin, mass, curves in zip(*unsteered, zip(*along, strict=True), strict=True)
        ]

    batches = prompts.batches(model, batch_size, max(len(search.first) for search in searches))
    return map_batches(batches, work, only=left, sink=sink, progress=progress)


def follow(
    model: OpenModel,
    prompts: PromptSet,
    batch: Sequence[int],
    search: Search,
    runner: Runner,
    started: Any,
) -> list[MarginCurve]:
    """Each question's curve until its crossings stand, each at its own magnitude.

    Args:
        started: the batch as the runner has run it.
    """
    edits, tokens, readout, device = search.intervention.edits(), prompts.tokens, model.readout, model.stack.device
    curves = [MarginCurve(search.low, search.high, search.tolerance) for _ in batch]

    def settings(magnitudes: Sequence[float]) -> Tensor:
        return torch.tensor(magnitudes, dtype=torch.float32, device=device)

    def at_last(places: Sequence[int], magnitudes: Sequence[float]) -> Tensor:
        counts = np.bincount(places, minlength=len(batch))
        if len(set(counts.tolist())) == 1:  # the same number of points for every question, as in the first round
            return runner.steer(started, edits, settings(magnitudes).view(len(batch), -1)).flatten(0, 1)
        return runner.steer(runner.pick(started, places), edits, settings(magnitudes)[:, None])[:, 0]

    def everywhere(places: Sequence[int], magnitudes: Sequence[float]) -> Tensor:
        rows = pad_batch([prompts.sequences[batch[place]] for place in places], model.stack.pad_id).to(device)
        with plainly_edited(model.stack, edits, settings(magnitudes), rows.attention_mask):
            return model.final_residual(rows)

    final_at = at_last if search.intervention.at == "last" else everywhere

    def add(wanted: Sequence[Sequence[float]]) -> None:
        places = [place for place, magnitudes in enumerate(wanted) for _ in magnitudes]
        flat = [magnitude for magnitudes in wanted for magnitude in magnitudes]
        if flat:
            margins = readout.margin(final_at(places, flat), tokens).tolist()
            for place, magnitude, margin in zip(places, flat, margins, strict=True):
                curves[place].add([magnitude], [margin])

    for curve, margin in zip(curves, readout.margin(started.final, tokens).tolist(), strict=True):
        if curve.low <= 0 <= curve.high:
            curve.add([0.0], [margin])
    if final_at is everywhere:  # the first points are the same for all, which is cheaper side by side
        margins = readout.margin(runner.steer(started, edits, settings(search.first)[None]), tokens)
        for curve, own in zip(curves, margins.tolist(), strict=True):
            curve.add(search.first, own)
    else:
        add([search.first] * len(batch))
    active = set(range(len(batch)))
    while active:
        wanted = [curves[place].wanted() if place in active else [] for place in range(len(batch))]
        active = {place for place in active if wanted[place]}
        add(wanted)
    return curves


def _first_points(low: float, high: float, tolerance: float, at: str, scan: int | None) -> list[float]:
    if not (np.isfinite([low, high]).all() and low < high):
        raise InputError(f"the range {low}..{high} is empty or endless; give a low below a high, both finite")
    if not 0 < tolerance < (high - low) / 4:
        raise InputError(f"the tolerance is {tolerance}; give one above 0 and far below the range of {high - low:.4g}")
    if at != "last":
        count = NODES if scan is None else scan
        if count < 4:
            raise InputError(f"{count} Chebyshev nodes requested; give 4 or more")
        nodes = (low + high) / 2 - (high - low) / 2 * np.cos(np.pi * np.arange(1, count - 1) / (count - 1))
        return [low, *nodes[np.abs(nodes) > tolerance].tolist(), high]
    side = SCAN_PER_SIDE if scan is None else scan
    if side < 2:
        raise InputError(f"{side} first points on each side of 0 requested; give 2 or more")
    if not low < 0 < high:
        return np.linspace(low, high, 2 * side + 1).tolist()
    # Squared steps: most answers flip near 0, where the unsteered margin is small.
    steps = (np.arange(1, side + 1) / side) ** 2
    return [*(low * steps[::-1]).tolist(), *(high * steps).tolist()]


def _table(question_ids: Sequence[str], found: Sequence[Crossed], number: int) -> pd.DataFrame:
    """`CRITICAL_COLUMNS` of each question along one of the interventions."""
    rows = []
    for name, each in zip(question_ids, found, strict=True):
        curve = each.curves[number]
        yes, roots = curve.says_yes_at_low, curve.roots
        status = OK if roots else ALWAYS_YES if yes else ALWAYS_NO
        spent = len(curve.points) - (curve.low <= 0 <= curve.high)  # the unsteered answer costs nothing
        rows += [(name, len(roots), root, status, yes, spent) for root in sorted(roots) or [np.nan]]
    return pd.DataFrame(rows, columns=CRITICAL_COLUMNS)
