"""One instrument at many settings of the dial, and of controls, from one unedited forward per prompt.

`ask_along` puts any instrument to a steered respondent, setting by setting; where the answer is read from logits this
is the quick way, by the same runners as the sweep (`onedial.models.forward.runner`).
"""

from collections.abc import Callable, Collection, Sequence

import numpy as np
import pandas as pd
import torch

from onedial.asking import Instrument, Prompt, TokenReader
from onedial.core import InputError
from onedial.models import AnswerTokens, OpenModel, batches_by_length, questions_per_batch
from steering.interventions import Intervention, as_interventions
from steering.sweeping import ROWS_PER_QUESTION, Grids, check_sweep, tables_of_batches
from steering.vectors import SteeringVector

ASKED_COLUMNS = ["question_id", "intervention_id", "magnitude", "value", "margin", "expected", "spread", "mass"]
"""value: place of the likeliest option; margin: first option over the second, nan unless yes/no; expected, spread: of
the numbers that the options stand for, nan where they stand for none (`onedial.asking.Scale.expectation`); mass:
probability of all options together."""


def ask_settings(
    model: OpenModel,
    prompts: Sequence[Prompt],
    question_ids: Sequence[str],
    instrument: Instrument,
    interventions: Intervention | SteeringVector | Sequence[Intervention | SteeringVector],
    magnitudes: Sequence[float] | Grids,
    *,
    sink: Callable[[pd.DataFrame], None] | None = None,
    done: Collection[str] = frozenset(),
    progress: Callable[[int], None] | None = None,
    batch_size: int | None = None,
) -> pd.DataFrame:
    """Ask every prompt at every magnitude of every intervention, and read the logits at its end.

    Args:
        prompts: of one instrument, filled in; `question_ids` names them.
        interventions, magnitudes, progress, batch_size: as in `sweep`.
        sink: is given each finished batch's table; nothing is kept then. done: ids that need not be asked again.

    Returns:
        `ASKED_COLUMNS`, by prompt, intervention and magnitude; empty with a sink.

    Raises:
        InputError: as in `sweep`; an instrument whose answer is written, or that this tokenizer cannot read; a prompt
            longer than the model's context.

    >>> from onedial import load_model, load_questions
    >>> from onedial.asking import CAN_YOU_ANSWER
    >>> from steering import extract_vector
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=20)
    >>> vector = extract_vector(model, questions, layer=21)
    >>> prompts = [CAN_YOU_ANSWER.prompt("Who wrote Emma?")]
    >>> ask_settings(model, prompts, ["q1"], CAN_YOU_ANSWER, vector, [0.0, 0.5]).shape[0]
    2
    """
    if not isinstance(instrument.reader, TokenReader):
        raise InputError(f"the answer to {instrument.name!r} is written, not read from logits; use ask_along")
    asked = as_interventions(interventions)
    grids = check_sweep(model, asked, magnitudes)
    sequences = [tuple(ids) for ids in model.token_ids(prompts)]
    longest = max(map(len, sequences), default=0)
    if model.max_tokens and longest + 1 > model.max_tokens:
        raise InputError(
            f"a prompt of {instrument.name!r} has {longest} tokens, but the model reads {model.max_tokens} at most; "
            "leave out long questions"
        )
    # One instrument's prompts end alike; the tokens that can answer depend on nothing before that (`ENDING`).
    tokens = model.answer_tokens(prompts[0], instrument.reader)
    kinds = dict.fromkeys(each.at for each in asked)
    size = batch_size or questions_per_batch(model.stack, longest, ROWS_PER_QUESTION)
    batches = [
        [index for index in batch if question_ids[index] not in done]
        for batch in batches_by_length([len(ids) for ids in sequences], size)
    ]
    if not any(batches):
        return pd.DataFrame(columns=ASKED_COLUMNS)
    runners = [(at, model.runner(sequences, [min(each.layers) for each in asked if each.at == at], at)) for at in kinds]

    def work(batch: list[int]) -> pd.DataFrame:
        own = [sequences[index] for index in batch]
        names = [question_ids[index] for index in batch]
        parts = []
        for at, runner in runners:
            started = runner.start(own)
            for each in asked:
                if each.at == at:
                    grid = grids[each.intervention_id]
                    rows = torch.tensor(grid, dtype=torch.float32, device=model.device)
                    finals = [
                        model.readout.groups_and_mass(runner.steer(started, each.edits(), chunk[None]), tokens)
                        for chunk in rows.split(ROWS_PER_QUESTION)
                    ]
                    groups, mass = (
                        torch.cat(found, dim=1).double().cpu().numpy() for found in zip(*finals, strict=True)
                    )
                    parts.append(_table(names, each.intervention_id, grid, groups, mass, instrument, tokens))
        return pd.concat(parts, ignore_index=True)

    frames = tables_of_batches(work, filter(None, batches), sink, progress)
    if sink:
        return pd.DataFrame(columns=ASKED_COLUMNS)
    table = pd.concat(frames, ignore_index=True)
    place = {name: index for index, name in enumerate(question_ids)}
    order = table.assign(_order=table["question_id"].map(place))
    order = order.sort_values(["_order", "intervention_id", "magnitude"], kind="stable", ignore_index=True)
    return order[ASKED_COLUMNS]


def _table(
    names: Sequence[str],
    intervention_id: str,
    grid: Sequence[float],
    groups: np.ndarray,
    mass: np.ndarray,
    instrument: Instrument,
    tokens: AnswerTokens,
) -> pd.DataFrame:
    """`groups`: (question, setting, option) summed logits. `mass`: (question, setting)."""
    flat = groups.reshape(-1, len(tokens.groups))
    weights = np.exp(flat - flat.max(axis=1, keepdims=True))
    probabilities = weights / weights.sum(axis=1, keepdims=True)
    numbers = np.array(instrument.scale.values or [np.nan] * flat.shape[1])
    expected = probabilities @ numbers
    spread = np.sqrt((probabilities * (numbers - expected[:, None]) ** 2).sum(axis=1))
    binary = instrument.scale.kind == "yes/no"
    return pd.DataFrame(
        {
            "question_id": np.repeat(np.array(names, dtype=object), len(grid)),
            "intervention_id": intervention_id,
            "magnitude": np.tile(np.array(grid), len(names)),
            "value": flat.argmax(axis=1).astype(float),
            "margin": flat[:, 0] - flat[:, 1] if binary else np.nan,
            "expected": expected,
            "spread": spread,
            "mass": mass.ravel(),
        }
    )
