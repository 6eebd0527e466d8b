"""The Rasch model: one number for each respondent and one for each question, and nothing else.

    P(success) = 1 / (1 + exp(difficulty - ability))

On proportions (scores of models in benchmarks, as if they were observed shares) by joint likelihood, in the updates of
the published table that this is held to. On answers by marginal likelihood: there it is the two-parameter model with
equal slopes, in its normal-ogive form. The two are nested, and a likelihood ratio tells whether respondents follow the
scale equally closely.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from onedial.core import InputError, one_line
from onedial.scale.factor.usable import linked_respondents, usable_answers
from onedial.scale.irt.expectation import codes_of
from onedial.scale.irt.marginal_fit import fit_marginal
from onedial.scale.irt.scales import ScaleKind
from onedial.stats import Floats, as_answers, chi_squared_tail, frame_of, names, numbers_or_nan, p_text, warn


@dataclass(frozen=True)
class RaschProportions:
    """Abilities and difficulties from a table of proportions.

    Attributes:
        ability, ability_se: (respondent,) logits. difficulty, difficulty_se: (item,) logits; higher = harder. Standard
            errors take the scatter of the proportions around the model for their error, since nothing says of how many
            trials a proportion is made, and the other side's numbers for known.
        dispersion: mean of (score - p)^2 / (p (1 - p)) per degree of freedom; 0 = the model is met exactly.
        residuals: (respondent, item) score minus p. n_steps: taken. converged: whether a step was small enough.
    """

    ability: pd.Series
    ability_se: pd.Series
    difficulty: pd.Series
    difficulty_se: pd.Series
    dispersion: float
    residuals: pd.DataFrame
    n_steps: int
    converged: bool

    __repr__ = one_line


@dataclass(frozen=True)
class RaschTest:
    """The model with equal slopes beside the one with free slopes.

    Attributes:
        slope, loading: common to all respondents. thresholds: (respondent,) higher = more often yes.
        difficulty, difficulty_se: (question,) -EAP and posterior standard deviation.
        free_loadings: (respondent,) of the two-parameter model.
        ratio, df, p: likelihood ratio of free against equal slopes. log_likelihood, free_log_likelihood: of the two.
    """

    slope: float
    loading: float
    thresholds: pd.Series
    difficulty: pd.Series
    difficulty_se: pd.Series
    free_loadings: pd.Series
    ratio: float
    df: int
    p: float
    log_likelihood: float
    free_log_likelihood: float

    __repr__ = one_line

    def sentence(self) -> str:
        """What the test says."""
        low, high = self.free_loadings.min(), self.free_loadings.max()
        if self.p > 0.05:
            return f"Respondents may follow the scale equally closely (loading {self.loading:.2f}, {p_text(self.p)})."
        return (
            f"Respondents do not follow the scale equally closely: loadings run from {low:.2f} to {high:.2f} "
            f"(against one of {self.loading:.2f}: {p_text(self.p)}), so a Rasch model does not hold."
        )


def rasch_proportions(
    scores: pd.DataFrame, rate: float = 0.5, tolerance: float = 1e-6, max_steps: int = 2000
) -> RaschProportions:
    """Abilities and difficulties that reproduce a table of proportions.

    Formula: from zeros, all at once, ability += rate x sum(score - p) / sum(p (1 - p)) over the respondent's items, and
    difficulty -= the same over the item's respondents, until the largest undamped step is below the tolerance (joint
    maximum likelihood; Wright and Panchapakesan, 1969, Educational and Psychological Measurement 29, 23-48). Only
    differences between ability and difficulty matter to the model; nothing is centred, and the zero start and equal
    steps on both sides settle the origin.

    Args:
        scores: respondent x item proportions between 0 and 1, nan where there is none. rate: damping between 0 and 1.
        tolerance: on the undamped step. max_steps: after which a warning says that it did not converge.

    Returns:
        RaschProportions. Sign: ability higher = better, difficulty higher = harder. nan, with a warning, for rows and
        columns without a score, or whose scores are all 0 or all 1.

    Raises:
        InputError: a score outside [0, 1], nothing left to fit, or a rate outside (0, 1].

    R: none does exactly this; `eRm::RM` and `TAM::tam.jml` take answers, not proportions.

    >>> table = pd.DataFrame([[0.5, 0.7], [0.7, 0.85]], ["weak", "strong"], ["hard", "easy"])
    >>> rasch_proportions(table).ability.round(1).abs().to_dict()
    {'weak': 0.0, 'strong': 0.9}
    """
    if not 0 < rate <= 1 or tolerance <= 0 or max_steps < 1:
        raise InputError(
            f"rate={rate}, tolerance={tolerance}, max_steps={max_steps}; give a rate up to 1, and positive"
        )
    scores = scores if isinstance(scores, pd.DataFrame) else frame_of(scores)
    if not scores.index.is_unique or not scores.columns.is_unique:
        raise InputError("a respondent or an item is named more than once; give each a name of its own")
    values = numbers_or_nan(scores).astype(float)
    if ((values < 0) | (values > 1)).any():
        raise InputError(f"a score of {values[(values < 0) | (values > 1)][0]:g}; give proportions between 0 and 1")
    rows, columns = _with_information(values)
    if not rows.any():
        raise InputError(
            "no respondent and item are left whose scores are neither all 0 nor all 1; nothing can be fitted"
        )
    if not (rows.all() and columns.all()):
        left_out = [*scores.index[~rows], *scores.columns[~columns]]
        warn(f"{names(left_out)} has no score, or only 0 or only 1, and no finite place; it is nan")
    part = values[np.ix_(rows, columns)]
    _warn_of_parts(part, scores.index[rows])
    ability, difficulty, n_steps, converged = _joint(part, rate, tolerance, max_steps)
    if not converged:
        warn(f"the Rasch model did not converge in {max_steps} steps")
    known = np.isfinite(part)
    p = expit(ability[:, None] - difficulty)
    weight, residual = np.where(known, p * (1 - p), 0.0), np.where(known, part - p, np.nan)
    df = known.sum() - sum(part.shape) + 1
    with np.errstate(divide="ignore", invalid="ignore"):
        dispersion = float(np.nansum(residual**2 / (p * (1 - p))) / df) if df > 0 else float("nan")
        errors = [np.sqrt(dispersion / weight.sum(axis=axis)) for axis in (1, 0)]
    return RaschProportions(
        ability=_full(ability, scores.index, rows, "ability"),
        ability_se=_full(errors[0], scores.index, rows, "ability_se"),
        difficulty=_full(difficulty, scores.columns, columns, "difficulty"),
        difficulty_se=_full(errors[1], scores.columns, columns, "difficulty_se"),
        dispersion=dispersion,
        residuals=pd.DataFrame(residual, scores.index[rows], scores.columns[columns]).reindex(
            index=scores.index, columns=scores.columns
        ),
        n_steps=n_steps,
        converged=converged,
    )


def rasch_test(matrix: Any, scale: ScaleKind = "normal") -> RaschTest:
    """Do all respondents follow the scale equally closely?

    Formula: marginal maximum likelihood with one slope for all and with a slope for each; 2 (l1 - l0) ~ chi-squared
    with m - 1 degrees of freedom. The logistic Rasch model has the logistic in place of the normal curve; a slope of
    1.702 there is 1 here, approximately.

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least three respondents that vary. scale: distribution of the
            questions, as in `two_parameter_irt`; with `normal` or `smooth` the ratio has the law above.

    Returns:
        RaschTest. Sign: small p speaks against equal slopes.

    Raises:
        InputError: fewer than three respondents vary or hang together.

    R: `anova(ltm::rasch(x), ltm::ltm(x ~ z1))`, logistic.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> rasch_test(answers).p > 0.05
    True
    """
    answers = usable_answers(as_answers(matrix))
    linked = linked_respondents(answers)
    if not linked.all():
        warn(f"{names(answers.respondents[~linked])} share too few questions with the others and are left out")
        answers = answers.select(linked)
    codes = codes_of(answers)
    equal = fit_marginal(codes, scale, equal_slopes=True)
    free = fit_marginal(codes, scale, start=equal.curves)  # begins where the equal one ends, and so is never below it
    if len(free.nodes) != len(equal.nodes):
        equal = fit_marginal(codes, scale, n_nodes=len(free.nodes), equal_slopes=True, start=equal.curves)
    ratio = max(0.0, 2 * (free.log_likelihood - equal.log_likelihood))
    df = answers.n_respondents - 1
    mean, spread = equal.scores()
    seen = answers.answered.any(axis=1)
    return RaschTest(
        slope=float(equal.curves.slope[0]),
        loading=float(equal.curves.loading[0]),
        thresholds=pd.Series(equal.curves.thresholds[0], answers.respondents, name="threshold"),
        difficulty=pd.Series(np.where(seen, -mean, np.nan), answers.questions, name="difficulty"),
        difficulty_se=pd.Series(np.where(seen, spread, np.nan), answers.questions, name="difficulty_se"),
        free_loadings=pd.Series(free.curves.loading, answers.respondents, name="loading"),
        ratio=ratio,
        df=df,
        p=chi_squared_tail(ratio, df),
        log_likelihood=equal.log_likelihood,
        free_log_likelihood=free.log_likelihood,
    )


def _joint(scores: Floats, rate: float, tolerance: float, max_steps: int) -> tuple[Floats, Floats, int, bool]:
    known = np.isfinite(scores)
    filled = np.nan_to_num(scores)
    ability, difficulty = np.zeros(scores.shape[0]), np.zeros(scores.shape[1])
    for step in range(1, max_steps + 1):
        p = expit(ability[:, None] - difficulty)
        residual, weight = np.where(known, filled - p, 0.0), np.where(known, p * (1 - p), 0.0)
        up = residual.sum(axis=1) / weight.sum(axis=1)
        down = -residual.sum(axis=0) / weight.sum(axis=0)
        ability, difficulty = ability + rate * up, difficulty + rate * down
        if max(np.abs(up).max(), np.abs(down).max()) < tolerance:
            return ability, difficulty, step, True
    return ability, difficulty, max_steps, False


def _with_information(scores: Floats) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns that keep scores which are neither all 0 nor all 1, once the others are gone."""
    rows, columns = np.ones(scores.shape[0], dtype=bool), np.ones(scores.shape[1], dtype=bool)
    while True:
        part = np.where(rows[:, None] & columns, scores, np.nan)
        inner = [
            (np.isfinite(part) & (part > 0)).any(axis=axis) & (np.isfinite(part) & (part < 1)).any(axis=axis)
            for axis in (1, 0)
        ]
        if np.array_equal(inner[0], rows) and np.array_equal(inner[1], columns):
            return rows, columns
        rows, columns = rows & inner[0], columns & inner[1]


def _warn_of_parts(scores: Floats, respondents: pd.Index) -> None:
    known = np.isfinite(scores)
    n, part = connected_components(known @ known.T, directed=False)
    if n > 1:
        parts = " | ".join(names(respondents[part == number]) for number in range(n))
        warn(f"the table falls into parts that share no item ({parts}); abilities compare within a part only")


def _full(values: Floats, labels: pd.Index, kept: np.ndarray, name: str) -> pd.Series:
    whole = np.full(len(labels), np.nan)
    whole[kept] = values
    return pd.Series(whole, labels, name=name)
