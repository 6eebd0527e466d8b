"""A model that several processes hold together says what it says whole, on both paths, while it reads and writes."""

import json
from functools import partial

import numpy as np
import pytest
import torch
from asked_together import found_with
from forks import run_together
from tiny_experiment import ROOT, alone
from tiny_models import COMMON, save_tiny
from transformers import AutoConfig

from onedial.core.errors import InputError, ProcessLostError
from onedial.models import model, processes
from onedial.models.checkpoints.split import split_config
from onedial.models.checkpoints.weights import WeightsLocation, load_weights
from onedial.models.forward.batches import halving_on_out_of_memory

KINDS = ("llama", "mistral", "qwen2", "qwen3", "gemma2", "glm4", "llama4")
"""Plain, with windows, biases, normed heads, capped attention, fused projections that are gathered, experts."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    made = [tmp_path_factory.mktemp("models") / kind for kind in KINDS]
    for folder in made:
        save_tiny(folder, folder.name)
    return made


@pytest.fixture(scope="module")
def found_together(folders, tmp_path_factory):
    """What each of two processes finds of each model."""
    out = tmp_path_factory.mktemp("found") / "found"
    with open(out, "w") as log:
        codes = run_together(ROOT / "tests" / "helpers" / "asked_together.py", out, *folders, log=log, env=alone())
    assert codes == [0, 0], out.read_text()
    return [json.loads(out.with_suffix(f".{rank}").read_text()) for rank in (0, 1)]


@pytest.mark.launched
@pytest.mark.parametrize("kind", KINDS)
def test_a_split_model_answers_and_writes_as_the_whole_one(kind, folders, found_together):
    whole = json.loads(json.dumps(found_with(folders[KINDS.index(kind)])))
    mine, others = (result[kind] for result in found_together)
    assert mine == others
    assert mine["own weights"] < 0.65 * whole["own weights"]
    for name in ("fingerprints", "paths", "steered", "drawn"):
        assert mine[name] == whole[name]
    assert whole["paths"] == ["all", "last"]
    assert whole["steered"] != whole["drawn"]
    for name in (name for name in whole if "Runner" in name):
        np.testing.assert_allclose(mine[name], whole[name], rtol=0, atol=1e-5)


def config(model_type, **more):
    return AutoConfig.for_model(model_type, **COMMON | more)


def test_attention_and_mlp_are_split():
    """Attention and mlp are split and what answers are read from is whole."""
    result = split_config(config("llama"), "tiny", 2)
    assert result.tp_size == 2
    kinds = {place.rpartition(".")[2]: style for place, style in result.tp_plan.items()}
    assert kinds["lm_head"] == kinds["embed_tokens"] == "replicate"
    assert kinds["q_proj"] == kinds["up_proj"] == "colwise"
    assert kinds["o_proj"] == kinds["down_proj"] == "rowwise"


@pytest.mark.parametrize(
    ("model_type", "more", "n", "sentence"),
    [
        ("gpt2", {}, 2, r"transformers has no plan by which tiny \(gpt2\) could be split"),
        ("llama", {}, 4, "tiny has 2 key value heads, which can't be dealt out evenly to 4 processes"),
        ("llama", {"num_key_value_heads": 4}, 3, "tiny has 4 key value heads"),
        ("llama", {"quantization_config": {"quant_method": "gptq"}}, 2, "the weights of tiny are quantised"),
    ],
)
def test_what_cannot_be_split_is_refused_beforehand(model_type, more, n, sentence):
    """What transformers cannot split is refused before its weights are read."""
    with pytest.raises(InputError, match=sentence):
        split_config(config(model_type, **more), "tiny", n)


def test_heads_that_are_gathered_need_not_be_dealt_out_evenly():
    assert split_config(config("phi3"), "tiny", 3).tp_size == 3


def test_a_gguf_file_is_not_split(monkeypatch, tmp_path):
    monkeypatch.setattr(processes, "_together", True)
    location = WeightsLocation("gguf", str(tmp_path / "model.gguf"), "a file", sha256="0")
    with pytest.raises(InputError, match="is a GGUF file, and --tensor-parallel splits safetensors"):
        load_weights(location, torch.float32)


def test_processes_of_one_model_halve_no_batch(monkeypatch):
    """Processes that hold one model halve no batch that is too large for one of them."""

    def work(limit, batch):
        if len(batch) > limit:
            raise torch.OutOfMemoryError
        return list(batch)

    assert list(halving_on_out_of_memory(partial(work, 2), [1, 2, 3])) == [[1], [2, 3]]
    monkeypatch.setattr(processes, "_together", True)
    with pytest.raises(InputError, match=r"a batch of 3 questions does not fit .* start more of them"):
        list(halving_on_out_of_memory(partial(work, 2), [1, 2, 3]))


def test_processes_that_hold_one_model_count_as_one(monkeypatch):
    monkeypatch.setattr(processes, "_rank", lambda: 1)
    monkeypatch.setattr(processes, "_world", lambda: 4)
    assert (processes.process_index(), processes.process_count()) == (1, 4)
    assert processes.own_share([*range(6)]) == [1, 5]
    monkeypatch.setattr(processes, "_together", True)
    assert (processes.process_index(), processes.process_count()) == (0, 1)
    assert processes.own_share([*range(6)]) == [*range(6)]


def test_processes_that_differ_hold_no_model_together(monkeypatch):
    """Processes whose forwards differ in the last bit hold no model together."""
    final = torch.ones(1, 3)
    monkeypatch.setattr(model, "everyone", lambda mine: [mine, mine.clone()])
    model._check_same_bits(final, "tiny")
    monkeypatch.setattr(model, "everyone", lambda mine: [mine, torch.nextafter(mine, torch.tensor(2.0))])
    with pytest.raises(InputError, match="get other last digits from the same forward"):
        model._check_same_bits(final, "tiny")


def test_a_lost_peer_is_told(monkeypatch):
    """A peer that is lost within a forward is told and any other failure passes."""

    def fail(message):
        with processes.told_if_lost():
            raise RuntimeError(message)

    with pytest.raises(RuntimeError, match=r"gloo/pair\.cc: Connection closed"):
        fail("gloo/pair.cc: Connection closed")
    monkeypatch.setattr(processes, "_together", True)
    with pytest.raises(ProcessLostError, match="process 0 of 1, which hold one model together, lost another"):
        fail("gloo/pair.cc: Connection closed")
    with pytest.raises(RuntimeError, match="shapes do not match"):
        fail("shapes do not match")
