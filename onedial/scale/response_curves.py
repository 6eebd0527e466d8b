"""How likely each category of an answer is at each place: the normal-ogive graded response model.

    P(x >= k | z) = Phi(a z + d_k),   k = 1 .. K - 1,   d_1 > d_2 > ...,    P_k = P(x >= k) - P(x >= k + 1)

z is the scale. With two categories this is the two-parameter model (Samejima, 1969, Psychometric Monograph 17). With
probability f_k an answer is k whatever the question (a guess, a lapse):

    P(x = k | z) = f_k + (1 - f_0 - .. - f_K-1) P_k(z)

For yes and no f_1 is the lower asymptote and 1 - f_0 the upper one (Barton and Lord, 1981, ETS Research Report 81-20).
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import log_ndtr

from onedial.scale.factor.minres import MAX_COMMUNALITY
from onedial.stats.arrays import Booleans, Floats, Integers
from onedial.stats.level import Z_95

STEEPEST = float(np.sqrt(MAX_COMMUNALITY / (1 - MAX_COMMUNALITY)))  # the slope of a loading of sqrt(.995)
UNUSED = -40.0  # the cut of a category that a respondent never uses
SALIENT = 0.3
"""A loading below which a variable is usually said not to belong to a factor."""
_MOST = 600.0
_LOG_ROOT_TWO_PI = 0.5 * np.log(2 * np.pi)


@dataclass(frozen=True)
class Curves:
    """Curves of every respondent.

    Attributes:
        slope: (respondent,) a. cuts: (cut, respondent) d, falling along the first axis; UNUSED where there is none.
        floors: (category, respondent) f; None = nobody answers at random.
    """

    slope: Floats
    cuts: Floats
    floors: Floats | None = None

    @property
    def size(self) -> Floats:
        """(respondent,) standard deviation of the hidden answer, sqrt(1 + a^2)."""
        return np.sqrt(1 + self.slope**2)

    @property
    def loading(self) -> Floats:
        """(respondent,) a / sqrt(1 + a^2)."""
        return self.slope / self.size

    @property
    def thresholds(self) -> Floats:
        """(cut, respondent) d / sqrt(1 + a^2): the cuts on a hidden answer of variance 1."""
        return self.cuts / self.size

    @property
    def attentive(self) -> Floats | float:
        """(respondent,) how likely an answer follows the curve."""
        return 1.0 if self.floors is None else 1 - self.floors.sum(axis=0)

    @property
    def at_bound(self) -> Booleans:
        """(respondent,) True where the loading sits at its bound."""
        return np.asarray(self.size**2 - 1 >= STEEPEST**2 * (1 - 1e-6))

    def moved(self, mean: float, spread: float) -> "Curves":
        """The same curves on the scale (z - mean) / spread."""
        cuts = np.where(self.cuts == UNUSED, UNUSED, self.cuts + self.slope * mean)
        return replace(self, slope=self.slope * spread, cuts=cuts)

    def take(self, respondents: Booleans | Integers) -> "Curves":
        """The curves of some respondents (a mask or positions)."""
        floors = None if self.floors is None else self.floors[:, respondents]
        return Curves(self.slope[respondents], self.cuts[:, respondents], floors)


def slope_of(loading: Floats) -> Floats:
    """loading / sqrt(1 - loading^2), of loadings within +-sqrt(.995)."""
    return loading / np.sqrt(1 - loading**2)


def answers_other_way(loading: Floats, error: Floats) -> Booleans:
    """Who answers the other way round: a loading of -`SALIENT` or less, whose 95% interval lies below 0.

    At its bound a loading has no error, and is judged by its size.

    >>> answers_other_way(np.array([-0.5, -0.5, -0.1, -0.99, 0.9]), np.array([0.1, 0.3, 0.01, np.nan, 0.1])).tolist()
    [True, False, False, True, False]
    """
    return (loading <= -SALIENT) & ~(loading + Z_95 * error >= 0)


@dataclass(frozen=True)
class Chances:
    """What the curves say at every place.

    Attributes:
        log_p: (category, respondent, place) of all answers. log_follows: the same of answers that follow the curve.
        log_rise: (cut, respondent, place) logs of how fast P(x >= k) rises with its cut. places: (place,) z.
    """

    log_p: Floats
    log_follows: Floats
    log_rise: Floats
    places: Floats

    @classmethod
    def of(cls, curves: Curves, places: Floats) -> "Chances":
        """Of these curves at these places."""
        log_follows, log_rise = ogive(np.outer(curves.slope, places) + curves.cuts[..., None])
        log_rise = np.where((curves.cuts == UNUSED)[..., None], -np.inf, log_rise)
        if curves.floors is None:
            return cls(log_follows, log_follows, log_rise, places)
        with np.errstate(divide="ignore"):
            log_floors, follows = np.log(curves.floors)[..., None], np.log(curves.attentive)[:, None]
        log_p = np.logaddexp(log_floors, log_follows + follows)
        return cls(log_p, log_follows, log_rise + follows, places)

    def slopes_by(self, counts: Floats) -> tuple[Floats, Floats, Floats]:
        """Derivatives of the sum of counts x log P by a (respondent,), d (cut, respondent) and f (category,
        respondent), of expected answers (category, respondent, place)."""
        # where a category is next to impossible nothing is counted, and its ratio would be without bound
        by_line = counts[1:] * np.exp(np.minimum(self.log_rise - self.log_p[1:], _MOST))
        by_line -= counts[:-1] * np.exp(np.minimum(self.log_rise - self.log_p[:-1], _MOST))
        by_cut, along = by_line.sum(axis=-1), by_line.sum(axis=0)
        if self.log_p is self.log_follows:
            return along @ self.places, by_cut, np.zeros(counts.shape[:2])
        share = counts * np.exp(np.minimum(-self.log_p, _MOST))
        by_floor = share.sum(axis=-1) - (share * np.exp(self.log_follows)).sum(axis=(0, 2))
        return along @ self.places, by_cut, by_floor


def log_categories(curves: Curves, places: Floats) -> Floats:
    """log P_k (category, respondent, place)."""
    return Chances.of(curves, places).log_p


def ogive(at: Floats) -> tuple[Floats, Floats]:
    """log P_k (category, ...) and the logs of the densities (cut, ...) of answers whose cuts lie at (cut, ...)."""
    below, above = log_ndtr(-at), log_ndtr(at)
    log_p = [below[0]]
    for k in range(1, len(at)):
        # Phi(at[k-1]) - Phi(at[k]), from the tails on the side where they are small
        right = at[k - 1] + at[k] > 0
        larger = np.where(right, below[k], above[k - 1])
        smaller = np.where(right, below[k - 1], above[k])
        with np.errstate(divide="ignore"):
            log_p.append(larger + np.log(np.maximum(-np.expm1(np.minimum(smaller - larger, 0)), 1e-300)))
    return np.stack([*log_p, above[-1]]), -(at**2) / 2 - _LOG_ROOT_TWO_PI
