"""Read yes or no from the last residual stream.

    margin = logsumexp over the yes tokens' logits - logsumexp over the no tokens'    (natural log; says yes when > 0)
    mass   = probability of all yes and no tokens together                            (below 0.1: unread)

Both are computed in float32 from the final residual stream, whatever the model's dtype: bfloat16 logits near 20 come
in steps of 0.125, which is more than many margins. Logits in 16 bits tie, and a rate would depend on what a tie says; a
margin of exactly 0 says no, and read in this way there is none.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from onedial.asking.instruments import YES_NO_TOKENS, TokenReader
from onedial.asking.prompt_checks import first_tokens
from onedial.core.errors import InputError
from onedial.models.processes import agreed
from onedial.models.tokens import encode

VOCABULARY_CHUNK = 4096
"""So many rows of the unembedding at a time: widened to float32, and few enough for their logits to stay in a cache."""
LOGITS_AT_ONCE = 16_000_000
"""So many float32 numbers of a distribution over the vocabulary at a time: 64 MB, and as much again for its
logarithm."""


@dataclass(frozen=True)
class AnswerTokens:
    """The token ids that count as each answer at the answer position.

    Attributes:
        groups: one entry per answer, in the order of the instrument's options; for yes/no: yes, no.
    """

    groups: tuple[tuple[int, ...], ...]

    @property
    def yes(self) -> tuple[int, ...]:
        """The tokens of the first answer."""
        return self.groups[0]

    @property
    def no(self) -> tuple[int, ...]:
        """The tokens of the second."""
        return self.groups[1]

    @property
    def every(self) -> list[int]:
        """All of them, answer by answer."""
        return [token for group in self.groups for token in group]


def find_answer_tokens(tokenizer: Any, rendered_prompt: str, reader: TokenReader = YES_NO_TOKENS) -> AnswerTokens:
    """The tokens of each answer that can follow a prompt; see `onedial.asking.prompt_checks` for which ones count.

    Raises:
        InputError: a set is empty, or two sets meet.
    """
    by_option: dict[str, tuple[int, ...]] = {}
    end = repr(rendered_prompt[-20:])
    for option, spellings in reader.spellings.items():
        tokens = first_tokens(rendered_prompt, spellings, partial(encode, tokenizer), tokenizer.decode).counted
        if not tokens:
            raise InputError(
                f"no spelling of {option} ({', '.join(map(repr, spellings[:3]))}) is one token after the prompt's end "
                f"{end} under this tokenizer; end the prompt with a plain word or colon, for example the assistant "
                "prefix 'Answer:', or use a model whose vocabulary has the word"
            )
        for other, taken in by_option.items():
            if shared := sorted(set(taken) & set(tokens)):
                raise InputError(
                    f"{other} and {option} begin with the same token {shared} after the prompt's end {end}; "
                    "choose another assistant prefix"
                )
        by_option[option] = tokens
    return AnswerTokens(tuple(by_option.values()))


class Readout:
    """Final norm and unembedding in float32, for the needed rows or for the whole vocabulary in chunks.

    Args:
        decoder_norm: the model's final norm.
        unembedding: the output embedding, vocabulary x d_model, used as it is (never copied as a whole, unless it is
            offloaded: then it is held on the CPU, and so are the logits).
        softcap: Gemma 2's cap c, logits = c tanh(logits / c); None for none.
        scale: what the logits are multiplied by, before any cap (Command R, Granite).
    """

    def __init__(
        self, decoder_norm: nn.Module, unembedding: nn.Linear, softcap: float | None, scale: float = 1.0
    ) -> None:
        self._source_norm = decoder_norm
        self._norm = copy.deepcopy(_held(decoder_norm)).float()
        for name in ("_forward_hooks", "_forward_pre_hooks"):
            getattr(self._norm, name).clear()
        self._unembedding = _held(unembedding)
        self._softcap = softcap
        self._scale = scale
        self._indices: dict[tuple[tuple[int, ...], torch.device], Tensor] = {}

    @property
    def _norm_device(self) -> torch.device:
        """Where the norm computes; one without weights, as OLMo's, computes where the unembedding is."""
        return next(self._norm.parameters(), self._unembedding.weight).device

    def logits(
        self, final: Float[Tensor, "*row d_model"], tokens: Sequence[int] | slice
    ) -> Float[Tensor, "*row token"]:
        """Float32 logits of some tokens from the last layer's residual stream."""
        normed = self._normed(final)
        if not isinstance(tokens, slice) or self._unembedding.weight.dtype == torch.float32:
            return self._project(normed, tokens)
        wanted = range(self.vocabulary)[tokens]
        chunks = range(wanted.start, wanted.stop, VOCABULARY_CHUNK)
        parts = [self._project(normed, slice(at, min(at + VOCABULARY_CHUNK, wanted.stop))) for at in chunks]
        return torch.cat(parts, dim=-1)

    def log_probs(
        self, final: Float[Tensor, "row d_model"]
    ) -> Iterator[tuple[slice, Float[Tensor, "some_rows token"]]]:
        """The distribution over the whole vocabulary at each row, some rows (`LOGITS_AT_ONCE`) after the other."""
        at_once = max(1, LOGITS_AT_ONCE // self.vocabulary)
        for first in range(0, len(final), at_once):
            rows = slice(first, first + at_once)
            yield rows, self.logits(final[rows], slice(None)).log_softmax(dim=-1)

    @property
    def vocabulary(self) -> int:
        """Number of tokens that have a logit."""
        return self._unembedding.weight.shape[0]

    def _normed(self, final: Float[Tensor, "*row d_model"]) -> Float[Tensor, "*row d_model"]:
        return self._norm(final.to(self._norm_device).float()).to(self._unembedding.weight.device)

    def answer_direction(self, tokens: AnswerTokens) -> Float[Tensor, " d_model"]:
        """Yes minus No in the unembedding, through the scale of the final norm; float32 on the CPU, of any length.

        A step along it at the last layer raises the yes tokens' logits against the no tokens', on average.
        """
        yes, no = (self._unembedding.weight[list(side)].float().mean(dim=0).cpu() for side in (tokens.yes, tokens.no))
        signs = torch.ones(len(yes))
        signs[::2] = -1.0  # mean 0 and root mean square 1, so that any norm gives back its own scale
        device = self._norm_device
        with torch.no_grad():
            scale = (self._norm(signs.to(device)) - self._norm(-signs.to(device))).cpu() / 2 * signs
        return scale * (yes - no)

    def margin(self, final: Float[Tensor, "*row d_model"], tokens: AnswerTokens) -> Float[Tensor, "*row"]:
        """Margin alone, from the few rows of the unembedding that it needs."""
        return agreed(_margin(_by_group(self.logits(final, tokens.every), tokens)))

    def margin_and_mass(
        self, final: Float[Tensor, "*row d_model"], tokens: AnswerTokens
    ) -> tuple[Float[Tensor, "*row"], Float[Tensor, "*row"]]:
        """Margin, and the share of the whole vocabulary's probability that lies on yes and no."""
        groups, mass = self.groups_and_mass(final, tokens)
        return _margin(groups), mass

    def groups_and_mass(
        self, final: Float[Tensor, "*row d_model"], tokens: AnswerTokens
    ) -> tuple[Float[Tensor, "*row answer"], Float[Tensor, "*row"]]:
        """Logsumexp over the tokens of each answer, and the probability of all of them together."""
        normed = self._normed(final)
        answers = self._project(normed, tokens.every)
        total = torch.full(normed.shape[:-1], -torch.inf, device=normed.device)
        for start in range(0, self.vocabulary, VOCABULARY_CHUNK):
            chunk = self._project(normed, slice(start, start + VOCABULARY_CHUNK))
            total = torch.logaddexp(total, chunk.logsumexp(dim=-1))
        mass = (answers.logsumexp(dim=-1) - total).exp()
        return agreed(_by_group(answers, tokens)), agreed(mass)

    def _rows(self, tokens: tuple[int, ...]) -> Int[Tensor, " token"]:
        """The tokens as an index that is copied to the device once."""
        device = self._unembedding.weight.device
        if (tokens, device) not in self._indices:
            self._indices[tokens, device] = torch.tensor(tokens, device=device)
        return self._indices[tokens, device]

    def _project(self, normed: Tensor, tokens: Sequence[int] | slice) -> Tensor:
        index = tokens if isinstance(tokens, slice) else self._rows(tuple(tokens))
        logits = normed @ self._unembedding.weight[index].float().T
        if self._unembedding.bias is not None:
            logits = logits + self._unembedding.bias[index].float()
        if self._scale != 1.0:
            logits = logits * self._scale
        if self._softcap is not None:
            logits = self._softcap * torch.tanh(logits / self._softcap)
        return logits


def _held(module: Any) -> Any:
    """A module, or where its weights are offloaded a copy of it that holds them on the CPU."""
    if not any(parameter.device.type == "meta" for parameter in module.parameters()):
        return module
    from accelerate.hooks import remove_hook_from_module
    from accelerate.utils import align_module_device

    held = remove_hook_from_module(copy.deepcopy(module), recurse=True)
    with align_module_device(module, torch.device("cpu")):
        for name, parameter in module.named_parameters():
            setattr(held, name, nn.Parameter(parameter.detach(), requires_grad=False))
    return held


def _by_group(logits: Float[Tensor, "*row token"], tokens: AnswerTokens) -> Float[Tensor, "*row answer"]:
    parts = logits.split([len(group) for group in tokens.groups], dim=-1)
    return torch.stack([part.logsumexp(dim=-1) for part in parts], dim=-1)


def _margin(groups: Float[Tensor, "*row answer"]) -> Float[Tensor, "*row"]:
    return groups[..., 0] - groups[..., 1]
