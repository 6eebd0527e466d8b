"""Confidence along a reasoning: steps are read, and only what they say counts, not how much of it there is."""

import pytest
from scripted import Scripted

from onedial.asking.readers import parse_steps
from onedial.panels.questions.question_files import load_questions
from onedial.selfreport.battery.reasoning import ask_reasoning, filler, reasoning_scores
from onedial.selfreport.frame import Draws

QUESTIONS = [each for each in load_questions("embedded") if each.answers][:40]
TOPICS = {each.id: each.id for each in QUESTIONS}
KNOWN = {each.text: (each.answers[0] if place % 2 else "xyz") for place, each in enumerate(QUESTIONS)}


def asked(sure):
    """Right in every other question; confidence by a rule: (answer, thoughts) -> decile."""

    def rule(prompt, instrument):
        shown = " ".join([*(text for turn in prompt.earlier for text in turn), prompt.user])
        answer = next(found for text, found in KNOWN.items() if text in shown)
        if instrument.name == "reasoning, steps":
            more = " and so on" * (3 * (answer != "xyz"))  # right reasonings are longer
            return f"It may be {answer}{more}.\nStep 2: So it is {answer}.\nStep 3: It is {answer}."
        if instrument.name == "reasoning, answer":
            return answer
        thoughts = prompt.user.partition("thoughts so far:\n")[2].partition("\n\nHow")[0]
        return [4.0 * (ten == sure(answer, thoughts)) for ten in range(10)]

    return ask_reasoning(Scripted(rule), QUESTIONS)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("First this.\nStep 2: Then that.\n3. At last.\n4. No more.", ["First this.", "Then that.", "At last."]),
        ("First this. Then that.", ["First this.", "Then that."]),
        ("First this. Step 2: Then that. Step 3:", ["First this.", "Then that."]),
        ("It is Rome", []),
        ("It is Rome.\nStep 2: It is Rome.\nStep 3: It is Rome.", []),
        ("", []),
    ],
)
def test_steps_are_lines_or_else_sentences_and_one_thing_said_thrice_is_no_reasoning(text, steps):
    assert parse_steps(text) == steps


def test_a_filler_says_nothing_at_the_same_length():
    assert filler("So it is 1,789.") == ".. .. .. ......"


def test_confidence_that_rises_where_the_steps_hold_the_truth_is_found_and_starts_from_nothing():
    found = reasoning_scores(
        asked(lambda answer, thoughts: 8 if answer != "xyz" and answer in thoughts else 4), Draws(TOPICS)
    )
    assert found.loc["rise", ["n", "n_unread", "right", "auroc"]].tolist() == [40, 0, 0.5, 1.0]
    assert found.loc["step 0", "auroc"] == 0.5
    assert found.loc["step 1", "auroc"] == 1.0


def test_what_has_no_steps_is_unread_and_never_asked_how_sure_it_is():
    table = ask_reasoning(Scripted(lambda prompt, instrument: "Rome"), QUESTIONS[:8])
    assert table["step"].tolist() == [0] * 8
    assert table["written"].tolist() == ["Rome"] * 8
    found = reasoning_scores(table, Draws(TOPICS, 99))
    assert found["n_unread"].tolist() == [8, 8]
    assert found["auroc"].isna().all()
