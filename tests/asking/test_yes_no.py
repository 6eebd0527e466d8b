"""A reasoned answer is read as yes or no only where it says so clearly."""

import pytest

from onedial.asking.replies import leaves_a_thought_open, unmarked
from onedial.asking.yes_no import NO_VARIANTS, YES_VARIANTS, parse_direct_yes_no, parse_yes_no

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
    # hedged
    "Yes, I am not sure",
    "Yes, but I am not sure.",
    "Probably yes",
    "I'm not sure, but yes.",
    "As an AI, I can't be sure, but yes.",
    "Yes, although I'm not entirely certain.",
    "Yes?",
    # negated and double
    "I would say yes, not no.",
    "The answer is not no, it is yes.",
    "It is not true that the answer is no. Yes.",
    "Yes, no problem.",
    "No problem, yes.",
    "No, wait. Yes.",
    # without the word, and alone
    "Of course.",
    "Certainly!",
    "Absolutely",
    "I think so.",
    "I believe so",
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
    "No, I am not sure.",
    "Probably no",
    "No, but I could guess.",
    "I'm not sure, but I'd say no.",
    "No, not yes.",
    "The answer is not yes but no.",
    "No. Yes is wrong.",
    "No, that isn't so. Would I say yes?",
    "No, I don't have no idea.",
    "No, no puedo.",
    "Of course not.",
    "Certainly not!",
    "I don't think so.",
    "I do not believe so",
    "Not at all.",
    "I’m afraid not.",
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
    "I can't say no.",
    "I would not say no.",
    "Yes is not the answer.",
    "The answer isn't no.",
    "Neither yes nor no",
    "Maybe yes, maybe no",
    "Is it yes? I can't tell.",
    "Certainly! Let me think about it.",
    "Of course, I don't know everything.",
    "It depends.",
    # whether these affirm hangs on what was asked
    "I can't.",
    "I don't think I can't.",
    "It's not that I can't answer.",
    # refusals, and other languages
    "I'm sorry, but I cannot help with that.",
    "As an AI language model, I have no personal knowledge.",
    "I'd rather not say yes or no.",
    "Ja.",
    "Nein, das weiß ich nicht.",
    "Oui",
    "Non.",
    "Sí",
    "No sé.",
    "No lo sé.",
    "Да",
    "はい",
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


THOUGHTS = [
    "<thinking>\nNo, hard.\n</thinking>\nYes",
    "[THINK]No, hard.\n[/THINK]\nYes",
    "analysisThe user asks.\nNo, hard.assistantfinalYes",
    "<|channel|>analysis<|message|>No.<|end|><|start|>assistant<|channel|>final<|message|>Yes<|return|>",
    "<|channel|>commentary<|message|>No.<|end|><|channel|>final<|message|>Yes",
    "<seed:think>No<seed:cot_budget_reflect>a</seed:cot_budget_reflect></seed:think>Yes",
    "<reasoning>No.</reasoning>\n<answer>Yes</answer>",
    "\u25c1think\u25b7No.\u25c1/think\u25b7Yes",
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
def test_thoughts_in_any_marks_are_no_answer(text):
    assert parse_yes_no(text) is True
    assert parse_direct_yes_no(text) is True
    assert unmarked(text) == "Yes"


@pytest.mark.parametrize(
    "text",
    [
        "<think>No",
        "[THINK]No",
        "<thinking>\nNo",
        "analysisWe know: no.",
        "<|channel|>analysis<|message|>No",
        "<reasoning>No",
        "<unused94>thought\nNo",
        "<|turn>thinking\nNo",
    ],
)
def test_a_thought_that_does_not_close_is_no_answer(text):
    assert parse_yes_no(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "The tag <think> opens a thought. Yes.",
        "Yes, `<think>` is a tag.",
        'Yes, "</think>" closes it.',
        "Analysis: Yes.",
    ],
)
def test_a_mark_that_is_spoken_of_hides_nothing(text):
    assert parse_yes_no(text) is True


def test_a_mark_within_a_question_leaves_no_thought_open():
    assert leaves_a_thought_open("Question: Can you?<|im_end|>\n<|im_start|>assistant\n<think>\n")
    assert leaves_a_thought_open("Can you?[/INST][THINK]")
    assert not leaves_a_thought_open("Question: What does <think> open? Yes or No?\nassistant:")
