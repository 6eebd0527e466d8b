"""Several runs side by side: what differs, and the paired tests."""

import shutil

import numpy as np
import pandas as pd
import pytest
from reporting_run import make_run
from scipy import stats

from onedial.asking.yes_no import MASS_FLOOR
from onedial.core.errors import InputError
from onedial.verdict.comparing.comparison import Comparison, differences, paired_difference
from onedial.verdict.criteria.status import JUDGED
from onedial.verdict.sweep_run import SweepRun


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("comparison") / "one", n_targets=8)


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """The same questions and panel, with a subject that answers at random."""

    def at_random(sweep):
        questions = sweep["question_id"].unique()
        noise = dict(zip(questions, np.random.default_rng(5).normal(0, 1.5, len(questions)), strict=True))
        return sweep.assign(margin=2.5 * sweep["magnitude"] + sweep["question_id"].map(noise))

    return make_run(tmp_path_factory.mktemp("comparison") / "other", n_targets=8, answered=at_random)


def test_only_what_is_not_the_same_is_a_difference():
    told = differences({"a": {"layer": 3, "x": {"y": 1}, "z": 0}, "b": {"layer": 4, "x": {"y": 1}}})
    assert told.to_dict("index") == {"layer": {"a": 3, "b": 4}, "z": {"a": 0, "b": None}}


def test_a_run_beside_itself_differs_in_nothing(one):
    found = Comparison({"a": one, "b": one})
    assert found.differences.empty
    (pair,) = found.pairs.to_dict("records")
    assert (pair["turn_in_first"], pair["turn_in_second"]) == (0, 0)
    assert (pair["order"], pair["agreement_difference"], pair["p"]) == (pytest.approx(1), 0, 1)
    assert set(found.targets["p"]) == {1.0}


def test_a_subject_that_follows_the_scale_beats_one_that_answers_at_random(one, other):
    found = Comparison({"scale": one, "chance": other})
    (pair,) = found.pairs.to_dict("records")
    assert pair["low"] > 0
    assert pair["p"] < 0.05
    assert abs(pair["order"]) < 0.2
    assert found.targets["only_first"].sum() > found.targets["only_second"].sum()


def test_each_target_has_the_agreement_of_both_runs_on_the_same_questions(one, other):
    table = Comparison({"scale": one, "chance": other}).targets
    assert (table["n"] > 0).all()
    apart = (table["only_first"] - table["only_second"]) / table["n"]
    np.testing.assert_allclose(table["first_agrees"] - table["second_agrees"], apart.astype(float))


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """The same questions, in other splits, of another subject and with other answers of targets of the same names; one
    answer in twenty cannot be read."""

    def with_unread(sweep):
        unread = np.random.default_rng(6).random(len(sweep)) < 0.05
        return sweep.assign(mass=sweep["mass"].mask(unread, MASS_FLOOR / 2))

    return make_run(tmp_path_factory.mktemp("comparison") / "elsewhere", n_targets=9, seed=3, answered=with_unread)


def agreement_by_hand(run, target):
    """Question -> (what the target says, whether the subject agrees at the target's own magnitude; None: unread)."""
    sweep, matched = run.sweep(), run.matches().loc[target]
    nearest = sweep["magnitude"].unique()[np.abs(sweep["magnitude"].unique() - matched["magnitude"]).argmin()]
    tested = sweep["question_id"].map(run.splits()) == "test"
    asked = sweep[(sweep["magnitude"] == nearest) & tested].set_index("question_id")
    panel = run.panel()
    given = panel[panel["respondent"] == target].set_index("question_id")["said_yes"].dropna()
    return {
        question: (given[question], None if row["mass"] < MASS_FLOOR else (row["margin"] > 0) == (given[question] == 1))
        for question, row in asked.iterrows()
        if question in given
    }


def test_targets_are_compared_where_both_tested_both_were_read_and_both_panels_hold_the_same_answer(one, elsewhere):
    compared = Comparison({"a": one, "b": elsewhere})
    found = compared.targets.set_index("target")
    assert set(compared.agreement["target"]) == set(one.matches().index) & set(elsewhere.matches().index)
    assert len(elsewhere.matches()) > len(one.matches())
    statuses = pd.concat([run.matches()["status"] for run in (one, elsewhere)], axis=1, join="inner")
    turned_round = Comparison({"b": elsewhere, "a": one}).targets
    assert set(found.index) == set(turned_round["target"]) == set(statuses.index[statuses.isin(JUDGED).all(axis=1)])
    assert (statuses.isin(JUDGED).sum(axis=1) == 1).any()
    left_out = {"answers": 0, "unread": 0, "split": 0}
    for target, row in found.iterrows():
        first, second = (agreement_by_hand(run, target) for run in (one, elsewhere))
        left_out["split"] += len(first.keys() ^ second.keys())
        same = [(first[q], second[q]) for q in first.keys() & second.keys()]
        left_out["answers"] += sum(a[0] != b[0] for a, b in same)
        left_out["unread"] += sum(None in (a[1], b[1]) for a, b in same)
        agrees = [(a[1], b[1]) for a, b in same if a[0] == b[0] and None not in (a[1], b[1])]
        assert row["n"] == len(agrees)
        assert row["first_agrees"] == pytest.approx(np.mean([a for a, _ in agrees]))
        assert row["second_agrees"] == pytest.approx(np.mean([b for _, b in agrees]))
        assert (row["only_first"], row["only_second"]) == (agrees.count((True, False)), agrees.count((False, True)))
    assert min(left_out.values()) > 0, left_out


def test_the_paired_difference_is_a_t_test_over_questions_with_base_models_averaged_first():
    rng = np.random.default_rng(0)
    first, second = (rng.integers(0, 2, (80, 3)).astype(float) for _ in range(2))
    apart = first - second
    values = (apart[:, :2].mean(axis=1) + apart[:, 2]) / 2
    mean, low, high, p = paired_difference(first, second, ["m", "m", "n"])
    expected = stats.ttest_1samp(values, 0)
    interval = expected.confidence_interval()
    assert (mean, low, high, p) == pytest.approx((values.mean(), interval.low, interval.high, expected.pvalue))


def test_an_unfinished_run_is_refused(one, tmp_path):
    shutil.copytree(one.path, tmp_path / "run")
    (tmp_path / "run" / "verdict.json").unlink()
    with pytest.raises(InputError, match="is not finished"):
        Comparison({"a": one, "b": SweepRun.open(tmp_path / "run")})
