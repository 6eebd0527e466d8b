"""A newcomer is placed where it stands, with intervals that hold; what it is asked next tells the most."""

import numpy as np
import pandas as pd
import pytest
from psychometric_data import one_factor
from scipy.special import ndtri

from onedial.core.errors import InputError
from onedial.scale.place.evaluation import evaluate_placing, placing_summary
from onedial.scale.place.placement import Placement, rate_over
from onedial.scale.place.question_bank import QuestionBank, kin_of
from onedial.stats.answers import PsychometricsWarning

N = 400


@pytest.fixture(scope="module")
def truth():
    return one_factor(5, n_questions=N, n_respondents=16, loadings=(0.6, 0.9))


@pytest.fixture(scope="module")
def panel(truth):
    return pd.DataFrame(truth.answers, index=[f"q{i}" for i in range(N)], columns=[f"m{i}" for i in range(16)])


@pytest.fixture(scope="module")
def bank(panel):
    return QuestionBank.of(panel)


def newcomers(truth, seed, n):
    """(question, newcomer) answers like the panel's."""
    rng = np.random.default_rng(seed)
    loading, threshold = rng.uniform(0.6, 0.9, n), rng.normal(0, 0.7, n)
    noise = np.sqrt(1 - loading**2) * rng.standard_normal((N, n))
    return loading * truth.easiness[:, None] + noise > -threshold


def asked_adaptively(bank, yes, n, seed=0):
    placement = bank.place({})
    for _ in range(n):
        (question,) = placement.next_questions(1, seed)
        placement = placement.after(question, yes[bank.questions.get_loc(question)])
    return placement


def test_questions_lie_where_the_simulation_put_them(bank, truth):
    """Questions lie and respondents are expected where the simulation put them."""
    assert np.corrcoef(bank.difficulty, -truth.easiness)[0, 1] > 0.9
    assert abs(bank.prior.threshold - truth.thresholds.mean()) < 0.15
    assert abs(bank.prior.threshold_sd - truth.thresholds.std()) < 0.15
    assert abs(bank.prior.loading - truth.loadings.mean()) < 0.1
    assert bank.prior.weight.sum() == pytest.approx(1)
    assert bank.lapse == 0


def test_lapses_are_found_where_answers_are_tosses_of_a_coin(truth, panel):
    rng = np.random.default_rng(1)
    tossed = panel.where(rng.random(panel.shape) > 0.1, rng.integers(2, size=panel.shape).astype(float))
    assert QuestionBank.of(tossed).lapse >= 0.04


@pytest.mark.long
def test_newcomers_are_placed_within_their_intervals(bank, truth):
    """Newcomers are found within intervals that hold and nearer than by their yes rates."""
    answers = newcomers(truth, 2, 60)
    placed = [asked_adaptively(bank, yes, 25, seed) for seed, yes in enumerate(answers.T)]
    true = ndtri(answers.mean(axis=0))
    errors = np.array([each.threshold for each in placed]) - true
    covered = [low <= at <= high for at, (low, high) in zip(true, (each.interval for each in placed), strict=True)]
    assert abs(errors.mean()) < 0.06
    assert np.sqrt((errors**2).mean()) < 0.22  # a yes rate of 25 answers has an error of .25 and more
    assert np.mean(covered) >= 0.9
    assert np.mean([each.follows for each in placed]) > 0.4


@pytest.mark.long
def test_who_has_nothing_to_do_with_the_scale_is_rarely_said_to_follow_it(bank):
    rng = np.random.default_rng(3)
    answers = rng.random((N, 60)) < rng.uniform(0.2, 0.8, 60)
    follows = [asked_adaptively(bank, yes, 25, seed).follows for seed, yes in enumerate(answers.T)]
    assert np.mean(follows) <= 0.12


def test_with_all_answers_nothing_is_left_to_be_told(bank, truth):
    yes = newcomers(truth, 4, 1)[:, 0]
    placement = bank.place(dict(zip(bank.questions, yes, strict=True)))
    assert placement.threshold == pytest.approx(ndtri(yes.mean()))
    assert np.ptp(placement.interval) < 0.06
    assert placement.next_questions(5) == []
    assert placement.predicted().empty


def test_an_always_yes_is_never_certain(bank):
    """One who always says yes is expected to go on so and never certainly."""
    placement = asked_adaptively(bank, np.ones(N, dtype=bool), 30)
    low, high = placement.interval
    assert low < placement.threshold < high
    assert low > 1
    assert np.isfinite(high)
    assert placement.predicted().between(0.5, 1, inclusive="neither").all()
    rate, least, most = rate_over(placement.predicted()[:100].to_numpy(), placement.threshold, low, high)
    assert 0.8 < least < rate < most < 1
    assert not placement.follows


def test_each_answer_narrows_the_posterior_and_its_order_does_not_matter(bank):
    questions = bank.place({}).next_questions(12)
    answers = {question: place % 3 > 0 for place, question in enumerate(questions)}
    forwards = bank.place(answers)
    backwards = bank.place(dict(reversed(answers.items())))
    assert forwards.threshold == pytest.approx(backwards.threshold)
    assert np.ptp(forwards.interval) < np.ptp(bank.place({}).interval)
    steps = forwards.steps()
    assert list(steps["n_answers"]) == list(range(13))
    assert steps["threshold"].iloc[-1] == pytest.approx(forwards.threshold)
    assert list(steps["question_id"].iloc[1:]) == questions


