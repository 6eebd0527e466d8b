"""The tables of a probing run, each read once, for the sections of its report."""

from collections.abc import Callable, Mapping
from functools import cached_property, wraps
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from onedial.core import Manifest, Run
from onedial.show import Section, page

WORDS: dict[str, str] = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text(encoding="utf-8"))
"""What sections and figures say."""


class ProbeContents:
    """The tables of a probing run, each read once.

    Attributes:
        run: the run. captions: name -> {"title", "caption"} of each figure in the run's folder.
    """

    def __init__(self, run: Run, captions: Mapping[str, Mapping[str, str]]) -> None:
        self.run, self.captions = run, captions

    def table(self, name: str) -> pd.DataFrame | None:
        """NAME.csv, or None where the run holds none."""
        return self.run.read_table(f"{name}.csv") if self.run.has(f"{name}.csv") else None

    @cached_property
    def summary(self) -> dict[str, Any]:
        """What the stages noted down."""
        return self.run.read_json("summary.json") if self.run.has("summary.json") else {}

    @cached_property
    def manifest(self) -> Manifest:
        """manifest.json."""
        return self.run.manifest

    def figures(self, *names: str) -> list[Any]:
        """A block with those of these figures that were drawn; no block where none was."""
        return page.drawn(self.run.path / "figures", self.captions, *names)


Make = Callable[[ProbeContents], Section | None]


def of_table(name: str) -> Callable[[Callable[[ProbeContents, pd.DataFrame], Section | None]], Make]:
    """Decorator: a section that NAME.csv makes, and that is left out where the run holds no such table."""

    def given(section: Callable[[ProbeContents, pd.DataFrame], Section | None]) -> Make:
        @wraps(section)
        def made(contents: ProbeContents) -> Section | None:
            table = contents.table(name)
            return None if table is None else section(contents, table)

        return made

    return given


def balance(table: pd.DataFrame) -> pd.Series:
    """How many questions carry a label of 1, and how many of 0."""
    return table["n_positive"].map("{:.0f}".format) + " : " + (table["n"] - table["n_positive"]).map("{:.0f}".format)
