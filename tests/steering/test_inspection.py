"""What is shown of a direction: every number is computed again, from the model's own weights and hidden states."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from tiny_models import tiny_model, vectors_at

from onedial.asking import METACOGNITIVE
from onedial.core.errors import InputError
from onedial.models.forward.activations import read_activations
from onedial.models.prompt_set import PromptSet
from onedial.models.questions import as_questions
from onedial.stats.level import p_value
from onedial.stats.multiple_tests import p_text
from steering.inspection import cosines
from steering.interventions import Intervention
from steering.sweeping import SweepResult, dose_response, sweep
from steering.texts import vector_from_texts

TEXTS = [f"Tell me of the {what} of {year}." for what in ("river", "long grey sea") for year in range(1900, 1906)]
QUESTIONS = [f"Who sang of the {what}?" for what in ("river", "sea", "hill", "old town", "moon", "rain")]


@pytest.fixture(scope="module")
def vector(model):
    return vector_from_texts(model, TEXTS[:6], TEXTS[6:], layer=2)


def hidden(model, ids, layer):
    """The stream after a layer, as transformers itself returns it."""
    with torch.inference_mode():
        states = model.hf(torch.tensor([ids]), output_hidden_states=True).hidden_states
    return states[layer + 1][0].float()


@pytest.mark.parametrize("architecture", ["llama", "gemma2", "gpt2"])
def test_tokens_are_raised_by_norm_and_unembedding(architecture):
    """RMS norms by their scale, LayerNorm with its mean taken off, Gemma's scale of 1 + w and its cap on logits."""
    model = tiny_model(architecture)
    (vector,) = vectors_at(model, [1])
    stream = vector.direction * model.d_model**0.5
    norm, unembedding = model.stack.norm, model.hf.get_output_embeddings()
    with torch.inference_mode():
        if isinstance(norm, torch.nn.LayerNorm):
            centred = stream - stream.mean()
            logits = unembedding.weight @ (centred / centred.pow(2).mean().sqrt() * norm.weight)
        else:
            scale = norm.weight + 1 if architecture.startswith("gemma") else norm.weight
            logits = unembedding.weight @ (stream * scale)
    if cap := getattr(model.stack.config, "final_logit_softcapping", None):
        logits = cap * torch.tanh(logits / cap)
    frame = vector.tokens(model, n=3).to_frame()
    order = logits.argsort(descending=True).tolist()
    chosen = [*order[:3], *order[-3:]]
    np.testing.assert_allclose(frame["change"], logits[chosen], atol=1e-4)
    assert frame["token"].tolist() == [model.tokenizer.decode([token]) for token in chosen]
    np.testing.assert_allclose(
        (-vector).vector().tokens(model, n=3).to_frame()["change"], -frame["change"][::-1], atol=1e-4
    )


def test_along_gives_each_tokens_projection_and_cosine_at_each_layer(model, vector):
    look = vector.along(model, TEXTS[:2], [0, 2])
    frame = look.to_frame()
    for text, ids in enumerate(model.token_ids(TEXTS[:2])):
        for layer in (0, 2):
            streams = hidden(model, ids, layer)
            along = streams @ vector.direction
            rows = frame[(frame["text"] == text) & (frame["layer"] == layer)]
            np.testing.assert_allclose(rows["projection"], along / vector.residual_norm, atol=1e-4)
            np.testing.assert_allclose(rows["cosine"], along / streams.norm(dim=-1), atol=1e-4)
            assert "".join(rows["token"]) == model.tokenizer.decode(ids)
    later = frame[frame["position"] > 0].groupby("layer")["towards"].mean()
    np.testing.assert_allclose(later, 0.0, atol=1e-7)
    alone = vector.along(model, TEXTS[0]).to_frame()
    pd.testing.assert_frame_equal(vector.along(model, TEXTS[0], 2).to_frame(), alone)
    asked = frame[(frame["text"] == 0) & (frame["layer"] == 2)]
    np.testing.assert_allclose(alone["projection"], asked["projection"], atol=1e-4)


def test_a_push_moves_the_projection_by_its_magnitude(model, vector):
    unsteered = vector.along(model, TEXTS[0]).to_frame()["projection"]
    with vector.at("all").steer(model, 0.3):
        steered = vector.along(model, TEXTS[0]).to_frame()["projection"]
    np.testing.assert_allclose(steered - unsteered, 0.3, atol=1e-4)


def test_projections_are_of_the_last_token_under_the_vectors_prompt(model, vector):
    labels = [1] * 6 + [0] * 6
    frame = vector.project(model, TEXTS, labels).to_frame()
    expected = [
        float(hidden(model, ids, 2)[-1] @ vector.direction) / vector.residual_norm for ids in model.token_ids(TEXTS)
    ]
    np.testing.assert_allclose(frame["projection"], expected, atol=1e-4)
    assert frame["label"].tolist() == labels
    chats = [[{"role": "user", "content": text}] for text in TEXTS]
    pd.testing.assert_frame_equal(vector.project(model, chats, labels).to_frame(), frame)
    asked_so = replace(vector, template=METACOGNITIVE)
    prompts = PromptSet.build(model, QUESTIONS, METACOGNITIVE)
    read = read_activations(model, prompts, [2])
    for given in (QUESTIONS, as_questions(QUESTIONS), prompts):
        frame = asked_so.project(model, given).to_frame()
        np.testing.assert_allclose(frame["label"], read.margin.where(read.read, torch.nan), atol=1e-4)
        along = read.residuals[:, 0] @ vector.direction / vector.residual_norm
        np.testing.assert_allclose(frame["projection"], along, atol=1e-4)


