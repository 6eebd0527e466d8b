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


def test_worked_examples_are_development_questions_with_their_answers_and_the_question_stands_last():
    known = {question.text: question.answers for question in load_questions("development")}
    user = CLOSED_BOOK_PROMPTS["closed book, examples"].fill("Who wrote Emma?").user
    *worked, last = user.split("Question: ")[1:]
    assert last == "Who wrote Emma?"
    assert len(worked) == 4
    for each in worked:
        asked, said = each.strip().split("\n\nAnswer: ")
        assert said in known[asked]


def test_a_text_file_is_the_user_turn_and_a_yaml_file_may_begin_the_assistants(tmp_path):
    for name in ("p.txt", "p.md"):
        (tmp_path / name).write_text("\ufeffCould you answer this?\n{question}\n", encoding="utf-8")
        assert load_prompt(tmp_path / name) == PromptTemplate("Could you answer this?\n{question}", name="p")
    path = tmp_path / "p.yaml"
    path.write_text('user: |\n  Could you?\n  {question}\nassistant_prefix: "Verdict:"\nname: mine\n', encoding="utf-8")
    assert load_prompt(path) == PromptTemplate("Could you?\n{question}", "Verdict:", "mine")


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("p.txt", b"Could you?", r"holds \{question\} 0 times; it must stand there exactly once"),
        ("p.txt", b"", "0 times"),
        ("p.txt", None, "there is no prompt file"),
        ("p.txt", b"{question} {question}", "2 times"),
        ("p.txt", b"\xff\xfe{question}", "is no UTF-8 text"),
        ("p.docx", b"{question}", "ends in '.docx'; prompts are read from .txt, .md and .yaml"),
        ("p.yaml", b"user: [", "is no YAML"),
        ("p.yaml", b"", "gives a NoneType, not keys and values; known keys are user"),
        ("p.yaml", b"just text {question}", "gives a str, not keys"),
        ("p.yaml", b"prompt: '{question}'", "gives the key 'prompt'; known are user"),
        ("p.yaml", b"user: '{question}'\nsystem: be kind", "gives the key 'system'; known are user"),
        ("p.yaml", b"user: '{question}'\nassistant_prefix: 7", "gives assistant_prefix as 7; write it as text"),
        ("p.yaml", b"user: {question}", "gives user as"),
        ("p.yaml", b"user: !!python/object/apply:os.getcwd []", "is no YAML"),
    ],
)
def test_a_prompt_that_cannot_be_used_is_refused(tmp_path, name, content, complaint):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=complaint) as refusal:
        load_prompt(tmp_path / name)
    assert "\n" not in str(refusal.value)


def test_the_studys_own_wording_is_there_by_its_name_and_can_be_reversed():
    study = load_prompt("study")
    assert "Do you think you can answer this correctly?" in study.user
    assert "wrong" in reversed_wording(study).user
