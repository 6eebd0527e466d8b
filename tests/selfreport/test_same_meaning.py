"""Whether two answers say the same: found where it is planted, and not by who goes by letter, place or a word."""

import numpy as np
import pytest
from scripted import Scripted, lettered_options

from onedial.selfreport.ask.same_meaning import SAME_MEANING, judged_same

PAIRS = [("Who?", "Bonaparte", "Napoleon"), ("Who?", "Napoleon", "Wellington")]


def reads(prompt, instrument):
    same = "Wellington" not in prompt.user
    return [2.0, 0.0] if same else [0.0, 2.0]


def test_a_judge_that_reads_is_heard_and_one_that_cannot_be_read_is_no_no():
    assert judged_same(Scripted(reads), PAIRS)["same"].tolist() == [1, 0]
    one_form_unread = lambda prompt, instrument: [np.nan] * 2 if "B" in instrument.template.name else [2.0, 0.0]  # noqa: E731
    assert judged_same(Scripted(one_form_unread), PAIRS)["same"].isna().all()


@pytest.mark.parametrize("habit", ["letter A", "letter B", "first line", "last line", "first answer"])
def test_who_goes_by_letters_finds_no_pair_alike(habit):
    """Who goes by letter place or order says of no pair that it is the same."""

    def rule(prompt, instrument):
        letters = list(lettered_options(prompt))
        same = next(letter for letter, option in lettered_options(prompt).items() if "same" in option)
        chosen = {"letter A": "A", "letter B": "B", "first line": letters[0], "last line": letters[-1]}.get(habit)
        if habit == "first answer":  # the same where Napoleon stands first
            return [2.0, 0.0] if prompt.user.index("Answer: Napoleon") < prompt.user.rindex("Answer:") else [0.0, 2.0]
        return [2.0, 0.0] if chosen == same else [0.0, 2.0]

    assert judged_same(Scripted(rule), PAIRS)["same"].tolist() == [0, 0]


def test_each_answer_stands_first_in_half_of_the_forms():
    prompts = [form.prompt(question="q", one="x", other="y").user for form in SAME_MEANING.forms.values()]
    for one, other in ("xy", "yx"):
        assert sum(f"Answer: {one}\nAnswer: {other}" in each for each in prompts) == 2
