"""Questionnaires: orders, reversed statements, conversations, follow-ups, and ratings read from lines."""

import re
from dataclasses import replace

import pytest

from onedial.asking.respondents import Identity, Response
from onedial.core.errors import InputError
from onedial.panels.grading.choice_grading import grade_answer
from onedial.selfreport.ask.questionnaires import (
    FOLLOW_UPS,
    RATING_COLUMNS,
    administer,
    conditions,
    efficacy_tasks,
    load_questionnaire,
    shuffled_items,
)


class Planted:
    """Rates each statement by a rule, and moves by a rule when it is asked again."""

    identity = Identity("planted")

    def __init__(self, rate, revise=None, text=""):
        self.rate, self.revise, self.text, self.seen = rate, revise or {}, text, []

    def answer(self, prompts, instrument):
        for place, prompt in enumerate(prompts):
            self.seen.append(prompt)
            if instrument.scale.kind == "text":
                yield Response(place=place, raw_text=self.text)
                continue
            wording = next((name for name, words in FOLLOW_UPS.items() if words == prompt.user), None)
            asked = prompt.earlier[0][0] if wording else prompt.user
            rating = self.rate(re.search(r"Statement: (.*)", asked)[1])
            rating = (
                rating if wording is None or rating is None else min(4, max(1, rating + self.revise.get(wording, 0)))
            )
            if rating is None:
                yield Response(place=place, mass=0.01)
            else:
                point = instrument.scale.values.index(rating)
                yield Response(
                    place=place, value=float(point), mass=0.9, probabilities=tuple(float(i == point) for i in range(4))
                )


def test_who_agrees_with_praise_scores_high():
    """Someone who agrees with what speaks for them scores high on every item."""
    questionnaire = load_questionnaire()
    speaks_against = {item.slots["statement"] for item in questionnaire.items if item.sign < 0}
    sure = Planted(lambda statement: 1 if statement in speaks_against else 4)
    rows = administer(sure, questionnaire, "no task", 0, follow_ups=())
    assert list(rows.columns) == RATING_COLUMNS
    assert rows["rating"].tolist() == [4.0] * 10
    assert rows["expected"].tolist() == [4.0] * 10
    says_four = administer(Planted(lambda _: 4), questionnaire, "no task", 0, follow_ups=())
    assert says_four["rating"].mean() == pytest.approx((6 * 4 + 4 * 1) / 10)


def test_orders_differ_between_administrations_and_repeat_for_a_seed():
    questionnaire = load_questionnaire()
    orders = [[item.item_id for item in shuffled_items(questionnaire, "no task", number)] for number in range(3)]
    assert len({tuple(order) for order in orders}) == 3
    assert all(sorted(order) == sorted(orders[0]) for order in orders)
    assert orders[0] == [item.item_id for item in shuffled_items(questionnaire, "no task", 0)]


def test_each_statement_sees_the_ratings_before_it_and_the_condition_once():
    respondent = Planted(lambda _: 3)
    administer(respondent, load_questionnaire(), "computation", 1, follow_ups=())
    assert [len(prompt.earlier) for prompt in respondent.seen] == list(range(10))
    last = respondent.seen[-1]
    whole = "".join(user + answer for user, answer in last.earlier) + last.user
    assert whole.count("In a moment you will be given tasks") == 1
    assert {answer for _, answer in last.earlier} == {"Answer: 3"}


def test_follow_ups_are_asked_of_each_rating():
    """Follow ups are asked of each rating and a revision is in the items own direction."""
    questionnaire = load_questionnaire()
    rows = administer(Planted(lambda _: 2, {"doubting": -1, "encouraging": 1}), questionnaire, "no task", 0)
    wide = rows.pivot(index="item", columns="follow_up", values="rating")
    signs = {item.item_id: item.sign for item in questionnaire.items}
    change = (wide["encouraging"] - wide[""]).to_dict()
    assert change == {item: float(sign) for item, sign in signs.items()}
    assert (wide["neutral"] == wide[""]).all()


def test_written_ratings_are_read_line_by_line():
    text = "\n".join(f"{chr(65 + place)}: 4" for place in range(10))
    rows = administer(Planted(None, text=text), load_questionnaire(), "no task", 0, "all at once")
    assert rows["rating"].notna().all()
    assert set(rows["rating"]) == {1.0, 4.0}
    assert set(rows["text"]) == {text}  # what was written stays beside how it was read


def test_a_scale_of_ones_own_is_read_and_a_broken_one_refused(tmp_path):
    file = tmp_path / "mine.csv"
    sentences = ["I can solve most problems.", "If someone opposes me I find a way.", "It is easy for me to give up."]
    lines = [f"{sentences[0]},1", f"{sentences[1]},1", f"{sentences[2]},-1"]
    file.write_text("\n".join(["text,keyed", *lines]))
    questionnaire = load_questionnaire(file)
    assert [(item.slots["statement"], item.sign) for item in questionnaire.items] == list(
        zip(sentences, (1, 1, -1), strict=True)
    )
    respondent = Planted(lambda _: 3)
    administer(respondent, questionnaire, "no task", 0, follow_ups=())
    shown = {re.search(r"Statement: (.*)", prompt.user)[1] for prompt in respondent.seen}
    assert shown == set(sentences)  # as they were written, with nothing before them
    file.write_text("text,keyed\nSolve it.,2\nGive up.,1\n")
    with pytest.raises(InputError, match=r"line 2, column 'keyed' holds '2'; give 1 or -1"):
        load_questionnaire(file)
    file.write_text("item\nSolve it.\n")
    with pytest.raises(InputError, match="no column 'text'"):
        load_questionnaire(file)
    with pytest.raises(InputError, match="none of no task"):
        administer(Planted(None), load_questionnaire(), "leisure", 0)


def test_every_condition_has_five_graded_tasks_whose_keys_are_right():
    tasks = efficacy_tasks()
    assert list(conditions()) == ["no task", *tasks]
    assert "{options}" not in "".join(conditions().values())
    assert "\nA) " in conditions()["summarising"]
    for of_condition in tasks.values():
        assert [task.level for task in of_condition] == [1, 2, 3, 4, 5]
        for task in of_condition:
            assert grade_answer(task, task.answers[0]).outcome == "right"
            if task.options:
                assert (
                    grade_answer(replace(task, right_option=1 - task.right_option), task.answers[0]).outcome == "wrong"
                )
