"""Written answers along the dial: which settings are asked, what is written there, and that nothing is asked twice."""

import numpy as np
import pandas as pd
import pytest
from fake_vllm import FakeVllm
from tiny_models import outspoken_model, vectors_at

from onedial.asking.prompts import METACOGNITIVE
from onedial.asking.questions import Question
from onedial.asking.sweep_tables import REASONED_COLUMNS
from onedial.core.errors import InputError
from onedial.models.forward import batches
from steering.effects import reasoned
from steering.effects.reasoned import (
    majorities,
    next_settings,
    reasoned_cost,
    reasoned_instrument,
    reasoned_sweep,
    short_grid,
)
from steering.engines import proof
from steering.engines.writer import Vllm
from steering.interventions import Intervention
from steering.respondent import generate_steered

TOKENS = 6
QUESTIONS = [Question(f"q{i}", f"Who sang {'of the river ' * (i % 3)}in {1900 + i}?") for i in range(7)]


@pytest.fixture(scope="module")
def intervention(model):
    return Intervention.of(*vectors_at(model, [2]), positions="all")


def written(model, intervention, magnitudes, **more):
    parts = []
    reasoned_sweep(
        model,
        QUESTIONS,
        intervention,
        magnitudes,
        reasoned_instrument(METACOGNITIVE, TOKENS),
        sink=parts.append,
        batch_size=3,
        **more,
    )
    return parts


def table(rates, unread=()):
    """A sweep of 40 questions with these yes rates; at settings in `unread` nothing is read."""
    rows = [
        (f"q{i}", magnitude, 1.0 if i < rate * 40 else -1.0, 0.0 if magnitude in unread else 1.0)
        for magnitude, rate in rates.items()
        for i in range(40)
    ]
    return pd.DataFrame(rows, columns=["question_id", "magnitude", "margin", "mass"])


def test_settings_lie_evenly_in_yes_rate_with_0_among_them():
    rates = {m / 10: 0.5 + m / 20 for m in range(-10, 11)}  # yes rate .5 at 0, 0 and 1 at the ends
    assert short_grid(table(rates), 6) == pytest.approx([-0.8, -0.4, 0.0, 0.2, 0.4, 0.8], abs=0.21)
    assert 0.0 in short_grid(table(rates), 2)
    assert len(short_grid(table(rates), 6)) == 6


def test_settings_that_cannot_be_read_are_not_asked():
    rates = {m / 10: 0.5 + m / 20 for m in range(-10, 11)}
    assert max(short_grid(table(rates, unread=(0.6, 0.7, 0.8, 0.9, 1.0)), 6)) == 0.5


def test_one_setting_is_refused_and_a_sweep_of_0_alone_gives_0():
    with pytest.raises(InputError, match="give 2 or more"):
        short_grid(table({0.0: 0.5}), 1)
    assert short_grid(table({0.0: 0.5}), 6) == [0.0]


def test_what_is_kept_is_what_the_steered_subject_writes(model, intervention):
    found = pd.concat(written(model, intervention, [0.0, 2.0]), ignore_index=True)
    assert list(found.columns) == REASONED_COLUMNS
    assert len(found) == 2 * len(QUESTIONS)
    instrument = reasoned_instrument(METACOGNITIVE, TOKENS)
    prompts = [instrument.prompt(question.text) for question in QUESTIONS]
    for magnitude in (0.0, 2.0):
        own = found[found["magnitude"] == magnitude].set_index("question_id").loc[[q.id for q in QUESTIONS]]
        texts = generate_steered(model, prompts, intervention, magnitude, max_new_tokens=TOKENS, batch_size=1)
        assert own["text"].tolist() == [each.text for each in texts]
    both = found.pivot(index="question_id", columns="magnitude", values="text")
    assert (both[0.0] != both[2.0]).any()


def test_what_was_cut_off_is_unread_and_never_a_no(model, intervention):
    found = pd.concat(written(model, intervention, [0.0]), ignore_index=True)
    assert (found["tokens_out"] == TOKENS).any()
    assert found.loc[found["tokens_out"] == TOKENS, "said_yes"].isna().all()


