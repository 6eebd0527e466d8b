"""What the sections of a report are written from: the tables of one run, each read once."""

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from safetensors import SafetensorError, safe_open

from onedial.core import InputError, Manifest, json_value
from onedial.scale import FactorModel, Simulated
from onedial.verdict import Case, DialPath, SweepRun, SweepTables, dose_response


class Contents:
    """The tables of a finished run.

    Attributes:
        run: the run.
        captions: name -> {"title", "caption"} of each figure in the run's folder.
    """

    def __init__(self, run: SweepRun, captions: Mapping[str, Mapping[str, str]] | None = None) -> None:
        self.run = run
        self.captions = {} if captions is None else captions

    @cached_property
    def tables(self) -> SweepTables:
        """What the sweep left behind."""
        return self.run.tables()

    @cached_property
    def verdict(self) -> dict[str, Any]:
        """verdict.json."""
        return self.run.verdict()

    @cached_property
    def matches(self) -> pd.DataFrame:
        """matches.csv, index target."""
        return self.run.matches()

    @cached_property
    def rivals(self) -> pd.DataFrame | None:
        """rivals.csv, index rival; None where no target could be judged by any."""
        table = self.run.rivals()
        return None if table is None or not (table["n_targets"] > 0).any() else table

    @cached_property
    def prediction(self) -> pd.DataFrame | None:
        """prediction.csv, a row for each source and number of answers; low and high are those that decide."""
        table = self.run.prediction()
        if table is None or self.verdict["prediction"]["by"] == "questions" or "low_topics" not in table:
            return table
        return table.assign(low=table["low_topics"], high=table["high_topics"])

    @cached_property
    def controls(self) -> pd.DataFrame | None:
        """controls.csv, index intervention_id; None where none was swept."""
        return self.run.controls()

    @cached_property
    def interchange(self) -> pd.DataFrame | None:
        """interchange.csv; None where it was not tested."""
        return self.run.interchange()

    @cached_property
    def mediation(self) -> pd.DataFrame | None:
        """mediation.csv; None where it was not tested."""
        return self.run.mediation()

    @cached_property
    def path(self) -> DialPath | None:
        """The dial's path through the factor; None where the panel has none, or no target can be judged."""
        return self.run.dial_path() if self.verdict["n_eligible"] else None

    @cached_property
    def knowing(self) -> pd.DataFrame | None:
        """knowing.csv, index respondent; None where nobody's correctness is known."""
        return self.run.knowing()

    @cached_property
    def panel(self) -> pd.DataFrame:
        """The panel in long form."""
        return self.run.panel()

    @cached_property
    def questions(self) -> pd.DataFrame:
        """The questions with their split."""
        return self.tables.questions

    @cached_property
    def factor(self) -> FactorModel | None:
        """The factor model of the panel, where one was fitted."""
        return self.run.factor()

    @cached_property
    def parabola(self) -> Simulated | None:
        """The parabola of loadings on thresholds beside its null, where there is one."""
        return self.run.parabola()

    @cached_property
    def dose_response(self) -> pd.DataFrame:
        """What each magnitude does to the subject; see `onedial.verdict.dose_response`."""
        return dose_response(self.grid)

    @cached_property
    def grid(self) -> Case:
        """The sweep of the intervention under test, questions x magnitudes."""
        return self.tables.grid

    @cached_property
    def own(self) -> dict[str, Any]:
        """The entry of the intervention under test in interventions.json."""
        return self.tables.entries[self.tables.own]

    @cached_property
    def vectors(self) -> list[dict[str, Any]]:
        """What the files of its vectors say of themselves; those that are not there are left out."""
        files = [self.run.path / self.run.vector_file(str(name)) for name in self.own["vectors"]]
        return [vector_facts(file) for file in files if file.is_file()]

    @cached_property
    def manifest(self) -> Manifest:
        """manifest.json as it stood when it was first asked for."""
        return self.run.run.manifest

    @property
    def model(self) -> Mapping[str, Any]:
        """What the manifest says of the subject."""
        return self.manifest.facts.get("model", {})

    @property
    def subject(self) -> str:
        """The subject's name."""
        return str(self.model.get("name") or self.run.config.get("model"))

    @property
    def n_test(self) -> int:
        """How many questions are in the test split."""
        return int((self.questions["split"] == "test").sum())


def vector_facts(file: Path) -> dict[str, Any]:
    """The metadata of a vector's file.

    Raises:
        InputError: the file is not one of vectors.
    """
    try:
        with safe_open(file, framework="np") as opened:
            metadata = dict(opened.metadata() or {})
        return {name: json_value(value) for name, value in metadata.items() if name != "format"}
    except (SafetensorError, json.JSONDecodeError) as error:
        raise InputError(f"{file} is no steering vector ({error}); restore it, or make the run again") from error
