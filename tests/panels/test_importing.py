"""Logs of other tools, as those tools wrote them, become panels in which nothing unread or failed is a no.

tests/reference/imports holds what inspect_ai 0.3.285, lm_eval 0.4.13 and every_eval_ever 0.3.0 (which converts the
other two) wrote on the embedded model, or on a mock where an answer had to be reasoned.
"""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from onedial.core.errors import InputError
from onedial.core.notices import Notice
from onedial.panels.formats.formats import read_logs
from onedial.panels.formats.imported_panel import panel_from_logs
from onedial.panels.formats.prompts import bare_questions
from onedial.panels.formats.records import LogChoices, LogRecord, LogRun, is_right
from onedial.panels.formats.write_imported import write_imported
from onedial.panels.panel_files import load_panel
from onedial.panels.questions.question_files import load_questions
from onedial.panels.spellings import Spellings

pytestmark = pytest.mark.filterwarnings("ignore::onedial.core.notices.Notice")
LOGS = Path(__file__).parents[1] / "reference" / "imports"
SHARES = LogChoices(confidence_scale=1)
BY_QID = LogChoices(columns={"question_id": "qid"})
ASKED = {"can_you": "yes-no", "can_you_reasoned": "yes-no", "can_you_text": "yes-no", "": "question"}


def imported(*paths, asked=ASKED, score=None):
    runs = [run for path in paths for run in read_logs(LOGS / path, BY_QID if "lm_eval" in str(path) else SHARES)]
    tasks = {"", *(run.task for run in runs)}
    return panel_from_logs(runs, {task: kind for task, kind in asked.items() if task in tasks}, score, "cut")


def cells(imported, column, respondent=None):
    panel = imported.panel if respondent is None else imported.panel[imported.panel["respondent"] == respondent]
    return panel.set_index(["question_id", "sample"])[column]


def lines(rows):
    return "\n".join(map(json.dumps, rows))


# ---- Inspect -----------------------------------------------------------------------------------------------------


def test_inspect_gives_every_epoch_and_leaves_failures_blank():
    log = imported("inspect/can_you.eval")
    said_yes, missing = cells(log, "said_yes"), cells(log, "missing")
    assert len(log.panel) == 8
    assert said_yes["geo-001", 0] == 0
    assert said_yes[["geo-004"]].isna().all()
    assert missing[["geo-004"]].str.startswith("error: ").all()
    assert missing["geo-003", 0] == "unread"  # "Ireland to New York would be"
    assert math.isnan(said_yes["geo-003", 0])
    assert said_yes["geo-003", 1] == 0  # "No: Ireland and New York are not"
    (run,) = log.report["runs"]
    assert (run["format"], run["model"], run["asked"]) == ("inspect", "hf/smollm2-135m-instruct", "yes-no")
    assert run["prompt_after"] == "Can you answer this question correctly? Yes or No?"
    texts = {question.id: question.text for question in log.questions}
    assert texts["geo-002"] == "Name the city on the Seine that is the capital of France."
    assert all(question.answers == () for question in log.questions)  # the log's target is "Yes", which is no key


