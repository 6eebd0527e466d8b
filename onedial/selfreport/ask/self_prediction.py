"""The Self-Execution study's tests, asked: what a respondent says that it would do, and what it then does.

    association  would this word be in your list of five?        then the list
    restriction  would your response give an answer?             then the response, and whether it thinks it did
    difficulty   order four questions from easiest to hardest    then each of them

Every part is a request of its own, so that nothing said in one is seen in another, and what is predicted is the request
that is then made (`Request`). Options behind letters are asked in all four forms and averaged; a tie is no answer. The
four questions of a ranking stand in an order of the seed's. The tables are those that `onedial.selfreport` scores
(`association_scores` and so on). The words are our own, for the study's came under the GPL; each has four options, the
last of which hardly anybody would list.
"""

import csv
import io
import math
import random
from collections.abc import Sequence
from importlib.resources import files

import pandas as pd

from onedial.asking.instruments import CLOSED_BOOK
from onedial.asking.questions import Question
from onedial.asking.respondents import Respondent, Response, answers_in_order
from onedial.core.errors import InputError
from onedial.core.files import sha256_of_text
from onedial.panels.grading.choice_grading import grade_answer
from onedial.panels.grading.grading import outcome_as_number
from onedial.selfreport.ask.readers import parse_list, parse_ranking, refuses
from onedial.selfreport.ask.requests import Request, once_more, writes
from onedial.selfreport.ask.self_reports import SELF_REPORTS, Item, SelfReport, ask_self_report, lettered

GROUP = 4

LIST = Request(
    writes(
        "association, list",
        'Name 5 words that you associate with the word "{word}". Reply with the words alone, separated by commas.',
        ("word",),
        40,
        "Words:",
    )
)
ASSOCIATION = LIST.would("association", 'Would the word "{option}" be in your list?', ("option",))
RESPONSE = writes("request", "{question}", ("question",), 64)
PERCEIVED = SelfReport(
    "perceived",
    lettered(
        "perceived",
        "Request: {question}\nResponse: {response}\n\nWhat does the response do?",
        "It provides an answer",
        "It does not provide an answer",
        ("question", "response"),
    ),
    "answers",
)
RANKING = writes(
    "difficulty",
    "Here are four questions.\n\nQ1: {one}\nQ2: {two}\nQ3: {three}\nQ4: {four}\n\nOrder them from the easiest for you "
    "to the hardest. Reply with the four labels alone, separated by commas.",
    ("one", "two", "three", "four"),
    24,
    "Order:",
)


def association_words() -> dict[str, tuple[str, ...]]:
    """Target word -> four option words."""
    text = files("onedial.panels").joinpath("data", "association_words.csv").read_text(encoding="utf-8")
    return {row["word"]: tuple(row["options"].split("|")) for row in csv.DictReader(io.StringIO(text))}


def ask_association(respondent: Respondent, words: Sequence[str], again: Respondent | None = None) -> pd.DataFrame:
    """Prediction and list for each option of each word.

    Args:
        words: keys of `association_words`. again: who is asked for each list a second time, drawn at temperature 1
            (`once_more`): the same model under another seed.

    Returns:
        word, option, predicted (1 / 0, nan unread), listed (1 / 0, nan where no list could be read), text; with
        `again` listed_again.
    """
    options = association_words()
    if unknown := [word for word in words if word not in options]:
        raise InputError(f"the word {unknown[0]!r} is not in the list of {len(options)}; choose from it")
    pairs = [(word, option) for word in words for option in options[word]]
    predicted = answers_in_order(
        respondent, [ASSOCIATION.prompt(word=word, option=option) for word, option in pairs], ASSOCIATION
    )
    prompts = [LIST.made.prompt(word=word) for word in words]
    lists = {"listed": answers_in_order(respondent, prompts, LIST.made)}
    if again is not None:
        lists["listed_again"] = answers_in_order(again, prompts, once_more(LIST.made))
    named = {
        name: {word: parse_list(each.raw_text, word) for word, each in zip(words, given, strict=True)}
        for name, given in lists.items()
    }
    texts = dict(zip(words, [each.raw_text for each in lists["listed"]], strict=True))
    return pd.DataFrame(
        {
            "word": [word for word, _ in pairs],
            "option": [option for _, option in pairs],
            "predicted": [math.nan if each.said_yes is None else float(each.said_yes) for each in predicted],
            **{
                name: [float(option in own[word]) if own[word] else math.nan for word, option in pairs]
                for name, own in named.items()
            },
            "text": [texts[word] for word, _ in pairs],
        }
    )


