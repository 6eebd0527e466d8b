"""Whether the tests notice when a decision is turned: comparisons, signs, masks, quantiles, seeds, ties, branches.

    python scripts/mutants.py onedial/core/run --n 20       # = make mutants ROOM=onedial/core/run
    python scripts/mutants.py steering --n 40 --seed 3
    python scripts/mutants.py onedial/stats --list          # what would be turned
    python scripts/mutants.py onedial probes steering --n 6 --quick      # by the quick tests alone

Each mutant is one changed decision of one file in a copy of the project, met by the tests that answer for that file
(`scripts/tests_for.py`), those that import it first. What no test notices is a survivor. Survivors that were looked at
stand in tests/survivors.yaml with the reason why they may live; any other one, and a listed one that is noticed by now,
makes the program end with 1, so that the list only shrinks. A draw holds the same mutants until the code of one of them
changes. `--quick` passes over those on the list.
"""

import ast
import hashlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from tests_for import ROOT, tests_for

from onedial.core import InputError, Options, option, parse_options, run_command

LISTED = "tests/survivors.yaml"
COMPARISONS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
SIGNS = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}
PAIRS = (
    ("min", "max"),
    ("any", "all"),
    ("idxmin", "idxmax"),
    ("argmin", "argmax"),
    ("floor", "ceil"),
    ("head", "tail"),
)
OPPOSITES = {each: other for pair in PAIRS for each, other in (pair, pair[::-1])}
SEEDS = ("seed", "rng", "random_state")
NOTHING_RAN = 5
"""pytest's exit code where `--quick` leaves no test."""
SECONDS_PER_MUTANT = 300
"""Of the tests' own CPU time, so that a busy machine turns nothing into a mutant that was noticed."""


@dataclass(frozen=True)
class Mutant:
    """One changed decision: the text between two offsets of a file becomes another."""

    file: str
    where: str
    start: int
    end: int
    before: str
    after: str
    nth: int = 1
    """Among equal changes within one function."""

    @property
    def key(self) -> str:
        """That stays the same when lines above it change."""
        again = f" ({self.nth})" if self.nth > 1 else ""
        return f"{self.file}::{self.where}: {self.before} -> {self.after}{again}"


def mutants_of(file: str, source: str) -> list[Mutant]:
    """Every decision of a source file, turned; none within annotations, docstrings or messages."""
    offsets = [0]
    for line in source.encode().splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line))
    text = source.encode()

    def place(node: Any) -> tuple[int, int]:
        return offsets[node.lineno - 1] + node.col_offset, offsets[node.end_lineno - 1] + node.end_col_offset

    found: list[Mutant] = []
    seen: Counter[tuple[str, str, str]] = Counter()
    for where, node in _within_functions(ast.parse(source)):
        for start, end, after in _turned(node, place, text):
            before = text[start:end].decode()
            seen[where, before, after] += 1
            found.append(Mutant(file, where, start, end, before, after, seen[where, before, after]))
    return found


def drawn_of(every: Sequence[Mutant], n: int, seed: int) -> list[Mutant]:
    """n of them at random, each by its own lot: what changes elsewhere leaves the others in the draw."""

    def lot(mutant: Mutant) -> bytes:
        return hashlib.sha256(f"{seed} {mutant.key}".encode()).digest()

    return sorted(every, key=lot)[:n]


