"""Steering vectors as differences of mean activations between yes and no.

    response contrast:  v_L = mean of h_L over questions answered yes  -  mean over questions answered no
    answer contrast:    v_L = mean over questions of  h_L(prompt + yes token) - h_L(prompt + no token)

h_L is the residual stream after layer L at the last token. The difference is taken of means, not of principal
components of paired differences: removing the mean of the differences would remove the signal itself. Positive means
towards yes for both. Where a subject says nearly always the same (under 20% or under 5 questions on one side), the sign
of its margin splits badly; the response contrast then takes the top against the bottom third of the margins.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from common import InputError
from elicitation.prompts import METACOGNITIVE, PromptTemplate
from elicitation.questions import Question
from elicitation.yes_no import MASS_FLOOR
from open_models import OpenModel
from open_models.batches import halving_on_out_of_memory
from open_models.prefill import SharedPrefix
from steering.processes import gather, own_share
from steering.prompt_set import PromptSet
from steering.vectors import SteeringVector

CONTRASTS = ("response", "answer")
SMALLER_SIDE = 0.2
MINIMUM_PER_SIDE = 5

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Activations:
    """What the unsteered subject says and holds at the answer position.

    Attributes:
        margin, mass: of each question.
        residuals: after each of `layers`, float32 on the CPU.
    """

    question_ids: tuple[str, ...]
    layers: tuple[int, ...]
    margin: Float[Tensor, " question"]
    mass: Float[Tensor, " question"]
    residuals: Float[Tensor, "question layer d_model"]


def read_activations(
    model: OpenModel, prompts: PromptSet, layers: Sequence[int], progress: Progress | None = None
) -> Activations:
    """Run every prompt once, unsteered; `progress` is told how many questions were done."""
    model.check_layers(layers)
    prefix = model.run_prefix(prompts.sequences, [])
    rows: list[tuple[int, float, float, Tensor]] = []

    def work(batch: list[int]) -> list[tuple[int, float, float, Tensor]]:
        done = model.prefill([prompts.sequences[index] for index in batch], layers, prefix)
        margin, mass = model.readout.margin_and_mass(done.final, prompts.tokens)
        kept = torch.stack([done.last_residual(layer).float().cpu() for layer in layers], dim=1)
        return list(zip(batch, margin.tolist(), mass.tolist(), kept, strict=True))

    for batch in own_share(prompts.batches(model)):
        for part in halving_on_out_of_memory(work, batch):
            rows += part
            if progress:
                progress(len(part))
    rows = sorted(gather(rows), key=lambda row: row[0])
    return Activations(
        prompts.question_ids,
        tuple(layers),
        torch.tensor([row[1] for row in rows]),
        torch.tensor([row[2] for row in rows]),
        torch.stack([row[3] for row in rows]),
    )


def split_by_response(
    margin: Float[Tensor, " question"], mass: Float[Tensor, " question"]
) -> tuple[Bool[Tensor, " question"], Bool[Tensor, " question"]]:
    """Which questions count as yes and which as no; unread ones as neither.

    Raises:
        InputError: too few questions could be read.
    """
    read = mass >= MASS_FLOOR
    yes, no = read & (margin > 0), read & (margin <= 0)
    if min(int(yes.sum()), int(no.sum())) < max(SMALLER_SIDE * int(read.sum()), MINIMUM_PER_SIDE):
        ranked = margin[read].sort().values
        third = len(ranked) // 3
        if third:
            yes, no = read & (margin >= ranked[-third]), read & (margin <= ranked[third - 1])
    if min(int(yes.sum()), int(no.sum())) < MINIMUM_PER_SIDE:
        raise InputError(
            f"the contrast has {int(yes.sum())} yes and {int(no.sum())} no questions ({int((~read).sum())} unread); "
            f"it needs {MINIMUM_PER_SIDE} of each: ask more questions, or use --contrast answer"
        )
    return yes, no


def response_vectors(model: OpenModel, prompts: PromptSet, activations: Activations) -> list[SteeringVector]:
    """One vector per layer of `activations`, by the response contrast."""
    yes, no = split_by_response(activations.margin, activations.mass)
    difference = activations.residuals[yes].mean(dim=0) - activations.residuals[no].mean(dim=0)
    unread = int((activations.mass < MASS_FLOOR).sum())
    return _vectors(model, prompts, activations, difference, "response", int(yes.sum()), int(no.sum()), unread)


def answer_vectors(
    model: OpenModel, prompts: PromptSet, activations: Activations, progress: Progress | None = None
) -> list[SteeringVector]:
    """One vector per layer, by the answer contrast: an appended yes token against an appended no token."""
    layers = activations.layers
    prefix = SharedPrefix((), None, {})
    sums = torch.zeros(len(layers), model.d_model, dtype=torch.float64)
    pairs: list[Tensor] = []

    def work(batch: list[int]) -> Tensor:
        streams = []
        for token in (prompts.tokens.yes[0], prompts.tokens.no[0]):
            sequences = [[*prompts.sequences[index], token] for index in batch]
            done = model.prefill(sequences, layers, prefix)
            streams.append(torch.stack([done.last_residual(layer).double().cpu() for layer in layers], dim=1))
        return (streams[0] - streams[1]).sum(dim=0)

    for batch in own_share(prompts.batches(model)):
        for part in halving_on_out_of_memory(work, batch):
            pairs.append(part)
        if progress:
            progress(len(batch))
    for part in gather(pairs):
        sums += part
    n = len(prompts)
    return _vectors(model, prompts, activations, (sums / n).float(), "answer", n, n, 0)


def extract_vector(
    model: OpenModel,
    questions: Sequence[Question],
    layer: int,
    *,
    contrast: str = "response",
    template: PromptTemplate = METACOGNITIVE,
) -> SteeringVector:
    """Read one steering vector from a model: the short way in, for notebooks.

    Raises:
        InputError: unknown contrast or layer, or too few answers on one side.
    """
    prompts = PromptSet.build(model, questions, template)
    return extract_vectors(model, prompts, [layer], contrast)[0]


def extract_vectors(
    model: OpenModel,
    prompts: PromptSet,
    layers: Sequence[int],
    contrast: str = "response",
    progress: Progress | None = None,
) -> list[SteeringVector]:
    """One vector for each of `layers`, from the same questions."""
    if contrast not in CONTRASTS:
        raise InputError(f"--contrast {contrast!r} is not known; choose one of {', '.join(CONTRASTS)}")
    activations = read_activations(model, prompts, layers, progress)
    if contrast == "response":
        return response_vectors(model, prompts, activations)
    return answer_vectors(model, prompts, activations)


def _vectors(
    model: OpenModel,
    prompts: PromptSet,
    activations: Activations,
    difference: Float[Tensor, "layer d_model"],
    contrast: str,
    n_yes: int,
    n_no: int,
    n_unread: int,
) -> list[SteeringVector]:
    norms = activations.residuals.norm(dim=-1).median(dim=0).values
    vectors = []
    for row, layer in enumerate(activations.layers):
        raw = difference[row].norm().item()
        vectors.append(
            SteeringVector(
                direction=difference[row] / max(raw, torch.finfo(torch.float32).tiny),
                layer=layer,
                raw_norm=raw,
                residual_norm=norms[row].item(),
                model=model.identity,
                contrast=contrast,
                n_yes=n_yes,
                n_no=n_no,
                n_unread=n_unread,
                prompt_hash=prompts.prompt_hash,
            )
        )
    return vectors
