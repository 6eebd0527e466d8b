"""Do all respondents follow the scale equally closely? The Rasch model beside the one with a slope for each.

    P(success) = 1 / (1 + exp(difficulty - ability))

By marginal likelihood the Rasch model is the two-parameter one with equal slopes, in its normal-ogive form. Respondents
that answer the other way round have a negative slope; the signs are those of the free fit, so that equal slopes are
equal in size.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from onedial.core.cards import one_line
from onedial.scale.categories import as_graded, used_only
from onedial.scale.likelihood import AsymptoteKind, Model, ScaleKind, fit_marginal
from onedial.scale.response_model import ResponseModel, comparable, described
from onedial.stats.multiple_tests import chi_squared_tail, p_text


@dataclass(frozen=True)
class RaschTest:
    """The model with equal slopes beside the one with free slopes.

    Attributes:
        equal, free: the two models. ratio, df, p: likelihood ratio of free against equal slopes.
    """

    equal: ResponseModel
    free: ResponseModel
    ratio: float
    df: int
    p: float

    __repr__ = one_line

    @property
    def loading(self) -> float:
        """Common to all respondents, but for its sign."""
        return float(self.equal.respondents["loading"].abs().mean())

    @property
    def reversed(self) -> pd.Index:
        """Respondents that answer the other way round beyond doubt."""
        table = self.free.respondents
        return table.index[table["reversed"]]

    def sentence(self) -> str:
        """What the test says."""
        loadings = self.free.respondents["loading"]
        if self.p > 0.05:
            return f"Respondents may follow the scale equally closely (loading {self.loading:.2f}, {p_text(self.p)})."
        return (
            "Respondents do not follow the scale equally closely: by marginal likelihood loadings run from "
            f"{loadings.min():.2f} to {loadings.max():.2f} (against one of {self.loading:.2f}: {p_text(self.p)}), so a "
            "Rasch model does not hold."
        )


def rasch_test(matrix: Any, scale: ScaleKind = "normal", asymptotes: AsymptoteKind = "none") -> RaschTest:
    """Do all respondents follow the scale equally closely?

    Formula: marginal maximum likelihood with one slope for all and with a slope for each; 2 (l1 - l0) ~ chi-squared
    with m - 1 degrees of freedom. The logistic Rasch model has the logistic in place of the normal curve; a slope of
    1.702 there is 1 here, approximately.

    Args:
        matrix: question x respondent, 1 / 0 / nan or ordered categories; at least three respondents that vary. scale,
            asymptotes: distribution of the questions and answers at random, as in `response_model`; with `histogram`
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
    graded = as_graded(matrix)
    kept = comparable(graded)
    codes, categories = used_only(graded.select(kept))
    free = fit_marginal(codes, Model(scale, asymptotes))
    signs = np.where(free.curves.slope < 0, -1.0, 1.0)
    equal = fit_marginal(codes, Model(scale, asymptotes, signs=signs), n_nodes=len(free.nodes))
    if free.log_posterior < equal.log_posterior:  # a histogram's climb ends a little before its top
        free = fit_marginal(codes, Model(scale, asymptotes), start=equal)
    ratio, df = max(0.0, 2 * (free.log_posterior - equal.log_posterior)), int(kept.sum()) - 1
    one, each = (described(fit, graded, kept, categories, None) for fit in (equal, free))
    return RaschTest(one, each, ratio, df, chi_squared_tail(ratio, df))
