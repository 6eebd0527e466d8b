"""experiments/ask.py battery: every test of every respondent leaves its answers and scores; a steered subject is one
too."""

import json
import shutil

import pandas as pd
import pytest
from tiny_experiment import ROOT, run_here
from tiny_models import outspoken_model, save_outspoken, vectors_at

from onedial.asking.store import ANSWERS, Store

PROGRAM = ROOT / "experiments" / "ask.py", "battery"
QUICK = ("--n-questions", "8", "--n-each", "4", "--samples", "1", "--replicates", "19")


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("battery")
    save_outspoken(folder / "model")
    options = (
        "--model",
        str(folder / "model"),
        "--instruments",
        "pairs,pressure,correction,beliefs,hedges,critics",
        *QUICK,
    )
    assert run_here(*PROGRAM, *options, "--out", folder / "run", drawn=True) == 0
    return folder, options


def log_of(run, test=None):
    lines = [line for line in Store(run / ANSWERS).lines() if test in (None, line["occasion"])]
    return pd.DataFrame(lines).reindex(columns=["item", "instrument", "prompt", "value", "margin", "mass", "raw_text"])


def test_every_test_leaves_its_answers_and_its_scores(asked):
    folder, _ = asked
    names = "overview pairs pairs_signals pressure correction beliefs hedges critics"
    for name in names.split():
        table = pd.read_csv(folder / "run" / f"{name}.csv")
        assert len(table), name
        assert table.columns[0] == "respondent"
    assert len(list((folder / "run" / "answers" / "pressure").glob("*.parquet"))) == 1
    assert (folder / "run" / "figures" / "pressure.png").exists()
    log, beliefs = log_of(folder / "run", "beliefs"), pd.read_parquet(folder / "run" / "answers" / "beliefs")
    assert log["prompt"].str.contains("Mary believes that this is so: ").sum() == 8
    assert log["margin"].sum() == pytest.approx(beliefs["margin"].sum())


def test_answers_lost_in_part_are_asked_for_alone(asked, call, tmp_path):
    """Of a test a whole call is lost, and a line of another call; the model is asked for these two calls alone."""
    folder, options = asked
    shutil.copytree(folder / "run", tmp_path / "run")
    lines = (folder / "run" / ANSWERS).read_text().splitlines(keepends=True)
    beliefs = [at for at, line in enumerate(lines) if json.loads(line)["occasion"] == "beliefs"]
    lost = {*beliefs[8:16], beliefs[-1]}
    (tmp_path / "run" / ANSWERS).write_text("".join(line for at, line in enumerate(lines) if at not in lost))
    assert call(*PROGRAM, *options, "--out", tmp_path / "run", "--resume").code == 0
    again = (tmp_path / "run" / ANSWERS).read_text().splitlines()
    assert len(again) == len(lines) - 9 + 16
    assert tables_of(tmp_path / "run") == tables_of(folder / "run")
    one, other = (log_of(each / "run", "beliefs").sort_values(["item", "prompt"]) for each in (folder, tmp_path))
    assert one["margin"].tolist() == other["margin"].tolist()


def test_a_steered_subject_is_a_respondent_at_each_setting(asked, call, tmp_path):
    folder, _ = asked
    (vector,) = vectors_at(outspoken_model(), [2])
    vector.save(tmp_path / "v.safetensors")
    options = ("--model", str(folder / "model"), "--vector", str(tmp_path / "v.safetensors"), "--magnitudes=-1,0,1")
    ended = call(*PROGRAM, *options, "--instruments", "beliefs", *QUICK, "--out", tmp_path / "run")
    assert ended.code == 0, ended.err
    table = pd.read_csv(tmp_path / "run" / "beliefs.csv")
    assert table["respondent"].nunique() == 3
    assert table.groupby("respondent")["margin"].mean().nunique() == 3


# ---- a record of answers stands in for whoever gave them -------------------------------------------------------------


def tables_of(run):
    return {file.name: file.read_bytes() for file in run.glob("*.csv")}


def texts_of(run):
    log = log_of(run, "correction")
    texts = sorted(log[["instrument", "prompt", "raw_text"]].values.tolist())  # batches go by length
    assert len(log["raw_text"].unique()) > 8
    return texts


def test_a_battery_is_scored_again_from_its_log(asked, call, tmp_path):
    """A battery is scored again from its own log byte for byte and nobody is asked."""
    folder, options = asked
    (folder / "model").rename(folder / "away")
    try:
        ended = call(*PROGRAM, "--model", f"recorded:{folder / 'run'}", *options[2:], "--out", tmp_path / "again")
    finally:
        (folder / "away").rename(folder / "model")
    assert ended.code == 0, ended.err
    before = tables_of(folder / "run")
    assert len(before) > 6
    assert tables_of(tmp_path / "again") == before


