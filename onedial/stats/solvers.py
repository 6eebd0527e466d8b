"""Linear classifiers for many labels and penalties at once: a new one is a function here, and a line in `METHODS`.

All labels share the training questions, so what depends on these alone is done once: coordinates are standardised, and
the questions are written in the principal axes of what results, Z = U S V'. Every method has one signature:

    method(training, labels, penalties) -> (penalty, d_model, label) directions

    training    `Training`, the standardised training questions
    labels      (question, label) 1 / 0, nan where unknown; such a question does not count for that label
    penalties   multiples of the mean eigenvalue of Z'Z / n; a method without a penalty gives one direction

Directions stand in standardised coordinates, positive towards label 1; their length means nothing. A held-out
question's score is its standardised activation along the direction. From score to probability:
`probes.fitting.crossfit`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from einops import rearrange
from numpy.typing import NDArray
from scipy.special import expit

from onedial.core.cards import one_line
from onedial.stats.arrays import Floats

Singles = NDArray[np.float32]
Method = Callable[["Training", Floats, Sequence[float]], Floats]

PENALTIES = (0.003, 0.03, 0.3, 3.0, 30.0)
NO_PENALTY = (0.0,)
_STEPS, _TOLERANCE = 500, 1e-3


@dataclass(frozen=True, eq=False)
class Training:
    """Training questions in standardised coordinates and in their principal axes.

    Attributes:
        mean, scale: (d_model,) of each coordinate; a coordinate that never changes has scale 1.
        rows: (question, d_model) standardised.
        axes: (d_model, rank) principal axes. singular: (rank,) singular values of `rows`.
    """

    mean: Floats
    scale: Floats
    rows: Floats
    axes: Floats
    singular: Floats

    __repr__ = one_line

    @classmethod
    def of(cls, rows: Floats, *, standardise: bool = True) -> "Training":
        """Make it of (question, d_model) activations; without `standardise` coordinates are centred only."""
        mean = rows.mean(axis=0)
        spread = rows.std(axis=0) if standardise else np.ones(rows.shape[1])
        scale = np.where(spread > 0, spread, 1.0)
        z = (rows - mean) / scale
        wide = z.shape[0] < z.shape[1]
        values, vectors = np.linalg.eigh(z @ z.T if wide else z.T @ z)
        kept = values > values[-1] * 1e-10 if values[-1] > 0 else values > 0
        singular = np.sqrt(values[kept])[::-1]
        vectors = vectors[:, kept][:, ::-1]
        return cls(mean, scale, z, z.T @ (vectors / singular) if wide else vectors, singular)

    def standardised(self, rows: Floats) -> Floats:
        """Put other questions in the same coordinates."""
        return (rows - self.mean) / self.scale

    def normalised(self, directions: Floats) -> Floats:
        """Scale directions (penalty, d_model, label) to scores of standard deviation 1 over the training questions.

        So scores of probes that were fitted to other questions compare. A direction without length stays one.
        """
        spread = np.sqrt((np.tensordot(self.rows, directions, axes=(1, 1)) ** 2).mean(axis=0))
        return directions / np.where(spread > 0, spread, 1.0)[:, None, :]

    @property
    def unit(self) -> float:
        """The mean eigenvalue of Z'Z / n: what a penalty of 1 is worth."""
        return float((self.singular**2).sum() / (len(self.rows) * max(len(self.singular), 1)))


def logistic(training: Training, labels: Floats, penalties: Sequence[float]) -> Floats:
    """Fit an L2-penalised logistic regression, the intercept free.

    Formula: minimise mean over known questions of log(1 + exp(-y (b + w . z))) + (lambda / 2) |w|^2, y = +-1. Every
    step majorises the loss by Böhning's bound p (1 - p) <= 1/4 (1992, Annals of the Institute of Statistical
    Mathematics 44, 197-200), which is diagonal in the principal axes, with Nesterov's momentum, restarted where the
    loss would rise.

    scikit-learn: `LogisticRegression(C=1 / (n * lambda))` on the same standardised rows, which takes 29 times as long
    for 30 labels and 5 penalties of 426 questions (lbfgs; newton-cholesky 67 times).
    """
    known = np.tile(np.isfinite(labels), len(penalties))
    target = np.where(known, np.nan_to_num(np.tile(labels, len(penalties))), 0.0)
    n_known = np.maximum(known.sum(axis=0), 1)
    strength = np.repeat([penalty * training.unit for penalty in penalties], labels.shape[1]) * n_known
    scores = (training.rows @ training.axes).astype(np.float32)
    weight = _penalised_logistic(
        scores, training.singular.astype(np.float32), known, target.astype(np.float32), strength.astype(np.float32)
    )
    directions = training.axes @ weight
    return rearrange(directions, "d_model (penalty label) -> penalty d_model label", penalty=len(penalties))


