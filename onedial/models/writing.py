"""Let a model write after its prompts, in batches of which each row ends on its own.

A checkpoint brings settings of its own for writing (sampling, a penalty on repetition). They are not used: temperature
0 takes the likeliest token each time, a temperature above 0 draws from the whole vocabulary. Its end tokens are.
"""

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import torch
from jaxtyping import Bool
from torch import Tensor
from transformers import (
    DynamicCache,
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
    StoppingCriteria,
    StoppingCriteriaList,
)

from onedial.asking.prompts import Prompt
from onedial.core.errors import InputError
from onedial.models.forward.batches import Progress, batches_by_length, map_batches, questions_per_batch
from onedial.models.forward.prefill import SharedPrefix
from onedial.models.tokens import pad_batch

if TYPE_CHECKING:
    from onedial.models.model import OpenModel, Steering

Stop = Callable[[str], bool]
OURS = {
    *("inputs", "input_ids", "inputs_embeds", "attention_mask", "past_key_values", "generation_config", "use_cache"),
    *("stopping_criteria", "logits_processor", "eos_token_id", "pad_token_id", "num_return_sequences", "streamer"),
    *("return_dict_in_generate", "prompt_lookup_num_tokens", "assistant_model"),
}
"""Arguments of Hugging Face's `generate` that are set here, or would change what it returns."""


@dataclass(frozen=True)
class ScoredToken:
    """A token and its natural log-probability, at temperature 1; beside it the likeliest in its place, best first."""

    token: int
    log_p: float
    likeliest: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True)
class Generated:
    """What a model wrote after one prompt.

    Attributes:
        text: without special tokens.
        n_tokens: tokens generated, the end token included.
        finished: False where it was cut off at the greatest number of tokens.
        tokens: each of them with its log-probability, where these were asked for.
    """

    text: str
    n_tokens: int
    finished: bool
    tokens: tuple[ScoredToken, ...] = ()


@dataclass(frozen=True)
class Decoding:
    """How texts are written, token by token.

    Attributes:
        temperature: 0 takes the likeliest token each time; above 0 draws from the whole vocabulary.
        seed: of the draws, which are the same whatever was drawn before.
        stop: given a row's text so far, after each token, says whether the row is done.
        n_top: for the tokens' log-probabilities: of so many likeliest beside the one written; None for none.
        is_unwanted: asked after each token, whether a row is no longer waited for: nothing more is written in it.
        hf: further arguments of Hugging Face's `generate`.
    """

    temperature: float = 0.0
    seed: int = 0
    stop: Stop | None = None
    n_top: int | None = None
    is_unwanted: Callable[[int], bool] | None = None
    hf: Mapping[str, Any] = field(default_factory=dict)


LIKELIEST = Decoding()


class Writer(Protocol):
    """What writes in place of transformers, such as `steering.engines.writer.Vllm`; see `OpenModel.writer`."""

    def generate(
        self,
        sequences: Sequence[Sequence[int]],
        max_new_tokens: int,
        how: Decoding,
        push: "Steering | None",
    ) -> list[Generated]:
        """As the function `generate`."""
        ...

    def told(self) -> dict[str, Any]:
        """What it is, for a manifest."""
        ...


FORGET_WITH_A_CACHE = {"moshi", "deepseek_v32", "glm_moe_dsa"}
"""Types that write other words with a cache than without, in transformers 5.23 (scripts/architectures.py): each token
is written by a forward over the whole text."""


