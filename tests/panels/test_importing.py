"""Logs of other tools, as those tools wrote them, become panels in which nothing unread or failed is a no.

tests/reference/imports holds what inspect_ai 0.3.285, lm_eval 0.4.13 and every_eval_ever 0.3.0 (which converts the
other two) wrote on the embedded model, or on a mock where an answer had to be reasoned.
"""

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from onedial.core.errors import InputError
from onedial.core.notices import Notice
from onedial.panels.formats.formats import read_logs
from onedial.panels.formats.panel import panel_from_logs
from onedial.panels.formats.records import LogChoices, LogRecord, LogRun, is_right
from onedial.panels.formats.writing import write_imported
from onedial.panels.panel_files import load_panel
from onedial.panels.questions.prompts import bare_questions
from onedial.panels.questions.question_files import load_questions
from onedial.panels.spellings import Spellings

LOGS = Path(__file__).parents[1] / "reference" / "imports"
ASKED = "Can you answer this question correctly? Yes or No?"


def imported(*paths, choices=None, **options):
    return panel_from_logs(
        [run for path in paths for run in read_logs(LOGS / path, choices or LogChoices(confidence_scale=1))], **options
    )


def cells(found, column, respondent=None):
    panel = found.panel if respondent is None else found.panel[found.panel["respondent"] == respondent]
    return panel.set_index(["question_id", "sample"])[column]


# ---- Inspect -----------------------------------------------------------------------------------------------------


def test_an_inspect_log_gives_every_epoch_and_leaves_failed_samples_blank():
    found = imported("inspect/can_you.eval")
    said, missing = cells(found, "said_yes"), cells(found, "missing")
    assert len(found.panel) == 8
    assert said["geo-001", 0] == 0
    assert said[["geo-004"]].isna().all()
    assert (missing[["geo-004"]] == "error").all()
    assert missing["geo-003", 0] == "unread"  # "Ireland to New York would be"
    assert math.isnan(said["geo-003", 0])
    assert said["geo-003", 1] == 0  # "No: Ireland and New York are not"
    (run,) = found.report["runs"]
    assert (run["format"], run["model"], run["asked"]) == ("inspect", "hf/smollm2-135m-instruct", "yes-no")
    assert run["failed"] == {"error": 2}
    assert found.respondents["model"].tolist() == ["hf/smollm2-135m-instruct"]


