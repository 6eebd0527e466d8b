"""The folders import downwards only, by public names, and come from this repository."""

import ast
import importlib
import json
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ORDER = [
    "common",
    "run_store",
    "psychometrics",
    "elicitation",
    "open_models",
    "probes",
    "steering",
    "matching",
    "reporting",
    "studies",
    "experiments",
]
PACKAGES = ORDER[:-1]
LONGEST_PROGRAM = 370
"""Lines; most of the longest ones are options."""
STUDIES = [f"studies.{file.stem}" for file in (ROOT / "studies").iterdir() if (file / "__init__.py").exists()]
"""Each is a room of its own, so that a program waits only for the one that it needs."""
WITHOUT_TORCH = ["common", "run_store", "psychometrics", "elicitation", "matching"]


def imports_of(source: str) -> list[tuple[str, list[str]]]:
    """Module and imported names of every import, wherever it stands."""
    found: list[tuple[str, list[str]]] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [(alias.name, []) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append((node.module, [alias.name for alias in node.names]))
    return found


def imported_packages(file: Path) -> set[str]:
    return {module.split(".")[0] for module, _ in imports_of(file.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("package", ORDER)
def test_a_package_imports_only_those_before_it(package):
    above = set(ORDER[ORDER.index(package) + 1 :])
    for file in (ROOT / package).rglob("*.py"):
        assert not imported_packages(file) & above, f"{file} imports a package that depends on it"


@pytest.mark.parametrize("package", ORDER)
def test_another_package_is_used_by_its_public_names_alone(package):
    for file in (ROOT / package).rglob("*.py"):
        for module, _ in imports_of(file.read_text(encoding="utf-8")):
            first, *deeper = module.split(".")
            public = not deeper or module in STUDIES
            assert first not in PACKAGES or first == package or public, f"{file} reaches into {module}"


def code_for_users() -> dict[str, str]:
    """The Python that README, documentation and notebooks show to users; architecture.md speaks to developers."""
    texts = (page for page in (ROOT / "docs").glob("*.md") if page.name != "architecture.md")
    pages = {str(page.relative_to(ROOT)): page for page in (ROOT / "README.md", *texts)}
    shown = {
        name: "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL))
        for name, page in pages.items()
    }
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        shown[notebook.name] = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    return {name: code for name, code in shown.items() if code}


@pytest.mark.parametrize(("name", "code"), code_for_users().items(), ids=lambda value: str(value)[:40])
def test_what_users_are_shown_imports_public_names_that_are_there(name, code):
    for module, names in imports_of(code):
        first, *deeper = module.split(".")
        if first in PACKAGES:
            assert not deeper, f"{name} reaches into {module}"
            package = importlib.import_module(first)
            assert set(names) <= set(package.__all__), f"{name} imports what {first} does not export"


@pytest.mark.parametrize("package", [*PACKAGES, *STUDIES])
def test_what_a_package_exports_is_there_and_said_once(package):
    module = importlib.import_module(package)
    assert len(set(module.__all__)) == len(module.__all__)
    for name in module.__all__:
        assert hasattr(module, name), f"{package} does not hold {name}"


def test_matching_reads_saved_tables_and_knows_no_model():
    for file in (ROOT / "matching").rglob("*.py"):
        assert not imported_packages(file) & {"open_models", "probes", "steering"}, file


@pytest.mark.parametrize("package", WITHOUT_TORCH)
def test_statistics_and_tables_work_without_torch(package):
    for file in (ROOT / package).rglob("*.py"):
        assert not imported_packages(file) & {"torch", "transformers"}, file


@pytest.mark.parametrize("package", PACKAGES)
def test_each_package_comes_from_this_repository(package):
    assert Path(importlib.import_module(package).__file__).is_relative_to(ROOT)


def test_tests_stand_where_their_code_stands():
    rooms = {folder.name for folder in (ROOT / "tests").iterdir() if folder.is_dir() and any(folder.glob("test_*.py"))}
    assert rooms <= {*ORDER, "scripts", "end_to_end"}


def test_every_package_is_installed():
    """A checkout finds its packages by their place; what is installed holds those that pyproject.toml names."""
    named = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    there = {file.parent.relative_to(ROOT) for package in PACKAGES for file in (ROOT / package).rglob("__init__.py")}
    assert sorted(named) == sorted(".".join(folder.parts) for folder in there)


def test_a_program_is_a_table_of_contents():
    """What takes longer to tell stands in `studies`."""
    for program in (ROOT / "experiments").glob("*.py"):
        assert len(program.read_text(encoding="utf-8").splitlines()) <= LONGEST_PROGRAM, program
