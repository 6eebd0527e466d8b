"""experiments/ask.py profile: from a finished sweep to a page; resumed to the same bits; refusals in one sentence."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from shared_runs import quick_run
from tiny_experiment import files_of, run_here

from onedial.selfreport.ask.self_reports import SELF_REPORTS

PROGRAM = Path(__file__).resolve().parents[2] / "experiments" / "ask.py"
pytestmark = pytest.mark.slow  # two profiles of a tiny model
QUICK = ("--n-questions", "6", "--controls", "2", "--replicates", "99", "--yes-rates", ".01,.8")


@pytest.fixture(scope="module")
def swept():
    return quick_run().run


@pytest.fixture(scope="module")
def profiled(swept, tmp_path_factory):
    folder = tmp_path_factory.mktemp("profile") / "run"
    assert run_here(PROGRAM, "profile", swept.path, *QUICK, "--out", folder, drawn=True) == 0
    return folder


def test_a_dry_run_counts_the_rows_of_the_profile(profiled, swept, call, tmp_path, monkeypatch):
    """Of the run's own questions; no model is loaded for it."""
    monkeypatch.setattr("onedial.studies.profile.load_model", None)
    ended = call(PROGRAM, "profile", swept.path, *QUICK, "--dry-run", "--out", tmp_path / "run")
    assert ended.code == 0, ended.err
    assert not (tmp_path / "run").exists()
    counts = dict(re.findall(r"(\S+(?: \S+)*) +(\d+) +\d+ +\d+ +NaN +NaN$", ended.out, re.MULTILINE))
    answers = pd.concat(pd.read_parquet(file) for file in (profiled / "answers").glob("*.parquet"))
    for name in ("can you answer", "P(IK)", "self-efficacy", "unrelated facts"):
        assert int(counts[name]) == (answers["report"] == name).sum()


def test_every_instrument_is_asked_at_every_setting(profiled):
    """Every instrument is asked at every setting beside random directions."""
    answers = pd.concat(pd.read_parquet(file) for file in sorted((profiled / "answers").glob("*.parquet")))
    assert set(answers["report"]) == set(SELF_REPORTS)
    of_vector = answers[answers["role"] == "vector"]
    assert of_vector["magnitude"].nunique() == 3
    assert set(answers.loc[answers["role"] == "random", "intervention_id"].unique()) != {"vector"}
    assert answers.loc[answers["role"] == "random", "intervention_id"].nunique() == 2
    per_form = of_vector.groupby(["report", "form"])["question_id"].nunique()
    assert per_form["self-efficacy"].tolist() == [10, 10]
    assert per_form[("can you answer", "plain")] == 6


def test_passing_is_right_where_the_own_answer_is_wrong(profiled):
    answers = pd.concat(pd.read_parquet(file) for file in sorted((profiled / "answers").glob("*.parquet")))
    truth = answers.drop_duplicates(["report", "question_id"]).pivot(
        index="question_id", columns="report", values="truth"
    )
    known = truth[["would rather pass", "P(IK)"]].dropna()
    assert len(known)
    assert (known.sum(axis=1) == 1).all()


def test_the_page_says_what_the_tables_hold(profiled):
    reports = pd.read_csv(profiled / "reports.csv").set_index("report")
    page = (profiled / "report.html").read_text(encoding="utf-8")
    for name, row in reports.iterrows():
        assert str(name) in page
        assert row["verdict"] in page
    assert "only 19 or more can show" in page
    accuracy = pd.read_csv(profiled / "accuracy.csv")
    assert accuracy["magnitude"].tolist() == sorted(accuracy["magnitude"])
    assert len(accuracy) == 3
    assert (profiled / "figures" / "dial_profile.png").exists()


@pytest.mark.launched
def test_a_run_that_was_broken_off_ends_with_the_same_tables(swept, profiled, tmp_path, call):
    shutil.copytree(profiled, tmp_path / "run")
    whole = files_of(profiled)
    for part in sorted((tmp_path / "run" / "answers").glob("*.parquet"))[3:]:
        part.unlink()
    (tmp_path / "run" / "reports.csv").unlink()
    again = call(PROGRAM, "profile", swept.path, *QUICK, "--out", tmp_path / "run", "--resume")
    assert again.code == 0, again.err
    for name in ("cells.csv", "reports.csv", "truths.csv", "accuracy.csv"):
        assert (tmp_path / "run" / name).read_bytes() == whole[Path(name)], name


def test_the_batterys_instruments_are_asked_as_others(swept, tmp_path, call):
    """The batterys instruments are asked of the steered subject like the others."""
    names = "right option,belief, first person,confidence in numbers, answer shown,length"
    quick = ("--n-questions", "4", "--controls", "1", "--replicates", "9", "--yes-rates", ".8", "--no-answers")
    ran = call(PROGRAM, "profile", swept.path, *quick, "--instruments", names, "--out", tmp_path / "run")
    assert ran.code == 0, ran.err
    reports = pd.read_csv(tmp_path / "run" / "reports.csv").set_index("report")
    assert {"right option", "belief, first person", "length"} <= set(reports.index)
    answers = pd.concat(pd.read_parquet(file) for file in (tmp_path / "run" / "answers").glob("*.parquet"))
    assert answers.loc[answers["report"] == "right option", "form"].nunique() == 4
