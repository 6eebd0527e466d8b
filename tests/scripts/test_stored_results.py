"""Every stored result has its command, and what is stored is what the run has written."""

import importlib
import sys

import pytest
from tiny_experiment import ROOT, main_of

from onedial.core.options import parse_options

REFERENCE = ROOT / "tests" / "reference"


@pytest.fixture(scope="module")
def script():
    return importlib.import_module("stored_results")


def test_every_stored_file_is_in_the_table_once(script):
    """Every file of a stored folder and every picture is in the table once and no other."""
    named = [stored for entry in script.RUNS.values() for stored in entry.get("files", {})]
    assert len(named) == len(set(named))
    folders = [folder for folder in REFERENCE.iterdir() if folder.is_dir() and folder.name not in script.KEPT]
    there = [path for folder in (*folders, ROOT / "docs" / "images") for path in folder.rglob("*") if path.is_file()]
    assert {str(path.relative_to(ROOT)) for path in there if path.name not in script.KEPT} == set(named)
    assert all((REFERENCE / name).is_dir() or (ROOT / "docs" / "images" / name).is_file() for name in script.KEPT)


def test_every_stored_run_is_quoted_on_a_page_or_read_by_another(script):
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs" / "numbers").rglob("*.yaml")]
    quoted = "\n".join([*(page.read_text(encoding="utf-8") for page in pages), *script.KEPT.values()])
    read = {name for entry in script.RUNS.values() for name in entry.get("after", [])}
    for name, entry in script.RUNS.items():
        shown = [
            stored.removeprefix("tests/reference/").removeprefix("docs/") in quoted for stored in entry.get("files", {})
        ]
        assert any(shown) or name in read, name


def test_a_run_comes_after_those_that_it_reads(script):
    names = list(script.RUNS)
    for name, entry in script.RUNS.items():
        read = {
            word.split("/")[1]
            for command in entry["commands"]
            for word in command.split()
            if word.startswith("{runs}/")
        }
        after = set(entry.get("after", []))
        assert read <= after, name
        sources = {source for made in entry.get("files", {}).values() for source in script.sources_of(made)}
        assert {source.split("/")[0] for source in sources} <= {name, *after}
        assert all(names.index(other) < names.index(name) for other in after)


def test_every_command_is_one_that_its_program_understands(script, monkeypatch, tmp_path):
    for name, entry in script.RUNS.items():
        for command in entry["commands"]:
            words = script.words_of(command, name, tmp_path)
            assert words[0] == "python"
            if words[1] == "-m":
                assert ROOT.joinpath(*words[2].split(".")).with_suffix(".py").is_file()
                continue
            if words[1].startswith("docs/"):  # a recipe, which has no options
                assert (ROOT / words[1]).is_file()
                continue
            main = main_of(ROOT / words[1])
            monkeypatch.setattr(sys, "argv", words[1:])
            if hasattr(main, "parts"):
                main, words = main.parts[words[2]], words[1:]
            if hasattr(main, "options"):
                parse_options(main.options, arguments=words[2:])
                continue
            parse_options(sys.modules[main.__module__].ScriptOptions)
