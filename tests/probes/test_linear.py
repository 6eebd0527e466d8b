"""A probe finds what was planted, nothing where nothing is, and in the coordinates in which it was planted."""

import numpy as np
import pytest
import torch

from onedial.core.errors import InputError
from onedial.core.notices import Notice
from onedial.models.forward.activations import Activations
from probes.fitting.linear import fit_probe, probe_layers

pytestmark = pytest.mark.filterwarnings("ignore:no topics were given")
D_MODEL = 24


def planted(n=200, shift=3.0, seed=0):
    """Noise of unequal scale far from the origin; label 1 is moved by `shift` along a unit direction."""
    generator = torch.Generator().manual_seed(seed)
    direction = torch.randn(D_MODEL, generator=generator)
    direction /= direction.norm()
    labels = torch.arange(n) % 3 == 0
    residuals = torch.randn(n, D_MODEL, generator=generator) + 40 + shift * labels[:, None] * direction
    return residuals, labels, direction


def test_a_planted_direction_is_recovered_and_points_towards_label_one():
    residuals, labels, direction = planted(n=2000)
    probe = fit_probe(residuals, labels)
    assert probe.direction @ direction > 0.98
    assert probe.direction.norm().item() == pytest.approx(1)
    assert (probe.n_positive, probe.n_negative) == (667, 1333)
    flipped = fit_probe(residuals, ~labels)
    assert flipped.direction @ direction < -0.98
    # Swapping the labels changes the draw of the folds, and nothing else.
    assert flipped.auroc == pytest.approx(probe.auroc, abs=0.005)


def test_layers_are_told_apart_keep_their_names_and_are_refused_without():
    residuals, labels, _ = planted()
    noise = torch.randn(len(residuals), 2, D_MODEL, generator=torch.Generator().manual_seed(1))
    stack = torch.stack([noise[:, 0], residuals, noise[:, 1]], dim=1)
    table = probe_layers(stack, labels, [4, 9, 14]).to_frame()
    assert table["layer"].tolist() == [4, 9, 14]
    assert table["auroc"].idxmax() == 1
    assert table["auroc"][1] == fit_probe(residuals, labels).auroc
    with pytest.raises(InputError, match="2 layers are named, but the activations hold 3"):
        probe_layers(stack, labels, [3, 4])
    activations = Activations(("q",) * len(labels), (4, 9, 14), labels.float(), labels.float(), stack)
    both = probe_layers(activations, {"as it is": labels, "turned": ~labels}).to_frame()
    assert both[both["label"] == "as it is"]["auroc"].tolist() == table["auroc"].tolist()
    assert both["layer"].tolist() == [4, 9, 14] * 2


def test_a_probe_is_a_vector_after_its_layer_towards_label_1(model):
    streams = torch.randn(60, model.d_model, generator=torch.Generator().manual_seed(0))
    probe = fit_probe(streams, streams[:, 0] > 0, topics=[f"t{place % 9}" for place in range(60)])
    vector = probe.as_vector(model, 2)
    assert (vector.layer, vector.raw_norm) == (2, pytest.approx(1.0))
    assert vector.cosine(probe) == pytest.approx(1.0)
    assert vector.direction[0] > 0.5


def test_a_question_whose_answer_is_unread_trains_and_judges_nothing():
    residuals, labels, _ = planted()
    topics = [f"t{place % 20}" for place in range(200)]
    unread = labels.float()
    unread[:20] = float("nan")
    probe = fit_probe(residuals, unread, topics=topics)
    assert probe.n_positive + probe.n_negative == 180
    residuals[:20] += 0.3  # near enough to leave the scale as it is
    assert abs(fit_probe(residuals, unread, topics=topics).auroc - probe.auroc) < 0.02


def spoilt(kind):
    residuals, labels, _ = planted(n=60)
    values = labels.float()
    if kind == "constant labels":
        values[:] = 1
    elif kind == "few":
        residuals, values = residuals[:24], values[:24]
    elif kind == "another label":
        values[4] = 2
    elif kind == "words":
        values = ["yes"] * 60
    elif kind == "other number":
        values = values[:-1]
    elif kind == "nan activation":
        residuals[3, 5] = float("nan")
    elif kind == "same activations":
        residuals[:] = 1.5
    return residuals, values


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("constant labels", "60 questions of label 1 and 0 of label 0; a probe needs 10 of each"),
        ("few", "8 questions of label 1 and 16 of label 0"),
        ("another label", "other values than 1, 0 and nan"),
        ("words", "the labels are no numbers"),
        ("other number", "59 labels for 60 questions"),
        ("nan activation", "nan or infinite: the activations of 1 of 60 questions"),
        ("same activations", "the activations of 60 questions are all the same"),
    ],
)
def test_what_cannot_be_probed_is_refused_in_one_sentence(kind, sentence):
    with pytest.raises(InputError, match=sentence):
        fit_probe(*spoilt(kind))


def by_topic(seed, n_topics=20, each=15, share=0.0):
    """Streams that name their topic, and labels that most questions of a topic share; `share` of a true direction."""
    rng = np.random.default_rng(seed)
    topic = np.repeat(np.arange(n_topics), each)
    usual = (np.arange(n_topics) % 2 == 0)[topic]
    labels = np.where(rng.random(len(topic)) < 0.9, usual, ~usual)
    names = rng.standard_normal((n_topics, D_MODEL))[topic]
    streams = names + 0.5 * rng.standard_normal((len(topic), D_MODEL))
    streams[:, 0] += share * (2 * labels - 1)
    return torch.from_numpy(streams), labels, [f"t{number}" for number in topic]


def test_a_topic_that_tells_the_label_is_not_taken_for_the_label():
    drawn = [by_topic(seed) for seed in range(8)]
    leaking = np.mean([fit_probe(rows, labels).auroc for rows, labels, _ in drawn])
    held_out = np.mean([fit_probe(rows, labels, topics=topics).auroc for rows, labels, topics in drawn])
    assert leaking > 0.8
    assert abs(held_out - 0.5) < 0.12
    rows, labels, topics = by_topic(0, share=2.0)
    there = fit_probe(rows, labels, topics=topics)
    assert there.auroc > 0.9
    table = probe_layers(torch.stack([rows, drawn[0][0]], dim=1), labels, [3, 7], topics=topics).to_frame()
    assert table["auroc"][0] == there.auroc
    assert table["auroc"][1] < 0.75


def test_without_topics_wordings_stay_together():
    """Without topics that is said and wordings of one question still stay together."""
    residuals, labels, _ = planted(n=60, shift=0.0)
    rows, truth = residuals.repeat(3, 1), labels.repeat(3)
    groups = list(range(60)) * 3
    with pytest.warns(Notice, match="pass topics="):
        parted = fit_probe(rows, truth)
    together = fit_probe(rows, truth, groups=groups)
    assert parted.auroc > 0.8
    assert together.auroc < 0.7
    alone = fit_probe(residuals, labels, topics=[f"q{place}" for place in range(60)])
    assert together.se == pytest.approx(alone.se, rel=0.3)  # three wordings are no three questions


@pytest.mark.parametrize("name", ["topics", "groups"])
def test_topics_or_groups_of_another_number_are_refused(name):
    residuals, labels, _ = planted(n=60)
    with pytest.raises(InputError, match=f"59 {name} for 60 questions"):
        fit_probe(residuals, labels, **{name: ["a"] * 59})
