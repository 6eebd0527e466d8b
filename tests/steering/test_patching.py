"""A patch is what a plain hook does, changes nothing from oneself, and hands everything over after the last layer."""

import pytest
import torch
from tiny_models import outspoken_model, tiny_model

from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.models.tokens import pad_batch
from steering.causes import patched_margins

QUESTIONS = [Question(f"q{place}", f"Who sang of river {place}{' and sea' * (place % 4)}?") for place in range(8)]
DONORS, RECEIVERS = [0, 3, 5, 6], [1, 2, 4, 6]


@pytest.fixture(scope="module", params=["mistral", "llama", "gemma2"])
def model(request):
    return outspoken_model() if request.param == "mistral" else tiny_model(request.param)


@pytest.fixture(scope="module")
def result(model, prompts):
    return patched_margins(model, prompts, DONORS, RECEIVERS, range(model.n_layers))


def test_a_patch_is_what_a_plain_hook_does(model, prompts, result):
    margin = lambda final: model.readout.margin_and_mass(final, prompts.tokens)[0].item()  # noqa: E731
    for pair, (donor, receiver) in enumerate(zip(DONORS, RECEIVERS, strict=True)):
        for layer in range(model.n_layers):
            source = model.read_residual(pad_batch([prompts.sequences[donor]], model.stack.pad_id), [layer])[0, 0]

            def put(stream, source=source):
                return torch.cat([stream[:, :-1], source.expand(1, 1, -1)], dim=1)

            with model.edit_residual(layer, put):
                plain = model.final_residual(pad_batch([prompts.sequences[receiver]], model.stack.pad_id))
            assert result[pair, layer].item() == pytest.approx(margin(plain), abs=2e-3)


def test_after_the_last_layer_the_answer_is_the_donors(result):
    torch.testing.assert_close(result[:, -3], result[:, -1], rtol=1e-4, atol=1e-4)


def test_pairs_must_be_pairs_and_layers_must_be_there(model, prompts):
    with pytest.raises(InputError, match="2 donors for 1 receivers"):
        patched_margins(model, prompts, [0, 1], [2], [0])
    with pytest.raises(InputError, match="layer 99 requested"):
        patched_margins(model, prompts, [0], [2], [99])
