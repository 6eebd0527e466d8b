"""Questions are read by canonical names, a mapping or a preset, or refused with mappings that work.

tests/panels/data/layouts.yaml is the table of layouts: what each holds, and what row 1 asks.
"""

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import yaml

from onedial.asking.questions import questions_frame
from onedial.asking.tables import read_table
from onedial.core.errors import InputError
from onedial.core.notices import Notice
from onedial.panels.inputs import load_inputs
from onedial.panels.questions.question_columns import PARTS, QuestionColumns, presets, written
from onedial.panels.questions.question_files import load_questions
from onedial.panels.questions.suggest import suggest

DATA = Path(__file__).parent / "data"
LAYOUTS = yaml.safe_load((DATA / "layouts.yaml").read_text(encoding="utf-8"))
BY_PRESET = {name: layout for name, layout in LAYOUTS.items() if "as" in layout}
TEXTS = ["wood", "iron", "glass", "wool"]
ASKED = "Which is a metal?"


def write(path, rows):
    if path.suffix == ".csv":
        pd.DataFrame(rows).to_csv(path, index=False)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def rows_of(layout):
    return (
        [layout["row"]]
        if "row" in layout
        else [dict(zip(layout["columns"], row, strict=True)) for row in layout["rows"]]
    )


def is_right(question, layout):
    """Whether row 1 was read as the table says."""
    if "answers" in layout:
        return question.answers == tuple(layout["answers"]) and not question.options
    options = layout.get("any order", layout.get("options", TEXTS))
    shown = sorted(question.options) if "any order" in layout else list(question.options)
    right = layout.get("right", "iron")
    return shown == options and question.answers == ("ABCDE"[question.options.index(right)], right)


@pytest.mark.parametrize("ending", [".jsonl", ".csv"])
@pytest.mark.parametrize("name", BY_PRESET)
def test_a_preset_reads_its_layout(tmp_path, name, ending):
    layout = BY_PRESET[name]
    (question,) = load_questions(write(tmp_path / f"q{ending}", rows_of(layout)), preset=layout["as"])
    assert is_right(question, layout)


def test_every_preset_says_where_its_columns_are_told_and_has_a_row():
    assert {layout["as"] for layout in BY_PRESET.values()} == presets().keys() - {"gpqa_diamond"}
    assert len(presets()) >= 40
    for name, preset in presets().items():
        assert preset.source, name
        assert not preset.hub or (preset.hub.count("/") == 1 and preset.split), name


