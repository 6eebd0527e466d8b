"""Ask one instrument at many settings of the dial, and of controls, from one unedited forward per prompt.

`ask_along` puts any instrument to a steered respondent, setting by setting; where the answer is read from logits this
is the quick way, by the same runners as the sweep (`onedial.models.forward.runner`).
"""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from onedial.asking.instruments import Instrument, TokenReader
from onedial.asking.prompts import Prompt
from onedial.core.errors import InputError
from onedial.models.forward.batches import Progress
from onedial.models.forward.runner import Started
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from steering.interventions import Intervention, SteeringVector, as_interventions
from steering.reading import Grids, Kept, Numbers, Sink, answers_along

ASKED_COLUMNS = ["question_id", "intervention_id", "magnitude", "value", "margin", "expected", "spread", "mass"]
"""value: place of the likeliest option; margin: first option over the second, nan unless yes/no; expected, spread: of
the numbers that the options stand for, nan where they stand for none (`onedial.asking.Scale.expectation`); mass:
probability of all options together."""


def ask_settings(
    model: OpenModel,
    prompts: Mapping[str, Prompt],
    instrument: Instrument,
    interventions: Intervention | SteeringVector | Sequence[Intervention | SteeringVector],
    magnitudes: Sequence[float] | Grids,
    *,
    sink: Sink | None = None,
    done: Collection[str] = frozenset(),
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Ask every prompt at every magnitude of every intervention, and read the logits at its end.

    Args:
        prompts: question id -> the instrument's template, filled in.
        interventions, magnitudes, progress: as in `sweep`.
        sink: is given each finished batch's table; nothing is kept then. done: ids that need not be asked again.

    Returns:
        `ASKED_COLUMNS`, by intervention, prompt and magnitude; empty with a sink.

    Raises:
        InputError: as in `sweep`; an instrument whose answer is written, or that this tokenizer cannot read; a prompt
            longer than the model's context.

    >>> from onedial import load_model, load_questions
    >>> from onedial.asking import CAN_YOU_ANSWER
    >>> from steering import extract_vector
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=20)
    >>> vector = extract_vector(model, questions, layer=21)
    >>> prompts = {"q1": CAN_YOU_ANSWER.prompt("Who wrote Emma?")}
    >>> ask_settings(model, prompts, CAN_YOU_ANSWER, vector, [0.0, 0.5]).shape[0]
    2
    """
    if not isinstance(instrument.reader, TokenReader):
        raise InputError(f"the answer to {instrument.name!r} is written, not read from logits; use ask_along")
    # One instrument's prompts end alike; the tokens that can answer depend on nothing before that (`ENDING`).
    asked = PromptSet.of_prompts(model, list(prompts.values()), list(prompts), instrument.reader)

    def options(started: Started, final: Tensor) -> Tensor:
        groups, mass = model.readout.groups_and_mass(final, asked.tokens)
        return torch.cat([groups.movedim(-1, 0), mass[None]])

    kept = Kept(ASKED_COLUMNS[3:], options, partial(_answers, instrument))
    pushed = as_interventions(interventions)
    return answers_along(model, pushed, asked, magnitudes, kept=kept, sink=sink, done=done, progress=progress)


def _answers(instrument: Instrument, numbers: Numbers) -> Numbers:
    """(column, row) `ASKED_COLUMNS` of one question, from (options and mass, row)."""
    logits, mass = numbers[:-1].T, numbers[-1]
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    probabilities = weights / weights.sum(axis=1, keepdims=True)
    values = np.array(instrument.scale.values or [np.nan] * logits.shape[1])
    expected = probabilities @ values
    spread = np.sqrt((probabilities * (values - expected[:, None]) ** 2).sum(axis=1))
    margin = logits[:, 0] - logits[:, 1] if instrument.scale.kind == "yes/no" else np.full(len(mass), np.nan)
    return np.stack([logits.argmax(axis=1).astype(float), margin, expected, spread, mass])