@pytest.mark.parametrize("status", ["error", "cancelled", "started"])
def test_half_of_an_evaluation_is_refused_unless_asked_for(tmp_path, status):
    log = json.loads((LOGS / "inspect/can_you_reasoned_as.json").read_text(encoding="utf-8"))
    n_all = len(log["samples"])
    log |= {"status": status, "samples": log["samples"][: n_all // 2]}
    (tmp_path / "half.json").write_text(json.dumps(log), encoding="utf-8")
    with pytest.raises(InputError, match=f"status '{status}' that holds {n_all // 2} of {n_all} samples; finish it"):
        read_logs(tmp_path / "half.json", SHARES)
    (run,) = read_logs(tmp_path / "half.json", replace(SHARES, incomplete=True))
    assert len(run.records) == n_all // 2


def test_reasoned_answers_and_stated_confidence_are_read():
    log = imported("inspect/can_you_reasoned.eval")
    assert cells(log, "said_yes").fillna(-1).tolist() == [1, 0, -1, 1]
    np.testing.assert_array_equal(cells(log, "confidence"), [0.9, 0.2, np.nan, 0.75])
    assert cells(log, "missing").fillna("").tolist() == ["", "", "unread", ""]
    assert log.report["unread_examples"][0]["text"] == "Perhaps; who can tell?"
    with pytest.raises(InputError, match=r"gives the confidence 0\.9; .* --confidence-scale 100"):
        read_logs(LOGS / "inspect/can_you_reasoned.eval")


def test_the_same_log_in_both_forms_counts_once():
    paths = ("inspect/can_you_reasoned.eval", "inspect/can_you_reasoned_as.json")
    both, one = imported(*paths), imported(paths[1])
    assert both.report["left_out"] == {"copy of an answer that another log holds": 4}
    pd.testing.assert_frame_equal(both.panel, one.panel)


def test_a_log_of_the_questions_themselves_fills_in_correctness():
    """Of the same model; another model's answers are left out, which is said."""
    alone = imported("inspect/can_you.eval")
    assert alone.panel["answered_correctly"].isna().all()
    both = imported("inspect/can_you.eval", "inspect/closed_book.eval")
    assert cells(both, "answered_correctly")[["geo-001", "geo-002"]].tolist() == [0, 0, 1, 1]
    assert len(both.panel) == len(alone.panel)
    assert {question.id: question.answers for question in both.questions}["geo-002"] == ("Paris",)
    other = imported("inspect/can_you_reasoned.eval", "inspect/closed_book.eval")
    assert other.panel["answered_correctly"].isna().all()
    assert "asked the questions alone" in next(iter(other.report["left_out"]))


def test_a_chosen_score_counts_and_an_unknown_one_is_refused():
    log = imported("inspect/can_you_reasoned.eval", score="sure")
    assert cells(log, "answered_correctly").tolist() == [1, 0, 0, 1]
    with pytest.raises(InputError, match="no score called 'shure'; did you mean 'sure'"):
        imported("inspect/can_you_reasoned.eval", score="shure")


EMPTY_LOG = {
    **{"version": 2, "status": "success", "samples": []},
    "eval": {
        **{"task": "can", "task_id": "t", "model": "srv/m", "dataset": {}, "config": {}},
        **{"created": "2026-01-01T00:00:00+00:00", "run_id": "r"},
    },
}


def inspect_log(path, *texts, stop="stop", logprobs=None, scores=None, **about):
    choices = [
        {"message": {"role": "assistant", "content": text}, "stop_reason": stop, "logprobs": logprobs} for text in texts
    ]
    samples = [
        {"id": n, "epoch": 1, "target": "Yes", "input": f"Question: Item {n}?\nCan you answer? Yes or No?",
         "uuid": f"u{n}", "scores": scores, "output": {"choices": choices}}
        for n in range(6)
    ]  # fmt: skip
    path.write_text(json.dumps(EMPTY_LOG | {"eval": EMPTY_LOG["eval"] | about, "samples": samples}))
    return read_logs(path)


@pytest.mark.parametrize(
    ("text", "stop", "expected"),
    [
        ("Okay. Let me see. No, that is not it. The", "max_tokens", None),
        ("Okay. Let me see. No, that is not it. The", "model_length", None),
        ("<think>No, hard", "stop", None),
        ("[THINK]No.[/THINK]Yes, since", "max_tokens", 1.0),
        ("Yes", "max_tokens", 1.0),
        ("analysisIs it? No.assistantfinalYes", "stop", 1.0),
    ],
)
def test_an_answer_cut_off_in_its_reasoning_is_unread(tmp_path, text, stop, expected):
    panel = panel_from_logs(inspect_log(tmp_path / "log.json", text, stop=stop), "yes-no", None, "cut").panel
    assert (panel["said_yes"].isna() if expected is None else panel["said_yes"] == expected).all()


def test_a_log_without_a_model_is_of_the_one_with_a_role(tmp_path):
    roles = {"target": {"model": "openai/gpt-x"}}
    (run,) = inspect_log(tmp_path / "log.json", "Yes", model="none/none", model_roles=roles)
    assert run.model == "openai/gpt-x"


def test_every_choice_of_a_response_is_a_sample(tmp_path):
    (run,) = inspect_log(tmp_path / "log.json", "No", "Yes", "Yes", scores={"s": {"value": "C"}})
    panel = panel_from_logs([run], "yes-no", shared_lines="keep").panel
    assert panel.groupby("question_id")["said_yes"].apply(list).tolist() == [[0, 1, 1]] * 6
    assert [record.scores for record in run.records[:3]] == [{"s": True}, {}, {}]


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
        ("<think>No</think>Yes", shown(("<think>",), NO, ("</think>",), YES), 2.4),
        ("Yes", shown(("Yes", ("Yes", -0.1), ("Maybe", -3.1))), 3.0),  # no is at most as likely as what is shown
        ("Yes", shown(("Yes", ("Yes", -0.1), ("No", -9999.0))), 2.252168),  # or as what is left
        ("Perhaps", shown(("Perhaps", ("Yes", -1.0), ("No", -2.0))), math.nan),
    ],
)
def test_the_margin_of_a_log_is_read_at_the_answer(tmp_path, text, logprobs, margin):
    ((run,),) = [inspect_log(tmp_path / "log.json", text, logprobs=logprobs)]
    np.testing.assert_allclose([record.margin for record in run.records], margin, atol=1e-6)


# ---- lm-eval -----------------------------------------------------------------------------------------------------

LM = "lm_eval/org__smollm2-135m-instruct"


def lm_file(task):
    return next((LOGS / LM).glob(f"samples_{task}_2*"))


def test_log_likelihoods_give_margin_mass_and_answer():
    log = imported(lm_file("can_you"))
    row = json.loads(lm_file("can_you").read_text().splitlines()[0])
    yes, no = (float(option[0][0]) for option in row["resps"])
    first = log.panel.iloc[0]
    assert first["margin"] == pytest.approx(yes - no)
    assert first["mass"] == pytest.approx(math.exp(yes) + math.exp(no))
    assert first["said_yes"] == (yes > no)
    assert first["question_id"] == "geo-001"
    assert log.respondents["model"].tolist() == ["org/smollm2-135m-instruct"]


