"""Forecast what a run will cost: what its stages ask of the model, times what that takes on this machine.

A stage is a list of loads: so many prompts, each with so many steered rows at a layer.

    last      one token for each question and row through the layers above the push; the prompt itself is read once
    all       every token of the prompt for each row through those layers
    written   so many tokens one after the other, after prompts that are read for each row

Weights need not be loaded to know what that takes: the first layers of the model's shape, with random numbers in them,
work as fast. Where these are too large, narrower ones stand for them: their time is multiplied by how many weights more
a layer of the model has, and that of the unembedding by how much wider the stream is. One batch of each kind of work is
timed with the push at the sketch's lowest layer and at its highest; the difference is what a layer takes, the rest
(readout, tables) is independent of the depth.

What rests on the answers is told as it usually is, and at most. The start of a run is what importing and reading the
questions took here, and what it takes to check the model's paths and to add up its weights; reading the weights from
the disk is left out. A stage without a model (verdict, report) states its seconds (`Load.seconds`).
"""

import copy
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any

import torch
from transformers import AutoModelForCausalLM

from onedial.asking.prompts import Prompt
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.models.checkpoints.folders import auto_class
from onedial.models.checkpoints.weights import load_config, resolve_weights
from onedial.models.decoder import Decoder
from onedial.models.forward.activations import read_streams
from onedial.models.forward.batches import QUESTIONS_PER_BATCH, bytes_per_question
from onedial.models.forward.path_proof import WIDENED, check_fast_paths
from onedial.models.forward.prefill_cache import CACHE_BYTES
from onedial.models.identity import fingerprint
from onedial.models.model import DTYPES, OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.models.tokens import encode, render
from onedial.models.writing import write_after
from steering.interventions import Intervention, SteeringVector
from steering.planning.magnitudes import NEAR, doubling
from steering.reading import ROWS_PER_QUESTION, answers_along

SKETCH_LAYERS = 3
SKETCH_WEIGHTS = 250 * 10**6
"""In a sketch's layers, at most: more take longer to time than a run's time is worth knowing beforehand."""
HALVED = (
    *("hidden_size", "intermediate_size", "moe_intermediate_size", "shared_expert_intermediate_size"),
    *("num_attention_heads", "num_key_value_heads"),
)
"""Numbers of a config that make a layer narrower, each half as large."""
IN_ITS_OWN_DTYPE = 0.2
"""Of the comparison of a model in 16 bits with plain hooks: the share that takes all of its layers."""
FEW_TOKENS, MANY_TOKENS = 2, 6
"""That are written in the same batch."""
NEAR_STEPS = sum(abs(magnitude) <= NEAR for magnitude in doubling())
FAR_STEPS = len(doubling()) - NEAR_STEPS
LONG_ENOUGH = 0.5
"""Seconds after which a kind of work is timed no more."""
ONE_SIDE = 0.5
"""Of a push that is followed far out: most subjects say no so often that the other side has turned at once."""
START = "start"
"""What comes before the first stage, as a stage of that name."""


@dataclass(frozen=True)
class Load:
    """What a stage asks of the model.

    Attributes:
        lengths: tokens of each prompt; each is read once, unsteered, where `kind` is not "written".
        rows: layer and number of rows of each push, for every prompt. kind: a key of the list above.
        n_cached: how many of the prompts an earlier stage has read and left in the cache.
        n_tokens: that are written at most after each prompt and row.
        usual: share of all this that is usually done, where that rests on the answers.
        seconds: of work without the model, as measured with the embedded one.
    """

    lengths: Sequence[int] = ()
    rows: Sequence[tuple[int, int]] = ()
    kind: str = "last"
    n_cached: int = 0
    n_tokens: int = 0
    usual: float = 1.0
    seconds: float = 0.0

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


Loads = list[Load]
"""Of a stage."""


