"""Figures are laid out and drawn, and pages written, only where a test looks at them: they take as long as the rest."""

import importlib
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from PIL import Image


def draw_nothing(patch=setattr):
    """Figures are made, captioned and written, as blank ones; `patch` is `setattr` or pytest's, which can be undone."""
    patch(ConstrainedLayoutEngine, "execute", lambda engine, figure: None)
    patch(Figure, "draw_without_rendering", lambda figure: None)
    patch(Figure, "savefig", save_blank)


def report_nothing(patch=setattr):
    """A sweep is judged as ever, and its page is an empty file; for tests that read its tables."""
    patch(importlib.import_module("onedial.studies.sweep.sweep_stages"), "end_sweep", empty_page)


def empty_page(run):
    """As `end_sweep`: the path of a page, without anything on it."""
    run.run.write_text("report.html", "")
    return run.path / "report.html"


def save_blank(figure, file, *, format, **options):
    """As `savefig`: a file of the format without anything on it."""
    if format == "png":
        Image.new("RGB", (8, 8)).save(file, "png")
    else:
        Path(file).write_text('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"></svg>', encoding="utf-8")
