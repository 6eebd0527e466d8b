"""Mirror a sweep to Weights & Biases: while it goes on, how far it is and what the dial does; at its end all that its
folder says (`reporting.wandb_run`), magnitude by magnitude too.

What is logged      when                                    step
sweep/*             each batch of the sweep                 questions done
controls/*, facts/* each batch of controls and facts        questions done, behind those of the sweep
extraction/*, ...   at the end, magnitude by magnitude      behind all of these
artifacts           the vectors once they are made; sweep and report at the end, naming the vectors that they rest on

Steps are counted from what is on disk, so that they go on where the run does. Of several processes each has a W&B run
of its own, all in one group.
"""

import math
import time
from typing import Any

import numpy as np
import pandas as pd

from common import InputError, sha256_of_file
from elicitation import is_read
from matching import SweepRun
from reporting.wandb_run import FILES, PROJECT, WandbOptions, WandbRun

CURVES = ("yes_rate", "mean_mass", "n_unread")
STAGES = ("sweep", "controls", "facts")
SETTINGS = ("low", "zero", "high")
"""The three settings of the dial whose yes rates are shown while the sweep runs: its ends, and no steering."""


def log_run(run: SweepRun, mode: str, project: str = PROJECT) -> None:
    """Mirror a finished run: configuration, dose-response, matches, verdict, figures, and its files as artifacts.

    Args:
        run: finished, with its report written.
        mode: offline or online.
        project: the W&B project.

    Raises:
        InputError: as `check_wandb`, or the server cannot be reached.
    """
    mirror = WandbMirror(run, WandbOptions(mode, project))
    mirror.log_vectors()
    mirror.finish()


class WandbMirror(WandbRun):
    """One process's W&B run beside a sweep.

    Args:
        run: its plan stands.
        options: mode offline or online.
        process, n_processes: which of how many.

    Raises:
        InputError: as `check_wandb`, or the server cannot be reached at the start.
    """

    def __init__(self, run: SweepRun, options: WandbOptions, process: int = 0, n_processes: int = 1) -> None:
        super().__init__(run.run, options, "sweep", process, n_processes)
        self._sweep = run
        assert self._logged is not None
        for stage in STAGES:
            self._logged.define_metric(f"{stage}/*", step_metric=f"{stage}/questions")

    def stream(self, stage: str, n_done: int, n_questions: int, before: int = 0) -> "_Stream":
        """What takes each batch of a stage as it comes.

        Args:
            n_done: questions that were on disk when this start began. n_questions: of the stage, in all.
            before: questions of the stages before it, behind which its steps stand.
        """
        return _Stream(self, stage, n_done, n_questions, before)

    def log_vectors(self) -> None:
        """The vectors as an artifact, with the numbers by which they are known."""
        self.log_artifact("vector", ["vectors/*.safetensors"], self._vectors())

    def finish(self) -> None:
        """Log what the finished run's folder says, and end the W&B run.

        Raises:
            InputError: the server cannot be reached.
        """
        if self._logged is None:
            return
        try:
            self._log_dose_response()
            self.log_folder()
            rests_on = {"vectors": self._vectors(), "artifact": f"{self.name()}-vector"}
            self.log_artifact("sweep", ["sweep/part-*.parquet"], rests_on)
            self.log_artifact("report", FILES, rests_on | {"verdict": self._sweep.verdict()["sentence"]})
            self.close()
        except self._wandb.errors.Error as error:
            raise InputError(self._refused(error)) from error

    # ---- at the end ------------------------------------------------------------------------------------------------

    def _log_dose_response(self) -> None:
        """One step per magnitude, ascending, with the curves of each split."""
        assert self._logged is not None
        dose = self._sweep.dose_response()
        self._logged.define_metric("magnitude")
        for split in dose["split"].unique():
            self._logged.define_metric(f"{split}/*", step_metric="magnitude")
        for magnitude, rows in dose.sort_values("magnitude").groupby("magnitude"):
            step = {
                f"{row['split']}/{curve}": float(row[curve])
                for _, row in rows.iterrows()
                for curve in CURVES
                if not math.isnan(row[curve])
            }
            self._logged.log({"magnitude": magnitude, **step})

    def _vectors(self) -> dict[str, Any]:
        """File -> SHA-256 of every vector."""
        return {file.name: sha256_of_file(file) for file in sorted(self._run.path.glob("vectors/*.safetensors"))}


class _Stream:
    """A stage as it goes on: questions done, rows per second, and, where it is the sweep, three yes rates.

    Yes rates are those of the answers that this start has read; unread ones count in neither part.
    """

    def __init__(self, mirror: WandbMirror, stage: str, n_done: int, n_questions: int, before: int) -> None:
        self._mirror, self._stage = mirror, stage
        self._done, self._all, self._before = n_done, n_questions, before
        self._began, self._rows = time.perf_counter(), 0
        self._said: dict[float, np.ndarray] = {}

    def __call__(self, part: pd.DataFrame) -> None:
        """Take a batch's table, as the sweep writes it."""
        self._done += part["question_id"].nunique()
        self._rows += len(part)
        seconds = max(time.perf_counter() - self._began, 1e-9)
        values = {"questions": self._done, "of": self._all, "rows_per_second": self._rows / seconds}
        if {"magnitude", "margin", "mass"} <= set(part.columns):
            values |= self._rates(part)
        self._mirror.log({f"{self._stage}/{name}": value for name, value in values.items()}, self._before + self._done)

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
