"""The linter finds what makes a question unusable, leaves good questions alone, and says so by its exit code."""

import json
import random
import re

import pytest
from forks import run_program

from onedial.asking import FRAMINGS, Question, check_answer_tokens, check_mass, first_tokens
from onedial.asking.prompts import SLOT
from onedial.core import InputError
from onedial.panels.questions.lint import main
from onedial.panels.questions.question_checks import check_questions

GOOD = [
    Question("1", "Who wrote the novel Emma?", ("Jane Austen",)),
    Question("2", "Which metal is liquid at room temperature?", ("mercury",)),
    Question("3", "Name the river that runs through Cairo.", ("Nile",)),
    Question("4", "In which year did the Berlin Wall fall?", ("1989",)),
    Question("5", "What did the first human ever say?", (), unknowable=True),
    Question("6", "Which unit measures electric current?", ("ampere",)),
    Question("7", "What is the capital of Iran?", ("Tehran",)),
    Question("8", "What is the capital of Iraq?", ("Baghdad",)),
    Question("9", "How many legs has a spider?", ("8", "eight")),
    Question("11", "Who was the first president of Brazil?", ("Deodoro da Fonseca",)),
    Question("12", "Raiders crossed the North Sea a thousand years ago: from which land?", ("Norway", "Denmark")),
]


def kinds(*questions):
    return {finding.kind for finding in check_questions(questions)}


def asked(text, *answers, identity="q", unknowable=False):
    return Question(identity, text, answers or ("an answer",), unknowable=unknowable)


def test_good_questions_are_left_alone():
    assert check_questions(GOOD) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (asked("Who wrote the novel Persuasion?", "Austen"), asked("The novel Persuasion: who wrote it?", "Austen")),
        (asked("Who wrote Hamlet?", "Shakespeare"), asked("Who wrote Hamlett?", "Shakespeare")),
        (asked("Who invented the printing press?"), asked("Who invented the first printing press?")),
        (asked("What is the capital of France?", "Paris"), asked("Name the capital city of France.", "paris")),
    ],
)
def test_the_same_question_in_other_words_is_a_near_duplicate(first, second):
    second = Question("r", second.text, second.answers)
    (finding,) = [finding for finding in check_questions([*GOOD[:6], first, second]) if "dup" in finding.kind]
    assert finding.kind == "near-duplicate"
    assert finding.ids == ("q", "r")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            asked("Which planet is the third from the Sun?", "Earth"),
            asked("Which planet is the fourth from the Sun?", "Mars"),
        ),
        (asked("When was the abbey of Cluny built?", "910"), asked("Who built the abbey of Cluny?", "William")),
        (asked("Who won the tournament in 1990?", "Edberg"), asked("Who won the tournament in 1988?", "Edberg")),
    ],
)
def test_neighbours_are_no_near_duplicates(first, second):
    assert "near-duplicate" not in kinds(*GOOD[:6], first, Question("r", second.text, second.answers))


def test_the_same_words_twice_are_a_duplicate():
    assert "duplicate" in kinds(asked("Who wrote Emma?"), asked("who wrote EMMA", identity="r"))
    assert "repeated id" in kinds(asked("Who wrote Emma?"), asked("Who sang Aida?"))


@pytest.mark.parametrize(
    ("kind", "question"),
    [
        ("answer in question", asked("What colour is the Red Sea said to be, red or blue?", "Red")),
        ("answer in question", asked("How many wheels has a 4 wheel drive?", "four")),
        ("dated", asked("Who is the president of France?")),
        ("dated", asked("Who is the current prime minister of Japan?")),
        ("dated", asked("Which team won the cup last year?")),
        ("dated", asked("What is the latest model of this phone?")),
        ("dated", asked("How many people live in Ghana today?")),
        ("dated", asked("Who has the most goals in the league?")),
        ("dated", asked("How old is the queen of Denmark?")),
        ("dated", asked("What happened in Rome ten years ago?")),
        ("ambiguous", asked("When did they build the tower?")),
        ("ambiguous", asked("According to the passage, who won?")),
        ("ambiguous", asked("Which of the following is a mammal?")),
        ("ambiguous", asked("What is the capital of your country?")),
        ("ambiguous", asked("Who was the greatest painter of the century?")),
        ("ambiguous", asked("Where is Fulda and what is its river?")),
        ("ambiguous", asked("Who wrote Emma? When was it printed?")),
        ("no answer", Question("q", "Who wrote the novel Persuasion?")),
        ("no answer", asked("Who dreamt of Emma in 1815?", "Jane", unknowable=True)),
        ("length", asked("Who?")),
        ("length", asked("Who " + "very " * 50 + "slowly wrote it?")),
        ("length", asked("Who wrote the novel Persuasion?", "a lady of whom it is known that she lived in Hampshire")),
    ],
)
def test_a_fault_is_found(kind, question):
    assert kinds(*GOOD[:6], question) == {kind}


@pytest.mark.parametrize(
    "question",
    [
        asked("Who is said to have found a current of warm water, the Gulf Stream?"),
        asked("Which city is now called Istanbul, but was not always?"),
        asked("It takes light eight minutes to reach us from where?"),
        asked("Yes or no: is a whale a fish?", "no"),
        asked("Who is the first person in the Bible?"),
    ],
)
def test_innocent_wording_is_left_alone(question):
    assert kinds(*GOOD[:6], question) == set()


