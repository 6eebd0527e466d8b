"""What is asked and how an answer is read: questions, instruments, prompts, respondents, measurements."""

from onedial.asking.instruments import (
    CAN_YOU_ANSWER,
    CLOSED_BOOK,
    CONFIDENCE_IN_NUMBERS,
    CONFIDENCE_IN_WORDS,
    YES_NO,
    YES_NO_TOKENS,
    Instrument,
    TextReader,
)
from onedial.asking.measuring import ask_table
from onedial.asking.prompts import FRAMINGS, METACOGNITIVE, PromptTemplate
from onedial.asking.questions import Question, question_id, sample_questions
from onedial.asking.respondents import (
    RESPONDENTS,
    Identity,
    Response,
    answers_in_order,
    as_read,
    prompt_key,
    response_from_text,
)

__all__ = [
    "CAN_YOU_ANSWER",
    "CLOSED_BOOK",
    "CONFIDENCE_IN_NUMBERS",
    "CONFIDENCE_IN_WORDS",
    "FRAMINGS",
    "Identity",
    "Instrument",
    "METACOGNITIVE",
    "PromptTemplate",
    "Question",
    "RESPONDENTS",
    "Response",
    "TextReader",
    "YES_NO",
    "YES_NO_TOKENS",
    "answers_in_order",
    "as_read",
    "ask_table",
    "prompt_key",
    "question_id",
    "response_from_text",
    "sample_questions",
]
