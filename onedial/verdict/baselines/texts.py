"""What a push costs on text that has nothing to do with the question: at which magnitudes to measure, and what comes
of it.

The push of a dial ends at two magnitudes, with yes rates of .1 and .9. Where two directions do the same to the
answers, the one that changes less of everything else is the better dial: so the KL of the next token on neutral
passages is taken at both ends of each push (`steering.effects.side_effects.kl_on_text`) and averaged.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from onedial.verdict.dial import Turns


def push_settings(dials: Mapping[str, Turns], rows: np.ndarray) -> dict[str, list[float]]:
    """List the two ends of each dial's push, by its identifier; one that never gets there has none.

    Args:
        rows: mask of the questions that the rates are of (`Case.ordering`).
    """
    ends = {name: dial.push_ends(rows) for name, dial in dials.items()}
    return {name: [] if both is None else list(both) for name, both in ends.items()}


def text_cost(texts: pd.DataFrame | None, name: str, push: float) -> float:
    """Average KL over the ends of the push; inf where it never gets there, nan where nothing was measured.

    Args:
        texts: `onedial.asking.sweep_tables.TEXT_COLUMNS`. push: of this dial.
    """
    if texts is None:
        return float("nan")
    costs = texts.loc[texts["intervention_id"] == name, "kl"]
    if costs.empty:
        return float("inf") if np.isinf(push) else float("nan")
    return float(costs.mean())
