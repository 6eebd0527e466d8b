"""Matching: at which magnitude does the steered subject answer as a target does, and how well?

All choices are made on the fitting split, all agreement is measured on the test split (`choice`, `agreement`). Beside
the steered subject stand its two rivals: the majority answer, and the moved cut on the unsteered margin. The three are
compared on the same questions: those that the target answered and where the subject was read both unsteered and at the
chosen magnitude. Intervals are 95% percentile bootstrap intervals over test questions, the same resamples for
all three and for all targets; magnitudes and cuts stay as chosen.

The dial's order (`dial`, `ranking`) needs no choice, so fitting and test questions both say how well it puts each
target's yes above its no, beside the order of the unsteered margin (test questions alone, where half of the topics are
held out); and where on the dial each target stands (`placement`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from onedial.core import InputError, one_line
from onedial.panels import EXTRACTION, FITTING, TEST
from onedial.scale import NearCopies, near_copies
from onedial.stats import (
    FEWEST_TOPICS,
    N_RESAMPLES,
    auc,
    auc_resampled,
    count,
    count_resampled,
    counted_once,
    groups_among,
    interval,
    rates,
    remembered,
    strata_of,
)
from onedial.verdict.criteria import choice, status
from onedial.verdict.dial import Dial, dial_of_grid
from onedial.verdict.placement import matched_magnitudes
from onedial.verdict.tables import SweepGrid, all_answers, describe_targets, panel_answers, sweep_grid, wording_groups


@dataclass(frozen=True)
class Evidence:
    """The arrays that the verdict is computed from; answers are 1.0, 0.0 or nan.

    Attributes:
        magnitudes: those that stand for choice (K), ascending.
        fitting_margins: question x K. fitting_targets: question x target.
        test_targets: question x target.
        rate_matched: the subject at each target's rate-matched magnitude, test question x target.
        steered, majority, cut: three predictions for each target, test question x target; nan for all three where
            the target did not answer or the subject was not read.
        fitting_rows, test_rows: masks over the sweep's questions.
        strata: test question -> topic, those with few questions together.
        ordered: the questions that the order is judged by, as positions among the sweep's: fitting and test, or test
            alone where no topic of one is among the other's.
        given: their answers, ordered question x target.
        ease, unsteered: their place in the dial's order and unsteered margin; nan for both where either is missing.
        topics: ordered question -> topic.
        dial: the order of all questions.
        answers, margins, all_topics: of all of the sweep's questions, the targets' answers (question x target), the
            unsteered margin and the topic as it is named ("" where none).
        wordings: of all of the sweep's questions, the number of what each is a wording of; None where each is its own.
    """

    magnitudes: np.ndarray
    fitting_margins: np.ndarray
    fitting_targets: np.ndarray
    test_targets: np.ndarray
    rate_matched: np.ndarray
    steered: np.ndarray
    majority: np.ndarray
    cut: np.ndarray
    fitting_rows: np.ndarray
    test_rows: np.ndarray
    strata: np.ndarray
    ordered: np.ndarray
    given: np.ndarray
    ease: np.ndarray
    unsteered: np.ndarray
    topics: np.ndarray
    dial: Dial
    answers: np.ndarray
    margins: np.ndarray
    all_topics: np.ndarray
    wordings: np.ndarray | None = None

    @property
    def fitting_subject(self) -> np.ndarray:
        """The subject's answers, fitting question x K."""
        return choice.answers_of(self.fitting_margins)


@dataclass(frozen=True)
class TargetMatches:
    """The match of every target.

    Attributes:
        table: one row per target (docs/how_to/open_a_run.md lists the columns). Saved as matches.csv.
        dose_response: per split and magnitude: n, n_unread, yes_rate, yes_rate_se, mean_mass, median_margin.
        evidence: what `judge` needs.
        near_copies: base models that answer so nearly alike that they count as one, under one name in the table.
    """

    table: pd.DataFrame
    dose_response: pd.DataFrame
    evidence: Evidence
    near_copies: NearCopies

    __repr__ = one_line


