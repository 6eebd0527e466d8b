"""Names of array types; shapes are given in docstrings as (question, respondent), (..., respondent), (pair,)."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from onedial.core.errors import InputError

Floats = NDArray[np.floating[Any]]
Booleans = NDArray[np.bool_]
Integers = NDArray[np.integer[Any]]


def unmasked(values: Any) -> NDArray[Any]:
    """Make an array with nan where a masked array hides a value; `np.asarray` would show what is hidden.

    Raises:
        InputError: rows of different lengths, or what numpy can make no array of.

    >>> unmasked(np.ma.array([1.0, 2.0], mask=[False, True])).tolist()
    [1.0, nan]
    """
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        number = values.dtype.kind in "biuf"
        return np.ma.filled(values.astype(float if number else object), np.nan if number else None)
    try:
        return np.asarray(values)
    except ValueError as error:
        raise InputError(f"the values make no table ({error}); give rows of the same length") from error


def number(table: pd.DataFrame, row: object, column: str) -> float:
    """Return one cell of a table as a float.

    >>> import pandas as pd
    >>> number(pd.DataFrame({"share": [0.5]}, index=["a"]), "a", "share")
    0.5
    """
    return float(table[column].to_numpy()[table.index.get_loc(row)])
