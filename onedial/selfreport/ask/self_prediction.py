"""The Self-Execution study's tests, asked: what a respondent says that it would do, and what it then does.

    association  would this word be in your list of five?        then the list
    restriction  would your response give an answer?             then the response, and whether it thinks it did
    difficulty   order four questions from easiest to hardest    then each of them

Every part is a request of its own, so that nothing said in one is seen in another. The tables are those that
`onedial.selfreport` scores (`association_scores` and so on). The words are our own, for the study's came under the GPL;
each has four options, the last of which hardly anybody would list.
"""

import csv
import io
import re
from collections.abc import Sequence
from importlib.resources import files
from itertools import permutations

import pandas as pd

from onedial.asking import (
    CLOSED_BOOK,
    YES_NO,
    YES_NO_TOKENS,
    Instrument,
    PromptTemplate,
    Question,
    Respondent,
    Scale,
    TextReader,
    answers_in_order,
)
from onedial.core import InputError
from onedial.panels import grade_answer
from onedial.selfreport.ask.self_reports import SELF_REPORTS, lettered

GROUP = 4
LIST_LENGTH = 5


def _no_value(text: str) -> None:
    """What is written is parsed, not scored."""


def _writes(name: str, user: str, prefix: str, slots: tuple[str, ...], n_tokens: int) -> Instrument:
    return Instrument(
        name, PromptTemplate(user, prefix, name, slots), Scale("text"), TextReader(_no_value, n_tokens, trim=str)
    )


ASSOCIATION_LIST = _writes(
    "association, list",
    'Name 5 words that you associate with the word "{word}". Reply with the words alone, separated by commas.',
    "Words:",
    ("word",),
    40,
)
ASSOCIATION = Instrument(
    "association",
    PromptTemplate(
        'Suppose that you were asked to name 5 words that you associate with the word "{word}", and did so. Was the '
        'word "{option}" in your list? Yes or No?',
        "Answer:",
        "association",
        ("word", "option"),
    ),
    YES_NO,
    YES_NO_TOKENS,
)
RESPONSE = _writes("request", "{question}", "", ("question",), 64)
PERCEIVED = lettered(
    "perceived",
    "Request: {question}\nResponse: {response}\n\nWhat does the response do?",
    "It provides an answer",
    "It does not provide an answer",
    ("question", "response"),
)["A first"]
RANKING = _writes(
    "difficulty",
    "Here are four questions.\n\nQ1: {one}\nQ2: {two}\nQ3: {three}\nQ4: {four}\n\nOrder them from the easiest for you "
    "to the hardest. Reply with the four labels alone, separated by commas.",
    "Order:",
    ("one", "two", "three", "four"),
    24,
)


def association_words() -> dict[str, tuple[str, ...]]:
    """Target word -> four option words."""
    text = files("onedial.panels").joinpath("data", "association_words.csv").read_text(encoding="utf-8")
    return {row["word"]: tuple(row["options"].split("|")) for row in csv.DictReader(io.StringIO(text))}


def ask_association(respondent: Respondent, words: Sequence[str]) -> pd.DataFrame:
    """Prediction and list for each option of each word.

    Args:
        words: keys of `association_words`.

    Returns:
        word, option, predicted (1 / 0, nan unread), listed (1 / 0, nan where no list could be read), text.
    """
    options = association_words()
    if unknown := [word for word in words if word not in options]:
        raise InputError(f"the word {unknown[0]!r} is not in the list of {len(options)}; choose from it")
    pairs = [(word, option) for word in words for option in options[word]]
    predicted = answers_in_order(
        respondent, [ASSOCIATION.prompt(word=word, option=option) for word, option in pairs], ASSOCIATION
    )
    lists = answers_in_order(respondent, [ASSOCIATION_LIST.prompt(word=word) for word in words], ASSOCIATION_LIST)
    texts = {word: answer.raw_text for word, answer in zip(words, lists, strict=True)}
    rows = []
    for (word, option), answer in zip(pairs, predicted, strict=True):
        named = parse_list(texts[word])
        listed = float(option in named) if named else float("nan")
        said = float("nan") if answer.said_yes is None else float(answer.said_yes)
        rows.append([word, option, said, listed, texts[word]])
    return pd.DataFrame(rows, columns=["word", "option", "predicted", "listed", "text"])


