"""experiments/ask_self_prediction.py: its tables are what the scores read; it goes on where it was broken off."""

import importlib.util

import pandas as pd
import pytest
from fake_server import FakeServer
from tiny_experiment import ROOT, call, run_here
from tiny_models import save_outspoken

__all__ = ["call"]

PROGRAM = ROOT / "experiments" / "ask_self_prediction.py"
SCORE = ROOT / "experiments" / "score_self_prediction.py"


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("self")
    for seed in (0, 1):
        save_outspoken(folder / f"model{seed}", seed=seed)
    options = ("--model", f"{folder / 'model0'},{folder / 'model1'}", "--n-questions", "4")
    assert run_here(PROGRAM, *options, "--out", folder / "run") == 0
    return folder, options


def test_the_run_holds_the_scores_that_its_tables_give(asked, call, tmp_path):
    folder, _ = asked
    ended = call(SCORE, folder / "run", "--replicates", "1999", "--out", tmp_path / "scores")
    assert ended.code == 0, ended.err
    for test, n in (("association", 32), ("restriction", 8), ("difficulty", 8)):
        assert len(pd.read_csv(folder / "run" / f"{test}.csv")) == n
        own, again = (
            pd.read_csv(path) for path in (folder / "run" / f"scores_{test}.csv", tmp_path / f"scores/{test}.csv")
        )
        pd.testing.assert_frame_equal(own, again)
        assert {"retest", "share_of_possible"} <= set(own)
    for run in (folder / "run", tmp_path / "scores"):
        assert len(pd.read_html(run / "report.html")) > 3


@pytest.mark.skipif(importlib.util.find_spec("inspect_ai") is None, reason="inspect_ai is an optional extra")
def test_a_model_behind_a_server_is_asked_as_a_local_one_is(call, tmp_path):
    def answer(body):
        asked = body["messages"][-1]["content"]
        if "Reply with the letter" in asked:  # takes A in every form, so that the forms cancel
            return "A"
        if asked.startswith("Name 5 words"):
            return "water, ship, blue"
        return "Q2, Q1, Q4, Q3" if "Order them" in asked else "No"

    with FakeServer(answer) as server:
        ended = call(PROGRAM, "--model", f"tiny@{server.url}", "--n-questions", "4", "--out", tmp_path / "run")
    assert ended.code == 0, ended.err
    association = pd.read_csv(tmp_path / "run" / "association.csv")
    assert (association["predicted"] == 0).all()
    assert association["listed"].notna().all()
    assert set(pd.read_csv(tmp_path / "run" / "restriction.csv")["predicted"]) == {"other"}
    assert pd.read_csv(tmp_path / "run" / "difficulty.csv")["predicted_rank"].sum() == 1 + 2 + 3 + 4
