"""Make anybody's direction of two lists of texts: what the model holds after one kind minus that after the other.

    vector = vector_from_texts(model, ["Describe a lovely day.", ...], ["Describe a dreadful day.", ...])
    model.generate("How was the concert?", vector * 0.3)
    sweep(model, vector, ["Was the film good or bad?"], answers=("good", "bad"), controls=1).rates()

The stream is read at the last token of each prompt, where the model goes over to its answer; of a chat that ends in the
assistant's turn, at that turn's last token. Without a layer the library takes the one, in the middle half of the depth,
at which texts that a direction was not made of lie furthest apart along it:

    d'(layer) = mean over halves of (mean positive - mean negative) / pooled standard deviation     on the other half
"""

import torch
from jaxtyping import Float
from torch import Tensor

from onedial.asking.prompts import PromptTemplate
from onedial.core.calls import says_how
from onedial.core.errors import InputError
from onedial.core.files import sha256_of_text
from onedial.core.progress import shown
from onedial.models.forward.activations import Activations, Read, places_of, read_sequences
from onedial.models.forward.batches import Progress
from onedial.models.model import OpenModel, check_is_model
from onedial.models.questions import Texts, as_prompts
from steering.contrasts import Contrast
from steering.directions import READ_NO_SIDES
from steering.interventions import SteeringVector
from steering.planning.layers import candidate_layers
from steering.vectors import check_making, vectors_of

FEWEST = 2
"""Texts on either side."""
FEWEST_TO_CHOOSE = 4
"""On either side, to choose a layer by; with fewer it is the one at three fifths of the depth."""
AS_IT_IS = PromptTemplate("{question}", name="as it is")
"""How questions are put along a vector that was made of texts, unless a prompt is given."""


@says_how
def vector_from_texts(
    model: OpenModel,
    positive: Texts,
    negative: Texts,
    *,
    layer: int | None = None,
    site: str = "resid",
    read: Read = "last",
    method: str = "mean_difference",
    progress: Progress | bool = True,
) -> SteeringVector:
    """Make a steering vector of two lists of texts or chats; positive magnitudes go from the negative to the positive.

    Args:
        positive, negative: texts, each a whole user turn that is put into the chat template; or chats, each a list of
            messages (`{"role": ..., "content": ...}`), whose last may be the assistant's; or `Prompt`s. Texts in one
            order in both are pairs for the methods that know pairs.
        layer: at which it is read and added; by default chosen, see the module's text.
        site, read: as in `extract_vector`; a text that is read stands once in each of the texts.
        method: one of `DIRECTIONS` that is made of two sides alone.
        progress: is told how many texts were read; True shows it where that takes over two seconds.

    Raises:
        InputError: fewer than two texts on a side, the same ones on both, a layer that the model has not, or a method
            that needs the model's own yes and no.

    >>> from onedial import load_model
    >>> warm, cold = ([f"Describe a {way} {what}." for what in ("day", "meal")] for way in ("lovely", "dreadful"))
    >>> model = load_model("smollm2-135m-instruct")
    >>> vector_from_texts(model, warm, cold, layer=15).contrast
    'texts'
    """
    check_making("response", method)
    if method in READ_NO_SIDES:
        raise InputError(
            f"the method {method} is made of a model's own yes and no, and texts hold none; choose another"
        )
    check_is_model(model)
    sides = [as_prompts(side) for side in (positive, negative)]
    if min(map(len, sides)) < FEWEST or sides[0] == sides[1]:
        raise InputError(
            f"{len(sides[0])} positive and {len(sides[1])} negative texts{', the same' * (sides[0] == sides[1])}; give "
            f"at least {FEWEST} of each, such that differ in what the direction is to be about"
        )
    layers = candidate_layers("auto", model.n_layers) if layer is None else [layer]
    model.check_layers(layers)
    sequences = [tuple(ids) for side in sides for ids in model.token_ids(side)]
    with shown(progress, len(sequences), "texts read") as advance:
        asked = [prompt for side in sides for prompt in side]
        places = None if read == "last" else places_of(model, asked, sequences, read)
        activations, streams = read_sequences(model, sequences, layers, advance, site=site, places=places)
    yes, no = activations.split([len(side) for side in sides])
    names, known = tuple(f"text {place}" for place in range(len(streams))), torch.ones(len(streams))
    rows = torch.arange(len(streams)).split([len(side) for side in sides])
    reading = Activations(names, tuple(layers), known, known, activations, streams)
    contrast = Contrast("texts", tuple(layers), yes, no, reading, rows=rows, site=site, read=read)
    if layer is None:
        contrast = contrast.at_layer(layers[_clearest(yes, no)])
    digest = sha256_of_text("\x1f".join(map(str, sequences)))
    return vectors_of(model.identity, contrast, method, digest, AS_IT_IS)[0]


def _clearest(positive: Float[Tensor, "yes layer d_model"], negative: Float[Tensor, "no layer d_model"]) -> int:
    """The place of the layer with the largest d'; see the module's text."""
    if min(len(positive), len(negative)) < FEWEST_TO_CHOOSE:
        return 3 * positive.shape[1] // 5
    separations = []
    for half in (0, 1):
        line = positive[half::2].mean(dim=0) - negative[half::2].mean(dim=0)
        along = [(side[1 - half :: 2] * line).sum(dim=-1) for side in (positive, negative)]
        apart = along[0].mean(dim=0) - along[1].mean(dim=0)
        spread = torch.stack([stream.var(dim=0, correction=0) for stream in along]).mean(dim=0).sqrt()
        separations.append(apart / spread.clamp(min=torch.finfo(torch.float32).tiny))
    return int(torch.stack(separations).mean(dim=0).argmax())