def test_the_expected_reduction_is_that_of_the_two_answers_weighed(bank):
    placement = bank.place({"q0": True, "q1": False})
    at = bank.thresholds

    def variance(weight):
        return weight @ at**2 - (weight @ at) ** 2

    for row in (7, 8):
        chance = bank.chance[row]
        yes, no = placement.weight * chance, placement.weight * (1 - chance)
        left = yes.sum() * variance(yes / yes.sum()) + no.sum() * variance(no / no.sum())
        assert placement.reductions(np.array([row]))[0] == pytest.approx(variance(placement.weight) - left)


def test_a_batch_gains_less_from_a_question_once_others_like_it_are_in_it(bank):
    nobody = bank.place({})
    alone = nobody.reductions(np.arange(40))
    best = int(alone.argmax())
    others = np.setdiff1d(np.arange(40), best)
    assert (nobody.reductions(others, [best]) <= alone[others].max()).all()
    assert nobody.reductions(others, [best]).mean() < alone[others].mean()
    batch = nobody.next_questions(30)
    assert len(set(batch)) == 30
    assert batch == nobody.next_questions(30)
    assert batch != nobody.next_questions(30, seed=1)


def test_only_questions_that_may_be_asked_are_chosen(bank):
    few = ["q3", "q5", "q9"]
    assert sorted(bank.place({"q3": True}).next_questions(10, among=few)) == ["q5", "q9"]


def test_what_was_not_read_tells_nothing_and_what_is_not_known_is_refused(bank):
    read = bank.place(pd.Series({"q1": 1.0, "q2": np.nan}))
    assert read.threshold == bank.place({"q1": True}).threshold
    with pytest.raises(InputError, match="has no 'elsewhere'"):
        bank.place({"elsewhere": True})


def test_a_question_that_no_placed_respondent_answered_is_left_out(panel):
    """Its only answer is of one that always says yes, which tells nothing of where it lies."""
    few = panel[:100].copy()
    few.loc["q7"] = np.nan
    with pytest.warns(PsychometricsWarning, match="constant gave only one kind of answer"):
        bank = QuestionBank.of(few.assign(constant=1.0))
    assert list(bank.questions) == list(few.index.drop("q7"))


def test_kin_is_the_family_unless_the_panel_has_too_few_of_them():
    table = pd.DataFrame({"model": ["a", "b", "c", "d"], "family": ["x", "x", "", "y"]}, index=list("ABCD"))
    assert list(kin_of(table)) == ["x", "x", "c", "y"]
    assert list(kin_of(table.assign(family="x"))) == ["a", "b", "c", "d"]


@pytest.fixture(scope="module")
def rows(panel):
    constant = panel.iloc[::2].assign(constant=1.0).drop(columns=[f"m{i}" for i in range(8, 16)])
    with pytest.warns(PsychometricsWarning, match="constant gave only one kind of answer, and are not placed"):
        return evaluate_placing(constant, sizes=(5, 25), n_draws=2)


def test_each_is_placed_without_its_own_answers(rows, panel):
    """Each respondent is placed without its own answers and the scale says more than a rate."""
    assert set(rows["respondent"]) == {f"m{i}" for i in range(8)}
    assert rows.groupby(["respondent", "k"]).size().eq(2).all()
    assert rows["truth"].to_numpy() == pytest.approx(ndtri(panel.iloc[::2].mean()[rows["respondent"]].to_numpy()))
    summary = placing_summary(rows)
    assert summary["bits"][25] > 0
    assert summary["rmse"][25] < summary["rmse"][5] < summary["yes_rate"][5]
    assert (summary["rmse_low"] <= summary["rmse"]).all()


def test_the_interval_of_a_rate_holds_what_is_said(bank, truth):
    """The interval of a rate over some questions holds what is said to them."""
    rng, held = np.random.default_rng(0), {True: [], False: []}
    for yes in newcomers(truth, 4, 200).T:
        asked, some = np.split(rng.permutation(N)[:65], [25])
        placement = Placement(bank, asked, yes[asked])
        where = (placement.threshold, *placement.interval)
        chance = bank.chance[some] @ placement.weight
        rate, low, high = rate_over(chance, *where)
        assert low < rate < high
        held[True].append(low <= yes[some].mean() <= high)
        around = ndtri(rate) + np.array(where[1:]) - where[0]
        held[False].append(around[0] <= ndtri(yes[some].mean()) <= around[1])
    assert np.mean(held[True]) > 0.92 > np.mean(held[False])  # the chance in their answers counted, and not


def test_framings_of_one_model_count_as_one(rows):
    models = pd.Series({f"m{i}": f"base {i // 4}" for i in range(8)})
    summary = placing_summary(rows, models)
    assert (summary["n_models"] == 2).all()
    assert summary["rmse_low"].isna().all()
