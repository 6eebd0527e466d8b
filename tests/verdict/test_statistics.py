"""Counts, kappa, resampling, permutation, choice of magnitude and cut, and the test for a falling yes rate."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from onedial.stats.agreement import count, count_permuted, count_resampled, interval
from onedial.stats.level import p_value
from onedial.stats.resampling import permuted_rows, resampled_weights, strata_of
from onedial.verdict.criteria import choice, nulls, status


def answers(rng, *shape, gaps=0.1, yes=0.5):
    values = (rng.random(shape) < yes).astype(float)
    values[rng.random(shape) < gaps] = np.nan
    return values


def test_kappa_and_agreement_are_those_of_scikit_learn_over_the_answers_that_both_gave():
    rng = np.random.default_rng(0)
    given = answers(rng, 300, 6)
    predicted = np.where(rng.random(given.shape) < 0.3, given, answers(rng, 300, 6))
    counts = count(predicted, given)
    for target in range(6):
        read = ~(np.isnan(predicted[:, target]) | np.isnan(given[:, target]))
        one, other = predicted[read, target], given[read, target]
        assert counts.n[target] == read.sum()
        assert counts.agreement()[target] == pytest.approx((one == other).mean())
        assert counts.kappa()[target] == pytest.approx(cohen_kappa_score(one, other))


def test_a_constant_prediction_has_kappa_0_whatever_it_is_compared_with():
    given = np.column_stack([np.ones(20), np.tile([0.0, 1.0], 10)])
    assert count(np.ones((20, 2)), given).kappa().tolist() == [0.0, 0.0]


def test_nothing_read_on_both_sides_is_nan_not_0():
    counts = count(np.array([[1.0], [np.nan]]), np.array([[np.nan], [1.0]]))
    assert np.isnan(counts.agreement()).all()
    assert np.isnan(counts.kappa()).all()


def test_bootstrap_intervals_are_as_wide_as_the_binomial_standard_error_says():
    rng = np.random.default_rng(1)
    given = np.ones((400, 1))
    predicted = (rng.random((400, 1)) < 0.8).astype(float)
    low, high = interval(count_resampled(predicted, given, 3999, seed=0).agreement())
    p = predicted.mean()
    assert (high - low)[0] == pytest.approx(2 * 1.96 * np.sqrt(p * (1 - p) / 400), rel=0.06)


def test_resamples_of_two_predictions_are_paired():
    rng = np.random.default_rng(2)
    given = answers(rng, 200, 3)
    same = count_resampled(given, given, 50, seed=5).n
    again = count_resampled(given.copy(), given, 50, seed=5).n
    assert (same == again).all()
    assert (same != count_resampled(given, given, 50, seed=6).n).any()


def test_intervals_cover_the_true_agreement_about_as_often_as_they_say():
    rng = np.random.default_rng(3)
    predicted = (rng.random((200, 300)) < 0.75).astype(float)
    low, high = interval(count_resampled(predicted, np.ones_like(predicted), 999, seed=0).agreement())
    assert 0.91 < ((low <= 0.75) & (high >= 0.75)).mean() < 0.98


def test_permuted_counts_equal_counting_again_after_each_permutation():
    rng = np.random.default_rng(4)
    predicted, given = answers(rng, 60, 4), answers(rng, 60, 4)
    counts = count_permuted(predicted, given, 7, seed=9)
    rows = permuted_rows(60, 7, np.random.default_rng(9))
    for place, order in enumerate(rows):
        again = count(predicted, given[order])
        assert np.array_equal(counts.n[place], again.n)
        assert np.allclose(counts.kappa()[place], again.kappa())


def test_the_permutation_p_is_uniform_when_the_targets_have_nothing_to_do_with_the_subject():
    rng = np.random.default_rng(5)
    models, found = np.array(["a", "a", "b", "c", "d"]), []
    for seed in range(200):
        difficulty = rng.standard_normal((80, 1))
        given = np.where(difficulty > 1.5, np.nan, (difficulty + rng.standard_normal((80, 5)) > 0).astype(float))
        subject = answers(rng, 80, 1, yes=0.6).repeat(5, axis=1)
        observed = nulls.signal(subject, given, models)
        found.append(p_value(observed, nulls.signal_null(subject, given, models, nulls.Permutations(99, seed))))
    assert np.mean(np.array(found) <= 0.05) <= 0.10
    assert np.mean(found) == pytest.approx(0.5, abs=0.07)


def test_a_model_under_many_framings_counts_as_one():
    values = np.array([1.0, 1.0, 1.0, 0.0])
    assert nulls.average_within_models(values, np.array(["a", "a", "a", "b"])) == pytest.approx(0.5)


def test_a_target_at_whose_magnitude_nothing_was_read_counts_as_no_signal_and_so_in_the_null():
    rng = np.random.default_rng(2)
    given, models = answers(rng, 120, 3), np.array(["a", "b", "c"])
    unread, constant = given.copy(), given.copy()
    unread[:, 2], constant[:, 2] = np.nan, 1.0
    signals = [nulls.signal(subject, given, models) for subject in (unread, constant)]
    assert signals == pytest.approx([2 / 3, 2 / 3])
    drawn = [nulls.signal_null(subject, given, models, nulls.Permutations(99, 0)) for subject in (unread, constant)]
    np.testing.assert_allclose(*drawn)


def test_of_equally_good_magnitudes_the_middle_of_the_longest_interval_is_taken():
    magnitudes = np.array([-3.0, -2, -1, 0, 1, 2, 3, 4])
    every = np.ones(8, bool)
    score = np.array([1.0, 0, 1, 1, 0, 1, 1, 1])
    assert [int(place) for place in choice.middle_of_best(score, magnitudes, every)] == [6, 5, 7]


def test_of_equally_long_intervals_the_one_nearest_0_is_taken():
    magnitudes = np.array([-3.0, -2, -1, 0, 1, 2, 3])
    score = np.array([1.0, 1, 0, 1, 1, 0, 1])
    assert [int(place) for place in choice.middle_of_best(score, magnitudes, np.ones(7, bool))] == [3, 3, 4]


def test_length_is_measured_in_magnitude_not_in_grid_points():
    magnitudes = np.array([-1.0, -0.9, -0.8, 0.0, 1.0, 5.0])
    score = np.array([1.0, 1, 1, 0, 1, 1])
    _, low, high = choice.middle_of_best(score, magnitudes, np.ones(6, bool))
    assert (magnitudes[low], magnitudes[high]) == (1.0, 5.0)


def test_a_magnitude_where_hardly_any_answer_was_read_is_not_chosen():
    subject = np.zeros((100, 3))
    subject[:, 2] = np.nan
    subject[:3, 2] = 1.0
    target = np.ones((100, 1))
    allowed = choice.readable_magnitudes(subject, unsteered=1)
    chosen, _, _ = choice.middle_of_best(
        choice.agreement_by_magnitude(subject, target), np.array([-1.0, 0.0, 1.0]), allowed
    )
    assert allowed.tolist() == [True, True, False]
    assert chosen[0] in (0, 1)


def test_a_fifth_of_the_answers_may_be_unread_and_not_one_more():
    subject = np.ones((100, 3))
    subject[:20, 1] = subject[:21, 2] = np.nan
    assert choice.readable_magnitudes(subject, unsteered=0).tolist() == [True, True, False]


def test_the_unsteered_subject_stands_for_choice_however_little_of_it_was_read():
    subject = np.full((10, 2), np.nan)
    assert choice.readable_magnitudes(subject, unsteered=0).tolist() == [True, False]


def test_the_rate_matched_magnitude_is_where_the_yes_rates_are_nearest():
    subject = np.array([[0, 0, 1], [0, 0, 1], [0, 1, 1], [0, 1, 1]], float)
    target = np.array([[1.0], [1.0], [0.0], [0.0]])
    assert choice.rate_distance(subject, target)[0].tolist() == [0.5, 0.0, 0.5]


def test_agreement_and_yes_rates_are_compared_over_the_questions_that_both_sides_answered():
    rng = np.random.default_rng(10)
    subject, given = answers(rng, 80, 5, gaps=0.3), answers(rng, 80, 4, gaps=0.3, yes=0.7)
    agreement, distance = choice.agreement_by_magnitude(subject, given), choice.rate_distance(subject, given)
    for target, magnitude in np.ndindex(4, 5):
        one, other = given[:, target], subject[:, magnitude]
        both = ~(np.isnan(one) | np.isnan(other))
        assert agreement[target, magnitude] == pytest.approx((one == other)[both].mean())
        assert distance[target, magnitude] == pytest.approx(abs(one[both].mean() - other[both].mean()), abs=1e-6)


def test_a_threshold_shift_recovers_the_cut_that_made_the_target():
    rng = np.random.default_rng(6)
    margins = rng.standard_normal(400)
    assert choice.threshold_shift(margins, (margins > 0.7).astype(float)) == pytest.approx(0.7, abs=0.02)


def test_the_threshold_shift_is_the_best_of_all_cuts():
    rng = np.random.default_rng(7)
    for _ in range(30):
        margins = np.round(rng.standard_normal(40), 1)  # with ties
        target = answers(rng, 40, gaps=0.2)
        margins[rng.random(40) < 0.1] = np.nan
        read = ~(np.isnan(margins) | np.isnan(target))

        def correct(cut, margins=margins, target=target, read=read):
            return ((margins[read] > cut) == target[read]).sum()

        best = max(correct(cut) for cut in [-np.inf, *margins[read]])
        assert correct(choice.threshold_shift(margins, target)) == best


def test_a_target_that_always_answers_alike_gets_an_endless_cut():
    margins = np.array([-1.0, 0.0, 1.0])
    assert choice.threshold_shift(margins, np.ones(3)) == -np.inf
    assert choice.threshold_shift(margins, np.zeros(3)) == np.inf
    assert np.isnan(choice.threshold_shift(margins, np.full(3, np.nan)))


def test_the_majority_answer_ignores_gaps_and_is_yes_where_there_are_as_many():
    given = np.array([[1.0, 0, np.nan, 1], [np.nan, 0, np.nan, 0], [np.nan, 1, np.nan, np.nan]])
    assert np.array_equal(choice.majority_answers(given), [1.0, 0.0, np.nan, 1.0], equal_nan=True)


@pytest.mark.parametrize(
    ("n_test", "n_yes", "n_fitting", "turned", "expected"),
    [
        (50, 10, 10, 10, "ok"),
        (50, 40, 10, 10, "ok"),
        (49, 10, 10, 10, "few"),
        (50, 9, 10, 10, "few"),
        (50, 41, 10, 10, "few"),
        (50, 10, 9, 10, "few"),
        (50, 10, 10, 9, "flat"),
    ],
)
def test_a_target_is_judged_from_50_test_answers_10_of_a_kind_10_fitting_answers_and_a_range_of_a_tenth(
    n_test, n_yes, n_fitting, turned, expected
):
    """`turned` of 100 fitting answers go from no to yes between the two magnitudes."""
    subject = np.column_stack([np.zeros(100), np.arange(100) < turned]).astype(float)
    given, test = np.ones(100), (np.arange(n_test) < n_yes).astype(float)
    assert status.target_status(subject, given, test, n_fitting, at_edge=False) == expected


def wandering(rng, n_questions=250, n_magnitudes=41):
    steps = 0.1 * rng.standard_normal((n_questions, n_magnitudes))
    return (rng.standard_normal((n_questions, 1)) + steps.cumsum(axis=1) > 0).astype(float)


def test_a_yes_rate_that_wanders_about_a_plateau_is_seldom_called_falling():
    rng = np.random.default_rng(8)
    assert np.mean([status.falls(wandering(rng)) for _ in range(200)]) <= 0.05


def test_a_yes_rate_that_turns_back_is_called_falling():
    rng = np.random.default_rng(9)
    magnitudes = np.linspace(-2, 2, 41)
    turned = np.where(magnitudes > 1, 2 - 2 * magnitudes, magnitudes)
    subject = (rng.standard_normal((250, 1)) + turned > 0).astype(float)
    subject[rng.random(subject.shape) < 0.05] = np.nan
    assert status.falls(subject)


def test_with_two_magnitudes_falling_means_more_than_two_standard_errors():
    def pair(to_no, to_yes):
        first = np.r_[np.ones(to_no), np.zeros(to_yes), np.ones(50)]
        return np.column_stack([first, np.r_[np.zeros(to_no), np.ones(to_yes), np.ones(50)]])

    assert not status.falls(pair(33, 18))
    assert status.falls(pair(36, 18))
    assert not status.falls(pair(18, 36))


def test_permutations_within_strata_keep_every_question_in_its_own():
    strata = np.repeat([0, 1, 2], [30, 20, 10])
    rows = permuted_rows(60, 200, np.random.default_rng(0), strata)
    assert (np.sort(rows, axis=1) == np.arange(60)).all()
    assert (strata[rows] == strata).all()
    assert np.abs((rows[:, :30] == 3).mean(axis=0) - 1 / 30).max() < 0.06


def test_topics_with_few_questions_are_permuted_together():
    strata = strata_of(np.array(["a"] * 6 + ["b"] * 4 + ["c"] * 3 + [None] * 2 + ["d"] * 5, dtype=object))
    assert len(np.unique(strata)) == 3
    assert len(np.unique(strata[6:15])) == 1


def test_a_bootstrap_over_topics_draws_them_whole_and_as_often_as_questions_on_average():
    groups = np.repeat(np.arange(12), np.arange(1, 13))
    (weights,) = resampled_weights(len(groups), 4000, 0, groups)
    for group in range(12):
        own = weights[:, groups == group]
        assert (own == own[:, :1]).all()
        assert own[:, 0].mean() == pytest.approx(1, abs=0.06)


def test_groups_take_the_place_of_groups_as_large_in_their_own_stratum():
    groups = np.r_[np.repeat(np.arange(20), 3), 20 + np.arange(30)]
    strata = np.r_[np.repeat([0, 1], 30), np.repeat([0, 1], 15)]
    rows = permuted_rows(90, 200, np.random.default_rng(0), strata, groups)
    assert (np.sort(rows, axis=1) == np.arange(90)).all()
    assert (strata[rows] == strata).all()
    taken = groups[rows][:, :60].reshape(200, 20, 3)
    assert (taken == taken[..., :1]).all()
    assert (taken < 20).all()
    assert np.abs((taken[:, :10, 0] == 3).mean(axis=0) - 1 / 10).max() < 0.07
    assert len({tuple(own) for own in (rows[:, :3] % 3).tolist()}) == 6  # in any order within a group


@pytest.mark.parametrize("sizes", [np.full(30, 5), np.arange(30) % 7 + 1])
def test_p_is_as_often_low_as_it_should_be_where_wordings_of_one_question_are_answered_alike(sizes):
    rng, groups, found = np.random.default_rng(0), np.repeat(np.arange(30), sizes), []
    for seed in range(200):
        one, other = (np.sqrt(0.9) * rng.standard_normal(30)[groups] for _ in range(2))
        one, other = (part + np.sqrt(0.1) * rng.standard_normal(len(groups)) > 0 for part in (one, other))
        subject, given, models = one[:, None].astype(float), other[:, None].astype(float), np.array(["a"])
        observed = nulls.signal(subject, given, models)
        drawn = [
            nulls.signal_null(subject, given, models, nulls.Permutations(99, seed, None, by)) for by in (groups, None)
        ]
        found.append([p_value(observed, null) <= 0.05 for null in drawn])
    together, apart = np.mean(found, axis=0)
    assert together <= 0.09
    assert apart > 0.1
