"""The rooms import downwards only and without circles, and all of them are installed."""

import ast
import functools
import importlib
import json
import re
import subprocess
import symtable
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ORDER = [
    "onedial.core",
    "onedial.stats",
    "onedial.show",
    "onedial.asking",
    "onedial.panels",
    "onedial.scale",
    "onedial.confidence",
    "onedial.selfreport",
    "onedial.models",
    "steering",
    "probes",
    "onedial.verdict",
    "onedial.report",
    "onedial.view",
    "onedial.serving",
    "onedial.studies",
    "experiments",
]
ROOMS = ORDER[:-1]
OURS = {"onedial", "probes", "steering", "experiments"}
STUDIES = [f"onedial.studies.{folder.parent.name}" for folder in (ROOT / "onedial" / "studies").glob("*/__init__.py")]
"""Each is a room of its own, so that a program waits only for the one that it needs."""
WITHOUT_TORCH = [room for room in ROOMS[: ROOMS.index("onedial.models")] if room != "onedial.show"] + [
    "onedial.verdict"
]
WITHOUT_MODELS = ["onedial.verdict", "onedial.report", "onedial.view"]
"""What judges and what shows knows tables, and no model."""


def folder_of(room: str) -> Path:
    return ROOT.joinpath(*room.split("."))


def files_of(room: str) -> list[Path]:
    return sorted(folder_of(room).rglob("*.py"))


def room_of(module: str) -> str | None:
    """The room that a module lies in: `onedial.scale.place.places` lies in `onedial.scale`."""
    return next((room for room in ORDER if module == room or module.startswith(f"{room}.")), None)


def imports_of(source: str) -> list[tuple[str, list[str]]]:
    """Module and imported names of every import, wherever it stands."""
    return [each for node in ast.walk(ast.parse(source)) for each in imported_by(node)]


