"""Whose knowledge is it? How well A's confidence predicts A's correctness, and how well it predicts B's.

With r_pt the correlation of p's confidence with t's correctness over questions: if all that confidence knows is how
hard a question is for everyone, then conditional on that one thing confidence and correctness are independent, and

    r_pt = a_p b_t        for every p and t, oneself included

with a_p how well p's confidence follows what is shared and b_t how closely t's correctness does. a and b are estimated
from the cells off the diagonal alone (least squares), so that

    advantage(t) = r_tt - a_t b_t        what t's confidence knows of t beyond what is shared; 0 = nothing of its own

and its interval is a bootstrap over questions. Noise in the confidence or in the difficulty does not make an advantage,
unlike in the nested logistic models below, which take the others' answers for the difficulty itself:

    0  log-odds(right) = a + b difficulty           share of the others that were right, leaving oneself out
    1  ... + sum_p c_p confidence_p                 everybody else's
    2  ... + d own confidence                       likelihood-ratio tests of 1 against 0 and of 2 against 1
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit, logit
from scipy.stats import chi2

from onedial.core import InputError, one_line
from onedial.stats import QUANTILES_95, Floats, roc_area

FEWEST = 3
OWN, SHARED, OPEN = "knows of itself", "shared", "open"
LITTLE = 0.05
"""An advantage whose whole interval lies below this correlation is called shared."""
_STEPS = 40


@dataclass(frozen=True)
class WhoseKnowledge:
    """See the module's text.

    Attributes:
        matrix: predictor x target, AUROC of the predictor's confidence for the target's correctness.
        targets: index respondent, then "mean": own (r_tt), expected (a_t b_t), advantage, low, high, verdict, n; and of
            the nested models p_everybody, p_own (likelihood ratio; see the warning in the module's text).
    """

    matrix: pd.DataFrame
    targets: pd.DataFrame

    __repr__ = one_line

    def sentence(self) -> str:
        """What holds over all respondents."""
        row = self.targets.loc["mean"]
        return (
            f"On average a respondent's confidence correlates with its own correctness by {row['own']:.2f}, where what "
            f"is shared predicts {row['expected']:.2f}: advantage {row['advantage']:+.3f} ({row['low']:+.3f} to "
            f"{row['high']:+.3f}), {row['verdict']}."
        )


def whose_knowledge(
    confidence: pd.DataFrame, correctness: pd.DataFrame, n_bootstrap: int = 999, seed: int = 0
) -> WhoseKnowledge:
    """Tell knowledge of oneself from knowledge of what is hard for all.

    Args:
        confidence: question x respondent, any numbers that rise with confidence (yes = 1, no = 0 will do), nan where
            unread. correctness: question x respondent, 1 / 0 / nan; the same respondents.
        n_bootstrap: over questions. seed: of it.

    Returns:
        WhoseKnowledge. Sign: positive advantage = knows more of itself than what is shared. A verdict is `knows of
        itself` where the interval lies above 0, `shared` where it does not and ends below .05, else `open`.

    Raises:
        InputError: fewer than three respondents in both, or none whose answers vary.

    Formula: in the module's docstring.
    """
    names = [name for name in confidence.columns if name in correctness.columns]
    index = confidence.index.intersection(correctness.index)
    c = confidence.loc[index, names].to_numpy(dtype=float)
    y = correctness.loc[index, names].to_numpy(dtype=float)
    if len(names) < FEWEST or not all(_varies(column) for side in (c, y) for column in side.T):
        raise InputError(
            f"{len(names)} respondents have both confidence and correctness; give {FEWEST} or more, each of whom "
            "varies in both"
        )
    n = len(index)
    rng = np.random.default_rng(seed)
    weights = np.vstack([np.ones((1, n)), rng.multinomial(n, np.full(n, 1 / n), size=n_bootstrap)])
    r = _correlations(c, y, weights)
    expected = _rank_one(r)
    own = np.diagonal(r, axis1=1, axis2=2)
    advantage = own - expected
    rows = {}
    for place, name in enumerate(names):
        everybody, itself = _nested(c, y, place)
        rows[name] = _row(own[:, place], expected[:, place], advantage[:, place]) | {
            "n": int((np.isfinite(c[:, place]) & np.isfinite(y[:, place])).sum()),
            "p_everybody": everybody,
            "p_own": itself,
        }
    rows["mean"] = _row(own.mean(axis=1), expected.mean(axis=1), advantage.mean(axis=1)) | {
        "n": n,
        "p_everybody": float("nan"),
        "p_own": float("nan"),
    }
    matrix = [[_area(c[:, p], y[:, t]) for t in range(len(names))] for p in range(len(names))]
    return WhoseKnowledge(
        pd.DataFrame(matrix, pd.Index(names, name="predictor"), pd.Index(names, name="target")),
        pd.DataFrame.from_dict(rows, orient="index").rename_axis("respondent"),
    )


def _row(own: Floats, expected: Floats, advantage: Floats) -> dict[str, object]:
    low, high = (float(end) for end in np.nanquantile(advantage[1:], QUANTILES_95))
    verdict = OWN if low > 0 else SHARED if high < LITTLE else OPEN
    return {
        "own": float(own[0]),
        "expected": float(expected[0]),
        "advantage": float(advantage[0]),
        "low": low,
        "high": high,
        "verdict": verdict,
    }


def _varies(column: Floats) -> bool:
    return len(np.unique(column[np.isfinite(column)])) > 1


def _area(confidence: Floats, correct: Floats) -> float:
    known = np.isfinite(confidence) & np.isfinite(correct)
    return float(roc_area(confidence[known], correct[known], np.ones(int(known.sum()))))


def _correlations(c: Floats, y: Floats, weights: Floats) -> Floats:
    """(resample, predictor, target) Pearson correlations over the questions that both have."""
    n, m = c.shape
    known = (np.isfinite(c)[:, :, None] & np.isfinite(y)[:, None, :]).reshape(n, -1).astype(float)
    x = np.repeat(np.nan_to_num(c)[:, :, None], m, axis=2).reshape(n, -1)
    z = np.repeat(np.nan_to_num(y)[:, None, :], m, axis=1).reshape(n, -1)
    sums = [weights @ (known * each) for each in (np.ones_like(x), x, z, x * z, x * x, z * z)]
    total, sx, sz, sxz, sxx, szz = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        covariance = sxz / total - sx * sz / total**2
        spread = np.sqrt((sxx / total - (sx / total) ** 2) * (szz / total - (sz / total) ** 2))
        value = covariance / spread
    return np.asarray(np.nan_to_num(value).reshape(len(weights), m, m))


def _rank_one(r: Floats) -> Floats:
    """(resample, respondent) a_t b_t of the least-squares fit r_pt = a_p b_t to the cells off the diagonal."""
    m = r.shape[1]
    off = ~np.eye(m, dtype=bool)
    cells = np.where(off, r, 0.0)
    a = np.maximum(cells.sum(axis=2) / (m - 1), 1e-6)
    b = np.ones_like(a)
    for _ in range(_STEPS):
        b = (cells * a[:, :, None]).sum(axis=1) / np.maximum((off * (a**2)[:, :, None]).sum(axis=1), 1e-12)
        a = (cells * b[:, None, :]).sum(axis=2) / np.maximum((off * (b**2)[:, None, :]).sum(axis=2), 1e-12)
    return np.asarray(a * b)


def _nested(c: Floats, y: Floats, target: int) -> tuple[float, float]:
    """p of everybody's confidence beyond difficulty, and of one's own beyond both."""
    others = [place for place in range(c.shape[1]) if place != target]
    known = np.isfinite(y[:, others])
    right = np.where(known, np.nan_to_num(y[:, others]), 0).sum(axis=1)
    difficulty = logit((right + 0.5) / (known.sum(axis=1) + 1))
    z = (c - np.nanmean(c, axis=0)) / np.nanstd(c, axis=0)
    use = np.isfinite(y[:, target]) & np.isfinite(z[:, target])
    confidences = np.nan_to_num(z[:, others])  # a mean where one of the others is unread, so that no question is lost
    blocks = [difficulty[:, None], confidences, z[:, [target]]]
    fits = []
    design = np.ones((int(use.sum()), 1))
    for block in blocks:
        design = np.column_stack([design, block[use]])
        fits.append(_log_likelihood(design, y[use, target]))
    return (
        float(chi2.sf(max(0.0, 2 * (fits[1] - fits[0])), len(others))),
        float(chi2.sf(max(0.0, 2 * (fits[2] - fits[1])), 1)),
    )


def _log_likelihood(design: Floats, y: Floats) -> float:
    """Maximum of the logistic likelihood, by Newton's steps with a hair of ridge where the sides are separated."""
    beta = np.zeros(design.shape[1])
    for _ in range(50):
        p = expit(design @ beta)
        weight = np.maximum(p * (1 - p), 1e-9)
        hessian = (design * weight[:, None]).T @ design + 1e-6 * np.eye(len(beta))
        step = np.linalg.solve(hessian, design.T @ (y - p) - 1e-6 * beta)
        beta = beta + np.clip(step, -5, 5)
        if np.abs(step).max() < 1e-8:
            break
    p = np.clip(expit(design @ beta), 1e-12, 1 - 1e-12)
    return float((y * np.log(p) + (1 - y) * np.log(1 - p)).sum())
