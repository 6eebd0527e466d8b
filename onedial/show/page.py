"""A page that explains itself: one HTML file that needs nothing beside it, made of a headline and sections of blocks.

Every block takes text and returns escaped HTML; only `Markup` passes as it stands.
"""

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from onedial.show import figure_style
from onedial.show.columns import Column, Lines, each_line
from onedial.show.glossary import WORDS, Glossary

WARNING = "warning: "
"""How a note begins that changes how a run is read."""
TEMPLATES = Path(__file__).parent / "templates"
PAGE_COLOURS = {
    figure_style.INK: "var(--ink)",
    figure_style.FAINT: "var(--faint)",
    figure_style.GRID: "var(--rule)",
    figure_style.PAPER: "var(--paper)",
    figure_style.COLOURS[0]: "var(--blue)",  # too dark on a dark page
}


@dataclass(frozen=True)
class Card:
    """A number with its uncertainty and what it means.

    Attributes:
        letter, name: S signal, G gain, C order, D direction.
        shown: the number, with its 95% interval in this panel where it has one.
        details: other intervals, p and null, a phrase each.
        meaning: one sentence for a reader who has not read the method.
    """

    letter: str
    name: str
    shown: str
    meaning: str
    details: Sequence[str] = ()


@dataclass(frozen=True)
class Section:
    """A part of a page.

    Attributes:
        title: its heading.
        blocks: what the functions of this module return, from top to bottom.
        folded: behind its title, to be opened by a click, a link or a printer.
        name: of its anchor and in the contents; by default the title.
    """

    title: str
    blocks: Sequence[Markup]
    folded: bool = False
    name: str = ""

    @property
    def anchor(self) -> str:
        """What a link to it ends in, after #.

        >>> Section("Would any push do?", []).anchor
        'would-any-push-do'
        """
        return re.sub(r"[^a-z0-9]+", "-", (self.name or self.title).lower()).strip("-") or "part"


@dataclass(frozen=True)
class Explorer:
    """The tables of an explorable page as JSON that is safe inside a script element.

    Attributes:
        note: what was left out of it. has_texts: whether it holds what the subject wrote. has_targets: whether it holds
            anybody else's answers.
    """

    json: str
    note: str = ""
    has_texts: bool = False
    has_targets: bool = True


def page(
    question: str,
    headline: str,
    lead: str,
    sections: Iterable[Section],
    title: str,
    foot: str,
    overview: Markup | None = None,
    words: Sequence[str] = (),
) -> str:
    """Write the whole page as HTML.

    Args:
        question: what was asked, above the headline. lead: a paragraph below it.
        title: of the browser's window. foot: the last line.
        overview: what is seen first, below the lead (`beside`). words: those of the glossary that the page explains.
    """
    glossary = Glossary(words)
    opening, rest = (escape(words) for words in halves(headline))
    rest, lead = glossary.explained(rest), glossary.explained(escape(lead))
    overview = None if overview is None else glossary.explained(overview)
    parts = [replace(part, blocks=[glossary.explained(block) for block in part.blocks]) for part in sections]
    if glossary.used:
        parts.append(Section(WORDS, [rows(list(glossary.used.items()))], folded=True))
    anchored: dict[str, Section] = {}
    for section in parts:
        anchor, n = section.anchor, 2
        while anchor in anchored:
            anchor, n = f"{section.anchor}-{n}", n + 1
        anchored[anchor] = section
    template = _environment().get_template("page.html.j2")
    script = (TEMPLATES / "explorer.js").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return template.render(
        question=question,
        headline=headline,
        opening=opening,
        rest=rest,
        lead=lead,
        overview=overview,
        sections=anchored,
        title=title,
        foot=foot,
        script=Markup(script),
        style=Markup((TEMPLATES / "explorer.css").read_text("utf-8")),
        script_hash=f"sha256-{digest}",
    )


def halves(headline: str) -> tuple[str, str]:
    """Split a headline after its first sentence, or before its first semicolon; the rest as sentences.

    >>> halves("Not reproduced; steering predicts nothing.")
    ('Not reproduced.', 'Steering predicts nothing.')
    """
    for joint in (". ", "; "):
        opening, joined, rest = headline.partition(joint)
        if joined:
            return f"{opening}.", f"{rest[:1].upper()}{rest[1:]}"
    return headline, ""


# ---- blocks ----------------------------------------------------------------------------------------------------------


def text(words: str) -> Markup:
    """Write a paragraph."""
    return _block("text", words)


def small(words: str) -> Markup:
    """Write a faint line."""
    return _block("small", words)


