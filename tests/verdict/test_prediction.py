"""Held-out answers in bits: placing is logistic regression with a prior of others' making, nobody is predicted from
what is to be predicted, and known truth gets the share that it deserves."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import simulated_panels
from scipy import special, stats
from sklearn.linear_model import LogisticRegression
from verdict_tables import case_of, plain_sweep, simulated

from onedial.verdict.numbers import PanelEstimate
from onedial.verdict.prediction.alike import told_of_alike
from onedial.verdict.prediction.losses import Losses
from onedial.verdict.prediction.placing import Prior, learn_priors, normal_scores, place, predicted
from onedial.verdict.prediction.prediction import Prediction, predict
from onedial.verdict.prediction.retest import RETEST
from onedial.verdict.prediction.sources import DIAL, MEAN, OWN_FRAMINGS


def answers(rng, n=200, n_targets=30, slope=1.0, spread=0.3):
    z = normal_scores(np.repeat(rng.standard_normal((n, 1)), n_targets, axis=1))
    a, b = rng.normal(0.4, 0.8, n_targets), rng.normal(slope, spread, n_targets)
    return z, (rng.random(z.shape) < special.expit(a + b * z)).astype(float), a, b


def flat(n_targets, variance=1e8):
    return Prior(np.zeros((n_targets, 2)), np.full((n_targets, 2), variance))


def matched(kind="dial order", n_targets=12, n_questions=400, topics=None, **options):
    sweep, panel = simulated(kind, n_targets=n_targets, n_questions=n_questions, **options)
    models = simulated_panels.framings_of(panel.columns)
    return case_of(sweep, panel, respondents=models, topics=topics)


def test_under_a_flat_prior_a_place_is_that_of_logistic_regression():
    z, given, *_ = answers(np.random.default_rng(0), n_targets=2)
    given[:50, 1] = np.nan
    mode, covariance = place(z, given, flat(2))
    for target in (0, 1):
        known = ~np.isnan(given[:, target])
        model = LogisticRegression(C=1e12, tol=1e-10).fit(z[known, target][:, None], given[known, target])
        assert mode[target] == pytest.approx([model.intercept_[0], model.coef_[0, 0]], abs=1e-4)
        x = np.stack([np.ones(known.sum()), z[known, target]], axis=1)
        p = model.predict_proba(z[known, target][:, None])[:, 1]
        np.testing.assert_allclose(covariance[target], np.linalg.inv((x.T * p * (1 - p)) @ x), rtol=1e-3)


def test_the_prior_recovers_what_slopes_and_thresholds_were_drawn_from():
    z, given, *_ = answers(np.random.default_rng(1), n=400, n_targets=200, spread=0.5)
    prior = learn_priors(z, given, np.arange(200).astype(str))
    assert prior.mean[0] == pytest.approx([0.4, 1.0], abs=0.15)
    assert np.sqrt(prior.variance[0]) == pytest.approx([0.8, 0.5], abs=0.12)


def test_a_prior_knows_nothing_of_its_own_base_model():
    z, given, *_ = answers(np.random.default_rng(2), n_targets=6)
    models = np.array(["one", "one", "two", "two", "three", "three"])
    before = learn_priors(z, given, models)
    given[:, :2] = 1 - given[:, :2]
    after = learn_priors(z, given, models)
    np.testing.assert_array_equal(before.mean[:2], after.mean[:2])
    assert not np.allclose(before.mean[2:], after.mean[2:])


def test_an_order_is_not_turned_round_for_a_target():
    z, given, *_ = answers(np.random.default_rng(4), n_targets=1, slope=-2.0, spread=0.0)
    asked = np.ones(len(z), bool)
    p = predicted(z, given, flat(1, 4.0), asked)
    assert np.ptp(p) == 0
    assert p[0, 0] == pytest.approx(given.mean(), abs=0.01)


def test_no_test_answer_of_a_target_is_used_to_predict_it():
    matches = matched()
    losses, ease = Losses(matches), matches.dial.ease
    before = losses.order(np.repeat(ease[:, None], 12, axis=1))
    hidden = np.where(matches.test[:, None], np.nan, matches.given)[:, matches.judged]
    other = Losses(matches, hidden).order(np.repeat(ease[:, None], 12, axis=1))
    for one, two in ((before[0], other[0]), (before[1].mean, other[1].mean)):
        np.testing.assert_array_equal(one, two)


def test_a_followed_dial_predicts_what_models_predict():
    """A dial that the targets follow predicts what the other models predict."""
    sweep, _ = simulated("dial order", n_targets=12)
    matches = matched(topics=sweep.drop_duplicates("question_id").set_index("question_id")["topic"])
    result, table = predict(dataclasses.replace(matches, n_resamples=199))
    assert result.n_predicted == result.n_models == 4
    assert result.suffices
    assert 0.8 < result.share.low < result.share.value
    bits = table.set_index("source")["bits"]
    assert bits[DIAL] == pytest.approx(result.bits.value)
    assert bits[OWN_FRAMINGS] > 0.1
    assert table.set_index("source")["loss"][DIAL] + bits[DIAL] == pytest.approx(result.yes_rate)


def test_a_base_model_is_needed_where_half_hang_on_it():
    """A base model is needed where without it half or fewer of the others are predicted."""
    sweep, panel = simulated("dial order", n_targets=10)
    others = simulated("unrelated", n_targets=10)[1]
    panel.iloc[:, 6:] = others.iloc[:, 6:]
    panel = panel.mask(np.random.default_rng(0).random(panel.shape) < 0.1, 1 - panel)
    models = pd.DataFrame({"model": list("aabbccddee")}, index=panel.columns)
    topics = sweep.drop_duplicates("question_id").set_index("question_id")["topic"]
    matches = case_of(sweep, panel, respondents=models, topics=topics)
    result, _ = predict(dataclasses.replace(matches, n_resamples=199))
    assert (result.n_predicted, result.n_models, result.enough) == (3, 5, True)
    assert [of_model["needed"] for of_model in result.models.values()] == [1, 1, 1, 0, 0]


def test_a_panel_hangs_on_kin_only_as_models_of_their_own():
    """A panel hangs on kin where they make up more than half only as models of their own."""
    shared = {
        "yes_rate": 0.7,
        "bits": PanelEstimate(0.1),
        "possible": PanelEstimate(0.3),
        "share": PanelEstimate(0.3, 0.2, 0.4),
    }
    models = {name: {"predicted": int(name in "abc")} for name in "abcde"}
    few = Prediction(n_models=3, n_predicted=1, models={"a + b + c": {}, "d": {}, "e": {}}, **shared)
    result = Prediction(n_models=5, n_predicted=3, models=models, **shared)
    assert result.suffices
    hangs = dataclasses.replace(result, kin=few)
    assert hangs.hangs_on_kin
    assert not hangs.suffices
    assert "it hangs on a + b + c, " in hangs.clause()
    assert "1 of 3 are predicted" in hangs.clause()
    assert dataclasses.replace(result, kin=dataclasses.replace(few, n_predicted=2)).suffices
    assert not dataclasses.replace(few, kin=few).hangs_on_kin


def test_what_neighbours_tell_is_the_share_of_topics():
    """Texts of a topic share two words, so that all neighbours are of one topic."""
    rng = np.random.default_rng(0)
    topic = np.repeat(np.arange(40), 10)
    shared, private = stats.zscore(rng.standard_normal(40))[topic], stats.zscore(rng.standard_normal(400))
    texts = [f"{'abcdefghij'[one // 10] * 4}{'klmnopqrst'[one % 10] * 4} {number}" for number, one in enumerate(topic)]
    magnitudes = np.linspace(-3, 3, 41)

    def case(order, signal, texts):
        sweep = plain_sweep(order[:, None] + magnitudes, np.tile(["fitting", "test"], 200), magnitudes)
        given = signal[:, None] + 0.5 * rng.standard_normal((400, 6)) > np.linspace(-1, 1, 6)
        names = [f"q{number}" for number in range(400)]
        panel = pd.DataFrame(given.astype(float), names).rename(columns=lambda column: f"target {column}")
        return case_of(sweep, panel, texts=pd.Series(texts, names), n_resamples=199)

    for signal, expected in ((shared, 1.0), (private, 0.0), ((shared + private) / np.sqrt(2), 0.5)):
        result = told_of_alike(case(signal, signal, texts))
        assert result.low < result.value < result.high
        assert result.value == pytest.approx(expected, abs=0.12)
    assert np.isnan(told_of_alike(case(private, private, [None] * 400)).value)
    assert np.isnan(told_of_alike(case(-private, private, texts)).value)


def test_one_base_model_predicts_nothing_since_it_has_no_other():
    sweep, panel = simulated("dial order", n_targets=6)
    respondents = pd.DataFrame({"model": "one"}, index=panel.columns)
    matches = case_of(sweep, panel, respondents=respondents)
    result, table = predict(matches)
    assert (result.n_models, result.mark, len(table)) == (1, "", 0)


def test_a_question_without_a_score_lies_in_the_middle_and_is_counted():
    matches = matched()
    matches.dial.ease[np.flatnonzero(matches.test)[:30]] = np.nan
    result, table = predict(matches, (DIAL, MEAN))
    answered = ~np.isnan(matches.given[matches.test][:30])
    assert table.set_index("source").loc[DIAL, "n_unscored"] == answered.sum()
    assert result.bits.value > 0


@pytest.mark.parametrize(("possible", "is_said"), [(0.30, True), (0.04, True), (0.03, False)])
def test_a_share_is_said_only_of_what_is_worth_a_share(possible, is_said):
    """The dial's .023 bits are 134% of .017, of .7 that are open: a number of no use, and the bits alone are said."""
    result = Prediction(
        n_models=3,
        n_predicted=1,
        yes_rate=0.7,
        bits=PanelEstimate(0.023),
        possible=PanelEstimate(possible),
        share=PanelEstimate(1.3, 0.7, 4),
    )
    assert ("130% (70% to 400%)" in result.clause()) == is_said
    assert (f"predict {possible:.3f}, too little for a share" in result.clause()) != is_said
    assert "by 0.023 of 0.700 bits" in result.clause()


