"""Do to every program that writes a run what can happen to it, go on, and compare with a run that nothing happened to.

    python scripts/fault_battery.py                                          # everything: about half an hour on a CPU
    python scripts/fault_battery.py --programs steer_sweep --faults kill two_writers --kills 3
    python scripts/fault_battery.py --list

One row for each program and fault: whether the run was there to go on with, whether every table ended equal to the
unbroken run's, and what the user was told. Faults are drawn from --seed; tables are compared as the values that they
hold, so that a table in parts is one table however often it was broken off. Exit code 1 if a row fails. What servers do
to a collection is in server_battery.py.
"""

import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from onedial.core import InputError, natural, positive, program_parser, run_command

ROOT = Path(__file__).resolve().parent.parent
NOT_COMPARED = ("manifest.json", "config.yaml", "log.txt", "sha256.txt", "report.html", "figures", ".lock*")
"""Where and when a run was made, and what is drawn from the tables."""
PATIENCE_SECONDS = 1800
NEED_A_SWEEP = {"judge_run", "dial_profile"}
MESSAGES = {
    "kill": "",
    "terminate": "terminated; what was finished is saved in",
    "full_disk": "No space left on device",
    "read_only": "Read-only file system",
    "two_writers": "another process is writing",
    "truncated_part": "delete it and pass --resume",
    "truncated_vector": "delete it and pass --resume",
    "other_version": "is written in format",
    "clock_back": "",
}
"""What a user must be told of a fault; nothing where the program cannot tell, or need not."""


class Absent(Exception):
    """This fault cannot happen to this program, or not on this machine."""


@dataclass
class Program:
    """A program as the battery calls it.

    Attributes:
        command: everything but `--out` and `--resume`; `{run}` stands for the run's folder where it is no option.
        seconds: that the unbroken run took.
    """

    name: str
    command: list[str]
    resumes: bool = True
    parts: str | None = None
    vectors: str | None = None
    seconds: float = 0.0
    prepare: Callable[[Path], None] = field(default=lambda folder: None)

    def arguments(self, folder: Path, resume: bool) -> list[str]:
        """The command line for this folder."""
        filled = [part.replace("{run}", str(folder)) for part in self.command]
        if not self.resumes:
            return filled
        return [*filled, "--out", str(folder), *(["--resume"] if resume else [])]

    def start(self, folder: Path, resume: bool = True, **more: object) -> subprocess.Popen:
        """The program as a process; what it says on both channels can be read."""
        if not folder.exists():
            self.prepare(folder)
        return subprocess.Popen(
            [sys.executable, *self.arguments(folder, resume)],
            cwd=ROOT,
            env=os.environ | {"OMP_NUM_THREADS": "1"},  # the last bits depend on it, and it would be measured each time
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            **more,
        )

    def finish(self, folder: Path, resume: bool = True) -> tuple[int, str]:
        """Run to the end; exit code and everything that was said."""
        process = self.start(folder, resume)
        said, _ = process.communicate(timeout=PATIENCE_SECONDS)
        return process.returncode, said


@dataclass
class Row:
    """What became of one program under one fault."""

    program: str
    fault: str
    survived: bool | None
    equal: bool | None
    told: str

    @property
    def fine(self) -> bool:
        """A fault that cannot happen is fine."""
        return self.survived is None or bool(self.survived and self.equal)


# ---- tables ----------------------------------------------------------------------------------------------------------


def tables_of(folder: Path) -> dict[str, object]:
    """Everything in a run that can be compared: tables as frames, a folder of parts as one frame, the rest as bytes."""
    found: dict[str, object] = {}
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = file.relative_to(folder)
        if any(Path(part).match(pattern) for part in name.parts for pattern in NOT_COMPARED):
            continue
        if file.match("part-*.parquet"):
            found.setdefault(str(name.parent), []).append(pd.read_parquet(file))
        else:
            found[str(name)] = _vector(file) if file.suffix == ".safetensors" else file.read_bytes()
    for name, content in found.items():
        if isinstance(content, list):
            whole = pd.concat(content, ignore_index=True)
            found[name] = whole.sort_values(list(whole.columns[:3]), kind="stable", ignore_index=True)
    return found


def _vector(file: Path) -> object:
    """Its numbers; the order in which its header names them is not promised."""
    from safetensors import safe_open

    with safe_open(str(file), "numpy") as content:
        return {name: content.get_tensor(name).tobytes() for name in content.keys()}, content.metadata()  # noqa: SIM118


def differences(folder: Path, unbroken: dict[str, object]) -> list[str]:
    """Names of tables that are not those of the unbroken run."""
    found = tables_of(folder)
    return [name for name in sorted(found.keys() | unbroken) if not _same(found.get(name), unbroken.get(name))]


