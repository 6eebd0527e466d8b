"""Maps of layer by position: the last column is the probe's own reading, what is written adds up, a push is a slope."""

import numpy as np
import pandas as pd
import pytest
import torch
from tiny_models import outspoken_model

from onedial.asking.prompts import METACOGNITIVE
from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.models.inside.store_filling import store_activations
from onedial.models.prompt_set import PromptSet
from probes.directions.concordance import Concordance
from probes.directions.where import MappedQuestions, direct_effects, position_map
from probes.fitting.crossfit import cross_fit, of_rows
from probes.fitting.folds import TopicFolds
from probes.fitting.measure import ProbeTask

N = 100


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Questions whose label stands in a word of theirs, asked of a random model."""
    rng = np.random.default_rng(0)
    label = (rng.random(N) < 0.5).astype(float)
    words = {1.0: "sea", 0.0: "ode"}
    questions = [Question(f"q{i}", f"Who sang of {words[label[i]]} number {i}?", topic=f"t{i % 10}") for i in range(N)]
    model = outspoken_model()
    prompts = PromptSet.build(model, questions, METACOGNITIVE)
    folder = tmp_path_factory.mktemp("stores")
    whole = store_activations(model, prompts, folder / "last", layers=[0, 2, 4])
    mapped = store_activations(model, prompts, folder / "each", layers=[0, 2, 4], positions=["each"])
    task = ProbeTask(
        pd.DataFrame({"sea": label}), tuple(q.text for q in questions), TopicFolds.of([q.topic for q in questions]),
        n_bootstrap=49,
    )  # fmt: skip
    return model, prompts, whole, MappedQuestions(mapped, prompts, np.arange(N)), task


@pytest.fixture(scope="module")
def table(world):
    model, _, whole, mapped, task = world
    direction = torch.randn(model.d_model, generator=torch.Generator().manual_seed(0))
    return position_map(mapped, whole, task, {"sea": direction}, model, n_positions=6), direction


def test_every_layer_and_position_has_its_cell(table):
    found, _ = table
    assert len(found) == 3 * 6
    assert sorted(set(found["position"])) == [-6, -5, -4, -3, -2, -1]
    assert (found["n"] == N).all()
    assert found["auroc"].between(0, 1).all()


def test_what_is_written_adds_up_to_what_lies_apart_at_the_last_layer(world, table):
    _, _, whole, _, task = world
    found, direction = table
    summed = found[found["position"] == -1]["written"].sum()
    rows, label = whole.read(4).double().numpy(), task.values[:, 0]
    along = rows @ (direction / direction.norm()).double().numpy()
    expected = (along[label == 1].mean() - along[label == 0].mean()) / along.std()
    assert summed == pytest.approx(expected, abs=1e-3)


def test_the_last_position_is_read_as_the_probe_of_the_layer_reads_it(world, table):
    _, _, whole, _, task = world
    own = cross_fit(of_rows(whole.read(2).double().numpy()), ["sea"], task.values, task.folds, ["lda"])["lda"]
    score = own.score[:, 0]
    expected = Concordance.of(score, task.values[:, 0], task.folds).auroc
    found = table[0]
    cell = found[(found["layer"] == 2) & (found["position"] == -1)]["auroc"].item()
    assert cell == pytest.approx(expected, abs=0.01)


def test_a_step_along_the_answers_direction_at_the_top_is_a_slope_of_the_margin(world):
    model, prompts, *_ = world
    store = store_activations(model, prompts.subset(prompts.question_ids[:10]), None, layers=[4])
    final = store.read(4).clone().requires_grad_()
    model.readout.margin(final, prompts.tokens).mean().backward()
    direction = torch.randn(model.d_model, generator=torch.Generator().manual_seed(1))
    unit = direction / direction.norm()
    found = direct_effects(model, store, prompts, {"d": direction}, norm=2.0)["d"]
    assert found == pytest.approx(2.0 * float((final.grad @ unit).sum()), rel=0.02, abs=1e-3)


def test_labels_that_the_task_has_not_are_refused(world):
    model, _, whole, mapped, task = world
    with pytest.raises(InputError, match="give labels of the task"):
        position_map(mapped, whole, task, {"other": torch.ones(model.d_model)}, model)
