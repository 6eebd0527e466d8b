"""What a person has at hand, as what a sweep needs: questions in the prompt under which its vectors were read."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from onedial.asking import FRAMINGS, Prompt, PromptTemplate
from onedial.core import InputError, sha256_of_text
from onedial.models import AtHand, OpenModel, PromptSet

if TYPE_CHECKING:
    from steering.interventions import Intervention

SLOT = "{question}"


def prompts_at_hand(
    model: OpenModel,
    interventions: "Sequence[Intervention]",
    questions: PromptSet | AtHand,
    prompt: PromptTemplate | str | None = None,
) -> PromptSet:
    """The questions in the given prompt, else in the one under which the vectors were read.

    Raises:
        InputError: the vectors do not tell which that was, or were read under several; a prompt beside a `PromptSet`,
            which has one; or as `PromptSet.build`.
    """
    if isinstance(questions, PromptSet):
        if prompt is not None:
            raise InputError("a PromptSet has its prompt already; give the questions themselves, or leave prompt out")
        return questions
    return PromptSet.build(model, questions, _remembered(model, interventions) if prompt is None else prompt)


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
