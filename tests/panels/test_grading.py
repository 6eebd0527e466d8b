"""Words are graded by SQuAD's rules, options by their letter, final answers by their value: each by what it names."""

import math
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.panels.grading.answer_text import normalised_tokens
from onedial.panels.grading.choice_grading import grade_answer, options_shown, with_options
from onedial.panels.grading.grading import grade
from onedial.panels.grading.number_grading import final_answer, value_of
from onedial.panels.questions.question_files import load_questions

EXACT = {
    "Paris.": "paris",
    "The Beatles": "Beatles",
    "**Answer:** Jane Austen": "Jane Austen",
    "A: Jane Austen\nQ: Who wrote Ulysses?": "Jane Austen",
    "The answer is 42.": "forty-two",
    "5,000": "five thousand",
    "12\u202f000": "12000",
    "1.5 million": "1,500,000",
    "two million three hundred thousand": "2300000",
    "three hundred and sixty five days": "365 days",
    "one hundred and fifth": "105th",
    "nineteen twelve": "19 12",
    "hundred and one dalmatians": "hundred and 1 dalmatians",
    "the twenty-first": "21st",
    "7.0": "seven",
    "fifty percent": "50%",
    "−40": "minus forty",
    "Bogota": "Bogotá",
    "JRR Tolkien": "J.R.R. Tolkien",
    "U.S.A.": "USA",
    "H₂O": "H2O",
    "Coca Cola": "Coca-Cola",
    "Salt & pepper": "salt and pepper",
    "東京": "東京",
    "A": "a",
}


@pytest.mark.parametrize(("answer", "accepted"), EXACT.items())
def test_equal_after_normalising_is_exact(answer, accepted):
    assert grade(answer, [accepted]) == grade(accepted, [accepted])
    assert grade(answer, ["Ulysses", accepted]).exact
    assert grade(answer, [accepted]).f1 == 1


NORWAY, WALL = "What is the capital of Norway?", "Which Roman emperor built the wall in the north of Britain?"
CARBON, PLUTO = "What is the symbol of carbon?", "Is Pluto a planet or a dwarf planet?"
TWINS, ADD = "Which twins founded Rome?", "Add three and four."
WORDS = {
    "right": [
        ("It was Oslo, I think.", "Oslo", NORWAY),
        ("It is called Trinidad or Tobago", "Trinidad or Tobago", "Which islands?"),
        ("The metal that is not solid is mercury", "mercury", "Which metal is not solid?"),
        ("Lead, of lead or iron", "lead", "Which is softer, lead or iron?"),
        ("Einstein's equation.", "Einstein", "Whose equation is it?"),
        ("1960's", "1960s", "In which decade did men first walk on the Moon?"),
        ("1010 in binary is 10.", "10", "What is the binary number 1010 in decimal?"),
        ("The fifth power of 2 is 32", "32", "Raise two to the fifth power."),
        ("3 + 4 = 7", "7", ADD),
        ("8849 m (29,032 ft)", "8849 m", "How high is Everest?"),
        ("The symbol of carbon is C.", "C", CARBON),
        ("C (from carbo)", "C", CARBON),
        ("Remus came second, Romulus first", "Romulus and Remus", TWINS),
        ("1. Romulus 2. Remus", "Romulus and Remus", TWINS),
        (f"{WALL}\nHadrian", "Hadrian", WALL),
        ("The Roman emperor Hadrian built the wall in Britain", "Hadrian", WALL),
        ("Answer:\nHadrian", "Hadrian", WALL),
        ("Hadrian?", "Hadrian", WALL),
        ("Pluto is a dwarf planet.", "dwarf planet", PLUTO),
    ],
    "wrong": [
        ("I don't know", "Oslo", NORWAY),
        ("Not Oslo", "Oslo", NORWAY),
        ("It isn't Oslo", "Oslo", NORWAY),
        ("Oslo or Bergen", "Oslo", NORWAY),
        ("Bergen\nOslo", "Oslo", NORWAY),
        ("Osloer", "Oslo", NORWAY),
        ("It is not mercury", "mercury", "Which metal is not solid?"),
        ("Lead or gold", "lead", "Which is softer, lead or iron?"),
        ("Built in 1887, the tower was opened in 1889", "1889", "When was the tower opened?"),
        ("8611 m (K2; Everest has 8849)", "8849", "How high is Everest?"),
        ("7 = 3 + 5", "7", ADD),
        ("40", "-40", "How cold was it?"),
        ("3", "3rd", "Which place?"),
        ("It is c", "C", CARBON),
        ("C major is a key", "C", CARBON),
        ("Romulus alone", "Romulus and Remus", TWINS),
        ("a white cat and black dog", "black and white", "In what colours was the film shot?"),
        ("Austen", "Jane Austen", "Who wrote Emma?"),
        ("Britain", "Hadrian", WALL),
        ("Trajan?", "Hadrian", WALL),
        ("The Roman emperor Trajan built the wall in Britain", "Hadrian", WALL),
        ("Pluto is a planet.", "dwarf planet", PLUTO),
    ],
    "no answer": [
        (text, "Hadrian", WALL)
        for text in (
            "",
            " \n",
            "…",
            "**Answer:**",
            "Question:",
            "Explanation:",
            WALL,
            f"Question: {WALL}",
            WALL.lower()[:-1],
        )
    ]
    + [
        ("The Roman emperor who built the wall in the north of Britain.", "Hadrian", WALL),
        ("Who built the wall in Britain?", "Hadrian", WALL),
        ("Roman emperor built the wall", "Hadrian", WALL),
        ("Is Pluto a planet?", "dwarf planet", PLUTO),
    ],
}


