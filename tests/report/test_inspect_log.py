"""A sweep as an Inspect log: inspect_ai reads back every answer that could be read, and the rates of each magnitude."""

import pytest
from reporting_run import make_run
from tiny_experiment import ROOT, call  # noqa: F401

from onedial.asking.yes_no import is_read
from onedial.report.inspect_log import write_inspect_log
from onedial.verdict.sweep_run import SweepRun


def read_eval_log(path):
    """Inspect's own reader, which takes two seconds to import."""
    from inspect_ai.log import read_eval_log

    return read_eval_log(path)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("runs") / "run", n_targets=6)


@pytest.fixture(scope="module")
def log(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "sweep.eval"
    write_inspect_log(run, path)
    return read_eval_log(str(path))


def test_every_answer_that_could_be_read_is_a_score_of_its_question_and_no_other_is(run, log):
    table = run.sweep()
    table = table[(table["intervention_id"] == run.under_test()) & is_read(table["mass"])]
    told = {
        (sample.id, score.metadata["magnitude"]): (score.value, score.metadata["margin"])
        for sample in log.samples
        for score in sample.scores.values()
    }
    assert told == {
        (row["question_id"], row["magnitude"]): (float(row["margin"] > 0), row["margin"])
        for row in table.to_dict("records")
    }


def test_metrics_are_the_yes_rates_of_each_magnitude(run, log):
    table = run.sweep()
    table = table[(table["intervention_id"] == run.under_test()) & is_read(table["mass"])]
    rates = (table["margin"] > 0).groupby(table["magnitude"]).mean()
    assert [score.metrics["yes rate"].value for score in log.results.scores] == pytest.approx(list(rates))
    assert [float(score.name) for score in log.results.scores] == pytest.approx(list(rates.index))
    assert log.eval.metadata["sentence"] == run.verdict()["sentence"]
    assert log.status == "success"


def test_the_program_writes_it_and_refuses_what_is_no_finished_sweep(run, call, tmp_path):  # noqa: F811
    program = (ROOT / "experiments" / "panel.py", "export")
    ended = call(*program, run.path, "--to", "inspect-log", "--out", tmp_path / "sweep.json")
    assert ended.code == 0, ended.err
    assert len(read_eval_log(str(tmp_path / "sweep.json")).samples) == len(SweepRun.open(run.path).questions())
    for arguments, words in (
        ((run.path, "--out", tmp_path / "sweep.json"), "is taken"),
        ((run.path, "--out", tmp_path / "sweep.txt"), "ends in .eval or .json"),
        (("embedded", "--out", tmp_path / "other.eval"), "embedded"),
    ):
        refused = call(*program, arguments[0], "--to", "inspect-log", *arguments[1:])
        assert refused.code == 2
        assert words in refused.err
        assert refused.err.count("\n") == 1
