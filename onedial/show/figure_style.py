"""One look for every figure: legible at the width of a phone, safe for colour-blind readers, no global state.

Figures are 4.8 inches wide, so that text of 9 points stays about 9 pixels on a screen of 400. Families differ by
colour (Okabe and Ito's palette without its yellow) and by marker, so that no reader depends on colour alone.
"""

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

import matplotlib
from matplotlib.artist import Artist
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, LogFormatter

from onedial.core.files import atomic_path

WIDTH = 4.8
SMALLEST = 8.7
"""Size of letters that is 10 pixels where a figure is as wide as a phone's 400."""
DPI = 200
INK, FAINT, GRID, PAPER = "#1d2329", "#6b7480", "#dde1e6", "#ffffff"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5195", "#5f6b73")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "h")
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "xtick.labelsize": SMALLEST,
    "ytick.labelsize": SMALLEST,
    "legend.fontsize": SMALLEST,
    "legend.frameon": False,
    "legend.handletextpad": 0.4,
    "legend.columnspacing": 1.2,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": FAINT,
    "axes.linewidth": 0.8,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "text.color": INK,
    "text.parse_math": False,  # a $ in somebody's name is a $
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "figure.facecolor": PAPER,
    "axes.facecolor": "none",
    "savefig.facecolor": PAPER,
    "svg.fonttype": "none",
    "svg.hashsalt": "onedial",
}

_NAMED = "named: "
_FONTS = "'DejaVu Sans', Verdana, sans-serif"

Parameters = ParamSpec("Parameters")


@dataclass(frozen=True)
class Drawing:
    """A figure, its name for a heading, and what a reader should look at; of a `Result`, what is to be said besides."""

    figure: Figure
    title: str = ""
    caption: str = ""

    def _repr_png_(self) -> bytes:
        """Show the figure in Jupyter."""
        held = io.BytesIO()
        with house_style():
            self.figure.savefig(held, dpi=DPI // 2, format="png", metadata={"Software": None})
        return held.getvalue()


def styled(draw: Callable[Parameters, Drawing]) -> Callable[Parameters, Drawing]:
    """Decorate what draws: under the house style, leaving matplotlib's settings as they were."""

    @wraps(draw)
    def inner(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Drawing:
        with house_style():
            return draw(*args, **kwargs)

    return inner


@contextmanager
def house_style() -> Iterator[None]:
    """Use the settings above for as long as the context lasts."""
    with matplotlib.rc_context(STYLE):
        yield


def new_figure(height: float, right: float = 0.0) -> Figure:
    """Make an empty figure of house width; `height` in inches, `right` the share of its width to keep free there."""
    return Figure(figsize=(WIDTH, height), layout=ConstrainedLayoutEngine(rect=(0, 0, 1 - right, 1)))


def plain_log_labels(axis: Axis) -> None:
    """Write the numbers of a logarithmic axis without formulas, which the house style does not read."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(LogFormatter(labelOnlyBase=False))


def family_styles(groups: list[str]) -> dict[str, tuple[str, str]]:
    """Choose colour and marker of each group, in order of first appearance; past eight, markers change."""
    names = list(dict.fromkeys(groups))
    return {
        name: (COLOURS[i % len(COLOURS)], MARKERS[(i + i // len(COLOURS)) % len(MARKERS)])
        for i, name in enumerate(names)
    }


def named(artist: Artist, words: str) -> None:
    """Let a point say what it is when it is pointed at: a title of its element in the SVG."""
    artist.set_gid(f"{_NAMED}{words}")


def save_figure(figure: Figure, folder: Path, name: str) -> tuple[Path, Path]:
    """Write `name`.png (`DPI` dots per inch) and `name`.svg; the same figure gives the same bytes.

    Text stays text in the SVG, and points that were `named` have a title.
    """
    png, svg = folder / f"{name}.png", folder / f"{name}.svg"
    with house_style():
        _lay_out_once(figure)
        with atomic_path(png) as temporary:
            figure.savefig(temporary, dpi=DPI, format="png", metadata={"Software": None})
        with atomic_path(svg) as temporary:
            figure.savefig(temporary, dpi=DPI, format="svg", metadata={"Date": None, "Creator": None})
            drawn = temporary.read_text("utf-8").replace("'DejaVu Sans'", _FONTS)
            temporary.write_text(
                re.sub(rf'<g id="{_NAMED}([^"]*)">', r'<g class="named"><title>\1</title>', drawn), "utf-8"
            )
    return png, svg


def _lay_out_once(figure: Figure) -> None:
    """Place the axes and let the engine go: left there, it would lay out and draw twice for each file."""
    engine = figure.get_layout_engine()
    if engine is not None:
        figure.set_dpi(DPI)
        engine.execute(figure)
        figure.set_layout_engine(None)
