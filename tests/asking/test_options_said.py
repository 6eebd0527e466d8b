"""What a hosted model writes where logits are not shown: the option that it says, and none where it says several."""

import pytest

from onedial.asking.instruments import CONFIDENCE_IN_NUMBERS, CONFIDENCE_IN_WORDS
from onedial.asking.providers.options_said import option_said
from onedial.selfreport.ask.choices import choice_instrument

LETTERS = choice_instrument()
DECILES = {
    "85": 8,
    "About 85%.": 8,
    "**85%**": 8,
    "I'd say around 70-80%.": 7,
    "Probability: 0.7/1": 7,
    "½": 5,
    "７０％": 7,
    "$85\\%$": 8,
    "I am 85% confident.": 8,
    "<think>90?</think> 60": 6,
    "Between 60 and 70 percent": 6,
    "0": 0,
    "100": 9,
    "5": None,
    "80%, surely more than 50%": None,
    "I cannot say.": None,
}
WORDS = {
    "low": 1,
    "**High**": 3,
    "My confidence is medium.": 2,
    "low/high": None,
    "not high": None,
}
CHOICES = {
    "B": 1,
    "**B**": 1,
    "B) Lyon": 1,
    "The answer is B.": 1,
    "**Answer:** $\\boxed{\\text{B}}$": 1,
    "I would choose B": 1,
    "B, because it lies in the south.": 1,
    "A or B": None,
    "A city in France": None,
    "It is not B.": None,
    "I do not know.": None,
}


@pytest.mark.parametrize(
    ("instrument", "text", "option"),
    [
        (instrument, text, option)
        for instrument, table in ((CONFIDENCE_IN_NUMBERS, DECILES), (CONFIDENCE_IN_WORDS, WORDS), (LETTERS, CHOICES))
        for text, option in table.items()
    ],
    ids=repr,
)
def test_one_option_is_read_in_whatever_form_and_several_are_not(instrument, text, option):
    assert option_said(instrument.scale, instrument.reader, text) == option