class Candidates:
    """Where a run will push: of a class that has `options` with positions, and the candidate `layers`."""

    options: Any
    layers: Sequence[int]

    @property
    def middle(self) -> int:
        """The layer that stands for all."""
        return self.layers[len(self.layers) // 2]

    @property
    def kind(self) -> str:
        """Of a load that pushes."""
        return "last" if self.options.positions in ("answer", "last") else "all"


def doubled(
    lengths: Sequence[int], layers: Sequence[int], kind: str, n_followed: int, *, caches: bool = False
) -> list[Load]:
    """Prompts along pushes at these layers, as `magnitudes.rates_along` asks them.

    Args:
        n_followed: pushes that are usually followed beyond the near magnitudes, on one side.
        caches: whether the program keeps what was read (`OpenModel.caching_prefills`).
    """
    near = Load(lengths, [(layer, NEAR_STEPS) for layer in layers], kind)
    far, share = [(layer, FAR_STEPS) for layer in layers], ONE_SIDE * n_followed / max(len(layers), 1)
    again = [] if caches and kind == "last" else [Load(lengths)]
    return [near, *again, Load(lengths, far, kind, n_cached=len(lengths), usual=share)]


READINGS = {"response": 1, "answer": 3}
"""Of the extraction split, by contrast; the framings' take two poles beside the plain prompt, which are three too."""


def making(extraction: Sequence[int], contrast: str, methods: Sequence[str]) -> Load:
    """Load of the extraction split, read for a contrast and, forwards and backwards, for gradients."""
    return Load(list(extraction) * (READINGS.get(contrast, 3) + 2 * ("gradient" in methods)))


def judging(n_questions: int, n_verdicts: float = 1.0) -> Load:
    """Matching and resampling, of so many cases."""
    return Load(seconds=n_verdicts * (0.5 + 0.008 * n_questions))


REPORT = Load(seconds=2.5)
"""Its figures, for the most part."""


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

    @property
    def layer_weights(self) -> float:
        """Of a layer, on average."""
        return sum(weight.numel() for weight in self.decoder.layers.parameters()) / self.n_layers

    def n_in_cache(self, lengths: Sequence[int], layer: int, dtype: torch.dtype) -> int:
        """How many of these prompts, read with a push at a layer, stay in the cache."""
        config = self.decoder.config
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        width = getattr(config, "head_dim", None) or self.decoder.d_model // config.num_attention_heads
        whole = 2 * heads * width * (self.n_layers - 1 - layer) * sum(lengths) * dtype.itemsize
        return int(min(1.0, CACHE_BYTES / whole) * len(lengths)) if whole else 0


class Clock:
    """Seconds of loads on this machine, by a batch of prompts of middling length that is run on a sketch of the model.

    Each kind of work, and each number of rows of it, is timed when it is first asked for: with the push after the last
    layer, and after the first. The difference is what the layers take; the rest does not depend on the depth.

    Args:
        n_layers: of the whole model.
        heavier: weights of a layer of the model, in those of the sketch's. wider: its stream, in the sketch's.
    """

    def __init__(
        self, sketch: OpenModel, prompts: Sequence[Prompt], n_layers: int, heavier: float = 1.0, wider: float = 1.0
    ) -> None:
        n_batch = QUESTIONS_PER_BATCH.get(sketch.device.type, 16)
        by_length = sorted(prompts, key=lambda prompt: len(prompt.user))
        start = max(0, (len(by_length) - n_batch) // 2)
        self._chosen = by_length[start : start + n_batch]
        self._batch = PromptSet.of_prompts(sketch, self._chosen, [str(n) for n in range(len(self._chosen))])
        self._model, self._top, self._n_layers = sketch, sketch.n_layers - 1, n_layers
        self._heavier, self._wider = heavier, wider

    def seconds(self, load: Load) -> float:
        """Seconds that all of a load takes in one process."""
        n_tokens, batches = sum(map(len, self._batch.sequences)), len(load.lengths) / len(self._chosen)
        by_token = self._heavier * self._reading / n_tokens if load.lengths else 0.0
        read = by_token * self._n_layers / (self._top + 1) * sum(load.lengths[load.n_cached :])
        if load.kind == "written":  # few prompts side by side take nearly as long for a token as many
            still, by_layer = self._token(min(len(load.lengths), len(self._chosen)))
            token = self._wider * still + self._heavier * by_layer * self._n_layers
            writing = math.ceil(batches) * load.n_tokens * token
            return load.seconds + (read + writing) * sum(count for _, count in load.rows)
        if load.kind == "all":
            batches = sum(load.lengths) / n_tokens
        steered = 0.0
        for layer, count in load.rows:
            still, by_layer = self._pushed(load.kind, count)
            steered += still + self._heavier * by_layer * (self._n_layers - 1 - layer)
        return load.seconds + read + batches * steered

    def usual_and_most(self, loads: Sequence[Load]) -> tuple[float, float]:
        """Seconds that a stage with these loads usually takes, and at most."""
        each = [self.seconds(load) for load in loads]
        return sum(load.usual * taken for load, taken in zip(loads, each, strict=True)), sum(each)

    @cached_property
    def _reading(self) -> float:
        """The batch once through all layers of the sketch, unsteered."""
        return _seconds(self._model, lambda: read_streams(self._model, self._batch.sequences, [self._top]))

    @cache  # noqa: B019
    def _token(self, n_prompts: int) -> tuple[float, float]:
        """One more token after each of so many prompts: whatever the depth, and for each layer."""
        chosen = self._chosen[:n_prompts]
        short, long = (
            _seconds(self._model, partial(write_after, self._model, chosen, max_new_tokens=n))
            for n in (FEW_TOKENS, MANY_TOKENS)
        )
        token = max(long - short, 0.0) / (MANY_TOKENS - FEW_TOKENS)
        readout, model = self._model.hf.get_output_embeddings(), self._model
        last = torch.zeros(n_prompts, model.d_model, dtype=model.dtype, device=model.device)
        still = min(token, _seconds(model, lambda: readout(last)))
        return still, (token - still) / (self._top + 1)

    @cache  # noqa: B019
    def _pushed(self, kind: str, count: int) -> tuple[float, float]:
        """What so many rows of each question take beside one reading: whatever the depth, and for each layer above."""
        if kind == "all":
            one = self._along(1, "all")
            return count * one[0], count * one[1]
        return self._along(count, "last")

    def _along(self, n_rows: int, at: str) -> tuple[float, float]:
        seconds, direction = [], self._model.readout.answer_direction(self._batch.tokens)
        direction, grid = direction / direction.norm(), [place / 1000 for place in range(n_rows)]
        # At all positions the top layer runs in part (`prefill`), and stands for no other.
        high = max(self._top - 1, min(self._top, 1)) if at == "all" else self._top
        for layer in (high, 0):
            push = Intervention.of(SteeringVector(direction, layer, 1.0, 1.0, self._model.identity), positions=at)
            seconds.append(_seconds(self._model, partial(answers_along, self._model, [push], self._batch, grid)))
        still = max(seconds[0] - self._reading, 0.0) + (self._wider - 1) * self._unembedding(n_rows)
        return still, max(seconds[1] - seconds[0], 0.0) / max(high, 1)

    def _unembedding(self, n_rows: int) -> float:
        """The logits of so many rows of each question."""
        if self._wider == 1:
            return 0.0
        model = self._model
        rows = torch.zeros(n_rows * len(self._chosen), model.d_model, dtype=model.dtype, device=model.device)
        return _seconds(model, lambda: model.readout.logits(rows, slice(None)))


@dataclass(frozen=True)
class Forecast:
    """The cost of a run.

    Attributes:
        stages: name -> its loads, in order. size: of the model. setting: dtype and device, for people.
        taken: name -> seconds of the stage in one process, as it usually is and at most; None where nothing could be
            timed.
    """

    stages: Mapping[str, Sequence[Load]]
    size: Size
    dtype: torch.dtype
    device: str
    taken: Mapping[str, tuple[float, float]] | None

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
        width = max(map(len, self.stages)) + 2
        lines = [
            f"{str(self.dtype).removeprefix('torch.')} on {self.device}",
            f"{'stage':<{width}}{'prompts':>9}{'steered rows':>14}{'time':>10}{'at most':>10}",
        ]
        total, whole = [0, 0], (0.0, 0.0)
        for name, loads in self.stages.items():
            read, rows = sum(load.n_read for load in loads), sum(load.n_rows for load in loads)
            total = [total[0] + read, total[1] + rows]
            usual, most = self.taken[name] if self.taken is not None else (math.nan, math.nan)
            whole = whole[0] + usual, whole[1] + most
            lines.append(f"{name:<{width}}{read:>9,}{rows:>14,}{_clock(usual):>10}{_clock(most):>10}")
        lines.append(f"{'total':<{width}}{total[0]:>9,}{total[1]:>14,}{_clock(whole[0]):>10}{_clock(whole[1]):>10}")
        if self.taken is not None:
            lines.append("reading the weights from the disk comes on top")
        lines.append(
            f"memory: {self.weight_bytes / 2**30:.1f} GiB of weights, {self.peak_bytes / 2**30:.1f} GiB at the peak; "
            "beside it the process takes about a GiB for Python and its libraries"
        )
        return "\n".join(
            lines if self.taken is not None else [*lines, "no time can be told, the rest follows from the config"]
        )


def forecast_of(
    name_or_path: str,
    asked: Mapping[str, Sequence[Prompt]],
    stages: Callable[[Mapping[str, list[int]], Size, torch.dtype], Mapping[str, Sequence[Load]]],
    revision: str | None = None,
    dtype: str = "auto",
) -> Forecast:
    """Forecast for a model by its name, of which config and tokenizer are read, and no weights.

    Args:
        name_or_path, revision, dtype: as in `load_model`.
        asked: by name, the prompts that are asked, such as those of each split.
        stages: from the tokens of the prompts by the same names, the model's size and the dtype, to each stage's loads.

    Raises:
        InputError: as `load_config` and `stages`.

    >>> import tempfile
    >>> from onedial import load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> model, folder = load_model("smollm2-135m-instruct"), tempfile.TemporaryDirectory()
    >>> for each in (model.hf, model.tokenizer):
    ...     _ = each.save_pretrained(folder.name)
    >>> asked = {"test": [METACOGNITIVE.fill(question.rendered) for question in load_questions("embedded", n=4)]}
    >>> list(forecast_of(folder.name, asked, lambda lengths, *_: {"sweep": [Load(lengths["test"])]}).stages)
    ['start', 'sweep']
    """
    config, tokenizer = load_config(resolve_weights(name_or_path, revision))
    so_far = time.process_time()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    loaded = DTYPES.get(dtype) or (config.dtype if device == "cuda" else None) or torch.float32
    lengths = {
        name: [len(encode(tokenizer, render(tokenizer, prompt))) for prompt in mine] for name, mine in asked.items()
    }
    size = Size.of(config)
    loads: dict[str, Sequence[Load]] = {START: [], **stages(lengths, size, loaded)}
    sketch = sketch_of(config, tokenizer, loaded, device, size)
    if sketch is None:
        return Forecast(loads, size, loaded, device, None)
    wider = size.decoder.d_model / sketch.d_model
    lowest = Size.of(_lowest(config.get_text_config(), size.n_layers, sketch.n_layers))
    heavier = lowest.layer_weights / Size.of(sketch.hf.config).layer_weights
    # Of one wording, as a stage asks them.
    clock = Clock(sketch, max(asked.values(), key=len), size.n_layers, heavier, wider)
    loads[START] = [*loads[START], Load(seconds=so_far + _checking(sketch, size, heavier))]
    taken = {name: clock.usual_and_most(prompt) for name, prompt in loads.items()}
    return Forecast(loads, size, loaded, device, taken)


def sketch_of(config: Any, tokenizer: Any, dtype: torch.dtype, device: str, size: Size) -> OpenModel | None:
    """The first layers of a model by its config, with random weights: as fast as the model, and wrong.

    Returns:
        None where such a sketch can't be made, which is noticed.
    """
    try:
        small = _fitting(config.get_text_config(), size)
        hf = AutoModelForCausalLM.from_config(small, dtype=dtype).to(device)
        return OpenModel(hf, tokenizer, name="a sketch")
    except (InputError, ValueError, TypeError, AttributeError, IndexError, RuntimeError) as error:
        notice(f"layers of this model can't be tried with random weights, so no time is told: {error}")
        return None


def _fitting(config: Any, size: Size) -> Any:
    """The config of a sketch: its lowest layers, narrower ones where they have over `SKETCH_WEIGHTS`."""
    small = _lowest(config, size.n_layers, min(SKETCH_LAYERS, size.n_layers))
    while Size.of(small).layer_weights * SKETCH_LAYERS > SKETCH_WEIGHTS and small.num_attention_heads % 2 == 0:
        small = copy.deepcopy(small)
        for name in HALVED:
            if isinstance(value := getattr(small, name, None), int):
                setattr(small, name, max(1, value // 2))
    return small


def _lowest(config: Any, n_layers: int, kept: int) -> Any:
    """A copy of a config with its lowest layers alone."""
    small = copy.deepcopy(config)
    for name, value in vars(small).items():  # the kinds of the layers, layer by layer
        if isinstance(value, list) and len(value) == n_layers:
            setattr(small, name, value[:kept])
    small.num_hidden_layers = kept
    return small


def _checking(sketch: OpenModel, size: Size, heavier: float) -> float:
    """Seconds in which the whole model's paths are checked and its weights added up."""
    layer, n_compared = sketch.stack.layers[0], float(size.n_layers)
    if sketch.dtype != torch.float32:
        n_widened = min(size.n_layers, WIDENED)
        n_compared = n_widened + IN_ITS_OWN_DTYPE * (size.n_layers - n_widened)
    paths = heavier * _seconds(sketch, lambda: check_fast_paths(sketch.stack)) * n_compared / sketch.n_layers
    n_weights = sum(weight.numel() for weight in layer.parameters())
    return paths + _seconds(sketch, lambda: fingerprint(layer)) * size.n_parameters / n_weights


def _seconds(model: OpenModel, work: Callable[[], object]) -> float:
    """Time the quickest of a few further runs: the first pays for what is set up once, and others use the machine."""
    seconds: list[float] = []
    while len(seconds) < 3 or (len(seconds) < 9 and sum(seconds) < LONG_ENOUGH):
        if model.device.type == "cuda":
            torch.cuda.synchronize(model.device)
        started = time.perf_counter()
        work()
        if model.device.type == "cuda":
            torch.cuda.synchronize(model.device)
        seconds.append(time.perf_counter() - started)
    return min(seconds[1:])


def _clock(seconds: float) -> str:
    if not math.isfinite(seconds):
        return "unknown"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
