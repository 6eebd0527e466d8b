"""Questions that a panel has placed on its scale, ready to be put to somebody new.

The bank holds, for every question and every place at which a respondent may stand (`onedial.scale.place.places`), the
probability of a yes. Where a question lies is known up to a distribution, its posterior under the panel's answers, and
the probability is the mean over it: a question of which the panel knows little tells little.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.scale.place.placement import Placement
from onedial.scale.place.places import LAPSES, Prior, chances, grid, log_likelihoods, prior_of, with_lapse
from onedial.scale.place.question_scale import QuestionScale
from onedial.stats.answers import Answers, as_answers
from onedial.stats.arrays import Booleans, Floats, Integers

FEWEST_KIN = 3
"""Groups of respondents that answer for each other: with fewer, each respondent stands for itself."""


@dataclass(frozen=True)
class QuestionBank:
    """Questions on a scale, and what is known of respondents before they answer.

    Attributes:
        questions: their identifiers.
        difficulty, difficulty_se: (question,) -EAP on the panel's scale, higher = harder, and posterior sd.
        chance: (question, place) probability of a yes.
        prior: over the places. lapse: share of the panel's answers that are as good as tosses of a coin.
        respondents: those whose answers placed the questions.
    """

    questions: pd.Index
    difficulty: Floats
    difficulty_se: Floats
    chance: Floats
    prior: Prior
    lapse: float
    respondents: pd.Index

    __repr__ = one_line

    @classmethod
    def of(cls, matrix: Any, kin: pd.Series | None = None) -> "QuestionBank":
        """Place a panel's questions, and learn from its respondents what a new one may be like.

        Args:
            matrix: question x respondent, 1 / 0 / nan; at least three respondents that vary.
            kin: respondent -> what it shares with others, such as its family: the prior is learnt from how a respondent
                answers questions that were placed without its kin, as a new respondent's will be. Default: each stands
                for itself.

        Raises:
            InputError: fewer than three respondents vary or share questions.
        """
        answers = as_answers(matrix)
        scale = QuestionScale.of(answers)
        prior, lapse = _learnt(scale, answers, kin)
        posterior = scale.posterior()
        known = ~np.isnan(posterior[:, 0])
        posterior = posterior[known]
        easiness = posterior @ scale.fit.nodes
        return cls(
            questions=scale.questions[known],
            difficulty=-easiness,
            difficulty_se=np.sqrt(np.maximum(posterior @ scale.fit.nodes**2 - easiness**2, 0)),
            chance=with_lapse(chances(posterior, scale.fit.nodes), lapse),
            prior=prior,
            lapse=lapse,
            respondents=scale.respondents,
        )

    def select(self, kept: Booleans) -> "QuestionBank":
        """The same scale with some of the questions (a mask)."""
        return replace(
            self,
            questions=self.questions[kept],
            difficulty=self.difficulty[kept],
            difficulty_se=self.difficulty_se[kept],
            chance=self.chance[kept],
        )

    def place(self, answers: Mapping[Any, bool] | pd.Series) -> Placement:
        """What answers tell of whoever gave them.

        Args:
            answers: question -> yes (True, 1) or no (False, 0). What is nan was not read, and tells nothing.

        Raises:
            InputError: a question that the bank does not know.

        >>> from onedial.panels import load_panel
        >>> from onedial.scale import QuestionBank
        >>> bank = QuestionBank.of(load_panel("frontier"))
        >>> nobody = bank.place({})
        >>> eager = bank.place({question: True for question in nobody.next_questions(8)})
        >>> nobody.threshold < eager.threshold
        True
        """
        given = pd.Series(answers, dtype=float).dropna()
        return Placement(self, self.rows_of(list(given.index)), given.to_numpy() == 1)

    def rows_of(self, questions: Sequence[Any]) -> Integers:
        """(question,) rows of the bank.

        Raises:
            InputError: a question that the bank does not know.
        """
        rows = self.questions.get_indexer(pd.Index(questions))
        for row, question in zip(rows, questions, strict=True):
            if row < 0:
                raise InputError(
                    f"the bank of {len(self.questions)} questions has no {question!r}; "
                    "give answers to its questions, by its identifiers"
                )
        return np.asarray(rows, dtype=int)

    @cached_property
    def expected(self) -> Floats:
        """(place,) expected number of yeses to all questions."""
        return np.asarray(self.chance.sum(axis=0))

    @cached_property
    def spread(self) -> Floats:
        """(place,) variance of that number."""
        return np.asarray((self.chance * (1 - self.chance)).sum(axis=0))

    @cached_property
    def thresholds(self) -> Floats:
        """(place,) Phi^-1 of the yes rate that is expected over the bank."""
        return self.threshold_of(self.expected / len(self.questions))

    def threshold_of(self, rate: Floats) -> Floats:
        """Phi^-1 of a yes rate over the bank, which is no nearer to 0 or 1 than half an answer."""
        half = 0.5 / len(self.questions)
        return np.asarray(ndtri(np.clip(rate, half, 1 - half)))


def _learnt(scale: QuestionScale, answers: Answers, kin: pd.Series | None) -> tuple[Prior, float]:
    """The prior and the lapse rate under which the panel's answers are most likely."""
    columns = answers.respondents.get_indexer(scale.respondents)
    groups = kin_groups(scale.respondents, kin)
    likelihood = {lapse: np.empty((len(columns), len(grid()[0]))) for lapse in LAPSES}
    for group in groups.unique():
        mine = (groups == group).to_numpy()
        posterior = scale.posterior(list(scale.respondents[mine]))
        known = ~np.isnan(posterior[:, 0])
        given = answers.answered[:, columns[mine]][known]
        yes = answers.yes[:, columns[mine]][known] & given
        chance = chances(posterior[known], scale.fit.nodes)
        for lapse, of_lapse in likelihood.items():
            of_lapse[mine] = log_likelihoods(with_lapse(chance, lapse), yes.astype(float), (given & ~yes).astype(float))
    lapse = max(likelihood, key=lambda lapse: likelihood[lapse].max(axis=1).sum())
    return prior_of(likelihood[lapse]), lapse


def kin_of(respondents: pd.DataFrame) -> pd.Series:
    """respondent -> its family, or its base model where no family is given or the panel has fewer than three.

    Args:
        respondents: index respondent, with `model` and `family`, as a panel holds it.

    >>> kin_of(pd.DataFrame({"model": ["m1", "m2"], "family": ["f", "f"]}, ["a", "b"])).tolist()
    ['m1', 'm2']
    """
    family = respondents["family"].where(respondents["family"].astype(bool), respondents["model"])
    return family if family.nunique() >= FEWEST_KIN else respondents["model"]


def kin_groups(respondents: pd.Index, kin: pd.Series | None) -> pd.Series:
    """respondent -> group; each its own where there are fewer than three groups."""
    alone = pd.Series(respondents, respondents)
    if kin is None:
        return alone
    groups = kin.reindex(respondents).fillna(alone)
    return alone if groups.nunique() < FEWEST_KIN else groups
