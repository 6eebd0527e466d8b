"""How likely each category of an answer is at each place of the scale: the normal-ogive graded response model.

    P(x >= k | z) = Phi(a z + d_k),   k = 1 .. K - 1,   d_1 > d_2 > ...,     P_k = P(x >= k) - P(x >= k + 1)

(Samejima, 1969, Psychometric Monograph 17). A yes/no answer is K = 2 with one cut, Phi(a z + d): every formula here
is then that of the two-parameter model, computed by the same operations. Some answers may be given whatever the
question (`onedial.scale.irt.asymptotes`): f_k + (1 - sum of f) P_k.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from onedial.scale.factor.minres import MAX_COMMUNALITY
from onedial.stats import Floats

STEEPEST = float(np.sqrt(MAX_COMMUNALITY / (1 - MAX_COMMUNALITY)))  # the slope of a loading of sqrt(.995)
UNUSED = -40.0  # the cut of a category that a respondent never uses
_LOG_ROOT_TWO_PI = 0.5 * np.log(2 * np.pi)
_LARGEST_STEP = 1.0
_DAMPING = 1e-3  # of a slope that the data hardly tell from its cuts


@dataclass(frozen=True)
class Curves:
    """Curves of every respondent.

    Attributes:
        slope: (respondent,). cuts: (cut, respondent), falling along the first axis; UNUSED where there is none.
        floors: (category, respondent) how likely each category is whatever the question; None = not at all.
    """

    slope: Floats
    cuts: Floats
    floors: Floats | None = None

    @property
    def loading(self) -> Floats:
        """(respondent,) a / sqrt(1 + a^2)."""
        return self.slope / np.sqrt(1 + self.slope**2)

    @property
    def thresholds(self) -> Floats:
        """(cut, respondent) d / sqrt(1 + a^2): the cuts on an answer's hidden variable of variance 1."""
        return self.cuts / np.sqrt(1 + self.slope**2)

    def moved(self, mean: float, spread: float) -> "Curves":
        """The same curves on the scale (z - mean) / spread."""
        cuts = np.where(self.cuts == UNUSED, UNUSED, self.cuts + self.slope * mean)
        return Curves(self.slope * spread, cuts, self.floors)

    @property
    def attentive(self) -> Floats | float:
        """(respondent,) how likely an answer follows the curve."""
        return 1.0 if self.floors is None else 1 - self.floors.sum(axis=0)

    def take(self, respondents: Floats) -> "Curves":
        """The curves of some respondents (a mask or positions)."""
        floors = None if self.floors is None else self.floors[:, respondents]
        return Curves(self.slope[respondents], self.cuts[:, respondents], floors)


def slope_of(loading: Floats) -> Floats:
    """loading / sqrt(1 - loading^2), of loadings within +-sqrt(.995)."""
    return loading / np.sqrt(1 - loading**2)


def log_categories(curves: Curves, nodes: Floats) -> tuple[Floats, Floats]:
    """log P_k (category, respondent, node), and the logs of how fast P(x >= k) rises with each cut (cut, respondent,
    node): of normal densities, times how likely an answer follows the curve."""
    log_p, log_density = _log_ogive(curves, nodes)
    if curves.floors is None:
        return log_p, log_density
    follows = np.log(curves.attentive)[:, None]
    with np.errstate(divide="ignore"):
        return np.logaddexp(np.log(curves.floors)[..., None], log_p + follows), log_density + follows


