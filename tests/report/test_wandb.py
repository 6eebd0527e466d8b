"""W&B mirrors what is on disk: an offline run is read back record by record, without W&B's own reader."""

import json
import warnings

import pytest
from blank import draw_nothing
from reporting_run import make_run
from wandb_files import artifacts_of, complete_records, items_of

from onedial.core.errors import InputError
from onedial.core.files import sha256_of_file
from onedial.core.notices import Notice
from onedial.core.run.run import Run
from onedial.report.report import end_sweep
from onedial.report.sweep_watcher import SweepWatcher
from onedial.show.wandb_run import RunWatcher, WandbRun, check_wandb, recorded_id


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        for name in ("WANDB_DATA_DIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR"):
            patch.setenv(name, str(tmp_path_factory.mktemp("wandb")))
        for name in ("WANDB_API_KEY", "WANDB_MODE", "WANDB_RUN_ID", "WANDB_PROJECT"):
            patch.delenv(name, raising=False)
        yield tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def logged(folder):
    run = make_run(folder / "run", n_targets=6)
    run.run.file(run.vector_file("mean_difference")).write_bytes(b"a vector")
    with pytest.MonkeyPatch.context() as patch:
        draw_nothing(patch.setattr)
        end_sweep(run)
    mirror = SweepWatcher(run, WandbRun(run.run, "offline", "sweep"))
    mirror.log_plan()
    mirror.run_ended(failed=False)
    (file,) = (run.path / "wandb").glob("offline-run-*/*.wandb")
    return run, complete_records(file)


def test_what_was_chosen_is_in_the_configuration(logged):
    run, records = logged
    settings = {}
    for record in records:
        if record.WhichOneof("record_type") == "config":
            settings |= items_of(record.config.update)
    row = run.interventions().set_index("intervention_id").loc[run.under_test()]
    assert (settings["plan"]["layers"], settings["plan"]["magnitudes"]) == (
        list(row["layers"]),
        list(row["magnitudes"]),
    )


def test_the_dose_response_is_logged_magnitude_by_magnitude(logged):
    run, records = logged
    steps = [items_of(record.history.item) for record in records if record.WhichOneof("record_type") == "history"]
    steps = [step for step in steps if "magnitude" in step]
    test = run.dose_response().query("split == 'test'").sort_values("magnitude")
    assert [step["magnitude"] for step in steps] == list(test["magnitude"])
    assert [step["test/mean_mass"] for step in steps] == list(test["mean_mass"])
    assert [step.get("test/yes_rate") for step in steps] == [
        None if rate != rate else rate for rate in test["yes_rate"]
    ]


def test_sweep_and_report_name_the_vector_that_they_rest_on(logged):
    run, records = logged
    (file,) = run.path.glob("vectors/*.safetensors")
    for kind in ("sweep", "report"):
        metadata = json.loads(artifacts_of(records)[kind].metadata)
        assert metadata["vectors"] == {file.name: sha256_of_file(file)}
        assert metadata["artifact"] == artifacts_of(records)["vector"].name


def test_a_run_keeps_its_identifier(tmp_path, monkeypatch):
    """A run keeps its identifier where its options change and an agents comes first."""
    run, watchers = Run.create(tmp_path / "run", "program", {"stages": "one"}), []
    for stages, agent in (("one", None), ("one,two", None), ("one,two", "agent-7")):
        run.config["stages"] = stages
        if agent:
            monkeypatch.setenv("WANDB_RUN_ID", agent)
        watchers.append(RunWatcher(run, WandbRun(run, "offline", "program")))
        watchers[-1].run_ended(failed=True)
        assert watchers[-1].wandb_run.where().endswith(f"-{recorded_id(run)}")
    assert watchers[0].wandb_run.where().split()[-1] == watchers[1].wandb_run.where().split()[-1]
    assert recorded_id(run) == "agent-7"


def test_a_service_that_was_killed_is_noticed_once_and_the_run_goes_on(tmp_path, monkeypatch):
    def killed(*_, **__):
        raise ConnectionResetError("lost")

    run = Run.create(tmp_path / "run", "program", {})
    run.watched_by(RunWatcher(run, WandbRun(run, "offline", "program")))
    monkeypatch.setattr("wandb.Run.log", killed)
    with warnings.catch_warnings(record=True) as noticed, run:
        warnings.simplefilter("always")
        for stage in ("first", "second"):
            with run.stage(stage):
                pass
    __import__("wandb").run.finish()
    (messages,) = [str(each.message) for each in noticed if issubclass(each.category, Notice)]
    assert messages == (
        f"warning: W&B did not take the run (lost); {run.path} is complete without it, so log it offline"
    )
    assert [stage["completed"] for stage in run.manifest.stages] == [True, True]


def test_a_run_that_is_withdrawn_leaves_nothing_of_its_mirror(tmp_path):
    with pytest.raises(InputError), Run.create(tmp_path / "run", "program", {}) as run:  # noqa: PT012
        run.watched_by(RunWatcher(run, WandbRun(run, "offline", "program")))
        assert (run.path / "wandb").exists()
        with run.withdrawn_if_refused():
            raise InputError("no such thing")
    assert list(tmp_path.iterdir()) == []


def test_without_the_package_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "wandb", None)
    with pytest.raises(InputError, match="pip install wandb"):
        check_wandb("offline")
