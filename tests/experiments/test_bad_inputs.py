"""Whatever cannot be used is refused in one sentence with exit code 2, and leaves nothing half-written behind."""

import errno
import os
from pathlib import Path

import huggingface_hub.constants
import pandas as pd
import pytest
from tiny_experiment import STEER_SWEEP, as_arguments, files_of, write_experiment
from tiny_models import byte_tokenizer, save_outspoken, tiny_hf

JOURNAL = ("log.txt", "manifest.json")
"""What a refused attempt may write into a run: that it was tried."""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A folder with everything that a run needs."""
    return write_experiment(tmp_path_factory.mktemp("inputs"), n=80, n_targets=6)["model"].parent


@pytest.fixture(autouse=True)
def no_hub_in_reach(monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)


@pytest.fixture
def steer(inputs, call):
    """Calls the main command on good inputs, but for the options given; a value of None takes one away."""

    def run(**options):
        return call(STEER_SWEEP, *as_arguments(good_options(inputs) | options))

    return run


def good_options(inputs):
    files = {"model": "model", "questions": "questions.csv", "panel": "panel.csv", "prompt": "prompt.yaml"}
    return {name: inputs / file for name, file in files.items()} | {"without_verdict": True}


def assert_refused(ended, *words):
    """Exit code 2, one sentence, no traceback."""
    code, _, err = ended
    lines = [line for line in err.splitlines() if line.strip()]
    assert code == 2, err
    assert "Traceback" not in err
    sentences = [line for line in lines if line.startswith("error: ")]
    assert sentences == lines[-1:], err
    for word in words:
        assert word in sentences[0]


@pytest.mark.parametrize(
    ("option", "text", "words"),
    [
        ("model", "years of work", "is a file but no GGUF file"),
        ("questions", "id,question\n1,Who?\n2,\n", "line 3"),
        ("panel", "question_id,a\nother,1\n", "answers none of the 80 questions"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_and_no_folder_is_left(steer, tmp_path, option, text, words):
    (tmp_path / "thing.csv").write_text(text)
    assert_refused(steer(**{option: tmp_path / "thing.csv"}, out=tmp_path / "run"), words)
    assert not (tmp_path / "run").exists()


# ---- the model ---------------------------------------------------------------------------------------------------


def test_a_model_without_yes_or_no_is_refused(steer, tmp_path):
    """A model that says neither yes nor no is refused with its ten likeliest tokens and what may help."""
    hf = tiny_hf(tie_word_embeddings=False)
    answers = [index for token, index in byte_tokenizer().get_vocab().items() if token.strip("Ġ").lower() in "yes no"]
    hf.get_output_embeddings().weight.data[answers] = 0
    hf.save_pretrained(tmp_path / "mute")
    byte_tokenizer().save_pretrained(tmp_path / "mute")
    ended = steer(model=tmp_path / "mute", out=tmp_path / "run")
    assert_refused(ended, "median mass", "likeliest", "does not help", "--prompt 'examples YN'")
    listed = ended.err.split("likeliest: ")[1].split(";")[0]
    assert listed.count(" 0.") == 10
    assert not (tmp_path / "run").exists()


# ---- options -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"revision": "main"}, "is no hub id; leave --revision out"),
        ({"model": "smollm2-135-instruct"}, "did you mean 'smollm2-135m-instruct'?"),
        ({"prompt": "self doubting"}, "did you mean 'self-doubting'?"),
        ({"target": "target 1,targt 5"}, "did you mean 'target 5'?"),
        ({"target": "target 1,target 77"}, "no respondent 'target 77'"),
        ({"panel": "/tmp"}, "is a folder; give one file"),
        ({"facts": 3}, "give an even number up to 200, since they come in pairs"),
        ({"n_questions": 3}, "cannot be split"),
        ({"n_questions": 8}, "5 answered no: ask 40 questions or more (without a panel 30), or give --contrast answer"),
        ({"layer": "99"}, "layer 99 requested, but this model has layers 0-4; give layer 4 or less"),
        ({"layer": "4-2"}, "names no layer; write a range upwards"),
        ({"layer": "upper"}, "--layer upper: give an index (14), a list (10,12), a range (8-20), all, auto"),
        *(({"magnitudes": text}, "give auto, or two or more numbers") for text in ("much", "0", "1,nan", "")),
    ],
    ids=str,
)
def test_an_option_that_cannot_be_is_refused_before_the_weights_are_read(steer, tmp_path, monkeypatch, options, words):
    if not options.keys() & {"n_questions", "model", "revision"}:  # which are looked at as it is loaded
        monkeypatch.setattr("onedial.models.model.load_model", None)
    assert_refused(steer(**options, out=tmp_path / "run"), words)
    assert not (tmp_path / "run").exists()


# ---- questions and panel -----------------------------------------------------------------------------------------


def test_a_panel_in_which_nobody_says_both_is_refused(steer, inputs, tmp_path):
    panel = pd.read_csv(inputs / "panel.csv")
    panel[panel.columns[1:]] = 1
    panel.to_csv(tmp_path / "panel.csv", index=False)
    ended = steer(panel=tmp_path / "panel.csv", out=tmp_path / "run")
    assert_refused(ended, "says both yes and no to the 80 questions asked")


def test_what_cannot_be_judged_is_refused_before_the_model(steer, tmp_path):
    """What cannot be judged is refused before the model is looked for unless somebody insists."""
    nowhere = {"model": tmp_path / "nowhere", "out": tmp_path / "run"}
    ended = steer(**nowhere, without_verdict=None)
    assert_refused(ended, "0 of 6 targets can be judged", "--without-verdict")
    assert_refused(steer(**nowhere), "nowhere")
    assert not (tmp_path / "run").exists()


def test_too_few_questions_are_refused_before_the_model(steer, tmp_path):
    """Questions too few for two sides are refused before the model is looked for."""
    nowhere = {"model": tmp_path / "nowhere", "out": tmp_path / "run", "n_questions": 36}
    assert_refused(steer(**nowhere), "a part of the questions, here 9", "ask 40", "--contrast answer")
    assert_refused(steer(**nowhere, contrast="answer"), "nowhere")


# ---- a run that is there already -----------------------------------------------------------------------------------


def test_a_run_that_a_full_disk_ended_goes_on(inputs, steer, tmp_path, monkeypatch):
    """A run that a full disk ended goes on but not with another model or panel."""
    replace, run = os.replace, tmp_path / "run"

    def full(source, target):
        if "sweep/part-00001" in str(target):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
        replace(source, target)

    options = {"out": run, "layer": 2, "magnitudes": "-1,1"}
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        assert_refused(steer(**options), "No space left on device", "free some space or choose another folder")
    assert not list(tmp_path.rglob(".*.part*"))
    before, good = files_of(run), files_of(inputs)
    panel = pd.read_csv(inputs / "panel.csv")
    try:
        save_outspoken(inputs / "model", "llama", seed=2)
        assert_refused(steer(**options, resume=True), "was made with a model whose fingerprint is")
        for path, data in good.items():
            (inputs / path).write_bytes(data)
        panel.assign(**{"target 0": 1 - panel["target 0"]}).to_csv(inputs / "panel.csv", index=False)
        assert_refused(steer(**options, resume=True), "was begun with another table of panel")
    finally:
        for path, data in good.items():
            (inputs / path).write_bytes(data)
    (run / "config.yaml").write_text("{ nobody knows")
    assert_refused(steer(**options, resume=True), "is no YAML")
    (run / "config.yaml").write_bytes(before[Path("config.yaml")])
    after = files_of(run)
    assert {name: data for name, data in after.items() if name.name not in JOURNAL} == {
        name: data for name, data in before.items() if name.name not in JOURNAL
    }
    assert steer(**options, resume=True).code == 0
    assert (run / "report.html").exists()