@torch.inference_mode()
def generate(
    model: "OpenModel",
    sequences: Sequence[Sequence[int]],
    max_new_tokens: int,
    how: Decoding = LIKELIEST,
    *,
    prefix: SharedPrefix | None = None,
    push: "Steering | None" = None,
) -> list[Generated]:
    """Continue prompts as one batch, by the model's `writer` where it has one.

    Args:
        sequences: whole prompts as token ids.
        prefix: a common beginning of all prompts that was run already, unsteered.
        push: what the model is steered with while it writes.

    Raises:
        InputError: unsteered, its logits are not finite, as where 16 bits overflow; log-probabilities were asked of a
            `writer`; or an argument that Hugging Face's `generate` does not know, or that is set here.
    """
    hf = dict(how.hf)
    if model.writer is not None and how.n_top is not None:
        raise InputError("log-probabilities of what is written come from transformers alone; leave the engine out")
    if hf and model.writer is not None:
        raise InputError(f"{', '.join(sorted(hf))}: an engine takes no arguments of Hugging Face's generate")
    if ours := sorted(set(hf) & OURS):
        raise InputError(f"{', '.join(ours)} can't be given to generate: it is set already, or changes what comes back")
    if model.writer is not None:
        return model.writer.generate(sequences, max_new_tokens, how, push)
    steering = push.steer(model) if push else contextlib.nullcontext()
    lengths, switch = [len(sequence) for sequence in sequences], model.stack.rope_switch or math.inf
    # Above this length longrope turns every token by other angles, those that a prefix or a cache holds included.
    config = model.hf.config.get_text_config()
    # transformers' cache of a window of one token keeps them all.
    uncached = config.model_type in FORGET_WITH_A_CACHE or getattr(config, "sliding_window", None) == 1
    if uncached or max(lengths) + max_new_tokens > switch:
        prefix = None
    crossing = any(length <= switch < length + max_new_tokens for length in lengths)
    prefix = prefix or SharedPrefix((), None, {})
    rest = pad_batch([sequence[len(prefix) :] for sequence in sequences], model.stack.pad_id).to(model.device)
    shared = torch.tensor([prefix.token_ids] * len(sequences), dtype=torch.long, device=model.device)
    input_ids = torch.cat([shared, rest.input_ids], dim=1)
    mask = torch.cat([torch.ones_like(shared), rest.attention_mask.long()], dim=1)
    width, ends = input_ids.shape[1], end_tokens(model)
    watch = _StopRows(model.tokenizer, width, how) if how.stop or how.is_unwanted else None
    finite = _Finite(len(sequences), model.device)
    scores = None if how.n_top is None else _Scores(how.n_top)
    settings = _settings(model, max_new_tokens, how.temperature, ends, use_cache=not (crossing or uncached))
    beside = settings.update(**hf)  # what is no setting
    with steering, _seeded(model, how.seed), model.stack.turned_by_row(), _own_settings_aside(model):
        try:
            output = model.hf.generate(
                input_ids=input_ids,
                attention_mask=mask,
                generation_config=settings,
                logits_processor=LogitsProcessorList([finite, *([scores] if scores else [])]),
                stopping_criteria=StoppingCriteriaList([watch] if watch else []),  # it reads each token on the host
                **({model.stack.cache_argument: _expanded_cache(model, prefix, len(sequences))} if len(prefix) else {}),
                **beside,
            )
        except ValueError as error:
            if not hf:
                raise
            raise InputError(f"Hugging Face's generate does not take {', '.join(sorted(hf))}: {error}") from error
    if push is None:
        model.check_finite(finite.all_so_far)
    scored = scores.by_row(output) if scores else []
    written = []
    for row, ids in enumerate(output[:, width:].tolist()):
        stopped = watch.stopped_after.get(row) if watch else None
        ended = next((index + 1 for index, token in enumerate(ids) if token in ends), None)
        n_tokens = min(length for length in (stopped, ended, len(ids)) if length is not None)
        text = model.tokenizer.decode(ids[:n_tokens], skip_special_tokens=True)
        tokens = tuple(scored[row][:n_tokens]) if scored else ()
        written.append(Generated(text, n_tokens, stopped is not None or ended is not None, tokens))
    return written


def write_after(
    model: "OpenModel",
    prompts: Sequence[Prompt],
    max_new_tokens: int = 64,
    how: Decoding = LIKELIEST,
    *,
    push: "Steering | None" = None,
    progress: Progress | None = None,
) -> list[Generated]:
    """Let the model write after each prompt, batch by batch of like length; texts come in the order of the prompts.

    Args:
        how: each batch's draws start anew from its seed, so that a batch's texts depend on nothing before it.
        push: what the model is steered with while it writes.
        progress: is told how many texts were finished.

    Raises:
        InputError: no prompts, or a prompt that with its answer exceeds the model's context.
    """
    sequences = model.token_ids(prompts)
    check_room(model, sequences, max_new_tokens)

    def work(batch: list[int]) -> list[Generated]:
        chosen = [sequences[index] for index in batch]
        return generate(model, chosen, max_new_tokens, how, push=push)

    lengths = [len(ids) for ids in sequences]
    batches = writing_batches(model, lengths, max_new_tokens)
    return map_batches(batches, work, share=False, progress=progress)


