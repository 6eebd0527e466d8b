"""experiments/ask.py questionnaire: asks, scores, goes on where it was broken off, and refuses in words."""

import shutil

import numpy as np
import pandas as pd
import pytest
from tiny_experiment import ROOT, run_here
from tiny_models import save_tiny

from onedial.asking.store import ANSWERS

PROGRAM = ROOT / "experiments" / "ask.py", "questionnaire"
QUICK = ("--administrations", "2", "--replicates", "19")


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("questionnaire")
    save_tiny(folder / "model", "llama", max_position_embeddings=8192)
    (folder / "scale.csv").write_text("text,keyed\nSolve it.,1\nGive up.,-1\n")
    options = ("--model", folder / "model", "--questionnaire", folder / "scale.csv", *QUICK)
    assert run_here(*PROGRAM, *options, "--out", folder / "run") == 0
    return folder, options


def test_every_condition_presentation_and_administration_is_there(asked):
    folder, _ = asked
    scores = pd.read_csv(folder / "run" / "scores.csv")
    assert len(scores) == 4 * 2
    assert (scores["n"] == 4).all()
    accuracy = pd.read_csv(folder / "run" / "accuracy.csv")
    assert (accuracy["asked"] == 5).all()
    tasks = pd.read_csv(folder / "run" / "tasks.csv")
    expected = np.exp(-tasks.groupby("condition")["log_p"].mean())
    assert accuracy.set_index("condition")["perplexity"].to_dict() == pytest.approx(expected.to_dict())
    beside = pd.read_csv(folder / "run" / "beside_study.csv", index_col="what")
    assert (
        beside.loc["share right, computation", "one by one"]
        == accuracy.set_index("condition").at["computation", "right"]
    )
    wording = pd.read_csv(folder / "run" / "wording.csv")
    assert (wording["n"] == 2).all()  # one explanation for each administration
    assert len(wording) == 4
    assert len(pd.read_html(folder / "run" / "report.html")) > 4


def test_a_finished_questionnaire_is_scored_again_from_its_answers_alone(asked, call, tmp_path):
    folder, options = asked
    shutil.copytree(folder / "run", tmp_path / "run")
    for file in (tmp_path / "run").glob("*.csv"):
        file.unlink()
    assert call(*PROGRAM, *options, "--out", tmp_path / "run", "--resume").code == 0
    assert (tmp_path / "run" / ANSWERS).read_bytes() == (folder / "run" / ANSWERS).read_bytes()
    for file in (folder / "run").glob("*.csv"):
        assert (tmp_path / "run" / file.name).read_bytes() == file.read_bytes(), file.name
