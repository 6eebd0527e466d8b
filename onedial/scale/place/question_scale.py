"""The scale that a panel's answers make: where each question lies, as far as the panel knows.

What the panel knows of question q is a distribution over the scale, its posterior, so that questions of which it knows
little pull little. The scale's origin and unit are mean and spread of the questions that the panel answered.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from onedial.scale.expectation import Data
from onedial.scale.fits import Fits
from onedial.scale.likelihood import MarginalFit, Model, fit_marginal
from onedial.scale.nodes import N_NODES
from onedial.stats.arrays import Floats


@dataclass(frozen=True)
class QuestionScale:
    """A panel's scale, on which others can be placed.

    Attributes:
        questions: their identifiers. respondents: those whose answers made the scale.
        fit: the panel's two-parameter model with a normal scale.
    """

    questions: pd.Index
    respondents: pd.Index
    fit: MarginalFit

    @classmethod
    def of(cls, matrix: Any) -> "QuestionScale":
        """Fit a panel, question x respondent, 1 / 0 / nan.

        Raises:
            InputError: fewer than three respondents vary or share questions.
        """
        fits = Fits.of(matrix)
        fit = fits.fit(Model())
        # others may follow the scale more closely than its respondents, and need finer nodes
        fit = fit_marginal(fits.codes, start=fit, n_nodes=max(N_NODES, len(fit.nodes)))
        return cls(fits.answers.questions, fits.answers.respondents, fit)

    def posterior(self, without: Sequence[Any] = ()) -> Floats:
        """(question, node) where each question lies by the answers of all respondents but some; nan rows where nobody
        else answered.

        The others' curves stay as they are: of what is left out only its own answers are taken back.
        """
        kept = ~self.respondents.isin(list(without))
        codes = self.fit.codes[:, kept]
        density = Data(codes).posterior(self.fit.curves.take(kept), self.fit.nodes, self.fit.log_weight)
        density[(codes < 0).all(axis=1)] = np.nan
        return density
