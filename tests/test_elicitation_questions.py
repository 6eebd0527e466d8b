"""Questions come in as they were written, or are refused in one sentence that names file and line."""

import itertools
import json
import logging
import random

import pandas as pd
import pytest

from common import InputError
from elicitation import (
    load_questions,
    question_id,
    questions_frame,
    questions_from_frame,
    read_questions,
    sample_questions,
)
from elicitation.questions import Question

ROWS = [
    {"id": "a", "question": "Who wrote Emma?", "answers": ["Jane Austen", "Austen"], "topic": "books", "level": 2},
    {"id": "b", "question": "What is 6 × 7?", "answers": ["42"], "topic": None, "level": None},
]


def write_jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def many():
    return [Question(id=f"q{number}", text=f"How much is {number} and {number}?") for number in range(200)]


def test_the_three_formats_hold_the_same_questions(tmp_path):
    jsonl = write_jsonl(tmp_path / "q.jsonl", ROWS)
    parquet = tmp_path / "q.parquet"
    pd.DataFrame(ROWS).to_parquet(parquet)
    table = tmp_path / "q.csv"
    table.write_text(
        "id,question,answers,topic,level\na,Who wrote Emma?,Jane Austen|Austen,books,2\nb,What is 6 × 7?,42,,\n"
    )
    expected = [
        Question("a", "Who wrote Emma?", ("Jane Austen", "Austen"), "books", 2),
        Question("b", "What is 6 × 7?", ("42",)),
    ]
    assert load_questions(jsonl) == load_questions(parquet) == load_questions(table) == expected


def test_spreadsheet_csv_with_byte_order_mark_semicolons_and_line_breaks_in_a_field_is_read(tmp_path):
    path = tmp_path / "q.csv"
    path.write_bytes('\ufeffquestion;answer\r\n"Who wrote\r\nEmma?";Jane Austen\r\n'.encode())
    (question,) = load_questions(path)
    assert question.answers == ("Jane Austen",)
    assert question.id == question_id("who wrote emma")


def test_a_question_without_id_is_known_by_its_words_alone(tmp_path):
    path = write_jsonl(tmp_path / "q.jsonl", [{"question": "Who wrote Emma?"}])
    other = write_jsonl(tmp_path / "r.jsonl", [{"question": "who WROTE  “Emma”"}])
    assert load_questions(path)[0].id == load_questions(other)[0].id


def test_repeats_without_ids_are_merged_with_all_their_answers_and_counted(tmp_path, caplog):
    rows = [
        {"question": "Who wrote Emma?", "answer": "Austen"},
        {"question": "who wrote emma", "answer": ["J. Austen"]},
    ]
    path = write_jsonl(tmp_path / "q.jsonl", rows)
    with caplog.at_level(logging.WARNING):
        (question,) = load_questions(path)
    assert question.answers == ("Austen", "J. Austen")
    assert "1 repeated" in caplog.text
    assert len(read_questions(path)) == 2


def test_a_panel_with_question_text_serves_as_questions_in_either_shape(tmp_path):
    wide = tmp_path / "wide.csv"
    wide.write_text("question_id,question,m1,m2\nx,Who wrote Emma?,1,0\ny,Who sang Aida?,0,\n")
    long = tmp_path / "long.csv"
    long.write_text(
        "question_id,question,respondent,said_yes\n"
        "x,Who wrote Emma?,m1,1\nx,Who wrote Emma?,m2,0\ny,Who sang Aida?,m1,0\ny,Who sang Aida?,m2,\n"
    )
    assert load_questions(wide) == load_questions(long)
    assert [question.id for question in load_questions(long)] == ["x", "y"]


