"""Dials at equal yes rates: a planted order is found, and an order that knows no more than the cut gains nothing."""

import numpy as np
import pandas as pd
import pytest

from onedial.core.errors import InputError
from onedial.panels.panels import panel_from_long
from onedial.verdict.comparing.dial_comparison import CUT, compare_dials, unsteered_case

RATES = np.round(np.arange(0.1, 0.95, 0.1), 1)
N = 240


def planted(seed, share, n_targets=8):
    """Targets that follow one ease; the subject's unsteered margin knows half of it, and a dial `share` of the rest."""
    rng = np.random.default_rng(seed)
    ease, noise, other = rng.normal(size=(3, N))
    questions = [f"q{i:03d}" for i in range(N)]
    splits = pd.Series(["fitting", "test"] * (N // 2), index=questions)
    panel = pd.DataFrame(
        {
            f"target {t}": (ease + rng.normal(size=N) > np.quantile(ease, 1 - rate)).astype(float)
            for t, rate in enumerate(np.linspace(0.15, 0.85, n_targets))
        },
        index=pd.Index(questions, name="question_id"),
    )
    orders = {CUT: ease + 1.5 * noise, "pushed": ease + 1.5 * (1 - share) * noise}
    if share == 0:
        orders["pushed"] = ease + 1.5 * noise + 0.3 * other
    frames = []
    for name, order in orders.items():
        for rate in RATES:
            margin = order - np.quantile(order, 1 - rate)
            columns = {"dial": name, "rate": rate, "question_id": questions, "margin": margin, "mass": 1.0}
            frames.append(pd.DataFrame(columns))
    plain = pd.DataFrame({"dial": CUT, "rate": np.nan, "question_id": questions, "margin": orders[CUT], "mass": 1.0})
    answers = pd.concat([*frames, plain], ignore_index=True)
    placed = pd.DataFrame(
        [(name, rate, rate, rate, True) for name in orders for rate in RATES],
        columns=["dial", "rate", "setting", "rate_found", "reached"],
    )
    return answers, placed, pd.Series({CUT: "cut", "pushed": "intervention"}), panel, splits


def compared(answers, placed, kinds, panel, splits, n_bootstrap=19, topics=None, wordings=None):
    """The comparison of what was planted."""
    about = pd.DataFrame({"split": splits})
    if topics is not None:
        about["topic"] = topics
    if wordings is not None:
        about["wording_of"] = wordings
    return compare_dials(answers, placed, kinds, unsteered_case(answers, about, panel, n=n_bootstrap))


def test_near_copies_count_as_one_base_model_as_they_do_in_a_verdict():
    answers, placed, kinds, panel, splits = planted(0, 0.8, n_targets=6)
    rng = np.random.default_rng(1)
    copies = {f"copy {number}": panel["target 2"].mask(rng.random(N) < 0.02, 1.0) for number in range(3)}
    panel = panel.assign(**copies)
    base = {"target 2": "one", **dict.fromkeys(copies, "one")}
    with_models = panel_from_long(panel.rename_axis(columns="respondent").stack().rename("said_yes").reset_index())
    with_models.respondents["model"] = [base.get(name, name) for name in with_models.respondents.index]
    untold, known = (
        compared(answers, placed, kinds, each, splits, n_bootstrap=19).table for each in (panel, with_models)
    )
    pd.testing.assert_frame_equal(untold, known)


def test_a_dial_that_knows_more_of_the_targets_gains_and_is_chosen():
    result = compared(*planted(0, 0.8), n_bootstrap=199)
    row = result.table.loc["pushed"]
    assert row["order_gain_low"] > 0.03
    assert row["signal_gain"] > 0
    assert row["order_gain_low"] <= row["order_gain"] <= row["order_gain_high"]
    assert 0.3 < row["rho"] < 0.95
    assert result.chosen == "pushed"
    assert bool(row["chosen"])
    assert row["n_rates"] == 9
    assert row["n_questions"] == N // 2
    assert "Best: pushed +0." in result.sentence()
    of_dial = result.targets[result.targets["dial"] == "pushed"].set_index("target")
    assert of_dial["difference"].mean() == pytest.approx(row["signal_gain"], abs=1e-9)
    assert (of_dial["low"] <= of_dial["difference"]).all()


def test_unreached_rates_do_not_count():
    """Rates that are not reached and answers that are not read do not count."""
    answers, placed, kinds, panel, splits = planted(2, 0.5)
    gone = (placed["dial"] == "pushed") & (placed["rate"] > 0.45)
    placed.loc[gone, "reached"] = False
    answers = answers[~((answers["dial"] == "pushed") & (answers["rate"] > 0.45))].copy()
    unread = (answers["dial"] == "pushed") & (answers["question_id"] == "q001")
    answers.loc[unread, "mass"] = 0.01
    result = compared(answers, placed, kinds, panel, splits, n_bootstrap=19)
    row = result.table.loc["pushed"]
    assert (row["n_rates"], row["n_unread"]) == (4, 4)
    assert row["n_targets"] < result.table.loc[CUT, "n_targets"]
    rates = result.rates.set_index(["dial", "rate"])
    assert rates.loc[("pushed", 0.1), "n_unread"] == 1
    assert np.isnan(rates.loc[("pushed", 0.9), "yes_rate"])
    none = answers[answers["dial"] == CUT]
    row = compared(none, placed, kinds, panel, splits, n_bootstrap=19).table.loc["pushed"]
    assert row["n_rates"] == 0
    assert np.isnan(row["order_gain"])


def test_a_rate_missed_on_the_test_split_is_void():
    """At .5 the dial says yes to .3 of the test questions: nothing is compared there, but the fitting split chooses."""
    answers, placed, kinds, panel, splits = planted(0, 0.8)
    plain = compared(answers, placed, kinds, panel, splits)
    there = (answers["dial"] == "pushed") & (answers["rate"] == 0.5) & (answers["question_id"].map(splits) == "test")
    answers.loc[there, "margin"] -= answers.loc[there, "margin"].quantile(0.7)
    moved = compared(answers, placed, kinds, panel, splits)
    row, rates = moved.table.loc["pushed"], moved.rates.set_index(["dial", "rate"])
    assert (row["n_rates"], row["n_void"]) == (8, 1)
    assert rates.loc[("pushed", 0.5), "yes_rate"] == pytest.approx(0.3, abs=0.01)
    assert rates["void"].sum() == rates.loc[("pushed", 0.5), "void"] == 1
    assert 0.5 not in set(moved.targets.query("dial == 'pushed'")["rate"])
    assert row["fitting_order_gain"] == plain.table.loc["pushed", "fitting_order_gain"]
    assert "1 rate is void" in moved.sentence()


def test_targets_are_met_at_their_fitting_rate():
    """Targets are met at the rate of their fitting answers and dials chosen by fitting gains."""
    answers, placed, kinds, panel, splits = planted(4, 0.8)
    test = splits[splits == "test"].index
    panel.loc[test] = np.random.default_rng(0).integers(0, 2, panel.loc[test].shape)  # another rate, and no order
    result = compared(answers, placed, kinds, panel, splits, n_bootstrap=19)
    fitting = panel.drop(test).mean()
    met_rates = result.targets[result.targets["dial"] == "pushed"].set_index("target")["rate"]
    assert (abs(met_rates - fitting[met_rates.index]) <= 0.05 + 1e-9).all()
    row = result.table.loc["pushed"]
    assert row["fitting_order_gain"] > 0.03
    assert row["fitting_signal"] > 0.2
    assert abs(row["order_gain"]) < 0.03
    assert result.chosen == "pushed"


def test_without_a_threshold_shift_nothing_is_compared():
    answers, placed, kinds, panel, splits = planted(3, 0.5)
    with pytest.raises(InputError, match="'threshold shift' is not among the dials"):
        compared(answers[answers["dial"] != CUT], placed, kinds.drop(CUT), panel, splits)
