"""Pairwise calibration: when two respondents disagree about a question, is the one that says yes the one that is right?

Shared difficulty alone makes everybody look calibrated: easy questions get yes and right answers from all. On questions
where exactly one of two says yes the difficulty is the same for both, and what is left is knowledge about oneself, or
differences in how often they say yes and how often they are right, and what groups of respondents share. The null takes
care of the rest: each respondent's yes and no are shuffled among questions for which everything that it shares with
others makes it nearly equally ready to say yes. That keeps its yes rate and its response to the shared scale, or to the
scale of its group where there are several (models of one family may find the same questions hard, and be right on the
same ones, without any of them knowing anything about itself).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from onedial.confidence.correctness import aligned_correctness
from onedial.core import InputError, one_line
from onedial.scale import factor_readiness, revised_parallel_analysis, two_parameter_irt
from onedial.stats import Answers, Booleans, Floats, Integers, as_answers, p_value, unmasked, warn

_REPLICATES = 99


@dataclass(frozen=True)
class PairwiseCalibration:
    """How much more often the respondent that says yes is the one that is right.

    Attributes:
        pairs: one row per pair: `first, second, n` (questions on which exactly one says yes and both outcomes are
            known), `yes_right` (only the one that said yes was right), `no_right` (only the other), `advantage` =
            (yes_right - no_right) / n, its `null_mean` and `p`.
        pooled: index `all questions`, `contested questions` (without those on which all that answered are right, or all
            wrong); columns `n, yes_right, no_right, advantage, null_mean, null_95, p`.
        within: the same two rows and `contested confidence` (without questions to which all say yes, or all say no) for
            each respondent by itself, averaged: accuracy where it says yes minus accuracy where it says no, as `gain`.
        n_permutations, n_strata, seed: of the null. n_factors: how many shared factors it keeps; 0 = difficulty scores
            that were given.
    """

    pairs: pd.DataFrame
    pooled: pd.DataFrame
    within: pd.DataFrame
    n_permutations: int
    n_strata: int
    seed: int
    n_factors: int

    __repr__ = one_line


def pairwise_calibration(
    confidence: Any,
    correctness: Any,
    difficulty: Any = None,
    n_permutations: int = 999,
    n_strata: int = 20,
    seed: int = 0,
    n_factors: int | None = None,
) -> PairwiseCalibration:
    """Compare the respondent that says yes with the one that says no, per pair and pooled.

    Formula: sum over questions of (y_i - y_j)(c_i - c_j), divided by the questions with y_i != y_j (y = said yes,
    c = was right); pooled over pairs, numerators and denominators are summed. p = (1 + #{null >= observed}) / (B + 1),
    null = each respondent's y shuffled within strata of its readiness, the denominator kept (after Moran and Whiting,
    2026, arXiv 2605.24299, who introduced the measure). Readiness with one factor: the difficulty score; with
    several: the respondent's answers regressed on the question's factors (`onedial.scale.irt.readiness`).

    Args:
        confidence: question x respondent, 1 = said yes / 0 / nan. correctness: the same, 1 = right / 0 / nan.
        difficulty: (question,) scores that stand in for all that is shared; default: estimated from the confidence.
        n_permutations: B. n_strata: strata of equal size; fewer than 10 leave difficulty within strata.
        seed: of the shuffles. n_factors: shared factors that the null keeps; default: as many as
            `revised_parallel_analysis` finds on the confidence with 99 replicates, at least 1.

    Returns:
        PairwiseCalibration. Sign: advantage > 0 when the one that says yes is right more often than the one that says
        no; nan for a pair that never differs.

    Raises:
        InputError: the matrices do not belong together, or an option is out of range.

    R: none; for one pair `mean((y1 - y2) * (c1 - c2)) / mean(y1 != y2)` over complete rows.
    """
    said, right, both = aligned_correctness(as_answers(confidence), as_answers(correctness))
    if n_permutations < 1 or n_strata < 1:
        raise InputError(f"n_permutations={n_permutations}, n_strata={n_strata}; ask for at least 1 of each")
    readiness, n_factors = _readiness(said, difficulty, n_factors, seed)
    strata = _strata(readiness, n_strata)
    correct = right.yes & both
    observed = _Counts.of(said.yes & both, correct, both)
    rng = np.random.default_rng(seed)
    null = [_Counts.of(_shuffled(said.yes, both, strata, rng) & both, correct, both) for _ in range(n_permutations)]
    return PairwiseCalibration(
        pairs=_pair_table(said.respondents, observed, null),
        pooled=_pooled_table(observed, null),
        within=_within_table(said, correct, both),
        n_permutations=n_permutations,
        n_strata=n_strata,
        seed=seed,
        n_factors=n_factors,
    )


@dataclass(frozen=True)
class _Counts:
    """What a matrix of yes answers gives: sums per pair (respondent, respondent) and pooled over pairs."""

    net: Floats
    differing: Floats
    one_right: Floats
    pooled_net: float
    pooled_differing: float
    contested_differing: float
    pooled_one_right: float

    @classmethod
    def of(cls, yes: Booleans, correct: Booleans, known: Booleans) -> "_Counts":
        y, c, k = (part.astype(np.float32) for part in (yes, correct, known))
        yc = y * c
        # (y_i - y_j)(c_i - c_j) = y_i c_i + y_j c_j - y_i c_j - y_j c_i, each over questions that both have known
        own, cross = yc.T @ k, y.T @ c
        net = own + own.T - cross - cross.T
        only = y.T @ (k - y)
        differing = only + only.T
        # |(y_i - y_j)(c_i - c_j)|: questions on which they differ in both
        yes_right_no_wrong = yc.T @ ((k - y) * (k - c))
        yes_wrong_no_right = (y * (k - c)).T @ ((k - y) * c)
        one_right = yes_right_no_wrong + yes_right_no_wrong.T + yes_wrong_no_right + yes_wrong_no_right.T
        contested = (correct.any(axis=1) & (known & ~correct).any(axis=1)).astype(np.float32)
        n_yes, n_known = y.sum(axis=1), k.sum(axis=1)
        disagreements = n_yes * (n_known - n_yes)
        upper = np.triu_indices(len(net), 1)
        return cls(
            net=net,
            differing=differing,
            one_right=one_right,
            pooled_net=float(net[upper].sum()),
            pooled_differing=float(disagreements.sum()),
            contested_differing=float(disagreements @ contested),
            pooled_one_right=float(one_right[upper].sum()),
        )


def _pair_table(labels: pd.Index, observed: _Counts, null: list[_Counts]) -> pd.DataFrame:
    first, second = np.triu_indices(len(labels), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        advantage = (observed.net / observed.differing)[first, second]
        simulated = np.stack([(counts.net / observed.differing)[first, second] for counts in null])
    net, one_right = observed.net[first, second], observed.one_right[first, second]
    with np.errstate(invalid="ignore"):
        mean = np.where(np.isfinite(simulated).any(axis=0), np.nansum(simulated, axis=0), np.nan)
        mean = mean / np.maximum(np.isfinite(simulated).sum(axis=0), 1)
    return pd.DataFrame(
        {
            "first": labels[first],
            "second": labels[second],
            "n": observed.differing[first, second].astype(int),
            "yes_right": ((one_right + net) / 2).astype(int),
            "no_right": ((one_right - net) / 2).astype(int),
            "advantage": advantage,
            "null_mean": mean,
            "p": [p_value(value, column) for value, column in zip(advantage, simulated.T, strict=True)],
        }
    )


def _pooled_table(observed: _Counts, null: list[_Counts]) -> pd.DataFrame:
    rows = {}
    for name, field in (("all questions", "pooled_differing"), ("contested questions", "contested_differing")):
        n = getattr(observed, field)
        simulated = np.array([_ratio(counts.pooled_net, n) for counts in null])
        advantage = _ratio(observed.pooled_net, n)
        rows[name] = {
            "n": int(n),
            "yes_right": int((observed.pooled_one_right + observed.pooled_net) / 2),
            "no_right": int((observed.pooled_one_right - observed.pooled_net) / 2),
            "advantage": advantage,
            "null_mean": float(simulated.mean()),
            "null_95": float(np.quantile(simulated, 0.95)),
            "p": p_value(advantage, simulated),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def _within_table(said: Answers, correct: Booleans, known: Booleans) -> pd.DataFrame:
    yes = said.yes & known
    outcome_contested = correct.any(axis=1) & (known & ~correct).any(axis=1)
    confidence_contested = yes.any(axis=1) & (known & ~yes).any(axis=1)
    everything = np.ones(len(yes), dtype=bool)
    rows = {}
    for name, keep in (
        ("all questions", everything),
        ("contested questions", outcome_contested),
        ("contested confidence", confidence_contested),
    ):
        y, c, k = yes[keep], correct[keep], known[keep]
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = (y & c).sum(axis=0) / y.sum(axis=0) - (k & ~y & c).sum(axis=0) / (k & ~y).sum(axis=0)
        finite = gain[np.isfinite(gain)]
        enough = len(finite) > 1
        rows[name] = {
            "n_questions": int(keep.sum()),
            "n_respondents": len(finite),
            "gain": float(finite.mean()) if len(finite) else float("nan"),
            "gain_se": float(finite.std(ddof=1) / np.sqrt(len(finite))) if enough else float("nan"),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def _readiness(said: Answers, difficulty: Any, n_factors: int | None, seed: int) -> tuple[Floats, int]:
    """(question, respondent) how ready each is to say yes by what is shared, up to monotone change, and the number of
    factors behind it."""
    if difficulty is not None:
        return np.repeat(-_given_difficulty(said, difficulty)[:, None], said.n_respondents, axis=1), 0
    usable = said.select(said.varies)
    most = max(1, usable.n_respondents // 3)
    if n_factors is None:
        found = revised_parallel_analysis(usable, n_replicates=_REPLICATES, seed=seed) if most > 1 else None
        n_factors = min(max(1, found.n_above()), most) if found is not None else 1
    elif not 1 <= n_factors <= most:
        raise InputError(f"n_factors={n_factors} for {usable.n_respondents} respondents that vary; choose 1 to {most}")
    if n_factors == 1:
        easiness = -two_parameter_irt(said).difficulty.to_numpy()
        return np.repeat(easiness[:, None], said.n_respondents, axis=1), 1
    readiness = np.zeros((said.n_questions, said.n_respondents))
    readiness[:, said.varies] = factor_readiness(usable, n_factors)
    return readiness, n_factors


def _given_difficulty(said: Answers, difficulty: Any) -> Floats:
    if (
        isinstance(difficulty, pd.Series)
        and difficulty.index.is_unique
        and set(said.questions) <= set(difficulty.index)
    ):
        return difficulty.reindex(said.questions).to_numpy(dtype=float)
    score = unmasked(difficulty).astype(float).reshape(-1)
    if len(score) != said.n_questions:
        raise InputError(f"{len(score)} difficulty scores for {said.n_questions} questions; give one per question")
    return score


def _strata(readiness: Floats, n_strata: int) -> Integers:
    """(question, respondent) the stratum of a question for a respondent, sizes differing by at most one; -1 without."""
    known = np.isfinite(readiness)
    unscored = int((~known).any(axis=1).sum())
    if unscored:
        warn(f"{unscored} questions have no difficulty score and stay unshuffled in the null")
    order = np.argsort(np.where(known, readiness, np.inf), axis=0, kind="stable")
    stratum = np.full(readiness.shape, -1)
    for i in range(readiness.shape[1]):
        rows = order[: known[:, i].sum(), i]
        for number, part in enumerate(np.array_split(rows, n_strata)):
            stratum[part, i] = number
    return stratum


def _shuffled(yes: Booleans, known: Booleans, strata: Integers, rng: np.random.Generator) -> Booleans:
    """Each respondent's answers in another order within each stratum; gaps and unscored questions stay as they are."""
    movable = known & (strata >= 0)
    group = np.where(movable, strata, -1)
    # sorted by stratum both in the order of questions and in random order: the n-th cell of each order trade places
    target = np.argsort(group, axis=0, kind="stable")
    source = np.argsort(np.where(movable, group + rng.random(group.shape), -1.0), axis=0, kind="stable")
    shuffled = np.empty_like(yes)
    np.put_along_axis(shuffled, target, np.take_along_axis(yes, source, axis=0), axis=0)
    return shuffled


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else float("nan")
