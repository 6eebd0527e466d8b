"""The recipes of docs/recipes, followed in an empty folder: each is one file, and its commands are run.

The embedded model is replaced by a random one with few layers, of which the commands steer another than they name, and
the panel of frontier models by some of them; what they say is otherwise kept, but that one judgement is made with all
plugins that are to show in it.
"""

import ast
import html
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from forks import run_program
from tiny_models import save_outspoken

from onedial.core.run.run import Run
from onedial.panels.panel_files import load_panel
from onedial.report.report import contents_of
from onedial.verdict.sweep_run import SweepRun

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGE = (DOCS / "architecture.md").read_text(encoding="utf-8")
RECIPES = [DOCS / result for result in re.findall(r"\((recipes/\w+\.py)\)", PAGE)]
SWEEP, JUDGE, STUDY = "steer_sweep.py", "judge_run.py", "study_panel.py"


def commands():
    """Every command of the recipes, in the order of the page; those that judge the same run as one, last."""
    lines, judged = [], {}
    for recipe in RECIPES:
        docstring = ast.get_docstring(ast.parse(recipe.read_text(encoding="utf-8")), clean=False)
        indented = "\n".join(line[4:] for line in docstring.splitlines() if line.startswith("    "))
        for line in indented.replace("\\\n", " ").splitlines():
            program, *words = shlex.split(line)[1:]
            if program.endswith(JUDGE):
                judged.setdefault((program, words[0]), []).append(words[words.index("--plugin") + 1])
            else:
                lines.append(line)
    return [*lines, *(f"python {name} {run} --plugin {','.join(files)}" for (name, run), files in judged.items())]


def run(line, folder):
    """One command of the page, in the folder; a sweep is given the small model, a study the small panel."""
    if not line.startswith("python "):
        subprocess.run(["bash", "-c", line], cwd=folder, check=True)
        return ""
    program, *words = shlex.split(line)[1:]
    small = ["--model", "small", "--layer", "2", "--facts", "0", "--reversed", "0"] if program.endswith(SWEEP) else []
    if program.endswith(STUDY):
        words[words.index("frontier")] = "few.csv"
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    done = run_program(ROOT / program, *words, *small, env=kept | {"PYTHONPATH": str(ROOT)}, cwd=folder)
    assert done.returncode == 0, f"{line}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    """The folder in which all recipes were followed, and what the programs said."""
    folder = tmp_path_factory.mktemp("elsewhere")
    save_outspoken(folder / "small", "llama", seed=0, max_position_embeddings=4096)
    load_panel("frontier").answers.iloc[::2, ::3].to_csv(folder / "few.csv", index_label="question_id")
    for recipe in RECIPES:
        shutil.copy(recipe, folder)
    return folder, "".join(run(line, folder) for line in commands())


def test_every_recipe_is_named_on_a_page():
    """Those of the page on architecture are followed here; the others have tests of their own."""
    pages = "".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
    named = {DOCS / recipe for recipe in re.findall(r"\((recipes/\w+\.py)\)", pages)}
    assert set(RECIPES) < named == set(DOCS.glob("recipes/*.py"))


def test_all_recipes_can_be_followed(followed):
    folder, output = followed
    judged = SweepRun.open(folder / "runs" / "recipe")
    assert judged.is_finished
    assert judged.config["method"] == "median_difference"
    assert SweepRun.open(folder / "runs" / "stretched").interventions()["operator"].tolist() == ["stretch"]
    assert "would bet" in output
    assert "longest word" in contents_of(judged)["baselines"].index
    assert 'id="unread_of_targets-title"' in (judged.path / "report.html").read_text()
    assert (judged.path / "unread_of_targets.csv").is_file()


def test_the_check_of_the_recipe_stands_wherever_a_check_of_the_scale_does(followed):
    folder, output = followed
    result = Run.open(folder / "runs" / "checked")
    moved = pd.read_csv(result.path / "early_and_late.csv", index_col=0)
    largest = (moved["late"] - moved["early"]).abs()
    assert json.loads((result.path / "summary.json").read_text())["early_and_late"] == pytest.approx(largest.max())
    for shown in (output, html.unescape((result.path / "report.html").read_text())):
        assert "Does the order of the questions matter?" in shown
        assert f"{largest.max():.0%} ({largest.idxmax()})" in " ".join(shown.split())


def test_the_instrument_of_the_recipe_moves_when_the_dial_is_turned(followed):
    cells = Run.open(followed[0] / "runs" / "bets").read_table("cells.csv")
    of_report = cells[(cells["report"] == "would bet") & (cells["role"] == "vector")].sort_values("magnitude")
    assert of_report["high"].iloc[0] < 0 < of_report["low"].iloc[-1]


def test_who_goes_by_length_says_the_same_twice(followed):
    scores = Run.open(followed[0] / "runs" / "twice").read_table("twice.csv")
    assert scores["same"].tolist() == [1.0]


def test_what_the_respondent_of_the_recipe_says_is_a_panel(followed):
    said_yes = pd.read_csv(followed[0] / "runs" / "by-length" / "panel.csv")["said_yes"]
    assert len(said_yes) == 60
    assert said_yes.notna().all()
    assert 0 < said_yes.mean() < 1


def test_a_package_that_names_a_plugin_as_its_entry_point_needs_no_option(followed, tmp_path):
    record = tmp_path / "mine-1.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1\n")
    group, line = re.search(r'entry-points\."(.*)"\]\n(.*)', PAGE).groups()
    (record / "entry_points.txt").write_text(f"[{group}]\n{line.split('=')[0]} = my_respondent\n")
    asked = "from onedial.core.options import Options, parse_options; parse_options(Options, arguments=[]);"
    asked += "from onedial.asking import RESPONDENTS; print('by length' in RESPONDENTS)"
    paths = os.pathsep.join(map(str, (ROOT, tmp_path, followed[0])))
    done = subprocess.run(
        [sys.executable, "-c", asked],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "True"
