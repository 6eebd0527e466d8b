"""Each rule of grading has its example; errors are measured on labelled replies (scripts/replies.py)."""

import json
import string

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.panels.grading.answer_text import normalised_tokens
from onedial.panels.grading.choice_grading import grade_answer
from onedial.panels.grading.grading import grade
from onedial.panels.questions.question_files import load_questions

SAME = [
    ("Paris.", "paris"),
    ("The Beatles", "Beatles"),
    ("**Answer:** Jane Austen", "Jane Austen"),
    ("5,000", "5000"),
    ("7.0", "7"),
    ("the 21st", "21"),
    ("50 percent", "50%"),
    ("−40", "minus 40"),
    ("Bogota", "Bogotá"),
    ("J. R. R. Tolkien", "J.R.R. Tolkien"),
    ("U.S.A.", "USA"),
    ("Einstein's", "Einstein"),
    ("Salt & pepper", "salt and pepper"),
    ("東京", "東京"),
    ("A", "a"),
]
GRADED = [
    (
        Question("q", "What is the capital of Norway?", ("Oslo",)),
        {
            "right": [
                "It was Oslo, I think.",
                "I'm not sure, but Oslo",
                "Not far.\n\nOslo.",
                "<think>Rome?</think>Oslo",
            ],
            "wrong": ["Bergen", "Osloer"],
            "no answer": [
                "I don't know",
                "It isn't Oslo",
                "Oslo or Bergen",
                "",
                "…",
                "Question:",
                "The capital of Norway",
            ],
        },
    ),
    (
        Question("q", "Who wrote Emma?", ("Jane Austen",)),
        {
            "right": ["Jane Austen did. She also wrote Persuasion."],
            "wrong": ["Not far. Fanny Burney did.", "Austen"],
            "no answer": ["Many did. Jane Austen tried. So it was Fanny Burney."],
        },
    ),
    (Question("q", "Which metal is not solid?", ("mercury",)), {"right": ["The metal that is not solid is mercury"]}),
    (Question("q", "Whose equation is it?", ("Einstein",)), {"right": ["Einstein's equation."]}),
    (Question("q", "What is the first prime?", ("2",)), {"right": ["2, the only even one"], "wrong": ["2, 3, 5"]}),
    (
        Question("q", "Which Roman emperor built the wall in the north of Britain?", ("Hadrian",)),
        {
            "right": ["Which Roman emperor built the wall in the north of Britain?\nHadrian", "Hadrian?"],
            "wrong": ["Britain", "The Roman emperor Trajan built the wall in Britain"],
            "no answer": ["Who built the wall in Britain?", "Roman emperor built the wall"],
        },
    ),
    (
        Question("q", "Is Pluto a planet or a dwarf planet?", ("dwarf planet",)),
        {"right": ["A dwarf planet."], "wrong": ["A planet."]},
    ),
    (Question("q", "Which band recorded Fragile?", ("Yes",)), {"right": ["The band Yes"], "wrong": ["Genesis"]}),
    (
        Question("q", "Is Rome in Italy?", ("yes",)),
        {"right": ["Yes.", "I'm not sure, but yes"], "wrong": ["No, it isn't."], "no answer": ["Yes and no", "Hm"]},
    ),
    (Question("q", "Is Rome in Spain?", ("No",)), {"right": ["No."], "wrong": ["Yes."], "no answer": ["In Italy"]}),
    (
        Question("q", "Which metal is liquid?", options=("gold", "mercury", "gold leaf", "iron"), right_option=1),
        {
            "right": [
                "B",
                "B. mercury",
                "Not gold, so the answer is **B**.",
                "\\boxed{\\text{B}}",
                "It is mercury, of course",
            ],
            "wrong": ["A", "iron"],
            "no answer": ["mercury and iron", "A or B", "E", "Answer:", "", "Beryllium"],
        },
    ),
    (
        Question("q", "How many of the 8 cows are black?", ("4",), grading="number"),
        {
            "right": [
                *("4", "The answer is 4. I counted 7 twice.", "$4$", "First \\boxed{3}, then \\boxed{4}", "2 x 2 = 4"),
                *("4 cm (2 in)", "#### 4", "There are 4.0 cows.", "Four.", "4 of 8"),
            ],
            "wrong": ["3", "3 of 8"],
            "no answer": [
                "4 or 5",
                "It is not 4",
                "twenty-four",
                "four hundred",
                "I cannot say",
                "",
                "\\boxed{}",
                "4x",
                "4\\sqrt{3}",
            ],
        },
    ),
    *(
        (Question("q", "What is it?", (accepted,), grading="number"), graded)
        for accepted, graded in {
            "1,234": {"right": ["1234", "1{,}234"]},
            "90": {"right": ["90^\\circ", "90°"]},
            "-7": {"right": ["-7", "minus seven"], "wrong": ["7"]},
            "\\frac{3}{4}": {"right": ["0.75", "3/4", "\\dfrac{3}{4}", "\\frac34"]},
            "3 1/3": {"right": ["10/3"]},
            "(1,2)": {"right": ["\\left( 1, 2 \\right)"]},
            "2 \\sqrt{3}": {"right": ["2\\sqrt{3}"]},
            "odd": {"right": ["\\text{odd}"]},
        }.items()
    ),
]


