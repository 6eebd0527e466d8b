"""What a program found, as files of its run: every table, every figure, and what each figure shows."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from onedial.core import Run, plain, write_json, write_table
from onedial.show.figure_style import Drawing, save_figure

CAPTIONS = "figures/captions.json"


def captions_of(run: Run) -> dict[str, dict[str, str]]:
    """name -> {"title", "caption"} of the figures that are there."""
    return run.read_json(CAPTIONS) if run.has(CAPTIONS) else {}


def save_results(run: Run, tables: Mapping[str, Any], figures: Mapping[str, Drawing]) -> None:
    """Write every table as NAME.csv (a dictionary as NAME.json), every figure as figures/NAME.png and .svg.

    figures/captions.json holds title and caption of each figure. The sentence of a dictionary (its `sentence`,
    `verdict`, or the first of its `sentences`) is that of the run, which its manifest keeps.
    """
    for name, table in tables.items():
        if isinstance(table, pd.DataFrame):
            write_table(run.file(f"{name}.csv"), table, index=True, float_format="%.8g")
        else:
            write_json(run.file(f"{name}.json"), plain(table, infinities=True))
            sentences = table.get("sentence") or table.get("verdict") or table.get("sentences")
            if sentences:
                run.record(sentence=sentences if isinstance(sentences, str) else sentences[0])
    for name, drawing in figures.items():
        save_figure(drawing.figure, run.file(f"figures/{name}.svg").parent, name)
    captions = {name: {"title": drawing.title, "caption": drawing.caption} for name, drawing in figures.items()}
    run.write_json(CAPTIONS, captions)
