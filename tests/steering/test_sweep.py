"""The sweep says what plain forward hooks say, question by question and magnitude by magnitude."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import norm
from tiny_models import outspoken_model, tiny_model, vectors_at

from onedial.asking.prompts import METACOGNITIVE
from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.models.forward.activations import Activations, read_activations
from onedial.models.prompt_set import PromptSet
from onedial.models.tokens import pad_batch
from steering.contrasts import Contrast, split_by_response
from steering.interventions import Intervention, SteeringVector, as_interventions
from steering.planning import layers
from steering.planning.magnitudes import even_in_yes_rate, find_range, yes_rates
from steering.reading import answers_along
from steering.sweeping import SweepResult, sweep
from steering.vectors import extract_vector, vectors_of

WORDS = ["river", "mountain", "poet", "spider", "engine", "planet", "chess", "violin", "cheese", "battle", "sea", "ode"]
QUESTIONS = [
    Question(f"q{i}", f"What is the {'very ' * (i % 4)}first {WORDS[i % 12]} of {WORDS[i // 2]}?") for i in range(24)
]
MAGNITUDES = [-1.0, -0.2, 0.0, 0.3, 1.0]


@pytest.fixture(scope="module", params=["gemma2", "llama"])
def model(request):
    return tiny_model(request.param)


@pytest.fixture(scope="module")
def vectors(model):
    return vectors_at(model, [1, 3])


def at(positions, vectors):
    return [Intervention.of(vector, positions=positions) for vector in vectors]


def test_an_overflow_leaves_the_unsteered_answers():
    """A magnitude that overflows leaves the unsteered answers as they are."""
    model = tiny_model("gpt2")
    prompts = PromptSet.build(model, QUESTIONS[:6], METACOGNITIVE)
    raw = [Intervention.of(vectors_at(model, [1])[0], unit="raw")]
    alone, beside = (sweep(model, raw, prompts, [0.0, far]).table.set_index("magnitude") for far in (1.0, 3e38))
    assert beside.loc[3e38, "margin"].isna().all()
    np.testing.assert_allclose(beside.loc[0.0, "margin"], alone.loc[0.0, "margin"], atol=1e-4)


def test_an_interrupted_sweep_is_completed_by_asking_the_rest(model, prompts, vectors):
    kept, pushed, prompts = [], as_interventions(vectors), replace(prompts, at_once=5)

    class Killed(Exception):
        pass

    def sink(frame):
        kept.append(frame)
        if len(kept) == 2:
            raise Killed

    with pytest.raises(Killed):
        answers_along(model, pushed, prompts, MAGNITUDES, sink=sink)
    done = set().union(*(frame.question_id for frame in kept))
    rest = answers_along(model, pushed, prompts, MAGNITUDES, done=done)
    whole = answers_along(model, pushed, prompts, MAGNITUDES)
    assert done | set(rest.question_id) == set(whole.question_id)
    assert not done & set(rest.question_id)
    key = ["question_id", "intervention_id", "magnitude"]
    joined = pd.concat([*kept, rest]).set_index(key).sort_index()
    assert np.abs(joined.margin - whole.set_index(key).sort_index().margin).max() < 1e-4


def test_what_counts_as_unread_is_in_no_margin_and_no_yes_rate():
    table = pd.DataFrame(
        {
            "question_id": ["a", "b", "c", "d", "e"],
            "intervention_id": "v",
            "magnitude": 0.0,
            "margin": [1.0, 2.0, -1.0, 3.0, -4.0],
            "mass": [0.9, 0.1, 0.5, 0.8, 0.09],
        }
    )
    assert SweepResult(table).margins("v").index[SweepResult(table).margins("v")[0.0].isna()].tolist() == ["e"]
    assert yes_rates(table).loc[0.0].to_dict() == {"yes_rate": 0.75, "unread": 0.2}


def test_the_response_vector_is_the_difference_of_means_over_what_was_read():
    model, generator = tiny_model("llama"), torch.Generator().manual_seed(0)
    place = torch.arange(23)
    margin, mass = torch.where(place % 2 == 0, 1.0, -1.0), torch.where(place % 5 == 0, 0.05, 0.9)
    residuals = torch.randn(23, 2, model.d_model, generator=generator)
    residuals[0] *= 100  # one long stream must not set the unit
    ids = tuple(f"q{i}" for i in range(23))
    said_yes, said_no = split_by_response(margin, mass)
    read = Activations(ids, (1, 3), margin, mass, residuals)
    contrast = Contrast("response", (1, 3), residuals[said_yes], residuals[said_no], read)
    vectors = vectors_of(model.identity, contrast)
    yes, no = (mass > 0.1) & (margin > 0), (mass > 0.1) & (margin < 0)
    for row, vector in enumerate(vectors):
        expected = residuals[yes, row].mean(dim=0) - residuals[no, row].mean(dim=0)
        assert torch.allclose(vector.direction * vector.raw_norm, expected, atol=1e-5)
        assert vector.residual_norm == pytest.approx(np.median(np.linalg.norm(residuals[:, row].numpy(), axis=1)))
        assert (vector.n_yes, vector.n_no, vector.n_unread) == (int(yes.sum()), int(no.sum()), 5)


@pytest.mark.parametrize("architecture", ["mistral", "qwen3"])
def test_the_answer_vector_is_yes_minus_no(monkeypatch, architecture):
    """The answer vector is the stream after yes minus that after no where the answer is read."""
    model, means = outspoken_model(architecture=architecture), []
    prompts = PromptSet.build(model, QUESTIONS, METACOGNITIVE)
    mass = read_activations(model, prompts, []).mass
    monkeypatch.setattr("onedial.models.forward.activations.is_read", lambda masses: masses > mass.median())
    read = read_activations(model, prompts, []).read
    assert 10 < int(read.sum()) < len(QUESTIONS)
    vectors = extract_vector(model, prompts, [1, 3], contrast="answer")
    for token in (prompts.tokens.yes[0], prompts.tokens.no[0]):
        batch = pad_batch([[*sequence, token] for sequence in prompts.sequences], model.stack.pad_id)
        means.append(model.read_residual(batch, [1, 3])[read].mean(dim=0))
    for row, vector in enumerate(vectors):
        difference = (means[0] - means[1])[row]
        assert torch.allclose(vector.direction * vector.raw_norm, difference, atol=1e-3)
        assert (vector.n_yes, vector.n_no, vector.n_unread) == (read.sum(), read.sum(), (~read).sum())


def test_the_response_contrast_points_towards_yes():
    """At the last layer only the final norm follows, so more of the vector must mean more of yes."""
    model = outspoken_model()
    prompts = PromptSet.build(model, QUESTIONS, METACOGNITIVE)
    last = model.n_layers - 1
    (vector,) = extract_vector(model, prompts, [last], contrast="response")
    means = sweep(model, [vector], prompts, [-0.1, 0.0, 0.1]).table.groupby("magnitude").margin.mean()
    assert means[-0.1] < means[0.0] < means[0.1]


def test_a_one_sided_subject_is_split_at_thirds_of_its_margin():
    margin = torch.linspace(1.0, 30.0, 30)
    yes, no = split_by_response(margin, torch.ones(30))
    assert yes.sum() == no.sum() == 10
    assert margin[yes].min() > margin[no].max()
    mass = torch.ones(30)
    mass[[0, 7, 8, 20, 28, 29]] = 0.0  # unread, and so in no third
    yes, no = split_by_response(margin, mass)
    assert no.nonzero().flatten().tolist() == [1, 2, 3, 4, 5, 6, 9, 10]
    assert yes.nonzero().flatten().tolist() == [19, 21, 22, 23, 24, 25, 26, 27]


def test_a_margin_of_exactly_0_is_on_the_side_of_no():
    margin = torch.tensor([1.0, 0.0, -1.0]).repeat(10)
    yes, no = split_by_response(margin, torch.ones(30))
    assert torch.equal(yes, margin > 0)
    assert torch.equal(no, margin <= 0)


def test_tied_margins_still_part_into_thirds():
    """Margins that tie still part into thirds without a question on both sides."""
    yes, no = split_by_response(torch.full((30,), -1.0), torch.ones(30))
    assert int(yes.sum()) == int(no.sum()) == 10
    assert not (yes & no).any()


@pytest.mark.parametrize(("n_yes", "sides"), [(7, (13, 13)), (8, (8, 32)), (32, (32, 8)), (33, (13, 13))])
def test_the_sign_splits_where_a_fifth_says_otherwise(n_yes, sides):
    """The sign of the margin splits where a fifth says otherwise and thirds below."""
    margin = torch.arange(40.0) - (39.5 - n_yes)
    yes, no = split_by_response(margin, torch.ones(40))
    assert (int(yes.sum()), int(no.sum())) == sides


def test_a_saved_vector_comes_back_whole_and_only_fits_its_own_model(tmp_path):
    model, other = tiny_model("llama", seed=0), tiny_model("llama", seed=1)
    prompts = PromptSet.build(model, QUESTIONS, METACOGNITIVE)
    (vector,) = vectors_at(model, [2])
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
        sweep(other, [back], prompts, [0.0])


def test_a_broken_vector_file_is_refused(tmp_path, monkeypatch):
    """A vector of another format or a broken file is refused in one sentence."""
    (vector,) = vectors_at(tiny_model("llama"), [2])
    file = tmp_path / "v.safetensors"
    with monkeypatch.context() as patched:
        patched.setattr("steering.interventions.FORMAT", "onedial-steering-vector-9")
        vector.save(file)
    with pytest.raises(InputError, match="says it is of format 'onedial-steering-vector-9', and this version reads"):
        SteeringVector.load(file)
    vector.save(file)
    file.write_bytes(file.read_bytes()[:-10])
    with pytest.raises(InputError, match="no steering vector of this project"):
        SteeringVector.load(file)
    with pytest.raises(InputError, match="no steering vector at"):
        SteeringVector.load(tmp_path / "absent.safetensors")


@pytest.mark.parametrize("magnitudes", [[], [float("nan")], [float("inf")]])
def test_endless_or_missing_magnitudes_are_refused(magnitudes):
    model = tiny_model("llama")
    prompts = PromptSet.build(model, QUESTIONS, METACOGNITIVE)
    vector = vectors_at(model, [2])
    with pytest.raises(InputError, match="at least one number"):
        sweep(model, vector, prompts, magnitudes)


# ---- layer and magnitudes, chosen from margins with a known truth ----------------------------------------------------

EASE = norm.ppf((np.arange(200) + 0.5) / 200)


def scan_of(monkeypatch, gains, unit):
    """A scan in which a push of one residual norm at a layer raises every margin by that layer's gain."""
    model = tiny_model("llama")

    def simulated(model, candidates, prompts, grids, progress):
        parts = []
        for each in candidates:
            (vector,) = each.vectors
            added = np.array(grids[each.intervention_id]) * vector.length(each.unit)
            margins = EASE + gains[vector.layer] * added[:, None] / vector.residual_norm
            parts.append(
                pd.DataFrame(
                    {
                        "intervention_id": each.intervention_id,
                        "magnitude": np.repeat(grids[each.intervention_id], len(EASE)),
                        "margin": margins.ravel(),
                        "mass": 0.9,
                    }
                )
            )
        return pd.concat(parts)

    monkeypatch.setattr("steering.planning.magnitudes.answers_along", simulated)
    direction = torch.eye(model.d_model)[0]
    vectors = [SteeringVector(direction, layer, 0.5, 5.0, model.identity) for layer in gains]
    candidates = [Intervention.of(vector, unit=unit) for vector in vectors]
    return layers.scan_layers(model, PromptSet.build(model, QUESTIONS, METACOGNITIVE), candidates)


