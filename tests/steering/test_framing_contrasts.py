"""Contrasts by framing: the same questions under two openings, and nothing where the two say the same."""

import pytest
import torch
from tiny_models import outspoken_model

from onedial.asking.poles import POLES, openings_of
from onedial.asking.prompts import METACOGNITIVE, with_opening
from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.models.forward.activations import read_activations
from onedial.models.prompt_set import PromptSet
from steering.contrasts import CONTRASTS
from steering.dials.comparison import compare_directions
from steering.vectors import Making, contrast_of, extract_vector

QUESTIONS = [Question(f"q{i:02d}", f"Which river was the ode of king {i}?", topic="abc"[i % 3]) for i in range(18)]
LAYERS = [1, 3]


@pytest.fixture(scope="module")
def model():
    return outspoken_model(architecture="llama", seed=1)


def test_every_contrast_has_pairs_of_openings_that_stand_nowhere_else():
    openings = [opening for pairs in POLES.values() for pair in pairs for opening in pair]
    assert set(POLES) == set(["persona", "capability", "risk", "effort", "audience", "evaluation", "intentionality"])
    assert len(set(openings)) == len(openings)
    assert all(len(pairs) >= 2 for pairs in POLES.values())
    assert all(opening.endswith(".") and 8 < len(opening.split()) < 30 for opening in openings)
    assert set(POLES) <= set(CONTRASTS)


@pytest.mark.parametrize("name", ["risk", "persona"])
def test_the_contrast_is_one_opening_less_the_other(model, prompts, name):
    """The contrast is each question under one opening less itself under the other."""
    result = contrast_of(model, prompts, LAYERS, Making(name))
    sides = []
    for openings in openings_of(name, len(QUESTIONS)):
        rows = []
        for question, opening in zip(QUESTIONS, openings, strict=True):
            alone = PromptSet.build(model, [question], with_opening(METACOGNITIVE, opening, "framed"))
            rows.append(read_activations(model, alone, LAYERS))
        sides.append(rows)
    margins = [torch.cat([row.margin for row in rows]).mean() for rows in sides]
    streams = [torch.cat([row.residuals for row in rows]) for rows in sides]
    towards, away = streams if margins[0] > margins[1] else streams[::-1]
    read = result.activations.read
    assert torch.allclose(result.yes - result.no, (towards - away)[read], atol=1e-4)


@pytest.mark.parametrize("name", ["effort", "persona"])
def test_the_pole_with_the_higher_margins_is_on_the_side_of_yes(model, prompts, name):
    poles = [
        read_activations(model, prompts.opened(model, openings), [3]) for openings in openings_of(name, len(prompts))
    ]
    first, second = (pole.margin.mean() for pole in poles)
    streams = [pole.residuals[:, 0].mean(dim=0) for pole in poles]
    difference = (streams[0] - streams[1]) * (1 if first > second else -1)
    (vector,) = extract_vector(model, prompts, [3], contrast=name)
    assert vector.contrast == name
    assert vector.direction @ difference / difference.norm() > 0.999


def test_two_poles_that_say_the_same_are_no_contrast(model, prompts, monkeypatch):
    monkeypatch.setitem(POLES, "risk", (("It is a plain day like any other.",) * 2,))
    with pytest.raises(InputError, match="length"):
        extract_vector(model, prompts, [3], contrast="risk")


def test_they_stand_beside_the_other_directions(model, prompts):
    result = compare_directions(model, prompts, prompts, [3], methods=["mean_difference"], framings=["risk", "effort"])
    assert result.table["method"].tolist() == ["mean_difference", "risk", "effort"]
    assert result.vectors[3, "risk"].contrast == "risk"
    assert result.table["effect"].notna().all()
    assert len(result.cosines) == 9


def test_nothing_can_stand_before_prompts_that_were_continued(model, prompts):
    with pytest.raises(InputError, match="were continued"):
        prompts.continued(5).opened(model, ["Well."] * len(prompts))
