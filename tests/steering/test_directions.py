"""Each direction finds what was planted for it, and nothing where labels mean nothing."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tiny_models import outspoken_model

from onedial.asking.prompts import METACOGNITIVE
from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.models.forward.activations import Activations
from onedial.models.inside.gradients import margin_gradients
from onedial.models.prompt_set import PromptSet
from steering.contrasts import Contrast
from steering.dials.comparison import compare_directions
from steering.directions import DIRECTIONS
from steering.interventions import Intervention
from steering.planning.reliability import reliability_of
from steering.sweeping import sweep
from steering.vectors import extract_vector

D = 24
QUESTIONS = [
    Question(f"q{i}", f"What is the {'very ' * (i % 4)}first of {i}?", topic=("sea", "land", "air")[i % 3])
    for i in range(36)
]


def axis(place):
    return torch.eye(D)[place]


def planted(name="response", n=4000, seed=0, topics=()):
    """Yes and no differ by 1 along axis 0; axis 1 is loud noise of sd 2, and half of it leaks into axis 0."""
    generator = torch.Generator().manual_seed(seed)
    said_yes = torch.arange(n) % 2 == 0
    streams = torch.randn(n, 1, D, generator=generator)
    loud = 2 * torch.randn(n, generator=generator)
    streams[:, 0, 1] = loud
    streams[:, 0, 0] += 0.5 * loud + said_yes.float()
    margin = torch.where(said_yes, 1.0, -1.0) + 0.1 * torch.randn(n, generator=generator)
    read = Activations(tuple(map(str, range(n))), (3,), margin, torch.ones(n), streams)
    rows = said_yes.nonzero().flatten(), (~said_yes).nonzero().flatten()
    return Contrast(
        name, (3,), streams[said_yes], streams[~said_yes], read, rows=rows, topics=topics, answer_axis=axis(1),
        gradients=axis(2).expand(n, 1, D).clone(),
    )  # fmt: skip


def direction_of(method, contrast):
    directions, lengths = DIRECTIONS[method](contrast)
    assert directions.shape == (1, D)
    assert lengths.shape == (1,)
    return directions[0]


@pytest.mark.parametrize("method", ["logistic", "lda", "ridge"])
def test_directions_that_know_the_covariance_see_past_loud_noise(method):
    contrast = planted()
    truth = axis(0) - 0.5 * axis(1)  # what is free of the noise and still tells the sides apart
    result = direction_of(method, contrast)
    assert result @ truth / truth.norm() > 0.92
    assert result @ truth > direction_of("mean_difference", contrast) @ truth + 0.02


def test_the_part_without_the_unembedding_is_at_right_angles_to_it():
    contrast = planted()
    result = direction_of("without_unembedding", contrast)
    assert abs(result @ axis(1)) < 1e-5
    assert result @ axis(0) > 0.9
    with pytest.raises(InputError, match="does not hold the unembedding's answer direction"):
        DIRECTIONS["without_unembedding"](replace(contrast, answer_axis=None))


def test_the_principal_component_is_not_centred():
    """Of yes minus no over all pairs, written out; centred, a constant difference would be nothing at all."""
    contrast = planted(n=40)
    pairs = (contrast.yes[:, None, 0] - contrast.no[None, :, 0]).flatten(0, 1)
    _, _, axes = torch.linalg.svd(pairs, full_matrices=False)
    result = direction_of("principal_component", contrast)
    assert abs(result @ axes[0]) > 1 - 1e-4
    assert result @ (contrast.yes - contrast.no).mean(dim=0)[0] > 0
    constant = replace(contrast, name="answer", no=contrast.yes - 2 * axis(5))
    assert direction_of("principal_component", constant) @ axis(5) == pytest.approx(1.0, abs=1e-4)


def test_within_topics_a_difference_between_topics_does_not_count():
    """Sea says yes three times in four, land once, and sea is 10 further along axis 7."""
    n = 400
    places = torch.arange(n)
    sea = places % 2 == 0
    said_yes = torch.where(sea, places % 8 < 6, places % 8 < 2)
    streams = 0.1 * torch.randn(n, 1, D, generator=torch.Generator().manual_seed(0))
    streams[:, 0, 7] += 10 * sea.float()
    streams[:, 0, 0] += said_yes.float()
    rows = said_yes.nonzero().flatten(), (~said_yes).nonzero().flatten()
    read = Activations(tuple(map(str, range(n))), (3,), torch.zeros(n), torch.ones(n), streams)
    topics = tuple("sea" if each else "land" for each in sea)
    contrast = Contrast("response", (3,), streams[said_yes], streams[~said_yes], read, rows=rows, topics=topics)
    assert direction_of("mean_difference", contrast) @ axis(7) > 0.9
    assert direction_of("within_topics", contrast) @ axis(0) > 0.95
    alone = replace(contrast, topics=())
    torch.testing.assert_close(direction_of("within_topics", alone), direction_of("mean_difference", contrast))
    apart = replace(contrast, topics=tuple(f"topic {bool(yes)}" for yes in said_yes))
    with pytest.raises(InputError, match="no topic has questions on both sides"):
        DIRECTIONS["within_topics"](apart)


def test_within_topics_is_the_regressions_side():
    """Topics of 4 to 90 questions whose differences differ, so that their weights matter."""
    generator, sizes = torch.Generator().manual_seed(1), [4, 9, 30, 90]
    topic = torch.repeat_interleave(torch.arange(4), torch.tensor(sizes))
    said_yes = torch.cat([torch.arange(size) < max(1, size // (2 + place)) for place, size in enumerate(sizes)])
    streams = torch.randn(len(topic), 1, D, generator=generator) + topic[:, None, None] * said_yes[
        :, None, None
    ] * axis(3)
    read = Activations(tuple(map(str, range(133))), (3,), torch.zeros(133), torch.ones(133), streams)
    rows = said_yes.nonzero().flatten(), (~said_yes).nonzero().flatten()
    names = tuple(f"t{each}" for each in topic.tolist())
    contrast = Contrast("response", (3,), streams[said_yes], streams[~said_yes], read, rows=rows, topics=names)
    design = np.column_stack([said_yes.numpy(), np.eye(4)[topic.numpy()]]).astype(float)
    expected = np.linalg.lstsq(design, streams[:, 0].numpy(), rcond=None)[0][0]
    directions, lengths = DIRECTIONS["within_topics"](contrast)
    np.testing.assert_allclose(directions[0].numpy(), expected / np.linalg.norm(expected), atol=1e-5)
    assert float(lengths[0]) == pytest.approx(np.linalg.norm(expected), rel=1e-5)


def test_the_gradient_is_averaged_over_the_questions_on_either_side_alone():
    contrast = planted(n=60)
    gradients = contrast.gradients.clone()
    gradients[40:] = 100 * axis(11)  # unread: on neither side
    few = contrast.take(torch.arange(20), torch.arange(20))
    assert few.asked.max() < 40
    result = direction_of("gradient", replace(few, gradients=gradients))
    assert result @ axis(2) == pytest.approx(1.0, abs=1e-5)


def test_the_direction_of_doubt_goes_with_entropy():
    """The direction of doubt goes with entropy and is signed by the contrast."""
    contrast = planted()
    margin = contrast.activations.margin * torch.linspace(0, 3, 4000)
    doubt = 1 / (1 + margin.abs())
    streams = contrast.activations.residuals.clone()
    streams[:, 0, 9] += 20 * doubt
    for sign in (1, -1):
        sides = contrast.yes + sign * axis(9), contrast.no
        read = replace(contrast.activations, margin=margin, residuals=streams)
        result = direction_of("entropy", replace(contrast, activations=read, yes=sides[0]))
        assert sign * (result @ axis(9)) > 0.9


def test_a_resampled_contrast_keeps_sides_pairs_and_what_was_planted():
    contrast = planted(n=400)
    again = contrast.resampled(3)
    assert torch.equal(again.yes, contrast.resampled(3).yes)
    assert not torch.equal(again.yes, contrast.resampled(4).yes)
    assert len(again.yes) + len(again.no) == 400
    assert (again.activations.margin[again.rows[0]] > 0).all()
    assert torch.equal(again.yes, again.activations.residuals[again.rows[0]])
    assert torch.equal(again.no, again.activations.residuals[again.rows[1]])
    drawn = set(again.activations.question_ids)
    assert 0.55 < len(drawn) / 400 < 0.71  # 1 - 1/e of them come at all
    spread = torch.stack([direction_of("mean_difference", contrast.resampled(seed)) for seed in range(40)])
    assert float(spread.mean(dim=0) @ direction_of("mean_difference", contrast)) > 0.85
    pairs = replace(
        contrast, name="answer", yes=contrast.activations.residuals + 1, no=contrast.activations.residuals - 1,
        rows=(torch.arange(400), torch.arange(400)),
    )  # fmt: skip
    paired = pairs.resampled(3)
    assert torch.allclose(paired.yes - paired.no, torch.full_like(paired.yes, 2.0), atol=1e-5)
    assert torch.equal(paired.yes, paired.activations.residuals + 1)


def test_a_resampled_pair_of_answers_leaves_unread_questions_out():
    contrast = planted(n=60)
    mass = torch.ones(60)
    mass[::3] = 0.0
    read = replace(contrast.activations, mass=mass)
    places = read.read.nonzero().flatten()
    pairs = replace(
        contrast, name="answer", activations=read, yes=read.residuals[places] + 1, no=read.residuals[places] - 1,
        rows=(places, places),
    )  # fmt: skip
    again = pairs.resampled(1)
    assert again.activations.read[again.rows[0]].all()
    assert torch.equal(again.yes, again.activations.residuals[again.rows[0]] + 1)


# ---- in a model ----------------------------------------------------------------------------------------------------


def test_the_gradient_is_what_a_small_push_does(model, prompts):
    """Against the sweep itself: central differences along the gradient and along a random direction."""
    layers = [1, 3]
    gradients = margin_gradients(model, prompts, layers)
    assert gradients.shape == (len(prompts), 2, model.d_model)
    for method in ("gradient", "random"):
        for place, vector in enumerate(extract_vector(model, prompts, layers, method=method)):
            step = 1e-3
            intervention = Intervention.of(vector)
            table = sweep(model, [intervention], prompts, [-step, step]).table
            wide = table.pivot(index="question_id", columns="magnitude", values="margin").loc[
                list(prompts.question_ids)
            ]
            measured = (wide[step] - wide[-step]).to_numpy() / (2 * step * vector.residual_norm)
            expected = (gradients[:, place] @ vector.direction).numpy()
            np.testing.assert_allclose(measured, expected, atol=0.02 * np.abs(expected).max() + 2e-3)


def test_directions_are_compared_on_questions_that_they_were_not_made_of(model, prompts):
    made_on, held_out = (prompts.subset(prompts.question_ids[part::2]) for part in (0, 1))
    methods = ("mean_difference", "lda", "gradient", "random")
    result = compare_directions(model, made_on, held_out, [1, 3], methods=methods)
    table = result.table.set_index(["layer", "method"])
    assert len(table) == 8
    assert (table["n"] + table["n_unread"] == len(held_out)).all()
    assert table["auroc_low"].between(0, 1).all()
    assert (table["auroc_low"] <= table["auroc"]).all()
    assert (table["effect_low"] <= table["effect"]).all()
    for layer in (1, 3):
        effect = table.loc[layer, "effect"]
        assert effect["gradient"] == effect.max()  # no other moves the mean margin as far by a small push
    cosines = result.cosines.pivot_table(index=["layer", "method"], columns="other", values="cosine")
    assert cosines.loc[(1, "lda"), "lda"] == pytest.approx(1.0, abs=1e-5)
    assert cosines.loc[(3, "lda"), "random"] == pytest.approx(cosines.loc[(3, "random"), "lda"], abs=1e-6)


def test_a_half_empty_direction_has_no_half_cosine():
    """One topic of two questions has both sides, and no two halves can both hold it."""
    topics = tuple("both" if place < 2 else f"topic {place}" for place in range(40))
    contrast = planted(n=40, topics=topics)
    assert np.isnan(reliability_of(contrast, "within_topics").half_cosine)
    assert not np.isnan(reliability_of(contrast, "mean_difference").half_cosine)


def test_an_empty_direction_is_left_out_with_a_notice():
    """A direction that these questions do not hold is left out with a notice."""
    model = outspoken_model(architecture="llama", seed=1)
    alone = [replace(question, topic=f"topic {place}") for place, question in enumerate(QUESTIONS)]
    prompts = PromptSet.build(model, alone, METACOGNITIVE)
    result = compare_directions(model, prompts, prompts, [2], methods=["mean_difference", "within_topics", "random"])
    assert result.table["method"].tolist() == ["mean_difference", "random"]
    with pytest.raises(InputError, match="no topic has questions on both sides"):
        compare_directions(model, prompts, prompts, [2], methods=["within_topics"])
