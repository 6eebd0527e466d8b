"""Several processes, one result: each works on its share of the batches, and all of them hold all answers at the end.

Started by `accelerate launch` or `torchrun`; in a single process these functions do nothing.
"""

from typing import Any, TypeVar

import torch.distributed as distributed

T = TypeVar("T")


def process_index() -> int:
    """This process's number; 0 is the one that writes and speaks."""
    return distributed.get_rank() if distributed.is_available() and distributed.is_initialized() else 0


def process_count() -> int:
    """How many processes share the work."""
    return distributed.get_world_size() if distributed.is_available() and distributed.is_initialized() else 1


def own_share(items: list[T]) -> list[T]:
    """Every n-th item, so that long and short batches are dealt out evenly."""
    return items[process_index() :: process_count()]


def gather(items: list[T]) -> list[T]:
    """The items of all processes, those of process 0 first; every process gets the same list."""
    if process_count() == 1:
        return items
    gathered: list[Any] = [None] * process_count()
    distributed.all_gather_object(gathered, items)
    return [item for share in gathered for item in share]


def wait_for_all() -> None:
    """Return when every process has come here."""
    if process_count() > 1:
        distributed.barrier()
