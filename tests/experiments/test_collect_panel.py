"""The program that collects a panel from models on this machine."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tiny_models import save_tiny

from experiments import panel as panel_program
from onedial.asking.questions import Question
from onedial.asking.store import _Lines
from onedial.core.command_line import run_command
from onedial.models.respondent import LocalRespondent
from onedial.panels.collecting.collection import instruments_of
from onedial.panels.collecting.respondent_files import load_respondents
from onedial.panels.grading.closed_book import accuracy_by_level
from onedial.panels.panel_files import load_panel
from onedial.panels.panel_scores import summarise_panel

# ---- the program ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two tiny models, a file of respondents and six questions."""
    root = tmp_path_factory.mktemp("collect")
    for name, seed in (("first", 0), ("second", 1)):
        save_tiny(root / name, "llama", seed)
    (root / "who.yaml").write_text(
        f"models:\n  - model: {root / 'first'}\n    family: tiny\n  - {root / 'second'}\nframings: [neutral, eager]\n"
    )
    rows = [
        {"id": f"q{i}", "question": f"What is {i} + {i}?", "answers": [str(2 * i)], "level": i} for i in range(1, 6)
    ]
    rows.append({"id": "q6", "question": "What did nobody ever see?", "answers": [], "unknowable": True})
    write_questions(root / "questions.jsonl", rows)
    return root


def write_questions(path: Path, rows: list[dict]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def collect(folder: Path, out: Path, *more: str, questions: Path | None = None) -> int:
    arguments = ["--respondents", str(folder / "who.yaml"), "--questions", str(questions or folder / "questions.jsonl")]
    sys.argv = ["panel.py", "collect", *arguments, "--out", str(out), *more]
    return run_command(panel_program.main)


@pytest.fixture(scope="module")
def panel(folder):
    before = sys.argv
    try:
        assert collect(folder, folder / "panel") == 0
    finally:
        sys.argv = before
    return folder / "panel"


@pytest.fixture(autouse=True)
def _arguments(monkeypatch):
    monkeypatch.setattr(sys, "argv", sys.argv)


def test_what_is_collected_is_a_panel_that_can_be_loaded(panel):
    loaded = load_panel(panel / "panel.csv")
    assert list(loaded.answers.columns) == ["first: neutral", "first: eager", "second: neutral", "second: eager"]
    assert list(loaded.answers.index) == [f"q{i}" for i in range(1, 7)]
    assert list(loaded.respondents["family"]) == ["tiny", "tiny", "", ""]
    assert loaded.respondents["model_sha256"].nunique() == 2
    responses = loaded.responses
    unread = responses["mass"] < 0.1
    assert responses.loc[unread, "said_yes"].isna().all()
    assert (responses.loc[~unread, "said_yes"] == (responses.loc[~unread, "margin"] > 0)).all()
    assert responses["prompt_hash"].nunique() == 12  # both models share template and tokenizer


def test_a_collection_that_was_broken_off_goes_on_and_ends_the_same(panel, folder, tmp_path, monkeypatch):
    monkeypatch.setattr("onedial.studies.collecting.asking.CHUNK", 4)
    append, n_appended = _Lines.append, 0

    def breaks_off(self, *lines):
        nonlocal n_appended
        n_appended += 1
        if n_appended == 4:
            raise KeyboardInterrupt
        append(self, *lines)

    monkeypatch.setattr(_Lines, "append", breaks_off)
    assert collect(folder, tmp_path / "out") == 130
    assert not (tmp_path / "out" / "panel.csv").exists()
    monkeypatch.setattr(_Lines, "append", append)
    assert collect(folder, tmp_path / "out", "--resume") == 0
    again, whole = (pd.read_csv(path / "panel.csv") for path in (tmp_path / "out", panel))
    numbers = ["margin", "mass"]
    pd.testing.assert_frame_equal(again.drop(columns=numbers), whole.drop(columns=numbers))
    np.testing.assert_allclose(again[numbers], whole[numbers], atol=1e-5)


def save_with_tokenizer(folder, change) -> None:
    """A tiny model whose tokenizer file was changed."""
    save_tiny(folder)
    file = folder / "tokenizer.json"
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content))