def writing_batches(
    model: "OpenModel", lengths: Sequence[int], max_new_tokens: int, size: int | None = None
) -> list[list[int]]:
    """Places of prompts that are written to together: as many as memory holds, or all where a `writer` sees to that.

    Args:
        lengths: of the prompts. size: prompts in a batch, by default those.
    """
    if model.writer is not None:
        return [list(range(len(lengths)))]
    longest = max(lengths, default=0) + max_new_tokens
    size = size or questions_per_batch(model.stack, longest)
    return batches_by_length(lengths, size, model.writes_alone(longest))


@torch.inference_mode()
def pads_rightly(model: "OpenModel") -> bool:
    """Whether a model that writes after padded prompts says what it says after each alone.

    transformers forgets the padding of some recurrent layers (MiniMax's) once they write from their state.
    """
    drawn = torch.arange(3, 26).remainder(int(model.stack.config.vocab_size)).tolist()
    batch = pad_batch([drawn, drawn[:9]], model.stack.pad_id).to(model.device)
    with _own_settings_aside(model):
        output = model.hf.generate(
            input_ids=batch.input_ids,
            attention_mask=batch.attention_mask.long(),
            generation_config=_settings(model, 3, 0.0, [], use_cache=True),
            output_logits=True,
            return_dict_in_generate=True,
        )
    alone = model.hf(input_ids=output.sequences[1:, -len(drawn[:9]) - 3 : -1], use_cache=False).logits[:, -1].float()
    tolerance = 1e-3 if model.dtype == torch.float32 else 0.05
    return bool((output.logits[2][1:].float() - alone).norm() <= tolerance * alone.norm())


def check_room(model: "OpenModel", sequences: Sequence[Sequence[int]], max_new_tokens: int) -> None:
    """Raise InputError unless there are prompts, something is to be written, and the model's context holds both."""
    if not sequences:
        raise InputError("there are no prompts to continue; give at least one")
    if max_new_tokens < 1:
        raise InputError(f"{max_new_tokens} new tokens requested; ask for 1 or more")
    longest = max(len(ids) for ids in sequences)
    if model.max_tokens and longest + max_new_tokens > model.max_tokens:
        raise InputError(
            f"the longest prompt has {longest} tokens, and {max_new_tokens} new ones were asked for, but the model "
            f"reads {model.max_tokens} at most; shorten the prompt or ask for fewer tokens"
        )


@contextlib.contextmanager
def _seeded(model: "OpenModel", seed: int) -> Iterator[None]:
    devices = [model.device] if model.device.type == "cuda" else []
    with torch.random.fork_rng(devices):
        torch.manual_seed(seed)
        yield


def end_tokens(model: "OpenModel") -> list[int]:
    """Every token that the checkpoint or the tokenizer takes for an end; several models have two."""
    named = model.hf.generation_config.eos_token_id
    ends = [*(named if isinstance(named, (list, tuple)) else [named]), model.tokenizer.eos_token_id]
    return sorted({int(token) for token in ends if token is not None})


@contextlib.contextmanager
def _own_settings_aside(model: "OpenModel") -> Iterator[None]:
    """While the context lasts, the checkpoint has no settings for writing: what is left open is filled in from them."""
    defaults, model.hf.generation_config = model.hf.generation_config, GenerationConfig()
    try:
        yield
    finally:
        model.hf.generation_config = defaults


def _settings(
    model: "OpenModel", max_new_tokens: int, temperature: float, ends: list[int], use_cache: bool
) -> GenerationConfig:
    drawing: dict[str, Any] = {"do_sample": False}
    if temperature > 0:
        drawing = {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0}
    return GenerationConfig(
        max_new_tokens=max_new_tokens,
        use_cache=use_cache,
        eos_token_id=ends or None,
        pad_token_id=model.stack.pad_id,
        **drawing,
    )


