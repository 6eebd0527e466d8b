"""The sweep says what plain forward hooks say, question by question and magnitude by magnitude."""

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import norm
from tiny_models import ARCHITECTURES, outspoken_model, tiny_model

from common import InputError
from elicitation.prompts import METACOGNITIVE
from elicitation.questions import Question
from open_models.tokens import pad_batch
from steering import PromptSet, SteeringSpec, SteeringVector, extract_vectors, layers, random_vector, sweep
from steering.extraction import Activations, read_activations, response_vectors, split_by_response
from steering.magnitudes import even_in_yes_rate, yes_rates
from steering.plan import control_grid
from steering.sweep import ROWS_PER_QUESTION, SweepResult

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


def test_of_a_batch_that_was_done_in_part_only_the_rest_is_asked():
    model = tiny_model("llama")
    prompts, done = PromptSet.build(model, QUESTIONS, METACOGNITIVE), {"q0", "q7", "q8", "q23"}
    vectors = extract_vectors(model, prompts, [1, 3], "answer")
    whole = sweep(model, prompts, vectors, MAGNITUDES, batch_size=5).table
    rest = sweep(model, prompts, vectors, MAGNITUDES, done=done, batch_size=5).table
    expected = whole[~whole.question_id.isin(done)].reset_index(drop=True)
    assert rest[["question_id", "vector_id", "magnitude"]].equals(expected[["question_id", "vector_id", "magnitude"]])
    assert np.abs(rest.margin - expected.margin).max() < 1e-4


@pytest.mark.parametrize("positions", ["last", "all"])
def test_a_long_list_of_magnitudes_gives_each_the_answer_that_it_has_alone(positions):
    model = tiny_model("llama")
    prompts = PromptSet.build(model, QUESTIONS[:5], METACOGNITIVE)
    vector, spec = extract_vectors(model, prompts, [2], "answer"), SteeringSpec(positions)
    grid = np.linspace(-1, 1, 2 * ROWS_PER_QUESTION + 7).tolist()
    table = sweep(model, prompts, vector, grid, spec).table
    for magnitude in (grid[0], grid[ROWS_PER_QUESTION], grid[-1]):
        among, alone = table[table.magnitude == magnitude], sweep(model, prompts, vector, [magnitude], spec).table
        assert np.abs(among.margin.to_numpy() - alone.margin.to_numpy()).max() < 1e-4
        assert np.abs(among.mass.to_numpy() - alone.mass.to_numpy()).max() < 1e-5


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


def test_what_counts_as_unread_is_in_no_margin_and_no_yes_rate():
    table = pd.DataFrame(
        {
            "question_id": ["a", "b", "c", "d", "e"],
            "vector_id": "v",
            "magnitude": 0.0,
            "margin": [1.0, 2.0, -1.0, 3.0, -4.0],
            "mass": [0.9, 0.1, 0.5, 0.8, 0.09],
        }
    )
    assert SweepResult(table).margins("v").index[SweepResult(table).margins("v")[0.0].isna()].tolist() == ["e"]
    assert yes_rates(table).loc[0.0].to_dict() == {"yes_rate": 0.75, "unread": 0.2}


def test_activations_stand_beside_the_questions_that_they_are_of(model, prompts):
    read = read_activations(model, prompts, [1, 3])
    batch = model.tokenise([METACOGNITIVE.fill(question.text) for question in QUESTIONS])
    assert read.question_ids == tuple(question.id for question in QUESTIONS)
    assert torch.allclose(read.residuals, model.read_residual(batch, [1, 3]), atol=1e-3)
    assert torch.allclose(read.margin, model.readout.margin(model.final_residual(batch), prompts.tokens), atol=1e-4)


def test_the_response_vector_is_the_difference_of_means_over_what_was_read():
    model, generator = tiny_model("llama"), torch.Generator().manual_seed(0)
    prompts, place = PromptSet.build(model, QUESTIONS, METACOGNITIVE), torch.arange(23)
    margin, mass = torch.where(place % 2 == 0, 1.0, -1.0), torch.where(place % 5 == 0, 0.05, 0.9)
    residuals = torch.randn(23, 2, model.d_model, generator=generator)
    residuals[0] *= 100  # one long stream must not set the unit
    ids = tuple(f"q{i}" for i in range(23))
    vectors = response_vectors(model, prompts, Activations(ids, (1, 3), margin, mass, residuals))
    yes, no = (mass > 0.1) & (margin > 0), (mass > 0.1) & (margin < 0)
    for row, vector in enumerate(vectors):
        expected = residuals[yes, row].mean(dim=0) - residuals[no, row].mean(dim=0)
        assert torch.allclose(vector.direction * vector.raw_norm, expected, atol=1e-5)
        assert vector.residual_norm == pytest.approx(np.median(np.linalg.norm(residuals[:, row].numpy(), axis=1)))
        assert (vector.n_yes, vector.n_no, vector.n_unread) == (int(yes.sum()), int(no.sum()), 5)


def test_the_answer_vector_is_the_stream_after_yes_minus_that_after_no(model, prompts, vectors):
    means = []
    for token in (prompts.tokens.yes[0], prompts.tokens.no[0]):
        batch = pad_batch([[*sequence, token] for sequence in prompts.sequences], model.pad_id)
        means.append(model.read_residual(batch, [1, 3]).mean(dim=0))
    for row, vector in enumerate(vectors):
        difference = (means[0] - means[1])[row]
        assert torch.allclose(vector.direction * vector.raw_norm, difference, atol=1e-3)


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


