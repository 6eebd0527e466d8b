"""Panels leave as what other tools read, and what is not known stays out of it."""

import json
from typing import get_args

import pandas as pd
import pytest

from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.panels.formats.exporting import EXPORTERS, Value
from onedial.panels.formats.formats import read_logs
from onedial.panels.formats.imported_panel import panel_from_logs
from onedial.panels.panel_files import load_panel
from onedial.panels.questions.question_files import load_questions

PANEL = """question_id,question,respondent,model,framing,said_yes,confidence,sample,answered_correctly,raw_text
q1,Who wrote Emma?,m: bold,org/m,bold,1,0.9,0,1,Yes.
q1,Who wrote Emma?,m: bold,org/m,bold,0,,1,1,"No, I
think"
q2,Who sang Aida?,m: bold,org/m,bold,0,0.2,0,0,No
q3,Who knows?,m: bold,org/m,bold,,,0,1,Hm
q1,Who wrote Emma?,m: shy,org/m,shy,1,,0,,yes
"""
QUESTIONS = [Question("q1", "Who wrote Emma?", ("Jane Austen", "Austen")), Question("q2", "Who sang Aida?")]


@pytest.fixture
def panel(tmp_path):
    (tmp_path / "panel.csv").write_text(PANEL)
    return load_panel(tmp_path / "panel.csv", declared={"top": 1})


def exported(panel, name, value, tmp_path):
    n_left_out = EXPORTERS[name](panel, QUESTIONS, value, tmp_path / "out_samples.jsonl")
    return [json.loads(line) for line in (tmp_path / "out_samples.jsonl").read_text().splitlines()], n_left_out


def test_py_irt_gets_a_line_per_respondent_without_what_is_not_known(panel, tmp_path):
    lines, n_left_out = exported(panel, "py-irt", "said_yes", tmp_path)
    assert n_left_out == 1
    assert lines == [
        {"subject_id": "m: bold", "responses": {"q2": 0}},  # two samples of q1 disagree
        {"subject_id": "m: shy", "responses": {"q1": 1}},
    ]
    lines, n_left_out = exported(panel, "py-irt", "answered_correctly", tmp_path)
    assert lines[0] == {"subject_id": "m: bold", "responses": {"q1": 1, "q2": 0, "q3": 1}}
    assert lines[1] == {"subject_id": "m: shy", "responses": {}}
    assert n_left_out == 1


def test_every_eval_ever_gets_the_required_fields_and_texts_in_metadata(panel, tmp_path):
    lines, n_left_out = exported(panel, "every-eval-ever", "came_true", tmp_path)
    assert n_left_out == 2
    assert [line["evaluation"] for line in lines] == [
        {"score": 1.0, "is_correct": True},
        {"score": 0.0, "is_correct": False},
        {"score": 1.0, "is_correct": True},
    ]
    first = lines[0]
    for field in ("schema_version", "evaluation_id", "model_id", "evaluation_name", "sample_id", "interaction_type"):
        assert isinstance(first[field], str)
    assert first["input"] == {"raw": "Who wrote Emma?", "reference": ["Jane Austen", "Austen"]}
    assert first["output"] == {"raw": ["Yes."]}
    assert set(map(type, first["metadata"].values())) == {str}
    assert first["metadata"]["confidence"] == "0.9"
    assert [line["metadata"]["epoch"] for line in lines] == ["1", "2", "1"]


def test_what_was_exported_is_imported_as_it_was(tmp_path):
    panel = load_panel("embedded").select(respondents=["gemma-3-270m: examples NY", "gemma-3-270m: examples YN"])
    EXPORTERS["every-eval-ever"](panel, load_questions("embedded"), "said_yes", tmp_path / "x_samples.jsonl")
    back = panel_from_logs(read_logs(tmp_path / "x_samples.jsonl"), asked="yes-no")
    imported = back.panel.pivot(index="question_id", columns="respondent", values="said_yes")
    ours = panel.answers.set_axis(back.respondents["respondent"], axis=1)
    expected = ours[ours.notna().any(axis=1)].reindex(imported.index)
    pd.testing.assert_frame_equal(imported, expected, check_names=False)
    assert back.respondents["model"].unique().tolist() == ["gemma-3-270m"]
    assert {question.id: question.text for question in back.questions}["geo-001"].startswith("On which continent")


def test_a_wide_panel_can_leave_by_its_yes_and_no_alone(tmp_path):
    panel = load_panel("frontier").select(respondents=["gpt-4.1"])
    lines, n_left_out = exported(panel, "py-irt", "said_yes", tmp_path)
    assert len(lines[0]["responses"]) == 450
    assert n_left_out == 0
    for value in set(get_args(Value)) - {"said_yes"}:
        with pytest.raises(InputError, match=f"{value} is not known; give said_yes"):
            exported(panel, "py-irt", value, tmp_path)
