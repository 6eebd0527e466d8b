"""What is exported does in its real consumer what it does here; what a format cannot say is refused."""

import numpy as np
import pytest
import torch
from safetensors import safe_open
from tiny_models import save_tiny, tiny_hf, tiny_model, vectors_at

from onedial.asking import METACOGNITIVE, Question
from onedial.core import InputError
from onedial.models import PromptSet, load_model
from steering import Intervention, export_gguf, export_lm_eval, export_tensors, import_vectors, sweep

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
    export_gguf(intervention, 0.4, tmp_path / "v.gguf", model)
    vector = repeng.ControlVector.import_gguf(tmp_path / "v.gguf")
    assert sorted(vector.directions) == LAYERS
    controlled = repeng.ControlModel(tiny_hf("llama").eval(), LAYERS)
    controlled.set_control(vector, 1.0)
    theirs = their_margins(lambda ids: controlled(input_ids=ids).logits, model)
    np.testing.assert_allclose(theirs, our_margins(model, intervention, 0.4), atol=2e-4)


@pytest.mark.parametrize("operator", ["add", "clamp"])
def test_lm_eval_steers_with_our_file_as_we_do(tmp_path, operator):
    steered = pytest.importorskip("lm_eval.models.hf_steered", reason="lm-eval is not installed (pip install lm-eval)")
    save_tiny(tmp_path / "model")
    model = load_model(str(tmp_path / "model"), device="cpu")
    intervention = everywhere(model, operator=operator)
    export_lm_eval(intervention, 0.4, tmp_path / "v.pt")
    theirs = steered.SteeredModel(str(tmp_path / "model"), str(tmp_path / "v.pt"), device="cpu", dtype="float32")
    np.testing.assert_allclose(
        their_margins(theirs._model_call, model), our_margins(model, intervention, 0.4), atol=2e-4
    )


def test_what_is_exported_comes_back(model, tmp_path):
    intervention = everywhere(model)
    export_gguf(intervention, 0.4, tmp_path / "v.gguf", model)
    export_tensors(intervention, 0.4, tmp_path / "v.safetensors")
    expected = our_margins(model, intervention, 0.4)
    with safe_open(tmp_path / "v.safetensors", framework="pt") as file:
        by_layer = {int(name.split(".")[1]): file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        assert file.metadata()["layers"].startswith("output of block N, 0-based")
    for source in (tmp_path / "v.gguf", tmp_path / "v.safetensors", by_layer):
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
    ("how", "said"),
    [
        ({"positions": "last"}, "acts at every position.*this intervention at 'last'"),
        ({"operator": "rotate"}, "can add, not rotate"),
    ],
)
def test_what_a_format_cannot_say_is_refused(model, tmp_path, how, said):
    with pytest.raises(InputError, match=said):
        export_gguf(everywhere(model, **how), 0.4, tmp_path / "v.gguf", model)
    assert not list(tmp_path.iterdir())


def test_other_mistakes_are_said(model, tmp_path):
    prompts = prompts_of(model)
    lowest = Intervention.of(*vectors_at(model, [0]), positions="all")
    with pytest.raises(InputError, match="no control vector at layer 0"):
        export_gguf(lowest, 1.0, tmp_path / "v.gguf", model)
    with pytest.raises(InputError, match=r"does not end in \.pt"):
        export_lm_eval(lowest, 1.0, tmp_path / "v.bin")
    with pytest.raises(InputError, match="clamp at magnitude 0 is off"):
        export_lm_eval(everywhere(model, operator="clamp"), 0.0, tmp_path / "v.pt")
    with pytest.raises(InputError, match="'guess' is not known; say how the source counts layers"):
        import_vectors({1: torch.ones(48)}, model, "guess", prompts)
    with pytest.raises(InputError, match="begin before the first block"):
        import_vectors({0: torch.ones(48)}, model, "input", prompts)
    with pytest.raises(InputError, match="the model is 48 wide"):
        import_vectors({1: torch.ones(47)}, model, "output", prompts)
    (tmp_path / "v.pt").write_bytes(b"")
    with pytest.raises(InputError, match=r"pickles .* are code and are not read"):
        import_vectors(tmp_path / "v.pt", model, "output", prompts)