@pytest.mark.parametrize("status", ["error", "cancelled", "started"])
def test_half_of_an_evaluation_is_no_panel_unless_that_is_asked_for(tmp_path, status):
    log = json.loads((LOGS / "inspect/can_you_reasoned_as.json").read_text(encoding="utf-8"))
    n_all = len(log["samples"])
    log |= {"status": status, "samples": log["samples"][: n_all // 2]}
    (tmp_path / "half.json").write_text(json.dumps(log), encoding="utf-8")
    with pytest.raises(InputError, match=f"status '{status}' that holds {n_all // 2} of {n_all} samples; finish it"):
        read_logs(tmp_path / "half.json", LogChoices(confidence_scale=1))
    (run,) = read_logs(tmp_path / "half.json", LogChoices(incomplete=True, confidence_scale=1))
    assert len(run.records) == n_all // 2


def test_the_question_is_found_within_the_prompt():
    found = imported("inspect/can_you.eval")
    assert found.report["runs"][0]["prompt_after"] == ASKED
    assert {question.id: question.text for question in found.questions}["geo-002"] == (
        "Name the city on the Seine that is the capital of France."
    )
    assert all(question.answers == () for question in found.questions)  # the log's target is "Yes", which is no key


def test_reasoned_answers_are_read_and_stated_confidence_is_kept():
    found = imported("inspect/can_you_reasoned.eval")
    assert cells(found, "said_yes").fillna(-1).tolist() == [1, 0, -1, 1]
    np.testing.assert_array_equal(cells(found, "confidence"), [0.9, 0.2, np.nan, 0.75])
    assert cells(found, "missing").fillna("").tolist() == ["", "", "unread", ""]
    assert found.report["unread_examples"][0]["text"] == "Perhaps; who can tell?"


def test_the_same_log_in_both_of_inspects_forms_counts_once():
    paths = ("inspect/can_you_reasoned.eval", "inspect/can_you_reasoned_as.json")
    both, one = imported(*paths), imported(paths[1])
    assert len(both.panel) == len(one.panel) == 4
    assert both.report["left_out"] == {"copy of an answer that another log holds": 4}
    pd.testing.assert_frame_equal(both.panel, one.panel)


def test_a_log_of_the_questions_themselves_fills_in_what_was_answered_correctly():
    alone = imported("inspect/can_you.eval")
    assert alone.panel["answered_correctly"].isna().all()
    found = imported("inspect/can_you.eval", "inspect/closed_book.eval")
    assert cells(found, "answered_correctly")[["geo-001", "geo-002"]].tolist() == [0, 0, 1, 1]
    assert len(found.panel) == len(alone.panel)
    keys = {question.id: question.answers for question in found.questions}
    assert keys["geo-002"] == ("Paris",)
    assert found.report["runs"][1]["asked"] == "question"


def test_another_models_answers_are_not_mixed_in():
    found = imported("inspect/can_you_reasoned.eval", "inspect/closed_book.eval")
    assert found.panel["answered_correctly"].isna().all()
    assert list(found.report["left_out"].values()) == [4]
    assert "asked the questions alone" in next(iter(found.report["left_out"]))


def test_a_chosen_score_counts_in_a_yes_no_run_and_an_unknown_one_is_refused():
    found = imported("inspect/can_you_reasoned.eval", score="sure")
    assert cells(found, "answered_correctly").tolist() == [1, 0, 0, 1]
    with pytest.raises(InputError, match="no score called 'shure'; did you mean 'sure'"):
        imported("inspect/can_you_reasoned.eval", score="shure")


# ---- lm-eval -----------------------------------------------------------------------------------------------------

LM = "lm_eval/org__smollm2-135m-instruct"


def lm_file(task):
    return next((LOGS / LM).glob(f"samples_{task}_2*"))


def test_log_likelihoods_of_yes_and_no_give_margin_mass_and_answer():
    found = imported(lm_file("can_you"))
    row = json.loads(lm_file("can_you").read_text().splitlines()[0])
    yes, no = (float(option[0][0]) for option in row["resps"])
    first = found.panel.iloc[0]
    assert first["margin"] == pytest.approx(yes - no)
    assert first["mass"] == pytest.approx(math.exp(yes) + math.exp(no))
    assert first["said_yes"] == (yes > no)
    assert first["question_id"] == "geo-001"
    assert found.respondents["model"].tolist() == ["org/smollm2-135m-instruct"]


def test_one_row_per_filter_is_one_answer_and_filters_that_differ_must_be_chosen_between():
    path = lm_file("closed")
    assert len(path.read_text().splitlines()) == 8
    with pytest.raises(InputError, match=r"several ways that differ \('strict/exact_match', 'last-word/exact_match'\)"):
        imported(path)
    found = imported(path, score="last-word/exact_match")
    assert len(found.panel) == 4
    assert cells(found, "answered_correctly").tolist() == [0, 1, 0, 0]
    assert imported(path, score="strict/exact_match").panel["answered_correctly"].sum() == 0


def test_tasks_of_one_model_are_framings_and_meet_on_the_documents_id():
    found = imported(LM, score="last-word/exact_match")
    assert found.respondents["framing"].tolist() == ["can_you", "can_you_text"]
    assert found.report["n_questions"] == 4
    correct = cells(found, "answered_correctly", "smollm2-135m-instruct: can_you")
    assert correct["geo-002", 0] == 1


def test_without_results_beside_it_the_folder_names_the_model(tmp_path):
    folder = tmp_path / "org__other"
    folder.mkdir()
    shutil.copy(lm_file("can_you"), folder)
    (run,) = read_logs(folder)
    assert run.model == "org/other"
    assert "not found" in run.about["results"]


def test_options_that_are_no_yes_or_no_are_chosen_by_their_likelihood(tmp_path):
    rows = [json.loads(line) for line in lm_file("can_you").read_text().splitlines()]
    for row in rows:
        row["arguments"]["gen_args_0"]["arg_1"], row["arguments"]["gen_args_1"]["arg_1"] = " Africa", " Europe"
        row["target"] = "1"
    path = tmp_path / "samples_mc_2026-11-22T00-00-00.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = panel_from_logs(read_logs(path))
    assert found.report["runs"][0]["asked"] == "question"
    assert (found.questions[0].options, found.questions[0].right_option) == (("Africa", "Europe"), 1)
    assert found.questions[0].rendered.endswith("A) Africa\nB) Europe")


# ---- Every Eval Ever ---------------------------------------------------------------------------------------------


def test_every_eval_ever_and_the_log_that_it_was_made_from_say_the_same():
    ours = imported("inspect/can_you.eval", "inspect/closed_book.eval")
    theirs = imported("every_eval_ever/can_you_samples.jsonl", "every_eval_ever/closed_book_samples.jsonl")
    order = ["question_id", "raw_text"]
    columns = ["question_id", "said_yes", "answered_correctly", "missing"]
    sides = []
    for found in (ours, theirs):
        panel = found.panel.assign(raw_text=found.panel["raw_text"].str.lower())
        sides.append(panel.sort_values(order, kind="stable")[columns].reset_index(drop=True))
    pd.testing.assert_frame_equal(*sides)
    assert theirs.report["respondents"]["smollm2-135m-instruct"]["missing"]["error"] == 2


def test_an_error_in_every_eval_ever_is_no_wrong_answer():
    rows = [json.loads(line) for line in (LOGS / "every_eval_ever/can_you_samples.jsonl").read_text().splitlines()]
    failed = [row for row in rows if row["error"]]
    assert failed
    assert not failed[0]["evaluation"]["is_correct"]  # what the file says
    found = imported("every_eval_ever/can_you_samples.jsonl", asked="question")
    assert cells(found, "answered_correctly")[["geo-004"]].isna().all()


def test_a_graded_score_is_neither_right_nor_wrong_whatever_is_correct_says(tmp_path):
    rows = [json.loads(line) for line in (LOGS / "every_eval_ever/closed_book_samples.jsonl").read_text().splitlines()]
    rows[0]["evaluation"] = {"score": 0.4, "is_correct": False}
    path = tmp_path / "x_samples.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = panel_from_logs(read_logs(path))
    assert math.isnan(cells(found, "answered_correctly")["geo-001", 0])
    assert cells(found, "missing")["geo-001", 0] == "not graded"


# ---- plain tables ------------------------------------------------------------------------------------------------

TABLE = """llm,question,verdict,reply,right,confidence
a,Who wrote Emma?,yes,,1,80
a,Who sang Aida?,,"I think so. Yes.",0,55%
a,Who knows?,,hard to say,,
b,Who wrote Emma?,,No,1,
b,Who sang Aida?,0,,nan,10
b,Who knows?,,,0,
"""
COLUMNS = {"respondent": "llm", "said_yes": "verdict", "raw_text": "reply", "answered_correctly": "right"}


def table(tmp_path, text=TABLE, name="t.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_a_table_is_read_with_the_columns_that_are_named(tmp_path):
    choices = LogChoices(columns=COLUMNS, confidence_scale=100)
    found = panel_from_logs(read_logs(table(tmp_path), choices))
    a, b = (found.panel[found.panel["respondent"] == name] for name in "ab")
    np.testing.assert_array_equal(a["said_yes"], [1, 1, np.nan])
    np.testing.assert_array_equal(b["said_yes"], [0, 0, np.nan])
    np.testing.assert_array_equal(a["confidence"], [0.8, 0.55, np.nan])
    np.testing.assert_array_equal(a["answered_correctly"], [1, 0, np.nan])
    np.testing.assert_array_equal(b["answered_correctly"], [1, np.nan, 0])
    assert a["raw_text"].tolist()[1:] == ["I think so. Yes.", "hard to say"]
    assert found.questions[0].text == "Who wrote Emma?"


@pytest.mark.parametrize(
    ("text", "choices", "complaint"),
    [
        ("m1,m2\n1,0\n", LogChoices(), "no column question_id, id or question"),
        ("model,question\nm,Who?\n", LogChoices(), "no column of answers .said_yes, raw_text, answered_correctly"),
        ("respondent,said_yes\nm,1\n", LogChoices(), "line 2 has neither a question_id nor a question"),
        ("model,question_id,said_yes\n,q1,1\n", LogChoices(), "line 2, column .model. is blank; name the respondent"),
        ("model,id,said_yes\nm,q1,hm\n", LogChoices(), "holds 'hm'; .*--columns raw_text=COLUMN"),
        ("model,id,said_yes\nm,q1,2\n", LogChoices(), "holds '2'; .*--yes"),
        ("question_id,a,b\nq1,Ja,1\n", LogChoices(), "column 'a' holds 'Ja'; .*--yes"),
        (TABLE, LogChoices(columns={"said_yes": "opinion"}), "no column 'opinion'"),
        (TABLE, LogChoices(columns={"sayed": "verdict"}), "it is none of question_id"),
        (TABLE, LogChoices(columns=COLUMNS), "confidence '80'; say what stands for certain"),
        (TABLE, LogChoices(columns=COLUMNS, confidence_scale=10), "confidence '80', outside 0 to 10"),
        (TABLE.replace("80", "high"), LogChoices(columns=COLUMNS), "confidence 'high', which is no number"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_by_place(tmp_path, text, choices, complaint):
    with pytest.raises(InputError, match=complaint):
        panel_from_logs(read_logs(table(tmp_path, text), choices))


@pytest.mark.parametrize(
    "text",
    [
        "question_id,a,b\nq1,oui,non\nq2,non,rien\n",
        "question_id,respondent,said_yes\nq1,a,oui\nq1,b,non\nq2,a,non\nq2,b,rien\n",
    ],
)
def test_spellings_are_read_in_every_shape_of_a_table(tmp_path, text):
    choices = LogChoices(spellings=Spellings(("oui",), ("non",), ("rien",)))
    panel = panel_from_logs(read_logs(table(tmp_path, text), choices)).panel
    said = panel.pivot(index="question_id", columns="respondent", values="said_yes")
    np.testing.assert_array_equal(said, [[1, 0], [0, np.nan]])


def test_framings_of_a_table_are_respondents_of_one_model(tmp_path):
    text = "model,framing,question_id,said_yes\nm,bold,q1,1\nm,shy,q1,0\n"
    found = panel_from_logs(read_logs(table(tmp_path, text)))
    assert found.respondents.to_dict("list") == {
        "respondent": ["m: bold", "m: shy"],
        "model": ["m", "m"],
        "framing": ["bold", "shy"],
        "family": ["", ""],
    }


def completion(*texts, end="stop"):
    choices = [{"message": {"role": "assistant", "content": text}, "finish_reason": end} for text in texts]
    return {"status_code": 200, "body": {"model": "gpt-x", "choices": choices}}


def test_choices_of_a_batch_are_samples_and_failures_keep_the_words(tmp_path):
    rows = [
        {"custom_id": f"q{n}", "response": response, "error": None}
        for n, response in enumerate([completion("No", "Yes", "Yes"), completion("Hmm, yes or", end="length")])
    ]
    error = {"error": {"message": "max_tokens is too large"}}
    rows.append({"custom_id": "q2", "response": {"status_code": 400, "body": error}, "error": None})
    rows.append({"custom_id": "q3", "response": None, "error": {"code": "batch_expired"}})
    (tmp_path / "batch.jsonl").write_text(lines(rows))
    found = panel_from_logs(read_logs(tmp_path / "batch.jsonl"), "yes-no")
    assert found.panel["question_id"].tolist() == ["q0", "q0", "q0", "q1", "q2", "q3"]
    np.testing.assert_array_equal(found.panel["said_yes"], [0, 1, 1, np.nan, np.nan, np.nan])
    assert found.panel["missing"].tolist()[3:] == ["unread", "max_tokens is too large", "batch_expired"]


def test_a_batch_of_anthropic_is_read_without_its_thoughts(tmp_path):
    content = [{"type": "thinking", "thinking": "No."}, {"type": "text", "text": "Yes"}]
    message = {"model": "river-1", "content": content, "stop_reason": "end_turn"}
    rows = [
        {"custom_id": "q1", "result": {"type": "succeeded", "message": message}},
        {"custom_id": "q2", "result": {"type": "errored", "error": {"error": {"message": "too long"}}}},
        {"custom_id": "q3", "result": {"type": "expired"}},
    ]
    (tmp_path / "batch.jsonl").write_text(lines(rows))
    found = panel_from_logs(read_logs(tmp_path / "batch.jsonl"), "yes-no")
    np.testing.assert_array_equal(found.panel["said_yes"], [1, np.nan, np.nan])
    assert found.panel["missing"].tolist()[1:] == ["too long", "expired"]
    assert set(found.panel["respondent"]) == {"river-1"}


# ---- all formats -------------------------------------------------------------------------------------------------


def test_the_panel_goes_straight_into_the_loaders(tmp_path):
    found = imported("inspect/can_you.eval", "inspect/can_you_reasoned.eval", "inspect/closed_book.eval")
    write_imported(found, tmp_path / "out")
    panel = load_panel(tmp_path / "out" / "panel.csv")
    questions = load_questions(tmp_path / "out" / "questions.jsonl")
    assert [question.id for question in questions] == list(panel.answers.index)
    assert list(panel.respondents["model"]) == ["hf/smollm2-135m-instruct", "mockllm/reasoner"]
    assert panel.responses["confidence"].notna().sum() == 3
    assert panel.answers.isna().sum().sum() == int(
        found.panel.groupby(["question_id", "respondent"])["said_yes"].mean().isna().sum()
        + (found.panel.groupby(["question_id", "respondent"])["said_yes"].mean() == 0.5).sum()
    )
    report = json.loads((tmp_path / "out" / "import_report.json").read_text())
    assert report["n_answers"] == len(found.panel)
    assert sum(own["rows"] for own in report["respondents"].values()) == len(found.panel)


def test_what_no_file_may_hold_is_replaced_and_a_question_without_words_gets_a_name(tmp_path):
    records = (
        LogRecord("1", prompt="???", text="Yes\0"),
        LogRecord("2", prompt="Who \ud800?", text="No \ud800"),
        LogRecord("3", prompt="", text='"Yes",\n\r\n"no"? Yes.'),
    )
    found = panel_from_logs([LogRun("s", "test", "m", "t", {}, records)])
    write_imported(found, tmp_path / "out")
    panel = load_panel(tmp_path / "out" / "panel.csv")
    assert panel.answers["m"].to_dict() == {"1": 1, "2": 0, "3": 1}
    assert panel.question_texts.tolist() == ["item 1", "Who ??", "item 3"]
    assert found.report["n_questions_without_text"] == 2


def test_yes_no_runs_with_other_settings_are_other_respondents_and_the_same_ones_are_samples():
    record = LogRecord("q", prompt="Who?", text="Yes")
    runs = [
        LogRun("a", "test", "org/m", "t", {"temperature": "0"}, (record,)),
        LogRun("b", "test", "org/m", "t", {"temperature": "1"}, (record, replace(record, text="No"))),
        LogRun("c", "test", "org/m", "t", {"temperature": "1"}, (record,)),
        LogRun("d", "test", "other/m", "t", {}, (record,)),
    ]
    found = panel_from_logs(runs)
    assert found.respondents["respondent"].tolist() == ["org/m: temperature=0", "org/m: temperature=1", "other/m"]
    assert found.panel["sample"].tolist() == [0, 0, 1, 2, 0]


def test_one_id_that_stands_for_two_questions_is_kept_apart_by_task():
    runs = [
        LogRun("a", "test", "m", "geo", {}, (LogRecord("1", prompt="Where is Oslo?", text="Yes"),)),
        LogRun("b", "test", "m", "art", {}, (LogRecord("1", prompt="Who wrote Emma?", text="No"),)),
        LogRun("c", "test", "m", "geo", {}, (LogRecord("2", prompt="Who sang?", text="No"),)),
        LogRun("d", "test", "m", "art", {}, (LogRecord("2", prompt="Well: who sang?", text="Yes"),)),
    ]
    found = panel_from_logs(runs)
    assert {question.id: question.text for question in found.questions} == {
        "geo/1": "Where is Oslo?",
        "art/1": "Who wrote Emma?",
        "2": "Who sang?",
    }


def test_a_tie_between_samples_of_the_question_is_unknown():
    said = LogRun("a", "test", "m", "can", {}, (LogRecord("q", prompt="Who?", text="Yes"),))
    scored = [LogRecord("q", prompt="Who?", text="x", scores={"s": right}) for right in (True, False)]
    found = panel_from_logs([said, LogRun("b", "test", "m", "do", {}, tuple(scored))])
    assert math.isnan(found.panel["answered_correctly"][0])
    found = panel_from_logs([said, LogRun("b", "test", "m", "do", {}, (*scored, scored[0]))])
    assert found.panel["answered_correctly"][0] == 1


def test_what_was_asked_can_be_said():
    run = LogRun("a", "test", "m", "boolq", {}, (LogRecord("q", prompt="Is ice cold?", text="Yes", accepted=("yes",)),))
    assert panel_from_logs([run]).panel["said_yes"][0] == 1
    found = panel_from_logs([run], asked="question")
    assert math.isnan(found.panel["said_yes"][0])
    assert found.panel["answered_correctly"][0] == 1
    with pytest.raises(InputError, match="choose one of auto, yes-no, question"):
        panel_from_logs([run], asked="maybe")


@pytest.mark.parametrize(
    ("prompts", "bare"),
    [
        (["Quiz\nQ: a?\nGo", "Quiz\nQ: b?\nGo", "Quiz\nQ: c?\nGo"], ["a?", "b?", "c?"]),
        (["Quiz\nQuestion: a?", "Quiz\nQuestion: b?"], ["a?", "b?"]),
        (["Quiz\nWho?", "Quiz\nWho?"], ["Quiz\nWho?", "Quiz\nWho?"]),
        (["What is a?", "What is b?", "What is c?"], ["What is a?", "What is b?", "What is c?"]),
        (["x\nsame\nsame", "y\nsame\nsame", "z\nsame\nsame"], ["x", "y", "z"]),
        (["[INST] Question: a?", "[INST] Question: b?", "[INST] Question: c?"], ["a?", "b?", "c?"]),
        (["a", "a", "a"], ["a", "a", "a"]),
        (["Quiz\nx\nA) 1\nB) none", "Quiz\ny\nA) 2\nB) none"], ["x\nA) 1\nB) none", "y\nA) 2\nB) none"]),
        ([], []),
    ],
)
def test_only_whole_lines_that_all_prompts_share_are_taken_away(prompts, bare):
    assert bare_questions(prompts)[0] == bare


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((1, True), (0.0, False), (True, True), ("C", True), ("I", False), ("incorrect", False), ("1", True)),
        *(("P", None), ("N", None), (0.5, None), (math.nan, None), (None, None), ({}, None), ("perhaps", None)),
    ],
)
def test_partial_credit_no_answer_and_nan_are_neither_right_nor_wrong(value, expected):
    assert is_right(value) is expected


EMPTY_LOG = {
    **{"version": 2, "status": "success", "samples": []},
    "eval": {
        **{"task": "can", "task_id": "t", "model": "srv/m", "dataset": {}, "config": {}},
        **{"created": "2026-01-01T00:00:00+00:00", "run_id": "r"},
    },
}


def test_a_format_that_is_not_known_is_refused(tmp_path):
    with pytest.raises(InputError, match="no format called 'inspct'; did you mean 'inspect'"):
        read_logs(tmp_path, format="inspct")


# ---- what logs say of an answer that is none -------------------------------------------------------------------------


def inspect_log(path, text, stop="stop", logprobs=None, scores=None, **about):
    samples = [
        {
            "id": n,
            "epoch": 1,
            "target": "Yes",
            "input": f"Question: Item {n}?\nCan you answer? Yes or No?",
            "uuid": f"u{n}",
            "scores": scores,
            "output": {
                "choices": [
                    {"message": {"role": "assistant", "content": text}, "stop_reason": stop, "logprobs": logprobs}
                ]
            },
        }
        for n in range(6)
    ]
    path.write_text(json.dumps(EMPTY_LOG | {"eval": EMPTY_LOG["eval"] | about, "samples": samples}))
    return read_logs(path)


@pytest.mark.parametrize(
    ("text", "stop", "said"),
    [
        ("Okay. Let me see. No, that is not it. The", "max_tokens", None),
        ("Okay. Let me see. No, that is not it. The", "model_length", None),
        ("<think>No, hard", "stop", None),
        ("[THINK]No.[/THINK]Yes, since", "max_tokens", 1.0),
        ("Yes", "max_tokens", 1.0),
        ("analysisIs it? No.assistantfinalYes", "stop", 1.0),
    ],
)
def test_an_answer_that_was_cut_off_in_its_reasoning_is_unread_at_import_too(tmp_path, text, stop, said):
    panel = panel_from_logs(inspect_log(tmp_path / "log.json", text, stop), asked="yes-no").panel
    assert (panel["said_yes"].isna() if said is None else panel["said_yes"] == said).all()


@pytest.mark.parametrize("model", ["none/none", "none"])
def test_a_log_without_a_model_is_of_the_model_that_has_a_role(tmp_path, model):
    roles = {"target": {"model": "openai/gpt-x"}}
    (run,) = inspect_log(tmp_path / "log.json", "Yes", model=model, model_roles=roles)
    assert run.model == "openai/gpt-x"


def test_rows_of_lm_eval_that_name_no_metric_and_no_filter_are_scored_and_their_filters_stay_apart(tmp_path):
    rows = [
        {"doc_id": n, "doc": {"question": f"{n} + {n}?"}, "target": str(2 * n), "arguments": {}, "resps": [["x"]],
         "filtered_resps": ["x"], "doc_hash": f"h{n}", "exact_match": float(n < right)}
        for right in (2, 3)
        for n in range(4)
    ]  # fmt: skip
    path = tmp_path / "samples_gsm8k_2024-09-01T10-00-00.000000.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    runs = read_logs(path)
    for number, n_right in ((1, 2), (2, 3)):
        found = panel_from_logs(runs, score=f"filter {number}/exact_match").panel["answered_correctly"]
        assert (found.sum(), found.notna().sum()) == (n_right, 4)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows[:4]))
    assert panel_from_logs(read_logs(path), score="exact_match").panel["answered_correctly"].sum() == 2


SAMPLES = [{"doc_id": n, "doc": {"question": f"{n}?"}, "doc_hash": f"h{n}", "target": str(n)} for n in range(3)]
FLAT = [{**row, "input": "?", "resps": ["x"], "filtered_resps": "x", "exact_match": 1.0} for row in SAMPLES]
LIKELY = [
    {**row, "arguments": [["?", " yes"], ["?", " no"]], "resps": [[[-1, False]], [[-2, False]]]} for row in SAMPLES
]


def lines(rows):
    return "\n".join(map(json.dumps, rows))


@pytest.mark.parametrize(
    ("name", "text", "column", "cell"),
    [
        ("flat.jsonl", lines(FLAT), "raw_text", "x"),
        ("a text alone.jsonl", lines({**row, "resps": "Paris"} for row in FLAT), "raw_text", "Paris"),
        ("array.jsonl", json.dumps(FLAT, indent=2), "answered_correctly", 1),
        ("array in a line.jsonl", json.dumps(FLAT), "answered_correctly", 1),
        ("array.json", json.dumps(FLAT), "answered_correctly", 1),
        ("byte order mark.jsonl", "\ufeff" + lines(FLAT), "answered_correctly", 1),
        ("objects.jsonl", lines({**row, "exact_match": {"score": 1.0}} for row in FLAT), "answered_correctly", 1),
        ("none.jsonl", lines({**row, "resps": []} for row in FLAT), "missing", "no text"),
        ("likely.jsonl", lines(LIKELY), "said_yes", 1),
        ("flat likely.jsonl", lines({**row, "resps": [[-1, 0], [-2, 0]]} for row in LIKELY), "said_yes", 1),
        (
            "texts.jsonl",
            lines({**row, "resps": [[["-1.0", "False"]], [["-2.0", "True"]]]} for row in LIKELY),
            "margin",
            1,
        ),
    ],
)
def test_samples_of_lm_eval_and_lmms_eval_in_whatever_nesting_are_read(tmp_path, name, text, column, cell):
    (tmp_path / f"samples_{name}").write_text(text, encoding="utf-8")
    (run,) = read_logs(tmp_path / f"samples_{name}")
    assert run.format == "lm-eval"
    assert panel_from_logs([run]).panel[column].tolist() == [cell] * 3


def test_files_that_ask_the_same_in_other_prompts_meet_in_the_bare_questions(tmp_path):
    rivers = ["Which river flows through Vienna?", "Which river flows through Cairo?"]
    for model, frame in (("a", "Take a quiz.\n{}"), ("b", "Question: {}\nReply yes or no.")):
        prompts = [frame.format(river) for river in rivers]
        pd.DataFrame({"model": model, "prompt": prompts, "raw_text": "Yes"}).to_csv(
            tmp_path / f"{model}.csv", index=False
        )
    sparse = [f"Yes or no?\n{river}" for river in rivers]
    pd.DataFrame({"model": ["c", "d"], "prompt": sparse, "raw_text": "No"}).to_csv(tmp_path / "c.csv", index=False)
    found = panel_from_logs(read_logs(tmp_path))
    assert [question.text for question in found.questions] == rivers
    assert found.panel.groupby("question_id")["respondent"].apply(list).tolist() == [["a", "b", "c"], ["a", "b", "d"]]
    bare = load_questions([{"question": river} for river in rivers])
    assert [question.id for question in bare] == list(found.panel["question_id"][:2])


@pytest.mark.parametrize(
    ("prompts", "said"),
    [
        (["Take a quiz.\nWho?"] * 2, "one prompt alone does not tell"),
        (["Can you answer this? Who? Yes or no.", "Can you answer this? Why? Yes or no."], "all prompts hold 'Can you"),
    ],
)
def test_what_may_be_no_part_of_the_question_is_said(tmp_path, prompts, said):
    pd.DataFrame({"model": ["a", "b"], "prompt": prompts, "raw_text": "Yes"}).to_csv(tmp_path / "t.csv", index=False)
    with pytest.warns(Notice, match=said):
        panel_from_logs(read_logs(tmp_path))


LOOSE = "Okay. Let me see. No, that is not it. The"
ENDS = [
    ("finish_reason", "length", LOOSE, None),
    ("stop_reason", "max_tokens", LOOSE, None),
    ("finishReason", "MAX_TOKENS", LOOSE, None),
    ("done_reason", "length", LOOSE, None),
    ("stop_reason", "model_context_window_exceeded", LOOSE, None),
    ("finish_reason", "error", "Yes", None),
    ("finish_reason", "insufficient_system_resource", "Yes", None),
    ("stop_reason", "content_filter", "No, I am sorry", None),
    ("finishReason", "SAFETY", "No, I am sorry", None),
    ("finish_reason", "stop", LOOSE, 0.0),
    ("stop_reason", "end_turn", "Yes, I can", 1.0),
    ("finish_reason", "length", "Yes, I can", 1.0),
    ("finish_reason", "", "Yes, I can", 1.0),
]


@pytest.mark.parametrize(("name", "reason", "text", "said"), ENDS)
@pytest.mark.parametrize("kind", ["table", "every-eval-ever", "lm-eval"])
def test_what_a_file_says_of_an_answers_end_counts_as_it_does_live(tmp_path, kind, name, reason, text, said):
    if kind == "table":
        rows = [{"model": "m", "question": f"Item {n}?", "raw_text": text, name: reason} for n in range(3)]
    elif kind == "lm-eval":
        rows = [{**row, "resps": [text], "filtered_resps": text, name: reason} for row in FLAT]
    else:
        rows = [json.loads(line) for line in (LOGS / "every_eval_ever/can_you_samples.jsonl").read_text().splitlines()]
        for row in rows:
            row |= {"error": None, "output": {"raw": [text]}}
            row["metadata"] = {"epoch": row["metadata"]["epoch"], name: reason}
    (tmp_path / "log.jsonl").write_text(lines(rows))
    panel = panel_from_logs(read_logs(tmp_path / "log.jsonl"), asked="yes-no").panel
    assert (panel["said_yes"].isna() if said is None else panel["said_yes"] == said).all()
    assert len(panel) == len(rows)


def shown(*tokens):
    return {
        "content": [
            {"token": token, "logprob": -0.1, "top_logprobs": [{"token": each, "logprob": log} for each, log in others]}
            for token, *others in tokens
        ]
    }


YES, NO = (("Yes", ("Yes", -0.1), ("No", -2.5)), ("No", ("No", -0.1), ("Yes", -2.5)))


@pytest.mark.parametrize(
    ("text", "logprobs", "margin"),
    [
        ("Yes", shown(YES), 2.4),
        ("No", shown(NO), -2.4),
        ("<think>No</think>Yes", shown(("<think>",), NO, ("</think>",), YES), 2.4),
        ("Yes", shown(("<think>",), NO, ("</think>",), YES), 2.4),
        ("Yes", shown(("Yes", ("Yes", -0.1), ("Maybe", -3.1))), 3.0),  # no is at most as likely as what is shown
        ("Yes", shown(("Yes", ("Yes", -0.1), ("No", -9999.0))), 2.252168),  # or as what is left
        ("Perhaps", shown(("Perhaps", ("Yes", -1.0), ("No", -2.0))), math.nan),
        ("Yes", None, math.nan),
    ],
)
def test_the_margin_of_a_log_is_read_at_the_answer_as_it_is_live(tmp_path, text, logprobs, margin):
    ((run,),) = [inspect_log(tmp_path / "log.json", text, logprobs=logprobs)]
    np.testing.assert_allclose([record.margin for record in run.records], margin, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        ({"resps": [[None]], "filtered_resps": [None]}, "no text"),
        ({"arguments": [["?", " yes"], ["?", " no"]], "resps": [[[3.0, False]], [[-2, False]]]}, "no text"),
        ({"arguments": [["?", " yes"], ["?", " no"]], "resps": [[["-inf", "False"]], [[-2, False]]]}, "no text"),
        ({"exact_match": 0.5}, "not graded"),
        ({"exact_match": "x", "metrics": ["exact_match"]}, "not graded"),
    ],
)
def test_what_lm_eval_could_not_say_is_blank(tmp_path, change, missing):
    (tmp_path / "samples_x.jsonl").write_text(lines({**row, **change} for row in FLAT))
    panel = panel_from_logs(read_logs(tmp_path / "samples_x.jsonl"), asked="question").panel
    assert panel["missing"].tolist() == [missing] * 3
    assert panel[["said_yes", "answered_correctly"]].isna().all(axis=None)
