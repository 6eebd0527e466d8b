"""Where a scale is looked at when something is integrated over it: equally spaced nodes.

With nodes h apart, the trapezoidal rule integrates a bell of standard deviation s with a relative error of about
2 exp(-2 pi^2 s^2 / h^2): 5e-9 at h = s, but .01 at h = 2 s. What is integrated is the posterior of a question, which
becomes narrow when many respondents follow the scale closely. 61 nodes (h = .2) are too coarse for loadings near .95;
`nodes_for` places as many as the narrowest posterior needs.
"""

import numpy as np

from onedial.stats.arrays import Floats

N_NODES = 241
WIDEST_NODE = 6.0
_MOST_NODES = 4801


def quadrature(n_nodes: int) -> tuple[Floats, Floats]:
    """Equally spaced nodes (node,) and the logarithms of their normalised standard normal weights (node,)."""
    nodes = np.linspace(-WIDEST_NODE, WIDEST_NODE, n_nodes)
    weight = np.exp(-(nodes**2) / 2)
    return nodes, np.log(weight / weight.sum())


def nodes_for(loadings: Floats, least: int = N_NODES, wider: float = 1.0) -> int:
    """How many nodes the sharpest possible posterior needs, at least 241.

    Formula: h <= s with 1 / s^2 = 1 + sum over respondents of (2 / pi) lambda^2 / (1 - lambda^2), the prior's precision
    and the most that each respondent can tell about a question (at the question that it is undecided about).

    Args:
        loadings: (respondent,) between -1 and 1, their size below 1; nan tells nothing.
        least: nodes. wider: how many times further apart than the posterior's width they may be.
    """
    squared = np.nan_to_num(loadings) ** 2
    narrowest = 1 / np.sqrt(1 + (2 / np.pi) * (squared / (1 - squared)).sum())
    return int(np.clip(1 + np.ceil(2 * WIDEST_NODE / (wider * narrowest)), least, _MOST_NODES))
