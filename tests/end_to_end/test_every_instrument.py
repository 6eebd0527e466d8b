"""One contract for all instruments: what any asking puts to a respondent is filled in, can be read, and is never a no
where it cannot.

What is asked is not listed here: every asking of every program is made to a respondent that listens.
"""

import math
import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import pandas as pd
import pytest

from onedial.asking.instruments import INSTRUMENTS, KINDS, TextReader, TokenReader
from onedial.asking.questions import Question
from onedial.asking.respondents import Identity, answers_in_order, response_from_logits, response_from_text
from onedial.models.model import load_model
from onedial.panels.questions.facts import load_facts
from onedial.selfreport.ask.questionnaires import administer, load_questionnaire
from onedial.selfreport.ask.self_prediction import ask_association, ask_difficulty, ask_restriction, association_words
from onedial.selfreport.ask.self_reports import SELF_REPORTS, Item, ask_self_report, self_efficacy_items
from onedial.selfreport.battery import BATTERY, battery_scores
from onedial.studies.battery.battery import material_of
from onedial.studies.options.asked import BatteryOptions

PAGE = Path(__file__).resolve().parents[2] / "docs" / "instruments.md"
MATERIAL = material_of(BatteryOptions(n_questions=8, samples=2, n_each=4))
QUESTIONS = MATERIAL.questions
SAID = {"question_id": [each.id for each in QUESTIONS], "first_text": "Rome", "first": [0.0, 1.0] * 4, "sample": 0}
MATERIAL = replace(MATERIAL, authors={"somebody": pd.DataFrame(SAID)})
SLOTS = {"question": "Who sang?", "answer": "Nobody", "statement": "complete tasks successfully."}


class Listening:
    """Answers by a hash of what it is asked, or not at all, and remembers instruments and prompts."""

    def __init__(self, seed=0, mute=False):
        self.seed, self.mute, self.identity = seed, mute, Identity("listening")
        self.asked, self.instruments = defaultdict(list), {}

    def answer(self, prompts, instrument):
        key = (instrument.name, instrument.template.name)
        self.instruments.setdefault(key, []).append(instrument)
        self.asked[key] += prompts
        for place, prompt in enumerate(prompts):
            drawn = [crc32(f"{self.seed} {option} {prompt}".encode()) / 2**30 - 2 for option in range(10)]
            if isinstance(instrument.reader, TokenReader):
                logits = drawn[: len(instrument.reader.spellings)]
                margin = logits[0] - logits[1] if instrument.scale.kind == "yes/no" else math.nan
                yield response_from_logits(instrument.scale, logits, 0.01 if self.mute else 0.9, margin, place=place)
            else:
                text = "" if self.mute else written(instrument, drawn)
                yield response_from_text(instrument.scale, instrument.reader, text, True, place=place)


def written(instrument, drawn):
    """A text that its reader can use."""
    order = sorted("1234", key=lambda label: drawn[int(label)])
    return {
        "questionnaire, all at once": "\n".join(f"{letter}: {order[n % 4]}" for n, letter in enumerate("ABCDEFGHIJ")),
        "difficulty": ", ".join(f"Q{label}" for label in order),
        "guesses": f"thing {order[0]}: {order[1]}0%\n2. thing {order[2]}: 10%",
        "reasoning, steps": f"It may be {order[0]}.\nStep 2: Or it is {order[1]}.",
        "reasoned": f"It may be so.\nAnswer: {'Yes' if drawn[0] > 0 else 'No'}.",
    }.get(instrument.name, f"I think that thing {int(1e6 * drawn[0])} is what it may be?")


def self_report(name):
    report = SELF_REPORTS[name]
    slots = next(iter(report.forms.values())).template.slots
    items = [Item(f"i{n}", {slot: f"{SLOTS[slot]} {n}" for slot in slots}) for n in range(4)]
    if report.about == "statements":
        items = self_efficacy_items()
    if report.about == "facts":
        items = [Item(each.id, {"question": each.text}) for each in load_facts(4)]
    return lambda respondent: ask_self_report(respondent, report, items).reset_index()


def plain(instrument):
    def asked(respondent):
        given = answers_in_order(respondent, [instrument.prompt(each.text) for each in QUESTIONS], instrument)
        values = [math.nan if each.value is None else each.value for each in given]
        return pd.DataFrame({"place": range(len(given)), "value": values})

    return asked


