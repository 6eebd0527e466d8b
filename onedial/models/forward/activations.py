"""What the unsteered model says and holds at the answer position: margins, masses, residual streams."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from onedial.asking import is_read
from onedial.core import one_line
from onedial.models.forward.batches import halving_on_out_of_memory
from onedial.models.model import OpenModel
from onedial.models.processes import gather, own_share
from onedial.models.prompt_set import PromptSet

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Activations:
    """One unsteered reading of a set of prompts.

    Attributes:
        margin, mass: of each question.
        residuals: after each of `layers`, at the last position of the prompt; float32 on the CPU.
    """

    question_ids: tuple[str, ...]
    layers: tuple[int, ...]
    margin: Float[Tensor, " question"]
    mass: Float[Tensor, " question"]
    residuals: Float[Tensor, "question layer d_model"]

    __repr__ = one_line

    @property
    def read(self) -> Bool[Tensor, " question"]:
        """Which answers could be read."""
        return is_read(self.mass)


@torch.inference_mode()
def read_activations(
    model: OpenModel, prompts: PromptSet, layers: Sequence[int], progress: Progress | None = None
) -> Activations:
    """Run every prompt once, unsteered; `progress` is told how many questions were done.

    With several processes each reads its share, and all of them get everything.

    Raises:
        InputError: an answer is not finite, as where 16 bits overflow.
    """
    runner = model.runner(prompts.sequences, layers)
    rows: list[tuple[int, float, float, Tensor]] = []

    def work(batch: list[int]) -> list[tuple[int, float, float, Tensor]]:
        done = runner.start([prompts.sequences[index] for index in batch])
        margin, mass = torch.stack(model.readout.margin_and_mass(done.final, prompts.tokens)).tolist()
        streams = [done.last_residual(layer).to(done.final.device) for layer in layers]
        kept = torch.stack(streams, dim=1).cpu().float() if streams else torch.empty(len(batch), 0, model.d_model)
        return list(zip(batch, margin, mass, kept, strict=True))

    for batch in own_share(prompts.batches(model)):
        for part in halving_on_out_of_memory(work, batch):
            rows += part
            if progress:
                progress(len(part))
    rows = sorted(gather(rows), key=lambda row: row[0])
    model.check_finite(torch.tensor([row[1:3] for row in rows]))
    return Activations(
        prompts.question_ids,
        tuple(layers),
        torch.tensor([row[1] for row in rows]),
        torch.tensor([row[2] for row in rows]),
        torch.stack([row[3] for row in rows]),
    )
