"""Which sign of being right is worth how much: many confidences of the same answers side by side.

Each is judged by what it ranks alone (AUROC, accuracy over coverage), so that log-probabilities, counts and stated
numbers can stand in one table. Answers on one topic hang together, so whole topics are drawn.
"""

from typing import Any

import numpy as np
import pandas as pd

from onedial.confidence.abstention import selective_auc
from onedial.core.errors import InputError
from onedial.stats.arrays import Floats, Integers
from onedial.stats.groups import labels_of
from onedial.stats.intervals import FEWEST_UNITS, area_interval, drawn_units, resampled_interval, unit_weights
from onedial.stats.level import MOST_UNREAD
from onedial.stats.roc import roc_area


def signal_table(
    signals: pd.DataFrame,
    correct: Any,
    topics: Any = None,
    reference: str | None = None,
    n_bootstrap: int = 1999,
    seed: int = 0,
) -> pd.DataFrame:
    """How well each signal tells right from wrong answers.

    Formula: AUROC (`roc_area`); selective AUC (`selective_auc`); gain = AUROC less that of the reference on the
    questions that have both. Intervals are 95% bootstraps over whole topics where there are ten or more, else over
    questions (`area_interval`); resamples in which all answers are right or all wrong are left out, and fewer than five
    right or five wrong answers give no interval.

    Args:
        signals: question x signal, higher = surer; nan where it could not be read.
        correct: (question,) 1 / 0 / nan. topics: of the questions, a Series by name, or a sequence in their order.
        reference: a signal with which the others are compared. n_bootstrap: resamples. seed: of them.

    Returns:
        index signal; n (graded and read), n_unread (of the graded), n_right, auroc, low, high, selective_auc, and with
        a reference gain, gain_low, gain_high. A signal of which more than half are unread has no numbers. Sign: AUROC
        above .5 = surer where right; higher = better.

    Raises:
        InputError: lengths or names that do not belong together.

    R: `pROC::auc(correct, signal, direction = "<")`.

    >>> signals = pd.DataFrame({"p": [0.9, 0.8, 0.7, 0.4, 0.3, 0.6, 0.2, 0.1, 0.5, 0.35]})
    >>> signal_table(signals, [1, 1, 1, 1, 1, 0, 0, 0, 0, 0], n_bootstrap=99)["auroc"].tolist()
    [0.8]
    """
    right = pd.Series(correct).to_numpy(dtype=float)
    if len(right) != len(signals):
        raise InputError(f"{len(right)} outcomes for {len(signals)} questions; give one for each")
    if reference is not None and reference not in signals:
        raise InputError(f"the reference {reference!r} is none of {', '.join(map(str, signals.columns))}")
    graded = np.isfinite(right)
    values, right = signals[graded].astype(float), right[graded]
    units = drawn_units(None if topics is None else _topics(topics, signals, values.index), len(right))
    drawn = unit_weights(units, n_bootstrap, seed)
    base = values[reference].to_numpy() if reference else None
    rows = {
        name: _row(values[name].to_numpy(), right, units, drawn, None if name == reference else base)
        for name in values.columns
    }
    columns = ["n", "n_unread", "n_right", "auroc", "low", "high", "selective_auc"]
    columns += ["gain", "gain_low", "gain_high"] if reference else []
    return pd.DataFrame.from_dict(rows, orient="index").reindex(columns=columns).rename_axis("signal")


def _row(signal: Floats, right: Floats, units: Integers, drawn: Floats, base: Floats | None) -> dict[str, float]:
    read = np.isfinite(signal)
    row: dict[str, float] = {"n": read.sum(), "n_unread": (~read).sum(), "n_right": right[read].sum()}
    if not read.any() or (~read).mean() > MOST_UNREAD:
        return row
    kinds = [read & (right == kind) for kind in (1, 0)]
    n_right, n_wrong = (int(kind.sum()) for kind in kinds)
    one_level = any(len(np.unique(signal[kind])) == 1 for kind in kinds)
    row["auroc"], areas = float(roc_area(signal, right)), roc_area(signal, right, drawn)
    ends = area_interval(row["auroc"], areas, len(np.unique(units[read])), n_right, n_wrong, one_level)
    row |= {"low": ends[0], "high": ends[1], "selective_auc": selective_auc(signal, right)}
    if base is None:
        return row
    both = read & np.isfinite(base)
    this, that = (np.where(both, scores, np.nan) for scores in (signal, base))
    row["gain"] = float(roc_area(this, right) - roc_area(that, right))
    gains = roc_area(this, right, drawn) - roc_area(that, right, drawn)
    if min(n_right, n_wrong) >= FEWEST_UNITS:
        ends = resampled_interval(row["gain"], gains, len(np.unique(units[both])), -1, 1)
        row |= {"gain_low": ends[0], "gain_high": ends[1]}
    return row


def _topics(topics: Any, signals: pd.DataFrame, names: pd.Index) -> Integers:
    labels = topics if isinstance(topics, pd.Series) else pd.Series(list(topics), index=signals.index)
    return labels_of(labels.astype(str), signals.index, names, "topics")