def match_targets(
    sweep: pd.DataFrame,
    panel: Any,
    splits: pd.Series | None = None,
    thresholds: pd.Series | None = None,
    respondents: pd.DataFrame | None = None,
    intervention_id: str | None = None,
    topics: pd.Series | None = None,
    n_bootstrap: int = N_RESAMPLES,
    seed: int = 0,
    direct: pd.Series | None = None,
    wordings: Sequence[Sequence[str]] = (),
) -> TargetMatches:
    """Match every target of a panel with one vector's sweep.

    Args:
        sweep: long table (question_id, split, magnitude, margin, mass), see `tables.sweep_grid`.
        panel: `onedial.panels.ResponseMatrix` or DataFrame question x target (1, 0, nan).
        splits: question id -> split; by default the sweep's own column.
        thresholds: target -> threshold on the shared factor (higher = more often yes); by default Phi^-1(yes rate).
        respondents: index respondent; model, framing, family; by default the panel's own.
        intervention_id: which one, where the sweep holds several.
        topics: question id -> topic; by default all questions are of one.
        direct: of answers that were written, the margins that a cut is moved on (`SweepGrid.direct`).
        wordings: the ids of questions that stand there in several wordings (`onedial.panels.wordings_of`).

    Raises:
        InputError: tables that do not fit together, or no question in the fitting or the test split.

    >>> from onedial.verdict.simulation import dial_order_targets, simulate_sweep
    >>> rng = np.random.default_rng(0)
    >>> sweep = simulate_sweep(rng, 200, 11)
    >>> panel = dial_order_targets(rng, sweep, 6)
    >>> match_targets(sweep, panel, n_bootstrap=99).table["status"].tolist()
    ['ok', 'ok', 'ok', 'ok', 'ok', 'few']
    """
    grid = sweep_grid(sweep, splits, intervention_id, direct)
    return match_grid(
        grid, panel, thresholds, respondents, topics, n_bootstrap=n_bootstrap, seed=seed, wordings=wordings
    )


def match_grid(
    grid: SweepGrid,
    panel: Any,
    thresholds: pd.Series | None = None,
    respondents: pd.DataFrame | None = None,
    topics: pd.Series | None = None,
    dial: Dial | None = None,
    n_bootstrap: int = N_RESAMPLES,
    seed: int = 0,
    wordings: Sequence[Sequence[str]] = (),
) -> TargetMatches:
    """The same from a sweep that is laid out already; see `match_targets`.

    Args:
        dial: the order in which answers turn, where it is known better than from the grid.
    """
    n_fitting, n_test = int(grid.rows(FITTING).sum()), int(grid.rows(TEST).sum())
    if not n_fitting or not n_test:
        raise InputError(f"the sweep holds {n_fitting} fitting and {n_test} test questions; both are needed")
    frame = panel_answers(panel, grid.questions)
    chosen = _choose(grid, frame.to_numpy())
    compared = _compared(grid, frame.to_numpy(), chosen)
    evidence = _evidence(grid, frame.to_numpy(), chosen, compared, topics, dial or dial_of_grid(grid))
    evidence = replace(evidence, wordings=wording_groups(wordings, grid.questions))
    every = all_answers(panel).to_numpy()
    table = describe_targets(panel, frame.columns, respondents).assign(
        status=_statuses(evidence, every, chosen, compared[grid.rows(FITTING)]),
        **_answer_counts(grid, frame.to_numpy(), compared),
        **_thresholds(every, frame.columns, thresholds),
        magnitude=_at(grid.magnitudes, chosen.best),
        magnitude_low=_at(grid.magnitudes, chosen.low),
        magnitude_high=_at(grid.magnitudes, chosen.high),
        magnitude_rate=_at(grid.magnitudes, chosen.rate_matched),
        cut=chosen.cut,
        **_measured_on_test(evidence, n_bootstrap, seed),
        **_measured_by_order(evidence, n_bootstrap, seed),
    )
    alike = base_models(frame, table["model"], evidence.wordings, evidence.all_topics)
    table["model"] = alike.counted_as
    return TargetMatches(table, dose_response(grid), evidence, alike)


