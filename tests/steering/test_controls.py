"""Controls are pushes as long as the vector's, done as it is done, and made of anything but yes and no."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import stats

from onedial.asking.questions import Question
from onedial.models.forward.activations import Activations
from steering.contrasts import Contrast, response_contrast
from steering.controls import CONTROLS, Material, control_interventions, cosine
from steering.interventions import Intervention
from steering.planning.layers import best_place, scan_layers
from steering.planning.magnitudes import CONTROL_POINTS, doubling
from steering.planning.plan import at_their_layers, make_plan, rounding_notes
from steering.planning.reliability import reliability_of
from steering.vectors import extract_vector

LAYER = 2
WORDS = ["river", "mountain", "poet", "spider", "engine", "planet", "chess", "violin", "cheese", "battle", "sea", "ode"]
QUESTIONS = [
    Question(f"q{i}", f"What is the {'very ' * (i % 4)}first {WORDS[i % 12]}?", topic=("sea", "land", "air")[i % 3])
    for i in range(24)
]


@pytest.fixture(scope="module")
def material(model, prompts):
    (vector,) = extract_vector(model, prompts, [LAYER])
    return Material(model, vector, response_contrast(model, prompts, [LAYER]), prompts)


def of(material, **how):
    return Intervention.of(material.vector, **how)


def test_every_control_is_as_long_as_the_vector(material):
    """Every control is as long as the vector at its layer and done alike."""
    intervention = of(material, positions="all", unit="raw")
    controls = control_interventions(material, intervention, 8, seed=5)
    assert [each.role for each in controls] == [*list(CONTROLS)[:4] * 2, *list(CONTROLS)[4:]]
    for each in controls:
        (vector,) = each.vectors
        assert (each.layers, each.positions, each.unit, each.operator) == (
            intervention.layers,
            intervention.positions,
            intervention.unit,
            intervention.operator,
        )
        assert vector.direction.norm().item() == pytest.approx(1, abs=1e-5)
        assert each.units_per_norm == pytest.approx(intervention.units_per_norm)
    directions = torch.stack([each.vectors[0].direction for each in controls])
    alike = (directions @ directions.T).fill_diagonal_(0)
    assert alike.abs().max() < 0.999
    assert len({each.intervention_id for each in controls}) == len(controls)


def test_what_is_orthogonal_has_nothing_of_the_vector(material):
    direction = CONTROLS["orthogonal"](material, 3)
    assert abs(float(direction @ material.vector.direction)) < 1e-5 * direction.norm()


def test_the_drawn_covariance_is_that_of_the_streams(material):
    drawn = torch.stack([CONTROLS["covariance"](material, seed) for seed in range(4000)])
    centred = material.streams - material.streams.mean(dim=0)
    truth = centred.T @ centred
    result = drawn.T @ drawn / len(drawn)
    assert torch.linalg.matrix_norm(result - truth) < 0.1 * torch.linalg.matrix_norm(truth)


def test_shuffled_labels_keep_the_recipe_but_lose_the_difference(material):
    """Two clouds far apart along one axis: the vector finds it, shuffled labels find it no more than chance does."""
    generator = torch.Generator().manual_seed(0)
    streams = torch.randn(80, 1, 48, generator=generator)
    streams[:40, :, 0] += 4
    planted_material = replace(material, contrast=planted(streams))
    along = torch.stack([CONTROLS["shuffled"](planted_material, seed) for seed in range(200)])[:, 0]
    assert abs(float(along.mean())) < 0.15
    assert float((along.abs() > 0.9).float().mean()) < 0.05


def test_directions_of_different_layers_have_no_cosine(material):
    vector = material.vector
    elsewhere = Intervention.of(replace(vector, layer=LAYER + 1))
    both = Intervention.of(vector, replace(vector, layer=LAYER + 1, direction=-vector.direction))
    assert np.isnan(cosine(Intervention.of(vector), elsewhere))
    assert cosine(Intervention.of(vector), both) == pytest.approx(1)
    assert cosine(both, both) == pytest.approx(1)


def test_the_unembedding_pushes_towards_the_word_yes(material, prompts):
    """Straight after the last block nothing but the final norm stands between the push and the words."""
    direction = CONTROLS["unembedding"](material, 0)
    readout = material.model.readout
    final = material.contrast.activations.residuals[:4, 0]
    before = readout.margin(final, prompts.tokens)
    assert (readout.margin(final + direction, prompts.tokens) > before).all()


def test_a_control_goes_through_the_same_choice_of_layer_as_a_vector(model, prompts):
    layers, few = [1, 2, 3], prompts.subset(prompts.question_ids[::3])
    contrast, vectors = response_contrast(model, prompts, layers), extract_vector(model, prompts, layers)
    made = [
        control_interventions(
            Material(model, vector, contrast.at_layer(vector.layer), prompts), Intervention.of(vector), 4
        )
        for vector in vectors
    ]
    chosen, grids = at_their_layers(model, few, made)
    assert len({each.layers for each in chosen}) > 1
    assert [each.role for each in chosen] == [each.role for each in made[0]]
    for each, *same in zip(chosen, *made, strict=True):
        assert each in same
        assert each.layers[0] == scan_layers(model, few, same).layer
    for grid in grids.values():
        assert len(grid) in (CONTROL_POINTS - 1, CONTROL_POINTS)  # 0 may be one of the even ones
        assert 0.0 in grid
        assert {round(grid[0], 6), round(grid[-1], 6)} <= {round(end, 6) for end in doubling()}


def test_a_plan_compares_each_control_with_the_vector_of_its_layer(model, prompts):
    plan = make_plan(model, prompts, prompts.subset(prompts.question_ids[::3]), layer="1-3", n_controls=4)
    entries = plan.entries()
    assert {each.layers for each in plan.controls} - {plan.intervention.layers}
    assert np.isfinite([entry["cosine"] for entry in entries]).all()
    (orthogonal,) = [entry["cosine"] for entry in entries if entry["role"] == "orthogonal"]
    assert orthogonal == pytest.approx(0, abs=1e-5)


@pytest.mark.long
def test_the_rank_by_push_needs_controls_that_choose():
    """200 directions that differ by chance alone, each in its turn the vector among the others."""
    rng, grid = np.random.default_rng(0), np.sort(doubling())
    slopes = rng.lognormal(1.5, 0.4, (200, 6))
    pushes = np.array(
        [[best_place([rates_along(slope, grid)], [1.0])[1][0] for slope in of_panel] for of_panel in slopes]
    )  # by direction and layer
    chosen = np.array(
        [best_place([rates_along(slope, grid) for slope in of_panel], [1.0] * 6)[0] for of_panel in slopes]
    )
    of_panel = pushes[np.arange(200), chosen]
    replayed = (of_panel[:, None] >= of_panel[None, :]).mean(axis=1)
    at_its_layer = np.array(
        [(1 + np.delete(pushes[:, layer] <= of_panel[i], i).sum()) / 200 for i, layer in enumerate(chosen)]
    )
    assert (replayed <= 0.05).mean() == pytest.approx(0.05)
    assert (at_its_layer <= 0.05).mean() > 0.12


def rates_along(slope, grid):
    """The yes rate of a subject whose margins are spread as a standard normal distribution."""
    return pd.DataFrame({"yes_rate": stats.norm.cdf(slope * grid), "unread": 0.0}, index=grid)


def test_steps_that_sixteen_bits_cannot_tell_are_said(material):
    fine, coarse = [0.0, 0.001, 0.1, 0.2], [0.0, 0.1, 0.2]
    (note,) = rounding_notes(fine, of(material), torch.bfloat16)
    assert "1 of 3 steps" in note
    in_raw = [step * of(material, unit="raw").units_per_norm for step in fine]
    assert rounding_notes(in_raw, of(material, unit="raw"), torch.bfloat16) == [note]
    assert (
        rounding_notes(fine, of(material), torch.float32) == rounding_notes(coarse, of(material), torch.bfloat16) == []
    )


def planted(streams):
    """A contrast whose first half said yes."""
    margin = torch.cat([torch.ones(40), -torch.ones(40)])
    activations = Activations(
        question_ids=tuple(f"q{i}" for i in range(80)),
        layers=(LAYER,),
        residuals=streams,
        margin=margin,
        mass=torch.ones(80),
    )
    return Contrast("response", (LAYER,), streams[:40], streams[40:], activations)


@pytest.mark.parametrize(("apart", "low", "high"), [(6.0, 0.9, 1.0), (0.0, -0.35, 0.35)])
def test_a_direction_that_is_there_repeats_and_one_of_chance_does_not(apart, low, high):
    streams = torch.randn(80, 1, 48, generator=torch.Generator().manual_seed(1))
    streams[:40, :, 0] += apart
    result = reliability_of(planted(streams), "mean_difference")
    assert low < result.reliability < high
    assert result.low <= result.half_cosine <= result.high
    assert result.notes() == []


@pytest.mark.long
def test_halves_stepped_up_say_how_well_the_whole_repeats():
    """Spearman and Brown's formula, against the cosine of directions from two whole draws."""
    rng = torch.Generator().manual_seed(2)

    def drawn():
        streams = torch.randn(80, 1, 48, generator=rng)
        streams[:40, :, 0] += 1.5
        return streams

    whole, stepped = [], []
    for _ in range(60):
        one, other = drawn(), drawn()
        pair = [torch.nn.functional.normalize(s[:40].mean(dim=0) - s[40:].mean(dim=0), dim=-1)[0] for s in (one, other)]
        whole.append(float(pair[0] @ pair[1]))
        stepped.append(reliability_of(planted(one), "mean_difference").reliability)
    assert sum(stepped) / 60 == pytest.approx(sum(whole) / 60, abs=0.04)


def test_a_subject_that_says_nearly_always_no_is_told_apart(material):
    contrast = material.contrast
    margin = torch.cat([torch.ones(1), -torch.rand(23)])
    sided = replace(contrast, activations=replace(contrast.activations, margin=margin, mass=torch.ones(24)))
    (note,) = reliability_of(sided, "mean_difference").notes()
    assert "yes to 1 and no to 23" in note
