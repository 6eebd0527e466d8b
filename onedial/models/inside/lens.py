"""Compute what a direction does to the logits, if it went straight to the unembedding."""

import torch
from jaxtyping import Float
from torch import Tensor

from onedial.models.model import OpenModel


@torch.inference_mode()
def logits_along(model: OpenModel, direction: Float[Tensor, " d_model"]) -> Float[Tensor, " token"]:
    """By how much a direction raises the logit of each token, if all of the final stream lay along it.

    Formula: (logits(s) - logits(-s)) / 2 with s = sqrt(d_model) direction / |direction|, a final stream of root mean
    square 1, so that the final norm counts by its own scale, and neither an offset of it nor a bias of the unembedding
    counts at all. A cap on the logits, or a factor, counts too.

    Args:
        direction: of any length.

    >>> import torch
    >>> from onedial import load_model
    >>> model = load_model("smollm2-135m-instruct")
    >>> logits_along(model, torch.ones(model.d_model)).shape[0] == model.readout.vocabulary
    True
    """
    size = torch.linalg.vector_norm(direction.float()).clamp_min(torch.finfo(torch.float32).tiny)
    stream = direction.float() / size * direction.numel() ** 0.5
    forward, back = model.readout.logits(torch.stack([stream, -stream]), slice(None)).cpu()
    return (forward - back) / 2
