"""How well a panel's own respondents would have been placed from few answers, had they been new.

Each respondent is left out with its kin; questions are placed and the prior is learnt without them. It is then asked k
questions of those that it answered, each chosen after the answers before it, and is held against all of its answers:

error      threshold that is said minus Phi^-1 of the yes rate over all of its answers
by rate    the same of k random questions without the scale: Phi^-1((yes + 1/2) / (k + 1))
covered    whether the truth lies in the 95% interval
bits       per question not asked: log2 P(answer) as predicted, minus the same where only the respondent's own yes rate
           over all of its answers is known; above 0 = k answers and the scale say more than that yes rate
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from onedial.core.errors import InputError
from onedial.scale.place.places import LEAST
from onedial.scale.place.question_bank import QuestionBank, kin_groups
from onedial.stats.answers import as_answers, names, warn
from onedial.stats.arrays import Booleans, Floats
from onedial.stats.estimate import Estimate, estimate
from onedial.stats.resampling import N_RESAMPLES, resampled_weights

SIZES = (5, 10, 15, 20, 25, 30, 50)
FEWEST_MODELS = 5  # base models, for an interval over them


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
        n_draws: of the shortlists that are chosen from, and of random questions. seed: of all draws.
        advance: is told how many respondents were placed.

    Returns:
        A row per respondent, size and draw: `respondent, k, draw, truth, threshold, low, high, by_rate, bits`.
        Respondents that always say the same have no threshold to be near, and are passed over with a warning.

    Raises:
        InputError: without some group the panel has no scale, or nobody is left to place.

    >>> rng = np.random.default_rng(0)
    >>> ease = rng.standard_normal((30, 1))
    >>> panel = pd.DataFrame((ease + rng.standard_normal((30, 4)) > 0) * 1.0, columns=list("abcd"))
    >>> evaluate_placing(panel, sizes=[2], n_draws=1)["respondent"].tolist()
    ['a', 'b', 'c', 'd']
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
            has = answers.answered[known, column]
            yes = answers.yes[known[has], column]
            fitting = [size for size in sizes if 2 * size <= len(yes)]
            rng = np.random.default_rng([seed, column])
            for draw in range(n_draws if fitting and 0 < yes.sum() < len(yes) else 0):
                about = {"respondent": answers.respondents[column], "draw": draw, "truth": float(ndtri(yes.mean()))}
                rows += [about | row for row in _placed(bank.select(has), yes, fitting, rng)]
            advance(1)
    if not rows:
        raise InputError(
            f"no respondent varies and has twice {min(sizes)} answers; give a panel with more answers each"
        )
    return pd.DataFrame(rows)


def _placed(bank: QuestionBank, yes: Booleans, sizes: Sequence[int], rng: np.random.Generator) -> list[dict[str, Any]]:
    """After each number of answers of one draw."""
    seed = int(rng.integers(2**31))
    random, placement, rows = rng.permutation(len(yes)), bank.place({}), []
    for k in range(1, max(sizes) + 1):
        (question,) = placement.next_questions(1, seed)
        placement = placement.after(question, bool(yes[bank.questions == question].item()))
        if k in sizes:
            low, high = placement.interval
            rest = np.setdiff1d(np.arange(len(yes)), placement.asked)
            of_answers = [np.where(yes, p, 1 - p)[rest] for p in (bank.chance @ placement.weight, yes.mean())]
            scale, rate = (np.log2(np.clip(p, LEAST, 1)).mean() for p in of_answers)
            by_rate = ndtri((yes[random[:k]].sum() + 0.5) / (k + 1))
            placed = {"threshold": placement.threshold, "low": low, "high": high, "by_rate": by_rate}
            rows.append({"k": k, **placed, "bits": scale - rate})
    return rows


def placing_summary(rows: pd.DataFrame, models: pd.Series | None = None, seed: int = 0) -> pd.DataFrame:
    """How good placing is with k answers.

    Args:
        rows: of `evaluate_placing`. models: respondent -> base model; each its own by default.
        seed: of the resamples of base models behind the intervals.

    Returns:
        index k; `n` (respondents), `n_models`, `rmse` (root mean squared error of the threshold), `yes_rate` (the same
        by the rate of random questions), `coverage` of the 95% intervals, `width` (their median), `bits`, and `*_low,
        *_high`, 95% over base models (nan under five). A respondent counts as the mean over its draws, a base model as
        the mean over its respondents.

    >>> rows = pd.DataFrame({"respondent": ["a", "b"], "k": 10, "bits": 0.2, "truth": 0.0, "by_rate": 0.5})
    >>> rows = rows.assign(threshold=[0.1, -0.1], low=-0.3, high=0.3)
    >>> placing_summary(rows)[["n", "rmse", "coverage"]].round(2).to_numpy().tolist()
    [[2.0, 0.1, 1.0]]
    """
    table = rows.assign(
        rmse=(rows["threshold"] - rows["truth"]) ** 2,
        yes_rate=(rows["by_rate"] - rows["truth"]) ** 2,
        coverage=(rows["low"] <= rows["truth"]) & (rows["truth"] <= rows["high"]),
        model=rows["respondent"] if models is None else rows["respondent"].map(models),
    )
    rows_by_k = {}
    for k, of_k in table.groupby("k"):
        means = of_k.groupby(["model", "respondent"])[["rmse", "yes_rate", "coverage", "bits"]].mean()
        means = means.groupby("model").mean()
        row = {
            "n": of_k["respondent"].nunique(),
            "n_models": len(means),
            "width": (of_k["high"] - of_k["low"]).median(),
        }
        drawn = list(resampled_weights(len(means), N_RESAMPLES, seed))
        for name, values in means.items():
            mean = _mean(values.to_numpy(), drawn)
            mean = mean if len(means) >= FEWEST_MODELS else Estimate(mean.value)
            squared = name in ("rmse", "yes_rate")
            row |= {what: value**0.5 if squared else value for what, value in mean.columns(str(name)).items()}
        rows_by_k[k] = row
    return pd.DataFrame.from_dict(rows_by_k, orient="index").rename_axis("k")


def _mean(values: Floats, drawn: list[Floats]) -> Estimate:
    return estimate(lambda weights: weights @ values / weights.sum(axis=1), drawn)
