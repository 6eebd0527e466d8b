"""Grade a closed-book answer in words: right, wrong, or no answer.

1. Of its first line that says something the first sentence counts, and of its last line the last (`statements`), after
   normalising.
2. It is right where it is an accepted answer, or holds one as whole words in its order.
3. A row of bare numbers holds none ("2, 3, 5"), nor does a sentence with a "not" or "or" that neither question nor
   accepted answer has: that is no answer, for the rules do not know what it denies. "I'm not sure, but ..." denies
   nothing. Another sentence of these lines that holds one is no answer either.
4. What says nothing, only repeats the question, or declines (`refuses`) is no answer. All else is wrong.

A thing that is named after its owner holds the owner's name: a judge reads that (`--judge`), and what is no answer.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from onedial.asking.readers import refuses
from onedial.panels.grading.answer_text import FUNCTION_WORDS, find, normalised_tokens, statements

Outcome = Literal["right", "wrong", "no answer", "ungraded"]
_WORDS = re.compile(r"\w+(?:[.,'’-]\w+)*")
_DENIALS = {"not", "never", "neither", "nor", "cannot", "or", "isnt", "wasnt", "arent", "werent", "doesnt", "didnt"}
_SENTENCE = re.compile(r"(?<=[a-z\d)\"*]{2}[.!?])\s+(?=[A-Z\"*])")
"""Between two sentences; not behind an initial or "St."."""
_UNSURE = r"I(?:'m| am) not (?:\w+ )*(?:sure|certain)\b"
_HEDGE = re.compile(rf"^.*{_UNSURE}[^.]*?,? but\b|[,;.(]\s*(?:but |though |although )?{_UNSURE}\W*$", re.IGNORECASE)


@dataclass(frozen=True)
class Grade:
    """What an answer is worth.

    Attributes:
        outcome: "right", "wrong"; "no answer" for what answers nothing; "ungraded" where the question was not asked,
            or nothing is accepted.
    """

    outcome: Outcome

    @classmethod
    def of(cls, is_right: bool) -> "Grade":
        return cls("right" if is_right else "wrong")

    @property
    def correct(self) -> bool | None:
        """None where it is neither right nor wrong."""
        return {"right": True, "wrong": False}.get(self.outcome)


UNGRADED = Grade("ungraded")
NO_ANSWER = Grade("no answer")


def outcome_as_number(outcome: str, declined: float = float("nan")) -> float:
    """What an outcome is as a number: 1 for right, 0 for wrong, nan for what was not answered or not graded.

    Args:
        declined: for "no answer", where whoever declines is to count: 0 as not right.

    >>> [outcome_as_number(each) for each in ("right", "wrong", "ungraded", "no answer")]
    [1.0, 0.0, nan, nan]
    """
    return {"right": 1.0, "wrong": 0.0, "no answer": declined}.get(outcome, float("nan"))


def grade(answer_text: str | None, accepted: Sequence[str], question: str = "", exact: Sequence[str] = ()) -> Grade:
    """Grade one answer against all accepted ones, by the rules above.

    Args:
        answer_text: what the respondent wrote. None: it was not asked.
        accepted: accepted answers, aliases included; empty where none is known or none exists.
        question: what was asked; its words may stand in the answer, and without it the question that comes back as an
            answer is not known for what it is.
        exact: answers that are accepted only as a whole line ("fall", which stands in too many sentences).

    Returns:
        The grade; its outcome is "no answer" also where nothing is accepted.

    >>> grade("The Danube.", ["Danube"]).outcome, grade("Not the Danube.", ["Danube"]).outcome
    ('right', 'no answer')
    """
    if answer_text is None:
        return UNGRADED
    lines = statements(answer_text, question)
    if not lines:
        return NO_ANSWER
    if not (accepted or exact):
        return UNGRADED
    ends = [_SENTENCE.split(lines[0])[0], _SENTENCE.split(lines[-1])[-1]]
    sentences = [_HEDGE.sub("", each).strip() or each for each in (*ends, lines[0], lines[-1])]
    given_tokens = [normalised_tokens(each) for each in sentences]
    answers = [normalised_tokens(text) for text in accepted]
    if any(normalised_tokens(text) in given_tokens for text in (*accepted, *exact)):
        return Grade.of(True)
    asked, is_held = normalised_tokens(question), False
    for place, given in enumerate(given_tokens):
        for wanted in answers if not re.fullmatch(r"[\d\s.,]+", sentences[place]) else ():
            if find(given, wanted):
                if place < len(ends) and not _DENIALS & (set(given) - set(asked) - set(wanted)):
                    return Grade.of(True)
                is_held = True
    return NO_ANSWER if is_held or refuses(answer_text) else Grade.of(False)


def answer_spans(text: str, question: str = "") -> list[tuple[int, int]]:
    """(start, end) of every word that says something which the question has not said; all words where none does.

    >>> [text[a:b] for text in ["The capital of France is Paris."] for a, b in answer_spans(text, "Capital of France?")]
    ['Paris']
    """
    words = [(match.start(), match.end()) for match in _WORDS.finditer(text)]
    asked = FUNCTION_WORDS | set(normalised_tokens(question))
    new = [(start, end) for start, end in words if not set(normalised_tokens(text[start:end])) <= asked]
    return new or words


def answer_label(text: str, question: str = "") -> str | None:
    """Its first statement's normalised words, which equal answers share; None where it says nothing.

    >>> answer_label("Answer: the Seine.") == answer_label("Seine")
    True
    """
    return " ".join(normalised_tokens(next(iter(statements(text, question)), ""))) or None
