"""A reasoned answer is read as yes or no only where it says so clearly."""

import pytest

from onedial.asking import NO_VARIANTS, YES_VARIANTS, parse_yes_no

YES = [
    "Yes.",
    "yes",
    "YES!",
    "**Yes**",
    "“Yes”",
    "Answer: yes",
    "**Answer:** _Yes_",
    "Yes I can.",
    "Yes—absolutely",
    "Yeah, sure",
    "No doubt about it: yes.",
    "Yes, no doubt.",
    "The answer is Yes, not No.",
    "First I thought: no.\nBut I do recall it. Yes.",
    "Yes or No? Yes",
    "\\boxed{Yes}",
    "<think>It is hard, so no.</think>\n\nYes",
    "ＹＥＳ",
    "yes\n\n",
]
NO = [
    "No.",
    "**No**",
    "NO",
    "(no)",
    "Answer: No",
    "No (I lack the data).",
    "No, I don't know that.",
    "No I can't",
    "The answer is no because records are lost.",
    "I'd say no.",
    "Nope!",
    "Yes/No: No",
    "Could I? Yes, at first sight. No.",
    "<think>yes, of course</think> No",
]
UNREAD = [
    "",
    "   ",
    "I don't know",
    "I do not know.",
    "Yes and no",
    "yes or no",
    "Yes/No",
    "Yes, no, who can tell",
    "No one could.",
    "No-one knows",
    "There is no way to tell",
    "No. 5",
    "Not sure. Maybe.",
    "I cannot say yes",
    "I wouldn't answer yes.",
    "Now I know nothing of Nobel's nose",
    "eyes",
    "<think>Yes, I think",
    "<think>Yes.</think>",
    "42",
    "是",
]


@pytest.mark.parametrize(
    ("text", "expected"), [(t, True) for t in YES] + [(t, False) for t in NO] + [(t, None) for t in UNREAD]
)
def test_an_answer_is_read_as(text, expected):
    assert parse_yes_no(text) is expected


def test_every_variant_reads_as_itself():
    assert all(parse_yes_no(word) is True for word in YES_VARIANTS)
    assert all(parse_yes_no(word) is False for word in NO_VARIANTS)


def test_long_answers_are_read_in_no_time():
    assert parse_yes_no("not " * 20_000 + "\n" + "no doubt, " * 20_000 + "yes") is True
