"""The dial's order, how well an order fits a target, and where a target stands on the dial."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import odr, stats
from verdict_tables import plain_sweep, simulated

from onedial.stats.estimate import rank_correlation
from onedial.verdict.case import sweep_grid
from onedial.verdict.comparing.multiverse import laid_even
from onedial.verdict.dial import Turns
from onedial.verdict.line import matched_magnitudes, orthogonal_line

MAGNITUDES = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])


def dial(*margins, mass=0.9):
    """Of questions with these margins at `MAGNITUDES`, all on the fitting split but the last."""
    splits = ["fitting"] * (len(margins) - 1) + ["test"]
    return sweep_grid(plain_sweep(np.array(margins, dtype=float), splits, MAGNITUDES, mass)).dial


# ---- ease and crossings ----------------------------------------------------------------------------------------------


def test_ease_is_the_share_of_the_range_and_place_the_magnitude_that_it_stands_for():
    found = dial([-3, -2, -1, 1, 2], [1, 2, 3, 4, 5], [-5, -4, -3, -2, -1], [-1, 3, 4, 5, 6])
    assert found.ease == pytest.approx([1.5 / 4, 1, 0, 3.75 / 4])
    assert found.place == pytest.approx([0.5, -2, 2, -1.75])
    assert found.n_turns.tolist() == [1, 0, 0, 1]
    assert found.crossings[0] == pytest.approx([0.5])


def test_along_a_dial_that_falls_the_place_is_where_yes_ends_and_targets_have_none():
    rng = np.random.default_rng(0)
    margins = rng.normal(0, 1, (200, 1)) - MAGNITUDES
    falling, rising = dial(*margins), dial(*margins[:, ::-1])
    assert (falling.falls, rising.falls) == (True, False)
    turned = falling.n_turns == 1
    assert falling.place[turned] == pytest.approx([falling.crossings[row][0] for row in np.flatnonzero(turned)])
    assert rising.place == pytest.approx(-falling.place)
    given = (margins[:, [2]] + 0.5 * rng.normal(size=(200, 3)) > [[-0.5, 0.0, 0.5]]).astype(float)
    assert np.isnan(matched_magnitudes(falling.place, given)[0]).all()
    assert np.isfinite(matched_magnitudes(rising.place, given)[0]).all()


def test_an_answer_that_turns_back_counts_with_the_share_at_which_it_is_yes():
    found = dial([-1, 1, -1, 1, 1], [-1, -1, -1, -1, -1])
    assert found.crossings[0] == pytest.approx([-1.5, -0.5, 0.5])
    assert found.ease[0] == pytest.approx((1 + 1.5) / 4)
    assert found.turning == 0.5


def test_where_answers_turn_once_ease_orders_as_the_crossing_does_and_a_shift_as_the_margin_does():
    sweep, _ = simulated(reordering=0.0)
    grid = sweep_grid(sweep.assign(mass=0.9))
    found, margins = grid.dial, grid.margins[:, grid.unsteered]
    assert rank_correlation(found.ease, margins).value > 0.9999
    turned = found.n_turns == 1
    crossings = np.array([found.crossings[row][0] for row in np.flatnonzero(turned)])
    assert stats.spearmanr(-crossings, found.ease[turned]).statistic == pytest.approx(1)
    assert crossings == pytest.approx(found.place[turned])


def test_an_unread_answer_is_bridged_inside_and_lasts_at_an_end_and_never_read_is_unknown():
    rows = [[-3, -2, -1, 1, 2], [-3, -2, -1, 1, 2], [-3, -2, -1, 1, 2], *[[-3, -2, -1, 1, 2]] * 20]
    mass = np.full((23, 5), 0.9)
    mass[0, 2], mass[1, 4], mass[2] = 0.0, 0.0, 0.0
    found = dial(*rows, mass=mass)
    bridged, lasting, unread, read = found.questions.get_indexer(["q0", "q1", "q2", "q3"])
    assert found.crossings[bridged] == pytest.approx([-1 + 2 * 2 / 3])
    assert found.ease[lasting] == found.ease[read]
    assert np.isnan(found.ease[unread])
    assert found.crossings[unread] is None


def test_magnitudes_at_which_too_much_is_unread_end_the_range():
    rows = [[-3, -2, -1, 1, 2]] * 20
    mass = np.full((20, 5), 0.9)
    mass[:6, 4] = 0.0
    found = dial(*rows, mass=mass)
    assert (found.low, found.high) == (-2, 1)
    low = dial(*rows, mass=mass[:, ::-1])
    assert (low.low, low.high) == (-1, 2)


def test_a_margin_of_exactly_0_is_a_no():
    found = dial([-1, 0, 0, 1, 2], [-1, -1, -1, -1, 0])
    assert found.crossings[0] == pytest.approx([0.0])
    assert found.n_turns.tolist() == [1, 0]


def test_answers_at_any_magnitude_follow_from_the_crossings():
    sweep, _ = simulated()
    grid = sweep_grid(sweep.assign(mass=0.9))
    found = grid.dial
    between = np.concatenate([grid.magnitudes, (grid.magnitudes[1:] + grid.magnitudes[:-1]) / 2])
    answers = found.answers_at(between)
    assert (answers[:, : len(grid.magnitudes)] == grid.answers).all()


def turning_at(turns, low=-2.0, high=2.0, yes_at_low=False):
    """A dial of questions whose answers each turn once, or never where that is nan."""
    crossings = [np.array([turn])[~np.isnan([turn])] for turn in turns]
    questions = pd.Index([f"q{i:03}" for i in range(len(turns))])
    return Turns(questions, crossings, np.full(len(turns), yes_at_low), low, high)


def test_magnitudes_laid_even_are_of_fitting_questions_alone():
    questions, rng = pd.Index([f"q{i:02}" for i in range(90)]), np.random.default_rng(0)
    splits = pd.Series(["extraction", "fitting", "test"] * 30, questions)
    turns = pd.Series(rng.uniform(-1, 1, 90), questions)
    cases = []
    for places in (turns, turns.where(splits == "fitting", rng.uniform(-0.1, 0.1, 90))):
        rows = [(name, m, m - place, 0.9) for name, place in places.items() for m in (-1.0, 0.0, 1.0)]
        few = sweep_grid(pd.DataFrame(rows, columns=["question_id", "magnitude", "margin", "mass"]), splits)
        cases.append(laid_even(few))
    assert np.array_equal(cases[0].magnitudes, cases[1].magnitudes)
    rates = cases[0].answers[cases[0].rows("fitting")].mean(axis=0)
    assert len(np.unique(np.delete(rates, cases[0].unsteered))) == 31  # as even as 30 questions allow


def test_the_push_is_the_way_between_the_yes_rates_whichever_way_round():
    turns = np.linspace(-1, 1, 101)
    every = np.ones(101, bool)
    forwards, backwards = turning_at(turns).push(every), turning_at(turns, yes_at_low=True).push(every)
    assert forwards == pytest.approx(1.6, abs=0.03)
    assert backwards == pytest.approx(forwards, abs=0.03)
    assert turning_at(np.where(turns < 0.5, turns, np.nan), high=0.5).push(every) == float("inf")
    exact = turning_at(np.arange(1.0, 11), 0, 11)
    assert exact.push_ends(every[:10]) == (2, 9)  # one of ten says yes up to 2, nine of ten from 9 on
    assert turning_at(turns).push(np.arange(101) < 50) == pytest.approx(0.8, abs=0.05)


# ---- where a target stands -------------------------------------------------------------------------------------------


def test_a_place_and_its_standard_error_are_those_of_a_probit():
    rng = np.random.default_rng(0)
    crossings, places = rng.normal(0.1, 0.05, 300), [0.05, 0.1, 0.2]
    given = np.stack([(place - crossings + rng.normal(0, 0.05, 300) > 0).astype(float) for place in places], axis=1)
    given[rng.random(given.shape) < 0.05] = np.nan
    found, errors = matched_magnitudes(crossings, given)
    for target in range(3):
        known = ~np.isnan(given[:, target])
        fit = sm.Probit(given[known, target], sm.add_constant(-crossings[known])).fit(disp=0)
        a, b = fit.params
        gradient = np.array([1 / b, -a / b**2])
        assert found[target] == pytest.approx(a / b, rel=1e-5)
        assert errors[target] == pytest.approx(np.sqrt(gradient @ fit.cov_params() @ gradient), rel=1e-4)


def test_answers_that_do_not_follow_the_order_have_no_place():
    rng = np.random.default_rng(2)
    crossings = rng.standard_normal(200)
    against = (crossings + 0.3 * rng.standard_normal(200) > 0).astype(float)
    constant = np.ones(200)
    found, errors = matched_magnitudes(crossings, np.stack([against, constant], axis=1))
    assert np.isnan(found).all()
    assert np.isnan(errors).all()
    assert np.isnan(matched_magnitudes(np.zeros(200), against[:, None])[0]).all()


def test_the_line_with_errors_in_both_is_that_of_orthogonal_distance_regression():
    rng = np.random.default_rng(3)
    true_x = rng.uniform(-2, 2, 25)
    x_se, y_se = rng.uniform(0.05, 0.3, 25), rng.uniform(0.02, 0.2, 25)
    x, y = true_x + x_se * rng.standard_normal(25), 0.3 + 0.15 * true_x + y_se * rng.standard_normal(25)
    slope, intercept, r2 = orthogonal_line(x, y, x_se, y_se)
    fit = odr.ODR(odr.RealData(x, y, x_se, y_se), odr.unilinear, beta0=[0.1, 0]).run()
    assert (slope, intercept) == pytest.approx(tuple(fit.beta), rel=1e-4)
    assert 0.5 < r2 < 1
    assert np.isnan(orthogonal_line(x[:2], y[:2], x_se[:2], y_se[:2])[0])
    endless = np.full(len(x), np.inf)  # places that the answers do not tell
    assert np.isnan(orthogonal_line(x, y, x_se, endless)[0])
    with_one = [np.append(own, more) for own, more in zip((x, y, x_se, y_se), (0.0, 9.0, 0.1, np.inf), strict=True)]
    assert orthogonal_line(*with_one) == pytest.approx((slope, intercept, r2))
