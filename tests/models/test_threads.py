"""How many threads a run uses."""

import pytest
import torch

from onedial.models import threads
from onedial.models.threads import choose_threads, choose_threads_once


@pytest.fixture(autouse=True)
def put_back():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_run_that_goes_on_keeps_the_count_that_it_began_with(count, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert choose_threads(count) == count
    assert torch.get_num_threads() == count


def test_the_environment_goes_before_what_a_run_has_recorded(monkeypatch):
    torch.set_num_threads(2)
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert choose_threads(1) == 2


def test_without_either_the_count_is_one_of_those_measured(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    torch.set_num_threads(4)
    assert choose_threads() in {1, 2, 4}
    assert torch.get_num_threads() in {1, 2, 4}


def test_a_process_chooses_once_and_keeps_what_is_set_afterwards(monkeypatch):
    monkeypatch.setattr(threads, "_CHOSEN", [])
    monkeypatch.setattr(threads, "_fastest", lambda: 2)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    choose_threads_once()
    assert torch.get_num_threads() == 2
    torch.set_num_threads(3)
    choose_threads_once()
    assert torch.get_num_threads() == 3


@pytest.mark.parametrize(("seconds", "best"), [((1.0, 0.9, 0.9), 1), ((1.0, 0.7, 0.65), 2), ((1.0, 0.7, 0.5), 4)])
def test_more_threads_are_taken_where_they_are_clearly_faster(seconds, best, monkeypatch):
    clock = iter([moment for took in seconds for moment in (0.0, took)])
    monkeypatch.setattr(threads.time, "perf_counter", lambda: next(clock))
    torch.set_num_threads(4)
    assert threads._fastest() == best
