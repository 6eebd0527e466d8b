"""Mirror a run to Weights & Biases (`--wandb offline` or `online`).

What is logged      when
progress/STAGE      /done and /of, as a bar goes on, at most every 5 s; of a resumed start, what was left to do
stages/STAGE        when the stage is done: its seconds
tables, figures     at the end: every CSV of the folder that is not too long
summary             at the end: what its JSON files say
artifact            at the end: report, tables, JSON, figures

A sweep says more, and says it itself (`onedial.report.sweep_watcher`). Without W&B the run is complete. `offline`
writes under <run>/wandb, to be sent later by `wandb sync`; nothing leaves the machine then. A resumed run is the same
W&B run: its manifest keeps the identifier. Steps are tenths of a second since the run was begun. Project, entity,
group, tags and name are W&B's own variables (WANDB_PROJECT, WANDB_ENTITY, WANDB_RUN_GROUP, WANDB_TAGS, WANDB_NAME);
where they are empty the project is `onedial` and the name that of the run's folder.
"""

import importlib.util
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from onedial.core.errors import InputError
from onedial.core.files import sha256_of_text
from onedial.core.notices import notice
from onedial.core.progress import listening
from onedial.core.pulse import say
from onedial.core.run.configuration import flat
from onedial.core.run.run import Run
from onedial.show.results import captions_of

FACT = "wandb"
"""Under this name the manifest of a mirrored run says which W&B run it is."""
ID_LENGTH = 12


def wandb_id(run: Run) -> str:
    """Draw an identifier for a run's W&B run that no other run comes upon."""
    return sha256_of_text(f"{run.path.resolve().name} {run.manifest.started} {run.config}")[:ID_LENGTH]


def recorded_id(run: Run) -> str | None:
    """Read the identifier of the W&B run that mirrors this one; None where nothing has mirrored it."""
    identifier: str | None = run.manifest.facts.get(FACT, {}).get("id")
    return identifier


MODES = ("offline", "online")


def check_wandb(mode: str) -> None:
    """Find out before the work, not after it, whether logging can go ahead.

    Raises:
        InputError: an unknown mode; W&B is not installed; or `online` without a login.
    """
    if mode not in MODES:
        raise InputError(
            f"W&B mode {mode!r} requested, but it is one of {', '.join(MODES)}; leave --wandb out for none"
        )
    wandb = import_wandb()
    if mode == "online" and not _has_login(wandb):
        raise InputError("W&B knows no API key on this machine; run `wandb login` once, or pass --wandb offline")


def wandb_is_installed() -> bool:
    """Whether the package is there; nothing is imported."""
    return importlib.util.find_spec("wandb") is not None


def wandb_knows_key() -> bool:
    """Whether this machine has a login, as far as can be told without the network."""
    if os.environ.get("WANDB_API_KEY"):
        return True
    return _has_login(import_wandb())


def import_wandb() -> Any:
    """Import the package on its first use.

    Raises:
        InputError: it is not installed.
    """
    try:
        import wandb
    except ImportError:
        raise InputError("--wandb needs the package wandb; run `pip install wandb`, or leave the option out") from None
    return wandb


def _has_login(wandb: Any) -> bool:
    return bool(wandb.login(prompt=False, verify=False))


PROJECT = "onedial"
MOST_ROWS = 10_000
"""Of a table that W&B is given to show; a longer one is in the artifact alone."""
STEPS_PER_SECOND = 10
FILES = ("report.html", "*.csv", "*.json", "config.yaml", "figures/*.svg")
"""Of a run's folder, what its artifact holds."""
NO_RESULTS = frozenset({"manifest.json", "interventions.json", "factor.json"})
"""JSON files that say how something was made, or hold it whole."""
LONGEST_NAME = 100
"""Letters of a folder's name that an artifact's name takes over; W&B takes 128 in all."""


