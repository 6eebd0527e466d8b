"""`onedial place`: first questions, where a respondent stands, a model asked here, and how good all that is."""

import json

import pandas as pd
import pytest
from tiny_experiment import ROOT, run_here, write_experiment

from onedial.core.errors import InputError
from onedial.core.notices import Notice
from onedial.panels.answers_by_hand import load_answers

PLACE = ROOT / "experiments" / "place.py"


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    folder = tmp_path_factory.mktemp("placing")
    given = write_experiment(folder, n=120)
    questions = pd.read_csv(given["questions"]).rename(columns={"id": "question_id"})
    answers = pd.read_csv(given["panel"])
    texts = questions.set_index("question_id")["question"]
    answers.insert(1, "question", answers["question_id"].map(texts).where(answers.index > 0))  # one has no text
    answers.to_csv(given["panel"], index=False)
    return given


@pytest.fixture(scope="module")
def first(options, tmp_path_factory):
    """The first ten questions."""
    folder = tmp_path_factory.mktemp("first") / "run"
    assert run_here(PLACE, options["panel"], "--next", 10, "--out", folder) == 0
    return pd.read_csv(folder / "next.csv")


def test_the_first_questions_come_with_texts_and_room_for_answers(first, options):
    assert len(first) == first["question_id"].nunique() == 10
    assert first["question"].notna().all()
    assert first["answer"].isna().all()
    assert "q000" not in set(first["question_id"])
    assert first["probability"].between(0, 1).all()


def test_the_filled_table_places_a_respondent_and_blanks_tell_nothing(first, options, tmp_path, call):
    filled = first.assign(answer=["yes", "no", "1", "0", "TRUE", "no", "yes", "yes", None, None])
    filled.to_csv(tmp_path / "mine.csv", index=False)
    ended = call(PLACE, options["panel"], "--answers", tmp_path / "mine.csv", "--out", tmp_path / "run", drawn=True)
    assert ended.code == 0, ended.err
    assert "8 answers, 2 blank" in ended.out
    steps, predicted, following = (
        pd.read_csv(tmp_path / "run" / f"{name}.csv") for name in ("steps", "predictions", "next")
    )
    assert list(steps["n_answers"]) == list(range(9))
    assert (steps["low"] < steps["threshold"]).all()
    assert (steps["threshold"] < steps["high"]).all()
    assert len(predicted) == 120 - 8
    asked = set(filled["question_id"][:8])
    assert not asked & (set(predicted["question_id"]) | set(following["question_id"]))
    assert (tmp_path / "run" / "figures" / "threshold.svg").is_file()


def test_answers_to_questions_that_are_not_known_are_left_out_and_named(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("question_id,answer\nq1,yes\nelsewhere,no\n")
    with pytest.warns(Notice, match="1 answers are to questions that are not on the scale: 'elsewhere'"):
        assert load_answers(path, pd.Index(["q1"])).to_dict() == {"q1": 1.0}
    with pytest.raises(InputError, match=r"none of the 2 questions .* is known, such as 'q1'"):
        load_answers(path, pd.Index(["q9"]))
    path.write_text("question_id,answer\nq1,yes\nq1,no\n")
    with pytest.raises(InputError, match="line 3 repeats the question 'q1'"):
        load_answers(path, pd.Index(["q1"]))


def test_a_model_is_asked_one_question_after_the_other(options, tmp_path, call):
    given = ["--model", options["model"], "--prompt", options["prompt"], "--next", 6, "--out", tmp_path / "run"]
    ended = call(PLACE, options["panel"], *given)
    assert ended.code == 0, ended.err
    answers = pd.read_csv(tmp_path / "run" / "answers.csv")
    assert answers["question_id"].nunique() == 6
    assert answers["mass"].notna().all()
    read = answers.dropna(subset="said_yes")
    steps = pd.read_csv(tmp_path / "run" / "steps.csv") if len(read) else pd.DataFrame({"said_yes": [None]})
    assert list(steps["said_yes"].iloc[1:]) == list(read["said_yes"])
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["model"]


def test_the_panel_s_own_respondents_show_how_good_it_is(options, tmp_path, call):
    pd.read_csv(options["panel"]).iloc[:, :8].to_csv(tmp_path / "six.csv", index=False)
    ended = call(PLACE, tmp_path / "six.csv", "--evaluate", "--draws", 1, "--out", tmp_path / "run", drawn=True)
    assert ended.code == 0, ended.err
    summary = pd.read_csv(tmp_path / "run" / "summary.csv")
    assert set(summary["k"]) == {5, 10, 15, 20, 25, 30, 50}
    assert (summary["n"] == 6).all()
    draws = pd.read_csv(tmp_path / "run" / "draws.csv")
    assert len(draws) == 6 * 7
    assert (tmp_path / "run" / "figures" / "quality.png").is_file()
