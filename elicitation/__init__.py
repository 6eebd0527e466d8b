"""What is asked and what was answered: questions, prompts, yes/no answers, respondents, panels, grades."""

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
    "Question",
    "load_questions",
    "normalised_text",
    "question_id",
    "questions_frame",
    "questions_from_frame",
    "read_questions",
    "sample_questions",
]
