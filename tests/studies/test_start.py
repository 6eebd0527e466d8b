"""How a run begins: refused before a model is loaded for it, and made with all that a later start must find."""

from dataclasses import replace

import pytest
from tiny_models import tiny_model

from onedial.core.errors import InputError
from onedial.core.options import RunOptions
from onedial.core.run.notes import Notes
from onedial.core.run.run import Run
from onedial.studies.start import Start


def options(out, **more):
    return RunOptions(out=out, **more)


def test_a_folder_that_is_taken_is_refused_at_once(tmp_path):
    Run.create(tmp_path / "run", "other", {"seed": 1}).release()
    with pytest.raises(InputError, match="already holds a run"):
        Start("program", options(tmp_path / "run"))


def test_nothing_is_written_before_the_run_begins(tmp_path):
    Start("program", options(tmp_path / "run")).set_threads()
    assert list(tmp_path.iterdir()) == []


def test_a_run_begins_with_what_it_is(tmp_path):
    """A run begins with identity device threads and what was said before."""
    notes, model = Notes(), tiny_model()
    notes.tell("half of the questions are left out")
    start = Start("program", options(tmp_path / "run"))
    start.set_threads()
    with start.begin(notes, model) as run:
        facts = run.manifest.facts
    assert facts["model"]["fingerprint"] == model.identity.fingerprint
    assert (facts["device"], facts["dtype"], facts["threads"]) == ("cpu", "float32", start.threads)
    assert run.manifest.notes == ["half of the questions are left out"]


def test_a_run_does_not_go_on_with_other_weights_and_stays_as_it_was(tmp_path):
    given = options(tmp_path / "run")
    Start("program", given).begin(Notes(), tiny_model()).release()
    given = replace(given, resume=True)
    with pytest.raises(InputError, match="made with a model whose"):
        Start("program", given).begin(Notes(), tiny_model(seed=1))
    Start("program", given).begin(Notes(), tiny_model()).release()


def test_a_run_that_goes_on_keeps_its_number_of_threads(tmp_path, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr("torch.set_num_threads", lambda threads: None)
    given = options(tmp_path / "run")
    with Start("program", given).begin(Notes()) as run:
        run.record(threads=37)
    given = replace(given, resume=True)
    start = Start("program", given)
    start.set_threads()
    assert start.threads == 37


def test_models_are_loaded_in_their_turn_but_for_the_first(tmp_path, monkeypatch):
    loaded = []
    monkeypatch.setattr("onedial.models.model.load_model", lambda name: loaded.append(name) or name.upper())
    models = Start("program", options(tmp_path / "run")).load_in_turn(["one", "two", "three"])
    assert loaded == ["one"]
    assert next(models) == ("one", "ONE")
    assert loaded == ["one"]
    assert list(models) == [("two", "TWO"), ("three", "THREE")]