def imported_by(node: ast.AST) -> list[tuple[str, list[str]]]:
    """The same of one node."""
    if isinstance(node, ast.Import):
        return [(alias.name, []) for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [(node.module, [alias.name for alias in node.names])]
    return []


@functools.cache
def modules_imported(file: Path) -> list[str]:
    """Every module of ours that a file imports; `from onedial import stats` is `onedial.stats`."""
    result = []
    for module, names in imports_of(file.read_text(encoding="utf-8")):
        result += [f"onedial.{name}" for name in names] if module == "onedial" else [module]
    return [module for module in result if module.split(".")[0] in OURS]


@pytest.mark.parametrize("room", ORDER)
def test_a_room_imports_only_those_before_it(room):
    above = set(ORDER[ORDER.index(room) + 1 :])
    for file in files_of(room):
        assert not {room_of(module) for module in modules_imported(file)} & above, f"{file} imports a room after it"


def imported_at_last(node: ast.AST) -> list[tuple[str, list[str]]]:
    """Imports that run at some time, those in functions included; not those for type checkers alone."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return []
    if isinstance(node, ast.expr):
        return []
    return imported_by(node) + [each for child in ast.iter_child_nodes(node) for each in imported_at_last(child)]


def test_no_files_or_folders_import_each_other_in_a_circle():
    """No files and no folders beside each other import each other in a circle."""
    modules = {
        ".".join(file.relative_to(ROOT).with_suffix("").parts): file for room in ROOMS for file in files_of(room)
    }
    packages = {module.removesuffix(".__init__") for module in modules if module.endswith(".__init__")}
    files: dict[str, set[str]] = {}
    folders: dict[str, set[str]] = {}
    for module, file in modules.items():
        result = imported_at_last(ast.parse(file.read_text(encoding="utf-8")))
        names = {
            name
            for imported, imported_names in result
            for name in (imported, *(f"{imported}.{each}" for each in imported_names))
        }
        files[module] = names & set(modules)
        folder = module.rpartition(".")[0]
        others = {name if name in packages else name.rpartition(".")[0] for name in names & {*modules, *packages}}
        beside = {each for each in others if each.rpartition(".")[0] == folder.rpartition(".")[0]}
        folders.setdefault(folder, set()).update(beside - {folder})
    for graph in (files, folders):
        TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


def code_for_users() -> dict[str, str]:
    """The Python that README, documentation, recipes and notebooks show to users."""
    pages = {str(page.relative_to(ROOT)): page for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))}
    shown = {
        name: "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL))
        for name, page in pages.items()
    }
    shown |= {recipe.name: recipe.read_text(encoding="utf-8") for recipe in (ROOT / "docs/recipes").glob("*.py")}
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        shown[notebook.name] = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    return {name: code for name, code in shown.items() if code}


@pytest.mark.parametrize(("name", "code"), code_for_users().items(), ids=lambda value: str(value)[:40])
def test_what_users_are_shown_imports_public_names_that_are_there(name, code):
    for module, names in imports_of(code):
        if module.split(".")[0] in OURS:
            assert not {part for part in (*module.split("."), *names) if part.startswith("_")}, f"{name}: {module}"
            held = importlib.import_module(module)
            exported = held.__all__ if module in (*ROOMS, *STUDIES, "onedial") else vars(held)
            assert not (missing := set(names) - set(exported)), (
                f"{name} imports {missing}, which {module} does not have"
            )


@pytest.mark.parametrize("room", [*ROOMS, *STUDIES])
def test_what_a_room_exports_is_there_and_said_once(room):
    module = importlib.import_module(room)
    exported = getattr(module, "__all__", [])
    assert len(set(exported)) == len(exported)
    for name in exported:
        assert type(getattr(module, name)) is not type(ast), f"{room}.{name} is the module of that name"


def test_what_judges_and_what_shows_reads_saved_tables_and_knows_no_model():
    for room in WITHOUT_MODELS:
        for file in files_of(room):
            assert not {room_of(module) for module in modules_imported(file)} & {"onedial.models", "probes"}, file
    for file in files_of("onedial.verdict"):
        assert "steering" not in {room_of(module) for module in modules_imported(file)}, file


@pytest.mark.parametrize("room", WITHOUT_TORCH)
def test_statistics_and_tables_work_without_torch(room):
    for file in files_of(room):
        imported = {module.split(".")[0] for module, _ in imports_of(file.read_text(encoding="utf-8"))}
        assert not imported & {"torch", "transformers"}, file


def test_tests_stand_where_their_code_stands():
    rooms = {folder.name for folder in (ROOT / "tests").iterdir() if folder.is_dir() and any(folder.glob("test_*.py"))}
    assert rooms <= {*(room.split(".")[-1] for room in ORDER), "scripts", "end_to_end"}


def test_everything_that_a_package_holds_is_installed():
    """Code, and what a package reads beside itself (questions, panels, templates), stands in the wheel."""
    code = (
        "import setuptools; from distutils.core import run_setup; made = run_setup('setup.py', stop_after='init'); "
        "made.parse_config_files(); built = made.get_command_obj('build_py'); "
        "built.ensure_finalized(); built.manifest_files = {}; "
        "[print(module[2]) for name in built.packages for module in "
        "built.find_package_modules(name, built.get_package_dir(name))]; "
        "[print(file) for name in built.packages for file in built.find_data_files(name, built.get_package_dir(name))]"
    )
    made = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    there = {
        str(file.relative_to(ROOT))
        for package in ("onedial", "probes", "steering", "experiments")
        for file in (ROOT / package).rglob("*")
        if file.is_file() and file.suffix != ".pyc"
    }
    assert there <= set(made.stdout.splitlines())


def test_import_onedial_gives_its_names_and_loads_nothing():
    code = "import sys, onedial; assert not {'torch', 'pandas', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
    onedial = importlib.import_module("onedial")
    assert all(getattr(onedial, name) is not None for name in onedial.__all__)


SAY_NOTHING = {"own", "found", "said", "told"}
LONGEST_TEST_NAME = 70


@functools.cache
def scopes_of(file: Path) -> list[symtable.SymbolTable]:
    """A file's scope and all within it."""
    return list(within(symtable.symtable(file.read_text(encoding="utf-8"), str(file), "exec")))


def within(scope: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield scope
    for child in scope.get_children():
        yield from within(child)


def names_bound(scope: symtable.SymbolTable) -> set[str]:
    """Variables and parameters; a field of a class is named by what it holds for others."""
    bound = {each.get_name() for each in scope.get_symbols() if each.is_assigned() and not each.is_namespace()}
    parameters = set(scope.get_parameters()) if isinstance(scope, symtable.Function) else set()
    return parameters | (set() if scope.get_type() == "class" else bound)


MOST_PARAMETERS = 8
CALLED_IN_NOTEBOOKS = {"extract_vector", "sweep"}
"""They have more: who types them names the one keyword that is wanted, and would have to make an object for it."""


def test_a_function_has_few_parameters():
    for folder in ("onedial", "steering", "probes", "experiments", "scripts"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            for scope in scopes_of(file):
                if isinstance(scope, symtable.Function) and scope.get_name() not in CALLED_IN_NOTEBOOKS:
                    taken = set(scope.get_parameters()) - {"self", "cls"}
                    assert len(taken) <= MOST_PARAMETERS, f"{scope.get_name()} in {file}"


def test_names_say_what_they_hold():
    for folder in ("onedial", "steering", "probes", "experiments", "scripts", "docs", "tests"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            assert not [names for scope in scopes_of(file) if (names := names_bound(scope) & SAY_NOTHING)], file
            long = re.findall(rf"^def (test_\w{{{LONGEST_TEST_NAME - 4},}})", file.read_text(encoding="utf-8"), re.M)
            assert not long, file
