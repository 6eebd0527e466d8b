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
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, ndtr, ndtri

from onedial.confidence.calibration import aligned_correctness, stated_probabilities
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.stats.answers import as_answers
from onedial.stats.arrays import Floats
from onedial.stats.level import QUANTILES_95

LEAST_JUDGEMENTS = 10  # right ones and wrong ones of each answer, for meta-d' to be worth its interval
LEAST_DPRIME = 0.3  # below it a ratio to d' says nothing
_ONE_LEVEL = "confidence has one level only"
_STEPS = 60
_PADDING = 0.5
_TINY = 1e-10


@dataclass(frozen=True)
class MetaD:
    """Signal detection of the second order.

    Attributes:
        d_prime, criterion: of the judgement; c > 0 = more often no. meta_d, m_ratio: as above. auroc2: type-2 AUROC.
        log_likelihood: of the ratings given judgement and outcome. cuts: (cut,) between the levels of confidence.
        status: empty, or why a number is nan or not to be trusted.
    """

    d_prime: float
    criterion: float
    meta_d: float
    m_ratio: float
    auroc2: float
    log_likelihood: float
    cuts: Floats
    status: str

    __repr__ = one_line


def meta_d_prime(when_wrong: ArrayLike, when_right: ArrayLike) -> MetaD:
    """meta-d' and M-ratio from counts of ratings.

    Formula: above, by maximum likelihood with Fisher scoring.

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

    >>> found = meta_d_prime([40, 30, 20, 10], [10, 20, 30, 60])
    >>> found.status, round(found.d_prime, 2)
    ('', 1.2)
    """
    counts = np.stack([np.asarray(part, dtype=float).reshape(-1) for part in (when_wrong, when_right)])
    if counts.shape[1] < 4 or counts.shape[1] % 2 or (counts < 0).any() or not np.isfinite(counts).all():
        raise InputError(
            f"{counts.shape[1]} ratings; give the same even number of counts (at least 4, none negative) for both"
        )
    found, used = _fitted(counts[None])[0], levels_used(counts)
    if used.max() < 2:
        nan = float("nan")
        return replace(found, meta_d=nan, m_ratio=nan, log_likelihood=nan, cuts=found.cuts * nan, status=_ONE_LEVEL)
    if used.min() < 2 and not found.status:
        said = ("no", "yes")[int(used.argmin())]
        return replace(found, status=f"confidence has one level only where the answer is {said}")
    return found


def metacognition_table(
    confidence: Any,
    correctness: Any,
    at: Sequence[float] = (0.25, 0.5, 0.75),
    n_bootstrap: int = 200,
    seed: int = 0,
) -> pd.DataFrame:
    """Signal detection of the second order for each respondent of a panel, with intervals.

    Formula: `meta_d_prime` on the questions whose confidence and outcome are known. A probability of yes of at least .5
    counts as yes; how sure it is, |2 p - 1|, is cut at the stated points. 0.5 is added to every count, so that no hit
    rate is 0 or 1 (Hautus, 1995, Behavior Research Methods 27, 46-51). Intervals: percentiles over resampled questions.

    Args:
        confidence: question x respondent probabilities of yes. Plain yes and no have no levels of confidence.
        correctness: the same, 1 = right, 0 = wrong, nan = unknown. at: rising points between 0 and 1.
        n_bootstrap: resamples; 0 = no intervals. seed: of the resampling.

    Returns:
        index respondent; `n, d_prime, criterion, meta_d, meta_d_low, meta_d_high, m_ratio, m_ratio_low, m_ratio_high,
        auroc2, auroc2_low, auroc2_high, status`. Sign: as in `MetaD`. meta-d' and M-ratio are nan, and the status says
        why, where there are too few judgements of some kind or d' is too small to be divided by.

    Raises:
        InputError: the matrices do not belong together, or the points do not rise between 0 and 1.

    R: as `meta_d_prime`.

    >>> rng = np.random.default_rng(0)
    >>> sure = pd.DataFrame({"a": rng.random(300)})
    >>> metacognition_table(sure, (rng.random((300, 1)) < sure) * 1.0, n_bootstrap=20).index.tolist()
    ['a']
    """
    points = np.asarray(at, dtype=float)
    if not len(points) or (np.diff(points) <= 0).any() or points[0] <= 0 or points[-1] >= 1 or n_bootstrap < 0:
        raise InputError(f"at={list(at)}, n_bootstrap={n_bootstrap}; give rising points between 0 and 1, and 0 or more")
    answered, probability = stated_probabilities(confidence)
    _, right, both = aligned_correctness(answered, as_answers(correctness))
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(answered.n_respondents):
        p, correct = probability.iloc[:, i].to_numpy(dtype=float)[both[:, i]], right.yes[both[:, i], i]
        rows.append({"n": len(p), **_row(_ratings(p, points), correct, len(points) + 1, n_bootstrap, rng)})
    return pd.DataFrame(rows, index=answered.respondents)


