"""What a run will cost before it is begun: what its stages ask of the model, times what that takes on this machine.

A stage is a list of loads: so many prompts, each with so many steered rows at a layer.

    last      one token for each question and row through the layers above the push; the prompt itself is read once
    all       every token of the prompt for each row through those layers
    crossings where the answer turns along a push at the last position, by a search of a few rounds
              (`steering.critical`); or along one that acts `everywhere`
    text      neutral passages, of which the second half is read, for each row
    written   so many tokens one after the other, after prompts that are read for each row

Weights need not be loaded to know what that takes: the first layers of the model's shape, with random numbers in them,
work as fast. One batch of each kind of work is timed with the push at the sketch's lowest layer and at its highest; the
difference is what a layer takes, the rest (readout, tables) is independent of the depth. Loading the weights, matching
and the report are left out.
"""

import copy
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from transformers import AutoModelForCausalLM

from onedial.asking.prompts import Prompt, PromptTemplate
from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.models.checkpoints.folders import auto_class
from onedial.models.checkpoints.weights import load_config, resolve_weights
from onedial.models.decoder import Decoder
from onedial.models.forward.activations import read_streams
from onedial.models.forward.batches import QUESTIONS_PER_BATCH, bytes_per_question
from onedial.models.forward.prefill_cache import CACHE_BYTES
from onedial.models.model import DTYPES, OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.models.tokens import encode, render
from onedial.models.writing import write_after
from steering.critical import crossings_along
from steering.effects.side_effects import effects_on_text
from steering.interventions import Intervention, SteeringVector
from steering.reading import ROWS_PER_QUESTION, answers_along

KINDS = ("last", "all", "crossings", "crossings everywhere", "text", "written")
SKETCH_LAYERS = 3
SKETCH_WEIGHTS = 10**9
"""More of them than this take longer to draw than a run's time is worth knowing beforehand."""
FEW_ROWS, MANY_ROWS = 8, 40
"""Rows of a question at which steering at the last position is timed."""
FEW_TOKENS, MANY_TOKENS = 2, 6
"""That are written in the same batch."""


@dataclass(frozen=True)
class Load:
    """What a stage asks of the model.

    Attributes:
        lengths: tokens of each prompt; each is read once, unsteered, where `kind` is not "written".
        rows: layer and number of rows of each push, for every prompt. kind: one of `KINDS`.
        n_cached: how many of the prompts an earlier stage has read and left in the cache.
        n_tokens: that are written at most after each prompt and row.
    """

    lengths: Sequence[int]
    rows: Sequence[tuple[int, int]] = ()
    kind: str = "last"
    n_cached: int = 0
    n_tokens: int = 0

    @property
    def n_read(self) -> int:
        """Prompts that are read whole: once, or before each text that is written."""
        if self.kind == "written":
            return len(self.lengths) * sum(count for _, count in self.rows)
        return len(self.lengths) - self.n_cached

    @property
    def n_rows(self) -> int:
        """Steered rows of all prompts; each written token is one."""
        return max(self.n_tokens, 1) * len(self.lengths) * sum(count for _, count in self.rows)


@dataclass(frozen=True)
class Size:
    """What memory rests on, read off a config."""

    decoder: Decoder
    n_layers: int
    n_parameters: int

    @classmethod
    def of(cls, config: Any) -> "Size":
        """Build the model of a Hugging Face config without weights.

        Raises:
            InputError: the config is of no causal language model with decoder layers.
        """
        try:
            with torch.device("meta"):
                hf = auto_class(config.model_type).from_config(config)
            decoder = Decoder(hf, 0, type(config).__name__)
        except (ValueError, AttributeError) as error:
            raise InputError(f"{type(config).__name__} is no config of a causal language model: {error}") from error
        return cls(decoder, decoder.n_layers, sum(weight.numel() for weight in hf.parameters()))

    def n_in_cache(self, lengths: Sequence[int], layer: int, dtype: torch.dtype) -> int:
        """How many of these prompts, read with a push at a layer, stay in the cache."""
        config = self.decoder.config
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        width = getattr(config, "head_dim", None) or self.decoder.d_model // config.num_attention_heads
        whole = 2 * heads * width * (self.n_layers - 1 - layer) * sum(lengths) * dtype.itemsize
        return int(min(1.0, CACHE_BYTES / whole) * len(lengths)) if whole else 0


