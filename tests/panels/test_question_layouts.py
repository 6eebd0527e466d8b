"""Questions, options and keys come out right in the layouts in which people have them, or are refused with a reason."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from onedial.core import InputError, Notice
from onedial.panels import grade_answer, load_inputs, load_questions
from onedial.panels.grading.choice_grading import options_shown

DATA = Path(__file__).parent / "data"
METALS = {"A": "wood", "B": "iron", "C": "glass", "D": "wool"}
ASKED = "Which is a metal?"
IRON = (METALS, "iron")
"""What is asked, and right, in most rows below."""
TWO = ({"A": "wood", "B": "iron"}, "iron")
THREE = ({"A": "wood", "B": "iron", "C": "glass"}, "iron")
TEXTS = list(METALS.values())
IN_COLUMNS = dict(zip("ABCD", TEXTS, strict=True))

CHOICES = {
    # the public sets, each in a row of theirs
    "MMLU": ({"question": ASKED, "subject": "chemistry", "choices": TEXTS, "answer": 1}, IRON),
    "MMLU as pandas writes it into CSV": (
        {"question": ASKED, "choices": str(np.array(TEXTS, object)), "answer": 1},
        IRON,
    ),
    "MMMLU": ({"Unnamed: 0": 0, "Question": ASKED, **IN_COLUMNS, "Answer": "B", "Subject": "chemistry"}, IRON),
    "MMLU-Pro": (
        {"question_id": 7, "question": ASKED, "options": TEXTS, "answer": "B", "answer_index": 1, "cot_content": ""},
        IRON,
    ),
    "ARC": ({"question": ASKED, "choices": {"text": TEXTS, "label": list("ABCD")}, "answerKey": "B"}, IRON),
    "ARC with numbers": (
        {"question": ASKED, "choices": {"text": TEXTS, "label": list("1234")}, "answerKey": "2"},
        IRON,
    ),
    "ARC as pandas writes it into CSV": (
        {
            "question": ASKED,
            "choices": str({"text": np.array(TEXTS, object), "label": np.array(list("ABCD"), object)}),
            "answerKey": "B",
        },
        IRON,
    ),
    "ARC of AI2, one object": (
        {
            "question": {"stem": ASKED, "choices": [{"text": t, "label": x} for x, t in METALS.items()]},
            "answerKey": "B",
        },
        IRON,
    ),
    "ARC of AI2, CSV": (
        {
            "questionID": "Mercury_1",
            "AnswerKey": "B",
            "isMultipleChoiceQuestion": 1,
            "subject": "",
            "schoolGrade": 8,
            "question": f"{ASKED} (A) wood (B) iron (C) glass (D) wool",
        },
        IRON,
    ),
    "CommonsenseQA": (
        {
            "question": ASKED,
            "question_concept": "metal",
            "answerKey": "B",
            "choices": {"label": list("ABCD"), "text": TEXTS},
        },
        IRON,
    ),
    "OpenBookQA": (
        {"id": "7", "question_stem": ASKED, "choices": {"text": TEXTS, "label": list("ABCD")}, "answerKey": "B"},
        IRON,
    ),
    "MedQA": ({"question": ASKED, "answer": "iron", "options": METALS, "meta_info": "step1", "answer_idx": "B"}, IRON),
    "MedQA of BigBio": (
        {"question": ASKED, "answer": "iron", "options": [{"key": x, "value": t} for x, t in METALS.items()]},
        IRON,
    ),
    "MedMCQA": (
        {"question": ASKED, **dict(zip(("opa", "opb", "opc", "opd"), TEXTS, strict=True)), "cop": 1, "exp": "..."},
        IRON,
    ),
    "TruthfulQA": (
        {"question": ASKED, "mc1_targets": {"choices": ["iron", "wood", "wool"], "labels": [1, 0, 0]}},
        ({"wood", "iron", "wool"}, "iron"),
    ),
    "SciQ": (
        {
            "question": ASKED,
            "distractor1": "wood",
            "distractor2": "wool",
            "distractor3": "glass",
            "correct_answer": "iron",
            "support": "Iron is a metal.",
        },
        (set(TEXTS), "iron"),
    ),
    "RACE": ({"article": "...", "question": ASKED, "options": TEXTS, "answer": "B"}, IRON),
    "HellaSwag": ({"ctx": ASKED, "endings": TEXTS, "label": "1", "activity_label": "Metals"}, IRON),
    "WinoGrande": ({"sentence": "The _ is heavy.", "option1": "wood", "option2": "iron", "answer": "2"}, TWO),
    "PIQA": ({"goal": ASKED, "sol1": "wood", "sol2": "iron", "label": 1}, TWO),
    "CosmosQA": (
        {"context": "...", "question": ASKED, "answer0": "wood", "answer1": "iron", "answer2": "glass", "label": 1},
        THREE,
    ),
    "SWAG": ({"startphrase": ASKED, **{f"ending{n}": text for n, text in enumerate(TEXTS)}, "label": 1}, IRON),
    "QASC": (
        {"question": ASKED, "choices": {"text": TEXTS, "label": list("ABCD")}, "answerKey": "B", "fact1": "..."},
        IRON,
    ),
    "LogiQA": ({"context": "...", "query": ASKED, "options": TEXTS, "correct_option": 1}, IRON),
    "AQuA-RAT": (
        {"question": ASKED, "options": ["A)wood", "B)iron", "C)glass", "D)wool"], "rationale": "...", "correct": "B"},
        IRON,
    ),
    "MathQA": (
        {"Problem": ASKED, "Rationale": "...", "options": "a ) wood , b ) iron , c ) glass , d ) wool", "correct": "b"},
        IRON,
    ),
    "BIG-bench": (
        {"input": ASKED, "target_scores": {"iron": 1, "wood": 0, "wool": 0}},
        ({"wood", "iron", "wool"}, "iron"),
    ),
    "AGIEval": (
        {"passage": None, "question": ASKED, "options": ["(A)wood", "(B)iron", "(C)glass", "(D)wool"], "label": "B"},
        IRON,
    ),
    "GPQA": (
        {
            "Question": ASKED,
            "Correct Answer": "iron",
            "Incorrect Answer 1": "wood",
            "Incorrect Answer 2": "wool",
            "Incorrect Answer 3": "glass",
        },
        (set(TEXTS), "iron"),
    ),
    # quizzes and spreadsheets
    "OpenTDB": (
        {
            "type": "multiple",
            "difficulty": "easy",
            "category": "Science &amp; Nature",
            "question": "Which is a &quot;metal&quot;?",
            "correct_answer": "iron",
            "incorrect_answers": ["wood", "wool", "caf&eacute;"],
        },
        ({"wood", "iron", "wool", "café"}, "iron"),
    ),
    "The Trivia API": (
        {
            "id": "x",
            "question": {"text": ASKED},
            "correctAnswer": "iron",
            "incorrectAnswers": ["wood", "wool"],
            "tags": ["metals"],
        },
        ({"wood", "iron", "wool"}, "iron"),
    ),
    "Kahoot": (
        {
            "Question": ASKED,
            **{f"Answer {n}": text for n, text in enumerate(TEXTS, start=1)},
            "Time limit": 20,
            "Correct answer(s)": 2,
        },
        IRON,
    ),
    "Quizizz": (
        {
            "Question Text": ASKED,
            "Question Type": "Multiple Choice",
            **{f"Option {n}": text for n, text in enumerate(TEXTS, start=1)},
            "Correct Answer": "2",
        },
        IRON,
    ),
    "option_a": (
        {"question": ASKED, **{f"option_{x.lower()}": t for x, t in METALS.items()}, "correct_option": "option_b"},
        IRON,
    ),
    "optionA and the text": (
        {"question": ASKED, **{f"option{x}": t for x, t in METALS.items()}, "answer": "Iron"},
        IRON,
    ),
    "lower-case columns": ({"question": ASKED, **{x.lower(): t for x, t in METALS.items()}, "answer": "b"}, IRON),
    "letters out of order": (
        {"question": ASKED, "options": {"D": "wool", "B": "iron", "A": "wood", "C": "glass"}, "answer": "(B)"},
        IRON,
    ),
    "a letter without an option": (
        {"question": ASKED, "options": {"A": "wood", "B": None, "C": "iron"}, "answer": "C"},
        TWO,
    ),
    "an object in a cell": ({"question": ASKED, "options": json.dumps(METALS), "answer": "B"}, IRON),
    "letter and words": ({"question": ASKED, "options": TEXTS, "answer": "B. iron"}, IRON),
    "with | between": ({"question": ASKED, "options": "wood|iron|glass|wool", "answer": "B"}, IRON),
    "flags": (
        {
            "question": ASKED,
            "answers_list": 3,
            "choices": [{"text": "wood", "is_correct": False}, {"text": "iron", "is_correct": True}],
        },
        ({"wood", "iron"}, "iron"),
    ),
    "a key in a list": ({"question": ASKED, "choices": TEXTS, "answer": ["B"]}, IRON),
    "SocialIQA": (
        {"context": "...", "question": ASKED, "answerA": "wood", "answerB": "iron", "answerC": "glass", "label": "B"},
        THREE,
    ),
    "an object for each letter": (
        {"question": ASKED, "options": [{x: t} for x, t in METALS.items()], "answer": "B"},
        IRON,
    ),
    "counted options": (
        {"question": ASKED, "options": [f"{n}. {t}" for n, t in enumerate(TEXTS, 1)], "answer": 2},
        IRON,
    ),
    "lines in a cell": ({"question": ASKED, "options": "A. wood\nB. iron\nC. glass\nD. wool", "answer": "B"}, IRON),
    "TruthfulQA of its authors": (
        {
            "Question": ASKED,
            "Best Answer": "iron",
            "Correct Answers": "iron; Fe",
            "Incorrect Answers": "wood; glass; wool",
        },
        (set(TEXTS), "iron"),
    ),
    "lines in the question": ({"question": f"{ASKED}\nA. wood\nB. iron\nC. glass\nD. wool", "answer": "B"}, IRON),
}


def write(path, rows):
    if path.suffix == ".csv":
        pd.DataFrame(rows).to_csv(path, index=False)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("ending", [".jsonl", ".csv"])
@pytest.mark.parametrize("name", CHOICES)
def test_options_come_in_the_order_of_their_labels_with_their_key(tmp_path, name, ending):
    row, (shown, right) = CHOICES[name]
    (question,) = load_questions(write(tmp_path / f"q{ending}", [row]))
    options = options_shown(question.text)
    assert options == shown if isinstance(shown, dict) else set(options.values()) == shown
    letter = next(letter for letter, text in options.items() if text == right)
    assert question.answers == (letter, right)
    assert question.grading == "choice"
    assert grade_answer(question, f"{letter}) {right}").outcome == "right"


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
    assert [(question.text, question.answers) for question in found] == HANDED[name]


ANSWERS = {
    "GSM8K": ({"question": "How many?", "answer": "It is 2*600 = 1200.\n#### 1,200"}, ("1,200",), "number"),
    "MATH": ({"problem": "|x| for x = -2?", "solution": "It is $\\boxed{2}$.", "level": "Level 1"}, ("2",), "number"),
    "MATH-500": ({"problem": "Where?", "solution": "So $\\boxed{|x|}$.", "answer": "|x|"}, ("|x|",), "number"),
    "a boxed answer": ({"question": "How many?", "answer": "So it is \\boxed{42}."}, ("42",), "number"),
    "an interval": ({"question": "For which x?", "answer": "[-2, 7]"}, ("[-2, 7]",), "text"),
    "TriviaQA": ({"question": "Who?", "answer": {"value": "Ann", "aliases": ["Anne"]}}, ("Ann", "Anne"), "text"),
    "PopQA": (
        {"id": 4, "question": "Who?", "possible_answers": '["Ann", "Anne"]', "s_pop": 7},
        ("Ann", "Anne"),
        "text",
    ),
    "WebQuestions": ({"url": "x", "question": "Who?", "answers": ["Ann", "Anne"]}, ("Ann", "Anne"), "text"),
    "NQ as numpy writes it": ({"question": "Who?", "answer": "['Ann'\n 'Anne']"}, ("Ann", "Anne"), "text"),
    "SQuAD as pandas writes it": (
        {
            "question": "Who?",
            "answers": "{'text': array(['Ann', 'Anne'], dtype=object), 'answer_start': array([1, 1])}",
        },
        ("Ann", "Anne"),
        "text",
    ),
    "SimpleQA": ({"metadata": "{'topic': 'Art'}", "problem": "Who?", "answer": "Ann"}, ("Ann",), "text"),
    "BoolQ": ({"question": "is iron a metal", "passage": "...", "answer": True}, ("yes",), "text"),
    "StrategyQA": ({"qid": "x", "question": "Would a pear sink?", "answer": False, "facts": ["..."]}, ("no",), "text"),
    "said true or false": ({"question": "Iron is a metal: true or false?", "answer": "True"}, ("True",), "text"),
    "TruthfulQA generation, without wrong ones": (
        {"question": "Who?", "best_answer": "Ann", "correct_answers": ["Ann", "Anne"]},
        ("Ann", "Anne"),
        "text",
    ),
    "Anki": ({"Front": "Who?", "Back": "Ann", "Tags": "people"}, ("Ann",), "text"),
    "an entity": ({"question": "Who?", "answer": "Beyonc&eacute;"}, ("Beyoncé",), "text"),
    "an ampersand": ({"question": "Who?", "answer": "AT&T"}, ("AT&T",), "text"),
    "a broken list": ({"question": "Who?", "answer": "[sic]"}, ("[sic]",), "text"),
    "an empty list": ({"question": "Who?", "answer": "[]"}, (), "text"),
    "answers as objects": (
        {"question": "Who?", "answers": [{"text": "Ann"}, {"text": "Anne"}]},
        ("Ann", "Anne"),
        "text",
    ),
    "AIME": ({"ID": "1", "Problem": "Find x.", "Solution": "So \\boxed{204}.", "Answer": 204}, ("204",), "number"),
    "BBH": ({"input": "Who?", "target": "Ann"}, ("Ann",), "text"),
}


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("ending", [".jsonl", ".csv"])
def test_answers_come_out_of_lists_and_solutions(tmp_path, name, ending):
    row, answers, grading = ANSWERS[name]
    if ending == ".csv" and any(isinstance(cell, dict) for cell in row.values()):
        row = {column: str(cell) if isinstance(cell, dict) else cell for column, cell in row.items()}
    (question,) = load_questions(write(tmp_path / f"q{ending}", [row]))
    assert (question.answers, question.grading) == (answers, grading)


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


def test_keys_that_disagree_are_refused_by_their_line(tmp_path):
    row = {"question": ASKED, "options": TEXTS, "answer": "iron", "answer_idx": "A"}
    with pytest.raises(InputError, match=r"line 1 gives two right options, 'wood' .answer_idx. and 'iron' .answer."):
        load_questions(write(tmp_path / "q.jsonl", [row]))


def test_a_key_that_is_kept_back_leaves_the_question_ungraded_and_is_counted(tmp_path):
    (own,) = load_questions([{"question": ASKED, **IN_COLUMNS, "answer": ""}])
    assert (options_shown(own.text), own.answers) == (METALS, ())
    rows = [{"question": ASKED, "choices": TEXTS, "label": label} for label in (-1, "")]
    with pytest.warns(Notice, match="of 2 of 2 questions the right option is not told"):
        found = load_questions(write(tmp_path / "q.jsonl", [rows[0], rows[1] | {"question": "Which is not?"}]))
    assert [question.answers for question in found] == [(), ()]
    assert options_shown(found[0].text) == METALS


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
    ],
)
def test_what_looks_like_options_and_is_not_understood_is_refused_by_its_name(tmp_path, more):
    with pytest.raises(InputError, match=next(iter(more))):
        load_questions(write(tmp_path / "q.jsonl", [{"question": ASKED, **more}]))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"answer": "iron", "gold_label": "B"}, "the columns 'gold_label' look like options or keys, and are not read"),
        ({"answer": "iron", "context": "Iron is a metal."}, r"the passages \('context'\) stay out"),
        ({"answer": "iron", "difficulty": "hard"}, "the levels are hard = 3"),
        ({"answer": "iron", "level": "middle school"}, "no levels are taken from it"),
        ({"answer": "iron; ferrum"}, "1 of 1 answers may be several, such as 'iron; ferrum'"),
        ({"answer": "iron / ferrum"}, "1 of 1 answers may be several"),
        ({"question": "Is <b>iron</b> a metal?"}, "1 of 1 questions hold HTML"),
    ],
)
def test_what_is_left_out_or_taken_in_a_way_is_said(tmp_path, more, said):
    with pytest.warns(Notice, match=said):
        load_questions(write(tmp_path / "q.jsonl", [{"question": ASKED, **more}]))


def test_letters_without_options_are_no_answers(tmp_path):
    rows = [{"question": f"{ASKED} {n}", "answer": "ABBA"[n]} for n in range(4)]
    with pytest.raises(InputError, match="the column 'answer' is a key to options, and none are found"):
        load_questions(write(tmp_path / "q.jsonl", rows))
    rows[0]["answer"] = "Boron"
    assert load_questions(write(tmp_path / "q.jsonl", rows))[1].answers == ("B",)


def test_right_answers_stand_anywhere_and_always_in_the_same_place(tmp_path):
    rows = [
        {"question": f"Which is a metal, {n}?", "correct_answer": "iron", "incorrect_answers": TEXTS[:1] + TEXTS[2:]}
        for n in range(80)
    ]
    found = load_questions(write(tmp_path / "q.jsonl", rows))
    letters = pd.Series([question.answers[0] for question in found]).value_counts()
    assert sorted(letters.index) == list("ABCD")
    assert letters.min() >= 8
    assert load_questions(write(tmp_path / "r.jsonl", rows[::-1])) == found[::-1]


@pytest.mark.parametrize(
    "content",
    [
        '[{"id": "a", "question": "Who?", "answer": "Ann"}, {"id": "b", "question": "Where?", "answer": "Bonn"}]',
        '{"response_code": 0, "results": [{"id": "a", "question": "Who?", "answer": "Ann"},\n'
        '{"id": "b", "question": "Where?", "answer": "Bonn"}]}',
        '{"id": ["a", "b"], "question": ["Who?", "Where?"], "answer": ["Ann", "Bonn"]}',
        '{"id": {"0": "a", "1": "b"}, "question": {"0": "Who?", "1": "Where?"}, "answer": {"0": "Ann", "1": "Bonn"}}',
        '{"a": {"question": "Who?", "answer": "Ann"}, "b": {"question": "Where?", "answer": "Bonn"}}',
        '{"id": "a", "question": "Who?", "answer": "Ann"}\n{"id": "b", "question": "Where?", "answer": "Bonn"}',
    ],
)
def test_a_json_file_holds_rows_in_the_ways_in_which_programs_write_them(tmp_path, content):
    (tmp_path / "q.json").write_text(content)
    found = load_questions(tmp_path / "q.json")
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
    found = load_inputs(str(tmp_path / "panel.csv"))
    assert len(found.questions) == len(found.panel.answers) == 8
    assert found.questions[1].text.endswith("A) x1\nB) y1")
    assert found.panel.answers.loc[found.questions[1].id].tolist() == [1, 0]