def test_of_many_layouts_none_is_wrong(tmp_path):
    """Read as it stands, a layout is right; refused, what the refusal prints can be pasted, and then works."""
    refused, right = [], []
    for name, layout in LAYOUTS.items():
        path = write(tmp_path / "q.jsonl", rows_of(layout))
        try:
            assert is_right(load_questions(path)[0], layout), name
            continue
        except InputError as error:
            refusal = str(error)
        refused.append(name)
        mappings = suggest(read_table(path))
        right += [name for _, question in mappings[:1] if is_right(question, layout)]
        for mapping, question in mappings:
            suggested = written(mapping)
            assert suggested in refusal, name
            given = shlex.split(suggested)[1] if suggested.startswith("--") else mapping
            assert load_questions(path, columns=given)[0] == question, name
    assert len(LAYOUTS) > 100
    assert len(refused) > len(LAYOUTS) / 2
    assert len(right) >= 0.9 * len(refused), sorted(set(refused) - set(right))


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"answer": "Charlotte", "ground_truth": "Jane"}, "'answer', 'ground_truth' could each be meant"),
        ({"answer": "Charlotte", "is_correct": 0}, "'answer', 'is_correct' could each be meant.*answer=answer"),
        ({"reference": "http://a.org", "expected_answer": "Jane"}, r"answer=expected_answer \(row 1"),
        ({"answer": "3 hens.\n#### 12"}, "final=####"),
        ({"answer": "So it is \\boxed{12}."}, "final=boxed"),
        ({"answer": "word " * 31}, "more than 30 words"),
        ({"answer": "Ann|Anna"}, "may be several answers"),
        ({"answers": "Ann; Anna"}, "may be several answers"),
        ({"answer": "True"}, "key_is=truth"),
        ({"answer": ["Ann", "Anna"]}, "answers=answer"),
        ({"answer": "B"}, "the answer 'B' is a letter without options"),
        ({"options": TEXTS, "answer": 1}, "key_is=from 0.*key_is=from 1"),
        ({"options": ["2", "3", "1"], "answer": "1"}, "key_is=from 0"),
        ({"options": ["B", "A", "C"], "answer": "A"}, "one option's label and another's words"),
        ({"options": TEXTS, "answer": "steel"}, "is none of its 4 options"),
        ({"options": TEXTS, "answer": "iron", "answer_idx": "A"}, "could each be meant"),
        ({"options": ["A) wood", "B) iron"], "answer": "B"}, "labels=options"),
        ({"options": "wood, iron", "answer": "B"}, "give a list"),
        ({"options": ["wood"], "answer": "A"}, "has 1 options; it needs 2 to 26"),
        ({"question": f"{ASKED}\nA) wood\nB) iron", "options": ["wood", "iron"], "answer": "B"}, "shows them already"),
        ({"instruction": "x", "grading": "choice"}, "what has options is graded by its letter"),
        ({"prompt": "def f():", "entry_point": "f", "canonical_solution": "pass"}, "graded by running it"),
    ],
)
def test_canonical_names_refuse_what_may_be_something_else(tmp_path, row, words):
    with pytest.raises(InputError, match=words):
        load_questions(write(tmp_path / "q.jsonl", [{"question": ASKED} | row]))


def test_a_question_that_is_two_words_is_refused(tmp_path):
    """COPA's column question holds cause and effect; what is asked stands in another."""
    rows = [{"question": "cause" if n % 2 else "effect", "premise": f"The lamp {n} went out."} for n in range(6)]
    with pytest.raises(InputError, match=r"holds only 'cause' and 'effect'; .*question=premise"):
        load_questions(write(tmp_path / "q.jsonl", rows))


@pytest.mark.parametrize("given", ["question=prompt,answers=target", {"question": "prompt", "answers": "target"}])
def test_a_mapping_reads_what_it_names_and_says_so_in_one_line(tmp_path, given):
    rows = [{"prompt": "Who wrote Emma?", "target": ["Jane Austen"], "label": "geo", "topic": "books"}]
    path = write(tmp_path / "q.jsonl", rows)
    line = (
        'q.jsonl: 1 questions; topic; question from prompt; answers from target; row 1: "Who wrote Emma?" -> '
        '"Jane Austen"; not read: label'
    )
    with pytest.warns(Notice, match=re.escape(line)):
        (question,) = load_questions(path, columns=given)
    assert (question.answers, question.topic) == (("Jane Austen",), "books")
    path.with_suffix(".yaml").write_text("columns: {question: prompt, answers: target}\n")
    assert load_questions(path) == [question]
    with pytest.raises(InputError, match="no column 'promt', named for question; did you mean 'prompt'"):
        load_questions(path, columns="question=promt")
    with pytest.raises(InputError, match="gives the key 'quest'; did you mean 'question'"):
        load_questions(path, columns={"quest": "prompt"})


def test_a_preset_whose_columns_are_not_there_refuses(tmp_path):
    path = write(tmp_path / "q.jsonl", [{"question": ASKED, "choices": TEXTS, "answer": 1}])
    with pytest.raises(InputError, match="no column 'answerKey', named for key; did you mean 'answer'"):
        load_questions(path, preset="arc")
    with pytest.raises(InputError, match="no preset 'mmul'; did you mean 'mmlu'"):
        load_questions(path, preset="mmul")


