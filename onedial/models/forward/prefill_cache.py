"""Keep batches that were run unedited, so that a later stage that asks the same one need not run it again.

What is cached of a batch is what steering at the last position goes on from (`Prefilled`): keys and values above the
lowest layer that was wanted, and the streams at these layers. It is found again by its tokens, the beginning that was
run before it and the dtype; running it anew would give the same bits. What comes when the room is full is not kept:
stages go through the same batches in turn, so that making room would throw out what is asked for next.
"""

from collections.abc import Callable, Hashable, Sequence

from torch import Tensor

from onedial.models.forward.prefill import Prefilled

CACHE_BYTES = 2**30
"""At most so much is kept, on the device that computes."""


class PrefillCache:
    """The batches of one model that were run first.

    Args:
        limit: bytes.
    """

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self.limit, self.n_bytes = limit, 0
        self._entries: dict[Hashable, Prefilled] = {}

    def get(self, key: Hashable, layers: Sequence[int], run: Callable[[], Prefilled]) -> Prefilled:
        """What was kept under a key if the streams at these layers are there, else what `run` gives."""
        cached = self._entries.get(key)
        if cached is not None and cached.residuals.keys() >= set(layers):
            return cached
        made = run()
        n_bytes = self.n_bytes + _bytes_of(made) - (_bytes_of(cached) if cached is not None else 0)
        if n_bytes <= self.limit:
            self._entries[key], self.n_bytes = made, n_bytes
        return made


def _bytes_of(made: Prefilled) -> int:
    tensors: list[Tensor] = [made.final, *made.residuals.values()]
    tensors += [each for entry in made.keys_and_values or [] if entry for each in entry]
    return sum(each.nbytes for each in tensors)
