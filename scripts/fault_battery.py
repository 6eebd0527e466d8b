"""Do to every program that writes a run what can happen to it, go on, and compare with a run that nothing happened to.

    python scripts/fault_battery.py                                 # every program: about half an hour on a CPU
    python scripts/fault_battery.py --tiny --n 20 --table FILE      # a model of random weights; the rates go into FILE
    python scripts/fault_battery.py --tiny --programs score_confidence --faults kill,two_writers

kill          kill -9 at random moments, again and again in one folder
two_writers   a second start while the first is writing: refused, and the first ends as if alone
full_disk     a disk with room for half of what is written (needs the right to mount one)
read_only     a disk on which nothing can be written (likewise)
copy          a copy of the folder while it is written: the copy goes on, whatever becomes of the first

One row for each program and fault: how often it struck, how often the run could be gone on with, how often every table
ended equal to the undisturbed run's, whether the user was told; rates with 95% Wilson intervals at the end. Tables are
compared as the values that they hold, so that a table in parts is one table however often it was broken off. Exit code
1 if a row fails.
"""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.files import atomic_path
from onedial.core.options import Options, option, parse_options
from onedial.stats.shares import wilson_interval

ROOT = Path(__file__).resolve().parent.parent
PATIENCE_SECONDS = 1800
NOT_COMPARED = ("manifest.json", "config.yaml", "log.txt", "report.html", "figures", ".lock*", "answers.jsonl")
"""Where and when a run was made, and what is drawn from the tables."""
UNDISTURBED = "undisturbed"
REFUSED = ("another process is writing", "already holds a run")
NO_ROOM = ("choose another folder", "choose a folder on a disk that is not read-only")
"""What a user is told."""


# ---- programs --------------------------------------------------------------------------------------------------------


@dataclass
class Program:
    """A program as the battery calls it.

    Attributes:
        command: everything but `--out` and `--resume`; `{run}` stands for the run's folder where it is no option.
        seconds: that the undisturbed run took. prepare: makes a run's folder where the program changes one.
        anew: what was broken off is deleted and made again; until then, each file of it is whole or missing.
        reads_a_sweep: whether it needs the run `swept`.
    """

    name: str
    command: list[str]
    resumes: bool = True
    seconds: float = 0.0
    prepare: Callable[[Path], object] = field(default=lambda folder: None)
    anew: bool = False
    reads_a_sweep: bool = False

    def start(self, folder: Path, resume: bool = True) -> "subprocess.Popen[str]":
        """Start the program as a process; what it says goes into one pipe."""
        if not folder.exists():
            self.prepare(folder)
        command = [part.replace("{run}", str(folder)) for part in self.command]
        if self.resumes:
            command += ["--out", str(folder), *(["--resume"] if resume else [])]
        # The last bits depend on the number of threads, and it would be measured each time.
        environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.Popen([sys.executable, *command], cwd=ROOT, env=environment, **pipes)  # type: ignore[call-overload]

    def finish(self, folder: Path, resume: bool = True) -> tuple[int, str]:
        """Run to the end; exit code and the last line that was said."""
        return end_of(self.start(folder, resume))


