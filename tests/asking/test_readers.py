"""Each stated rule of a reader has its example; errors are measured on labelled replies (scripts/replies.py)."""

import math

import numpy as np
import pytest

from onedial.asking.instruments import CONFIDENCE_IN_NUMBERS, CONFIDENCE_IN_WORDS
from onedial.asking.providers.provider_reading import response_of
from onedial.asking.readers import (
    chosen,
    option_said,
    parse_guesses,
    parse_list,
    parse_ranking,
    parse_ratings,
    parse_steps,
    refuses,
    stated_probability,
)
from onedial.asking.replies import leaves_a_thought_open, unmarked, without_thoughts
from onedial.asking.yes_no import NO_VARIANTS, YES_VARIANTS, parse_direct_yes_no, parse_yes_no
from onedial.selfreport.ask.choices import choice_instrument

NAN = math.nan
LETTERS = {"A": 0, "B": 1, "C": 2}
POINTS = {"1": 0, "2": 1, "3": 2, "4": 3}

RULES = {
    "yes or no, reasoned": (
        parse_yes_no,
        {
            "Yes.": True,
            "**no**\n": False,
            "Answer: Yes\nIf not, then no.": True,
            "First I thought: no.\nBut I do recall it. Yes, I can.": True,
            "Could I? Yes, at first sight. No.": False,
            "I'm not sure, but yes.": True,
            "No doubt about it: yes.": True,
            "No one knows": None,
            "Yes and no.": None,
            "Yes, no, who can tell": None,
            "Yes or no? Hard to say.": None,
            "I would not say no.": None,
            "The answer is not no, it is yes.": True,
            "Yes. Question: Who is it? Answer: No": True,
            "<think>It is hard, so no.</think>\n\nYes": True,
            '{"answer": "no"}': False,
            "Oui.": None,
            "It depends.": None,
            "": None,
        },
    ),
    "yes or no, at once": (
        parse_direct_yes_no,
        {"**No.**\n\nYes, others might.": False, "Yes, I can.\nThere is no doubt.": True, "The Danube.": None},
    ),
    "yes or no, cut off": (
        lambda text: parse_direct_yes_no(text, finished=False),
        {"**No**, since the": False, "Okay. Is it no? No, but": None, "Hm, no.</think>\nIt is so: yes, as": True},
    ),
    "a letter": (
        lambda text: chosen(text, LETTERS),
        {
            "B is rare. The answer is A.": 0,
            "The answer is A. No: my answer is **B**": 1,
            "B": 1,
            "b": 1,
            "(b) Lyon": 1,
            "B, since A is rare": 1,
            "Gold melts at 1064.\n\n**C) mercury**": 2,
            "A) gold\nB) mercury": None,
            "I would choose B": 1,
            "The answer is B or C": None,
            "A city in France": None,
            "It is not B.": None,
            "D": None,
        },
    ),
    "a point": (lambda text: chosen(text, POINTS), {"I'd give it a 3.": 2, "2 or 3": None, "3/4": None, "3.5": None}),
    "a probability": (
        stated_probability,
        {
            "**85%**\n37 to 40% say so.": 0.85,
            "About 60% of stars.\n\nI am 88% sure.": 0.88,
            "70-80%": 0.75,
            "95 out of 100": 0.95,
            "0,85": 0.85,
            "Probability: .7": 0.7,
            "7/10": 0.7,
            "95. It is 4.4 light-years away.": 0.95,
            "80%, surely more than 50%": None,
            "I am not 80% sure.": None,
            "5": None,
            "150%": None,
            "1,000%": None,
        },
    ),
    "a list": (
        parse_list,
        {
            '{"words": ["roof", "door"]}': ["roof", "door"],
            "Sure, here:\n1. **Roof**: covers it\n2. Door - opens\n\n1. Again": ["Roof", "Door"],
            "* roof\n* door": ["roof", "door"],
            "| # | Word |\n|---|---|\n| 1 | Roof |\n| 2 | Door |": ["Roof", "Door"],
            "The words are roof, door and wall.": ["roof", "door", "wall"],
            "Roof, door, and wall are words.": ["Roof", "door", "wall"],
            "Roof\nDoor": ["Roof", "Door"],
            "I'm sorry, but I cannot help with that.": [],
            "A house is a home.": [],
        },
    ),
    "an order": (
        parse_ranking,
        {
            '["Q2", "Q1", "Q4", "Q3"]': [2, 1, 4, 3],
            "So:\n1. Q2 (easiest)\n2. Q1: common\n3. Q4\n4. Q3": [2, 1, 4, 3],
            "Q2\nQ1\nQ4\nQ3": [2, 1, 4, 3],
            "From easiest to hardest: question 2, then 1, 4, and 3.": [2, 1, 4, 3],
            "2 > 1 > 4 > 3": [2, 1, 4, 3],
            "Hardest to easiest: Q3, Q4, Q1, Q2": None,
            "Q2 = Q1, Q4, Q3": None,
            "Q1: easy, Q2: easy, Q3: hard, Q4: medium": None,
            "Q1 and Q2 are easy; between Q4 and Q3 I would not choose": None,
            "Q1, Q2, Q3": None,
        },
    ),
    "ratings": (
        lambda text: parse_ratings(text, 3),
        {
            '{"A": 3, "B": null, "C": 4}': [3, NAN, 4],
            "[3, 2, 4]": [3, 2, 4],
            "3, 2, 4": [3, 2, 4],
            "3\n2\n4": [3, 2, 4],
            "**A:** 3\nstatement B: 2, I think\nc: I stay calm: 4 (very)": [3, 2, 4],
            "A) 3, B) 2, C) 4": [3, 2, 4],
            "A=3 B=2 C=4": [3, 2, 4],
            "1. 3/4\n2. 2\n3. 4": [3, 2, 4],
            "- **Calm:** 3\n- Firm: 2\n- Kind: 4": [3, 2, 4],
            "A: 9\nB: 2-3\nC: 4\nC: 3": [NAN, NAN, NAN],
        },
    ),
    "guesses": (
        parse_guesses,
        {
            "Well, hard: Paris: 60%\n2. Lyon: 25%": [("Well, hard: Paris", 0.6), ("Lyon", 0.25)],
            '[{"guess": "Paris", "probability": 0.6}]': [("Paris", 0.6)],
            "G1: Paris (0.75)\nso:\nG2: Lyon - 20–30%": [("Paris", 0.75), ("Lyon", 0.25)],
            "1.5: about 60%\n2. 12, 5%": [("1.5", 0.6), ("12", 0.05)],
            "The first answer: 100%\n2. The probability of each is: 50%": [],
            "William Herschel (1781)\n2. Apollo 11\n3. 1:1": [],
        },
    ),
    "steps": (
        parse_steps,
        {
            "Here are my steps:\n1. It lies in Africa.\n2. So it is there.": ["It lies in Africa.", "So it is there."],
            "It lies in Africa. Step 2: So it is there.": ["It lies in Africa.", "So it is there."],
            "It is Rome.\nStep 2: It is Rome.": [],
        },
    ),
    "declining": (
        refuses,
        {
            "I'm sorry, but I cannot help with that.": True,
            "I understand, but I am not able to do so.": True,
            "I do not know.": True,
            "I'd rather not say.": True,
            "Nope, can't do that.": True,
            "It is not appropriate to compare the two.": True,
            "I can't believe it's been ten years! Here is the story.": False,
            'Say: "I cannot come."': False,
            "While I can't see images, the description suggests a cat.": False,
            "I can't give advice, but here are three funds.": False,
            "No, Rome is the capital.": False,
            "7": False,
            "Lo siento, pero no puedo ayudarte con eso.": None,
            "抱歉，我无法回答这个问题。": None,
            "": None,
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", RULES)
def test_each_rule_reads_its_example(kind):
    read, examples = RULES[kind]
    expected = [[NAN] * 4 if kind == "an order" and value is None else value for value in examples.values()]
    np.testing.assert_equal(list(map(read, examples)), expected)


def test_every_variant_reads_as_itself():
    assert all(parse_yes_no(word) is True for word in YES_VARIANTS)
    assert all(parse_yes_no(word) is False for word in NO_VARIANTS)


def test_long_answers_are_read_in_no_time():
    assert parse_yes_no("not " * 20_000 + "\n" + "no doubt, " * 20_000 + "yes") is True
    assert refuses("I " * 20_000) is False


@pytest.mark.parametrize(
    ("instrument", "text", "name"),
    [
        (CONFIDENCE_IN_NUMBERS, "I'd say 70-80%.", "70-79"),
        (CONFIDENCE_IN_NUMBERS, "0", "00-09"),
        (CONFIDENCE_IN_WORDS, "My confidence is High.", "high"),
        (CONFIDENCE_IN_WORDS, "low to medium", None),
        (choice_instrument(), "B) I do not know it", "B"),
    ],
)
def test_an_option_is_read_by_the_kind_of_its_scale(instrument, text, name):
    place = option_said(instrument.scale, instrument.reader, text)
    assert (None if place is None else instrument.scale.options[place]) == name


THOUGHTS = [
    "<thinking>\nNo, hard.\n</thinking>\nYes",
    "[THINK]No, hard.\n[/THINK]\nYes",
    "analysisThe user asks.\nNo, hard.assistantfinalYes",
    "<|channel|>analysis<|message|>No.<|end|><|start|>assistant<|channel|>final<|message|>Yes<|return|>",
    "<|channel|>commentary<|message|>No.<|end|><|channel|>final<|message|>Yes",
    "<seed:think>No<seed:cot_budget_reflect>a</seed:cot_budget_reflect></seed:think>Yes",
    "<reasoning>No.</reasoning>\n<answer>Yes</answer>",
    "◁think▷No.◁/think▷Yes",
    "<|begin_of_thought|>No.<|end_of_thought|>\n\n<|begin_of_solution|>Yes<|end_of_solution|>",
    "<|START_THINKING|>No.<|END_THINKING|><|START_RESPONSE|>Yes<|END_RESPONSE|>",
    "<|channel>thought\nNo.<channel|>Yes",
    "<|turn>thinking\nNo.<turn|>Yes<turn|>",
    "<unused94>thought\nNo.\n<unused95>Yes",
    "<thinking_process>No.</thinking_process>\nYes",
    "<Thought>No.</Thought>\n<Output>Yes</Output>",
    "<longcat_think>No.</longcat_think>Yes",
    "Thinking...\nNo.\n...done thinking.\n\nYes",
    "Here is my thought process:\nNo.\n\nHere is my response:\nYes",
    "## Thinking\nNo.\n\n## Final Response\nYes",
    '<details type="reasoning" done="true"><summary>Thought</summary>\nNo.\n</details>\nYes',
    "Okay. No, hard.\n</think>\n\nYes",
    "<think>No.</think>Hm. <think>No.</think>Yes",
]


@pytest.mark.parametrize("text", THOUGHTS)
def test_a_thought_is_not_what_is_said(text):
    assert unmarked(text) == "Yes"


@pytest.mark.parametrize("opened", ["<think>", "[THINK]", "analysisWe know: ", "<reasoning>", "<|turn>thinking\n"])
def test_a_thought_that_does_not_close_leaves_nothing(opened):
    assert without_thoughts(f"{opened}No") == ""


@pytest.mark.parametrize(
    "text", ["The tag <think> opens a thought. Yes.", 'Yes, "</think>" closes it.', "Analysis: Yes."]
)
def test_a_mark_that_is_spoken_of_hides_nothing(text):
    assert parse_yes_no(text) is True


def test_a_mark_within_a_question_leaves_no_thought_open():
    assert leaves_a_thought_open("Question: Can you?<|im_end|>\n<|im_start|>assistant\n<think>\n")
    assert leaves_a_thought_open("Can you?[/INST][THINK]")
    assert not leaves_a_thought_open("Question: What does <think> open? Yes or No?\nassistant:")


def test_what_cannot_be_read_keeps_its_text_and_is_no_answer():
    response = response_of(choice_instrument(), "A or B", True, [])
    assert (response.value, response.raw_text) == (None, "A or B")