def test_a_model_that_cannot_tell_yes_from_no_is_refused(folder, tmp_path, capsys):
    """A model that cannot tell yes from no is refused before it is asked."""

    def forget_the_words(content):
        vocabulary = content["model"]["vocab"]
        content["model"]["vocab"] = {t: i for t, i in vocabulary.items() if t.strip("Ġ").lower() not in ("yes", "no")}

    save_with_tokenizer(tmp_path / "mute", forget_the_words)
    (tmp_path / "who.yaml").write_text(f"models: [{tmp_path / 'mute'}]\nframings: [neutral, child]\n")
    assert collect(tmp_path, tmp_path / "out", questions=folder / "questions.jsonl") == 2
    shown = capsys.readouterr()
    assert "mute: neutral cannot be asked: yes and no begin with the same token" in shown.err
    assert shown.out.count("begin with the same token") == 2
    assert not (tmp_path / "out").exists()


def test_what_makes_answers_hard_to_read_is_told(folder, tmp_path, capsys):
    """A model that spells yes out is refused before it is asked; one that gives the words little mass, at the end."""

    def spell_yes_out(content):
        (split,) = [each for each in content["pre_tokenizer"]["pretokenizers"] if each["type"] == "Split"]
        split["pattern"]["Regex"] = "Ġ?(No|no|NO)(?![A-Za-z])|."

    save_with_tokenizer(tmp_path / "slow", spell_yes_out)
    (tmp_path / "who.yaml").write_text(f"models: [{tmp_path / 'slow'}]\nframings: [neutral, child]\n")
    assert collect(tmp_path, tmp_path / "out", "--no-closed-book", questions=folder / "questions.jsonl") == 2
    rows = [line for line in capsys.readouterr().out.splitlines() if "no spelling of yes" in line]
    assert [line.split()[1].rstrip(":") for line in rows] == ["neutral", "child"]
    (tmp_path / "who.yaml").write_text(f"models: [{folder / 'first'}]\nframings: [neutral, child]\n")
    assert collect(tmp_path, tmp_path / "out", "--no-closed-book", questions=folder / "questions.jsonl") == 0
    medians = pd.read_csv(tmp_path / "out" / "panel.csv").groupby("respondent")["mass"].median()
    assert (medians < 0.2).all()
    assert capsys.readouterr().out.count("(too little to read)") == 2


def test_resuming_asks_again_only_what_was_reworded(panel, folder, tmp_path, monkeypatch):
    questions = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()]
    out = tmp_path / "out"
    assert collect(folder, out, "--no-closed-book") == 0
    questions[2]["question"] = "What is 1.5 + 1.5 + 3?"
    write_questions(tmp_path / "reworded.jsonl", questions)
    asked = []
    answer = LocalRespondent.answer
    monkeypatch.setattr(
        LocalRespondent, "answer", lambda self, prompts, each: asked.extend(prompts) or answer(self, prompts, each)
    )
    assert collect(folder, out, "--no-closed-book", "--resume", questions=tmp_path / "reworded.jsonl") == 0
    assert len(asked) == 4
    assert all("1.5 + 1.5" in prompt.user for prompt in asked)
    before, after = (pd.read_csv(path / "panel.csv").set_index("question_id") for path in (panel, out))
    assert (before.loc["q3", "prompt_hash"].to_numpy() != after.loc["q3", "prompt_hash"].to_numpy()).all()
    assert before.drop("q3")["prompt_hash"].equals(after.drop("q3")["prompt_hash"])


def test_a_slow_model_may_be_asked_fewer_questions_and_more_later(folder, tmp_path):
    entry = f"models:\n  - {folder / 'first'}\n  - model: {folder / 'second'}\n"
    who, questions = tmp_path / "who.yaml", folder / "questions.jsonl"
    who.write_text(entry + "    n_questions: 2\nframings: [child]\n")
    assert collect(tmp_path, tmp_path / "out", questions=questions) == 2  # none of the answers can be read
    few = load_panel(tmp_path / "out" / "panel.csv").answers
    assert few.shape == (6, 2)
    assert len(load_panel(tmp_path / "out" / "panel.csv").responses) == 8
    who.write_text(entry + "framings: [child]\n")
    assert collect(tmp_path, tmp_path / "out", "--resume", questions=questions) == 0
    assert len(load_panel(tmp_path / "out" / "panel.csv").responses) == 12