def random_answers(curves: Curves, nodes: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Expected answers that follow the curves (category, respondent, node), and the number of the others (category,
    respondent), of expected answers (category, respondent, node)."""
    if curves.floors is None:
        return counts, np.zeros(counts.shape[:2])
    with np.errstate(divide="ignore"):
        log_floors = np.log(curves.floors)[..., None]
    random = counts * np.exp(np.minimum(log_floors - log_categories(curves, nodes)[0], 0))
    return counts - random, random.sum(axis=-1)


def _log_ogive(curves: Curves, nodes: Floats) -> tuple[Floats, Floats]:
    return ogive(curves.slope[:, None] * nodes + curves.cuts[..., None])


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


def at_cuts(log_p: Floats, log_density: Floats, counts: Floats, used: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Score of each cut (cut, respondent, node), the information of each and of neighbouring ones (cut - 1), and, for
    each cut, summed over the other, of expected answers (category, respondent, node); used: (cut, respondent)."""
    n = counts.sum(axis=0)
    upper, lower = np.exp(log_density - log_p[1:]), np.exp(log_density - log_p[:-1])
    pull = (counts[1:] * upper - counts[:-1] * lower) * used[..., None]
    density = np.exp(log_density) * used[..., None]
    weight = n * density * (upper + lower)
    joint = -n * density[:-1] * np.exp(log_density[1:] - log_p[1:-1]) * used[1:, :, None]
    rows = weight.copy()
    rows[:-1] += joint
    rows[1:] += joint
    return pull, weight, joint, rows


def scoring_step(curves: Curves, nodes: Floats, counts: Floats, equal_slopes: bool = False) -> Curves:
    """One step of Fisher scoring towards the curves that make expected counts most likely.

    Formula: theta + I^-1 s, s = sum over nodes and categories of counts d log P / d theta, I = sum of N (dP)(dP)' / P
    with N = counts summed over categories, theta = (a, d_1, .., d_K-1) of a respondent.

    Args:
        counts: (category, respondent, node), what the E step expects of answers that follow the curves.
        equal_slopes: one slope for all.
    """
    used = curves.cuts != UNUSED
    pull, weight, joint, rows = at_cuts(*_log_ogive(curves, nodes), counts, used)
    n_cuts, m = curves.cuts.shape
    information = np.zeros((m, n_cuts + 1, n_cuts + 1))
    information[:, 0, 0] = rows.sum(axis=0) @ nodes**2
    information[:, 0, 1:] = information[:, 1:, 0] = (rows @ nodes).T
    own, next_one = np.arange(1, n_cuts + 1), np.arange(1, n_cuts)
    information[:, own, own] = np.where(used, weight.sum(axis=-1), 1.0).T
    information[:, next_one, next_one + 1] = information[:, next_one + 1, next_one] = joint.sum(axis=-1).T
    score = np.concatenate([(pull @ nodes).sum(axis=0)[None], pull.sum(axis=-1)]).T
    # slopes first, the cuts eliminated; then the cuts given the slopes' step, so that a slope may stop at its bound
    cross = information[:, 0, 1:]
    # where a cut has run away from all answers nothing is known of it, and it stays
    ridge = np.maximum(1e-12 * information[:, own, own].max(axis=1), 1e-100)[:, None, None] * np.eye(n_cuts)
    cuts_inverse = np.linalg.inv(information[:, 1:, 1:] + ridge)
    towards = np.einsum("mj,mjk->mk", cross, cuts_inverse)
    left = information[:, 0, 0] - (towards * cross).sum(axis=1)
    right = score[:, 0] - (towards * score[:, 1:]).sum(axis=1)
    turn = (
        np.full(m, right.sum() / left.sum())
        if equal_slopes
        else right / (left + _DAMPING * information[:, 0, 0] + 1e-12)
    )
    slope = np.clip(curves.slope + np.clip(turn, -_LARGEST_STEP, _LARGEST_STEP), -STEEPEST, STEEPEST)
    shift = np.einsum("mjk,mk->mj", cuts_inverse, score[:, 1:] - cross * (slope - curves.slope)[:, None]).T
    shift *= np.minimum(1, _LARGEST_STEP / np.maximum(np.abs(shift).max(axis=0), 1e-12))
    if n_cuts > 1:  # neighbouring cuts keep a tenth of their distance, so that they stay in order
        distance, closing = -np.diff(curves.cuts, axis=0), np.maximum(np.diff(shift, axis=0), 1e-12)
        shift *= np.minimum(1, np.where(used[1:], 0.9 * distance / closing, 1.0).min(axis=0))
    return Curves(slope, np.where(used, curves.cuts + shift, UNUSED), curves.floors)
