"""The match of targets: known truth is found, the numbers fit each other, bad tables are refused.

Margins are synthetic: what is tested is the procedure.
"""

import numpy as np
import pandas as pd
import pytest
import simulated_panels
from verdict_tables import case_of, judge, plain_sweep, simulated

from onedial.core.errors import InputError
from onedial.verdict.baselines.knowing import knowing_table
from onedial.verdict.case import sweep_grid
from onedial.verdict.match import dose_response


@pytest.fixture(scope="module")
def steered_matches():
    sweep, panel = simulated()
    return case_of(sweep, panel, respondents=simulated_panels.framings_of(panel.columns), n_resamples=199)


# ---- the match -----------------------------------------------------------------------------------------------------


def test_a_noiseless_target_gets_its_magnitude():
    """A noiseless target gets the magnitude that made it and full agreement."""
    sweep, _ = simulated()
    margins = sweep.pivot(index="question_id", columns="magnitude", values="margin")
    truth = margins.columns[[10, 20, 33]]
    panel = (margins[truth] > 0).astype(float).set_axis(["a", "b", "c"], axis=1)
    table = case_of(sweep.assign(mass=0.9), panel, n_resamples=99).matches
    assert (table["magnitude_low"] <= truth).all()
    assert (table["magnitude_high"] >= truth).all()
    assert np.allclose(table["magnitude_rate"], table["magnitude"])
    assert (table["agreement"] > 0.95).all()
    assert (table["kappa"] > 0.85).all()


def test_every_answer_of_a_target_is_counted_or_reported_as_unread(steered_matches):
    sweep, panel = simulated()
    split = sweep.drop_duplicates("question_id").set_index("question_id")["split"]
    for name in ("fitting", "test"):
        answered = panel[panel.index.map(split) == name].notna().sum()
        counted = steered_matches.matches[f"n_{name}"] + steered_matches.matches[f"n_unread_{name}"]
        assert (counted == answered).all()
    assert steered_matches.matches["n_unread_test"].sum() > 0


def test_test_answers_do_not_move_a_choice():
    sweep, panel = simulated()
    test_ids = sweep.loc[sweep["split"] == "test", "question_id"].unique()
    other = panel.copy()
    other.loc[test_ids] = 1 - other.loc[test_ids]
    chosen = ["magnitude", "magnitude_low", "magnitude_high", "magnitude_rate", "cut"]
    one, two = (case_of(sweep, table).matches[chosen] for table in (panel, other))
    pd.testing.assert_frame_equal(one, two)


