"""Does confidence follow what a respondent knows? Signal detection of the second order.

A judgement (yes, I can) is right or wrong; how sure it is may tell which. With evidence x ~ N(-d'/2, 1) where the
respondent would be wrong and N(d'/2, 1) where it would be right, yes above a criterion c and surer further from it,
d' says how well yes and no tell the two apart. Looking only at how sure right and wrong judgements are gives a d' too:

    meta-d'    the d' at which an ideal observer's confidence would be as informative as the observed one, with c and
               the cuts between levels of confidence where they fit best, c / d' kept (Maniscalco and Lau, 2012,
               Consciousness and Cognition 21, 422-430)
    M-ratio    meta-d' / d': 1 = confidence uses all that the judgement used, 0 = nothing

    type-2 AUROC   probability that a right judgement was given with more confidence than a wrong one, ties half
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import ndtr, ndtri
from scipy.stats import norm
from statsmodels.tools.numdiff import approx_fprime, approx_hess

from onedial.confidence.calibration import aligned
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.stats.arrays import Floats, Integers
from onedial.stats.level import Z_95
from onedial.stats.roc import roc_area, roc_area_interval

LEAST_JUDGEMENTS = 10  # right ones and wrong ones of each answer, for meta-d' to be worth its interval
LEAST_DPRIME = 0.3  # below it a ratio to d' says nothing
_ONE_LEVEL = "confidence has one level only"
_PADDING = 0.5
_TINY = 1e-10
NAN = float("nan")


@dataclass(frozen=True)
class MetaD:
    """Signal detection of the second order.

    Attributes:
        d_prime, criterion: of the judgement; c > 0 = more often no. meta_d, m_ratio: as above, with standard errors.
        auroc2: type-2 AUROC. log_likelihood: of the ratings given judgement and outcome.
        cuts: (cut,) between the levels of confidence. status: empty, or why a number is nan or not to be trusted.
    """

    d_prime: float
    criterion: float
    meta_d: float = NAN
    meta_d_se: float = NAN
    m_ratio: float = NAN
    m_ratio_se: float = NAN
    auroc2: float = NAN
    log_likelihood: float = NAN
    cuts: Floats = field(default_factory=lambda: np.array([]))
    status: str = ""

    __repr__ = one_line


def meta_d_prime(when_wrong: ArrayLike, when_right: ArrayLike) -> MetaD:
    """meta-d' and M-ratio from counts of ratings.

    Formula: above, by maximum likelihood; its standard error from the curvature there. That of d' is sqrt(sum over
    outcomes of H (1 - H) / (n phi(z)^2)), H = Phi(z) the share of yes (Gourevitch and Galanter, 1967, Psychometrika 32,
    25-33).

    Args:
        when_wrong, when_right: (rating,) counts from the surest no over the least sure no and the least sure yes to the
            surest yes, an even number of ratings; of questions that the respondent would get wrong, and right. They
            need not be whole numbers.

    Returns:
        MetaD. Sign: higher meta-d' = confidence tells right from wrong judgements better. Where only one level of
        confidence was used, nothing tells how much it knows: meta-d' and M-ratio are nan, and the status says so.

    Raises:
        InputError: the two have not the same even length of at least 4, or a count is negative.

    R: `metaSDT::fit_meta_d_MLE(nR_S1, nR_S2, add_padding = FALSE)`; Python: `metadpy.mle.fit_metad`.

    >>> result = meta_d_prime([40, 30, 20, 10], [10, 20, 30, 60])
    >>> result.status, round(result.d_prime, 2)
    ('', 1.2)
    """
    counts = np.stack([np.asarray(part, dtype=float).reshape(-1) for part in (when_wrong, when_right)])
    if counts.shape[1] < 4 or counts.shape[1] % 2 or (counts < 0).any() or not np.isfinite(counts).all():
        raise InputError(
            f"{counts.shape[1]} ratings; give the same even number of counts (at least 4, none negative) for both"
        )
    half, n = counts.shape[1] // 2, counts.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = ndtri(counts[:, half:].sum(axis=1) / n)
    d_prime, criterion = float(z[1] - z[0]), float(-z.sum() / 2)
    fitted = MetaD(d_prime, criterion, auroc2=_auroc2(counts))
    used = levels_used(counts)
    if not np.isfinite(criterion / d_prime if d_prime else np.nan):
        return replace(fitted, status="a hit or false alarm rate of 0 or 1; add a little to every count")
    if used.max() < 2:
        return replace(fitted, status=_ONE_LEVEL)
    theta, information, likelihood = _fitted(counts, criterion / d_prime, d_prime)
    meta_d, meta_se = float(theta[0]), float(np.sqrt(np.linalg.pinv(information)[0, 0]))
    d_se = np.sqrt((ndtr(z) * ndtr(-z) / (n * norm.pdf(z) ** 2)).sum())
    return replace(
        fitted,
        meta_d=meta_d,
        meta_d_se=meta_se,
        m_ratio=meta_d / d_prime,
        m_ratio_se=float(np.hypot(meta_se, d_se * meta_d / d_prime) / abs(d_prime)),
        log_likelihood=likelihood,
        cuts=np.delete(_cuts(theta, criterion / d_prime), half - 1),
        status=f"{_ONE_LEVEL} where the answer is {('no', 'yes')[int(used.argmin())]}" if used.min() < 2 else "",
    )


def metacognition_table(confidence: Any, correctness: Any, at: Sequence[float] = (0.25, 0.5, 0.75)) -> pd.DataFrame:
    """Signal detection of the second order for each respondent of a panel, with intervals.

    Formula: `meta_d_prime` on the questions whose confidence and outcome are known. A probability of yes of at least .5
    counts as yes; how sure it is, |2 p - 1|, is cut at the stated points. 0.5 is added to every count, so that no hit
    rate is 0 or 1 (Hautus, 1995, Behavior Research Methods 27, 46-51). Intervals: 1.96 standard errors; of the type-2
    AUROC `roc_area_interval`.

    Args:
        confidence: question x respondent probabilities of yes. Plain yes and no have no levels of confidence.
        correctness: the same, 1 = right, 0 = wrong, nan = unknown. at: rising points between 0 and 1.

    Returns:
        index respondent; `n, d_prime, criterion, meta_d, meta_d_low, meta_d_high, m_ratio, m_ratio_low, m_ratio_high,
        auroc2, auroc2_low, auroc2_high, status`. Sign: as in `MetaD`. meta-d' and M-ratio are nan, and the status says
        why, where there are too few judgements of some kind or d' is too small to be divided by.

    Raises:
        InputError: the matrices do not belong together, or the points do not rise between 0 and 1.

    >>> rng = np.random.default_rng(0)
    >>> sure = pd.DataFrame({"a": rng.random(300)})
    >>> metacognition_table(sure, (rng.random((300, 1)) < sure) * 1.0).index.tolist()
    ['a']
    """
    points = np.asarray(at, dtype=float)
    if not len(points) or (np.diff(points) <= 0).any() or points[0] <= 0 or points[-1] >= 1:
        raise InputError(f"at={list(at)}; give rising points between 0 and 1")
    sure, right = aligned(confidence, correctness)
    rows = {}
    for name in sure:
        known = sure[name].notna()
        ratings = _ratings(sure[name][known].to_numpy(), points)
        rows[name] = _row(_counts(ratings, right[name][known].to_numpy(int), len(points) + 1))
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = sure.columns.name
    return table


def metacognition_sentences(table: pd.DataFrame) -> list[str]:
    """What the table says, one sentence for those with numbers and one for those without.

    >>> rng = np.random.default_rng(0)
    >>> sure = pd.DataFrame({"a": rng.random(300)})
    >>> len(metacognition_sentences(metacognition_table(sure, (rng.random((300, 1)) < sure) * 1.0)))
    1
    """
    known, without = table[table["m_ratio"].notna()], table[table["m_ratio"].isna()]
    sentences = []
    if len(known):
        sentences.append(
            f"Of what {len(known)} respondents' judgements use, their confidence uses a share of "
            f"{known['m_ratio'].median():.2f} in the middle (M-ratio {known['m_ratio'].min():.2f} to "
            f"{known['m_ratio'].max():.2f})."
        )
    if len(without):
        reasons = "; ".join(f"{reason}: {count}" for reason, count in without["status"].value_counts().items())
        sentences.append(f"For {len(without)} of {len(table)} respondents no M-ratio can be given ({reasons}).")
    return sentences


def _row(counts: Floats) -> dict[str, Any]:
    fitted, status = meta_d_prime(*(counts + _PADDING)), too_few(counts)
    if not status and abs(fitted.d_prime) < LEAST_DPRIME:
        status = f"d' below {LEAST_DPRIME:g}: too small to divide by"
    row: dict[str, Any] = {"n": int(counts.sum()), "d_prime": fitted.d_prime, "criterion": fitted.criterion}
    for name, value, se in (
        ("meta_d", fitted.meta_d, fitted.meta_d_se),
        ("m_ratio", fitted.m_ratio, fitted.m_ratio_se),
    ):
        ends = {name: value, f"{name}_low": value - Z_95 * se, f"{name}_high": value + Z_95 * se}
        row |= dict.fromkeys(ends, np.nan) if status else ends
    area, (hits, misses) = _auroc2(counts), (part.sum() for part in _judgements(counts))
    low, high = roc_area_interval(area, int(hits), int(misses))
    return row | {"auroc2": area, "auroc2_low": low, "auroc2_high": high, "status": status or fitted.status}


def too_few(counts: Floats) -> str:
    """Why counts (outcome, rating) cannot carry meta-d'; empty where they can."""
    half = counts.shape[1] // 2
    by_answer = np.stack([counts[:, :half].sum(axis=1), counts[:, half:].sum(axis=1)])
    if by_answer.min() < LEAST_JUDGEMENTS:
        return f"fewer than {LEAST_JUDGEMENTS} right or wrong judgements of some kind"
    return _ONE_LEVEL if levels_used(counts).min() < 2 else ""


