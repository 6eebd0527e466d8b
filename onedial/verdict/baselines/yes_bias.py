"""Yes-bias or confidence? How far a push moves the margin, by what a yes to the question would say.

The same questions are asked as they are (a yes says "able") and reversed (a yes says "not able"). With b_q the slope of
question q's margin on the magnitude, per residual norm, by least squares over the settings between the yes rates .1 and
.9 (of these questions, as asked), and means over the questions that were read at two settings or more in both wordings,

    as asked    a = mean b_q        reversed    r = mean b_q of the reversed wording
    bias        (a + r) / 2         what moves the word yes, whatever it says
    confidence  (a - r) / 2         what moves "able" against "not able"
    share       bias / a            1: a pure yes-bias; 0: a pure dial of confidence
    facts       mean b_q of unrelated yes/no facts, half of which are true; facts_share is that over a
    alike       correlation of the unsteered margins of the two wordings; below 0 where the reversal was understood

Intervals are 95% bootstraps, over questions (both wordings of a question together) and, for facts, over these.

*Mostly a yes-bias*: a share above .5, so that the reversed wording moves towards yes as well, where the interval of a
leaves out 0. Where that of `alike` lies above 0 the subject may have read both wordings as one, and the facts must say
so too (facts_share above .5). Yes minus No in the unembedding, a push of the words themselves, is measured likewise, as
the yardstick.
"""

import math
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from onedial.asking.sweep_tables import AS_ASKED, REVERSED_WORDING, margins_by
from onedial.stats.agreement import interval
from onedial.stats.estimate import Estimate
from onedial.stats.resampling import N_RESAMPLES, resampled_weights
from onedial.verdict.case import Case
from onedial.verdict.dial import HIGH_RATE, LOW_RATE

MOSTLY = 0.5


@dataclass(frozen=True)
class Slopes:
    """See the module's text; logits per residual norm, positive = towards yes.

    Attributes:
        n: questions; n_lost: those left out, since one wording was read at fewer than two settings.
        n_settings: between from_magnitude and to_magnitude, ends included.
    """

    n: int
    n_lost: int
    n_settings: int
    from_magnitude: float
    to_magnitude: float
    as_asked: Estimate
    reversed: Estimate
    bias: Estimate
    confidence: Estimate
    share: Estimate
    alike: Estimate
    facts: Estimate = field(default_factory=Estimate)
    facts_share: Estimate = field(default_factory=Estimate)


@dataclass(frozen=True)
class YesBias:
    """Of the intervention under test, and of Yes minus No in the unembedding, where that was asked."""

    dial: Slopes
    yardstick: Slopes | None

    @property
    def mostly(self) -> bool:
        """Whether the dial is mostly a yes-bias; False also where that cannot be said."""
        dial = self.dial
        moves = dial.as_asked.beyond_zero and dial.share.value > MOSTLY
        return moves and (not dial.alike.low > 0 or dial.facts_share.value > MOSTLY)


def yes_bias(case: Case) -> YesBias | None:
    """Split what the dial does to the margin; None where the question was not reversed.

    >>> from dataclasses import replace
    >>> from onedial.verdict import SweepRun
    >>> case = replace(SweepRun.open("tests/reference/golden/default").case(), n_resamples=19)
    >>> yes_bias(case) is None  # that run reversed no question
    True
    """
    if case.reversed_wordings is None or case.reversed_wordings.empty:
        return None
    return split_margin(
        case.reversed_wordings, case.intervention, case.norms_per_unit, case.facts, case.n_resamples, case.seed
    )


def split_margin(
    asked: pd.DataFrame,
    tested: str,
    norms_per_unit: float = 1.0,
    facts: pd.DataFrame | None = None,
    n_bootstrap: int = N_RESAMPLES,
    seed: int = 0,
) -> YesBias | None:
    """Split what the dial does to the margin.

    Args:
        asked: columns question_id, intervention_id, magnitude (0 among them), wording, margin, mass; wording says what
            was asked: the question as it is, or reversed.
        tested: the intervention under test; any other is the yardstick.
        norms_per_unit: residual norms that one unit of magnitude is, for either.
        facts: question_id, magnitude, margin, mass along the intervention under test; None where they were not asked.

    Returns:
        None where the intervention under test was not asked in both wordings.

    >>> rng, ids = np.random.default_rng(0), list("abcdefgh")
    >>> grid = pd.MultiIndex.from_product([ids, [-1.0, 0.0, 1.0], [AS_ASKED, REVERSED_WORDING]])
    >>> asked = grid.to_frame(index=False, name=["question_id", "magnitude", "wording"])
    >>> asked["intervention_id"], asked["mass"] = "dial", 1.0
    >>> asked["margin"] = 3 * asked["magnitude"] + rng.normal(0, 0.1, len(asked))  # either wording is moved towards yes
    >>> round(split_margin(asked, "dial", n_bootstrap=19).dial.share.value, 1)
    1.0
    """
    slopes = {
        str(name): _slopes(table, norms_per_unit, facts if name == tested else None, n_bootstrap, seed)
        for name, table in asked.groupby("intervention_id")
        if {AS_ASKED, REVERSED_WORDING} <= set(table["wording"])
    }
    if tested not in slopes:
        return None
    return YesBias(slopes.pop(tested), next(iter(slopes.values()), None))


