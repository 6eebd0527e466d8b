"""Share work among processes: each does its share of the batches, and all of them hold all answers at the end.

Or all of them hold one model together (tensor parallelism): then each takes part in every batch, takes the same
decisions, and the first alone writes; here they count as one.

Started by `accelerate launch` or `torchrun`; in a single process these functions do nothing. Where processes wait for
one another they do so over the CPU (gloo), for `WAIT_MINUTES` at most, and say whom they have waited for.
"""

import contextlib
import functools
import os
import re
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any, TypeVar

import torch
import torch.distributed as distributed
from torch import Tensor

from onedial.core.errors import InputError, ProcessLostError
from onedial.core.pulse import what_is_done

T = TypeVar("T")

WAIT_MINUTES = 30.0
"""So long a process waits for the others wherever their work meets; ONEDIAL_WAIT_MINUTES in the environment says
otherwise."""


_together = False


def start_processes(device_map: str | None = None, tensor_parallel: bool = False) -> None:
    """Join the group that the launcher has started: nccl where each process has a GPU of its own, else gloo.

    Args:
        tensor_parallel: models that are loaded from now on are split over all processes (`is_split`).

    Raises:
        InputError: several processes and a device map, which would each want all GPUs; one process, or more than GPUs,
            for tensor parallelism; no number of minutes in ONEDIAL_WAIT_MINUTES.
        ProcessLostError: as `wait_for_all`.
    """
    global _together
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if tensor_parallel and device_map:
        raise InputError("--tensor-parallel and --device-map both spread a model over GPUs; give one of them")
    if tensor_parallel and world == 1:
        raise InputError(
            "--tensor-parallel splits a model over the processes of one launch, and this is one process; start it by "
            "torchrun --nproc_per_node with as many as there are GPUs"
        )
    if world == 1:
        return
    if device_map:
        raise InputError("--device-map spreads one model over all GPUs; start one process for it, or leave it out")
    too_few = torch.cuda.device_count() < _processes_here()
    if tensor_parallel and torch.cuda.is_available() and too_few:
        raise InputError(
            f"--tensor-parallel needs a GPU for each process, and here are {torch.cuda.device_count()} for "
            f"{_processes_here()}; start fewer processes"
        )
    from accelerate import PartialState

    longest_wait()
    PartialState(cpu=too_few)
    _together = tensor_parallel
    wait_for_all()


def is_split() -> bool:
    """Whether the processes hold one model together, each a part of it."""
    return _together


def own_device() -> str | None:
    """This process's GPU where several share the work, by turns where they are more than GPUs; None lets the loader
    choose."""
    if _world() == 1 or not torch.cuda.is_available():
        return None
    return f"cuda:{int(os.environ.get('LOCAL_RANK', '0')) % torch.cuda.device_count()}"


def _processes_here() -> int:
    return int(os.environ.get("LOCAL_WORLD_SIZE", os.environ["WORLD_SIZE"]))


def process_index() -> int:
    """The number of this process's share of the work: 0 in all processes that hold one model together."""
    return 0 if _together else _rank()


def process_count() -> int:
    """How many share the work: processes, or 1 where they hold one model together."""
    return 1 if _together else _world()


def _rank() -> int:
    return distributed.get_rank() if distributed.is_available() and distributed.is_initialized() else 0


def _world() -> int:
    return distributed.get_world_size() if distributed.is_available() and distributed.is_initialized() else 1


def own_share(items: list[T]) -> list[T]:
    """Every n-th item, so that long and short batches are dealt out evenly."""
    return items[process_index() :: process_count()]


def gather(items: list[T]) -> list[T]:
    """The items of all shares, those of share 0 first; every process gets the same list.

    Raises:
        ProcessLostError: as `wait_for_all`.
    """
    return [item for share in everyone(items)[: process_count()] for item in share]


def everyone(item: T) -> list[T]:
    """What each process brings, that of process 0 first.

    Raises:
        ProcessLostError: as `wait_for_all`.
    """
    if _world() == 1:
        return [item]
    brought: list[Any] = [None] * _world()
    wait_for_all()  # names whoever does not come, which the exchange itself cannot
    _met(lambda: distributed.all_gather_object(brought, item, group=_over_cpu()))
    return brought


def as_first(decided: T) -> T:
    """What process 0 has decided where processes hold one model together, else what this one has.

    Raises:
        ProcessLostError: as `wait_for_all`.
    """
    return everyone(decided)[0] if _together else decided


def agreed(value: Tensor) -> Tensor:
    """What process 0 has found where processes hold one model together, so that none decides otherwise by a last bit.

    Raises:
        ProcessLostError: another process has ended.
    """
    if not _together:
        return value
    same = value.detach().clone()
    _met(lambda: distributed.broadcast(same, 0, group=None if same.is_cuda else _over_cpu()))
    return same


def wait_for_all() -> None:
    """Return when every process has come here.

    Raises:
        ProcessLostError: another process has ended, or has not come within `WAIT_MINUTES`.
    """
    if _world() > 1:
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


@contextlib.contextmanager
def told_if_lost() -> Iterator[None]:
    """While it lasts, a process that is lost in the midst of a split model's forward is told of as elsewhere.

    Raises:
        ProcessLostError: another process has ended.
    """
    try:
        yield
    except RuntimeError as error:
        if not _together or not (isinstance(error, distributed.DistError) or "gloo" in str(error)):
            raise
        raise ProcessLostError(
            f"process {_rank()} of {_world()}, which hold one model together, lost another"
            f"{_where()}; what it said last tells why"
        ) from error


def _lost(error: str, seconds: float) -> str:
    """Who was waited for, where, and how long: process 0 learns who is missing, the others see it not answering."""
    named = re.search(r"Ranks ([\d, ]+) failed to pass", error)
    if named:
        whom = f"process {named[1].strip()}"
    elif _rank() == 0:
        whom = "the others"
    else:
        whom = "process 0 (or, through it, another)" if _world() > 2 else "process 0"
    limit = longest_wait().total_seconds()
    how = (
        f"{limit / 60:g} minutes (ONEDIAL_WAIT_MINUTES) in vain"
        if seconds >= 0.99 * limit
        else f"{seconds:.0f} s until it ended"
    )
    me = f"process {_rank()} of {_world()}"
    return f"{me} waited for {whom}{_where()} for {how}; what it said last tells why"


def _where() -> str:
    return f" in {what_is_done()!r}" if what_is_done() else ""
