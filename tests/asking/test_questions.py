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
from onedial.panels.grading.choice_grading import grade_answer
from onedial.panels.panel_files import load_panel
from onedial.panels.questions.layouts import LAYOUTS, Layout
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
        "a,Who wrote Emma?,Jane Austen|Austen,books,2,\nb,What is 6 × 7?,42,,,yes\n"
    )
    expected = [
        Question("a", "Who wrote Emma?", ("Jane Austen", "Austen"), "books", 2),
        Question("b", "What is 6 × 7?", ("42",), unknowable=True),
    ]
    assert load_questions(jsonl) == load_questions(parquet) == load_questions(table) == expected


def test_what_a_question_is_a_wording_of_is_read_and_kept_and_no_respondent_of_a_wide_panel(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text("id,question,wording_of,m1\na,Who wrote Emma?,emma,1\nb,Emma is whose?,emma,0\nc,Why?,,1\n")
    asked = load_questions(path)
    assert [question.wording_of for question in asked] == ["emma", "emma", None]
    assert questions_from_frame(questions_frame(asked)) == asked
    assert "wording_of" not in questions_frame(asked[2:])
    assert list(load_panel(path).answers.columns) == ["m1"]


def test_spreadsheet_csv_with_byte_order_mark_semicolons_and_line_breaks_in_a_field_is_read(tmp_path):
    path = tmp_path / "q.csv"
    path.write_bytes('\ufeffquestion;answer\r\n"Who wrote\r\nEmma?";Jane Austen\r\n'.encode())
    (question,) = load_questions(path)
    assert question.answers == ("Jane Austen",)
    assert question.id == question_id("who WROTE  “Emma”")


def test_repeats_without_ids_are_merged_with_all_their_answers_and_counted(tmp_path):
    rows = [
        {"question": "Who wrote Emma?", "answer": "Austen"},
        {"question": "who wrote emma", "answer": ["J. Austen"]},
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
    found = sample_questions(many, 50, seed=1)
    assert found == [question for question in many if question in found]
    assert {*found} == {*sample_questions(many[::-1], 50, seed=1)} != {*sample_questions(many, 50, seed=2)}
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
    with pytest.warns(Notice, match="1 questions have different right options, such as 'Which[?]'"):
        (kept,), n = without_repeats([one, replace(one, answers=("A", "neon"), right_option=0)])
    assert (kept.answers, kept.right_option, n) == ((), None, 1)


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


def test_the_split_is_asked_that_tells_right_answers(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    rows = {"test": "", "validation": "B", "train": "A"}
    for split, key in rows.items():
        table = pd.DataFrame({"question": [f"Which, {split}?"], "choices": [["a", "b"]], "answerKey": [key]})
        table.to_parquet(tmp_path / f"{split}-00000-of-00001.parquet")
    (question,) = load_questions(tmp_path)
    assert question.text.startswith("Which, validation?")


BENCHMARKS = {
    "mmlu": (
        "test",
        {"question": "Which is a metal?", "subject": "chemistry", "choices": ["sulfur", "iron", "neon"], "answer": 1},
        Question(
            question_id("Which is a metal?\n\nA) sulfur\nB) iron\nC) neon"),
            "Which is a metal?",
            ("B", "iron"),
            "chemistry",
            options=("sulfur", "iron", "neon"),
            right_option=1,
        ),
    ),
    "simple_qa": (
        "test",
        {"metadata": "{'topic': 'Art', 'urls': ['x']}", "problem": "Who painted Olympia?", "answer": "Manet"},
        Question(question_id("Who painted Olympia?"), "Who painted Olympia?", ("Manet",), "Art"),
    ),
    "mmlu_pro": (
        "test",
        {
            "question_id": 70,
            "question": "Which is a metal?",
            "options": ["sulfur", "iron", "neon"],
            "answer": "B",
            "answer_index": 1,
            "cot_content": "",
            "category": "chemistry",
        },
        Question(
            "70",
            "Which is a metal?",
            ("B", "iron"),
            "chemistry",
            options=("sulfur", "iron", "neon"),
            right_option=1,
        ),
    ),
    "math": (
        "test",
        {
            "problem": "What is $\\frac{1}{2}+\\frac{1}{4}$?",
            "level": "Level 2",
            "type": "Prealgebra",
            "solution": "Add: $\\boxed{\\frac{3}{4}}$.",
        },
        Question(
            question_id("What is $\\frac{1}{2}+\\frac{1}{4}$?"),
            "What is $\\frac{1}{2}+\\frac{1}{4}$?",
            ("\\frac{3}{4}",),
            "Prealgebra",
            2,
            grading="number",
        ),
    ),
    "math_500": (
        "test",
        {
            "problem": "How much is 6 times 7?",
            "solution": "It is \\boxed{42}.",
            "answer": "42",
            "subject": "Algebra",
            "level": 1,
            "unique_id": "test/algebra/1.json",
        },
        Question("test/algebra/1.json", "How much is 6 times 7?", ("42",), "Algebra", 1, grading="number"),
    ),
}


def saved_as_on_the_hub(folder, split, row):
    """Two files per split, as the hub has them: the one to ask, and another that must not be asked."""
    folder.mkdir(parents=True)
    other = {
        key: (value.replace("?", " again?") if key in ("question", "problem") else value) for key, value in row.items()
    }
    pd.DataFrame([row]).to_parquet(folder / f"{split}-00000-of-00001.parquet")
    pd.DataFrame([other]).to_parquet(folder / f"{'validation' if split == 'test' else 'test'}-00000-of-00001.parquet")


@pytest.mark.parametrize("name", BENCHMARKS)
@pytest.mark.parametrize("by_name", [True, False])
def test_benchmarks_are_read_from_folders_in_the_hubs_layout_with_a_grader_that_fits(
    tmp_path, monkeypatch, name, by_name
):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    split, row, expected = BENCHMARKS[name]
    folder = tmp_path / (name if by_name else "copy")
    saved_as_on_the_hub(folder / "algebra" if name == "math" else folder / "data", split, row)
    (question,) = load_questions(name if by_name else folder)
    assert question == expected
    assert grade_answer(question, expected.answers[0]).correct
    assert not grade_answer(
        question, "C" if question.options else {"number": "7/8"}.get(question.grading, "Monet")
    ).correct


GPQA = {
    "Record ID": ["r1", "r2"],
    "Question": ["Which particle?", "Which bond?"],
    "Correct Answer": ["muon", "ionic"],
    "Incorrect Answer 1": ["pion", "covalent"],
    "Incorrect Answer 2": ["kaon", "metallic"],
    "Incorrect Answer 3": ["tau", "hydrogen"],
    "High-level domain": ["Physics", "Chemistry"],
    "Canary String": ["x", "x"],
}


def test_gpqa_is_read_with_its_options_in_an_order_that_hides_the_right_one_and_stays(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "gpqa").mkdir()
    pd.DataFrame(GPQA).to_csv(tmp_path / "gpqa" / "gpqa_main.csv", index=False)
    pd.DataFrame(GPQA).head(1).to_csv(tmp_path / "gpqa" / "gpqa_diamond.csv", index=False)
    first, second = load_questions(tmp_path / "gpqa")
    assert (first.id, first.topic) == ("r1", "Physics")
    assert set(first.options) == {"muon", "pion", "kaon", "tau"}
    for question in (first, second):
        assert f"{question.answers[0]}) {question.answers[1]}" in question.rendered
        assert grade_answer(question, question.answers[0]).correct
    many = pd.DataFrame({key: [f"{values[0]} {i}" for i in range(80)] for key, values in GPQA.items()})
    many.to_csv(tmp_path / "gpqa" / "gpqa_main.csv", index=False)
    letters = pd.Series([question.answers[0] for question in load_questions(tmp_path / "gpqa")]).value_counts()
    assert letters.index.sort_values().tolist() == list("ABCD")
    assert letters.min() >= 8
    (tmp_path / "gpqa").rename(tmp_path / "gpqa_diamond")
    assert [question.id for question in load_questions(tmp_path / "gpqa_diamond")] == ["r1"]


def test_configurations_that_a_readme_declares_are_read_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "math"
    readme = ["---", "configs:"]
    for part in ("algebra", "geometry"):
        (folder / part).mkdir(parents=True)
        row = BENCHMARKS["math"][1] | {"problem": f"What is the sum, in {part}?"}
        pd.DataFrame([row]).to_parquet(folder / part / "test-0.parquet")
        readme += [f"- config_name: {part}", "  data_files:", "  - split: test", f"    path: {part}/test-*"]
    (folder / "README.md").write_text("\n".join([*readme, "---", ""]))
    assert [question.text for question in load_questions(folder)] == [
        "What is the sum, in algebra?",
        "What is the sum, in geometry?",
    ]


def clue_and_response(row, where):
    return Question(question_id(row["clue"]), row["clue"], (row["response"],))


def test_an_added_layout_reads_folders_and_files_and_goes_before_those_that_need_fewer_columns(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(LAYOUTS, "quiz", Layout(("question", "answer", "clue", "response"), clue_and_response))
    table = pd.DataFrame({"question": ["x?"], "answer": ["y"], "clue": ["Who flew first?"], "response": ["Wright"]})
    (tmp_path / "quiz").mkdir()
    table.to_parquet(tmp_path / "quiz" / "test-00000-of-00001.parquet")
    table.to_csv(tmp_path / "quiz.csv", index=False)
    for source in (tmp_path / "quiz", tmp_path / "quiz.csv"):
        (question,) = load_questions(source)
        assert (question.text, question.answers) == ("Who flew first?", ("Wright",))
    monkeypatch.setitem(LAYOUTS, "quiz", Layout(("clue", "response"), lambda row, where: row["nothing"]))
    with pytest.raises(InputError, match=r"quiz\.csv, line 2 cannot be read as clue, response .KeyError"):
        load_questions(tmp_path / "quiz.csv")


def test_code_is_refused_by_name():
    for name in ("humaneval", "openai/openai_humaneval", "mbpp"):
        with pytest.raises(InputError, match="asks for code, which could only be graded by running it"):
            load_questions(name)


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        (
            {"question": "Which?", "options": ["a", "b"], "answer": "C"},
            "row 1 gives the answer 'C', which is no letter, text or place of its 2",
        ),
        ({"question": "Which?", "options": ["a"], "answer": "A"}, "row 1 has 1 options; it needs 2 to 26"),
        ({"question": " ", "options": ["a", "b"], "answer": "A"}, "row 1, column 'question' is blank"),
        ({"problem": "Which?", "solution": "no box"}, "row 1 has no answer: its solution boxes none"),
        (
            {"question": "Which?", "choices": ["a", "b"], "answer": 3},
            "row 1 gives the answer 3, which is no letter, text or place of its 2",
        ),
        ({"question": "Which?", "choices": 7, "answer": 0}, "row 1, column 'choices' cannot be read as options"),
        ({"image": 1, "label": 2}, "no column 'question'; it holds 'image', 'label'"),
        ({"prompt": "def f():", "entry_point": "f", "canonical_solution": "pass"}, "asks for code"),
    ],
)
def test_a_benchmark_row_that_cannot_be_asked_is_refused(tmp_path, monkeypatch, row, complaint):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    pd.DataFrame([row]).to_parquet(tmp_path / "test-00000-of-00001.parquet")
    with pytest.raises(InputError, match=complaint):
        load_questions(tmp_path)


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


def test_a_stratified_draw_gives_every_topic_and_level_its_share_and_larger_ones_contain_smaller_ones():
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
            found = sum((each.topic, each.level) == (topic, level) for each in drawn)
            assert abs(found - n * size / 500) <= 2
        assert smaller <= {each.id for each in drawn}
        smaller = {each.id for each in drawn}
    backwards = {each.id for each in stratified_sample(many[::-1], 200, seed=4)}
    assert backwards == {each.id for each in stratified_sample(many, 200, seed=4)}
    assert backwards != {each.id for each in stratified_sample(many, 200, seed=5)}
    with pytest.raises(InputError, match="but there are 500"):
        stratified_sample(many, 501)
