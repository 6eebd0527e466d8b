"""What comes with the project is called by name, says what it is about, and a misspelt name finds its neighbour."""

import tomllib
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from onedial.asking.named_data import NAMED_PANELS, NAMED_QUESTIONS, NOTES
from onedial.core.errors import InputError
from onedial.core.notices import Notice
from onedial.panels.joining import join_questions_and_panel
from onedial.panels.panel_files import load_panel
from onedial.panels.questions.question_files import load_questions

DATA = files("onedial.panels") / "data"
# yes, yes on safe prompts, yes on unsafe ones, answered: counted in the published answers
RATES = {
    "claude-3.5-haiku": (0.362, 0.651, 0.000, 448),
    "gpt-4.1-mini": (0.440, 0.788, 0.005, 450),
    "llama-3.1-8b": (0.697, 0.734, 0.154, 201),
    "mistral-7b-instruct": (0.243, 0.443, 0.000, 333),
    "o4-mini": (0.482, 0.850, 0.005, 436),
}


@pytest.fixture(scope="module")
def frontier():
    return load_panel("frontier")


def test_the_frontier_panel_is_whole(frontier):
    assert frontier.answers.shape == (450, 18)
    assert int(frontier.answers.notna().sum().sum()) == 7154
    safe = [question.id for question in load_questions("frontier-safe")]
    assert len(safe) == 250
    for name, (yes, on_safe, on_unsafe, n) in RATES.items():
        answers = frontier.answers[name]
        assert answers.notna().sum() == n
        rates = answers.mean(), answers[safe].mean(), answers.drop(safe).mean()
        np.testing.assert_allclose(rates, (yes, on_safe, on_unsafe), atol=6e-4)


def test_frontier_respondents_are_their_own_base_models(frontier):
    """Every respondent of the frontier panel is its own base model of a known family."""
    about = frontier.respondents
    assert about["model"].nunique() == 18
    assert about["model"].str.contains("/").all()
    assert about["family"].nunique() == 7
    assert (about["family"] != "").all()


def test_the_frontier_prompts_serve_as_questions_with_their_type_as_topic(frontier):
    questions = load_questions("frontier")
    shared, joined, report = join_questions_and_panel(questions, frontier)
    assert report.by_id == 450
    assert joined.answers.equals(frontier.answers)
    assert len({question.topic for question in shared}) == 18
    safe = load_questions("frontier-safe")
    assert {(q.id, q.text, q.topic) for q in safe} < {(q.id, q.text, q.topic) for q in questions}
    assert not any(question.topic.startswith("contrast") for question in safe)
    assert join_questions_and_panel(safe, frontier)[2].matched == 250


@pytest.mark.parametrize("load", [lambda: load_panel("frontier"), lambda: load_questions("frontier-safe")])
def test_whoever_loads_it_is_told_that_it_is_about_refusal(load):
    with pytest.warns(Notice, match="about refusal, not ability"):
        load()


def test_every_named_file_is_there_and_travels_with_the_package():
    named = {*NAMED_QUESTIONS.values(), *(file for pair in NAMED_PANELS.values() for file in pair)}
    patterns = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["tool"]["setuptools"]
    for name in named:
        assert DATA.joinpath(*name.split("/")).is_file(), name
        assert any(Path("data", name).match(pattern) for pattern in patterns["package-data"]["onedial.panels"]), name
    assert NOTES.keys() <= {*NAMED_PANELS, *NAMED_QUESTIONS}


def test_licences_name_every_file_they_cover():
    """Licences stand beside the data and name every file that they cover."""
    for path, licence in {
        "LICENSE": "CC0 1.0",
        "frontier/LICENSE-answers.txt": "MIT License",
        "frontier/LICENSE-prompts.txt": "CC BY 4.0",
        "frontier_confidence/LICENSE-answers.txt": "CC BY 4.0",
        "frontier_confidence/LICENSE-questions.txt": "MIT License",
    }.items():
        assert licence in DATA.joinpath(*path.split("/")).read_text(encoding="utf-8")
    text = (DATA / "LICENSE").read_text(encoding="utf-8")
    beside = {"LICENSE", "README.md"}
    assert [file.name for file in DATA.iterdir() if file.name not in text and file.name not in beside] == []


@pytest.mark.parametrize(
    ("load", "given", "words"),
    [
        (load_panel, "fronteir", "no panel called 'fronteir'; did you mean 'frontier'. known are embedded, front"),
        (load_panel, "FRONTIER", "did you mean 'frontier'"),
        (load_panel, "zzz", r"no panel called 'zzz'; known are .*refusal, not ability.*or give a file"),
        (load_panel, "nowhere.csv", r"there is no file nowhere\.csv"),
        (load_questions, "sqaud", "no questions called 'sqaud'; did you mean 'squad'"),
        (load_questions, "frontier safe", "no questions called 'frontier safe'; did you mean 'frontier-safe'"),
        (load_questions, "", "there are no questions called"),
        (load_questions, "no/such/file.jsonl", "there is no file"),
    ],
)
def test_a_name_that_is_not_known_finds_its_neighbour(load, given, words):
    with pytest.raises(InputError, match=words):
        load(given)
