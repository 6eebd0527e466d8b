"""Confidence along a reasoning: asked before it, and after each of its steps. Does it rise where the answer is right?

The control is a filler: the same steps with a dot for each sign (after the filler tokens of arXiv 2307.13702), of the
same length and saying nothing. What confidence has beyond it is owed to what the steps say.
"""

import math
import re
from collections.abc import Sequence

import pandas as pd

from onedial.asking.instruments import CLOSED_BOOK, CONFIDENCE_IN_NUMBERS, Instrument
from onedial.asking.measuring import ask_table
from onedial.asking.prompts import PromptTemplate
from onedial.asking.questions import Question
from onedial.asking.readers import parse_steps
from onedial.asking.reply_forms import STEPS as WRITTEN_STEPS
from onedial.asking.respondents import Respondent
from onedial.confidence.signals import signal_table
from onedial.core.files import sha256_of_text
from onedial.selfreport.ask.requests import correct, writes
from onedial.selfreport.frame import BatteryTest, Draws, area

DOTS = -1
"""In place of the number of steps: all of them, with a dot for each sign."""
STEPS = writes(
    "reasoning, steps",
    "Question: {question}\n\nThink about it in three short steps, one on each line. Do not answer yet.",
    ("question",),
    96,
    "Step 1:",
    form=WRITTEN_STEPS,
)
ANSWER = Instrument(
    "reasoning, answer",
    PromptTemplate(
        "Now answer the question in as few words as possible, without a sentence around them.",
        "Answer:",
        "reasoning, answer",
        ("question", "steps"),
        ((STEPS.template.user, "{steps}"),),
    ),
    CLOSED_BOOK.scale,
    CLOSED_BOOK.reader,
)
SURE = CONFIDENCE_IN_NUMBERS.framed(
    PromptTemplate(
        "Question: {question}\n\nYour thoughts so far:\n{steps}\n\nHow likely is it that your answer to the question "
        "will be correct? Give the percentage in two digits, from 00 (impossible) to 99 (certain).",
        "Answer: ",
        "confidence along a reasoning",
        ("question", "steps"),
    )
)


def _shown(steps: Sequence[str]) -> str:
    return "\n".join(f"Step {place}: {step}" for place, step in enumerate(steps, 1)) or "(none)"


def filler(step: str) -> str:
    """Write a dot for each sign but blanks.

    >>> filler("It is Rome.")
    '.. .. .....'
    """
    return re.sub(r"\S", ".", step)


def _turn(each: tuple[int, int], thought: Sequence[tuple[Question, list[str]]]) -> float:
    """Say where in its question's turn a step, or the filler, is asked."""
    question, steps = thought[each[0]]
    if each[1] != DOTS:
        return each[1]
    return len(steps) + (0.5 if int(sha256_of_text(question.id), 16) % 2 else -0.5)


def ask_reasoning(respondent: Respondent, questions: Sequence[Question]) -> pd.DataFrame:
    """Ask for three written steps, the answer after them, and confidence before, after each, and after their filler.

    Returns:
        question_id, step (0 = before), confidence (expected value over all number tokens), filler (likewise, all steps
        being dots; of the last step), correct (of the answer after all steps; 1 / 0 / nan), written (the step), answer;
        nan where unread. Of what has no steps there is the row of step 0 alone, with no confidence.
    """
    texts = ask_table(respondent, STEPS, [{"question": q.rendered} for q in questions])["text"]
    thought = [(q, steps) for q, text in zip(questions, texts, strict=True) if (steps := parse_steps(text))]
    slots = [{"question": q.rendered, "steps": _shown(steps)} for q, steps in thought]
    answers = ask_table(respondent, ANSWER, slots)["text"].str.strip()
    right = [correct(question, text) for (question, _), text in zip(thought, answers, strict=True)]
    plan = [(place, n) for place, (_, steps) in enumerate(thought) for n in range(len(steps) + 1)]
    shown = {(place, n): thought[place][1][:n] for place, n in plan}
    shown |= {(place, DOTS): [filler(step) for step in steps] for place, (_, steps) in enumerate(thought)}
    # The filler stands beside the last step, before or after it by hash: what is carried on befalls both.
    order = sorted(shown, key=lambda each: (each[0], _turn(each, thought)))
    slots = [{"question": thought[place][0].rendered, "steps": _shown(shown[place, n])} for place, n in order]
    stated = dict(zip(order, ask_table(respondent, SURE, slots)["stated"], strict=True))
    rows: list[list[object]] = []
    for place, n in plan:
        (question, steps), confidence = thought[place], stated[place, n]
        dots = stated[place, DOTS] if n == len(steps) else math.nan
        rows.append([question.id, n, confidence, dots, right[place], steps[n - 1] if n else "", answers[place]])
    known = {question.id for question, _ in thought}
    rows += [
        [q.id, 0, math.nan, math.nan, math.nan, text, ""]
        for q, text in zip(questions, texts, strict=True)
        if q.id not in known
    ]
    columns = ["question_id", "step", "confidence", "filler", "correct", "written", "answer"]
    return pd.DataFrame(rows, columns=columns)


def reasoning_scores(answers: pd.DataFrame, draws: Draws) -> pd.DataFrame:
    """Measure how well confidence tells right from wrong answers at each step, and what the steps have added.

    Formula: rise = confidence after the last step - confidence after its filler; AUROC of each (`signal_table`).

    Args:
        answers: of `ask_reasoning`.

    Returns:
        index when ("step 0", ..., "rise"); n, n_unread, right (share), mean, auroc, low, high. Sign: auroc of the rise
        above .5 = the steps make it surer where its answer is right.
    """
    keyed = answers.set_index("question_id")
    last = keyed[keyed["step"] == keyed.groupby("question_id")["step"].transform("max")]
    # What has no steps was graded as nothing, and is unread.
    right = last["correct"].where(last["step"] > 0, 0.0)
    signals = keyed.pivot_table("confidence", "question_id", "step", dropna=False).reindex(last.index)
    signals = signals.rename(columns=lambda step: f"step {step}").assign(rise=last["confidence"] - last["filler"])
    scores = signal_table(signals, right, draws.of(signals.index), None, draws.n, draws.seed)
    means = pd.DataFrame({"right": last["correct"].mean(), "mean": signals.mean()}).where(scores["auroc"].notna())
    return scores.join(means)[["n", "n_unread", "right", "mean", "auroc", "low", "high"]].rename_axis("when")


REASONING = BatteryTest(
    ask=lambda make, material: ask_reasoning(make(0), material.questions),
    scores={"reasoning": reasoning_scores},
    headline=area("reasoning", "the rise of confidence", only=("rise",)),
    measures="confidence before, and after each of three written steps",
    formula="AUROC of its rise beyond steps turned into dots",
    caveat="asked of the steps, not while they are written",
    reply="confidence",
)
