"""Every stored result has its command, and what is stored is what the run has written."""

import importlib
import json
import sys

import pandas as pd
import pytest
from tiny_experiment import ROOT, main_of

from onedial.core.command_line import run_command
from onedial.core.options import parse_options

REFERENCE = ROOT / "tests" / "reference"


@pytest.fixture(scope="module")
def script():
    return importlib.import_module("stored_results")


@pytest.fixture
def call(script, monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["stored_results.py", *map(str, arguments)])
        try:
            code = run_command(script.main)
        except SystemExit as ended:
            code = ended.code
        return code, *capsys.readouterr()

    return run


def fake_run(script, name, runs):
    """Every source that the table names for a run, each with bytes of its own."""
    for file in script.RUNS[name].files:
        for source in file.of:
            path = runs / source
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(f"{source},\r\n\u2212".encode())


def test_every_file_of_a_stored_folder_and_every_picture_is_in_the_table_once_and_no_other(script):
    named = list(script.stored_files())
    assert len(named) == len(set(named))
    folders = [folder for folder in REFERENCE.iterdir() if folder.is_dir() and folder.name not in script.KEPT]
    there = [path for folder in (*folders, ROOT / "docs" / "images") for path in folder.rglob("*") if path.is_file()]
    assert {str(path.relative_to(ROOT)) for path in there if path.name not in script.KEPT} == set(named)
    assert all((REFERENCE / name).is_dir() or (ROOT / "docs" / "images" / name).is_file() for name in script.KEPT)


def test_every_stored_run_is_quoted_on_a_page_or_read_by_another(script):
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs" / "numbers").rglob("*.yaml")]
    quoted = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    read = {name for own in script.RUNS.values() for name in own.after}
    for name, own in script.RUNS.items():
        shown = [file.stored.removeprefix("tests/reference/").removeprefix("docs/") in quoted for file in own.files]
        assert any(shown) or name in read, name


def test_a_run_comes_after_those_that_it_reads(script):
    names = list(script.RUNS)
    for name, own in script.RUNS.items():
        read = {
            word.split("/")[1] for command in own.commands for word in command.split() if word.startswith("{runs}/")
        }
        assert read <= set(own.after), name
        assert {source.split("/")[0] for file in own.files for source in file.of} <= {name, *own.after}
        assert all(names.index(other) < names.index(name) for other in own.after)


def test_every_command_is_one_that_its_program_understands(script, monkeypatch, tmp_path):
    for name, own in script.RUNS.items():
        for command in own.commands:
            words = script.words_of(command, name, tmp_path)
            assert words[0] == "python"
            if words[1] == "-m":
                assert ROOT.joinpath(*words[2].split(".")).with_suffix(".py").is_file()
                continue
            program = ROOT / words[1]
            main = main_of(program)
            monkeypatch.setattr(sys, "argv", words[1:])
            if hasattr(main, "parts"):
                main, words = main.parts[words[2]], words[1:]
            if hasattr(main, "options"):
                parse_options(main.options, arguments=words[2:])
                continue
            module = sys.modules[main.__module__]
            parse_options(module.ScriptOptions)


def test_a_run_that_is_there_goes_on_and_another_begins(script, tmp_path):
    command = script.RUNS["dials-seeds"].commands[1]
    assert "--resume" not in script.words_of(command, "dials-seeds", tmp_path)
    (tmp_path / "dials-seeds" / "2").mkdir(parents=True)
    assert script.words_of(command, "dials-seeds", tmp_path)[-1] == "--resume"
    described = script.RUNS["data"].commands[0]
    (tmp_path / "data").mkdir()
    assert "--resume" not in script.words_of(described, "data", tmp_path)


def test_files_are_copied_byte_for_byte(script, call, tmp_path):
    fake_run(script, "default", tmp_path / "runs")
    code, out, _ = call("default", "--runs", tmp_path / "runs", "--copy-only", "--into", tmp_path / "into")
    assert code == 0
    assert "tests/reference/default/verdict.json" in out.splitlines()
    for file in script.RUNS["default"].files:
        assert (tmp_path / "into" / file.stored).read_bytes() == (tmp_path / "runs" / file.of[0]).read_bytes()


