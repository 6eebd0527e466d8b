"""How well a share is known from a count."""

import numpy as np
import pandas as pd

from onedial.stats.level import Z_95


def wilson_interval(n_positive: pd.Series, n: pd.Series) -> tuple[pd.Series, pd.Series]:
    """95% interval of a share (Wilson, 1927, Journal of the American Statistical Association 22, 209-212).

    Formula: (p + z^2/2n +- z sqrt(p (1 - p)/n + z^2/4n^2)) / (1 + z^2/n), p = n_positive / n.

    Args:
        n_positive, n: how many of how many, one value per share.

    Returns:
        the lower and the upper end; nan where n is 0. Sign: both between 0 and 1.

    R: `prop.test(x, n, correct = FALSE)$conf.int`.
    """
    n = n.astype(float).where(n > 0)
    p = n_positive / n
    centre, spread = p + Z_95**2 / (2 * n), Z_95 * np.sqrt(p * (1 - p) / n + Z_95**2 / (4 * n**2))
    low, high = ((centre + side * spread) / (1 + Z_95**2 / n) for side in (-1, 1))
    return low.clip(0, 1), high.clip(0, 1)  # rounding can lead just beyond
