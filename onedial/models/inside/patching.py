"""Activation patching: one question's stream in the place of another's, at the last token, one layer at a time.

A question that the model says it can answer (the donor) and one that it says it cannot (the receiver) differ in every
layer. If the receiver's answer becomes the donor's once its last token holds the donor's stream after layer L, then
what decides between them has come to the last token by layer L; before, it still stands at the question's words.

    recovered(L) = [m(receiver with the donor's stream after L) - m(receiver)] / [m(donor) - m(receiver)]

with m the margin and sums over pairs above and below: 0 = nothing has come, 1 = all of it. After the last layer it is 1
by construction. Keys and values of the earlier positions stay the receiver's own.
"""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from onedial.core import InputError
from onedial.models.forward.batches import halving_on_out_of_memory
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet


@torch.inference_mode()
def patched_margins(
    model: OpenModel,
    prompts: PromptSet,
    donors: Sequence[int],
    receivers: Sequence[int],
    layers: Sequence[int],
    *,
    progress: Callable[[int], None] | None = None,
) -> Float[Tensor, "pair layer_and_two"]:
    """Margins of each pair: of the receiver patched after each layer, then of the receiver and of the donor unpatched.

    Args:
        donors, receivers: places among the prompts, pair by pair. layers: of the patches.
        progress: is told how many pairs were done.

    Raises:
        InputError: no pair, donors of another number than receivers, or a layer that the model has not.
    """
    if not donors or len(donors) != len(receivers):
        raise InputError(f"{len(donors)} donors for {len(receivers)} receivers; give at least one pair, one of each")
    model.check_layers(layers)
    runner = model.runner(prompts.sequences, layers)
    pairs = prompts.subset([prompts.question_ids[place] for place in receivers])
    found = torch.full((len(donors), len(layers) + 2), torch.nan)
    one = torch.ones(1, 1, device=model.device)

    def work(part: list[int]) -> list[int]:
        given = runner.start([prompts.sequences[donors[place]] for place in part])
        taken = runner.start([prompts.sequences[receivers[place]] for place in part])
        finals = [
            runner.steer(taken, {layer: _put(given.last_residual(layer))}, one)[:, 0].to(taken.final.device)
            for layer in layers
        ]
        ends = torch.stack([*finals, taken.final, given.final], dim=1)
        found[part] = model.readout.margin(ends, prompts.tokens).float().cpu()
        return part

    for batch in pairs.batches(model):
        for part in halving_on_out_of_memory(work, batch):
            if progress:
                progress(len(part))
    return found


def _put(source: Tensor) -> Callable[[Tensor, Tensor], Tensor]:
    """An edit that puts each question's source in the place of its stream, wherever its setting is not 0."""

    def edit(stream: Tensor, settings: Tensor) -> Tensor:
        other = source[:, None].to(stream.device, stream.dtype)
        return torch.where(settings.to(stream.device)[..., None] != 0, other, stream)

    return edit
