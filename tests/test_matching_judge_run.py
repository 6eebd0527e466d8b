"""experiments/judge_run.py: the same verdict again, another panel into another folder, refusals in one sentence."""

import json
import runpy
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reporting_run import make_run

from reporting import RunDirectory

PROGRAM = Path(__file__).resolve().parent.parent / "experiments" / "judge_run.py"


@pytest.fixture
def judge_run(monkeypatch, capsys):
    """Runs the program in this process: its exit code and what it wrote to stdout and stderr."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", [str(PROGRAM), *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(PROGRAM), run_name="__main__")
        return ended.value.code, *capsys.readouterr()

    return call


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("runs") / "run", n_targets=12, n_questions=320)


def files_of(folder):
    return {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_another_panel_gets_a_folder_of_its_own_with_verdict_and_report(run, tmp_path, judge_run):
    before = files_of(run.path)
    rng = np.random.default_rng(0)
    texts = run.questions()["question"].str.upper().iloc[:300]
    coins = {f"coin {number}": rng.integers(0, 2, len(texts)) for number in range(6)}
    pd.DataFrame({"question": texts, **coins}).to_csv(tmp_path / "coins.csv", index=False)
    code, shown, _ = judge_run(run.path, "--panel", tmp_path / "coins.csv", "--out", tmp_path / "judged")
    assert code == 0
    assert "300 questions are in the panel (0 by id, 300 by text)" in shown
    assert "Not reproduced." in shown
    assert "6 of 6 targets judged" in shown
    judged = RunDirectory.open(tmp_path / "judged")
    assert judged.verdict()["sentence"] == "not reproduced"
    assert list(judged.matches().index) == list(coins)
    assert judged.read_sweep()["question_id"].nunique() == 300
    kept = run.questions().set_index("id")["split"].loc[judged.questions()["id"]]
    assert judged.questions()["split"].tolist() == kept.tolist()
    assert judged.manifest["model"] == run.manifest["model"]
    assert "Not reproduced." in (judged.path / "report.html").read_text(encoding="utf-8")
    assert files_of(run.path) == before


def test_judging_with_the_own_panel_twice_gives_the_same_files(run, judge_run):
    assert judge_run(run.path)[0] == 0
    results = [(run.path / name).read_bytes() for name in ("matches.csv", "verdict.json", "factor.json")]
    assert judge_run(run.path)[0] == 0
    assert results == [(run.path / name).read_bytes() for name in ("matches.csv", "verdict.json", "factor.json")]
    assert json.loads(results[1])["n_targets"] == 12


def test_control_directions_of_the_run_are_ranked(tmp_path, judge_run):
    run = make_run(tmp_path / "run", n_targets=8, n_questions=240)
    sweep, rng = run.read_sweep(), np.random.default_rng(1)
    ids = sweep["question_id"].unique()
    for number in range(3):
        other = sweep["question_id"].map(dict(zip(ids, rng.permutation(ids), strict=True)))
        run.write_part(sweep.assign(question_id=other, vector_id=f"L10-random-{number}", split="test"))
    assert judge_run(run.path)[0] == 0
    direction = run.verdict()["direction"]
    assert direction == {"run": False, "rank": 1, "n_controls": 3, "p": 0.25}


def test_a_control_like_the_vector_ties_with_it_over_the_same_targets_and_other_layers_are_no_controls(
    tmp_path, judge_run
):
    run = make_run(tmp_path / "run", n_targets=8, n_questions=240)
    sweep = run.read_sweep()
    run.write_part(sweep.assign(vector_id="L10-random-0"))
    run.write_part(sweep.assign(vector_id="L8-random-1", layer=8))
    assert judge_run(run.path)[0] == 0
    verdict = run.verdict()
    assert "few" in verdict["excluded"].values()
    assert verdict["direction"] == {"run": False, "rank": 2, "n_controls": 1, "p": 1.0}


def test_what_is_no_run_or_does_not_fit_is_refused_in_one_sentence(run, tmp_path, judge_run):
    (tmp_path / "other.csv").write_text("question_id,model a\nx1,yes\nx2,no\n")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "thesis.tex").write_text("years of work")
    unswept = RunDirectory.create(tmp_path / "unswept", {"seed": 0})
    unswept.write_questions(run.questions())
    unswept.write_panel(run.panel())
    for arguments, words in (
        ([tmp_path / "nowhere"], "holds no run"),
        ([tmp_path], "holds no run"),
        ([unswept.path], "holds no sweep to match with; finish the run with --resume"),
        ([run.path, "--panel", tmp_path / "other.csv", "--out", tmp_path / "new"], "answers none of the 320"),
        ([run.path, "--panel", tmp_path / "other.csv", "--out", tmp_path / "taken"], "is taken; choose a new"),
        ([run.path, "--panel", tmp_path / "missing.csv"], "missing.csv"),
        ([run.path, "--out", tmp_path / "new"], "give it with --panel"),
    ):
        code, _, complaint = judge_run(*arguments)
        assert code == 2
        assert words in complaint
    assert not (tmp_path / "new").exists()


def test_help_does_not_wait_for_heavy_imports():
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, str(PROGRAM), "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "Needs no model" in done.stdout
    assert time.perf_counter() - begin < 2


def test_no_model_library_is_needed(run):
    code = (
        "import importlib.abc, runpy, sys\n"
        "class NoModels(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name.split('.')[0] in ('torch', 'transformers', 'transformer_lens', 'safetensors'):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, NoModels())\n"
        f"sys.argv = ['judge_run.py', {str(run.path)!r}]\n"
        f"runpy.run_path({str(PROGRAM)!r}, run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "targets judged" in done.stdout