def levels_used(counts: Floats) -> Integers:
    """(answer,) how many levels of confidence counts (outcome, rating) hold, of no and of yes."""
    return (counts.sum(axis=0) > 0).reshape(2, -1).sum(axis=1)


def _ratings(p: Floats, points: Floats) -> Integers:
    """(answer,) 0 .. 2 L - 1 from the surest no to the surest yes."""
    level = np.searchsorted(points, np.abs(2 * p - 1), side="right")
    n_levels = len(points) + 1
    return np.where(p >= 0.5, n_levels + level, n_levels - 1 - level)


def _counts(ratings: Integers, correct: Integers, n_levels: int) -> Floats:
    """(outcome, rating) counts: wrong, then right."""
    return np.bincount(correct * 2 * n_levels + ratings, minlength=4 * n_levels).reshape(2, -1).astype(float)


def _judgements(counts: Floats) -> tuple[Floats, Floats]:
    """(level,) right and wrong judgements, from the least sure: no where it would be wrong is right, as is yes where
    it would be right."""
    half = counts.shape[1] // 2
    return counts[0, :half][::-1] + counts[1, half:], counts[1, :half][::-1] + counts[0, half:]


def _auroc2(counts: Floats) -> float:
    """Type-2 AUROC of counts (outcome, rating)."""
    hits, misses = _judgements(counts)
    levels = np.arange(len(hits))
    return float(roc_area(np.tile(levels, 2), np.repeat([1.0, 0.0], len(hits)), np.concatenate([hits, misses])))


