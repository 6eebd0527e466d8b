"""How the answer to a question is graded: one function per kind of answer. A question with options is a choice; else it
says which.

text    words and names (`onedial.panels.grading.grading`); where yes or no is the answer, as every yes or no is read
        ("Yes, but I am not sure"), and what says neither is no answer
choice  1. the letter of an option (`onedial.asking.readers.chosen`)
        2. else the one option whose words stand in the answer
        What chooses nothing, or several, is no answer.
number  a number or a final answer in LaTeX (`onedial.panels.grading.number_grading`)

Code is not graded: what a program does shows only when it runs, and nothing that a model wrote is run here.
"""

import re
from collections.abc import Callable

from onedial.asking.questions import LETTERS, Question
from onedial.asking.readers import chosen
from onedial.asking.yes_no import parse_yes_no
from onedial.panels.grading.answer_text import find, normalised_tokens, statements
from onedial.panels.grading.grading import NO_ANSWER, UNGRADED, Grade, grade
from onedial.panels.grading.number_grading import grade_number

_OPEN = re.compile(r"\W*(?:who|whom|whose|what|which|where|when|why|how|name)\b", re.IGNORECASE)
"""A question of which yes or no is a name ("Which band recorded Fragile?")."""


def grade_choice(question: Question, answer_text: str | None) -> Grade:
    """Grade one answer to a question with options."""
    if answer_text is None or question.right_option is None:
        return UNGRADED
    place = option_chosen(question, answer_text)
    return NO_ANSWER if place is None else Grade.of(place == question.right_option)


def option_chosen(question: Question, answer_text: str) -> int | None:
    """The place of the option that an answer chooses, by its letter or its words.

    >>> question = Question("q", "Which metal is liquid?", options=("gold", "mercury"), right_option=1)
    >>> option_chosen(question, "B"), option_chosen(question, "It is mercury."), option_chosen(question, "A or B")
    (1, 1, None)
    """
    letters = {letter: place for place, letter in enumerate(LETTERS[: len(question.options)])}
    place = chosen(answer_text, letters)
    if place is not None:
        return place
    tokens = normalised_tokens("\n".join(statements(answer_text, question.text)))
    named = [place for place, option in enumerate(question.options) if find(tokens, normalised_tokens(option))]
    return named[0] if len(named) == 1 else None


def grade_answer(question: Question, answer_text: str | None) -> Grade:
    """Grade one answer as its question asks for.

    Args:
        question: gives the accepted answers and the kind of grading.
        answer_text: what the respondent wrote; None where it was not asked.

    Returns:
        The grade; ungraded where nothing was asked or nothing is accepted.

    >>> from onedial.panels import load_questions
    >>> (question,) = load_questions([{"question": "Which river flows through Vienna?", "answers": ["Danube"]}])
    >>> grade_answer(question, "The Danube.").outcome, grade_answer(question, "The Rhine.").outcome
    ('right', 'wrong')
    """
    grader = grade_choice if question.options else GRADERS[question.grading]
    return grader(question, answer_text)


def _grade_text(question: Question, answer_text: str | None) -> Grade:
    wanted = {answer.casefold() for answer in question.answers}
    if answer_text is not None and wanted in ({"yes"}, {"no"}) and not _OPEN.match(question.text):
        said_yes = parse_yes_no(answer_text)
        if said_yes is None:
            return NO_ANSWER
        is_right = said_yes == (wanted == {"yes"})
        return Grade.of(is_right)
    return grade(answer_text, question.answers, question.text, question.exact_answers)


GRADERS: dict[str, Callable[[Question, str | None], Grade]] = {
    "text": _grade_text,
    "number": grade_number,
}
