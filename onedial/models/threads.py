"""How many CPU threads? Measured, since more can be far slower: on a machine whose cores others use, two threads made
the small matrix products of a sweep thirteen times slower than one.

Another number of threads adds up in another order, and the last bits of a margin with it: a run that goes on keeps the
number that it began with.

Leave the terminal to the program.
"""

import os
import sys
import time

import torch


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


ROWS, WIDTH, REPEATS = 64, 1024, 12


def choose_threads(begun_with: int | None = None) -> int:
    """Set and return the thread count at which a sweep-sized matrix product is fastest.

    `OMP_NUM_THREADS` goes before: where it is set, nothing is measured. Takes well under a second.

    Args:
        begun_with: the count that a run to go on with has recorded; taken as it is.
    """
    if "OMP_NUM_THREADS" in os.environ:
        return torch.get_num_threads()
    if begun_with is not None:
        torch.set_num_threads(begun_with)
        return begun_with
    most = torch.get_num_threads()
    candidates = sorted({1, max(most // 2, 1), most})
    left, right = torch.randn(ROWS, WIDTH), torch.randn(WIDTH, WIDTH)
    seconds = {}
    for threads in candidates:
        torch.set_num_threads(threads)
        torch.mm(left, right)
        began = time.perf_counter()
        for _ in range(REPEATS):
            torch.mm(left, right)
        seconds[threads] = time.perf_counter() - began
    best = min(candidates, key=lambda threads: seconds[threads])
    torch.set_num_threads(best)
    return best
