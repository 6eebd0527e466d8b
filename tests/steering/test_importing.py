"""What is exported does in its real consumer what it does here, and others' vectors are read as they say."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from tiny_models import tiny_hf, tiny_model, vectors_at

from onedial.asking.prompts import METACOGNITIVE
from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.core.notices import Notice
from onedial.models.prompt_set import PromptSet
from steering.importing import as_vector, import_vectors
from steering.interventions import Intervention
from steering.sweeping import sweep

QUESTIONS = [Question("a", "Who sang of the river?"), Question("b", "Why is the sky blue, and since when?")]
LAYERS = [1, 3]


@pytest.fixture(scope="module")
def model():
    return tiny_model("llama")


def everywhere(model, **how):
    return Intervention.of(*vectors_at(model, LAYERS), **{"positions": "all"} | how)


def prompts_of(model):
    return PromptSet.build(model, QUESTIONS, METACOGNITIVE)


def our_margins(model, intervention, magnitude):
    table = sweep(model, [intervention], prompts_of(model), [magnitude]).table.set_index("question_id")
    return table.loc[["a", "b"], "margin"].to_numpy()


def their_margins(forward, model):
    """Margins by the logits of somebody else's forward, one prompt at a time."""
    prompts = prompts_of(model)
    margins = []
    for sequence in prompts.sequences:
        with torch.no_grad():
            logits = forward(torch.tensor([sequence]))[0, -1].float()
        margins.append(logits[list(prompts.tokens.yes)].logsumexp(0) - logits[list(prompts.tokens.no)].logsumexp(0))
    return np.array([float(margin) for margin in margins])


def test_repeng_steers_with_our_control_vector_as_we_do(model, tmp_path, monkeypatch):
    if not hasattr(np, "float_"):
        monkeypatch.setattr(np, "float_", np.float64, raising=False)  # repeng 0.4 still calls it so
    repeng = pytest.importorskip("repeng", reason="repeng is not installed (pip install --no-deps repeng)")
    intervention = everywhere(model)
    intervention.export_gguf(tmp_path / "v.gguf", model, 0.4)
    vector = repeng.ControlVector.import_gguf(tmp_path / "v.gguf")
    assert sorted(vector.directions) == LAYERS
    controlled = repeng.ControlModel(tiny_hf("llama").eval(), LAYERS)
    controlled.set_control(vector, 1.0)
    theirs = their_margins(lambda ids: controlled(input_ids=ids).logits, model)
    np.testing.assert_allclose(theirs, our_margins(model, intervention, 0.4), atol=2e-4)


def test_what_is_exported_comes_back(model, tmp_path):
    intervention = everywhere(model)
    intervention.export_gguf(tmp_path / "v.gguf", model, 0.4)
    expected = our_margins(model, intervention, 0.4)
    by_layer = {v.layer: 0.4 * v.residual_norm * v.direction for v in intervention.vectors}
    save_file({str(layer): tensor for layer, tensor in by_layer.items()}, tmp_path / "v.safetensors")
    theirs = [SimpleNamespace(layer_activations=by_layer), SimpleNamespace(directions=by_layer)]
    for source in (tmp_path / "v.gguf", tmp_path / "v.safetensors", by_layer, *theirs):
        vectors = import_vectors(source, model, "output", prompts_of(model))
        assert [vector.layer for vector in vectors] == LAYERS
        back = Intervention.of(*vectors, positions="all", unit="raw")
        np.testing.assert_allclose(our_margins(model, back, 1.0), expected, atol=2e-4)


