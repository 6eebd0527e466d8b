"""One panel with the choices of its analysis, and what a check says of it.

A check of the scale is one function in a file of its own, `ask(fit) -> Finding`, and one entry in
`onedial.scale.study.checks.CHECKS`. The page, the tables, the summary and the figures are what all findings say
together; yes/no and ordered categories go through the same entries. What several checks need is computed here, once.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from onedial.core.cards import one_line
from onedial.scale.categories import GradedAnswers, as_graded, cut_confidence
from onedial.scale.checks.accounts import RivalAccounts, rival_accounts
from onedial.scale.checks.question_bootstrap import QuestionBootstrap, bootstrap_questions
from onedial.scale.correlations.two_by_two import ThresholdMode, ZeroCellRule
from onedial.scale.factor.factor_model import Extraction, FactorModel, fit_factor_model
from onedial.scale.factor.nulls import Nulls, Simulated
from onedial.scale.factor.polychoric_factor import PolychoricFactor, polychoric_factor
from onedial.scale.factor.structure import OneFactorBootstrap, one_factor_bootstrap, permutation_null
from onedial.scale.factor.usable import require_one_part
from onedial.scale.fits import Fits
from onedial.scale.response_model import ResponseModel, response_model
from onedial.scale.specific.specific_factors import SpecificFactors, specific_factors
from onedial.show.figure_style import Drawing
from onedial.stats.answers import Answers
from onedial.stats.arrays import number

FEWER = 99  # replicates of what needs no p below 1 / 100: as many as stand behind the stored sizes and powers
FEWEST_KIN = 3  # groups, of which none can be taken for everybody
LARGEST_KIN = 16  # respondents of one group, whose patterns of answers are then nearly as many as questions
WORTH_A_NAME = 0.05  # of a variance


@dataclass
class Finding:
    """What a check says.

    Attributes:
        sentences: of its section of the page. tables: by the name of their file. numbers: for summary.json.
        against: what speaks against one scale for all, a few words each. missed: what would speak against it and would
            not have been found, or was not looked for. figures: name -> what draws it.
        ends: a verdict beside which nothing else needs to be said. opening: the verdict's first sentence.
    """

    sentences: list[str] = field(default_factory=list)
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    numbers: dict[str, Any] = field(default_factory=dict)
    against: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    figures: dict[str, Callable[[], Drawing]] = field(default_factory=dict)
    ends: str = ""
    opening: str = ""

    __repr__ = one_line


@dataclass(frozen=True)
class PanelFit:
    """A panel, what is known of it, and the rules.

    Attributes:
        graded: the answers; yes and no are two categories. respondents, questions: what is known of them, by name.
        begins: where each category above the lowest begins; empty for yes and no. n_factors, extraction, thresholds,
            zero_cells: of the factor model. n_replicates: of the first eigenvalue's null and the bootstrap; 0 = none;
            of all other nulls `FEWER` at most. seed: of all random numbers.
    """

    graded: GradedAnswers
    respondents: pd.DataFrame | None = None
    questions: pd.DataFrame | None = None
    begins: tuple[float, ...] = ()
    n_factors: int = 1
    extraction: Extraction = "minres"
    thresholds: ThresholdMode = "pairwise"
    zero_cells: ZeroCellRule = "half"
    n_replicates: int = 499
    seed: int = 0

    @classmethod
    def of(cls, matrix: Any, at: tuple[float, ...] = (), **choices: Any) -> "PanelFit":
        """Of a question x respondent matrix, 1 / 0 / nan; or of numbers, cut where each category begins.

        Raises:
            InputError: fewer than three respondents vary, or parts of the panel share no questions.
        """
        graded = as_graded(cut_confidence(matrix, at).rename_axis(columns="respondent") if at else matrix)
        begins = tuple(at[int(value) - 1] for value in graded.values[1:]) if at else ()
        fit = cls(graded, begins=begins, **choices)
        require_one_part(fit.answers)
        return fit

    def has(self, need: str) -> bool:
        """Whether the panel has what a check needs: `yes and no`, `categories` or `replicates`."""
        has = {"yes and no": not self.begins, "categories": bool(self.begins), "replicates": self.n_replicates > 0}
        return has[need]

    @property
    def rules(self) -> dict[str, Any]:
        """Of the correlations."""
        return {"thresholds": self.thresholds, "zero_cells": self.zero_cells}

    @property
    def chance(self) -> dict[str, Any]:
        """Rules and seed, as nulls take them."""
        return {**self.rules, "seed": self.seed}

    @property
    def few(self) -> int:
        """Replicates of what needs no small p."""
        return min(self.n_replicates, FEWER)

    @cached_property
    def answers(self) -> Answers:
        """Yes and no of everybody; of categories, above the lowest."""
        return self.graded.as_yes_no()

    @cached_property
    def fits(self) -> Fits:
        """Of the respondents that can be compared."""
        return Fits(self.graded)

    @cached_property
    def nulls(self) -> Nulls:
        """Their random panels, where no p below 1 / 100 is needed."""
        return Nulls(self.fits, self.few, self.thresholds, self.zero_cells, self.seed)

    @cached_property
    def factor(self) -> FactorModel:
        """Of the tetrachoric correlations of yes and no."""
        return fit_factor_model(self.answers, self.n_factors, self.extraction, **self.rules)

    @cached_property
    def polychoric(self) -> PolychoricFactor:
        """Of the polychoric correlations of categories."""
        return polychoric_factor(self.fits, **self.rules)

    @cached_property
    def response(self) -> ResponseModel:
        """The response model on a normal scale, without answers at random."""
        return response_model(self.fits)

    @cached_property
    def loadings(self) -> pd.Series:
        """The page's own: by minres for yes and no, of the response model for categories."""
        own = self.response.respondents["loading"] if self.begins else self.factor.loadings["factor_1"]
        return own.rename("loading")

    @cached_property
    def correlation(self) -> pd.DataFrame:
        """Tetrachoric or polychoric, never smoothed."""
        return self.polychoric.correlations.correlation if self.begins else self.factor.tetrachoric.correlation

    @cached_property
    def empty_cells(self) -> tuple[int, int]:
        """Pairs that lack an answer pattern, of how many."""
        found = self.polychoric.correlations if self.begins else self.factor.tetrachoric
        return found.n_zero_cell_pairs, math.comb(self.n_varied, 2)

    @cached_property
    def share(self) -> tuple[float, float, float]:
        """Mean squared loading of the page's own loadings, and its 95% interval: over questions for yes and no (nan
        without replicates), by the delta method for categories."""
        if self.begins:
            low, high = (number(self.response.shares, "general", end) for end in ("low", "high"))
            return number(self.response.shares, "general", "share"), low, high
        share = number(self.factor.explained, "factor_1", "squared_loadings_of_total_variance")
        if not self.n_replicates:
            return share, float("nan"), float("nan")
        low, high = (number(self.bootstrap.shares, "squared_loadings", end) for end in ("low", "high"))
        return share, low, high

    @cached_property
    def bootstrap(self) -> QuestionBootstrap:
        """Resamples of the questions."""
        return bootstrap_questions(self.fits, n_replicates=self.n_replicates, **self.chance)

    @cached_property
    def shuffled(self) -> Simulated:
        """Eigenvalues where each respondent's answers are shuffled."""
        if self.begins:
            return self.polychoric.beside("shuffled", self.n_replicates, self.seed)
        return permutation_null(self.fits, n_replicates=self.n_replicates, **self.chance)

    @cached_property
    def accounts(self) -> RivalAccounts:
        """What else would make a parabola or a second factor."""
        return rival_accounts(self.nulls)

    @cached_property
    def one_factor(self) -> OneFactorBootstrap:
        """Under the account that comes nearest to explaining a second factor."""
        scale, asymptotes = self.accounts.nearest("second")
        return one_factor_bootstrap(self.nulls, scale=scale, asymptotes=asymptotes)

    @cached_property
    def models(self) -> list[str] | None:
        """Base models of the respondents that vary; None where unknown."""
        if self.respondents is None or "model" not in self.respondents:
            return None
        models = self.respondents["model"].reindex(self.graded.respondents[self.graded.varies])
        return None if models.isna().any() else [str(name) for name in models.unique()]

    @cached_property
    def kin(self) -> tuple[str, pd.Series] | None:
        """The column that makes several respondents kin (their model, else their family), and everybody's label; None
        where there is none, or where a group is too large for its patterns to be counted."""
        for column in ("model", "family"):
            if self.respondents is None or column not in self.respondents:
                continue
            labels = self.respondents[column].reindex(self.graded.respondents)
            sizes = labels[self.graded.varies].value_counts()
            if not labels.isna().any() and not (labels == "").any() and len(sizes) > 1 and sizes.max() > 1:
                return (column, labels) if sizes.max() <= LARGEST_KIN else None
        return None

    @cached_property
    def specific(self) -> SpecificFactors | None:
        """What kin share beside everybody's scale."""
        if self.kin is None:
            return None
        return specific_factors(self.fits, self.kin[1], scale="histogram", asymptotes="own")

    @cached_property
    def by_kin(self) -> bool:
        """Whether there are kin enough for the general factor beside theirs to be everybody's."""
        return self.specific is not None and len(self.specific.tests) >= FEWEST_KIN

    @cached_property
    def unsettled(self) -> list[str]:
        """Models of the page whose likelihood stopped below its maximum."""
        specific = {} if self.specific is None else {"the families' factors": self.specific.model}
        fits = {"the response model": self.response, **specific}
        return [name for name, fit in fits.items() if not fit.converged]

    @property
    def n_varied(self) -> int:
        """Respondents that gave more than one kind of answer."""
        return int(np.sum(self.graded.varies))