def test_other_weights_under_the_same_name_are_not_mixed_in(folder, tmp_path, capsys):
    save_tiny(tmp_path / "tiny", "llama", 0)
    (tmp_path / "who.yaml").write_text(f"models: [{tmp_path / 'tiny'}]\nframings: [neutral]\n")
    questions = folder / "questions.jsonl"
    assert collect(tmp_path, tmp_path / "out", "--no-closed-book", questions=questions) == 0
    save_tiny(tmp_path / "tiny", "llama", 3)
    (tmp_path / "who.yaml").write_text(f"models: [{tmp_path / 'tiny'}]\nframings: [neutral, child]\n")
    assert collect(tmp_path, tmp_path / "out", "--no-closed-book", "--resume", questions=questions) == 2
    assert "holds answers of other weights" in capsys.readouterr().err


def test_the_question_itself_is_asked_in_its_ways(tmp_path):
    """A model is asked the question itself plainly after worked examples or not at all."""
    (tmp_path / "who.yaml").write_text(
        "models:\n  - a\n  - {model: b, closed_book: examples}\n  - {model: c, closed_book: false}\n"
    )
    itself = [instruments_of(entry, closed_book=True)[1:] for entry in load_respondents(tmp_path / "who.yaml")]
    assert [[each.template.name for each in of_model] for of_model in itself] == [
        ["closed book"],
        ["closed book, examples"],
        [],
    ]
    assert {each.name for of_model in itself for each in of_model} == {"closed book"}


def test_a_framing_may_be_a_prompt_file_and_a_model_may_have_its_own(tmp_path):
    (tmp_path / "sly.txt").write_text("Psst. {question} Yes or No?")
    (tmp_path / "who.yaml").write_text(
        "models:\n  - org/one\n  - {model: two, framings: [sly.txt, child], dtype: bfloat16}\nframings: [eager]\n"
    )
    one, two = load_respondents(tmp_path / "who.yaml")
    assert [one.respondent(framing) for framing in one.framings] == ["one: eager"]
    assert [two.respondent(framing) for framing in two.framings] == ["two: sly", "two: child"]
    assert two.dtype == "bfloat16"


# ---- what the summary says --------------------------------------------------------------------------------------


def test_unread_answers_lower_no_yes_rate():
    """Unread answers lower no yes rate and unknowable questions have no level."""
    questions = [Question("a", "A?", ("x",), level=1), Question("b", "B?", ("y",), level=5)]
    questions.append(Question("c", "C?", level=5, unknowable=True))
    rows = pd.DataFrame(
        {
            "question_id": ["a", "b", "c"],
            "respondent": "r",
            "said_yes": [1.0, np.nan, 1.0],
            "margin": [2.0, 1.0, 5.0],
            "mass": [0.9, 0.05, 0.5],
            "answered_correctly": [1.0, 0.0, np.nan],
        }
    )
    summary = summarise_panel(rows, questions).loc["r"]
    assert summary["yes_rate"] == 1.0
    assert summary["unread"] == pytest.approx(1 / 3)
    assert summary["auroc_level"] == summary["auroc_correct"] == 1.0
    closed = pd.DataFrame({"model": "m", "question_id": ["a", "b", "c"], "correct": [1.0, 0.0, np.nan]})
    assert accuracy_by_level(closed, questions).loc["m"].to_dict() == {1: 1.0, 5: 0.0, "all": 0.5}


def test_shards_merge_into_the_panel_of_one_machine(panel, folder, tmp_path, capsys):
    """Shards from several machines merge into the panel that one would have made."""
    for part in ("1/2", "2/2"):
        assert collect(folder, tmp_path / part[0], "--shard", part) == 0
    shards = [arguments for part in "12" for arguments in ("--merge", str(tmp_path / part))]
    capsys.readouterr()
    assert collect(folder, tmp_path / "whole", *shards) == 0
    assert "answers taken over from" in capsys.readouterr().out
    (one, other) = (pd.read_csv(path / "panel.csv") for path in (tmp_path / "whole", panel))
    numbers = ["margin", "mass"]
    pd.testing.assert_frame_equal(one.drop(columns=numbers), other.drop(columns=numbers))
    np.testing.assert_allclose(one[numbers], other[numbers], atol=1e-5)
    assert collect(folder, tmp_path / "fourth", "--merge", str(tmp_path)) == 2
    assert "holds no run" in capsys.readouterr().err
