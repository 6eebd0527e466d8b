"""How well stated confidence fits what happened: calibration error, Brier score with its parts, discrimination.

Confidence is a probability of being right (a yes is 1, a no is 0; or, better, the probability of yes); the outcome is
1 = right, 0 = wrong. Every number comes with a percentile bootstrap interval over the answers. With bins b of n_b
answers, mean confidence c_b and share right a_b, and a the share right of all (Murphy, 1973, Journal of Applied
Meteorology 12, 595-600):

    Brier = reliability - resolution + uncertainty   (and what confidence varies within a bin)
    reliability = sum n_b / n (c_b - a_b)^2    resolution = sum n_b / n (a_b - a)^2    uncertainty = a (1 - a)
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from onedial.core.calls import says_how
from onedial.core.errors import InputError
from onedial.stats.answers import as_answers, frame_of, numbers_or_nan
from onedial.stats.arrays import Floats, Integers, unmasked
from onedial.stats.estimate import Estimate, estimate
from onedial.stats.resampling import resampled_weights
from onedial.stats.roc import roc_area

Bins = Literal["width", "mass"]
Statistic = Callable[[Floats], Floats]
"""Of weights (resample, answer)."""
N_BINS, FEWEST_IN_A_BIN = 10, 10


def expected_calibration_error(
    confidence: ArrayLike,
    correct: ArrayLike,
    n_bins: int = N_BINS,
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
        bins: `width` or `mass`; they stay those of the observed answers in the bootstrap.
        n_bootstrap: resamples of the answers; 0 = no interval. seed: of the resampling.

    Returns:
        Estimate. Sign: lower is better, 0 = perfectly calibrated. The error is biased upwards in small samples, its
        resamples more so; read the interval as spread.

    Raises:
        InputError: a confidence outside [0, 1], an outcome other than 0 and 1, or unequal lengths.

    R: `CalibratR::getECE(correct, confidence, n_bins)` (equal mass).

    >>> round(expected_calibration_error([0.9, 0.9, 0.9, 0.9], [1, 1, 1, 0]).value, 2)
    0.15
    """
    return _measured(lambda c, y: _error(c, y, n_bins, bins), confidence, correct, n_bootstrap, seed)


def brier_skill(confidence: ArrayLike, correct: ArrayLike, n_bootstrap: int = 1000, seed: int = 0) -> Estimate:
    """How much better than always stating the accuracy: 1 - Brier / (a (1 - a)), a of each resample its own.

    Args, Raises: as in `expected_calibration_error`. Sign: 1 = perfect, 0 = no better than the constant accuracy, below
    0 worse; nan where all are right or all wrong.

    R: `verification::brier(correct, confidence)$ss`.

    >>> brier_skill([0.9, 0.8, 0.2, 0.1], [1, 1, 0, 0]).value
    0.9
    """
    return _measured(_skill, confidence, correct, n_bootstrap, seed)


@says_how
def calibration_table(
    confidence: Any, correctness: Any, n_bins: int = N_BINS, n_bootstrap: int = 1000, seed: int = 0
) -> pd.DataFrame:
    """Every measure of this module for each respondent of a panel.

    Args:
        confidence: question x respondent; yes/no answers (1 / 0 / nan) or probabilities of yes.
        correctness: question x respondent, 1 = right, 0 = wrong, nan = unknown. Cells known in both count.
        n_bins, n_bootstrap, seed: as in `expected_calibration_error`.

    Returns:
        index respondent; `n, accuracy, mean_confidence`, for each of `ece_width, ece_mass, brier, brier_skill, auroc`
        the value and, with resamples, `*_low`, `*_high`; and `reliability, resolution, uncertainty` in bins of equal
        mass.

    Raises:
        InputError: the matrices do not belong together or cannot be read.

    >>> sure = pd.DataFrame({"sure": [0.9, 0.9, 0.6, 0.6], "unsure": [0.5, 0.4, 0.5, 0.4]})
    >>> right = pd.DataFrame({"sure": [1, 1, 0, 1], "unsure": [1, 0, 1, 0]})
    >>> calibration_table(sure, right).index.tolist()
    ['sure', 'unsure']
    """
    measures: dict[str, Callable[[Floats, Floats], Statistic]] = {
        "ece_width": lambda c, y: _error(c, y, n_bins, "width"),
        "ece_mass": lambda c, y: _error(c, y, n_bins, "mass"),
        "brier": _brier,
        "brier_skill": _skill,
        "auroc": _area,
    }
    sure, right = aligned(confidence, correctness)
    rows = {}
    for name in sure:
        c, y = _pairs(sure[name], right[name])
        row: dict[str, float] = {"n": len(c), "accuracy": _mean(y), "mean_confidence": _mean(c)}
        for measure, statistic in measures.items():
            measured = _measured(statistic, c, y, n_bootstrap, seed)
            row |= measured.columns(measure) if n_bootstrap else {measure: measured.value}
        rows[name] = row | brier_parts(c, y, n_bins)
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = sure.columns.name
    return table


