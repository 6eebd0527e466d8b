"""Questions, options and keys come out right in the layouts in which people have them, or are refused with a reason."""

import json
from pathlib import Path

import pandas as pd
import pytest
import yaml

from onedial.core.errors import InputError
from onedial.core.notices import Notice
from onedial.panels.grading.choice_grading import grade_answer
from onedial.panels.inputs import load_inputs
from onedial.panels.panel_files import PanelSource
from onedial.panels.questions.question_files import load_questions

DATA = Path(__file__).parent / "data"
METALS = {"A": "wood", "B": "iron", "C": "glass", "D": "wool"}
ASKED = "Which is a metal?"
TEXTS = list(METALS.values())
IN_COLUMNS = dict(zip("ABCD", TEXTS, strict=True))

OPTIONS_FILE, ANSWERS_FILE = ((DATA / name).read_text(encoding="utf-8") for name in ("options.yaml", "answers.yaml"))
CHOICES, ANSWERS = yaml.safe_load(OPTIONS_FILE), yaml.safe_load(ANSWERS_FILE)


def write(path, rows):
    if path.suffix == ".csv":
        pd.DataFrame(rows).to_csv(path, index=False)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("ending", [".jsonl", ".csv"])
@pytest.mark.parametrize("name", CHOICES)
def test_options_come_in_the_order_of_their_labels_with_their_key(tmp_path, name, ending):
    own = CHOICES[name]
    (question,) = load_questions(write(tmp_path / f"q{ending}", [own["row"]]))
    options = dict(zip("ABCD", question.options, strict=False))
    if "any order" in own:
        assert sorted(options.values()) == own["any order"]
    else:
        assert options == dict(zip("ABCD", own.get("options", TEXTS), strict=False))
    letter = next(letter for letter, text in options.items() if text == "iron")
    assert question.answers == (letter, "iron")
    assert grade_answer(question, f"{letter}) iron").outcome == "right"


HANDED = {
    "medqa3.jsonl": [
        ("Which drug lowers fever?\n\nA) Warfarin\nB) Paracetamol\nC) Digoxin\nD) Insulin", ("B", "Paracetamol")),
        ("Which is a metal?\n\nA) Iron\nB) Wood\nC) Glass\nD) Wool", ("A", "Iron")),
        ("Which planet is largest?\n\nA) Mars\nB) Venus\nC) Jupiter\nD) Earth", ("C", "Jupiter")),
    ],
    "gsm8k.jsonl": [
        ("A farm has 3 hens and each lays 4 eggs. How many eggs?", ("12",)),
        ("Ann has 10 pens and loses 3. How many are left?", ("7",)),
        ("A bus holds 40. Two buses hold how many?", ("80",)),
        ("Half of 18?", ("9",)),
    ],
    "nq_csv.csv": [
        ("when was the last time anyone was on the moon", ("14 December 1972 UTC", "December 1972")),
        ("who wrote emma", ("Jane Austen",)),
    ],
    "popqa_renamed.tsv": [
        ("What is George Rankin's occupation?", ("politician", "political leader")),
        ("Which river flows through Vienna?", ("Danube", "The Danube")),
    ],
    "jeopardy.json": [
        ("'It flows through Vienna'", ("the Danube",)),
        ("'<a href=\"http://example.org/x.jpg\">This river</a> flows through Cairo'", ("the Nile",)),
    ],
}


@pytest.mark.parametrize("name", HANDED)
def test_files_that_came_out_wrong_once(name):
    found = load_questions(DATA / name)
    assert [(question.rendered, question.answers) for question in found] == HANDED[name]


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("ending", [".jsonl", ".csv"])
def test_answers_come_out_of_lists_and_solutions(tmp_path, name, ending):
    own = ANSWERS[name]
    row = own["row"]
    if ending == ".csv" and any(isinstance(cell, dict) for cell in row.values()):
        row = {column: str(cell) if isinstance(cell, dict) else cell for column, cell in row.items()}
    (question,) = load_questions(write(tmp_path / f"q{ending}", [row]))
    assert (question.answers, question.grading) == (tuple(own["answers"]), own.get("grading", "text"))


def test_a_key_counts_from_where_it_fits_every_row(tmp_path):
    rows = [{"question": f"{ASKED} {n}", "choices": TEXTS} for n in range(4)]
    for start in (0, 1):
        keyed = [row | {"answer": number + start} for number, row in enumerate(rows)]
        found = load_questions(write(tmp_path / "q.jsonl", keyed))
        assert [question.answers[1] for question in found] == TEXTS
    with pytest.raises(InputError, match="no reading fits every row"):
        load_questions(write(tmp_path / "q.jsonl", [rows[0] | {"answer": 0}, rows[1] | {"answer": 4}]))
    with pytest.warns(Notice, match="from 0, though a place, from 1 would fit as well"):
        load_questions(write(tmp_path / "q.jsonl", [rows[0] | {"answer": 1}]))


