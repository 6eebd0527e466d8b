"""One declaration of a result: its table, how it is shown, its pictures and its words, named once.

    RESULTS["controls"] = Result(
        "Would any push do?",
        lambda judged: judged.controls,
        index="intervention_id",
        columns=("signal", "order_gain", "push", "kl"),
        figure=lambda table, stored: scatter(table, "push", "order_gain", Axis("push", log=True), Axis("order"), ...),
    )

A kind of run is a dictionary of these, in the order of its page. `finish` computes and writes them, NAME.csv for a
table and NAME.json for numbers; `write_page` draws the figures and writes report.html from these files alone; the
terminal (`onedial.show.terminal`), W&B, TensorBoard and the viewer follow the same dictionary or the files that it
wrote.

What a result says in words stands in a YAML file beside its dictionary, under the result's name: `text`, and `caption`
(and `title`) of its figure; of a further figure under the figure's name. Under `glossary`, `words` are those of
glossary.yaml that the page explains.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from markupsafe import Markup

from onedial.core.plain_values import plain
from onedial.core.run.manifest import Manifest
from onedial.core.run.run import Run
from onedial.show import page
from onedial.show.columns import COLUMNS, Column, Lines, columns_of, each_line
from onedial.show.figure_style import Drawing, house_style, save_figure
from onedial.show.page import Section
from onedial.show.run_tables import flat_rows, stage_rows, surroundings

CAPTIONS = "figures/captions.json"
Words = Mapping[str, Mapping[str, str]]
Make = Callable[[Any, Any], Any]
"""Of what a result has stored (its table; its numbers where it has no table; None where it has neither), and of all
that the run has stored (`Stored`)."""


@dataclass(frozen=True)
class Result:
    """One result of a kind of run, and the section of the page that says it.

    A section says, in this order: its text, its figures, cards, sentences, rows, its table, and whatever else; what has
    none of them, or nothing stored where something was to be computed, has no section.

    Attributes:
        title: heading of the section; "" for what is only stored.
        compute: of what is finished (`finish`): a table, numbers, both as a pair, or None where there is nothing to
            say.
        written: whether a stage of the run writes the file by itself.
        index: the column of a stored table that names its rows. texts: columns in which nothing is "".
        columns: of the table on the page, by name (`COLUMNS`) or as they are; without any, all, as `columns_of`.
        lines: rows of that table where they are not those that are stored. first: heading of the rows' names.
        faint: says of a row whether it is written faintly. hidden: whether the table stands behind a click.
        figure: draws the figure of the result's own name. figures: name -> what draws a further one.
        text: in place of what the file of words says. fill: what stands for {...} in text and captions.
        cards, items, rows, blocks: numbers with their meaning, sentences, pairs of texts, other blocks of a page.
        doubts: what changes how the run is read, a few words each.
        when: whether there is something to say; by default, whether something is stored.
        folded: whether the section stands behind its title. terminal: whether its table and sentences are printed.
    """

    title: str | Make = ""
    compute: Callable[[Any], Any] | None = None
    written: bool = False
    index: str = ""
    texts: Sequence[str] = ()
    columns: Sequence[str | Column] = ()
    lines: Make | None = None
    first: str = ""
    faint: Callable[[Mapping[str, Any]], bool] | None = None
    hidden: bool = False
    figure: Make | None = None
    figures: Mapping[str, Make] = field(default_factory=dict)
    text: str | Make = ""
    fill: Make | None = None
    cards: Make | None = None
    items: Make | None = None
    rows: Make | None = None
    blocks: Make | None = None
    doubts: Make | None = None
    when: Make | None = None
    folded: bool = True
    terminal: bool = False

    @property
    def is_stored(self) -> bool:
        """Whether it has a file."""
        return self.compute is not None or self.written


def words_in(folder: str, name: str = "words.yaml") -> dict[str, dict[str, str]]:
    """Read the words beside a module: name -> {"text", "title", "caption", ...}. `folder`: the module's `__file__`."""
    words: dict[str, dict[str, str]] = yaml.safe_load(Path(folder).with_name(name).read_text(encoding="utf-8"))
    return words


