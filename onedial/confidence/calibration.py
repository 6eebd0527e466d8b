"""How well stated confidence fits what happened: calibration error, Brier score, discrimination.

Confidence is a probability of being right (a yes is 1, a no is 0; or, better, the probability of yes); the outcome is
1 = right, 0 = wrong. Every number comes with a percentile bootstrap interval over the answers.
"""

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from onedial.core.errors import InputError
from onedial.stats.answers import Answers, as_answers
from onedial.stats.arrays import Booleans, Floats, Integers, unmasked
from onedial.stats.estimate import Estimate, estimate
from onedial.stats.resampling import resampled_weights
from onedial.stats.roc import roc_area

Bins = Literal["width", "mass"]


def expected_calibration_error(
    confidence: ArrayLike,
    correct: ArrayLike,
    n_bins: int = 10,
    bins: Bins = "width",
    n_bootstrap: int = 1000,
    seed: int = 0,
) -> Estimate:
    """Mean distance between confidence and accuracy over bins of confidence.

    Formula: sum over bins of (n_b / n) |mean confidence_b - accuracy_b| (Naeini, Cooper and Hauskrecht, 2015, AAAI).
    Bins of equal width split [0, 1], closed on the right, the first also on the left; bins of equal mass split at the
    quantiles of the confidence, and equal confidences are never separated, so that there may be fewer.

    Args:
        confidence: (answer,) between 0 and 1. correct: (answer,) 1 / 0. Answers with nan in either are left out.
        n_bins: at least 1. bins: `width` or `mass`; the bins stay those of the observed answers in the bootstrap.
        n_bootstrap: resamples of the answers. seed: of the resampling.

    Returns:
        Estimate. Sign: lower is better, 0 = perfectly calibrated. The error is biased upwards in small samples, its
        resamples more so; read the interval as spread.

    Raises:
        InputError: a confidence outside [0, 1], an outcome other than 0 and 1, unequal lengths, or a bad option.

    R: `CalibratR::getECE(correct, confidence, n_bins)` (equal mass).

    >>> round(expected_calibration_error([0.9, 0.9, 0.9, 0.9], [1, 1, 1, 0]).value, 2)
    0.15
    """
    if bins not in get_args(Bins) or n_bins < 1:
        raise InputError(f"bins={bins!r}, n_bins={n_bins}; choose width or mass, and at least one bin")
    c, y = _pairs(confidence, correct)
    if not len(c):
        return Estimate()
    if bins == "width":
        which = width_bins(c, n_bins)
    else:
        which = (np.searchsorted(np.sort(c), c, side="right") * n_bins - 1) // len(c)
    gap = c - y
    members = (which[:, None] == np.unique(which)).astype(float)

    def error(weight: Floats) -> Floats:
        return np.abs((weight * gap) @ members).sum(axis=-1) / weight.sum(axis=-1)

    return _bootstrap(error, len(c), n_bootstrap, seed)


def width_bins(confidence: Floats, n_bins: int) -> Integers:
    """Bins of equal width over [0, 1], closed on the right. A product such as .28 x 25 would end above its edge, 7."""
    return np.searchsorted(np.arange(1, n_bins) / n_bins, confidence)


def brier_score(confidence: ArrayLike, correct: ArrayLike, n_bootstrap: int = 1000, seed: int = 0) -> Estimate:
    """Mean squared distance between confidence and outcome.

    Formula: mean of (confidence - correct)^2 (Brier, 1950, Monthly Weather Review 78, 1-3).

    Args, Raises: as in `expected_calibration_error`.

    Returns:
        Estimate. Sign: lower is better; 0 is best, 0.25 is what a constant 0.5 gets.

    R: `DescTools::BrierScore(correct, confidence)`. Python: `sklearn.metrics.brier_score_loss`.

    >>> f"{brier_score([1.0, 0.5], [1, 0]):.2f}"
    '.12 (.00 to .25)'
    """
    c, y = _pairs(confidence, correct)
    squared = (c - y) ** 2
    return _bootstrap(lambda weight: (weight @ squared) / weight.sum(axis=-1), len(c), n_bootstrap, seed)


