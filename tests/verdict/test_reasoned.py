"""Two dials over the same questions: what is known of them is found again, and what was not read is never a no."""

import numpy as np
import pandas as pd
import pytest
from verdict_tables import case_of

from onedial.verdict.case import sweep_grid
from onedial.verdict.comparing.reasoned import as_sweep, compare_reasoned

MAGNITUDES = np.linspace(-1, 1, 9)


def questions(n):
    return [f"q{i:03d}" for i in range(n)]


def sweep_of(ease, magnitudes=MAGNITUDES):
    """A dial that says yes to a question from -ease onwards."""
    rows = [
        (question, "v", float(m), float(m + place), 1.0)
        for question, place in zip(questions(len(ease)), ease, strict=True)
        for m in magnitudes
    ]
    return pd.DataFrame(rows, columns=["question_id", "intervention_id", "magnitude", "margin", "mass"])


def written(sweep, every=2, unread=()):
    """The same dial in words at every second setting; the questions in `unread` never say yes or no."""
    kept = sweep[sweep["magnitude"].isin(MAGNITUDES[::every])]
    said_yes = (kept["margin"] > 0).astype(float).where(~kept["question_id"].isin(unread))
    return kept.assign(said_yes=said_yes, tokens_out=10, text="...")


def splits_of(n):
    return pd.Series(np.resize(["fitting", "test"], n), index=questions(n))


def compare(ease, other, **more):
    splits = splits_of(len(ease))
    direct = sweep_grid(sweep_of(ease), splits)
    texts = written(sweep_of(other), **more)
    return compare_reasoned(direct, sweep_grid(as_sweep(texts), splits))


def test_rates_and_kappa_are_over_the_questions_that_were_read_both_ways():
    """Thirty questions that would all be a direct yes cannot be read so, and ten others not in words."""
    ease = np.random.default_rng(2).uniform(-0.9, 0.9, 200)
    ease[:30] = 5.0
    direct = sweep_of(ease)
    direct["mass"] = np.where(direct["question_id"].isin(questions(30)) & (direct["magnitude"] != 0), 0.0, 1.0)
    texts = written(sweep_of(ease), unread=questions(40)[30:])
    splits = splits_of(200)
    words = sweep_grid(as_sweep(texts), splits)
    result = compare_reasoned(sweep_grid(direct, splits), words).settings.set_index("magnitude")
    for magnitude, row in result.iterrows():
        both = ease[40:] if magnitude else np.delete(ease, np.arange(30, 40))
        rate = (both + magnitude > 0).mean()
        assert (row["n"], row["n_unread"], row["n_both"]) == (200, 10, len(both))
        assert (row["direct"], row["reasoned"]) == pytest.approx((rate, rate))


def test_texts_that_could_not_be_read_are_counted_and_left_out():
    ease = np.random.default_rng(2).uniform(-0.9, 0.9, 100)
    result = compare(ease, ease, unread=questions(100)[:30])
    assert (result.settings["n_unread"] == 30).all()
    assert (result.settings["n_both"] == 70).all()
    assert result.read == pytest.approx(0.7)
    assert "150 of 500 texts could not be read" in result.sentence()
    # Too many at every setting for an order along the dial: 0 alone is left of its range.
    assert np.isnan(result.rho.value)
    assert "their orders cannot be compared" in result.sentence()


def test_nothing_is_judged_by_texts_that_are_mostly_unread():
    ease = np.random.default_rng(3).uniform(-0.9, 0.9, 100)
    result = compare(ease, ease, unread=questions(100)[:60])
    assert not result.suffices
    assert result.sentence().startswith("300 of 500 reasoned answers hold no clear yes or no")


def test_of_written_answers_the_cut_is_moved_on_the_direct_margin():
    """Targets that are a threshold shift of the direct margin: the threshold shift meets them, whatever was written."""
    rng = np.random.default_rng(4)
    ease, n = rng.uniform(-0.9, 0.9, 240), 240
    splits = splits_of(n)
    panel = pd.DataFrame({f"t{c:g}": (ease > c).astype(float) for c in (-0.4, 0.0, 0.4)}, index=questions(n))
    table = as_sweep(written(sweep_of(rng.permutation(ease))))
    margin = pd.Series(ease, index=questions(n))
    with_margin = case_of(table, panel, splits, direct=margin).matches
    without = case_of(table, panel, splits).matches
    assert (with_margin["threshold_shift"] > 0.97).all()
    assert (without["threshold_shift"] < 0.9).all()
