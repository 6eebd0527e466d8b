"""Reasoned answers under the dial: what the steered subject says once it has written its reasons.

The direct sweep reads the token after the prompt, which costs one row for each setting. Here the subject writes, and
its yes or no stands on a line at the end (`reasoned`): some hundred forwards for each question and
setting. So the grid is short, and placed by the direct sweep; and every text is kept.

The intervention acts as it says: at the prompt's last position or all of them, and on what is generated where its
positions are `all` or `generated` (`steering.apply`).
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from onedial.asking.instruments import Instrument, TextReader, reasoned
from onedial.asking.prompts import PromptTemplate
from onedial.asking.questions import Question
from onedial.asking.respondents import response_from_text
from onedial.asking.sweep_tables import REASONED_COLUMNS
from onedial.core.errors import InputError
from onedial.models.forward.batches import batches_by_length, map_batches, questions_per_batch
from onedial.models.model import OpenModel
from onedial.models.processes import gather
from onedial.models.writing import Generated, check_room, generate
from steering.interventions import Intervention, steered
from steering.planning.magnitudes import most_unread, yes_rates

RATE_LOW, RATE_HIGH = 0.1, 0.9
"""The direct yes rates between which a short grid lies."""


def reasoned_instrument(template: PromptTemplate, max_new_tokens: int | None = None) -> Instrument:
    """The question of a template with the request to reason first.

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


def short_grid(table: pd.DataFrame, n_settings: int) -> list[float]:
    """A few settings of a direct sweep: 0, and those whose yes rates lie evenly between .1 and .9.

    Args:
        table: of the sweep, on the questions to place by; columns magnitude, margin, mass, 0 among the magnitudes.
        n_settings: how many, 0 included; fewer come where the sweep has not so many that can be read.

    Raises:
        InputError: fewer than two settings are asked for.

    >>> rows = [(f"q{q}", "v", m, m + q / 10 - 0.5, 0.9) for q in range(11) for m in (-0.5, 0.0, 0.3, 0.5)]
    >>> table = pd.DataFrame(rows, columns=["question_id", "intervention_id", "magnitude", "margin", "mass"])
    >>> short_grid(table, 3)
    [-0.5, 0.0, 0.5]
    """
    if n_settings < 2:
        raise InputError(f"{n_settings} settings for reasoned answers; give 2 or more, 0 among them")
    rates = yes_rates(table)
    usable = rates[(rates["unread"] <= most_unread(rates)) & rates["yes_rate"].notna()]
    others = usable[usable.index != 0.0]
    if others.empty:
        return [0.0]
    found = others["yes_rate"].to_numpy(float)
    low, high = max(RATE_LOW, float(found.min())), min(RATE_HIGH, float(found.max()))
    left, chosen = list(others.index), {0.0}
    for wanted in np.linspace(low, max(high, low), n_settings - 1):
        if left:
            away = [(round(abs(float(others.loc[each, "yes_rate"]) - wanted), 9), abs(each)) for each in left]
            chosen.add(float(left.pop(min(range(len(left)), key=lambda place: away[place]))))
    return sorted(chosen)


def reasoned_sweep(
    model: OpenModel,
    questions: Sequence[Question],
    intervention: Intervention,
    magnitudes: Sequence[float],
    instrument: Instrument,
    *,
    sink: Callable[[pd.DataFrame], None],
    done: Collection[tuple[str, float]] = frozenset(),
    batch_size: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Let the steered subject write to every question at every magnitude, batch by batch, likeliest token by token.

    Batches are those of all questions whatever is done already, so that a resumed run ends with the same texts.

    Args:
        magnitudes: in the intervention's unit, positive towards yes; at 0 the subject is as it was.
        instrument: `reasoned_instrument`.
        sink: is given each finished batch of one magnitude, `REASONED_COLUMNS`.
        done: (question id, magnitude) that need not be asked again.
        batch_size: questions that are written to side by side; by default what memory holds.
        progress: is told how many texts were finished.

    Raises:
        InputError: an intervention of another model, no questions, an instrument that draws its tokens, or a prompt
            without room for an answer.

    >>> from onedial import load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> from steering import extract_vector, reasoned_instrument
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=20)
    >>> dial, tables = Intervention.of(extract_vector(model, questions, layer=21), positions="all"), []
    >>> short = reasoned_instrument(METACOGNITIVE, 2)
    >>> reasoned_sweep(model, questions[:2], dial, [0.0, 0.1], short, sink=tables.append)
    >>> sum(map(len, tables))
    4
    """
    if not questions:
        raise InputError("there are no questions to reason about; check --questions and --panel")
    reader = instrument.reader
    assert isinstance(reader, TextReader)
    if reader.temperature:
        raise InputError(f"{instrument.name} draws its tokens at temperature {reader.temperature}; here it is 0")
    prompts = model.token_ids([instrument.prompt(question.text) for question in questions])
    lengths = [len(ids) for ids in prompts]
    longest = max(lengths) + reader.max_new_tokens
    # Processes find different room; one plan for all of them, or their shares would overlap here and leave gaps there.
    size = batch_size or min(gather([questions_per_batch(model.stack, longest)]))
    batches = batches_by_length(lengths, size, model.writes_alone(longest))
    intervention.check_model(model)
    check_room(model, prompts, reader.max_new_tokens)
    # A place among all texts: those of the first magnitude, question by question, then those of the next.
    asked = [(question.id, float(magnitude)) for magnitude in sorted(magnitudes) for question in questions]
    places = [[at * len(questions) + index for index in batch] for at in range(len(magnitudes)) for batch in batches]

    def write(batch: list[int]) -> list[Generated]:
        own = [prompts[place % len(questions)] for place in batch]
        with steered(model, intervention, asked[batch[0]][1]):
            return generate(model, own, reader.max_new_tokens, stop=reader.stop)

    def keep(batch: list[int], texts: Sequence[Generated]) -> None:
        rows = []
        for place, each in zip(batch, texts, strict=True):
            if asked[place] in done:  # a device with other memory makes other batches, of which a part may stand
                continue
            response = response_from_text(
                instrument.scale, reader, each.text, each.finished, place=place, tokens_out=each.n_tokens
            )
            said = float("nan") if response.said_yes is None else float(response.said_yes)
            key = (intervention.intervention_id, *asked[place])
            rows.append((*key, said, response.tokens_out, response.raw_text))
        sink(pd.DataFrame(rows, columns=REASONED_COLUMNS))

    left = [batch for batch in places if not all(asked[place] in done for place in batch)]
    map_batches(left, write, sink=keep, progress=progress)
