"""Answers that have nothing to do with the question: guesses, lapses, a yes or a no whatever is asked.

With probability f_k a respondent gives category k wherever the question lies; otherwise it follows its curve:

    P(x = k | z) = f_k + (1 - f_0 - .. - f_K-1) P_k(z)

For yes and no this is the four-parameter model with lower asymptote f_1 and upper asymptote 1 - f_0 (Barton and Lord,
1981, ETS Research Report 81-20), and with f_0 = 0 Birnbaum's three-parameter model. How often somebody answers at
random is seen only where its curve says something else, which may be nowhere; the asymptotes of each respondent are
therefore drawn towards those of all,

    f_i ~ Dirichlet(1 + 20 c_0, .., 1 + 20 c_K-1, 1 + 20 (1 - sum of c)),      each alone: a Beta distribution

c = the asymptotes that fit best when all respondents have the same: as much as 20 answers of known origin would say.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from onedial.core import InputError
from onedial.scale.irt.expectation import MISSING, Codes
from onedial.stats import Booleans, Floats

AsymptoteKind = Literal["none", "common", "own"]
PRIOR_ANSWERS = 20.0
_START = 0.05
_LEAST, _MOST = 1e-6, 0.98  # of one category, and of all together


def check_asymptotes(kind: str) -> None:
    """Raise InputError if there is no such kind."""
    if kind not in get_args(AsymptoteKind):
        raise InputError(f"asymptotes={kind!r}; choose one of {', '.join(get_args(AsymptoteKind))}")


@dataclass(frozen=True)
class Asymptotes:
    """What is estimated of answers that do not look at the question.

    Attributes:
        possible: (category, respondent) whether the respondent may give that category at random.
        centre: (category,) of the prior of each respondent's own; None where all have the same.
    """

    possible: Booleans
    centre: Floats | None = None

    @classmethod
    def of(cls, codes: Codes, whose: Booleans | None = None, centre: Floats | None = None) -> "Asymptotes":
        """For the categories that each respondent used; `whose` (respondent,) leaves out some altogether."""
        used = np.stack([(codes == k).any(axis=0) for k in range(int(codes.max()) + 1)])
        return cls(used if whose is None else used & whose, centre)

    def start(self) -> Floats:
        """(category, respondent)."""
        centre = _START * np.ones(len(self.possible)) if self.centre is None else self.centre
        return np.where(self.possible, np.maximum(centre, _LEAST)[:, None], 0.0)

    def update(self, random: Floats, n: Floats) -> Floats:
        """(category, respondent) asymptotes, from the expected number of answers at random, of so many in all."""
        if self.centre is not None:
            found = (random + PRIOR_ANSWERS * self.centre[:, None]) / (n + PRIOR_ANSWERS)
        else:
            of_all = np.where(self.possible, n, 0.0).sum(axis=1)
            found = (np.where(self.possible, random, 0.0).sum(axis=1) / np.maximum(of_all, 1.0))[:, None]
        return self.inside(found)

    def inside(self, floors: Floats) -> Floats:
        """The same, where they can be."""
        floors = np.where(self.possible, np.maximum(floors, _LEAST), 0.0)
        return floors * np.minimum(1, _MOST / np.maximum(floors.sum(axis=0), _LEAST))

    def log_prior(self, floors: Floats) -> float:
        """Of all respondents, up to a constant."""
        if self.centre is None:
            return 0.0
        inside = np.where(self.possible, floors, 1.0)
        weight = np.where(self.possible, self.centre[:, None], 0.0)
        rest = 1 - np.where(self.possible, floors, 0.0).sum(axis=0)
        return PRIOR_ANSWERS * float((weight * np.log(inside)).sum() + ((1 - weight.sum(axis=0)) * np.log(rest)).sum())

    def prior_precision(self, floors: Floats) -> Floats:
        """(category x respondent, category x respondent) minus the second derivatives of the log prior."""
        k, m = floors.shape
        found = np.zeros((k, m, k, m))
        if self.centre is not None:
            everyone = np.arange(m)
            weight = np.where(self.possible, self.centre[:, None], 0.0)
            rest = (1 - weight.sum(axis=0)) / (1 - floors.sum(axis=0)) ** 2
            for a in range(k):
                for b in range(k):
                    found[a, everyone, b, everyone] = rest
                found[a, everyone, a, everyone] += weight[a] / np.maximum(floors[a], _LEAST) ** 2
        return PRIOR_ANSWERS * found.reshape(k * m, k * m)


def n_answers(codes: Codes) -> Floats:
    """(respondent,)."""
    return (codes != MISSING).sum(axis=0).astype(float)
