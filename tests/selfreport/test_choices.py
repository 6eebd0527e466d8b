"""Lettered options and pressure: who knows is read as knowing, who loves a letter as knowing nothing, who follows as
following."""

import re
from zlib import crc32

import numpy as np
import pytest
from scipy.stats import binomtest
from scripted import Scripted, lettered_options

from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.panels.questions.question_files import load_questions
from onedial.selfreport.ask.choices import DONT_KNOW, ask_choices, choice_items
from onedial.selfreport.ask.kinds import kind_asked
from onedial.selfreport.battery import battery_scores
from onedial.selfreport.battery.pressure import ask_pressure, pressure_scores

POOL = [each for each in load_questions("embedded") if each.answers]
QUESTIONS = [each for each in POOL if each.topic in ("geography", "physics", "literature")]
ITEMS = choice_items(QUESTIONS, POOL)[:24]
RIGHT = {item.text: item.options[0] for item in ITEMS}


def question_of(prompt):
    shown = "\n".join([*(text for turn in prompt.earlier for text in turn), prompt.user])
    return next(text for text in RIGHT if text in shown)


def favouring(letter, prompt, by=3.0):
    return [by if each == letter else 0.0 for each in lettered_options(prompt)]


def knows(prompt, instrument):
    options = lettered_options(prompt)
    return favouring(next(each for each in options if options[each] == RIGHT[question_of(prompt)]), prompt)


def follows(prompt, instrument):
    """Knows, but says what anybody claims."""
    claimed = re.findall(r"(?:says|sure) that the answer is (.+?)\.(?: Which|\n)", prompt.user)
    named = {option: letter for letter, option in lettered_options(prompt).items()}
    return favouring(named.get(claimed[0], claimed[0]), prompt) if claimed else knows(prompt, instrument)


def restless(prompt, instrument):
    """Another option with every wording, whatever it says."""
    options = lettered_options(prompt)
    return favouring(max(options, key=lambda each: crc32((options[each] + prompt.user[-90:]).encode())), prompt)


def test_wrong_options_are_others_answers_and_none_of_them_is_right():
    assert len(ITEMS) == 24
    for item in ITEMS:
        assert len({option.casefold() for option in item.options}) == 4
    again, other = (choice_items(QUESTIONS, POOL, seed)[:24] for seed in (0, 1))
    assert again == ITEMS != other


def test_all_options_are_of_the_kind_that_the_question_asks_for():
    kinds = {answer: kind_asked(each) for each in POOL for answer in each.answers[:1]}
    asked = {each.id: kind_asked(each) for each in POOL}
    for item in choice_items(POOL, POOL):
        assert {kinds[option] for option in item.options[1:]} == {asked[item.id]}
    assert kind_asked(Question("q", "Which poet wrote it?", ("Ovid",))) == "person"
    assert kind_asked(Question("q", "In what year was it?", ("1815",))) == "year"
    assert kind_asked(Question("q", "How many are there?", ("12",))) == "whole number"
    assert choice_items([Question("q", "Why?", ("because",), "geography")], POOL) == []


def test_rotation_reads_knowledge_and_cancels_the_love_of_a_letter():
    known = ask_choices(Scripted(knows), ITEMS)
    assert (known["chosen"] == 0).all()
    assert known["label_A"].to_numpy() == pytest.approx(0.25)
    lover = ask_choices(Scripted(lambda prompt, _: favouring("A", prompt)), choice_items(POOL, POOL))
    right = (lover["chosen"] == 0).sum()
    assert binomtest(int(right), len(lover), 0.25).pvalue > 0.05  # no place of the right option is favoured
    assert lover[["p0", "p1", "p2", "p3"]].to_numpy() == pytest.approx(0.25)
    assert (lover["label_A"] > 0.8).all()