def code(words: str) -> Markup:
    """Write text as it stands, in letters of one width."""
    return _block("code", words)


def items(lines: Sequence[str]) -> Markup:
    """Write a list."""
    return _block("items", lines)


def rows(pairs: Sequence[tuple[str, str]]) -> Markup:
    """Write names with their values."""
    return _block("rows", pairs)


def table(
    label: str,
    first: str,
    columns: Sequence[Column],
    lines: Lines,
    faint: Callable[[Mapping[str, Any]], bool] | None = None,
) -> Markup:
    """Write a table that scrolls sideways where it is wide; its download holds the numbers behind the cells.

    Args:
        label: read out by a screen reader, and the download's name. first: heading of the rows' names.
        faint: says of a row whether it is written faintly; by default none is.
    """
    rows = [
        {
            "name": name,
            "faint": faint is not None and faint(row),
            "cells": [_cell(column, row) for column in columns],
        }
        for name, row in each_line(lines)
    ]
    heads = [(column.title, column.tip, "|".join(column.names)) for column in columns]
    return _block("table", label, first, heads, rows)


def _cell(column: Column, row: Mapping[str, Any]) -> tuple[str, str]:
    """Write a cell, and the values behind it where they say more."""
    shown, values = column.shown(row), column.values(row)
    return shown, "" if values is None or values == [shown] else "|".join(values)


def findings(label: str, cards: Sequence[Card]) -> Markup:
    """Write numbers with what they mean, side by side."""
    return _block("findings", label, [asdict(each) for each in cards])


def doubts(heading: str, lines: Sequence[tuple[str, str]]) -> Markup:
    """Write a short list of words, each a link to the anchor that says more."""
    return _block("doubts", heading, lines)


def box(heading: str, blocks: Sequence[Markup]) -> Markup:
    """Put blocks in a frame under a heading."""
    return _block("box", heading, blocks)


def beside(left: Markup, right: Sequence[Markup]) -> Markup:
    """Put blocks beside a block; on a phone, below it."""
    return _block("beside", left, right)


def folded(title: str, blocks: Sequence[Markup]) -> Markup:
    """Put blocks behind a title, to be opened by a click."""
    return _block("folded", title, blocks)


def lead_figure(folder: Path, name: str, words: Mapping[str, str], lead: str) -> Markup:
    """Show the figure that is seen first, with a line below it, and its caption folded.

    Args:
        folder: holds NAME.svg. words: its "title" and "caption".
    """
    return _block("lead_figure", _drawn(folder, name, words), lead)


def figures(folder: Path, captions: Mapping[str, Mapping[str, str]]) -> Markup:
    """Show figures with their captions; a single one has its caption at its side, and below it on a phone.

    Args:
        folder: holds NAME.svg of each. captions: name -> {"title", "caption"}.
    """
    return _block("figures", [_drawn(folder, name, words) for name, words in captions.items()])


def beside_figure(folder: Path, captions: Mapping[str, Mapping[str, str]], blocks: Sequence[Markup]) -> Markup:
    """Show figures, and at their side what is said of them and their captions."""
    drawings = [_drawn(folder, name, words) for name, words in captions.items()]
    return beside(_block("uncaptioned", drawings), [*blocks, *(_block("caption", drawing) for drawing in drawings)])


def _drawn(folder: Path, name: str, words: Mapping[str, str]) -> dict[str, Any]:
    return {"name": name, **words, "svg": inline_svg((folder / f"{name}.svg").read_text("utf-8"), name)}


def explorer(data: Explorer) -> Markup:
    """Write the part of a page that answers to the hand: a dial and a browser of the questions. One on a page."""
    return _block("explorer", replace(data, json=Markup(data.json)), template="explorer.html.j2")


def inline_svg(svg: str, name: str) -> Markup:
    """The SVG as an element of a page: scales with the column, follows light and dark, its ids are its own. `--tall` is
    its height over its width."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{name}-", svg)
    opening, rest = svg.split(">", 1)
    box = re.search(r'viewBox="\S+ \S+ (\S+) ([^"]+)"', opening)
    if box is None:
        raise ValueError(f"figure {name} has no viewBox")
    tall = float(box[2]) / float(box[1])
    for colour, variable in PAGE_COLOURS.items():
        rest = rest.replace(colour, variable)
    return Markup(f'<svg {box.group()} style="--tall: {tall:.4g}" role="img" aria-labelledby="{name}-title">{rest}')


def _block(name: str, *contents: Any, template: str = "blocks.html.j2") -> Markup:
    macro = getattr(_environment().get_template(template).module, name)
    return Markup(str(macro(*contents)).strip())


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