ASKINGS = {
    **{f"battery: {name}": lambda respondent, entry=entry: entry.ask(lambda seed: respondent, MATERIAL)
       for name, entry in BATTERY.items()},
    **{f"profile: {name}": self_report(name) for name in SELF_REPORTS},
    **{f"library: {name}": plain(instrument) for name, instrument in INSTRUMENTS.items()},
    "questionnaire: one by one": lambda each: administer(each, load_questionnaire(), "computation", 0),
    "questionnaire: all at once": lambda each: administer(
        each, load_questionnaire(), "computation", 0, "all at once", follow_ups=()
    ),
    "self-prediction: association": lambda each: ask_association(each, list(association_words())[:4]),
    "self-prediction: restriction": lambda each: ask_restriction(each, [Question("r", "Name a river.")]),
    "self-prediction: difficulty": lambda each: ask_difficulty(each, QUESTIONS[:4]),
}  # fmt: skip


@pytest.fixture(scope="module", params=ASKINGS)
def asking(request):
    return request.param


@pytest.fixture(scope="module")
def heard(asking):
    """(what was listened to, the table of it) of somebody who answers."""
    respondent = Listening()
    return respondent, ASKINGS[asking](respondent)


def test_every_slot_is_filled_and_every_option_has_spellings_of_its_own(heard):
    respondent, _ = heard
    assert respondent.asked
    for key, prompts in respondent.asked.items():
        for prompt in prompts:
            earlier = [text for turn in prompt.earlier for text in turn]
            shown = " ".join([*earlier, prompt.user, prompt.assistant_prefix])
            assert prompt.user.strip(), key
            assert not re.search(r"\{\w+\}", shown), (key, shown)
    for instruments in respondent.instruments.values():
        assert len({(each.template, each.scale, repr(each.reader)) for each in instruments}) == 1  # by one name
        for instrument in instruments:
            assert instrument.scale.kind in KINDS
            if isinstance(instrument.reader, TextReader):
                assert instrument.reader.max_new_tokens > 0
                assert instrument.reader.parse("") is None
                continue
            spellings = instrument.reader.spellings
            assert list(spellings) == list(instrument.scale.options)
            assert all(spellings.values())
            every = [spelling for of_option in spellings.values() for spelling in of_option]
            assert len(set(every)) == len(every)
            assert len(instrument.scale.values) in (0, len(spellings))


# What a column holds where nothing could be read, if not nothing.
WITHOUT_AN_ANSWER = {
    ("battery: hedges", "first person"): 0,  # counted in a text that is there, and empty
    ("battery: hedges", "impersonal"): 0,
    ("battery: hedges", "words"): 0,
    ("self-prediction: restriction", "predicted"): "other",
    ("self-prediction: restriction", "perceived"): "other",
    ("self-prediction: difficulty", "correct"): 0,  # the study's own rule
}


def test_what_cannot_be_read_is_nothing_and_never_a_no(asking, heard):
    """Columns that differ between two who answer hold answers; of one who does not answer they hold none."""
    _, one = heard
    other, mute = ASKINGS[asking](Listening(seed=1)), ASKINGS[asking](Listening(mute=True))
    n = min(len(one), len(other))
    answers = [column for column in one if not one[column].iloc[:n].equals(other[column].iloc[:n])]
    assert answers or asking == "library: closed book"  # which has no value
    for column in answers:
        expected = WITHOUT_AN_ANSWER.get((asking, column))
        for value in mute[column]:
            assert value == expected if expected is not None else pd.isna(value) or value == "", (column, value)


@pytest.mark.parametrize("test", BATTERY)
def test_a_test_that_nobody_could_be_read_in_has_counts_and_no_number(test):
    table = ASKINGS[f"battery: {test}"](Listening(mute=True)).assign(respondent="it")
    for name, scores in battery_scores(test, table, MATERIAL.topics, 99).items():
        numbers = scores.select_dtypes("number")
        for column in numbers:
            counted = column.startswith("n_") or column in ("n", "words", "texts_with_hedge")
            assert scores[column].isna().all() or counted, (name, column, scores[column].tolist())


@pytest.fixture(scope="session")
def embedded():
    return load_model("smollm2-135m-instruct")


@pytest.mark.long
def test_the_embedded_model_s_tokenizer_can_tell_its_options_apart(heard, embedded):
    respondent, _ = heard
    for key, prompts in respondent.asked.items():
        reader = respondent.instruments[key][0].reader
        if isinstance(reader, TokenReader):
            groups = embedded.answer_tokens(prompts[0], reader).groups
            assert len({int(token) for group in groups for token in group}) == sum(len(group) for group in groups) > 0


def test_every_instrument_stands_on_the_page():
    """Those of the battery are written there from their entries (scripts/check_numbers.py)."""
    named = {line.split("|")[1].strip() for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:2] == "| "}
    assert set(SELF_REPORTS) <= named
