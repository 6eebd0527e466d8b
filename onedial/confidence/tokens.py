"""How sure was a model while it wrote? Confidence from the probabilities of the tokens of an answer.

Of each written token four numbers are kept, from the distribution p over a vocabulary of V in which it stood:

    log_p            log p of the token that was written
    entropy          -sum_j p_j log p_j                               nats; 0 = certain
    self_certainty   -log V - mean_j log p_j = KL(uniform || p)       0 = uniform, larger = surer
    margin           log p of the likeliest token - log p of the next one

They come from one forward over prompt and answer (`read_written`), and everything here is computed from
them. Every score's sign is in `SURER`: +1 where higher means surer.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.stats.arrays import Floats

BRANCHING = 1.0
"""Entropy, in nats, from which a token counts as a place where the text could have gone on otherwise."""

SURER = {
    "mean log-probability": 1,
    "perplexity": -1,
    "least log-probability": 1,
    "entropy": -1,
    "branching": -1,
    "self-certainty": 1,
    "margin": 1,
    "first margin": 1,
    "answer span": 1,
    "question lift": 1,
    "self-aligned": 1,
    "stays when shown": 1,
}
"""Score -> +1 where higher means surer, -1 where lower does."""


@dataclass(frozen=True)
class TokenStatistics:
    """Of each written token, in order; see the module's text.

    Attributes:
        log_p, entropy, self_certainty, margin: (token,), in nats.
    """

    log_p: Floats
    entropy: Floats
    self_certainty: Floats
    margin: Floats

    __repr__ = one_line

    def __len__(self) -> int:
        return len(self.log_p)


def token_scores(tokens: TokenStatistics, span: ArrayLike | None = None) -> dict[str, float]:
    """The confidences of one text.

    Formula: with n tokens, mean log-probability l = sum log p_i / n; perplexity exp(-l); least log-probability min log
    p_i; entropy, self-certainty (arXiv 2502.18581) and margin: means over tokens; first margin: that of the first
    token; branching: number of tokens with an entropy of `BRANCHING` or more (after Cautious Next Token Prediction);
    answer span: mean probability of the tokens of the answer alone (arXiv 2510.13501).

    Args:
        tokens: of the text. span: (token,) True for the tokens that are the answer itself; None or none of them takes
            all.

    Returns:
        name -> score; nan throughout for a text without tokens. Sign: `SURER`.

    >>> from onedial.confidence import TokenStatistics
    >>> scores = token_scores(TokenStatistics(np.log([0.5, 0.5]), np.ones(2), np.ones(2), np.ones(2)))
    >>> round(scores["perplexity"], 2)
    2.0
    """
    names = [name for name in SURER if name not in ("question lift", "self-aligned", "stays when shown")]
    if not len(tokens):
        return dict.fromkeys(names, float("nan"))
    chosen = np.ones(len(tokens), dtype=bool) if span is None else np.asarray(span, dtype=bool)
    if chosen.shape != tokens.log_p.shape:
        raise InputError(f"a span over {chosen.size} tokens for a text of {len(tokens)}; give one mark for each token")
    if not chosen.any():
        chosen = np.ones_like(chosen)
    mean = float(tokens.log_p.mean())
    return {
        "mean log-probability": mean,
        "perplexity": float(np.exp(-mean)),
        "least log-probability": float(tokens.log_p.min()),
        "entropy": float(tokens.entropy.mean()),
        "branching": float((tokens.entropy >= BRANCHING).sum()),
        "self-certainty": float(tokens.self_certainty.mean()),
        "margin": float(tokens.margin.mean()),
        "first margin": float(tokens.margin[0]),
        "answer span": float(np.exp(tokens.log_p[chosen]).mean()),
    }


def question_lift(with_question: TokenStatistics, without: TokenStatistics) -> dict[str, float]:
    """How much likelier the question makes the answer: a common phrase is likely without any question.

    Formula: question lift = mean_i [log p(a_i | q, a_<i) - log p(a_i | a_<i)]; self-aligned = clip((ppl(a) - ppl(a|q))
    / ppl(a), -1, 1) (arXiv 2509.05489).

    Args:
        with_question, without: the same text after both prompts, token by token.

    Returns:
        name -> score. Sign: higher = the question does more for the answer; 0 = nothing.

    Raises:
        InputError: the two differ in their number of tokens.

    >>> from onedial.confidence import TokenStatistics
    >>> asked, alone = (TokenStatistics(np.log([p, p]), np.ones(2), np.ones(2), np.ones(2)) for p in (0.8, 0.2))
    >>> {name: round(value, 2) for name, value in question_lift(asked, alone).items()}
    {'question lift': 1.39, 'self-aligned': 0.75}
    """
    _same_text(with_question, without)
    if not len(without):
        return {"question lift": float("nan"), "self-aligned": float("nan")}
    lift = float((with_question.log_p - without.log_p).mean())
    ratio = float(np.exp(-with_question.log_p.mean() + without.log_p.mean()))
    return {"question lift": lift, "self-aligned": float(np.clip(1 - ratio, -1, 1))}


def shown_lift(alone: TokenStatistics, shown: TokenStatistics) -> float:
    """How likely an answer is by itself, against how likely it gets once it has been shown: what is known needs no
    hint.

    Formula: log p(y) - log p(y | y shown), over the whole answer; after the confidence p(y) / p(y | y shown) of
        "Experts
    Don't Cheat" (arXiv 2402.08733), without its training on pairs of answers.

    Args:
        alone, shown: the same text without and with the answer in the prompt.

    Returns:
        a log ratio, at most about 0. Sign: higher = surer; 0 = being shown the answer changes nothing.

    Raises:
        InputError: the two differ in their number of tokens.

    >>> from onedial.confidence import TokenStatistics
    >>> alone, shown = (TokenStatistics(np.log([p, p]), np.ones(2), np.ones(2), np.ones(2)) for p in (0.5, 0.5))
    >>> shown_lift(alone, shown)
    0.0
    """
    _same_text(alone, shown)
    return float((alone.log_p - shown.log_p).sum()) if len(alone) else float("nan")


def _same_text(one: TokenStatistics, other: TokenStatistics) -> None:
    if len(one) != len(other):
        raise InputError(f"texts of {len(one)} and {len(other)} tokens; give the same text after both prompts")
