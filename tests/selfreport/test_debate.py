"""Bets over a debate with oneself: they add up to one for who sees that one side wins, and a coin is the control."""

import pytest
from scripted import Scripted

from onedial.panels.questions.question_files import load_questions
from onedial.selfreport.battery.debate import MOTIONS, TURNS, ask_debate, debate_scores
from onedial.selfreport.frame import Draws

QUESTIONS = load_questions("embedded")[:40]


def held(sure, says=lambda prompt: f"There are good reasons {'for' if 'speak for' in prompt.user else 'against'} it."):
    """A debate of somebody whose bet is a decile by the prompt."""

    def rule(prompt, instrument):
        if instrument.name == "debate":
            return says(prompt)
        return [9.0 * (ten == sure(prompt.user)) for ten in range(10)]

    return ask_debate(Scripted(rule), QUESTIONS)


def test_each_side_speaks_in_every_turn_hears_the_other_and_opens_by_turns():
    heard = []

    def says(prompt):
        heard.append(prompt.user)
        return f"Speech {len(heard)}."

    table = held(lambda shown: 5, says)
    assert len(table) == len(MOTIONS) * len(TURNS) * 2
    assert len(heard) == len(set(heard)) == len(table)
    first = table[table["question_id"] == MOTIONS[0]].set_index(["turn", "side"])["text"]
    second = next(each for each in heard if MOTIONS[0] in each and "speak against" in each)
    assert f"For: {first['opening', 'for']}" in second
    opened = [each for each in heard if "(nothing)" in each]
    assert [("speak for" in each) for each in opened] == [place % 2 == 0 for place in range(len(MOTIONS))]


def test_bets_of_a_winner_are_no_boast():
    """Bets of who sees that one side wins are no boast and both sides sure of winning are."""
    fair = debate_scores(held(lambda shown: 5 if "coin" in shown else 7 if "speak for" in shown else 3), Draws())
    assert fair["beyond"].abs().max() < 0.01
    modest = debate_scores(held(lambda shown: 2 if "coin" in shown else 3), Draws())
    assert modest["beyond"].tolist() == [0] * 4  # .69 beside .49: more than on the coin, and no boast
    boasts = debate_scores(held(lambda shown: 5 if "coin" in shown else 6 + shown.count("For: ")), Draws())
    assert 0.3 < boasts.loc["closing", "low"] < 0.6 < boasts.loc["closing", "beyond"]
    assert boasts.loc["closing", "over_one"] == 1
    assert boasts.loc["rise", "beyond"] == pytest.approx(0.4, abs=0.01)
