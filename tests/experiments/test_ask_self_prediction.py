"""experiments/ask.py predict: its tables are what the scores read; it goes on where it was broken off."""

import importlib.util
from contextlib import nullcontext

import pandas as pd
import pytest
from fake_server import FakeServer, Fault
from tiny_experiment import ROOT, run_here
from tiny_models import save_outspoken

from onedial.asking.store import ANSWERS, Store
from onedial.core.files import sha256_of_text
from onedial.core.run.run import Run
from onedial.selfreport.ask.self_prediction import association_words
from onedial.studies.battery.tuned import score_tuned, tuned_answers
from steering.dials import adapters

ASK = ROOT / "experiments" / "ask.py"


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("self")
    save_outspoken(folder / "model")
    options = ("--model", folder / "model", "--n-questions", "4", "--replicates", "99")
    assert run_here(ASK, "predict", *options, "--out", folder / "run") == 0
    return folder


def test_the_run_holds_the_scores_that_its_tables_give(asked, call, tmp_path):
    folder = asked
    ended = call(ASK, "score", folder / "run", "--replicates", "99", "--out", tmp_path / "scores")
    assert ended.code == 0, ended.err
    for test, n in (("association", 16), ("restriction", 4), ("difficulty", 4)):
        assert len(pd.read_csv(folder / "run" / f"{test}.csv")) == n
        stored, again = (
            pd.read_csv(path) for path in (folder / "run" / f"scores_{test}.csv", tmp_path / f"scores/{test}.csv")
        )
        pd.testing.assert_frame_equal(stored, again)
        assert {"retest", "share_of_possible"} <= set(stored)
    for run in (folder / "run", tmp_path / "scores"):
        assert len(pd.read_html(run / "report.html")) > 3


@pytest.mark.skipif(importlib.util.find_spec("inspect_ai") is None, reason="inspect_ai is an optional extra")
def test_an_answer_that_failed_is_blank_and_told_and_asked_again(call, tmp_path):
    failing = True

    def answer(body):
        asked = body["messages"][-1]["content"]
        if failing and asked.startswith("Answer this question") and len(server.asked) % 2:
            return Fault(400)
        if asked.startswith("Name 5 words"):
            return "water, ship, blue"
        return "Q2, Q1, Q4, Q3" if "Order them" in asked else "I do not know" if "Answer this" in asked else "A"

    with FakeServer(answer) as server:
        given = ("--model", f"tiny@{server.url}", "--n-questions", "4", "--out", tmp_path / "run")
        ended = call(ASK, "predict", *given)
        assert ended.code == 0, ended.err
        first = pd.read_csv(tmp_path / "run" / "difficulty.csv")
        n_failed = int(first["correct"].isna().sum() + first["correct_again"].isna().sum())
        assert n_failed > 0
        assert f"{n_failed} requests failed ({n_failed}: 400 " in ended.out
        assert (first[["correct", "correct_again"]].stack().dropna() == 0).all()  # who declines is not right
        failing, n_asked = False, server.n_asked
        assert call(ASK, "predict", *given, "--resume").code == 0
        assert server.n_asked == n_asked + n_failed
    assert pd.read_csv(tmp_path / "run" / "difficulty.csv")["correct"].notna().all()


@pytest.mark.long
@pytest.mark.skipif(importlib.util.find_spec("peft") is None, reason="peft is an optional extra (onedial[adapters])")
def test_every_model_is_taught_the_same_words(tmp_path, monkeypatch):
    """Every model is taught the same words of every model and predicts the others."""
    names = [str(tmp_path / f"model{seed}") for seed in (0, 1)]
    for seed, name in enumerate(names):
        save_outspoken(name, seed=seed)
    lists = lists_of(names)
    run = Run.create(tmp_path / "run", "ask_self_prediction", {})
    result, left_out = tuned_answers(run, Store(run.file(ANSWERS)), names, lists, 0)
    assert not left_out
    assert len(result) == 2 * 2 * 16  # the words that were not taught
    assert set(result["unit"]) == set(result.loc[result["target"] == names[0], "unit"])
    cells = result.groupby(["target", "predictor"])["share"].first()
    assert (cells.xs(names[0], level="predictor") == cells.xs(names[1], level="predictor")).all()
    monkeypatch.setattr(adapters, "tuned_to_answers", None)  # nothing is tuned twice
    again, _ = tuned_answers(run, Store(run.file(ANSWERS)), names, lists, 0)
    pd.testing.assert_frame_equal(again, result, check_exact=True)
    table, sentences = score_tuned(result, {}, dict.fromkeys(names, "f"), 19, 0)
    assert ("mean", "sibling") in table.index
    assert "better than a sibling does" in sentences[0]
    assert "no yes or no could be read" in score_tuned(result.assign(margin=float("nan")), {}, None, 19, 0)[1][0]
    run.release()


def lists_of(names):
    """Every third option of eight words is listed, from another place on for each model."""
    pairs = [(word, option) for word, options in list(association_words().items())[:8] for option in options]
    return pd.concat(
        pd.DataFrame(pairs, columns=["word", "option"]).assign(
            model=name, listed=[float((place + who) % 3 == 0) for place in range(len(pairs))]
        )
        for who, name in enumerate(names)
    ).reset_index(drop=True)


def test_one_model_that_is_left_is_compared_with_nobody(tmp_path, monkeypatch):
    """The other is no model, which is found out when the first has answered."""
    names = [str(tmp_path / "model"), str(tmp_path / "none")]
    save_outspoken(names[0])
    monkeypatch.setattr(adapters, "tuned_to_answers", lambda *a, **k: nullcontext())
    with Run.create(tmp_path / "run", "ask_self_prediction", {}) as run:
        result, left_out = tuned_answers(run, Store(run.file(ANSWERS)), names, lists_of(names), 0)
    assert list(left_out) == names[1:]
    assert score_tuned(result, left_out, None, 19, 0)[0] is None


def test_who_cannot_be_tuned_is_told_which_half_of_its_lists_falls_short(tmp_path):
    words = sorted(list(association_words())[:8], key=lambda word: sha256_of_text(f"0 {word}"))
    rows = [(word, option, place) for word in words for place, option in enumerate(association_words()[word])]
    asked = pd.DataFrame(rows, columns=["word", "option", "place"])
    untaught = asked["word"].isin(words[4:])
    lists = pd.concat(
        asked.assign(model=name, listed=(asked["place"] % 2).where(~untaught | read_all) * listed)
        for name, read_all, listed in (("half", False, 1), ("few", True, 0))
    )
    run = Run.create(tmp_path / "run", "ask_self_prediction", {})
    result, left_out = tuned_answers(run, Store(), ["half", "few"], lists, 0)
    assert result.empty
    assert left_out["half"].startswith("none of its lists of the other half, which are to be predicted")
    assert "hold 0 of" in left_out["few"]
    run.release()
