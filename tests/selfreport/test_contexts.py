"""Passages, beliefs, lies and unknowable questions: planted knowledge, and none."""

import pytest
from scripted import Scripted

from onedial.asking.statements import load_statements
from onedial.panels.questions.facts import load_facts
from onedial.panels.questions.question_files import load_questions
from onedial.selfreport.ask.choices import choice_items
from onedial.selfreport.battery import battery_scores
from onedial.selfreport.battery.beliefs import ask_beliefs
from onedial.selfreport.battery.honesty import ask_honesty
from onedial.selfreport.battery.passages import ask_beside_passages
from onedial.selfreport.battery.unknowable import ask_unknowable, unknowable_twins

POOL = [each for each in load_questions("embedded") if each.answers]
ITEMS = choice_items(POOL[:40:2], POOL)
TOPICS = {each.id: str(each.topic) for each in POOL}
FACTS = load_facts(40)


def shifts(rule):
    table = ask_beside_passages(Scripted(rule), ITEMS).assign(respondent="it")
    return battery_scores("passages", table, TOPICS, 199)["passages"].loc["it"]


def own(prompt):
    item = next(each for each in ITEMS if each.text in prompt.user)
    return (len(item.text) % 7) / 3, item


def test_a_report_of_knowledge_rises_beside_the_helpful_passage_alone():
    def tracks(prompt, _):
        base, item = own(prompt)
        return [base + 3.0 * (f"its answer is {item.options[0]}." in prompt.user), 0.0]

    result = shifts(tracks)
    assert result.loc["helpful", "low"] > 1
    for kind in ("useless", "misleading"):
        assert result.loc[kind, "shift"] == pytest.approx(0)


def test_who_takes_a_belief_for_a_fact_goes_by_truth():
    """Who takes a belief for a fact says yes by truth in the first person."""
    statements = load_statements(FACTS)
    true = {each.text(): each.true for each in statements}

    def rule(prompt, _):
        fact = next(value for text, value in true.items() if text in prompt.user)
        return [2.0 if fact or prompt.user.startswith("Mary") else -2.0, 0.0]

    scores = battery_scores("beliefs", ask_beliefs(Scripted(rule), statements).assign(respondent="it"), {})
    result, gap = scores["beliefs"], scores["beliefs_gap"].loc["it"]
    assert result.loc[("it", "first", 0.0), "says_yes"] == 0
    assert result.loc[("it", "third", 0.0), "says_yes"] == 1
    assert result.loc[("it", "first", 1.0), "says_yes"] == 1
    assert gap[["third_less_first", "of_true", "beyond"]].tolist() == [1, 0, 1]
    assert gap["low"] > 0.3


@pytest.mark.parametrize("says", [lambda *_: 2.0, lambda prompt, _: 2.0 if "Mary" in prompt.user else -2.0])
def test_who_always_says_yes_grants_no_false_beliefs(says):
    """Who always says yes or goes by a name grants others no more false beliefs than true ones."""
    answers = ask_beliefs(Scripted(lambda *asked: [says(*asked), 0.0]), load_statements(FACTS))
    gap = battery_scores("beliefs", answers.assign(respondent="it"), {})["beliefs_gap"].loc["it"]
    assert gap["beyond"] == 0
    assert gap["low"] < 0 < gap["high"]


STATEMENTS = {each.text(): each.id for each in load_statements(FACTS)}
TRUTH = {fact.id: fact.answers[0] == "yes" for fact in FACTS}


def fact_in(prompt):
    texts = {fact.text: fact.id for fact in FACTS} | STATEMENTS
    return next(key for text, key in texts.items() if text in prompt.user)


def believer(lies, wrong_about=()):
    """Says what it believes, the opposite of it where that is wanted and it lies."""

    def rule(prompt, instrument):
        fact = fact_in(prompt)
        belief = TRUTH[fact] != (fact in wrong_about)
        if "wrong?" in prompt.user or (
            lies and any(each in prompt.user for each in ("You work for", "You are paid", "A friend of"))
        ):
            belief = not belief
        return [2.0 if belief else -2.0, 0.0]

    return rule


def honesty_of(rule):
    table = ask_honesty(Scripted(rule), FACTS).assign(respondent="it")
    return battery_scores("honesty", table, {}, 99)["honesty"].loc["it"], table


def test_a_liar_says_what_it_does_not_believe():
    """A liar says what it does not believe whether or not its belief is true."""
    wrong = {fact.id for fact in FACTS[::4]}
    for wrong_about in ((), wrong):
        liar, table = honesty_of(believer(True, wrong_about))
        assert (liar["lie"], liar["lie_beyond"], liar["n_no_belief"]) == (1, 1, 0)
        assert liar["accuracy_of_statements"] == len(wrong_about) / len(FACTS)
        assert liar["accuracy"] == 1 - len(wrong_about) / len(FACTS)
        assert table["belief_0"].equals(table["belief_2"])
        honest, _ = honesty_of(believer(False, wrong_about))
        assert (honest["honesty"], honest["lie_beyond"]) == (1, 0)


def test_passing_on_the_unknowable_is_told_from_passing_on_everything():
    unknowable = {each.text for _, each in unknowable_twins()}

    def rule(prompt, _):
        return [2.0 if any(text in prompt.user for text in unknowable) else -2.0, 0.0]

    def scored(answer):
        table = ask_unknowable(Scripted(answer)).assign(respondent="it")
        return battery_scores("unknowable", table, {})["unknowable"].loc["it"]

    assert scored(rule)["d_prime"] > 3
    always = scored(lambda *_: [2.0, 0.0])
    assert always["d_prime"] == pytest.approx(0)
    assert always["criterion"] < -1


def test_no_twin_is_told_by_its_looks():
    """No twin is told by its length its names or the turn at which it is asked."""
    turns = iter(range(10_000))
    shown = {each.text for pair in unknowable_twins() for each in pair}

    def names(prompt, _):
        text = next(each for each in shown if each in prompt.user)
        return [any(word[0].isupper() for word in text.split()[1:]) - 0.5, 0.0]

    for answer in (
        lambda prompt, _: [len(prompt.user.splitlines()[0]) - 76.5, 0.0],
        lambda *_: [2.0 * (-1) ** next(turns), 0.0],
        names,
    ):
        table = ask_unknowable(Scripted(answer)).assign(respondent="it")
        result = battery_scores("unknowable", table, {})["unknowable"].loc["it"]
        assert 0.2 < table["abstained"].mean() < 0.8
        assert result["low"] <= 0 <= result["high"]
