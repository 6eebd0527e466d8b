"""Operators: what is done to the residual stream along a direction. A new one is a function here, and a line below.

Every operator has one signature and works position by position:

    operator(stream, direction, magnitude, length) -> stream

    stream      `*lead d_model`, in the model's dtype; it is not written to
    direction   `d_model`, unit length, float32, on the stream's device
    magnitude   broadcasts against the leading axes, float32; positive towards yes; at 0 nothing changes, bit for bit
    length      what a magnitude of 1 is worth, in the stream's own units (`SteeringVector.length`)
"""

from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor

Operator = Callable[
    [Float[Tensor, "*lead d_model"], Float[Tensor, " d_model"], Float[Tensor, "*settings"], float],
    Float[Tensor, "*rows d_model"],
]


def add(
    stream: Float[Tensor, "*lead d_model"],
    direction: Float[Tensor, " d_model"],
    magnitude: Float[Tensor, "*settings"],
    length: float,
) -> Float[Tensor, "*rows d_model"]:
    """stream + magnitude * length * direction: the push that most of the field means by steering."""
    return stream + ((magnitude.float() * length)[..., None] * direction).to(stream.dtype)


OPERATORS: dict[str, Operator] = {"add": add}