def test_the_planted_follower_is_sycophantic():
    """The planted follower is sycophantic where somebody claims and robust elsewhere."""
    asked = ask_pressure(Scripted(follows), ITEMS)
    scores = pressure_scores(asked)
    claims = ["authority, wrong", "authority, wrong in words", "another, sure", "another, unsure"]
    assert (scores.loc[claims, "to_wrong"] == 1).all()
    assert (scores.loc[claims, "to_claim"] == 1).all()
    assert (scores.loc[claims, "d_asserted"] > 0.5).all()
    assert (scores.loc[claims, "low"] > 0.7).all()
    with pytest.raises(InputError, match="there is no pressure 'bribed'"):
        ask_pressure(Scripted(follows), ITEMS, ["bribed"])
    assert (
        scores.loc[
            ["asked again", "doubted", "agreed", "authority, right", "authority, asked", "unrelated talk"], "changed"
        ]
        == 0
    ).all()


def test_who_changes_at_every_word_is_not_called_moved():
    """Who changes at every word is not called moved by a claim and a sycophant among them is."""

    def fickle_sycophant(prompt, instrument):
        return follows(prompt, instrument) if "the answer is " in prompt.user else restless(prompt, instrument)

    claims = ["authority, wrong", "another, sure", "another, unsure"]
    many = choice_items(POOL, POOL)[:120]
    RIGHT.update({item.text: item.options[0] for item in many})
    scores = pressure_scores(ask_pressure(Scripted(restless), many, claims))
    assert (scores.loc["asked again", "changed"]) > 0.5
    assert (scores.loc[claims, "low"] <= 0).all()
    assert (scores.loc[claims, "high"] >= 0).all()
    assert scores.loc[claims, "to_claim"].max() < 0.6
    result = pressure_scores(ask_pressure(Scripted(fickle_sycophant), many, claims))
    assert (result.loc[claims, "beyond_control"] > 0.5).all()
    assert set(result.index) == {*claims, "asked again", "authority, silent"}


def test_abstaining_is_an_option_that_scores_nothing_and_guessing_costs():
    from onedial.selfreport.ask.choices import choice_instrument

    def cautious(prompt, instrument):
        options = lettered_options(prompt)
        if DONT_KNOW not in options.values():
            return knows(prompt, instrument)
        return favouring(next(each for each in options if options[each] == DONT_KNOW), prompt, 8.0)

    import pandas as pd

    def scored(rule):
        kinds = {"": ask_choices(Scripted(rule), ITEMS), "idk": ask_choices(Scripted(rule), ITEMS, more=(DONT_KNOW,))}
        table = pd.concat(kinds, names=["kind"]).reset_index().assign(respondent="it")
        table["chosen"] = pd.to_numeric(table["chosen"])
        return battery_scores("choices", table, {each.id: str(each.topic) for each in QUESTIONS}, 99)["choices"].loc[
            "it"
        ]

    silent, knowing = scored(cautious), scored(lambda prompt, each: [2 * value for value in knows(prompt, each)])
    guessing = scored(lambda prompt, _: favouring("B", prompt, 0.0))
    assert silent["dcs"] == pytest.approx(0, abs=0.01)
    assert (silent["abstained"], silent["accuracy"]) == (1, 1)
    assert knowing["dcs"] > 0.9
    assert guessing["dcs"] == pytest.approx((0.2 - 0.6) * 0.8, abs=1e-6)
    assert guessing["break_even"] == 0.5
    assert choice_instrument(n=5).scale.options == ("A", "B", "C", "D", "E")


def test_probabilities_of_a_choice_are_geometric_means_over_rotations():
    rng = np.random.default_rng(0)
    table = {}

    def rule(prompt, instrument):
        key = tuple(lettered_options(prompt).values())
        return list(table.setdefault(key, rng.normal(size=4)))

    result = ask_choices(Scripted(rule), ITEMS[:1])
    logs = []
    for option in ITEMS[0].options:
        log_p = [np.log(np.exp(logits) / np.exp(logits).sum())[order.index(option)] for order, logits in table.items()]
        logs.append(np.mean(log_p))
    expected = np.exp(logs) / np.exp(logs).sum()
    np.testing.assert_allclose(result[["p0", "p1", "p2", "p3"]].to_numpy(float)[0], expected)
