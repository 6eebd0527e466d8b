"""A run on disk: everything that the report says can be computed again from these files.

    config.yaml        every option of the run
    manifest.json      commit, versions, device, model identity, seeds, command, time per stage
    questions.parquet  with their split                 prompt.txt   one rendered example and its hash
    panel.parquet      question_id, respondent, said_yes, model, framing, family
    vectors/           *.safetensors                    sweep/       part-00000.parquet, part-00001.parquet, ...
    matches.csv  verdict.json  factor.json  layer_scan.csv  figures/  report.html  log.txt

Every file is complete or absent: it is written under a temporary name and renamed. A run that was killed leaves at
most temporary files, which are ignored by all readers and removed on resume.
"""

import contextlib
import re
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from common import InputError, atomic_path, is_first_process, sha256_of_text, write_json, write_text
from psychometrics import FactorModel
from reporting import provenance, sweep_parts
from reporting.configuration import configuration_hash, first_difference, plain_configuration
from reporting.run_files import read_json, read_table, same_content, without_nan

RUNS = Path("runs")
TEMPORARY = ".*.part*"  # as common.atomic_path names them
BEGINNING = ("manifest.json", ".manifest-*.part.json", ".config-*.part.yaml")


def default_path(configuration: Mapping[str, Any], now: datetime | None = None) -> Path:
    """`runs/<UTC time>-<model name>-<first 6 digits of the configuration's hash>`."""
    moment = (now or datetime.now(UTC)).strftime("%Y%m%dT%H%M%SZ")
    model = re.sub(r"[^\w.-]+", "-", Path(str(configuration.get("model") or "embedded")).name).strip("-.") or "model"
    return RUNS / f"{moment}-{model}-{configuration_hash(configuration)[:6]}"


