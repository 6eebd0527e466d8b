"""Of a model that reads a short prompt otherwise beside a longer one, each is run with its like, whoever asks."""

import numpy as np
import pytest
from tiny_models import byte_tokenizer, tiny_hf, vectors_at

from onedial.asking.prompts import Prompt
from onedial.models.model import OpenModel
from onedial.models.written_scores import read_written
from steering.effects.side_effects import kl_on_text
from steering.interventions import Intervention

TEXTS = ["The ferry left.", "The ferry left the harbour at nine in the morning, and swifts flew about it."]


@pytest.fixture(scope="module")
def model():
    """It scales attention by the column at which a token stands, padding included."""
    hf = tiny_hf("llama4", attention_chunk_size=256, floor_scale=20, attn_scale=0.5, moe_layers=[])
    result = OpenModel(hf, byte_tokenizer(), name="scaled by column")
    assert result.fast_paths_for(90).requires_equal_length
    return result


def written(model, texts):
    return [each.statistics.log_p.sum() for each in read_written(model, [Prompt("Why?")] * len(texts), texts)]


def on_text(model, texts):
    push = Intervention.of(*vectors_at(model, [1]), positions="all")
    return kl_on_text(model, [push], {push.intervention_id: [0.5]}, passages=texts)["kl"]


def test_a_text_is_read_as_it_is_alone(model):
    alone = np.concatenate([written(model, [each]) for each in TEXTS])
    np.testing.assert_allclose(written(model, TEXTS), alone, atol=1e-4)


def test_what_a_push_does_to_texts_is_the_mean_of_what_it_does_to_each(model):
    alone = np.mean([on_text(model, [each]) for each in TEXTS])
    np.testing.assert_allclose(on_text(model, TEXTS), alone, rtol=1e-4)


def test_a_path_wrong_around_one_length_is_not_taken():
    """A path that is wrong around one length is not taken beyond another."""
    hf = tiny_hf("llama4", attention_chunk_size=100, floor_scale=60, attn_scale=0.5, moe_layers=[])
    paths = OpenModel(hf, byte_tokenizer(), name="steps and chunks").fast_paths_for(200)
    assert not paths.allowed
    assert paths.requires_equal_length