class WandbRun:
    """One process's W&B run beside a run on disk.

    A server or a service that no longer answers is noticed once; the run on disk goes on without its mirror.

    Args:
        run: has all that it records at its beginning.
        mode: offline or online.
        kind: W&B's job type.
        process, n_processes: which of how many.

    Raises:
        InputError: as `check_wandb`, or the server cannot be reached at the start.
    """

    def __init__(self, run: Run, mode: str, kind: str, process: int = 0, n_processes: int = 1) -> None:
        check_wandb(mode)
        self._wandb = wandb = import_wandb()
        self._run, self._mode, self._is_first = run, mode, not process
        manifest, identifier = run.manifest, wandb_id(run)
        suffix, self._others = f"-p{process}" if process else "", "*" if n_processes > 1 else ""
        given = (os.environ.get("WANDB_RUN_ID") or recorded_id(run)) if self._is_first else None  # an agent names it
        self._identifier = given or f"{identifier}{suffix}"
        provenance = {"subject": manifest.facts.get("model", {}), "commit": manifest.commit}
        try:
            self._logged: wandb.Run | None = wandb.init(
                id=self._identifier,
                resume="allow",
                project=os.environ.get("WANDB_PROJECT") or PROJECT,
                group=os.environ.get("WANDB_RUN_GROUP") or (identifier if n_processes > 1 else None),
                name=f"{os.environ.get('WANDB_NAME') or run.path.resolve().name}{suffix}",
                job_type=kind,
                dir=run.path,
                mode=mode,
                config={**run.config, **provenance},
                settings=wandb.Settings(console="off", silent=True, save_code=False),
            )
        except wandb.errors.Error as error:
            raise InputError(self._refused(error)) from error
        self._folder = Path(self._logged.dir).parent
        self._began = datetime.fromisoformat(manifest.started.replace("Z", "+00:00"))
        self._last_step = -1
        if self._is_first:
            run.record(**{FACT: {"id": self._identifier, "project": self._logged.project}})

    def where(self) -> str:
        """Say for the terminal where an online run is seen, or how an offline one is sent."""
        if self._mode == "online" and self._logged is not None:
            return f"W&B: {self._logged.url}"
        pieces = self._run.path / "wandb" / f"offline-run-*-{self._identifier}{self._others}"
        return f"W&B: {self._folder}\n     to send it: wandb sync {pieces}"

    def log(self, values: Mapping[str, Any]) -> None:
        """Log values at a step of their own."""
        seconds = (datetime.now(UTC) - self._began).total_seconds()
        self._last_step = step = max(self._last_step + 1, int(STEPS_PER_SECOND * seconds))
        self._tell(lambda logged: logged.log(dict(values), step=step))

    def configure(self, values: Mapping[str, Any]) -> None:
        """Add to the configuration what was chosen only after the beginning."""
        self._tell(lambda logged: logged.config.update(dict(values), allow_val_change=True))

    def measure_along(self, metrics: str, along: str) -> None:
        """Show the metrics of a pattern along another one instead of along the steps."""
        self._tell(lambda logged: logged.define_metric(metrics, step_metric=along))

    def close(self, failed: bool = False) -> None:
        """End the W&B run as it stands; nothing where it has ended."""
        self._tell(lambda logged: logged.finish(exit_code=int(failed)))
        self._logged = None

    def withdraw(self) -> None:
        """Take back what this start has put into the folder of a run that is refused after all."""
        self.close(failed=True)
        self._wandb.teardown()  # its service writes on for a moment
        shutil.rmtree(self._folder, ignore_errors=True)
        links = [entry for entry in self._folder.parent.iterdir() if entry.is_symlink() and not entry.exists()]
        for link in links:
            link.unlink()
        if not any(self._folder.parent.iterdir()):
            self._folder.parent.rmdir()

    # ---- what a folder says --------------------------------------------------------------------------------------

    def log_folder(self) -> None:
        """Log tables, figures and summary of what the folder says."""
        wandb, path = self._wandb, self._run.path
        tables = {file.stem: self._run.read_table(file.name) for file in sorted(path.glob("*.csv"))}
        shown = {
            f"tables/{name}": wandb.Table(dataframe=table) for name, table in tables.items() if len(table) <= MOST_ROWS
        }
        pictures = {
            f"figures/{name}": wandb.Image(str(path / "figures" / f"{name}.png"), caption=words["caption"])
            for name, words in captions_of(self._run).items()
        }
        if shown or pictures:
            self.log({**shown, **pictures})
        numbers = numbers_of(self._run)
        self._tell(lambda logged: logged.summary.update(numbers))

    def log_artifact(self, kind: str, patterns: Sequence[str], metadata: Mapping[str, Any]) -> None:
        """Log the files of some patterns, relative to the run's folder; nothing where there are none."""
        path = self._run.path
        files = sorted(str(file.relative_to(path)) for pattern in patterns for file in path.glob(pattern))
        if not files:
            return
        artifact = self._wandb.Artifact(f"{artifact_name(self._run)}-{kind}", type=kind, metadata=dict(metadata))
        for file in files:
            artifact.add_file(str(path / file), name=file)
        self._tell(lambda logged: logged.log_artifact(artifact))

    # ---- a mirror that is lost -----------------------------------------------------------------------------------

    def _tell(self, say: Callable[[Any], object]) -> None:
        """Say something to W&B, unless it is lost already."""
        if self._logged is None:
            return
        try:
            say(self._logged)
        except (self._wandb.errors.Error, ConnectionError) as error:  # ConnectionError: its service was killed
            notice(f"warning: {self._refused(error)}")
            self._logged = None

    def _refused(self, error: Exception) -> str:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        return f"W&B did not take the run ({reason}); {self._run.path} is complete without it, so log it offline"