class RunDirectory:
    """One run's folder. Make it with `begin` (what a program needs), `create`, `resume` or `open`.

    Attributes:
        path: the folder.
        config: the stored configuration, as plain values.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.config = _read_configuration(self.path)

    # ---- beginning -------------------------------------------------------------------------------------------------

    @classmethod
    def begin(
        cls, configuration: Mapping[str, Any], out: Path | str | None = None, resume: bool = False
    ) -> "RunDirectory":
        """The folder for a program with the options `--out` and `--resume`.

        Without `out`, a new run gets `default_path`, and `resume` takes the newest run under `runs/` with the
        same configuration.

        Raises:
            InputError: as `create` and `resume`; or `resume` without `out` finds no run of this configuration.
        """
        if not resume:
            return cls.create(out or default_path(configuration), configuration)
        return cls.resume(out or _newest_path(configuration), configuration)

    @classmethod
    def check(cls, configuration: Mapping[str, Any], out: Path | str | None, resume: bool) -> None:
        """Raise what `begin` would raise, before a model is loaded for it; nothing is written."""
        path = Path(out or (_newest_path(configuration) if resume else default_path(configuration)))
        if resume and (path / "config.yaml").exists():
            _refuse_difference(cls(path), configuration)
        else:
            _leftovers(path)

    @classmethod
    def create(cls, path: Path | str, configuration: Mapping[str, Any]) -> "RunDirectory":
        """Make a new run in a new or empty folder.

        Raises:
            InputError: the folder holds a run already, or anything else, or is a file.
        """
        path = Path(path)
        for entry in _leftovers(path):
            entry.unlink()
        path.mkdir(parents=True, exist_ok=True)
        manifest = {
            "started": provenance.utc_now(),
            "command": provenance.command_line(),
            **provenance.git_state(),
            "versions": provenance.library_versions(),
            "machine": provenance.machine(),
            "stages": [],
        }
        # The configuration comes last: a folder that has one is a run with all that a run begins with.
        write_json(path / "manifest.json", manifest)
        write_text(path / "config.yaml", yaml.safe_dump(plain_configuration(configuration), sort_keys=False))
        run = cls(path)
        run.log(f"run begun: {manifest['command']}")
        return run

    @classmethod
    def open(cls, path: Path | str) -> "RunDirectory":
        """An existing run, to read it, whatever its configuration.

        Raises:
            InputError: no folder, or no run in it.
        """
        return cls(path)

    @classmethod
    def resume(cls, path: Path | str, configuration: Mapping[str, Any]) -> "RunDirectory":
        """Go on with a run that was broken off; a missing or empty folder (killed at once) begins a new run.

        Raises:
            InputError: the stored configuration differs in a key that changes results.
        """
        path = Path(path)
        if not (path / "config.yaml").exists():
            return cls.create(path, configuration)
        run = cls(path)
        _refuse_difference(run, configuration)
        for leftover in path.rglob(TEMPORARY):
            leftover.unlink()
        resumed = run.manifest.get("resumed", [])
        run.record(resumed=[*resumed, {"at": provenance.utc_now(), **provenance.git_state()}])
        run.log("run resumed")
        return run

    # ---- manifest, stages, log -------------------------------------------------------------------------------------

    @property
    def manifest(self) -> dict[str, Any]:
        """manifest.json as it stands."""
        return read_json(self.path / "manifest.json")

    def record(self, **entries: Any) -> None:
        """Put entries into the manifest (device, seeds, vector_id, ...), over those of the same name."""
        write_json(self.path / "manifest.json", without_nan({**self.manifest, **plain_configuration(entries)}))

    def record_model(self, identity: Mapping[str, Any]) -> None:
        """Put the subject's identity into the manifest.

        Raises:
            InputError: the run was made with another model (another revision, say) than the one now loaded.
        """
        stored = self.manifest.get("model")
        if stored is not None and (difference := first_difference(stored, identity, without_effect=())):
            key, before, now = difference
            raise InputError(
                f"{self.path} was made with a model whose {key} is {before}, but the model now loaded has {now}; "
                "load the same model or choose another --out"
            )
        self.record(model=identity)

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a part of the run: into the manifest and the log, also when it fails, by the first process."""
        if not is_first_process():
            yield
            return
        self.log(f"{name}: started")
        started, begin, completed = provenance.utc_now(), time.perf_counter(), False
        try:
            yield
            completed = True
        finally:
            seconds = round(time.perf_counter() - begin, 3)
            entry = {"stage": name, "started": started, "seconds": seconds, "completed": completed}
            self.record(stages=[*self.manifest["stages"], entry])
            self.log(f"{name}: {'done' if completed else 'broken off'} after {seconds:.1f} s")

    def log(self, message: str) -> None:
        """Append one line with the time to log.txt."""
        with open(self.path / "log.txt", "a", encoding="utf-8") as file:
            file.write(f"{provenance.utc_now()} {' '.join(message.split())}\n")

    # ---- what goes in ----------------------------------------------------------------------------------------------

    def write_questions(self, questions: pd.DataFrame) -> None:
        """Keep the questions (columns id, question, answers, topic, level, split); see `_keep_table`."""
        self._keep_table("questions.parquet", questions, ["id", "question", "split"])

    def write_panel(self, panel: pd.DataFrame) -> None:
        """Keep the panel in long form, one row per question and target; see `_keep_table`."""
        self._keep_table("panel.parquet", panel, ["question_id", "respondent", "said_yes"])

    def write_prompt(self, rendered: str) -> None:
        """Keep one rendered prompt, its SHA-256 on the first line.

        Raises:
            InputError: a resumed run was made with another prompt.
        """
        digest, file = sha256_of_text(rendered), self.path / "prompt.txt"
        if file.exists() and self.prompt()[1] != digest:
            raise InputError(
                f"{self.path} was begun with another prompt than the one now rendered; "
                "restore it or choose another --out"
            )
        write_text(file, f"sha256 {digest}\n\n{rendered}\n")

    def vector_path(self, vector_id: str) -> Path:
        """Where the steering vector of this id is to be written: vectors/<id>.safetensors."""
        name = re.sub(r"[^\w.=-]+", "-", vector_id)
        return self.path / "vectors" / f"{name}.safetensors"

    def write_matches(self, matches: pd.DataFrame) -> None:
        """Write the table of matches (index target)."""
        with atomic_path(self.path / "matches.csv") as temporary:
            matches.rename_axis("target").to_csv(temporary)

    def write_verdict(self, verdict: Mapping[str, Any]) -> None:
        """Write the verdict; nan becomes null. With it the run counts as finished."""
        write_json(self.path / "verdict.json", without_nan(verdict))

    def write_factor(self, factor: FactorModel) -> None:
        """Write the factor model of the panel."""
        factor.save(self.path / "factor.json")

    def write_layer_scan(self, scan: pd.DataFrame) -> None:
        """Write what `--layer auto` saw: columns layer, magnitude, yes_rate, unread (share)."""
        with atomic_path(self.path / "layer_scan.csv") as temporary:
            scan[["layer", "magnitude", "yes_rate", "unread"]].to_csv(temporary, index=False)

    # ---- the sweep -------------------------------------------------------------------------------------------------

    def write_part(self, part: pd.DataFrame, process: int = 0) -> Path:
        """Append sweep rows as the next part of this process; see `sweep_parts.write_part`."""
        return sweep_parts.write_part(self.path / "sweep", part, process)

    def read_sweep(self) -> pd.DataFrame:
        """The whole sweep; see `sweep_parts.read_parts`."""
        return sweep_parts.read_parts(self.path / "sweep")

    def done_question_ids(self) -> set[str]:
        """Ids of the questions whose sweep is on disk."""
        return sweep_parts.done_question_ids(self.path / "sweep")

    # ---- what comes out --------------------------------------------------------------------------------------------

    @property
    def is_finished(self) -> bool:
        """Whether matches and verdict are there, so that only the report may be left to write."""
        return (self.path / "verdict.json").exists() and (self.path / "matches.csv").exists()

    def questions(self) -> pd.DataFrame:
        """The questions with their split."""
        return read_table(self.path / "questions.parquet")

    def panel(self) -> pd.DataFrame:
        """The panel in long form."""
        return read_table(self.path / "panel.parquet")

    def prompt(self) -> tuple[str, str]:
        """The rendered example and its SHA-256."""
        first, _, rendered = (self.path / "prompt.txt").read_text(encoding="utf-8").partition("\n\n")
        return rendered.removesuffix("\n"), first.removeprefix("sha256 ")

    def matches(self) -> pd.DataFrame:
        """The table of matches, index target; text columns hold "" where nothing stands."""
        table = read_table(self.path / "matches.csv").set_index("target")
        texts = [column for column in ("model", "framing", "family", "status") if column in table]
        return table.assign(**{column: table[column].astype(object).fillna("").astype(str) for column in texts})

    def verdict(self) -> dict[str, Any]:
        """verdict.json; what could not be computed is None."""
        return read_json(self.path / "verdict.json")

    def factor(self) -> FactorModel | None:
        """The factor model of the panel, or None where none was fitted."""
        file = self.path / "factor.json"
        return FactorModel.load(file) if file.exists() else None

    def layer_scan(self) -> pd.DataFrame | None:
        """The layer scan, or None where the layer was given."""
        file = self.path / "layer_scan.csv"
        return read_table(file) if file.exists() else None

    def _keep_table(self, name: str, table: pd.DataFrame, required: list[str]) -> None:
        """Write a table that the run rests on; on resume it must be the same one.

        Raises:
            InputError: the stored table differs: the file that it was read from has changed since.
        """
        if missing := [column for column in required if column not in table.columns]:
            raise ValueError(f"{name} lacks {', '.join(missing)}")
        file = self.path / name
        if not file.exists():
            with atomic_path(file) as temporary:
                table.to_parquet(temporary, index=False)
        elif not same_content(read_table(file), table):
            raise InputError(
                f"{self.path} was begun with another table of {file.stem} than the one now read; "
                "restore the file or choose another --out"
            )


