"""Prompts can be answered with yes or no alike, and a model's tokens for both can be read."""

import re

import pytest

from onedial.asking.prompt_checks import check_answer_tokens, check_mass, first_tokens
from onedial.asking.prompts import FRAMINGS, SLOT
from onedial.core.errors import InputError


@pytest.mark.parametrize("name", FRAMINGS)
def test_every_framing_speaks_of_yes_and_no_equally_often(name):
    """Else it pushes every margin one way. The answers of worked examples are what those framings differ in."""
    template = FRAMINGS[name]
    asks = re.sub(r"^Answer: (?:Yes|No)$", "", template.user, flags=re.MULTILINE)
    words = re.findall(r"\b(yes|no)\b", asks.replace(SLOT, " ").lower())
    assert asks.count(SLOT) == 1
    assert words.count("yes") == words.count("no") > 0
    assert not re.search(r"\b(?:yes|no)\b", template.assistant_prefix.lower())


def letters(text):
    return list(text.encode())


def words(text):
    """A tokenizer that knows words with the space before them."""
    pieces = text.replace(" ", "\0 ").split("\0")
    return [sum(ord(sign) * 31**place for place, sign in enumerate(piece)) for piece in pieces if piece]


def visible(ids):
    """Stands for a decoder where no piece is blank."""
    return "x" * len(ids)


@pytest.mark.parametrize(
    ("encode", "yes", "no", "faults"),
    [
        (words, (" Yes", " yes"), (" No", " no"), []),
        (letters, (" Yes",), (" No",), ["spelling of yes is one token", "spelling of no is one token"]),
        (words, (" Yes",), (" Yes",), ["same token"]),
        (words, ("Yes",), ("No",), ["'Yes', 'No' would change .*; end it", "spelling of yes", "spelling of no"]),
        (words, ("Yes", " Yes"), (" No",), ["'Yes' would change the prompt's own tokens; others can be read"]),
    ],
)
def test_answers_that_are_no_token_after_the_prompt_are_told(encode, yes, no, faults):
    came = check_answer_tokens("Answer:", encode, visible, yes=yes, no=no)
    assert len(came) == len(faults)
    assert all(map(re.search, faults, came))


def test_whole_spellings_count_alone_and_a_blank_piece_stands_for_nothing():
    def encode(text):
        return {
            "A:": [1], "A:Yes": [1, 5], "A: Yes": [1, 9, 5], "A:yes": [1, 6, 7], "A:No": [1, 9, 6], "A:70": [1, 3, 4],
        }[text]  # fmt: skip

    def decode(ids):
        return " " if ids == [9] else "x"

    result = first_tokens("A:", ("Yes", " Yes", "yes"), encode, decode)
    assert (result.single, result.pieces, result.counted) == ((5,), (), (5,))
    assert first_tokens("A:", ("70",), encode, decode).counted == (3,)
    assert first_tokens("A:", (" Yes", "No"), encode, decode).counted == ()


def test_mass_is_judged_by_its_median():
    assert check_mass([0.4, 0.6, 0.9]) == ""
    assert "few" in check_mass([0.4, 0.4, 0.9, float("nan")])
    assert "too little to read" in check_mass([0.1, 0.1, 0.9])
    with pytest.raises(InputError, match="no mass was measured"):
        check_mass([float("nan")])
