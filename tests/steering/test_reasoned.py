"""Written answers along the dial: which settings are asked, what is written there, and that nothing is asked twice."""

from unittest.mock import patch

import pandas as pd
import pytest
from fake_vllm import FakeVllm
from tiny_models import outspoken_model, vectors_at

from onedial.asking.prompts import METACOGNITIVE
from onedial.asking.questions import Question
from onedial.asking.sweep_tables import REASONED_COLUMNS
from onedial.models.forward import batches
from steering.effects import reasoned
from steering.effects.reasoned import reasoned_instrument, reasoned_sweep
from steering.engines import proof
from steering.engines.writer import Vllm
from steering.interventions import Intervention

TOKENS = 6
QUESTIONS = [Question(f"q{i}", f"Who sang {'of the river ' * (i % 3)}in {1900 + i}?") for i in range(7)]


@pytest.fixture(scope="module")
def intervention(model):
    return Intervention.of(*vectors_at(model, [2]), positions="all")


def written(model, intervention, magnitudes, **more):
    parts, instrument = [], reasoned_instrument(METACOGNITIVE, TOKENS)
    with patch.object(reasoned, "questions_per_batch", return_value=3):
        reasoned_sweep(model, QUESTIONS, intervention, magnitudes, instrument, sink=parts.append, **more)
    return parts


def keys(*parts):
    return {key for part in parts for key in zip(part["question_id"], part["magnitude"], strict=True)}


def test_what_is_kept_is_what_the_steered_subject_writes(model, intervention):
    result = pd.concat(written(model, intervention, [0.0, 2.0]), ignore_index=True)
    assert list(result.columns) == REASONED_COLUMNS
    assert len(result) == 2 * len(QUESTIONS)
    instrument = reasoned_instrument(METACOGNITIVE, TOKENS)
    prompts = [instrument.prompt(question.text) for question in QUESTIONS]
    for magnitude in (0.0, 2.0):
        rows = result[result["magnitude"] == magnitude].set_index("question_id").loc[[q.id for q in QUESTIONS]]
        texts = [model.generate(prompt, intervention * magnitude, max_new_tokens=TOKENS) for prompt in prompts]
        assert rows["text"].tolist() == texts
    both = result.pivot(index="question_id", columns="magnitude", values="text")
    assert (both[0.0] != both[2.0]).any()


def test_what_was_cut_off_is_unread_and_never_a_no(model, intervention):
    result = pd.concat(written(model, intervention, [0.0]), ignore_index=True)
    assert (result["tokens_out"] == TOKENS).any()
    assert result.loc[result["tokens_out"] == TOKENS, "said_yes"].isna().all()


def test_after_a_break_only_the_rest_is_asked_and_says_the_same(model, intervention):
    parts = written(model, intervention, [0.0, 2.0])
    rest = written(model, intervention, [0.0, 2.0], done=keys(*parts[:2]))
    pd.testing.assert_frame_equal(pd.concat(parts[2:]), pd.concat(rest))
    some = parts[0].iloc[:1]  # of a batch that another device had made, one answer stands already
    again = pd.concat(written(model, intervention, [0.0, 2.0], done=keys(some)))
    assert len(again) == 2 * len(QUESTIONS) - 1
    assert not again.duplicated(["question_id", "magnitude"]).any()
    assert not ((again["question_id"] == some["question_id"].iloc[0]) & (again["magnitude"] == 0.0)).any()


def test_processes_share_one_plan(model, intervention, monkeypatch):
    """Processes that find different room share one plan and ask every row once."""
    rows = []
    for rank, room in enumerate((2, 3)):
        monkeypatch.setattr(reasoned, "questions_per_batch", lambda *given, room=room: room)
        monkeypatch.setattr(reasoned, "gather", lambda items: [2, 3])  # of the room that each has found
        monkeypatch.setattr(batches, "own_share", lambda items, rank=rank: items[rank::2])
        reasoned_sweep(
            model,
            QUESTIONS,
            intervention,
            [0.0, 0.5],
            reasoned_instrument(METACOGNITIVE, TOKENS),
            sink=lambda part: rows.extend(zip(part["question_id"], part["magnitude"], strict=True)),
        )
    assert sorted(rows) == sorted((question.id, magnitude) for question in QUESTIONS for magnitude in (0.0, 0.5))


def test_an_engine_writes_the_same_texts_side_by_side(monkeypatch):
    monkeypatch.setattr(proof, "N_TOKENS", 5)
    model = outspoken_model()
    intervention, grid = Intervention.of(*vectors_at(model, [2]), positions="all"), [-2.0, -1.0, 0.0, 1.0, 2.0]
    key = ["question_id", "magnitude"]
    plain = pd.concat(written(model, intervention, grid)).sort_values(key, ignore_index=True)
    model.writer = Vllm(model, FakeVllm(model))
    parts = written(model, intervention, grid)
    pd.testing.assert_frame_equal(pd.concat(parts).sort_values(key, ignore_index=True), plain)
    rest = written(model, intervention, grid, done=keys(parts[0].iloc[:9]))
    assert len(pd.concat(rest)) == len(plain) - 9
