"""The folders import downwards only, and come from this repository."""

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ORDER = [
    "common",
    "psychometrics",
    "elicitation",
    "open_models",
    "probes",
    "steering",
    "matching",
    "reporting",
    "experiments",
]
WITHOUT_TORCH = ["common", "psychometrics", "elicitation", "matching"]


def imported_packages(file: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("package", ORDER)
def test_a_package_imports_only_those_before_it(package):
    above = set(ORDER[ORDER.index(package) + 1 :])
    for file in (ROOT / package).rglob("*.py"):
        assert not imported_packages(file) & above, f"{file} imports a package that depends on it"


def test_matching_reads_saved_tables_and_knows_no_model():
    for file in (ROOT / "matching").rglob("*.py"):
        assert not imported_packages(file) & {"open_models", "probes", "steering"}, file


@pytest.mark.parametrize("package", WITHOUT_TORCH)
def test_statistics_and_tables_work_without_torch(package):
    for file in (ROOT / package).rglob("*.py"):
        assert not imported_packages(file) & {"torch", "transformers"}, file


@pytest.mark.parametrize("package", ORDER[:-1])
def test_each_package_comes_from_this_repository(package):
    assert Path(importlib.import_module(package).__file__).is_relative_to(ROOT)
