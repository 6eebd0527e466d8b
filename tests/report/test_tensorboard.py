"""TensorBoard's events are written without it: a reader of its own finds what the run's folder says."""

import json
import struct

import pytest
from reporting_run import make_run

from onedial.core import InputError, Run
from onedial.report import SweepWatcher, write_report
from onedial.show import RunWatcher, TensorBoardRun, captions_of

REFERENCE = (
    "2c00000000000000f4aecc4509000000000000f83f1086feffffffffffffff01"
    "2a160a140a0d746573742f7965735f72617465150000803ed47b7279"
)


def fields(message):
    """(field, value) of a protocol buffer message: numbers, and bytes."""
    at, found = 0, []

    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            value = varint()
        else:
            size = {1: 8, 5: 4}.get(key & 7) or varint()
            value, at = message[at : at + size], at + size
        found.append((key >> 3, value))
    return found


def events(folder):
    """(step, tag, field, content) of every value of every file, in order."""
    found = []
    for file in sorted(folder.rglob("events.out.tfevents.*")):
        content, at = file.read_bytes(), 0
        while at < len(content):
            (size,) = struct.unpack_from("<Q", content, at)
            event = fields(content[at + 12 : at + 12 + size])
            at += size + 16
            step = struct.unpack("<q", struct.pack("<Q", dict(event)[2]))[0]
            for value in [fields(dict(fields(each))[1]) for field, each in event if field == 5]:
                (tag,) = [each.decode() for field, each in value if field == 1]
                found += [(step, tag, field, each) for field, each in value if field not in (1, 9)]
    return found


def numbers(folder):
    return [(step, tag, struct.unpack("<f", each)[0]) for step, tag, field, each in events(folder) if field == 2]


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


def test_the_bytes_are_those_that_tensorboards_own_writer_makes(tmp_path, monkeypatch):
    """TensorBoard 2.21: RecordWriter, of Event(wall_time=1.5, step=-250) with the value .25 of test/yes_rate."""
    monkeypatch.setattr("time.time", lambda: 1.5)
    writer = TensorBoardRun(Run.create(tmp_path / "run", "program", {}))
    writer.measure_along("test/*", "magnitude")
    writer.log({"test/yes_rate": 0.25, "magnitude": -0.25})
    writer.close()
    (file,) = (tmp_path / "run" / "tensorboard").iterdir()
    assert bytes.fromhex(REFERENCE) in file.read_bytes()


def test_the_dose_response_lies_along_the_magnitude_in_thousandths(logged):
    told = [(step, value) for step, tag, value in numbers(logged.path / "tensorboard") if tag == "test/yes_rate"]
    test = logged.dose_response().query("split == 'test'").sort_values("magnitude").dropna(subset=["yes_rate"])
    assert [step for step, _ in told] == [round(1000 * magnitude) for magnitude in test["magnitude"]]
    assert [value for _, value in told] == pytest.approx(list(test["yes_rate"]), abs=1e-6)


def test_stages_summary_and_pictures_are_those_of_the_folder(logged):
    folder = logged.path / "tensorboard"
    told = {tag: value for _, tag, value in numbers(folder)}
    assert told["stages/sweep"] == 2.5
    signal = json.loads((logged.path / "verdict.json").read_text())["signal"]["value"]
    assert told["summary/verdict.signal.value"] == pytest.approx(signal, abs=1e-6)
    pictures = {tag: dict(fields(each)) for _, tag, field, each in events(folder) if field == 4}
    assert set(pictures) == {f"figures/{name}" for name in captions_of(logged.run)}
    for tag, picture in pictures.items():
        assert picture[4] == (logged.path / f"{tag}.png").read_bytes()
    texts = {tag: dict(fields(each))[8].decode() for _, tag, field, each in events(folder) if field == 8}
    assert texts["summary/verdict.sentence"] == logged.verdict()["sentence"]


def test_a_run_that_goes_on_adds_a_file_and_one_that_is_withdrawn_leaves_none(tmp_path):
    with Run.create(tmp_path / "kept", "program", {}) as run:
        run.watched_by(RunWatcher(run, TensorBoardRun(run)))
        with run.stage("first"):
            pass
    run = Run.resume(tmp_path / "kept", "program", {})
    RunWatcher(run, TensorBoardRun(run)).stage_ended("second", 1.0)
    assert [tag for _, tag, _ in numbers(tmp_path / "kept")] == ["stages/first", "stages/second"]
    with pytest.raises(InputError), Run.create(tmp_path / "refused", "program", {}) as run:  # noqa: PT012
        run.watched_by(RunWatcher(run, TensorBoardRun(run)))
        with run.withdrawn_if_refused():
            raise InputError("no such thing")
    assert not (tmp_path / "refused").exists()