def metacognition_sentences(table: pd.DataFrame) -> list[str]:
    """What the table says, one sentence for those with numbers and one for those without.

    Formula: medians over respondents.

    Args:
        table: of `metacognition_table`.

    Returns:
        sentences. Sign: as in the table.

    >>> rng = np.random.default_rng(0)
    >>> sure = pd.DataFrame({"a": rng.random(300)})
    >>> len(metacognition_sentences(metacognition_table(sure, (rng.random((300, 1)) < sure) * 1.0, n_bootstrap=20)))
    1
    """
    known = table[table["m_ratio"].notna()]
    sentences = []
    if len(known):
        sentences.append(
            f"Of what {len(known)} respondents' judgements use, their confidence uses a share of "
            f"{known['m_ratio'].median():.2f} in the middle (M-ratio {known['m_ratio'].min():.2f} to "
            f"{known['m_ratio'].max():.2f})."
        )
    without = table[table["m_ratio"].isna()]
    if len(without):
        reasons = "; ".join(f"{reason}: {count}" for reason, count in without["status"].value_counts().items())
        sentences.append(f"For {len(without)} of {len(table)} respondents no M-ratio can be given ({reasons}).")
    return sentences


def _row(
    ratings: np.ndarray, correct: np.ndarray, n_levels: int, n_bootstrap: int, rng: np.random.Generator
) -> dict[str, Any]:
    counts = _counts(ratings, correct, n_levels)
    found = _fitted(counts[None] + _PADDING)[0]
    status = too_few(counts)
    if not status and abs(found.d_prime) < LEAST_DPRIME:
        status = f"d' below {LEAST_DPRIME:g}: too small to divide by"
    row: dict[str, Any] = {"d_prime": found.d_prime, "criterion": found.criterion}
    values = {"meta_d": found.meta_d, "m_ratio": found.m_ratio, "auroc2": _auroc2(counts[None])[0]}
    drawn = {name: np.array([np.nan]) for name in values}
    if n_bootstrap and len(ratings):
        rows = rng.integers(0, len(ratings), (n_bootstrap, len(ratings)))
        resampled = np.stack([_counts(ratings[one], correct[one], n_levels) for one in rows])
        again = _fitted(resampled + _PADDING)
        drawn = {
            "meta_d": np.array([one.meta_d for one in again]),
            "m_ratio": np.array([one.m_ratio for one in again]),
            "auroc2": _auroc2(resampled),
        }
    for name, value in values.items():
        hidden = bool(status) and name != "auroc2"
        low, high = np.nanquantile(drawn[name], QUANTILES_95) if np.isfinite(drawn[name]).any() else (np.nan, np.nan)
        row |= {name: np.nan if hidden else value}
        row |= {f"{name}_low": np.nan if hidden else low, f"{name}_high": np.nan if hidden else high}
    return row | {"status": status or found.status}