@pytest.mark.parametrize("unit", ["residual_norm", "raw"])
def test_the_layer_that_turns_the_answers_with_the_smallest_push_is_chosen(monkeypatch, unit):
    gains = {0: 1.0, 1: 6.0, 2: 12.0, 3: 3.0}
    scan = scan_of(monkeypatch, gains, unit)
    assert (scan.layer, scan.spans) == (2, True)
    for layer in (1, 2):
        assert 0.5 < scan.reach[layer] * gains[layer] / norm.ppf(0.95) < 2  # the doubled magnitudes lie that far apart
    assert np.isinf(scan.reach[[0, 3]]).all()  # larger pushes are not tried on what needs more than the chosen one
    assert scan.table["magnitude"].max() == pytest.approx(0.4 if unit == "residual_norm" else 4.0)


def test_larger_pushes_are_tried_on_every_layer(monkeypatch):
    """Where a small push turns nothing larger ones are tried on every layer."""
    scan = scan_of(monkeypatch, {0: 1.0, 1: 0.6, 2: 0.1}, "residual_norm")
    assert (scan.layer, scan.spans) == (0, True)
    assert scan.reach[1] == pytest.approx(norm.ppf(0.95) / 0.6, rel=0.2)
    assert scan.table.groupby("layer")["magnitude"].max().tolist() == [4.0] * 3