def test_a_projection_says_how_well_it_goes_with_its_label(model, vector):
    assert "AUROC 1.00 (" in vector.project(model, TEXTS, [1] * 6 + [0] * 6).says
    assert "AUROC .00 (" in vector.project(model, TEXTS, [0] * 6 + [1] * 6).says
    along = vector.project(model, TEXTS, [1] * 6 + [0] * 6).to_frame()["projection"].to_numpy()
    assert "rank correlation 1.00" in vector.project(model, TEXTS, along.tolist()).says
    unknown = vector.project(model, TEXTS, [1] * 5 + [np.nan] * 2 + [0] * 5)
    assert "5 of label 1 and 5 of label 0; 2 without a label" in unknown.says


@pytest.mark.parametrize(
    ("look", "message"),
    [
        (lambda model, vector: vector.project(model, TEXTS, [1, 0]), r"labels of shape \(2,\) for 12 texts"),
        (lambda model, vector: vector.project(model, TEXTS, ["a"] * 12), "the labels are no numbers"),
        (lambda model, vector: replace(vector, template=None).project(model, TEXTS), "remembers no prompt"),
        (lambda model, vector: vector.along(model, TEXTS, [40]), "layer 40"),
        (lambda model, vector: vector.tokens(tiny_model("llama", seed=3)), "extract a vector from this model"),
        (lambda model, vector: vector.cosine(torch.ones(3)), r"directions of the shapes"),
        (lambda model, vector: cosines([vector, *vectors_at(tiny_model("mistral", 4), [1])]), "two models|shapes"),
        (lambda model, vector: cosines([]), "shapes none"),
    ],
)
def test_what_cannot_be_looked_at_is_refused_in_a_sentence(model, vector, look, message):
    with pytest.raises(InputError, match=message):
        look(model, vector)


def test_cosines_are_those_of_the_directions_and_named_by_what_differs(model, vector):
    vectors = vectors_at(model, [0, 1, 2])
    units = torch.stack([each.direction for each in vectors]).double()
    frame = cosines(vectors).to_frame()
    np.testing.assert_allclose(frame, units @ units.T, atol=1e-6)
    assert frame.index.tolist() == [0, 1, 2]
    assert cosines([vectors[2], vector]).to_frame().index.tolist() == [vectors[2].vector_id, vector.vector_id]
    named = cosines({"a": vectors[0], "b": 7 * vectors[1].direction}).to_frame()
    assert named.loc["a", "b"] == pytest.approx(vectors[0].cosine(vectors[1]), abs=1e-6)
    pd.testing.assert_frame_equal(cosines(*vectors).to_frame(), frame)
    assert vector.cosine(-vector.direction) == pytest.approx(-1.0)


def test_a_dose_response_is_the_sweep_beside_random_directions(model):
    (vector,) = vectors_at(model, [2])
    grid = [-1.0, 0.0, 1.0]
    result = dose_response(model, vector, QUESTIONS, grid, controls=4, prompt="neutral")
    alone = sweep(model, vector, QUESTIONS, grid, prompt="neutral")
    names = result.table["intervention_id"] == vector.vector_id
    np.testing.assert_allclose(result.table[names]["margin"], alone.table["margin"], atol=1e-4)
    assert len(result.controls) == 4
    pd.testing.assert_frame_equal(result.to_frame(), result.rates())
    look = result.look()
    rates = look.to_frame().pivot(index="magnitude", columns="intervention_id", values="yes_rate")
    reach = np.ptp(rates.to_numpy(), axis=0)
    place = list(rates.columns).index(vector.vector_id)
    p = p_value(reach[place], np.delete(reach, place))
    assert p >= 1 / 5
    assert f"moves the yes rate by {reach[place]:.2f} ({p_text(p)});" in look.says
    assert alone.controls == ()
    assert "(p" not in alone.look().says


def test_the_band_goes_from_the_least_to_the_most_of_the_random_directions():
    table = pd.DataFrame(
        [
            (f"q{q}", name, magnitude, margin, 1.0)
            for name, turns in (("vector", 4), ("random-1", 0), ("random-2", 2))
            for magnitude in (0.0, 1.0)
            for q in range(4)
            for margin in [1.0 if magnitude and q < turns else -1.0]
        ],
        columns=["question_id", "intervention_id", "magnitude", "margin", "mass"],
    )
    axes = SweepResult(table, ("random-1", "random-2")).plot()
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (0.0, 0.5)
    assert axes.get_lines()[0].get_label() == "2 random directions"
    assert axes.get_lines()[-1].get_ydata().tolist() == [0.0, 1.0]


def test_where_nothing_is_read_that_is_said(model):
    push = Intervention.of(*vectors_at(model, [2]))
    score = {"score": lambda text: float("nan"), "max_new_tokens": 1}
    result = dose_response(model, push, QUESTIONS[:2], [0.0, 1.0], prompt="neutral", controls=1, **score)
    assert "nothing was read" in result.look().says
    assert "8 of 8 answers unread" in str(result)
    assert result._repr_html_()


def test_scored_texts_are_shown_by_their_mean_score(model):
    push = Intervention.of(*vectors_at(model, [2]), positions="all")
    result = sweep(model, push, QUESTIONS[:3], [0.0, 1.0], prompt="neutral", score=len, max_new_tokens=2, controls=2)
    look = result.look()
    assert look.y == "score"
    assert look.faint == result.controls