def test_after_a_break_only_the_rest_is_asked_and_says_the_same(model, intervention):
    parts = written(model, intervention, [0.0, 2.0])
    rest = written(model, intervention, [0.0, 2.0], done=pd.concat(parts[:2]))
    pd.testing.assert_frame_equal(pd.concat(parts[2:]), pd.concat(rest))
    some = parts[0].iloc[:1]  # of a batch that another device had made, one answer stands already
    again = pd.concat(written(model, intervention, [0.0, 2.0], done=some))
    assert len(again) == 2 * len(QUESTIONS) - 1
    assert not again.duplicated(["question_id", "magnitude"]).any()
    assert not ((again["question_id"] == some["question_id"].iloc[0]) & (again["magnitude"] == 0.0)).any()


def test_processes_that_find_different_room_share_one_plan_and_ask_every_row_once(model, intervention, monkeypatch):
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


@pytest.mark.parametrize("search", ["grid", "bisect"])
def test_an_engine_writes_the_same_texts_side_by_side(search, monkeypatch):
    monkeypatch.setattr(proof, "N_TOKENS", 5)
    model = outspoken_model()
    intervention, grid = Intervention.of(*vectors_at(model, [2]), positions="all"), [-2.0, -1.0, 0.0, 1.0, 2.0]
    key = ["question_id", "magnitude"]
    plain = pd.concat(written(model, intervention, grid, search=search)).sort_values(key, ignore_index=True)
    model.writer = Vllm(model, FakeVllm(model))
    parts = written(model, intervention, grid, search=search)
    pd.testing.assert_frame_equal(pd.concat(parts).sort_values(key, ignore_index=True), plain)
    rest = written(model, intervention, grid, search=search, done=parts[0].iloc[:9])
    assert len(pd.concat(rest)) == len(plain) - 9


def bisected(grid, says):
    """Asked by bisection until nothing is left; says: magnitude -> 1, 0 or nan."""
    said, rounds = {}, 0
    while wanted := next_settings(grid, said):
        assert not set(wanted) & set(said)
        said |= {magnitude: says(magnitude) for magnitude in wanted}
        rounds += 1
    return said, rounds


def test_bisection_finds_each_turn_with_a_fifth_of_the_grid():
    grid = [round(m / 20, 3) for m in range(-20, 21)]
    for cut in grid[:-1]:
        said, rounds = bisected(grid, lambda m, cut=cut: float(m > cut))
        assert said[cut] == 0
        assert said[grid[grid.index(cut) + 1]] == 1
        assert len(said) <= reasoned_cost(len(grid), "bisect")
        assert rounds <= 5
    said, _ = bisected(grid, lambda m: float(-0.6 < m < 0.7))  # there and back
    assert (said[-0.6], said[-0.55], said[0.65], said[0.7]) == (0, 1, 1, 0)
    assert len(bisected(grid, lambda m: 1.0)[0]) == 5  # nothing turns, nothing more is asked


def test_beside_a_text_that_cannot_be_read_the_next_setting_is_asked():
    grid = [float(m) for m in range(-8, 9)]
    said, _ = bisected(grid, lambda m: float("nan") if m in (1, 2, 3) else float(m > 2))
    assert said[0.0] == 0
    assert said[4.0] == 1
    assert all(np.isnan(said[m]) for m in (1.0, 2.0, 3.0))


def test_of_several_samples_most_decide_and_a_tie_is_unread():
    nan = float("nan")
    found = majorities({0.0: [1, 0, 1], 1.0: [1, 0], 2.0: [nan, nan], 3.0: [nan, 0.0]})
    assert found[0.0] == 1
    assert np.isnan(found[1.0])
    assert np.isnan(found[2.0])
    assert found[3.0] == 0


def test_samples_are_drawn_apart_and_the_same_again(model, intervention):
    found = pd.concat(written(model, intervention, [0.0, 1.0], samples=3, seed=1))
    assert len(found) == 2 * 3 * len(QUESTIONS)
    texts = found.groupby(["question_id", "magnitude"])["text"].nunique()
    assert (texts > 1).mean() > 0.8
    pd.testing.assert_frame_equal(pd.concat(written(model, intervention, [0.0, 1.0], samples=3, seed=1)), found)
    other = pd.concat(written(model, intervention, [0.0, 1.0], samples=3, seed=2))
    assert (other["text"] != found["text"]).any()
