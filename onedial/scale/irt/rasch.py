"""The Rasch model: one number for each respondent and one for each question, and nothing else.

    P(success) = 1 / (1 + exp(difficulty - ability))

By marginal likelihood it is the two-parameter model with equal slopes, in its normal-ogive form. The two are nested,
and a likelihood ratio tells whether respondents follow the scale equally closely.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from onedial.core import one_line
from onedial.scale.factor.usable import linked_answers
from onedial.scale.irt.asymptotes import AsymptoteKind
from onedial.scale.irt.expectation import codes_of
from onedial.scale.irt.marginal_fit import fit_marginal
from onedial.scale.irt.scales import ScaleKind
from onedial.stats import chi_squared_tail, p_text


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
            "Respondents do not follow the scale equally closely: by marginal likelihood loadings run from "
            f"{low:.2f} to {high:.2f} (against one of {self.loading:.2f}: {p_text(self.p)}), so a Rasch model does not "
            "hold."
        )


def rasch_test(matrix: Any, scale: ScaleKind = "normal", asymptotes: AsymptoteKind = "none") -> RaschTest:
    """Do all respondents follow the scale equally closely?

    Formula: marginal maximum likelihood with one slope for all and with a slope for each; 2 (l1 - l0) ~ chi-squared
    with m - 1 degrees of freedom. The logistic Rasch model has the logistic in place of the normal curve; a slope of
    1.702 there is 1 here, approximately.

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least three respondents that vary. scale, asymptotes:
            distribution of the questions and answers at random, as in `two_parameter_irt`; with `histogram`
            the law above holds approximately. A skewed scale, or guesses, make equal slopes look unequal where they are
            left out.

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
    answers = linked_answers(matrix)
    codes = codes_of(answers)
    fitted = partial(fit_marginal, codes, scale, asymptotes=asymptotes)
    equal = fitted(equal_slopes=True)
    free = fitted(start=equal.curves)  # begins where the equal one ends, and so is never below it
    if len(free.nodes) != len(equal.nodes):
        equal = fitted(n_nodes=len(free.nodes), equal_slopes=True, start=equal.curves)
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
