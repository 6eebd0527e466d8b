"""Models of natural language inference: their label, both ways, and what is refused."""

import json

import numpy as np
import pytest
import torch
from tiny_models import byte_tokenizer, save_outspoken
from transformers import BertConfig, BertForSequenceClassification

from onedial.core.errors import InputError
from onedial.models.entailment import EntailmentModel, classifies_texts

LABELS = {0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}


def save_nli(folder, labels=LABELS, bias=None):
    torch.manual_seed(0)
    tokenizer = byte_tokenizer()
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        initializer_range=0.6,
        id2label=labels,
        label2id={name: number for number, name in labels.items()},
        pad_token_id=tokenizer.pad_token_id,
    )
    model = BertForSequenceClassification(config)
    if bias is not None:
        with torch.no_grad():
            model.classifier.weight.zero_()
            model.classifier.bias.copy_(torch.tensor(bias))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_the_label_of_entailment_is_found_by_its_name_wherever_it_stands(tmp_path):
    asked = (["Who?"] * 2, ["Rome", "a"], ["Paris", "a longer answer"])
    for place, labels in enumerate(({0: "entailment", 1: "neutral", 2: "contradiction"}, LABELS)):
        for label, expected in (("entailment", [1, 1]), ("neutral", [0, 0])):
            bias = [9.0 * (name.lower() == label) for name in labels.values()]
            folder = save_nli(tmp_path / f"{label} {place}", labels, bias)
            assert EntailmentModel(str(folder)).same_meaning(*asked).tolist() == expected


def test_two_answers_mean_the_same_only_where_each_entails_the_other(tmp_path):
    model = EntailmentModel(str(save_nli(tmp_path / "nli")))
    texts = [f"{word} {number}" for number, word in enumerate(["a", "bb", "long answer", "d"] * 4)]
    pairs = [(one, other) for one in texts for other in texts]
    one, other = zip(*pairs, strict=True)
    entails = model.probabilities([f"Q {each}" for each in one], [f"Q {each}" for each in other]).argmax(axis=1) == 2
    assert 0 < entails.mean() < 1
    way = dict(zip(pairs, entails, strict=True))
    expected = [float(way[a, b] and way[b, a]) for a, b in pairs]
    assert model.same_meaning(["Q"] * len(pairs), one, other).tolist() == expected


def test_a_pair_is_judged_the_same_alone_and_beside_longer_ones(tmp_path):
    model = EntailmentModel(str(save_nli(tmp_path / "nli")))
    one, other = ["a", "a much longer answer than the first"], ["b", "and its rival, which is longer still"]
    alone = np.concatenate([model.probabilities([a], [b]) for a, b in zip(one, other, strict=True)])
    np.testing.assert_allclose(model.probabilities(one, other), alone, atol=1e-6)


def test_a_model_without_entailment_is_refused(tmp_path):
    """A model without a label for entailment or with a new head is refused."""
    folder = save_nli(tmp_path / "sentiment", {0: "LABEL_0", 1: "LABEL_1"})
    with pytest.raises(InputError, match="no one label for entailment, but LABEL_0, LABEL_1"):
        EntailmentModel(str(folder))
    folder = save_nli(tmp_path / "headless")
    from safetensors.torch import load_file, save_file

    weights = {
        name: weight for name, weight in load_file(folder / "model.safetensors").items() if "classifier" not in name
    }
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(InputError, match="lacks 2 weights"):
        EntailmentModel(str(folder))


def test_who_classifies_and_who_writes_is_told_from_the_configuration(tmp_path):
    save_outspoken(tmp_path / "writes")
    assert classifies_texts(str(save_nli(tmp_path / "nli")))
    assert not classifies_texts(str(tmp_path / "writes"))
    assert not classifies_texts("smollm2-135m-instruct")
    config = json.loads((tmp_path / "nli" / "config.json").read_text())
    (tmp_path / "nli" / "config.json").write_text(json.dumps(config | {"model_type": "novel"}))
    with pytest.raises(InputError, match="no model that classifies texts for; use a DeBERTa"):
        EntailmentModel(str(tmp_path / "nli"))