@pytest.mark.parametrize(
    ("answer", "accepted", "question", "outcome"),
    [(*each, outcome) for outcome, answers in WORDS.items() for each in answers],
)
def test_an_accepted_answer_may_stand_in_a_sentence_that_does_not_take_it_back(answer, accepted, question, outcome):
    result = grade(answer, [accepted], question)
    assert result.outcome == outcome
    assert result.correct is {"right": True, "wrong": False}.get(outcome)
    assert math.isnan(result.f1) == (outcome == "no answer")


def test_token_f1_counts_shared_tokens_with_their_multiplicity():
    assert grade("red red blue", ["red blue blue"]).f1 == pytest.approx(2 * 2 / 6)
    assert grade("Eiffel tower of Paris", ["Paris tower"]).f1 == pytest.approx(2 * 2 / 6)
    assert grade("tower", ["the Eiffel tower", "a tower"]).f1 == 1


def test_an_answer_that_stands_in_many_sentences_counts_only_as_the_whole_answer():
    assert grade("Fall.", ["autumn"], exact=["fall"]).correct
    assert not grade("The leaves fall", ["autumn"], exact=["fall"]).correct
    assert grade("fall", [], exact=["fall"]).outcome == "right"


@given(st.text(max_size=60), st.lists(st.text(max_size=20), max_size=3))
def test_any_text_can_be_graded(answer, accepted):
    result = grade(answer, accepted)
    assert math.isnan(result.f1) or 0 <= result.f1 <= 1
    assert not result.exact or result.correct
    assert result.correct is {"right": True, "wrong": False}.get(result.outcome)


@given(st.text(alphabet=string.printable, max_size=60))
def test_normalising_twice_changes_nothing(text):
    once = normalised_tokens(text)
    assert normalised_tokens(" ".join(once)) == once


METALS = Question(
    "m",
    with_options("Which metal is liquid at room temperature?", ["gold", "mercury", "gold leaf", "iron"]),
    ("B",),
    grading="choice",
)


def test_the_options_are_shown_and_found_again():
    assert METALS.text.splitlines()[0] == "Which metal is liquid at room temperature?"
    assert options_shown(METALS.text) == {"A": "gold", "B": "mercury", "C": "gold leaf", "D": "iron"}


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("B", "right"),
        ("(B)", "right"),
        ("**B**", "right"),
        ("B. mercury", "right"),
        ("B: because it melts at -39 degrees", "right"),
        ("The answer is (B).", "right"),
        ("Answer: B", "right"),
        ("Answer:\nB", "right"),
        ("Gold melts at 1064 degrees, so A is out. The correct answer is **B**.", "right"),
        ("At first the answer is A. No: the answer is B", "right"),
        (r"So it is \boxed{B}", "right"),
        (r"\boxed{\text{B}}", "right"),
        ("Mercury.", "right"),
        ("It is mercury, of course", "right"),
        ("A", "wrong"),
        ("gold leaf", "wrong"),
        ("mercury and iron", "wrong"),
        ("A or B", "wrong"),
        ("The answer is B or C", "wrong"),
        ("A metal that flows", "no answer"),
        ("E", "no answer"),
        ("Answer:", "no answer"),
        ("", "no answer"),
        ("Beryllium", "no answer"),
    ],
)
def test_an_option_is_chosen_by_its_letter_or_its_words(answer, outcome):
    assert grade_answer(METALS, answer).outcome == outcome


def test_a_key_may_hold_the_options_words_instead_of_its_letter():
    by_words = Question("m", METALS.text, ("mercury",), grading="choice")
    assert grade_answer(by_words, "B").outcome == "right"
    assert grade_answer(by_words, "A").outcome == "wrong"


