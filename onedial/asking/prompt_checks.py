"""What can be wrong with a prompt that asks for yes or no: its wording, its answer tokens, the mass that they get.

A prompt that speaks of yes more often than of no pushes every margin one way, and the sweep would have to undo it.
"""

import re
from collections.abc import Sequence

import numpy as np

from onedial.asking.answer_tokens import Decode, Encode, first_tokens
from onedial.asking.findings import Finding
from onedial.asking.prompts import SLOT
from onedial.asking.yes_no import NO_VARIANTS, YES_VARIANTS
from onedial.core import InputError

MASS_WARNS = 0.5
"""A median mass under this is reported."""
MASS_STOPS = 0.2
"""A median mass under this is too little to read, and a sweep is refused."""

_REMEDY = "end it otherwise, for example with the assistant prefix 'Answer:'"


def check_prompt_wording(name: str, user: str, assistant_prefix: str = "") -> list[Finding]:
    """One slot, yes and no equally often, and neither put into the respondent's mouth.

    Args:
        name: how the findings call the prompt.
        user: the user turn, with its slot.
        assistant_prefix: how the assistant's turn begins.
    """
    findings = []
    n_slots = user.count(SLOT)
    if n_slots != 1:
        findings.append(Finding("slot", (name,), f"holds {SLOT} {n_slots} times; it must stand there exactly once"))
    said = re.findall(r"\b(yes|no)\b", user.replace(SLOT, " ").lower())
    n_yes, n_no = said.count("yes"), said.count("no")
    if not n_yes and not n_no:
        findings.append(Finding("balance", (name,), "asks for neither yes nor no"))
    elif n_yes != n_no:
        findings.append(Finding("balance", (name,), f"says yes {n_yes} times and no {n_no} times"))
    else:
        order = "alternate in order" if len(set(said[::2])) > 1 else f"{said[0]} always stands first"
        findings.append(Finding("order", (name,), f"yes and no {n_yes} times each; {order}", is_note=True))
    if re.search(r"\b(?:yes|no)\b", assistant_prefix.lower()):
        findings.append(Finding("prefix", (name,), f"the assistant's turn already answers: {assistant_prefix!r}"))
    return findings


def check_answer_tokens(
    name: str,
    prompt: str,
    encode: Encode,
    decode: Decode,
    yes: Sequence[str] = YES_VARIANTS,
    no: Sequence[str] = NO_VARIANTS,
) -> list[Finding]:
    """Whether yes and no can be told apart by the one token that follows the prompt.

    Args:
        name: how the findings call the prompt.
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
    findings = []
    barred = [spelling for side in sides.values() for spelling in side.barred]
    if barred:
        message = f"{', '.join(map(repr, barred))} would change the prompt's own tokens"
        findings.append(Finding("tokens", (name,), message if readable else f"{message}; {_REMEDY}", is_note=readable))
    shared = sorted(set(sides["yes"].counted) & set(sides["no"].counted))
    if shared:
        findings.append(Finding("tokens", (name,), f"yes and no begin with the same token ({shared}); {_REMEDY}"))
    for word, side in sides.items():
        if not side.counted:
            findings.append(Finding("tokens", (name,), f"no token of {word} can follow the prompt; {_REMEDY}"))
        elif not side.single:
            findings.append(Finding("tokens", (name,), f"no spelling of {word} is a single token after the prompt"))
    return findings


def check_mass(name: str, masses: Sequence[float]) -> list[Finding]:
    """Whether the answer position expects yes or no: the median mass over questions, against .5 and .2.

    Args:
        name: how the findings call the prompt.
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
    return [Finding("mass", (name,), f"yes and no get a median mass of {median:.2f} ({verdict}); try a prefix")]
