"""Labels of respondents or questions: one border for everything that compares groups."""

from typing import Any

import numpy as np
import pandas as pd

from onedial.core.errors import InputError
from onedial.stats.answers import names
from onedial.stats.arrays import unmasked


def labels_of(labels: Any, order: pd.Index, wanted: pd.Index, what: str) -> np.ndarray:
    """Put labels in the order of `wanted`.

    Args:
        labels: a Series indexed by name, a dictionary, or a sequence that runs along `order`. wanted: names of the
            respondents or questions that are used. what: how a message calls the labels.

    Raises:
        InputError: one of the wanted has no label, or a sequence has another length than `order`.

    >>> labels_of({"a": "x", "b": "y"}, pd.Index([]), pd.Index(["b", "a"]), "families").tolist()
    ['y', 'x']
    """
    if isinstance(labels, dict):
        labels = pd.Series(labels)
    if not isinstance(labels, pd.Series):
        values = unmasked(labels)
        if values.ndim != 1 or len(values) != len(order):
            raise InputError(f"{values.size} {what} for {len(order)} names; give one of each, or a Series by name")
        labels = pd.Series(values, index=order)
    if not labels.index.is_unique:
        raise InputError(f"the {what} name {names(labels.index[labels.index.duplicated()].unique())} more than once")
    chosen = labels.reindex(wanted)
    blank = chosen.isna().to_numpy()
    if blank.any():
        raise InputError(f"the {what} say nothing of {names(wanted[blank])}; give each a label")
    return chosen.to_numpy()