class Stored:
    """What a run has stored of its results, each file read once.

    Args:
        results: of its kind. words: of the results.

    Raises:
        InputError: when a file that is asked for is missing or broken.
    """

    def __init__(self, run: Run, results: Mapping[str, Result], words: Words | None = None) -> None:
        self.run, self.results, self.words = run, results, words or {}
        self._read: dict[str, Any] = {}

    def __getitem__(self, name: str) -> pd.DataFrame:
        """Read NAME.csv, its rows named as the result says."""
        if name not in self._read:
            table, result = self.run.read_table(f"{name}.csv"), self.results[name]
            texts = [column for column in result.texts if column in table]
            table = table.assign(**{column: table[column].astype(object).fillna("").astype(str) for column in texts})
            self._read[name] = table.set_index(result.index) if result.index else table
        stored: pd.DataFrame = self._read[name]
        return stored

    def __contains__(self, name: str) -> bool:
        return self.run.has(f"{name}.csv")

    def numbers(self, name: str) -> dict[str, Any]:
        """Read NAME.json; empty where there is none."""
        if (file := f"{name}.json") not in self._read:
            self._read[file] = self.run.read_json(file) if self.run.has(file) else {}
        numbers: dict[str, Any] = self._read[file]
        return numbers

    def value(self, name: str) -> Any:
        """Return the result's table; its numbers where it has no table; None where it has neither, or is not stored."""
        if not self.results[name].is_stored:
            return None
        return self[name] if name in self else self.numbers(name) or None

    def shows(self, name: str) -> bool:
        """Whether there is something to say of a result."""
        result, value = self.results[name], self.value(name)
        if result.is_stored and (value is None or len(value) == 0):
            return False
        return result.when is None or bool(result.when(value, self))

    @cached_property
    def manifest(self) -> Manifest:
        """manifest.json as it stood when it was first asked for."""
        return self.run.manifest

    @property
    def captions(self) -> dict[str, dict[str, str]]:
        """name -> {"title", "caption"} of the figures that are there."""
        return captions_of(self.run)


def finish(run: Run, results: Mapping[str, Result], case: Any) -> None:
    """Compute every result and write it, the last first: with what leads the page the run is finished."""
    for name, result in reversed(list(results.items())):
        value = result.compute(case) if result.compute is not None else None
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, pd.DataFrame):
                table = part.rename_axis(result.index) if result.index else part
                run.write_table(f"{name}.csv", table, index=bool(result.index))
            elif part is not None:
                run.write_json(f"{name}.json", plain(part))


def draw(stored: Stored) -> None:
    """Draw the figures of every result that is there, as PNG and SVG, with figures/captions.json beside them."""
    captions = stored.captions
    for name, result in stored.results.items():
        if not (result.figure or result.figures) or not stored.shows(name):
            continue
        value = stored.value(name)
        fill = result.fill(value, stored) if result.fill else {}
        for figure, make in ({name: result.figure} | dict(result.figures)).items():
            drawing: Drawing | None = make(value, stored) if make else None
            if drawing is None:
                continue
            words = stored.words.get(figure, {})
            title = drawing.title or words.get("title") or _title(result, value, stored)
            caption = f"{words.get('caption', '').format(**fill)} {drawing.caption}".strip()
            if title not in [axes.get_title(loc="left") for axes in drawing.figure.axes]:
                with house_style():
                    drawing.figure.suptitle(title, x=0.02, ha="left", fontsize=9, fontweight="bold")
            save_figure(drawing.figure, stored.run.file(f"figures/{figure}.svg").parent, figure)
            captions[figure] = {"title": title, "caption": caption}
    stored.run.write_json(CAPTIONS, captions)


def sections_of(stored: Stored) -> list[Section]:
    """Make the sections of the page, in the order of the results."""
    return [section for name in stored.results if (section := section_of(name, stored)) is not None]