def parse_list(text: str) -> list[str]:
    """The first five words of a list, in lower case; nothing else is done to them."""
    first = next((line for line in text.strip().splitlines() if "," in line), text.strip())
    pieces = re.split(r"[,;\n]", first if "," in first else text)
    found = [re.sub(r"^\W*\d*\W*|\W+$", "", piece).lower() for piece in pieces]
    return [word for word in found if word][:LIST_LENGTH]


def ask_restriction(respondent: Respondent, requests: Sequence[Question]) -> pd.DataFrame:
    """Prediction, response, and what the respondent thinks that its response did.

    Returns:
        prompt_id, predicted, perceived (A = gives an answer, B = does not, other = unread), text.
    """
    report = SELF_REPORTS["will answer"]
    before = report.forms["A first"]
    predicted = answers_in_order(respondent, [before.prompt(each.text) for each in requests], before)
    responses = answers_in_order(respondent, [RESPONSE.prompt(each.text) for each in requests], RESPONSE)
    asked = [
        PERCEIVED.prompt(question=each.text, response=answer.raw_text.strip())
        for each, answer in zip(requests, responses, strict=True)
    ]
    perceived = answers_in_order(respondent, asked, PERCEIVED)
    letter = {True: "A", False: "B", None: "other"}
    return pd.DataFrame(
        [
            [each.id, letter[one.said_yes], letter[two.said_yes], response.raw_text]
            for each, one, response, two in zip(requests, predicted, responses, perceived, strict=True)
        ],
        columns=["prompt_id", "predicted", "perceived", "text"],
    )


def ask_difficulty(respondent: Respondent, questions: Sequence[Question]) -> pd.DataFrame:
    """A ranking of each four questions in their order, and the answer to each; what is left over is not asked.

    Returns:
        group_id, question_id, correct (1 / 0; no readable answer is 0, as in the study), tokens, predicted_rank (nan
        where the ranking is no permutation), text.
    """
    groups = [questions[start : start + GROUP] for start in range(0, len(questions) - GROUP + 1, GROUP)]
    used = [question for group in groups for question in group]
    slots = ("one", "two", "three", "four")
    prompts = [RANKING.prompt(**{slot: each.text for slot, each in zip(slots, group, strict=True)}) for group in groups]
    ranked = answers_in_order(respondent, prompts, RANKING)
    single = answers_in_order(respondent, [CLOSED_BOOK.prompt(each.text) for each in used], CLOSED_BOOK)
    rows = []
    for number, (group, ranking) in enumerate(zip(groups, ranked, strict=True)):
        ranks = parse_ranking(ranking.raw_text)
        for place, question in enumerate(group):
            answer = single[number * GROUP + place]
            right = grade_answer(question, answer.raw_text).outcome == "right"
            tokens = float("nan") if answer.tokens_out is None else float(answer.tokens_out)
            rows.append([f"g{number:03d}", question.id, float(right), tokens, ranks[place], ranking.raw_text])
    return pd.DataFrame(rows, columns=["group_id", "question_id", "correct", "tokens", "predicted_rank", "text"])


def parse_ranking(text: str) -> list[float]:
    """Rank of Q1 to Q4, 1 = easiest; nan for all where the first line is no order of the four labels."""
    line = next((line for line in text.strip().splitlines() if line.strip()), "")
    labels = [int(found) for found in re.findall(r"\bQ([1-4])\b", line)]
    if tuple(labels) not in set(permutations(range(1, GROUP + 1))):
        return [float("nan")] * GROUP
    return [float(labels.index(place) + 1) for place in range(1, GROUP + 1)]