def test_the_layer_that_moves_most_is_chosen(monkeypatch):
    """Where no layer turns the answers both ways the one that moves them most is chosen."""
    scan = scan_of(monkeypatch, {0: 0.1, 1: 0.3, 2: 0.2}, "residual_norm")
    assert (scan.layer, scan.spans) == (1, False)
    assert np.isinf(scan.reach).all()
    assert not scan.falls


def test_a_falling_layer_is_not_taken_for_a_rising_one(monkeypatch):
    """A layer along which the yes rate falls is not taken for one that raises it."""
    scan = scan_of(monkeypatch, {0: -0.4, 1: 0.1, 2: -0.2}, "residual_norm")
    assert (scan.layer, scan.falls) == (1, False)
    backwards = scan_of(monkeypatch, {0: -0.4, 1: -0.1}, "residual_norm")
    assert (backwards.layer, backwards.falls) == (1, True)


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


def test_what_becomes_unreadable_ends_the_range():
    """What steering makes unreadable ends the range and what is unread without it does not."""
    magnitudes = [-0.4, -0.2, -0.1, -0.05, 0.0, 0.05, 0.1, 0.2, 0.4]
    rates = pd.DataFrame({"yes_rate": [0.0, 0.01, 0.2, 0.4, 0.5, 0.6, 0.8, 0.99, 1.0]}, index=magnitudes)
    unread = [0.6, 0.34, 0.3, 0.3, 0.3, 0.3, 0.2, 0.1, 0.6]
    assert find_range(rates.assign(unread=unread)) == (-0.2, 0.2)
    rates = rates.assign(unread=unread).replace({"unread": {0.34: 0.36, 0.1: 0.36}})
    assert find_range(rates) == (-0.1, 0.1)
    assert layers.spanning_magnitude(rates) == np.inf
