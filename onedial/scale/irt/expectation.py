"""The E step: where on the scale each question probably lies, and what the curves would then be seen to do.

    log L_q(z) = sum over the answered cells of log P_i(x_qi | z),     posterior_q(z) ~ w(z) L_q(z)

Missing cells add nothing. Questions go through in blocks, so that memory stays small.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onedial.stats import Answers, Floats

Codes = NDArray[np.int8]
MISSING = -1
_CELLS_WHOLE = 1_000_000  # of questions x nodes that go through at once
_CELLS_AT_ONCE = 100_000  # of a block where there are more: what has to be fetched from afar takes half as long again


@dataclass(frozen=True)
class Expected:
    """What an E step finds.

    Attributes:
        log_likelihood: summed over the questions.
        counts: (category, respondent, node), how often each category is expected to be seen at each node.
        mass: (node,) expected number of questions at each node.
    """

    log_likelihood: float
    counts: Floats
    mass: Floats


def codes_of(answers: Answers) -> Codes:
    """(question, respondent) 1 = yes, 0 = no, -1 = missing."""
    return np.where(answers.answered, answers.yes, MISSING).astype(np.int8)


def expect(codes: Codes, log_p: Floats, log_weight: Floats) -> Expected:
    """One E step.

    Args:
        codes: (question, respondent) categories from 0, MISSING where there is no answer.
        log_p: (category, respondent, node). log_weight: (node,).
    """
    counts, mass, likelihood = np.zeros_like(log_p), np.zeros_like(log_weight), 0.0
    for block in blocks(codes, len(log_weight)):
        shown = indicators(codes[block], len(log_p))
        log_evidence, posterior = _posterior(shown, log_p, log_weight)
        likelihood += float(log_evidence.sum())
        mass += posterior.sum(axis=0)
        for category, (who, cells) in enumerate(shown):
            counts[category, who] += cells.T @ posterior
    return Expected(likelihood, counts, mass)


def posterior_of(codes: Codes, log_p: Floats, log_weight: Floats) -> tuple[Floats, Floats]:
    """(question, node) posterior probabilities, and (question,) log likelihoods."""
    posterior = np.empty((len(codes), len(log_weight)))
    evidence = np.empty(len(codes))
    for block in blocks(codes, len(log_weight)):
        evidence[block], posterior[block] = _posterior(indicators(codes[block], len(log_p)), log_p, log_weight)
    return posterior, evidence


def mean_and_spread(codes: Codes, log_p: Floats, log_weight: Floats, nodes: Floats) -> tuple[Floats, Floats]:
    """(question,), (question,): mean (EAP) and standard deviation of the posterior."""
    mean, spread = np.empty(len(codes)), np.empty(len(codes))
    for block in blocks(codes, len(nodes)):
        _, posterior = _posterior(indicators(codes[block], len(log_p)), log_p, log_weight)
        mean[block] = posterior @ nodes
        spread[block] = np.sqrt(np.maximum(posterior @ nodes**2 - mean[block] ** 2, 0))
    return mean, spread


def indicators(codes: Codes, n_categories: int) -> list[tuple[Any, Floats]]:
    """For every category who uses it (positions, or a slice of all), and (question, these) 0/1."""
    shown: list[tuple[Any, Floats]] = []
    for category in range(n_categories):
        cells = codes == category
        who = cells.any(axis=0) if category > 1 else None
        everyone = who is None or who.all()
        shown.append((slice(None), cells.astype(float)) if everyone else (who, cells[:, who].astype(float)))
    return shown


def blocks(codes: Codes, n_nodes: int) -> list[slice]:
    """Slices of questions, so that a block of a large table stays near the processor."""
    width = max(n_nodes, codes.shape[1])
    size = len(codes) if len(codes) * width <= _CELLS_WHOLE else max(1, _CELLS_AT_ONCE // width)
    return [slice(first, first + size) for first in range(0, len(codes), max(1, size))]


def _posterior(shown: list[tuple[Any, Floats]], log_p: Floats, log_weight: Floats) -> tuple[Floats, Floats]:
    joint = shown[0][1] @ log_p[0] + log_weight
    for (who, cells), log_category in zip(shown[1:], log_p[1:], strict=True):
        joint += cells @ log_category[who]
    top = joint.max(axis=1, keepdims=True)
    np.exp(np.subtract(joint, top, out=joint), out=joint)
    total = joint.sum(axis=1, keepdims=True)
    joint /= total
    return (np.log(total) + top)[:, 0], joint
