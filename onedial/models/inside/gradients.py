"""Compute how the answer depends on the stream, to first order: the margin's gradient at the answer position."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from onedial.models.forward.batches import Progress, map_batches
from onedial.models.forward.residual import edited, reading, take_positions
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.models.tokens import pad_batch


def margin_gradients(
    model: OpenModel, prompts: PromptSet, layers: Sequence[int], progress: Progress | None = None
) -> Float[Tensor, "question layer d_model"]:
    """d margin / d stream, after each of `layers` at the last position of the prompt, float32 on the CPU.

    A push of the stream there by a small vector v moves the question's margin by the gradient times v. All layers come
    from one forward and one backward pass of each question; the weights get no gradients. With several processes
    each does its share, and all of them get everything.

    Args:
        progress: is told how many questions were done.

    Raises:
        InputError: a layer that the model has not, or one question alone does not fit into memory.
    """
    model.check_layers(layers)
    modules = [model.stack.layers[layer] for layer in layers]

    def work(batch: list[int]) -> list[Tensor]:
        rows = pad_batch([prompts.sequences[index] for index in batch], model.stack.pad_id).to(model.device)
        with (
            torch.enable_grad(),
            edited(model.stack.layers[min(layers)], lambda stream: stream.detach().clone().requires_grad_()),
            reading(modules) as streams,
        ):
            final = model.stack.final_residual(rows)
            margins = model.readout.margin(final, prompts.tokens)
        gradients = torch.autograd.grad(margins.sum(), list(streams))
        last = [take_positions(gradient, rows.last_index).float().to(model.device) for gradient in gradients]
        return list(torch.stack(last, dim=1).cpu())

    return torch.stack(map_batches(prompts.batches(model), work, progress=progress))
