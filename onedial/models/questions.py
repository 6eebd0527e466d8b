"""Take what a person has as what is asked: texts or a data frame, a wording, a chat."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from onedial.asking.prompts import FRAMINGS, Prompt, PromptTemplate, load_prompt
from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.panels.questions.question_files import load_questions

SLOT = "{question}"
Questions = str | Path | pd.DataFrame | Sequence[Question | str | Mapping[str, Any]]
"""Questions as `onedial.load_questions` takes them, or such that are made already."""
Chat = Sequence[Mapping[str, str]]
"""Messages with role (system, user or assistant) and content, as chat templates take them."""
Text = str | Prompt | Chat
"""What one prompt may be given as: a text is a whole user turn."""
Texts = Sequence[Text]


def as_prompt(given: Text) -> Prompt:
    """A prompt as it is; a text as a user's turn; a chat as turns, of which the assistant may have begun the last.

    A system's message goes before the first user's turn, since several models know no turn for it.

    Raises:
        InputError: it is none of these, or the roles of a chat do not take turns.

    >>> as_prompt([{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "It was"}])
    Prompt(user='Who?', assistant_prefix='It was', earlier=())
    """
    if isinstance(given, Prompt):
        return given
    if isinstance(given, str):
        return Prompt(given)
    try:
        messages = [(str(message["role"]), message["content"]) for message in given]
        if not all(isinstance(content, str) for _, content in messages):
            raise TypeError("a message's content is no text")
    except (TypeError, KeyError, AttributeError):
        raise InputError(
            f"a prompt was given as {type(given).__name__}: {str(given)[:40]!r}; give a text, a chat (a list of "
            "messages with role and content) or a Prompt"
        ) from None
    system = "\n\n".join(content for role, content in messages if role == "system")
    turns = [(role, content) for role, content in messages if role != "system"]
    if [role for role, _ in turns] != [("user", "assistant")[place % 2] for place in range(len(turns))] or not turns:
        raise InputError(
            f"the roles of a chat are {', '.join(role for role, _ in messages) or 'none'}; begin with the user, and "
            "let user and assistant take turns"
        )
    contents = [content for _, content in turns]
    if system:
        contents[0] = f"{system}\n\n{contents[0]}"
    users, replies = contents[::2], contents[1::2]
    begun = replies[len(users) - 1] if len(replies) == len(users) else ""
    return Prompt(users[-1], begun, tuple(zip(users[:-1], replies, strict=False)))


def as_prompts(given: Text | Texts) -> list[Prompt]:
    """Each as `as_prompt` takes it; one by itself is a list of one.

    Raises:
        InputError: as `as_prompt`, or there is none.
    """
    if not isinstance(given, Prompt) and not hasattr(given, "__len__"):
        raise InputError(f"{type(given).__name__} stands where texts belong; give a text, a chat, or a list of such")
    alone = isinstance(given, str | Prompt) or (len(given) > 0 and isinstance(given[0], Mapping))
    prompts = [as_prompt(each) for each in ([given] if alone else given)]  # type: ignore[list-item, arg-type, union-attr]
    if not prompts:
        raise InputError("there are no prompts; give at least one")
    return prompts


def as_questions(questions: Questions) -> list[Question]:
    """Questions as they are, or what `load_questions` makes of a name, a file, texts, rows or a data frame.

    Raises:
        InputError: none at all, or as `load_questions`.
    """
    if isinstance(questions, Sequence) and not isinstance(questions, str):
        if not len(questions):
            raise InputError("there are no questions to ask; give at least one")
        if all(isinstance(each, Question) for each in questions):
            return list(questions)  # type: ignore[arg-type]
    return load_questions(questions)  # type: ignore[arg-type]


def as_template(prompt: PromptTemplate | str) -> PromptTemplate:
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
