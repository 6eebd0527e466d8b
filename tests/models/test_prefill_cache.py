"""A batch that was run once is not run again, gives the same bits, and is let go where room ends."""

import pandas as pd
import pytest
import torch
from tiny_models import tiny_model, vectors_at

from onedial.asking.prompts import METACOGNITIVE
from onedial.asking.questions import Question
from onedial.models.forward import runner as runners
from onedial.models.forward.activations import read_activations
from onedial.models.prompt_set import PromptSet
from steering.interventions import Intervention
from steering.sweeping import sweep

QUESTIONS = [Question(f"q{place}", f"Who is poet {place}?{' And why?' * (place % 5)}") for place in range(40)]
SPLITS = {question.id: ("extraction", "fitting", "test", "test")[place % 4] for place, question in enumerate(QUESTIONS)}


@pytest.fixture
def ran(monkeypatch):
    """The batches that were run, as counts of prompts."""
    counts, prefill = [], runners.prefill

    def counted(stack, sequences, *given, **more):
        counts.append(len(sequences))
        return prefill(stack, sequences, *given, **more)

    monkeypatch.setattr(runners, "prefill", counted)
    return counts


@pytest.fixture(scope="module")
def model():
    model = tiny_model("llama")
    assert model.fast_paths_for(0).allowed == {"last", "all"}  # found out before batches are counted
    return model


def stages(model, at="last"):
    """As a run asks: one part is read, another is swept at two layers, then everything is at one of them."""
    prompts = PromptSet.build(model, QUESTIONS, METACOGNITIVE, SPLITS)
    first, second = ([name for name, split in SPLITS.items() if split == stage] for stage in ("extraction", "fitting"))
    low, high = (Intervention.of(vector, positions=at) for vector in vectors_at(model, [1, 3]))
    read_activations(model, prompts.subset(first), [1, 3])
    sweep(model, [low, high], prompts.subset(second), [-1.0, 1.0])
    sweep(model, high, prompts.subset(second), [0.5])
    return sweep(model, high, prompts, [-0.5, 0.0, 0.5]).table


def test_the_same_batches_are_run_once(model, ran):
    """Stages that ask the same batches run them once and answer with the same bits."""
    plain = stages(model)
    assert sum(ran) == 10 + 10 + 10 + 40
    ran.clear()
    with model.caching_prefills():
        kept = stages(model)
    assert sum(ran) == 40
    pd.testing.assert_frame_equal(kept, plain, check_exact=True)
    ran.clear()
    stages(model)
    assert sum(ran) == 70  # nothing is kept beyond


def test_where_room_ends_what_comes_later_is_run_again(model, ran):
    plain = stages(model)
    with model.caching_prefills() as kept:
        stages(model)
        room = kept.n_bytes
    assert room > 1e5
    ran.clear()
    with model.caching_prefills() as kept:
        kept.limit = room // 3
        again = stages(model)
        assert 0 < kept.n_bytes <= kept.limit
    assert 40 < sum(ran) < 70
    pd.testing.assert_frame_equal(again, plain, check_exact=True)


def test_an_edited_model_is_run_as_ever(model, ran):
    """A model that is being edited and steering at all positions are run as ever."""
    plain = stages(model, "all")
    sequences = [[*range(20, 30), place] for place in range(4)]
    with model.caching_prefills() as kept:
        pd.testing.assert_frame_equal(stages(model, "all"), plain, check_exact=True)
        before = model.runner(sequences, [2]).start(sequences)
        with model.edit_residual(1, lambda stream: stream * 1.5):
            edited = model.runner(sequences, [2]).start(sequences)
        assert not torch.allclose(edited.final, before.final)
        assert model.runner(sequences, [2]).start(sequences) is before
        assert kept.n_bytes < 1e6
