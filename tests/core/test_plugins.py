"""Plugins and the one command: what is added from outside is known, what cannot be imported is said in a sentence."""

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from programs import helps_without_libraries

from onedial.command import COMMANDS, main, overview
from onedial.core.errors import InputError
from onedial.core.options import KeysOf, Options, configuration_of, option, parse_options
from onedial.core.plugins import load_installed_plugins, load_plugin
from steering.contrasts import CONTRASTS
from steering.directions import DIRECTIONS
from steering.interventions import UNITS
from steering.operators import OPERATORS

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
RECIPES = {"own": 1}
"""Stands for a dictionary of the project that a plugin adds to."""


@dataclass(frozen=True, kw_only=True)
class Recipes(Options):
    """What can be cooked."""

    recipe: str | None = option(None, "of one's own", choices=KeysOf(f"{__name__}:RECIPES"))


def parsed(*given):
    return parse_options(Recipes, "Try.", list(map(str, given)))


@pytest.fixture
def plugin(tmp_path):
    file = tmp_path / "mine.py"
    yield file
    sys.modules.pop("onedial_plugin_mine", None)
    RECIPES.pop("added", None)


@pytest.mark.parametrize("form", [["--plugin", "{}"], ["--plugin={}"]])
def test_what_a_plugin_adds_can_be_chosen_by_another_option(plugin, form, monkeypatch):
    monkeypatch.setattr(sys, "recipes_of_the_test", RECIPES, raising=False)
    plugin.write_text("import sys\nsys.recipes_of_the_test['added'] = 2\n")
    options = parsed(*(word.format(plugin) for word in form), "--recipe", "added")
    assert options.recipe == "added"
    assert options.plugin == (plugin,)


def test_the_sweeps_choices_are_those_of_the_dictionaries():
    """The choices of the sweep are read without the libraries and are those of the dictionaries."""
    help_text = "".join(helps_without_libraries(EXPERIMENTS / "steer_sweep.py")["steer_sweep.py"].split())
    for words in (CONTRASTS, DIRECTIONS, OPERATORS, UNITS):
        assert ",".join(words) in help_text


def test_without_plugins_the_configuration_is_as_it_was():
    assert "plugin" not in configuration_of(parsed("--recipe", "own"))


def test_what_no_plugin_adds_is_refused():
    with pytest.raises(InputError, match="added"):
        parsed("--recipe", "added")


def test_a_plugin_that_fails_is_said_with_its_line(plugin):
    plugin.write_text("x = 1\nimport no_such_module_anywhere\n")
    with pytest.raises(InputError, match=r"line 2.*no_such_module_anywhere"):
        load_plugin(str(plugin))
    assert "onedial_plugin_mine" not in sys.modules


@pytest.mark.parametrize("name", ["absent.py", "folder", "notes.txt"])
def test_a_plugin_that_is_no_python_file_is_refused(tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "notes.txt").write_text("x = 1")
    with pytest.raises(InputError, match="no such Python file"):
        load_plugin(str(tmp_path / name))


def test_an_installed_plugin_is_imported_and_one_that_fails_is_named(tmp_path, monkeypatch):
    (tmp_path / "given_by_a_package.py").write_text("import sys\nsys.onedial_was_here = True\n")
    record = tmp_path / "given_by_a_package-1.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: given_by_a_package\nVersion: 1\n")
    (record / "entry_points.txt").write_text("[onedial.plugins]\nmine = given_by_a_package\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "onedial_was_here", False, raising=False)
    load_installed_plugins.cache_clear()  # as in a process that has imported none yet
    load_installed_plugins()
    assert sys.onedial_was_here
    (record / "entry_points.txt").write_text("[onedial.plugins]\nbroken = no_such_module_anywhere\n")
    load_installed_plugins.cache_clear()
    with pytest.raises(InputError, match="installed plugin broken"):
        load_installed_plugins()


def test_every_program_has_its_command_and_every_command_its_program():
    programs = {file.stem for file in EXPERIMENTS.glob("*.py") if file.stem != "__init__"}
    assert {name.split()[0] for name, _ in COMMANDS.values()} == programs
    assert all(words in overview() for words in COMMANDS)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["swep"], "did you mean 'sweep'"),
        (["panel"], "collect, import, export"),
        (["panel", "colect"], "collect, import, export"),
        (["nothing", "at", "all"], "onedial --help"),
    ],
)
def test_words_that_name_no_program_are_refused_in_a_sentence(words, message, capsys):
    assert main(words) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert shown.count("\n") == 1


def test_a_command_is_the_program_with_its_own_options_and_exit_code(tmp_path, capsys):
    assert main(["judge", str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err
    assert main(["panel", "export", "--help"]) == 0
    assert "onedial panel export" in capsys.readouterr().out
