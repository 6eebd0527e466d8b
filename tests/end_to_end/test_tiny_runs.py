"""The whole command on tiny models from local folders: what it writes, that its tables agree, that it repeats."""

import json

import numpy as np
import pandas as pd
import pytest
import torch
from shared_runs import default_run, quick_run
from tiny_experiment import STEER_SWEEP, as_arguments, panel_frame, vector_content, write_experiment

from onedial.asking.prompts import load_prompt
from onedial.asking.yes_no import is_read
from onedial.core.run.configuration import configuration_hash
from onedial.models.model import load_model
from onedial.models.prompt_set import PromptSet
from onedial.panels.questions.question_files import load_questions
from onedial.verdict.sweep_run import SweepRun
from steering.interventions import Intervention, SteeringVector
from steering.planning.layers import scan_layers
from steering.planning.magnitudes import choose_magnitudes
from steering.vectors import extract_vector

WRITTEN = (
    *("config.yaml", "manifest.json", "questions.parquet", "panel.parquet", "prompt.txt", "layer_scan.csv"),
    *("verdict.json", "report.html", "log.txt"),
    *("sweep/part-00000.parquet", "facts/part-00000.parquet", "matches.csv", "baselines.csv", "factor.json"),
    "written.csv",
)


@pytest.fixture(scope="module")
def run():
    return default_run().run


@pytest.fixture(scope="module")
def experiment(tmp_path_factory):
    """Inputs for quick runs."""
    return write_experiment(tmp_path_factory.mktemp("experiment"), n=80, n_targets=6)


@pytest.fixture
def steer(experiment, call, tmp_path, monkeypatch):
    """Runs the command on these inputs, up to its report; returns the run and what was printed."""
    monkeypatch.setattr("onedial.studies.sweep.sweep_stages.end_sweep", lambda run: run.path / "report.html")

    def run(**options):
        out = options.setdefault("out", tmp_path / "run")
        ended = call(
            STEER_SWEEP, *as_arguments(experiment | {"facts": 0, "reversed": 0, "without_verdict": True} | options)
        )
        assert ended.code == 0, ended.err
        return SweepRun.open(out), ended.out

    return run


# ---- what a run holds ------------------------------------------------------------------------------------------------


def test_held_out_topics_stand_in_the_test_split_and_are_named(steer):
    run, _ = steer(hold_out="topics", layer=1, magnitudes="-1,1")
    splits = run.questions().groupby("topic")["split"].unique().map(set)
    held = sorted(topic for topic, of_topic in splits.items() if of_topic == {"test"})
    assert 2 <= len(held) <= 3
    assert all(of_topic == {"extraction", "fitting"} for topic, of_topic in splits.items() if topic not in held)
    noted = json.dumps(json.loads((run.path / "manifest.json").read_text())["notes"])
    assert f"of the topics {', '.join(held)}" in noted


def test_every_file_of_a_run_is_there_and_no_temporary_one(run):
    assert [name for name in WRITTEN if not (run.path / name).is_file()] == []
    assert len(list((run.path / "vectors").glob("*.safetensors"))) == 1
    drawn = {file.name for file in (run.path / "figures").iterdir()}
    assert {file.rpartition(".")[2] for file in drawn} >= {"png", "svg"}
    assert len({file.rpartition(".")[0] for file in drawn if file.endswith(".png")}) >= 4
    assert not list(run.path.rglob(".*"))
    assert [stage["completed"] for stage in run.run.manifest.stages] == [True] * len(run.run.manifest.stages)


def test_every_question_is_asked_at_every_magnitude_and_0_is_among_them(run):
    sweep = run.sweep()
    (grid,) = run.interventions()["magnitudes"]
    assert 0.0 in grid
    assert grid == sorted(set(sweep["magnitude"]))
    assert len(sweep) == len(grid) * 160
    assert sweep["question_id"].nunique() == 160
    assert run.splits().loc[sweep["question_id"].unique()].value_counts().to_dict() == {
        "test": 80,
        "fitting": 40,
        "extraction": 40,
    }
    assert sweep["mass"].between(0, 1).all()