@pytest.mark.parametrize(("convention", "layer"), [("output", 3), ("input", 2), ("one-based", 2)])
def test_a_layer_is_counted_as_its_source_says(model, convention, layer):
    (vector,) = import_vectors({3: torch.ones(48)}, model, convention, prompts_of(model))
    assert vector.layer == layer
    assert vector.raw_norm == pytest.approx(48**0.5)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"positions": "last"}, "acts at every position.*this intervention at 'last'"),
        ({"operator": "rotate"}, "can add, not rotate"),
    ],
)
def test_what_a_format_cannot_say_is_refused(model, tmp_path, how, message):
    with pytest.raises(InputError, match=message):
        everywhere(model, **how).export_gguf(tmp_path / "v.gguf", model, 0.4)
    assert not list(tmp_path.iterdir())


def test_other_mistakes_are_said(model, tmp_path):
    prompts = prompts_of(model)
    lowest = Intervention.of(*vectors_at(model, [0]), positions="all")
    with pytest.raises(InputError, match="no control vector at layer 0"):
        lowest.export_gguf(tmp_path / "v.gguf", model, 1.0)
    with pytest.raises(InputError, match=r"does not end in \.gguf"):
        lowest.export_gguf(tmp_path / "v.bin", model, 1.0)
    with pytest.raises(InputError, match="'guess' is not known; say how the source counts layers"):
        import_vectors({1: torch.ones(48)}, model, "guess", prompts)
    (tmp_path / "v.pt").write_bytes(b"")
    with pytest.raises(InputError, match=r"pickles .* are code and are not read"):
        import_vectors(tmp_path / "v.pt", model, "output", prompts)


VECTOR = np.arange(1.0, 49.0)
"""As many numbers as the model is wide."""


@pytest.mark.parametrize(
    ("key", "names"),
    [
        *((key, None) for key in (3, np.int64(3), "3", "direction.3", "blocks.3.hook_resid_post", "blocks.3.hook_out")),
        *(("layer_3", "layer_{}"), ("model.layers.3", "model.layers.{}"), ("direction.3", "direction.{}")),
    ],
)
def test_a_layer_is_a_number_a_known_name_or_of_a_form_that_was_given(model, key, names):
    (vector,) = import_vectors({key: VECTOR}, model, "output", prompts_of(model), names=names)
    assert vector.layer == 3


@pytest.mark.parametrize(
    "values",
    [
        *(VECTOR, VECTOR.astype(np.float16), VECTOR.astype(int), VECTOR.tolist(), VECTOR[::-1].copy()[::-1]),
        *(VECTOR[None], VECTOR[:, None], VECTOR[None, None], [VECTOR.tolist()]),
        torch.tensor(VECTOR).to(torch.bfloat16),
        torch.nn.Parameter(torch.tensor(VECTOR)),
    ],
)
def test_a_vector_may_be_whatever_holds_its_numbers(model, values):
    (vector,) = import_vectors({3: values}, model, "output", prompts_of(model))
    assert vector.raw_norm == pytest.approx(float(np.linalg.norm(VECTOR)))
    np.testing.assert_allclose(vector.direction * vector.raw_norm, VECTOR, rtol=1e-5)