@pytest.mark.parametrize("ending", [".jsonl", ".csv"])
def test_a_key_that_may_be_a_place_or_an_option_that_is_a_number_is_asked_back_in_every_file(tmp_path, ending):
    rows = [{"question": "2+1?", "choices": ["2", "3", "1"], "answer": key} for key in (1, 2)]
    with pytest.raises(InputError, match="the key 'answer' may name options, which are numbers, or count"):
        load_questions(write(tmp_path / f"q{ending}", rows))
    rows = [{"answer_index": row.pop("answer"), **row, "id": number} for number, row in enumerate(rows)]
    found = load_questions(write(tmp_path / f"q{ending}", rows))
    assert [question.answers[1] for question in found] == ["3", "1"]


def test_what_cannot_be_answered_is_unknowable_under_any_name(tmp_path):
    for name, is_unknowable in (("answerable", False), ("is_answerable", False), ("unanswerable", True)):
        rows = [{"question": "What is love?", name: is_unknowable}, {"question": "Who?", name: not is_unknowable}]
        found = load_questions(write(tmp_path / "q.jsonl", rows))
        assert [question.unknowable for question in found] == [True, False]


def test_keys_that_disagree_are_refused_by_their_line(tmp_path):
    row = {"question": ASKED, "options": TEXTS, "answer": "iron", "answer_idx": "A"}
    with pytest.raises(InputError, match=r"line 1 gives two right options, 'wood' .answer_idx. and 'iron' .answer."):
        load_questions(write(tmp_path / "q.jsonl", [row]))


def test_a_key_that_is_kept_back_leaves_the_question_ungraded_and_is_counted(tmp_path):
    (own,) = load_questions([{"question": ASKED, **IN_COLUMNS, "answer": ""}])
    assert (list(own.options), own.answers) == (TEXTS, ())
    rows = [{"question": ASKED, "choices": TEXTS, "label": label} for label in (-1, "")]
    with pytest.warns(Notice, match="of 2 of 2 questions the right option is not told"):
        found = load_questions(write(tmp_path / "q.jsonl", [rows[0], rows[1] | {"question": "Which is not?"}]))
    assert [question.answers for question in found] == [(), ()]
    assert list(found[0].options) == TEXTS


@pytest.mark.parametrize(
    "more",
    [
        {"options_text": "wood, iron"},
        {"distractor_list": ["wood"]},
        {"answer_1": "wood", "answer_2": "iron"},
        {"wrong_ones": "wood;wool"},
        {"choices": "wood, iron, glass"},
        {"incorrect_answers": "wood, glass", "correct_answer": "iron"},
        {"answerKey": "B"},
        {"choices": 7, "answer": 0},
        {"mc2_targets": {"choices": ["iron", "tin", "wood"], "labels": [1, 1, 0]}},
        {"options": [{"name": "iron", "isCorrect": True}, {"name": "wood", "isCorrect": False}]},
        {"options": [{"text": "iron", "isCorrect": True}, {"text": "tin", "isCorrect": True}]},
    ],
)
def test_what_looks_like_options_and_is_not_understood_is_refused_by_its_name(tmp_path, more):
    with pytest.raises(InputError, match=next(iter(more))):
        load_questions(write(tmp_path / "q.jsonl", [{"question": ASKED, **more}]))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"answer": "iron", "gold_label": "B"}, "the columns 'gold_label' look like options or keys, and are not read"),
        ({"annotations": [{"spans": ["iron"]}]}, "no answers are found; the columns 'annotations' are not read"),
        ({"answer": "iron", "context": "Iron is a metal."}, r"the passages \('context'\) stay out"),
        ({"answer": "iron", "difficulty": "hard"}, "the levels are hard = 3"),
        ({"answer": "iron", "level": "middle school"}, "no levels are taken from it"),
        ({"answer": "iron; ferrum"}, "1 of 1 answers may be several, such as 'iron; ferrum'"),
        ({"answer": "iron / ferrum"}, "1 of 1 answers may be several"),
        ({"question": "Is <b>iron</b> a metal?"}, "1 of 1 questions hold HTML"),
        ({"answer": "38 (acceptable range: anything between 37 and 39)"}, "1 of 1 answers hold a remark in brackets"),
        ({"answer": "iron", "Body": "There are four things."}, r"the passages \('Body'\) stay out"),
        ({"final_ans": "7"}, "no answers are found; the columns 'final_ans' are not read"),
    ],
)
def test_what_is_left_out_or_taken_in_a_way_is_said(tmp_path, more, said):
    with pytest.warns(Notice, match=said):
        load_questions(write(tmp_path / "q.jsonl", [{"question": ASKED, **more}]))


