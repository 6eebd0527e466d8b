"""What the results of a sweep are shown from: what the run has stored, and what follows from it, each read once."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import pandas as pd

from onedial.scale.factor.factor_model import FactorModel
from onedial.show.results import Result, Stored
from onedial.verdict.case import Case
from onedial.verdict.judgement import SweepTables
from onedial.verdict.match import dose_response
from onedial.verdict.sweep_run import SweepRun
from onedial.verdict.verdict import Verdict

UNITS = {"residual_norm": "multiples of the median residual norm", "raw": "multiples of the vector as extracted"}


class Contents(Stored):
    """A finished sweep.

    Attributes:
        sweep: the run.
    """

    def __init__(self, sweep: SweepRun, results: Mapping[str, Result], words: Mapping[str, Mapping[str, str]]) -> None:
        super().__init__(sweep.run, results, words)
        self.sweep = sweep

    @cached_property
    def tables(self) -> SweepTables:
        """What the sweep left behind."""
        return self.sweep.tables()

    @cached_property
    def verdict(self) -> Verdict:
        """verdict.json."""
        return self.sweep.verdict()

    @cached_property
    def grid(self) -> Case:
        """The sweep of the intervention under test, questions x magnitudes."""
        return self.tables.grid

    @cached_property
    def panel(self) -> pd.DataFrame:
        """The panel in long form."""
        return self.sweep.panel()

    @property
    def questions(self) -> pd.DataFrame:
        """The questions with their split."""
        return self.tables.questions

    @cached_property
    def factor(self) -> FactorModel | None:
        """The factor model of the panel, where one was fitted."""
        return self.sweep.factor()

    @cached_property
    def dose_response(self) -> pd.DataFrame:
        """What each magnitude does to the subject; see `onedial.verdict.match.dose_response`."""
        return dose_response(self.grid)

    @cached_property
    def control_rates(self) -> pd.DataFrame:
        """The yes rate along every control; empty where none was swept."""
        return self.tables.control_rates

    @property
    def entry(self) -> dict[str, Any]:
        """The entry of the intervention under test in interventions.json."""
        return self.tables.entries[self.tables.tested]

    @property
    def unit(self) -> str:
        """Of the magnitudes, in words."""
        name = str(self.run.config.get("unit") or "residual_norm")
        return UNITS.get(name, name)

    @property
    def model(self) -> Mapping[str, Any]:
        """What the manifest says of the subject."""
        subject: Mapping[str, Any] = self.manifest.facts.get("model", {})
        return subject
