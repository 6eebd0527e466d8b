"""What is asked and what was answered: questions, prompts, yes/no answers, respondents, panels, grades."""

from elicitation.joining import JoinReport, drop_own, join_questions_and_panel
from elicitation.panel_files import load_panel
from elicitation.panels import ResponseMatrix, panel_from_long, panel_long
from elicitation.question_files import load_questions, read_questions
from elicitation.questions import (
    Question,
    normalised_text,
    question_id,
    questions_frame,
    questions_from_frame,
    sample_questions,
)

__all__ = [
    "JoinReport",
    "Question",
    "ResponseMatrix",
    "drop_own",
    "join_questions_and_panel",
    "load_panel",
    "load_questions",
    "normalised_text",
    "panel_from_long",
    "panel_long",
    "question_id",
    "questions_frame",
    "questions_from_frame",
    "read_questions",
    "sample_questions",
]
