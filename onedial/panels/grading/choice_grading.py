"""How the answer to a question is graded: one function per kind of answer. A question with options is a choice; else it
says which.

text    words and names, by the rules of SQuAD and a little more (`onedial.panels.grading.grading`); where yes or no is
        the answer, as every yes or no is read ("Yes, but I am not sure"), and what says neither is no answer
choice  the letter of an option, or its words
number  a number or a final answer in LaTeX (`onedial.panels.grading.number_grading`)

Of a choice the letter counts where it is chosen: boxed, after "answer is" or "answer:" (the last of these, since
reasoning comes first), or else at the head of the first line ("C", "(C)", "C) mercury"). An option's own words choose
it too, where no other option stands beside them. A text that chooses nothing is no answer; one that chooses two is
wrong.

Code is not graded: what a program does shows only when it runs, and nothing that a model wrote is run here.
"""

import re
from collections.abc import Callable

from onedial.asking.questions import LETTERS, Question
from onedial.asking.replies import without_disclaimer
from onedial.asking.yes_no import parse_yes_no
from onedial.panels.grading.answer_text import find, first_statement, normalised_tokens
from onedial.panels.grading.grading import NO_ANSWER, UNGRADED, Grade, grade
from onedial.panels.grading.number_grading import grade_number

_LETTER = r"[*_\"'“(\[{]*(?:option\s+)?[*_(\[{]*([A-Z])(?![\w'’])"
_CHOSEN = re.compile(
    rf"(?:\\boxed\{{\s*(?:\\text\{{)?\s*|\b[Aa]nswer\s*(?:is\b\s*:?|:)\s*|\bANSWER\s*:\s*)(?:\*\*\s*)?{_LETTER}"
)
_HEAD = re.compile(
    r"[*_\"'“(\[{]*(?:[Oo]ption\s+)?[*_(\[{]*([A-Z])(?:[*_\"'”)\]}.:,;/]|\s*$|\s+(?:or|and)\s+[A-Z](?![\w'’]))"
)
_OPEN = re.compile(r"\W*(?:who|whom|whose|what|which|where|when|why|how|name)\b", re.IGNORECASE)
"""A question of which yes or no is a name ("Which band recorded Fragile?")."""
_SECOND = re.compile(r"\s*[)\]*]*\s*(?:,|/|or|and)\s*\(?([A-Z])(?![\w'’])")


def grade_choice(question: Question, answer_text: str | None) -> Grade:
    """Grade one answer to a question with options. F1 is 1 or 0 here: a letter is right or not."""
    if answer_text is None or question.right_option is None:
        return UNGRADED
    chosen = chosen_letters(answer_text, dict(zip(LETTERS, question.options, strict=False)), question.rendered)
    return Grade.of(chosen == {LETTERS[question.right_option]}) if chosen else NO_ANSWER


def chosen_letters(answer_text: str, options: dict[str, str], question: str = "") -> set[str]:
    """The letters that an answer chooses; empty where it chooses none."""
    for match in reversed([*_CHOSEN.finditer(answer_text)]):
        if match[1] in options:
            return _with_second(answer_text, match, options)
    statement = first_statement(answer_text, question)
    head = _HEAD.match(statement)
    if head and head[1] in options:
        return _with_second(statement, head, options)
    named = {letter for letter, text in options.items() if find(normalised_tokens(statement), normalised_tokens(text))}
    # "ice" stands in "ice cream": the longer option was meant
    return {x for x in named if not any(_is_part(options[x], options[other]) for other in named - {x})}


def _with_second(text: str, match: re.Match[str], options: dict[str, str]) -> set[str]:
    second = _SECOND.match(text, match.end(1))
    return {match[1]} | ({second[1]} & options.keys() if second else set())


def _is_part(text: str, other: str) -> bool:
    tokens, others = normalised_tokens(text), normalised_tokens(other)
    return len(tokens) < len(others) and bool(find(others, tokens))


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
    return grader(question, None if answer_text is None else without_disclaimer(answer_text))


def _grade_text(question: Question, answer_text: str | None) -> Grade:
    wanted = {answer.casefold() for answer in question.answers}
    if answer_text is not None and wanted in ({"yes"}, {"no"}) and not _OPEN.match(question.text):
        said = parse_yes_no(answer_text)
        if said is None:
            return NO_ANSWER
        is_right = said == (wanted == {"yes"})
        return Grade.of(is_right)
    return grade(answer_text, question.answers, question.text, question.exact_answers)


GRADERS: dict[str, Callable[[Question, str | None], Grade]] = {
    "text": _grade_text,
    "number": grade_number,
}
