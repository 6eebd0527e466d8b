"""Say which command made each stored result of tests/reference and docs/images, and make it again.

    python scripts/stored_results.py --list                          # every run: its commands, cost and files
    python scripts/stored_results.py default --runs runs/stored      # run it into runs/stored/default, copy its files
    python scripts/stored_results.py default --runs runs/stored --copy-only     # that run is there: only copy
    python scripts/stored_results.py --all --runs runs/stored

A run that is there already goes on with --resume; after a change of the questions or the panel give another --runs. A
run that reads another one (`after`) takes it from the same folder. stored_runs.yaml is the table of all runs. Files are
copied byte for byte; of a few tables a part is stored (stored_parts.py). Then run scripts/check_numbers.py, which holds
the pages to what is stored.
"""

import os
import shlex
import shutil
import subprocess
import sys
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
_TABLE = yaml.safe_load(Path(__file__).with_name("stored_runs.yaml").read_text(encoding="utf-8"))
RUNS: dict[str, dict[str, Any]] = _TABLE["runs"]
KEPT: dict[str, str] = _TABLE["kept"]


def main() -> int:
    options = parse_options(ScriptOptions, __doc__)
    if unknown := [name for name in options.names if name not in RUNS]:
        why = "it is not made again; --list says why" if unknown[0] in KEPT else f"choose from {', '.join(RUNS)}"
        raise InputError(f"there is no stored run {unknown[0]!r}: {why}")
    if options.list:
        chosen = {name: RUNS[name] for name in options.names or RUNS}
        print(yaml.safe_dump({**chosen, "kept": KEPT}, sort_keys=False, width=1000))
        return 0
    names = [name for name in RUNS if options.all or name in options.names]
    if not names or options.runs is None:
        raise InputError("name the runs, or give --all, and a folder for them, for example --runs runs/stored")
    for name in names:
        if not options.copy_only:
            make(name, options.runs.resolve())
        copy(name, options.runs.resolve(), options.into)
    return 0


def make(name: str, runs: Path) -> None:
    """Run its commands, or go on with them.

    Raises:
        InputError: a run that it reads is not there, or a command ended with an error.
    """
    for other in RUNS[name].get("after", []):
        if not (runs / other).is_dir():
            raise InputError(f"{name} reads the run {other}, which is not in {runs}; make {other} first")
    runs.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))}
    for command in RUNS[name]["commands"]:
        words = words_of(command, name, runs)
        print(f"{name}: {shlex.join(words)}", flush=True)
        code = subprocess.run([sys.executable, *words[1:]], cwd=ROOT, env=environment, check=False).returncode
        if code:
            raise InputError(f"{name} ended with exit code {code}; mend what it says, and the same command goes on")


def words_of(command: str, name: str, runs: Path) -> list[str]:
    """Fill in the folders of a command, and --resume where its run has been begun."""
    words = [word.replace("{run}", str(runs / name)).replace("{runs}", str(runs)) for word in shlex.split(command)]
    if words[1].startswith("experiments/") and Path(words[words.index("--out") + 1]).exists():
        words.append("--resume")
    return words


def sources_of(made: str | dict[str, Any]) -> list[str]:
    """List the files of runs that a stored file is made of."""
    return [made] if isinstance(made, str) else made["of"]


def copy(name: str, runs: Path, into: Path = ROOT) -> None:
    """Store its files under `into`; nothing is written where one of them is missing.

    Raises:
        InputError: a file is missing.
    """
    files = RUNS[name].get("files", {})
    for source in [source for made in files.values() for source in sources_of(made)]:
        if not (runs / source).is_file():
            raise InputError(f"{source} is not in {runs}; finish the run {source.split('/')[0]}")
    for stored, made in files.items():
        with atomic_path(into / stored) as temporary:
            if isinstance(made, str):
                shutil.copyfile(runs / made, temporary)
            else:
                tables = [pd.read_csv(runs / source) for source in made["of"]]
                table = getattr(stored_parts, made["by"])(*tables) if "by" in made else tables[0]
                if "row" in made:
                    table.insert(0, "row", table[made["row"]].astype(str).agg(", ".join, axis=1))
                table.round(5).to_csv(temporary, index=False, lineterminator="\n")
        print(stored)


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
