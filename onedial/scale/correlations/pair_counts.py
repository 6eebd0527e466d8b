"""The 2 x 2 tables of every pair of respondents, as matrix products.

With Y the yes answers and A the answered questions (0/1), Y'Y counts the questions that both said yes to, Y'A those
that one said yes to and the other answered, A'A those that both answered; the rest are differences. A table is
(yes-yes, yes-no, no-yes, no-no), where the first word is the respondent with the lower position.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onedial.stats.answers import Answers
from onedial.stats.arrays import Floats, Integers

_PAIR_CELLS = 8_000_000  # of a block of questions x pairs
_BLOCK = 8192  # questions at once: the products are exact in float32 and the memory stays small


@dataclass(frozen=True)
class PairTables:
    """Tables of all pairs of respondents.

    Attributes:
        tables: (..., 4, pair) counts in the order yes-yes, yes-no, no-yes, no-no; leading axes are replicates.
        n_respondents: how many respondents the pairs are made of.
    """

    tables: Integers
    n_respondents: int

    @property
    def pairs(self) -> tuple[Integers, Integers]:
        """(pair,), (pair,): the lower and the higher position of each pair."""
        return np.triu_indices(self.n_respondents, 1)


def count_pairs(answers: Answers) -> PairTables:
    """The tables of one matrix of answers."""
    m = answers.n_respondents
    both_yes = np.zeros((m, m))
    yes_answered = np.zeros((m, m))
    both_answered = np.zeros((m, m))
    for start in range(0, answers.n_questions, _BLOCK):
        yes = answers.yes[start : start + _BLOCK].astype(np.float32)
        answered = answers.answered[start : start + _BLOCK].astype(np.float32)
        both_yes += yes.T @ yes
        if answers.is_complete:
            yes_answered += yes.sum(axis=0, dtype=np.float64)[:, None]
            both_answered += len(yes)
        else:
            yes_answered += yes.T @ answered
            both_answered += answered.T @ answered
    return tables_of(both_yes, yes_answered, both_answered)


def count_pairs_of_replicates(yes: Floats, answered: Floats) -> PairTables:
    """The tables of many matrices at once.

    Args:
        yes: (replicate, question, respondent) 0/1. answered: the same shape, or (question, respondent) where the
            gaps are the same in all replicates.
    """
    transposed = np.swapaxes(yes, -1, -2)
    both_yes = transposed @ yes
    yes_answered = transposed @ answered
    both_answered = np.broadcast_to(np.swapaxes(answered, -1, -2) @ answered, both_yes.shape)
    return tables_of(both_yes, yes_answered, both_answered)


def count_pairs_of_resamples(answers: Answers, weights: Floats) -> PairTables:
    """The tables of many resamples of the questions, as matrix products over pairs.

    Args:
        answers: one matrix. weights: (replicate, question) how often each question was drawn.
    """
    m = answers.n_respondents
    first, second = np.triu_indices(m, 1)
    total = np.zeros((4, len(weights), len(first)))
    size = max(1, _PAIR_CELLS // max(1, len(first)))
    for start in range(0, answers.n_questions, size):
        block = slice(start, start + size)
        drawn = weights[:, block].astype(np.float32)
        yes, answered = (part[block].astype(np.float32) for part in (answers.yes, answers.answered))
        total[0] += drawn @ (yes[:, first] * yes[:, second])
        if answers.is_complete:
            n_yes = drawn @ yes
            total[1] += n_yes[:, first]
            total[2] += n_yes[:, second]
            total[3] += drawn.sum(axis=1, keepdims=True)
        else:
            total[1] += drawn @ (yes[:, first] * answered[:, second])
            total[2] += drawn @ (answered[:, first] * yes[:, second])
            total[3] += drawn @ (answered[:, first] * answered[:, second])
    both, first_yes, second_yes, shared = total
    tables = [both, first_yes - both, second_yes - both, shared - first_yes - second_yes + both]
    return PairTables(np.rint(np.stack(tables, axis=-2)).astype(np.int64), m)


def tables_of(both_yes: NDArray[Any], yes_answered: NDArray[Any], both_answered: NDArray[Any]) -> PairTables:
    """Tables from (..., respondent, respondent) counts: both yes, the first yes where the second answered, both
    answered."""
    first, second = np.triu_indices(both_yes.shape[-1], 1)
    yes_yes = both_yes[..., first, second]
    yes_no = yes_answered[..., first, second] - yes_yes
    no_yes = yes_answered[..., second, first] - yes_yes
    no_no = both_answered[..., first, second] - yes_yes - yes_no - no_yes
    tables = np.rint(np.stack([yes_yes, yes_no, no_yes, no_no], axis=-2)).astype(np.int64)
    return PairTables(tables, both_yes.shape[-1])