@pytest.mark.parametrize(("answer", "accepted"), SAME)
def test_equal_after_normalising_is_right(answer, accepted):
    assert grade(answer, ["Ulysses", accepted]).correct
    assert normalised_tokens(accepted) == normalised_tokens(answer.replace("**Answer:**", ""))


@pytest.mark.parametrize(("question", "graded"), GRADED)
def test_every_answer_is_graded_as_what_it_says(question, graded):
    outcomes = {text: grade_answer(question, text).outcome for texts in graded.values() for text in texts}
    assert outcomes == {text: outcome for outcome, texts in graded.items() for text in texts}


def test_a_common_word_counts_only_as_the_whole_answer():
    """An answer that stands in many sentences counts only as the whole answer."""
    assert grade("Fall.", ["autumn"], exact=["fall"]).correct
    assert not grade("The leaves fall", ["autumn"], exact=["fall"]).correct
    assert grade("fall", [], exact=["fall"]).outcome == "right"


@given(st.text(max_size=60), st.lists(st.text(max_size=20), max_size=3))
def test_any_text_can_be_graded(answer, accepted):
    result = grade(answer, accepted)
    assert result.correct is {"right": True, "wrong": False}.get(result.outcome)


@given(st.text(alphabet=string.printable, max_size=60))
def test_normalising_twice_changes_nothing(text):
    once = normalised_tokens(text)
    assert normalised_tokens(" ".join(once)) == once


def test_a_question_file_names_the_grader_and_an_unknown_one_is_refused(tmp_path):
    path = tmp_path / "q.csv"
    rows = [["How many?", "7", "number", ""], ["When?", "autumn", "", json.dumps(["fall", "the fall"])]]
    pd.DataFrame(rows, columns=["question", "answer", "grading", "exact_answers"]).to_csv(path, index=False)
    number, text = load_questions(path)
    assert (number.grading, text.grading, text.exact_answers) == ("number", "text", ("fall", "the fall"))
    path.write_text("question,grading\nHow many?,code\n")
    with pytest.raises(InputError, match="line 2, column 'grading' holds 'code'; give text, number"):
        load_questions(path)


def test_what_was_not_asked_or_has_no_key_is_ungraded():
    assert grade_answer(Question("q", "Which?", options=("a", "b"), right_option=0), None).outcome == "ungraded"
    assert grade_answer(Question("q", "Which?", options=("a", "b")), "A").outcome == "ungraded"
    for grading in ("text", "number"):
        assert grade_answer(Question("q", "Which?", (), grading=grading), "Seven").outcome == "ungraded"
