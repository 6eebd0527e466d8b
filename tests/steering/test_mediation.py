"""How much goes through a mediator is what a known model's weights say."""

import numpy as np
import pytest
from bare_hook import bare_margin
from known_answers import ANSWER, ASIDE, LAYER, WIDTH, across, known_model

from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.models.forward.activations import read_activations
from steering.causes import MEDIATION_COLUMNS, Chance, mediation
from steering.interventions import Intervention, SteeringVector
from steering.nulls import random_unit

QUESTIONS = [
    Question(f"q{n:02d}", f"Who sang of river {n * 37 % 101} and of the {'sea' * (n % 4)}?") for n in range(12)
]
ABOVE = 3
"""The layer after which the mediators are held; the relay adds there."""


def pushed(model, prompts, direction):
    norm = float(read_activations(model, prompts, [LAYER]).residuals[:, 0].norm(dim=-1).median())
    return SteeringVector(direction, LAYER, norm, norm, model.identity)


@pytest.fixture(scope="module")
def model():
    return known_model(ANSWER)


def named(**lines):
    return {("probe", name): line for name, line in lines.items()}


def shares(table):
    return table.set_index("direction")


@pytest.mark.parametrize("part", [0.0, 0.25, 0.7, 1.0])
def test_a_mediator_carries_its_part_of_the_push(model, prompts, part):
    """answer = (p + q) / sqrt 2, push = part p + (1 - part) q: holding p still takes just that part away."""
    other = across(ANSWER, ASIDE)
    p = (ANSWER + other) / 2**0.5
    q = (ANSWER - other) / 2**0.5
    line = part * p + (1 - part) * q
    vector = pushed(model, prompts, line / line.norm())
    table = mediation(model, prompts, vector, (-0.05, 0.05), ABOVE, named(p=p, q=q), chance=Chance(19, 199))
    assert tuple(table.columns) == MEDIATION_COLUMNS
    result = shares(table)
    for name, expected in (("p", part), ("q", 1 - part), ("Yes minus No", 1.0)):
        assert result.loc[name, "carried"] == pytest.approx(expected, abs=0.04)
        assert result.loc[name, "removed"] == pytest.approx(expected, abs=0.04)
        effects = pytest.approx(result.loc[name, "total"] * np.array([expected, 1 - expected]), abs=0.1)
        assert result.loc[name, ["indirect", "direct"]].tolist() == effects
        assert result.loc[name, "carried_low"] <= result.loc[name, "carried"] <= result.loc[name, "carried_high"]
    if part >= 0.7:
        assert result.loc["p", "p"] == pytest.approx(0.05)


def test_what_a_later_layer_relays_goes_through_what_it_relays_to(prompts):
    """The push alone moves no answer; a layer above hands it on, and holding what it hands on takes all away."""
    model = known_model(ANSWER, relay=(ASIDE, ANSWER))
    vector = pushed(model, prompts, ASIDE)
    table = shares(mediation(model, prompts, vector, (-0.05, 0.05), ABOVE, named(relayed=ANSWER, source=ASIDE)))
    assert table["total_low"].min() > 0
    assert table.loc["relayed", ["carried", "removed"]].tolist() == pytest.approx([1, 1], abs=0.05)
    assert table.loc["source", ["carried", "removed"]].tolist() == pytest.approx([0, 0], abs=0.05)
    assert table.loc["the vector", "carried"] == pytest.approx(table.loc["source", "carried"])


def test_total_is_the_push_as_a_plain_hook_makes_it(model, prompts):
    vector, prompts = pushed(model, prompts, random_unit(WIDTH, 5)), prompts.subset(["q01", "q04", "q09"])
    table = mediation(model, prompts, vector, (-0.3, 0.4), ABOVE, named(a=ASIDE), chance=Chance(0, 19))
    push = Intervention.of(vector)
    low, high = (
        np.mean([bare_margin(model, each, prompts.tokens, push, end) for each in prompts.sequences])
        for end in (-0.3, 0.4)
    )
    assert table["total"].tolist() == pytest.approx([high - low] * 3, abs=1e-3)


@pytest.mark.parametrize(("ends", "layer"), [((0.1, -0.1), ABOVE), ((-0.1, 0.1), LAYER)])
def test_ends_out_of_order_and_a_layer_that_is_not_above_are_refused(model, prompts, ends, layer):
    with pytest.raises(InputError, match="give a layer above the push"):
        mediation(model, prompts, pushed(model, prompts, ANSWER), ends, layer, {})