@dataclass(frozen=True)
class Timing:
    """Seconds of one batch of each kind of work: independent of the depth, and for each layer that is passed.

    Attributes:
        n_questions, n_tokens: of the batch. read: an unsteered reading. rows, more_rows: steering at the last position
            `FEW_ROWS` of each question, and each further row. work: the other kinds, of one row (or written token).
    """

    n_questions: int
    n_tokens: int
    read: tuple[float, float]
    rows: tuple[float, float]
    more_rows: tuple[float, float]
    work: Mapping[str, tuple[float, float]]

    def of(self, load: Load, n_layers: int) -> float:
        """Seconds of a load."""
        batches = len(load.lengths) / self.n_questions
        read = 0.0
        if load.kind != "written":
            read = _at(self.read, n_layers) * sum(load.lengths[load.n_cached :]) / self.n_tokens
        steered = 0.0
        for layer, count in load.rows:
            above = n_layers - 1 - layer
            if load.kind == "last":
                few, more = _at(self.rows, above), _at(self.more_rows, above)
                steered += few * -(-count // ROWS_PER_QUESTION) + more * (count - FEW_ROWS)
            elif load.kind.startswith("crossings"):
                steered += _at(self.work[load.kind], above)
            elif load.kind == "written":
                steered += count * (_at(self.read, n_layers) + load.n_tokens * _at(self.work["written"], n_layers))
            else:
                steered += count * _at(self.work[load.kind], above)
        return read + batches * max(steered, 0.0)


def _at(line: tuple[float, float], n_layers: int) -> float:
    return max(line[0], 0.0) + max(line[1], 0.0) * n_layers


@dataclass(frozen=True)
class Forecast:
    """The cost of a run.

    Attributes:
        stages: name -> its loads, in order. size: of the model. setting: dtype and device, for people.
        timing: of this machine; None where nothing could be timed.
    """

    stages: Mapping[str, Sequence[Load]]
    size: Size
    dtype: torch.dtype
    device: str
    timing: Timing | None

    def seconds(self, name: str) -> float | None:
        """Of one stage, in one process; None where nothing was timed."""
        if self.timing is None:
            return None
        return sum(self.timing.of(load, self.size.n_layers) for load in self.stages[name])

    @property
    def weight_bytes(self) -> int:
        """Of the weights."""
        return self.size.n_parameters * self.dtype.itemsize

    @property
    def peak_bytes(self) -> int:
        """Weights, the cache of what was read, and the largest batch, from above; what Python and its libraries take
        for themselves comes on top."""
        per_batch, working = QUESTIONS_PER_BATCH.get(self.device, 16), 0
        for load in (load for loads in self.stages.values() for load in loads if load.lengths):
            rows = max([1, *(min(count, ROWS_PER_QUESTION) for _, count in load.rows)])
            one = bytes_per_question(self.size.decoder, max(load.lengths) + load.n_tokens, rows)
            working = max(working, min(per_batch, len(load.lengths)) * one)
        return self.weight_bytes + working

    def __str__(self) -> str:
        lines = [
            f"{str(self.dtype).removeprefix('torch.')} on {self.device}",
            f"{'stage':<12}{'prompts':>9}{'steered rows':>14}{'time':>12}",
        ]
        total = [0, 0]
        for name, loads in self.stages.items():
            read, rows = sum(load.n_read for load in loads), sum(load.n_rows for load in loads)
            total = [total[0] + read, total[1] + rows]
            lines.append(f"{name:<12}{read:>9,}{rows:>14,}{_clock(self.seconds(name)):>12}")
        whole = None if self.timing is None else sum(self.seconds(name) or 0.0 for name in self.stages)
        lines.append(f"{'total':<12}{total[0]:>9,}{total[1]:>14,}{_clock(whole):>12}")
        lines.append(
            f"memory: {self.weight_bytes / 2**30:.1f} GiB of weights, {self.peak_bytes / 2**30:.1f} GiB at the peak; "
            "beside it the process takes about a GiB for Python and its libraries"
        )
        return "\n".join(lines if self.timing else [*lines, "no time can be told, the rest follows from the config"])


def forecast_of(
    name_or_path: str,
    asked: Mapping[str, Sequence[Question]],
    template: PromptTemplate,
    stages: Callable[[Mapping[str, list[int]], Size, torch.dtype], Mapping[str, Sequence[Load]]],
    revision: str | None = None,
    dtype: str = "auto",
) -> Forecast:
    """Forecast for a model by its name, of which config and tokenizer are read, and no weights.

    Args:
        name_or_path, revision, dtype: as in `load_model`.
        asked: split -> its questions. template: how they are put.
        stages: from the tokens of each split's prompts, the model's size and the dtype to the loads of each stage.

    Raises:
        InputError: as `load_config` and `stages`.

    >>> import tempfile
    >>> from onedial import load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> model, folder = load_model("smollm2-135m-instruct"), tempfile.TemporaryDirectory()
    >>> for each in (model.hf, model.tokenizer):
    ...     _ = each.save_pretrained(folder.name)
    >>> asked, stage = {"test": load_questions("embedded", n=4)}, lambda lengths, *_: {"sweep": [Load(lengths["test"])]}
    >>> list(forecast_of(folder.name, asked, METACOGNITIVE, stage).stages)
    ['sweep']
    """
    config, tokenizer = load_config(resolve_weights(name_or_path, revision))
    device = "cuda" if torch.cuda.is_available() else "cpu"
    loaded = DTYPES.get(dtype) or (config.dtype if device == "cuda" else None) or torch.float32
    texts = {split: [template.fill(question.text) for question in own] for split, own in asked.items()}
    lengths = {split: [len(encode(tokenizer, render(tokenizer, own))) for own in mine] for split, mine in texts.items()}
    size = Size.of(config)
    loads = stages(lengths, size, loaded)
    sketch = sketch_of(config, tokenizer, loaded, device, size)
    kinds = {load.kind for own in loads.values() for load in own}
    prompts = [own for mine in texts.values() for own in mine]
    return Forecast(loads, size, loaded, device, None if sketch is None else time_work(sketch, prompts, kinds))


def sketch_of(config: Any, tokenizer: Any, dtype: torch.dtype, device: str, size: Size) -> OpenModel | None:
    """The first layers of a model by its config, with random weights: as fast as the model, and wrong.

    Returns:
        None where such a sketch can't be made, or has over `SKETCH_WEIGHTS` weights; which it is, is noticed.
    """
    small = copy.deepcopy(config.get_text_config())
    n_layers, kept = size.n_layers, min(SKETCH_LAYERS, size.n_layers)
    for name, value in vars(small).items():  # the kinds of the layers, layer by layer
        if isinstance(value, list) and len(value) == n_layers:
            setattr(small, name, value[:kept])
    small.num_hidden_layers = kept
    try:
        if Size.of(small).n_parameters > SKETCH_WEIGHTS:
            notice("the model's layers are too large to be tried with random weights, so no time is told")
            return None
        hf = AutoModelForCausalLM.from_config(small, dtype=dtype).to(device)
        return OpenModel(hf, tokenizer, name="a sketch")
    except (InputError, ValueError, TypeError, AttributeError, IndexError, RuntimeError) as error:
        notice(f"layers of this model can't be tried with random weights, so no time is told: {error}")
        return None


def time_work(model: OpenModel, prompts: Sequence[Prompt], kinds: Sequence[str] | set[str] = KINDS) -> Timing:
    """Time each kind of work on one batch of prompts of middling length: some seconds on a CPU with a small model."""
    n_batch = QUESTIONS_PER_BATCH.get(model.device.type, 16)
    by_length = sorted(prompts, key=lambda prompt: len(prompt.user))
    start = max(0, (len(by_length) - n_batch) // 2)
    chosen = by_length[start : start + n_batch]
    batch = PromptSet.of_prompts(model, chosen, [str(place) for place in range(len(chosen))])
    top = model.n_layers - 1

    def along(work: Callable[[Intervention], object], at: str = "last") -> tuple[float, float]:
        """Independent of the depth, and for each layer above the push."""
        seconds = []
        for layer in (top, 0):
            direction = torch.zeros(model.d_model)
            direction[0] = 1.0
            push = Intervention.of(SteeringVector(direction, layer, 1.0, 1.0, model.identity), positions=at)
            seconds.append(_seconds(model, partial(work, push)))
        return seconds[0], (seconds[1] - seconds[0]) / max(top, 1)

    def swept(n_rows: int, at: str = "last") -> tuple[float, float]:
        grid = [place / 1000 for place in range(n_rows)]
        return along(lambda push: answers_along(model, [push], batch, grid), at)

    def less(more: tuple[float, float], few: tuple[float, float], n: int) -> tuple[float, float]:
        return (more[0] - few[0]) / n, (more[1] - few[1]) / n

    reading = _seconds(model, lambda: read_streams(model, batch.sequences, [top]))
    read, few = (0.0, reading / model.n_layers), swept(FEW_ROWS)
    more = less(swept(MANY_ROWS), few, MANY_ROWS - FEW_ROWS)
    work: dict[str, tuple[float, float]] = {}
    if "all" in kinds:
        work["all"] = less(swept(3, "all"), swept(1, "all"), 2)
    for kind, at in (("crossings", "last"), ("crossings everywhere", "all")):
        if kind in kinds:
            found = along(partial(_crossed, model, batch), at)
            work[kind] = found[0] - reading, found[1]
    if "text" in kinds:
        passages = [prompt.user for prompt in chosen[:8]]
        once, twice = (along(partial(effects_on_text, model, [0.1] * n, passages=passages), "all") for n in (1, 2))
        times = n_batch / len(passages)
        work["text"] = (twice[0] - once[0]) * times, (twice[1] - once[1]) * times
    if "written" in kinds:
        short, long = (
            _seconds(model, partial(write_after, model, chosen, max_new_tokens=n)) for n in (FEW_TOKENS, MANY_TOKENS)
        )
        work["written"] = 0.0, (long - short) / (MANY_TOKENS - FEW_TOKENS) / model.n_layers
    few = few[0] - reading, few[1]  # the prompts are read once for all rows
    return Timing(len(chosen), sum(map(len, batch.sequences)), read, few, more, work)


def _crossed(model: OpenModel, prompts: PromptSet, push: Intervention) -> None:
    crossings_along(model, prompts, {push.intervention_id: (-0.5, 0.5)}, [push], sink=lambda table: None)


def _seconds(model: OpenModel, work: Callable[[], object]) -> float:
    """Of the quicker of two further runs: the first pays for what is set up once, and others use the machine too."""
    found = []
    for _ in range(3):
        if model.device.type == "cuda":
            torch.cuda.synchronize(model.device)
        started = time.perf_counter()
        work()
        if model.device.type == "cuda":
            torch.cuda.synchronize(model.device)
        found.append(time.perf_counter() - started)
    return min(found[1:])


def _clock(seconds: float | None) -> str:
    if seconds is None or not math.isfinite(seconds):
        return "unknown"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