def _read_configuration(path: Path) -> dict[str, Any]:
    file = path / "config.yaml"
    if not file.exists():
        raise InputError(f"{path} holds no run (no config.yaml); give the folder of a run")
    try:
        configuration = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{file} is not YAML; restore it or make the run again") from error
    if not isinstance(configuration, dict):
        raise InputError(f"{file} holds no options; restore it or make the run again")
    return configuration


def _newest_path(configuration: Mapping[str, Any]) -> Path:
    """The newest run of this configuration under `runs/`."""
    digits = configuration_hash(configuration)[:6]
    if candidates := sorted(RUNS.glob(f"*-{digits}")):
        return candidates[-1]
    raise InputError(f"no run of this configuration ({digits}) lies under {RUNS}/; name its folder with --out")


def _leftovers(path: Path) -> list[Path]:
    """What a run that was killed before it had written its configuration left in a folder that is free otherwise."""
    if (path / "config.yaml").exists():
        raise InputError(f"{path} already holds a run; pass --resume to continue it or choose another --out")
    if not path.is_dir():
        if path.exists():
            raise InputError(f"{path} is a file, but a run needs a folder; choose another --out")
        return []
    left = list(path.iterdir())
    if not all(any(entry.match(pattern) for pattern in BEGINNING) for entry in left):
        raise InputError(f"{path} is not empty and holds no run; choose a new or empty folder with --out")
    return left


def _refuse_difference(run: RunDirectory, configuration: Mapping[str, Any]) -> None:
    """Raise InputError where the run was made with another value of an option that changes results."""
    if difference := first_difference(run.config, configuration):
        key, stored, given = difference
        raise InputError(
            f"{run.path} was made with {key} = {stored}, but now {key} = {given}; "
            "give the stored value, or choose another --out for a new run"
        )