def test_filters_that_differ_must_be_chosen_between():
    """A row for each filter is one answer."""
    path = lm_file("closed")
    with pytest.raises(InputError, match=r"several ways that differ \('strict/exact_match', 'last-word/exact_match'\)"):
        imported(path)
    log = imported(path, score="last-word/exact_match")
    assert cells(log, "answered_correctly").tolist() == [0, 1, 0, 0]
    assert imported(path, score="strict/exact_match").panel["answered_correctly"].sum() == 0


def test_tasks_of_one_model_are_framings_and_meet_on_ids():
    log = imported(LM, score="last-word/exact_match")
    assert log.respondents["framing"].tolist() == ["can_you", "can_you_text"]
    assert log.report["n_questions"] == 4
    assert cells(log, "answered_correctly", "smollm2-135m-instruct: can_you")["geo-002", 0] == 1


def test_a_document_is_read_by_the_preset_of_its_task_or_by_columns(tmp_path):
    row = {"doc_id": 0, "doc": {"ctx": "A man sits", "text": "Who?", "activity_label": "sport"}, "resps": [["x"]]}
    (tmp_path / "samples_hellaswag_2026-01-01T00-00-00.0.jsonl").write_text(json.dumps(row))
    for columns, question in (({}, "A man sits"), ({"question": "text"}, "Who?")):
        (run,) = read_logs(tmp_path, LogChoices(columns=columns))
        assert (run.records[0].question, run.records[0].topic) == (question, "sport")
    with pytest.raises(InputError, match="has no text under 'activity', which is to be its topic"):
        read_logs(tmp_path, LogChoices(columns={"topic": "activity"}))


def likely(tmp_path, arguments, logs, choices=None, **more):
    """A file of one document whose options have these contexts, continuations and log-likelihoods."""
    row = {"doc_id": 0, "doc": {"question": "Q?"}, "doc_hash": "h", "resps": [[[log, False]] for log in logs], **more}
    row["arguments"] = {f"gen_args_{n}": {"arg_0": each[0], "arg_1": each[1]} for n, each in enumerate(arguments)}
    (tmp_path / "samples_x.jsonl").write_text(json.dumps(row))
    return read_logs(tmp_path / "samples_x.jsonl", choices)


def test_other_options_are_chosen_by_their_likelihood(tmp_path):
    log = panel_from_logs(likely(tmp_path, [("Q?", " Africa"), ("Q?", " Europe")], [-2, -1], target="1"), "question")
    (question,) = log.questions
    assert (question.options, question.answers) == (("Africa", "Europe"), ("B", "Europe"))
    assert log.panel[["raw_text", "answered_correctly"]].values.tolist() == [["Europe", 1]]


def test_letters_stand_for_the_options_of_the_document(tmp_path):
    """MMLU's tasks score letters; the preset of their group says where the options are, and a field that is named."""
    arguments = [("Q?\nA. Asia\nB. Europe\nAnswer:", f" {letter}") for letter in "AB"]
    with pytest.raises(InputError, match=r"scores the letters A, B; .*--columns options=FIELD.: it holds 'question'"):
        likely(tmp_path, arguments, [-2, -1], target="1")
    doc = {"question": "Q?", "subject": "maps", "choices": ["Asia", "Europe"], "answer": 1}
    likely(tmp_path, arguments, [-2, -1], doc=doc, target="1", choices=LogChoices(columns={"options": "choices"}))
    (tmp_path / "samples_x.jsonl").rename(tmp_path / "samples_mmlu_maps.jsonl")
    (question,) = panel_from_logs(read_logs(tmp_path / "samples_mmlu_maps.jsonl"), "question").questions
    assert (question.text, question.options, question.answers) == ("Q?", ("Asia", "Europe"), ("B", "Europe"))


def test_a_target_that_may_be_two_options_is_none(tmp_path):
    """The place 1, or the option "1"."""
    log = panel_from_logs(likely(tmp_path, [("Q?", " 1"), ("Q?", " 2")], [-2, -1], target="1"), "question")
    assert log.questions[0].right_option is None


def test_a_worked_solution_is_known_by_its_number(tmp_path):
    row = {"doc_id": 0, "doc": {"question": "Q?"}, "target": "So\n#### 12", "resps": [["It is 12."]]}
    (tmp_path / "samples_gsm8k_cot.jsonl").write_text(json.dumps(row))
    log = panel_from_logs(read_logs(tmp_path, LogChoices(columns={"final": "####"})), "question")
    assert (log.questions[0].answers, log.questions[0].grading) == (("12",), "number")
    assert log.panel["answered_correctly"].tolist() == [1]


