"""How a number, an interval and a p value are written for a reader."""

import math
from typing import Any

NOTHING = "–"


def number(value: Any, digits: int = 3, signed: bool = False) -> str:
    """A number for a reader, with a real minus sign; a dash where there is none."""
    if value is None or not math.isfinite(value):
        return NOTHING
    text = f"{value:{'+' if signed else ''}.{digits}f}"
    return text.replace("-", "\N{MINUS SIGN}")


def p_value(value: float | None) -> str:
    """p with as many digits as it has news; <0.0001 below that."""
    if value is not None and value < 0.00005:
        return "<0.0001"
    return number(value, 4 if value is not None and value < 0.01 else 3)


def interval(low: float | None, high: float | None, digits: int = 3, signed: bool = False) -> str:
    """`[low, high]`, or a dash."""
    shown = [number(end, digits, signed) for end in (low, high)]
    return NOTHING if NOTHING in shown else f"[{shown[0]}, {shown[1]}]"


def headline(sentence: str) -> str:
    """The verdict's sentence as a heading: a capital in front, a full stop behind."""
    return f"{sentence[:1].upper()}{sentence[1:].rstrip('.')}."
