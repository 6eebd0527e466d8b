"""How many threads numpy's products take. In a judgement and a study matrices are small, and two threads of BLAS wait
for each other: a judgement takes a quarter longer with two than with one, and on a busy machine three times as long."""

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let numpy and scipy compute on one thread while the context lasts; torch's own threads stay."""
    with threadpool_limits(limits=1, user_api="blas"):
        yield
