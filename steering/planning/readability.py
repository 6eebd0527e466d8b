"""Check before the work begins that yes and no can be read off a prompt.

The mass (probability of all yes and no tokens together) at the answer position varies from .2 to 1 between prompts of
a small model. Under a median of .5 a warning is due, under .2 the prompt is refused, with what the model would rather
say and an assistant prefix that draws out the answer. What is not finite is no prompt's fault, and refused as such.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from onedial.asking.prompt_checks import MASS_STOPS, MASS_WARNS
from onedial.asking.prompts import PromptTemplate
from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.models.forward.batches import map_batches
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet

ASKED = 32
PREFIXES = ("Answer:", "Answer (Yes or No):", "My answer is", "Yes or No:")


@dataclass(frozen=True)
class Readability:
    """Median mass over the questions asked, and the ten likeliest tokens with their mean probability."""

    median_mass: float
    n_asked: int
    likeliest: tuple[tuple[str, float], ...]

    @property
    def warns(self) -> bool:
        """Whether the mass is low enough to tell the user."""
        return self.median_mass < MASS_WARNS

    def __str__(self) -> str:
        tokens = ", ".join(f"{text!r} {chance:.2f}" for text, chance in self.likeliest)
        return f"median mass of yes and no {self.median_mass:.2f} over {self.n_asked} questions; likeliest: {tokens}"


def check_readability(model: OpenModel, template: PromptTemplate, questions: Sequence[Question]) -> Readability:
    """Measure the mass on some of the questions, unsteered.

    Raises:
        InputError: an answer is not finite, as where 16 bits overflow, or the median is under .2.

    >>> from onedial import load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> result = check_readability(load_model("smollm2-135m-instruct"), METACOGNITIVE, load_questions("embedded", n=8))
    >>> type(result).__name__
    'Readability'
    """
    asked = questions[:: max(len(questions) // ASKED, 1)][:ASKED]
    mass, chances = _ask(model, PromptSet.build(model, asked, template))
    top = chances.mean(dim=0).topk(10)
    likeliest = tuple(
        (model.tokenizer.decode([token]), chance)
        for token, chance in zip(top.indices.tolist(), top.values.tolist(), strict=True)
    )
    readability = Readability(float(mass.median()), len(asked), likeliest)
    if readability.median_mass < MASS_STOPS:
        prefix, better = _best_prefix(model, template, asked[:8])
        began = f"the assistant's turn with {prefix!r} (median mass {better:.2f})"
        remedy = f"begin {began} as assistant_prefix in a prompt file, see --prompt"
        if better < MASS_STOPS:  # a base model, most often
            remedy = f"to begin {began} does not help; show it worked examples (--prompt 'examples YN')"
        raise InputError(f"{readability}; too little to read under {MASS_STOPS}: {remedy}")
    return readability


@torch.inference_mode()
def _ask(model: OpenModel, prompts: PromptSet) -> tuple[Float[Tensor, " question"], Float[Tensor, "question token"]]:
    """Masses, and chances of every token."""
    runner = model.runner(prompts.sequences)

    def work(batch: list[int]) -> list[Tensor]:
        return list(runner.start([prompts.sequences[index] for index in batch]).final.cpu())

    logits = model.readout.logits(torch.stack(map_batches(prompts.batches(model), work)), slice(None))
    model.check_finite(logits)
    chances = logits.softmax(dim=-1)
    return chances[:, prompts.tokens.every].sum(dim=-1), chances


def _best_prefix(model: OpenModel, template: PromptTemplate, questions: Sequence[Question]) -> tuple[str, float]:
    masses = {}
    for prefix in PREFIXES:
        tried = replace(template, assistant_prefix=prefix)
        masses[prefix] = float(_ask(model, PromptSet.build(model, questions, tried))[0].median())
    best = max(PREFIXES, key=lambda prefix: masses[prefix])
    return best, masses[best]
