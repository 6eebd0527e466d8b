"""Names of array types; shapes are given in docstrings as (question, respondent), (..., respondent), (pair,)."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Booleans = NDArray[np.bool_]
Integers = NDArray[np.integer[Any]]


def unmasked(values: Any) -> NDArray[Any]:
    """An array of the same values, nan where a masked array hides one; `np.asarray` would show what is hidden."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        number = values.dtype.kind in "biuf"
        return np.ma.filled(values.astype(float if number else object), np.nan if number else None)
    return np.asarray(values)


def number(table: pd.DataFrame, row: object, column: str) -> float:
    """One cell of a table as a float."""
    return float(table[column].to_numpy()[table.index.get_loc(row)])
