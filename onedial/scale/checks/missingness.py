"""Do the gaps fall on particular questions? If they do, thresholds and correlations describe different questions."""

from typing import Any

import numpy as np
import pandas as pd

from onedial.stats.answers import as_answers
from onedial.stats.multiple_tests import adjusted


def missingness_test(matrix: Any) -> pd.DataFrame:
    """For each respondent: did the others say yes less often on the questions that it left out?

    Formula: the others' mean of (answer - own yes rate) on a question, compared between the questions that the
    respondent answered and those that it left out by the Mann-Whitney test with tie correction (Mann and Whitney, 1947,
    Annals of Mathematical Statistics 18, 50-60). Subtracting each respondent's yes rate keeps the test from mistaking
    who answered for what was asked. `p_adjusted` is Benjamini and Hochberg's over the respondents.

    Args:
        matrix: question x respondent, 1 / 0 / nan.

    Returns:
        index respondent; `n_missing`, `others_yes_when_answered`, `others_yes_when_missing` (mean yes rate of the
        others), `difference` (answered minus missing), `p`, `p_adjusted`. Sign: difference > 0 when gaps fall on
        questions that the others find hard. nan for a respondent without gaps, without answers, or alone.

    Raises:
        InputError: the matrix cannot be read.

    R: `wilcox.test(others ~ is.na(x[, i]), exact = FALSE, correct = TRUE)`.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> answers[:40, 0] = np.nan
    >>> missingness_test(answers).shape[0]
    6
    """
    answers = as_answers(matrix)
    yes, answered = answers.yes.astype(float), answers.answered.astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = answers.n_yes / answers.n_answered
        centred = np.where(answers.answered, yes - rate, 0.0)
        n_others = answered.sum(axis=1, keepdims=True) - answered
        others_yes = (yes.sum(axis=1, keepdims=True) - yes) / n_others
        others_centred = (centred.sum(axis=1, keepdims=True) - centred) / n_others
    others_centred = others_centred.round(10)  # equal sums are ties, whatever the order of summation
    rows = [
        _compare(others_yes[:, i], others_centred[:, i], answers.answered[:, i]) for i in range(answers.n_respondents)
    ]
    columns = ["n_missing", "others_yes_when_answered", "others_yes_when_missing", "difference", "p"]
    table = pd.DataFrame(rows, answers.respondents, columns)
    return table.assign(p_adjusted=adjusted(table["p"].to_numpy()))


def _compare(others_yes: np.ndarray, others_centred: np.ndarray, answered: np.ndarray) -> list[float]:
    n_missing = int((~answered).sum())
    seen = np.isfinite(others_yes)
    here, gone = seen & answered, seen & ~answered
    if not here.any() or not gone.any():
        return [n_missing, *[float("nan")] * 4]
    from scipy.stats import mannwhitneyu

    at_answered, at_missing = others_yes[here].mean(), others_yes[gone].mean()
    p = mannwhitneyu(others_centred[here], others_centred[gone], method="asymptotic").pvalue
    return [n_missing, at_answered, at_missing, at_answered - at_missing, float(p)]
