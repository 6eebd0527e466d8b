"""Instruments: what is asked, and how an answer is read or left unread."""

import math

import pytest

from onedial.asking.instruments import (
    CLOSED_BOOK,
    INSTRUMENTS,
    KINDS,
    REASONED,
    YES_NO,
    Scale,
    answer_stands,
    first_line,
    holds_a_line,
)
from onedial.asking.prompts import Prompt, PromptTemplate
from onedial.asking.respondents import response_from_logits, response_from_text


def test_every_instrument_is_known_by_its_name_and_asks_one_question():
    for name, instrument in INSTRUMENTS.items():
        assert name == instrument.name
        assert instrument.scale.kind in KINDS
        assert "Who sang?" in instrument.prompt("Who sang?").user


def test_slots_are_filled_in_one_pass_in_earlier_turns_too():
    template = PromptTemplate(
        "Is {answer} right?", slots=("question", "answer"), earlier=(("{question}", "I think so."), ("Sure?", "Yes."))
    )
    assert template.fill("Is {answer} a word?", answer="Paris") == Prompt(
        "Is Paris right?", "", (("Is {answer} a word?", "I think so."), ("Sure?", "Yes."))
    )
    with pytest.raises(ValueError, match="has the slots question, answer"):
        template.fill("Who?")


def test_a_yes_is_a_margin_above_0_and_too_little_mass_is_no_answer():
    yes = response_from_logits(YES_NO, [2.0, 1.0], 0.9, 1.0)
    assert (yes.value, yes.said_yes) == (1.0, True)
    assert yes.confidence == pytest.approx(1 / (1 + math.exp(-1.0)))
    assert response_from_logits(YES_NO, [1.0, 1.0], 0.9, 0.0).said_yes is False
    unread = response_from_logits(YES_NO, [2.0, 1.0], 0.0999, 1.0)
    assert (unread.value, unread.said_yes, unread.margin, unread.confidence) == (None, None, 1.0, None)


def test_the_likeliest_of_several_options_is_the_value():
    answer = response_from_logits(Scale("options", ("A", "B", "C")), [0.0, 2.0, 1.0], 0.5)
    assert (answer.value, answer.said_yes) == (1.0, None)
    assert answer.probabilities == pytest.approx([0.0900, 0.6652, 0.2447], abs=1e-4)


def test_a_text_cut_off_is_unread():
    """A reasoned text that was cut off is unread whatever it says on the way."""
    text = "Yes, I know it.\nAnswer: Yes\n"
    assert response_from_text(YES_NO, REASONED.reader, text, finished=True).said_yes is True
    assert response_from_text(YES_NO, REASONED.reader, text, finished=False).said_yes is None
    assert response_from_text(YES_NO, REASONED.reader, "Answer: No.", finished=True).value == 0.0


def test_a_closed_book_answer_is_its_first_line_and_has_no_value():
    answer = response_from_text(CLOSED_BOOK.scale, CLOSED_BOOK.reader, "\n Paris \nFrance", finished=False)
    assert (answer.raw_text, answer.value, answer.said_yes) == ("Paris ", None, None)
    assert not holds_a_line("\nParis")
    assert holds_a_line("\nParis\n")
    assert first_line("") == ""
    assert first_line("<think>\nRome?\n</think>\n\nParis\nFrance") == first_line('{"answer": "Paris"}') == "Paris"
    assert not holds_a_line("<think>\nRome?\n")


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        ("I know rivers.\nAnswer: Yes\n", True),
        ("**Answer:** No.", True),
        ("answer: no, ", True),
        ("Rivers are known to me.\n> **Answer**: **Yes**\n", True),
        ('I will end with "Answer: Yes" or "Answer: No".', False),
        ("Answer: Yes or Answer: No\n", False),
        ("Answer: No one", False),
        ("Answer: Yes", False),
        ("Answer: None of", False),
        ("The answer is yes. ", False),
    ],
)
def test_an_answer_line_stands_when_its_word_is_complete(text, stands):
    assert answer_stands(text) is stands
