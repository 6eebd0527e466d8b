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

Intervals are 95% bootstraps, over questions (both wordings of a question together) and, for facts, over facts.

*Mostly a yes-bias*: a share above .5, so that the reversed wording moves towards yes as well, where the interval of a
leaves out 0. Where that of `alike` lies above 0 the subject may have read both wordings as one, and the facts must say
so too (facts_share above .5). Yes minus No in the unembedding, a push of the words themselves, is measured likewise, as
the yardstick.
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from onedial.asking import AS_ASKED, REVERSED_WORDING, is_read
from onedial.stats import N_RESAMPLES, interval, resampled_weights
from onedial.verdict.dial import HIGH_RATE, LOW_RATE

MOSTLY = 0.5


@dataclass(frozen=True)
class Estimate:
    """With its 95% interval; nan where it cannot be said."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan


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
    facts: Estimate = Estimate()
    facts_share: Estimate = Estimate()


@dataclass(frozen=True)
class YesBias:
    """Of the intervention under test, and of Yes minus No in the unembedding, where that was asked."""

    own: Slopes
    yardstick: Slopes | None

    @property
    def mostly(self) -> bool:
        """Whether the dial is mostly a yes-bias; False also where that cannot be said."""
        own = self.own
        moves = own.as_asked.low > 0 or own.as_asked.high < 0
        return moves and own.share.value > MOSTLY and (not own.alike.low > 0 or own.facts_share.value > MOSTLY)


def yes_bias(
    wordings: pd.DataFrame,
    own: str,
    norms_per_unit: float = 1.0,
    facts: pd.DataFrame | None = None,
    n_bootstrap: int = N_RESAMPLES,
    seed: int = 0,
) -> YesBias | None:
    """Split what the dial does to the margin.

    Args:
        wordings: columns question_id, intervention_id, magnitude (0 among them), wording, margin, mass.
        own: the intervention under test; any other is the yardstick.
        norms_per_unit: residual norms that one unit of magnitude is, for either.
        facts: question_id, magnitude, margin, mass along the intervention under test; None where they were not asked.

    Returns:
        None where the intervention under test was not asked in both wordings.
    """
    found = {
        str(name): _slopes(table, norms_per_unit, facts if name == own else None, n_bootstrap, seed)
        for name, table in wordings.groupby("intervention_id")
        if table["wording"].nunique() == 2
    }
    if own not in found:
        return None
    return YesBias(found.pop(own), next(iter(found.values()), None))


def _slopes(
    table: pd.DataFrame, norms_per_unit: float, facts: pd.DataFrame | None, n_bootstrap: int, seed: int
) -> Slopes:
    asked, turned = (_margins(table[table["wording"] == wording]) for wording in (AS_ASKED, REVERSED_WORDING))
    turned = turned.reindex(index=asked.index, columns=asked.columns)
    rates = (asked > 0).where(asked.notna()).mean()
    settings = asked.columns.to_numpy(float)
    far = [(rates.fillna(math.inf) - rate).abs().to_numpy() for rate in (LOW_RATE, HIGH_RATE)]
    low, high = sorted(float(settings[each.argmin()]) for each in far)
    both = np.column_stack([_slope(each, low, high) for each in (asked, turned)]) / norms_per_unit
    kept = np.isfinite(both).all(axis=1)
    of_facts = np.empty(0) if facts is None or facts.empty else _slope(_margins(facts), low, high) / norms_per_unit
    numbers = _numbers(
        both[kept],
        np.column_stack([asked[0.0], turned[0.0]])[kept],
        of_facts[np.isfinite(of_facts)],
        n_bootstrap,
        seed,
    )
    n_settings = int(((settings >= low) & (settings <= high)).sum())
    return Slopes(int(kept.sum()), int((~kept).sum()), n_settings, low, high, **numbers)


def _margins(table: pd.DataFrame) -> pd.DataFrame:
    """Question x magnitude; nan where the answer was not read."""
    read = table.assign(margin=table["margin"].where(is_read(table["mass"])))
    return read.pivot(index="question_id", columns="magnitude", values="margin")


def _slope(margins: pd.DataFrame, low: float, high: float) -> np.ndarray:
    """Of each question, by least squares over what was read from low to high; nan under two settings."""
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
    """Every estimate of `Slopes`.

    Args:
        slopes, unsteered: question x wording (as asked, reversed).
        facts: slope of each fact; empty where none was asked.
    """

    def statistics(weights: np.ndarray, of_facts: np.ndarray) -> dict[str, np.ndarray]:
        with np.errstate(invalid="ignore", divide="ignore"):
            (asked, turned), shift = (weights @ slopes / weights.sum(axis=1)[:, None]).T, of_facts @ facts
            shift = shift / of_facts.sum(axis=1)
            bias = (asked + turned) / 2
            return {
                "as_asked": asked,
                "reversed": turned,
                "bias": bias,
                "confidence": (asked - turned) / 2,
                "share": bias / asked,
                "alike": _correlation(weights, unsteered),
                "facts": shift,
                "facts_share": shift / asked,
            }

    n, n_facts = len(slopes), len(facts)
    told = statistics(np.ones((1, n)), np.ones((1, n_facts)))
    if n < 2:
        return {name: Estimate(float(value[0])) for name, value in told.items()}
    of_facts = np.ones((n_bootstrap, 0)) if not n_facts else _weights(n_facts, n_bootstrap, seed)
    lows, highs = interval(np.column_stack(list(statistics(_weights(n, n_bootstrap, seed), of_facts).values())))
    return {
        name: Estimate(float(value[0]), float(low), float(high))
        for (name, value), low, high in zip(told.items(), lows, highs, strict=True)
    }


def _weights(n: int, n_bootstrap: int, seed: int) -> np.ndarray:
    return np.concatenate(list(resampled_weights(n, n_bootstrap, seed))).astype(float)


def _correlation(weights: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Weighted correlation of two columns, over the rows that have both; one for each row of weights."""
    known = np.isfinite(pairs).all(axis=1)
    one, other = pairs[known].T
    own = weights[:, known] / weights[:, known].sum(axis=1)[:, None]
    a, b = own @ one, own @ other
    covariance = own @ (one * other) - a * b
    spread = (own @ one**2 - a**2) * (own @ other**2 - b**2)
    return covariance / np.sqrt(np.maximum(spread, 0))