def end_of(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """Wait for it; exit code and the last line that was said."""
    output, _ = process.communicate(timeout=PATIENCE_SECONDS)
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return process.returncode, lines[-1] if lines else ""


def programs(model: str, asked: list[str], layers: str, n_questions: int, place: Path) -> dict[str, Program]:
    """List programs by name; the first makes the run `swept` in the same place, which others read.

    Args:
        model: subject and respondent. asked: options for questions, panel and wording. layers: two of its layers.
    """
    respondents, questionnaire, swept = place / "respondents.yaml", place / "scale.csv", place / "swept"
    respondents.write_text(
        f"models: [{{model: {model}, name: subject, family: battery}}]\nframings: [neutral, cautious]\n"
    )
    questionnaire.write_text("text,keyed\nI solve what I begin.,1\nI give up early.,-1\n")
    n, layer = f"--n-questions {n_questions}", layers.partition(",")[0]
    texts, subject = shlex.join(each for each in asked if each.startswith("--questions")), f"--model {model}"
    common = f"{subject} {shlex.join(asked)} {n}"
    commands = {
        "steer_sweep": f"steer_sweep {common} --without-verdict --controls 1",
        "multiverse": f"multiverse {common} --without-verdict --layer {layers} --draws 1 --wordings neutral",
        "collect_panel": f"panel collect --respondents {respondents} {texts} {n}",
        "fit_factor": "study_panel embedded --deep --replicates 20",
        "study_panel": "study_panel embedded --replicates 9",
        "score_confidence": "study_panel embedded --confidence --replicates 19",
        "score_self_prediction": "ask score tests/reference/self_execution --replicates 19",
        "place": f"place embedded {subject} --next 6",
        "compare_dials": f"compare_dials {common} --layer {layer} --dials interventions,cut --method mean_difference "
        "--operator add --together 0 --facts 8 --passages 2",
        "dial_profile": f"ask profile {swept} --n-questions 8 --controls 2 --replicates 99 --yes-rates .2,.8",
        "ask_battery": f"ask battery {subject} --instruments pairs,pressure,correction,beliefs --n-questions 8 "
        "--n-each 4 --samples 1 --replicates 99",
        "ask_questionnaire": f"ask questionnaire {subject} --questionnaire {questionnaire} --administrations 2 "
        "--replicates 49",
        "ask_self_prediction": f"ask predict {subject} --n-questions 4",
        "score_written": f"ask written {subject} --n-questions 8 --samples 2 --instruments P(True) --replicates 99",
        "train_probes": f"train_probes {common} --n-questions 120 --layer {layers} --method ridge --shuffles 1 "
        f"--replicates 49 --facts 120 --nulls 9 --n-pushed 10 --controls 2 --store {place / 'store'}",
        "compare_runs": f"compare_runs {swept} {place / 'another'}",
        "judge_run": "judge_run {run}",
        "import_panel": f"panel import {ROOT / 'tests/panels/data/janein.csv'} --yes ja --no nein --out {{run}}",
        "export_panel": "panel export embedded --to py-irt --out {run}/panel.jsonl",
        "gate": f"gate --run {swept} --yes-rate .5 --save {{run}}",
    }
    known = {name: Program(name, shlex.split(f"experiments/{line}")) for name, line in commands.items()}
    for program in known.values():
        program.command[0] += ".py"
    known["compare_runs"].prepare = lambda _: shutil.copytree(swept, place / "another", dirs_exist_ok=True)
    known["judge_run"].prepare, known["judge_run"].resumes = lambda folder: shutil.copytree(swept, folder), False
    for name in ("import_panel", "export_panel", "gate"):
        known[name].resumes, known[name].anew = False, True
    for name in ("dial_profile", "compare_runs", "judge_run", "gate"):
        known[name].reads_a_sweep = True
    return known


def tiny(place: Path) -> tuple[str, list[str], str]:
    """Make a model of random weights with questions and a panel of the tests' own: seconds instead of minutes."""
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    from tiny_experiment import as_arguments, write_experiment
    from tiny_models import save_outspoken

    written = write_experiment(place / "tiny", n=120, n_targets=8)
    save_outspoken(written["model"], "llama", 1, max_position_embeddings=8192)  # a questionnaire is long
    asked = {name: written[name] for name in ("questions", "panel", "prompt")}
    return str(written["model"]), as_arguments(asked), "1,3"


# ---- tables ----------------------------------------------------------------------------------------------------------


def tables_of(folder: Path) -> dict[str, object]:
    """Everything in a run that can be compared: a folder of parts as one frame, tensors by name, the rest as bytes."""
    contents: dict[str, object] = {}
    parts: dict[str, list[pd.DataFrame]] = {}
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = file.relative_to(folder)
        if any(Path(part).match(pattern) for part in name.parts for pattern in NOT_COMPARED):
            continue
        if file.match("part-*.parquet"):
            parts.setdefault(str(name.parent), []).append(pd.read_parquet(file))
        elif file.suffix == ".safetensors":  # the order in which its header names them is not promised
            from safetensors.numpy import load_file

            contents[str(name)] = {key: value.tobytes() for key, value in load_file(file).items()}
        else:
            contents[str(name)] = file.read_bytes()
    for name, frames in parts.items():
        whole = pd.concat(frames, ignore_index=True)
        contents[name] = whole.sort_values(list(whole.columns[:3]), kind="stable", ignore_index=True).to_json()
    return contents


# ---- faults ----------------------------------------------------------------------------------------------------------

Row = dict[str, Any]
"""program, fault, n (how often it struck; 0 where it cannot), survived (how often the run could be gone on with, and
the program ended as it should), equal (how often it did, with the tables of the undisturbed run), told (1 where the
user was told what had happened, or need not be), said (the last line)."""


NOT_HERE: Row = {"n": 0, "survived": 0, "equal": 0, "told": 1}
"""Of a fault that cannot happen to the program, or on this machine."""


@dataclass
class Battery:
    """One program with its undisturbed run, and a place for broken ones; each fault gives its row."""

    program: Program
    undisturbed: Path
    place: Path
    rng: np.random.Generator
    n: int

    def fresh(self) -> Path:
        """Make the path of a run that is not there yet."""
        return Path(tempfile.mkdtemp(dir=self.place)) / "run"

    def row(self, folder: Path, as_it_should: bool = True, is_told: bool = True, remark: str = "") -> Row:
        """Go on to the end, and compare."""
        expected = tables_of(self.undisturbed)
        if self.program.anew:
            half = [name for name, held in tables_of(folder).items() if held != expected.get(name)]
            as_it_should, remark = as_it_should and not half, f"half written: {', '.join(half)}" if half else remark
            shutil.rmtree(folder, ignore_errors=True)
        code, last = self.program.finish(folder)
        survived = as_it_should and code == 0
        contents = tables_of(folder)
        other = [name for name in sorted(contents.keys() | expected) if contents.get(name) != expected.get(name)]
        remark = f"ended with {code}: {last}" if code else f"different: {', '.join(other)}" if other else remark
        counts = {"survived": int(survived), "equal": int(survived and not other), "told": int(is_told)}
        return {"n": 1, **counts, "said": remark}

    def kill(self) -> Row:
        """Kill the program `n` times, each time a process that ran; see the top."""
        folder, struck, rows = self.fresh(), 0, []
        while struck < self.n:
            process = self.program.start(folder)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(float(self.rng.uniform(0, self.program.seconds)))
            process.kill()
            struck += end_of(process)[0] == -signal.SIGKILL
            if process.returncode != -signal.SIGKILL or self.program.anew:
                rows.append(self.row(folder))
                folder = self.fresh()
        if not self.program.anew:
            rows.append(self.row(folder))
        bad = [row for row in rows if not row["equal"]]
        survived, remark = struck - sum(not row["survived"] for row in rows), f"{len(rows)} runs ended"
        remark = bad[0]["said"] if bad else remark
        return {"n": struck, "survived": survived, "equal": struck - len(bad), "told": 1, "said": remark}

    def two_writers(self) -> Row:
        """Start the program a second time while the first is writing; see the top."""
        folder = self.fresh()
        first = self.program.start(folder)
        while not any(folder.glob(".lock*")) and first.poll() is None:
            time.sleep(0.005)
        if first.poll() is not None:
            end_of(first)
            return NOT_HERE | {"said": "writes one file alone, by renaming it"}
        time.sleep(0.2)  # the file is there a moment before it is locked
        first.send_signal(signal.SIGSTOP)  # the second must not come too late
        code, last_line = self.program.finish(folder)
        first.send_signal(signal.SIGCONT)
        first_code, _ = end_of(first)
        return self.row(folder, code == 2 and first_code == 0, any(each in last_line for each in REFUSED), last_line)

    def full_disk(self) -> Row:
        """Give the run half of the room that it needs; see the top."""
        return self._on_a_disk(lambda size, is_there: f"size={'4k' if is_there else size // 2}")  # what is there stays

    def read_only(self) -> Row:
        """Let nothing be written; see the top."""
        return self._on_a_disk(lambda size, is_there: "ro")

    def _on_a_disk(self, bad: Callable[[int, bool], str]) -> Row:
        """Report what becomes of a run on a disk that is made bad, then good.

        Args:
            bad: how it is mounted, by the size of what is to be written and whether a run is there already.
        """
        disk = self.fresh().parent / "disk"
        disk.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", "size=256m", "tmpfs", str(disk)]
        if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
            return NOT_HERE | {"said": "needs the right to mount a disk"}
        size = sum(-(-file.stat().st_size // 4096) * 4096 for file in self.undisturbed.rglob("*") if file.is_file())
        try:
            self.program.prepare(disk / "run")
            how = bad(size, (disk / "run").exists())
            subprocess.run(["mount", "-o", f"remount,{how}", disk], check=True)
            code, last_line = self.program.finish(disk / "run")
            subprocess.run(["mount", "-o", f"remount,rw,size={4 * size + 2**22}", disk], check=True)
            return self.row(disk / "run", code == 2, any(each in last_line for each in NO_ROOM), last_line)
        finally:
            subprocess.run(["umount", disk], check=True)

    def copy(self) -> Row:
        """Copy the folder while it is written, and go on with the copy; see the top."""
        folder, copied = self.fresh(), self.fresh()
        first = self.program.start(folder)
        with contextlib.suppress(subprocess.TimeoutExpired):
            first.wait(float(self.rng.uniform(0, self.program.seconds)))
        first.send_signal(signal.SIGSTOP)
        if folder.exists():
            shutil.copytree(folder, copied)
        first.kill()
        end_of(first)
        return self.row(copied)


FAULTS: dict[str, Callable[[Battery], Row]] = {
    each.__name__: each
    for each in (Battery.kill, Battery.two_writers, Battery.full_disk, Battery.read_only, Battery.copy)
}


def rows_of(program: Program, faults: Sequence[str], place: Path, seed: int, n: int, needed: Program) -> Iterator[Row]:
    """Report what becomes of the undisturbed run, and of each fault that is done to it.

    Args:
        needed: whose run `swept` other programs read.
    """
    if program.reads_a_sweep and not (place / "swept").exists():
        needed.finish(place / "swept", resume=False)
    folder, began = place / f"{program.name}-undisturbed", time.perf_counter()
    code, last_line = program.finish(folder, resume=False)
    program.seconds = time.perf_counter() - began
    fine = int(code == 0)
    last_line = f"{program.seconds:.1f} s" if fine else last_line
    yield {"fault": UNDISTURBED, "n": 1, "survived": fine, "equal": fine, "told": 1, "said": last_line}
    for fault in faults if fine else ():
        rng = np.random.default_rng([seed, list(FAULTS).index(fault)])
        yield {"fault": fault} | FAULTS[fault](Battery(program, folder, place, rng, n))


def rates_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Sum up what all programs say together.

    Args:
        rows: one for each program and fault (`Row`).

    Returns:
        fault, programs that it can happen to, n, and how often a run could not be gone on with (lost) or ended with
        other tables (unequal), as their share with a 95% Wilson interval, and in how many programs nobody was told.
    """
    by_fault = rows[rows["n"] > 0].groupby("fault", sort=False)
    table = by_fault[["n", "survived", "equal"]].sum()
    table["programs"] = by_fault["program"].nunique()
    table["untold"] = by_fault["told"].agg(lambda column: int((column == 0).sum()))
    table.loc["all faults"] = table.drop(UNDISTURBED, errors="ignore").sum()
    table.loc["all faults", "programs"] = rows["program"].nunique()
    table["lost"], table["unequal"] = table["n"] - table["survived"], table["survived"] - table["equal"]
    table["share"] = 1 - table["equal"] / table["n"]
    table["low"], table["high"] = wilson_interval(table["n"] - table["equal"], table["n"])
    columns = ["programs", "n", "lost", "unequal", "untold", "share", "low", "high"]
    return table.reset_index()[["fault", *columns]].round(5)


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    programs: tuple[str, ...] = option((), "only these", metavar="NAME")
    faults: tuple[str, ...] = option(tuple(FAULTS), "only these", choices=tuple(FAULTS), metavar="NAME")
    n: int = option(20, "how often a program is killed", at_least=1)
    model: str = option("smollm2-135m-instruct", "subject and respondent")
    tiny: bool = option(False, "a model of random weights in its place, and few questions")
    n_questions: int = option(80, "that are asked", at_least=1)
    seed: int = option(0, "of the moments", at_least=0)
    table: Path | None = option(None, "keep the rates here", metavar="CSV")


def main() -> int:
    options = parse_options(ScriptOptions, __doc__)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        subject = tiny(place) if options.tiny else (options.model, [], "20,22")
        known = programs(*subject, options.n_questions, place)
        wanted = options.programs or list(known)
        if unknown := [name for name in wanted if name not in known]:
            raise InputError(f"{unknown[0]} is no program that writes a run; there are {', '.join(known)}")
        needed = known["steer_sweep"]
        for name in wanted:
            for row in rows_of(known[name], options.faults, place, options.seed, options.n, needed):
                rows.append({"program": name} | row)
                counts = f"{row['survived']} of {row['n']} survived, {row['equal']} equal"
                mark = "" if row["told"] else "NOT TOLD "
                print(f"{name:22}{row['fault']:24}{counts:40}{mark}{row['said']}", flush=True)
    table = pd.DataFrame(rows)
    rates = rates_of(table)
    print(rates.to_string(index=False))
    if options.table is not None:
        with atomic_path(options.table) as temporary_file:
            rates.to_csv(temporary_file, index=False, lineterminator="\n")
    return 0 if all((table["n"] == table["equal"]) & (table["told"] == 1)) else 1


if __name__ == "__main__":
    sys.exit(run_command(main))
