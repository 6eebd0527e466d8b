"""The log loss of every test answer, predicted from an order of the questions and the target's fitting answers."""

import numpy as np

from onedial.verdict.case import Case
from onedial.verdict.numbers import average_within_models
from onedial.verdict.prediction.placing import Prior, bits, learn_priors, normal_scores, predicted

FOLDS = 5


class Losses:
    """Bits of the test answers of the judged targets, question x target; nan where nothing was answered."""

    def __init__(self, case: Case, given: np.ndarray | None = None) -> None:
        """Args: given: question x judged target: other answers than the case's, such as shares of samples."""
        if given is None:
            given = case.given[:, case.judged]
        self.models, self.seed = case.models[case.judged], case.seed
        used = case.fitting | case.test
        self.rows = np.flatnonzero(used)
        self.fitting, self.test = case.fitting[used], case.test[used]
        self.known = np.where(self.fitting[:, None], given[used], np.nan)
        self.answers = given[used][self.test]
        self.asked = np.zeros(given.shape, dtype=bool)
        self.asked[self.rows[self.test]] = ~np.isnan(self.answers)

    def order(self, scores: np.ndarray) -> tuple[np.ndarray, Prior]:
        """Normal scores of the fitting and test questions, and what other base models' answers teach of them."""
        z = normal_scores(scores[self.rows])
        return z, learn_priors(z, self.known, self.models)

    def of(self, z: np.ndarray, prior: Prior) -> np.ndarray:
        """Compute the losses of targets that are placed by all of their fitting answers."""
        return bits(predicted(z, self.known, prior, self.test), self.answers)

    def in_folds(self, z: np.ndarray, prior: Prior) -> float:
        """Average the loss on the fitting answers, each predicted from the other folds."""
        fold = np.random.default_rng(self.seed).integers(FOLDS, size=len(z))
        lost = np.full(self.known.shape, np.nan)
        for number in range(FOLDS):
            left = self.fitting & (fold == number)
            p = predicted(z, np.where(left[:, None], np.nan, self.known), prior, left)
            lost[left] = bits(p, self.known[left])
        return float(average_within_models(mean_of_answers(lost), self.models))


def mean_of_answers(losses: np.ndarray) -> np.ndarray:
    """Average down each column over the answers that there are; nan where there is none."""
    known = ~np.isnan(losses)
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(losses).sum(axis=0) / known.sum(axis=0)
