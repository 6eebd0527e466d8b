"""Change the residual stream along a direction. A new operator is a function here, and a line below.

Every operator has one signature and works position by position:

    operator(stream, direction, magnitude, length) -> stream

    stream      `*lead d_model`, in the model's dtype; it is not written to
    direction   `d_model`, unit length, float32, on the stream's device
    magnitude   broadcasts against the leading axes, float32; positive towards yes; at 0 nothing changes, bit for bit
    length      what a magnitude of 1 is worth, in the stream's own units (`SteeringVector.length`)

What a magnitude m does to the stream x, with p = x . d its projection on the direction and L the length:

    add      x + m L d
    ablate   x - m p d              the share m of the projection is taken out: 1 all of it, 2 turns it round
    clamp    x + (m L - p) d        the projection becomes m L; at 0 the operator is off, beside 0 it is `ablate` at 1
    rotate   turned towards d by an arc of length m L, in the plane of x and d: the norm stays
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

Stream = Float[Tensor, "*lead d_model"]
Direction = Float[Tensor, " d_model"]
Magnitude = Float[Tensor, "*settings"]
Steered = Float[Tensor, "*rows d_model"]
Operator = Callable[[Stream, Direction, Magnitude, float], Steered]


def add(stream: Stream, direction: Direction, magnitude: Magnitude, length: float) -> Steered:
    """stream + magnitude * length * direction: the push that most of the field means by steering."""
    return stream + ((magnitude.float() * length)[..., None] * direction).to(stream.dtype)


def ablate(stream: Stream, direction: Direction, magnitude: Magnitude, length: float) -> Steered:
    """Take the share `magnitude` of what lies along the direction out of the stream; 1 projects it out.

    Neither sign is towards yes: what is taken out pulls to yes in one question and to no in another.
    """
    taken = -magnitude.float() * (stream.float() @ direction)
    return stream + (taken[..., None] * direction).to(stream.dtype)


def clamp(stream: Stream, direction: Direction, magnitude: Magnitude, length: float) -> Steered:
    """Set the projection on the direction to magnitude * length, whatever it was; at magnitude 0 leave it.

    So 0 is no point of this dial's line but its switch: a projection of 0 is what magnitudes just beside it give.
    """
    m = magnitude.float()
    missing = m * length - stream.float() @ direction
    return stream + (torch.where(m == 0, 0.0, missing)[..., None] * direction).to(stream.dtype)


def rotate(stream: Stream, direction: Direction, magnitude: Magnitude, length: float) -> Steered:
    """Turn the stream towards the direction, in the plane of both, by an arc as long as `add` would push.

    The angle is magnitude * length / norm of the stream, and ends where the stream points along the direction, or
    against it. A stream of no length, or along the direction already, has no such plane and stays.
    """
    wide = stream.float()
    along = wide @ direction
    across = wide - along[..., None] * direction
    norm, rest = wide.norm(dim=-1), across.norm(dim=-1)
    m = magnitude.float()
    angle = torch.atan2(rest, along)
    turned = (angle - m * length / norm.clamp(min=torch.finfo(torch.float32).tiny)).clamp(0.0, torch.pi)
    lifted = norm * turned.cos() - along
    kept = norm * turned.sin() / rest.clamp(min=torch.finfo(torch.float32).tiny) - 1
    change = lifted[..., None] * direction + kept[..., None] * across
    still = (m == 0) | (rest <= torch.finfo(torch.float32).eps * norm)
    return stream + torch.where(still[..., None], 0.0, change).to(stream.dtype)


OPERATORS: dict[str, Operator] = {"add": add, "ablate": ablate, "clamp": clamp, "rotate": rotate}