def test_a_missing_file_is_told_and_nothing_is_copied(script, call, tmp_path):
    fake_run(script, "multiverse", tmp_path / "runs")
    (tmp_path / "runs" / "multiverse" / "summary.json").unlink()
    code, _, err = call("multiverse", "--runs", tmp_path / "runs", "--copy-only", "--into", tmp_path / "into")
    assert code == 2
    assert err.startswith("error: multiverse/summary.json is not in ")
    assert not (tmp_path / "into").exists()


def test_a_run_that_was_broken_off_is_not_copied(script, call, tmp_path):
    fake_run(script, "multiverse", tmp_path / "runs")
    stages = [{"stage": "layer", "completed": True}, {"stage": "verdicts", "completed": False}]
    (tmp_path / "runs" / "multiverse" / "manifest.json").write_text(json.dumps({"stages": stages}))
    code, _, err = call("multiverse", "--runs", tmp_path / "runs", "--copy-only", "--into", tmp_path / "into")
    assert code == 2
    assert "was broken off at 'verdicts'; finish it with --resume" in err


def test_tables_of_dials_have_the_stored_columns_and_blanks_where_a_rate_is_not_reached(script, call, tmp_path):
    stored = pd.read_csv(REFERENCE / "dials" / "default.csv")
    names = pd.read_csv(REFERENCE / "dials" / "seeds.csv")["dial"]
    dials = stored[[name for name in stored if "_at_" not in name]].set_index("dial").loc[names].reset_index()
    rows = [
        {"dial": name, "rate": rate, "reached": rate < 0.9, "kl": 0.123456789 + number, "negative_flips": rate}
        for number, name in enumerate(names)
        for rate in (0.1, 0.2, 0.5, 0.9)
    ]
    for run in ("dials", "dials-seeds/1", "dials-seeds/2", "dials-seeds/3"):
        folder = tmp_path / "runs" / run
        folder.mkdir(parents=True)
        dials.assign(seconds_per_answer=1.0).to_csv(folder / "dials.csv", index=False)
        pd.DataFrame(rows).to_csv(folder / "rates.csv", index=False)
    (tmp_path / "runs/dials/comparison.json").write_text("{}")
    code, _, err = call("dials", "dials-seeds", "--runs", tmp_path / "runs", "--copy-only", "--into", tmp_path / "into")
    assert code == 0, err
    folder = tmp_path / "into" / "tests" / "reference" / "dials"
    table = pd.read_csv(folder / "default.csv").set_index("dial")
    assert list(table.reset_index()) == list(stored)
    assert table.loc["lda, add", "kl_at_0.5"] == 1.12346
    assert table["kl_at_0.9"].isna().all()
    draws, before = (pd.read_csv(path / "seeds.csv").set_index("dial") for path in (folder, REFERENCE / "dials"))
    assert list(draws) == list(before)
    assert list(draws.index) == list(before.index)
    assert draws["signal_3"].tolist() == before["signal_0"].tolist()


def test_a_command_writes_its_run_and_its_files_reach_their_places(script, call, tmp_path):
    code, out, err = call("data", "--runs", tmp_path / "runs", "--into", tmp_path / "into")
    assert code == 0, err
    assert "data: python scripts/describe_panel.py onedial/panels/data --out" in out
    for file in script.RUNS["data"].files:
        assert (tmp_path / "into" / file.stored).read_bytes() == (tmp_path / "runs" / file.of[0]).read_bytes()


def test_the_list_holds_every_command_as_it_is_typed(script, call):
    code, out, _ = call("--list")
    assert code == 0
    assert all(command in out for own in script.RUNS.values() for command in own.commands)
    assert call("--list", "frontier-all")[1].startswith("frontier-all: ")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["golden", "--runs", "r"], "there is no stored run 'golden': it is not made again; --list says why"),
        (["defualt", "--runs", "r"], "there is no stored run 'defualt': choose from data, default, "),
        (["default"], "name the runs, or give --all, and a folder for them"),
        (["--runs", "r"], "name the runs, or give --all, and a folder for them"),
        (["profile", "--runs", "r"], "profile reads the run default, which is not in "),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_sentence(call, arguments, sentence, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    code, _, err = call(*arguments)
    assert code == 2
    assert err.startswith(f"error: {sentence}")
    assert len(err.splitlines()) == 1