def test_test_answers_do_not_move_a_prediction():
    """The majority answer alone is chosen with hindsight."""
    sweep, panel = simulated()
    test_ids = sweep.loc[sweep["split"] == "test", "question_id"].unique()
    other = panel.copy()
    other.loc[test_ids] = 1 - other.loc[test_ids]
    one, two = (case_of(sweep, table) for table in (panel, other))
    for name in ("steered", "threshold_shift", "rate_matched"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_no_constant_answer_beats_the_majority():
    """Also where the majority answer of the fitting questions is the rarer one of the test questions."""
    sweep, panel = simulated()
    fitting_ids = sweep.loc[sweep["split"] == "fitting", "question_id"].unique()
    panel.loc[fitting_ids] = 1 - panel.loc[fitting_ids]
    case = case_of(sweep, panel)
    given = np.where(np.isnan(case.majority), np.nan, case.given[case.test])
    share = np.nanmean(given, axis=0)
    agreement = np.nanmean(np.where(np.isnan(given), np.nan, case.majority == given), axis=0)
    np.testing.assert_allclose(agreement, np.maximum(share, 1 - share))


def test_the_majority_answer_is_of_the_answers_that_are_compared_alone():
    """Of 80 test answers 44 are yes; where the subject was read unsteered 24 of 60: the constant to beat is no."""
    splits = np.repeat(["fitting", "test"], 80)
    sweep = plain_sweep(np.tile([-1.0, -1.0, 1.0], (160, 1)), splits)
    names = sweep["question_id"].unique()
    panel = pd.DataFrame({"target": np.arange(160) % 2.0}, index=names)
    panel.iloc[80:, 0] = (np.arange(80) < 44).astype(float)
    mute = sweep["question_id"].isin(names[80:100]) & (sweep["magnitude"] == 0)
    table = case_of(sweep.assign(mass=sweep["mass"].mask(mute, 0.0)), panel).matches
    assert table.loc["target", ["n_test", "n_unread_test"]].tolist() == [60, 20]
    assert table.loc["target", "majority"] == 36 / 60


def test_an_unread_question_enters_no_prediction():
    """A question that was unread without steering enters none of the three predictions."""
    sweep, panel = simulated()
    mute = (sweep["magnitude"] == 0) & sweep["question_id"].isin(sweep["question_id"].unique()[::5])
    matches = case_of(sweep.assign(mass=sweep["mass"].mask(mute, 0.0)), panel)
    test = sweep[(sweep["split"] == "test") & (sweep["magnitude"] == 0)]
    rows = test["question_id"].isin(sweep.loc[mute, "question_id"]).to_numpy()
    assert rows.sum() > 20
    for name in ("steered", "majority", "threshold_shift"):
        assert np.isnan(getattr(matches, name)[rows]).all()
        assert not np.isnan(getattr(matches, name)[~rows]).all(axis=0).any()


def test_the_order_of_rows_and_targets_changes_nothing():
    sweep, panel = simulated()
    one = case_of(sweep, panel).matches
    shuffled = sweep.sample(frac=1, random_state=0)
    two = case_of(shuffled, panel.iloc[::-1, ::-1]).matches.loc[one.index]
    pd.testing.assert_frame_equal(one, two)


def test_dose_response_counts_unread_answers_apart():
    margins = np.tile([-1.0, 0.5, 1.0], (40, 1))
    mass = np.full((40, 3), 0.9)
    mass[:10, 1] = 0.05
    sweep = plain_sweep(margins, np.repeat(["fitting", "test"], 20), mass=mass)
    dose = dose_response(sweep_grid(sweep)).set_index(["split", "magnitude"])
    assert dose.loc[("fitting", 0.0), ["n_read", "n_unread"]].tolist() == [10, 10]
    assert dose.loc[("test", 0.0), ["n_read", "n_unread"]].tolist() == [20, 0]
    assert dose["yes_rate"].tolist() == [0.0, 1.0, 1.0] * 2
    assert dose.loc[("fitting", 0.0), "mean_mass"] == pytest.approx(0.475)


# ---- statuses ------------------------------------------------------------------------------------------------------


def statuses(sweep, **targets):
    ids = sweep["question_id"].unique()
    return case_of(sweep, pd.DataFrame(targets, index=ids)).matches["status"].to_dict()


def test_each_status_is_given_for_its_own_reason():
    rng = np.random.default_rng(0)
    ease = rng.standard_normal(240)
    magnitudes = np.linspace(-3, 3, 13)
    splits = np.tile(["fitting", "test", "test"], 80)
    sweep = plain_sweep(ease[:, None] + magnitudes, splits, magnitudes)
    related = (ease > 0.1).astype(float)
    nearly_all = np.where(np.arange(240) % 30 == 1, 0.0, 1.0)
    seldom = np.where(np.arange(240) < 60, related, np.nan)
    against = 1 - (ease > -0.8).astype(float)
    result = statuses(sweep, ok=related, constant=np.ones(240), few=seldom, one_kind=nearly_all, edge=against)
    assert result == {"ok": "ok", "constant": "constant", "few": "few", "one_kind": "few", "edge": "edge"}
    assert statuses(plain_sweep(ease[:, None] + magnitudes / 100, splits, magnitudes), t=related) == {"t": "flat"}
    turned = plain_sweep(ease[:, None] - np.abs(magnitudes), splits, magnitudes)
    assert statuses(turned, t=related) == {"t": "not monotone"}


def test_a_target_without_fitting_answers_or_without_any_gets_no_magnitude():
    sweep, panel = simulated(n_targets=3)
    test_ids = sweep.loc[sweep["split"] == "test", "question_id"].unique()
    panel["only test"] = panel["target 1"].where(panel.index.isin(test_ids))
    panel["silent"] = np.nan
    table = case_of(sweep, panel).matches.loc[["only test", "silent"]]
    assert table["status"].tolist() == ["few", "few"]
    assert table[["magnitude", "magnitude_low", "magnitude_rate", "cut", "agreement", "kappa"]].isna().all(axis=None)
    assert table["n_test"].tolist() == [0, 0]


# ---- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda sweep, panel: (sweep.drop(columns="mass"), panel), "no column mass"),
        (lambda sweep, panel: (sweep.iloc[:-3], panel), "lacks 3 of"),
        (lambda sweep, panel: (pd.concat([sweep, sweep.iloc[:2]]), panel), "2 .* more than once"),
        (lambda sweep, panel: (sweep[sweep["magnitude"] != 0], panel), "no magnitude 0"),
        (lambda sweep, panel: (sweep.assign(split="train"), panel), "unknown split 'train'"),
        (lambda sweep, panel: (sweep[sweep["split"] != "test"], panel), "0 test questions"),
        (
            lambda sweep, panel: (pd.concat([sweep.assign(intervention_id=v) for v in ("a", "b")]), panel),
            "2 interventions; name one: a, b",
        ),
        (lambda sweep, panel: (sweep, panel.rename(index=lambda name: name + "x")), "shares no question"),
        (lambda sweep, panel: (sweep, panel.fillna(0.5)), "holds 0.5"),
        (lambda sweep, panel: (sweep, pd.concat([panel, panel], axis=1)), "target 'target 0' stands there more"),
        (lambda sweep, panel: (sweep, panel.iloc[:0]), "the panel is empty"),
    ],
)
def test_tables_that_do_not_fit_are_refused_in_one_sentence(change, words):
    sweep, panel = change(*simulated(n_targets=3, n_questions=80))
    with pytest.raises(InputError, match=words):
        case_of(sweep, panel)


