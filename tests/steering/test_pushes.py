"""So much of a vector: scaled, turned round, added, and written under."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tiny_models import vectors_at

from onedial.asking.prompts import Prompt
from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.core.notices import Notice
from steering.exporting import export_gguf
from steering.interventions import Intervention
from steering.respondent import generate_steered
from steering.sweeping import sweep

LAYER = 2
PROMPT = Prompt("Who sang of the river?")
QUESTIONS = [Question("q", "Who sang of the river?")]


@pytest.fixture(scope="module")
def vector(model):
    return vectors_at(model, [LAYER])[0]


def final(model, push=None):
    """The last residual stream after a prompt, under a push."""
    batch = model.tokenise([PROMPT])
    if push is None:
        return model.final_residual(batch)
    with push.steering(model):
        return model.final_residual(batch)


def test_a_scaled_vector_adds_so_many_residual_norms_at_every_position(model, vector):
    push = 0.3 * vector
    assert (push.magnitude, push.of.positions, push.of.unit) == (0.3, "all", "residual_norm")
    addition = 0.3 * vector.residual_norm * vector.direction
    pushed = final(model, push)
    with model.edit_residual(LAYER, lambda stream: stream + addition):
        torch.testing.assert_close(pushed, final(model))


@pytest.mark.parametrize("number", [np.float64(0.3), np.float32(0.5), 2], ids=lambda value: type(value).__name__)
def test_numbers_of_any_library_scale_from_either_side(vector, number):
    assert (number * vector).magnitude == (vector * number).magnitude == float(number)


def test_no_magnitude_is_no_push_and_a_turned_one_pushes_the_other_way(model, vector):
    assert (-(vector * 0.3)).magnitude == -0.3
    assert torch.equal(final(model, 0 * vector), final(model))


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda model, one: one * "0.3", "'0.3'; multiply by one finite number"),
        (lambda model, one: one * float("nan"), "nan; multiply by one finite number"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(model, vector, wrong, sentence):
    with pytest.raises(InputError, match=sentence):
        wrong(model, vector)


def test_a_push_is_one_setting_so_that_sweeps_and_exports_refuse_it(model, vector, prompts, tmp_path):
    for take in (
        lambda: sweep(model, vector * 0.3, prompts),
        lambda: export_gguf(vector * 0.3, 1.0, tmp_path / "vector.gguf", model),
    ):
        with pytest.raises(InputError, match=r"is one setting of its dial; give the vector itself"):
            take()


def test_what_a_model_writes_under_a_push_is_what_steered_generation_writes(model, vector):
    plain, pushed = (
        model.generate(PROMPT.user, max_new_tokens=6),
        model.generate(PROMPT.user, with_=vector * 2.0, max_new_tokens=6),
    )
    everywhere = Intervention.of(vector, positions="all")
    for text, magnitude in ((plain, 0.0), (pushed, 2.0)):
        assert text == generate_steered(model, [PROMPT], everywhere, magnitude, max_new_tokens=6)[0].text
    assert plain != pushed
    assert model.generate([PROMPT, "Why?"], max_new_tokens=6) == [plain, model.generate("Why?", max_new_tokens=6)]
    assert model.generate(PROMPT.user, max_new_tokens=6) == plain  # the model was left as it was


def test_a_vector_without_its_magnitude_is_refused(model, vector):
    with pytest.raises(InputError, match=r"with_ was given a SteeringVector; say how much .* with_=vector \* 0.3"):
        model.generate("Why?", with_=vector)


def test_a_push_far_outside_what_was_seen_is_said_to_be(model, vector, recwarn):
    known = replace(vector, seen=0.2)
    model.generate("Why?", with_=known * 0.5, max_new_tokens=1)
    assert not [each for each in recwarn if issubclass(each.category, Notice)]
    with pytest.warns(Notice, match=r"up to 5 residual norms are far outside .* within 0.2 of their mean"):
        model.generate("Why?", with_=known * -5, max_new_tokens=1)
