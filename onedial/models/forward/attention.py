"""Make attention masks and caches for running a stock decoder in pieces.

Hugging Face decoders take a ready-made 4-D mask and return it unchanged to their layers, and they take any `Cache`.
With these two, keys and values that were computed once serve many forwards: the cache below never grows, and the
mask says which of its columns each new row may see.
"""

from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from transformers.cache_utils import Cache, DynamicLayer

SUPPORTED_LAYER_TYPES = {"full_attention", "global", "sliding_attention", "chunked_attention"}


class _FixedPrefixLayer(DynamicLayer):
    """Keys and values of one layer that a forward sees, but does not change.

    What the forward adds is kept in `added` (the keys and values of the new positions alone).
    """

    def __init__(self, keys: Tensor | None = None, values: Tensor | None = None) -> None:
        super().__init__()
        if keys is not None and values is not None:
            self.lazy_initialization(keys, values)
            self.keys, self.values = keys, values
        self.added: tuple[Tensor, Tensor] | None = None

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        self.added = (key_states, value_states)
        if self.keys is None or self.values is None:
            return key_states, value_states
        rows = key_states.shape[0]
        return (
            torch.cat([self.keys.expand(rows, -1, -1, -1), key_states], dim=-2),
            torch.cat([self.values.expand(rows, -1, -1, -1), value_states], dim=-2),
        )


KeysAndValues = list[tuple[Tensor, Tensor] | None]
"""One entry per layer: keys and values, each `row head pos d_head`; None where a layer has none (it was not run)."""


class FixedPrefixCache(Cache):
    """A cache that holds a prefix for all rows and stays as it is; `added()` returns what the last forward computed.

    A prefix of one row serves any number of rows.
    """

    def __init__(self, n_layers: int, prefix: KeysAndValues | None = None) -> None:
        entries = prefix if prefix is not None else [None] * n_layers
        self._prefix_layers = [_FixedPrefixLayer(*(entry or (None, None))) for entry in entries]
        super().__init__(layers=list(self._prefix_layers))

    def added(self) -> KeysAndValues:
        """Keys and values of the positions that the last forward ran, layer by layer."""
        return [layer.added for layer in self._prefix_layers]


def join_prefix(prefix: KeysAndValues | None, added: KeysAndValues, from_layer: int = 0) -> KeysAndValues:
    """Prefix and added positions side by side, for the layers from `from_layer` on; the rest is let go."""
    joined: KeysAndValues = []
    for index, entry in enumerate(added):
        before = prefix[index] if prefix is not None else None
        if index < from_layer or entry is None:
            joined.append(None)
        elif before is None:
            joined.append(entry)
        else:
            rows = entry[0].shape[0]
            keys, values = (
                torch.cat([old.expand(rows, -1, -1, -1), new], dim=-2) for old, new in zip(before, entry, strict=True)
            )
            joined.append((keys, values))
    return joined


def attention_mask(
    config: Any,
    seen: Bool[Tensor, "question query key"],
    query_position: Int[Tensor, "question query"],
    key_position: Int[Tensor, "question key"],
    dtype: torch.dtype,
) -> Float[Tensor, "question 1 query key"] | dict[str, Float[Tensor, "question 1 query key"]]:
    """The additive mask that the decoder of this config expects: one tensor, or one per kind of layer.

    Args:
        seen: which keys a query may see before any sliding window (causality and padding).
        query_position, key_position: position ids; a sliding window w keeps keys with query - key < w, a chunk of w
            those with the same query // w and key // w.
    """
    window = getattr(config, "sliding_window", None)

    def additive(allowed: Bool[Tensor, "question query key"]) -> Tensor:
        blocked = torch.zeros(allowed.shape, dtype=dtype, device=allowed.device)
        return blocked.masked_fill_(~allowed, torch.finfo(dtype).min).unsqueeze(1)

    def within_window() -> Tensor:
        if not window:
            return seen
        return seen & ((query_position[:, :, None] - key_position[:, None, :]) < window)

    def within_chunk() -> Tensor:
        chunk = config.attention_chunk_size
        return seen & (query_position[:, :, None] // chunk == key_position[:, None, :] // chunk)

    layer_types = getattr(config, "layer_types", None)
    if layer_types is None:
        return additive(within_window())
    visible = {"sliding_attention": within_window, "chunked_attention": within_chunk}
    return {kind: additive(visible[kind]() if kind in visible else seen) for kind in sorted(set(layer_types))}
