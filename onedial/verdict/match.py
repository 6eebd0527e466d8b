"""Matching: at which magnitude does the steered subject answer as a target does, and how well?

All choices are made on the fitting split, all agreement is measured on the test split (`case`). Intervals are 95%
percentile bootstrap intervals over test questions, the same resamples for all predictions and for all targets;
magnitudes and cuts stay as chosen.

The dial's order needs no choice, so fitting and test questions both say how well it puts each target's yes above its
no, beside the order of the unsteered margin (test questions alone, where half of the topics are held out).
"""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import stats

from onedial.panels.splits import FITTING, TEST
from onedial.stats.agreement import count, count_resampled, interval
from onedial.stats.roc import auc, auc_resampled
from onedial.stats.shares import rates

if TYPE_CHECKING:
    from onedial.verdict.case import Case


def match_table(case: "Case") -> pd.DataFrame:
    """Make one row per target: `Case.matches`."""
    chosen = case.chosen
    table = case.respondents.assign(
        status=case.status,
        **_answer_counts(case),
        **_thresholds(case),
        magnitude=_at(case.magnitudes, chosen.best),
        magnitude_low=_at(case.magnitudes, chosen.low),
        magnitude_high=_at(case.magnitudes, chosen.high),
        magnitude_rate=_at(case.magnitudes, chosen.rate_matched),
        cut=chosen.cut,
        **_measured_on_test(case),
        **_measured_by_order(case),
    )
    table["model"] = case.near_copies.counted_as
    return table


def dose_response(case: "Case") -> pd.DataFrame:
    """What each magnitude does to the subject, per split: n_read, n_unread, yes_rate and its standard error se over the
    answers read, mean_mass over all, median_margin.

    >>> from onedial.verdict import sweep_grid
    >>> sweep = pd.DataFrame({"question_id": list("aabb"), "magnitude": [0.0, 1.0] * 2, "margin": [-1.0, 1, 2, 3]})
    >>> dose_response(sweep_grid(sweep.assign(split="test", mass=0.9)))["yes_rate"].tolist()
    [0.5, 1.0]
    """
    parts = []
    for split in dict.fromkeys(case.splits):
        margins, masses = case.margins[case.rows(split)], case.masses[case.rows(split)]
        rate, n = rates(case.answers[case.rows(split)])
        with np.errstate(invalid="ignore", divide="ignore"):
            error = np.sqrt(rate * (1 - rate) / n)
        medians = [np.median(read[~np.isnan(read)]) if (~np.isnan(read)).any() else np.nan for read in margins.T]
        part = pd.DataFrame({"split": split, "magnitude": case.magnitudes, "n_read": n, "n_unread": len(margins) - n})
        parts.append(part.assign(yes_rate=rate, se=error, mean_mass=masses.mean(axis=0), median_margin=medians))
    return pd.concat(parts, ignore_index=True)


def _answer_counts(case: "Case") -> dict[str, np.ndarray]:
    """Count per split the target's answers that are compared, and those that are not for want of the subject's."""
    unread = ~np.isnan(case.given) & ~case.compared
    counts = {f"n_{split}": case.compared[case.rows(split)].sum(axis=0) for split in (FITTING, TEST)}
    return counts | {f"n_unread_{split}": unread[case.rows(split)].sum(axis=0) for split in (FITTING, TEST)}


def _at(magnitudes: np.ndarray, places: np.ndarray) -> np.ndarray:
    return np.where(places >= 0, magnitudes[places], np.nan)


def _thresholds(case: "Case") -> dict[str, np.ndarray]:
    """Compute yes_rate, threshold and its standard error over all answers of the panel; nan at a rate of 0 or 1."""
    rate, n = rates(case.panel.to_numpy())
    with np.errstate(invalid="ignore", divide="ignore"):
        threshold = stats.norm.ppf(np.where((rate > 0) & (rate < 1), rate, np.nan))
        error = np.sqrt(rate * (1 - rate) / n) / stats.norm.pdf(threshold)
    if case.thresholds is not None:
        threshold = case.thresholds.reindex(case.targets).to_numpy(float)
        threshold = np.where(np.isfinite(threshold), threshold, np.nan)
    return {"yes_rate": rate, "threshold": threshold, "threshold_se": error}


def _measured_on_test(case: "Case") -> dict[str, np.ndarray]:
    """Measure agreement, kappa and the two differences on the test split, each with its interval."""
    given, groups = case.given[case.test], case.groups(case.test)
    measured: dict[str, np.ndarray] = {}
    resampled: dict[str, np.ndarray] = {}
    for name, predicted in (
        ("agreement", case.steered),
        ("majority", case.majority),
        ("threshold_shift", case.threshold_shift),
    ):
        measured[name] = count(predicted, given).agreement()
        resampled[name] = count_resampled(predicted, given, case.n_resamples, case.seed, groups).agreement()
    measured["kappa"] = count(case.steered, given).kappa()
    resampled["kappa"] = count_resampled(case.steered, given, case.n_resamples, case.seed, groups).kappa()
    for name, baseline in (("gain", "majority"), ("steering", "threshold_shift")):
        measured[name] = measured["agreement"] - measured[baseline]
        resampled[name] = resampled["agreement"] - resampled[baseline]
    at_rate = count(case.rate_matched, given)
    columns: dict[str, np.ndarray] = {}
    for name in ("agreement", "kappa", "majority", "threshold_shift", "gain", "steering"):
        low, high = interval(resampled[name])
        columns |= {name: measured[name], f"{name}_low": low, f"{name}_high": high}
        if name == "kappa":
            columns |= {"agreement_rate": at_rate.agreement(), "kappa_rate": at_rate.kappa()}
    return columns


def _measured_by_order(case: "Case") -> dict[str, np.ndarray]:
    """Measure how well the dial's order puts yes above no, beside the unsteered margin's."""
    given, groups = case.given[case.ordered], case.groups(case.ordered)
    steered, margin = (auc(scores, given) for scores in case.orders)
    one, other = (auc_resampled(scores, given, case.n_resamples, case.seed, groups) for scores in case.orders)
    low, high = interval(one - other)
    return {
        "order_auc": steered,
        "order_auc_unsteered": margin,
        "order_gain": steered - margin,
        "order_gain_low": low,
        "order_gain_high": high,
    }
