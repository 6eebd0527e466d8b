"""experiments/ask.py battery: every test of every respondent leaves its answers and scores; a steered subject is one
too."""

import importlib.util
import json
import re
import shutil

import pandas as pd
import pytest
from tiny_experiment import ROOT, call, run_here
from tiny_models import outspoken_model, save_outspoken, vectors_at

from onedial.asking.store import ANSWERS, Store

__all__ = ["call"]

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
    for name in (
        "overview",
        "pairs",
        "pairs_signals",
        "pressure",
        "correction",
        "beliefs",
        "hedges",
        "critics",
    ):
        table = pd.read_csv(folder / "run" / f"{name}.csv")
        assert len(table), name
        assert table.columns[0] == "respondent"
    assert len(list((folder / "run" / "answers" / "pressure").glob("*.parquet"))) == 1
    assert (folder / "run" / "figures" / "pressure.png").exists()


def test_a_dry_run_says_how_many_prompts_of_each_kind_there_would_be_and_leaves_nothing(asked, call, tmp_path):
    folder, options = asked
    told = call(*PROGRAM, *options, "--dry-run", "--out", tmp_path / "run")
    assert told.code == 0, told.err
    assert not (tmp_path / "run").exists()
    counts = dict(re.findall(r"(surer of|belief, \w+ person|closed book|free answer) +(\d+)", told.out))
    log = log_of(folder / "run")
    assert {name: int(n) for name, n in counts.items()} == log["instrument"].value_counts()[list(counts)].to_dict()
    assert len(counts) == 5


def test_letters_that_a_random_model_never_says_are_counted_and_get_no_number(asked):
    folder, _ = asked
    table = pd.read_csv(folder / "run" / "pressure.csv")
    assert (table["n_unread"] == 8).all()
    assert table["to_wrong"].isna().all()


def test_every_single_answer_is_kept_with_what_was_asked(asked):
    folder, _ = asked
    log = log_of(folder / "run", "beliefs")
    assert len(log) == 24
    assert log["prompt"].str.contains("Mary believes that this is so: ").sum() == 8
    table = pd.read_parquet(folder / "run" / "answers" / "beliefs")
    assert len(log_of(folder / "run", "correction"))  # texts and logits in one table
    assert log["margin"].sum() == pytest.approx(table["margin"].sum())


@pytest.mark.skipif(importlib.util.find_spec("inspect_ai") is None, reason="inspect_ai is an optional extra")
def test_every_single_answer_is_a_sample_of_an_inspect_log(asked, call, tmp_path):
    folder, _ = asked
    ended = call(
        ROOT / "experiments" / "panel.py", "export", folder / "run", "--to", "inspect-log", "--out", tmp_path / "a.eval"
    )
    assert ended.code == 0, ended.err
    from inspect_ai.log import read_eval_log

    samples = [each for each in read_eval_log(str(tmp_path / "a.eval")).samples if each.metadata["test"] == "beliefs"]
    log = log_of(folder / "run", "beliefs")
    read = log[log["value"].notna()]
    told = sorted(
        (each.input, score.value, score.metadata["margin"])
        for each in samples
        for score in (each.scores or {}).values()
    )
    assert len(samples) == len(log)
    assert told == sorted(read[["prompt", "value", "margin"]].itertuples(index=False, name=None))


def test_a_battery_whose_answers_were_lost_in_part_asks_for_those_alone_and_ends_with_the_same(asked, call, tmp_path):
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


def strangers(folder, file, change=lambda rows: rows):
    """The answers to *beliefs* as somebody else would have noted them: texts alone."""
    log = log_of(folder / "run", "beliefs")
    rows = [
        {"prompt": row["prompt"], "text": "Yes, I do." if row["margin"] > 0 else "**No**, I do not."}
        for row in log.to_dict("records")
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in change(rows)))
    return log


def test_a_battery_is_scored_again_from_its_own_log_byte_for_byte_and_nobody_is_asked(asked, call, tmp_path):
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


def test_what_was_written_is_scored_again_from_an_inspect_log_of_it_byte_for_byte(asked, call, tmp_path):
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


