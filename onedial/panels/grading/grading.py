"""Grade a closed-book answer by the rules of SQuAD: normalised exact match and token F1, best over accepted answers.

With c tokens shared (counted with their multiplicity) between an answer of a tokens and an accepted one of b:

    precision = c / a,  recall = c / b,  F1 = 2 c / (a + b)

`correct` is a little wider than exact match, since models answer in sentences: the accepted answer may also stand
within the answer, as whole words in its order. Then the whole must be read:

    a denial ("not ...") or a choice ("... or ...", "1. ... 2. ...") is no answer, unless the question's own words are
    repeated, or several are asked for;
    where the accepted answer has numbers, others are refused (a range is no year), those of question and key apart;
    brackets, the left side of an equation, and a subject that repeats the question may be left out;
    the words around it may make it something else (`onedial.panels.grading.answer_key`).

What answers nothing is neither right nor wrong (`onedial.panels.grading.non_answers`).

Where in a written text the answer stands, and when two texts give the same one.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from onedial.panels.grading.answer_key import Key, names_another_of_its_kind, names_something_else
from onedial.panels.grading.answer_text import FUNCTION_WORDS, Statement, find, normalised_tokens, word_set
from onedial.panels.grading.non_answers import asks_back, first_statement, repeats_the_question

_WORDS = re.compile(r"\w+(?:[.,'’-]\w+)*")


def answer_spans(text: str, question: str = "") -> list[tuple[int, int]]:
    """(start, end) of every word that says something which the question has not said; all words where none does.

    >>> [text[a:b] for text in ["The capital of France is Paris."] for a, b in answer_spans(text, "Capital of France?")]
    ['Paris']
    """
    words = [(found.start(), found.end()) for found in _WORDS.finditer(text)]
    asked = FUNCTION_WORDS | set(normalised_tokens(question))
    new = [(start, end) for start, end in words if not set(normalised_tokens(text[start:end])) <= asked]
    return new or words


def answer_label(text: str, question: str = "") -> str | None:
    """Its first statement's normalised words, which equal answers share; None where it says nothing.

    >>> answer_label("Answer: the Seine.") == answer_label("Seine")
    True
    """
    return " ".join(first_statement(text, question).tokens) or None


__all__ = ["UNGRADED", "Grade", "Outcome", "grade", "normalised_tokens", "outcome_as_number"]

Outcome = Literal["right", "wrong", "no answer", "ungraded"]

_VERBS = word_set("is was are were do does did ca could wo would has have had should")
_DENIALS = word_set("not never neither nor cannot or") | {f"{verb}nt" for verb in _VERBS}
_BRACKETS = re.compile(r"(?<!\\)\([^()]*\)|\[[^\[\]]*\]")
_COPULA = re.compile(r"=|\b(?:is|are|was|were|equals)\b", re.IGNORECASE)
_NUMBERED = re.compile(r"(?:^|\s)1[.)]\s+\S.*\s2[.)]\s+\S")
_LISTED = re.compile(r"\s*,\s*(?:and\s+|&\s*)?|\s+and\s+|\s*&\s*")


@dataclass(frozen=True)
class Grade:
    """What an answer is worth.

    Attributes:
        exact: equal to an accepted answer after normalising; None where there is nothing to grade, or nothing to
            grade it by.
        f1: token F1 with the nearest accepted answer, 0 to 1; nan likewise.
        correct: exact, or an accepted answer stands within it (see the module's text); None likewise.
        outcome: "right", "wrong"; "no answer" for what answers nothing; "ungraded" where the question was not asked,
            or nothing is accepted.
    """

    exact: bool | None
    f1: float
    correct: bool | None
    outcome: Outcome


def outcome_as_number(outcome: str, declined: float = float("nan")) -> float:
    """What an outcome is as a number: 1 for right, 0 for wrong, nan for what was not answered or not graded.

    Args:
        declined: for "no answer", where whoever declines is to count: 0 as not right.

    >>> [outcome_as_number(each) for each in ("right", "wrong", "ungraded", "no answer")]
    [1.0, 0.0, nan, nan]
    """
    return {"right": 1.0, "wrong": 0.0, "no answer": declined}.get(outcome, float("nan"))


UNGRADED = Grade(exact=None, f1=float("nan"), correct=None, outcome="ungraded")
NO_ANSWER = Grade(exact=None, f1=float("nan"), correct=None, outcome="no answer")


def grade(answer_text: str | None, accepted: Sequence[str], question: str = "", exact: Sequence[str] = ()) -> Grade:
    """Grade one answer against all accepted ones.

    Args:
        answer_text: what the respondent wrote: its first line that says something counts. None: it was not asked.
        accepted: accepted answers, aliases included; empty where none is known or none exists.
        question: what was asked; its words and numbers may stand in the answer, and without it the question that
            comes back as an answer is not known for what it is.
        exact: answers that are accepted only as the whole answer ("fall", which stands in too many sentences).

    Returns:
        The grade; its outcome is "no answer" also where nothing is accepted.

    >>> grade("The Danube.", ["Danube"]).correct
    True
    """
    if answer_text is None:
        return UNGRADED
    key = Key.of(accepted, exact, question)
    answer = first_statement(answer_text, question)
    if not answer.tokens:
        return NO_ANSWER
    if not key.accepted and not key.exact:
        return NO_ANSWER if asks_back(answer, key.question) or repeats_the_question(answer, key.question) else UNGRADED
    if key.asks_whose:
        answer = _without_genitives(answer)
    wanted = [said.tokens for said in (*key.accepted, *key.exact)]
    is_exact = any(answer.tokens == tokens for tokens in wanted if tokens)
    if not is_exact and asks_back(answer, key.question):
        return NO_ANSWER
    is_right = is_exact or _is_within(answer, key)
    if not is_right and repeats_the_question(answer, key.question):
        return NO_ANSWER
    f1 = max(_token_f1(answer.tokens, tokens) for tokens in wanted)
    return Grade(exact=is_exact, f1=f1, correct=is_right, outcome="right" if is_right else "wrong")


def _without_genitives(answer: Statement) -> Statement:
    return Statement(re.sub(r"(?<=\w)['’]s\b", "", answer.text))


def _token_f1(given: list[str], wanted: list[str]) -> float:
    shared = sum((Counter(given) & Counter(wanted)).values())
    return 2 * shared / (len(given) + len(wanted)) if shared else 0.0


def _is_within(answer: Statement, key: Key) -> bool:
    if names_another_of_its_kind(answer, key):
        return False
    if _NUMBERED.search(answer.text) and not any(len(_LISTED.split(wanted.text)) > 1 for wanted in key.accepted):
        return False
    return any(
        _holds(part, wanted, key)
        for part, denials in _readings(answer, key)
        for wanted in key.accepted
        if denials <= set(wanted.tokens)
    )


def _readings(answer: Statement, key: Key) -> Iterator[tuple[Statement, set[str]]]:
    """The answer, also without brackets, each also without the left side of its equation or a subject that repeats
    the question; with the words by which the whole of it denies or offers a choice."""
    bare = Statement(_BRACKETS.sub(" ", answer.text).strip())
    for whole in {answer.text: answer, bare.text: bare}.values():
        denials = _denials(whole, key.question)
        yield whole, denials
        *_, last = [None, *_COPULA.finditer(whole.text)]
        if last is not None:
            subject = Statement(whole.text[: last.start()])
            repeated = sum(token in key.asked for token in subject.content)
            if last[0] == "=" or (repeated and 2 * repeated >= len(subject.content)):
                yield Statement(whole.text[last.end() :].strip()), denials


def _denials(answer: Statement, question: Statement) -> set[str]:
    """Words of denial or choice that do not stand before the same word in the question ("or" also after the same)."""
    asked = set(pairwise(question.tokens))
    before, after = [None, *answer.tokens], [*answer.tokens[1:], None]
    found = set()
    for previous, word, following in zip(before, answer.tokens, after, strict=False):
        is_repeated = (word, following) in asked and (word != "or" or (previous, word) in asked)
        if word in _DENIALS and not is_repeated:
            found.add(word)
    return found


def _holds(answer: Statement, wanted: Statement, key: Key) -> bool:
    if not wanted.tokens:
        return False
    if answer.tokens == wanted.tokens:
        return True
    if len(wanted.tokens) == 1 and len(wanted.text) == 1 and not wanted.text.isdigit():
        return _holds_letter(answer, wanted.text)
    if _numbers(wanted.tokens) and _numbers(answer.tokens) - key.numbers:
        return False
    if any(not names_something_else(answer, start, wanted, key) for start in find(answer.tokens, wanted.tokens)):
        return True
    parts = [Statement(part) for part in _LISTED.split(wanted.text)]
    is_list = len(parts) > 1 and all(part.is_name for part in parts)
    return is_list and all(_holds(answer, part, key) for part in parts)


def _holds_letter(answer: Statement, letter: str) -> bool:
    """A lone letter ("I", "C") stands in too many sentences: it counts as it is written, and only where it is named."""
    ends = r"(?=[\s\"'”’)]*(?:[.,;:!]|$))" if letter in "AI" else r"(?![\w'’])"
    named = rf"(?:\b(?:is|are|was|were|letter|symbol)\s+|[:=]\s*)[\"'“‘(]?{re.escape(letter)}{ends}"
    return letter.isupper() and re.search(named, answer.text) is not None


def _numbers(tokens: list[str]) -> set[str]:
    return {token for token in tokens if token[0].isdigit()}
