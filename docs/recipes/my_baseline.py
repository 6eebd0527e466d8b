"""A baseline: an order of the questions that needs no steering.

It stands beside the dial in every table. A target's answers to test questions must not enter its scores.

    python experiments/judge_run.py runs/recipe --plugin my_baseline.py
"""

import numpy as np

from onedial.verdict import BASELINES, Baseline, Case


def longest_word(case: Case) -> np.ndarray | None:
    """Questions with a long word last; None where their texts are not known."""
    if not case.texts:
        return None
    longest = np.array([max(map(len, text.split())) for text in case.texts], dtype=float)
    return np.repeat(-longest[:, None], case.given.shape[1], axis=1)


BASELINES["longest word"] = Baseline(longest_word, one_order=True)