def too_few(counts: Floats) -> str:
    """Why counts (outcome, rating) cannot carry meta-d'; empty where they can."""
    half = counts.shape[1] // 2
    by_answer = np.stack([counts[:, :half].sum(axis=1), counts[:, half:].sum(axis=1)])
    if by_answer.min() < LEAST_JUDGEMENTS:
        return f"fewer than {LEAST_JUDGEMENTS} right or wrong judgements of some kind"
    return _ONE_LEVEL if levels_used(counts).min() < 2 else ""


def levels_used(counts: Floats) -> np.ndarray:
    """(answer,) how many levels of confidence counts (outcome, rating) hold, of no and of yes."""
    return (counts.sum(axis=0) > 0).reshape(2, -1).sum(axis=1)


def _ratings(p: Floats, points: Floats) -> np.ndarray:
    """(answer,) 0 .. 2 L - 1 from the surest no to the surest yes."""
    level = np.searchsorted(points, np.abs(2 * p - 1), side="right")
    n_levels = len(points) + 1
    return np.where(p >= 0.5, n_levels + level, n_levels - 1 - level)


def _counts(ratings: np.ndarray, correct: np.ndarray, n_levels: int) -> Floats:
    """(outcome, rating) counts: wrong, then right."""
    return np.bincount(correct * 2 * n_levels + ratings, minlength=4 * n_levels).reshape(2, -1).astype(float)


def _auroc2(counts: Floats) -> Floats:
    """(case,) type-2 AUROC of counts (case, outcome, rating)."""
    half = counts.shape[-1] // 2
    # a judgement is right where it says no and the respondent would be wrong, or yes and it would be right
    hits = counts[:, 0, :half][:, ::-1] + counts[:, 1, half:]
    misses = counts[:, 1, :half][:, ::-1] + counts[:, 0, half:]
    surer = np.cumsum(hits[:, ::-1], axis=1)[:, ::-1] - hits
    with np.errstate(divide="ignore", invalid="ignore"):
        return (misses * (surer + hits / 2)).sum(axis=1) / (hits.sum(axis=1) * misses.sum(axis=1))


def _fitted(counts: Floats) -> list[MetaD]:
    """The model for many counts (case, outcome, rating) at once."""
    half = counts.shape[-1] // 2
    with np.errstate(divide="ignore", invalid="ignore"):
        said_yes = ndtri(counts[:, :, half:].sum(axis=2) / counts.sum(axis=2))  # (case, outcome)
        d_prime, criterion = said_yes[:, 1] - said_yes[:, 0], -(said_yes[:, 0] + said_yes[:, 1]) / 2
        ratio = criterion / d_prime
    meta, offsets, likelihood = _climb(counts, np.where(np.isfinite(ratio), ratio, 0.0), d_prime)
    auroc = _auroc2(counts)
    found = []
    for case in range(len(counts)):
        usable = np.isfinite(ratio[case])
        meta_d = float(meta[case]) if usable else float("nan")
        cuts = meta_d * ratio[case] + np.concatenate([-offsets[case, 0, ::-1], offsets[case, 1]])
        found.append(
            MetaD(
                d_prime=float(d_prime[case]),
                criterion=float(criterion[case]),
                meta_d=meta_d,
                m_ratio=meta_d / float(d_prime[case]) if usable else float("nan"),
                auroc2=float(auroc[case]),
                log_likelihood=float(likelihood[case]) if usable else float("nan"),
                cuts=cuts,
                status="" if usable else "a hit or false alarm rate of 0 or 1; add a little to every count",
            )
        )
    return found