def section_of(name: str, stored: Stored) -> Section | None:
    """Make the section of a result; None where it has nothing to say."""
    result = stored.results[name]
    if not result.title or not stored.shows(name):
        return None
    value = stored.value(name)
    fill = result.fill(value, stored) if result.fill else {}
    text = result.text(value, stored) if callable(result.text) else result.text
    text = text or stored.words.get(name, {}).get("text", "").format(**fill)
    blocks = [page.text(Markup(text))] if text else []
    folder, captions = stored.run.path / "figures", stored.captions
    drawn = {figure: captions[figure] for figure in (name, *result.figures) if figure in captions}
    parts: dict[str, Callable[[Any], Markup]] = {
        "cards": lambda cards: page.findings(str(result.title), cards),
        "items": page.items,
        "rows": page.rows,
    }
    for part, block in parts.items():
        make: Make | None = getattr(result, part)
        if make is not None and (shown := make(value, stored)):
            blocks.append(block(shown))
    title, table = _title(result, value, stored), []
    if result.columns or result.lines:
        table = [table_of(name, stored)]
        table = [page.folded(f"The table: {title}", table)] if result.hidden else table
    if len(drawn) == 1 and blocks and not result.folded:
        blocks = [page.beside_figure(folder, drawn, blocks)]
    else:
        at = 1 if text else 0
        blocks[at:at] = [page.figures(folder, drawn)] if drawn else []
    blocks += [*table, *(result.blocks(value, stored) if result.blocks is not None else ())]
    return Section(title, blocks, folded=result.folded, name=name) if blocks else None


def table_of(name: str, stored: Stored) -> Markup:
    """Write the table of a result as a block of a page."""
    result, value = stored.results[name], stored.value(name)
    lines = lines_of(result, value, stored)
    first = result.first or result.index.replace("_", " ")
    label = f"Table of {re.sub('_', ' ', name)}"
    return page.table(label, first, shown_columns(result.columns, lines), lines, result.faint)


def lines_of(result: Result, value: Any, stored: Stored) -> Any:
    """Make the rows of a result's table: a frame, or pairs of a name and what a row holds."""
    lines: Lines = result.lines(value, stored) if result.lines is not None else value
    return lines if isinstance(lines, pd.DataFrame) else list(each_line(lines))


def shown_columns(columns: Sequence[str | Column], lines: Any) -> list[Column]:
    """Columns by name, with the ends of their intervals where the rows have NAME_low and NAME_high; a column in which
    no row has anything is left out."""
    table = lines if isinstance(lines, pd.DataFrame) else pd.DataFrame([row for _, row in lines])
    empty = {str(name) for name in table.columns[table.isna().all()]} if len(table) else set()
    known = {column.name: column for column in columns_of(table)}
    shown = []
    for name in columns or list(known):
        column = name if isinstance(name, Column) else COLUMNS.get(name) or known.get(name) or Column(name)
        if column.name in empty:
            continue
        ends = (f"{column.name}_low", f"{column.name}_high")
        shown.append(replace(column, ends=ends) if not column.ends and set(ends) <= set(table.columns) else column)
    return shown


def doubts_of(stored: Stored) -> list[tuple[str, str]]:
    """List what changes how the run is read, in the order of the results: words, and the name of what says more."""
    doubts: list[tuple[str, str]] = []
    for name, result in stored.results.items():
        if result.doubts is not None:
            for doubt in result.doubts(stored.value(name), stored):
                doubts.append((doubt, name) if isinstance(doubt, str) else doubt)
    return doubts


