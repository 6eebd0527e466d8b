"""Which tokens a direction points at, if it went straight to the unembedding."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from onedial.models.model import OpenModel


@torch.inference_mode()
def tokens_along(
    model: OpenModel, directions: Sequence[Float[Tensor, " d_model"]], n: int = 8
) -> list[tuple[list[str], list[str]]]:
    """The tokens whose logits a direction raises most, and lowers most, if it went straight to the unembedding.

    What a step forward does is compared with a step back, so that neither an offset nor a bias of the unembedding has a
    part in it.

    Args:
        directions: of any length. n: tokens on either side.
    """
    found = []
    for direction in directions:
        size = torch.linalg.vector_norm(direction.float())
        unit = direction.float() / size.clamp_min(torch.finfo(torch.float32).tiny) * direction.numel() ** 0.5
        forward, back = model.readout.logits(torch.stack([unit, -unit]), slice(None)).cpu()
        order = (forward - back).argsort(descending=True)
        sides = (order[:n], order.flip(0)[:n])
        found.append(tuple([model.tokenizer.decode([token]) for token in side.tolist()] for side in sides))
    return [(list(raised), list(lowered)) for raised, lowered in found]