def test_an_inspect_log_of_somebody_else_is_found_by_all_turns_before_the_answer(asked, call, tmp_path):
    inspect_log, chat = (pytest.importorskip(f"inspect_ai.{each}") for each in ("log", "model"))
    samples = []
    for number, row in enumerate(log_of(asked[0] / "run", "correction").to_dict("records")):
        *earlier, last = row["prompt"].split("\n\n")
        said = [chat.ChatMessageSystem(content="Be kind."), *(chat.ChatMessageUser(content=turn) for turn in earlier)]
        output = chat.ModelOutput.from_content("gpt-x", row["raw_text"])
        told = [*said, chat.ChatMessageUser(content=last)]
        samples.append(inspect_log.EvalSample(id=f"{number:04}", epoch=1, input=told, target="", output=output))
    about = {"created": "2026-01-01", "task": "theirs", "model": "gpt-x", "dataset": {}, "config": {}}
    log = inspect_log.EvalLog(status="success", eval=about, samples=samples)
    inspect_log.write_eval_log(log, str(tmp_path / "theirs.eval"))
    options = ("--model", f"recorded:{tmp_path / 'theirs.eval'}", "--instruments", "correction", *asked[1][4:])
    ended = call(*PROGRAM, *options, "--out", tmp_path / "again")
    assert ended.code == 0, ended.err
    assert set(pd.read_csv(tmp_path / "again" / "correction.csv")["respondent"]) == {"gpt-x"}
    assert texts_of(tmp_path / "again") == texts_of(asked[0] / "run")


def test_texts_of_somebody_else_are_read_by_their_words(asked, call, tmp_path):
    log = strangers(asked[0], tmp_path / "a.jsonl")
    options = ("--model", f"recorded:{tmp_path / 'a.jsonl'}", "--instruments", "beliefs", *QUICK)
    ended = call(*PROGRAM, *options, "--out", tmp_path / "run")
    assert ended.code == 0, ended.err
    table = pd.read_parquet(tmp_path / "run" / "answers" / "beliefs")
    assert set(table["respondent"]) == {"recorded"}
    assert table["margin"].abs().eq(1).all()
    assert (table["margin"] > 0).sum() == (log["margin"] > 0).sum()


def test_who_stands_in_two_records_is_refused_before_answers_are_mixed(asked, call, tmp_path):
    for name in ("a.jsonl", "b.jsonl"):
        strangers(asked[0], tmp_path / name)
    twice = ",".join(f"recorded:{tmp_path / name}" for name in ("a.jsonl", "b.jsonl"))
    ended = call(*PROGRAM, "--model", twice, "--instruments", "beliefs", *QUICK, "--out", tmp_path / "run")
    assert ended.code == 2
    assert "recorded would answer twice" in ended.err


def test_a_request_without_an_answer_is_refused_by_name_and_nothing_is_scored(asked, call, tmp_path):
    log = strangers(asked[0], tmp_path / "a.jsonl", lambda rows: rows[:-3])
    options = ("--model", f"recorded:{tmp_path / 'a.jsonl'}", "--instruments", "beliefs", *QUICK)
    ended = call(*PROGRAM, *options, "--out", tmp_path / "run")
    assert ended.code == 2
    assert "holds no answer of recorded to" in ended.err
    assert not list((tmp_path / "run").glob("*.csv"))
    missing = [json.loads(line) for line in (tmp_path / "run" / "missing.jsonl").read_text().splitlines()]
    assert missing
    assert {row["prompt"] for row in missing} <= set(log["prompt"].tail(3))
    with (tmp_path / "a.jsonl").open("a") as file:  # answered there, and gone on with
        for row in missing:
            print(json.dumps(row | {"text": "No"}), file=file)
    while (ended := call(*PROGRAM, *options, "--out", tmp_path / "run", "--resume")).code == 2:
        rows = [json.loads(line) for line in (tmp_path / "run" / "missing.jsonl").read_text().splitlines()]
        with (tmp_path / "a.jsonl").open("a") as file:
            for row in rows:
                print(json.dumps(row | {"text": "No"}), file=file)
    assert ended.code == 0, ended.err
    assert (tmp_path / "run" / "beliefs.csv").exists()


def test_a_drawn_answer_serves_once_and_what_is_no_record_is_refused(asked, call, tmp_path):
    log = log_of(asked[0] / "run", "correction")
    rows = [{"prompt": row["prompt"], "text": row["raw_text"]} for row in log.to_dict("records")]
    (tmp_path / "once.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "bad.jsonl").write_text('{"prompt": "Who?"}\n')
    for name, instrument, words in (
        ("once.jsonl", "correction", "of correction, closed book"),
        ("bad.jsonl", "beliefs", 'line 1 has no "prompt" and "text"'),
        ("none.jsonl", "beliefs", "there is no record"),
    ):
        options = ("--model", f"recorded:{tmp_path / name}", "--instruments", instrument, *QUICK, "--samples", "2")
        ended = call(*PROGRAM, *options, "--out", tmp_path / f"run {name}")
        assert ended.code == 2
        assert words in ended.err
