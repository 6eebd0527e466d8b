"""How well a panel's own respondents would have been placed from few answers, had they been new.

Each respondent is left out with its kin; questions are placed and the prior is learnt without them. It is then asked k
questions of those that it answered, in four ways, and what is said of it is held against all of its answers:

yes rate        random questions; threshold = Phi^-1((yes + 1/2) / (k + 1)), interval Wilson's, the scale unused
random          the same questions, read on the scale
adaptive        on the scale, each question chosen after the answers before it
fixed batch     on the scale, all questions chosen beforehand

error      threshold that is said minus Phi^-1 of the yes rate over all of its answers
covered    whether that lies in the 95% interval
bits       per question not asked: log2 P(answer) as predicted, minus the same where only the respondent's own yes rate
           over all of its answers is known; above 0 = k answers and the scale say more than that yes rate
rate       of a quarter of the questions, drawn, as many as a run fits on (`rate_over`): whether the 95% interval of the
           yes rate holds the respondent's, and its width; of the ways that use the scale
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from onedial.core.errors import InputError
from onedial.scale.place.placement import Placement, rate_over
from onedial.scale.place.places import LEAST
from onedial.scale.place.question_bank import QuestionBank, kin_groups
from onedial.stats.answers import as_answers, names, warn
from onedial.stats.arrays import Booleans, Floats
from onedial.stats.level import interval_95
from onedial.stats.resampling import N_RESAMPLES
from onedial.stats.shares import wilson_interval

YES_RATE, RANDOM, ADAPTIVE, BATCH = "yes rate", "random", "adaptive", "fixed batch"
METHODS = (YES_RATE, RANDOM, ADAPTIVE, BATCH)
SIZES = (5, 10, 15, 20, 25, 30, 50)
CLOSE = 0.15
"""An error of the threshold that is small beside the spread of thresholds in a panel."""


def evaluate_placing(
    matrix: Any,
    kin: pd.Series | None = None,
    sizes: Sequence[int] = SIZES,
    n_draws: int = 10,
    seed: int = 0,
    advance: Callable[[int], None] = lambda steps: None,
) -> pd.DataFrame:
    """Place every respondent of a panel as if it were new.

    Args:
        matrix: question x respondent, 1 / 0 / nan. kin: respondent -> group that is left out with it, such as a family;
            each alone where there are fewer than three groups.
        sizes: numbers of answers; those above half of a respondent's answers are passed over.
        n_draws: of the random questions, and of the shortlists that are chosen from. seed: of all draws.
        advance: is told how many respondents were placed.

    Returns:
        A row per respondent, method, size and draw: `respondent, method, k, draw, truth, threshold, low, high, bits,
        rate_covered, rate_width`.
        Respondents that always say the same have no threshold to be near, and are passed over with a warning.

    Raises:
        InputError: without some group the panel has no scale, or nobody is left to place.

    >>> rng = np.random.default_rng(0)
    >>> ease = rng.standard_normal((30, 1))
    >>> panel = pd.DataFrame((ease + rng.standard_normal((30, 4)) > 0) * 1.0, columns=list("abcd"))
    >>> evaluate_placing(panel, sizes=[2], n_draws=1)["method"].unique().tolist()
    ['yes rate', 'random', 'adaptive', 'fixed batch']
    """
    answers = as_answers(matrix)
    groups = kin_groups(answers.respondents, kin)
    if not answers.varies.all():
        warn(f"{names(answers.respondents[~answers.varies])} gave only one kind of answer, and are not placed")
    rows: list[dict[str, Any]] = []
    for group in groups.unique():
        mine = (groups == group).to_numpy()
        try:
            bank = QuestionBank.of(answers.select(~mine & answers.varies), groups)
        except InputError as error:
            raise InputError(f"without {group} the panel has no scale to place it on: {error}") from error
        known = answers.questions.get_indexer(bank.questions)
        for column in map(int, np.flatnonzero(mine)):
            if answers.varies[column]:
                has = answers.answered[known, column]
                own = bank.select(has)
                yes = answers.yes[known[has], column]
                draws = _placed(own, yes, sizes, n_draws, np.random.default_rng([seed, column]))
                rows += [{"respondent": answers.respondents[column], **row} for row in draws]
            advance(1)
    if not rows:
        raise InputError(
            f"no respondent varies and has twice {min(sizes)} answers; give a panel with more answers each"
        )
    return pd.DataFrame(rows)


def _placed(
    bank: QuestionBank, yes: Booleans, sizes: Sequence[int], n_draws: int, rng: np.random.Generator
) -> list[dict[str, Any]]:
    fitting = [size for size in sizes if 2 * size <= len(yes)]
    if not fitting or yes.all() or not yes.any():
        return []
    truth, rows = float(ndtri(yes.mean())), []
    for draw in range(n_draws):
        seed = int(rng.integers(2**31))
        orders = {
            RANDOM: rng.permutation(len(yes))[: max(fitting)],
            ADAPTIVE: _one_after_the_other(bank, yes, max(fitting), seed),
            BATCH: bank.questions.get_indexer(pd.Index(bank.place({}).next_questions(max(fitting), seed))),
        }
        some = np.random.default_rng(seed).permutation(len(yes))[: len(yes) // 4]
        for k in fitting:
            said = {name: _on_the_scale(bank, yes, order[:k], some) for name, order in orders.items()}
            said[YES_RATE] = _by_yes_rate(yes, orders[RANDOM][:k])
            known = {"k": k, "draw": draw, "truth": truth}
            rows += [{"method": name, **known, **said[name]} for name in METHODS]
    return rows


def _one_after_the_other(bank: QuestionBank, yes: Booleans, n: int, seed: int) -> Any:
    placement = bank.place({})
    for _ in range(n):
        (question,) = placement.next_questions(1, seed)
        placement = placement.after(question, bool(yes[bank.questions == question].item()))
    return placement.asked


def _on_the_scale(bank: QuestionBank, yes: Booleans, asked: Any, some: Any) -> dict[str, float]:
    placement = Placement(bank, asked, yes[asked])
    threshold, (low, high) = placement.threshold, placement.interval
    chance = bank.chance @ placement.weight
    expected = chance.copy()
    expected[asked] = yes[asked]
    _, least, most = rate_over(expected[some], threshold, low, high)
    return {
        "threshold": threshold,
        "low": low,
        "high": high,
        "bits": _bits(chance, yes, asked),
        "rate_covered": float(least <= yes[some].mean() <= most),
        "rate_width": most - least,
    }


def _by_yes_rate(yes: Booleans, asked: Any) -> dict[str, float]:
    k, said = len(asked), yes[asked].sum()
    rate = (said + 0.5) / (k + 1)
    low, high = (float(end.iloc[0]) for end in wilson_interval(pd.Series([said]), pd.Series([k])))
    bits = _bits(np.full(len(yes), rate), yes, asked)
    return {"threshold": float(ndtri(rate)), "low": float(ndtri(low)), "high": float(ndtri(high)), "bits": bits}


def _bits(chance: Floats, yes: Booleans, asked: Any) -> float:
    """Mean log2 probability of the answers to the questions not asked, less that by the own yes rate."""
    rest = np.ones(len(yes), dtype=bool)
    rest[asked] = False
    gained = [np.log2(np.clip(np.where(yes, p, 1 - p), LEAST, 1))[rest].mean() for p in (chance, yes.mean())]
    return float(gained[0] - gained[1])


def placing_summary(rows: pd.DataFrame, models: pd.Series | None = None, seed: int = 0) -> pd.DataFrame:
    """How good each method is with k answers.

    Args:
        rows: of `evaluate_placing`. models: respondent -> base model; each its own by default.
        seed: of the resamples of base models behind the intervals.

    Returns:
        index method, k; `n` (respondents), `n_models`, `rmse` (root mean squared error of the threshold), `close`
        (share of errors up to `CLOSE`), `coverage` of the 95% intervals, `width` (their median), `bits`,
        `rate_coverage` and `rate_width` (median), and `*_low, *_high`, 95% over base models (nan under five). A
        respondent counts as the mean over its draws, a base model as the mean over its respondents.

    >>> rows = pd.DataFrame({"respondent": ["a", "b"], "method": "adaptive", "k": 10, "bits": 0.2, "truth": 0.0})
    >>> rows = rows.assign(threshold=[0.1, -0.1], low=-0.3, high=0.3, rate_covered=1.0, rate_width=0.1)
    >>> placing_summary(rows)[["n", "rmse", "coverage"]].round(2).to_numpy().tolist()
    [[2.0, 0.1, 1.0]]
    """
    error = rows["threshold"] - rows["truth"]
    table = rows[["respondent", "method", "k", "bits"]].assign(
        squared=error**2,
        close=error.abs() <= CLOSE,
        coverage=(rows["low"] <= rows["truth"]) & (rows["truth"] <= rows["high"]),
        width=rows["high"] - rows["low"],
        rate_coverage=rows["rate_covered"],
        rate_width=rows["rate_width"],
        model=rows["respondent"] if models is None else rows["respondent"].map(models),
    )
    found = {}
    for (method, k), own in table.groupby(["method", "k"], sort=False):
        values = ["squared", "close", "coverage", "bits", "rate_coverage"]
        means = own.groupby(["model", "respondent"])[values].mean().groupby("model").mean()
        rng = np.random.default_rng(seed)
        draws = means.to_numpy()[rng.integers(len(means), size=(N_RESAMPLES, len(means)))].mean(axis=1)
        row: dict[str, Any] = {"n": own["respondent"].nunique(), "n_models": len(means)}
        row |= {name: own[name].median() for name in ("width", "rate_width")}
        for place, value in enumerate(values):
            estimate, drawn = means[value].mean(), draws[:, place]
            name = "rmse" if value == "squared" else value
            if value == "squared":
                estimate, drawn = np.sqrt(estimate), np.sqrt(drawn)
            low, high = interval_95(drawn) if len(means) >= 5 else (np.nan, np.nan)
            row |= {name: estimate, f"{name}_low": low, f"{name}_high": high}
        found[method, k] = row
    summary = pd.DataFrame.from_dict(found, orient="index")
    summary.index = pd.MultiIndex.from_tuples(summary.index, names=["method", "k"])
    columns = ["n", "n_models", *(c for c in summary.columns if c not in ("n", "n_models"))]
    return summary[columns]
