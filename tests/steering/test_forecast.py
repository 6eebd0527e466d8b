"""What a stage is forecast to take: memory from the config, and time from one timed batch of each kind of work."""

import time

import pytest
import torch
from tiny_models import ARCHITECTURES, byte_tokenizer, outspoken_hf, tiny_model, vectors_at

from onedial.asking.prompts import METACOGNITIVE
from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from steering.planning.forecast import Clock, Forecast, Load, Size, sketch_of
from steering.sweeping import sweep

QUESTIONS = [Question(f"q{n}", f"Who sang of river {n}{' and of the sea' * (n % 4)}?") for n in range(64)]


@pytest.mark.parametrize("architecture", sorted(ARCHITECTURES))
def test_sizes_from_the_config_alone_are_those_of_the_loaded_model(architecture):
    model = tiny_model(architecture)
    size = Size.of(model.hf.config)
    assert size.n_layers == model.n_layers
    assert size.n_parameters == sum(parameter.numel() for parameter in model.hf.parameters())
    with pytest.raises(InputError, match="is no config of a causal language model"):
        Size.of(type("Strange", (), {"model_type": "t5"})())


def test_what_is_counted_is_prompts_read_once_and_rows_of_each():
    lengths = [40] * 10
    assert (Load(lengths, [(2, 5), (3, 7)], n_cached=4).n_read, Load(lengths, [(2, 5), (3, 7)]).n_rows) == (6, 120)
    written = Load(lengths, [(0, 3)], "written", n_tokens=20)
    assert (written.n_read, written.n_rows) == (30, 600)


@pytest.fixture
def clock(model, monkeypatch):
    """A clock on which a batch takes a second for each of the sketch's layers, and .1 s for each row and layer."""
    clock = Clock(model, [METACOGNITIVE.fill(question.text) for question in QUESTIONS], n_layers=10)
    monkeypatch.setattr(Clock, "_reading", float(model.n_layers))
    monkeypatch.setattr(Clock, "_token", lambda _clock, n_prompts: (3.0, 0.5))
    monkeypatch.setattr(Clock, "_pushed", lambda _clock, kind, count: (0.01, 0.1 * count))
    return clock


def test_time_grows_with_what_is_asked(clock):
    """Time grows with questions rows and the layers above and what is cached costs nothing."""
    n_tokens = sum(map(len, clock._batch.sequences))
    lengths = [n_tokens / 16] * 32
    assert clock.seconds(Load(lengths)) == pytest.approx(2 * 10)
    assert clock.seconds(Load(lengths, n_cached=32)) == 0
    low, high = (clock.seconds(Load(lengths, [(layer, 3)], n_cached=32)) for layer in (0, 9))
    assert (low, high) == (pytest.approx(2 * (0.01 + 9 * 0.3)), pytest.approx(2 * 0.01))
    assert clock.seconds(Load(lengths, [(0, 2)], "written", n_tokens=5)) == pytest.approx(
        2 * 2 * (10 + 5 * (3 + 0.5 * 10))
    )
    assert clock.seconds(Load(seconds=3)) == 3
    usually, most = clock.usual_and_most([Load(lengths), Load(lengths, usual=0.25)])
    assert (usually, most) == (pytest.approx(1.25 * 20), pytest.approx(2 * 20))


def test_memory_is_that_of_the_largest_batch_and_of_the_dtype():
    size = Size.of(tiny_model("llama").hf.config)

    def peak(load, dtype=torch.float32):
        return Forecast({"stage": [load]}, size, dtype, "cpu", None).peak_bytes

    few, many = (peak(Load([60] * n, [(2, 41)])) for n in (16, 1600))
    assert few == many > peak(Load([60] * 16, [(2, 3)])) > peak(Load([30] * 16, [(2, 3)]))
    assert peak(Load([60], [(2, 41)]), torch.bfloat16) < few
    assert "no time can be told" in str(Forecast({"stage": [Load([60])]}, size, torch.float32, "cpu", None))


@pytest.mark.parametrize("kind", ["last", "all", "written"])
def test_every_kind_of_work_takes_time(model, kind, monkeypatch):
    monkeypatch.setattr("steering.planning.forecast.LONG_ENOUGH", 0.0)
    clock = Clock(model, [METACOGNITIVE.fill(question.text) for question in QUESTIONS], n_layers=10)
    assert clock.seconds(Load([40] * 32, [(0, 3)], kind, n_cached=32, n_tokens=4)) > 0


@pytest.mark.parametrize("architecture", ["llama", "qwen3", "gemma2"])
def test_layers_too_large_to_try_are_stood_for_by_narrower_ones(architecture, monkeypatch):
    monkeypatch.setattr("steering.planning.forecast.LONG_ENOUGH", 0.0)
    config = tiny_model(architecture).hf.config
    size = Size.of(config)
    monkeypatch.setattr("steering.planning.forecast.SKETCH_WEIGHTS", 2 * size.layer_weights)
    sketch = sketch_of(config, byte_tokenizer(), torch.float32, "cpu", size)
    assert (sketch.d_model, sketch.n_layers) == (size.decoder.d_model // 2, 3)
    load = Load([40] * 32, [(2, 3)], n_cached=32)
    prompts = [METACOGNITIVE.fill(question.text) for question in QUESTIONS]
    assert Clock(sketch, prompts, size.n_layers, 4.0, 2.0).seconds(load) > 0
    monkeypatch.setattr(Clock, "_pushed", lambda _clock, kind, count: (0.0, 0.1))
    plain, heavier = (Clock(sketch, prompts, size.n_layers, times, 2.0).seconds(load) for times in (1.0, 4.0))
    assert heavier == pytest.approx(4 * plain)


@pytest.mark.slow
def test_a_sweep_at_the_last_position_takes_what_was_forecast():
    """Of a small model, whose time is what is done around its products; within 2, since machines are shared."""
    torch.set_num_threads(1)
    model = OpenModel(outspoken_hf("llama", num_hidden_layers=12), byte_tokenizer(), name="deeper")
    prompts = PromptSet.build(model, QUESTIONS, METACOGNITIVE)
    (vector,) = vectors_at(model, [4])
    load = Load([len(ids) for ids in prompts.sequences], [(4, 41)])
    seconds = Clock(model, prompts.prompts, model.n_layers).seconds(load)
    took = []
    for _ in range(3):
        started = time.perf_counter()
        sweep(model, vector, prompts, [n / 100 for n in range(41)])
        took.append(time.perf_counter() - started)
    assert min(took) / 2 < seconds < max(took) * 2
