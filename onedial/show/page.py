"""A page that explains itself: one HTML file that needs nothing beside it, made of a headline and sections of blocks.

Every block takes text and returns escaped HTML; only `Markup` passes as it stands.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from onedial.show import figure_style

TEMPLATES = Path(__file__).parent / "templates"
PAGE_COLOURS = {
    figure_style.INK: "var(--ink)",
    figure_style.FAINT: "var(--faint)",
    figure_style.GRID: "var(--rule)",
    figure_style.PAPER: "var(--paper)",
    figure_style.COLOURS[0]: "var(--blue)",  # too dark on a dark page
}


@dataclass(frozen=True)
class Finding:
    """One of the four numbers.

    Attributes:
        letter, name: S signal, G gain, C order, D direction.
        value: the number itself, None where it was not computed; `shown` is its text.
        detail: interval, p and null.
        meaning: one sentence for a reader who has not read the method.
    """

    letter: str
    name: str
    value: float | None
    shown: str
    detail: str
    meaning: str


@dataclass(frozen=True)
class Section:
    """A part of a page.

    Attributes:
        title: its heading; "" for none.
        blocks: what the functions of this module return, from top to bottom.
        folded: behind its title, to be opened by a click. unfolded: already opened.
    """

    title: str
    blocks: Sequence[Markup]
    folded: bool = False
    unfolded: bool = False


@dataclass(frozen=True)
class Explorer:
    """The tables of an explorable page as JSON that is safe inside a script element, and what was left out of it."""

    json: str
    note: str = ""


@dataclass(frozen=True)
class TableRow:
    """A row of a table: its name, the cells after it, and whether it is written faintly."""

    name: str
    cells: Sequence[str]
    faint: bool = False


def page(question: str, headline: str, lead: str, sections: Iterable[Section], title: str, foot: str) -> str:
    """The whole page as HTML.

    Args:
        question: what was asked, above the headline. lead: a paragraph below it.
        title: of the browser's window. foot: the last line.
    """
    template = _environment().get_template("page.html.j2")
    script = (TEMPLATES / "explorer.js").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return template.render(
        question=question,
        headline=headline,
        lead=lead,
        sections=list(sections),
        title=title,
        foot=foot,
        script=Markup(script),
        style=Markup((TEMPLATES / "explorer.css").read_text("utf-8")),
        script_hash=f"sha256-{digest}",
    )


# ---- blocks ----------------------------------------------------------------------------------------------------------


def text(words: str) -> Markup:
    """A paragraph."""
    return _block("text", words)


def small(words: str) -> Markup:
    """A faint line."""
    return _block("small", words)


def code(words: str) -> Markup:
    """Text as it stands, in letters of one width."""
    return _block("code", words)


def items(lines: Sequence[str]) -> Markup:
    """A list."""
    return _block("items", lines)


def rows(pairs: Sequence[tuple[str, str]]) -> Markup:
    """Names with their values."""
    return _block("rows", pairs)


def table(label: str, first: str, columns: Sequence[str], lines: Sequence[TableRow]) -> Markup:
    """A table that scrolls sideways where it is wide.

    Args:
        label: read out by a screen reader. first: heading of the rows' names. columns: headings of the cells.
    """
    return _block("table", label, first, columns, lines)


def findings(label: str, found: Sequence[Finding]) -> Markup:
    """Numbers with what they mean, side by side."""
    return _block("findings", label, [asdict(each) for each in found])


def figures(folder: Path, captions: Mapping[str, Mapping[str, str]]) -> Markup:
    """Figures with their captions.

    Args:
        folder: holds NAME.svg of each. captions: name -> {"title", "caption"}.
    """
    drawn = [
        {"name": name, **words, "svg": inline_svg((folder / f"{name}.svg").read_text("utf-8"), name)}
        for name, words in captions.items()
    ]
    return _block("figures", drawn)


def explorer(found: Explorer) -> Markup:
    """The part of a page that answers to the hand: a dial and a browser of the questions. One on a page."""
    safe = {"json": Markup(found.json), "note": found.note}
    return _block("explorer", safe, template="explorer.html.j2")


def inline_svg(svg: str, name: str) -> Markup:
    """The SVG as an element of a page: scales with the column, follows light and dark, its ids are its own."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{name}-", svg)
    opening, rest = svg.split(">", 1)
    box = re.search(r'viewBox="[^"]+"', opening)
    if box is None:
        raise ValueError(f"figure {name} has no viewBox")
    for colour, variable in PAGE_COLOURS.items():
        rest = rest.replace(colour, variable)
    return Markup(f'<svg {box.group()} role="img" aria-labelledby="{name}-title">{rest}')


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
