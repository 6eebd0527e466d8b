"""Simulations keep what they have, go on from it, and find what was planted."""

import importlib

import pandas as pd
import pytest
from tiny_experiment import ROOT, call

from onedial.core import InputError

__all__ = ["call"]

SIMULATE = ROOT / "scripts" / "simulate.py"


def test_a_table_grows_and_holds_what_was_added_when_it_is_opened_again(tmp_path):
    growing = importlib.import_module("simulating").GrowingTable
    table = growing(tmp_path / "deep" / "t.csv", ("case", "seed"), {"rule": 2})
    table.add([{"case": "a, b", "seed": 0, "found": 0.5}, {"case": "a, b", "seed": 0, "found": None}])
    table.add([{"case": "None", "seed": 1, "found": 0.1}])
    again = growing(tmp_path / "deep" / "t.csv", ("case", "seed"), {"rule": 2})
    assert all(key in again for key in (("a, b", 0), ("None", 1)))
    assert ("a, b", 1) not in again
    pd.testing.assert_frame_equal(again.frame, table.frame, check_dtype=False)
    in_memory = growing(None, ("case",))
    in_memory.add([{"case": "x"}])
    assert ("x",) in in_memory


def test_rows_of_other_settings_or_another_table_are_refused(tmp_path):
    growing = importlib.import_module("simulating").GrowingTable
    growing(tmp_path / "t.csv", ("seed",), {"rule": 1}).add([{"seed": 0}])
    with pytest.raises(InputError, match=r"t\.csv holds rows with rule 1, and now it is 2; give another file"):
        growing(tmp_path / "t.csv", ("seed",), {"rule": 2})
    with pytest.raises(InputError, match="has no column 'case'"):
        growing(tmp_path / "t.csv", ("case",))


@pytest.mark.parametrize(
    ("name", "study", "again"),
    [
        ("structure", "rasch", "onedial.scale.rasch_test"),
        ("matching", "falls", "onedial.verdict.criteria.status.falls"),
        ("probes", "patches", "simulations.probe_cases.patches"),
    ],
)
def test_what_the_table_holds_is_not_simulated_anew(name, study, again, tmp_path, call, monkeypatch):
    given = [name, study, "--sets", 3]
    first = call(SIMULATE, *given, "--table", tmp_path / "t.csv")
    assert first.code == 0
    rows = pd.read_csv(tmp_path / "t.csv")
    assert len(first.out.splitlines()) == len(rows) > 1
    assert {"found", "mean"} & set(rows.columns)
    assert rows["se"].ge(0).all()
    monkeypatch.setattr(again, lambda *_, **__: pytest.fail("simulated anew"))
    second = call(SIMULATE, *given, "--table", tmp_path / "t.csv")
    assert (second.code, second.out) == (0, "")


def test_a_study_that_is_none_is_refused_with_those_that_are(call):
    for name in ("structure", "matching"):
        ended = call(SIMULATE, name, "nothing")
        assert ended.code == 2
        assert "no study is called nothing; choose of" in ended.err


def test_a_plateau_is_not_said_to_fall_and_one_that_falls_is(call, tmp_path):
    call(SIMULATE, "matching", "falls", "--sets", 30, "--table", tmp_path / "t.csv")
    found = pd.read_csv(tmp_path / "t.csv").set_index(["case", "what"])["mean"]
    assert found["a plateau", "two standard errors somewhere"] > 0.5  # what the rule guards against
    assert found["a plateau", "said to fall"] <= 2 / 30
    assert found["a plateau that falls by .1", "said to fall"] > 0.8


@pytest.mark.long
def test_the_rule_half_makes_a_second_factor_out_of_one():
    from simulations.empty_cells import cell

    found = {rule: cell(rule, 300).draw(0) for rule in ("half", "exclude")}
    second = {rule: row["second eigenvalue's share"] for rule, row in found.items()}
    assert second["half"] > 3 * second["exclude"]
    assert found["half"]["the same by marginal likelihood"] == pytest.approx(0.8, abs=0.1)
