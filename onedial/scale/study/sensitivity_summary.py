"""What the sensitivity table says, in sentences: which findings survive, and on which choice the others hang."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from onedial.stats.level import LEVEL

_CHOICES = {
    "scale": "the distribution of the scale",
    "zero_cells": "the rule for empty cells",
    "thresholds": "where thresholds come from",
}


def summarise_sensitivity(table: pd.DataFrame, parabola: bool = True) -> list[str]:
    """What the sensitivity table says, one plain sentence per finding.

    Formula: counts the rows with p <= LEVEL, and gives the range of each number over the rows. Where a finding is in
    every row with one choice and in none with another, the sentence names that choice.

    Args:
        table: of `sensitivity_table`. parabola: whether there are respondents enough to speak of one.

    Returns:
        sentences on the first factor, the second, the smallest eigenvalue and the parabola. Sign: as in the table.

    >>> from onedial.scale import sensitivity_table
    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> len(summarise_sensitivity(sensitivity_table(answers, 3, leave_one_out=False))) > 2
    True
    """
    sentences = [
        f"{_verdict('A first shared factor', table, 'first_p')}: {_range(table['first_share'], 100, '%')} of "
        f"the variance, {_range(table['first_null_share'], 100, '%')} when answers are shuffled.",
        f"{_verdict('A second factor', table, 'second_p')}: {_range(table['second_share'], 100, '%')}, and "
        f"{_range(table['second_one_factor_share'], 100, '%')} where one factor is all there is.",
        f"{_verdict('A smallest eigenvalue too small for one factor', table, 'smallest_p')}: "
        f"{_range(table['smallest_eigenvalue'])}, and {_range(table['smallest_null'])} under one factor.",
    ]
    parabola = parabola and bool(table["quadratic_r2"].notna().any())
    if parabola:
        sentences.append(
            f"{_verdict('A parabola of loading on threshold', table, 'quadratic_p')}: R^2 "
            f"{_range(table['quadratic_r2'])}, and {_range(table['quadratic_null_r2'])} where the two are unrelated."
        )
    everyone = table[table["left_out"] == ""]
    curves = everyone.drop_duplicates("scale").set_index("scale")["marginal_quadratic_r2"]
    if parabola and curves.notna().all():
        each = ", ".join(f"{_listed([scale])} {r2:.2f}" for scale, r2 in curves.items())
        sentences.append(f"R^2 of the same parabola by marginal likelihood, which needs no correction: {each}.")
    spread = np.ptp(everyone["first_share"])
    sentences.append(
        f"Choices alone move correlations by up to {everyone['max_delta_rho'].max():.2f} and the first share by "
        f"{100 * spread:.1f} percentage points."
    )
    return sentences


def _verdict(finding: str, table: pd.DataFrame, column: str) -> str:
    """What becomes of a finding over the rows of the table."""
    p = table[column].dropna()
    found = p <= LEVEL
    if not len(p):
        return f"{finding} could not be tested"
    if found.all():
        return f"{finding} survives every analysis (p <= {LEVEL:g} in all {len(p)})"
    if not found.any():
        return f"{finding} is in no analysis (p > {LEVEL:g} in all {len(p)})"
    count = f"p <= {LEVEL:g} in {found.sum()} of {len(p)}"
    for choice, words in _CHOICES.items():
        levels = table.loc[p.index, choice]
        share = found.groupby(levels, sort=False).mean()
        always, never = share.index[share == 1], share.index[share == 0]
        if len(always) and len(always) + len(never) == len(share):
            return (
                f"{finding} hangs on {words}: it is in every analysis with {_listed(always)}, in none with "
                f"{_listed(never)} ({count})"
            )
    if found[table.loc[p.index, "left_out"] == ""].all():
        without = table.loc[p.index[~found], "left_out"]
        return f"{finding} survives every choice, but not without {_listed(without)} ({count})"
    rows = found.index[found].tolist()
    shown = "; ".join(map(str, rows[:4])) + (f" and {len(rows) - 4} more" if len(rows) > 4 else "")
    return f"{finding} depends on the analysis ({count}: {shown})"


def _listed(values: Iterable[object]) -> str:
    return " or ".join(str(value).replace("_", "-") for value in values)


def _range(values: pd.Series, factor: float = 1.0, unit: str = "") -> str:
    digits = 0 if unit else 2
    low, high = (round(factor * float(end), digits) + 0.0 for end in (values.min(), values.max()))  # never -0
    return f"{low:.{digits}f} to {high:.{digits}f}{unit}"