def _same(one: object, other: object) -> bool:
    if isinstance(one, pd.DataFrame) and isinstance(other, pd.DataFrame):
        return one.equals(other)
    return type(one) is type(other) and one == other


# ---- faults ----------------------------------------------------------------------------------------------------------


@dataclass
class Battery:
    """One program with its unbroken run, and a place for broken ones."""

    program: Program
    unbroken: dict[str, object]
    unbroken_folder: Path
    place: Path
    rng: np.random.Generator
    kills: int

    def fresh(self) -> Path:
        """The path of a run that is not there yet."""
        return Path(tempfile.mkdtemp(dir=self.place)) / "run"

    def wait(self, holds: Callable[[], bool], process: subprocess.Popen) -> None:
        """Until it holds, or the process has ended."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not holds() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.005)

    def goes_on(self, folder: Path, told: str) -> Row:
        """Run to the end, and compare."""
        code, said = self.program.finish(folder)
        different = differences(folder, self.unbroken) if code == 0 else []
        if code:
            told = f"{told}; going on ended with {code}: {last_line(said)}"
        elif different:
            told = f"{told}; different: {', '.join(different)}"
        return Row(self.program.name, "", code == 0, not different and code == 0, told)

    def broken_off(self, folder: Path, number: int, after: float | None = None) -> tuple[int, str]:
        """Start or go on, and send a signal: after seconds, or once the first part is there or the work has begun."""
        process = self.program.start(folder)
        if after is None:
            signs = [".lock*", "config.yaml", *([f"{self.program.parts}/part-*"] if self.program.parts else [])]
            self.wait(lambda: all(any(folder.glob(sign)) for sign in signs), process)
        else:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(after)
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)
        said, _ = process.communicate(timeout=PATIENCE_SECONDS)
        return process.returncode, said

    # Each fault returns its row; the name of the method is the fault's name.

    def kill(self) -> Row:
        """kill -9 at random moments, again and again in one folder; a run that ended is begun anew."""
        folder, finished, counted = self.fresh(), 0, 0
        while counted < self.kills:
            code, _ = self.broken_off(folder, signal.SIGKILL, float(self.rng.uniform(0, self.program.seconds)))
            if code == -signal.SIGKILL:
                counted += 1
            elif code == 0:
                finished += 1
                if different := differences(folder, self.unbroken):
                    return Row(self.program.name, "", True, False, f"different: {', '.join(different)}")
                folder = self.fresh()
            else:
                return Row(self.program.name, "", False, False, f"going on ended with {code}")
        return self.goes_on(folder, f"{counted} kills, {finished + 1} runs ended")

    def terminate(self) -> Row:
        """SIGTERM in the middle, as a scheduler sends it."""
        folder = self.fresh()
        code, said = self.broken_off(folder, signal.SIGTERM)
        row = self.goes_on(folder, last_line(said))
        row.survived = bool(row.survived) and code in (143, 0)
        return row

    def full_disk(self) -> Row:
        """A disk with room for half of what is written; where none can be mounted, files may grow to half size."""
        size = size_of(self.unbroken_folder)
        with small_disk(self.fresh().parent, 2 * size) as disk:
            if disk is None:
                return self._small_files()
            self.program.prepare(disk / "run")
            subprocess.run(["mount", "-o", f"remount,size={size_of(disk) or size // 2}", disk], check=True)
            code, said = self.program.finish(disk / "run")
            told = last_line(said)
            subprocess.run(["mount", "-o", f"remount,size={4 * size + 2**22}", disk], check=True)
            row = self.goes_on(disk / "run", told)
        row.survived = bool(row.survived) and code == 2
        return row

    def _small_files(self) -> Row:
        largest = max(file.stat().st_size for file in self.unbroken_folder.rglob("*") if file.is_file())
        limit = (largest // 2, resource.RLIM_INFINITY)
        folder = self.fresh()
        process = self.program.start(folder, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
        said, _ = process.communicate(timeout=PATIENCE_SECONDS)
        row = self.goes_on(folder, last_line(said))
        row.survived = bool(row.survived) and process.returncode == 2
        return row

    def read_only(self) -> Row:
        """A folder that cannot be written, then can."""
        with small_disk(self.fresh().parent, 2**26) as disk:
            if disk is None:
                raise Absent("needs the right to mount a disk")
            self.program.prepare(disk / "run")
            subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
            code, said = self.program.finish(disk / "run")
            subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
            row = self.goes_on(disk / "run", last_line(said))
        row.survived = bool(row.survived) and code == 2
        return row

    def two_writers(self) -> Row:
        """A second start while the first is writing: refused, and the first ends as if alone."""
        folder = self.fresh()
        first = self.program.start(folder)
        self.wait(lambda: any(folder.glob(".lock*")), first)
        os.kill(first.pid, signal.SIGSTOP)  # the second must not come too late
        code, said = self.program.finish(folder)
        os.kill(first.pid, signal.SIGCONT)
        first.communicate(timeout=PATIENCE_SECONDS)
        different = differences(folder, self.unbroken)
        return Row(self.program.name, "", code == 2 and first.returncode == 0, not different, last_line(said))

    def truncated_part(self) -> Row:
        """The last part is cut in half, as a disk may do that loses its power."""
        return self._truncated(self.program.parts, "part-*.parquet")

    def truncated_vector(self) -> Row:
        """A vector's file is cut in half."""
        return self._truncated(self.program.vectors, "*.safetensors")

    def _truncated(self, inside: str | None, pattern: str) -> Row:
        if inside is None:
            raise Absent("writes none")
        folder = self.fresh()
        self.broken_off(folder, signal.SIGKILL)
        file = sorted((folder / inside).glob(pattern))[-1]
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        code, said = self.program.finish(folder)
        file.unlink()
        row = self.goes_on(folder, last_line(said))
        row.survived = bool(row.survived) and code == 2 and file.name in said
        return row

    def other_version(self) -> Row:
        """A manifest that a later version of the project has written."""
        folder = self.fresh()
        self.broken_off(folder, signal.SIGKILL)
        manifest = folder / "manifest.json"
        content = manifest.read_text(encoding="utf-8")
        manifest.write_text(json.dumps(json.loads(content) | {"format_version": 99}), encoding="utf-8")
        code, said = self.program.finish(folder)
        manifest.write_text(content, encoding="utf-8")
        row = self.goes_on(folder, last_line(said))
        row.survived = bool(row.survived) and code == 2
        return row

    def clock_back(self) -> Row:
        """The clock jumps back: all that stands in the run is of tomorrow."""
        folder = self.fresh()
        self.broken_off(folder, signal.SIGKILL)
        tomorrow = time.time() + 86400
        for path in [folder, *folder.rglob("*")]:
            os.utime(path, (tomorrow, tomorrow))
        manifest = folder / "manifest.json"
        content = json.loads(manifest.read_text(encoding="utf-8"))
        content["started"] = "2999-12-31T23:59:59Z"
        manifest.write_text(json.dumps(content), encoding="utf-8")
        return self.goes_on(folder, "")


