"""Every operator, position and direction there is; that sweeps equal bare hooks is tested in test_certified.py.

Operators and directions are read from their dictionaries: a new one is tested here by itself.
"""

import numpy as np
import pytest
import torch
from bare_hook import bare_margin
from tiny_models import outspoken_model, tiny_model, vectors_at

from onedial.asking.prompts import METACOGNITIVE
from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.models.prompt_set import PromptSet
from steering.directions import DIRECTIONS, READ_NO_SIDES
from steering.interventions import Intervention
from steering.operators import OPERATORS
from steering.sweeping import sweep
from steering.vectors import extract_vector

QUESTIONS = [
    Question(f"q{i}", text)
    for i, text in enumerate(["Who?", "What is the capital of France, and why?", "How many legs has a spider?"])
]
MAGNITUDES = [-0.7, 1.0]


@pytest.fixture(scope="module", params=["gemma2", "llama", "mistral", "qwen3_next"])
def model(request):
    """One whose blocks have norms of their own, a plain one, one that looks back so far, and one with a state."""
    return tiny_model(request.param)


@pytest.fixture(scope="module")
def outspoken():
    """A model that says yes as well as no, and questions for it."""
    model = outspoken_model()
    questions = [Question(f"q{i}", f"What is the {'very ' * (i % 4)}best of {i}?") for i in range(24)]
    return model, PromptSet.build(model, questions, METACOGNITIVE)


def test_generated_positions_hold_no_answer_that_a_sweep_could_read(model):
    prompts = PromptSet.build(model, QUESTIONS, METACOGNITIVE)
    with pytest.raises(InputError, match="the positions 'generated' change nothing at the end of the prompt"):
        sweep(model, [Intervention.of(*vectors_at(model, [2]), positions="generated")], prompts, MAGNITUDES)


def test_a_fast_path_that_gives_something_else_is_not_taken(monkeypatch):
    """A decoder may pass something on between positions that no config names: the check at load finds it."""
    model = tiny_model("llama")
    layer = model.stack.layers[3]
    forward = layer.forward

    def leaking(hidden_states, *args, **kwargs):
        output = forward(hidden_states, *args, **kwargs)
        return output + hidden_states.cumsum(dim=1) / 10  # a recurrence over the positions that it is given

    monkeypatch.setattr(layer, "forward", leaking)
    with pytest.warns(UserWarning, match="the fast path is off by"):
        assert model.fast_paths_for(0).allowed == frozenset()
    prompts = PromptSet.build(model, QUESTIONS[1:2], METACOGNITIVE)
    intervention = Intervention.of(*vectors_at(model, [1]))
    (margin,) = sweep(model, [intervention], prompts, [0.5]).table["margin"]
    expected = bare_margin(model, prompts.sequences[0], prompts.tokens, intervention, 0.5)
    assert margin == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("operator", OPERATORS)
def test_at_magnitude_0_no_bit_changes(operator):
    """At magnitude 0 an operator changes no bit and it writes to nothing."""
    generator = torch.Generator().manual_seed(0)
    for dtype in (torch.float32, torch.bfloat16):
        stream = torch.randn(3, 5, 16, generator=generator).to(dtype)
        before, direction = stream.clone(), torch.eye(16)[3]
        assert torch.equal(OPERATORS[operator](stream, direction, torch.tensor(0.0), 2.5), before)
        changed = OPERATORS[operator](stream, direction, torch.tensor([[0.5], [0.0], [-1.0]]), 2.5)
        assert torch.equal(stream, before)
        assert changed.dtype == dtype
        assert changed.shape == stream.shape
        assert torch.equal(changed[1], before[1])


@pytest.mark.parametrize("contrast", ["response", "answer", "persona"])  # the others by framing are as persona is
@pytest.mark.parametrize("method", DIRECTIONS)
def test_every_direction_of_every_contrast_has_unit_length_and_repeats(outspoken, method, contrast):
    model, prompts = outspoken
    if contrast == "persona" and method in READ_NO_SIDES:
        with pytest.raises(InputError, match="would say nothing to it"):
            extract_vector(model, prompts, [1], contrast=contrast, method=method)
        return
    once, again = (extract_vector(model, prompts, [1, 3], contrast=contrast, method=method, seed=3) for _ in range(2))
    for vector, other in zip(once, again, strict=True):
        assert vector.direction.norm().item() == pytest.approx(1.0, abs=1e-5)
        assert torch.equal(vector.direction, other.direction)
        assert (vector.method, vector.raw_norm > 0, vector.residual_norm > 0) == (method, True, True)
        assert method in vector.vector_id
    assert [vector.layer for vector in once] == [1, 3]


def test_an_intervention_is_saved_and_comes_back(tmp_path):
    model = tiny_model("llama")
    vectors = vectors_at(model, [3, 1])
    intervention = Intervention.of(*vectors, positions="all", unit="raw")
    entry = intervention.as_dict([-1.0, 0.0, 1.0])
    assert entry["layers"] == [1, 3]
    assert entry["vectors"] == [vectors[1].vector_id, vectors[0].vector_id]
    back = Intervention.from_dict(entry, {vector.vector_id: vector for vector in vectors})
    assert (back.role, back.positions, back.unit, back.reads_at) == ("vector", "all", "raw", "all")
    prompts = PromptSet.build(model, QUESTIONS, METACOGNITIVE)
    one, two = (sweep(model, [each], prompts, [0.5]).table for each in (intervention, back))
    np.testing.assert_array_equal(one["margin"], two["margin"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"operator": "subtract"}, "operator 'subtract' is not known; choose one of add"),
        ({"positions": "first"}, "positions 'first' is not known; choose one of answer, last, prompt, all"),
        ({"unit": "metres"}, "unit 'metres' is not known; choose one of residual_norm, raw"),
        ({"role": "hero"}, "role 'hero' is not known"),
    ],
)
def test_an_unknown_choice_is_refused_where_it_is_made(options, message):
    with pytest.raises(InputError, match=message):
        Intervention.of(*vectors_at(tiny_model("llama"), [1]), **options)


def test_unknown_choices_are_refused():
    """Unknown methods contrasts and impossible sets of vectors are refused."""
    model = tiny_model("llama")
    prompts, (vector,) = PromptSet.build(model, QUESTIONS, METACOGNITIVE), vectors_at(model, [1])
    with pytest.raises(InputError, match="method 'pca2' is not known; choose one of mean_difference, without_"):
        extract_vector(model, prompts, [1], method="pca2")
    with pytest.raises(InputError, match="contrast 'mood' is not known; choose one of response, answer"):
        extract_vector(model, prompts, [1], contrast="mood")
    with pytest.raises(InputError, match="was given no steering vector"):
        Intervention.of()
    with pytest.raises(InputError, match="two vectors at one layer"):
        Intervention.of(vector, vector)
    with pytest.raises(InputError, match="vectors of two models"):
        Intervention.of(vector, *vectors_at(tiny_model("llama", seed=1), [2]))
    with pytest.raises(InputError, match="two interventions share a name"):
        sweep(model, [vector, vector], prompts, [0.0])