@pytest.mark.parametrize(("n_yes", "sides"), [(7, (13, 13)), (8, (8, 32)), (32, (32, 8)), (33, (13, 13))])
def test_the_sign_of_the_margin_splits_where_a_fifth_says_otherwise_and_thirds_below(n_yes, sides):
    margin = torch.arange(40.0) - (39.5 - n_yes)
    yes, no = split_by_response(margin, torch.ones(40))
    assert (int(yes.sum()), int(no.sum())) == sides


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


@pytest.mark.parametrize("unit", ["residual_norm", "raw"])
def test_a_random_control_has_the_vectors_length_and_its_own_direction(unit):
    model = tiny_model("llama")
    prompts = PromptSet.build(model, QUESTIONS, METACOGNITIVE)
    (vector,) = extract_vectors(model, prompts, [2], "answer")
    one, again, other = random_vector(vector, 1), random_vector(vector, 1), random_vector(vector, 2)
    spec = SteeringSpec(unit=unit)
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


# ---- layer and magnitudes, chosen from margins with a known truth ----------------------------------------------------

EASE = norm.ppf((np.arange(200) + 0.5) / 200)


def scan_of(monkeypatch, gains, unit):
    """A scan in which a push of one residual norm at a layer raises every margin by that layer's gain."""
    model = tiny_model("llama")

    def simulated(model, prompts, vectors, grids, spec, progress):
        parts = []
        for vector in vectors:
            added = vector.addition(torch.tensor(grids[vector.vector_id]), spec) @ vector.direction
            margins = EASE + gains[vector.layer] * added.numpy()[:, None] / vector.residual_norm
            parts.append(
                pd.DataFrame(
                    {
                        "vector_id": vector.vector_id,
                        "magnitude": np.repeat(grids[vector.vector_id], len(EASE)),
                        "margin": margins.ravel(),
                        "mass": 0.9,
                    }
                )
            )
        return SweepResult(pd.concat(parts))

    monkeypatch.setattr(layers, "sweep", simulated)
    direction = torch.eye(model.d_model)[0]
    vectors = [SteeringVector(direction, layer, 0.5, 5.0, model.identity) for layer in gains]
    return layers.scan_layers(model, PromptSet.build(model, QUESTIONS, METACOGNITIVE), vectors, SteeringSpec(unit=unit))


@pytest.mark.parametrize("unit", ["residual_norm", "raw"])
def test_the_layer_that_turns_the_answers_with_the_smallest_push_is_chosen(monkeypatch, unit):
    gains = {0: 1.0, 1: 6.0, 2: 12.0, 3: 3.0}
    scan = scan_of(monkeypatch, gains, unit)
    assert (scan.layer, scan.spans) == (2, True)
    for layer, gain in gains.items():
        assert 0.5 < scan.reach[layer] * gain / norm.ppf(0.95) < 2  # the doubled magnitudes lie that far apart
    assert scan.rates().index.max() == pytest.approx(4.0 if unit == "residual_norm" else 40.0)


def test_where_no_layer_turns_the_answers_both_ways_the_one_that_moves_them_most_is_chosen(monkeypatch):
    scan = scan_of(monkeypatch, {0: 0.1, 1: 0.3, 2: 0.2}, "residual_norm")
    assert (scan.layer, scan.spans) == (1, False)
    assert np.isinf(scan.reach).all()


def test_the_side_that_needs_the_longer_push_says_how_far_a_layer_reaches():
    rates = pd.DataFrame({"yes_rate": [0.01, 0.2, 0.5, 0.99, 1.0], "unread": 0.0}, index=[-0.2, -0.1, 0.0, 0.1, 0.2])
    assert layers.spanning_magnitude(rates) == pytest.approx(0.1 + 0.1 * 0.15 / 0.19)
    mirrored = (1 - rates["yes_rate"]).to_frame().assign(unread=0.0).set_axis(-rates.index).sort_index()
    assert layers.spanning_magnitude(mirrored) == pytest.approx(0.1 + 0.1 * 0.15 / 0.19)


def test_the_magnitudes_are_even_in_yes_rate_whatever_could_not_be_read():
    coarse = np.linspace(-4, 4, 25)
    margins = pd.DataFrame(EASE[:, None] + coarse, columns=coarse)
    unread = pd.DataFrame(np.where(coarse > 0, np.nan, -9.0) + np.zeros((100, 1)), columns=coarse)
    grid = even_in_yes_rate(pd.concat([margins, unread]), 41)
    assert len(grid) == 41
    assert (0.0 in grid, grid[0], grid[-1]) == (True, -4.0, 4.0)
    assert np.diff(norm.cdf(grid)).max() < 0.055  # even steps of magnitude: .08; even in yes rate .026, twice that at 0
    assert grid == even_in_yes_rate(margins, 41)


@pytest.mark.parametrize(("unit", "norms"), [("residual_norm", 1.0), ("raw", 10.0)])
def test_a_control_is_swept_over_the_vectors_range_and_out_to_four_norms_beyond(unit, norms):
    model = tiny_model("llama")
    vector = SteeringVector(torch.eye(model.d_model)[0], 2, 0.5, 5.0, model.identity)
    grid = [norms * magnitude for magnitude in np.linspace(-0.3, 0.5, 41)]
    found = control_grid(grid, vector, SteeringSpec(unit=unit))
    assert found == sorted(set(found))
    assert {0.0, grid[0], grid[-1]} <= set(found)
    assert (found[0], found[-1]) == (-4 * norms, 4 * norms)
