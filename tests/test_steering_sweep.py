"""The sweep says what plain forward hooks say, question by question and magnitude by magnitude."""

import numpy as np
import pandas as pd
import pytest
import torch
from tiny_models import ARCHITECTURES, outspoken_model, tiny_model

from common import InputError
from elicitation.prompts import METACOGNITIVE
from elicitation.questions import Question
from steering import PromptSet, SteeringSpec, SteeringVector, extract_vectors, random_vector, sweep
from steering.extraction import split_by_response

WORDS = ["river", "mountain", "poet", "spider", "engine", "planet", "chess", "violin", "cheese", "battle", "sea", "ode"]
QUESTIONS = [
    Question(f"q{i}", f"What is the {'very ' * (i % 4)}first {WORDS[i % 12]} of {WORDS[i // 2]}?") for i in range(24)
]
MAGNITUDES = [-1.0, -0.2, 0.0, 0.3, 1.0]


@pytest.fixture(scope="module", params=sorted(ARCHITECTURES))
def model(request):
    return tiny_model(request.param)


@pytest.fixture(scope="module")
def prompts(model):
    return PromptSet.build(model, QUESTIONS, METACOGNITIVE)


@pytest.fixture(scope="module")
def vectors(model, prompts):
    return extract_vectors(model, prompts, [1, 3], "answer")


def plain_margin(model, prompts, index, vector, magnitude, positions):
    """One question, one magnitude, one forward, with the edit applied by the model's own hook."""
    batch = model.tokenise([METACOGNITIVE.fill(QUESTIONS[index].text)])
    addition = vector.addition(torch.tensor(magnitude), SteeringSpec(positions))

    def edit(stream):
        changed = stream.clone()
        changed[:, -1 if positions == "last" else slice(None)] += addition
        return changed

    with model.edit_residual(vector.layer, edit):
        final = model.final_residual(batch)
    return model.readout.margin(final, prompts.tokens).item()


@pytest.mark.parametrize("positions", ["last", "all"])
def test_a_sweep_equals_plain_hooks(model, prompts, vectors, positions):
    result = sweep(model, prompts, vectors, MAGNITUDES, SteeringSpec(positions), batch_size=5)
    assert len(result.table) == len(QUESTIONS) * len(vectors) * len(MAGNITUDES)
    for vector in vectors:
        margins = result.table[result.table.vector_id == vector.vector_id].pivot(
            index="question_id", columns="magnitude", values="margin"
        )
        for index in (0, 7, 23):
            for magnitude in MAGNITUDES:
                plain = plain_margin(model, prompts, index, vector, magnitude, positions)
                assert margins.loc[f"q{index}", magnitude] == pytest.approx(plain, abs=1e-4)


def test_a_question_in_a_batch_is_answered_as_alone(model, prompts, vectors):
    together = sweep(model, prompts, vectors, MAGNITUDES, batch_size=24).table
    alone = sweep(model, prompts, vectors, MAGNITUDES, batch_size=1).table
    assert list(together.question_id) == list(alone.question_id)
    assert np.abs(together.margin - alone.margin).max() < 1e-4
    assert np.abs(together.mass - alone.mass).max() < 1e-5


def test_all_vectors_at_once_answer_as_each_alone(model, prompts, vectors):
    together = sweep(model, prompts, vectors, MAGNITUDES).table
    for vector in vectors:
        alone = sweep(model, prompts, [vector], MAGNITUDES).table
        own = together[together.vector_id == vector.vector_id]
        assert np.abs(own.margin.to_numpy() - alone.margin.to_numpy()).max() < 1e-4


def test_magnitude_zero_is_the_unsteered_answer(model, prompts, vectors):
    table = sweep(model, prompts, vectors, [0.0]).table
    unsteered = model.readout.margin(
        model.final_residual(model.tokenise([METACOGNITIVE.fill(q.text) for q in QUESTIONS])), prompts.tokens
    )
    for vector in vectors:
        own = table[table.vector_id == vector.vector_id]
        assert np.abs(own.margin.to_numpy() - unsteered.numpy()).max() < 1e-4