def base_models(
    answers: pd.DataFrame, models: pd.Series, wordings: np.ndarray | None, topics: np.ndarray | None
) -> NearCopies:
    """What each target's base model counts as, by its answers (question x target); errors are over wordings, or over
    whole topics where there are enough.

    >>> base_models(pd.DataFrame({"a": [1, 0], "b": [0, 1]}), pd.Series(["one", "two"]), None, None).counted_as
    ['one', 'two']
    """
    if topics is not None and (by_topic := strata_of(topics)).max(initial=0) + 1 >= FEWEST_TOPICS:
        wordings = by_topic
    return _near_copies(answers.to_numpy(float), tuple(models.astype(str)), wordings)


_near_copies = remembered(near_copies)


def dose_response(grid: SweepGrid) -> pd.DataFrame:
    """What each magnitude does to the subject, per split: yes rate over the answers read, mean mass over all.

    >>> from onedial.verdict import sweep_grid
    >>> from onedial.verdict.simulation import dial_order_targets, simulate_sweep
    >>> rng = np.random.default_rng(0)
    >>> sweep = simulate_sweep(rng, 200, 11)
    >>> panel = dial_order_targets(rng, sweep, 6)
    >>> sorted(dose_response(sweep_grid(sweep))["split"].unique())
    ['extraction', 'fitting', 'test']
    """
    parts = []
    for split in dict.fromkeys(grid.splits):
        margins, masses = grid.margins[grid.rows(split)], grid.masses[grid.rows(split)]
        rate, n = rates(choice.answers_of(margins))
        with np.errstate(invalid="ignore", divide="ignore"):
            error = np.sqrt(rate * (1 - rate) / n)
        medians = [np.median(read[~np.isnan(read)]) if (~np.isnan(read)).any() else np.nan for read in margins.T]
        part = pd.DataFrame({"split": split, "magnitude": grid.magnitudes, "n": n, "n_unread": len(margins) - n})
        parts.append(
            part.assign(yes_rate=rate, yes_rate_se=error, mean_mass=masses.mean(axis=0), median_margin=medians)
        )
    return pd.concat(parts, ignore_index=True)


@dataclass(frozen=True)
class _Choices:
    """What the fitting split says per target; positions in the grid's magnitudes, -1 where there is nothing to fit.

    best, low, high: the magnitude of best agreement and the ends of its interval. rate_matched: that of equal rates.
    at_edge: the interval reaches the first or the last magnitude that stands for choice (allowed).
    """

    allowed: np.ndarray
    best: np.ndarray
    low: np.ndarray
    high: np.ndarray
    rate_matched: np.ndarray
    at_edge: np.ndarray
    cut: np.ndarray


def _choose(grid: SweepGrid, given: np.ndarray) -> _Choices:
    margins, given = grid.margins[grid.rows(FITTING)], given[grid.rows(FITTING)]
    unsteered = grid.unsteered_margins[grid.rows(FITTING)]
    allowed = choice.readable_magnitudes(margins, grid.unsteered)
    answers = choice.answers_of(margins)
    chosen = []
    for scores in (choice.agreement_by_magnitude(answers, given), -choice.rate_distance(answers, given)):
        places = choice.middle_of_best(scores, grid.magnitudes, allowed)
        fitted = ~np.isnan(scores[:, allowed]).all(axis=1)
        chosen.append([np.where(fitted, place, -1) for place in places])
    (best, low, high), (rate_matched, _, _) = chosen
    first, last = np.flatnonzero(allowed)[[0, -1]]
    return _Choices(
        allowed=allowed,
        best=best,
        low=low,
        high=high,
        rate_matched=rate_matched,
        at_edge=(low == first) | (high == last),
        cut=np.array([choice.moved_cut(unsteered, answers) for answers in given.T]),
    )


