"""Batches that were run unedited are kept, so that a later stage that asks the same one need not run it again.

What is kept of a batch is what steering at the last position goes on from (`Prefilled`): keys and values above the
lowest layer that was wanted, and the streams at these layers. It is found again by its tokens, the beginning that was
run before it and the dtype; running it anew would give the same bits. Those used longest ago go first.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence

from torch import Tensor

from onedial.models.forward.prefill import Prefilled

KEPT_BYTES = 2**30
"""At most so much is kept, on the device that computes."""


class KeptPrefills:
    """The batches of one model that were run last.

    Args:
        limit: bytes.
    """

    def __init__(self, limit: int = KEPT_BYTES) -> None:
        self.limit, self.n_bytes = limit, 0
        self._kept: OrderedDict[Hashable, Prefilled] = OrderedDict()

    def get(self, key: Hashable, layers: Sequence[int], run: Callable[[], Prefilled]) -> Prefilled:
        """What was kept under a key if the streams at these layers are there, else what `run` gives."""
        if (found := self._kept.get(key)) is not None and found.residuals.keys() >= set(layers):
            self._kept.move_to_end(key)
            return found
        self._drop(key)
        made = self._kept[key] = run()
        self.n_bytes += _bytes_of(made)
        while self.n_bytes > self.limit:
            self._drop(next(iter(self._kept)))
        return made

    def _drop(self, key: Hashable) -> None:
        if (gone := self._kept.pop(key, None)) is not None:
            self.n_bytes -= _bytes_of(gone)


def _bytes_of(made: Prefilled) -> int:
    tensors: list[Tensor] = [made.final, *made.residuals.values()]
    tensors += [each for entry in made.keys_and_values or [] if entry for each in entry]
    return sum(each.nbytes for each in tensors)
