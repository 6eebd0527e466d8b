"""How many CPU threads? Measured, since more can be far slower: on a machine whose cores others use, two threads made
the small matrix products of a sweep thirteen times slower than one.

Another number of threads adds up in another order, and the last bits of a margin with it: a run that goes on keeps the
number that it began with.
"""

import os
import time

import torch

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