class _Finite(LogitsProcessor):
    """Changes no logits, and remembers of each row whether all were finite (0) or not (nan)."""

    def __init__(self, n_rows: int, device: torch.device) -> None:
        self.all_so_far = torch.zeros(n_rows, 1, device=device)

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        self.all_so_far += 0 * scores.amax(dim=1, keepdim=True).to(self.all_so_far)
        return scores


class _Scores(LogitsProcessor):
    """Keeps the log-probabilities of what is written; changes nothing."""

    def __init__(self, n_top: int) -> None:
        self._n_top, self._last = n_top, torch.empty(0)
        self._steps: list[tuple[Tensor, Tensor, Tensor, Tensor]] = []

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        self._keep(input_ids)
        self._last = scores.float().log_softmax(dim=-1)
        return scores

    def _keep(self, input_ids: Tensor) -> None:
        if len(self._last):
            chosen, top = input_ids[:, -1:], self._last.topk(self._n_top, dim=-1)
            self._steps.append((chosen, self._last.gather(1, chosen), top.indices, top.values))

    def by_row(self, output: Tensor) -> list[list[ScoredToken]]:
        """The tokens of each row, those after its end included."""
        self._keep(output)
        parts = (torch.stack(part, dim=1).tolist() for part in zip(*self._steps, strict=True))
        return [_scored(*row) for row in zip(*parts, strict=True)]


def _scored(
    chosen: list[list[int]], log_p: list[list[float]], top: list[list[int]], top_log_p: list[list[float]]
) -> list[ScoredToken]:
    places = zip(chosen, log_p, top, top_log_p, strict=True)
    return [ScoredToken(ids[0], likelihood[0], tuple(zip(*beside, strict=True))) for ids, likelihood, *beside in places]


@torch.inference_mode()
def score(
    model: "OpenModel", sequences: Sequence[Sequence[int]], n_top: int, push: "Steering | None" = None
) -> list[tuple[ScoredToken, ...]]:
    """Compute the log-probability of each token of given texts after those before it; nan for the first.

    Args:
        n_top: of so many likeliest tokens in each place too. push: what the model is steered with.
    """
    scored = []
    for ids in sequences:  # one at a time: the logits of all places of several long texts may not fit into memory
        tokens = torch.tensor([list(ids)], device=model.device)
        with push.steer(model) if push else contextlib.nullcontext():
            log_p = model.hf(input_ids=tokens, use_cache=False).logits[0, :-1].float().log_softmax(dim=-1)
        following, top = tokens[0, 1:, None], log_p.topk(n_top, dim=-1)
        parts = (part.tolist() for part in (following, log_p.gather(1, following), top.indices, top.values))
        scored.append((ScoredToken(ids[0], math.nan), *_scored(*parts)))
    return scored


class _StopRows(StoppingCriteria):
    """Ends each row on its own when its text says so, and remembers after how many tokens."""

    def __init__(self, tokenizer: Any, prompt_width: int, how: Decoding) -> None:
        self._tokenizer = tokenizer
        self._width = prompt_width
        self._stop, self._is_unwanted = how.stop, how.is_unwanted
        self.stopped_after: dict[int, int] = {}

    def __call__(self, input_ids: Tensor, scores: Any, **kwargs: Any) -> Bool[Tensor, " row"]:
        n_rows, n_tokens = input_ids.shape[0], input_ids.shape[1] - self._width
        written = input_ids[:, self._width :].tolist() if self._stop else []  # waits for the device
        for row in set(range(n_rows)).difference(self.stopped_after):
            unwanted = self._is_unwanted is not None and self._is_unwanted(row)
            if unwanted or (
                self._stop is not None and self._stop(self._tokenizer.decode(written[row], skip_special_tokens=True))
            ):
                self.stopped_after[row] = n_tokens
        done = [row in self.stopped_after for row in range(n_rows)]
        return torch.tensor(done, dtype=torch.bool, device=input_ids.device)


def _expanded_cache(model: "OpenModel", prefix: SharedPrefix, rows: int) -> DynamicCache:
    cache = DynamicCache(config=model.stack.config)
    for layer, entry in enumerate(prefix.keys_and_values or []):
        assert entry is not None  # a prefix is run through every layer
        keys, values = (part.expand(rows, -1, -1, -1).contiguous() for part in entry)
        cache.update(keys, values, layer)
    return cache
