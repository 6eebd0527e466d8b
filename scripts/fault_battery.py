"""Do to every program that writes a run what can happen to it, go on, and compare with a run that nothing happened to.

    python scripts/fault_battery.py                                          # everything: about half an hour on a CPU
    python scripts/fault_battery.py --programs steer_sweep --faults kill,two_writers --kills 3
    python scripts/fault_battery.py --tiny --kills 3 --table FILE     # a model of random weights; FILE is gone on with
    python scripts/fault_battery.py --tiny --programs ask_questionnaire --faults kill,power_loss --kills 15
    python scripts/fault_battery.py --list

One row for each program and fault: how often it struck, how often the run was there to go on with, how often every
table ended equal to the unbroken run's, whether the user was told, and rates with 95% Wilson intervals at the end. The
first row of a program is its undisturbed run; where that fails, nothing is done to it. Moments are drawn from --seed;
tables are compared as the values that they hold, so that a table in parts is one table however often it was broken off.
Exit code 1 if a row fails; in --table it stands until its line is deleted. What servers do to a collection is in
server_battery.py, what may be left of a folder when the power goes in recorded_disk.py.
"""

import contextlib
import json
import os
import pickle
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from fault_programs import NEED_A_SWEEP, PATIENCE_SECONDS, ROOT, Going, Program, embedded, programs, tiny
from simulating import GrowingTable

from onedial.core import InputError, Options, option, parse_options, run_command
from onedial.stats import wilson_interval

NOT_COMPARED = ("manifest.json", "config.yaml", "log.txt", "sha256.txt", "report.html", "figures", ".lock*")
"""Where and when a run was made, and what is drawn from the tables."""
MEASURED = "seconds_per_answer"
"""A column that is another each time: how long the machine took."""
MESSAGES = {
    "kill": "",
    "terminate": "terminated; what was finished is saved in",
    "full_disk": "choose another folder with --out",
    "read_only": "Read-only file system",
    "two_writers": "another process is writing",
    "truncated_part": "delete it and pass --resume",
    "truncated_vector": "delete it and pass --resume",
    "other_version": "is written in format",
    "clock_back": "",
    "clock_jumps": "",
    "power_loss": "",
    "copied": "",
    "moved": "",
}
"""What a user must be told of a fault; nothing where the program cannot tell, or need not."""


UNDISTURBED = "undisturbed"


class Absent(Exception):
    """This fault cannot happen to this program, or not on this machine."""


@dataclass
class Row:
    """What became of one program under one fault.

    Attributes:
        n: how often it struck; 0 where it cannot. survived: how often the run could be gone on with, and the program
            ended as it should. equal: how often it did, with the tables of the unbroken run.
        told: 1 where the user was told what had happened, or need not be. said: the last line.
    """

    program: str
    fault: str
    n: int = 0
    survived: int = 0
    equal: int = 0
    told: int = 1
    said: str = ""

    @property
    def fine(self) -> bool:
        """A fault that cannot happen is fine."""
        return self.n == self.equal and self.told == 1


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
            found[str(name)] = _vector(file) if file.suffix == ".safetensors" else _untimed(file)
    for name, content in found.items():
        if isinstance(content, list):
            whole = pd.concat(content, ignore_index=True)
            found[name] = whole.sort_values(list(whole.columns[:3]), kind="stable", ignore_index=True)
    return found


