"""What few answers tell of a respondent: its threshold with an interval, the rest of its answers, what to ask next.

With w the posterior over places (threshold and loading), R the yes rate over the whole bank that is expected at each
place and T = Phi^-1(R), the next question is the one whose answer is expected to leave the least variance of T:

    expected reduction by question q = Cov_w(T, p_q)^2 / (m_q (1 - m_q)),     m_q = mean of p_q under w

This is exact for one yes or no. A batch that is chosen at once takes the best linear prediction of T from all of its
answers (Bayes linear; Cov of two answers = Cov_w(p_q, p_r)). Each choice is made among `SHORTLIST` questions drawn at
random, and every `RANDOM_EVERY`-th question is drawn from all: with the best of all 1,500 questions of a real panel,
which are much the same for everybody, intervals were too narrow, and questions near the threshold alone hardly tell
whether somebody follows the scale. (In adaptive tests a shortlist guards against overexposure: Kingsbury and Zara,
1989, Applied Measurement in Education 2, 359-375.)
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri
from scipy.stats import norm

from onedial.core.cards import one_line
from onedial.scale.place.places import grid
from onedial.stats.arrays import Booleans, Floats, Integers
from onedial.stats.level import QUANTILES_95, Z_95

if TYPE_CHECKING:
    from onedial.scale.place.question_bank import QuestionBank

SHORTLIST, RANDOM_EVERY = 20, 4
FOLLOWS = 5.0
"""Evidence from which on a respondent is said to follow the scale; one that does not reaches it in 1 of 20 cases after
25 answers (scripts/simulate.py placing)."""
_NO_LOADING = 0.05
_EDGES = np.arange(-4.0, 4.0001, 0.04)
_UNLIKELY = 1e-6


@dataclass(frozen=True)
class Placement:
    """A respondent after some answers.

    Attributes:
        bank: the questions.
        asked: (answer,) rows of the bank. said_yes: (answer,).
    """

    bank: "QuestionBank"
    asked: Integers
    said_yes: Booleans

    __repr__ = one_line

    @cached_property
    def weight(self) -> Floats:
        """(place,) posterior probability of each place."""
        joint = np.log(self.bank.prior.weight) + self._told
        weight = np.exp(joint - joint.max())
        return np.asarray(weight / weight.sum())

    @cached_property
    def _told(self) -> Floats:
        """(place,) log likelihood of the answers."""
        chance = self.bank.chance[self.asked]
        return np.asarray(np.log(np.where(self.said_yes[:, None], chance, 1 - chance)).sum(axis=0))

    @cached_property
    def _rates(self) -> tuple[Floats, Floats]:
        """(place,), (place,) yes rate over the bank, the answers known counted as they are, and its standard error."""
        n = len(self.bank.questions)
        chance = self.bank.chance[self.asked]
        rate = (self.bank.expected - chance.sum(axis=0) + self.said_yes.sum()) / n
        variance = self.bank.spread - (chance * (1 - chance)).sum(axis=0)
        return rate, np.sqrt(np.maximum(variance, 1e-12)) / n

    @property
    def yes_rate(self) -> float:
        """Expected over the whole bank, the answers known counted as they are."""
        return float(self.weight @ self._rates[0])

    @property
    def threshold(self) -> float:
        """Phi^-1 of the expected yes rate over the whole bank; higher = more often yes."""
        return float(self.bank.threshold_of(np.array(self.yes_rate)))

    @cached_property
    def interval(self) -> tuple[float, float]:
        """95% interval of Phi^-1 of the yes rate that all answers will show, the chance in them counted."""
        likely = self.weight > _UNLIKELY
        rate, error = (part[likely] for part in self._rates)
        below = ndtr((ndtr(_EDGES)[:, None] - rate) / error) @ self.weight[likely]
        low, high = np.interp(QUANTILES_95, below, _EDGES)
        low, high = self.bank.threshold_of(ndtr(np.array([low, high])))
        return float(low), float(high)

    @cached_property
    def loading(self) -> tuple[float, float, float]:
        """How closely it follows the scale: posterior mean, and the ends of the 95% interval."""
        loadings = np.tanh(grid()[1])
        values, place = np.unique(loadings, return_inverse=True)
        below = np.cumsum(np.bincount(place, self.weight))
        low, high = values[np.searchsorted(below / below[-1], QUANTILES_95)]
        return float(self.weight @ loadings), float(low), float(high)

    def after(self, question: Any, said_yes: bool) -> "Placement":
        """The same respondent once it has answered one question more.

        Raises:
            InputError: a question that the bank does not know.
        """
        row = self.bank.rows_of([question])
        return Placement(self.bank, np.append(self.asked, row), np.append(self.said_yes, bool(said_yes)))

    @cached_property
    def evidence(self) -> float:
        """That it follows the scale: twice the log likelihood of its best place over the best with no loading on it."""
        log_posterior = self._told
        return float(2 * (log_posterior.max() - log_posterior[grid()[1] < _NO_LOADING].max()))

    @property
    def follows(self) -> bool:
        """Whether its answers show that it follows the panel's scale; False also where there are too few to show it."""
        return self.evidence > FOLLOWS

    def steps(self) -> pd.DataFrame:
        """What was known before the first answer and after each: `n_answers` and, of that answer, `question_id` and
        `said_yes`; `threshold, low, high, yes_rate, loading, loading_low, loading_high`.
        """
        rows = []
        for n in range(len(self.asked) + 1):
            then = Placement(self.bank, self.asked[:n], self.said_yes[:n])
            last = (self.bank.questions[self.asked[n - 1]], float(self.said_yes[n - 1])) if n else (None, np.nan)
            rows.append((n, *last, then.threshold, *then.interval, then.yes_rate, *then.loading))
        columns = ["n_answers", "question_id", "said_yes", "threshold", "low", "high", "yes_rate"]
        return pd.DataFrame(rows, columns=[*columns, "loading", "loading_low", "loading_high"])

    def predicted(self) -> pd.Series:
        """question -> probability of a yes, of those not yet answered."""
        rest = self._rest()
        return pd.Series(self.bank.chance[rest] @ self.weight, self.bank.questions[rest], name="probability")

    def next_questions(
        self, n: int = 1, seed: int = 0, among: Collection[Any] | None = None, shortlist: int = SHORTLIST
    ) -> list[Any]:
        """The questions to put next, in their order; fewer than n where the bank has no more.

        Args:
            n: chosen together, as a batch; 1 asks one after the other.
            seed: of the drawing of shortlists, which also hangs on how many answers there are.
            among: choose among these alone; None = all that are not answered.
            shortlist: each is the best of this many drawn at random, but for every fourth, which is drawn from all.
        """
        rng = np.random.default_rng([seed, len(self.asked)])
        rest = list(self._rest())
        if among is not None:
            rest = [row for row in rest if self.bank.questions[row] in among]
        chosen: list[int] = []
        while rest and len(chosen) < n:
            is_random = (len(self.asked) + len(chosen) + 1) % RANDOM_EVERY == 0
            drawn = rng.choice(rest, 1 if is_random else min(shortlist, len(rest)), replace=False)
            best = int(drawn[np.argmax(self.reductions(drawn, chosen))])
            chosen.append(best)
            rest.remove(best)
        return list(self.bank.questions[chosen])

    def reductions(self, rows: Integers, already: Sequence[int] = ()) -> Floats:
        """(row,) expected reduction of the threshold's variance by an answer to each of these rows of the bank.

        Args:
            already: rows that will be asked as well.
        """
        every = np.concatenate([rows, np.asarray(already, dtype=int)])
        chance, threshold, n = self.bank.chance[every], self.bank.thresholds, len(rows)
        mean = chance @ self.weight
        weighted = chance * self.weight
        with_threshold = weighted @ threshold - mean * (self.weight @ threshold)
        variance = (mean * (1 - mean))[:n]
        if len(already):
            between = weighted @ chance[n:].T - mean[:, None] * mean[n:]
            covariance = between[n:].copy()
            np.fill_diagonal(covariance, (mean * (1 - mean))[n:])
            slopes = np.linalg.solve(covariance, between[:n].T)
            variance = variance - (slopes * between[:n].T).sum(axis=0)
            with_threshold = with_threshold[:n] - with_threshold[n:] @ slopes
        return np.asarray(with_threshold[:n] ** 2 / np.maximum(variance, 1e-12))

    def _rest(self) -> Integers:
        return np.setdiff1d(np.arange(len(self.bank.questions)), self.asked)


def rate_over(expected: Floats, threshold: float, low: float, high: float) -> tuple[float, float, float]:
    """The yes rate that a placed respondent will show over some of the bank's questions, and its 95% interval.

    The interval is as wide about the threshold of these questions as about that of the whole bank, and wider by what
    chance lets so many of them say; nan where the answers to all of them are known and alike.

    Args:
        expected: (question,) probability of a yes; 1 or 0 where the answer is known.
        threshold, low, high: of the whole bank.

    >>> rate, low, high = rate_over(np.array([1.0, 0.0, 0.5, 0.5]), threshold=0.3, low=0.1, high=0.5)
    >>> low < rate == 0.5 < high
    True
    """
    rate = float(expected.mean())
    at = ndtri(rate)
    by_chance = Z_95 * np.sqrt((expected * (1 - expected)).sum()) / len(expected) / norm.pdf(at)
    below, above = (np.hypot(end - threshold, by_chance) for end in (low, high))
    return rate, float(ndtr(at - below)), float(ndtr(at + above))
