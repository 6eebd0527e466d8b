"""What the unsteered model says and holds at the answer position: margins, masses, residual streams."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from onedial.asking.yes_no import is_read
from onedial.core.cards import one_line
from onedial.models.forward.batches import Progress, batches_by_length, map_batches, questions_per_batch
from onedial.models.model import OpenModel
from onedial.models.processes import gather
from onedial.models.prompt_set import PromptSet
from onedial.models.questions import Texts, as_prompts


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
def read_streams(
    model: OpenModel, sequences: Sequence[Sequence[int]], layers: Sequence[int], progress: Progress | None = None
) -> Float[Tensor, "text layer d_model"]:
    """Residual streams at the last token of any token sequences, unsteered; float32 on the CPU.

    With several processes each reads its share, and all of them get everything.

    Raises:
        InputError: a stream is not finite, as where 16 bits overflow.
    """
    runner = model.runner(sequences, layers)
    lengths = [len(sequence) for sequence in sequences]
    size = min(gather([questions_per_batch(model.stack, max(lengths))]))

    def work(batch: list[int]) -> list[Tensor]:
        done = runner.start([sequences[place] for place in batch])
        return list(torch.stack([done.last_residual(layer).to(model.device) for layer in layers], dim=1).float().cpu())

    batches = batches_by_length(lengths, size, model.fast_paths_for(max(lengths)).requires_equal_length)
    streams = torch.stack(map_batches(batches, work, progress=progress))
    model.check_finite(streams.flatten(1))
    return streams


@torch.inference_mode()
def read_activations(
    model: OpenModel,
    prompts: PromptSet | Texts,
    layers: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> Activations:
    """Run every prompt once, unsteered; `progress` is told how many questions were done.

    With several processes each reads its share, and all of them get everything.

    Args:
        prompts: or texts, each a whole user turn, or chats, as `OpenModel.generate` takes them.
        layers: after which the stream is kept; by default all.

    Raises:
        InputError: an answer is not finite, as where 16 bits overflow; or as `PromptSet.of_prompts`.

    >>> from onedial import load_model
    >>> model = load_model("smollm2-135m-instruct")
    >>> read_activations(model, ["What a day!", "Oh no."], [2]).residuals.shape == (2, 1, model.d_model)
    True
    """
    layers = range(model.n_layers) if layers is None else layers
    if not isinstance(prompts, PromptSet):
        given = as_prompts(prompts)
        prompts = PromptSet.of_prompts(model, given, [f"text {place}" for place in range(len(given))])
    runner = model.runner(prompts.sequences, layers)

    def work(batch: list[int]) -> list[tuple[float, float, Tensor]]:
        done = runner.start([prompts.sequences[index] for index in batch])
        margin, mass = torch.stack(model.readout.margin_and_mass(done.final, prompts.tokens)).tolist()
        streams = [done.last_residual(layer).to(done.final.device) for layer in layers]
        kept = torch.stack(streams, dim=1).cpu().float() if streams else torch.empty(len(batch), 0, model.d_model)
        return list(zip(margin, mass, kept, strict=True))

    margins, masses, residuals = zip(*map_batches(prompts.batches(model), work, progress=progress), strict=True)
    model.check_finite(torch.tensor([margins, masses]).T)
    return Activations(
        prompts.question_ids, tuple(layers), torch.tensor(margins), torch.tensor(masses), torch.stack(residuals)
    )