def test_unknowable_questions_are_marked(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text("question,unknowable\nWhat did the first person dream?,yes\nWho wrote Emma?,\n")
    assert [question.unknowable for question in load_questions(path)] == [True, False]


def test_a_larger_sample_contains_the_smaller(many):
    drawn = [{question.id for question in sample_questions(many, n, seed=3)} for n in (1, 20, 90, 200)]
    assert [len(ids) for ids in drawn] == [1, 20, 90, 200]
    assert all(small < large for small, large in itertools.pairwise(drawn))


def test_a_sample_depends_on_seed_and_ids_not_on_the_order_of_the_file(many):
    forwards = {question.id for question in sample_questions(many, 50, seed=1)}
    assert forwards == {question.id for question in sample_questions(many[::-1], 50, seed=1)}
    assert forwards != {question.id for question in sample_questions(many, 50, seed=2)}


def test_a_sample_keeps_the_order_of_the_file(many):
    drawn = sample_questions(many, 50)
    assert drawn == [question for question in many if question in drawn]


@pytest.mark.parametrize("n", [0, -3, 201])
def test_a_sample_that_cannot_be_drawn_is_refused(many, n):
    with pytest.raises(InputError, match=f"{n} questions requested"):
        sample_questions(many, n)


def test_the_table_of_questions_survives_parquet(tmp_path):
    questions = [
        Question("a", "Who?", ("x", "y"), "t", 3),
        Question("b", "Where?"),
        Question("c", "Why?", (), None, 5, unknowable=True),
    ]
    path = tmp_path / "questions.parquet"
    questions_frame(questions).assign(split="test").to_parquet(path)
    assert questions_from_frame(pd.read_parquet(path)) == questions
    assert load_questions(path) == questions


HUB_ROWS = {
    "squad": [
        {
            "id": "s1",
            "context": "Paris lies on the Seine.",
            "question": "Where is Paris?",
            "answers": {"text": ["on the Seine", "on the Seine"], "answer_start": [11, 11]},
        },
        {
            "id": "s2",
            "context": "…",
            "question": "where is Paris",
            "answers": {"text": ["France"], "answer_start": [0]},
        },
    ],
    "nq_open": [{"question": "where is paris", "answer": ["on the Seine", "France"]}],
    "trivia_qa": [
        {
            "question_id": "t1",
            "question": "Where is Paris?",
            "answer": {"value": "on the Seine", "aliases": ["France"], "normalized_value": "on seine"},
        }
    ],
}


@pytest.mark.parametrize("name", HUB_ROWS)
@pytest.mark.parametrize("by_name", [True, False])
def test_a_local_folder_in_the_hubs_layout_is_read(tmp_path, monkeypatch, name, by_name):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / (name if by_name else "copy") / ("rc.nocontext" if name == "trivia_qa" else "data")
    folder.mkdir(parents=True)
    pd.DataFrame(HUB_ROWS[name]).to_parquet(folder / "validation-00000-of-00001.parquet")
    (question,) = load_questions(name if by_name else folder.parent)
    assert question.text.lower().rstrip("?") == "where is paris"
    assert question.answers == ("on the Seine", "France")
    assert question.id == {"squad": "s1", "trivia_qa": "t1"}.get(name, question_id("where is paris"))


def test_a_local_folder_without_a_validation_split_is_refused(tmp_path):
    pd.DataFrame(HUB_ROWS["nq_open"]).to_parquet(tmp_path / "test-00000-of-00001.parquet")
    with pytest.raises(InputError, match="validation split"):
        load_questions(tmp_path)


def test_a_local_folder_of_something_else_is_refused(tmp_path):
    pd.DataFrame({"image": [1], "label": [2]}).to_parquet(tmp_path / "validation-00000-of-00001.parquet")
    with pytest.raises(InputError, match="columns image, label; it needs `question`"):
        load_questions(tmp_path)


HOSTILE = [
    ("q.jsonl", b"", "is empty"),
    ("q.jsonl", b" \n\n", "is empty"),
    ("q.csv", b"", "is empty"),
    ("q.csv", b"id,question\n", "holds no rows"),
    ("q.jsonl", b'{"question": "Who?"}\n{"question": "Wh', "line 2 is no whole JSON object"),
    ("q.jsonl", b'{"question": "Who?"}\n["Who?"]\n', "line 2 holds a list"),
    ("q.jsonl", b"[" * 100_000, "line 1 is nested too deeply"),
    ("q.jsonl", b'{"question": "Who \\ud800?"}', "line 1 holds half of a surrogate pair"),
    ("q.jsonl", b'{"question": "Who?", "level": ' + b"9" * 5000 + b"}", "line 1 holds a number that cannot be read"),
    ("q.jsonl", b'{"question": "Who?"}\n{"question": "Caf\xe9?"}', "line 2 holds the byte 0xe9, which is no UTF-8"),
    ("q.csv", "question\nWho?\n".encode("utf-16"), "line 1 holds the byte 0xff"),
    ("q.csv", b"question\nW\0ho?\n", "line 2 holds a zero byte"),
    ("q.csv", b"id,text\n1,Who?\n", "no column 'question'; it holds 'id', 'text'"),
    ("q.csv", b'question,topic\n"Who?\n', "line 2 is no whole CSV record"),
    ("q.csv", b"question,topic\nWho?,x\nWhy, oh why?,y\n", "line 3 has 3 fields, but the header names 2"),
    ("q.csv", b"id,question\n1,Who?\n2\n", "line 3 has 1 fields, but the header names 2"),
    ("q.csv", b"question,question\nWho?,Why?\n", "names the column 'question' twice"),
    ("q.csv", b"id,question\n1,Who?\n2,\n", "line 3, column 'question' is blank"),
    ("q.csv", b"id,question\n1,Who?\n2,???\n", r"line 3, column 'question' holds '\?\?\?'"),
    ("q.jsonl", b'{"id": 1, "question": "Who?"}\n{"id": 2}\n', "line 2, column 'question' is blank"),
    ("q.jsonl", b'{"question": 7}', "line 1, column 'question' holds 7; write the question as text"),
    ("q.jsonl", b'{"question": ["Who?"]}', r"line 1, column 'question' holds \['Who\?'\]"),
    ("q.csv", b"id,question\n1,Who?\n1,Why?\n", "holds the id '1' twice, for 'Who.' and 'Why.'"),
    ("q.csv", b"id,question\n1,Who?\n ,Why?\n", "line 3, column 'id' is blank"),
    ("q.jsonl", b'{"id": {}, "question": "Who?"}', "line 1, column 'id' holds {}"),
    ("q.jsonl", b'{"question": "Who?", "answers": {"text": "x"}}', "line 1, column 'answers' holds {'text': 'x'}"),
    ("q.jsonl", b'{"question": "Who?", "answer": [true]}', "line 1, column 'answer' holds .True.; give a list"),
    ("q.jsonl", b'{"question": "Who?", "answer": [["x"]]}', "line 1, column 'answer' holds"),
    ("q.csv", b"question,level\nWho?,easy\n", "line 2, column 'level' holds 'easy'; give a whole number"),
    ("q.csv", b"question,level\nWho?,2.5\n", "line 2, column 'level' holds '2.5'"),
    ("q.jsonl", b'{"question": "Who?", "level": Infinity}', "line 1, column 'level' holds inf"),
    (
        "q.csv",
        b"question,unknowable\nWho?,perhaps\n",
        "line 2, column 'unknowable' holds 'perhaps'; give true or false",
    ),
    ("q.parquet", b"PAR1 and nothing more", "is no whole Parquet file"),
    ("q.xlsx", b"PK", "ends in '.xlsx'; tables are read from .jsonl, .csv"),
]


@pytest.mark.parametrize(("name", "content", "complaint"), HOSTILE)
def test_a_file_that_cannot_be_used_is_refused_by_name_and_line(tmp_path, name, content, complaint):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=complaint) as refusal:
        load_questions(path)
    assert str(path) in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_parquet_row_is_named_by_its_number(tmp_path):
    path = tmp_path / "q.parquet"
    pd.DataFrame({"question": ["Who?", None]}).to_parquet(path)
    with pytest.raises(InputError, match=r"q.parquet, row 2, column 'question' is blank"):
        load_questions(path)


