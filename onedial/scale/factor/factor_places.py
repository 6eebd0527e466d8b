"""Where each question lies on several factors."""

from typing import Any

import numpy as np
import pandas as pd

from onedial.core import InputError
from onedial.scale.checks.draws import factor_posterior, slopes_and_cuts
from onedial.scale.factor.rotation import RotatedLoadings
from onedial.stats import as_answers


def factor_places(matrix: Any, rotated: RotatedLoadings) -> pd.DataFrame:
    """Scores of the questions on rotated factors.

    Formula: the mode of log N(f; 0, Phi) + sum over the answered respondents of log Phi(s (a_i . f + d_i)), s = +-1 for
    yes and no (maximum a posteriori), cuts d from the respondents' own yes rates.

    Args:
        matrix: question x respondent, 1 / 0 / nan. rotated: of `rotate`, its rows named like the respondents, or in
            their order; respondents without loadings, or with one kind of answer, tell nothing.

    Returns:
        (question, factor); nan for a question without an answer. Sign: higher = easier, as the loadings say.

    Raises:
        InputError: the loadings do not fit the respondents.

    R: `mirt::fscores(fit, method = "MAP")` at the same parameters.

    >>> from onedial.scale import fit_factor_model, rotate
    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> factor_places(answers, rotate(fit_factor_model(answers, 2).loadings)).shape
    (400, 2)
    """
    answers = as_answers(matrix)
    table = rotated.loadings
    if set(answers.respondents) <= set(table.index):
        table = table.reindex(answers.respondents)
    if len(table) != answers.n_respondents:
        raise InputError(f"{len(table)} rows of loadings for {answers.n_respondents} respondents; give one of each")
    loadings = table.to_numpy(dtype=float)
    known = np.isfinite(loadings).all(axis=1) & answers.varies
    used = answers.select(known)
    # f = root z with independent z: loadings on z are the pattern times the root
    root = np.linalg.cholesky(rotated.correlation.to_numpy())
    slopes, cuts = slopes_and_cuts(used, loadings[known] @ root)
    places = factor_posterior(used, slopes, cuts)[0] @ root.T
    places[~used.answered.any(axis=1)] = np.nan
    return pd.DataFrame(places, answers.questions, table.columns)