NAN, ENDLESS = (np.where(np.arange(48) == 2, value, VECTOR) for value in (np.nan, np.inf))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            {3: VECTOR[:47]},
            r"of 3 has shape \(47,\), and this model takes one of 48 numbers .* take vectors of this model",
        ),
        ({3: np.ones((5, 48))}, r"has shape \(5, 48\), .* give each of its rows its layer"),
        ({3: VECTOR.reshape(4, 12)}, r"has shape \(4, 12\)"),
        ({3: 1.0}, r"has shape \(1?,?\)"),
        ({3: []}, r"has shape \(0,\)"),
        ({3: NAN}, "holds 1 numbers that are not finite"),
        ({3: ENDLESS}, "holds 1 numbers that are not finite"),
        ({3: VECTOR * 1e300}, "holds 48 numbers that are not finite"),
        ({3: VECTOR * 1e30}, "has length inf, so that it has no direction"),
        ({3: VECTOR * 0}, "has length 0, so that it has no direction"),
        ({3: VECTOR.astype(complex)}, "is of complex128; give real numbers"),
        ({3: VECTOR > 3}, "is of bool"),
        ({3: None}, "is no array of numbers"),
        ({3: "a vector"}, "is no array of numbers"),
        ({3: [VECTOR, VECTOR[:3]]}, "is no array of numbers"),
        ({"model.layers.3": VECTOR}, r"no layer's number; .* names='model\.layers\.{}' reads 'model\.layers\.3'"),
        ({"blocks.3.hook_mlp_out": VECTOR}, "no layer's number; .* if it is of the stream"),
        ({"blocks.3.hook_resid_pre": VECTOR}, "counts layers by the convention 'input', .* give 'input'"),
        ({"hidden_states.3": VECTOR}, "counts layers by the convention 'one-based', .* give 'one-based'"),
        ({"mean": VECTOR}, "names='layer_{}' reads 'layer_2'"),
        ({True: VECTOR}, "True is no layer's number"),
        ({3.5: VECTOR}, "3.5 is no layer's number"),
        ({3: VECTOR, "3": VECTOR}, "two keys of the source name layer 3, '3' the second"),
        ({-1: VECTOR}, "-1 is layer -1 by the convention 'output'"),
        ({5: VECTOR}, "5 is layer 5 by the convention 'output', counted from 0, but this model has layers 0-4"),
        ({}, "holds no vectors"),
        (
            np.ones((5, 48)),
            r"given as ndarray, which does not say which layer each is for; .* dict\(enumerate\(rows\)\)",
        ),
        (torch.tensor(VECTOR), "given as Tensor, which does not say"),
    ],
)
def test_what_is_no_vector_is_refused_in_a_true_sentence(model, source, message):
    """What is no vector of a layer is refused in a sentence that is true."""
    with pytest.raises(InputError, match=message):
        import_vectors(source, model, "output", prompts_of(model))


@pytest.mark.parametrize("convention", ["input", "one-based"])
def test_a_source_that_tells_how_it_counts_is_taken_at_its_word(model, tmp_path, convention):
    everywhere(model).export_gguf(tmp_path / "v.gguf", model, 0.4)
    for source in (tmp_path / "v.gguf", SimpleNamespace(directions={3: VECTOR})):
        with pytest.raises(InputError, match=f"was given as '{convention}'"):
            import_vectors(source, model, convention, prompts_of(model))


def test_a_control_vector_of_another_type_of_model_is_said(model, tmp_path, monkeypatch):
    everywhere(model).export_gguf(tmp_path / "v.gguf", model, 0.4)
    monkeypatch.setattr(model.stack.config, "model_type", "qwen2")
    with pytest.warns(Notice, match="a model of type 'llama', and this one is of type 'qwen2'"):
        import_vectors(tmp_path / "v.gguf", model, "output", prompts_of(model))


def test_a_vector_of_this_project_is_read_by_its_own_way(model, tmp_path):
    vectors_at(model, [2])[0].save(tmp_path / "v.safetensors")
    with pytest.raises(InputError, match=r"is a vector of this project; read it by SteeringVector\.load"):
        import_vectors(tmp_path / "v.safetensors", model, "output", prompts_of(model))


def test_a_tensor_becomes_a_vector_by_one_call(model):
    rows = torch.randn(3, model.d_model, generator=torch.Generator().manual_seed(0))
    (first, *_) = made = as_vector(rows, model, [2, 1, 3])
    assert [each.layer for each in made] == [2, 1, 3]
    for vector, row in zip(made, rows, strict=True):
        torch.testing.assert_close(vector.direction * vector.raw_norm, row)
    alone = as_vector(rows[0].tolist(), model, 2)
    torch.testing.assert_close(alone.direction, first.direction)
    with pytest.raises(InputError, match="3 directions were given for 2 layers"):
        as_vector(rows, model, range(2))
    with pytest.raises(InputError, match="layer 99"):
        as_vector(rows[0], model, 99)