@pytest.mark.parametrize("answer", ["steel", "BC", "B, C", ["B", "C"], "7"])
def test_a_key_that_is_none_of_the_options_or_several_is_refused_by_its_line(tmp_path, answer):
    with pytest.raises(
        InputError, match=r"line 1 gives the answer .* which is no letter, text or place of its 4 options"
    ):
        load_questions(write(tmp_path / "q.jsonl", [{"question": ASKED, "choices": TEXTS, "answer": answer}]))


def test_questions_with_and_without_options_stand_in_one_file(tmp_path):
    rows = [
        {"question": ASKED, "options": str(TEXTS), "answer": "B"},
        {"question": "How many?", "options": "[]", "answer": "7"},
    ]
    for ending in (".jsonl", ".csv"):
        found = load_questions(write(tmp_path / f"q{ending}", rows))
        assert [(question.answers, question.right_option) for question in found] == [(("B", "iron"), 1), (("7",), None)]


@pytest.mark.parametrize("text", ["['Who?', 'Where?']", "[{'question': 'Who?', 'options': ['Ann', 'Bob']}]"])
def test_a_list_of_questions_in_a_cell_is_no_question(tmp_path, text):
    with pytest.raises(InputError, match="line 2, column 'question' holds"):
        load_questions(write(tmp_path / "q.csv", [{"question": text}]))


def test_an_instruction_is_a_question_with_its_output_as_the_answer_and_refused_where_it_has_an_input(tmp_path):
    row = {"instruction": ASKED, "input": "", "output": "iron"}
    assert load_questions(write(tmp_path / "q.jsonl", [row]))[0].answers == ("iron",)
    with pytest.raises(InputError, match="an input to each instruction; join the two"):
        load_questions(write(tmp_path / "q.jsonl", [row | {"input": "wood, iron"}]))


def test_letters_without_options_are_no_answers(tmp_path):
    rows = [{"question": f"{ASKED} {n}", "answer": "ABBA"[n]} for n in range(4)]
    with pytest.raises(InputError, match="the column 'answer' is a key to options, and none are found"):
        load_questions(write(tmp_path / "q.jsonl", rows))
    rows[0]["answer"] = "Boron"
    assert load_questions(write(tmp_path / "q.jsonl", rows))[1].answers == ("B",)


@pytest.mark.parametrize(
    "content",
    [
        '[{"id": "a", "question": "Who?", "answer": "Ann"}, {"id": "b", "question": "Where?", "answer": "Bonn"}]',
        '{"id": "a", "question": "Who?", "answer": "Ann"}\n{"id": "b", "question": "Where?", "answer": "Bonn"}',
    ],
)
def test_json_holds_an_array_or_lines(tmp_path, content):
    path = tmp_path / ("q.jsonl" if content.startswith("[") else "q.json")
    path.write_text(content)
    found = load_questions(path)
    assert [(question.id, question.text, question.answers) for question in found] == [
        ("a", "Who?", ("Ann",)),
        ("b", "Where?", ("Bonn",)),
    ]


def test_respondents_that_are_called_like_options_are_respondents(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("question_id,question,A,B,answer\nq1,Who wrote Emma?,1,0,Austen\nq2,Who wrote Dune?,0,1,Herbert\n")
    assert [question.answers for question in load_questions(path)] == [("Austen",), ("Herbert",)]


@pytest.mark.parametrize("lay_out", ["wide", "ids", "list", "letters", "long", "no key"])
def test_a_panel_meets_the_questions_with_options_that_it_holds(tmp_path, lay_out):
    columns = ["question", "option_a", "option_b", "answer", "m", "k"]
    cells = [(f"Which is thing {n}?", f"x{n}", f"y{n}", "AB"[n % 2], n % 2, n // 4) for n in range(8)]
    wide = pd.DataFrame(cells, columns=columns)
    frame = {
        "wide": wide,
        "ids": wide.assign(id=[f"q{n}" for n in range(8)], question="Which?"),
        "list": wide.drop(columns=["option_a", "option_b"]).assign(options=wide["option_a"] + "|" + wide["option_b"]),
        "letters": wide.rename(columns={"option_a": "A", "option_b": "B"}),
        "long": wide.melt(["question", "option_a", "option_b", "answer"], ["m", "k"], "respondent", "said_yes"),
        "no key": wide.drop(columns="answer"),
    }[lay_out]
    frame.to_csv(tmp_path / "panel.csv", index=False)
    about = [name for name in ("option_a", "option_b", "A", "B") if name in frame and lay_out != "long"]
    found = load_inputs(PanelSource(str(tmp_path / "panel.csv"), declared={"about": about}))
    assert len(found.questions) == len(found.panel.answers) == 8
    assert found.questions[1].rendered.endswith("A) x1\nB) y1")
    assert found.panel.answers.loc[found.questions[1].id].tolist() == [1, 0]
