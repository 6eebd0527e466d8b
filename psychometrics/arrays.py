"""Names of array types; shapes are given in docstrings as (question, respondent), (..., respondent), (pair,)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Booleans = NDArray[np.bool_]
Integers = NDArray[np.integer[Any]]
