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
    return make_run(tmp_path_factory.mktemp("comparison") / "one", n_targets=8, n_questions=160)


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """The same questions and panel, with a subject that answers at random."""

    def at_random(sweep):
        questions = sweep["question_id"].unique()
        noise = dict(zip(questions, np.random.default_rng(5).normal(0, 1.5, len(questions)), strict=True))
        return sweep.assign(margin=2.5 * sweep["magnitude"] + sweep["question_id"].map(noise))

    return make_run(tmp_path_factory.mktemp("comparison") / "other", n_targets=8, n_questions=160, answered=at_random)


def test_only_what_is_not_the_same_is_a_difference():
    differing = differences({"a": {"layer": 3, "x": {"y": 1}, "z": 0}, "b": {"layer": 4, "x": {"y": 1}}})
    assert differing.to_dict("index") == {"layer": {"a": 3, "b": 4}, "z": {"a": 0, "b": None}}


def test_a_run_beside_itself_differs_in_nothing(one):
    result = Comparison({"a": one, "b": one})
    assert result.differences.empty
    row = result.beside_first.loc["b"]
    assert (row["order"], row["agreement_difference"], row["p"]) == (pytest.approx(1), 0, 1)
    signal = result.summary["numbers"]["signal"]
    assert signal["first"] == signal["median"] == signal["worst"] == result.answers["signal"]["a"]


def test_a_subject_that_follows_the_scale_beats_one_that_answers_at_random(one, other):
    result = Comparison({"scale": one, "chance": other})
    row = result.beside_first.loc["chance"]
    assert row["high"] < 0
    assert row["p"] < 0.05
    assert abs(row["order"]) < 0.2
    assert result.summary["numbers"]["signal"]["worst_run"] == "chance"
    assert "1 of 1 agree with the targets more or less often than scale does" in result.summary["sentence"]


def test_what_cannot_be_judged_is_counted_and_in_no_median(one, other):
    result = Comparison({"scale": one, "chance": other})
    result.__dict__["answers"] = result.answers.assign(is_judged=[True, False], signal=[0.2, 0.1])
    assert (result.summary["n_runs"], result.summary["n_judged"]) == (2, 1)
    assert result.summary["numbers"]["signal"]["median"] == 0.2
    del result.summary
    result.__dict__["answers"] = result.answers.assign(is_judged=False)
    assert result.summary["sentence"] == "none of 2 runs can be judged"


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """The same questions, in other splits, of another subject and with other answers of targets of the same names; one
    answer in twenty cannot be read."""

    def with_unread(sweep):
        unread = np.random.default_rng(6).random(len(sweep)) < 0.05
        return sweep.assign(mass=sweep["mass"].mask(unread, MASS_FLOOR / 2))

    return make_run(
        tmp_path_factory.mktemp("comparison") / "elsewhere", n_targets=9, n_questions=160, seed=3, answered=with_unread
    )


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


def test_runs_are_compared_where_both_tested_and_read_and_panels_agree(one, elsewhere):
    """On the targets that both judge: the mean over base models of their differences, question by question."""
    row = Comparison({"a": one, "b": elsewhere}).beside_first.loc["b"]
    statuses = pd.concat([run.matches()["status"] for run in (one, elsewhere)], axis=1, join="inner")
    both = statuses.index[statuses.isin(JUDGED).all(axis=1)]
    assert row["n_targets"] == len(both) < len(statuses)
    left_out = {"answers": 0, "unread": 0, "split": 0}
    models, apart = one.matches()["model"], {}
    for target in both:
        first, second = (agreement_by_hand(run, target) for run in (one, elsewhere))
        left_out["split"] += len(first.keys() ^ second.keys())
        for question in first.keys() & second.keys():
            (a, agrees), (b, also) = first[question], second[question]
            left_out["answers"] += a != b
            left_out["unread"] += None in (agrees, also)
            if a == b and None not in (agrees, also):
                apart.setdefault(question, {}).setdefault(models[target], []).append(float(also) - float(agrees))
    assert min(left_out.values()) > 0, left_out
    each = [np.mean([np.mean(values) for values in of_model.values()]) for of_model in apart.values()]
    assert row["agreement_difference"] == pytest.approx(np.mean(each))


def test_the_paired_difference_is_a_t_test():
    """The paired difference is a t test over questions with base models averaged first."""
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
