"""Any run, mirrored to Weights & Biases as it goes on (`Run.watched_by`).

What is logged      when
progress/STAGE      /done and /of, as a bar goes on, at most every 5 s; of a start that goes on, what was left to do
stages/STAGE        when the stage is done: its seconds
tables              at the end: every CSV of the folder that is not too long
figures             at the end
summary             at the end: what its JSON files say
artifact            at the end: report, tables, JSON, figures; it names the runs that it read

A sweep says more, and says it itself (`onedial.report.wandb_sweep`).
"""

import shutil
import time
from contextlib import ExitStack

from onedial.core import Run
from onedial.show.progress import listening
from onedial.show.wandb_login import WandbOptions
from onedial.show.wandb_run import FILES, WandbRun

SECONDS_BETWEEN = 5.0


class WandbWatcher(WandbRun):
    """Tells W&B how a run goes, and at its end what its folder says.

    Args:
        kind: W&B's job type; by default the program's name.
        run, options, process, n_processes: see `WandbRun`.
    """

    def __init__(
        self, run: Run, options: WandbOptions, kind: str | None = None, process: int = 0, n_processes: int = 1
    ) -> None:
        super().__init__(run, options, kind or run.manifest.program, process, n_processes)
        self._told: dict[str, float] = {}
        self._hearing = ExitStack()
        self._hearing.enter_context(listening(self._advanced))

    def stage_ended(self, name: str, seconds: float) -> None:
        """A stage is done."""
        self.log({f"stages/{name}": seconds})

    def run_ended(self, failed: bool) -> None:
        """The program is done with the run, or was interrupted."""
        self._hearing.close()
        if not failed and self._is_first:
            self.log_end()
        self.close(failed)

    def run_withdrawn(self) -> None:
        """The run is refused after all: nothing of this start stays in its folder."""
        self._hearing.close()
        self.close(failed=True)
        self._wandb.teardown()  # its service writes on for a moment
        shutil.rmtree(self._folder, ignore_errors=True)
        links = [entry for entry in self._folder.parent.iterdir() if entry.is_symlink() and not entry.exists()]
        for link in links:
            link.unlink()
        if not any(self._folder.parent.iterdir()):
            self._folder.parent.rmdir()

    def log_end(self) -> None:
        """What the finished folder says."""
        self.log_folder()
        self.log_artifact(self._run.manifest.program, FILES, {})

    def _advanced(self, stage: str, done: int, of: int | None) -> None:
        now = time.monotonic()
        if done != of and now - self._told.get(stage, -SECONDS_BETWEEN) < SECONDS_BETWEEN:
            return
        self._told[stage] = now
        self.log({f"progress/{stage}/done": done} | ({} if of is None else {f"progress/{stage}/of": of}))
