"""How anything is shown: page, figure style, numbers for a reader, progress, W&B. Knows no result."""

from onedial.show.figure_style import COLOURS, FAINT, STYLE
from onedial.show.plots import Axis, Cells, Colours, Curve, Panel, Points, curves, forest, heatmap, scatter
from onedial.show.results import Result, results_of

__all__ = [
    "Axis",
    "COLOURS",
    "Cells",
    "Colours",
    "Curve",
    "FAINT",
    "Panel",
    "Points",
    "Result",
    "STYLE",
    "curves",
    "forest",
    "heatmap",
    "results_of",
    "scatter",
]
