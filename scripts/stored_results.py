"""Which command made each stored result of tests/reference and docs/images, and how to make it again.

    python scripts/stored_results.py --list                          # every run: its commands, cost and files
    python scripts/stored_results.py default --runs runs/stored      # run it into runs/stored/default, copy its files
    python scripts/stored_results.py default --runs runs/stored --copy-only     # that run is there: only copy
    python scripts/stored_results.py --all --runs runs/stored

A run that is there already goes on with --resume; after a change of the questions or the panel give another --runs. A
run that reads another one (`after`) takes it from the same folder. stored_runs.yaml is the table of all runs. Files are
copied byte for byte; of a few tables a part is stored (stored_parts.py). Then run scripts/check_numbers.py, which holds
the pages to what is stored.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import stored_parts
import yaml

from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.files import atomic_path
from onedial.core.options import Options, option, parse_options

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class File:
    """One stored file: a copy of its source; or what a function of stored_parts (`by`) makes of its sources; or its
    source rounded to `digits`, with the values of some columns in a first one (`row`)."""

    stored: str
    of: tuple[str, ...]
    by: str = ""
    digits: int = 0
    row: tuple[str, ...] = ()

    def made(self, runs: Path) -> pd.DataFrame | None:
        """The table to store; None for a copy."""
        if not self.by and not self.digits:
            return None
        tables = [pd.read_csv(runs / source) for source in self.of]
        if self.by:
            return getattr(stored_parts, self.by)(*tables)
        table = tables[0].round(self.digits)
        if self.row:
            table.insert(0, "row", table[list(self.row)].astype(str).agg(", ".join, axis=1))
        return table


@dataclass(frozen=True)
class Stored:
    """What is run, and which of its files are stored; stored_runs.yaml says what each field is."""

    commands: list[str]
    minutes: float
    files: list[File]
    after: tuple[str, ...] = ()
    needs: str = ""

    @classmethod
    def of(cls, row: dict[str, Any]) -> "Stored":
        """From its entry in the table."""
        files = row.pop("files", {}).items()
        return cls(
            files=[File(path, **({"of": [made]} if isinstance(made, str) else made)) for path, made in files], **row
        )


_TABLE = yaml.safe_load(Path(__file__).with_name("stored_runs.yaml").read_text(encoding="utf-8"))
RUNS = {name: Stored.of(row) for name, row in _TABLE["runs"].items()}
KEPT: dict[str, str] = _TABLE["kept"]


def main() -> int:
    options = parse_options(ScriptOptions, __doc__)
    for name in options.names:
        if name not in RUNS:
            why = "it is not made again; --list says why" if name in KEPT else f"choose from {', '.join(RUNS)}"
            raise InputError(f"there is no stored run {name!r}: {why}")
    if options.list:
        print("\n\n".join([*(told(name) for name in options.names or RUNS), *map(": ".join, KEPT.items())]))
        return 0
    names = [name for name in RUNS if options.all or name in options.names]
    if not names or options.runs is None:
        raise InputError("name the runs, or give --all, and a folder for them, for example --runs runs/stored")
    for name in names:
        if not options.copy_only:
            make(name, options.runs.resolve())
        for path in copy(name, options.runs.resolve(), options.into):
            print(path.relative_to(options.into))
    return 0


def told(name: str) -> str:
    """What --list says of one run."""
    own = RUNS[name]
    head = [f"{own.minutes:g} CPU minutes"] + ([f"after {', '.join(own.after)}"] if own.after else [])
    lines = [f"{name}: {'; '.join([*head, *([f'needs {own.needs}'] if own.needs else [])])}"]
    lines += [f"  {command}" for command in own.commands]
    return "\n".join(lines + [f"  -> {file.stored}" for file in own.files])


def make(name: str, runs: Path) -> None:
    """Run its commands, or go on with them.

    Raises:
        InputError: a run that it reads is not there, or a command ended with an error.
    """
    own = RUNS[name]
    for other in own.after:
        if not (runs / other).is_dir():
            raise InputError(f"{name} reads the run {other}, which is not in {runs}; make {other} first")
    if own.files:
        (runs / name if "--table" in own.commands[0] else runs).mkdir(parents=True, exist_ok=True)
    found = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(found)}
    for command in own.commands:
        words = words_of(command, name, runs)
        print(f"{name}: {shlex.join(words)}", flush=True)
        code = subprocess.run([sys.executable, *words[1:]], cwd=ROOT, env=environment, check=False).returncode
        if code:
            raise InputError(f"{name} ended with exit code {code}; mend what it says, and the same command goes on")


def words_of(command: str, name: str, runs: Path) -> list[str]:
    """A command with its folders, and with --resume where its run has been begun."""
    words = [word.replace("{run}", str(runs / name)).replace("{runs}", str(runs)) for word in shlex.split(command)]
    if words[1].startswith("experiments/") and Path(words[words.index("--out") + 1]).exists():
        words.append("--resume")
    return words


def copy(name: str, runs: Path, into: Path = ROOT) -> list[Path]:
    """Store its files under `into`; nothing is written where one of them is missing.

    Returns:
        the files written.

    Raises:
        InputError: a file is missing.
    """
    own = RUNS[name]
    missing = [source for file in own.files for source in file.of if not (runs / source).is_file()]
    if missing:
        raise InputError(
            f"{missing[0]} is not in {runs} ({len(missing)} missing); finish the run {missing[0].split('/')[0]}"
        )
    for source in {source for file in own.files for source in file.of}:
        check_finished((runs / source).parent, runs)
    made = [file.made(runs) for file in own.files]
    for file, table in zip(own.files, made, strict=True):
        with atomic_path(into / file.stored) as temporary:
            if table is None:
                shutil.copyfile(runs / file.of[0], temporary)
            else:
                table.to_csv(temporary, index=False, lineterminator="\n")
    return [into / file.stored for file in own.files]


def check_finished(folder: Path, runs: Path) -> None:
    """Raise InputError where the run that a file lies in was broken off."""
    while folder != runs and not (folder / "manifest.json").is_file():
        folder = folder.parent
    if folder == runs:
        return
    stages = json.loads((folder / "manifest.json").read_text(encoding="utf-8")).get("stages", [])
    if stages and not stages[-1]["completed"]:
        raise InputError(f"{folder} was broken off at {stages[-1]['stage']!r}; finish it with --resume, then copy")


def stored_files() -> Iterable[str]:
    """Every file that the table names."""
    return (file.stored for own in RUNS.values() for file in own.files)


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    names: tuple[str, ...] = option((), "which runs; --list names them", positional=True)
    list: bool = option(False, "say what there is, and stop")
    all: bool = option(False, "every run, in order")
    runs: Path | None = option(None, "folder of the runs, one folder each", metavar="DIR")
    copy_only: bool = option(False, "run nothing: the runs are there")
    into: Path = option(ROOT, "copy beneath another folder than this one", metavar="DIR")


if __name__ == "__main__":
    sys.exit(run_command(main))
