"""How far a patched stream takes the answer: the share of the way from the receiver's margin to the donor's.

    recovered(layer) = sum over pairs (patched margin - receiver's) / sum over pairs (donor's margin - receiver's)

0 = the patch changes nothing, 1 = the receiver answers as the donor does. Sums above and below, since the ratio of one
pair whose margins hardly differ may be anything; the interval draws pairs.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from onedial.stats import QUANTILES_95

Floats = NDArray[np.float64]


def patching_table(margins: Floats, layers: Sequence[int], n_bootstrap: int = 999, seed: int = 0) -> pd.DataFrame:
    """One row per layer.

    Args:
        margins: (pair, layer + 2) as `onedial.models.patched_margins` gives them: patched after each layer, then the
            receiver's own and the donor's.

    Returns:
        Columns `layer, recovered, low, high` (95% over pairs), `moved` (mean change of the margin), `margin` and
        `donor_margin` (means, unpatched), `n` pairs.
    """
    own, given = margins[:, [-2]], margins[:, [-1]]
    moved, whole = margins[:, :-2] - own, given - own
    draws = np.random.default_rng(seed).multinomial(len(margins), [1 / len(margins)] * len(margins), n_bootstrap)
    low, high = np.quantile((draws @ moved) / (draws @ whole), QUANTILES_95, axis=0)
    found = {"layer": list(layers), "recovered": moved.sum(axis=0) / whole.sum(), "low": low, "high": high}
    ends = {"margin": float(own.mean()), "donor_margin": float(given.mean()), "n": len(margins)}
    return pd.DataFrame(found | {"moved": moved.mean(axis=0)} | ends)
