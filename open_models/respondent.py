"""A model on this machine as a respondent: it says yes or no by its logits, and writes answers greedily.

Yes or no is read at the answer position, without generating:

    margin = logsumexp over the yes tokens' logits - logsumexp over the no tokens'    (positive = yes)
    mass   = probability of all yes and no tokens together                            (below MASS_FLOOR: unread)

What all prompts of a call begin with (template, framing, request) is run once.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from transformers import DynamicCache, GenerationConfig, StoppingCriteria, StoppingCriteriaList

from common import sha256_of_text
from elicitation.prompts import Prompt
from elicitation.respondents import Response
from elicitation.yes_no import MASS_FLOOR
from open_models.model import OpenModel
from open_models.prefill import SharedPrefix
from open_models.readout import AnswerTokens, find_answer_tokens
from open_models.tokens import pad_batch

PROMPTS_PER_BATCH = {"cpu": 16, "cuda": 64}
ENDING = 24
"""Which tokens can spell yes and no after a prompt depends on no more than its last letters."""

Progress = Callable[[int], None]


class LocalRespondent:
    """Fulfils `elicitation.Respondent` with an `OpenModel`.

    Args:
        model: is left as it was found.
        batch_size: prompts per forward; by default 16 on a CPU, 64 on a GPU. It moves margins by rounding alone.
        progress: is told after each batch how many prompts were answered.
    """

    def __init__(self, model: OpenModel, batch_size: int | None = None, progress: Progress | None = None) -> None:
        self.model = model
        self.batch_size = batch_size or PROMPTS_PER_BATCH.get(model.device.type, 16)
        self.progress = progress

    def answer(self, prompts: Sequence[Prompt]) -> list[Response]:
        """Yes or no to each prompt, in the same order, from one forward each.

        Raises:
            InputError: no yes or no token can follow a prompt under this model's tokenizer.
        """
        texts = [self.model.render(prompt) for prompt in prompts]
        sequences = self.model.token_ids(prompts)
        tokens = self._answer_tokens(texts)
        prefix = self._prefix(sequences)
        responses: dict[int, Response] = {}
        for batch in self._batches(sequences, [text[-ENDING:] for text in texts]):
            final = self._final_residual([sequences[index] for index in batch], prefix)
            margins, masses = self.model.readout.margin_and_mass(final, tokens[texts[batch[0]][-ENDING:]])
            for index, margin, mass in zip(batch, margins.tolist(), masses.tolist(), strict=True):
                said = margin > 0 if mass >= MASS_FLOOR else None
                responses[index] = Response(said, margin, mass, "", sha256_of_text(texts[index]))
        return [responses[index] for index in range(len(prompts))]

    def write(self, prompts: Sequence[Prompt], max_new_tokens: int = 24) -> list[str]:
        """What the model writes after each prompt, greedily: its first line, or `max_new_tokens` tokens of it."""
        sequences = self.model.token_ids(prompts)
        prefix = self._prefix(sequences)
        texts: dict[int, str] = {}
        for batch in self._batches(sequences):
            written = self._generate([sequences[index] for index in batch], prefix, max_new_tokens)
            decoded = self.model.tokenizer.batch_decode(written, skip_special_tokens=True)
            texts |= {index: _first_line(text) for index, text in zip(batch, decoded, strict=True)}
        return [texts[index] for index in range(len(prompts))]

    def _answer_tokens(self, texts: Sequence[str]) -> dict[str, AnswerTokens]:
        examples = {text[-ENDING:]: text for text in texts}
        return {ending: find_answer_tokens(self.model.tokenizer, text) for ending, text in examples.items()}

    def _prefix(self, sequences: Sequence[Sequence[int]]) -> SharedPrefix:
        if not self.model.supports_partial_runs:
            return SharedPrefix((), None, {})
        return self.model.run_prefix(sequences, [])

    def _batches(self, sequences: Sequence[Sequence[int]], kinds: Sequence[str] | None = None) -> Iterator[list[int]]:
        """Indices of prompts of one kind and of like length, longest first: the first batch needs most memory."""
        kinds = kinds or [""] * len(sequences)
        order = sorted(range(len(sequences)), key=lambda index: (kinds[index], -len(sequences[index]), index))
        start = 0
        while start < len(order):
            batch = [index for index in order[start : start + self.batch_size] if kinds[index] == kinds[order[start]]]
            yield batch
            if self.progress:
                self.progress(len(batch))
            start += len(batch)

    def _final_residual(
        self, sequences: Sequence[Sequence[int]], prefix: SharedPrefix
    ) -> Float[Tensor, "question d_model"]:
        if self.model.supports_partial_runs:
            return self.model.prefill(sequences, [], prefix).final
        return self.model.final_residual(pad_batch(sequences, self.model.pad_id).to(self.model.device))

    @torch.inference_mode()
    def _generate(
        self, sequences: Sequence[Sequence[int]], prefix: SharedPrefix, max_new_tokens: int
    ) -> Int[Tensor, "question new"]:
        model = self.model
        own = pad_batch([sequence[len(prefix) :] for sequence in sequences], model.pad_id).to(model.device)
        shared = torch.tensor([prefix.token_ids] * len(sequences), dtype=torch.long, device=model.device)
        input_ids = torch.cat([shared, own.input_ids], dim=1)
        mask = torch.cat([torch.ones_like(shared), own.attention_mask.long()], dim=1)
        # The checkpoint's own generation settings (sampling, repetition penalty) are not wanted.
        settings = GenerationConfig(
            do_sample=False,
            max_new_tokens=max_new_tokens,
            eos_token_id=_ends_of_turn(model),
            pad_token_id=model.pad_id,
        )
        written = model.hf.generate(
            input_ids=input_ids,
            attention_mask=mask,
            past_key_values=_expanded_cache(model, prefix, len(sequences)),
            generation_config=settings,
            stopping_criteria=StoppingCriteriaList([_FirstLine(model.tokenizer, input_ids.shape[1])]),
        )
        return written[:, input_ids.shape[1] :]


class _FirstLine(StoppingCriteria):
    """A row is done once it holds a line break after some text."""

    def __init__(self, tokenizer: Any, start: int) -> None:
        self._tokenizer, self._start = tokenizer, start

    def __call__(self, input_ids: Tensor, scores: Any, **kwargs: Any) -> Bool[Tensor, " question"]:
        texts = self._tokenizer.batch_decode(input_ids[:, self._start :], skip_special_tokens=True)
        return torch.tensor(["\n" in text.lstrip() for text in texts], device=input_ids.device)


def _first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "")


def _ends_of_turn(model: OpenModel) -> list[int]:
    """Every token that the checkpoint or the tokenizer takes for an end; several models have two."""
    named: Any = model.hf.generation_config.eos_token_id
    ends = set(named if isinstance(named, list) else [named]) | {model.tokenizer.eos_token_id}
    return sorted(token for token in ends if token is not None)


def _expanded_cache(model: OpenModel, prefix: SharedPrefix, rows: int) -> DynamicCache:
    cache = DynamicCache(config=model.text_config)
    for layer, entry in enumerate(prefix.keys_and_values or []):
        assert entry is not None  # a prefix is run through every layer
        keys, values = (part.expand(rows, -1, -1, -1).contiguous() for part in entry)
        cache.update(keys, values, layer)
    return cache