def write_page(
    stored: Stored,
    question: str,
    headline: str,
    lead: str = "",
    title: str = "",
    overview: Callable[[Sequence[Section]], Markup] | None = None,
) -> Path:
    """Draw the figures, write report.html and return its path; the headline is the run's sentence, in its manifest.

    Args:
        question: what was asked. headline: what came out. lead: a paragraph below. title: of the browser's window.
        overview: makes what is seen first, of the sections that the page has.
    """
    draw(stored)
    name = stored.run.path.resolve().name
    sections = sections_of(stored)
    first = None if overview is None else overview(sections)
    words = [word for word in stored.words.get("glossary", {}).get("words", "").split(", ") if word]
    html = page.page(question, headline, lead, sections, title or f"{headline} {name}", name, first, words)
    stored.run.write_text("report.html", html)
    stored.run.record(sentence=headline)
    return stored.run.path / "report.html"


def _title(result: Result, value: Any, stored: Stored) -> str:
    return str(result.title(value, stored)) if callable(result.title) else result.title


# ---- what every kind of run says of itself ---------------------------------------------------------------------------


def _notes(warn: bool) -> Make:
    def told(_: Any, stored: Stored) -> list[str]:
        notes = [note for note in stored.manifest.notes if note.startswith(page.WARNING) == warn]
        return [note.removeprefix(page.WARNING)[:1].upper() + note.removeprefix(page.WARNING)[1:] for note in notes]

    return told


def _again(_: Any, stored: Stored) -> list[Markup]:
    manifest = stored.manifest
    checkout = f"git checkout {manifest.commit}\n" if manifest.commit else ""
    blocks = [page.code(f"{checkout}{manifest.command}")]
    if manifest.dirty:
        blocks.append(page.text("Some changes were not committed: the commit alone does not give this run back."))
    return blocks


WARNINGS = {"warnings": Result("Warnings", items=_notes(warn=True), folded=False)}
"""What changes how a run is read: near the top of a page."""
SURROUNDINGS = {
    "notes": Result("Notes of the run", items=_notes(warn=False)),
    "again": Result("Do it again", blocks=_again),
    "configuration": Result("Configuration", rows=lambda _, stored: flat_rows(stored.run.config)),
    "surroundings": Result("Versions, machine, seeds", rows=lambda _, stored: surroundings(stored.manifest)),
    "stages": Result("Time per stage", rows=lambda _, stored: stage_rows(stored.manifest.stages)),
}
"""How a run was made: at the end of a page."""


# ---- tables and figures without a declaration ------------------------------------------------------------------------


def captions_of(run: Run) -> dict[str, dict[str, str]]:
    """Read name -> {"title", "caption"} of the figures that are there."""
    return run.read_json(CAPTIONS) if run.has(CAPTIONS) else {}


def results_of(tables: Mapping[str, pd.DataFrame], drawings: Mapping[str, Drawing] | None = None) -> dict[str, Result]:
    """Make a result for each table that nobody has declared: its columns are found; the first one is not folded.

    Args:
        tables: name -> table; the levels of its index are the first columns of NAME.csv, and name the rows on the page.
        drawings: name -> figure; it stands above the table of its name, or before all of them.
    """
    figures: dict[str, Make] = {name: _as_it_is(drawing) for name, drawing in (drawings or {}).items()}
    alone = {name: make for name, make in figures.items() if name not in tables}
    results = {"figures": Result("Figures", figures=alone, folded=False)} if alone else {}
    for name, table in tables.items():
        levels = [str(level or "row") for level in table.index.names]
        flat = table.rename(columns=str).rename_axis(levels)
        results[name] = Result(
            name.replace("_", " ").capitalize(),
            compute=_as_it_is(flat.reset_index()),
            lines=partial(_named_by, levels),
            columns=columns_of(flat, {"value": ("low", "high")}),
            first=" · ".join(levels),
            figure=figures.get(name),
            folded=bool(results),
            terminal=table is next(iter(tables.values())),
        )
    return results


def _as_it_is(value: Any) -> Callable[..., Any]:
    return lambda *_: value


def _named_by(levels: list[str], table: pd.DataFrame, _: Stored) -> pd.DataFrame:
    """Name the rows of a table by these columns."""
    names = table[levels].astype(str).agg(" · ".join, axis=1)
    return table.drop(columns=levels).set_axis(pd.Index(names))