def test_an_interrupted_sweep_is_completed_by_asking_the_rest(model, prompts, vectors):
    kept = []

    class Killed(Exception):
        pass

    def sink(frame):
        kept.append(frame)
        if len(kept) == 2:
            raise Killed

    with pytest.raises(Killed):
        sweep(model, prompts, vectors, MAGNITUDES, sink=sink, batch_size=5)
    done = set().union(*(frame.question_id for frame in kept))
    rest = sweep(model, prompts, vectors, MAGNITUDES, done=done, batch_size=5).table
    whole = sweep(model, prompts, vectors, MAGNITUDES, batch_size=5).table
    assert done | set(rest.question_id) == set(whole.question_id)
    assert not done & set(rest.question_id)
    key = ["question_id", "vector_id", "magnitude"]
    joined = pd.concat([*kept, rest]).set_index(key).sort_index()
    assert np.abs(joined.margin - whole.set_index(key).sort_index().margin).max() < 1e-4


def test_memory_errors_halve_the_batch_and_lose_nothing(model, prompts, vectors, monkeypatch):
    whole = sweep(model, prompts, vectors, MAGNITUDES).table
    prefill = model.prefill

    def small_memory(sequences, layers, prefix, **options):
        if len(sequences) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return prefill(sequences, layers, prefix, **options)

    monkeypatch.setattr(model, "prefill", small_memory)
    tight = sweep(model, prompts, vectors, MAGNITUDES).table
    assert np.abs(whole.margin - tight.margin).max() < 1e-4


def test_the_response_contrast_points_towards_yes():
    """At the last layer only the final norm follows, so more of the vector must mean more of yes."""
    model = outspoken_model()
    prompts = PromptSet.build(model, QUESTIONS, METACOGNITIVE)
    last = model.n_layers - 1
    (vector,) = extract_vectors(model, prompts, [last], "response")
    means = sweep(model, prompts, [vector], [-0.1, 0.0, 0.1]).table.groupby("magnitude").margin.mean()
    assert means[-0.1] < means[0.0] < means[0.1]


def test_a_one_sided_subject_is_split_at_thirds_of_its_margin():
    margin = torch.linspace(1.0, 30.0, 30)
    yes, no = split_by_response(margin, torch.ones(30))
    assert yes.sum() == no.sum() == 10
    assert margin[yes].min() > margin[no].max()


def test_unread_questions_take_no_side():
    margin = torch.cat([torch.full((20,), 2.0), torch.full((20,), -2.0)])
    mass = torch.ones(40)
    mass[:5] = 0.01
    yes, no = split_by_response(margin, mass)
    assert int(yes.sum()) == 15
    assert int(no.sum()) == 20


def test_a_saved_vector_comes_back_whole_and_only_fits_its_own_model(tmp_path):
    model, other = tiny_model("llama", seed=0), tiny_model("llama", seed=1)
    prompts = PromptSet.build(model, QUESTIONS, METACOGNITIVE)
    (vector,) = extract_vectors(model, prompts, [2], "answer")
    vector.save(tmp_path / "v.safetensors")
    back = SteeringVector.load(tmp_path / "v.safetensors")
    assert torch.equal(back.direction, vector.direction)
    for name in (
        "layer",
        "raw_norm",
        "residual_norm",
        "model",
        "contrast",
        "method",
        "n_yes",
        "prompt_hash",
        "versions",
    ):
        assert getattr(back, name) == getattr(vector, name)
    with pytest.raises(InputError, match="extract a vector from this model"):
        sweep(other, prompts, [back], [0.0])


def test_a_random_control_has_the_vectors_length_and_its_own_direction():
    model = tiny_model("llama")
    prompts = PromptSet.build(model, QUESTIONS, METACOGNITIVE)
    (vector,) = extract_vectors(model, prompts, [2], "answer")
    one, again, other = random_vector(vector, 1), random_vector(vector, 1), random_vector(vector, 2)
    spec = SteeringSpec()
    length = vector.addition(torch.tensor(0.7), spec).norm()
    assert torch.isclose(one.addition(torch.tensor(0.7), spec).norm(), length)
    assert torch.equal(one.direction, again.direction)
    assert abs(one.direction @ other.direction) < 0.6


@pytest.mark.parametrize("magnitudes", [[], [float("nan")], [float("inf")]])
def test_endless_or_missing_magnitudes_are_refused(magnitudes):
    model = tiny_model("llama")
    prompts = PromptSet.build(model, QUESTIONS, METACOGNITIVE)
    vector = extract_vectors(model, prompts, [2], "answer")
    with pytest.raises(InputError, match="at least one number"):
        sweep(model, prompts, vector, magnitudes)
