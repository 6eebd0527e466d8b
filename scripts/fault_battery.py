"""Do to every program that writes a run what can happen to it, go on, and compare with a run that nothing happened to.

    python scripts/fault_battery.py                                          # everything: about half an hour on a CPU
    python scripts/fault_battery.py --programs steer_sweep --faults kill two_writers --kills 3
    python scripts/fault_battery.py --tiny --n 18 --kills 1       # a draw by --seed, with a model of random weights
    python scripts/fault_battery.py --list

One row for each program and fault: whether the run was there to go on with, whether every table ended equal to the
unbroken run's, and what the user was told. Moments are drawn from --seed; tables are compared as the values that they
hold, so that a table in parts is one table however often it was broken off. Exit code 1 if a row fails. What servers do
to a collection is in server_battery.py, what may be left of a folder when the power goes in recorded_disk.py.
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
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from fault_programs import NEED_A_SWEEP, PATIENCE_SECONDS, ROOT, Going, Program, embedded, programs, tiny

from onedial.core import InputError, natural, positive, program_parser, run_command

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


class Absent(Exception):
    """This fault cannot happen to this program, or not on this machine."""


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
        going = self.program.start(folder)
        resource.prlimit(going.process.pid, resource.RLIMIT_FSIZE, limit)
        code, said = going.end()
        row = self.goes_on(folder, last_line(said))
        row.survived = bool(row.survived) and code == 2
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
        first.process.send_signal(signal.SIGSTOP)  # the second must not come too late
        code, said = self.program.finish(folder)
        first.process.send_signal(signal.SIGCONT)
        code_of_first, _ = first.end()
        different = differences(folder, self.unbroken)
        return Row(self.program.name, "", code == 2 and code_of_first == 0, not different, last_line(said))

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

    def clock_jumps(self) -> Row:
        """The clock jumps by up to years, back and forth, before a kill and after it."""
        folder = self.fresh()
        through = ("scripts/jumping_clock.py", int(self.rng.integers(2**31)))
        going = self.program.start(folder, through=through)
        self.wait(lambda: self.has_begun(folder), going)
        going.process.kill()
        going.end()
        code, said = self.program.finish(folder, through=through)
        different = differences(folder, self.unbroken)
        told = f"different: {', '.join(different)}" if different else "" if code == 0 else last_line(said)
        return Row(self.program.name, "", code == 0, not different, told)

    def power_loss(self) -> Row:
        """The power goes: of what was not synced, some is lost, torn or there, in any order."""
        assert self.program.recording is not None
        rng, kinds = random.Random(int(self.rng.integers(2**31))), []
        for _ in range(self.kills):
            place = self.fresh().parent / "disk"
            moment = rng.choice(self.program.recording.moments)
            kinds.append(self.program.recording.after_power_loss(moment, rng, place))
            row = self.goes_on(place / "run", ", ".join(kinds))
            if not row.fine:
                return row
        return row

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
OF_ONE = 6
"""So many faults are drawn for one program, whose undisturbed run takes longer than they do."""


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
        raise InputError(f"{program.name} does not run even undisturbed: {last_line(said)}")


def drawn(programs: list[str], faults: list[str], n: int | None, seed: int) -> dict[str, list[str]]:
    """Which faults are done to which program: all; or n of them, `OF_ONE` to one program before the next is drawn."""
    if n is None:
        return {name: faults for name in programs}
    rng = random.Random(seed)
    turns = {name: rng.sample(faults, min(OF_ONE, len(faults))) for name in rng.sample(programs, len(programs))}
    pairs = [(name, fault) for name, own in turns.items() for fault in own][:n]
    return {name: own for name in turns if (own := [fault for each, fault in pairs if each == name])}


def main() -> int:
    parser = program_parser(__doc__)
    parser.add_argument("--programs", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--faults", nargs="+", choices=FAULTS, default=FAULTS, metavar="NAME", help="only these")
    parser.add_argument("--n", type=positive, help="draw so many of all, six of one program (default: do all)")
    parser.add_argument(
        "--kills", type=positive, default=20, help="how often a program is killed, or loses its power (%(default)s)"
    )
    parser.add_argument("--model", default="smollm2-135m-instruct", help="subject and respondent (%(default)s)")
    parser.add_argument("--tiny", action="store_true", help="a model of random weights in its place, and few questions")
    parser.add_argument("--n-questions", type=positive, default=80, help="that are asked (%(default)s)")
    parser.add_argument("--seed", type=natural, default=0, help="of the draw and the moments (%(default)s)")
    parser.add_argument("--list", action="store_true", help="show the faults and stop")
    options = parser.parse_args()
    if options.list:
        print("\n".join(f"{name:18}{getattr(Battery, name).__doc__.splitlines()[0]}" for name in FAULTS))
        return 0
    os.chdir(ROOT)
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        known = programs(tiny(place) if options.tiny else embedded(options.model), options.n_questions, place)
        wanted = options.programs or list(known)
        if unknown := [name for name in wanted if name not in known]:
            raise InputError(f"{unknown[0]} is no program that writes a run; there are {', '.join(known)}")
        chosen = drawn(wanted, options.faults, options.n, options.seed)
        if NEED_A_SWEEP & chosen.keys():
            undisturbed(known["steer_sweep"], place / "swept")
        for name, faults in chosen.items():
            program = known[name]
            folder = unbroken_run(program, place, recorded="power_loss" in faults)
            print(f"{name}: {program.seconds:.1f} s undisturbed", flush=True)
            for fault in faults:
                rng = np.random.default_rng([options.seed, FAULTS.index(fault)])
                battery = Battery(program, tables_of(folder), folder, place, rng, options.kills)
                rows.append(row_of(battery, fault))
                print(line_of(rows[-1]), flush=True)
    failed = [row for row in rows if not row.fine]
    could = [row for row in rows if row.survived is not None]
    print(f"{len(could) - len(failed)} of {len(could)} faults held; {len(rows) - len(could)} cannot happen there")
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
    return f"{row.program:22}{row.fault:18}survived {yes[row.survived]:4}equal {yes[row.equal]:4}{row.told}"


if __name__ == "__main__":
    sys.exit(run_command(main))
