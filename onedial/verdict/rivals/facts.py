"""Is it about knowing? What the dial does to yes/no facts that have nothing to do with ability.

Half of the facts are true. A dial that turns "can you answer this?" because it turns every yes turns these as well:

    share     shift of the facts' yes rate over the shift of the question's own, between the magnitudes at which the
              question's yes rate is .1 and .9, or the ends of the range where it does not get so far
    accuracy  share of facts answered rightly, unsteered, and the worst between these magnitudes
    shrink    median |margin| of the facts at the worst of these magnitudes over the unsteered one
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from onedial.asking import is_read
from onedial.panels import EXTRACTION
from onedial.stats import interval, resampled_weights
from onedial.verdict.dial import HIGH_RATE, LOW_RATE, readable_range
from onedial.verdict.tables import SweepGrid

MOSTLY_BIAS = 0.25


@dataclass(frozen=True)
class FactsResult:
    """See the module's text; low and high are 95% bootstrap intervals over facts."""

    n: int
    n_unread: int
    share: float
    share_low: float
    share_high: float
    accuracy: float
    accuracy_low: float
    accuracy_high: float
    worst_accuracy: float
    loss: float
    loss_low: float
    loss_high: float
    shrink: float
    from_magnitude: float
    to_magnitude: float


def facts_result(
    grid: SweepGrid, facts: pd.DataFrame, truth: pd.Series, n_bootstrap: int = 1999, seed: int = 0
) -> FactsResult:
    """What the dial does to the facts.

    Args:
        grid: of the question itself.
        facts: long table question_id, magnitude, margin, mass, of the same intervention at magnitudes of the grid.
        truth: question_id -> 1 where yes is right, 0 where no is.

    >>> from onedial.verdict import sweep_grid
    >>> from onedial.verdict.simulation import simulate_sweep
    >>> sweep = simulate_sweep(np.random.default_rng(0), 40, 5)
    >>> facts = sweep[["question_id", "magnitude", "margin", "mass"]]
    >>> truth = pd.Series(1.0, index=facts["question_id"].unique())
    >>> found = facts_result(sweep_grid(sweep), facts, truth, n_bootstrap=19)
    >>> round(found.share, 2)
    0.9
    """
    used = readable_range(grid)
    rates = np.nanmean(grid.answers[~grid.rows(EXTRACTION)], axis=0)
    low, high = _between(rates, used)
    margins = facts.assign(margin=facts["margin"].where(is_read(facts["mass"]))).pivot(
        index="question_id", columns="magnitude", values="margin"
    )
    margins = margins.reindex(columns=grid.magnitudes[used])
    values, right = margins.to_numpy(float), truth.reindex(margins.index).to_numpy(float)[:, None]
    answers = np.where(np.isnan(values), np.nan, (values > 0).astype(float))
    correct = np.where(np.isnan(answers), np.nan, (answers == right).astype(float))
    place = {int(position): number for number, position in enumerate(used)}
    ends, zero = [place[low], place[high]], place[grid.unsteered]
    span = slice(min(ends), max(ends) + 1)
    shift = float(rates[high] - rates[low])

    def numbers(weights: np.ndarray) -> np.ndarray:
        """Rows: share, accuracy, loss."""
        yes, known = np.nan_to_num(answers), (~np.isnan(answers)).astype(float)
        with np.errstate(invalid="ignore", divide="ignore"):
            rate = (weights @ yes) / (weights @ known)
            accuracy = (weights @ np.nan_to_num(correct)) / (weights @ known)
        own = (rate[:, ends[1]] - rate[:, ends[0]]) / shift if shift > 0 else np.full(len(weights), np.nan)
        return np.stack([own, accuracy[:, zero], accuracy[:, zero] - accuracy[:, span].min(axis=1)])

    share, accuracy, loss = numbers(np.ones((1, len(values))))[:, 0]
    drawn = np.concatenate([numbers(weights) for weights in resampled_weights(len(values), n_bootstrap, seed)], axis=1)
    lows, highs = interval(drawn.T)
    sizes = np.nanmedian(np.abs(values), axis=0)
    worst = float(sizes[span].min() / sizes[zero]) if sizes[zero] > 0 else math.nan
    return FactsResult(
        n=len(values),
        n_unread=int(np.isnan(values[:, zero]).sum()),
        share=float(share),
        share_low=float(lows[0]),
        share_high=float(highs[0]),
        accuracy=float(accuracy),
        accuracy_low=float(lows[1]),
        accuracy_high=float(highs[1]),
        worst_accuracy=float(accuracy - loss),
        loss=float(loss),
        loss_low=float(lows[2]),
        loss_high=float(highs[2]),
        shrink=worst,
        from_magnitude=float(grid.magnitudes[low]),
        to_magnitude=float(grid.magnitudes[high]),
    )


def _between(rates: np.ndarray, used: np.ndarray) -> tuple[int, int]:
    """Positions nearest to yes rates of .1 and .9 among the readable ones."""
    own = rates[used]
    return int(used[np.abs(own - LOW_RATE).argmin()]), int(used[np.abs(own - HIGH_RATE).argmin()])
