"""The same steered margins by the libraries that one could use instead, as their documents show, one batch at a time.

Each peer gets a padded batch, a layer and one addition, and returns the logits of the last position. Libraries that
are not installed are left out.
"""

import contextlib
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from torch import Tensor

from onedial.models import OpenModel, TokenBatch

Answer = Callable[[TokenBatch, Tensor], Tensor]
"""Padded prompts and the addition -> logits at the last column."""

Peer = Callable[[OpenModel, int, str], contextlib.AbstractContextManager[Answer]]


@dataclass(frozen=True)
class Rival:
    """A way to steer."""

    name: str
    peer: Peer
    module: str | None = None

    @property
    def installed(self) -> bool:
        """Whether its library can be imported here."""
        return self.module is None or find_spec(self.module) is not None


def _inputs(batch: TokenBatch) -> dict[str, Tensor]:
    return {
        "input_ids": batch.input_ids,
        "attention_mask": batch.attention_mask.long(),
        "position_ids": batch.position_ids,
    }


def _added(output: Any, addition: Tensor, positions: str) -> Any:
    stream = (output[0] if isinstance(output, tuple) else output).clone()
    stream[:, -1 if positions == "last" else slice(None)] += addition
    return (stream, *output[1:]) if isinstance(output, tuple) else stream


@contextlib.contextmanager
def plain_hook(model: OpenModel, layer: int, positions: str, **options: Any) -> Iterator[Answer]:
    """A PyTorch hook on the Hugging Face model, and its logits."""
    state: dict[str, Tensor] = {}
    handle = model.stack.layers[layer].register_forward_hook(
        lambda module, args, output: _added(output, state["addition"], positions)
    )

    def answer(batch: TokenBatch, addition: Tensor) -> Tensor:
        state["addition"] = addition
        return model.hf(**_inputs(batch), **options).logits[:, -1]

    try:
        yield answer
    finally:
        handle.remove()


@contextlib.contextmanager
def plain_hook_last_logits(model: OpenModel, layer: int, positions: str) -> Iterator[Answer]:
    """The same by somebody who knows that only the last position's logits are needed, and no cache."""
    with plain_hook(model, layer, positions, logits_to_keep=1, use_cache=False) as answer:
        yield answer


@contextlib.contextmanager
def steering_vectors(model: OpenModel, layer: int, positions: str) -> Iterator[Answer]:
    """`SteeringVector.apply`."""
    import steering_vectors as library

    def answer(batch: TokenBatch, addition: Tensor) -> Tensor:
        where = {"token_indices": [-1]} if positions == "last" else {}
        vector = library.SteeringVector({layer: addition})
        with vector.apply(model.hf, multiplier=1.0, min_token_index=None, **where):
            return model.hf(**_inputs(batch)).logits[:, -1]

    yield answer


@contextlib.contextmanager
def nnsight(model: OpenModel, layer: int, positions: str) -> Iterator[Answer]:
    """`LanguageModel.trace` with an edit of the layer's output."""
    import warnings

    from nnsight import LanguageModel

    warnings.filterwarnings("ignore", message="LanguageModel is deprecated")
    language_model = LanguageModel(copy.deepcopy(model.hf), tokenizer=model.tokenizer)

    def answer(batch: TokenBatch, addition: Tensor) -> Tensor:
        where = slice(-1, None) if positions == "last" else slice(None)
        inputs = _inputs(batch)
        with language_model.trace(inputs):
            changed = language_model.model.layers[layer].output.clone()
            changed[:, where] += addition
            language_model.model.layers[layer].output = changed
            logits = language_model.lm_head.output[:, -1].save()
        return logits

    yield answer


RIVALS = (
    Rival("plain Hugging Face hook", plain_hook),
    Rival("steering-vectors", steering_vectors, "steering_vectors"),
    Rival("nnsight", nnsight, "nnsight"),
)
HAND_TUNED = Rival("plain hook, last logits only", plain_hook_last_logits)
