"""Reasoned answers under the dial: what the steered subject says once it has written its reasons.

The direct sweep reads the token after the prompt, which costs one row for each setting. Here the subject writes, and
its yes or no stands on a line at the end (`reasoned`): some hundred forwards for each question and setting. The
settings are some of the direct sweep's, and every text is kept.

    grid      every question at every setting
    bisect    five settings from end to end, 0 among them, and then, wherever two neighbours say yes and no, the one in
              the middle between them, until nothing lies between: about 9 of 41 settings, and each place where an
              answer turns, but for a turn there and back between two that say the same

The intervention acts as it says: at the prompt's last position or all of them, and on what is generated where its
positions are `all` or `generated` (`steering.apply`).
"""

import math
from collections.abc import Callable, Mapping, Sequence
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
from onedial.core.files import sha256_of_text
from onedial.models.forward.batches import batches_by_length, map_batches, questions_per_batch
from onedial.models.model import OpenModel
from onedial.models.processes import gather
from onedial.models.writing import Generated, check_room, generate
from steering.engines.requests import Request
from steering.engines.writer import Vllm
from steering.interventions import Intervention, Push
from steering.planning.magnitudes import most_unread, yes_rates

RATE_LOW, RATE_HIGH = 0.1, 0.9
"""The direct yes rates between which a short grid lies."""
SEARCHES = ("grid", "bisect")
FIRST = 5
"""Settings that a bisection begins with."""
LOT = 64
"""Texts that are handed on at once where an engine writes them: what a kill can cost."""


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


class Cell(NamedTuple):
    """One text that is to be written."""

    question: str
    magnitude: float
    sample: int


