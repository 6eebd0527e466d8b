"""What the documentation says of architectures is what the script found, and forms with experts are exact."""

import copy
import re
import warnings
from pathlib import Path

import architectures
import pandas as pd
import pytest
import torch

from onedial.models.families import decoder_of
from onedial.models.model import OpenModel

ROOT = Path(__file__).resolve().parents[2]


STORED = pd.read_csv(ROOT / "tests/reference/bench/causal_types.csv", index_col="type")["outcome"]


@pytest.mark.parametrize("path", ["Fast", "Plain", "Refused"])
def test_the_page_says_of_known_types_what_the_stored_table_says(path):
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    named = re.findall(r"`(\w+)`", re.search(rf"(?ms)^- \*\*{path}\*\*(.*?)\.$", page)[1])
    assert named
    assert set(STORED[named]) == {path.lower()}


@pytest.mark.parametrize("kind", ["arcee", "moshi", "mllama", "rwkv", "deepseek_v3", "qwen3_next", "longcat_flash"])
def test_a_type_does_what_the_stored_table_says(kind):
    assert architectures.tried(kind)[0] == STORED[kind]


def test_margins_that_are_off_are_called_wrong(monkeypatch):
    monkeypatch.setattr(architectures, "drawn", lambda width: torch.ones(width))
    real = architectures.by_hooks
    monkeypatch.setattr(architectures, "by_hooks", lambda *given: real(*given) + 1e-3)
    assert architectures.tried("gpt2")[0] == "wrong"


WITH_EXPERTS = [form for form in architectures.FORMS if form.experts and form.type != "longcat_flash"]


@pytest.mark.long
@pytest.mark.parametrize("form", WITH_EXPERTS, ids=lambda form: form.type)
def test_margins_of_experts_are_those_of_a_hook(form):
    """Experts by transformers' plain loop there; ours as each runs by default, which is another kernel."""
    hf = architectures.tiny_hf(form.type, architectures.SMALL | form.sizes)
    wide = copy.deepcopy(hf).double()
    wide.set_experts_implementation("eager")
    model = OpenModel(hf, architectures.tokenizer(), name=form.name)
    drawn = torch.randint(300, (60,), generator=torch.Generator().manual_seed(1)).tolist()
    prompts = [drawn, drawn[:9] + drawn[30:36], drawn[:9] + drawn[20:44]]
    push, magnitudes = torch.randn(model.d_model, generator=torch.Generator().manual_seed(3)), (0.0, 1.0, -1.5)
    edit = {1: lambda stream, settings: stream + settings[..., None] * push}

    def hooked(hf, at):
        block = decoder_of(hf).layers[1]
        result = [
            architectures.hooked_logits(hf, block, ids, each * push, at) for ids in prompts for each in magnitudes
        ]
        return architectures.margin(torch.stack(result)).unflatten(0, (len(prompts), -1))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for at in ("last", "all"):
            runner = model.runner(prompts, [1], at)
            final = runner.steer(runner.start(prompts), edit, torch.tensor([magnitudes]))
            expected, rounding = hooked(wide, at), hooked(hf, at)
            allowed = max(1e-4, 2 * (rounding - expected).abs().max().item())
            assert (
                architectures.margin(model.readout.logits(final, slice(None))) - expected
            ).abs().max().item() < allowed