def test_of_mutual_information_the_answers_to_the_question_count(tmp_path):
    arguments = [("Q?", " Yes"), ("Q?", " No"), ("", " Yes"), ("", " No")]
    panel = panel_from_logs(likely(tmp_path, arguments, [-0.2, -1.8, -2.0, -1.2]), "yes-no").panel
    assert panel[["said_yes", "margin"]].values.tolist() == [[1, pytest.approx(1.6)]]


def test_of_several_inputs_the_likeliest_is_the_answer(tmp_path):
    arguments = [("The cup, since the cup", " is big."), ("The cup, since the bag", " is big.")]
    (run,) = likely(tmp_path, arguments, [-3, -1])
    assert run.records[0].text == "The cup, since the bag"
    assert len(run.records[0].options) == 2


@pytest.mark.parametrize("n_filters", [1, 2])
def test_older_rows_that_name_no_metric_are_scored(tmp_path, n_filters):
    rows = [
        {"doc_id": n, "doc": {"question": f"{n} + {n}?"}, "target": str(2 * n), "arguments": {}, "resps": [["x"]],
         "filtered_resps": ["x"], "doc_hash": f"h{n}", "exact_match": float(n < right)}
        for right in (2, 3)[:n_filters]
        for n in range(4)
    ]  # fmt: skip
    (tmp_path / "samples_x.jsonl").write_text(lines(rows))
    for number, n_right in ((1, 2), (2, 3))[:n_filters]:
        score = f"filter {number}/exact_match" if n_filters > 1 else "exact_match"
        panel = panel_from_logs(read_logs(tmp_path / "samples_x.jsonl"), "question", score).panel
        assert (panel["answered_correctly"].sum(), len(panel)) == (n_right, 4)


SAMPLES = [{"doc_id": n, "doc": {"question": f"{n}?"}, "doc_hash": f"h{n}", "target": str(n)} for n in range(3)]
FLAT = [{**row, "input": "?", "resps": ["x"], "filtered_resps": "x", "exact_match": 1.0} for row in SAMPLES]
LIKELY = [
    {**row, "arguments": [["?", " yes"], ["?", " no"]], "resps": [[[-1, False]], [[-2, False]]]} for row in SAMPLES
]


@pytest.mark.parametrize(
    ("name", "rows", "column", "cell"),
    [
        ("a text alone.jsonl", [{**row, "resps": "Paris"} for row in FLAT], "raw_text", "Paris"),
        ("array.json", FLAT, "answered_correctly", 1),
        ("objects.jsonl", [{**row, "exact_match": {"score": 1.0}} for row in FLAT], "answered_correctly", 1),
        ("likely.jsonl", LIKELY, "said_yes", 1),
        ("flat likely.jsonl", [{**row, "resps": [[-1, 0], [-2, 0]]} for row in LIKELY], "said_yes", 1),
        ("texts.jsonl", [{**row, "resps": [[["-1.0", "F"]], [["-2.0", "T"]]]} for row in LIKELY], "missing", "no text"),
        ("none.jsonl", [{**row, "resps": []} for row in FLAT], "missing", "no text"),
        ("null.jsonl", [{**row, "resps": [[None]]} for row in FLAT], "missing", "no text"),
        ("above 0.jsonl", [{**row, "resps": [[[3.0, False]], [[-2, False]]]} for row in LIKELY], "missing", "no text"),
        ("half.jsonl", [{**row, "exact_match": 0.5} for row in FLAT], "missing", "not graded"),
    ],
)
def test_samples_in_whatever_nesting_are_read_or_blank(tmp_path, name, rows, column, cell):
    (tmp_path / f"samples_{name}").write_text(json.dumps(rows) if name.endswith(".json") else lines(rows))
    (run,) = read_logs(tmp_path / f"samples_{name}")
    assert run.format == "lm-eval"
    panel = panel_from_logs([run], "yes-no" if column == "said_yes" else "question").panel
    assert panel[column].tolist() == [cell] * 3


# ---- Every Eval Ever ---------------------------------------------------------------------------------------------


def test_every_eval_ever_says_what_its_source_says():
    ours = imported("inspect/can_you.eval", "inspect/closed_book.eval")
    theirs = imported("every_eval_ever/can_you_samples.jsonl", "every_eval_ever/closed_book_samples.jsonl")
    columns = ["question_id", "said_yes", "answered_correctly"]
    sides = []
    for log in (ours, theirs):
        panel = log.panel.assign(raw_text=log.panel["raw_text"].str.lower())
        panel = panel.sort_values(["question_id", "raw_text"], kind="stable").reset_index(drop=True)
        sides.append(panel[columns].assign(failed=panel["missing"].str.startswith("error: ", na=False)))
    pd.testing.assert_frame_equal(*sides)
    assert sides[1]["failed"].sum() == 2


