"""From the last residual stream to yes or no.

    margin = logsumexp over the yes tokens' logits - logsumexp over the no tokens'    (natural log; says yes when > 0)
    mass   = probability of all yes and no tokens together                            (below 0.1: unread)

Both are computed in float32 from the final residual stream, whatever the model's dtype: bfloat16 logits near 20 come
in steps of 0.125, which is more than many margins.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from common import InputError
from elicitation.answer_tokens import first_tokens
from elicitation.yes_no import NO_VARIANTS, YES_VARIANTS
from open_models.tokens import encode

VOCABULARY_CHUNK = 16_384


@dataclass(frozen=True)
class AnswerTokens:
    """The token ids that count as yes and as no at the answer position."""

    yes: tuple[int, ...]
    no: tuple[int, ...]


def find_answer_tokens(tokenizer: Any, rendered_prompt: str) -> AnswerTokens:
    """The yes and no tokens that can follow a prompt; see `elicitation.answer_tokens` for which ones count.

    Raises:
        InputError: a set is empty, or the two sets meet.
    """

    def counted(spellings: Sequence[str]) -> tuple[int, ...]:
        return first_tokens(rendered_prompt, spellings, partial(encode, tokenizer), tokenizer.decode).counted

    tokens = AnswerTokens(counted(YES_VARIANTS), counted(NO_VARIANTS))
    if not tokens.yes or not tokens.no:
        raise InputError(
            f"no {'yes' if not tokens.yes else 'no'} token can follow the prompt's end {rendered_prompt[-20:]!r} under "
            "this tokenizer; end the prompt with a plain word or colon, for example the assistant prefix 'Answer:'"
        )
    if set(tokens.yes) & set(tokens.no):
        shared = sorted(set(tokens.yes) & set(tokens.no))
        raise InputError(
            f"yes and no begin with the same token {shared} after the prompt's end {rendered_prompt[-20:]!r}; "
            "choose another assistant prefix"
        )
    return tokens


class Readout:
    """Final norm and unembedding in float32, for the needed rows or for the whole vocabulary in chunks.

    Args:
        decoder_norm: the model's final norm.
        unembedding: the output embedding, vocabulary x d_model, used as it is (never copied as a whole).
        softcap: Gemma 2's cap c, logits = c tanh(logits / c); None for none.
    """

    def __init__(self, decoder_norm: nn.Module, unembedding: nn.Linear, softcap: float | None) -> None:
        self._source_norm = decoder_norm
        self._norm = copy.deepcopy(decoder_norm).float()
        for name in ("_forward_hooks", "_forward_pre_hooks"):
            getattr(self._norm, name).clear()
        self._unembedding = unembedding
        self._softcap = softcap

    def logits(
        self, final: Float[Tensor, "*row d_model"], tokens: Sequence[int] | slice
    ) -> Float[Tensor, "*row token"]:
        """Float32 logits of some tokens from the last layer's residual stream."""
        weight = self._unembedding.weight
        normed = self._norm(final.to(next(self._norm.parameters()).device).float()).to(weight.device)
        return self._project(normed, tokens)

    def margin(self, final: Float[Tensor, "*row d_model"], tokens: AnswerTokens) -> Float[Tensor, "*row"]:
        """Margin alone, from the few rows of the unembedding that it needs."""
        logits = self.logits(final, [*tokens.yes, *tokens.no])
        return _margin(logits, len(tokens.yes))

    def margin_and_mass(
        self, final: Float[Tensor, "*row d_model"], tokens: AnswerTokens
    ) -> tuple[Float[Tensor, "*row"], Float[Tensor, "*row"]]:
        """Margin, and the share of the whole vocabulary's probability that lies on yes and no."""
        weight = self._unembedding.weight
        normed = self._norm(final.to(next(self._norm.parameters()).device).float()).to(weight.device)
        answers = self._project(normed, [*tokens.yes, *tokens.no])
        total = torch.full(normed.shape[:-1], -torch.inf, device=normed.device)
        for start in range(0, weight.shape[0], VOCABULARY_CHUNK):
            chunk = self._project(normed, slice(start, start + VOCABULARY_CHUNK))
            total = torch.logaddexp(total, chunk.logsumexp(dim=-1))
        mass = (answers.logsumexp(dim=-1) - total).exp()
        return _margin(answers, len(tokens.yes)), mass

    def _project(self, normed: Tensor, tokens: Sequence[int] | slice) -> Tensor:
        index = tokens if isinstance(tokens, slice) else list(tokens)
        logits = normed @ self._unembedding.weight[index].float().T
        if self._unembedding.bias is not None:
            logits = logits + self._unembedding.bias[index].float()
        if self._softcap is not None:
            logits = self._softcap * torch.tanh(logits / self._softcap)
        return logits


def _margin(logits: Tensor, n_yes: int) -> Tensor:
    return logits[..., :n_yes].logsumexp(dim=-1) - logits[..., n_yes:].logsumexp(dim=-1)
