"""experiments/ask_questionnaire.py: asks, scores, goes on where it was broken off, and refuses in words."""

import pandas as pd
import pytest
from tiny_experiment import ROOT, call, run_here
from tiny_models import save_tiny

__all__ = ["call"]

PROGRAM = ROOT / "experiments" / "ask_questionnaire.py"
QUICK = ("--administrations", "2", "--replicates", "49")


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("questionnaire")
    save_tiny(folder / "model", "llama", max_position_embeddings=8192)
    (folder / "scale.csv").write_text("text,keyed\nSolve it.,1\nGive up.,-1\n")
    options = ("--model", folder / "model", "--questionnaire", folder / "scale.csv", *QUICK)
    assert run_here(PROGRAM, *options, "--out", folder / "run") == 0
    return folder, options


def test_every_condition_presentation_and_administration_is_there(asked):
    folder, _ = asked
    scores = pd.read_csv(folder / "run" / "scores.csv")
    assert len(scores) == 4 * 2
    assert (scores["n"] == 4).all()
    accuracy = pd.read_csv(folder / "run" / "accuracy.csv")
    assert (accuracy["asked"] == 5).all()
    wording = pd.read_csv(folder / "run" / "wording.csv")
    assert (wording["n"] == 2).all()  # one explanation for each administration
    assert len(wording) == 4
    assert len(pd.read_html(folder / "run" / "report.html")) > 4
