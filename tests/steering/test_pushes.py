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
from steering.importing import import_vectors
from steering.interventions import Intervention
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
    with push.steer(model):
        return model.final_residual(batch)


def test_a_scaled_vector_adds_so_many_residual_norms_at_the_answer(model, vector):
    push = 0.3 * vector
    acting = push.intervention
    assert (push.magnitude, acting.positions, acting.unit) == (0.3, "answer", "residual_norm")
    addition = 0.3 * vector.residual_norm * vector.direction
    for pushed, where in ((final(model, push), -1), (final(model, 0.3 * vector.at("all")), slice(None))):

        def change(stream, where=where):
            changed = stream.clone()
            changed[:, where] += addition
            return changed

        with model.edit_residual(LAYER, change):
            torch.testing.assert_close(pushed, final(model))


def test_a_sum_of_pushes_is_one_vector(vector):
    other = replace(vector, direction=vector.direction.flip(0), residual_norm=2 * vector.residual_norm)
    summed = 0.2 * (0.7 * vector - 0.3 * other)
    assert [times for _, times in summed.terms] == pytest.approx([0.14, -0.06])
    total = 0.14 * vector.residual_norm * vector.direction - 0.06 * other.residual_norm * other.direction
    torch.testing.assert_close(summed.vector().direction * summed.vector().raw_norm, total)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda v: (v + replace(v, layer=1)).vector(), "acts at layer 1 \(resid\) and layer 2 \(resid\)"),
        (lambda v: (v - v).vector(), "adds up to nothing"),
        (lambda v: v + Intervention.of(v, operator="ablate"), "'ablate' does not add"),
        (lambda v: (v + v).magnitude, "is a sum, and one intervention at one magnitude is needed"),
        (lambda v: v + replace(v, model=replace(v.model, fingerprint="other")), "pushes of two models"),
        (lambda v: v.at("everywhere"), "positions 'everywhere' is not known; choose one of answer, last"),
    ],
)
def test_sums_that_make_no_sense_are_refused(vector, wrong, sentence):
    with pytest.raises(InputError, match=sentence):
        wrong(vector)


def test_texts_at_several_strengths_stand_side_by_side(model, vector):
    written = vector.write(model, [PROMPT, "Why?"], np.array([-2.0, 0.0, 2.0]), max_new_tokens=4)
    table = written.to_frame()
    assert table.columns.tolist() == [-2.0, 0.0, 2.0]
    for magnitude in table:
        texts = model.generate([PROMPT, "Why?"], vector * magnitude, max_new_tokens=4)
        assert table[magnitude].tolist() == texts
    assert "<table>" in written._repr_html_()
    assert "  +2  " in repr(written)


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
        (lambda model, one: one / 0, "divided by 0; divide by one finite number other than 0"),
        (lambda model, one: one / np.float64(0), "divide by one finite number"),
        (lambda model, one: one / "2", "divided by '2'"),
        (lambda model, one: (one * 0.1).steer(model, 2), r"2 positional .* 3 were given; write push\.steer\(model\)"),
        (lambda model, one: one.steer(model), r"'magnitude'; write joy\.steer\(model, 0\.3\)"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(model, vector, wrong, sentence):
    with pytest.raises(InputError, match=sentence):
        wrong(model, vector)


def test_a_push_is_one_setting_so_that_a_sweep_refuses_it(model, vector, prompts):
    with pytest.raises(InputError, match=r"is one setting of its dial; give the vector itself"):
        sweep(model, vector * 0.3, prompts)


def test_a_sum_is_exported_added_up(model, vector, tmp_path):
    other = replace(vector, direction=vector.direction.flip(0))
    push = 0.3 * vector.at("all") - 0.1 * other.at("all")
    push.export_gguf(tmp_path / "sum.gguf", model)
    (back,) = import_vectors(tmp_path / "sum.gguf", model, "output")
    torch.testing.assert_close(back.direction * back.raw_norm, push.vector().direction * push.vector().raw_norm)


def test_what_a_model_writes_under_a_push_is_what_it_writes_in_its_context(model, vector):
    plain, pushed = model.generate(PROMPT, max_new_tokens=6), model.generate(PROMPT, vector * 2.0, max_new_tokens=6)
    with vector.steer(model, 2.0):
        assert model.generate(PROMPT, max_new_tokens=6) == pushed
    with vector.steer(model, 0.0):
        assert model.generate(PROMPT, max_new_tokens=6) == plain
    assert plain != pushed
    assert model.generate([PROMPT, "Why?"], max_new_tokens=6) == [plain, model.generate("Why?", max_new_tokens=6)]
    assert model.generate(PROMPT.user, max_new_tokens=6) == plain  # the model was left as it was


def test_a_vector_without_its_magnitude_is_refused(model, vector):
    with pytest.raises(InputError, match=r"push is a SteeringVector; say how much .* such as vector \* 0.3"):
        model.generate("Why?", vector)


def test_arguments_of_hugging_face_pass_through(model):
    """A penalty that forbids to repeat changes what is written; what is unknown or set here is refused."""
    plain = model.generate(PROMPT, max_new_tokens=12)
    assert model.generate(PROMPT, max_new_tokens=12, repetition_penalty=1e6) != plain
    drawn = [model.generate(PROMPT, max_new_tokens=12, temperature=1.0, top_p=p, seed=1) for p in (1e-6, 1.0)]
    assert drawn[0] != drawn[1]
    for wrong in ({"topp": 0.9}, {"input_ids": [1]}, {"num_return_sequences": 2}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            model.generate(PROMPT, max_new_tokens=2, **wrong)


def test_a_push_far_outside_what_was_seen_is_said_to_be(model, vector, recwarn):
    known = replace(vector, seen=0.2)
    model.generate("Why?", known * 0.5, max_new_tokens=1)
    assert not [each for each in recwarn if issubclass(each.category, Notice)]
    with pytest.warns(Notice, match=r"up to 5 residual norms are far outside .* within 0.2 of their mean"):
        model.generate("Why?", known * -5, max_new_tokens=1)
