"""Sweeps of what a person has at hand, asked as the vector was read."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from tiny_models import byte_tokenizer, vectors_at
from tokenizers import Regex, normalizers

from onedial.asking.prompts import FRAMINGS, METACOGNITIVE, PromptTemplate
from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.core.notices import Notice
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from steering.interventions import Intervention
from steering.planning.magnitudes import coarse_grid
from steering.sweeping import SweepResult, _say_if_still, sweep
from steering.vectors import extract_vector, random_vector

TEXTS = [f"Who was number {number} of the line?" for number in range(24)]
QUESTIONS = [Question(f"q{place}", text) for place, text in enumerate(TEXTS)]
CAUTIOUS = FRAMINGS["cautious"]
GRID = [-0.2, 0.0, 0.2]


@pytest.fixture(scope="module")
def vector(model):
    return extract_vector(model, QUESTIONS, layer=2, prompt=CAUTIOUS)


def margins_of(result):
    return result.table.sort_values(["question_id", "magnitude"])["margin"].sort_values().to_numpy()


def test_questions_are_asked_as_the_vector_was_read(model, vector):
    expected = margins_of(sweep(model, vector, PromptSet.build(model, QUESTIONS, CAUTIOUS), GRID))
    neutral = margins_of(sweep(model, vector, PromptSet.build(model, QUESTIONS, METACOGNITIVE), GRID))
    assert np.abs(expected - neutral).max() > 1e-3
    for questions in (TEXTS, QUESTIONS, pd.DataFrame({"question": TEXTS}), [{"question": text} for text in TEXTS]):
        np.testing.assert_allclose(margins_of(sweep(model, vector, questions, GRID)), expected, atol=1e-5)
    np.testing.assert_allclose(margins_of(sweep(model, vector, TEXTS, GRID, prompt="neutral")), neutral, atol=1e-5)
    np.testing.assert_allclose(margins_of(sweep(model, vector, TEXTS, GRID, prompt=METACOGNITIVE)), neutral, atol=1e-5)


def test_a_text_with_a_slot_is_the_users_turn(model, vector):
    asked = sweep(model, vector, TEXTS, GRID, prompt="{question} Yes or No?")
    prompts = PromptSet.build(model, QUESTIONS, PromptTemplate("{question} Yes or No?"))
    np.testing.assert_allclose(margins_of(asked), margins_of(sweep(model, vector, prompts, GRID)), atol=1e-5)


def test_without_a_prompt_to_go_by_one_is_asked_for(model, vector, prompts):
    (unread,) = vectors_at(model, [2])
    with pytest.raises(InputError, match="does not say under which prompt it was read; say how to ask, by prompt="):
        sweep(model, unread, TEXTS)
    with pytest.raises(InputError, match="under the prompts 'cautious' and 'neutral'; say how to ask"):
        sweep(model, [vector, replace(vector, template=METACOGNITIVE, method="other")], TEXTS)
    with pytest.raises(InputError, match="a PromptSet has its prompt and answers"):
        sweep(model, vector, prompts, GRID, prompt="neutral")


@pytest.mark.parametrize(
    ("questions", "sentence"),
    [
        ("Who sang of the river?", "is one text; put it into a list"),
        ("embeded", "did you mean 'embedded'"),
        ([], "there are no questions"),
        (["", "Why?"], "what was given, row 1, column 'question' is blank"),
        ([3, 4], "questions hold a int: '3'"),
        (pd.DataFrame({"sayings": TEXTS}), "has no column 'question'"),
    ],
    ids=["a text", "a name", "nothing", "a blank", "numbers", "another column"],
)
def test_what_would_be_misread_is_refused(model, vector, questions, sentence):
    with pytest.raises(InputError, match=sentence):
        sweep(model, vector, questions, GRID)


def test_without_magnitudes_the_range_is_found_and_shared_with_the_control(model, vector):
    rates = sweep(model, [vector, random_vector(vector, 1)], TEXTS).rates()
    grids = [by_magnitude.index.get_level_values("magnitude").tolist() for _, by_magnitude in rates.groupby(level=0)]
    assert grids[0] == grids[1]
    assert 25 <= len(grids[0]) <= 26
    assert 0.0 in grids[0]
    assert (rates["n_read"] + rates["n_unread"] == len(TEXTS)).all()
    np.testing.assert_allclose(rates["se"], np.sqrt(rates["yes_rate"] * (1 - rates["yes_rate"]) / rates["n_read"]))


def test_vectors_in_the_questions_place_are_refused(model, vector, prompts):
    for questions, vectors in ((prompts, vector), (TEXTS, [vector]), (TEXTS, Intervention.of(vector))):
        with pytest.raises(InputError, match=r"write sweep\(model, vectors, questions\)"):
            sweep(model, questions, vectors, GRID)


def test_magnitudes_far_outside_what_was_seen_are_said_to_be(model, vector, recwarn):
    sweep(model, vector, TEXTS, [0.0, vector.seen])
    assert not [each for each in recwarn if issubclass(each.category, Notice)]
    with pytest.warns(Notice, match="far outside what was seen"):
        sweep(model, vector, TEXTS, [0.0, 4 * vector.seen])


def test_answers_that_are_hardly_read_are_said_to_be():
    """Not that larger magnitudes would turn them."""
    rows = [(f"q{row}", "v", magnitude, 1.0, 0.01) for row in range(4) for magnitude in (-0.2, 0.2)]
    table = pd.DataFrame(rows, columns=["question_id", "intervention_id", "magnitude", "margin", "mass"])
    with pytest.warns(Notice, match="100% of the answers along v are unread") as notices:
        _say_if_still(SweepResult(table), "v")
    assert len(notices) == 1


def test_questions_that_are_one_prompt_to_the_model_are_refused(model):
    blind = OpenModel(model.hf, byte_tokenizer(), name="tiny")
    blind.tokenizer.backend_tokenizer.normalizer = normalizers.Replace(Regex("[0-9]"), "#")
    with pytest.raises(InputError, match=r"q0 .* and q1 .* are one prompt"):
        PromptSet.build(blind, QUESTIONS[:4], "neutral")
    PromptSet.build(blind, [QUESTIONS[0], replace(QUESTIONS[0], id="again")], "neutral")


def test_a_sweep_in_a_notebook_that_turns_nothing_says_so(model, vector):
    with pytest.warns(Notice, match=r"L2-response-mean_difference turns no answer between -1e-06 and 1e-06"):
        sweep(model, vector, TEXTS, [-1e-6, 0, 1e-6])
    short = replace(vector, residual_norm=1e-9)  # so that 4 of its norms are nothing
    with pytest.warns(Notice, match="does not turn the answers both ways"):
        sweep(model, short, TEXTS)


def test_automatic_magnitudes_hold_zero_once(model, vector):
    for grid in (
        coarse_grid(-0.4, 0.4),
        sweep(model, vector, TEXTS[:2], np.linspace(-0.4, 0.4, 25)).rates().loc[vector.vector_id].index,
        sweep(model, vector, TEXTS[:8]).rates().loc[vector.vector_id].index,
    ):
        assert sum(abs(magnitude) < 1e-9 for magnitude in grid) == 1
        assert 0.0 in list(grid)


@pytest.mark.parametrize("magnitudes", [0.3, range(2), np.array([0.0, 0.3]), torch.tensor([0.3])], ids=repr)
def test_magnitudes_are_numbers_ranges_or_arrays(model, vector, magnitudes):
    table = sweep(model, vector, TEXTS, magnitudes).table
    assert sorted(set(table["magnitude"])) == pytest.approx(sorted(np.atleast_1d(np.asarray(magnitudes, float))))
