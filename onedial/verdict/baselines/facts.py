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

from onedial.asking.sweep_tables import margins_by
from onedial.panels.splits import EXTRACTION
from onedial.stats.estimate import Estimate, estimate
from onedial.stats.resampling import resampled_weights
from onedial.stats.shares import rates
from onedial.verdict.case import Case
from onedial.verdict.dial import HIGH_RATE, LOW_RATE

MOSTLY_BIAS = 0.25


@dataclass(frozen=True)
class FactsResult:
    """See the module's text; intervals are over facts."""

    n: int
    n_unread: int
    share: Estimate
    accuracy: Estimate
    worst_accuracy: float
    loss: Estimate
    shrink: float
    from_magnitude: float
    to_magnitude: float


def facts_result(case: Case) -> FactsResult | None:
    """Measure what the dial does to the facts (`Case.facts`, at magnitudes of the case); None where none were asked.

    >>> from dataclasses import replace
    >>> from onedial.verdict import SweepRun
    >>> case = replace(SweepRun.open("tests/reference/golden/default").case(), n_resamples=19)
    >>> facts_result(case) is None  # that run asked none
    True
    """
    if case.facts is None or case.facts.empty:
        return None
    facts, used = case.facts, case.readable
    truth = facts.drop_duplicates("question_id").set_index("question_id")["truth"]
    own_rates, _ = rates(case.answers[case.splits != EXTRACTION])
    low, high = _between(own_rates, used)
    margins = margins_by(facts).reindex(columns=case.magnitudes[used])
    values, right = margins.to_numpy(float), truth.reindex(margins.index).to_numpy(float)[:, None]
    answers = np.where(np.isnan(values), np.nan, (values > 0).astype(float))
    correct = np.where(np.isnan(answers), np.nan, (answers == right).astype(float))
    place = {int(position): number for number, position in enumerate(used)}
    ends, zero = [place[low], place[high]], place[case.unsteered]
    span = slice(min(ends), max(ends) + 1)
    shift = float(own_rates[high] - own_rates[low])

    yes, known, right_ones = np.nan_to_num(answers), (~np.isnan(answers)).astype(float), np.nan_to_num(correct)
    weights = np.concatenate(list(resampled_weights(len(values), case.n_resamples, case.seed)))

    def shift_share(weights: np.ndarray) -> np.ndarray:
        rate = (weights @ yes) / (weights @ known)
        return (rate[:, ends[1]] - rate[:, ends[0]]) / (shift if shift > 0 else np.nan)

    def accuracy(weights: np.ndarray) -> np.ndarray:
        return (weights @ right_ones) / (weights @ known)

    share = estimate(shift_share, weights)
    at_zero = estimate(lambda weights: accuracy(weights)[:, zero], weights)
    loss = estimate(lambda weights: accuracy(weights)[:, zero] - accuracy(weights)[:, span].min(axis=1), weights)
    sizes = np.nanmedian(np.abs(values), axis=0)
    worst = float(sizes[span].min() / sizes[zero]) if sizes[zero] > 0 else math.nan
    return FactsResult(
        n=len(values),
        n_unread=int(np.isnan(values[:, zero]).sum()),
        share=share,
        accuracy=at_zero,
        worst_accuracy=at_zero.value - loss.value,
        loss=loss,
        shrink=worst,
        from_magnitude=float(case.magnitudes[low]),
        to_magnitude=float(case.magnitudes[high]),
    )


def _between(rates: np.ndarray, used: np.ndarray) -> tuple[int, int]:
    """Find the positions nearest to yes rates of .1 and .9 among the readable ones."""
    reached = rates[used]
    return int(used[np.abs(reached - LOW_RATE).argmin()]), int(used[np.abs(reached - HIGH_RATE).argmin()])
