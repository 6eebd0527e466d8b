"""Signs of being right side by side: against scikit-learn, on nulls, and on topics that hang together."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from onedial.confidence.signals import signal_table
from onedial.core.errors import InputError


def panel(rng, n=300, strength=1.0):
    right = (rng.random(n) < 0.4).astype(float)
    signals = pd.DataFrame({"knows": strength * right + rng.normal(size=n), "does not": rng.normal(size=n)})
    return signals, right


def test_each_area_is_that_of_scikit_learn():
    """Each area is that of scikit learn and a difference comes with its interval."""
    signals, right = panel(np.random.default_rng(0))
    result = signal_table(signals, right, reference="does not")
    for name in signals:
        assert result.loc[name, "auroc"] == pytest.approx(roc_auc_score(right, signals[name]))
    row = result.loc["knows"]
    assert row["low"] < row["auroc"] < row["high"]
    assert row["gain"] == pytest.approx(row["auroc"] - result.loc["does not", "auroc"])
    assert row["gain_low"] > 0
    assert np.isnan(result.loc["does not", "gain"])


def test_topics_that_hang_together_widen_the_interval():
    rng = np.random.default_rng(2)
    topics = np.repeat(np.arange(12), 25)
    easy, sure = rng.random(12) < 0.5, rng.normal(size=12)
    right = (rng.random(300) < np.where(easy[topics], 0.9, 0.1)).astype(float)
    signals = pd.DataFrame({"topic": sure[topics] + 0.1 * rng.normal(size=300)})
    width = [np.ptp(signal_table(signals, right, each).loc["topic", ["low", "high"]]) for each in (topics, None)]
    assert width[0] > 2 * width[1]


def test_what_is_mostly_unread_gets_no_number():
    """What is mostly unread gets no number and ungraded answers do not count."""
    signals, right = panel(np.random.default_rng(3), 40)
    signals.loc[:25, "knows"] = np.nan
    result = signal_table(signals, right)
    assert result.loc["knows", ["n", "n_unread"]].tolist() == [14, 26]
    assert np.isnan(result.loc["knows", "auroc"])
    right[:10] = np.nan
    assert signal_table(signals, right).loc["does not", "n"] == 30
    with pytest.raises(InputError, match="3 outcomes for 40 questions"):
        signal_table(signals, [1, 0, 1])


def test_a_handful_of_right_answers_gives_no_interval():
    signals, right = panel(np.random.default_rng(4), 60)
    right[:] = 0
    right[:4] = 1
    row = signal_table(signals, right, reference="does not").loc["knows"]
    assert np.isfinite(row["auroc"])
    assert np.isnan(row[["low", "high", "gain_low", "gain_high"]].astype(float)).all()
    right[4] = 1
    assert np.isfinite(signal_table(signals, right).loc["knows", "low"])
