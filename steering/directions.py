"""Directions: what is made of a contrast between yes and no. A new one is a function here, and a line below.

Every direction has one signature:

    direction(contrast) -> (directions, lengths)

    contrast     activations on the side of yes and on that of no (`steering.contrasts.Contrast`)
    directions   `layer d_model`, unit length each, positive towards yes
    lengths      `layer`, each direction's length as extracted: what a magnitude of 1 is worth in raw units
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from steering.contrasts import Contrast

Directions = tuple[Float[Tensor, "layer d_model"], Float[Tensor, " layer"]]
Direction = Callable[[Contrast], Directions]


def mean_difference(contrast: Contrast) -> Directions:
    """Mean of the activations on the side of yes minus mean of those on the side of no.

    The difference is taken of means, not of principal components of paired differences: removing the mean of the
    differences would remove the signal itself.
    """
    return unit_and_length(contrast.yes.mean(dim=0) - contrast.no.mean(dim=0))


def random(contrast: Contrast) -> Directions:
    """Drawn evenly from the sphere, the same draw at each layer, as long as the mean difference there: a control."""
    _, lengths = mean_difference(contrast)
    drawn = random_unit(contrast.yes.shape[-1], contrast.seed)
    return drawn.expand(len(lengths), -1).clone(), lengths


def generator_of(seed: int) -> torch.Generator:
    """Torch's generator for a seed of any length, as numpy's may be."""
    return torch.Generator().manual_seed(seed % 2**63)


def random_unit(d_model: int, seed: int) -> Float[Tensor, " d_model"]:
    """One direction drawn evenly from the sphere."""
    drawn = torch.randn(d_model, generator=generator_of(seed))
    return drawn / drawn.norm()


def unit_and_length(raw: Float[Tensor, "layer d_model"]) -> Directions:
    """Vectors as directions and lengths; a vector of length 0 stays one, which no `SteeringVector` accepts."""
    lengths = raw.norm(dim=-1)
    return raw / lengths.clamp(min=torch.finfo(torch.float32).tiny)[:, None], lengths


DIRECTIONS: dict[str, Direction] = {"mean_difference": mean_difference, "random": random}
