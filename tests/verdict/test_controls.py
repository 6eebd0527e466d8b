"""The yes rate along each control, from where its answers turn."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from simulated_panels import framings_of
from sklearn.metrics import cohen_kappa_score, roc_auc_score
from verdict_tables import case_of, simulated

from onedial.verdict.case import Case, sweep_grid
from onedial.verdict.controls import RATE_POINTS, control_rates, control_table
from onedial.verdict.criteria.status import JUDGED
from onedial.verdict.dial import ControlDial, Turns
from onedial.verdict.sweep_run import SweepRun

GOLDEN = Path(__file__).parents[1] / "reference" / "golden"
QUESTIONS = pd.Index([f"q{i}" for i in range(10)])


def turning_at(places, norms_per_unit=1.0):
    """A control along which each answer turns once to yes, and a question that was never read."""
    turns = [np.array([place]) for place in places] + [None] * (len(QUESTIONS) - len(places))
    dial = Turns(QUESTIONS, turns, np.zeros(len(QUESTIONS), bool), -1.0, 2.0)
    return ControlDial("random", True, dial, norms_per_unit)


def rates_of(control, rows, norms_per_unit=1.0):
    """Along one control, over these questions."""
    nothing = np.zeros((len(QUESTIONS), 1))
    splits = np.where(rows, "test", "fitting")
    case = Case(QUESTIONS, splits, np.zeros(1), nothing, nothing, norms_per_unit=norms_per_unit)
    return control_rates(replace(case, controls={"r": control}))


def test_rates_are_in_the_vectors_unit():
    """Rates are over the questions asked for and in the unit of the vector."""
    control = turning_at(np.linspace(-0.9, 1.9, 9), norms_per_unit=0.5)
    few = np.isin(QUESTIONS, ["q0", "q9"])
    rates = rates_of(control, few, norms_per_unit=0.1)
    assert (rates["n_read"] == 1).all()
    assert set(rates["yes_rate"]) == {0.0, 1.0}
    assert (rates["magnitude"].min(), rates["magnitude"].max()) == (-5.0, 10.0)
    assert rates.loc[rates["yes_rate"] == 1, "magnitude"].min() == pytest.approx(
        -0.9 * 5, abs=1.01 * 15 / (RATE_POINTS - 1)
    )
    unread = rates_of(control, QUESTIONS == "q9")
    assert (unread["n_read"] == 0).all()
    assert unread["yes_rate"].isna().all()


def test_a_run_tells_the_rates_of_its_test_questions_along_its_controls():
    run = SweepRun.open(GOLDEN / "all_positions")
    rates = run.tables().control_rates
    controls = [name for name in run.interventions()["intervention_id"] if name != run.under_test()]
    assert list(rates["intervention_id"].unique()) == controls
    for name in controls:
        grid, stored_rates = sweep_grid(run.sweep(), run.splits(), name), rates[rates["intervention_id"] == name]
        counted = np.nanmean(grid.answers[grid.rows("test")], axis=0)
        inside = (grid.magnitudes >= stored_rates["magnitude"].min()) & (
            grid.magnitudes <= stored_rates["magnitude"].max()
        )
        assert inside.sum() > 3
        drawn = np.interp(grid.magnitudes[inside], stored_rates["magnitude"], stored_rates["yes_rate"])
        assert drawn == pytest.approx(counted[inside], abs=0.1)  # between two of its points many answers turn
    assert SweepRun.open(GOLDEN / "default").tables().control_rates.empty


@pytest.mark.parametrize(
    ("way", "order"),
    [(1, 1), (-1, 1), (1, -1)],
    ids=["turns to yes", "turns to no", "turns the hard questions to yes first"],
)
def test_a_control_is_judged_by_its_own_answers_as_the_vector_is(way, order):
    """By loops over targets and scikit-learn: settings from the fitting questions, kappa from the test questions, the
    order from both, beside the unsteered margin on the same questions; read backwards where that fits better."""
    sweep, panel = simulated("threshold shift", n_questions=240)
    panel.iloc[::5, ::2] = np.nan
    matches = case_of(sweep, panel, respondents=framings_of(panel.columns))
    grid, rng = sweep_grid(sweep), np.random.default_rng(8)
    unsteered = pd.Series(grid.margins[:, grid.unsteered], grid.questions)
    turns = pd.Series(-way * order * (unsteered.fillna(0) + 0.8 * rng.standard_normal(240)), grid.questions)
    turns = turns.drop(grid.questions[7::20])  # never read along the control
    places = [np.array([turns[name]]) if name in turns.index else None for name in grid.questions]
    dial = Turns(grid.questions, places, grid.questions.isin(turns.index) & (way < 0), -5.0, 5.0)
    control = ControlDial("random", True, dial, norms_per_unit=0.5)
    (row,) = control_table(replace(matches, controls={"c": control})).to_dict("records")

    split = pd.Series(grid.splits, grid.questions)
    points = np.unique([-5.0, *turns, 5.0])
    settings = [-5.0, *(points[:-1] + points[1:]) / 2, 5.0]
    judged = matches.matches.index[matches.matches["status"].isin(JUDGED)]
    kappas, gains = {}, {}
    for target in judged:
        given = panel[target].reindex(turns.index).dropna()
        fitting = given[split[given.index] == "fitting"]
        away = [abs((way * (turns[fitting.index] - m) < 0).mean() - fitting.mean()) for m in settings]
        says = way * (turns - settings[int(np.argmin(np.round(away, 12)))]) < 0
        test = given[split[given.index] == "test"]
        kappas[target] = cohen_kappa_score(test == 1, says[test.index])
        both = given[(split[given.index] != "extraction") & unsteered[given.index].notna()]
        margin = roc_auc_score(both, unsteered[both.index])
        gains[target] = [roc_auc_score(both, sign * turns[both.index]) - margin for sign in (-1, 1)]
    models = matches.matches.loc[judged, "model"]
    assert row["signal"] == pytest.approx(pd.Series(kappas).groupby(models).mean().mean())
    assert row["order_gain"] == pytest.approx(pd.DataFrame(gains).T.groupby(models).mean().mean().max())
    turning = turns[split[turns.index] != "extraction"].sort_values().to_numpy()
    n = len(turning)
    assert row["push"] == pytest.approx(0.5 * (turning[int(np.ceil(0.9 * n)) - 1] - turning[int(np.floor(0.1 * n))]))
