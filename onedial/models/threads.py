"""Measure how many CPU threads are fastest, since more can be far slower.

On a machine whose cores others use, two threads made the small matrix products of a sweep thirteen times slower than
one.

Another number of threads adds up in another order, and the last bits of a margin with it: a run that goes on keeps the
number that it began with.
"""

import os
import sys
import time

import torch

from onedial.models.processes import as_first


def quiet_libraries() -> None:
    """No bars of other libraries while weights are read or converted, no word about forked tokenizers.

    A download's bar is wanted by whoever waits for it: it stays in a terminal, and a log is spared it.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from huggingface_hub.utils import disable_progress_bars
    from transformers.utils import logging

    logging.disable_progress_bar()
    if not sys.stderr.isatty():
        disable_progress_bars()


ROWS, WIDTH, REPEATS = 64, 1024, 40
GAIN = 1.25
"""More threads have to be so many times as fast."""
_CHOSEN: list[int] = []
"""What this process has chosen, the latest last."""


def choose_threads(begun_with: int | None = None) -> int:
    """Set and return the thread count at which a sweep-sized matrix product is fastest, the smaller one of near equals.

    `OMP_NUM_THREADS` goes before: where it is set, nothing is measured. Takes well under a second.

    Args:
        begun_with: the count that a run to go on with has recorded; taken as it is.
    """
    threads = torch.get_num_threads()
    if "OMP_NUM_THREADS" not in os.environ:  # the processes of a split model choose alike
        threads = as_first(begun_with or _fastest())
        torch.set_num_threads(threads)
    _CHOSEN.append(threads)
    return threads


def choose_threads_once() -> None:
    """`choose_threads`, unless this process has chosen; so what `torch.set_num_threads` sets afterwards stays."""
    if not _CHOSEN:
        choose_threads()


def _fastest() -> int:
    most, seconds = torch.get_num_threads(), {}
    left, right = torch.randn(ROWS, WIDTH), torch.randn(WIDTH, WIDTH)
    for threads in sorted({1, max(most // 2, 1), most}):
        torch.set_num_threads(threads)
        torch.mm(left, right)
        began = time.perf_counter()
        for _ in range(REPEATS):
            torch.mm(left, right)
        seconds[threads] = time.perf_counter() - began
    best = 1
    for threads, needed in seconds.items():
        if GAIN * needed < seconds[best]:
            best = threads
    return best
