"""Which decisions of a file no test of its room notices when they are turned.

    python scripts/mutants.py onedial/stats/shares.py            # = make mutants FILE=onedial/stats/shares.py
    python scripts/mutants.py steering/operators.py --n 40 --seed 3

Comparisons, and/or, signs and conditions, some drawn at random, each in a copy of the project and by the quick tests of
tests/ROOM. Exit code 1 where one survives. (mutmut first runs every test of the project, which takes too long here.)
"""

import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from onedial.core import InputError, Options, option, parse_options, run_command

ROOT = Path(__file__).resolve().parent.parent
TURNED: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
}  # fmt: skip


def turned(source: str, number: int | None = None) -> tuple[int, str, str]:
    """How many decisions a source file has; where the one of this number stands, and the source with it turned."""
    tree, seen, where = ast.parse(source), 0, ""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            node.ops = [(op, TURNED[type(op)]()) for op in node.ops]  # type: ignore[misc]
        elif isinstance(node, ast.BoolOp | ast.BinOp) and type(node.op) in TURNED:
            node.op = (node.op, TURNED[type(node.op)]())  # type: ignore[assignment]
        elif isinstance(node, ast.If | ast.IfExp):
            node.test = (node.test, ast.UnaryOp(ast.Not(), node.test))  # type: ignore[assignment]
        else:
            continue
        name = "ops" if isinstance(node, ast.Compare) else "test" if isinstance(node, ast.If | ast.IfExp) else "op"
        value = getattr(node, name)
        chosen = []
        for before, after in value if name == "ops" else [value]:
            chosen.append(after if seen == number else before)
            where = f"line {node.lineno}, {type(node).__name__}" if seen == number else where
            seen += 1
        setattr(node, name, chosen if name == "ops" else chosen[0])
    return seen, where, ast.unparse(ast.fix_missing_locations(tree))


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    file: Path = option(..., "whose decisions are turned", positional=True)
    n: int = option(20, "how many", at_least=1)
    seed: int = option(0, "of the draw", at_least=0)


def main() -> int:
    options = parse_options(ScriptOptions, __doc__)
    name = options.file.resolve().relative_to(ROOT) if options.file.resolve().is_relative_to(ROOT) else options.file
    room = name.parts[1] if name.parts[0] == "onedial" else name.parts[0]
    if not (ROOT / name).is_file() or not (ROOT / "tests" / room).is_dir():
        raise InputError(f"{options.file} is no file of a room with tests; give one such as onedial/stats/shares.py")
    source = (ROOT / name).read_text(encoding="utf-8")
    n_all, survived = turned(source)[0], 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv*", "runs", "wandb"))
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
        command += ["-m", "not slow and not launched and not long", f"tests/{room}"]
        for number in sorted(random.Random(options.seed).sample(range(n_all), min(options.n, n_all))):
            _, where, text = turned(source, number)
            (copy / name).write_text(text, encoding="utf-8")
            environment = os.environ | {"PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1"}
            noticed = subprocess.run(command, cwd=copy, env=environment, capture_output=True, check=False).returncode
            survived += not noticed
            print(f"{'noticed ' if noticed else 'SURVIVED'} {name}, {where}", flush=True)
    print(f"{min(options.n, n_all)} of {n_all} decisions turned, {survived} survived")
    return int(survived > 0)


if __name__ == "__main__":
    sys.exit(run_command(main))
