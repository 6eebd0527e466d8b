"""What can be wrong with a prompt that asks for yes or no: its wording, its answer tokens, the mass that they get.

A prompt that speaks of yes more often than of no pushes every margin one way, and the sweep would have to undo it.
"""

import re
from collections.abc import Callable, Sequence

import numpy as np

from common import InputError
from elicitation.prompts import SLOT
from elicitation.question_checks import Finding
from elicitation.yes_no import NO_VARIANTS, YES_VARIANTS

MASS_WARNS = 0.5
MASS_STOPS = 0.2


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
    encode: Callable[[str], list[int]],
    yes: Sequence[str] = YES_VARIANTS,
    no: Sequence[str] = NO_VARIANTS,
) -> list[Finding]:
    """Whether yes and no can be told apart by the one token that follows the prompt.

    Args:
        name: how the findings call the prompt.
        prompt: the rendered prompt, up to the answer position.
        encode: text to token ids, without special tokens being added.
        yes: spellings of yes.
        no: spellings of no.
    """
    start = encode(prompt)
    firsts: dict[str, set[int]] = {"yes": set(), "no": set()}
    n_single = {"yes": 0, "no": 0}
    shifted = []
    for side, variants in (("yes", yes), ("no", no)):
        for variant in variants:
            ids = encode(prompt + variant)
            if ids[: len(start)] != start or len(ids) == len(start):
                shifted.append(variant)
                continue
            firsts[side].add(ids[len(start)])
            n_single[side] += len(ids) == len(start) + 1
    findings = []
    if shifted:
        message = f"{', '.join(map(repr, shifted))} would change the prompt's own tokens; end the prompt otherwise"
        findings.append(Finding("tokens", (name,), message, is_note=bool(firsts["yes"] and firsts["no"])))
    if firsts["yes"] & firsts["no"]:
        shared = sorted(firsts["yes"] & firsts["no"])
        findings.append(Finding("tokens", (name,), f"yes and no begin with the same token ({shared})"))
    for side, count in n_single.items():
        if not count:
            findings.append(Finding("tokens", (name,), f"no spelling of {side} is a single token after the prompt"))
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
