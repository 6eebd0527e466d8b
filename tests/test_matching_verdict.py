"""The match of targets and the verdict: known truth is found, the numbers fit each other, bad tables are refused.

Margins are synthetic: what is tested is the procedure.
"""

import dataclasses
import json
import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from common import InputError
from matching import (
    SENTENCES,
    control_signal,
    control_signals,
    judge,
    judged_targets,
    match_targets,
    simulation,
    verdict,
)
from psychometrics import threshold_table

HEADER = (
    "model framing family status n_fitting n_test n_unread_fitting n_unread_test yes_rate threshold threshold_se "
    "magnitude magnitude_low magnitude_high magnitude_rate cut agreement agreement_low agreement_high "
    "kappa kappa_low kappa_high agreement_rate kappa_rate majority majority_low majority_high "
    "moved_cut moved_cut_low moved_cut_high gain gain_low gain_high steering steering_low steering_high"
)


def simulated(kind="steered", seed=0, n_questions=400, n_targets=9, **options):
    rng = np.random.default_rng([seed, 7])
    sweep = simulation.simulate_sweep(rng, n_questions, **options)
    return sweep, simulation.TARGETS[kind](rng, sweep, n_targets)


def plain_sweep(margins, splits, magnitudes=(-1.0, 0.0, 1.0), mass=0.9):
    """margins: question x magnitude."""
    n = len(margins)
    ids = [f"q{number}" for number in range(n)]
    return pd.DataFrame(
        {
            "question_id": np.repeat(ids, len(magnitudes)),
            "split": np.repeat(splits, len(magnitudes)),
            "magnitude": np.tile(magnitudes, n),
            "margin": np.ravel(margins),
            "mass": np.broadcast_to(mass, np.shape(margins)).ravel(),
        }
    )


@pytest.fixture(scope="module")
def steered_matches():
    sweep, panel = simulated()
    return match_targets(sweep, panel, respondents=simulation.framings_of(panel.columns), n_bootstrap=199)


# ---- the match -----------------------------------------------------------------------------------------------------


def test_the_table_has_the_columns_that_reports_rely_on(steered_matches):
    assert list(steered_matches.table.columns) == HEADER.split()
    assert steered_matches.table.index.name == "target"


def test_a_noiseless_target_gets_the_magnitude_that_made_it_and_full_agreement():
    sweep, _ = simulated()
    margins = sweep.pivot(index="question_id", columns="magnitude", values="margin")
    truth = margins.columns[[10, 20, 33]]
    panel = (margins[truth] > 0).astype(float).set_axis(["a", "b", "c"], axis=1)
    table = match_targets(sweep.assign(mass=0.9), panel, n_bootstrap=99).table
    assert (table["magnitude_low"] <= truth).all()
    assert (table["magnitude_high"] >= truth).all()
    assert np.allclose(table["magnitude_rate"], table["magnitude"])
    assert (table["agreement"] > 0.95).all()
    assert (table["kappa"] > 0.85).all()


def test_differences_are_between_the_agreements_beside_them(steered_matches):
    table = steered_matches.table
    assert np.allclose(table["gain"], table["agreement"] - table["majority"])
    assert np.allclose(table["steering"], table["agreement"] - table["moved_cut"])
    for name in ("agreement", "kappa", "majority", "moved_cut", "gain", "steering"):
        assert (table[f"{name}_low"] <= table[name] + 1e-9).all()
        assert (table[name] <= table[f"{name}_high"] + 1e-9).all()


def test_every_answer_of_a_target_is_counted_or_reported_as_unread(steered_matches):
    sweep, panel = simulated()
    split = sweep.drop_duplicates("question_id").set_index("question_id")["split"]
    for name in ("fitting", "test"):
        answered = panel[panel.index.map(split) == name].notna().sum()
        counted = steered_matches.table[f"n_{name}"] + steered_matches.table[f"n_unread_{name}"]
        assert (counted == answered).all()
    assert steered_matches.table["n_unread_test"].sum() > 0


def test_test_answers_do_not_move_a_choice():
    sweep, panel = simulated()
    test_ids = sweep.loc[sweep["split"] == "test", "question_id"].unique()
    other = panel.copy()
    other.loc[test_ids] = 1 - other.loc[test_ids]
    chosen = ["magnitude", "magnitude_low", "magnitude_high", "magnitude_rate", "cut"]
    one, two = (match_targets(sweep, table, n_bootstrap=19).table[chosen] for table in (panel, other))
    pd.testing.assert_frame_equal(one, two)


