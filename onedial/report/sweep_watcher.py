"""A sweep written elsewhere: what any run says of itself (`RunWatcher`), and what the dial does.

What is logged      when
sweep/*, facts/*    each batch of these stages: questions done, rows per second, three yes rates
controls/*          each batch: questions done, rows per second
plan                once it stands, into the configuration: layer, magnitudes, norm
extraction/*, ...   at the end, magnitude by magnitude
artifacts           the vectors once they are made; what was asked, and the report, at the end, naming the vectors (W&B)

Of several processes each writes for itself: a W&B run of its own, all in one group, or a folder of events.
"""

import math
import time
from typing import Any

import numpy as np
import pandas as pd

from onedial.asking.yes_no import is_read
from onedial.core.files import sha256_of_file
from onedial.core.plain_values import plain
from onedial.show.writers.wandb_run import FILES, artifact_name
from onedial.show.writers.writer import RunWatcher, Writer
from onedial.verdict.sweep_run import SweepRun

CURVES = ("yes_rate", "mean_mass", "n_unread")
STAGES = ("sweep", "controls", "facts")
AT_EVERY_MAGNITUDE = ("sweep", "facts")
"""Stages that ask everything at every magnitude; along a control each question is asked where its answer turns."""
SETTINGS = ("low", "zero", "high")
"""The three settings of the dial whose yes rates are shown while the sweep runs: its ends, and no steering."""
ASKED = ("*/part-*.parquet", "*.parquet", "prompt.txt")
"""Questions, panel, and every row that was asked: with vectors and report, all that a run is judged by."""


class SweepWatcher(RunWatcher):
    """Tells a writer how a sweep goes.

    Args:
        run: just begun, or finished. writer: of this process. leads: whether this process is the first.
    """

    def __init__(self, run: SweepRun, writer: Writer, leads: bool = True) -> None:
        super().__init__(run.run, writer, leads)
        self._sweep, self._streams = run, False
        for stage in STAGES:
            writer.measure_along(f"{stage}/*", f"{stage}/questions")

    def log_plan(self) -> None:
        """What will be swept, and the vectors as an artifact, with the numbers by which they are known."""
        entries, own = self._sweep.interventions(), self._sweep.under_test()
        self.writer.configure({"plan": plain(entries[entries["intervention_id"] == own].to_dict("records")[0])})
        self.writer.log_artifact("vector", ["vectors/*.safetensors"], self._vectors())

    def stream(self, stage: str, n_done: int, n_questions: int) -> "_Stream":
        """What takes each batch of a stage as it comes, until the stage has ended.

        Args:
            n_done: questions that were on disk when this start began. n_questions: of the stage, in all.
        """
        self._streams = True
        return _Stream(self, stage, n_done, n_questions)

    def stage_ended(self, name: str, seconds: float) -> None:
        """A stage is done."""
        self._streams = False
        super().stage_ended(name, seconds)

    def log_end(self) -> None:
        """What the finished folder says, and magnitude by magnitude what the dial did."""
        self._log_dose_response()
        self.writer.log_folder()
        rests_on = {"vectors": self._vectors(), "artifact": f"{artifact_name(self.run)}-vector"}
        self.writer.log_artifact("sweep", ASKED, rests_on)
        self.writer.log_artifact("report", FILES, rests_on | {"verdict": self._sweep.verdict()["sentence"]})

    def _advanced(self, stage: str, done: int, of: int | None) -> None:
        if not self._streams:  # a stream says more than the bar beside it
            super()._advanced(stage, done, of)

    def _log_dose_response(self) -> None:
        """One step per magnitude, ascending, with the curves of each split."""
        dose = self._sweep.dose_response()
        for split in dose["split"].unique():
            self.writer.measure_along(f"{split}/*", "magnitude")
        for magnitude, rows in dose.sort_values("magnitude").groupby("magnitude"):
            step = {
                f"{row['split']}/{curve}": float(row[curve])
                for _, row in rows.iterrows()
                for curve in CURVES
                if not math.isnan(row[curve])
            }
            self.writer.log({"magnitude": magnitude, **step})

    def _vectors(self) -> dict[str, Any]:
        """File -> SHA-256 of every vector."""
        return {file.name: sha256_of_file(file) for file in sorted(self.run.path.glob("vectors/*.safetensors"))}


class _Stream:
    """A stage as it goes on: questions done, rows per second, and the yes rates at three settings of the dial.

    Yes rates are those of the answers that this start has read; unread ones count in neither part.
    """

    def __init__(self, watcher: SweepWatcher, stage: str, n_done: int, n_questions: int) -> None:
        self._watcher, self._stage, self._done, self._all = watcher, stage, n_done, n_questions
        self._began, self._rows = time.perf_counter(), 0
        self._said: dict[float, np.ndarray] = {}

    def __call__(self, part: pd.DataFrame) -> None:
        """Take a batch's table, as the sweep writes it."""
        self._done += part["question_id"].nunique()
        self._rows += len(part)
        seconds = max(time.perf_counter() - self._began, 1e-9)
        values = {"questions": self._done, "of": self._all, "rows_per_second": self._rows / seconds}
        if self._stage in AT_EVERY_MAGNITUDE:
            values |= self._rates(part)
        self._watcher.writer.log({f"{self._stage}/{name}": value for name, value in values.items()})

    def _rates(self, part: pd.DataFrame) -> dict[str, float]:
        read = part[is_read(part["mass"])]
        for magnitude, margins in read.groupby("magnitude")["margin"]:
            counts = np.array([(margins > 0).sum(), len(margins)])
            self._said[float(magnitude)] = self._said.get(float(magnitude), np.zeros(2)) + counts
        if not self._said:
            return {}
        shown = dict(zip(SETTINGS, (min(self._said), 0.0, max(self._said)), strict=True))
        rates = {name: self._said[setting] for name, setting in shown.items() if setting in self._said}
        return {f"yes_rate_{name}": float(yes / n) for name, (yes, n) in rates.items() if n}
