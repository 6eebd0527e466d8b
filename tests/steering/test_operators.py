"""What must hold for each operator by itself; that sweeps equal bare hooks is tested in test_certified.py."""

from dataclasses import replace

import pytest
import torch
from tiny_models import outspoken_model, tiny_model, vectors_at

from onedial.asking.prompts import METACOGNITIVE
from onedial.asking.questions import Question
from onedial.models.prompt_set import PromptSet
from steering.interventions import Intervention
from steering.operators import OPERATORS
from steering.planning.layers import candidate_layers, layers_together
from steering.planning.plan import make_plan
from steering.sweeping import sweep

D, LENGTH = 16, 2.5
QUESTIONS = [Question(f"q{i}", f"What is the {'very ' * (i % 4)}first of {i}?") for i in range(36)]


@pytest.fixture
def stream():
    return 3 * torch.randn(4, 7, D, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def direction():
    drawn = torch.randn(D, generator=torch.Generator().manual_seed(1))
    return drawn / drawn.norm()


def done(operator, stream, direction, magnitude):
    return OPERATORS[operator](stream, direction, torch.tensor(magnitude), LENGTH)


def across(stream, direction):
    return stream - (stream @ direction)[..., None] * direction


def close(one, other):
    torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


def test_ablating_twice_is_ablating_once(stream, direction):
    """Ablating twice is ablating once and leaves nothing along the direction."""
    once = done("ablate", stream, direction, 1.0)
    close(once @ direction, torch.zeros(4, 7))
    close(done("ablate", once, direction, 1.0), once)
    close(across(once, direction), across(stream, direction))
    close(done("ablate", stream, direction, 2.0) @ direction, -(stream @ direction))


@pytest.mark.parametrize("magnitude", [-2.0, 0.7])
def test_clamping_sets_the_projection_and_nothing_else(stream, direction, magnitude):
    clamped = done("clamp", stream, direction, magnitude)
    close(clamped @ direction, torch.full((4, 7), magnitude * LENGTH))
    close(across(clamped, direction), across(stream, direction))
    close(done("clamp", clamped, direction, magnitude), clamped)


def test_clamping_beside_0_is_ablation_and_at_0_it_is_off(stream, direction):
    close(done("clamp", stream, direction, 1e-6), done("ablate", stream, direction, 1.0))
    assert torch.equal(done("clamp", stream, direction, 0.0), stream)


@pytest.mark.parametrize("magnitude", [-40.0, -1.3, 0.2, 2.0, 40.0])
def test_rotating_keeps_the_norm_and_the_plane(stream, direction, magnitude):
    turned = done("rotate", stream, direction, magnitude)
    close(turned.norm(dim=-1), stream.norm(dim=-1))
    cosine = torch.cosine_similarity(across(turned, direction), across(stream, direction), dim=-1)
    away = across(turned, direction).norm(dim=-1) > 1e-3
    close(cosine[away], torch.ones(int(away.sum())))


def test_rotating_is_by_an_arc_as_long_as_a_push_and_ends_at_the_direction(stream, direction):
    norm = stream.norm(dim=-1)
    turned = done("rotate", stream, direction, 0.2)
    angle = torch.acos((torch.cosine_similarity(turned, stream, dim=-1)).clamp(-1, 1))
    torch.testing.assert_close(angle * norm, torch.full((4, 7), 0.2 * LENGTH), atol=5e-3, rtol=5e-3)
    assert (turned @ direction > stream @ direction).all()
    close(done("rotate", stream, direction, 40.0), norm[..., None] * direction)
    close(done("rotate", stream, direction, -40.0), -norm[..., None] * direction)
    small, pushed = (done(name, stream, direction, 1e-3) - stream for name in ("rotate", "add"))
    sideways = across(pushed, stream[0, 0] / stream[0, 0].norm())[0, 0]
    torch.testing.assert_close(small[0, 0] / small[0, 0].norm(), sideways / sideways.norm(), atol=2e-2, rtol=0)


def test_a_stream_without_a_plane_stays(direction):
    for stream in (torch.zeros(2, D), 3 * direction.expand(2, D), -3 * direction.expand(2, D)):
        assert torch.equal(done("rotate", stream, direction, 0.5), stream)


def test_layers_at_once_are_planned_swept_and_named_as_one():
    assert layers_together("1+3")
    assert candidate_layers("1+3", 5) == [1, 3]
    model = outspoken_model()
    made_on, fitting = (PromptSet.build(model, QUESTIONS[part::2], METACOGNITIVE) for part in (0, 1))
    plan = make_plan(model, made_on, fitting, layer="1+3")
    assert plan.intervention.layers == (1, 3)
    assert plan.intervention.intervention_id == "L1-response-mean_difference+L3-response-mean_difference"
    assert 0.0 in plan.magnitudes[plan.intervention.intervention_id]


def test_a_plan_makes_its_controls_at_their_layers():
    """A plan makes its reliability at the chosen layer and each control at its own."""
    model = outspoken_model(3)
    made_on, fitting = (PromptSet.build(model, part, METACOGNITIVE) for part in (QUESTIONS[::2], QUESTIONS[1::6]))
    alone = {layer: make_plan(model, made_on, fitting, layer=str(layer), n_controls=4) for layer in (1, 3)}
    among = make_plan(model, made_on, fitting, layer="1,3", n_controls=4)
    chosen = alone[among.intervention.layers[0]]
    assert among.intervention.layers == (3,)  # the second of the two
    assert among.reliability.half_cosine == pytest.approx(chosen.reliability.half_cosine, abs=1e-5)
    assert abs(among.reliability.half_cosine - alone[1].reliability.half_cosine) > 1e-3
    for mine, *same in zip(among.controls, alone[1].controls, alone[3].controls, strict=True):
        same = same[mine.layers == (3,)]
        torch.testing.assert_close(mine.vectors[0].direction, same.vectors[0].direction, atol=1e-5, rtol=0)


def test_ablating_everywhere_takes_the_direction_out():
    """Whatever a layer writes along the direction is taken out again: the margin is that of a model without it."""
    model = tiny_model("llama")
    (vector,) = vectors_at(model, [0])
    everywhere = [replace(vector, layer=layer) for layer in range(model.n_layers)]
    prompts = PromptSet.build(model, QUESTIONS[:3], METACOGNITIVE)
    ablated = Intervention.of(*everywhere, operator="ablate", positions="all")
    assert sweep(model, [ablated], prompts, [1.0]).table["margin"].notna().all()
    batch = model.tokenise([METACOGNITIVE.fill(QUESTIONS[0].text)])
    with ablated.steer(model, 1.0):
        streams = model.read_residual(batch, list(range(model.n_layers)), positions="all")
    assert (streams @ vector.direction).abs().max() < 1e-4 * streams.norm(dim=-1).max()
