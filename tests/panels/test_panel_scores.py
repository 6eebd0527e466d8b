"""Rates, correctness and confidence of a panel, with what is missing left missing."""

import numpy as np
import pytest

from onedial.panels.panel_files import load_panel
from onedial.panels.panel_scores import base_model_means, correctness_of, rates_of_respondents, stated_confidence

NAN = np.nan
PANEL = """question_id,respondent,model,said_yes,margin,confidence,sample,answered_correctly
q1,m: a,m,1,2,,0,1
q1,m: a,m,0,0,,1,0
q1,m: a,m,1,1,,2,0
q2,m: a,m,,5,,0,1
q3,m: a,m,0,-1,,0,
q1,m: b,m,1,,0.5,0,1
q1,m: b,m,1,,0.9,1,0
q2,m: b,m,1,,,0,0
q3,m: b,m,0,,0.1,0,0
q1,n,n,,,,0,
q2,n,n,1,,,0,
"""


@pytest.fixture
def panel(tmp_path):
    (tmp_path / "panel.csv").write_text(PANEL)
    return load_panel(tmp_path / "panel.csv", declared={"top": 1})


def test_most_samples_decide_and_a_tie_is_unknown(panel):
    """Of several samples most decide what was right and a tie is unknown."""
    right = correctness_of(panel)
    np.testing.assert_array_equal(right["m: a"], [0, 1, NAN])
    np.testing.assert_array_equal(right["m: b"], [NAN, 0, 0])
    assert right["n"].isna().all()


def test_confidence_is_stated_or_the_margins(panel, tmp_path):
    """Confidence is the mean of what was stated or else the margin's probability where it was read."""
    stated = stated_confidence(panel)
    assert stated.source == "stated"
    np.testing.assert_allclose(stated.values["m: b"], [0.7, NAN, 0.1])
    (tmp_path / "p.csv").write_text(PANEL.replace("0.5", "").replace("0.9", "").replace("0.1", ""))
    shown = stated_confidence(load_panel(tmp_path / "p.csv"))
    assert shown.source == "margin"
    np.testing.assert_allclose(shown.values["m: a"], [1 / (1 + np.exp(-1)), NAN, 1 / (1 + np.exp(1))])
    (tmp_path / "bare.csv").write_text("question_id,m\nq1,1\n")
    assert (
        stated_confidence(load_panel(tmp_path / "bare.csv"))
        is correctness_of(load_panel(tmp_path / "bare.csv"))
        is None
    )


def test_rates_count_what_is_missing_and_what_came_true(panel):
    rates = rates_of_respondents(panel, correctness_of(panel))
    a, b, n = (rates.loc[name] for name in ("m: a", "m: b", "n"))
    assert (a["n_questions"], a["n_unread"], a["n_ungraded"], a["n_both"]) == (3, 1, 1, 1)
    assert (a["yes_rate"], a["accuracy"], a["came_true"]) == (0.5, 0.5, 0)
    assert (b["n_unread"], b["n_ungraded"], b["n_both"], b["came_true"]) == (0, 1, 2, 0.5)
    assert n["n_both"] == 0
    assert np.isnan(n["accuracy"])
    assert np.isnan(n["came_true_low"])


def test_framings_are_averaged_before_models_are_compared(panel):
    """Framings of one base model are averaged before models are compared."""
    means = base_model_means(panel, correctness_of(panel))
    assert list(means.index) == ["m"]  # n has no grade
    # a: said yes to q1, which was wrong; b: yes to q2 and no to q3, both wrong
    assert means.loc["m"].to_dict() == {"confidence": 0.75, "accuracy": 0.0, "n_respondents": 2, "n_answers": 3}
