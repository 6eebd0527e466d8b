"""Which tests answer for what was changed: `make check` runs them within about a minute, `make test` runs all.

    python scripts/tests_for.py                 # changed since the branch left main, committed or not
    python scripts/tests_for.py steering/operators.py docs/method.md

A source file asks for the tests of its room and for those that import what it defines; a program, a page and a helper
for the tests that name it. Whole programs (`tests/end_to_end`) are left to `make test`.
"""

import ast
import functools
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from onedial.core import Options, option, parse_options, run_command

ROOT = Path(__file__).resolve().parent.parent
ALWAYS = "tests/test_structure.py"
WHOLE_PROGRAMS = ("tests/end_to_end/", "tests/test_recipes.py")


def changed_files() -> list[str]:
    """Files that differ from where the branch left main, and untracked ones; those that are gone are left out."""
    base = "HEAD"
    for main in ("origin/main", "main"):
        if found := _git("merge-base", "HEAD", main, check=False):
            base = found[0]
            break
    named = [*_git("diff", "--name-only", base), *_git("ls-files", "--others", "--exclude-standard")]
    return [name for name in named if (ROOT / name).is_file()]


def tests_for(changed: Iterable[str]) -> list[str]:
    """Test files, relative to the project; none where nothing was changed."""
    tests = {str(file.relative_to(ROOT)): file.read_text(encoding="utf-8") for file in ROOT.glob("tests/**/test_*.py")}
    near = {name: text for name, text in tests.items() if not name.startswith(WHOLE_PROGRAMS)}
    chosen: set[str] = set()
    for name in changed:
        chosen.add(ALWAYS)
        path = Path(name)
        if name in tests:
            chosen.add(name)
        elif path.suffix == ".py" and path.parts[0] in ("onedial", "probes", "steering"):
            room = path.parts[1] if path.parts[0] == "onedial" else path.parts[0]
            chosen |= {test for test in near if test.startswith(f"tests/{room}/")}
            chosen |= {test for test, text in near.items() if _imports(text, path)}
            if room == "studies":
                chosen |= set(tests_for(_programs_of(path.parts[2])))
        else:
            called = re.escape(path.stem if path.suffix == ".py" else path.name)
            chosen |= {test for test, text in near.items() if re.search(rf"\b(test_)?{called}\b", f"{test}\n{text}")}
            chosen |= {"tests/test_documentation.py"} if path.suffix == ".md" else set()
    return sorted(chosen)


def _programs_of(stages: str) -> list[str]:
    """Programs whose stages stand in this folder or file of `onedial/studies`."""
    used = re.compile(rf"\bonedial\.studies(\.| import .*\b){stages.removesuffix('.py')}\b")
    programs = (ROOT / "experiments").glob("*.py")
    return [str(each.relative_to(ROOT)) for each in programs if used.search(each.read_text(encoding="utf-8"))]


def _imports(test: str, source: Path) -> bool:
    """Whether a test imports what stands in a source file, from it or from the rooms above it."""
    module = ".".join(source.with_suffix("").parts).removesuffix(".__init__")
    body = ast.parse((ROOT / source).read_text(encoding="utf-8")).body
    defined = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    defined |= {target.id for node in body for target in _targets(node) if isinstance(target, ast.Name)}
    return any(
        used == module or (module.startswith(f"{used}.") and bool(defined & names)) for used, names in _imported(test)
    )


@functools.cache
def _imported(test: str) -> list[tuple[str, set[str]]]:
    """Modules that a test imports, with the names it takes from each."""
    found = []
    for node in ast.walk(ast.parse(test)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.append((node.module, {alias.name for alias in node.names}))
        elif isinstance(node, ast.Import):
            found += [(alias.name, set()) for alias in node.names]
    return found


def _targets(node: ast.stmt) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []


def _git(*words: str, check: bool = True) -> list[str]:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=check)
    return done.stdout.splitlines()


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    files: tuple[str, ...] = option((), "changed files (those that git finds)", positional=True)


def main() -> None:
    print("\n".join(tests_for(parse_options(ScriptOptions, __doc__).files or changed_files())))


if __name__ == "__main__":
    sys.exit(run_command(main))
