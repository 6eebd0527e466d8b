"""What a person has at hand, as what a sweep needs: texts or a data frame as questions, a wording as prompt."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from onedial.asking import FRAMINGS, Prompt, PromptTemplate, Question, load_prompt
from onedial.core import InputError, sha256_of_text
from onedial.models import OpenModel, PromptSet
from onedial.panels import load_questions

if TYPE_CHECKING:
    from steering.interventions import Intervention

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


def prompts_at_hand(
    model: OpenModel,
    interventions: "Sequence[Intervention]",
    questions: PromptSet | AtHand,
    prompt: PromptTemplate | str | None = None,
) -> PromptSet:
    """The questions in the given prompt, else in the one under which the vectors were read.

    Raises:
        InputError: the vectors do not tell which that was, or were read under several; a prompt beside a `PromptSet`,
            which has one; or as `questions_at_hand`, `template_at_hand` and `PromptSet.build`.
    """
    if isinstance(questions, PromptSet):
        if prompt is not None:
            raise InputError("a PromptSet has its prompt already; give the questions themselves, or leave prompt out")
        return questions
    template = _remembered(model, interventions) if prompt is None else template_at_hand(prompt)
    return PromptSet.build(model, questions_at_hand(questions), template)


def _remembered(model: OpenModel, interventions: "Sequence[Intervention]") -> PromptTemplate:
    vectors = [vector for each in interventions for vector in each.vectors]
    found = {vector.template or _framing_of(model, vector.prompt_hash): vector.vector_id for vector in vectors}
    template = next(iter(found), None)
    if template is None or len(found) > 1:
        known = " and ".join(repr(each.name) for each in found if each is not None)
        came = (
            f"the vectors were read under the prompts {known}"
            if len(found) > 1 and known
            else (f"{', '.join(found.values())} does not say under which prompt it was read")
        )
        raise InputError(f"{came}; say how to ask, by prompt='neutral', another framing, or a text with {SLOT}")
    return template


def _framing_of(model: OpenModel, prompt_hash: str) -> PromptTemplate | None:
    """The framing whose rendered text has this hash, which vectors have kept before they kept their template."""
    for template in FRAMINGS.values():
        if sha256_of_text(model.render(Prompt(template.user, template.assistant_prefix))) == prompt_hash:
            return template
    return None
