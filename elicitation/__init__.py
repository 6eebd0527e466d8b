"""What is asked and what was answered: questions, prompts, yes/no answers, respondents, panels, grades."""

from elicitation.grading import Grade, grade
from elicitation.joining import JoinReport, drop_own, join_questions_and_panel, same_model
from elicitation.panel_files import load_panel
from elicitation.panels import ResponseMatrix, panel_from_long, panel_long
from elicitation.prompts import CLOSED_BOOK, FRAMINGS, METACOGNITIVE, Prompt, PromptTemplate, load_prompt
from elicitation.question_files import load_questions, read_questions
from elicitation.questions import (
    Question,
    normalised_text,
    question_id,
    questions_frame,
    questions_from_frame,
    sample_questions,
)
from elicitation.respondents import Respondent, Response
from elicitation.yes_no import MASS_FLOOR, NO_VARIANTS, YES_VARIANTS, parse_yes_no

__all__ = [
    "CLOSED_BOOK",
    "FRAMINGS",
    "MASS_FLOOR",
    "METACOGNITIVE",
    "NO_VARIANTS",
    "YES_VARIANTS",
    "Grade",
    "JoinReport",
    "Prompt",
    "PromptTemplate",
    "Question",
    "Respondent",
    "Response",
    "ResponseMatrix",
    "drop_own",
    "grade",
    "join_questions_and_panel",
    "load_panel",
    "load_prompt",
    "load_questions",
    "normalised_text",
    "panel_from_long",
    "panel_long",
    "parse_yes_no",
    "question_id",
    "questions_frame",
    "questions_from_frame",
    "read_questions",
    "sample_questions",
    "same_model",
]
