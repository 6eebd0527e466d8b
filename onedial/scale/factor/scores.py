"""Where each question lies on the shared scale, given what was answered.

The one-factor model: a question of easiness z ~ N(0, 1) gets a yes from respondent i with probability

    P_i(z) = Phi((t_i + lambda_i z) / sqrt(1 - lambda_i^2)),    t_i = threshold, lambda_i = loading.

The score is the mean of z given the answers (expected a posteriori, EAP), its standard error the standard deviation.
Exported is difficulty = -EAP: harder questions have higher numbers, R's scores run the other way.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from onedial.scale.expectation import Data, codes_of
from onedial.scale.factor.minres import MAX_COMMUNALITY
from onedial.scale.nodes import nodes_for, quadrature
from onedial.scale.response_curves import Curves, slope_of
from onedial.stats.answers import as_answers


def factor_scores(matrix: Any, loadings: ArrayLike, thresholds: ArrayLike, n_nodes: int | None = None) -> pd.DataFrame:
    """EAP difficulty of every question under the one-factor model.

    Formula: sum_q z_q w_q L(z_q) / sum_q w_q L(z_q) over equally spaced nodes z_q from -6 to 6 with weights from the
    standard normal density, L = product over the answered respondents of P_i^x (1 - P_i)^(1-x) (Bock and Mislevy,
    1982, Applied Psychological Measurement 6, 431-444). Loadings are clipped to +-sqrt(.995), so that no answer is
    impossible.

    Args:
        matrix: question x respondent, 1 / 0 / nan.
        loadings, thresholds: (respondent,) on the shared factor. Respondents whose loading or threshold is not finite
            tell nothing and are passed over.
        n_nodes: points of the quadrature; default: at least 241, and as many as the sharpest posterior needs.

    Returns:
        index question; columns `difficulty` (= -EAP), `se` (posterior standard deviation), `n` (informative answers).
        A question without one has difficulty nan. Sign: higher = harder = fewer respondents say yes.

    R: `-mirt::fscores(fit, method = "EAP", quadpts = 241)` at the same parameters.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> factor_scores(answers, [0.7] * 6, [0.0] * 6).shape
    (400, 3)
    """
    answers = as_answers(matrix)
    slope, limit = (np.asarray(part, dtype=float) for part in (loadings, thresholds))
    known = np.isfinite(slope) & np.isfinite(limit)
    bound = np.sqrt(MAX_COMMUNALITY)
    inside = np.clip(slope[known], -bound, bound)
    nodes, log_weight = quadrature(n_nodes or nodes_for(inside))
    curves = Curves(slope_of(inside), (limit[known] / np.sqrt(1 - inside**2))[None])
    posterior = Data(codes_of(answers.select(known))).posterior(curves, nodes, log_weight)
    mean = posterior @ nodes
    spread = np.sqrt(np.maximum(posterior @ nodes**2 - mean**2, 0))
    n = answers.answered[:, known].sum(axis=1)
    seen = n > 0
    return pd.DataFrame(
        {"difficulty": np.where(seen, -mean, np.nan), "se": np.where(seen, spread, np.nan), "n": n},
        index=answers.questions,
    )
