"""What a dial predicts of a respondent that is not in the panel, from a few answers of its own.

Each of its answers is predicted from its others (leave-one-out) as `placing` has it, with priors that all of the panel
teaches, and scored in bits against its yes rate alone, likewise from the others.
"""

import numpy as np
import pandas as pd

from onedial.stats import N_RESAMPLES, Number, interval_95, resampled_weights
from onedial.verdict.prediction.placing import bits, learn_priors, normal_scores, predicted

FEWEST = 5
"""Answers that are scored: of fewer, leaving one out leaves nothing to place by."""


def newcomer_bits(
    ease: pd.Series, panel: pd.DataFrame, models: pd.Series, answers: pd.Series, seed: int = 0
) -> tuple[Number, int]:
    """Bits per answer by which the dial's order predicts a newcomer better than its yes rate alone; above 0 = better.

    Args:
        ease: question -> the dial's order, higher = turns to yes earlier (`dial_order`); nan where it has none.
        panel: question x target, 1 / 0 / nan, and models: target -> base model. answers: question -> 1 / 0 / nan.
        seed: of the resamples of its answers, which the 95% interval is over.

    Returns:
        The bits, and of how many answers; nan and 0 where fewer than `FEWEST` are to questions that the order knows.

    >>> ease = pd.Series(np.arange(40.0))
    >>> says = {name: (ease > cut) * 1.0 for name, cut in {"a": 10, "b": 20, "c": 30}.items()}
    >>> found, n = newcomer_bits(ease, pd.DataFrame(says), pd.Series({"a": "a", "b": "b", "c": "c"}), says["b"][::2])
    >>> found.low > 0, n
    (True, 20)
    """
    own = answers.reindex(ease.index)
    scored = np.flatnonzero((own.notna() & ease.notna()).to_numpy())
    if len(scored) < FEWEST:
        return Number(), 0
    others = panel.reindex(ease.index).to_numpy(float)
    known = np.repeat(own.where(ease.notna()).to_numpy(float)[:, None], len(scored), axis=1)
    known[scored, np.arange(len(scored))] = np.nan
    given = np.concatenate([others, known[:, :1] * np.nan], axis=1)
    base = np.append(models.reindex(panel.columns).astype(str).to_numpy(), "\0newcomer")
    truth, every, losses = own.to_numpy(float)[scored], np.ones(len(ease), dtype=bool), []
    for order in (np.zeros(len(ease)), normal_scores(ease.to_numpy(float)[:, None])[:, 0]):
        prior = learn_priors(np.repeat(order[:, None], len(base), axis=1), given, base)
        copies = prior.take(np.full(len(scored), len(base) - 1))
        p = predicted(np.repeat(order[:, None], len(scored), axis=1), known, copies, every)
        losses.append(bits(p[scored, np.arange(len(scored))], truth))
    gained = losses[0] - losses[1]
    drawn = np.concatenate([weights @ gained for weights in resampled_weights(len(scored), N_RESAMPLES, seed)])
    low, high = interval_95(drawn / len(scored))
    return Number(float(gained.mean()), low, high), len(scored)