def _penalised_logistic(
    scores: Singles, singular: Singles, known: NDArray[np.bool_], target: Singles, strength: Singles
) -> Singles:
    """Fit (rank, column) weights along the principal axes; a column is let go as soon as it has converged.

    Single precision, whose error is far below the tolerance, takes half the time.

    Args:
        scores: (question, rank) U S. known, target: (question, column). strength: (column,) n lambda.
    """
    share = np.clip(target.sum(axis=0) / np.maximum(known.sum(axis=0), 1), 1e-6, 1 - 1e-6).astype(np.float32)
    solution = np.zeros((scores.shape[1], len(strength)), dtype=np.float32)
    left = np.arange(len(strength))
    bound, bound_intercept = (singular**2)[:, None] / 4 + strength, len(scores) / 4
    weight, intercept, momentum = solution.copy(), np.log(share / (1 - share)), np.ones(len(strength), dtype=np.float32)
    ahead, ahead_intercept = weight, intercept
    for _ in range(_STEPS):
        residual = (expit(scores @ ahead + ahead_intercept) - target) * known
        step, step_intercept = (scores.T @ residual + strength * ahead) / bound, residual.sum(axis=0) / bound_intercept
        new, new_intercept = ahead - step, ahead_intercept - step_intercept
        solution[:, left] = new
        open_ = np.sqrt((step**2 * bound).sum(axis=0)) > _TOLERANCE * np.sqrt((new**2 * bound).sum(axis=0))
        if not open_.any():
            break
        turned = (step * bound * (new - weight)).sum(axis=0) > 0  # the loss would rise: begin the momentum anew
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        gain = np.where(turned, np.float32(0), (momentum - 1) / following)
        ahead, ahead_intercept = new + gain * (new - weight), new_intercept + gain * (new_intercept - intercept)
        weight, intercept, momentum = new, new_intercept, np.where(turned, np.float32(1), following)
        if not open_.all():
            left, strength, known, target = left[open_], strength[open_], known[:, open_], target[:, open_]
            bound, weight, ahead = bound[:, open_], weight[:, open_], ahead[:, open_]
            intercept, ahead_intercept, momentum = intercept[open_], ahead_intercept[open_], momentum[open_]
    return solution


def ridge(training: Training, labels: Floats, penalties: Sequence[float]) -> Floats:
    """Fit least squares on labels +-1 with an L2 penalty.

    Formula: w = (Z'Z / n + lambda I)^-1 cov(z, y). Where a label is not known of every question, the covariance of the
    activations still counts all of them, and the covariance with the label those that have it.

    scikit-learn: `Ridge(alpha=n * lambda)` on the same rows, where all labels are known.
    """
    along = training.axes.T @ _label_covariance(training, labels)
    spectrum = training.singular**2 / len(training.rows)
    shrunk = [along / (spectrum + penalty * training.unit)[:, None] for penalty in penalties]
    return np.stack([training.axes @ weight for weight in shrunk])


def lda(training: Training, labels: Floats, penalties: Sequence[float]) -> Floats:
    """Fit a linear discriminant with the shrinkage of Ledoit and Wolf in place of a penalty that is chosen.

    Formula: (S + shrinkage of S towards its mean eigenvalue)^-1 (mean_1 - mean_0), with S the covariance of all
    training questions: within classes or over all, the direction is the same. It is ridge with another penalty (Ledoit
    and Wolf, 2004, Journal of Multivariate Analysis 88, 365-411).
    """
    shrinkage = ledoit_wolf(training)
    mean_eigenvalue = float((training.singular**2).sum()) / len(training.rows) / training.rows.shape[1]
    penalty = shrinkage * mean_eigenvalue / max(1 - shrinkage, 1e-6)
    return ridge(training, labels, [penalty / training.unit])