def reasoned_sweep(
    model: OpenModel,
    questions: Sequence[Question],
    intervention: Intervention,
    magnitudes: Sequence[float],
    instrument: Instrument,
    *,
    sink: Callable[[pd.DataFrame], None],
    done: pd.DataFrame | None = None,
    search: str = "grid",
    samples: int = 1,
    seed: int = 0,
    batch_size: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Let the steered subject write to every question at every magnitude, or at those that a bisection needs.

    A resumed run ends with the same texts: what is written together is planned as if nothing had been done.

    Args:
        magnitudes: in the intervention's unit, positive towards yes; at 0 the subject is as it was.
        instrument: `reasoned_instrument`.
        sink: is given each finished batch, `REASONED_COLUMNS`.
        done: rows of it that need not be written again.
        search: one of `SEARCHES`.
        samples: texts at each setting. One is the likeliest; several are drawn at temperature 1, by `seed`.
        batch_size: questions that are written to side by side; by default what memory holds.
        progress: is told how many texts were finished.

    Raises:
        InputError: an intervention of another model, no questions, or a prompt without room for an answer.

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
    prompts = dict(
        zip(
            [question.id for question in questions],
            model.token_ids([instrument.prompt(question.rendered) for question in questions]),
            strict=True,
        )
    )
    intervention.check_model(model)
    check_room(model, list(prompts.values()), reader.max_new_tokens)
    temperature, grid = reader.temperature if samples == 1 else 1.0, sorted({float(m) for m in magnitudes})

    def as_table(cells: Sequence[Cell], texts: Sequence[Generated]) -> pd.DataFrame:
        rows = []
        for place, (cell, each) in enumerate(zip(cells, texts, strict=True)):
            read = response_from_text(
                instrument.scale, reader, each.text, each.finished, place=place, tokens_out=each.n_tokens
            )
            said = float("nan") if read.said_yes is None else float(read.said_yes)
            rows.append((intervention.intervention_id, *cell, said, read.tokens_out, read.raw_text))
        return pd.DataFrame(rows, columns=REASONED_COLUMNS)

    known = {} if done is None else _by_cell(done)
    votes: dict[str, dict[float, list[float]]] = {name: {} for name in prompts}
    while True:
        wanted = {
            name: grid if search == "grid" else next_settings(grid, majorities(own)) for name, own in votes.items()
        }
        wave = [
            Cell(name, magnitude, sample)
            for magnitude in grid
            for sample in range(samples)
            for name, own in wanted.items()
            if magnitude in own
        ]
        if not wave:
            return
        fresh: list[pd.DataFrame] = []

        def keep(cells: Sequence[Cell], texts: Sequence[Generated], fresh: list[pd.DataFrame] = fresh) -> None:
            # A device with other memory makes other batches, of which a part may stand.
            left = [(cell, text) for cell, text in zip(cells, texts, strict=True) if cell not in known]
            fresh.append(as_table([cell for cell, _ in left], [text for _, text in left]))
            sink(fresh[-1])

        if isinstance(model.writer, Vllm):
            todo = [cell for cell in wave if cell not in known]
            _write_at_once(model.writer, prompts, intervention, todo, reader, temperature, seed, keep, progress)
        else:
            planned = _batches(model, wave, prompts, reader, batch_size)
            batches = [batch for batch in planned if not all(cell in known for cell in batch)]
            _write_in_batches(model, prompts, intervention, batches, reader, temperature, seed, keep, progress)
        if search == "grid":
            return
        for table in gather(fresh):
            known.update(_by_cell(table))
        for cell in wave:
            votes[cell.question].setdefault(cell.magnitude, []).append(known[cell])


def reasoned_cost(n_settings: int, search: str) -> int:
    """At how many settings a question is asked; by bisection, where it turns once.

    >>> reasoned_cost(41, "grid"), reasoned_cost(41, "bisect")
    (41, 9)
    """
    if search == "grid" or n_settings <= FIRST:
        return n_settings
    return FIRST + math.ceil(math.log2((n_settings - 1) / (FIRST - 1)))


def next_settings(grid: Sequence[float], said: Mapping[float, float]) -> list[float]:
    """At which settings a question is asked next, by bisection; none once every turn is known.

    Args:
        grid: ascending. said: of the settings that were asked, 1, 0, or nan where nothing could be read; then the
            setting beside it is asked.

    >>> next_settings([-2.0, -1.0, 0.0, 1.0, 2.0, 3.0], {-2.0: 0.0, 0.0: 0.0, 3.0: 1.0})
    [1.0]
    """
    if not said:
        ends = np.linspace(0, len(grid) - 1, min(FIRST, len(grid)))
        return sorted({*(grid[round(place)] for place in ends), *({0.0} & set(grid))})
    read = [place for place, magnitude in enumerate(grid) if not np.isnan(said.get(magnitude, float("nan")))]
    wanted = []
    for low, high in pairwise(read):
        between = [place for place in range(low + 1, high) if grid[place] not in said]
        if between and said[grid[low]] != said[grid[high]]:
            wanted.append(min(between, key=lambda place: abs(2 * place - low - high)))
    return [grid[place] for place in wanted]


def majorities(votes: Mapping[float, Sequence[float]]) -> dict[float, float]:
    """What most texts that could be read say at each setting; nan where none could, or as many say yes as no."""
    found = {}
    for magnitude, own in votes.items():
        share = np.nanmean(own) if not np.isnan(own).all() else 0.5
        found[magnitude] = float("nan") if share == 0.5 else float(share > 0.5)
    return found


def _by_cell(table: pd.DataFrame) -> dict[Cell, float]:
    names = table[["question_id", "magnitude", "sample"]].itertuples(index=False)
    return {
        Cell(str(name), float(magnitude), int(sample)): float(said)
        for (name, magnitude, sample), said in zip(names, table["said_yes"], strict=True)
    }


def _seed_of(seed: int, cell: Cell) -> int:
    return int(sha256_of_text(f"{seed} {cell}")[:7], 16)


def _batches(
    model: OpenModel, wave: Sequence[Cell], prompts: Mapping[str, Sequence[int]], reader: TextReader, size: int | None
) -> list[list[Cell]]:
    """Cells of one setting and sample, of like length, as many as memory holds."""
    longest = max(map(len, prompts.values())) + reader.max_new_tokens
    # Processes find different room; one plan for all of them, or their shares would overlap here and leave gaps there.
    size = size or min(gather([questions_per_batch(model.stack, longest)]))
    groups: dict[tuple[float, int], list[Cell]] = {}
    for cell in wave:
        groups.setdefault((cell.magnitude, cell.sample), []).append(cell)
    return [
        [own[place] for place in batch]
        for own in groups.values()
        for batch in batches_by_length([len(prompts[cell.question]) for cell in own], size, model.writes_alone(longest))
    ]


def _write_in_batches(
    model: OpenModel,
    prompts: Mapping[str, Sequence[int]],
    intervention: Intervention,
    batches: Sequence[list[Cell]],
    reader: TextReader,
    temperature: float,
    seed: int,
    keep: Callable[[Sequence[Cell], Sequence[Generated]], None],
    progress: Callable[[int], None] | None,
) -> None:
    cells = [cell for batch in batches for cell in batch]
    ends = np.cumsum([0, *map(len, batches)])

    def write(places: list[int]) -> list[Generated]:
        batch = [cells[place] for place in places]
        return generate(
            model,
            [prompts[cell.question] for cell in batch],
            reader.max_new_tokens,
            temperature=temperature,
            seed=_seed_of(seed, batch[0]),
            stop=reader.stop,
            with_=Push(intervention, batch[0].magnitude),
        )

    map_batches(
        [list(range(start, end)) for start, end in pairwise(ends.tolist())],
        write,
        sink=lambda places, texts: keep([cells[place] for place in places], texts),
        progress=progress,
    )


def _write_at_once(
    writer: Vllm,
    prompts: Mapping[str, Sequence[int]],
    intervention: Intervention,
    cells: Sequence[Cell],
    reader: TextReader,
    temperature: float,
    seed: int,
    keep: Callable[[Sequence[Cell], Sequence[Generated]], None],
    progress: Callable[[int], None] | None,
) -> None:
    """All of them side by side, whatever their settings."""
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

    pushes = {magnitude: Push(intervention, magnitude) for magnitude in {cell.magnitude for cell in cells}}
    requests = [Request(prompts[cell.question], pushes[cell.magnitude], _seed_of(seed, cell)) for cell in cells]
    writer.write(requests, reader.max_new_tokens, temperature=temperature, stop=reader.stop, sink=take)
    hand_on(1)
