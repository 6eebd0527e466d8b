"""One panel with the choices of its analysis, and what a check says of it.

A check of the scale is one function in a file of its own, `ask(fit) -> Finding`, and one entry in
`onedial.scale.study.check_list.CHECKS`. The page, the tables, the summary and the figures are what all findings say
together. What several checks need is computed here, once.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pandas as pd

from onedial.core.cards import one_line
from onedial.scale.checks.missingness import missingness_test
from onedial.scale.factor.factor_model import FactorModel, fit_factor_model
from onedial.scale.factor.nulls import Nulls, Simulated
from onedial.scale.factor.structure import OneFactorBootstrap, one_factor_bootstrap, permutation_null
from onedial.scale.factor.usable import require_one_part
from onedial.scale.fits import Fits
from onedial.scale.response_model import ResponseModel, described
from onedial.scale.share import Share
from onedial.scale.standard_errors import scale_parameters
from onedial.scale.study.rule import OBJECTIONS, relative
from onedial.show.figure_style import Drawing
from onedial.stats.answers import Answers, as_answers
from onedial.stats.level import LEVEL

FEWER = 99  # replicates of what needs no p below 1 / 100: as many as stand behind the stored sizes and powers


@dataclass
class Finding:
    """What a check says.

    Attributes:
        sentences: of its section of the page. tables: by the name of their file. numbers: for summary.json.
        against: what speaks against one scale for all, a few words each. missed: what would speak against it and would
            not have been found, or was not looked for. figures: name -> what draws it.
        evidence: fields of `rule.Evidence`, by name.
    """

    sentences: list[str] = field(default_factory=list)
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    numbers: dict[str, Any] = field(default_factory=dict)
    against: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    evidence: dict[str, Any] = field(default_factory=dict)
    figures: dict[str, Callable[[], Drawing]] = field(default_factory=dict)

    __repr__ = one_line


@dataclass(frozen=True)
class PanelFit:
    """A panel, what is known of it, and the rules.

    Attributes:
        answers: yes and no. respondents, questions: what is known of them, by name. n_factors: of the factor model.
        n_replicates: of the first eigenvalue's null; 0 = none; of all other nulls `FEWER` at most.
        seed: of all random numbers.
    """

    answers: Answers
    respondents: pd.DataFrame | None = None
    questions: pd.DataFrame | None = None
    n_factors: int = 1
    n_replicates: int = 499
    seed: int = 0

    @classmethod
    def of(cls, matrix: Any, *known: Any, **choices: Any) -> "PanelFit":
        """Of a question x respondent matrix, 1 / 0 / nan.

        Raises:
            InputError: fewer than three respondents vary, or parts of the panel share no questions.
        """
        fit = cls(as_answers(matrix), *known, **choices)
        require_one_part(fit.answers)
        return fit

    @property
    def few(self) -> int:
        """Replicates of what needs no small p."""
        return min(self.n_replicates, FEWER)

    @cached_property
    def fits(self) -> Fits:
        """Of the respondents that can be compared."""
        return Fits(self.answers)

    @cached_property
    def nulls(self) -> Nulls:
        """Their random panels, where no p below 1 / 100 is needed."""
        return Nulls(self.fits, self.few, self.seed)

    @cached_property
    def factor(self) -> FactorModel:
        """Of the tetrachoric correlations."""
        return fit_factor_model(self.answers, self.n_factors)

    @cached_property
    def response(self) -> ResponseModel:
        """The response model on a normal scale, without answers at random; where gaps lie is known to it."""
        return described(self.fits.null("normal", "none"), self.fits)

    @cached_property
    def with_guesses(self) -> ResponseModel:
        """The same on a scale of any shape, with answers at random that all give equally often."""
        return described(self.fits.null(), self.fits)

    @cached_property
    def missingness(self) -> pd.DataFrame:
        """Whether each respondent's gaps fall on questions that the others find hard."""
        return missingness_test(self.answers)

    @cached_property
    def informative_gaps(self) -> dict[str, pd.Series]:
        """Who left out what the others find hard, or easy: (respondent,) by word, where somebody did."""
        sure = self.missingness["p_adjusted"] < LEVEL
        which = {"hard": self.missingness["difference"] > 0, "easy": self.missingness["difference"] < 0}
        return {word: sure & far for word, far in which.items() if (sure & far).any()}

    @cached_property
    def share_with_gaps_filled(self) -> float:
        """Of the variance, if hard questions that were left out would have been no, and easy ones yes."""
        yes, answered = self.answers.yes, self.answers.answered
        for word, who in self.informative_gaps.items():
            blank = ~self.answers.answered & who.to_numpy()
            yes, answered = yes | blank & (word == "easy"), answered | blank
        filled = Fits(replace(self.answers, yes=yes, answered=answered))
        return described(filled.null("normal", "none"), filled).share.value

    @cached_property
    def gain_of_guesses(self) -> float:
        """Log likelihood that guesses and any shape gain over one normal scale."""
        return self.with_guesses.log_likelihood - self.response.log_likelihood

    @property
    def guesses_fit_better(self) -> bool:
        """Whether that is more than their parameters give: the smaller BIC (Schwarz, 1978, Annals of Statistics 6,
        461-464) of two asymptotes and what a histogram may move. Twice the gain is no chi-squared where each respondent
        has few answers, since slopes fit chance as well."""
        n_more = 2 + scale_parameters(self.with_guesses.fit)
        return self.gain_of_guesses > n_more * math.log(len(self.answers.questions)) / 2

    @property
    def loadings(self) -> pd.Series:
        """By marginal likelihood."""
        return self.response.respondents["loading"]

    @property
    def share(self) -> Share:
        """Of the variance, by marginal likelihood."""
        return self.response.share

    @cached_property
    def shuffled(self) -> Simulated:
        """Eigenvalues where each respondent's answers are shuffled."""
        return permutation_null(self.fits, self.n_replicates, self.seed)

    @cached_property
    def one_factor(self) -> OneFactorBootstrap:
        """Smallest and second eigenvalue beside those of one scale."""
        return one_factor_bootstrap(self.nulls)

    @cached_property
    def left_by_one(self) -> tuple[float, float]:
        """What one factor leaves of the correlations: p, and its size as a part of the mean squared loading."""
        one = self.one_factor
        return min(one.second.p, one.residual.p), relative(one.beyond, self.nulls.observed.loadings)

    @property
    def one_is_not_all(self) -> bool:
        """Whether that speaks against one scale, as far as it was compared with chance."""
        return bool(self.n_replicates) and OBJECTIONS["structure"].counts(*self.left_by_one)

    @cached_property
    def is_shared(self) -> bool:
        """Whether anything is, as far as is known: without replicates nothing was compared with chance."""
        return not self.n_replicates or bool(self.shuffled.p[0] <= LEVEL)

    @cached_property
    def models(self) -> list[str] | None:
        """Base models of the respondents that vary; None where unknown."""
        if self.respondents is None or "model" not in self.respondents:
            return None
        models = self.respondents["model"].reindex(self.answers.respondents[self.answers.varies])
        return None if models.isna().any() else [str(name) for name in models.unique()]

    @cached_property
    def kin(self) -> pd.Series | None:
        """Everybody's model, or family where no model has several respondents; None where no family has."""
        for column in ("model", "family"):
            if self.respondents is not None and column in self.respondents:
                labels = self.respondents[column].reindex(self.answers.respondents)
                if labels.notna().all() and (labels != "").all() and 1 < labels.nunique() < len(labels):
                    return labels
        return None

    @property
    def n_varied(self) -> int:
        """Respondents that gave more than one kind of answer."""
        return int(self.answers.varies.sum())
