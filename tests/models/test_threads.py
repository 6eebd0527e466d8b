"""How many threads a run uses."""

import pytest
import torch

from onedial.models.threads import choose_threads


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
