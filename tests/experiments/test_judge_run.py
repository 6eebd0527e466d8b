"""experiments/judge_run.py: the same verdict again, another panel into another folder, refusals in one sentence."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from programs import MODEL_LIBRARIES, run_without
from reporting_run import VECTOR_ID, intervention, make_run
from tiny_experiment import files_of

from onedial.asking.sweep_tables import TEXT_COLUMNS
from onedial.core.run.run import Run
from onedial.report.report import contents_of
from onedial.verdict.sweep_run import SweepRun

PROGRAM = Path(__file__).resolve().parents[2] / "experiments" / "judge_run.py"


@pytest.fixture
def judge_run(call):
    """Runs the program in this process: its exit code and what it wrote to stdout and stderr."""
    return partial(call, PROGRAM)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("runs") / "run", n_targets=8, n_questions=240)


def test_another_panel_gets_a_folder_of_its_own(run, tmp_path, judge_run):
    """Another panel on some of the questions gets a folder and a verdict of its own."""
    before = files_of(run.path)
    rng = np.random.default_rng(0)
    texts = run.questions()["question"].str.upper()
    coins = {f"coin {number}": rng.integers(0, 2, len(texts)) for number in range(6)}
    pd.DataFrame({"question": texts, **coins}).to_csv(tmp_path / "coins.csv", index=False)
    run.questions()[["id", "question"]].iloc[:220].to_csv(tmp_path / "named.csv", index=False)
    given = ("--panel", tmp_path / "coins.csv", "--questions", tmp_path / "named.csv", "--out", tmp_path / "judged")
    code, shown, _ = judge_run(run.path, *given)
    assert code == 0
    assert "Not reproduced." in shown
    judged = SweepRun.open(tmp_path / "judged")
    assert judged.verdict().reproduced == "not reproduced"
    assert list(judged.matches().index) == list(coins)
    assert judged.sweep()["question_id"].nunique() == 220
    kept = run.questions().set_index("id")["split"].loc[judged.questions()["id"]]
    assert judged.questions()["split"].tolist() == kept.tolist()
    assert judged.run.manifest.facts["model"] == run.run.manifest.facts["model"]
    assert "Not reproduced" in (judged.path / "report.html").read_text(encoding="utf-8")
    assert files_of(run.path) == before


def test_another_panel_keeps_what_the_subject_was_asked(unreported, tmp_path, judge_run):
    """What is of a question goes with it, what is of neutral text stays, and written answers are judged again."""
    run = make_run(tmp_path / "run", n_targets=8, n_questions=240)
    kept, sweep = set(run.questions()["id"][:200]), run.sweep()
    one = sweep[sweep["magnitude"] == 0]
    run.parts["instructed"].append(one[["question_id", "margin", "mass"]].assign(level=75))
    written = sweep[sweep["magnitude"].isin([-1.2, 0, 1.2])]
    run.parts["reasoned"].append(
        written.assign(said_yes=(written["margin"] > 0).astype(float), text="Yes", tokens_out=1)
    )
    run.write_table("texts", pd.DataFrame([dict.fromkeys(TEXT_COLUMNS, 0.0) | {"intervention_id": VECTOR_ID}]))
    panel = run.panel().pivot(index="question_id", columns="respondent", values="said_yes")
    panel.loc[sorted(kept)].to_csv(tmp_path / "some.csv")
    assert judge_run(run.path, "--panel", tmp_path / "some.csv", "--out", tmp_path / "judged")[0] == 0
    judged = SweepRun.open(tmp_path / "judged")
    for name in ("instructed", "reasoned"):
        assert set(judged.parts[name].read()["question_id"]) == set(run.parts[name].read()["question_id"]) & kept
    assert judged.table("texts").equals(run.table("texts"))
    assert contents_of(judged).numbers("reasoned")["read"] == 1


@pytest.mark.slow
def test_judging_again_gives_the_same_files(unreported, run, judge_run):
    """Judging with the own panel gives the same files again without any model library."""
    assert judge_run(run.path)[0] == 0
    results = [(run.path / name).read_bytes() for name in ("matches.csv", "verdict.json", "factor.json")]
    assert "targets judged" in run_without(MODEL_LIBRARIES, PROGRAM, run.path)
    assert results == [(run.path / name).read_bytes() for name in ("matches.csv", "verdict.json", "factor.json")]
    assert json.loads(results[1])["n_targets"] == 8


def test_control_directions_of_the_run_are_ranked(unreported, tmp_path, judge_run):
    run = make_run(tmp_path / "run", n_targets=8, n_questions=240)
    sweep, rng = run.sweep(), np.random.default_rng(1)
    ids = sweep["question_id"].unique()
    names = [f"control {number}" for number in range(3)]
    run.write_interventions([intervention(VECTOR_ID, sweep), *(intervention(each, sweep, "random") for each in names)])
    for name in names:
        other = sweep["question_id"].map(dict(zip(ids, rng.permutation(ids), strict=True)))
        run.parts["sweep"].append(sweep.assign(question_id=other, intervention_id=name))
    assert judge_run(run.path)[0] == 0
    direction = run.verdict().direction
    assert (direction.by, direction.n_controls) == ("push", 3)  # the simulated dial is a threshold shift
    assert (direction.ranks["signal"], direction.ranks["order_gain"]) == (1, 1)
    assert direction.p == direction.rank / 4
    assert list(contents_of(run)["controls"].index) == names


def test_what_is_no_run_or_does_not_fit_is_refused_in_one_sentence(run, tmp_path, judge_run):
    (tmp_path / "other.csv").write_text("question_id,model a\nx1,yes\nx2,no\n")
    (tmp_path / "strange.csv").write_text("id,question\nx1,Who?\n")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "thesis.tex").write_text("years of work")
    unswept = SweepRun(Run.create(tmp_path / "unswept", "steer_sweep", {"seed": 0}))
    unswept.keep_inputs(run.questions(), run.panel(), "Can you?")
    unswept.write_interventions([intervention(VECTOR_ID, run.sweep())])
    unswept.run.release()
    for arguments, words in (
        ([tmp_path / "nowhere"], "holds no run"),
        ([tmp_path], "holds no run"),
        ([unswept.path], "holds no sweep to match with; finish the run with --resume"),
        ([run.path, "--panel", tmp_path / "other.csv", "--out", tmp_path / "new"], "answers none of the 240"),
        ([run.path, "--panel", tmp_path / "other.csv", "--out", tmp_path / "taken"], "is not empty and holds no run"),
        ([run.path, "--panel", tmp_path / "missing.csv"], "missing.csv"),
        (
            [run.path, "--panel", tmp_path / "other.csv", "--questions", tmp_path / "strange.csv"],
            "none of the 1 questions was asked",
        ),
        ([run.path, "--out", tmp_path / "new"], "--panel"),
    ):
        code, _, complaint = judge_run(*arguments)
        assert code == 2
        assert words in complaint
    assert not (tmp_path / "new").exists()
