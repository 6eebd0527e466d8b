"""The logit lens: what the model would answer if it stopped after a layer, and which tokens a direction points at.

The stream after each block goes through the final norm and the unembedding as if no block followed (nostalgebraist,
2020). Early layers write for the next block and not for the unembedding, so that an answer which the lens does not show
may yet be there: a probe of the same layer shows what can be read at all.

    settled    the first layer from which on the lens' answer is the final one at this and every later layer

A layer whose tokens of yes and no have hardly any probability gives no answer yet, whatever the sign of its margin.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from onedial.asking.yes_no import is_read
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.models.forward.readout import AnswerTokens
from onedial.models.inside.activation_store import ActivationStore
from onedial.models.model import OpenModel

ROWS_AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class Lens:
    """The answer of each question after each layer.

    Attributes:
        layers: of the second axis, ascending. The last layer's answer is the model's own.
        margin, mass: as in `onedial.models.forward.readout`; mass is small where the layer says neither yes nor no.
    """

    layers: tuple[int, ...]
    margin: Float[Tensor, "question layer"]
    mass: Float[Tensor, "question layer"]

    __repr__ = one_line

    @property
    def agrees(self) -> NDArray[np.bool_]:
        """(question, layer) whether the lens gives an answer, and the same one as the last of the layers."""
        yes, given = (self.margin > 0).numpy(), is_read(self.mass.numpy())
        given[:, -1] = True
        return np.asarray((yes == yes[:, -1:]) & given)

    @property
    def settled(self) -> Int[Tensor, " question"]:
        """The layer from which the answer no longer changes; see the module's text."""
        later = np.flip(np.minimum.accumulate(np.flip(self.agrees, axis=1), axis=1), axis=1)
        return torch.tensor(self.layers)[torch.from_numpy(later.argmax(axis=1).copy())]


@torch.inference_mode()
def lens_of(model: OpenModel, store: ActivationStore, tokens: AnswerTokens) -> Lens:
    """Look at a store's questions through the lens, at the last position of each prompt.

    Args:
        tokens: of yes and no, as the prompts of the store have them (`PromptSet.tokens`).

    Raises:
        InputError: the store is of another model, or does not hold the last position or the last layer.
    """
    if store.key.model.fingerprint not in model.identity.fingerprints:
        raise InputError(
            f"the activations in {store.folder} are of {store.key.model.name}, but the model is {model.identity.name}; "
            "look through the lens of the same model"
        )
    if model.n_layers - 1 not in store.layers:
        raise InputError(
            f"{store.folder} does not hold layer {model.n_layers - 1}, whose answer the others are compared with; read "
            "a store of all layers"
        )
    layers = tuple(sorted(store.layers))
    columns = []
    for layer in layers:
        parts = [model.readout.margin_and_mass(rows, tokens) for rows in store.read(layer).split(ROWS_AT_ONCE)]
        columns.append(torch.cat([torch.stack(part).float() for part in parts], dim=1))
    return Lens(layers, *torch.stack(columns, dim=2).cpu())


@torch.inference_mode()
def tokens_along(
    model: OpenModel, directions: Sequence[Float[Tensor, " d_model"]], n: int = 8
) -> list[tuple[list[str], list[str]]]:
    """The tokens whose logits a direction raises most, and lowers most, if it went straight to the unembedding.

    What a step forward does is compared with a step back, so that neither an offset nor a bias of the unembedding has a
    part in it.

    Args:
        directions: of any length. n: tokens on either side.
    """
    found = []
    for direction in directions:
        size = torch.linalg.vector_norm(direction.float())
        unit = direction.float() / size.clamp_min(torch.finfo(torch.float32).tiny) * direction.numel() ** 0.5
        forward, back = model.readout.logits(torch.stack([unit, -unit]), slice(None)).cpu()
        order = (forward - back).argsort(descending=True)
        sides = (order[:n], order.flip(0)[:n])
        found.append(tuple([model.tokenizer.decode([token]) for token in side.tolist()] for side in sides))
    return [(list(raised), list(lowered)) for raised, lowered in found]