def brier_skill(confidence: ArrayLike, correct: ArrayLike, n_bootstrap: int = 1000, seed: int = 0) -> Estimate:
    """How much better than always stating the accuracy.

    Formula: 1 - Brier / (a (1 - a)), a = accuracy (in each resample its own) (Murphy, 1973, Journal of Applied
    Meteorology 12, 595-600).

    Args, Raises: as in `expected_calibration_error`.

    Returns:
        Estimate. Sign: higher is better; 1 = perfect, 0 = no better than the constant accuracy, below 0 worse; nan
        where all are right or all wrong.

    R: `verification::brier(correct, confidence)$ss`.

    >>> brier_skill([0.9, 0.8, 0.2, 0.1], [1, 1, 0, 0]).value
    0.9
    """
    c, y = _pairs(confidence, correct)
    squared = (c - y) ** 2

    def skill(weight: Floats) -> Floats:
        n = weight.sum(axis=-1)
        accuracy = weight @ y / n
        with np.errstate(divide="ignore", invalid="ignore"):
            value = 1 - (weight @ squared / n) / (accuracy * (1 - accuracy))
        return np.where((accuracy > 0) & (accuracy < 1), value, np.nan)

    return _bootstrap(skill, len(c), n_bootstrap, seed)


def auroc(confidence: ArrayLike, correct: ArrayLike, n_bootstrap: int = 1000, seed: int = 0) -> Estimate:
    """Probability that a right answer had the higher confidence than a wrong one; ties count half.

    Formula: `roc_area` of the confidence, right against wrong answers. For yes/no confidence it is (recall +
    specificity) / 2.

    Args, Raises: as in `expected_calibration_error`.

    Returns:
        Estimate. Sign: 0.5 = no discrimination, 1 = perfect, below 0.5 = more confident where wrong; nan where all
        answers are right or all wrong.

    R: `pROC::auc(correct, confidence, direction = "<")`. Python: `sklearn.metrics.roc_auc_score`.

    >>> round(auroc([0.9, 0.8, 0.6, 0.3], [1, 1, 0, 1]).value, 2)
    0.67
    """
    c, y = _pairs(confidence, correct)
    return _bootstrap(lambda weight: roc_area(c, y, weight), len(c), n_bootstrap, seed)


def calibration_table(
    confidence: Any, correctness: Any, n_bins: int = 10, n_bootstrap: int = 1000, seed: int = 0
) -> pd.DataFrame:
    """Every measure of this module for each respondent of a panel.

    Formula: as the function of that name says, over the questions with both a confidence and a known correctness.

    Args:
        confidence: question x respondent; yes/no answers (1 / 0 / nan) or probabilities of yes in a DataFrame.
        correctness: question x respondent, 1 = right, 0 = wrong, nan = unknown.
        n_bins, n_bootstrap, seed: as in `expected_calibration_error`.

    Returns:
        index respondent; `n, accuracy, mean_confidence`, and for each of `ece_width, ece_mass, brier, brier_skill,
        auroc` the value and `*_low`, `*_high`. Sign: as the function of that name says.

    Raises:
        InputError: the matrices do not belong together or cannot be read.

    R: as the function of that name says, column by column.

    >>> said = pd.DataFrame({"sure": [0.9, 0.9, 0.6, 0.6], "unsure": [0.5, 0.4, 0.5, 0.4]})
    >>> right = pd.DataFrame({"sure": [1, 1, 0, 1], "unsure": [1, 0, 1, 0]})
    >>> calibration_table(said, right).index.tolist()
    ['sure', 'unsure']
    """
    answered, probability = stated_probabilities(confidence)
    _, right, both = aligned_correctness(answered, as_answers(correctness))
    rows = []
    for i in range(answered.n_respondents):
        c = probability.iloc[:, i].to_numpy()[both[:, i]]
        y = right.yes[both[:, i], i].astype(float)
        measures = {
            "ece_width": expected_calibration_error(c, y, n_bins, "width", n_bootstrap, seed),
            "ece_mass": expected_calibration_error(c, y, n_bins, "mass", n_bootstrap, seed),
            "brier": brier_score(c, y, n_bootstrap, seed),
            "brier_skill": brier_skill(c, y, n_bootstrap, seed),
            "auroc": auroc(c, y, n_bootstrap, seed),
        }
        row: dict[str, float] = {"n": len(c), "accuracy": _mean(y), "mean_confidence": _mean(c)}
        for name, measured in measures.items():
            row |= measured.columns(name)
        rows.append(row)
    return pd.DataFrame(rows, index=answered.respondents)


