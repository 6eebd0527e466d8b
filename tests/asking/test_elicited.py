"""A panel says how it was asked: in which words, when, in which form; and its columns and spellings become ours."""

import gzip

import numpy as np
import pytest

from onedial.asking.elicited import Elicitation, elicitation_of, panel_and_cuts, prompt_of_panel
from onedial.asking.prompts import load_prompt
from onedial.core.errors import InputError
from onedial.panels.panel_files import load_panel

WIDE = """\
nr;Frage;Fach;a;b
1;Wie heißt der Fluss?;Erdkunde;ja;Yes, I can
2;Wer schrieb das?;Kunst;NEIN;
3;Wann?;Kunst;J;n
"""
GERMAN = """\
question: Kannst du diese Frage richtig beantworten?
yes: [ja, J, "Yes, I can"]
no: [nein, N]
columns: {question_id: nr, question: Frage}
about: [Fach]
licence: CC0
"""


def panel_of(folder, table=WIDE, elicitation=GERMAN, name="panel.csv"):
    (folder / name).write_text(table, encoding="utf-8")
    if elicitation is not None:
        (folder / "elicitation.yaml").write_text(elicitation, encoding="utf-8")
    return load_panel(folder / name)


def test_own_columns_and_spellings_are_read(tmp_path):
    """Columns and spellings of one's own are read and other columns kept."""
    panel = panel_of(tmp_path)
    np.testing.assert_array_equal(panel.answers.to_numpy(), [[1, 1], [0, np.nan], [1, 0]])
    assert list(panel.answers.columns) == ["a", "b"]
    assert panel.question_texts["1"] == "Wie heißt der Fluss?"
    assert panel.about_questions["Fach"].tolist() == ["Erdkunde", "Kunst", "Kunst"]
    assert panel.elicitation.licence == "CC0"
    few = panel.select(questions=["3", "1"], respondents=["b"])
    assert few.about_questions["Fach"].tolist() == ["Kunst", "Erdkunde"]
    assert few.elicitation is panel.elicitation


def test_a_bare_yes_in_yaml_is_the_word_and_no_truth_value(tmp_path):
    table = "question_id,a\n1,yes\n2,Y\n3,no\n"
    panel = panel_of(tmp_path, table, "question: Can you?\nyes: [yes, y]\nno: no\n")
    assert panel.answers["a"].tolist() == [1, 1, 0]


def test_a_gzipped_table_is_read_like_the_table(tmp_path):
    plain = panel_of(tmp_path)
    (tmp_path / "zipped.csv.gz").write_bytes(gzip.compress(WIDE.encode()))
    assert load_panel(tmp_path / "zipped.csv.gz").answers.equals(plain.answers)
    (tmp_path / "broken.csv.gz").write_bytes(gzip.compress(WIDE.encode())[:-9])
    with pytest.raises(InputError, match=r"broken\.csv\.gz is no whole gzip file"):
        load_panel(tmp_path / "broken.csv.gz")


def test_numbers_of_one_s_own_are_cut_and_kept(tmp_path):
    table = "question_id,respondent,confidence\n1,a,8\n1,b,10\n2,a,6.5\n2,b,\n"
    panel = panel_of(tmp_path, table, "question: How sure?\nanswer: number\ntop: 10\ncut: 7\nwhen: after\n")
    np.testing.assert_array_equal(panel.answers.to_numpy(), [[1, 1], [0, np.nan]])
    assert panel.responses["confidence"].tolist()[:2] == [0.8, 1.0]
    assert load_panel(f"{tmp_path / 'panel.csv'}:6.5").answers["a"].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("prompt", "n"),
    [
        ("Request: {question}\n\nwould you  answer THIS request? Yes or No?", 0),
        ("Would you answer this? {question}", 1),
        ("Would you answer this requesting? {question}", 1),
    ],
)
def test_a_prompt_asks_the_same_where_it_holds_the_question_word_for_word(prompt, n):
    assert len(Elicitation("Would you answer this request?").otherwise(prompt)) == n


def test_moment_and_form_are_told_apart():
    differences = Elicitation("How sure are you?", when="after", answer="number", top=100.0).otherwise(
        "How sure are you?"
    )
    assert len(differences) == 2
    assert "after answering" in differences[0]
    assert "a number from 0 to 100" in differences[1]


def test_every_panel_in_the_box_says_how_it_was_asked():
    for name in ("embedded", "frontier", "frontier-confidence"):
        result = elicitation_of(name)
        assert result.question
        assert result.licence
        assert result.source
    assert "Would you answer this request?" in load_prompt(prompt_of_panel("frontier")).user
    assert prompt_of_panel("embedded") is None
    with pytest.raises(InputError, match="brings no prompt along"):
        load_prompt("frontier-confidence")


def test_a_cut_belongs_to_a_panel_and_a_path_keeps_its_colons(tmp_path):
    assert panel_and_cuts("frontier-confidence:90,median") == ("frontier-confidence", (90.0, "median"), None)
    assert panel_and_cuts("my.csv:8/10") == ("my.csv", (8.0,), 10.0)
    assert panel_and_cuts("my:panel.csv") == ("my:panel.csv", (), None)
    (tmp_path / "a:90").write_text("")
    assert panel_and_cuts(str(tmp_path / "a:90")) == (str(tmp_path / "a:90"), (), None)
