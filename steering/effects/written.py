"""How sure is a steered subject of what is written? The same texts read at many settings of a dial.

Each text is read after its prompt in one forward (`read_written`), under the push that stood there while
the subject wrote: at the prompt's last token, its tokens, those of the text, or all of them. Up to the lowest layer
that is edited a batch runs once for all settings.
"""

from collections.abc import Iterator, Sequence

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from onedial.asking.prompts import Prompt
from onedial.confidence.tokens import token_scores
from onedial.models.forward.runner import plainly_edited
from onedial.models.model import OpenModel
from onedial.models.tokens import TokenBatch
from onedial.models.written_scores import read_written_in_ways
from steering.interventions import Intervention, SteeringVector, as_interventions, chosen_positions
from steering.reading import Grids, check_sweep

SURENESS_OF_WRITING = ("mean log-probability", "entropy", "first margin")
"""Of `onedial.confidence.tokens.token_scores`; in nats, higher = surer except for the entropy."""


def written_along(
    model: OpenModel,
    prompts: Sequence[Prompt],
    texts: Sequence[str],
    question_ids: Sequence[str],
    interventions: Intervention | SteeringVector | Sequence[Intervention | SteeringVector],
    magnitudes: Sequence[float] | Grids,
) -> pd.DataFrame:
    """How likely each text is after its prompt, at every magnitude of every intervention.

    Args:
        prompts, texts, question_ids: one of each for each text.
        interventions, magnitudes: as in `sweep`.

    Returns:
        question_id, intervention_id, magnitude and `SURENESS_OF_WRITING`, nan for an empty text.

    Raises:
        InputError: as in `sweep` and `read_written`; positions that depend on what is drawn.

    >>> from onedial import load_model, load_questions
    >>> from onedial.asking import CLOSED_BOOK
    >>> from steering import extract_vector
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=20)
    >>> vector = extract_vector(model, questions, layer=21)
    >>> prompts = [CLOSED_BOOK.prompt("Who wrote Emma?")]
    >>> written_along(model, prompts, ["Jane Austen"], ["q1"], vector, [0.0, 0.5]).shape[0]
    2
    """
    asked = as_interventions(interventions)
    grids = check_sweep(model, asked, magnitudes)
    ways = [(each, float(magnitude)) for each in asked for magnitude in grids[each.intervention_id]]
    lowest = min(layer for each in asked for layer in each.layers)

    def streams(batch: TokenBatch, begins: Int[Tensor, " row"]) -> Iterator[Float[Tensor, "row pos d_model"]]:
        place = batch.position_ids.masked_fill(~batch.attention_mask, -1)
        below = model.read_residual(batch, [lowest], "all")[:, 0]
        for each, magnitude in ways:
            chosen = chosen_positions(each.positions, place, begins)
            settings = torch.full((len(begins),), magnitude, device=model.device)
            with model.resumed_after(lowest, below), plainly_edited(model.stack, each.edits(), settings, chosen):
                yield model.final_residuals(batch)

    found = read_written_in_ways(model, prompts, texts, len(ways), streams, share=True)
    rows = [
        {"question_id": name, "intervention_id": each.intervention_id, "magnitude": magnitude}
        | {score: value for score, value in token_scores(text.statistics).items() if score in SURENESS_OF_WRITING}
        for (each, magnitude), own in zip(ways, found, strict=True)
        for name, text in zip(question_ids, own, strict=True)
    ]
    return pd.DataFrame(rows)
