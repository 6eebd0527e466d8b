"""Questions come in as they were written, or are refused in one sentence that names file and line."""

import itertools
import json
import random
from dataclasses import replace

import pandas as pd
import pytest

from onedial.asking.questions import (
    Question,
    question_id,
    questions_frame,
    questions_from_frame,
    sample_questions,
    stratified_sample,
    without_repeats,
)
from onedial.core.errors import InputError
from onedial.core.notices import Notice
from onedial.panels.panel_files import load_panel
from onedial.panels.questions.question_files import load_questions

ROWS = [
    {"id": "a", "question": "Who wrote Emma?", "answers": ["Jane Austen", "Austen"], "topic": "books", "level": 2},
    {"id": "b", "question": "What is 6 × 7?", "answers": ["42"], "topic": None, "level": None, "unknowable": True},
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
        "id,question,answers,topic,level,unknowable\n"
        'a,Who wrote Emma?,"[""Jane Austen"", ""Austen""]",books,2,\nb,What is 6 × 7?,42,,,yes\n'
    )
    expected = [
        Question("a", "Who wrote Emma?", ("Jane Austen", "Austen"), "books", 2),
        Question("b", "What is 6 × 7?", ("42",), unknowable=True),
    ]
    assert load_questions(jsonl) == load_questions(parquet) == load_questions(table) == expected


def test_wording_of_is_read_and_is_no_respondent(tmp_path):
    """What a question is a wording of is read and kept and no respondent of a wide panel."""
    path = tmp_path / "q.csv"
    path.write_text("id,question,wording_of,m1\na,Who wrote Emma?,emma,1\nb,Emma is whose?,emma,0\nc,Why?,,1\n")
    asked = load_questions(path)
    assert [question.wording_of for question in asked] == ["emma", "emma", None]
    assert questions_from_frame(questions_frame(asked)) == asked
    assert "wording_of" not in questions_frame(asked[2:])
    assert list(load_panel(path).answers.columns) == ["m1"]


def test_a_spreadsheets_csv_is_read(tmp_path):
    """Spreadsheet csv with byte order mark semicolons and line breaks in a field is read."""
    path = tmp_path / "q.csv"
    path.write_bytes('\ufeffquestion;answer\r\n"Who wrote\r\nEmma?";Jane Austen\r\n'.encode())
    (question,) = load_questions(path)
    assert question.answers == ("Jane Austen",)
    assert question.id == question_id("who WROTE  “Emma”")


def test_repeats_without_ids_are_merged_with_all_their_answers_and_counted(tmp_path):
    rows = [
        {"question": "Who wrote Emma?", "answer": "Austen"},
        {"question": "Who  wrote Emma? ", "answer": "J. Austen"},
    ]
    path = write_jsonl(tmp_path / "q.jsonl", rows)
    with pytest.warns(Notice, match="1 repeated questions merged, 1 remain"):
        (question,) = load_questions(path)
    assert question.answers == ("Austen", "J. Austen")


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


def test_a_sample_contains_smaller_ones_and_depends_on_seed_and_ids_alone(many):
    drawn = [{question.id for question in sample_questions(many, n, seed=3)} for n in (1, 20, 90, 200)]
    assert [len(ids) for ids in drawn] == [1, 20, 90, 200]
    assert all(small < large for small, large in itertools.pairwise(drawn))
    result = sample_questions(many, 50, seed=1)
    assert result == [question for question in many if question in result]
    assert {*result} == {*sample_questions(many[::-1], 50, seed=1)} != {*sample_questions(many, 50, seed=2)}
    for n in (0, -3, 201):
        with pytest.raises(InputError, match=f"{n} questions requested"):
            sample_questions(many, n)


def test_the_table_of_questions_survives_parquet(tmp_path):
    questions = [
        Question("a", "Who?", ("x", "y"), "t", 3),
        Question("b", "Where?"),
        Question("c", "Why?", (), None, 5, unknowable=True),
        Question("d", "Which?", ("B", "iron"), options=("neon", "iron"), right_option=1),
    ]
    path = tmp_path / "questions.parquet"
    questions_frame(questions).assign(split="test").to_parquet(path)
    assert questions_from_frame(pd.read_parquet(path)) == questions
    assert load_questions(path) == questions


def test_a_run_of_an_earlier_version_is_refused():
    """Its options stood in the texts, where nothing reads them any more."""
    frame = questions_frame([Question("d", "Which?\n\nA) neon\nB) iron", ("B", "iron"), grading="choice")])
    with pytest.raises(InputError, match="stored by an earlier version"):
        questions_from_frame(frame)


def test_repeats_with_other_right_options_have_none():
    one = Question("d", "Which?", ("B", "iron"), options=("neon", "iron"), right_option=1)
    with pytest.warns(Notice, match="1 questions have different right answers, such as 'Which[?]'"):
        (kept,), n = without_repeats([one, replace(one, answers=("A", "neon"), right_option=0)])
    assert (kept.answers, kept.right_option, n) == ((), None, 1)