def _within_functions(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Every node inside a function with the function's name, but no annotation and no raised message."""

    def walk(node: ast.AST, name: str) -> Iterator[tuple[str, ast.AST]]:
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list", "exc"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.FunctionDef | ast.ClassDef):
                    yield from walk(child, f"{name}.{child.name}".lstrip("."))
                elif isinstance(child, ast.AST):
                    if name:
                        yield name, child
                    yield from walk(child, name)

    yield from walk(tree, "")


def _turned(node: ast.AST, place: Callable[[Any], tuple[int, int]], text: bytes) -> Iterator[tuple[int, int, str]]:
    """Start, end and new text of each way in which one node can decide otherwise."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        for operator, left, right in zip(node.ops, sides, sides[1:], strict=False):
            yield _between(place(left)[1], place(right)[0], text, COMPARISONS[type(operator)])
    elif isinstance(node, ast.BoolOp):
        for left, right in zip(node.values, node.values[1:], strict=False):
            yield _between(place(left)[1], place(right)[0], text, "or" if isinstance(node.op, ast.And) else "and")
    elif isinstance(node, ast.BinOp) and type(node.op) in SIGNS and not any(map(_is_text, (node.left, node.right))):
        yield _between(place(node.left)[1], place(node.right)[0], text, SIGNS[type(node.op)])
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert | ast.USub):
        yield place(node)[0], place(node.operand)[0], ""
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        start, end = place(node.test)
        yield start, end, f"not ({text[start:end].decode()})"
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield *place(node), str(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield *place(node), repr(node.value + 1 if isinstance(node.value, int) else 1 - node.value)
    elif isinstance(node, ast.keyword) and node.arg in SEEDS and not isinstance(node.value, ast.Constant):
        yield *place(node.value), "0"
    elif isinstance(node, ast.Attribute) and node.attr in OPPOSITES:
        end = place(node)[1]
        yield end - len(node.attr), end, OPPOSITES[node.attr]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in OPPOSITES:
        yield *place(node.func), OPPOSITES[node.func.id]


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _between(start: int, end: int, text: bytes, operator: str) -> tuple[int, int, str]:
    """An operator's place between two operands, brackets and blanks of either side left as they are."""
    gap = text[start:end].decode()
    core = gap.strip("() \n\\")
    at = start + len(gap[: gap.index(core)].encode())
    return at, at + len(core.encode()), operator


def copy_project(folder: Path) -> None:
    """Every file that git knows of, as it lies here."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def is_noticed(mutant: Mutant, folder: Path, tests: Sequence[str], *options: str) -> bool | None:
    """Whether a test of a copied project fails on this mutant; None where time was up before one did. The file is as
    before afterwards.

    Args:
        options: more for pytest.
    """
    file = folder / mutant.file
    before = file.read_bytes()
    paths = {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *options, *tests]
    try:
        file.write_bytes(before[: mutant.start] + mutant.after.encode() + before[mutant.end :])
        done = subprocess.run(
            command, cwd=folder, env=os.environ | paths, capture_output=True, preexec_fn=_limit_time,
            timeout=10 * SECONDS_PER_MUTANT,
        )  # fmt: skip
    except subprocess.TimeoutExpired:  # it waits for something
        return None
    finally:
        file.write_bytes(before)
    return None if done.returncode == -signal.SIGXCPU else done.returncode not in (0, NOTHING_RAN)


def _limit_time() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_PER_MUTANT, SECONDS_PER_MUTANT + 10))


def tests_of(file: str) -> list[str]:
    """Tests that answer for a file, those that name its module or what stands beside it first."""
    stem = Path(file).stem

    def far(test: str) -> tuple[bool, bool, int]:
        text = (ROOT / test).read_text(encoding="utf-8")
        return stem not in Path(test).stem, stem not in text, len(text)

    return sorted((each for each in tests_for([file]) if each != "tests/test_structure.py"), key=far)


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    rooms: tuple[str, ...] = option(..., "folders or files whose decisions are turned", positional=True)
    n: int = option(20, "mutants, drawn at random")
    seed: int = option(0, "of the draw")
    list: bool = option(False, "print the draw and test nothing")
    quick: bool = option(False, "without slow tests, and without those on the list")


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_options(ScriptOptions, __doc__, arguments)
    files = []
    for room in options.rooms:
        found = [ROOT / room] if (ROOT / room).is_file() else sorted((ROOT / room).rglob("*.py"))
        if not found:
            raise InputError(f"{room} holds no Python file; give a folder or file of this project")
        files += found
    reasons = yaml.safe_load((ROOT / LISTED).read_text(encoding="utf-8")) or {}
    every = [
        each for file in files for each in mutants_of(str(file.relative_to(ROOT)), file.read_text(encoding="utf-8"))
    ]
    if options.quick:
        every = [each for each in every if each.key not in reasons]
    drawn = drawn_of(every, options.n, options.seed)
    if options.list:
        print("\n".join(each.key for each in drawn))
        return 0
    survivors, stale, undecided = [], [], 0
    quick = ["-m", "not slow and not launched"] if options.quick else ["-m", "not launched"]
    with tempfile.TemporaryDirectory() as folder:
        copy_project(Path(folder))
        for at, mutant in enumerate(drawn, 1):
            began, tests = time.monotonic(), tests_of(mutant.file)
            noticed = is_noticed(mutant, Path(folder), tests, *quick) if tests else False
            said = {True: "noticed ", False: "SURVIVED", None: "time up "}[noticed]
            print(f"{at}/{len(drawn)} {said} {time.monotonic() - began:4.0f} s  {mutant.key}", flush=True)
            undecided += noticed is None
            if noticed and mutant.key in reasons:
                stale.append(mutant.key)
            elif noticed is False and mutant.key not in reasons:
                survivors.append(mutant.key)
    print(
        f"{len(drawn)} of {len(every)} decisions turned; {len(survivors)} survived that {LISTED} gives no reason for, "
        f"{undecided} undecided since time was up"
    )
    if stale:
        print(f"noticed by now, take them from {LISTED}:", *stale, sep="\n  ")
    return int(bool(survivors or stale))


if __name__ == "__main__":
    sys.exit(run_command(main))
