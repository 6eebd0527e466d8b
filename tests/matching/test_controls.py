"""The yes rate along each control, from where its answers turn or from a grid of its own."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from matching import ControlDial, SweepRun, dial_of_crossings, sweep_grid
from matching.controls import RATE_COLUMNS, RATE_POINTS, control_rates

GOLDEN = Path(__file__).parents[1] / "reference" / "golden"
QUESTIONS = pd.Index([f"q{i}" for i in range(10)])


def turning_at(places, norms_per_unit=1.0):
    """A control along which each answer turns once to yes, and a question that was never read."""
    table = pd.DataFrame({"question_id": QUESTIONS[: len(places)], "magnitude": places, "yes_at_low": False})
    return ControlDial("random", True, dial_of_crossings(table, QUESTIONS, -1.0, 2.0), norms_per_unit)


def test_the_rate_at_a_magnitude_is_the_share_of_the_answers_that_have_turned_below_it():
    places = np.array([-0.51, 0.01, 0.52, 0.52, 1.01, 1.51, np.nan, np.nan, np.nan])
    rates = control_rates({"r": turning_at(places)}, np.ones(len(QUESTIONS), bool))
    assert list(rates.columns) == RATE_COLUMNS
    assert len(rates) == RATE_POINTS
    assert (rates["n"] == 9).all()
    expected = [(places < magnitude).mean() for magnitude in rates["magnitude"]]
    assert rates["yes_rate"].to_numpy() == pytest.approx(expected)


def test_rates_are_over_the_questions_asked_for_and_in_the_unit_of_the_vector():
    control = turning_at(np.linspace(-0.9, 1.9, 9), norms_per_unit=0.5)
    few = np.isin(QUESTIONS, ["q0", "q9"])
    rates = control_rates({"r": control}, few, norms_per_unit=0.1)
    assert (rates["n"] == 1).all()
    assert set(rates["yes_rate"]) == {0.0, 1.0}
    assert (rates["magnitude"].min(), rates["magnitude"].max()) == (-5.0, 10.0)
    assert rates.loc[rates["yes_rate"] == 1, "magnitude"].min() == pytest.approx(
        -0.9 * 5, abs=1.01 * 15 / (RATE_POINTS - 1)
    )
    unread = control_rates({"r": control}, QUESTIONS == "q9")
    assert (unread["n"] == 0).all()
    assert unread["yes_rate"].isna().all()


def test_a_run_tells_the_rates_of_its_test_questions_along_its_controls():
    run = SweepRun.open(GOLDEN / "all_positions")
    rates = run.control_rates()
    controls = [name for name in run.interventions()["intervention_id"] if name != run.under_test()]
    assert list(rates["intervention_id"].unique()) == controls
    for name in controls:
        grid, told = sweep_grid(run.sweep(), run.splits(), name), rates[rates["intervention_id"] == name]
        counted = np.nanmean(grid.answers[grid.rows("test")], axis=0)
        inside = (grid.magnitudes >= told["magnitude"].min()) & (grid.magnitudes <= told["magnitude"].max())
        assert inside.sum() > 3
        drawn = np.interp(grid.magnitudes[inside], told["magnitude"], told["yes_rate"])
        assert drawn == pytest.approx(counted[inside], abs=0.1)  # between two of its points many answers turn
    assert SweepRun.open(GOLDEN / "default").control_rates().empty
