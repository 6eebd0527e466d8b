"""The dial's order, how well an order fits a target, and the line of magnitude on threshold."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats
from verdict_tables import case_of, plain_sweep, simulated

from onedial.stats.estimate import rank_correlation
from onedial.verdict.case import sweep_grid
from onedial.verdict.dial import Turns
from onedial.verdict.line import line_of

MAGNITUDES = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])


def dial(*margins, mass=0.9):
    """Of questions with these margins at `MAGNITUDES`, all on the fitting split but the last."""
    splits = ["fitting"] * (len(margins) - 1) + ["test"]
    return sweep_grid(plain_sweep(np.array(margins, dtype=float), splits, MAGNITUDES, mass)).dial


# ---- ease and crossings ----------------------------------------------------------------------------------------------


def test_ease_is_the_share_of_the_range_with_yes():
    result = dial([-3, -2, -1, 1, 2], [1, 2, 3, 4, 5], [-5, -4, -3, -2, -1], [-1, 3, 4, 5, 6])
    assert result.ease == pytest.approx([1.5 / 4, 1, 0, 3.75 / 4])
    assert result.n_turns.tolist() == [1, 0, 0, 1]
    assert result.crossings[0] == pytest.approx([0.5])


def test_a_dial_falls_where_fewer_say_yes_at_its_high_end():
    rng = np.random.default_rng(0)
    margins = rng.normal(0, 1, (200, 1)) - MAGNITUDES
    falling, rising = dial(*margins), dial(*margins[:, ::-1])
    assert (falling.falls, rising.falls) == (True, False)
    assert rising.ease == pytest.approx(falling.ease)


def test_an_answer_that_turns_back_counts_with_its_share():
    """An answer that turns back counts with the share at which it is yes."""
    result = dial([-1, 1, -1, 1, 1], [-1, -1, -1, -1, -1])
    assert result.crossings[0] == pytest.approx([-1.5, -0.5, 0.5])
    assert result.ease[0] == pytest.approx((1 + 1.5) / 4)
    assert result.turning == 0.5


def test_where_answers_turn_once_ease_orders_as_crossings():
    """Where answers turn once ease orders as the crossing does and a shift as the margin does."""
    sweep, _ = simulated(reordering=0.0)
    grid = sweep_grid(sweep.assign(mass=0.9))
    result, margins = grid.dial, grid.margins[:, grid.unsteered]
    assert rank_correlation(result.ease, margins).value > 0.9999
    turned = result.n_turns == 1
    crossings = np.array([result.crossings[row][0] for row in np.flatnonzero(turned)])
    assert stats.spearmanr(-crossings, result.ease[turned]).statistic == pytest.approx(1)


def test_an_unread_answer_is_bridged_inside():
    """An unread answer is bridged inside and lasts at an end and never read is unknown."""
    rows = [[-3, -2, -1, 1, 2], [-3, -2, -1, 1, 2], [-3, -2, -1, 1, 2], *[[-3, -2, -1, 1, 2]] * 20]
    mass = np.full((23, 5), 0.9)
    mass[0, 2], mass[1, 4], mass[2] = 0.0, 0.0, 0.0
    result = dial(*rows, mass=mass)
    bridged, lasting, unread, read = result.questions.get_indexer(["q0", "q1", "q2", "q3"])
    assert result.crossings[bridged] == pytest.approx([-1 + 2 * 2 / 3])
    assert result.ease[lasting] == result.ease[read]
    assert np.isnan(result.ease[unread])
    assert result.crossings[unread] is None


def test_magnitudes_at_which_too_much_is_unread_end_the_range():
    rows = [[-3, -2, -1, 1, 2]] * 20
    mass = np.full((20, 5), 0.9)
    mass[:6, 4] = 0.0
    result = dial(*rows, mass=mass)
    assert (result.low, result.high) == (-2, 1)
    low = dial(*rows, mass=mass[:, ::-1])
    assert (low.low, low.high) == (-1, 2)


def test_a_margin_of_exactly_0_is_a_no():
    result = dial([-1, 0, 0, 1, 2], [-1, -1, -1, -1, 0])
    assert result.crossings[0] == pytest.approx([0.0])
    assert result.n_turns.tolist() == [1, 0]


def test_answers_at_any_magnitude_follow_from_the_crossings():
    sweep, _ = simulated()
    grid = sweep_grid(sweep.assign(mass=0.9))
    result = grid.dial
    between = np.concatenate([grid.magnitudes, (grid.magnitudes[1:] + grid.magnitudes[:-1]) / 2])
    answers = result.answers_at(between)
    assert (answers[:, : len(grid.magnitudes)] == grid.answers).all()


def turning_at(turns, low=-2.0, high=2.0, yes_at_low=False):
    """A dial of questions whose answers each turn once, or never where that is nan."""
    crossings = [np.array([turn])[~np.isnan([turn])] for turn in turns]
    questions = pd.Index([f"q{i:03}" for i in range(len(turns))])
    return Turns(questions, crossings, np.full(len(turns), yes_at_low), low, high)


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


# ---- the line of magnitude on threshold ------------------------------------------------------------------------------


def test_the_line_is_that_of_least_squares():
    """With its interval, over all targets that have a magnitude, those at an edge too."""
    sweep, panel = simulated("threshold shift", 1, n_targets=12)
    case = case_of(sweep, panel, n_resamples=19)
    table = case.matches
    fit = sm.OLS(table["magnitude"], sm.add_constant(table["threshold"])).fit()
    line = line_of(case)
    low, high = fit.conf_int().loc["threshold"]
    assert line.n == 12
    assert (line.slope.value, line.slope.low, line.slope.high) == pytest.approx((fit.params["threshold"], low, high))
    assert (line.intercept, line.r2) == pytest.approx((fit.params["const"], fit.rsquared))


def test_targets_that_share_nothing_line_up_as_the_null_says():
    sweep, panel = simulated("unrelated", 3, n_questions=1000, n_targets=19)
    line = line_of(case_of(sweep, panel, n_resamples=99))
    assert line.r2_null_median > 0.6
    assert abs(line.r2 - line.r2_null_median) < 0.2


def test_two_targets_have_no_line():
    line = line_of(case_of(*simulated(n_targets=2)))
    assert line.n == 2
    assert np.isnan([line.r2, line.slope.value, line.r2_null_median]).all()
