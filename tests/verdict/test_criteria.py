"""Criteria: one that is added stands in every table and figure, chooses on the fitting split alone, and moves nothing
that the verdict rests on."""

import numpy as np
import pytest
from reporting_run import make_run
from verdict_tables import simulated

from onedial.core import InputError
from onedial.report import write_report
from onedial.report.contents import Contents
from onedial.report.figures.run_figures import criteria_figure, write_figures
from onedial.verdict import CRITERIA, criteria_table, match_targets


def log_score(margins, given):
    """Mean log probability of the target's answers, the margin taken as the log odds of yes."""
    said = np.where(np.isnan(margins), 0.0, -np.logaddexp(0, -margins))
    denied = np.where(np.isnan(margins), 0.0, -np.logaddexp(0, margins))
    yes, no = np.nan_to_num(given) == 1, given == 0
    read = (yes | no).T.astype(float) @ ~np.isnan(margins)
    with np.errstate(invalid="ignore"):
        return (yes.T @ said + no.T @ denied) / read


@pytest.fixture
def added(monkeypatch):
    monkeypatch.setitem(CRITERIA, "log_score", log_score)


def test_an_added_criterion_finds_the_magnitude_that_made_a_target(added):
    sweep, _ = simulated()
    margins = sweep.pivot(index="question_id", columns="magnitude", values="margin")
    truth = margins.columns[[12, 20, 30]]
    panel = (margins[truth] > 0).astype(float).set_axis(["a", "b", "c"], axis=1)
    table = match_targets(sweep.assign(mass=0.9), panel, n_bootstrap=19).table
    steps = np.diff(margins.columns).max()
    assert (np.abs(table["magnitude_log_score"] - truth) <= 2 * steps).all()
    assert (table["agreement_log_score"] > 0.8).all()


def test_what_the_verdict_rests_on_is_what_it_was_without_the_added_one(monkeypatch):
    sweep, panel = simulated()
    before = match_targets(sweep, panel, n_bootstrap=19)
    monkeypatch.setitem(CRITERIA, "log_score", log_score)
    after = match_targets(sweep, panel, n_bootstrap=19)
    new = ["magnitude_log_score", "agreement_log_score", "kappa_log_score"]
    assert [name for name in after.table if name not in before.table] == new
    assert after.table.drop(columns=new).equals(before.table)
    ours, theirs = criteria_table(after, 19), criteria_table(before, 19)
    assert list(ours.index) == ["agreement", "rate", "log_score"]
    assert ours.loc[theirs.index].equals(theirs)


def test_its_row_says_the_mean_kappa_over_base_models_and_what_chance_gives(added):
    sweep, panel = simulated()
    matches = match_targets(sweep, panel, n_bootstrap=19)
    row = criteria_table(matches, 99).loc["log_score"]
    judged = matches.table[matches.table["status"].isin(["ok", "edge", "not monotone"])]
    kappa = judged["kappa_log_score"].fillna(0).groupby(judged["model"]).mean().mean()
    assert row["kappa"] == pytest.approx(kappa)
    assert row["low"] < row["kappa"] < row["high"]
    assert row["r2"] > row["r2_null_median"]


def test_answers_to_test_questions_move_no_chosen_magnitude(added):
    sweep, panel = simulated()
    test = sweep.loc[sweep["split"] == "test", "question_id"].unique()
    turned = panel.copy()
    turned.loc[test] = 1 - turned.loc[test]
    one, other = (match_targets(sweep, given, n_bootstrap=19).table for given in (panel, turned))
    assert one["magnitude_log_score"].equals(other["magnitude_log_score"])
    assert not one["kappa_log_score"].equals(other["kappa_log_score"])


def test_scores_of_another_shape_are_refused_by_the_criterion_s_name(monkeypatch):
    monkeypatch.setitem(CRITERIA, "broken", lambda margins, given: margins)
    sweep, panel = simulated()
    with pytest.raises(InputError, match=r"'broken' gives scores of shape"):
        match_targets(sweep, panel, n_bootstrap=19)


def test_table_figure_and_section_of_a_run_follow_the_dictionary(undrawn, added, tmp_path):
    run = make_run(tmp_path / "run", seed=71)
    assert list(run.criteria().index) == ["agreement", "rate", "log_score"]
    page = write_report(run).read_text()
    assert "By which magnitude?" in page
    assert (run.path / "figures" / "criteria.svg").exists()
    panels = criteria_figure(run.matches(), run.criteria(), "residual norms").figure.axes
    assert any(panel.get_title(loc="left").startswith("log_score: R²") for panel in panels)


def test_a_run_that_has_no_other_criterion_says_nothing_of_them(undrawn, tmp_path):
    run = make_run(tmp_path / "run")
    assert list(run.criteria().index) == ["agreement", "rate"]
    assert "criteria" not in write_figures(Contents(run))
