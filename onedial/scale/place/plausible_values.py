"""Difficulties to go on computing with: several draws of where each question may lie, not one best guess."""

from typing import Any

import numpy as np
import pandas as pd

from onedial.core import InputError
from onedial.scale.factor.usable import usable_answers
from onedial.scale.irt.irt import marginal_model
from onedial.scale.irt.scales import ScaleKind
from onedial.stats import as_answers


def plausible_values(matrix: Any, n_draws: int = 5, scale: ScaleKind = "histogram", seed: int = 0) -> pd.DataFrame:
    """Draws of every question's difficulty from what the answers tell of it.

    EAP difficulties are drawn together: their variance is less than the questions'; draws have the questions' own.
    Whatever is computed from a panel's difficulties is computed from each draw and averaged; its variance is the mean
    sampling variance plus (1 + 1/M) times the variance between the M draws (Mislevy, 1991, Psychometrika 56, 177-196;
    Rubin, 1987).

    Formula: difficulty_q = -z, z ~ p(z | answers to q) with the scale's distribution as prior; curves are taken as
        known, and between two nodes z is uniform.

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least three respondents that vary. n_draws: M. scale:
            distribution of the questions, as in `two_parameter_irt`. seed: of the draws.

    Returns:
        index question, columns draw_1 .. draw_M; nan where nobody answered. Sign: higher = harder.

    Raises:
        InputError: fewer than three respondents vary or share questions, or M < 1.

    R: `TAM::tam.pv(normal.approx = FALSE)` for the idea.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> answers = 0.6 * rng.standard_normal((2000, 1)) + 0.8 * rng.standard_normal((2000, 8)) > 0
    >>> plausible_values(answers).std().round(1).unique()
    array([1.])
    """
    if n_draws < 1:
        raise InputError(f"n_draws={n_draws}; ask for at least 1")
    answers = usable_answers(as_answers(matrix))
    fit, linked = marginal_model(answers, scale)
    upto = np.cumsum(fit.posterior, axis=1)
    rng = np.random.default_rng(seed)
    step = float(np.diff(fit.nodes).mean())
    seen = answers.answered[:, linked].any(axis=1)
    draws = {}
    for number in range(1, n_draws + 1):
        chance = rng.random(len(upto))[:, None] * upto[:, -1:]
        node = (upto < chance).sum(axis=1)
        place = fit.nodes[node] + step * (rng.random(len(upto)) - 0.5)
        draws[f"draw_{number}"] = np.where(seen, -place, np.nan)
    return pd.DataFrame(draws, index=answers.questions)
