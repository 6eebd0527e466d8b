"""The files of a sweep's run: what each is called and what it holds.

questions.parquet    with their split             panel.parquet       the panel in long form
interventions.json   what was done at which magnitudes, one entry each      vectors/*.safetensors
sweep/, controls/, facts/, wordings/, instructed/part-*.parquet    see onedial.asking.sweep_tables
texts.csv            what the pushes do to neutral text, see onedial.verdict.baselines.texts
prompt.txt           one rendered example, and nothing else
layer_scan.csv       what `--layer auto` saw
interchange.csv  mediation.csv    where --tests asked for them (steering.causes)
reasoned/part-*.parquet           answers that were written after a reasoning, where they were asked for
verdict.json  matches.csv  factor.json  and every other result: a name of `onedial.report.SWEEP_RESULTS` each
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from onedial.asking import sweep_tables as tables_of
from onedial.asking.sweep_tables import interventions_table, under_test
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.core.run.parts import Parts
from onedial.core.run.run import Run
from onedial.panels.panels import ResponseMatrix, nobodys_panel, panel_from_long
from onedial.scale.factor.factor_model import FactorModel
from onedial.verdict.case import Case, sweep_grid
from onedial.verdict.comparing.reasoned import ReasonedComparison, as_sweep, compare_reasoned
from onedial.verdict.judgement import Judgement, SweepTables, judge_tables
from onedial.verdict.match import dose_response
from onedial.verdict.verdict import RULE, Verdict

INTERVENTIONS = "interventions.json"
VERDICT, MATCHES, FACTOR, PROMPT = "verdict.json", "matches.csv", "factor.json", "prompt.txt"
JUDGING = "match and verdict"
"""The stage that ends with the verdict, in the manifest."""
PROGRAMS = ("steer_sweep", "judge_run")
"""Whose folders hold a sweep."""
TABLES = {"layer_scan": ["layer", "magnitude", "yes_rate", "unread"], "texts": tables_of.TEXT_COLUMNS}
"""NAME.csv of what only some runs have -> its columns."""
PARTS = {
    "sweep": (tables_of.SWEEP_COLUMNS, tables_of.SWEEP_KEY),
    "controls": (tables_of.SWEEP_COLUMNS, tables_of.SWEEP_KEY),
    "facts": (tables_of.FACTS_COLUMNS, tables_of.SWEEP_KEY),
    "instructed": (tables_of.INSTRUCTED_COLUMNS, tables_of.INSTRUCTED_KEY),
    "wordings": (tables_of.WORDING_COLUMNS, tables_of.WORDING_KEY),
    "reasoned": (tables_of.REASONED_COLUMNS, tables_of.SWEEP_KEY),
}
"""Folder of what the subject was asked -> columns and key (`onedial.asking.sweep_tables`)."""


@dataclass(frozen=True)
class Reasoned:
    """What the written answers say beside the direct ones; `judgement` is None where too few could be read."""

    comparison: ReasonedComparison
    judgement: Judgement | None

    __repr__ = one_line

    def numbers(self) -> dict[str, Any]:
        """Collect what stands in reasoned.json."""
        verdict = None if self.judgement is None else self.judgement.verdict.to_dict()
        beside = {"sentence": self.comparison.sentence(), "read": self.comparison.read, "verdict": verdict}
        return beside | self.comparison.rho.columns("rho")


class SweepRun:
    """A run of `experiments/steer_sweep.py`, by the meaning of its files.

    Attributes:
        run: the folder, with its configuration and manifest.
    """

    def __init__(self, run: Run) -> None:
        self.run = run

    @classmethod
    def open(cls, path: Path | str, *, write: bool = False) -> "SweepRun":
        """Open an existing run; see `Run.open`.

        Raises:
            InputError: as `Run.open`; or the folder is a run of a program that sweeps nothing.
        """
        run = Run.open(path)
        if (program := run.manifest.program) not in PROGRAMS:
            raise InputError(f"{path} is a run of {program}, which has no sweep; give the folder of a steer_sweep run")
        return cls(Run.open(path, write=True) if write else run)

    def __repr__(self) -> str:
        return f"SweepRun({str(self.path)!r})"

    @property
    def path(self) -> Path:
        """The run's folder."""
        return self.run.path

    @property
    def config(self) -> dict[str, Any]:
        """The stored configuration."""
        return self.run.config

    # ---- what goes in -----------------------------------------------------------------------------------------------

    def keep_inputs(self, questions: pd.DataFrame, panel: pd.DataFrame, prompt: str) -> None:
        """Keep questions (with their split), panel (long) and one rendered prompt; on resume they must be the same.

        Raises:
            InputError: a resumed run was begun with others.
        """
        self.run.keep_table("questions.parquet", questions, ["id", "question", "split"])
        self.run.keep_table("panel.parquet", panel, ["question_id", "respondent", "said_yes"])
        if self.run.has(PROMPT) and self.prompt() != prompt:
            raise InputError(
                f"{self.path} was begun with another prompt than the one now rendered; "
                "restore it or choose another --out"
            )
        self.run.write_text(PROMPT, prompt)

    def questions(self) -> pd.DataFrame:
        """Read the questions with their split."""
        return self.run.read_table("questions.parquet")

    def splits(self) -> pd.Series:
        """Read question id -> split."""
        return self.questions().set_index("id")["split"]

    def panel(self) -> pd.DataFrame:
        """Read the panel in long form; without rows where the run has none."""
        return self.run.read_table("panel.parquet")

    @cached_property
    def has_panel(self) -> bool:
        """Whether anybody's answers stand beside the questions."""
        return not self.panel().empty

    def panel_of(self, given: ResponseMatrix | None = None) -> ResponseMatrix:
        """Return a panel that is given, or else the run's own."""
        if given is not None:
            return given
        return panel_from_long(self.panel()) if self.has_panel else nobodys_panel(list(self.questions()["id"]))

    def prompt(self) -> str:
        """Read the rendered example."""
        return self.run.read_text(PROMPT)

    def asked(self) -> dict[str, Any]:
        """Read how the panel was asked, and in what the subject otherwise (`asking.how_asked`)."""
        return dict(self.run.manifest.facts.get("asked") or {})

    # ---- what was done ----------------------------------------------------------------------------------------------

    def write_interventions(self, interventions: Sequence[Mapping[Any, Any]]) -> None:
        """Write what will be swept, one entry each. With it the plan of a run stands."""
        self.run.write_json(INTERVENTIONS, {"interventions": list(interventions)})

    def interventions(self) -> pd.DataFrame:
        """Read what was swept; see `onedial.asking.sweep_tables`.

        Raises:
            InputError: the run has not come so far.
        """
        return interventions_table(self.run.read_json(INTERVENTIONS)["interventions"])

    def under_test(self) -> str:
        """Read the identifier of the intervention that the run is about."""
        return under_test(self.interventions())

    @property
    def has_plan(self) -> bool:
        """Whether it stands what will be swept."""
        return self.run.has(INTERVENTIONS)

    def vector_file(self, vector_id: str) -> str:
        """Name a vector's file within the run: vectors/<id>.safetensors."""
        name = re.sub(r"[^\w.=-]+", "-", vector_id)
        return f"vectors/{name}.safetensors"

    def write_table(self, name: str, table: pd.DataFrame) -> None:
        """Write one of `TABLES`: what `--layer auto` saw, or what the pushes do to neutral text."""
        self.run.write_table(f"{name}.csv", table[TABLES[name]])

    def table(self, name: str) -> pd.DataFrame | None:
        """Read one of `TABLES`; None where the run has none."""
        return self.run.read_table(file) if self.run.has(file := f"{name}.csv") else None

    @cached_property
    def parts(self) -> dict[str, Parts]:
        """What the subject was asked, table by table as it grows: `PARTS`."""
        return {name: self.run.parts(name, *how) for name, how in PARTS.items()}

    def sweep(self) -> pd.DataFrame:
        """Read the sweep of the intervention under test; see `onedial.asking.sweep_tables`."""
        return self.parts["sweep"].read()

    def overflowed(self) -> pd.DataFrame:
        """The rows of the sweep whose logits were not finite, as where 16 bits overflow: unread, whatever was asked."""
        table = self.sweep()
        return table[~np.isfinite(table["margin"].to_numpy(dtype=float))]

    def tables(self) -> SweepTables:
        """Read everything that the sweep left behind."""
        return SweepTables(
            pd.concat([self.sweep(), self.parts["controls"].read()], ignore_index=True),
            self.interventions(),
            self.questions(),
            self.parts["facts"].read(),
            texts=self.table("texts"),
            instructed=self.parts["instructed"].read(),
            asked_otherwise=bool(self.asked().get("otherwise")),
            wordings=self.parts["wordings"].read(),
        )

    def case(self, seed: int = 0) -> Case:
        """Put the intervention under test beside the run's panel, ready to be judged (`judge`)."""
        return self.tables().case(self.panel_of(), seed)

    # ---- what comes out ---------------------------------------------------------------------------------------------

    def judge(self, panel: ResponseMatrix | None = None, seed: int = 0) -> Judgement:
        """Match and judge this run's tables; nothing is written.

        Args:
            panel: another one than the run's own; its questions are the run's.

        Raises:
            InputError: nothing was swept yet, or the tables do not fit together.
        """
        if (tables := self.tables()).sweep.empty:
            raise InputError(f"{self.path} holds no sweep to match with; finish the run with --resume")
        judged = judge_tables(tables, self.panel_of(panel), seed)
        return replace(judged, reasoned=self.judge_reasoned(panel, seed))

    def judge_reasoned(self, panel: ResponseMatrix | None = None, seed: int = 0) -> Reasoned | None:
        """Set the written answers beside the direct ones, and match and judge by them where enough could be read; None
        where none were written."""
        table, tested = self.parts["reasoned"].read(), self.under_test()
        if table.empty:
            return None
        splits, sweep = self.splits(), as_sweep(table)
        direct = sweep_grid(self.sweep(), splits, tested)
        comparison = compare_reasoned(direct, sweep_grid(sweep, splits, tested))
        if not comparison.suffices:
            return Reasoned(comparison, None)
        entries = self.interventions()
        tables = SweepTables(
            sweep,
            entries[entries["intervention_id"] == tested],
            self.questions(),
            direct=pd.Series(direct.unsteered_margins, index=direct.questions),
            asked_otherwise=bool(self.asked().get("otherwise")),
        )
        return Reasoned(comparison, judge_tables(tables, self.panel_of(panel), seed))

    @property
    def is_finished(self) -> bool:
        """Whether matches and verdict are there, so that only the report may be left to write."""
        return self.run.has(VERDICT) and (self.run.has(MATCHES) or not self.has_panel)

    def matches(self) -> pd.DataFrame:
        """Read the table of matches, index target; text columns hold "" where nothing stands."""
        table = self.run.read_table(MATCHES).set_index("target")
        texts = [column for column in ("model", "framing", "family", "status") if column in table]
        return table.assign(**{column: table[column].astype(object).fillna("").astype(str) for column in texts})

    def verdict(self) -> Verdict:
        """Read verdict.json; what could not be computed is nan.

        Raises:
            InputError: the run is not finished, or was judged by another rule than the present one.
        """
        if not self.is_finished:
            raise InputError(f"{self.path} is not finished; continue it with --resume")
        stored = self.run.read_json(VERDICT)
        if (rule := stored["rule"]) != RULE:
            raise InputError(
                f"{self.path} was judged by rule {rule}, and this version reads rule {RULE}; judge it again, which "
                f"needs no model: onedial judge {self.path}"
            )
        return Verdict.from_dict(stored)

    def factor(self) -> FactorModel | None:
        """Read the factor model of the panel, or None where none was fitted."""
        return FactorModel.load(self.path / FACTOR) if self.run.has(FACTOR) else None

    def dose_response(self) -> pd.DataFrame:
        """Measure what each magnitude under test does to the subject; see `match.dose_response`."""
        return dose_response(sweep_grid(self.sweep(), self.splits(), self.under_test()))
