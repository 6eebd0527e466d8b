"""How many threads numpy's products take. Here matrices are small, and two threads of BLAS wait for each other: a
judgement, a study and a layer of probes take two to three times as long with two as with one."""

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """While the context lasts, numpy and scipy compute on one thread; torch's own threads stay."""
    with threadpool_limits(limits=1, user_api="blas"):
        yield
