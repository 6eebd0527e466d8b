"""What a cell of a table of questions is taken for, exactly, or the sentence that refuses it."""

import json

import pytest

from onedial.core.errors import InputError
from onedial.panels.questions.question_columns import written
from onedial.panels.questions.question_files import load_questions

ASKED = "Which is a metal?"
FLAGS = {"key": "flags", "key_is": "flags"}
GENES = ["AA", "Aa", "aa"]


def read(row, columns=None):
    """The one question of a row."""
    return load_questions([{"question": ASKED} | row], columns=columns)[0]


@pytest.mark.parametrize(
    ("row", "columns", "right"),
    [
        ({"options": GENES, "answer": "Aa"}, None, "Aa"),
        ({"options": ["wood", "Iron"], "answer": "IRON"}, None, "Iron"),
        ({"options": {"a": "wood", "b": None, "c": "iron", "d": "air"}, "flags": [0, 0, 1, 0]}, FLAGS, "iron"),
        ({"options": {"a": "wood", "b": "", "c": "iron"}, "k": 2}, {"key": "k", "key_is": "from 0"}, "iron"),
        ({"options": {"c": "air", "a": "wood", "b": "iron"}, "flags": {"c": 0, "a": 0, "b": 1}}, FLAGS, "iron"),
        ({"options": {"a": "wood", "b": "iron"}, "flags": {"b": True, "a": False}}, FLAGS, "iron"),
        ({"options": {"x1": "air", "x2": None, "x3": "iron"}, "flags": {"p": 0, "q": 0, "r": 1}}, FLAGS, "iron"),
    ],
)
def test_the_right_option_is_the_one_that_is_named(row, columns, right):
    """Exactly written before folded, and by places in which blank options count."""
    question = read(row, columns)
    assert question.options[question.right_option] == question.answers[1] == right


@pytest.mark.parametrize(
    ("row", "columns", "words"),
    [
        ({"options": GENES, "answer": "aA"}, None, "3 of its options alike"),
        ({"options": ["iron", "air", "iron"], "answer": "iron"}, None, "2 of its options alike"),
        ({"options": ["wood", "iron"], "flags": [0, 0, 1]}, FLAGS, "no list of 2 truths"),
        ({"options": ["wood", "iron"], "flags": 5}, FLAGS, "no list of 2 truths"),
        ({"options": ["wood", "iron"], "flags": [0.2, 0.8]}, FLAGS, "neither true nor false"),
        ({"options": {"a": "wood", "b": None, "c": "air"}, "flags": [0, 1, 0]}, FLAGS, "a blank option"),
        ({"answers": {"text": ["iron"]}}, {"answers": "answers.txt"}, "nothing stands at 'answers.txt'.*holds 'text'"),
        ({"choices": "wood"}, {"options": "choices.text"}, "'choices' holds no objects"),
    ],
)
def test_what_could_be_another_option_is_refused(row, columns, words):
    with pytest.raises(InputError, match=words):
        read(row, columns)


def test_a_column_without_a_name_is_no_part_of_a_question(tmp_path):
    """As pandas writes an index; blank parts that are not there are not read from it."""
    (tmp_path / "q.csv").write_text(
        ",question,answer\n0,Who wrote Emma?,Jane Austen\n2,Who wrote Dune?,Frank Herbert\n"
    )
    first, second = load_questions(tmp_path / "q.csv", columns="answer=answer")
    assert (first.answers, second.level, second.topic) == (("Jane Austen",), None, None)


SHOWN = {"options": "options", "labels": "options", "key": "answer", "key_is": "label"}


@pytest.mark.parametrize(
    ("text", "key", "texts"),
    [
        ("a ) a gains , b . loses , b ) 5 , c ) 6", "b", ("a gains , b . loses", "5", "6")),
        ("A) 1.5 B) 2.5", "A", ("1.5", "2.5")),
        ("A) I and B) only B) II C) III", "C", "A, B, B, C, not each once and in order"),
        ("a ) 2 a . c , b ) 3 b . c", "a", "2 kinds of labels"),
        ("Or: A) wood B) iron", "A", "'Or:' stands before the first label"),
        ("A) wood\nB) iron\nAnswer:", "A", "runs over several lines"),
    ],
)
def test_options_in_a_text_are_told_by_labels_of_one_style(text, key, texts):
    if isinstance(texts, tuple):
        assert read({"options": text, "answer": key}, SHOWN).options == texts
    else:
        with pytest.raises(InputError, match=texts):
            read({"options": text, "answer": key}, SHOWN)


def test_a_right_option_is_not_split():
    columns = {"right": "right", "wrong": "wrong", "split": ";"}
    question = read({"right": "Nothing; it passes", "wrong": "It grows; You die"}, columns)
    assert sorted(question.options) == ["It grows", "Nothing; it passes", "You die"]
    assert question.answers[1] == "Nothing; it passes"
    for part in ("right", "wrong"):
        with pytest.raises(InputError, match="right and wrong go together"):
            read({part: "Nothing; it passes"}, {part: part})