def mean_difference(training: Training, labels: Floats, penalties: Sequence[float]) -> Floats:
    """Subtract the mean of label 0 from that of label 1, in the stream's own coordinates, as steering does most often.

    In standardised coordinates each entry is weighted by the coordinate's scale twice: once to be a difference of the
    stream, once because the score is the stream's projection.
    """
    yes, no = (labels == 1).astype(float), (labels == 0).astype(float)
    means = [training.rows.T @ side / np.maximum(side.sum(axis=0), 1) for side in (yes, no)]
    return ((means[0] - means[1]) * training.scale[:, None] ** 2)[None]


METHODS: dict[str, Method] = {"logistic": logistic, "ridge": ridge, "lda": lda, "mean_difference": mean_difference}
PENALISED = frozenset({"logistic", "ridge"})
"""Methods whose penalty is chosen by inner folds."""


def fit_logistic(rows: Floats, target: Floats, penalty: float = 1e-3) -> Floats:
    """Fit (1 + number,) intercept and slopes of log-odds on a few numbers, by scikit-learn's Newton solver.

    Formula: minimise the mean over questions of -t log p - (1 - t) log(1 - p), plus (penalty / 2) |w|^2 over the slopes
    of standardised numbers. The penalty keeps a separable sample finite.

    Args:
        rows: (question, number). target: (question,) 1 / 0, or a probability between them.

    >>> fit_logistic(np.arange(8.0)[:, None], np.array([0, 0, 1, 0, 1, 0, 1, 1.0])).round(1).tolist()
    [-2.1, 0.6]
    """
    if not len(target):
        return np.zeros(1 + rows.shape[1])
    rate = float(np.clip(target.mean(), 1e-3, 1 - 1e-3))
    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    if not (spread > 0).any() or np.isin(target.mean(), (0, 1)):
        return np.r_[np.log(rate / (1 - rate)), np.zeros(rows.shape[1])]
    scale = np.where(spread > 0, spread, 1.0)
    twice = np.tile((rows - mean) / scale, (2, 1))  # as a yes and as a no, weighted by what speaks for each
    weight, label = np.r_[target, 1 - target], np.repeat([1, 0], len(target))
    from sklearn.linear_model import LogisticRegression  # most who import this fit none, and it takes a while to load

    model = LogisticRegression(C=1 / (penalty * len(rows)), solver="newton-cholesky", tol=1e-7, max_iter=100)
    model.fit(twice[weight > 0], label[weight > 0], sample_weight=weight[weight > 0])
    slopes = model.coef_[0] / scale
    return np.r_[model.intercept_[0] - slopes @ mean, slopes]


def ledoit_wolf(training: Training) -> float:
    """Estimate the shrinkage of Ledoit and Wolf from the rows' lengths and the singular values alone.

    scikit-learn: `ledoit_wolf_shrinkage(rows, assume_centered=True)`, which takes 2 s a call for 1,000 rows of 4,096
    coordinates, four times as long as all else of a fit.
    """
    n, d = training.rows.shape
    squared = training.singular**2 / n
    identity = squared.sum() / d
    spread = (squared**2).sum() / d - identity**2
    lengths = (training.rows**2).sum(axis=1)
    noise = ((lengths**2).mean() - (squared**2).sum()) / (d * n)
    return float(np.clip(noise / spread, 0, 1)) if spread > 0 else 0.0


def _label_covariance(training: Training, labels: Floats) -> Floats:
    """Compute the (d_model, label) covariance of the rows with labels +-1."""
    known = np.isfinite(labels)
    n_known = np.maximum(known.sum(axis=0), 1)
    signs = np.where(known, 2 * np.nan_to_num(labels) - 1, 0.0)
    centred = np.where(known, signs - signs.sum(axis=0) / n_known, 0.0)
    shared = training.rows.T @ centred / n_known
    # Coordinates have variance 1: below this there is rounding, such as an eraser leaves, and no direction.
    return np.where(np.abs(shared).max(axis=0, initial=0.0) > 1e-10, shared, 0.0)
