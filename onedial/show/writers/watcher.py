"""Any run, written elsewhere as it goes on (`Run.watched_by`): to W&B, to TensorBoard, or both.

What is logged      when
progress/STAGE      /done and /of, as a bar goes on, at most every 5 s; of a start that goes on, what was left to do
stages/STAGE        when the stage is done: its seconds
tables              at the end: every CSV of the folder that is not too long (W&B)
figures             at the end
summary             at the end: what its JSON files say
artifact            at the end: report, tables, JSON, figures; it names the runs that it read (W&B)

A sweep says more, and says it itself (`onedial.report.sweep_watcher`).
"""

import time
from contextlib import ExitStack

from onedial.core import Run, say
from onedial.show.progress import listening
from onedial.show.writers.wandb_run import FILES
from onedial.show.writers.writer import LogOptions, Writer

SECONDS_BETWEEN = 5.0


class RunWatcher:
    """Tells a writer how a run goes, and at its end what its folder says.

    Args:
        run: just begun. writer: of this process. leads: whether this process is the first, which says what came out.
    """

    def __init__(self, run: Run, writer: Writer, leads: bool = True) -> None:
        self.run, self.writer, self._leads = run, writer, leads
        self._told: dict[str, float] = {}
        self._hearing = ExitStack()
        self._hearing.enter_context(listening(self._advanced))

    def stage_ended(self, name: str, seconds: float) -> None:
        """A stage is done."""
        self.writer.log({f"stages/{name}": seconds})

    def run_ended(self, failed: bool) -> None:
        """The program is done with the run, or was interrupted."""
        self._hearing.close()
        if not failed and self._leads:
            self.log_end()
        self.writer.close(failed)

    def run_withdrawn(self) -> None:
        """The run is refused after all: nothing of this start stays in its folder."""
        self._hearing.close()
        self.writer.withdraw()

    def log_end(self) -> None:
        """What the finished folder says."""
        self.writer.log_folder()
        self.writer.log_artifact(self.run.manifest.program, FILES, {})

    def _advanced(self, stage: str, done: int, of: int | None) -> None:
        now = time.monotonic()
        if done != of and now - self._told.get(stage, -SECONDS_BETWEEN) < SECONDS_BETWEEN:
            return
        self._told[stage] = now
        self.writer.log({f"progress/{stage}/done": done} | ({} if of is None else {f"progress/{stage}/of": of}))


def watch(run: Run, options: LogOptions) -> None:
    """Let every writer that the options ask for be told of the run, and say where each writes."""
    for writer in options.writers(run, run.manifest.program):
        run.watched_by(RunWatcher(run, writer))
        say(writer.where())
