"""The calibration keeps what it has, tells every answer of every scenario, and complains of a mark that is missed."""

import pandas as pd
import pytest
from simulated_panels import SCENARIOS
from tiny_experiment import ROOT, call

__all__ = ["call"]

CALIBRATE = ROOT / "scripts" / "calibrate_verdict.py"
SMALL = ("--n-questions", 160, "--n-targets", 6, "--n-permutations", 19)


@pytest.fixture
def some_scenarios(monkeypatch):
    chosen = ("unrelated", "pure shift", "towards, much")
    monkeypatch.setattr("simulated_panels.SCENARIOS", {name: SCENARIOS[name] for name in chosen})
    return chosen


@pytest.mark.long
def test_it_counts_the_answers_of_every_scenario_and_goes_on_from_its_table(
    tmp_path, call, some_scenarios, monkeypatch
):
    table = tmp_path / "kept.csv"
    ended = call(CALIBRATE, "--seeds", 1, "--table", table, *SMALL)
    for said in ("Is it reproduced?", "What is the dial?", "Which push?", "C_A: low > 0", "order, models"):
        assert said in ended.out
    rows = pd.read_csv(table)
    assert rows["scenario"].tolist() == list(some_scenarios)
    assert rows["push_p"].notna().tolist() == [False, True, True]

    monkeypatch.setattr("onedial.verdict.judge", lambda *_, **__: pytest.fail("computed anew"))
    again = call(CALIBRATE, "--seeds", 1, "--table", table, *SMALL)
    assert (again.code, again.out) == (ended.code, ended.out)
    other = call(CALIBRATE, "--seeds", 1, "--table", table, *SMALL[:4], "--n-permutations", 99)
    assert other.code == 2
    assert "give another file" in other.err


@pytest.mark.long
def test_a_test_that_always_rejects_is_complained_of(tmp_path, call, some_scenarios):
    table = tmp_path / "kept.csv"
    call(CALIBRATE, "--seeds", 1, "--table", table, *SMALL)
    rows = pd.read_csv(table)
    rows = pd.concat([rows.assign(seed=seed) for seed in range(20)])
    rows.assign(signal_p=rows["signal_p"].where(rows["scenario"] != "unrelated", 0.001)).to_csv(table, index=False)
    ended = call(CALIBRATE, "--seeds", 20, "--table", table, *SMALL)
    assert ended.code == 1
    assert "missed: unrelated: S: p <= .05 in 20 of 20, at most" in ended.err


def test_null_orders_are_kept_and_told_by_scenario_and_over_all(tmp_path, call, monkeypatch):
    table = tmp_path / "null.csv"
    call(CALIBRATE, "--null-orders", 2, "--table", table, *SMALL[:4])
    assert len(pd.read_csv(table)) == 6
    monkeypatch.setattr("onedial.verdict.sweep_grid", lambda *_: pytest.fail("computed anew"))
    pd.read_csv(table).assign(towards=True).to_csv(table, index=False)
    ended = call(CALIBRATE, "--null-orders", 2, "--table", table, *SMALL[:4])
    assert ended.code == 1  # every interval leaves out 0: far more than one in twenty
    assert ended.out.splitlines()[-1].split() == ["all", "6", "1.000", "0.000", "1.000", "0.610", "1.000"]