def test_a_battery_is_scored_again_from_an_inspect_log(asked, call, tmp_path):
    """What was written is scored again from an inspect log of it byte for byte."""
    pytest.importorskip("inspect_ai", reason="it reads and writes the log")
    folder, options = asked
    log = tmp_path / "log.eval"
    assert (
        call(ROOT / "experiments" / "panel.py", "export", folder / "run", "--to", "inspect-log", "--out", log).code == 0
    )
    written = ("--model", f"recorded:{log}", "--instruments", "correction", *options[4:])
    ended = call(*PROGRAM, *written, "--out", tmp_path / "again")
    assert ended.code == 0, ended.err
    assert texts_of(tmp_path / "again") == texts_of(folder / "run")
    again = (tmp_path / "again" / "correction.csv").read_bytes()
    assert again == (folder / "run" / "correction.csv").read_bytes()


def test_anothers_inspect_log_is_matched_by_all_turns(asked, call, tmp_path):
    """An inspect log of somebody else is found by all turns before the answer."""
    inspect_log, chat = (pytest.importorskip(f"inspect_ai.{each}") for each in ("log", "model"))
    samples = []
    for number, row in enumerate(log_of(asked[0] / "run", "correction").to_dict("records")):
        *earlier, last = row["prompt"].split("\n\n")
        turns = [chat.ChatMessageSystem(content="Be kind."), *(chat.ChatMessageUser(content=turn) for turn in earlier)]
        output = chat.ModelOutput.from_content("gpt-x", row["raw_text"])
        messages = [*turns, chat.ChatMessageUser(content=last)]
        samples.append(inspect_log.EvalSample(id=f"{number:04}", epoch=1, input=messages, target="", output=output))
    about = {"created": "2026-01-01", "task": "theirs", "model": "gpt-x", "dataset": {}, "config": {}}
    log = inspect_log.EvalLog(status="success", eval=about, samples=samples)
    inspect_log.write_eval_log(log, str(tmp_path / "theirs.eval"))
    options = ("--model", f"recorded:{tmp_path / 'theirs.eval'}", "--instruments", "correction", *asked[1][4:])
    ended = call(*PROGRAM, *options, "--out", tmp_path / "again")
    assert ended.code == 0, ended.err
    assert set(pd.read_csv(tmp_path / "again" / "correction.csv")["respondent"]) == {"gpt-x"}
    assert texts_of(tmp_path / "again") == texts_of(asked[0] / "run")


def test_anothers_texts_are_read_by_their_words(asked, call, tmp_path):
    """With what is written to missing.jsonl answered there, the run goes on."""
    log = log_of(asked[0] / "run", "beliefs")
    by_prompt = {
        row["prompt"]: "Yes, I do." if row["margin"] > 0 else "**No**, I do not." for row in log.to_dict("records")
    }
    record, run = tmp_path / "a.jsonl", tmp_path / "run"
    options = ("--model", f"recorded:{record}", "--instruments", "beliefs", *QUICK, "--out", run)
    write_record(record, dict(list(by_prompt.items())[:-3]))
    ended = call(*PROGRAM, *options)
    assert (ended.code, "holds no answer of recorded to" in ended.err) == (2, True)
    assert not list(run.glob("*.csv"))
    missing = {json.loads(line)["prompt"] for line in (run / "missing.jsonl").read_text().splitlines()}
    assert set() < missing <= set(list(by_prompt)[-3:])
    write_record(record, by_prompt)
    ended = call(*PROGRAM, *options, "--resume")
    assert ended.code == 0, ended.err
    table = pd.read_parquet(run / "answers" / "beliefs")
    assert set(table["respondent"]) == {"recorded"}
    assert (table["margin"] > 0).sum() == (log["margin"] > 0).sum()


def write_record(file, by_prompt):
    file.write_text("".join(json.dumps({"prompt": prompt, "text": text}) + "\n" for prompt, text in by_prompt.items()))


def test_who_stands_in_two_records_and_what_is_no_record_is_refused(asked, call, tmp_path):
    for name in ("a.jsonl", "b.jsonl"):
        write_record(tmp_path / name, dict.fromkeys(log_of(asked[0] / "run", "beliefs")["prompt"], "Yes"))
    (tmp_path / "bad.jsonl").write_text('{"prompt": "Who?"}\n')
    for names, words in (
        (("a.jsonl", "b.jsonl"), "recorded would answer twice"),
        (("bad.jsonl",), 'answer 1 has no "prompt" and "text"'),
        (("none.jsonl",), "there is no record"),
    ):
        models = ",".join(f"recorded:{tmp_path / name}" for name in names)
        ended = call(
            *PROGRAM, "--model", models, "--instruments", "beliefs", *QUICK, "--out", tmp_path / f"run of {names[0]}"
        )
        assert (ended.code, words in ended.err) == (2, True), ended.err
