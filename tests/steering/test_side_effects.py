"""Side effects are those of the model itself, counted by hand here."""

import numpy as np
import pandas as pd
import pytest
import torch
from tiny_models import tiny_model, vectors_at
from torch.utils._python_dispatch import TorchDispatchMode

from onedial.asking.sweep_tables import TEXT_COLUMNS
from onedial.core.errors import InputError
from onedial.models.forward import readout
from onedial.models.tokens import encode
from steering.effects.side_effects import fact_effects, kl_on_text
from steering.interventions import Intervention

PASSAGES = ["The ferry left the harbour.", "A cast-iron pan is heavy, but it keeps its heat.", "Swifts fly."]


@pytest.fixture(scope="module", params=["llama", "gemma2"])
def model(request):
    return tiny_model(request.param)


@pytest.mark.parametrize("positions", ["last", "prompt", "all"])
def test_text_effects_are_what_the_model_itself_gives(model, positions):
    """Whole forwards of one passage at a time under a push, the first half as the prompt, the second generated."""
    (vector,) = vectors_at(model, [2])
    intervention = Intervention.of(vector, positions=positions)
    result = kl_on_text(model, [intervention], {intervention.intervention_id: [0.0, 0.6]}, passages=PASSAGES)
    kls = []
    for text in PASSAGES:
        ids = [model.tokenizer.bos_token_id, *encode(model.tokenizer, text)]
        half = len(ids) // 2
        rows = {}
        for magnitude in (None, 0.6):
            logits = []
            with torch.no_grad():
                if magnitude is None:
                    logits = model.hf(input_ids=torch.tensor([ids]), use_cache=False).logits[0]
                else:
                    with intervention.steer(model, magnitude):
                        begun = model.hf(input_ids=torch.tensor([ids[:half]]), use_cache=True)
                        rest = model.hf(
                            input_ids=torch.tensor([ids[half:]]), past_key_values=begun.past_key_values, use_cache=True
                        )
                    logits = torch.cat([begun.logits[0], rest.logits[0]])
            rows[magnitude] = logits.log_softmax(dim=-1)
        plain, pushed = rows[None][half - 1], rows[0.6][half - 1]
        kls.append((plain.exp() * (plain - pushed)).sum().item())
    assert list(result.columns) == TEXT_COLUMNS
    assert result["kl"].tolist() == pytest.approx([0.0, np.mean(kls)], abs=2e-4)
    assert (result["kl_low"] <= result["kl"] + 1e-9).all()
    assert (result["kl"] <= result["kl_high"] + 1e-9).all()
    assert (result["n_passages"] == 3).all()


class LargestTensor(TorchDispatchMode):
    """The most numbers that any operation gives."""

    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor):
            self.numbers = max(self.numbers, result.numel())
        return result


def test_the_readout_of_text_keeps_to_its_memory(monkeypatch):
    """The readout of text takes no more memory at once than it may and gives the same."""
    model = tiny_model("llama", vocab_size=4000, tie_word_embeddings=False)
    model.hf.lm_head.weight.data = model.hf.lm_head.weight.data.bfloat16()
    (vector,) = vectors_at(model, [2])
    intervention = Intervention.of(vector, positions="all")

    def measured():
        many = kl_on_text(
            model, [intervention], {intervention.intervention_id: [-1.0, 0.2, 0.5, 0.8]}, passages=PASSAGES
        )
        return many[["kl", "kl_low", "kl_high"]].to_numpy()

    whole = measured()
    monkeypatch.setattr(readout, "LOGITS_AT_ONCE", 10 * 4000)
    monkeypatch.setattr(readout, "VOCABULARY_CHUNK", 40_000 // model.d_model)
    with LargestTensor() as largest:
        pieces = measured()
    np.testing.assert_allclose(pieces, whole, rtol=1e-6, atol=1e-6)
    assert largest.numbers == 40_000


def test_facts_are_counted_with_their_flips_and_unread_ones_are_wrong():
    margins = {"a": (1.0, 1.0), "b": (-1.0, 1.0), "c": (1.0, -1.0), "d": (-1.0, -1.0)}
    truth = pd.Series({"a": 1.0, "b": 0.0, "c": 0.0, "d": 0.0})
    rows = [
        (name, setting, margin, 0.01 if (name, setting) == ("d", 1.0) else 1.0)
        for name, pair in margins.items()
        for setting, margin in zip((0.0, 1.0), pair, strict=True)
    ]
    table = pd.DataFrame(rows, columns=["question_id", "setting", "margin", "mass"])
    result = fact_effects(table, truth).set_index("setting")
    assert result.loc[0.0, ["accuracy", "negative_flips"]].tolist() == [0.75, 0.0]
    assert result.loc[1.0, "accuracy"] == 0.5  # a, c; b is wrong now, d was not read
    assert result.loc[1.0, ["negative_flips", "positive_flips"]].tolist() == [0.5, 0.25]
    assert result.loc[1.0, "unread"] == 0.25


def test_a_passage_of_nothing_is_refused(model):
    with pytest.raises(InputError, match="shorter than four tokens"):
        kl_on_text(model, [Intervention.of(*vectors_at(model, [2]), intervention_id="x")], {"x": [1.0]}, passages=["a"])


@pytest.mark.parametrize("positions", ["last", "prompt"])
def test_many_interventions_at_once_cost_on_text_what_each_costs_by_itself(model, positions):
    interventions = [
        Intervention.of(vector, positions=positions, intervention_id=f"layer {vector.layer}")
        for vector in vectors_at(model, [1, 2])
    ]
    settings = {"layer 1": [-0.4, 0.7], "layer 2": [0.0, 0.6], "never": []}
    counts = []
    result = kl_on_text(model, interventions, settings, passages=PASSAGES, progress=counts.append)
    assert sum(counts) == len(PASSAGES)
    for each in interventions:
        each_alone = result[result["intervention_id"] == each.intervention_id]
        alone = kl_on_text(model, [each], {each.intervention_id: settings[each.intervention_id]}, passages=PASSAGES)
        assert each_alone["magnitude"].tolist() == settings[each.intervention_id]
        for column in ("kl", "kl_low", "kl_high"):
            assert each_alone[column].tolist() == pytest.approx(alone[column].tolist(), abs=1e-4), column
    assert result.loc[result["magnitude"] == 0.0, "kl"].item() == pytest.approx(0.0, abs=1e-6)
    assert kl_on_text(model, interventions, {}, passages=PASSAGES).empty