@pytest.mark.parametrize(
    ("answer", "accepted", "outcome"),
    [
        ("42", "42", "right"),
        ("The answer is 42.", "42", "right"),
        ("$42$", "42", "right"),
        (r"It follows that \boxed{42}.", "42", "right"),
        (r"First \boxed{41}, then \boxed{42}", "42", "right"),
        ("6 x 7 = 42", "42", "right"),
        ("1,234", "1234", "right"),
        (r"1{,}234", "1234", "right"),
        ("42 cm", "42", "right"),
        (r"42\text{ cm}", "42", "right"),
        (r"90^\circ", "90", "right"),
        ("-7", "-7", "right"),
        ("0.75", r"\frac{3}{4}", "right"),
        (r"\dfrac{3}{4}", r"\frac{3}{4}", "right"),
        (r"\frac34", r"\frac{3}{4}", "right"),
        (r"\boxed{\frac{3}{4}}", "0.75", "right"),
        (r"-\frac{3}{4}", "-0.75", "right"),
        (r"\left( 1, 2 \right)", "(1,2)", "right"),
        (r"\boxed{x^{2}}", "x^{2}", "right"),
        (r"2\sqrt{3}", r"2 \sqrt{3}", "right"),
        (r"\text{odd}", "odd", "right"),
        ("41 or 42", "42", "wrong"),
        ("between 40 and 42", "42", "wrong"),
        ("7", "-7", "wrong"),
        ("(2,1)", "(1,2)", "wrong"),
        ("3/0", "3", "wrong"),
        (r"2\sqrt{3}", "2", "wrong"),
        ("2x", "2", "wrong"),
        ("I cannot say", "42", "wrong"),
        ("", "42", "no answer"),
        (r"\boxed{}", "42", "no answer"),
        ("How many cows are in the field?", "42", "no answer"),
    ],
)
def test_a_final_answer_is_graded_by_its_value_and_else_as_it_is_written(answer, accepted, outcome):
    question = Question("n", "How many cows are in the field?", (accepted,), grading="number")
    assert grade_answer(question, answer).outcome == outcome


def test_braces_within_a_box_belong_to_the_answer():
    assert final_answer(r"so \boxed{\frac{1}{\sqrt{2}}} holds") == r"\frac{1}{\sqrt{2}}"
    assert final_answer(r"so \boxed{\frac{1}{2") is not None


def test_only_one_number_is_a_value():
    assert value_of("about 7") == 7
    assert value_of("7 of 8 cows") is None
    assert value_of("7a") is None


def test_a_question_file_names_the_grader_and_an_unknown_one_is_refused(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text("question,answer,grading,exact_answers\nHow many?,7,number,\nWhen?,autumn,,fall|the fall\n")
    number, text = load_questions(path)
    assert (number.grading, text.grading, text.exact_answers) == ("number", "text", ("fall", "the fall"))
    path.write_text("question,grading\nHow many?,code\n")
    with pytest.raises(InputError, match="line 2, column 'grading' holds 'code'; give text, choice, number"):
        load_questions(path)


def test_what_was_not_asked_or_has_no_key_is_ungraded():
    assert grade_answer(METALS, None).outcome == "ungraded"
    for grading in ("text", "choice", "number"):
        assert grade_answer(Question("q", "Which?", (), grading=grading), "Seven").outcome == "ungraded"


@pytest.mark.parametrize(
    ("answer", "if_yes"),
    [
        *[
            (text, "right")
            for text in ("Yes.", "Yes, but I am not sure.", "I'm not sure, but yes", "Yes, it is not far.")
        ],
        *[(text, "wrong") for text in ("No, it isn't.", "No, but I am not sure", "Certainly not.", "no, not yes")],
        *[
            (text, "no answer")
            for text in ("I don't know", "No idea", "No way to tell.", "Yes and no", "It is in Italy")
        ],
    ],
)
def test_where_yes_or_no_is_the_answer_it_is_read_as_every_yes_or_no_is(answer, if_yes):
    opposite = {"right": "wrong", "wrong": "right"}.get(if_yes, if_yes)
    for accepted, outcome in (("yes", if_yes), ("No", opposite)):
        assert grade_answer(Question("f", "Is Rome in Italy?", (accepted,)), answer).outcome == outcome


def test_a_band_of_the_name_is_no_yes():
    band = Question("b", "Which band recorded Fragile?", ("Yes",))
    assert grade_answer(band, "Genesis").outcome == "wrong"
    assert grade_answer(band, "The band Yes").outcome == "right"


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("As an AI language model, I do not have personal opinions, but here it is: Paris", "right"),
        ("As an AI, I can't travel, but the capital is Paris.", "right"),
        ("As an AI, I can't travel, but the capital is Rome.", "wrong"),
        ("As an AI, I do not know whether it is Paris.", "wrong"),
    ],
)
def test_an_answer_may_follow_a_disclaimer(text, outcome):
    question = Question("q", "What is the capital of France?", ("Paris",))
    assert grade_answer(question, text).outcome == outcome