def _slopes(
    table: pd.DataFrame, norms_per_unit: float, facts: pd.DataFrame | None, n_bootstrap: int, seed: int
) -> Slopes:
    asked, turned = (margins_by(table[table["wording"] == wording]) for wording in (AS_ASKED, REVERSED_WORDING))
    turned = turned.reindex(index=asked.index, columns=asked.columns)
    rates = (asked > 0).where(asked.notna()).mean()
    settings = asked.columns.to_numpy(float)
    far = [(rates.fillna(math.inf) - rate).abs().to_numpy() for rate in (LOW_RATE, HIGH_RATE)]
    low, high = sorted(float(settings[each.argmin()]) for each in far)
    both = np.column_stack([_slope(each, low, high) for each in (asked, turned)]) / norms_per_unit
    kept = np.isfinite(both).all(axis=1)
    of_facts = np.empty(0) if facts is None else _slope(margins_by(facts), low, high) / norms_per_unit
    of_facts = of_facts[np.isfinite(of_facts)]
    unsteered = np.column_stack([asked[0.0], turned[0.0]])[kept]
    n_settings = int(((settings >= low) & (settings <= high)).sum())
    numbers = _numbers(both[kept], unsteered, of_facts, n_bootstrap, seed)
    return Slopes(int(kept.sum()), int((~kept).sum()), n_settings, low, high, **numbers)


def _slope(margins: pd.DataFrame, low: float, high: float) -> np.ndarray:
    """Fit the slope of each question by least squares over what was read from low to high; nan under two settings."""
    used = margins.loc[:, margins.columns.to_series().between(low, high)]
    values, read = used.to_numpy(float), used.notna().to_numpy()
    x = np.where(read, used.columns.to_numpy(float), 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        centred = np.where(read, x - (x.sum(axis=1) / read.sum(axis=1))[:, None], 0.0)
        slopes = (centred * np.nan_to_num(values)).sum(axis=1) / (centred**2).sum(axis=1)
    return np.where(read.sum(axis=1) >= 2, slopes, np.nan)


def _numbers(
    slopes: np.ndarray, unsteered: np.ndarray, facts: np.ndarray, n_bootstrap: int, seed: int
) -> dict[str, Estimate]:
    """Compute every estimate of `Slopes`.

    Args:
        slopes, unsteered: question x wording (as asked, reversed). facts: slope of each; empty where none was asked.
    """
    each = np.column_stack([slopes.sum(axis=1), slopes[:, 0] - slopes[:, 1]]) / 2  # bias, confidence

    def statistics(weights: np.ndarray, of_facts: np.ndarray) -> dict[str, np.ndarray]:
        with np.errstate(invalid="ignore", divide="ignore"):
            bias, confidence = (weights @ each / weights.sum(axis=1)[:, None]).T
            asked, shift = bias + confidence, of_facts @ facts / of_facts.sum(axis=1)
            return {
                "as_asked": asked,
                "reversed": bias - confidence,
                "bias": bias,
                "confidence": confidence,
                "share": bias / asked,
                "alike": _correlation(weights, unsteered),
                "facts": shift,
                "facts_share": shift / asked,
            }

    n, n_facts = len(slopes), len(facts)
    values = statistics(np.ones((1, n)), np.ones((1, n_facts)))
    if n < 2:
        return {name: Estimate(float(value[0])) for name, value in values.items()}
    of_facts = _weights(n_facts, n_bootstrap, seed) if n_facts else np.ones((n_bootstrap, 0))
    lows, highs = interval(np.column_stack(list(statistics(_weights(n, n_bootstrap, seed), of_facts).values())))
    return {
        name: Estimate(float(value[0]), float(low), float(high))
        for (name, value), low, high in zip(values.items(), lows, highs, strict=True)
    }


def _weights(n: int, n_bootstrap: int, seed: int) -> np.ndarray:
    return np.concatenate(list(resampled_weights(n, n_bootstrap, seed))).astype(float)


def _correlation(weights: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Correlate two columns over the rows that have both, weighted; one number for each row of weights."""
    known = np.isfinite(pairs).all(axis=1)
    one, other = pairs[known].T
    shares = weights[:, known] / weights[:, known].sum(axis=1)[:, None]
    a, b = shares @ one, shares @ other
    covariance = shares @ (one * other) - a * b
    spread = (shares @ one**2 - a**2) * (shares @ other**2 - b**2)
    return covariance / np.sqrt(np.maximum(spread, 0))