def _cuts(theta: Floats, ratio: float) -> Floats:
    """(2 L - 1,) cuts between ratings, the criterion in the middle, from meta-d' and the logarithms of the gaps."""
    no, yes = np.cumsum(np.exp(theta[1:]).reshape(2, -1), axis=1)
    criterion = theta[0] * ratio
    return np.concatenate([criterion - no[::-1], [criterion], criterion + yes])


def _fitted(counts: Floats, ratio: float, start: float) -> tuple[Floats, Floats, float]:
    """theta of the greatest likelihood of the ratings given the judgements, its information, and that likelihood."""
    half = counts.shape[1] // 2

    def loss(theta: Floats) -> float:
        cuts, total = _cuts(theta, ratio), 0.0
        for ratings, mean in zip(counts, (-theta[0] / 2, theta[0] / 2), strict=True):
            below = np.concatenate([[0.0], ndtr(cuts[:half] - mean)])
            beyond = np.concatenate([ndtr(mean - cuts[half - 1 :]), [0.0]])
            p = np.maximum(np.concatenate([np.diff(below), -np.diff(beyond)]), _TINY)
            judged = np.repeat(np.maximum([below[-1], beyond[0]], _TINY), half)
            total -= float(ratings @ np.log(p / judged))
        return total

    surer = np.stack([counts.sum(axis=0)[:half][::-1], counts.sum(axis=0)[half:]])
    beyond = np.cumsum(surer[:, ::-1], axis=1)[:, ::-1]
    gaps = 0.3 + 1.5 * np.diff(1 - beyond / np.maximum(beyond[:, :1], _TINY), axis=1)
    theta = np.concatenate([[np.clip(start, -4, 4)], np.log(gaps).ravel()])
    theta = minimize(loss, theta, method="BFGS", jac="3-point").x
    for _ in range(2):  # Newton's steps take the last digits
        information = approx_hess(theta, loss)
        step = np.linalg.pinv(information) @ approx_fprime(theta, loss, centered=True)
        theta = theta - step if loss(theta - step) <= loss(theta) else theta
    return theta, information, -loss(theta)