def _compared(grid: SweepGrid, given: np.ndarray, chosen: _Choices) -> np.ndarray:
    """Question x target: answered by the target, and by the subject both unsteered and at the chosen magnitude."""
    read = ~np.isnan(grid.margins)
    unsteered = ~np.isnan(grid.unsteered_margins)[:, None]
    return ~np.isnan(given) & read[:, chosen.best] & unsteered & (chosen.best >= 0)


def _evidence(
    grid: SweepGrid, given: np.ndarray, chosen: _Choices, compared: np.ndarray, topics: pd.Series | None, dial: Dial
) -> Evidence:
    fitting, test = grid.rows(FITTING), grid.rows(TEST)
    own_topics = _topics_of(grid, topics)
    ordered = np.flatnonzero(ordering_questions(grid, topics))
    margins = grid.unsteered_margins[ordered]
    known = ~np.isnan(dial.ease[ordered]) & ~np.isnan(margins)
    subject, unsteered = grid.answers[test], grid.unsteered_margins[test]
    predictions = {
        "steered": subject[:, chosen.best],
        "majority": choice.majority_answers(np.where(compared, given, np.nan)[test]),
        "cut": (unsteered[:, None] > chosen.cut).astype(float),
    }
    return Evidence(
        magnitudes=grid.magnitudes[chosen.allowed],
        fitting_margins=grid.margins[fitting][:, chosen.allowed],
        fitting_targets=given[fitting],
        test_targets=given[test],
        rate_matched=np.where(chosen.rate_matched >= 0, subject[:, chosen.rate_matched], np.nan),
        **{name: np.where(compared[test], predicted, np.nan) for name, predicted in predictions.items()},
        fitting_rows=fitting,
        test_rows=test,
        strata=strata_of(own_topics[test]),
        ordered=ordered,
        given=given[ordered],
        ease=np.where(known, dial.ease[ordered], np.nan),
        unsteered=np.where(known, margins, np.nan),
        topics=strata_of(own_topics[ordered]),
        dial=dial,
        answers=given,
        margins=grid.unsteered_margins,
        all_topics=np.array(
            ["" if topic is None or topic != topic else str(topic) for topic in own_topics], dtype=object
        ),
    )


def ordering_questions(grid: SweepGrid, topics: pd.Series | None) -> np.ndarray:
    """Mask of the questions that the dial's order is judged by: fitting and test, or test alone (`Evidence`)."""
    fitting, test = grid.rows(FITTING), grid.rows(TEST)
    return test if _held_out(_topics_of(grid, topics), fitting, test) else ~grid.rows(EXTRACTION)


def _topics_of(grid: SweepGrid, topics: pd.Series | None) -> np.ndarray:
    if topics is None:
        return np.full(len(grid.questions), "", dtype=object)
    return topics.reindex(grid.questions).to_numpy(dtype=object)


def _held_out(topics: np.ndarray, fitting: np.ndarray, test: np.ndarray) -> bool:
    """Whether the test questions are of other topics than the fitting questions: then they alone are the judges."""
    return not {str(topic) for topic in topics[fitting]} & {str(topic) for topic in topics[test]}


def _statuses(evidence: Evidence, every: np.ndarray, chosen: _Choices, fitted: np.ndarray) -> list[str]:
    groups = groups_among(evidence.wordings, evidence.test_rows)
    n_fitting = counted_once(fitted, groups_among(evidence.wordings, evidence.fitting_rows))
    read = ~np.isnan(evidence.steered)
    return [
        status.target_status(
            answers=evidence.fitting_subject,
            given=evidence.fitting_targets[:, t],
            test=evidence.test_targets[read[:, t], t],
            n_fitting=int(n_fitting[t]),
            at_edge=bool(chosen.at_edge[t]),
            always_same=np.unique(every[~np.isnan(every[:, t]), t]).size == 1,
            groups=None if groups is None else groups[read[:, t]],
        )
        for t in range(every.shape[1])
    ]