def test_an_error_or_a_graded_score_is_no_wrong_answer(tmp_path):
    rows = [json.loads(line) for line in (LOGS / "every_eval_ever/closed_book_samples.jsonl").read_text().splitlines()]
    rows[0]["evaluation"] = {"score": 0.4, "is_correct": False}
    rows[1]["error"] = "server\nclosed"
    (tmp_path / "x_samples.jsonl").write_text(lines(rows))
    panel = panel_from_logs(read_logs(tmp_path / "x_samples.jsonl", SHARES), "question", None, "cut").panel
    assert panel["answered_correctly"].isna().tolist()[:2] == [True, True]
    assert panel["missing"].tolist()[:2] == ["not graded", "error: server closed"]


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
    result = panel_from_logs(read_logs(table(tmp_path), choices))
    a, b = (result.panel[result.panel["respondent"] == name] for name in "ab")
    np.testing.assert_array_equal(a["said_yes"], [1, 1, np.nan])
    np.testing.assert_array_equal(b["said_yes"], [0, 0, np.nan])
    np.testing.assert_array_equal(a["confidence"], [0.8, 0.55, np.nan])
    np.testing.assert_array_equal(a["answered_correctly"], [1, 0, np.nan])
    np.testing.assert_array_equal(b["answered_correctly"], [1, np.nan, 0])
    assert a["raw_text"].tolist()[1:] == ["I think so. Yes.", "hard to say"]
    assert result.questions[0].text == "Who wrote Emma?"


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
        (TABLE, LogChoices(columns={"sayed": "verdict"}), "of a table file may be named question_id"),
        (TABLE, LogChoices(columns=COLUMNS), "confidence '80'; say what stands for certain"),
        (TABLE, LogChoices(columns=COLUMNS, confidence_scale=10), "confidence '80', outside 0 to 10"),
        (TABLE.replace("80", "high"), LogChoices(columns=COLUMNS), "confidence 'high', which is no number"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_by_place(tmp_path, text, choices, complaint):
    with pytest.raises(InputError, match=complaint):
        panel_from_logs(read_logs(table(tmp_path, text), choices))


def test_a_table_under_declared_samples_or_listed_respondents_is_read(tmp_path):
    text = "id,model,said_yes,step\nq1,human,1,1\nq1,human,0,2\nq1,human,1,3\n"
    (tmp_path / "respondents.csv").write_text("respondent\nhuman\n")
    result = panel_from_logs(read_logs(table(tmp_path, text), LogChoices(columns={"sample": "step"})))
    assert result.panel["said_yes"].tolist() == [1, 0, 1]


def test_spellings_are_read_in_a_wide_table(tmp_path):
    choices = LogChoices(spellings=Spellings(("oui",), ("non",), ("rien",)))
    path = table(tmp_path, "question_id,a,b\nq1,oui,non\nq2,non,rien\n")
    imported = panel_from_logs(read_logs(path, choices)).panel.pivot(
        index="question_id", columns="respondent", values="said_yes"
    )
    np.testing.assert_array_equal(imported, [[1, 0], [0, np.nan]])


def test_framings_of_a_table_are_respondents_of_one_model(tmp_path):
    text = "respondent,prompt_id,question_id,said_yes\nm,bold,q1,1\nm,shy,q1,0\n"
    result = panel_from_logs(read_logs(table(tmp_path, text), LogChoices(columns={"framing": "prompt_id"})))
    again = panel_from_logs(read_logs(table(tmp_path, text.replace("respondent,prompt_id", "model,framing"), "u.csv")))
    assert result.respondents.equals(again.respondents)
    assert result.respondents.to_dict("list") == {
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
    result = panel_from_logs(read_logs(tmp_path / "batch.jsonl"), "yes-no")
    assert result.panel["question_id"].tolist() == ["q0", "q0", "q0", "q1", "q2", "q3"]
    np.testing.assert_array_equal(result.panel["said_yes"], [0, 1, 1, np.nan, np.nan, np.nan])
    assert result.panel["missing"].tolist()[3:] == ["unread", "max_tokens is too large", "batch_expired"]


def test_a_batch_of_anthropic_is_read_without_its_thoughts(tmp_path):
    content = [{"type": "thinking", "thinking": "No."}, {"type": "text", "text": "Yes"}]
    message = {"model": "river-1", "content": content, "stop_reason": "end_turn"}
    rows = [
        {"custom_id": "q1", "result": {"type": "succeeded", "message": message}},
        {"custom_id": "q2", "result": {"type": "errored", "error": {"error": {"message": "too long"}}}},
        {"custom_id": "q3", "result": {"type": "expired"}},
    ]
    (tmp_path / "batch.jsonl").write_text(lines(rows))
    result = panel_from_logs(read_logs(tmp_path / "batch.jsonl"), "yes-no")
    np.testing.assert_array_equal(result.panel["said_yes"], [1, np.nan, np.nan])
    assert result.panel["missing"].tolist()[1:] == ["too long", "expired"]
    assert set(result.panel["respondent"]) == {"river-1"}


def said(role, text):
    return {"role": role, "content": text}


ASKED_AND_SAID = (("Can you sing?", "Yes."), ("Can you run?", "No."), ("Can you sing?", "No."))
LOGS_OF_SERVERS = {
    "OpenAI": (
        lambda asked, text: {
            **{"model": "m", "messages": [said("user", asked)]},
            "response": {"choices": [{"message": said("assistant", text)}]},
        },
        {"prompt": "messages.0.content", "raw_text": "response.choices.0.message.content"},
    ),
    "FastChat": (
        lambda asked, text: {
            **{"type": "chat", "model": "m"},
            "state": {"roles": ["USER", "ASSISTANT"], "messages": [["USER", asked], ["ASSISTANT", text]]},
        },
        {"prompt": "state.messages.0.1", "raw_text": "state.messages.1.1"},
    ),
    "Bedrock": (
        lambda asked, text: {
            **{"recordId": asked + text, "modelInput": {"messages": [said("user", [{"type": "text", "text": asked}])]}},
            "modelOutput": {"model": "m", "content": [{"type": "text", "text": text}]},
        },
        {
            **{"respondent": "modelOutput.model", "prompt": "modelInput.messages.0.content.0.text"},
            **{"raw_text": "modelOutput.content.0.text", "sample": "recordId"},
        },
    ),
    "a script": (
        lambda asked, text: {"llm": "m", "prompt": asked, "response": text},
        {"respondent": "llm", "raw_text": "response"},
    ),
}


@pytest.mark.parametrize("server", LOGS_OF_SERVERS)
def test_the_fields_of_a_servers_log_are_shown_and_declared(tmp_path, server):
    row_of, columns = LOGS_OF_SERVERS[server]
    (tmp_path / "log.jsonl").write_text(lines([row_of(*pair) for pair in ASKED_AND_SAID]))
    with pytest.raises(InputError, match=r"row 1 holds .*respondent=FIELD,.*--asked yes-no") as refusal:
        read_logs(tmp_path / "log.jsonl")
    for field, text in ((columns.get("prompt", "prompt"), "Can you sing?"), (columns["raw_text"], "Yes.")):
        assert f"{field}: {text!r}" in str(refusal.value)
    panel = panel_from_logs(read_logs(tmp_path / "log.jsonl", LogChoices(columns=columns)), "yes-no").panel
    assert panel["respondent"].unique().tolist() == ["m"]
    assert panel["said_yes"].tolist() == [1, 0, 0]
    assert panel["question_id"].nunique() == 2


def test_a_batch_of_responses_is_read_without_its_reasoning(tmp_path):
    def response(n, reason, *parts):
        output = [{"type": "reasoning", "summary": []}, {"type": "message", "content": list(parts)}]
        body = {"model": "gpt-y", "output": output, "incomplete_details": reason and {"reason": reason}, "error": None}
        return {"custom_id": f"q{n}", "response": {"status_code": 200, "body": body}, "error": None}

    yes = {"type": "output_text", "text": "Yes"}
    rows = [response(1, None, yes), response(2, "max_output_tokens"), response(3, "content_filter", yes)]
    rows.append(response(4, None, {"type": "refusal", "refusal": "No."}))
    (tmp_path / "batch.jsonl").write_text(lines(rows))
    panel = panel_from_logs(read_logs(tmp_path / "batch.jsonl"), "yes-no").panel
    np.testing.assert_array_equal(panel["said_yes"], [1, np.nan, np.nan, np.nan])
    assert panel["missing"].tolist()[1:] == ["unread", "content filter", "unread"]


def test_batches_of_google_are_read_by_key_or_by_text(tmp_path):
    def line(text, end, **more):
        parts = [{"text": "No.", "thought": True}, {"text": text}]
        candidate = {"content": {"parts": parts, "role": "model"}, "finishReason": end}
        return {"response": {"candidates": [candidate], "modelVersion": "river-2"}, **more}

    rows = [line("Yes", "STOP", key="q1"), line("Yes", "SAFETY", key="q2"), {"key": "q3", "error": {"message": "late"}}]
    (tmp_path / "gemini.jsonl").write_text(lines(rows))
    asked = [{"contents": [{"role": "user", "parts": [{"text": text}]}]} for text in ("Who?", "Why?")]
    rows = [line("No", "STOP", request=asked[0], status="")]
    rows.append({"request": asked[1], "status": "too long", "response": {}})
    (tmp_path / "vertex.jsonl").write_text(lines(rows))
    panel = panel_from_logs(read_logs(tmp_path), "yes-no").panel
    np.testing.assert_array_equal(panel["said_yes"], [1, np.nan, np.nan, 0, np.nan])
    assert panel["missing"].dropna().tolist() == ["content filter", "late", "too long"]
    assert panel["question"].tolist()[3:] == ["Who?", "Why?"]


def test_what_a_column_answer_answers_is_said(tmp_path):
    """A yes may answer the question itself, as in BoolQ."""
    path = table(tmp_path, "model,question,answer,accepted\nm,Is ice cold?,yes,yes\nm,Is ice hot?,yes,no\n")
    with pytest.raises(InputError, match=r"--asked yes-no .* --asked question .*first answer 'yes'"):
        panel_from_logs(read_logs(path, LogChoices(columns={"accepted": "accepted"})))
    assert panel_from_logs(read_logs(path), "yes-no").panel["said_yes"].tolist() == [1, 1]
    assert panel_from_logs(read_logs(path), "question").panel["answered_correctly"].tolist() == [1, 0]


def test_rollouts_are_samples_of_their_questions(tmp_path):
    """Conversations as lists of messages, each with an id of its own."""
    rows = [
        {"id": n, "example": n // 2, "prompt": [{"role": "user", "content": f"{n // 2} + 1?"}], "gold": f"{n // 2 + 1}",
         "completion": [{"role": "assistant", "content": f"{n % 2 + 1}"}], "model": "m"}
        for n in range(6)
    ]  # fmt: skip
    (tmp_path / "r.jsonl").write_text(lines(rows))
    columns = {"accepted": "gold", "raw_text": "completion", "question": "prompt"}
    with pytest.raises(InputError, match=r"an id of its own, though 3 texts come again; .*question_id=COLUMN"):
        read_logs(tmp_path / "r.jsonl", LogChoices(columns=columns))
    log = panel_from_logs(
        read_logs(tmp_path / "r.jsonl", LogChoices(columns=columns | {"question_id": "example"})), "question"
    )
    assert log.panel.groupby("question_id")["answered_correctly"].sum().tolist() == [1, 1, 0]
    write_imported(log, tmp_path / "out")
    assert load_panel(tmp_path / "out" / "panel.csv").answers.shape == (3, 1)


# ---- all formats -------------------------------------------------------------------------------------------------


def test_the_panel_goes_straight_into_the_loaders(tmp_path):
    log = imported("inspect/can_you.eval", "inspect/can_you_reasoned.eval", "inspect/closed_book.eval")
    write_imported(log, tmp_path / "out")
    panel = load_panel(tmp_path / "out" / "panel.csv")
    questions = load_questions(tmp_path / "out" / "questions.jsonl")
    assert [question.id for question in questions] == list(panel.answers.index)
    assert list(panel.respondents["model"]) == ["hf/smollm2-135m-instruct", "mockllm/reasoner"]
    assert panel.responses["confidence"].dropna().tolist() == [0.9, 0.2, 0.75]
    shares = log.panel.groupby(["question_id", "respondent"])["said_yes"].mean()
    assert panel.answers.isna().sum().sum() == (shares.isna() | (shares == 0.5)).sum()
    report = json.loads((tmp_path / "out" / "import_report.json").read_text())
    assert report["n_answers"] == sum(counts["rows"] for counts in report["respondents"].values()) == len(log.panel)


def test_what_no_file_may_hold_is_replaced(tmp_path):
    records = (
        LogRecord("1", prompt="???", text="Yes\0"),
        LogRecord("2", prompt="Who \ud800?", text="No \ud800"),
        LogRecord("3", prompt="", text='"Yes",\n\r\n"no"? Yes.'),
    )
    log = panel_from_logs([LogRun("s", "test", "m", "t", {}, records)], "yes-no")
    write_imported(log, tmp_path / "out")
    panel = load_panel(tmp_path / "out" / "panel.csv")
    assert panel.answers["m"].to_dict() == {"1": 1, "2": 0, "3": 1}
    assert panel.question_texts.tolist() == ["item 1", "Who ??", "item 3"]
    assert log.report["n_questions_without_text"] == 2


def run_of(task, *records, model="m", **settings):
    return LogRun(task, "test", model, task, settings, tuple(LogRecord(*record) for record in records))


def test_other_settings_are_other_respondents_and_the_same_are_samples():
    yes, no = ("q", "Who?", (), "Yes"), ("q", "Who?", (), "No")
    runs = [
        run_of("t", yes, model="org/m", temperature="0"),
        run_of("t", yes, no, model="org/m", temperature="1"),
        run_of("t", yes, model="org/m", temperature="1"),
        run_of("t", yes, model="other/m"),
    ]
    log = panel_from_logs(runs, "yes-no")
    assert log.respondents["respondent"].tolist() == ["org/m: temperature=0", "org/m: temperature=1", "other/m"]
    assert log.panel["sample"].tolist() == [0, 0, 1, 2, 0]


@pytest.mark.parametrize("tasks", [("geo", "geo"), ("geo", "art")])
def test_ids_that_stand_for_several_texts_give_way_to_these(tasks):
    """As after a shuffle, or where two tables count from 1: the same text under two ids is one question."""
    first = run_of(tasks[0], ("1", "Where is Oslo?", (), "Yes"), ("2", "Who sang?", (), "No"), model="a")
    second = run_of(tasks[1], ("1", "Well: who sang?", (), "No"), ("2", "Where is Oslo?", (), "Yes"), model="b")
    with pytest.warns(Notice, match="2 ids of .* stand for several texts, first '1'"):
        log = panel_from_logs([first, second], "yes-no")
    said_yes = log.panel.pivot(index="question", columns="respondent", values="said_yes")
    assert said_yes.loc["Where is Oslo?"].tolist() == [1, 1]
    same = run_of("art", ("2", "Well: who sang?", (), "No"), model="b")
    assert [question.id for question in panel_from_logs([first, same], "yes-no").questions] == ["1", "2"]


def test_a_tie_between_samples_of_the_question_is_unknown():
    can_run = run_of("can", ("q", "Who?", (), "Yes"))
    scored = [LogRecord("q", prompt="Who?", text="x", scores={"s": right}) for right in (True, False)]
    for rows, expected in ((scored, np.nan), ((*scored, scored[0]), 1)):
        log = panel_from_logs(
            [can_run, LogRun("b", "test", "m", "do", {}, tuple(rows))], {"can": "yes-no", "": "question"}
        )
        np.testing.assert_array_equal(log.panel["answered_correctly"], expected)


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (None, r"--asked can=yes-no,do=yes-no .can: first answer 'Yes'; do: first answer 'No'"),
        ("maybe", "=maybe says what was asked: .*yes-no or question"),
        ({"cann": "yes-no", "": "question"}, "cann=yes-no says what was asked: the tasks are 'can', 'do'"),
        ({"can": "yes-no"}, "say what was asked: .*do: first answer 'No'"),
    ],
)
def test_what_was_asked_is_always_said(asked, reason):
    runs = [run_of("can", ("q", "Who?", (), "Yes")), run_of("do", ("q", "Who?", (), "No"))]
    with pytest.raises(InputError, match=reason):
        panel_from_logs(runs, asked)


