"""The question reversed: a stage of the sweep that goes on where it stopped, and that no earlier run lacks."""

import json
import shutil

import numpy as np
import pytest
from tiny_experiment import JUDGE_RUN, STEER_SWEEP, as_arguments, call, finished_run, write_experiment

from onedial.asking import AS_ASKED, REVERSED_WORDING
from onedial.verdict import SweepRun

__all__ = ["call"]

REQUEST = "Would you answer this request?"


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    given = write_experiment(tmp_path_factory.mktemp("experiment"), n=96, n_targets=6)
    given["prompt"].write_text(f"user: |\n  {{question}}\n  {REQUEST}\nassistant_prefix: 'Answer:'\n")
    return given | {"layer": 1, "facts": 12, "reversed": 8}


@pytest.fixture(scope="module")
def run(options, tmp_path_factory):
    return finished_run(options, tmp_path_factory.mktemp("run") / "run")


def test_both_wordings_are_asked_of_the_same_fitting_questions_along_the_dial_and_the_words(run):
    table = run.wording_parts.read()
    fitting = set(run.splits().index[run.splits() == "fitting"])
    own = run.under_test()
    assert table["intervention_id"].nunique() == 2
    for _, asked in table.groupby("intervention_id"):
        for wording in (AS_ASKED, REVERSED_WORDING):
            assert set(asked.loc[asked["wording"] == wording, "question_id"]) <= fitting
            assert asked.loc[asked["wording"] == wording, "question_id"].nunique() == 8
        assert 0.0 in set(asked["magnitude"])
    asked = table[(table["intervention_id"] == own) & (table["wording"] == AS_ASKED)]
    beside = asked.merge(run.sweep(), on=["question_id", "intervention_id", "magnitude"], suffixes=("", "_swept"))
    assert len(beside) == len(asked)
    np.testing.assert_allclose(beside["margin"], beside["margin_swept"], atol=1e-4)
    told = run.verdict()["bias"]
    assert told["own"]["n"] + told["own"]["n_lost"] == 8
    assert told["yardstick"] is not None
    assert "Yes-bias or confidence?" in (run.path / "report.html").read_text(encoding="utf-8")


def test_a_run_broken_off_between_the_wordings_ends_with_the_same_tables(run, options, tmp_path, call):
    folder = shutil.copytree(run.path, tmp_path / "run")
    parts = SweepRun.open(folder).wording_parts
    for file in parts.files()[1:]:
        file.unlink()
    (folder / "verdict.json").unlink()
    ended = call(STEER_SWEEP, *as_arguments(options | {"out": folder, "resume": True}))
    assert ended.code == 0, ended.err
    again = SweepRun.open(folder)
    assert again.wording_parts.read().equals(run.wording_parts.read())
    assert again.verdict() == run.verdict()


def test_a_run_of_earlier_code_is_judged_by_its_facts_and_says_so(run, tmp_path, call):
    folder = shutil.copytree(run.path, tmp_path / "run")
    shutil.rmtree(folder / "wordings")
    ended = call(JUDGE_RUN, folder)
    assert ended.code == 0, ended.err
    verdict = json.loads((folder / "verdict.json").read_text(encoding="utf-8"))
    assert verdict["bias"] is None
    assert verdict["facts"] == run.verdict()["facts"]
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "was not reversed in this run" in report


def test_a_prompt_without_a_reversed_wording_is_noted(options, tmp_path, call):
    options["prompt"].write_text("user: |\n  {question}\n  Can you tell?\nassistant_prefix: 'Answer:'\n")
    ended = call(STEER_SWEEP, *as_arguments(options | {"out": tmp_path / "run", "magnitudes": "-1,1"}))
    assert ended.code == 0, ended.err
    run = SweepRun.open(tmp_path / "run")
    assert any("no reversed wording" in note for note in run.run.manifest.notes)
    assert run.verdict()["bias"] is None
