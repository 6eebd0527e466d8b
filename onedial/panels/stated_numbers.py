"""Stated numbers as shares of certainty: on which scale each respondent stated them is told by its own numbers.

Numbers with a fraction and none above 1 are shares; numbers of which one exceeds 10 are in percent. Doubtful are
numbers of which none exceeds 10 (ratings, or somebody who is never sure of anything), numbers of which some are
fractions of 1 and others whole and above 10 (.55 beside 80), and 0 and 1 alone where others state more: these are asked
back. A percent sign says itself what it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onedial.asking.tables import Table, is_blank, listed
from onedial.core.errors import InputError
from onedial.core.notices import notice

PERCENT = 100.0
_MOST_OF_RATINGS = 10


@dataclass(frozen=True)
class Stated:
    """One stated number.

    Attributes:
        value: nan where none was stated.
        in_percent: whether it was written with a percent sign.
    """

    value: float
    in_percent: bool = False


def stated(cell: Any) -> Stated:
    """What a cell states; a decimal comma is a point.

    Raises:
        ValueError: no number.
    """
    if isinstance(cell, str) and not is_blank(cell):
        text = cell.strip()
        number = text.removesuffix("%").strip()
        whole, comma, fraction = number.partition(",")
        if (
            comma
            and whole.lstrip("-").isdigit()
            and fraction.isdigit()
            and (len(fraction) != 3 or whole in ("0", "-0"))
        ):
            number = f"{whole}.{fraction}"  # 0,95; in 1,000 the comma may part thousands
        return Stated(float(number), text.endswith("%"))
    if isinstance(cell, bool | list | dict):
        raise ValueError("no number")
    return Stated(np.nan if is_blank(cell) else float(cell))


def tops_of(
    numbers: Mapping[str, Sequence[Stated]], given: Mapping[str, float], table: Table, remedy: str
) -> dict[str, float]:
    """What stands for certain, for each respondent: `given`, else 1 or 100 by its own numbers.

    Args:
        numbers: respondent to what it stated.
        remedy: how the user answers a doubt.

    Raises:
        InputError: the scale of some respondent is doubtful.
    """
    tops, doubtful = dict(given), []
    values = {name: np.array([each.value for each in own if not each.in_percent]) for name, own in numbers.items()}
    values = {name: own[~np.isnan(own)] for name, own in values.items() if name not in given}
    most = {name: float(own.max(initial=0)) for name, own in values.items()}
    if mixed := [name for name, own in values.items() if _is_mixed(own)]:
        what = f"{listed(mixed, 3)} state numbers between 0 and 1 and whole ones to {most[mixed[0]]:g}"
        raise InputError(f"{table.path}: {what}: are these shares and percent in one, or all in percent? {remedy}")
    for name, own in values.items():
        if most[name] > _MOST_OF_RATINGS:
            tops[name] = PERCENT
        elif most[name] <= 1 and (most[name] <= 0 or ((own > 0) & (own < 1)).any()):
            tops[name] = 1.0
        else:
            doubtful.append(name)
    if all(most[name] <= 1 for name in doubtful) and PERCENT not in tops.values():
        tops |= dict.fromkeys(doubtful, 1.0)  # yes and no are shares
    elif doubtful:
        what = f"nothing exceeds {max(most[name] for name in doubtful):g} in what {listed(doubtful, 3)} state"
        raise InputError(f"{table.path}: {what}: are these ratings, to 5 or 10, or in percent? {remedy}")
    told = {name: top for name, top in tops.items() if name not in given and len(values[name])}
    if shares := [name for name, top in told.items() if top == 1 and PERCENT in told.values()]:
        notice(f"{table.path}: {listed(shares)} state numbers from 0 to 1, the others to 100; each is read on its own")
    return tops


def _is_mixed(values: NDArray[np.float64]) -> bool:
    """Whether shares may stand among percentages: what is above 1 has no fractions, though what is below 1 has."""
    above = values[(values > 1) & np.isfinite(values)]
    is_whole = len(above) > 0 and above.max() > _MOST_OF_RATINGS and bool((above % 1 == 0).all())
    return is_whole and bool(((values > 0) & (values < 1)).any())


def refuse_mixed_scales(numbers: Mapping[str, Sequence[Stated]], table: Table) -> None:
    """For numbers that stay as they are.

    Raises:
        InputError: some respondents state shares, others numbers above 1.
    """
    values = {name: np.array([each.value for each in own]) for name, own in numbers.items()}
    if mixed := [name for name, own in values.items() if _is_mixed(own)]:
        raise InputError(
            f"{table.path}: {listed(mixed)} state numbers between 0 and 1 and whole ones above 10: write all on one "
            "scale"
        )
    shares = [name for name, own in values.items() if np.nanmax(own, initial=0) <= 1 and ((own > 0) & (own < 1)).any()]
    if shares and len(shares) < len([own for own in values.values() if not np.isnan(own).all()]):
        raise InputError(
            f"{table.path}: {listed(shares)} state numbers from 0 to 1, the others above: write all on one scale"
        )


def share(number: Stated, top: float) -> float:
    """A stated number as a share of what stands for certain."""
    return number.value / (PERCENT if number.in_percent else top)