FAULTS = list(MESSAGES)


@contextlib.contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path | None]:
    """A disk of its own with so many bytes, or None where this user may not mount one."""
    disk = folder / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode:
        yield None
        return
    try:
        yield disk
    finally:
        subprocess.run(["umount", disk], check=True)


def size_of(folder: Path) -> int:
    """Bytes that its files take on a disk with pages of 4 KiB."""
    return sum(-(-file.stat().st_size // 4096) * 4096 for file in folder.rglob("*") if file.is_file())


def last_line(said: str) -> str:
    """What a user reads last."""
    lines = [line for line in said.strip().splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""


# ---- programs --------------------------------------------------------------------------------------------------------


def programs(model: str, n_questions: int, place: Path) -> dict[str, Program]:
    """Every program that writes a run, small enough to be broken off many times."""
    respondents = place / "respondents.yaml"
    respondents.write_text(
        f"models: [{{model: {model}, family: battery}}]\nframings: [neutral, cautious]\n",
        encoding="utf-8",
    )
    swept = place / "swept"

    def judged_run(folder: Path) -> None:
        shutil.copytree(swept, folder)

    common = ["--n-questions", str(n_questions)]
    return {
        each.name: each
        for each in (
            Program(
                "steer_sweep",
                ["experiments/steer_sweep.py", "--model", model, *common, "--controls", "1"],
                parts="sweep",
                vectors="vectors",
            ),
            Program(
                "multiverse",
                (
                    f"experiments/multiverse.py --model {model} --n-questions {n_questions} --layer 20,22 "
                    "--resamples 1 --wordings neutral --replicates 19"
                ).split(),
                parts="turns/wording-0",
                vectors="vectors/wording-0",
            ),
            Program(
                "collect_panel",
                ["experiments/collect_panel.py", "--respondents", str(respondents), *common],
                parts="measurements",
            ),
            Program(
                "fit_factor",
                ["experiments/fit_factor.py", "embedded", "--replicates", "20", "--sensitivity-replicates", "0"],
            ),
            Program("judge_run", ["experiments/judge_run.py", "{run}"], resumes=False, prepare=judged_run),
            Program(
                "compare_dials",
                (
                    f"experiments/compare_dials.py --model {model} --n-questions {n_questions} --layer 20 "
                    "--dials interventions,cut --method mean_difference --operator add --together 0 "
                    "--facts 8 --passages 2"
                ).split(),
            ),
            Program(
                "dial_profile",
                (
                    f"experiments/dial_profile.py {swept} --n-questions 8 --controls 2 --replicates 99 "
                    "--yes-rates .2,.8"
                ).split(),
                parts="answers",
            ),
            Program(
                "ask_battery",
                (
                    f"experiments/ask_battery.py --model {model} --instruments pairs,pressure,correction,beliefs "
                    "--n-questions 8 --n-each 4 --samples 1 --replicates 99"
                ).split(),
            ),
            Program(
                "score_written",
                (
                    f"experiments/score_written.py --model {model} --n-questions 8 --samples 2 --instruments P(True) "
                    "--replicates 99"
                ).split(),
                parts="written",
            ),
            Program(
                "train_probes",
                (
                    f"experiments/train_probes.py --model {model} --n-questions 160 --layer 10,20 --method ridge "
                    f"--shuffles 1 --replicates 49 --facts 120 --nulls 9 --n-pushed 10 --controls 2 "
                    f"--store {place / 'store'}"
                ).split(),
            ),
        )
    }


def unbroken_run(program: Program, place: Path) -> Path:
    """The run that nothing happens to; made twice, for the program must repeat itself before anything can be said."""
    folders = [place / f"{program.name}-{which}" for which in ("once", "again")]
    for folder in folders:
        began = time.perf_counter()
        undisturbed(program, folder)
        program.seconds = time.perf_counter() - began
    if different := differences(folders[1], tables_of(folders[0])):
        raise InputError(f"{program.name} does not repeat itself: {', '.join(different)} differ between two runs")
    return folders[0]


def undisturbed(program: Program, folder: Path) -> None:
    """Make a run that nothing is done to."""
    code, said = program.finish(folder, resume=False)
    if code:
        raise InputError(f"{program.name} does not run even undisturbed: {last_line(said)}")


def main() -> int:
    parser = program_parser(__doc__)
    parser.add_argument("--programs", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--faults", nargs="+", choices=FAULTS, default=FAULTS, metavar="NAME", help="only these")
    parser.add_argument("--kills", type=positive, default=20, help="how often a program is killed (%(default)s)")
    parser.add_argument("--model", default="smollm2-135m-instruct", help="subject and respondent (%(default)s)")
    parser.add_argument("--n-questions", type=positive, default=80, help="that are asked (%(default)s)")
    parser.add_argument("--seed", type=natural, default=0, help="of the moments (%(default)s)")
    parser.add_argument("--list", action="store_true", help="show the faults and stop")
    options = parser.parse_args()
    if options.list:
        print("\n".join(f"{name:18}{getattr(Battery, name).__doc__.splitlines()[0]}" for name in FAULTS))
        return 0
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        known = programs(options.model, options.n_questions, place)
        wanted = options.programs or list(known)
        if unknown := [name for name in wanted if name not in known]:
            raise InputError(f"{unknown[0]} is no program that writes a run; there are {', '.join(known)}")
        if NEED_A_SWEEP & set(wanted):
            undisturbed(known["steer_sweep"], place / "swept")
        for name in wanted:
            program = known[name]
            folder = unbroken_run(program, place)
            print(f"{name}: {program.seconds:.0f} s undisturbed", flush=True)
            for number, fault in enumerate(options.faults):
                rng = np.random.default_rng([options.seed, number])
                battery = Battery(program, tables_of(folder), folder, place, rng, options.kills)
                rows.append(row_of(battery, fault))
                print(line_of(rows[-1]), flush=True)
    failed = [row for row in rows if not row.fine]
    print(f"{len(rows) - len(failed)} of {len(rows)} held")
    return 1 if failed else 0


def row_of(battery: Battery, fault: str) -> Row:
    """One fault done to one program; a row survives only where the user was told what happened."""
    try:
        row = getattr(battery, fault)()
    except Absent as reason:
        return Row(battery.program.name, fault, None, None, str(reason))
    row.fault = fault
    row.survived = bool(row.survived) and MESSAGES[fault] in row.told
    return row


def line_of(row: Row) -> str:
    """The row as text."""
    yes = {None: "-", True: "yes", False: "NO"}
    return f"{row.program:14}{row.fault:18}survived {yes[row.survived]:4}equal {yes[row.equal]:4}{row.told}"


if __name__ == "__main__":
    sys.exit(run_command(main))
