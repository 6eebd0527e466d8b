"""Confidence along a reasoning: steps are read, and only what they say counts, not how much of it there is."""

from scripted import Scripted

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
        answer = next(result for text, result in KNOWN.items() if text in shown)
        if instrument.name == "reasoning, steps":
            more = " and so on" * (3 * (answer != "xyz"))  # right reasonings are longer
            return f"It may be {answer}{more}.\nStep 2: So it is {answer}.\nStep 3: It is {answer}."
        if instrument.name == "reasoning, answer":
            return answer
        thoughts = prompt.user.partition("thoughts so far:\n")[2].partition("\n\nHow")[0]
        return [4.0 * (ten == sure(answer, thoughts)) for ten in range(10)]

    return ask_reasoning(Scripted(rule), QUESTIONS)


def test_a_filler_says_nothing_at_the_same_length():
    assert filler("So it is 1,789.") == ".. .. .. ......"


def test_rising_confidence_is_recovered():
    """Confidence that rises where the steps hold the truth is found and starts from nothing."""
    result = reasoning_scores(
        asked(lambda answer, thoughts: 8 if answer != "xyz" and answer in thoughts else 4), Draws(TOPICS)
    )
    assert result.loc["rise", ["n", "n_unread", "right", "auroc"]].tolist() == [40, 0, 0.5, 1.0]
    assert result.loc["step 0", "auroc"] == 0.5
    assert result.loc["step 1", "auroc"] == 1.0