def test_files_that_ask_in_other_prompts_meet_in_the_questions(tmp_path):
    rivers = ["Which river flows through Vienna?", "Which river flows through Cairo?"]
    for model, frame in (("a", "Take a quiz.\n{}"), ("b", "Question: {}\nReply yes or no.")):
        rows = pd.DataFrame({"model": model, "prompt": [frame.format(river) for river in rivers], "raw_text": "Yes"})
        rows.to_csv(tmp_path / f"{model}.csv", index=False)
    with pytest.raises(InputError, match=r"begin with 'Take a quiz.'.*--shared-lines cut .* keep .*question=FIELD"):
        panel_from_logs(read_logs(tmp_path), "yes-no")
    log = panel_from_logs(read_logs(tmp_path), "yes-no", shared_lines="cut")
    assert [question.text for question in log.questions] == rivers
    asked = {question.text for question in panel_from_logs(read_logs(tmp_path), "yes-no", None, "keep").questions}
    assert asked == {
        frame.format(river) for frame in ("Take a quiz.\n{}", "Question: {}\nReply yes or no.") for river in rivers
    }
    assert log.panel.groupby("question_id")["respondent"].apply(list).tolist() == [["a", "b"]] * 2


@pytest.mark.parametrize(
    ("prompts", "bare"),
    [
        (["Quiz\nQ: a?\nGo", "Quiz\nQ: b?\nGo", "Quiz\nQ: c?\nGo"], ["a?", "b?", "c?"]),
        (["Quiz\nWho?", "Quiz\nWho?"], ["Quiz\nWho?", "Quiz\nWho?"]),
        (["[INST] Question: a?", "[INST] Question: b?", "[INST] Question: c?"], ["a?", "b?", "c?"]),
        (["Quiz\nx\nA) 1\nB) none", "Quiz\ny\nA) 2\nB) none"], ["x\nA) 1\nB) none", "y\nA) 2\nB) none"]),
    ],
)
def test_only_whole_lines_that_all_prompts_share_go(prompts, bare):
    assert bare_questions(prompts)[0] == bare


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((1, True), (0.0, False), (True, True), ("C", True), ("I", False), ("incorrect", False), ("1", True)),
        *(("P", None), ("N", None), (0.5, None), (math.nan, None), (None, None), ({}, None), ("perhaps", None)),
    ],
)
def test_partial_credit_is_neither_right_nor_wrong(value, expected):
    assert is_right(value) is expected


# ---- how an answer ended -----------------------------------------------------------------------------------------

LOOSE = "Okay. Let me see. No, that is not it. The"
ENDS = [
    ("finish_reason", "length", LOOSE, None),
    ("finishReason", "MAX_TOKENS", LOOSE, None),
    ("done_reason", "length", "Yes, I can", 1.0),
    ("finish_reason", "insufficient_system_resource", "Yes", None),
    ("stop_reason", "content_filter", "No, I am sorry", None),
    ("stop_reason", "end_turn", LOOSE, 0.0),
    ("native_finish_reason", "length", LOOSE, None),
    ("finish_reason", "", "Yes, I can", 1.0),
]


@pytest.mark.parametrize(("name", "reason", "text", "expected"), ENDS)
def test_what_a_file_says_of_an_end_counts_as_it_does_live(tmp_path, name, reason, text, expected):
    row = {"model": "m", "question": "Who?", "raw_text": text, name: reason}
    (tmp_path / "log.jsonl").write_text(json.dumps(row))
    panel = panel_from_logs(read_logs(tmp_path / "log.jsonl"), asked="yes-no").panel
    np.testing.assert_array_equal(panel["said_yes"], [np.nan if expected is None else expected])
