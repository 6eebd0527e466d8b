"""What a check finds wrong with a prompt that asks for yes or no: its answer tokens, and the mass that they get.

A spelling, encoded together with the prompt, counts where it is one token after it, since the piece that a longer word
begins with begins others too (Y: You, Yet); numbers count by their first piece where they have no token. A spelling
that changes the prompt's own tokens can't follow it, and counts for nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from onedial.asking.yes_no import NO_VARIANTS, YES_VARIANTS
from onedial.core.errors import InputError

Encode = Callable[[str], list[int]]
Decode = Callable[[list[int]], str]
MASS_WARNS = 0.5
"""A median mass under this is reported."""
MASS_STOPS = 0.2
"""A median mass under this is too little to read, and a sweep is refused."""

_REMEDY = "end it otherwise, for example with the assistant prefix 'Answer:'"


def check_answer_tokens(
    prompt: str,
    encode: Encode,
    decode: Decode,
    yes: Sequence[str] = YES_VARIANTS,
    no: Sequence[str] = NO_VARIANTS,
) -> list[str]:
    """What keeps yes and no from being told apart by the one token that follows the prompt, a clause for each fault.

    Args:
        prompt: the rendered prompt, up to the answer position.
        encode: text to token ids, without special tokens being added.
        decode: token ids to text.
        yes: spellings of yes.
        no: spellings of no.
    """
    sides = {"yes": first_tokens(prompt, yes, encode, decode), "no": first_tokens(prompt, no, encode, decode)}
    faults = []
    if barred := [spelling for side in sides.values() for spelling in side.barred]:
        readable = all(side.counted for side in sides.values())
        others = "others can be read" if readable else _REMEDY
        faults.append(f"{', '.join(map(repr, barred))} would change the prompt's own tokens; {others}")
    if shared := sorted(set(sides["yes"].counted) & set(sides["no"].counted)):
        faults.append(f"yes and no begin with the same token ({shared}); {_REMEDY}")
    for word, side in sides.items():
        if not side.counted:
            faults.append(f"no spelling of {word} is one token after it; {_REMEDY}")
    return faults


def check_mass(masses: Sequence[float]) -> str:
    """What is wrong where the answer position expects neither yes nor no, by the median mass; "" where it does.

    Args:
        masses: probability of all yes and no tokens together, one per question; nan where it was not measured.

    Raises:
        InputError: no mass was measured.
    """
    measured = np.asarray(masses, dtype=float)
    measured = measured[~np.isnan(measured)]
    if measured.size == 0:
        raise InputError("no mass was measured; ask at least one question")
    median = float(np.median(measured))
    if median >= MASS_WARNS:
        return ""
    verdict = "too little to read" if median < MASS_STOPS else "few"
    return f"yes and no get a median mass of {median:.2f} ({verdict}); try a prefix"


# ---- the tokens of an answer -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FirstTokens:
    """How the spellings of one side begin.

    Attributes:
        single: token ids that are a spelling.
        pieces: token ids with which numbers of several tokens begin; those that are blank by themselves are left out.
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
        answer_ids = ids[len(start) :]
        if ids[: len(start)] != start or not answer_ids:
            barred.append(spelling)
        elif decode(answer_ids[:1]).strip() and (len(answer_ids) == 1 or spelling.strip().isdecimal()):
            (single if len(answer_ids) == 1 else pieces)[answer_ids[0]] = None
    return FirstTokens(tuple(single), tuple(pieces), tuple(barred))
