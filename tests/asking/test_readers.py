"""What models write around an answer does not change what is read, and what says nothing is not read.

tests/reference/phrasings.yaml is the table of wordings, under what each of them says.
"""

import math
from pathlib import Path

import pytest
import yaml

from onedial.asking.instruments import CONFIDENCE_IN_NUMBERS, CONFIDENCE_IN_WORDS, Instrument, Scale, TokenReader
from onedial.asking.providers.provider_reading import response_of
from onedial.asking.readers import (
    option_said,
    parse_guesses,
    parse_list,
    parse_ranking,
    parse_ratings,
    parse_steps,
    refuses,
)
from onedial.asking.replies import leaves_a_thought_open, unmarked
from onedial.asking.yes_no import NO_VARIANTS, YES_VARIANTS, parse_direct_yes_no, parse_yes_no
from onedial.selfreport.ask.choices import choice_instrument

TABLE = yaml.safe_load((Path(__file__).parents[1] / "reference" / "phrasings.yaml").read_text("utf-8"))
SAID = {"yes": True, "no": False, "none": None}
LETTERS = choice_instrument()
POINTS = TokenReader({str(point): (str(point),) for point in (1, 2, 3, 4)})
RATING = Instrument("rating", LETTERS.template, Scale("categories", tuple(POINTS.spellings)), POINTS)


def option(instrument, names):
    def read(text):
        place = option_said(instrument.scale, instrument.reader, text)
        return "none" if place is None else names[place]

    return read


def said(read):
    return lambda text: {value: word for word, value in SAID.items()}[read(text)]


READERS = {
    "yes or no, after a reasoning": said(parse_yes_no),
    "yes or no, at once": said(parse_direct_yes_no),
    "yes or no, cut off": said(lambda text: parse_direct_yes_no(text, finished=False)),
    "a letter of A and B": option(LETTERS, "ABCD"),
    "a rating of 1 to 4": option(RATING, (1, 2, 3, 4)),
    "a decile": option(CONFIDENCE_IN_NUMBERS, range(10)),
    "a word of a scale": option(CONFIDENCE_IN_WORDS, CONFIDENCE_IN_WORDS.scale.options),
}
"""Which part of the table each reads: what is said -> texts that say it."""
WHOLE = {
    "after a thought": (
        lambda text: (parse_yes_no(text), parse_direct_yes_no(text), unmarked(text)),
        (True, True, "Yes"),
    ),
    "a thought that does not close": (parse_yes_no, None),
    "roof, door, wall, window, room": (
        lambda text: parse_list(text, "house"),
        ["roof", "door", "wall", "window", "room"],
    ),
    "no list": (lambda text: parse_list(text, "house"), []),
    "Q2, Q1, Q4, Q3": (parse_ranking, [2, 1, 4, 3]),
    "no order": (lambda text: all(map(math.isnan, parse_ranking(text))), True),
    "Paris 60%, Lyon 25%": (parse_guesses, [("Paris", 0.6), ("Lyon", 0.25)]),
    "no guess": (parse_guesses, []),
    "two steps": (parse_steps, ["It lies in Africa.", "So it is a country there."]),
    "A 3, B 2, C 4": (lambda text: parse_ratings(text, 3), [3, 2, 4]),
    "declines": (refuses, True),
    "answers": (refuses, False),
}
"""Which other part each reads, all texts of which say the same."""


@pytest.mark.parametrize("part", READERS)
def test_every_wording_says_what_it_stands_under(part):
    wrong = {text: found for value, texts in TABLE[part].items() for text in texts
             if (found := READERS[part](text)) != value}  # fmt: skip
    assert not wrong


@pytest.mark.parametrize("part", WHOLE)
def test_every_wording_of_a_part_says_the_same(part):
    read, value = WHOLE[part]
    assert {text: found for text in TABLE[part] if (found := read(text)) != value} == {}


def test_the_table_has_no_part_that_nothing_reads():
    assert TABLE.keys() == READERS.keys() | WHOLE.keys()


@pytest.mark.parametrize(
    ("text", "guesses"),
    [
        ("G1: Paris (0.75)\nG2: Lyon (.1)", [("Paris", 0.75), ("Lyon", 0.1)]),
        ("12: 80%\n2. 18: 20%", [("12", 0.8), ("18", 0.2)]),
        ("1.5: about 60%\n2. 2.5: <1%", [("1.5", 0.6), ("2.5", 0.01)]),
        ("Paris: 60-70%\n2. Lyon: 130%", [("Paris", 0.65)]),
    ],
)
def test_a_guess_may_be_a_number_and_its_probability_a_range(text, guesses):
    assert parse_guesses(text) == guesses


def test_every_variant_reads_as_itself():
    assert all(parse_yes_no(word) is True for word in YES_VARIANTS)
    assert all(parse_yes_no(word) is False for word in NO_VARIANTS)


def test_long_answers_are_read_in_no_time():
    assert parse_yes_no("not " * 20_000 + "\n" + "no doubt, " * 20_000 + "yes") is True


@pytest.mark.parametrize(
    "text", ["The tag <think> opens a thought. Yes.", 'Yes, "</think>" closes it.', "Analysis: Yes."]
)
def test_a_mark_that_is_spoken_of_hides_nothing(text):
    assert parse_yes_no(text) is True


def test_a_mark_within_a_question_leaves_no_thought_open():
    assert leaves_a_thought_open("Question: Can you?<|im_end|>\n<|im_start|>assistant\n<think>\n")
    assert leaves_a_thought_open("Can you?[/INST][THINK]")
    assert not leaves_a_thought_open("Question: What does <think> open? Yes or No?\nassistant:")


def test_marks_and_forms_of_letters_are_taken_off_and_words_are_not():
    text = "> [Paris](http://x.y) is *the* `capital`, snake_case stays"
    assert unmarked(text) == "Paris is the capital, snake_case stays"


def test_what_cannot_be_read_keeps_its_text_and_is_no_answer():
    for texts in TABLE["a letter of A and B"]["none"]:
        response = response_of(LETTERS, texts, True, [])
        assert (response.value, response.raw_text) == (None, texts)
