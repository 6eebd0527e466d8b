"""Several processes, one result: each works on its share of the batches, and all of them hold all answers at the end.

Started by `accelerate launch` or `torchrun`; in a single process these functions do nothing. Where processes wait for
one another they do so over the CPU (gloo), for `WAIT_MINUTES` at most, and say whom they have waited for.
"""

import functools
import os
import re
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

import torch
import torch.distributed as distributed

from onedial.core import InputError, ProcessLostError, what_is_done

T = TypeVar("T")

WAIT_MINUTES = 30.0
"""So long a process waits for the others wherever their work meets; ONEDIAL_WAIT_MINUTES in the environment says
otherwise."""


def start_processes(device_map: str | None = None) -> None:
    """Join the group that the launcher has started: nccl where each process has a GPU of its own, else gloo.

    Raises:
        InputError: several processes and a device map, which would each want all GPUs; no number of minutes in
            ONEDIAL_WAIT_MINUTES.
        ProcessLostError: as `wait_for_all`.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return
    if device_map:
        raise InputError("--device-map spreads one model over all GPUs; start one process for it, or leave it out")
    from accelerate import PartialState

    longest_wait()
    PartialState(cpu=torch.cuda.device_count() < _processes_here())
    wait_for_all()


def own_device() -> str | None:
    """This process's GPU where several share the work, by turns where they are more than GPUs; None lets the loader
    choose."""
    if process_count() == 1 or not torch.cuda.is_available():
        return None
    return f"cuda:{int(os.environ.get('LOCAL_RANK', '0')) % torch.cuda.device_count()}"


def _processes_here() -> int:
    return int(os.environ.get("LOCAL_WORLD_SIZE", os.environ["WORLD_SIZE"]))


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
    """The items of all processes, those of process 0 first; every process gets the same list.

    Raises:
        ProcessLostError: as `wait_for_all`.
    """
    if process_count() == 1:
        return items
    gathered: list[Any] = [None] * process_count()
    wait_for_all()  # names whoever does not come, which the exchange itself cannot
    _met(lambda: distributed.all_gather_object(gathered, items, group=_over_cpu()))
    return [item for share in gathered for item in share]


def wait_for_all() -> None:
    """Return when every process has come here.

    Raises:
        ProcessLostError: another process has ended, or has not come within `WAIT_MINUTES`.
    """
    if process_count() > 1:
        _met(lambda: distributed.monitored_barrier(_over_cpu(), longest_wait(), wait_all_ranks=True))


def longest_wait() -> timedelta:
    """How long one process waits for another.

    Raises:
        InputError: ONEDIAL_WAIT_MINUTES is no number above 0.
    """
    given = os.environ.get("ONEDIAL_WAIT_MINUTES", str(WAIT_MINUTES))
    try:
        minutes = float(given)
        if not 0 < minutes < 1e6:
            raise ValueError
    except ValueError:
        raise InputError(f"ONEDIAL_WAIT_MINUTES={given}: give minutes above 0, or leave it out for 30") from None
    return timedelta(minutes=minutes)


@functools.cache
def _over_cpu() -> distributed.ProcessGroup:
    """All processes, whatever they compute on; only gloo says who is missing."""
    group: distributed.ProcessGroup = distributed.new_group(backend="gloo", timeout=longest_wait())
    return group


def _met(meet: Callable[[], object]) -> None:
    began = time.monotonic()
    try:
        meet()
    except RuntimeError as error:
        raise ProcessLostError(_lost(str(error), time.monotonic() - began)) from error


def _lost(error: str, seconds: float) -> str:
    """Who was waited for, where, and how long: process 0 learns who is missing, the others see it not answering."""
    named = re.search(r"Ranks ([\d, ]+) failed to pass", error)
    if named:
        whom = f"process {named[1].strip()}"
    elif process_index() == 0:
        whom = "the others"
    else:
        whom = "process 0 (or, through it, another)" if process_count() > 2 else "process 0"
    where = f" in {what_is_done()!r}" if what_is_done() else ""
    limit = longest_wait().total_seconds()
    how = (
        f"{limit / 60:g} minutes (ONEDIAL_WAIT_MINUTES) in vain"
        if seconds >= 0.99 * limit
        else f"{seconds:.0f} s until it ended"
    )
    me = f"process {process_index()} of {process_count()}"
    return f"{me} waited for {whom}{where} for {how}; what it said last tells why"
