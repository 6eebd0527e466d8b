"""How anything is shown: page, figure style, numbers for a reader, progress, W&B. Knows no result."""

from onedial.show.figure_style import COLOURS, FAINT, STYLE
from onedial.show.plots import forest
from onedial.show.results import Result, save_results

__all__ = [
    "COLOURS",
    "FAINT",
    "Result",
    "STYLE",
    "forest",
    "save_results",
]
