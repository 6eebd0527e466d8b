"""The program on a tiny model: its answers are scored, its page says what it concludes, and nothing is asked twice."""

import pandas as pd
import pytest
from tiny_experiment import ROOT, run_here
from tiny_models import save_tiny

from onedial.core.run.run import Run
from steering.effects import noticing
from steering.effects.noticing import KINDS, noticing_scores

PROGRAM = ROOT / "experiments" / "ask.py"
CONCEPTS = ",".join("abcdefgh")


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("noticing")
    save_tiny(folder / "model", "llama")
    given = ["noticing", "--model", folder / "model", "--layer", 2, "--magnitudes", "0.5", "--concepts", CONCEPTS]
    with pytest.MonkeyPatch.context() as briefly:
        briefly.setattr(noticing, "N_CONTROLS", 4)
        briefly.setattr(noticing, "N_PASSAGES", 3)
        assert run_here(PROGRAM, *given, "--out", folder / "run") == 0
    return folder, given


def test_the_scores_are_those_of_the_answers(asked):
    run = Run.open(asked[0] / "run")
    answers = run.read_table("answers.csv").fillna({"option": "", "concept": ""})
    scores = run.read_table("detection.csv")
    assert scores["kind"].tolist() == [*KINDS]
    pd.testing.assert_series_equal(
        scores["detection"], noticing_scores(answers)["detection"], check_exact=False, check_names=False
    )
    assert run.manifest.facts["sentence"].startswith(("No injected", "An injected", "Whether an injected"))


def test_what_was_asked_is_not_asked_again(asked, monkeypatch):
    folder, given = asked
    monkeypatch.setattr("steering.effects.noticing.answers_to", lambda *_, **__: pytest.fail("asked again"))
    assert run_here(PROGRAM, *given, "--out", folder / "run", "--resume") == 0


def test_a_layer_that_is_not_there_is_refused(asked, capsys):
    folder, given = asked
    assert run_here(PROGRAM, *given[:3], "--layer", 99, "--out", folder / "other") == 2
    assert "99" in capsys.readouterr().err
    assert not (folder / "other").exists()
