"""Counts, kappa, resampling, permutation, choice of magnitude and cut, and the test for a falling yes rate."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from onedial.stats.agreement import count
from onedial.stats.level import p_value
from onedial.stats.resampling import permuted_rows
from onedial.verdict.criteria import choice, nulls, status


def answers(rng, *shape, gaps=0.1, yes=0.5):
    values = (rng.random(shape) < yes).astype(float)
    values[rng.random(shape) < gaps] = np.nan
    return values


def test_kappa_and_agreement_are_scikit_learns():
    """Kappa and agreement are those of scikit learn over the answers that both gave."""
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


def test_nothing_read_on_both_sides_is_nan_not_0():
    counts = count(np.array([[1.0], [np.nan]]), np.array([[np.nan], [1.0]]))
    assert np.isnan(counts.agreement()).all()
    assert np.isnan(counts.kappa()).all()


def test_the_permutation_p_is_uniform_under_the_null():
    """The permutation p is uniform when the targets have nothing to do with the subject."""
    rng = np.random.default_rng(5)
    models, result = np.array(["a", "a", "b", "c", "d"]), []
    for seed in range(200):
        difficulty = rng.standard_normal((80, 1))
        given = np.where(difficulty > 1.5, np.nan, (difficulty + rng.standard_normal((80, 5)) > 0).astype(float))
        subject = answers(rng, 80, 1, yes=0.6).repeat(5, axis=1)
        observed = nulls.signal(subject, given, models)
        result.append(p_value(observed, nulls.signal_null(subject, given, models, nulls.Permutations(99, seed))))
    assert np.mean(np.array(result) <= 0.05) <= 0.10
    assert np.mean(result) == pytest.approx(0.5, abs=0.07)


def test_a_target_without_read_answers_is_no_signal():
    """A target at whose magnitude nothing was read counts as no signal and so in the null."""
    rng = np.random.default_rng(2)
    given, models = answers(rng, 120, 3), np.array(["a", "b", "c"])
    unread, constant = given.copy(), given.copy()
    unread[:, 2], constant[:, 2] = np.nan, 1.0
    signals = [nulls.signal(subject, given, models) for subject in (unread, constant)]
    assert signals == pytest.approx([2 / 3, 2 / 3])
    drawn = [nulls.signal_null(subject, given, models, nulls.Permutations(99, 0)) for subject in (unread, constant)]
    np.testing.assert_allclose(*drawn)


def test_the_middle_of_the_longest_interval_is_taken():
    """Of equally good magnitudes the middle of the longest interval is taken."""
    magnitudes = np.array([-3.0, -2, -1, 0, 1, 2, 3, 4])
    every = np.ones(8, bool)
    score = np.array([1.0, 0, 1, 1, 0, 1, 1, 1])
    assert [int(place) for place in choice.middle_of_best(score, magnitudes, every)] == [6, 5, 7]


def test_a_fifth_of_the_answers_may_be_unread_and_not_one_more():
    subject = np.ones((100, 3))
    subject[:20, 1] = subject[:21, 2] = np.nan
    assert choice.readable_magnitudes(subject, unsteered=0).tolist() == [True, True, False]


def test_rates_are_compared_over_common_questions():
    """Agreement and yes rates are compared over the questions that both sides answered."""
    rng = np.random.default_rng(10)
    subject, given = answers(rng, 80, 5, gaps=0.3), answers(rng, 80, 4, gaps=0.3, yes=0.7)
    agreement, distance = choice.agreement_by_magnitude(subject, given), choice.rate_distance(subject, given)
    for target, magnitude in np.ndindex(4, 5):
        one, other = given[:, target], subject[:, magnitude]
        both = ~(np.isnan(one) | np.isnan(other))
        assert agreement[target, magnitude] == pytest.approx((one == other)[both].mean())
        assert distance[target, magnitude] == pytest.approx(abs(one[both].mean() - other[both].mean()), abs=1e-6)


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
        assert correct(choice.best_cut(margins, target)) == best


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
def test_a_target_is_judged_from_the_stated_counts(n_test, n_yes, n_fitting, turned, expected):
    """`turned` of 100 fitting answers go from no to yes between the two magnitudes."""
    subject = np.column_stack([np.zeros(100), np.arange(100) < turned]).astype(float)
    given, test = np.ones(100), (np.arange(n_test) < n_yes).astype(float)
    assert status.target_status(subject, given, test, n_fitting, at_edge=False) == expected


def test_a_yes_rate_that_turns_back_is_called_falling():
    rng = np.random.default_rng(9)
    magnitudes = np.linspace(-2, 2, 41)
    turned = np.where(magnitudes > 1, 2 - 2 * magnitudes, magnitudes)
    subject = (rng.standard_normal((250, 1)) + turned > 0).astype(float)
    subject[rng.random(subject.shape) < 0.05] = np.nan
    assert status.falls(subject)


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
    assert len({tuple(group) for group in (rows[:, :3] % 3).tolist()}) == 6  # in any order within a group


@pytest.mark.parametrize("sizes", [np.full(30, 5), np.arange(30) % 7 + 1])
def test_p_holds_its_size_under_wordings(sizes):
    """P is as often low as it should be where wordings of one question are answered alike."""
    rng, groups, result = np.random.default_rng(0), np.repeat(np.arange(30), sizes), []
    for seed in range(200):
        one, other = (np.sqrt(0.9) * rng.standard_normal(30)[groups] for _ in range(2))
        one, other = (part + np.sqrt(0.1) * rng.standard_normal(len(groups)) > 0 for part in (one, other))
        subject, given, models = one[:, None].astype(float), other[:, None].astype(float), np.array(["a"])
        observed = nulls.signal(subject, given, models)
        drawn = [
            nulls.signal_null(subject, given, models, nulls.Permutations(99, seed, None, by)) for by in (groups, None)
        ]
        result.append([p_value(observed, null) <= 0.05 for null in drawn])
    together, apart = np.mean(result, axis=0)
    assert together <= 0.09
    assert apart > 0.1