def test_a_parquet_file_cut_short_is_refused(tmp_path):
    path = tmp_path / "q.parquet"
    pd.DataFrame({"question": ["Who?"]}).to_parquet(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="no whole Parquet file"):
        load_questions(path)


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_a_damaged_file_is_read_or_refused_and_never_crashes(tmp_path, suffix):
    rows = [{"id": f"q{number}", "question": f"Who wrote book {number}?", "level": number} for number in range(5)]
    whole = tmp_path / f"whole{suffix}"
    {
        ".jsonl": lambda: write_jsonl(whole, rows),
        ".csv": lambda: pd.DataFrame(rows).to_csv(whole, index=False),
        ".parquet": lambda: pd.DataFrame(rows).to_parquet(whole),
    }[suffix]()
    draw = random.Random(0)
    refusals = []
    for _ in range(150):
        data = bytearray(whole.read_bytes())
        position = draw.randrange(len(data))
        data[position : position + draw.randrange(20)] = draw.choice(
            [b"", b'"', b"\xff", b"[", b"1e999", b"\n,", b"\0"]
        )
        damaged = tmp_path / f"damaged{suffix}"
        damaged.write_bytes(data)
        try:
            load_questions(damaged)
        except InputError as refusal:
            refusals.append(str(refusal))
    assert len(refusals) > 50
    assert not any("\n" in refusal for refusal in refusals)


@pytest.mark.parametrize("source", ["sqaud", "", "no/such/file.jsonl"])
def test_an_unknown_source_is_refused_with_what_there_is(source):
    with pytest.raises(InputError, match=r"there is no file|there are no questions called"):
        load_questions(source)
