"""The acceptance on a GPU, in small on the CPU: it goes on where it stopped, and a fault that is planted fails it."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest
import torch
from pretended_device import on_device, pretended_devices

from onedial.core.errors import InputError
from onedial.models.model import OpenModel

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture
def script(monkeypatch):
    specification = importlib.util.spec_from_file_location("gpu_acceptance", SCRIPTS / "gpu_acceptance.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    few = [form for form in module.FORMS if form.name in ("GPT-2", "Gemma 2")]
    monkeypatch.setattr(module, "chosen_forms", lambda small: few)
    return module


def run(script, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["gpu_acceptance.py", *map(str, arguments)])
    return script.main()


def test_in_small_a_step_passes(script, monkeypatch, tmp_path, capsys):
    assert run(script, monkeypatch, tmp_path / "figures", "--small", "--steps", "exact") == 0
    figures = json.loads((tmp_path / "figures" / "figures.json").read_text())
    assert set(figures["exact"]["by_form"]["bfloat16"]) == {"GPT-2", "Gemma 2"}
    assert 0 < figures["exact"]["largest"]["float32"] <= script.LIMITS["float32"]
    assert "| exact | passed |" in capsys.readouterr().out


def test_a_step_that_breaks_off_is_noted_and_the_next_ones_follow(script, monkeypatch, tmp_path):
    def out_of_memory(small, device):
        raise torch.OutOfMemoryError("2 GiB asked for")

    monkeypatch.setitem(script.STEPS, "exact", out_of_memory)
    monkeypatch.setitem(script.STEPS, "shape", lambda small, device: {"passed": True})
    assert run(script, monkeypatch, tmp_path, "--small", "--steps", "exact,shape") == 1
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert (figures["exact"]["passed"], figures["shape"]["passed"]) == (False, True)
    assert "2 GiB" in figures["exact"]["failed"]


@pytest.mark.long
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_push_that_is_a_little_too_long_fails_in_every_dtype(script, monkeypatch, dtype):
    right = script.steered_logits

    def too_far(model):
        return right(model) if model.dtype != getattr(torch, dtype) else 1.2 * right(model)

    monkeypatch.setattr(script, "steered_logits", too_far)
    result = script.exact(True, "cpu")
    assert not result["passed"]
    assert {name.split(", ")[1] for name in result["failed"]} == {dtype}


def test_without_a_gpu_the_large_steps_are_refused(script, monkeypatch, tmp_path):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match="pass --small for the CPU"):
        run(script, monkeypatch, tmp_path)


def test_a_sweep_without_room_gives_the_same_answers(script, monkeypatch):
    """A sweep that finds no room gives the same answers and one that finds it proves nothing."""
    result = script.STEPS["memory"](True, "cpu")
    assert result["passed"]
    assert result["refused"] > 0
    monkeypatch.setattr(script, "MOST_ROWS", 10_000)
    assert not script.STEPS["memory"](True, "cpu")["passed"]


@pytest.mark.launched
def test_on_a_pretended_gpu_nothing_is_mixed(script, monkeypatch):
    """On a pretended gpu no figure mixes what lies there with what does not."""
    from transformers import AutoConfig, AutoModelForCausalLM

    monkeypatch.setattr(torch.cuda, "synchronize", lambda *given: None)
    config = AutoConfig.for_model("mistral", **script.MISTRAL_7B | script.SMALL_SHAPE | {"num_hidden_layers": 3})
    hf = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16, attn_implementation="eager").eval()
    with pretended_devices():
        model = OpenModel(on_device(hf, "cuda:0"), script.tokenizer(), name="random weights")
        result = script.figures_of(model, True, "cuda:0")
    assert result["passed"]


def test_killed_in_between_it_goes_on_with_the_step_that_was_broken_off(script, monkeypatch, tmp_path):
    """The step itself, with what it kills, is run by .ci/run."""

    def killed(small, device, folder):
        raise KeyboardInterrupt

    steps = ("--small", "--steps", "shape,resume")
    monkeypatch.setitem(script.STEPS, "shape", lambda small, device: {"passed": True, "drawn": 7})
    monkeypatch.setitem(script.STEPS, "resume", killed)
    with pytest.raises(KeyboardInterrupt):
        run(script, monkeypatch, tmp_path, *steps)
    before = json.loads((tmp_path / "figures.json").read_text())
    assert "resume" not in before
    monkeypatch.setitem(script.STEPS, "shape", lambda *given: pytest.fail("done twice"))
    monkeypatch.setitem(script.STEPS, "resume", lambda small, device, folder: {"passed": folder == tmp_path})
    assert run(script, monkeypatch, tmp_path, *steps) == 0
    after = json.loads((tmp_path / "figures.json").read_text())
    assert (after["shape"], after["resume"]["passed"]) == (before["shape"], True)
