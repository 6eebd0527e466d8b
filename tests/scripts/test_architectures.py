"""What the documentation says of architectures is what the script finds, and forms with experts are exact."""

import copy
import warnings
from pathlib import Path

import architectures
import causal_types
import pandas as pd
import pytest
import torch

from onedial.models import OpenModel
from onedial.models.families import decoder_of

ROOT = Path(__file__).resolve().parents[2]


PAGE = " ".join((ROOT / "docs" / "performance.md").read_text(encoding="utf-8").split())


def test_every_row_of_the_script_stands_once_in_the_documentation():
    for row in architectures.ROWS:
        slow = f"| `{row.model_type}` | {row.known_as} | {row.layers} |"
        assert PAGE.count(architectures.said(row, "fast", "")) + PAGE.count(slow) == 1, row.known_as


@pytest.mark.parametrize(
    "model_type", ["olmo", "gpt2", "gpt_neox", "deepseek_v3", "qwen3_next", "falcon", "granite", "opt", "longcat_flash"]
)
def test_a_row_says_what_a_tiny_model_of_it_does(model_type):
    found = architectures.found([row for row in architectures.ROWS if row.model_type == model_type])
    assert [line for line in found if line not in PAGE] == []


@pytest.mark.parametrize("kind", ["arcee", "moshi", "mllama", "rwkv", "helium"])
def test_a_type_does_what_the_stored_table_says(kind):
    stored = pd.read_csv(ROOT / "tests/reference/bench/causal_types.csv", index_col="type")["outcome"]
    assert causal_types.tried(kind)[0] == stored[kind]


def test_margins_that_are_off_are_called_wrong(monkeypatch):
    monkeypatch.setattr(causal_types, "drawn", lambda width: torch.ones(width))
    real = causal_types.by_hooks
    monkeypatch.setattr(causal_types, "by_hooks", lambda *given: real(*given) + 1e-3)
    assert causal_types.tried("gpt2")[0] == "wrong"


WITH_EXPERTS = [row for row in architectures.ROWS if "experts" in row.layers and row.model_type != "longcat_flash"]


@pytest.mark.long
@pytest.mark.parametrize("row", WITH_EXPERTS, ids=lambda row: row.model_type)
def test_steered_margins_of_experts_are_those_of_a_hook_in_float64_at_lengths_that_cross_every_window(row):
    """Experts by transformers' plain loop there; ours as each runs by default, which is another kernel."""
    hf = architectures.tiny_hf(row)
    wide = copy.deepcopy(hf).double()
    wide.set_experts_implementation("eager")
    model = OpenModel(hf, architectures.tokenizer(), name=row.known_as)
    drawn = torch.randint(300, (60,), generator=torch.Generator().manual_seed(1)).tolist()
    prompts = [drawn, drawn[:9] + drawn[30:36], drawn[:9] + drawn[20:44]]
    push, magnitudes = torch.randn(model.d_model, generator=torch.Generator().manual_seed(3)), (0.0, 1.0, -1.5)
    edit = {1: lambda stream, settings: stream + settings[..., None] * push}

    def hooked(hf, at):
        block = decoder_of(hf).layers[1]
        found = [architectures.hooked_logits(hf, block, ids, each * push, at) for ids in prompts for each in magnitudes]
        return causal_types.margin(torch.stack(found)).unflatten(0, (len(prompts), -1))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for at in ("last", "all"):
            runner = model.runner(prompts, [1], at)
            final = runner.steer(runner.start(prompts), edit, torch.tensor([magnitudes]))
            expected, rounding = hooked(wide, at), hooked(hf, at)
            allowed = max(1e-4, 2 * (rounding - expected).abs().max().item())
            assert (
                causal_types.margin(model.readout.logits(final, slice(None))) - expected
            ).abs().max().item() < allowed