def asked_again(propensity, n_samples=3, seed=17, targets=None):
    """A dial order's targets whose answers are drawn several times: (question, target) chances of a yes -> case."""
    matches = matched(n_targets=12, n_questions=400)
    rng, shape = np.random.default_rng(seed), matches.given.shape
    yes = rng.binomial(n_samples, np.broadcast_to(propensity(rng, shape), shape)).astype(float)
    read = np.full(shape, float(n_samples))
    if targets is not None:
        yes[:, targets], read[:, targets] = np.minimum(yes[:, targets], 1), 1
    return dataclasses.replace(matches, samples=(yes, read))


def test_a_second_asking_predicts_nothing_of_tosses():
    """A second asking predicts nothing of tosses and all of what is always said."""
    for propensity, share in ((lambda rng, shape: np.full(shape, 0.4), 0.0),
                              (lambda rng, shape: rng.random(shape) < 0.4, 1.0)):  # fmt: skip
        result, table = predict(asked_again(propensity))
        assert result.mark == RETEST
        assert result.possible.value == pytest.approx(share * result.yes_rate, abs=0.03)
        row = table.set_index("source").loc[RETEST]
        assert (row["bits"], row["own_answers"]) == (result.possible.value, True)


def test_a_second_asking_predicts_what_the_chances_allow():
    """Chances of .1 and .9, two samples: I(X; Y) of a symmetric channel with P(X = Y) = .9^2 + .1^2."""
    propensity = lambda rng, shape: np.where(rng.random(shape) < 0.5, 0.9, 0.1)  # noqa: E731
    result, _ = predict(asked_again(propensity, n_samples=2))
    same = 0.82
    expected = 1 + same * np.log2(same) + (1 - same) * np.log2(1 - same)
    assert result.possible.value == pytest.approx(expected, abs=0.03)
    assert "of what the targets' repeated answers predict" in result.clause()


def test_one_target_without_repeats_leaves_the_mark():
    """One target without repeats leaves the mark to other models answers."""
    propensity = lambda rng, shape: rng.random(shape) < 0.4  # noqa: E731
    case = asked_again(propensity, targets=[3])
    result, _ = predict(case)
    plain, _ = predict(dataclasses.replace(case, samples=None))
    assert result == plain
