"""Mirror a sweep to W&B: what any run says of itself (`RunWatcher`), and what the dial does.

What is logged      when
plan                once it stands, into the configuration: layer, magnitudes, norm
extraction/*, ...   at the end, magnitude by magnitude
artifacts           the vectors once they are made; what was asked, and the report, at the end, naming the vectors

Of several processes each has a W&B run, all in one group.
"""

import math
from typing import Any

from onedial.core.files import sha256_of_file
from onedial.core.plain_values import plain
from onedial.show.wandb_run import FILES, RunWatcher, WandbRun, artifact_name
from onedial.verdict.sweep_run import SweepRun

CURVES = ("yes_rate", "mean_mass", "n_unread")
ASKED = ("*/part-*.parquet", "*.parquet", "prompt.txt")
"""Questions, panel, and every row that was asked: with vectors and report, all that a run is judged by."""


class SweepWatcher(RunWatcher):
    """Tells W&B how a sweep goes.

    Args:
        run: just begun, or finished. wandb_run: of this process. leads: whether this process is the first.
    """

    def __init__(self, run: SweepRun, wandb_run: WandbRun, leads: bool = True) -> None:
        super().__init__(run.run, wandb_run, leads)
        self._sweep = run

    def log_plan(self) -> None:
        """Log what will be swept, and the vectors as an artifact, with the numbers by which they are known."""
        entries, tested = self._sweep.interventions(), self._sweep.under_test()
        self.wandb_run.configure({"plan": plain(entries[entries["intervention_id"] == tested].to_dict("records")[0])})
        self.wandb_run.log_artifact("vector", ["vectors/*.safetensors"], self._vectors())

    def log_end(self) -> None:
        """Log what the finished folder says, and magnitude by magnitude what the dial did."""
        self._log_dose_response()
        self.wandb_run.log_folder()
        rests_on = {"vectors": self._vectors(), "artifact": f"{artifact_name(self.run)}-vector"}
        self.wandb_run.log_artifact("sweep", ASKED, rests_on)
        self.wandb_run.log_artifact("report", FILES, rests_on | {"verdict": self._sweep.verdict().sentence})

    def _log_dose_response(self) -> None:
        """Log one step per magnitude, ascending, with the curves of each split."""
        dose = self._sweep.dose_response()
        for split in dose["split"].unique():
            self.wandb_run.measure_along(f"{split}/*", "magnitude")
        for magnitude, rows in dose.sort_values("magnitude").groupby("magnitude"):
            step = {
                f"{row['split']}/{curve}": float(row[curve])
                for _, row in rows.iterrows()
                for curve in CURVES
                if not math.isnan(row[curve])
            }
            self.wandb_run.log({"magnitude": magnitude, **step})

    def _vectors(self) -> dict[str, Any]:
        """Compute file -> SHA-256 of every vector."""
        return {file.name: sha256_of_file(file) for file in sorted(self.run.path.glob("vectors/*.safetensors"))}