def brier_parts(confidence: Floats, correct: Floats, n_bins: int = N_BINS) -> dict[str, float]:
    """Reliability (0 is best), resolution (more is better) and uncertainty of the Brier score; see the module's text.

    >>> {name: round(part, 3) for name, part in brier_parts(np.array([0.9, 0.9, 0.2]), np.array([1.0, 0, 0])).items()}
    {'reliability': 0.12, 'resolution': 0.056, 'uncertainty': 0.222}
    """
    if not len(confidence):
        return dict.fromkeys(("reliability", "resolution", "uncertainty"), float("nan"))
    binned = pd.DataFrame({"c": confidence, "y": correct}).groupby(_mass_bins(confidence, n_bins))
    share, mean, a = binned.size() / len(correct), binned.mean(), float(correct.mean())
    return {
        "reliability": float((share * (mean["c"] - mean["y"]) ** 2).sum()),
        "resolution": float((share * (mean["y"] - a) ** 2).sum()),
        "uncertainty": a * (1 - a),
    }


def reliability_table(confidence: pd.DataFrame, correctness: pd.DataFrame, models: "pd.Series[Any]") -> pd.DataFrame:
    """Share right by confidence in ten bins of equal width, the framings of a base model pooled.

    Args:
        models: index respondent; its base model.

    Returns:
        model, confidence (mean), right (share), n; bins of fewer than ten answers are left out.
    """
    cells = pd.DataFrame({"confidence": confidence.stack(), "right": correctness.stack()}).dropna()
    cells["model"] = models.reindex(cells.index.get_level_values(-1)).to_numpy()
    cells["bin"] = width_bins(cells["confidence"].to_numpy(), N_BINS)
    binned = cells.groupby(["model", "bin"], sort=False)
    table = binned[["confidence", "right"]].mean().assign(n=binned.size())
    return table[table["n"] >= FEWEST_IN_A_BIN].sort_index().reset_index().drop(columns="bin")


def width_bins(confidence: Floats, n_bins: int) -> Integers:
    """Bins of equal width over [0, 1], closed on the right. A product such as .28 x 25 would end above its edge, 7."""
    return np.searchsorted(np.arange(1, n_bins) / n_bins, confidence)


def aligned(confidence: Any, correctness: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Numbers and grades of the same questions and respondents, in the order of the former; nan where either is.

    Raises:
        InputError: the questions or the respondents differ, or a grade is neither 0 nor 1.

    >>> sure, right = aligned(pd.DataFrame({"a": [0.5, 0.7]}), pd.DataFrame({"a": [1.0, None]}))
    >>> sure["a"].tolist()
    [0.5, nan]
    """
    frame, grades = frame_of(confidence), as_answers(correctness)
    for what, ours, theirs in (
        ("respondents", frame.columns, grades.respondents),
        ("questions", frame.index, grades.questions),
    ):
        if len(ours) != len(theirs) or (not ours.equals(theirs) and set(ours) != set(theirs)):
            raise InputError(
                f"the answers hold {len(ours)} {what} and the correctness {len(theirs)}, and they must be the same; "
                f"give both matrices with the same {what}"
            )
    right = pd.DataFrame(np.where(grades.answered, grades.yes, np.nan), grades.questions, grades.respondents)
    if not frame.index.equals(right.index) and not frame.index.is_unique:
        raise InputError("question ids repeat, so that answers and correctness cannot be joined; make them unique")
    sure = pd.DataFrame(numbers_or_nan(frame).astype(float), frame.index, frame.columns)
    if not (frame.index.equals(right.index) and frame.columns.equals(right.columns)):
        right = right.reindex(index=sure.index, columns=sure.columns)
    known = sure.notna() & right.notna()
    return sure.where(known), right.where(known)


# ---- measures, as statistics of weights ------------------------------------------------------------------------------


def _error(c: Floats, y: Floats, n_bins: int, bins: Bins) -> Statistic:
    which = width_bins(c, n_bins) if bins == "width" else _mass_bins(c, n_bins)
    gap, members = c - y, (which[:, None] == np.unique(which)).astype(float)
    return lambda weight: np.abs((weight * gap) @ members).sum(axis=-1) / weight.sum(axis=-1)


def _mass_bins(c: Floats, n_bins: int) -> Integers:
    return (np.searchsorted(np.sort(c), c, side="right") * n_bins - 1) // len(c)


def _brier(c: Floats, y: Floats) -> Statistic:
    return lambda weight: (weight @ (c - y) ** 2) / weight.sum(axis=-1)


def _skill(c: Floats, y: Floats) -> Statistic:
    def skill(weight: Floats) -> Floats:
        accuracy = weight @ y / weight.sum(axis=-1)
        value = 1 - _brier(c, y)(weight) / (accuracy * (1 - accuracy))
        return np.where((accuracy > 0) & (accuracy < 1), value, np.nan)

    return skill


def _area(c: Floats, y: Floats) -> Statistic:
    return lambda weight: roc_area(c, y, weight)


def _measured(
    statistic: Callable[[Floats, Floats], Statistic],
    confidence: ArrayLike,
    correct: ArrayLike,
    n_bootstrap: int,
    seed: int,
) -> Estimate:
    c, y = _pairs(confidence, correct)
    if not len(c):
        return Estimate()
    drawn = (piece.astype(float) for piece in resampled_weights(len(c), max(n_bootstrap, 1), seed))
    measured = estimate(statistic(c, y), drawn)
    return measured if n_bootstrap else Estimate(measured.value, n=measured.n)


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


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else float("nan")
