"""Which tokens count as yes, and which as no: the first ones of their spellings, encoded together with the prompt.

Spellings that are one token after the prompt count; only where a side has none, the first pieces of its longer ones
stand in. A spelling that changes the prompt's own tokens can't follow it, and counts for nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Encode = Callable[[str], list[int]]
Decode = Callable[[list[int]], str]


@dataclass(frozen=True)
class FirstTokens:
    """How the spellings of one side begin.

    Attributes:
        single: token ids that are a spelling.
        pieces: token ids with which longer spellings begin; those that are blank by themselves are left out.
        barred: spellings that can't follow the prompt.
    """

    single: tuple[int, ...]
    pieces: tuple[int, ...]
    barred: tuple[str, ...]

    @property
    def counted(self) -> tuple[int, ...]:
        """The ids that are read."""
        return self.single or self.pieces


def first_tokens(prompt: str, spellings: Sequence[str], encode: Encode, decode: Decode) -> FirstTokens:
    """Find the tokens of one side.

    Args:
        prompt: the rendered prompt, up to the answer position.
        encode: text to token ids, without special tokens being added.
        decode: token ids to text.
    """
    start = encode(prompt)
    single: dict[int, None] = {}
    pieces: dict[int, None] = {}
    barred = []
    for spelling in spellings:
        ids = encode(prompt + spelling)
        own = ids[len(start) :]
        if ids[: len(start)] != start or not own:
            barred.append(spelling)
        elif decode(own[:1]).strip():
            (single if len(own) == 1 else pieces)[own[0]] = None
    return FirstTokens(tuple(single), tuple(pieces), tuple(barred))