def test_test_answers_do_not_move_a_prediction():
    """The majority answer and the moved cut are rivals that were chosen on the fitting split, as the magnitude was."""
    sweep, panel = simulated()
    test_ids = sweep.loc[sweep["split"] == "test", "question_id"].unique()
    other = panel.copy()
    other.loc[test_ids] = 1 - other.loc[test_ids]
    one, two = (match_targets(sweep, table, n_bootstrap=19).evidence for table in (panel, other))
    for name in ("steered", "majority", "cut", "rate_matched"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_what_is_unread_on_the_test_split_takes_no_magnitude_from_the_choice():
    sweep, panel = simulated()
    magnitudes = np.unique(sweep["magnitude"])
    mute = (sweep["split"] == "test") & sweep["magnitude"].isin(magnitudes[20:])
    evidence = match_targets(sweep.assign(mass=sweep["mass"].mask(mute, 0.0)), panel, n_bootstrap=19).evidence
    assert np.array_equal(evidence.magnitudes, magnitudes)


def test_a_question_that_was_unread_without_steering_enters_none_of_the_three_predictions():
    sweep, panel = simulated()
    mute = (sweep["magnitude"] == 0) & sweep["question_id"].isin(sweep["question_id"].unique()[::5])
    matches = match_targets(sweep.assign(mass=sweep["mass"].mask(mute, 0.0)), panel, n_bootstrap=19)
    test = sweep[(sweep["split"] == "test") & (sweep["magnitude"] == 0)]
    rows = test["question_id"].isin(sweep.loc[mute, "question_id"]).to_numpy()
    assert rows.sum() > 20
    for name in ("steered", "majority", "cut"):
        assert np.isnan(getattr(matches.evidence, name)[rows]).all()
        assert not np.isnan(getattr(matches.evidence, name)[~rows]).all(axis=0).any()


def test_equal_predictions_differ_by_nothing_in_every_resample():
    """A subject that always says yes answers as the majority and as the cut do, whichever questions are drawn."""
    rng = np.random.default_rng(0)
    sweep = plain_sweep(np.ones((240, 3)), np.tile(["fitting", "test", "test"], 80))
    panel = pd.DataFrame((rng.random((240, 4)) < 0.7).astype(float), index=sweep["question_id"].unique())
    table = match_targets(sweep, panel, n_bootstrap=99).table
    assert (table["agreement_high"] > table["agreement_low"]).all()
    assert (table[["gain_low", "gain", "gain_high", "steering_low", "steering", "steering_high"]] == 0).all(axis=None)


def test_the_order_of_rows_and_targets_changes_nothing():
    sweep, panel = simulated()
    one = match_targets(sweep, panel, n_bootstrap=19).table
    shuffled = sweep.sample(frac=1, random_state=0)
    two = match_targets(shuffled, panel.iloc[::-1, ::-1], n_bootstrap=19).table.loc[one.index]
    pd.testing.assert_frame_equal(one, two)


def test_a_panel_object_brings_its_own_metadata_and_thresholds_can_be_given():
    sweep, panel = simulated(n_targets=6)
    respondents = simulation.framings_of(panel.columns)
    thresholds = pd.Series(np.arange(6.0), index=panel.columns[::-1])
    table = match_targets(
        sweep, SimpleNamespace(answers=panel, respondents=respondents), thresholds=thresholds, n_bootstrap=19
    ).table
    assert table["model"].tolist() == respondents["model"].tolist()
    assert table["framing"].tolist() == respondents["framing"].tolist()
    assert table["threshold"].tolist() == [5, 4, 3, 2, 1, 0]


def test_without_metadata_a_target_is_its_own_model():
    sweep, panel = simulated(n_targets=3)
    table = match_targets(sweep, panel, n_bootstrap=19).table
    assert table["model"].tolist() == list(panel.columns)
    assert (table["framing"] == "").all()


def test_yes_rate_and_threshold_rest_on_the_whole_panel_not_on_the_questions_of_the_run():
    sweep, panel = simulated(n_targets=5)
    more = pd.concat([panel, pd.DataFrame(1.0, index=[f"other {i}" for i in range(300)], columns=panel.columns)])
    table, expected = match_targets(sweep, more, n_bootstrap=19).table, threshold_table(more)
    for ours, theirs in (("yes_rate", "yes_rate"), ("threshold", "threshold"), ("threshold_se", "se")):
        assert np.allclose(table[ours], expected[theirs])


def test_dose_response_has_the_standard_error_of_a_binomial_share():
    margins = np.where(np.arange(40)[:, None] % 10 < [1, 4, 7], 1.0, -1.0)
    sweep = plain_sweep(margins, np.repeat(["fitting", "test"], 20))
    panel = pd.DataFrame({"t": 1.0}, index=sweep["question_id"].unique())
    dose = match_targets(sweep, panel, n_bootstrap=19).dose_response
    assert dose["yes_rate"].tolist() == pytest.approx([0.1, 0.4, 0.7] * 2)
    assert dose["yes_rate_se"].tolist() == pytest.approx((stats.binom(20, dose["yes_rate"]).std() / 20).tolist())


def test_dose_response_counts_unread_answers_apart():
    margins = np.tile([-1.0, 0.5, 1.0], (40, 1))
    mass = np.full((40, 3), 0.9)
    mass[:10, 1] = 0.05
    sweep = plain_sweep(margins, np.repeat(["fitting", "test"], 20), mass=mass)
    panel = pd.DataFrame({"t": 1.0}, index=sweep["question_id"].unique())
    dose = match_targets(sweep, panel, n_bootstrap=19).dose_response.set_index(["split", "magnitude"])
    assert dose.loc[("fitting", 0.0), ["n", "n_unread"]].tolist() == [10, 10]
    assert dose.loc[("test", 0.0), ["n", "n_unread"]].tolist() == [20, 0]
    assert dose["yes_rate"].tolist() == [0.0, 1.0, 1.0] * 2
    assert dose.loc[("fitting", 0.0), "mean_mass"] == pytest.approx(0.475)


# ---- statuses ------------------------------------------------------------------------------------------------------


def statuses(sweep, **targets):
    ids = sweep["question_id"].unique()
    return match_targets(sweep, pd.DataFrame(targets, index=ids), n_bootstrap=19).table["status"].to_dict()


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
    found = statuses(sweep, ok=related, constant=np.ones(240), few=seldom, one_kind=nearly_all, edge=against)
    assert found == {"ok": "ok", "constant": "constant", "few": "few", "one_kind": "few", "edge": "edge"}
    assert statuses(plain_sweep(ease[:, None] + magnitudes / 100, splits, magnitudes), t=related) == {"t": "flat"}
    turned = plain_sweep(ease[:, None] - np.abs(magnitudes), splits, magnitudes)
    assert statuses(turned, t=related) == {"t": "not monotone"}


def test_a_target_without_fitting_answers_or_without_any_gets_no_magnitude():
    sweep, panel = simulated(n_targets=3)
    test_ids = sweep.loc[sweep["split"] == "test", "question_id"].unique()
    panel["only test"] = panel["target 1"].where(panel.index.isin(test_ids))
    panel["silent"] = np.nan
    table = match_targets(sweep, panel, n_bootstrap=19).table.loc[["only test", "silent"]]
    assert table["status"].tolist() == ["few", "few"]
    assert table[["magnitude", "magnitude_low", "magnitude_rate", "cut", "agreement", "kappa"]].isna().all(axis=None)
    assert table["n_test"].tolist() == [0, 0]


def test_a_target_at_an_end_of_the_range_is_judged_but_not_on_the_line():
    sweep, panel = simulated("base rates", n_targets=12)
    matches = match_targets(sweep, panel, n_bootstrap=19)
    edge = (matches.table["status"] == "edge").sum()
    found = judge(matches, 99, 99)
    assert edge > 6
    assert found.n_eligible == 12
    assert found.line.n == 12 - edge
    assert found.line.n_all == 12


def test_a_dial_that_turns_back_takes_no_target_out_of_the_verdict():
    """What decides is never how the subject does: only `constant`, `flat` and `few` are left out."""
    rng = np.random.default_rng(0)
    ease, magnitudes = rng.standard_normal(240), np.linspace(-3, 3, 13)
    sweep = plain_sweep(ease[:, None] - np.abs(magnitudes), np.tile(["fitting", "test", "test"], 80), magnitudes)
    panel = pd.DataFrame(
        {f"t{t}": (ease + rng.standard_normal(240) > 0).astype(float) for t in range(6)},
        index=sweep["question_id"].unique(),
    )
    matches = match_targets(sweep, panel, n_bootstrap=19)
    assert set(matches.table["status"]) == {"not monotone"}
    assert judge(matches, 99, 99).n_eligible == 6


# ---- the verdict ---------------------------------------------------------------------------------------------------


def test_targets_made_by_steering_are_reproduced_and_a_shift_of_the_cut_is_recognised():
    sweep, _ = simulated(n_questions=800, reordering=0.9)
    rng = np.random.default_rng(1)
    found = judge(match_targets(sweep, simulation.steered_targets(rng, sweep, 12, noise=0.3), n_bootstrap=19))
    assert found.sentence == "reproduced; direction untested"
    only_shifts, panel = simulated("moved cut", reordering=0.0)
    found = judge(match_targets(only_shifts, panel, n_bootstrap=19))
    assert found.sentence == "beats the majority answer; not shown to beat moving the cut"
    assert found.steering.equivalent


def test_the_sentence_for_a_tested_direction_depends_on_its_rank():
    sweep, _ = simulated(n_questions=800, reordering=0.9)
    panel = simulation.steered_targets(np.random.default_rng(1), sweep, 12, noise=0.3)
    matches = match_targets(sweep, panel, n_bootstrap=19)
    estimate = judge(matches, 99, 99).signal.estimate
    beaten = np.linspace(-0.1, estimate - 0.01, 99)
    assert judge(matches, 99, 99, beaten).sentence == "reproduced"
    assert judge(matches, 99, 99, beaten).direction.rank == 1
    as_good = np.r_[beaten[:90], np.full(9, estimate + 0.01)]
    assert judge(matches, 99, 99, as_good).sentence == "reproduced, but a random direction does as well"
    assert judge(matches, 99, 99, as_good).direction.p == pytest.approx(0.1)
    assert judge(matches, 99, 99, beaten[:98]).sentence == "reproduced; direction untested"


def test_four_targets_cannot_be_judged():
    sweep, panel = simulated(n_targets=4)
    found = judge(match_targets(sweep, panel, n_bootstrap=19), 99, 99)
    assert found.sentence == "cannot be judged"
    assert np.isfinite(found.signal.estimate)


def test_a_panel_without_a_target_to_judge_still_gives_a_verdict_that_json_can_hold():
    sweep, panel = simulated(n_targets=6)
    found = judge(match_targets(sweep, panel * 0 + 1, n_bootstrap=19), 99, 99)
    assert found.sentence == "cannot be judged"
    assert set(found.excluded.values()) == {"constant"}
    stored = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert stored["signal"]["p"] is None
    assert stored["n_eligible"] == 0


def test_the_verdict_has_the_keys_that_reports_rely_on(steered_matches):
    stored = judge(steered_matches, 99, 99).to_dict()
    assert set(stored) == {
        *("sentence", "n_targets", "n_eligible", "excluded", "signal", "gain", "steering", "direction", "line"),
        *("agreement", "majority", "moved_cut", "seed"),
    }
    assert set(stored["signal"]) == {"estimate", "p", "null_mean", "null_95", "n_permutations"}
    assert set(stored["gain"]) == {"estimate", "low", "high", "detectable"}
    assert set(stored["steering"]) == {"estimate", "low", "high", "low_90", "high_90", "equivalent"}
    assert set(stored["direction"]) == {"run", "rank", "n_controls", "p"}
    assert set(stored["line"]) == {
        *("slope", "intercept", "r2", "r2_null_median", "r2_null_95", "n", "r2_all", "n_all")
    }
    assert stored["sentence"] in SENTENCES


def test_the_numbers_are_means_within_a_base_model_first(steered_matches):
    found, table = judge(steered_matches, 99, 99), steered_matches.table
    for name, value in (
        ("kappa_rate", found.signal.estimate),
        ("gain", found.gain.estimate),
        ("steering", found.steering.estimate),
        ("agreement", found.agreement),
    ):
        assert table.groupby("model")[name].mean().mean() == pytest.approx(value)


def test_copies_of_one_model_under_further_framings_do_not_move_the_verdict():
    sweep, panel = simulated(n_targets=9)
    respondents = pd.DataFrame({"model": panel.columns}, index=panel.columns)
    once = judge(match_targets(sweep, panel, respondents=respondents, n_bootstrap=19), 199, 199)
    copies = {f"copy {number}": panel["target 0"] for number in range(5)}
    more = pd.concat([panel, pd.DataFrame(copies)], axis=1)
    respondents = pd.DataFrame({"model": [*panel.columns, *["target 0"] * 5]}, index=more.columns)
    again = judge(match_targets(sweep, more, respondents=respondents, n_bootstrap=19), 199, 199)
    for part in ("signal", "gain", "steering"):
        one, two = dataclasses.asdict(getattr(once, part)), dataclasses.asdict(getattr(again, part))
        assert two == pytest.approx(one)


def test_the_same_seed_gives_the_same_verdict(steered_matches):
    assert judge(steered_matches, 99, 99, seed=4) == judge(steered_matches, 99, 99, seed=4)
    assert judge(steered_matches, 99, 99, seed=4) != judge(steered_matches, 99, 99, seed=5)


def test_a_high_r_squared_without_any_relation_lies_within_its_null():
    sweep, panel = simulated("unrelated", seed=3, n_targets=19)
    line = judge(match_targets(sweep, panel, n_bootstrap=19), 199, 199).line
    assert line.r2_all > 0.6
    assert line.r2 < line.r2_null_95


def test_intervals_and_detectable_gain_are_as_many_standard_errors_as_they_say(steered_matches):
    found = judge(steered_matches, 99, 3999)
    error = (found.gain.high - found.gain.low) / (2 * stats.norm.ppf(0.975))
    assert found.gain.detectable == pytest.approx((stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * error, rel=0.06)
    narrow, wide = found.steering.high_90 - found.steering.low_90, found.steering.high - found.steering.low
    assert narrow / wide == pytest.approx(stats.norm.ppf(0.95) / stats.norm.ppf(0.975), rel=0.06)


def test_the_detectable_gain_shrinks_with_the_root_of_the_number_of_questions():
    found = []
    for n_questions in (400, 1600):
        sweep, panel = simulated(n_questions=n_questions)
        found.append(judge(match_targets(sweep, panel, n_bootstrap=19), 99, 999).gain.detectable)
    assert found[0] / found[1] == pytest.approx(2, rel=0.25)


def test_a_control_direction_without_relation_scores_about_0_and_the_vector_itself_its_own_signal(steered_matches):
    sweep, panel = simulated()
    respondents = simulation.framings_of(panel.columns)
    targets = judged_targets(steered_matches.table)
    same = control_signal(sweep, panel, targets, respondents=respondents)
    assert same == pytest.approx(judge(steered_matches, 99, 99).signal.estimate)
    rng = np.random.default_rng(5)
    parts = [sweep.assign(vector_id="own")]
    parts += [simulation.simulate_sweep(rng).assign(vector_id=f"random {number}") for number in range(4)]
    controls = control_signals(pd.concat(parts), panel, targets, [f"random {number}" for number in range(4)])
    assert np.abs(controls).max() < 0.1 < same


def test_a_control_that_turns_the_dial_the_other_way_is_matched_at_its_other_side(steered_matches):
    sweep, panel = simulated()
    turned = sweep.assign(magnitude=-sweep["magnitude"])
    signal = control_signal(turned, panel, panel.columns, respondents=simulation.framings_of(panel.columns))
    assert signal == pytest.approx(judge(steered_matches, 99, 99).signal.estimate)


def test_matching_and_judging_a_thousand_questions_takes_seconds():
    sweep, panel = simulated(n_questions=1000, n_targets=24)
    begin = time.process_time()
    judge(match_targets(sweep, panel))
    assert time.process_time() - begin < 6


# ---- calibration, small (scripts/calibrate_verdict.py is the large one) ----------------------------------------------


@pytest.mark.parametrize(
    ("kind", "sentences", "at_least"),
    [
        ("unrelated", {verdict.NOT_REPRODUCED}, 16),
        ("base rates", {verdict.NOT_REPRODUCED}, 16),
        ("steered", set(SENTENCES) - {verdict.NOT_REPRODUCED, verdict.CANNOT_BE_JUDGED}, 19),
        ("moved cut", {verdict.CUT_AS_GOOD}, 18),
    ],
)
def test_the_verdict_says_what_is_true_of_simulated_panels(kind, sentences, at_least):
    told = []
    for seed in range(20):
        sweep, panel = simulated(kind, seed, n_questions=300, n_targets=12)
        told.append(judge(match_targets(sweep, panel, n_bootstrap=19, seed=seed), 199, 199, seed=seed).sentence)
    assert sum(sentence in sentences for sentence in told) >= at_least, told


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
            lambda sweep, panel: (pd.concat([sweep.assign(vector_id=v) for v in ("a", "b")]), panel),
            "2 vectors; name one: a, b",
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
        match_targets(sweep, panel, n_bootstrap=19)


def test_control_signals_must_be_numbers_and_permutations_enough(steered_matches):
    with pytest.raises(InputError, match="1 of 2 control signals"):
        judge(steered_matches, 99, 99, [0.1, np.nan])
    with pytest.raises(InputError, match="at least 19"):
        judge(steered_matches, 9, 99)
