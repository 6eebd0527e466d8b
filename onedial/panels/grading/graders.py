"""How the answer to a question is graded: one function per kind of answer, chosen by the question.

text    words and names, by the rules of SQuAD and a little more (`onedial.panels.grading.grading`)
choice  the letter of an option that the question shows (`onedial.panels.grading.choice_grading`)
number  a number or a final answer in LaTeX (`onedial.panels.grading.number_grading`)

Code is not graded: what a program does shows only when it runs, and nothing that a model wrote is run here.
"""

from collections.abc import Callable

from onedial.asking import Question
from onedial.panels.grading.choice_grading import grade_choice
from onedial.panels.grading.grading import Grade, grade
from onedial.panels.grading.number_grading import grade_number


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
    return GRADERS[question.grading](question, answer_text)


def _grade_text(question: Question, answer_text: str | None) -> Grade:
    return grade(answer_text, question.answers, question.text, question.exact_answers)


GRADERS: dict[str, Callable[[Question, str | None], Grade]] = {
    "text": _grade_text,
    "choice": grade_choice,
    "number": grade_number,
}