def stated_probabilities(confidence: Any) -> tuple[Answers, pd.DataFrame]:
    """Which cells hold a confidence, and the probabilities (question, respondent), nan where there is none."""
    if isinstance(confidence, pd.DataFrame) and all(dtype.kind == "f" for dtype in confidence.dtypes):
        known = confidence.notna().to_numpy()
        return Answers(known, known, confidence.index, confidence.columns), confidence
    answers = as_answers(confidence)
    values = np.where(answers.answered, answers.yes.astype(float), np.nan)
    return answers, pd.DataFrame(values, answers.questions, answers.respondents)


def _pairs(confidence: ArrayLike, correct: ArrayLike) -> tuple[Floats, Floats]:
    try:
        c, y = (unmasked(values).astype(float).ravel() for values in (confidence, correct))
    except (TypeError, ValueError) as error:
        raise InputError(f"confidence and correctness must be numbers: {error}") from error
    if len(c) != len(y):
        raise InputError(f"{len(c)} confidences and {len(y)} outcomes; give one of each per answer")
    known = ~(np.isnan(c) | np.isnan(y))
    c, y = c[known], y[known]
    if ((c < 0) | (c > 1)).any():
        raise InputError(f"a confidence of {c[(c < 0) | (c > 1)][0]:g}; give probabilities between 0 and 1")
    if not np.isin(y, (0, 1)).all():
        raise InputError(f"an outcome of {y[~np.isin(y, (0, 1))][0]:g}; give 1 (right), 0 (wrong) or nan (unknown)")
    return c, y


def _bootstrap(statistic: Callable[[Floats], Floats], n: int, n_bootstrap: int, seed: int) -> Estimate:
    """`statistic` takes weights (..., answer), one per answer, and gives (...)."""
    if n_bootstrap < 1:
        raise InputError(f"n_bootstrap={n_bootstrap}; ask for at least 1")
    if n == 0:
        return Estimate()
    return estimate(statistic, (piece.astype(float) for piece in resampled_weights(n, n_bootstrap, seed)))


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else float("nan")


def aligned_correctness(said: Answers, right: Answers) -> tuple[Answers, Answers, Booleans]:
    """Bring `right` into the order of `said`.

    Returns:
        said, right, and (question, respondent) True where both are known.

    Raises:
        InputError: the questions or the respondents differ.
    """
    for what, ours, theirs in (
        ("respondents", said.respondents, right.respondents),
        ("questions", said.questions, right.questions),
    ):
        if len(ours) != len(theirs) or (not ours.equals(theirs) and set(ours) != set(theirs)):
            raise InputError(
                f"the answers hold {len(ours)} {what} and the correctness {len(theirs)}, and they must be the same; "
                f"give both matrices with the same {what}"
            )
    if not (said.questions.equals(right.questions) and said.respondents.equals(right.respondents)):
        if not right.questions.is_unique or not said.questions.is_unique:
            raise InputError("question ids repeat, so that answers and correctness cannot be joined; make them unique")
        rows = right.questions.get_indexer(said.questions)
        columns = right.respondents.get_indexer(said.respondents)
        grid = np.ix_(rows, columns)
        right = Answers(right.yes[grid], right.answered[grid], said.questions, said.respondents)
    return said, right, said.answered & right.answered
