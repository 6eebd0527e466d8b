"""Measure how well a direction repeats: would other questions have given the same one?

The questions on either side are split into halves, a direction is made of each, and the cosine r of the two, averaged
over splits, is stepped up to the whole length by Spearman and Brown's formula, 2 r / (1 + r). At 1 the direction would
come out the same again; at .5 half of it is these questions.
"""

from dataclasses import dataclass

import numpy as np
import torch

from onedial.core.errors import InputError
from steering.contrasts import MINIMUM_PER_SIDE, SMALLER_SIDE, Contrast
from steering.directions import DIRECTIONS
from steering.nulls import generator_of

SPLITS = 50


@dataclass(frozen=True)
class Reliability:
    """Of one direction.

    Attributes:
        half_cosine: mean cosine of two halves' directions; nan where a side has fewer than four questions.
        low, high: 5% and 95% of it over splits.
        reliability: stepped up to the whole.
        n_said_yes, n_said_no, n_unread: what the unsteered subject said to the questions of the contrast.
        by_thirds: whether the sides are the ends of the margins, since nearly all answers were the same.
    """

    half_cosine: float
    low: float
    high: float
    reliability: float
    n_said_yes: int
    n_said_no: int
    n_unread: int
    by_thirds: bool

    def notes(self) -> list[str]:
        """What a user should know of it."""
        if not self.by_thirds:
            return []
        return [
            f"one-sided: the unsteered subject says yes to {self.n_said_yes} and no to {self.n_said_no} of the "
            "questions that the vector is made of, so the upper third of its margins stands against the lower third"
        ]


def reliability_of(contrast: Contrast, method: str, seed: int = 0, n_splits: int = SPLITS) -> Reliability:
    """Measure how well the direction that `method` makes of a contrast at its first layer repeats.

    Args:
        contrast: at one layer.

    >>> from onedial import PromptSet, load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> from steering.vectors import contrast_of
    >>> model = load_model("smollm2-135m-instruct")
    >>> prompts = PromptSet.build(model, load_questions("embedded", n=20), METACOGNITIVE)
    >>> type(reliability_of(contrast_of(model, prompts, [1]), "mean_difference")).__name__
    'Reliability'
    """
    read, margin = contrast.activations.read, contrast.activations.margin
    n_yes, n_no = int((read & (margin > 0)).sum()), int((read & (margin <= 0)).sum())
    thirds = contrast.name == "response" and min(n_yes, n_no) < max(SMALLER_SIDE * int(read.sum()), MINIMUM_PER_SIDE)
    half, low, high = _half_cosines(contrast, method, seed, n_splits)
    whole = 2 * half / (1 + half) if half > -1 else float("nan")
    return Reliability(half, low, high, whole, n_yes, n_no, contrast.n_unread, thirds)


def _half_cosines(contrast: Contrast, method: str, seed: int, n_splits: int) -> tuple[float, float, float]:
    """Compute mean, 5% and 95% of the cosine of two halves' directions, over random splits."""
    if min(len(contrast.yes), len(contrast.no)) < 4 or method == "random":
        return float("nan"), float("nan"), float("nan")
    generator = generator_of(seed)
    cosines = []
    for _ in range(n_splits):
        orders = [torch.randperm(len(side), generator=generator) for side in (contrast.yes, contrast.no)]
        if contrast.paired:
            orders[1] = orders[0]
        halves = []
        for part in (0, 1):
            places = [order[part::2] for order in orders]
            try:
                halves.append(DIRECTIONS[method](contrast.take(places[0], places[1]))[0][0])
            except InputError:  # half of the questions may not hold what the whole does, such as topics with both sides
                break
        if len(halves) == 2:
            cosines.append(float(halves[0] @ halves[1]))
    if len(cosines) < max(2, n_splits / 2):
        return float("nan"), float("nan"), float("nan")
    return float(np.mean(cosines)), float(np.quantile(cosines, 0.05)), float(np.quantile(cosines, 0.95))
