"""Tell vLLM what is asked of it: a text after some tokens, under a push of its own.

A push is told as two places of the text and a line at each layer. Every token x between the places becomes

    x + (along + share * x . d) d

which `add`, `ablate` and `clamp` are, and whatever operator of one's own does the same (`as_line` finds out).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import torch

from onedial.core.errors import InputError
from steering.operators import OPERATORS
from steering.pushes import Push

FOREVER = 1 << 30
SPANS: dict[str, Callable[[int], tuple[int, int]]] = {
    "answer": lambda n_prompt: (n_prompt - 1, FOREVER),
    "last": lambda n_prompt: (n_prompt - 1, n_prompt),
    "prompt": lambda n_prompt: (0, n_prompt),
    "all": lambda n_prompt: (0, FOREVER),
    "generated": lambda n_prompt: (n_prompt, FOREVER),
}
"""Which places of a text are pushed, first and last + 1, by the length of its prompt."""


@dataclass(frozen=True)
class Request:
    """One text that is to be written: after these tokens, under this push, its tokens drawn by this seed."""

    token_ids: Sequence[int]
    push: Push | None = None
    seed: int = 0

    @property
    def kind(self) -> tuple[str, str, tuple[int, ...]] | None:
        """What is proven at once: operator, positions and layers; None where nothing is done."""
        if self.push is None or self.push.magnitude == 0:
            return None
        return self.push.intervention.operator, self.push.intervention.positions, self.push.intervention.layers

    def unsteered(self, token_ids: Sequence[int]) -> "Request":
        """The same after other tokens, without a push."""
        return replace(self, token_ids=token_ids, push=None)


@dataclass(frozen=True)
class Scored:
    """What vLLM wrote after one prompt: tokens, their log probabilities, and those of some at the first place."""

    token_ids: tuple[int, ...]
    log_p: tuple[float, ...]
    first: tuple[float, ...]


def check_told(operator: str, positions: str) -> None:
    """Raise InputError for what vLLM can't be told exactly."""
    if positions not in SPANS:
        raise InputError(
            f"positions {positions!r} depend on what was drawn, which vLLM does not tell; choose "
            f"{', '.join(SPANS)}, or leave --engine vllm out"
        )
    as_line(operator, 1.0, 1.0)


@lru_cache(maxsize=1024)
def as_line(operator: str, magnitude: float, length: float) -> tuple[float, float]:
    """The numbers a, s with which an operator does x + (a + s x . d) d to every stream x; found by trying.

    Raises:
        InputError: the operator does something else.

    >>> as_line("add", 0.5, 3.0), as_line("ablate", 1.0, 3.0), as_line("clamp", 1.0, 3.0)
    ((1.5, 0.0), (0.0, -1.0), (3.0, -1.0))
    """
    far, direction = float(1 << 20), torch.eye(8)[0]
    drawn = torch.randn(6, 8, generator=torch.Generator().manual_seed(0))
    tried = torch.cat([torch.zeros(1, 8), far * direction[None], drawn])
    moved = OPERATORS[operator](tried, direction, torch.full((len(tried),), magnitude), length) - tried
    along, at_far = float(moved[0, 0]) + 0.0, float(moved[1, 0])
    share = (at_far - along) / far if abs(at_far - along) > 1.0 else 0.0
    expected = (along + share * drawn[:, :1]) * direction
    if not torch.allclose(moved[2:], expected, rtol=1e-4, atol=1e-4 * max(1.0, abs(along))):
        raise InputError(
            f"the operator {operator!r} is no step along its direction that is linear in the projection, which is all "
            "that vLLM is told; choose add, ablate or clamp, or leave --engine vllm out"
        )
    return along, share