def _untimed(file: Path) -> object:
    """Its bytes; of a table with times, the other columns."""
    content = file.read_bytes()
    if file.suffix == ".csv" and MEASURED.encode() in content.partition(b"\n")[0].strip().split(b","):
        return pd.read_csv(file).drop(columns=MEASURED)
    return content


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

    def wait(self, holds: Callable[[], bool], going: Going) -> None:
        """Until it holds, or the process has ended."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not holds() and going.process.poll() is None and time.monotonic() < end:
            time.sleep(0.005)

    def goes_on(self, folder: Path, said: str, as_it_should: bool = True) -> Row:
        """Run to the end, and compare.

        Args:
            said: when it struck. as_it_should: whether the program ended then as it should.
        """
        code, at_last = self.program.finish(folder)
        if code:
            said = f"{said}; going on ended with {code}: {last_line(at_last)}"
        return self.ended(folder, said, as_it_should and code == 0)

    def ended(self, folder: Path, said: str, survived: bool) -> Row:
        """The row of a fault that struck once, its folder compared with the unbroken run."""
        different = differences(folder, self.unbroken) if survived else []
        if different:
            said = f"{said}; different: {', '.join(different)}"
        return Row(self.program.name, "", 1, int(survived), int(survived and not different), said=said)

    def together(self, rows: list[Row], said: str) -> Row:
        """One row for all; what the worst of them said."""
        counts = {name: sum(getattr(row, name) for row in rows) for name in ("n", "survived", "equal")}
        failed = [row.said for row in rows if not row.fine]
        return Row(self.program.name, "", **counts, said="; ".join([said, *failed[:1]]))

    def broken_off(self, folder: Path, number: int, after: float | None = None) -> tuple[int, str]:
        """Start or go on, and send a signal: after seconds, or once the first part is there or the work has begun."""
        going = self.program.start(folder)
        if after is None:
            self.wait(lambda: self.has_begun(folder), going)
        else:
            with contextlib.suppress(subprocess.TimeoutExpired):
                going.process.wait(after)
        going.process.send_signal(number)
        return going.end()

    def has_begun(self, folder: Path) -> bool:
        """Whether the first part is there, or the run is where there are no parts."""
        signs = [".lock*", "config.yaml", *([f"{self.program.parts}/part-*"] if self.program.parts else [])]
        return all(any(folder.glob(sign)) for sign in signs)

    # Each fault returns its row; the name of the method is the fault's name.

    def kill(self) -> Row:
        """kill -9 at random moments, again and again in one folder; a run that ended is begun anew."""
        folder, rows, broken, finished = self.fresh(), [], False, 0
        while len(rows) < self.kills:
            code, said = self.broken_off(folder, signal.SIGKILL, float(self.rng.uniform(0, self.program.seconds)))
            if code == -signal.SIGKILL:
                rows.append(Row(self.program.name, "", 1, 1, 1))
                broken = True
                continue
            row = self.ended(folder, "" if code == 0 else f"{code}: {last_line(said)}", code == 0)
            if broken:
                rows[-1] = row
            elif not row.fine:
                rows.append(row)
            folder, broken, finished = self.fresh(), False, finished + 1
        if broken:
            rows[-1] = self.goes_on(folder, "")
        return self.together(rows, f"{finished + broken} runs ended")

    def terminate(self) -> Row:
        """SIGTERM in the middle, as a scheduler sends it."""
        folder = self.fresh()
        code, said = self.broken_off(folder, signal.SIGTERM)
        return self.goes_on(folder, last_line(said), code in (143, 0))

    def full_disk(self) -> Row:
        """A disk with room for half of what is written; where none can be mounted, files may grow to half size."""
        size = size_of(self.unbroken_folder)
        with small_disk(self.fresh().parent, 2 * size) as disk:
            if disk is None:
                return self._small_files()
            self.program.prepare(disk / "run")
            subprocess.run(["mount", "-o", f"remount,size={size_of(disk) or size // 2}", disk], check=True)
            code, said = self.program.finish(disk / "run")
            subprocess.run(["mount", "-o", f"remount,size={4 * size + 2**22}", disk], check=True)
            return self.goes_on(disk / "run", last_line(said), code == 2)

    def _small_files(self) -> Row:
        largest = max(file.stat().st_size for file in self.unbroken_folder.rglob("*") if file.is_file())
        limit = (largest // 2, resource.RLIM_INFINITY)
        folder = self.fresh()
        going = self.program.start(folder)
        resource.prlimit(going.process.pid, resource.RLIMIT_FSIZE, limit)
        code, said = going.end()
        return self.goes_on(folder, last_line(said), code == 2)

    def read_only(self) -> Row:
        """A folder that cannot be written, then can."""
        with small_disk(self.fresh().parent, 2**26) as disk:
            if disk is None:
                raise Absent("needs the right to mount a disk")
            self.program.prepare(disk / "run")
            subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
            code, said = self.program.finish(disk / "run")
            subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
            return self.goes_on(disk / "run", last_line(said), code == 2)

    def two_writers(self) -> Row:
        """A second start while the first is writing: refused, and the first ends as if alone."""
        folder = self.fresh()
        first = self.program.start(folder)
        self.wait(lambda: any(folder.glob(".lock*")), first)
        first.process.send_signal(signal.SIGSTOP)  # the second must not come too late
        code, said = self.program.finish(folder)
        first.process.send_signal(signal.SIGCONT)
        code_of_first, _ = first.end()
        return self.ended(folder, last_line(said), code == 2 and code_of_first == 0)

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
        return self.goes_on(folder, last_line(said), code == 2 and file.name in said)

    def other_version(self) -> Row:
        """A manifest that a later version of the project has written."""
        folder = self.fresh()
        self.broken_off(folder, signal.SIGKILL)
        manifest = folder / "manifest.json"
        content = manifest.read_text(encoding="utf-8")
        manifest.write_text(json.dumps(json.loads(content) | {"format_version": 99}), encoding="utf-8")
        code, said = self.program.finish(folder)
        manifest.write_text(content, encoding="utf-8")
        return self.goes_on(folder, last_line(said), code == 2)

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

    def clock_jumps(self) -> Row:
        """The clock jumps by up to years, back and forth, before a kill and after it."""
        folder = self.fresh()
        through = ("scripts/jumping_clock.py", int(self.rng.integers(2**31)))
        going = self.program.start(folder, through=through)
        self.wait(lambda: self.has_begun(folder), going)
        going.process.kill()
        going.end()
        code, said = self.program.finish(folder, through=through)
        return self.ended(folder, "" if code == 0 else last_line(said), code == 0)

    def power_loss(self) -> Row:
        """The power goes: of what was not synced, some is lost, torn or there, in any order."""
        assert self.program.recording is not None
        rng, rows = random.Random(int(self.rng.integers(2**31))), []
        for _ in range(self.kills):
            place = self.fresh().parent / "disk"
            moment = rng.choice(self.program.recording.moments)
            rows.append(self.goes_on(place / "run", self.program.recording.after_power_loss(moment, rng, place)))
        return self.together(rows, ", ".join(row.said for row in rows if row.fine))

    def copied(self) -> Row:
        """A copy is taken while the program writes, and goes on elsewhere when that one is gone."""
        folder = self.fresh()
        going = self.program.start(folder)
        self.wait(lambda: self.has_begun(folder), going)
        copy = self.fresh()
        copy_as_it_goes(folder, copy)
        going.process.kill()
        going.end()
        shutil.rmtree(folder)
        return self.goes_on(copy, "")

    def moved(self) -> Row:
        """The folder is moved while the program writes, which is killed then; it goes on at the new place."""
        folder, elsewhere = self.fresh(), self.fresh()
        going = self.program.start(folder)
        self.wait(lambda: self.has_begun(folder), going)
        folder.rename(elsewhere)
        time.sleep(0.05)
        going.process.kill()
        going.end()
        shutil.rmtree(folder, ignore_errors=True)  # what was written by the old name after the move
        return self.goes_on(elsewhere, "")


FAULTS = list(MESSAGES)


def copy_as_it_goes(folder: Path, into: Path) -> None:
    """Copy file by file what is there at that moment, as rsync or a file browser does."""
    for file in sorted(folder.rglob("*")):
        with contextlib.suppress(FileNotFoundError):  # renamed or removed meanwhile
            if file.is_file():
                (into / file.relative_to(folder)).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, into / file.relative_to(folder))


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


def unbroken_run(program: Program, place: Path, recorded: bool) -> Path:
    """The run that nothing happens to.

    Args:
        recorded: make it once more, record what it does to the disk, and see that it repeats itself.
    """
    folder, again, events = place / f"{program.name}-once", place / f"{program.name}-again", place / "events"
    began = time.perf_counter()
    undisturbed(program, folder)
    program.seconds = time.perf_counter() - began
    if recorded:
        again.mkdir()
        program.prepare(again / "run")
        undisturbed(program, again / "run", through=("scripts/recorded_disk.py", events, again))
        program.recording = pickle.loads(events.read_bytes())
        if different := differences(again / "run", tables_of(folder)):
            raise InputError(f"{program.name} does not repeat itself: {', '.join(different)} differ between two runs")
    return folder


def undisturbed(program: Program, folder: Path, through: tuple[object, ...] = ()) -> None:
    """Make a run that nothing is done to."""
    code, said = program.finish(folder, resume=False, through=through)
    if code:
        raise InputError(last_line(said) or f"exit code {code}")


def rows_of(
    program: Program, faults: list[str], place: Path, seed: int, kills: int, needed: Program | None
) -> Iterator[Row]:
    """What becomes of the undisturbed run, and of each fault that is done to it.

    Args:
        needed: whose run `swept` this program reads.
    """
    try:
        if needed and not (place / "swept").exists():
            undisturbed(needed, place / "swept")
        folder = unbroken_run(program, place, recorded="power_loss" in faults)
    except (InputError, subprocess.TimeoutExpired) as failed:
        yield Row(program.name, UNDISTURBED, 1, said=str(failed))
        return
    yield Row(program.name, UNDISTURBED, 1, 1, 1, said=f"{program.seconds:.1f} s")
    for fault in faults:
        rng = np.random.default_rng([seed, FAULTS.index(fault)])
        yield row_of(Battery(program, tables_of(folder), folder, place, rng, kills), fault)


def row_of(battery: Battery, fault: str) -> Row:
    """One fault done to one program."""
    try:
        row = getattr(battery, fault)()
    except Absent as reason:
        return Row(battery.program.name, fault, said=str(reason))
    except subprocess.TimeoutExpired as late:
        return Row(battery.program.name, fault, 1, said=str(late))
    row.fault, row.told = fault, int(MESSAGES[fault] in row.said)
    return row


def line_of(row: Row) -> str:
    """The row as text."""
    counts = f"{row.survived} of {row.n} survived, {row.equal} equal" if row.n else "cannot happen"
    return f"{row.program:22}{row.fault:18}{counts:32}{'' if row.told else 'NOT TOLD '}{row.said}"


def rates_of(rows: pd.DataFrame) -> pd.DataFrame:
    """What all programs say together.

    Args:
        rows: one for each program and fault (`Row`).

    Returns:
        fault, programs that it can happen to, n, and how often a run could not be gone on with (lost) or ended with
        other tables (unequal), as their share with a 95% Wilson interval, and in how many programs nobody was told.
    """
    by_fault = rows[rows["n"] > 0].groupby("fault", sort=False)
    table = by_fault[["n", "survived", "equal"]].sum()
    table["programs"] = by_fault["program"].nunique()
    table["untold"] = by_fault["told"].agg(lambda told: int((told == 0).sum()))
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
    faults: tuple[str, ...] = option(tuple(FAULTS), "only these", choices=FAULTS, metavar="NAME")
    kills: int = option(20, "how often a program is killed, and loses its power", at_least=1)
    model: str = option("smollm2-135m-instruct", "subject and respondent")
    tiny: bool = option(False, "a model of random weights in its place, and few questions")
    n_questions: int = option(80, "that are asked", at_least=1)
    seed: int = option(0, "of the moments", at_least=0)
    table: Path | None = option(None, "keep the rows here, and go on with those in it", metavar="CSV")
    list: bool = option(False, "show the faults and stop")


def main() -> int:
    options = parse_options(ScriptOptions, __doc__)
    if options.list:
        print("\n".join(f"{name:18}{getattr(Battery, name).__doc__.splitlines()[0]}" for name in FAULTS))
        return 0
    model = "tiny" if options.tiny else options.model
    settings = {"model": model, "n_questions": options.n_questions, "kills": options.kills}
    table = GrowingTable(options.table and options.table.absolute(), ("program", "fault", "seed"), settings)
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        Going(["experiments/doctor.py", "--help"]).end()  # which imports what all of them need, and takes its time
        known = programs(tiny(place) if options.tiny else embedded(options.model), options.n_questions, place)
        wanted = options.programs or list(known)
        if unknown := [name for name in wanted if name not in known]:
            raise InputError(f"{unknown[0]} is no program that writes a run; there are {', '.join(known)}")
        for name in wanted:
            faults = [fault for fault in options.faults if (name, fault, options.seed) not in table]
            needed = known["steer_sweep"] if name in NEED_A_SWEEP else None
            for row in rows_of(known[name], faults, place, options.seed, options.kills, needed) if faults else ():
                if (name, row.fault, options.seed) not in table:
                    table.add([asdict(row) | {"seed": options.seed}])
                print(line_of(row), flush=True)
    print(rates_of(table.frame).to_string(index=False))
    return 0 if all((table.frame["n"] == table.frame["equal"]) & (table.frame["told"] == 1)) else 1


if __name__ == "__main__":
    sys.exit(run_command(main))
