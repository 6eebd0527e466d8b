"""Dials compared from the command line."""

import json
from types import SimpleNamespace

import pandas as pd
import pytest
from tiny_experiment import ROOT, as_arguments, assert_bounded, counted, foretold, run_here, write_experiment
from tiny_models import tiny_model

from onedial.asking.poles import POLES
from onedial.studies.dials.dials_stages import loads
from onedial.studies.dials.dials_study import DialStudy
from onedial.studies.options.dials import DialOptions
from steering.planning.forecast import Size

PROGRAM = ROOT / "experiments" / "compare_dials.py"
QUICK = {
    "layer": "1,3",
    "method": "mean_difference,gradient,random",
    "operator": "add,rotate",
    "dials": "interventions,cut,threshold",
    "facts": 20,
    "passages": 4,
    "together": 2,
}
DIALS = [
    "mean_difference, add", "gradient, add", "random, add", "mean_difference, rotate", "threshold shift",
    "instructed threshold",
]  # fmt: skip


def test_all_framings_are_every_pair_of_poles():
    assert DialOptions(framings=("all",)).settled().framings == tuple(POLES)
    assert DialOptions(framings=("risk",)).settled().framings == ("risk",)


@pytest.mark.parametrize(("positions", "kind"), [("last", "last"), ("prompt", "all"), ("all", "all")])
def test_whatever_pushes_is_foretold_where_it_pushes(positions, kind):
    lengths = {"extraction": [60] * 40, "fitting": [60] * 40, "test": [60] * 80}
    options = DialOptions(layer="1-3", positions=positions).settled()
    loads_by_stage = loads(options, lengths, Size.of(tiny_model("llama").hf.config))
    pushed = {stage: {load.kind for load in part if load.rows} for stage, part in loads_by_stage.items()}
    assert pushed == {"report": set()} | {stage: {kind} for stage in loads_by_stage if stage != "report"}


def assert_recounted(run, rates):
    """The rates that are told are those of the stored answers, on either split, and equal or void as it says."""
    splits = pd.read_parquet(run / "questions.parquet").set_index("id")["split"]
    parts = [*run.glob("placing-*/*.parquet"), *run.glob("answers-*/*.parquet")]
    answers = pd.concat(map(pd.read_parquet, parts)).query("mass >= 0.1")
    by = [answers["dial"], answers["setting"], answers["question_id"].map(splits).rename("split")]
    shares, counts = ((answers["margin"] > 0).groupby(by).agg(what).unstack() for what in ("mean", "size"))
    there = rates[rates["reached"]].set_index(["dial", "setting"])
    assert (there["rate_found"] - shares["fitting"].reindex(there.index)).abs().max() < 1e-4
    assert (there["yes_rate"] - shares["test"].reindex(there.index)).abs().max() < 1e-4
    away = (there["rate_found"] - there["rate"]).abs()
    assert (away <= 1 / counts["fitting"].reindex(there.index) + 1e-4).all()
    shift = there.xs("threshold shift").set_index("rate")["yes_rate"]
    apart = (there["yes_rate"] - there["rate"].map(shift)).abs()
    assert (there["void"] == (apart > 0.1 + 1e-6)).all()


def test_one_table_one_figure_one_sentence(tmp_path):
    run = tmp_path / "run"
    options = write_experiment(tmp_path, n=100, n_targets=6) | QUICK | {"out": run}
    with counted() as asked:
        assert run_here(PROGRAM, *as_arguments(options), drawn=True) == 0
    assert_bounded(foretold(PROGRAM, options), asked, "directions", most=12)  # few rates may be reached
    table = pd.read_csv(run / "dials.csv").set_index("dial")
    assert set(DIALS) <= set(table.index)
    assert table.loc["threshold shift", "order_gain"] == 0
    for name in ("signal", "order_gain"):
        known = table[name].notna()
        assert (table.loc[known, f"{name}_low"] <= table.loc[known, name] + 1e-9).all()
        assert (table.loc[known, name] <= table.loc[known, f"{name}_high"] + 1e-9).all()
    assert table["chosen"].sum() == 1
    assert (run / "figures" / "dials.svg").is_file()
    assert (run / "figures" / "direction_cosines.png").is_file()
    stored = json.loads((run / "comparison.json").read_text())
    assert stored["sentence"].startswith("At equal yes rates")
    directions = pd.read_csv(run / "directions.csv")
    assert len(directions) == 6
    rates = pd.read_csv(run / "rates.csv")
    assert_recounted(run, rates)
    there = rates[rates["reached"]]
    assert there[["accuracy", "negative_flips"]].notna().all().all()
    pushed = ~there["dial"].isin(["threshold shift", "instructed threshold"])
    assert (there["kl"].notna() == pushed).all()


def test_no_facts_leave_the_settings_alone():
    study = SimpleNamespace(options=SimpleNamespace(facts=0))
    table = DialStudy._on_facts(study, {"a": [0.1, 0.2], "b": []})
    assert table.to_dict("records") == [{"dial": "a", "setting": 0.1}, {"dial": "a", "setting": 0.2}]