@pytest.mark.parametrize(
    ("row", "words"),
    [
        *[({"answer": "Ann Bee", name: 1}, f"'answer', '{name}' could each") for name in ("model", "rating", "status")],
        ({"answer": "iron", "wahl_1": "wood", "wahl_2": "iron"}, r"options=wahl_1\+wahl_2,answer=answer"),
        ({"answer": "3", "A": "1", "B": "3"}, r"'A', 'B' could each.*options=A\+B,key=answer"),
        ({"answer": "iron", "falsch1": "wood", "falsch2": "air"}, r"right=answer,wrong=falsch1\+falsch2"),
        ({"answer": "(b)"}, "is a letter without options.*answer=answer"),
        ({"answer": "Ann Bee", "answer2": "Ann"}, "'answer', 'answer2' could each"),
        ({"answer": "Ann Bee [or Bee]"}, "may be several answers"),
        ({"answer": "WAHR"}, "is a truth"),
        ({"question": "Q1", "prompt": "Who wrote Emma?", "answer": "Ann Bee"}, "question=prompt,answer=answer"),
        ({"question": "1", "text": "Who wrote Emma?", "answer": "Ann Bee"}, "only numbers them.*question=text"),
    ],
)
def test_canonical_columns_are_refused_beside_what_may_be_meant(tmp_path, row, words):
    path = tmp_path / "q.jsonl"
    path.write_text(json.dumps({"question": ASKED} | row) + "\n")
    with pytest.raises(InputError, match=words):
        load_questions(path)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["Is it?,1", "Is he?,0"], "the answers '0', '1' may stand for yes and no; .*key=answer,key_is=truth"),
        (["Is it?,y", "Is he?,n"], "the answers 'n', 'y' may stand for yes and no"),
        (["Who?,Ann", "Total,1"], "line 3 sums up others .'Total'.; delete"),
        (
            ["Who?,Ann", "Why?,Ida", "After Wikipedia,"],
            "line 4 holds 'After Wikipedia' alone; .*a remark.*answer=answer",
        ),
    ],
)
def test_rows_that_together_say_something_else_are_refused(tmp_path, rows, words):
    path = tmp_path / "q.csv"
    path.write_text("\n".join(["question,answer", *rows]) + "\n")
    with pytest.raises(InputError, match=words):
        load_questions(path)


def test_a_first_row_that_is_no_header_is_said(tmp_path):
    path = tmp_path / "q.tsv"
    path.write_text("Who wrote Emma?\tJane Austen\nWho wrote Dune?\tFrank Herbert\n")
    with pytest.raises(InputError, match=r"'Who wrote Emma.' names none: .* write names above"):
        load_questions(path)


def test_a_canonical_column_is_left_unread_by_an_empty_name(tmp_path):
    row = {"question": ASKED, "answer": "iron", "level": "hard"}
    path = tmp_path / "q.jsonl"
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(InputError, match="--columns level="):
        load_questions(path)
    assert load_questions(path, columns="level=")[0].answers == ("iron",)
    assert load_questions([row], columns={"level": "", "answer": ""})[0].answers == ()


@pytest.mark.parametrize("cell", ["NaN", "#N/A", "null", "N/A", "None", ""])
def test_what_programs_write_for_a_blank_is_no_answer(cell):
    assert read({"answer": cell}).answers == ()


def test_blank_options_are_none():
    assert read({"options": ["wood", "iron", "nan"], "answer": "B"}).options == ("wood", "iron")


def test_the_id_is_the_one_that_a_panel_is_read_by():
    assert read({"id": 1, "question_id": "geo-7"}).id == "geo-7"


def test_a_name_that_no_command_line_holds_is_suggested_for_the_yaml(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text("Frage,Typ A=1,Typ B=2,Antwort\nWas ist ein Metall?,Holz,Eisen,Eisen\n")
    mapping = {"question": "Frage", "options": ("Typ A=1", "Typ B=2"), "key": "Antwort", "key_is": "text"}
    given = written(mapping).partition("columns: ")[2]
    path.with_suffix(".yaml").write_text(f"columns: {given}\n", encoding="utf-8")
    assert load_questions(path)[0].answers == ("B", "Eisen")


@pytest.mark.parametrize("texts", [["What is 5-3?", "What is 5+3?", "What is 5*3?"], ["Is 3 < 2?", "Is 3 > 2?"]])
def test_questions_that_differ_in_a_sign_are_two(texts):
    questions = load_questions([{"question": text, "answer": f"no {n}"} for n, text in enumerate(texts)])
    assert len({question.id for question in questions}) == len(texts)
    assert [question.answers for question in questions] == [(f"no {n}",) for n in range(len(texts))]
    again = [text.replace(" ", "  ") for text in texts]
    assert len(load_questions([*texts, *again, "Who?"])) == len(texts) + 1


def test_one_question_about_two_contexts_is_refused():
    """Without ids they would be one question with both answers."""
    rows = [{"context": place, "question": "What is the capital?", "answer": place} for place in ("Lima", "Quito")]
    with pytest.raises(InputError, match="under more than one 'context'"):
        load_questions(rows)
    assert len(load_questions([row | {"id": row["context"]} for row in rows])) == 2
    truths = [row | {"answer": row["answer"] == "Lima"} for row in rows]
    (question,) = load_questions(truths, columns={"key": "answer", "key_is": "truth"})
    assert question.answers == ()
