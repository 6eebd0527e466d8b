"""Let the steered subject write its reasons before it answers.

The direct sweep reads the token after the prompt, which costs one row for each setting. Here the subject writes, and
its yes or no stands on a line at the end (`reasoned`): some hundred forwards for each question and setting. The
settings are some of the direct sweep's, every question is asked at each of them, and every text is kept.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd

from onedial.asking.instruments import Instrument, TextReader, reasoned
from onedial.asking.prompts import PromptTemplate
from onedial.asking.questions import Question
from onedial.asking.respondents import response_from_text
from onedial.asking.sweep_tables import REASONED_COLUMNS
from onedial.core.errors import InputError
from onedial.models.forward.batches import Progress, batches_by_length, map_batches, questions_per_batch
from onedial.models.model import OpenModel
from onedial.models.processes import gather
from onedial.models.writing import Decoding, Generated, check_room, generate
from steering.engines.requests import Request
from steering.engines.writer import Vllm
from steering.interventions import Intervention

LOT = 64
"""Texts that are handed on at once where an engine writes them: what a kill can cost."""


def reasoned_instrument(template: PromptTemplate, max_new_tokens: int | None = None) -> Instrument:
    """Make the instrument that asks a template's question with the request to reason first.

    Args:
        max_new_tokens: a text that is longer is cut off there, and counts as unread; None takes the instrument's own.

    >>> from onedial.asking import METACOGNITIVE
    >>> reasoned_instrument(METACOGNITIVE).name
    'reasoned'
    """
    instrument = reasoned(template)
    if max_new_tokens is None:
        return instrument
    assert isinstance(instrument.reader, TextReader)
    return replace(instrument, reader=replace(instrument.reader, max_new_tokens=max_new_tokens))


class Cell(NamedTuple):
    """One text that is to be written."""

    question: str
    magnitude: float


def reasoned_sweep(
    model: OpenModel,
    questions: Sequence[Question],
    intervention: Intervention,
    magnitudes: Sequence[float],
    instrument: Instrument,
    *,
    sink: Callable[[pd.DataFrame], None],
    done: Collection[tuple[str, float]] = frozenset(),
    progress: Progress | None = None,
) -> None:
    """Let the steered subject write to every question at every magnitude, likeliest token by token.

    A resumed run ends with the same texts: what is written together is planned as if nothing had been done.

    Args:
        magnitudes: in the intervention's unit, positive towards yes; at 0 the subject is as it was.
        instrument: `reasoned_instrument`.
        sink: is given each finished batch, `REASONED_COLUMNS`.
        done: question id and magnitude of what need not be written again.
        progress: is told how many texts were finished.

    Raises:
        InputError: an intervention of another model, no questions, or a prompt without room for an answer.

    >>> from onedial import load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> from steering import Intervention, extract_vector
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=20)
    >>> dial, tables = Intervention.of(extract_vector(model, questions, layer=21), positions="all"), []
    >>> short = reasoned_instrument(METACOGNITIVE, 2)
    >>> reasoned_sweep(model, questions[:2], dial, [0.0, 0.1], short, sink=tables.append)
    >>> sum(map(len, tables))
    4
    """
    if not questions:
        raise InputError("there are no questions to reason about; give at least one")
    reader = instrument.reader
    assert isinstance(reader, TextReader)
    ids = model.token_ids([instrument.prompt(question.rendered) for question in questions])
    prompts = dict(zip([question.id for question in questions], ids, strict=True))
    intervention.check_model(model)
    check_room(model, ids, reader.max_new_tokens)
    cells = [Cell(name, magnitude) for magnitude in sorted({float(m) for m in magnitudes}) for name in prompts]

    def keep(written: Sequence[Cell], texts: Sequence[Generated]) -> None:
        rows = []
        for place, (cell, each) in enumerate(zip(written, texts, strict=True)):
            if cell in done:  # a device with other memory makes other batches, of which a part may stand
                continue
            read = response_from_text(
                instrument.scale, reader, each.text, each.finished, place=place, tokens_out=each.n_tokens
            )
            yes = float("nan") if read.said_yes is None else float(read.said_yes)
            rows.append((intervention.intervention_id, *cell, yes, read.tokens_out, read.raw_text))
        sink(pd.DataFrame(rows, columns=REASONED_COLUMNS))

    if isinstance(model.writer, Vllm):
        todo = [cell for cell in cells if cell not in done]
        return _write_at_once(model.writer, prompts, intervention, todo, reader, keep, progress)
    planned = _batches(model, cells, prompts, reader)
    batches = [batch for batch in planned if not all(cell in done for cell in batch)]
    cells = [cell for batch in batches for cell in batch]
    ends = np.cumsum([0, *map(len, batches)])

    def write(places: list[int]) -> list[Generated]:
        return generate(
            model,
            [prompts[cells[place].question] for place in places],
            reader.max_new_tokens,
            Decoding(reader.temperature, stop=reader.stop),
            push=intervention * cells[places[0]].magnitude,
        )

    map_batches(
        [list(range(start, end)) for start, end in pairwise(ends.tolist())],
        write,
        sink=lambda places, texts: keep([cells[place] for place in places], texts),
        progress=progress,
    )
    return None


def _batches(
    model: OpenModel, cells: Sequence[Cell], prompts: Mapping[str, Sequence[int]], reader: TextReader
) -> list[list[Cell]]:
    """Cells of one setting, of like length, as many as memory holds."""
    longest = max(map(len, prompts.values())) + reader.max_new_tokens
    # Processes find different room; one plan for all of them, or their shares would overlap here and leave gaps there.
    size = min(gather([questions_per_batch(model.stack, longest)]))
    alone, groups = model.writes_alone(longest), dict[float, list[Cell]]()
    for cell in cells:
        groups.setdefault(cell.magnitude, []).append(cell)
    return [
        [group[place] for place in batch]
        for group in groups.values()
        for batch in batches_by_length([len(prompts[cell.question]) for cell in group], size, alone)
    ]


def _write_at_once(
    writer: Vllm,
    prompts: Mapping[str, Sequence[int]],
    intervention: Intervention,
    cells: Sequence[Cell],
    reader: TextReader,
    keep: Callable[[Sequence[Cell], Sequence[Generated]], None],
    progress: Progress | None,
) -> None:
    """Write all cells side by side by the engine, whatever their settings."""
    lot: list[tuple[Cell, Generated]] = []

    def hand_on(least: int) -> None:
        if len(lot) >= least:
            keep([cell for cell, _ in lot], [text for _, text in lot])
            lot.clear()

    def take(place: int, text: Generated) -> None:
        lot.append((cells[place], text))
        if progress:
            progress(1)
        hand_on(LOT)

    pushes = {magnitude: intervention * magnitude for magnitude in {cell.magnitude for cell in cells}}
    requests = [Request(prompts[cell.question], pushes[cell.magnitude]) for cell in cells]
    writer.write(requests, reader.max_new_tokens, temperature=reader.temperature, stop=reader.stop, sink=take)
    hand_on(1)
