"""What TensorBoard reads of a run is what the run's folder says."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from reporting_run import make_run

from onedial.core.errors import InputError
from onedial.core.run.run import Run
from onedial.report.report import write_report
from onedial.report.sweep_watcher import SweepWatcher
from onedial.show.results import captions_of
from onedial.show.writers.tensorboard import TensorBoardRun
from onedial.show.writers.writer import RunWatcher

pytest.importorskip("tensorboard", reason="TensorBoard is missing: pip install 'onedial[tensorboard]'")


def events(folder):
    """What TensorBoard itself reads from every file of a folder."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    return EventAccumulator(str(folder / "tensorboard"), size_guidance={"images": 0, "scalars": 0}).Reload()


@pytest.fixture(scope="module")
def logged(tmp_path_factory):
    run = make_run(tmp_path_factory.mktemp("runs") / "run", n_targets=6)
    run.run.file(run.vector_file("mean_difference")).write_bytes(b"a vector")
    write_report(run)
    watcher = SweepWatcher(run, TensorBoardRun(run.run))
    watcher.log_plan()
    watcher.stage_ended("sweep", 2.5)
    watcher.run_ended(failed=False)
    return run


def test_the_dose_response_lies_along_the_magnitude_in_thousandths(logged):
    told = events(logged.path).Scalars("test/yes_rate")
    test = logged.dose_response().query("split == 'test'").sort_values("magnitude").dropna(subset=["yes_rate"])
    assert [each.step for each in told] == [round(1000 * magnitude) for magnitude in test["magnitude"]]
    assert [each.value for each in told] == pytest.approx(list(test["yes_rate"]), abs=1e-6)


def test_stages_summary_and_pictures_are_those_of_the_folder(logged):
    read = events(logged.path)
    assert read.Scalars("stages/sweep")[0].value == 2.5
    verdict = json.loads((logged.path / "verdict.json").read_text())
    signal = read.Scalars("summary/verdict.signal.value")[0].value
    assert signal == pytest.approx(verdict["signal"]["value"], abs=1e-6)
    assert set(read.Tags()["images"]) == {f"figures/{name}" for name in captions_of(logged.run)}
    (sentence,) = read.Tensors("summary/verdict.sentence/text_summary")
    assert sentence.tensor_proto.string_val[0].decode() == verdict["sentence"]


def test_a_step_is_tenths_of_a_second_or_the_whole_number_that_a_metric_lies_along(tmp_path, monkeypatch):
    run = Run.create(tmp_path / "run", "program", {})
    begun = (datetime.now(UTC) - timedelta(seconds=100)).strftime("%Y-%m-%dT%H:%M:%SZ")
    manifest = replace(run.manifest, started=begun)
    monkeypatch.setattr(Run, "manifest", property(lambda run: manifest))
    writer = TensorBoardRun(run)
    writer.measure_along("loss/*", "turn")
    writer.log({"loss/train": 0.5, "loss/test": float("nan"), "turn": 7, "rate": 0.25})
    writer.close()
    read = events(run.path)
    assert [each.step for each in read.Scalars("loss/train")] == [7]
    assert 1000 <= read.Scalars("rate")[0].step < 1600
    assert "loss/test" not in read.Tags()["scalars"]


def test_a_run_that_goes_on_adds_a_file_and_one_that_is_withdrawn_leaves_none(tmp_path):
    with Run.create(tmp_path / "kept", "program", {}) as run:
        run.watched_by(RunWatcher(run, TensorBoardRun(run)))
        with run.stage("first"):
            pass
    run = Run.resume(tmp_path / "kept", "program", {})
    RunWatcher(run, TensorBoardRun(run)).stage_ended("second", 1.0)
    assert len(list((tmp_path / "kept" / "tensorboard").iterdir())) == 2
    with pytest.raises(InputError), Run.create(tmp_path / "refused", "program", {}) as run:  # noqa: PT012
        run.watched_by(RunWatcher(run, TensorBoardRun(run)))
        with run.withdrawn_if_refused():
            raise InputError("no such thing")
    assert not (tmp_path / "refused").exists()


def test_without_tensorboard_it_is_said_before_the_work_what_to_install(monkeypatch):
    from onedial.show.writers import tensorboard

    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'onedial\[tensorboard\]'"):
        tensorboard.check_tensorboard()
