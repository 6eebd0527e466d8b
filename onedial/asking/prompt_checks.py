"""What a check finds wrong with questions or with a prompt, and how it is told.

Of a prompt that asks for yes or no: its answer tokens, and the mass that they get. A spelling, encoded together with
the prompt, counts where it is one token after it, since the piece that a longer word begins with begins others too (Y:
You, Yet); numbers count by their first piece where they have no token. A spelling that changes the prompt's own tokens
can't follow it, and counts for nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from onedial.asking.yes_no import NO_VARIANTS, YES_VARIANTS
from onedial.core.errors import InputError

Encode = Callable[[str], list[int]]
Decode = Callable[[list[int]], str]
_MOST_IDS = 6
MASS_WARNS = 0.5
"""A median mass under this is reported."""
MASS_STOPS = 0.2
"""A median mass under this is too little to read, and a sweep is refused."""

_REMEDY = "end it otherwise, for example with the assistant prefix 'Answer:'"


@dataclass(frozen=True)
class PromptFault:
    """One thing that is wrong.

    Attributes:
        kind: what sort of thing; faults are counted and shown by it.
        ids: the questions (or the prompt) concerned.
        message: what was found, in a few words.
        is_note: worth knowing, but no fault.
    """

    kind: str
    ids: tuple[str, ...]
    message: str
    is_note: bool = False


def check_answer_tokens(
    name: str,
    prompt: str,
    encode: Encode,
    decode: Decode,
    yes: Sequence[str] = YES_VARIANTS,
    no: Sequence[str] = NO_VARIANTS,
) -> list[PromptFault]:
    """Whether yes and no can be told apart by the one token that follows the prompt.

    Args:
        name: how the faults call the prompt.
        prompt: the rendered prompt, up to the answer position.
        encode: text to token ids, without special tokens being added.
        decode: token ids to text.
        yes: spellings of yes.
        no: spellings of no.
    """
    sides = {
        "yes": first_tokens(prompt, yes, encode, decode),
        "no": first_tokens(prompt, no, encode, decode),
    }
    readable = all(side.counted for side in sides.values())
    faults = []
    barred = [spelling for side in sides.values() for spelling in side.barred]
    if barred:
        message = f"{', '.join(map(repr, barred))} would change the prompt's own tokens"
        message += "" if readable else f"; {_REMEDY}"
        faults.append(PromptFault("tokens", (name,), message, is_note=readable))
    shared = sorted(set(sides["yes"].counted) & set(sides["no"].counted))
    if shared:
        faults.append(PromptFault("tokens", (name,), f"yes and no begin with the same token ({shared}); {_REMEDY}"))
    for word, side in sides.items():
        if not side.counted:
            faults.append(PromptFault("tokens", (name,), f"no spelling of {word} is one token after it; {_REMEDY}"))
    return faults


def check_mass(name: str, masses: Sequence[float]) -> list[PromptFault]:
    """Whether the answer position expects yes or no: the median mass over questions, against .5 and .2.

    Args:
        name: how the faults call the prompt.
        masses: probability of all yes and no tokens together, one per question; nan where it was not measured.

    Raises:
        InputError: no mass was measured.
    """
    measured = np.asarray(masses, dtype=float)
    measured = measured[~np.isnan(measured)]
    if measured.size == 0:
        raise InputError(f"no mass was measured for the prompt {name}; ask at least one question")
    median = float(np.median(measured))
    if median >= MASS_WARNS:
        return []
    verdict = "too little to read" if median < MASS_STOPS else "few"
    return [PromptFault("mass", (name,), f"yes and no get a median mass of {median:.2f} ({verdict}); try a prefix")]


def faults_table(faults: Sequence[PromptFault]) -> str:
    """The faults as text, kind by kind, each with the ids that it concerns."""
    lines = []
    by_kind = sorted(faults, key=_kind)
    for (kind, is_note), same in groupby(by_kind, key=_kind):
        group = list(same)
        lines.append(f"{kind} (note)" if is_note else f"{kind}: {len(group)}")
        ids = [_shown_ids(fault.ids) for fault in group]
        width = min(max(map(len, ids)), 40)
        lines += [f"  {shown:<{width}}  {fault.message}" for shown, fault in zip(ids, group, strict=True)]
    return "\n".join(lines)


def _kind(fault: PromptFault) -> tuple[str, bool]:
    return fault.kind, fault.is_note


def _shown_ids(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _MOST_IDS} more" if len(ids) > _MOST_IDS else ""
    return ", ".join(ids[:_MOST_IDS]) + more


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
