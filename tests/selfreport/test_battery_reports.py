"""The battery item by item: its own prompts are put, and each score is of what its name says."""

from collections import defaultdict

import pytest
from scripted import Scripted, lettered_options

from onedial.asking.statements import load_statements
from onedial.panels.questions.facts import load_facts
from onedial.panels.questions.question_files import load_questions
from onedial.selfreport.ask.choices import choice_items
from onedial.selfreport.ask.self_reports import ask_self_report
from onedial.selfreport.battery import BATTERY_REPORTS
from onedial.selfreport.battery.beliefs import ask_beliefs

QUESTIONS = load_questions("embedded", n=12)
POOL = [each for each in load_questions("embedded") if each.answers]
OPTIONS = {each.text: each.options for each in choice_items(POOL, POOL)}


def scores(name, rule):
    each = BATTERY_REPORTS[name]
    assert each.items is not None
    return ask_self_report(Scripted(rule), each, each.items(QUESTIONS, 0))["score"]


def favouring(option, prompt, instrument):
    """Logits that favour what stands behind the letter of an option."""
    letter = next(key for key, text in lettered_options(prompt).items() if text == option)
    return [9.0 if letter in spellings else 0.0 for spellings in instrument.reader.spellings.values()]


def knows(prompt, instrument):
    return favouring(next(options[0] for text, options in OPTIONS.items() if text in prompt.user), prompt, instrument)


def gives_way(prompt, instrument):
    claimed = prompt.user.split("the answer is ")[1][0]
    return [9.0 if claimed in spellings else 0.0 for spellings in instrument.reader.spellings.values()]


def loves_a(prompt, instrument):
    return [9.0 if "A" in spellings else 0.0 for spellings in instrument.reader.spellings.values()]


def test_the_right_option_is_likely_to_who_knows_it():
    """The right option is likely to who knows it and one in four to who loves a letter."""
    assert scores("right option", knows).min() > 0.99
    assert scores("right option", loves_a).to_numpy() == pytest.approx(0.25, abs=1e-6)


def test_the_claimed_option_is_likely_to_who_gives_way():
    """The claimed option is likely to who gives way and not to who knows."""
    assert scores("claimed option", gives_way).min() > 0.99
    assert scores("claimed option", knows).max() < 0.01


def test_who_says_what_is_wanted_scores_above_0():
    """Who says what is wanted scores above nought and who says yes to all above it for half."""
    result = scores(
        "says what is wanted", lambda prompt, _: [4.0 if "question below is yes" in prompt.user else -4.0, 0]
    )
    assert (result > 0).all()
    assert (scores("says what is wanted", lambda *_: [4.0, 0.0]) > 0).mean() == 0.5


def test_a_report_puts_the_very_prompts_of_its_test():
    put = defaultdict(set)

    def heard(prompt, instrument):
        put[instrument.name].add(prompt.user)
        return [1.0] * len(instrument.reader.spellings) if hasattr(instrument.reader, "spellings") else "The sea."

    statements = load_statements(load_facts(len(QUESTIONS), 0))
    ask_beliefs(Scripted(heard), statements)
    by_battery = {name: prompts.copy() for name, prompts in put.items()}
    for name in ("belief, first person", "belief, third person", "belief, by itself"):
        put.clear()
        scores(name, heard)
        assert put[name] <= by_battery[name]


def test_as_many_items_are_asked_as_there_are_questions_or_fewer():
    for name, each in BATTERY_REPORTS.items():
        if each.items is not None:
            items = each.items(QUESTIONS, 0)
            assert 0 < len(items) <= len(QUESTIONS), name
            assert len({item.item_id for item in items}) == len(items)
            for form in each.forms:
                assert each.prompt(form, items[0]).user