def artifact_name(run: Run) -> str:
    """Write the folder's name in the letters that an artifact's name may have."""
    return re.sub(r"[^\w.-]+", "-", run.path.resolve().name)[:LONGEST_NAME]


def numbers_of(run: Run) -> dict[str, Any]:
    """Read FILE.NAME -> number or text, of the JSON files of a run that say what came out."""
    numbers: dict[str, Any] = {}
    for file in sorted(run.path.glob("*.json")):
        stored = json.loads(file.read_text(encoding="utf-8"))
        if file.name not in NO_RESULTS and isinstance(stored, Mapping):
            numbers |= {name: value for name, value in flat(stored, f"{file.stem}.") if _is_plain(value)}
    return numbers


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float) and value == value


SECONDS_BETWEEN = 5.0


class RunWatcher:
    """Tells W&B how a run goes, and at its end what its folder says.

    Args:
        run: just begun. wandb_run: of this process. leads: whether this process is the first, which says what came out.
    """

    def __init__(self, run: Run, wandb_run: WandbRun, leads: bool = True) -> None:
        self.run, self.wandb_run, self._leads = run, wandb_run, leads
        self._told: dict[str, float] = {}
        self._hearing = ExitStack()
        self._hearing.enter_context(listening(self._advanced))

    def stage_ended(self, name: str, seconds: float) -> None:
        """Log that a stage is done."""
        self.wandb_run.log({f"stages/{name}": seconds})

    def run_ended(self, failed: bool) -> None:
        """Log that the program is done with the run, or was interrupted."""
        self._hearing.close()
        if not failed and self._leads:
            self.log_end()
        self.wandb_run.close(failed)

    def run_withdrawn(self) -> None:
        """Take back what this start has put into the folder."""
        self._hearing.close()
        self.wandb_run.withdraw()

    def log_end(self) -> None:
        """Log what the finished folder says."""
        self.wandb_run.log_folder()
        self.wandb_run.log_artifact(self.run.manifest.program, FILES, {})

    def _advanced(self, stage: str, done: int, of: int | None) -> None:
        now = time.monotonic()
        if done != of and now - self._told.get(stage, -SECONDS_BETWEEN) < SECONDS_BETWEEN:
            return
        self._told[stage] = now
        self.wandb_run.log({f"progress/{stage}/done": done} | ({} if of is None else {f"progress/{stage}/of": of}))


def watch(run: Run, mode: str) -> None:
    """Mirror a run that has just begun, and say where."""
    mirror = WandbRun(run, mode, run.manifest.program)
    run.watched_by(RunWatcher(run, mirror))
    say(mirror.where())