def test_held_out_topics_are_judged_by_test_questions():
    """Where topics are held out the order is judged by test questions alone."""
    sweep, panel = simulated()
    by_question = sweep.drop_duplicates("question_id").set_index("question_id")
    both = case_of(sweep, panel, topics=by_question["topic"])
    assert len(both.ordered) == (by_question["split"] != "extraction").sum()
    other = by_question["topic"].where(by_question["split"] != "test", "another " + by_question["topic"])
    alone = case_of(sweep, panel, topics=other)
    assert len(alone.ordered) == (by_question["split"] == "test").sum()


def test_wordings_of_one_question_are_drawn_together():
    """Five wordings that are answered alike tell as much as one: intervals are those of a fifth of the questions."""
    rng, magnitudes = np.random.default_rng(0), np.linspace(-2, 2, 9)
    one = np.repeat(np.arange(120), 5)
    splits = np.repeat(np.tile(["extraction", "fitting", "test", "test"], 30), 5)
    sweep = plain_sweep(rng.standard_normal(120)[one][:, None] + magnitudes, splits, magnitudes)
    panel = pd.DataFrame(
        (rng.standard_normal((120, 6)) > np.linspace(-0.8, 0.8, 6))[one].astype(float),
        [f"q{number}" for number in range(600)],
        list("abcdef"),
    )
    wordings = [[f"q{5 * number + place}" for place in range(5)] for number in range(120)]
    with_wordings = case_of(sweep, panel, wordings=wordings, n_resamples=399)
    untold = case_of(sweep, panel, n_resamples=399)
    assert untold.wordings is None
    wide, narrow = ((each.matches["kappa_high"] - each.matches["kappa_low"]).mean() for each in (with_wordings, untold))
    assert wide / narrow == pytest.approx(np.sqrt(5), rel=0.2)
    result, narrow = (judge(each, 199) for each in (with_wordings, untold))
    assert result.signal.se / narrow.signal.se == pytest.approx(np.sqrt(5), rel=0.2)
    assert result.prediction.bits.se / narrow.prediction.bits.se == pytest.approx(np.sqrt(5), rel=0.25)
    assert result.signal.null_95 > 1.5 * narrow.signal.null_95
    right = pd.DataFrame(rng.integers(2, size=(120, 1))[one].astype(float), panel.index, ["a"])
    ends = [knowing_table(each, right, None).loc["a", ["low", "high"]] for each in (with_wordings, untold)]
    assert ends[0].diff().iloc[1] / ends[1].diff().iloc[1] == pytest.approx(np.sqrt(5), rel=0.25)


def test_wordings_count_once():
    """Twenty test questions in five wordings are twenty questions, whatever they are in answers."""
    rng, magnitudes = np.random.default_rng(1), np.linspace(-2, 2, 9)
    one = np.repeat(np.arange(40), 5)
    splits = np.repeat(np.tile(["extraction", "fitting", "test", "test"], 10), 5)
    sweep = plain_sweep(rng.standard_normal(40)[one][:, None] + magnitudes, splits, magnitudes)
    answers = (rng.standard_normal((40, 3)) > 0)[one].astype(float)
    panel = pd.DataFrame(answers, [f"q{number}" for number in range(200)], list("abc"))
    wordings = [[f"q{5 * number + place}" for place in range(5)] for number in range(40)]
    assert (case_of(sweep, panel).matches["status"] != "few").all()
    assert (case_of(sweep, panel, wordings=wordings).matches["status"] == "few").all()


def test_a_case_that_knows_fewer_answers_is_made_anew():
    """Whatever was asked of the whole case before; which base models there are stays."""
    case, asked = (case_of(*simulated("threshold shift", 2)) for _ in range(2))
    fewer = np.where(np.arange(len(case.questions))[:, None] % 2 == 0, np.nan, case.given)
    whole = asked.matches
    one, other = case.knowing(fewer), asked.knowing(fewer)
    pd.testing.assert_frame_equal(one.matches, other.matches)
    assert (other.matches["n_test"] < whole["n_test"]).all()
    assert other.near_copies is asked.near_copies
