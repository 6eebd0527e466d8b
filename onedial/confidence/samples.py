"""Several answers of one respondent to one question: how far they agree, when to stop asking, whom to look up.

Answers are compared as labels: normalise texts first (`onedial.asking.normalised_text`), or give options. What could
not be read is None, and counts in `n_unread` alone.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import beta

STOP_AT = 0.95
ZONES = ("answer", "look up", "search")


@dataclass(frozen=True)
class Agreement:
    """Attributes:
    answer: the most frequent one (the first of those that tie). agreement: its share. entropy: in nats.
    beyond_chance: agreement less how often the other questions' answers are this one; 0 = it says this anyway.
    n, n_unread: samples.
    """

    answer: Hashable
    agreement: float
    entropy: float
    beyond_chance: float
    n: int
    n_unread: int


def sample_agreement(samples: Sequence[Hashable | None], habit: dict[Hashable, float] | None = None) -> Agreement:
    """What the samples of one question say together.

    Formula: agreement = max_a n_a / N; entropy = -sum (n_a / N) log (n_a / N) (arXiv 2306.13063); beyond chance =
        agreement - habit(answer).

    Args:
        samples: of one question; None could not be read. habit: share of each answer among
            those to the other questions (`habits`); an answer that it does not hold has 0.

    Returns:
        Agreement; nan where nothing was read. Sign: higher agreement = surer, higher entropy = less sure.

    >>> round(sample_agreement(["Paris", "Paris", "Rome", None]).agreement, 2)
    0.67
    """
    read = [each for each in samples if each is not None]
    if not read:
        nothing = float("nan")
        return Agreement(None, nothing, nothing, nothing, 0, len(samples))
    counts = Counter(read)
    answer, most = counts.most_common(1)[0]
    shares = np.array(list(counts.values())) / len(read)
    share = most / len(read)
    return Agreement(
        answer,
        share,
        float(-(shares * np.log(shares)).sum()) + 0.0,
        share - (habit or {}).get(answer, 0.0),
        len(read),
        len(samples) - len(read),
    )


def habits(samples: Sequence[Sequence[Hashable | None]]) -> list[dict[Hashable, float]]:
    """How often each answer is given to the other questions: what a habitual answer owes to habit.

    Formula: for each question, the share of each answer among all samples of the others.

    Args:
        samples: (question, sample).

    Returns:
        one dictionary per question. Sign: none.

    >>> habits([["Paris", "Paris"], ["Paris", "Rome"]])[1]
    {'Paris': 1.0, 'Rome': 0.0}
    """
    own = [Counter(each for each in answers if each is not None) for answers in samples]
    total: Counter[Hashable] = Counter()
    for counts in own:
        total.update(counts)
    n = sum(total.values())
    return [
        {answer: (total[answer] - counts[answer]) / (n - sum(counts.values())) for answer in counts}
        if n > sum(counts.values())
        else {}
        for counts in own
    ]


def samples_until_sure(samples: Sequence[Hashable | None]) -> int:
    """How many samples would have been drawn, had sampling stopped as soon as the first answer surely leads.

    Formula: stop after the first N >= 2 with P(p_1 > p_2) >= `STOP_AT`, where p_1 = share of the leading against the
    second answer has the posterior Beta(n_1 + 1, n_2 + 1), so that P = 1 - I_{1/2}(n_1 + 1, n_2 + 1).

    Args:
        samples: in the order in which they were drawn; an unread one counts as drawn.

    Returns:
        a number of samples, at most all of them. Sign: lower = cheaper, the answers agree sooner.

    R: `1 - pbeta(.5, n1 + 1, n2 + 1)`.

    >>> samples_until_sure(["Paris"] * 10)
    4
    """
    counts: Counter[Hashable] = Counter()
    for drawn, each in enumerate(samples, start=1):
        if each is not None:
            counts[each] += 1
        leading = [n for _, n in counts.most_common(2)] + [0, 0]
        if drawn >= 2 and beta.sf(0.5, leading[0] + 1, leading[1] + 1) >= STOP_AT:
            return drawn
    return len(samples)


def certainty_zones(certainty: pd.Series, consistency: pd.Series) -> pd.Series:
    """Three zones of two confidences: sure and consistent answers itself, one of them looks up, neither searches.

    Formula: "answer" where both reach .5, "search" where neither does, "look up" between (after arXiv 2601.02574).

    Args:
        certainty: |p_true - p_false| of a verdict, 0 to 1. consistency: agreement of samples, 0 to 1, of the same
            questions.

    Returns:
        one of `ZONES` per question, None where either is unknown. Sign: none.

    >>> certainty_zones(pd.Series([0.9, 0.9, 0.1]), pd.Series([0.8, 0.2, 0.1])).tolist()
    ['answer', 'look up', 'search']
    """
    both = pd.DataFrame({"certainty": certainty, "consistency": consistency})
    reached = (both >= 0.5).sum(axis=1).map({2: ZONES[0], 1: ZONES[1], 0: ZONES[2]}).astype(object)
    return reached.where(both.notna().all(axis=1), None).rename("zone")
