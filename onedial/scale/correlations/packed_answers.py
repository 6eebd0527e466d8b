"""Random answers to many thousand questions, 64 in a machine word, and the 2 x 2 tables of all pairs.

Where questions lie at one of few places, all questions of one place have the same probability of a yes. Sorted by
place, they fill words in which every bit is drawn with one probability p = .b1 b2 .. b16 (binary): beginning with b16,

    x <- x or r   where the digit is 1,      x <- x and r   where it is 0,      r = random bits,

after which each bit is 1 with probability p exactly. Sixteen random bits an answer, but a word at a time. Tables need
counts alone, which are the numbers of bits in x_i and x_j; in which order the questions stand does not matter to them.
"""

import numpy as np
from numpy.typing import NDArray

from onedial.stats import Booleans, Floats, Integers

Words = NDArray[np.uint64]
WORD = 64
_DIGITS = 16


def packed_draw(
    nodes: Integers, probabilities: NDArray[np.uint16], answered: Booleans | None, rng: np.random.Generator
) -> tuple[Words, Words]:
    """Answers of every respondent, and which of them there are.

    Args:
        nodes: (question,) uint16 place of each question. probabilities: (node, respondent) of a yes, in units of 2^-16.
        answered: (respondent, question), or None where nothing is missing. rng: for the bits.

    Returns:
        (respondent, word) each: yes, and answered, questions in the order of their places, words filled up with zeros.
    """
    counts = np.bincount(nodes, minlength=len(probabilities))
    n_words = -(-counts // WORD)
    first = np.cumsum(n_words) - n_words
    order = np.argsort(nodes, kind="stable")
    slot = np.arange(len(nodes)) + np.repeat(first * WORD - (np.cumsum(counts) - counts), counts)
    digits = np.repeat(probabilities.T, n_words, axis=1)
    there = np.zeros((1 if answered is None else len(answered), int(n_words.sum()) * WORD), dtype=bool)
    there[:, slot] = True if answered is None else answered[:, order]
    kept: Words = np.packbits(there, axis=1).view(np.uint64)
    yes = np.zeros(digits.shape, dtype=np.uint64)
    for digit in range(_DIGITS):
        bits = rng.integers(0, 2**64, digits.shape, dtype=np.uint64)
        is_one = -((digits >> digit) & 1).astype(np.uint64)
        yes = (yes & bits) | (is_one & (yes | bits))
    return yes & kept, np.broadcast_to(kept, yes.shape)


def pairs_in_common(first: Words, second: Words) -> Floats:
    """(respondent, respondent) how many bits are 1 in a row of the first and a row of the second."""
    return np.stack([np.bitwise_count(row & second).sum(axis=1, dtype=np.int64) for row in first]).astype(float)
