"""The doctor says what is here and what is missing, and how to get it."""

import itertools

from tiny_experiment import ROOT

DOCTOR = ROOT / "experiments" / "doctor.py"


def test_every_finding_that_lacks_something_names_a_remedy(call, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    ended = call(DOCTOR)
    assert ended.code == 0, ended.out
    lines = ended.out.splitlines()
    for name in ("Python", "libraries", "processor", "memory", "disk for runs", "models", "model hub", "W&B"):
        assert any(line[8:].startswith(name) for line in lines), name
    for line, after in itertools.pairwise(lines):
        if line.startswith("note"):
            assert after.strip().startswith("-> "), line
    assert "the first run fetches smollm2-135m-instruct" in ended.out
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_cannot_be_had_is_missing(call, tmp_path):
    ended = call(DOCTOR, "--model", tmp_path / "gone")
    assert ended.code == 1
    assert "does not exist" in ended.out
    assert ended.out.splitlines()[-1] == "missing: model"
