"""Several processes, one result: each works on its share of the batches, and all of them hold all answers at the end.

Started by `accelerate launch` or `torchrun`; in a single process these functions do nothing.
"""

import os
from typing import Any, TypeVar

import torch
import torch.distributed as distributed

from onedial.core import InputError

T = TypeVar("T")


def start_processes(device_map: str | None = None) -> None:
    """Join the group that the launcher has started (gloo on CPUs, nccl on GPUs).

    Raises:
        InputError: several processes and a device map, which would each want all GPUs.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return
    if device_map:
        raise InputError("--device-map spreads one model over all GPUs; start one process for it, or leave it out")
    from accelerate import PartialState

    PartialState(cpu=not torch.cuda.is_available())


def own_device() -> str | None:
    """This process's GPU where several share the work; None lets the loader choose."""
    if process_count() == 1 or not torch.cuda.is_available():
        return None
    return f"cuda:{os.environ.get('LOCAL_RANK', '0')}"


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