def test_vector_layer_scan_and_magnitudes_come_from_their_own_splits_alone(run):
    model = load_model(str(run.config["model"]), dtype="float32", device="cpu")
    template, split = load_prompt(run.config["prompt"]), run.questions().set_index("id")["split"]
    extraction, fitting = (
        PromptSet.build(model, [q for q in load_questions(run.config["questions"]) if split[q.id] == name], template)
        for name in ("extraction", "fitting")
    )
    vector = SteeringVector.load(run.path / run.vector_file(run.under_test()))
    (again,) = extract_vector(model, extraction, [vector.layer], contrast="response")
    assert torch.allclose(again.direction * again.raw_norm, vector.direction * vector.raw_norm, atol=1e-3)
    intervention = Intervention.of(vector)
    scan, stored = scan_layers(model, fitting, [intervention]), run.table("layer_scan")
    columns = ["magnitude", "yes_rate", "unread"]
    np.testing.assert_allclose(scan.table[columns], stored.loc[stored["layer"] == vector.layer, columns], atol=1e-9)
    chosen = choose_magnitudes(model, fitting, intervention, scan.rates())
    np.testing.assert_allclose(run.interventions()["magnitudes"][0], chosen, rtol=1e-3, atol=1e-4)


def test_the_config_of_a_run_repeats_it_bit_for_bit(call, tmp_path):
    run = quick_run().run
    ended = call(STEER_SWEEP, "--config", run.path / "config.yaml", "--out", tmp_path / "again")
    assert ended.code == 0, ended.err
    again = SweepRun.open(tmp_path / "again")
    pd.testing.assert_frame_equal(again.sweep(), run.sweep(), check_exact=True)
    for name in ("matches.csv", "verdict.json", "factor.json", "prompt.txt"):
        assert (again.path / name).read_bytes() == (run.path / name).read_bytes(), name
    assert configuration_hash(again.config) == configuration_hash(run.config)
    vector = run.vector_file(run.under_test())
    assert vector_content(again.path / vector) == vector_content(run.path / vector)


# ---- options ---------------------------------------------------------------------------------------------------------


def test_raw_units_are_the_same_magnitudes_times_a_constant(steer, tmp_path):
    norms, _ = steer(layer="2", magnitudes="-1,-0.5,0.5,1", target="target 1,target 4")
    vector = next((norms.path / "vectors").iterdir())
    loaded = SteeringVector.load(vector)
    scale = loaded.residual_norm / loaded.raw_norm
    raw, _ = steer(
        layer="2",
        unit="raw",
        target="target 1,target 4",
        magnitudes=",".join(str(scale * step) for step in (-1, -0.5, 0.5, 1)),
        out=tmp_path / "raw",
    )
    difference = norms.sweep()["margin"] - raw.sweep()["margin"]
    assert difference.abs().max() < 1e-3


def test_questions_may_come_from_the_panel_and_targets_may_be_few(steer, experiment, tmp_path):
    questions = pd.read_csv(experiment["questions"])
    panel = panel_frame(questions, 6).assign(question=questions["question"])
    panel.to_csv(tmp_path / "panel.csv", index=False)
    run, shown = steer(
        panel=tmp_path / "panel.csv", questions=None, target="target 1, target 4", n_questions=76, layer="2"
    )
    assert list(run.matches().index) == ["target 1", "target 4"]
    assert run.verdict().sentence == "cannot be judged: 0 of 2 targets can be judged, and it takes 5"
    assert len(run.questions()) == 76
    assert "80 questions are in the panel (80 by id, 0 by text)" in shown


def test_the_subject_itself_is_no_target_unless_it_is_kept(steer, experiment, tmp_path):
    (tmp_path / "r.csv").write_text("respondent,model\ntarget 2,hub/Model\ntarget 3,other\n")
    options = {"respondents": tmp_path / "r.csv", "layer": "2", "magnitudes": "-1,1"}
    run, shown = steer(**options)
    assert "target 2" not in run.matches().index
    assert "1 targets are the subject itself and are left out: target 2" in shown
    kept, _ = steer(**options, keep_own=True, out=tmp_path / "kept")
    assert "target 2" in kept.matches().index


def test_what_the_subject_writes_stands_on_the_page(run):
    """What the subject writes to eight test questions at three settings stands on the page."""
    written = run.run.read_table("written.csv")
    assert (written.groupby("yes_rate")["question_id"].nunique() == 8).all()
    swept = run.sweep()[lambda table: table["question_id"].map(run.splits()) == "fitting"]
    rates = (swept["margin"] > 0).where(is_read(swept["mass"])).groupby(swept["magnitude"]).mean()
    assert written["yes_rate"].tolist() == pytest.approx(rates[written["magnitude"]].tolist())
    assert np.abs(np.sort(written["yes_rate"].unique()) - [0.1, 0.5, 0.9]).max() < 0.05
    assert set(run.splits()[written["question_id"]]) == {"test"}
    assert set(written["magnitude"]) <= set(run.sweep()["magnitude"])
    page = (run.path / "report.html").read_text(encoding="utf-8")
    assert "What it writes" in page
