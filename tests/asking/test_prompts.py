"""A prompt has one slot for the question; framings differ in nothing but what stands before the request."""

import pytest

from onedial.asking.instruments import CLOSED_BOOK_PROMPTS
from onedial.asking.prompts import FRAMINGS, PromptTemplate, load_prompt
from onedial.asking.rewording import reversed_wording
from onedial.core.errors import InputError
from onedial.panels.questions.question_files import load_questions


def test_every_framing_ends_with_the_same_request():
    endings = {template.user[template.user.index("Question: {question}") :] for template in FRAMINGS.values()}
    assert len(FRAMINGS) >= 8
    assert len(endings) == 1
    assert endings.pop().endswith("Can you answer this question correctly? Yes or No?")
    assert len({template.user for template in FRAMINGS.values()}) == len(FRAMINGS)
    assert {template.assistant_prefix for template in FRAMINGS.values()} == {"Answer:"}


def test_worked_examples_are_answered_development_questions():
    """Worked examples are development questions with their answers and the question stands last."""
    known = {question.text: question.answers for question in load_questions("development")}
    user = CLOSED_BOOK_PROMPTS["closed book, examples"].fill("Who wrote Emma?").user
    *worked, last = user.split("Question: ")[1:]
    assert last == "Who wrote Emma?"
    assert len(worked) == 4
    for each in worked:
        asked, answer = each.strip().split("\n\nAnswer: ")
        assert answer in known[asked]


def test_a_yaml_prompt_may_begin_the_answer(tmp_path):
    """A text file is the user turn and a yaml file may begin the assistants."""
    for name in ("p.txt", "p.md"):
        (tmp_path / name).write_text("\ufeffCould you answer this?\n{question}\n", encoding="utf-8")
        assert load_prompt(tmp_path / name) == PromptTemplate("Could you answer this?\n{question}", name="p")
    path = tmp_path / "p.yaml"
    path.write_text('user: |\n  Could you?\n  {question}\nassistant_prefix: "Verdict:"\nname: mine\n', encoding="utf-8")
    assert load_prompt(path) == PromptTemplate("Could you?\n{question}", "Verdict:", "mine")


def test_a_prompt_that_is_not_there_is_refused():
    with pytest.raises(InputError, match=r"there is no prompt file nowhere\.txt"):
        load_prompt("nowhere.txt")


def test_the_studys_own_wording_is_there_by_its_name_and_can_be_reversed():
    study = load_prompt("study")
    assert "Do you think you can answer this correctly?" in study.user
    assert "wrong" in reversed_wording(study).user
