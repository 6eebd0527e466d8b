"""What a person has at hand, as what is asked: texts or a data frame as questions, a wording as prompt."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from onedial.asking import FRAMINGS, PromptTemplate, Question, load_prompt
from onedial.core import InputError
from onedial.panels import load_questions

SLOT = "{question}"
AtHand = str | Path | pd.DataFrame | Sequence[Question | str | Mapping[str, Any]]
"""Questions as `onedial.load_questions` takes them, or such that are made already."""


def questions_at_hand(questions: AtHand) -> list[Question]:
    """Questions as they are, or what `load_questions` makes of a name, a file, texts, rows or a data frame.

    Raises:
        InputError: none at all, or as `load_questions`.
    """
    if isinstance(questions, Sequence) and not isinstance(questions, str):
        if not len(questions):
            raise InputError("there are no questions to ask; check --questions and --panel")
        if all(isinstance(each, Question) for each in questions):
            return list(questions)  # type: ignore[arg-type]
    return load_questions(questions)  # type: ignore[arg-type]


def template_at_hand(prompt: PromptTemplate | str) -> PromptTemplate:
    """A template as it is; a text with {question} is the user's turn; any other text as `load_prompt` takes it.

    Raises:
        InputError: as `load_prompt`.
    """
    if isinstance(prompt, PromptTemplate):
        return prompt
    if not isinstance(prompt, str | Path):
        raise InputError(
            f"a prompt was given as {type(prompt).__name__}; give a framing ({', '.join(list(FRAMINGS)[:3])}, ...), a "
            f"text with {SLOT}, or a PromptTemplate"
        )
    return PromptTemplate(str(prompt)) if SLOT in str(prompt) else load_prompt(prompt)