HUB = {
    "arc": (
        ["ARC-Easy", "ARC-Challenge"],
        "test",
        {"question": "Which?", "choices": {"text": ["neon", "iron"], "label": ["1", "2"]}, "answerKey": "2"},
        ("B", "iron"),
    ),
    "squad": (
        ["default"],
        "validation",
        {"id": "s", "question": "Where?", "answers": {"text": ["here", "here"], "answer_start": [1, 1]}},
        ("here",),
    ),
    "math": (["algebra"], "test", {"problem": "1+1?", "solution": "So $\\boxed{2}$.", "type": "Algebra"}, ("2",)),
}


def saved_as_on_the_hub(folder, name):
    """A folder with a README that declares its configurations, each with the split that is asked and another."""
    configs, split, row, answers = HUB[name]
    readme = ["---", "configs:"]
    for config in configs:
        (folder / config).mkdir(parents=True)
        key = "problem" if "problem" in row else "question"
        readme += [f"- config_name: {config}", "  data_files:"]
        for other in ("train", split):
            pd.DataFrame([row | {key: f"{row[key]} {config} {other}"}]).to_parquet(folder / config / f"{other}.parquet")
            readme += [f"  - split: {other}", f"    path: {config}/{other}.parquet"]
    (folder / "README.md").write_text("\n".join([*readme, "---", ""]))
    return [f"{row[key]} {config} {split}" for config in configs], answers


@pytest.mark.parametrize("name", HUB)
@pytest.mark.parametrize("by_name", [True, False])
def test_a_preset_reads_a_folder_in_the_hubs_layout(tmp_path, monkeypatch, name, by_name):
    """Its configurations one after the other, the split that is asked; a folder of its name goes before the hub."""
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / (name if by_name else "copy")
    texts, answers = saved_as_on_the_hub(folder, name)
    questions = load_questions(name) if by_name else load_questions(folder, preset=name)
    assert [question.text for question in questions] == texts
    assert {question.answers for question in questions} == {answers}


def test_a_folder_without_a_preset_says_what_to_choose(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    saved_as_on_the_hub(tmp_path / "copy", "arc")
    with pytest.raises(InputError, match="has the configurations 'ARC-"):
        load_questions(tmp_path / "copy")
    (tmp_path / "one").mkdir()
    pd.DataFrame({"question": ["Who?"], "answer": ["Ann"]}).to_parquet(tmp_path / "one" / "train.parquet")
    assert load_questions(tmp_path / "one")[0].answers == ("Ann",)


GPQA = {
    "Record ID": ["r1", "r2"],
    "Question": ["Which particle?", "Which bond?"],
    "Correct Answer": ["muon", "ionic"],
    "Incorrect Answer 1": ["pion", "covalent"],
    "Incorrect Answer 2": ["kaon", "metallic"],
    "Incorrect Answer 3": ["tau", "hydrogen"],
    "High-level domain": ["Physics", "Chemistry"],
}


def test_the_right_option_stands_anywhere_and_always_in_its_place(tmp_path):
    """Where it is told from wrong ones, the order is made by a hash."""
    pd.DataFrame(GPQA).to_csv(tmp_path / "gpqa.csv", index=False)
    first, second = load_questions(tmp_path / "gpqa.csv", preset="gpqa")
    assert (first.id, first.topic) == ("r1", "Physics")
    assert set(first.options) == {"muon", "pion", "kaon", "tau"}
    assert second == load_questions(pd.DataFrame(GPQA).iloc[1:], preset="gpqa")[0]
    many = pd.DataFrame({key: [f"{values[0]} {i}" for i in range(80)] for key, values in GPQA.items()})
    letters = pd.Series([question.answers[0] for question in load_questions(many, preset="gpqa")]).value_counts()
    assert letters.index.sort_values().tolist() == list("ABCD")
    assert letters.min() >= 8


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


def test_a_stratified_draw_gives_each_stratum_its_share():
    """A stratified draw gives every topic and level its share and larger ones contain smaller ones."""
    shares = {("art", 1): 300, ("art", 5): 100, ("sea", 1): 60, ("sea", None): 40}
    many = [
        Question(f"{topic}{level}{i}", f"What {topic} {level} {i}?", topic=topic, level=level)
        for (topic, level), size in shares.items()
        for i in range(size)
    ]
    smaller: set[str] = set()
    for n in (10, 50, 200, 499, 500):
        drawn = stratified_sample(many, n, seed=4)
        assert len(drawn) == n
        assert [each for each in many if each in drawn] == drawn
        for (topic, level), size in shares.items():
            result = sum((each.topic, each.level) == (topic, level) for each in drawn)
            assert abs(result - n * size / 500) <= 2
        assert smaller <= {each.id for each in drawn}
        smaller = {each.id for each in drawn}
    backwards = {each.id for each in stratified_sample(many[::-1], 200, seed=4)}
    assert backwards == {each.id for each in stratified_sample(many, 200, seed=4)}
    assert backwards != {each.id for each in stratified_sample(many, 200, seed=5)}
    with pytest.raises(InputError, match="but there are 500"):
        stratified_sample(many, 501)
