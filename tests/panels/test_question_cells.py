"""What a cell of a table of questions is taken for, exactly, or the sentence that refuses it."""

import pytest

from onedial.core.errors import InputError
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