def _answer_counts(grid: SweepGrid, given: np.ndarray, compared: np.ndarray) -> dict[str, np.ndarray]:
    """Per split: how many of the target's answers are compared, and how many could not be for want of the subject's."""
    unread = ~np.isnan(given) & ~compared
    counts = {f"n_{split}": compared[grid.rows(split)].sum(axis=0) for split in (FITTING, TEST)}
    return counts | {f"n_unread_{split}": unread[grid.rows(split)].sum(axis=0) for split in (FITTING, TEST)}


def _at(magnitudes: np.ndarray, places: np.ndarray) -> np.ndarray:
    return np.where(places >= 0, magnitudes[places], np.nan)


def _thresholds(every: np.ndarray, targets: pd.Index, thresholds: pd.Series | None) -> dict[str, np.ndarray]:
    """yes_rate, threshold and its standard error over all answers of the panel; nan where the yes rate is 0 or 1."""
    rate, n = rates(every)
    with np.errstate(invalid="ignore", divide="ignore"):
        own = stats.norm.ppf(np.where((rate > 0) & (rate < 1), rate, np.nan))
        error = np.sqrt(rate * (1 - rate) / n) / stats.norm.pdf(own)
    if thresholds is not None:
        own = thresholds.reindex(targets).to_numpy(float)
        own = np.where(np.isfinite(own), own, np.nan)
    return {"yes_rate": rate, "threshold": own, "threshold_se": error}


def _measured_on_test(evidence: Evidence, n_bootstrap: int, seed: int) -> dict[str, np.ndarray]:
    """Agreement, kappa and the two differences on the test split, each with its interval."""
    given, groups = evidence.test_targets, groups_among(evidence.wordings, evidence.test_rows)
    measured: dict[str, np.ndarray] = {}
    resampled: dict[str, np.ndarray] = {}
    for name, predicted in (
        ("agreement", evidence.steered),
        ("majority", evidence.majority),
        ("moved_cut", evidence.cut),
    ):
        measured[name] = count(predicted, given).agreement()
        resampled[name] = count_resampled(predicted, given, n_bootstrap, seed, groups).agreement()
    measured["kappa"] = count(evidence.steered, given).kappa()
    resampled["kappa"] = count_resampled(evidence.steered, given, n_bootstrap, seed, groups).kappa()
    for name, rival in (("gain", "majority"), ("steering", "moved_cut")):
        measured[name] = measured["agreement"] - measured[rival]
        resampled[name] = resampled["agreement"] - resampled[rival]
    at_rate = count(evidence.rate_matched, given)
    columns: dict[str, np.ndarray] = {}
    for name in ("agreement", "kappa", "majority", "moved_cut", "gain", "steering"):
        low, high = interval(resampled[name])
        columns |= {name: measured[name], f"{name}_low": low, f"{name}_high": high}
        if name == "kappa":
            columns |= {"agreement_rate": at_rate.agreement(), "kappa_rate": at_rate.kappa()}
    return columns


def _measured_by_order(evidence: Evidence, n_bootstrap: int, seed: int) -> dict[str, np.ndarray]:
    """How well the dial's order puts yes above no, beside the unsteered margin's; and where the target stands."""
    steered, margin = auc(evidence.ease, evidence.given), auc(evidence.unsteered, evidence.given)
    groups = groups_among(evidence.wordings, evidence.ordered)
    drawn = auc_resampled(evidence.ease, evidence.given, n_bootstrap, seed, groups)
    drawn = drawn - auc_resampled(evidence.unsteered, evidence.given, n_bootstrap, seed, groups)
    low, high = interval(drawn)
    place, error = matched_magnitudes(evidence.dial.place[evidence.ordered], evidence.given)
    return {
        "order_auc": steered,
        "order_auc_unsteered": margin,
        "order_gain": steered - margin,
        "order_gain_low": low,
        "order_gain_high": high,
        "magnitude_ml": place,
        "magnitude_ml_se": error,
    }
