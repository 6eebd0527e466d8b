"""W&B mirrors what is on disk: an offline run is read back record by record, without W&B's own reader."""

import json
import struct
import time

import pytest
from reporting_run import make_run

from common import InputError
from reporting.report import write_report
from reporting.run_figures import read_captions
from reporting.wandb_log import check_wandb, log_run

BLOCK, HEADER = 32768, 7
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4


def records_of(path):
    """Every record of a .wandb file: LevelDB's log format, after 7 bytes of W&B's own."""
    from wandb.proto.wandb_internal_pb2 import Record

    data = path.read_bytes()
    assert data[:4] == b":W&B"
    position, pending = 7, b""
    while position + HEADER <= len(data):
        left = BLOCK - position % BLOCK
        if left < HEADER:
            position += left
            continue
        _, length, kind = struct.unpack("<IHB", data[position : position + HEADER])
        if position + HEADER + length > len(data):
            return  # still being written
        pending += data[position + HEADER : position + HEADER + length]
        position += HEADER + length
        if kind in (FULL, LAST):
            yield Record.FromString(pending)
            pending = b""


def complete_records(path, seconds=30):
    """The records once the last of them, `exit`, is there: W&B's service writes on for a moment after the run."""
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up:
        records = list(records_of(path))
        if records and records[-1].WhichOneof("record_type") == "exit":
            return records
        time.sleep(0.1)
    raise TimeoutError(f"{path} has no end after {seconds} s")


def items_of(message):
    """Key-value items of a history, summary or config record as a dict; nested keys are joined by dots."""
    return {item.key or ".".join(item.nested_key): json.loads(item.value_json) for item in message}


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
    (start,) = [record.run for record in records if record.WhichOneof("record_type") == "run"][:1]
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
    for name in read_captions(run):
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
    artifacts = {}
    for record in records:
        if record.WhichOneof("record_type") == "artifact":
            artifacts[record.artifact.type] = {entry.path for entry in record.artifact.manifest.contents}
        elif record.WhichOneof("record_type") == "request" and record.request.HasField("log_artifact"):
            artifact = record.request.log_artifact.artifact
            artifacts[artifact.type] = {entry.path for entry in artifact.manifest.contents}
    assert artifacts["vector"] == {"vectors/mean_difference.safetensors"}
    assert artifacts["sweep"] == {"sweep/part-00000.parquet"}
    assert {"report.html", "verdict.json", "matches.csv"} <= artifacts["report"]


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
