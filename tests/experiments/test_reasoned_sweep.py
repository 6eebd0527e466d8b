"""`steer_sweep.py --answer reasoned`, from the options to the report, broken off and gone on with."""

import json
import shutil

import pandas as pd
import pytest
from tiny_experiment import STEER_SWEEP, as_arguments, call, finished_run, write_experiment

from onedial.report.report import contents_of
from onedial.verdict.sweep_run import SweepRun

__all__ = ["call"]

REASONED = {"answer": "reasoned", "reasoned_settings": 3, "reasoned_tokens": 4, "facts": 20}


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    few = {"layer": "2", "magnitudes": "-1,-0.5,0.5,1", "without_verdict": True}
    given = write_experiment(folder, n=80, n_targets=6) | few | REASONED
    panel = pd.read_csv(given["panel"])
    names = [column for column in panel if column != "question_id"]
    framing = ["neutral, reasoned" if place < 4 else "neutral" for place in range(len(names))]
    pd.DataFrame({"respondent": names, "model": names, "framing": framing}).to_csv(
        folder / "respondents.csv", index=False
    )
    return given | {"respondents": folder / "respondents.csv"}


@pytest.fixture(scope="module")
def run(options, tmp_path_factory):
    return finished_run(options, tmp_path_factory.mktemp("run") / "run", drawn=True)


def test_every_text_of_fitting_and_test_is_kept_at_settings_of_the_direct_sweep(run):
    texts, splits = run.parts["reasoned"].read(), run.splits()
    assert set(texts["magnitude"]) <= set(run.sweep()["magnitude"])
    assert 0.0 in set(texts["magnitude"])
    assert set(texts["question_id"]) == set(splits[splits != "extraction"].index)
    assert texts["text"].str.len().gt(0).mean() > 0.5
    assert len(texts) == texts["magnitude"].nunique() * texts["question_id"].nunique()


def test_the_report_says_that_a_tiny_model_says_nothing_that_can_be_read(run):
    found = contents_of(run).numbers("reasoned")
    assert found["verdict"] is None
    assert "hold no clear yes or no" in found["sentence"]
    assert "After reasoning" in (run.path / "report.html").read_text("utf-8")
    notes = json.dumps(run.run.manifest.notes)
    assert "2 of 6 targets are not known to have reasoned" in notes


def test_a_run_broken_off_among_the_texts_ends_with_the_same_ones(options, run, call, tmp_path):
    folder = shutil.copytree(run.path, tmp_path / "run")
    lost = sorted((folder / "reasoned").glob("part-*.parquet"))[2:]
    assert lost
    for late in (*lost, *(folder / name for name in ("verdict.json", "matches.csv", "reasoned.json", "report.html"))):
        late.unlink()
    ended = call(STEER_SWEEP, *as_arguments(options | {"out": folder, "resume": True}))
    assert ended.code == 0, ended.err
    pd.testing.assert_frame_equal(SweepRun.open(folder).parts["reasoned"].read(), run.parts["reasoned"].read())
    assert (folder / "reasoned.json").read_bytes() == (run.path / "reasoned.json").read_bytes()


def test_its_cost_is_in_the_dry_run(options, call):
    told = call(STEER_SWEEP, *as_arguments(options | {"dry_run": True}))
    assert told.code == 0, told.err
    (line,) = [line.split() for line in told.out.splitlines() if line.startswith("reasoned")]
    n = 60 * 3  # fitting and test questions of 80, at three settings
    assert int(line[1].replace(",", "")) == pytest.approx(n, abs=3)
    assert int(line[2].replace(",", "")) == 4 * int(line[1].replace(",", ""))
