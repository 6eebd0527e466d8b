"""Contrasts: which activations stand on the side of yes, and which on that of no. Positive means towards yes.

    response   questions answered yes against questions answered no, at the last token of the prompt
    answer     each question with a yes token appended against itself with a no token appended, at that token

Where a subject says nearly always the same (under 20% or under 5 questions on one side), the sign of its margin splits
badly; the response contrast then takes the top against the bottom third of the margins. Questions whose answer cannot
be read stand on neither side of either contrast.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from common import InputError
from elicitation import is_read
from open_models import Activations, OpenModel, PromptSet, gather, halving_on_out_of_memory, own_share, read_activations

SMALLER_SIDE = 0.2
MINIMUM_PER_SIDE = 5

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Contrast:
    """Activations on either side, float32 on the CPU.

    Attributes:
        name: one of `CONTRASTS`.
        layers: the second axis of `yes` and `no`.
        yes, no: residual streams; of the answer contrast they are pairs, row by row.
        activations: the unsteered reading that it rests on.
        seed: for directions that are drawn.
    """

    name: str
    layers: tuple[int, ...]
    yes: Float[Tensor, "yes layer d_model"]
    no: Float[Tensor, "no layer d_model"]
    activations: Activations
    seed: int = 0

    @property
    def n_unread(self) -> int:
        """Questions left out since their answer could not be read."""
        return int((~self.activations.read).sum())

    @property
    def residual_norms(self) -> Float[Tensor, " layer"]:
        """Median length of the residual stream at the read positions."""
        return self.activations.residuals.norm(dim=-1).median(dim=0).values


def split_by_response(
    margin: Float[Tensor, " question"], mass: Float[Tensor, " question"]
) -> tuple[Bool[Tensor, " question"], Bool[Tensor, " question"]]:
    """Which questions count as yes and which as no; unread ones as neither.

    Raises:
        InputError: too few questions could be read.
    """
    read = is_read(mass)
    yes, no = read & (margin > 0), read & (margin <= 0)
    if min(int(yes.sum()), int(no.sum())) < max(SMALLER_SIDE * int(read.sum()), MINIMUM_PER_SIDE):
        order = margin[read].argsort(stable=True)
        third = len(order) // 3
        places = read.nonzero().flatten()
        yes, no = torch.zeros_like(read), torch.zeros_like(read)
        if third:
            yes[places[order[-third:]]] = True
            no[places[order[:third]]] = True
    if min(int(yes.sum()), int(no.sum())) < MINIMUM_PER_SIDE:
        raise InputError(
            f"the contrast has {int(yes.sum())} yes and {int(no.sum())} no questions ({int((~read).sum())} unread); "
            f"it needs {MINIMUM_PER_SIDE} of each: ask more questions, or use --contrast answer"
        )
    return yes, no


def response_contrast(
    model: OpenModel, prompts: PromptSet, layers: Sequence[int], seed: int = 0, progress: Progress | None = None
) -> Contrast:
    """See the module's text."""
    activations = read_activations(model, prompts, layers, progress)
    yes, no = split_by_response(activations.margin, activations.mass)
    residuals = activations.residuals
    return Contrast("response", tuple(layers), residuals[yes], residuals[no], activations, seed)


@torch.inference_mode()
def answer_contrast(
    model: OpenModel, prompts: PromptSet, layers: Sequence[int], seed: int = 0, progress: Progress | None = None
) -> Contrast:
    """See the module's text.

    Raises:
        InputError: no answer could be read.
    """
    activations = read_activations(model, prompts, layers)
    read = activations.read.tolist()
    tokens = (prompts.tokens.yes[0], prompts.tokens.no[0])
    answered = [[[*sequence, token] for sequence in prompts.sequences] for token in tokens]
    runner = model.runner([sequence for side in answered for sequence in side], layers)
    rows: list[tuple[int, Tensor, Tensor]] = []

    def work(batch: list[int]) -> list[tuple[int, Tensor, Tensor]]:
        sides = []
        for side in answered:
            done = runner.start([side[index] for index in batch])
            sides.append(torch.stack([done.last_residual(layer).float().cpu() for layer in layers], dim=1))
        return list(zip(batch, *sides, strict=True))

    for batch in own_share(prompts.batches(model)):
        for part in halving_on_out_of_memory(work, batch):
            rows += part
        if progress:
            progress(len(batch))
    kept = [(yes, no) for index, yes, no in sorted(gather(rows), key=lambda row: row[0]) if read[index]]
    if not kept:
        raise InputError(
            f"none of the {len(prompts)} answers could be read, so there is no contrast; try another prompt"
        )
    yes, no = (torch.stack([row[side] for row in kept]) for side in (0, 1))
    return Contrast("answer", tuple(layers), yes, no, activations, seed)


CONTRASTS: dict[str, Callable[..., Contrast]] = {"response": response_contrast, "answer": answer_contrast}
