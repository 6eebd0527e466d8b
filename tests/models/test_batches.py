"""Batches: whole, in order of length, halved where memory ends, and never larger than what free memory holds."""

import numpy as np
import pytest
import torch
from tiny_models import tiny_model

from onedial.asking.prompts import FRAMINGS
from onedial.core.errors import InputError
from onedial.models.decoder import Decoder
from onedial.models.forward import batches, prefill
from onedial.models.forward.batches import (
    batches_by_length,
    bytes_per_question,
    halving_on_out_of_memory,
    questions_per_batch,
)

PROMPTS = [FRAMINGS["neutral"].fill(text) for text in ("Who?", "Which of the tall trees?", "When, to the day?", "Why?")]


def no_room_for_more_than(most):
    def work(batch):
        if len(batch) > most:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return batch

    return work


@pytest.mark.parametrize(("n", "size"), [(0, 4), (1, 4), (7, 3), (8, 8), (20, 16)])
def test_every_question_stands_in_one_batch_and_the_longest_first(n, size):
    lengths = np.random.default_rng(n).integers(1, 9, n).tolist()
    result = batches_by_length(lengths, size)
    flat = [index for batch in result for index in batch]
    assert sorted(flat) == list(range(n))
    assert [lengths[index] for index in flat] == sorted(lengths, reverse=True)
    assert all(len(batch) <= size for batch in result)


@pytest.mark.parametrize("most", [1, 2, 3, 20])
def test_a_batch_is_halved_until_it_fits_and_stays_in_order(most):
    parts = list(halving_on_out_of_memory(no_room_for_more_than(most), list(range(13))))
    assert [index for part in parts for index in part] == list(range(13))
    assert max(len(part) for part in parts) <= most


def test_a_question_that_does_not_fit_alone_is_refused():
    with pytest.raises(InputError, match="one question alone does not fit") as refusal:
        list(halving_on_out_of_memory(no_room_for_more_than(0), [3, 5]))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("most", [1, 6])
def test_steering_whole_prompts_halves_the_magnitudes_side_by_side(monkeypatch, most):
    model = tiny_model("gemma3")
    sequences = model.token_ids(PROMPTS)
    runner = model.runner(sequences, [2], "all")
    started = runner.start(sequences)
    push = torch.randn(model.d_model, generator=torch.Generator().manual_seed(0)) / 10
    edits, settings = {2: lambda stream, setting: stream + setting[..., None] * push}, torch.linspace(-1, 1, 11)[None]
    whole = runner.steer(started, edits, settings)
    steer_rows, ran = prefill._steer_rows, []

    def small_memory(stack, prefilled, edits, settings, prefix, places):
        if len(places) > most:
            raise torch.OutOfMemoryError("CUDA out of memory")
        ran.append(len(places))
        return steer_rows(stack, prefilled, edits, settings, prefix, places)

    monkeypatch.setattr(prefill, "_steer_rows", small_memory)
    tight = runner.steer(started, edits, settings)
    assert sum(ran) == 11
    assert max(ran) <= most
    assert torch.allclose(whole, tight, atol=1e-4)


@pytest.fixture
def on_a_gpu(monkeypatch):
    """A tiny decoder that takes itself to be on a GPU with as many free bytes as it is told."""
    stack = tiny_model("llama").stack
    monkeypatch.setattr(Decoder, "device", torch.device("cuda"))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 0)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: 0)

    def with_free(n_bytes):
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (n_bytes, 10**12))
        return stack

    return with_free


def test_a_cpu_takes_sixteen_questions_whatever_their_length():
    assert questions_per_batch(tiny_model("llama").stack, longest=10_000, rows=64) == 16


def test_a_batch_needs_no_more_than_its_share_of_the_free_memory(on_a_gpu):
    for free in (2e6, 1e7, 3e7):
        stack = on_a_gpu(int(free))
        size = questions_per_batch(stack, longest=100, rows=64)
        one = bytes_per_question(stack, 100, rows=64)
        assert 1 <= size < 64
        assert size == 1 or size * one <= batches.SHARE_OF_FREE * free
        assert (size + 1) * one > batches.SHARE_OF_FREE * free


def test_free_memory_sets_the_batch(on_a_gpu):
    """Much free memory gives the usual batch and none gives one question."""
    assert questions_per_batch(on_a_gpu(10**12), longest=100, rows=64) == 64
    assert questions_per_batch(on_a_gpu(0), longest=100, rows=64) == 1
