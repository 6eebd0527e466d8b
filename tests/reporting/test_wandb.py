"""W&B mirrors what is on disk: an offline run is read back record by record, without W&B's own reader."""

import json

import pytest
from reporting_run import make_run
from wandb_files import artifacts_of, complete_records, items_of, start_of

from common import InputError, sha256_of_file
from reporting.report import write_report
from reporting.results import captions_of
from reporting.wandb_run import check_wandb
from reporting.wandb_sweep import log_run


@pytest.fixture(scope="module")
def logged(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wandb")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("WANDB_DATA_DIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR"):
            patch.setenv(name, str(folder / name.lower()))
        patch.delenv("WANDB_API_KEY", raising=False)
        patch.delenv("WANDB_MODE", raising=False)
        run = make_run(folder / "run", n_targets=6)
        run.run.file(run.vector_file("mean_difference")).write_bytes(b"a vector")
        write_report(run)
        log_run(run, "offline", project="trial")
        (file,) = (run.path / "wandb").glob("offline-run-*/*.wandb")
    return run, complete_records(file)


def test_the_configuration_is_logged(logged):
    run, records = logged
    start = start_of(records)
    configuration = items_of(start.config.update)
    assert start.project == "trial"
    assert {key: configuration[key] for key in run.config} == run.config
    assert configuration["subject"]["sha256"] == run.run.manifest.facts["model"]["sha256"]


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


def test_matches_and_figures_are_logged(logged):
    run, records = logged
    histories = [items_of(record.history.item) for record in records if record.WhichOneof("record_type") == "history"]
    last = {}
    for history in histories:
        last |= history
    assert last["matches.nrows"] == len(run.matches())
    for name in captions_of(run.run):
        assert any(key.startswith(f"figures/{name}") for key in last)


def test_the_verdict_is_in_the_summary(logged):
    run, records = logged
    summary = {}
    for record in records:
        if record.WhichOneof("record_type") == "summary":
            summary |= items_of(record.summary.update)
    assert summary["verdict.sentence"] == run.verdict()["sentence"]
    assert summary["verdict.gain.estimate"] == run.verdict()["gain"]["estimate"]


def test_vector_sweep_and_report_are_artifacts(logged):
    _, records = logged
    artifacts = {
        kind: {entry.path for entry in artifact.manifest.contents} for kind, artifact in artifacts_of(records).items()
    }
    assert artifacts["vector"] == {"vectors/mean_difference.safetensors"}
    assert artifacts["sweep"] == {"sweep/part-00000.parquet"}
    assert {"report.html", "verdict.json", "matches.csv"} <= artifacts["report"]


def test_sweep_and_report_name_the_vector_that_they_rest_on(logged):
    run, records = logged
    (file,) = run.path.glob("vectors/*.safetensors")
    for kind in ("sweep", "report"):
        metadata = json.loads(artifacts_of(records)[kind].metadata)
        assert metadata["vectors"] == {file.name: sha256_of_file(file)}
        assert metadata["artifact"] == artifacts_of(records)["vector"].name


def test_online_without_a_login_is_refused_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("WANDB_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")
    with pytest.raises(InputError, match="knows no API key on this machine; run `wandb login`"):
        check_wandb("online")


def test_an_unknown_mode_is_refused():
    with pytest.raises(InputError, match="'shared' requested, but it is one of offline, online"):
        check_wandb("shared")


def test_without_the_package_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "wandb", None)
    with pytest.raises(InputError, match="pip install wandb"):
        check_wandb("offline")