def test_a_template_that_too_many_questions_share_is_found():
    capitals = [asked(f"What is the capital of {place}?", identity=place) for place in ("Peru", "Chad", "Fiji", "Oman")]
    some = [asked(f"{word} mountains stand where?", identity=word) for word in ("blue", "red", "tall", "old")]
    assert "template" not in kinds(*capitals, *GOOD[:6])
    more = [*capitals, asked("What is the weight of a mole of carbon?", "12 g", identity="mole")]
    (finding,) = [finding for finding in check_questions([*more, *GOOD[:6], *some]) if finding.kind == "template"]
    assert finding.ids == ("Peru", "Chad", "Fiji", "Oman", "mole")
    assert "33% begin with 'what is the'" in finding.message


@pytest.mark.slow
def test_one_near_copy_is_found_among_three_thousand_questions():
    draw = random.Random(0)
    words = ["".join(draw.choices("abcdefghiklmnoprstuvwz", k=draw.randint(3, 9))) for _ in range(8000)]
    texts = [f"Who {' '.join(draw.choices(words, k=8))} in the end?" for _ in range(2_999)]
    questions = [asked(text, f"answer {number}", identity=str(number)) for number, text in enumerate(texts)]
    questions.append(asked(texts[7].replace(" in the end", ""), "answer 7", identity="again"))
    near = [finding.ids for finding in check_questions(questions) if finding.kind == "near-duplicate"]
    assert near == [("7", "again")]


def write(path, questions):
    path.write_text("".join(json.dumps({"question": text, "answer": answer}) + "\n" for text, answer in questions))
    return str(path)


def test_the_exit_code_tells_clean_from_faulty(tmp_path, capsys):
    clean = write(tmp_path / "clean.jsonl", [("Who wrote the novel Emma?", "Jane Austen")])
    faulty = write(
        tmp_path / "faulty.jsonl", [("Who wrote the novel Emma?", "Emma"), ("who wrote the novel emma", "x")]
    )
    assert main([clean]) == 0
    assert "1 questions: no findings" in capsys.readouterr().out
    assert main([faulty]) == 1
    shown = capsys.readouterr().out
    assert "duplicate: 1" in shown
    assert "answer in question: 1" in shown


def test_an_unusable_file_ends_with_2_and_one_sentence(tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_text('{"question": "Wh')
    ended = run_program("-m", "onedial.panels.questions.lint", path)
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"error: {path}, line 1 is no whole JSON object")
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("name", FRAMINGS)
def test_every_framing_speaks_of_yes_and_no_equally_often(name):
    """Else it pushes every margin one way. The answers of worked examples are what those framings differ in."""
    template = FRAMINGS[name]
    asks = re.sub(r"^Answer: (?:Yes|No)$", "", template.user, flags=re.MULTILINE)
    said = re.findall(r"\b(yes|no)\b", asks.replace(SLOT, " ").lower())
    assert asks.count(SLOT) == 1
    assert said.count("yes") == said.count("no") > 0
    assert not re.search(r"\b(?:yes|no)\b", template.assistant_prefix.lower())


def letters(text):
    return list(text.encode())


def words(text):
    """A tokenizer that knows words with the space before them."""
    pieces = text.replace(" ", "\0 ").split("\0")
    return [sum(ord(sign) * 31**place for place, sign in enumerate(piece)) for piece in pieces if piece]


def visible(ids):
    """Stands for a decoder where no piece is blank."""
    return "x" * len(ids)


def test_answers_of_one_token_pass():
    assert check_answer_tokens("p", "Answer:", words, visible, yes=(" Yes", " yes"), no=(" No", " no")) == []


def test_answers_of_several_tokens_and_a_shared_first_token_are_found():
    findings = check_answer_tokens("p", "Answer:", letters, visible, yes=(" Yes",), no=(" No",))
    messages = [finding.message for finding in findings]
    assert any("begin with the same token" in message for message in messages)
    assert any("no spelling of yes is a single token" in message for message in messages)
    assert any("no spelling of no is a single token" in message for message in messages)


def test_a_prompt_whose_last_token_swallows_the_answer_is_found():
    findings = check_answer_tokens("p", "Answer:", words, visible, yes=("Yes",), no=("No",))
    assert "would change the prompt's own tokens" in findings[0].message
    assert ["no token of yes" in findings[1].message, "no token of no" in findings[2].message] == [True, True]
    assert not any(finding.is_note for finding in findings)


def test_a_spelling_that_cannot_follow_is_a_note_where_others_can():
    (finding,) = check_answer_tokens("p", "Answer:", words, visible, yes=("Yes", " Yes"), no=(" No",))
    assert finding.is_note
    assert "'Yes' would change" in finding.message


def test_whole_spellings_count_alone_and_a_blank_piece_stands_for_nothing():
    def encode(text):
        return {"A:": [1], "A:Yes": [1, 5], "A: Yes": [1, 9, 5], "A:yes": [1, 6, 7], "A:No": [1, 9, 6]}[text]

    def decode(ids):
        return " " if ids == [9] else "x"

    found = first_tokens("A:", ("Yes", " Yes", "yes"), encode, decode)
    assert (found.single, found.pieces, found.counted) == ((5,), (6,), (5,))
    assert first_tokens("A:", (" Yes", "No"), encode, decode).counted == ()


def test_mass_is_judged_by_its_median():
    assert check_mass("p", [0.4, 0.6, 0.9]) == []
    assert "few" in check_mass("p", [0.4, 0.4, 0.9, float("nan")])[0].message
    assert "too little to read" in check_mass("p", [0.1, 0.1, 0.9])[0].message
    with pytest.raises(InputError, match="no mass was measured"):
        check_mass("p", [float("nan")])
