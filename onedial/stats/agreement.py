"""How well predicted answers meet given ones, for one weighting of the questions or for thousands at once.

Per target, over the questions that both sides answered (weights w: 1 each, or how often a bootstrap drew the question):

    agreement = sum w [predicted = given] / sum w
    kappa     = (agreement - chance) / (1 - chance),   chance = p q + (1 - p)(1 - q)

with p and q the two yes rates. Cohen's kappa of a constant prediction is 0, also where the answers are constant too.
All of it follows from four weighted counts, and those are matrix products: weights (resamples x questions) times
indicators (questions x targets). Nothing loops over resamples.
"""

from dataclasses import dataclass

import numpy as np

from onedial.stats.resampling import chunks, permuted_rows, resampled_weights


@dataclass(frozen=True)
class Counts:
    """Weighted counts over questions, any shape: pairs read on both sides, both yes, predicted yes, given yes."""

    n: np.ndarray
    both: np.ndarray
    predicted: np.ndarray
    given: np.ndarray

    def agreement(self) -> np.ndarray:
        """Compute the share of equal answers; nan where nothing was counted."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return (self.n - self.predicted - self.given + 2 * self.both) / self.n

    def kappa(self) -> np.ndarray:
        """Compute Cohen's kappa; 0 where either side is constant, nan where nothing was counted."""
        with np.errstate(invalid="ignore", divide="ignore"):
            p, q = self.predicted / self.n, self.given / self.n
            chance = p * q + (1 - p) * (1 - q)
            kappa = (self.agreement() - chance) / (1 - chance)
        constant = (p == 0) | (p == 1) | (q == 0) | (q == 1)
        return np.where(constant, 0.0, kappa)


def count(predicted: np.ndarray, given: np.ndarray) -> Counts:
    """Count over questions in two question x target arrays (1, 0, nan), shape (target,).

    >>> counts = count(np.array([[1.0], [1.0], [0.0], [0.0]]), np.array([[1.0], [0.0], [0.0], [0.0]]))
    >>> counts.agreement().tolist(), counts.kappa().tolist()
    ([0.75], [0.5])
    """
    return Counts(*(part.sum(axis=0, dtype=float) for part in _indicators(predicted, given)))


COPY, MIN_OF_A_KIND = 0.95, 10
"""Kappa from which two are one respondent twice; and answers of either kind under which that is not asked."""


def kappas_between(answers: np.ndarray) -> np.ndarray:
    """Compute Cohen's kappa of every two columns; nan under `MIN_OF_A_KIND` answers of a kind on either side.

    Args:
        answers: question x respondent (1, 0, nan).

    >>> answers = np.tile([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]], (20, 1))
    >>> kappas_between(answers).tolist()[0]
    [1.0, 1.0, -1.0]
    """
    yes, no = (answers == 1).astype(float), (answers == 0).astype(float)
    both_yes, both_no, yes_no = yes.T @ yes, no.T @ no, yes.T @ no
    n = both_yes + both_no + yes_no + yes_no.T
    one, other = both_yes + yes_no, both_yes + yes_no.T
    fewest = np.minimum.reduce([one, n - one, other, n - other])
    with np.errstate(invalid="ignore", divide="ignore"):
        chance = (one * other + (n - one) * (n - other)) / n**2
        kappa = ((both_yes + both_no) / n - chance) / (1 - chance)
    return np.where(fewest >= MIN_OF_A_KIND, kappa, np.nan)


def count_resampled(
    predicted: np.ndarray, given: np.ndarray, n_resamples: int, seed: int, groups: np.ndarray | None = None
) -> Counts:
    """Count in bootstrap resamples of the questions, shape (resample, target); see `resampling`.

    >>> answers = np.array([[1.0], [0.0], [1.0], [0.0]])
    >>> count_resampled(answers, answers, 99, seed=0).agreement().min().item()
    1.0
    """
    parts = _indicators(predicted, given)
    return _joined(
        [[weights @ part for part in parts] for weights in resampled_weights(len(given), n_resamples, seed, groups)]
    )


def count_permuted(
    predicted: np.ndarray,
    given: np.ndarray,
    n_permutations: int,
    seed: int,
    strata: np.ndarray | None = None,
    groups: np.ndarray | None = None,
) -> Counts:
    """Count after the rows of `given` are permuted, jointly for all targets, shape (permutation, target).

    Gaps of `given` travel with its rows; answers of the subject that were not read stay where they are.

    Args:
        strata: question -> stratum, within which rows are permuted. groups: see `resampling.permuted_rows`.

    >>> answers = np.array([[1.0], [0.0], [1.0], [0.0]])
    >>> count_permuted(answers, answers, 99, seed=0).kappa().shape
    (99, 1)
    """
    rng = np.random.default_rng(seed)
    read = (~np.isnan(predicted)).astype(np.float32)
    sides = np.stack([read, (predicted == 1).astype(np.float32)])  # (2, question, target)
    seen, yes = (~np.isnan(given)).astype(np.float32), (given == 1).astype(np.float32)
    counted = []
    for size in chunks(n_permutations, len(given)):
        rows = permuted_rows(len(given), size, rng, strata, groups)
        seen_by_side, yes_by_side = (
            np.stack([given_part[:, t][rows] @ sides[:, :, t].T for t in range(given.shape[1])], axis=-1)
            for given_part in (seen, yes)
        )  # (permutation, 2, target)
        counted.append([seen_by_side[:, 0], yes_by_side[:, 1], seen_by_side[:, 1], yes_by_side[:, 0]])
    return _joined(counted)


def interval(resampled: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """Compute a percentile interval along the first axis; nan where a resample holds nothing to count.

    Percentile, not basic (2 x estimate - percentile): it never leaves the range of the statistic.

    >>> low, high = interval(np.arange(101.0))
    >>> round(float(low), 1), float(high)
    (2.5, 97.5)
    """
    tail = (1 - level) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail], axis=0)
    return low, high


def _indicators(predicted: np.ndarray, given: np.ndarray) -> list[np.ndarray]:
    read = ~(np.isnan(predicted) | np.isnan(given))
    yes_predicted, yes_given = read & (predicted == 1), read & (given == 1)
    return [part.astype(np.float32) for part in (read, yes_predicted & yes_given, yes_predicted, yes_given)]


def _joined(pieces: list[list[np.ndarray]]) -> Counts:
    return Counts(*(np.concatenate(part).astype(float) for part in zip(*pieces, strict=True)))