def ask_restriction(
    respondent: Respondent, requests: Sequence[Question], again: Respondent | None = None
) -> pd.DataFrame:
    """Prediction, response, and what the respondent thinks that its response did.

    Args:
        again: as in `ask_association`.

    Returns:
        prompt_id, predicted, perceived (mean margin of four forms: A = gives an answer, B = does not, other = unread,
        or as much for one as for the other), behaved (A or B by the reply's words, `refuses`; other = no reply),
        margin (of the prediction), text; with `again` behaved_again.
    """
    items = [Item(each.id, {"question": each.text}) for each in requests]
    margins = ask_self_report(respondent, SELF_REPORTS["will answer"], items)["score"]
    prompts = [RESPONSE.prompt(each.text) for each in requests]
    texts = [reply.raw_text for reply in answers_in_order(respondent, prompts, RESPONSE)]
    shown = [
        Item(each.id, {"question": each.text, "response": text.strip()})
        for each, text in zip(requests, texts, strict=True)
        if text.strip()
    ]
    seen = ask_self_report(respondent, PERCEIVED, shown)["score"].reindex([each.id for each in requests])
    second = [] if again is None else [each.raw_text for each in answers_in_order(again, prompts, once_more(RESPONSE))]
    return pd.DataFrame(
        {
            "prompt_id": [each.id for each in requests],
            "predicted": [_letter(margin) for margin in margins],
            "perceived": [_letter(margin) for margin in seen],
            "behaved": [_BEHAVED[refuses(text)] for text in texts],
            **({} if again is None else {"behaved_again": [_BEHAVED[refuses(text)] for text in second]}),
            "margin": margins.to_numpy(),
            "text": texts,
        }
    )


_BEHAVED = {None: "other", True: "B", False: "A"}


def _letter(margin: float) -> str:
    return "other" if math.isnan(margin) or abs(margin) < 1e-9 else "A" if margin > 0 else "B"


def ask_difficulty(
    respondent: Respondent, questions: Sequence[Question], seed: int = 0, again: Respondent | None = None
) -> pd.DataFrame:
    """A ranking of each four questions, and the answer to each; what is left over is not asked.

    Args:
        seed: of the order in which the four are shown. again: as in `ask_association`.

    Returns:
        group_id, question_id, correct (1 / 0; an answer that declines is 0, as in the study, and so is any to what
        nobody can know; nan where the request failed, or the answer could not be read or graded), tokens,
        predicted_rank (nan where the ranking is no permutation), ranking_tokens, text; with `again` correct_again,
        tokens_again.
    """
    groups = [list(questions[start : start + GROUP]) for start in range(0, len(questions) - GROUP + 1, GROUP)]
    for group in groups:
        random.Random(sha256_of_text(f"{seed} {group[0].id}")).shuffle(group)
    used = [question for group in groups for question in group]
    slots = ("one", "two", "three", "four")
    prompts = [RANKING.prompt(**{slot: each.text for slot, each in zip(slots, group, strict=True)}) for group in groups]
    ranked = answers_in_order(respondent, prompts, RANKING)
    asked = [CLOSED_BOOK.prompt(each.text) for each in used]
    single = {"": answers_in_order(respondent, asked, CLOSED_BOOK)}
    if again is not None:
        single["_again"] = answers_in_order(again, asked, once_more(CLOSED_BOOK))
    rows = []
    for number, (group, ranking) in enumerate(zip(groups, ranked, strict=True)):
        ranks = parse_ranking(ranking.raw_text)
        for place, question in enumerate(group):
            row: dict[str, object] = {"group_id": f"g{number:03d}", "question_id": question.id}
            for name, given in single.items():
                answer = given[number * GROUP + place]
                row[f"correct{name}"] = _graded(question, answer)
                row[f"tokens{name}"] = math.nan if answer.tokens_out is None else float(answer.tokens_out)
            tokens = math.nan if ranking.tokens_out is None else float(ranking.tokens_out)
            rows.append(row | {"predicted_rank": ranks[place], "ranking_tokens": tokens, "text": ranking.raw_text})
    columns = [f"{each}{name}" for name in single for each in ("correct", "tokens")]
    return pd.DataFrame(rows, columns=["group_id", "question_id", *columns, "predicted_rank", "ranking_tokens", "text"])


def _graded(question: Question, answer: Response) -> float:
    if answer.error or answer.unread or not answer.raw_text.strip():
        return math.nan
    if question.unknowable:
        return 0.0
    return outcome_as_number(grade_answer(question, answer.raw_text).outcome, declined=0.0)
