"""The verdict's four numbers in plain words: what each came out as, and what that means.

"No better than the majority answer" is said as plainly as "reproduced": every outcome has its sentence, and none is
softened or left out.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NOTHING = "–"
LEVEL = 0.05


@dataclass(frozen=True)
class Finding:
    """One of the four numbers.

    Attributes:
        letter, name: S signal, G gain, C steering, D direction.
        value: the number itself, None where it was not computed; `shown` is its text.
        detail: interval, p and null.
        meaning: one sentence for a reader who has not read the method.
    """

    letter: str
    name: str
    value: float | None
    shown: str
    detail: str
    meaning: str


def number(value: Any, digits: int = 3, signed: bool = False) -> str:
    """A number for a reader, with a real minus sign; a dash where there is none."""
    if value is None or not math.isfinite(value):
        return NOTHING
    text = f"{value:{'+' if signed else ''}.{digits}f}"
    return text.replace("-", "\N{MINUS SIGN}")


def p_value(value: float | None) -> str:
    """p with as many digits as it has news."""
    return number(value, 4 if value is not None and value < 0.01 else 3)


def interval(low: float | None, high: float | None, digits: int = 3, signed: bool = False) -> str:
    """`[low, high]`, or a dash."""
    shown = [number(end, digits, signed) for end in (low, high)]
    return NOTHING if NOTHING in shown else f"[{shown[0]}, {shown[1]}]"


def headline(sentence: str) -> str:
    """The verdict's sentence as a heading: a capital in front, a full stop behind."""
    return f"{sentence[:1].upper()}{sentence[1:].rstrip('.')}."


def findings(verdict: Mapping[str, Any]) -> list[Finding]:
    """Signal, gain, steering and direction of a verdict.json, in this order."""
    return [_signal(verdict["signal"]), _gain(verdict["gain"]), _steering(verdict["steering"]), _direction(verdict)]


def _signal(signal: Mapping[str, Any]) -> Finding:
    estimate, p = signal["estimate"], signal["p"]
    if estimate is None or p is None:
        meaning = "No target could be judged, so whether there is any signal is unknown."
    elif p <= LEVEL:
        meaning = (
            "At matched yes rates the steered subject and the targets say yes to the same questions "
            "more often than shuffled questions would bring about."
        )
    else:
        meaning = (
            "At matched yes rates the steered subject and the targets say yes to the same questions "
            "no more often than shuffled questions would bring about."
        )
    detail = (
        f"p = {p_value(p)}; null: mean {number(signal['null_mean'])}, 95% below {number(signal['null_95'])} "
        f"({signal['n_permutations']} permutations)"
    )
    return Finding("S", "Signal (mean kappa)", estimate, number(estimate), detail, meaning)


def _gain(gain: Mapping[str, Any]) -> Finding:
    estimate, low, high = gain["estimate"], gain["low"], gain["high"]
    if estimate is None or low is None:
        meaning = "No target could be judged, so nothing can be said against the majority answer."
    elif low > 0:
        meaning = (
            "Steering agrees with a target on more questions than always giving the target's more frequent answer: "
            f"about {100 * estimate:.1f} more in every 100."
        )
    elif high is not None and high < 0:
        meaning = (
            "Worse than the majority answer: always giving the target's more frequent answer agrees with it on about "
            f"{-100 * estimate:.1f} more questions in every 100."
        )
    else:
        meaning = (
            "No better than the majority answer: whoever always gives the target's more frequent answer does as well, "
            "as far as these questions can tell."
        )
    detail = (
        f"95% interval {interval(low, high, signed=True)}; "
        f"a true gain of {number(gain['detectable'])} would be found 4 times in 5 with this many questions"
    )
    return Finding("G", "Gain over the majority answer", estimate, number(estimate, signed=True), detail, meaning)


def _steering(steering: Mapping[str, Any]) -> Finding:
    estimate, low, high = steering["estimate"], steering["low"], steering["high"]
    if estimate is None or low is None:
        meaning = "No target could be judged, so nothing can be said against moving the cut."
    elif low > 0:
        meaning = (
            "Steering agrees with the targets more often than moving the cut on the unsteered subject's own margin."
        )
    elif steering["equivalent"]:
        meaning = (
            "No different from moving the cut (the 90% interval lies within ±0.02): the unsteered subject with another "
            "cut on its margin does the same, without any steering."
        )
    elif high is not None and high < 0:
        meaning = "Steering does worse than moving the cut on the unsteered subject's own margin."
    else:
        meaning = (
            "Not shown to beat moving the cut: the unsteered subject with another cut on its margin may do as well, "
            "and these questions are too few to call the two the same."
        )
    detail = (
        f"95% interval {interval(low, high, signed=True)}; "
        f"90% {interval(steering['low_90'], steering['high_90'], signed=True)}"
    )
    return Finding("C", "Steering over the moved cut", estimate, number(estimate, signed=True), detail, meaning)


def _direction(verdict: Mapping[str, Any]) -> Finding:
    direction = verdict["direction"]
    rank, controls, p = direction["rank"], direction["n_controls"], direction["p"]
    name = "Direction against random ones"
    if rank is None:
        meaning = "Whether another direction of the same length would do as well was not tried."
        return Finding("D", name, None, "not run", "no control directions in this run", meaning)
    detail = f"signal ranks {rank} of {controls + 1} directions; p = {p_value(p)}"
    if not direction["run"]:
        meaning = (
            f"{controls} control directions are too few to judge by (99 are needed), so the direction is untested."
        )
    elif p <= LEVEL:
        meaning = "Random directions of the same length carry less signal: it matters which way the subject is pushed."
    else:
        meaning = "Random directions of the same length do as well: which way the subject is pushed does not matter."
    return Finding("D", name, float(rank), f"rank {rank}", detail, meaning)
