"""What may be left after a loss of power: nothing that was said to be kept is missing, and what is not sure may be."""

import random

import pytest
from recorded_disk import Recorder

from onedial.core import Journal, Ledger, Run, read_ledger


def losses(recording, tmp_path, n):
    """Moments, each with a folder that a loss of power left there."""
    rng = random.Random(0)
    for number in range(n):
        moment = rng.choice(recording.moments)
        kind = recording.after_power_loss(moment, rng, tmp_path / f"after-{number}")
        yield kind, moment, tmp_path / f"after-{number}"


def recorded(tmp_path, work):
    place = tmp_path / "disk"
    place.mkdir()
    with Recorder(place) as recorder:
        work(place)
    return recorder.recording


def test_what_nobody_synced_may_be_lost_torn_or_there_and_what_was_synced_is_there(tmp_path):
    import os

    def work(place):
        with open(place / "sure", "wb") as file:
            file.write(b"a" * 2000)
            file.flush()
            os.fsync(file.fileno())
        folder = os.open(place, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
        with open(place / "sure", "ab") as file:
            file.write(b"b" * 2000)
        (place / "not").write_bytes(b"c" * 2000)

    recording = recorded(tmp_path, work)
    rng, seen, others = random.Random(1), set(), set()
    for number in range(200):
        after = tmp_path / f"after-{number}"
        recording.after_power_loss(recording.moments[-1], rng, after)
        data = (after / "sure").read_bytes()
        assert data[:2000] == b"a" * 2000
        seen.add(data[2000:])
        others.add((after / "not").read_bytes() if (after / "not").exists() else None)
    assert {b"", b"b" * 2000} < seen
    assert {None, b"c" * 2000} < others


@pytest.mark.launched
def test_after_any_loss_of_power_the_rows_and_attempts_that_were_said_to_be_kept_are_read(tmp_path):
    kept = []  # with the number of moments so far

    def work(place):
        with Run.create(place / "deep" / "run", "test", {"model": "somebody"}) as run:
            ledger = Ledger(run.file("ledger.log"))
            journal = Journal(run.parts("measurements", ["name", "value"], ["name"]), ("value",))
            for number in range(6):
                name = ledger.begin(question_id=f"q{number}")
                kept.append((len(recorder.moments), "begun", f"q{number}"))
                journal.add({"name": f"q{number}", "value": 1.0})
                kept.append((len(recorder.moments), "row", f"q{number}"))
                ledger.end(name, outcome="answered")
                if number == 3:
                    journal.fold()

    place = tmp_path / "disk"
    place.mkdir()
    with Recorder(place) as recorder:
        work(place)
    recording, kinds = recorder.recording, set()
    for kind, moment, after in losses(recording, tmp_path, 250):
        number = next(n for n, each in enumerate(recording.moments) if each is moment)
        kinds.add(kind)
        run = after / "deep" / "run"
        begun = {each["question_id"] for each in read_ledger(run / "ledger.log")}
        assert begun >= {name for n, what, name in kept if n <= number and what == "begun"}
        if not (run / "config.yaml").exists():
            continue
        again = Run.resume(run, "test", {"model": "somebody"})
        parts = again.parts("measurements", ["name", "value"], ["name"])
        Journal(parts, ("value",))
        rows = parts.read()["name"].tolist()
        assert set(rows) >= {name for n, what, name in kept if n <= number and what == "row"}
        assert len(rows) == len(set(rows))
        again.release()
    assert kinds == {"lost", "reordered", "torn", "kept"}