@pytest.mark.parametrize(("kind", "key"), [("from 0", 1), ("from 1", 2), ("label", "(B)"), ("text", "iron")])
def test_a_key_is_what_it_is_said_to_be(kind, key):
    rows = [
        {"question": ASKED, "options": TEXTS, "gold": key},
        {"question": "Which else?", "options": TEXTS, "gold": ""},
    ]
    first, second = load_questions(rows, columns={"key": "gold", "key_is": kind})
    assert (first.answers, first.right_option) == (("B", "iron"), 1)
    assert (second.answers, second.right_option) == ((), None)
    with pytest.raises(InputError, match="row 1, column 'gold' holds 'tin'"):
        load_questions([rows[0] | {"gold": "tin"}], columns={"key": "gold", "key_is": kind})


def test_questions_with_and_without_options_stand_in_one_file(tmp_path):
    rows = [{"question": ASKED, "options": str(TEXTS), "answer": "B"}, {"question": "How many?", "answer": "7"}]
    for ending in (".jsonl", ".csv"):
        questions = load_questions(write(tmp_path / f"q{ending}", rows))
        assert [(question.answers, question.right_option) for question in questions] == [
            (("B", "iron"), 1),
            (("7",), None),
        ]


def test_the_questions_of_a_run_can_be_asked_again(tmp_path):
    """Its table holds the text as it was asked, which is not asked with its options twice."""
    questions = load_questions([{"id": "a", "question": ASKED, "options": TEXTS, "answer": "B"}])
    questions_frame(questions).assign(split="test").to_parquet(tmp_path / "questions.parquet")
    assert load_questions(tmp_path / "questions.parquet") == questions


def test_repeats_are_merged_by_what_is_asked(tmp_path):
    rows = [{"question": ASKED, "options": TEXTS[:n], "answer": "B"} for n in (2, 3, 3)]
    with pytest.warns(Notice, match="1 repeated questions merged, 2 remain"):
        assert len(load_questions(write(tmp_path / "q.jsonl", rows))) == 2


@pytest.mark.parametrize("lay_out", ["wide", "ids", "long", "no key"])
def test_a_panel_meets_the_questions_with_options_that_it_holds(tmp_path, lay_out):
    columns = ["question", "options", "answer", "m", "k"]
    cells = [(f"Which is thing {n}?", json.dumps([f"x{n}", f"y{n}"]), "AB"[n % 2], n % 2, n // 4) for n in range(8)]
    wide = pd.DataFrame(cells, columns=columns)
    frame = {
        "wide": wide,
        "ids": wide.assign(id=[f"q{n}" for n in range(8)], question="Which?"),
        "long": wide.melt(["question", "options", "answer"], ["m", "k"], "respondent", "said_yes"),
        "no key": wide.drop(columns="answer"),
    }[lay_out]
    frame.to_csv(tmp_path / "panel.csv", index=False)
    inputs = load_inputs(str(tmp_path / "panel.csv"))
    assert len(inputs.questions) == len(inputs.panel.answers) == 8
    assert inputs.questions[1].rendered.endswith("A) x1\nB) y1")
    assert inputs.panel.answers.loc[inputs.questions[1].id].tolist() == [1, 0]


def test_the_page_lists_every_part():
    """docs/your_data.md holds the table that the dataclass gives."""
    page = (Path(__file__).parents[2] / "docs" / "your_data.md").read_text(encoding="utf-8")
    assert "\n".join(f"| `{part}` | {holds} |" for part, holds in PARTS.items()) in page
    assert ", ".join(f"`{name}`" for name in presets()) in " ".join(page.split())


def test_a_mapping_is_written_as_it_is_read():
    mapping = {"question": "Frage, kurz", "options": ("opt a", "opt b"), "split": ","}
    (given,) = shlex.split(written(mapping))[1:]
    assert QuestionColumns.of(given) == replace(QuestionColumns(), **mapping)
