"""How anything is shown: page, figure style, numbers for a reader, progress, W&B. Knows no result."""

from onedial.show.figure_style import COLOURS, FAINT, STYLE
from onedial.show.plots import Cells, Curve, Panel, curves, forest, heatmap, scatter
from onedial.show.results import Result, results_of

__all__ = [
    "COLOURS",
    "Cells",
    "Curve",
    "FAINT",
    "Panel",
    "Result",
    "STYLE",
    "curves",
    "forest",
    "heatmap",
    "results_of",
    "scatter",
]