def _climb(counts: Floats, ratio: Floats, start: Floats) -> tuple[Floats, Floats, Floats]:
    """meta-d' (case,), distances of the cuts from the criterion (case, answer, cut), log likelihood (case,)."""
    n, half = len(counts), counts.shape[-1] // 2
    # counts by (case, answer, outcome, level), levels from the least sure
    table = np.stack([counts[:, :, :half][:, :, ::-1], counts[:, :, half:]], axis=1)
    above = np.cumsum(table.sum(axis=2)[:, :, ::-1], axis=2)[:, :, ::-1]
    share = above[:, :, 1:] / np.maximum(above[:, :, :1], _TINY)
    log_gap = np.log(np.diff(np.cumsum(0.3 + 1.5 * (1 - share), axis=2), axis=2, prepend=0.0))
    theta = np.concatenate([np.where(np.isfinite(start), np.clip(start, -4, 4), 0.5)[:, None],
                            log_gap.reshape(n, -1)], axis=1)  # fmt: skip
    value, score, information = _likelihood(theta, table, ratio)
    damping = np.full(n, 1e-3)
    for _ in range(_STEPS):
        diagonal = np.einsum("nii->ni", information)
        damped = information + (damping[:, None] * diagonal + 1e-9)[:, :, None] * np.eye(theta.shape[1])
        step = np.clip(np.linalg.solve(damped, score[..., None])[..., 0], -1, 1)
        moved = theta + step
        new_value, new_score, new_information = _likelihood(moved, table, ratio)
        better = new_value > value
        damping = np.where(better, np.maximum(damping / 5, 1e-7), damping * 5)
        theta = np.where(better[:, None], moved, theta)
        score = np.where(better[:, None], new_score, score)
        information = np.where(better[:, None, None], new_information, information)
        gain = np.where(better, new_value - value, 0.0)
        value = np.where(better, new_value, value)
        if (gain < 1e-11).all() and not (~better & (damping < 1e3)).any():
            break
    gaps = np.exp(theta[:, 1:]).reshape(n, 2, half - 1)
    return theta[:, 0], np.cumsum(gaps, axis=2), value


def _likelihood(theta: Floats, table: Floats, ratio: Floats) -> tuple[Floats, Floats, Floats]:
    """Log likelihood (case,) of the ratings given the judgements, its gradient (case, parameter) and information."""
    n, half = len(theta), table.shape[-1]
    meta, gaps = theta[:, 0], np.exp(theta[:, 1:]).reshape(n, 2, half - 1)
    distance = np.concatenate([np.zeros((n, 2, 1)), np.cumsum(gaps, axis=2)], axis=2)  # (case, answer, lower edge)
    criterion = meta * ratio
    value, score = np.zeros(n), np.zeros(theta.shape)
    information = np.zeros((n, theta.shape[1], theta.shape[1]))
    for answer, towards in ((0, -1.0), (1, 1.0)):
        for outcome, side in ((0, -0.5), (1, 0.5)):
            # evidence beyond each edge, looking away from the criterion: P(further) = Phi(-(edge - mean) towards)
            edge = towards * (criterion - side * meta)[:, None] + distance[:, answer]
            beyond, density = ndtr(-edge), np.exp(-(edge**2) / 2) / np.sqrt(2 * np.pi)
            within = np.maximum(beyond - np.concatenate([beyond[:, 1:], np.zeros((n, 1))], axis=1), _TINY)
            log_judged = log_ndtr(-edge[:, 0])
            judged = np.maximum(np.exp(log_judged), _TINY)[:, None]  # a trial step may go where it is 0
            p = np.maximum(within / judged, _TINY)
            cells = table[:, answer, outcome]
            value += (cells * (np.log(within) - log_judged[:, None])).sum(axis=1)
            slope = np.zeros((n, half, theta.shape[1]))  # of beyond, by parameter
            slope[:, :, 0] = -density * (towards * (ratio - side))[:, None]
            for cut in range(half - 1):
                place = 1 + answer * (half - 1) + cut
                slope[:, cut + 1 :, place] = -density[:, cut + 1 :] * gaps[:, answer, cut, None]
            of_within = slope - np.concatenate([slope[:, 1:], np.zeros((n, 1, theta.shape[1]))], axis=1)
            of_log_p = of_within / within[..., None] - (slope[:, 0] / judged)[:, None]
            score += np.einsum("nk,nkp->np", cells, of_log_p)
            information += np.einsum("nk,nkp,nkq->npq", p * cells.sum(axis=1, keepdims=True), of_log_p, of_log_p)
    return value, score, information
