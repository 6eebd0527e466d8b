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

import math
import random
import re
from collections.abc import Sequence

import pandas as pd

from onedial.asking.instruments import CLOSED_BOOK
from onedial.asking.measuring import ask_table
from onedial.asking.questions import Question
from onedial.asking.readers import parse_list, parse_ranking, refuses
from onedial.asking.reply_forms import WORDS
from onedial.asking.respondents import Respondent
from onedial.core.errors import InputError
from onedial.core.files import packaged_rows, sha256_of_text
from onedial.panels.grading.choice_grading import grade_answer
from onedial.panels.grading.grading import outcome_as_number
from onedial.selfreport.ask.requests import Request, once_more, writes
from onedial.selfreport.ask.self_reports import SELF_REPORTS, Item, SelfReport, ask_self_report, lettered

GROUP = 4
LIST_LENGTH, FEWEST_WORDS = 5, 3

LIST = Request(
    writes(
        "association, list",
        'Name 5 words that you associate with the word "{word}". Reply with the words alone, separated by commas.',
        ("word",),
        40,
        "Words:",
        form=WORDS,
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
    form=WORDS,
)


def association_words() -> dict[str, tuple[str, ...]]:
    """Read target word -> four option words."""
    rows = packaged_rows("onedial.panels", "data/association_words.csv")
    return {row["word"]: tuple(row["options"].split("|")) for row in rows}


def ask_association(respondent: Respondent, words: Sequence[str], again: Respondent | None = None) -> pd.DataFrame:
    """Ask for a prediction and a list for each option of each word.

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
    pairs = [{"word": word, "option": option} for word in words for option in options[word]]
    cues = [{"word": word} for word in words]
    table = pd.DataFrame(pairs, columns=["word", "option"])
    table["predicted"] = ask_table(respondent, ASSOCIATION, pairs)["said_yes"]
    texts = ask_table(respondent, LIST.made, cues)["text"]
    lists = {"listed": texts}
    if again is not None:
        lists["listed_again"] = ask_table(again, once_more(LIST.made), cues)["text"]
    for name, written in lists.items():
        named = {word: _listed(text, word) for word, text in zip(words, written, strict=True)}
        table[name] = [
            float(option in named[word]) if named[word] else math.nan for word, option in table.to_numpy()[:, :2]
        ]
    return table.assign(text=table["word"].map(dict(zip(words, texts, strict=True))))


def _listed(text: str, cue: str) -> list[str]:
    """The first five different words of a list, in lower case and without the cue; empty where there are fewer than
    three."""
    words = dict.fromkeys(word.casefold() for word in parse_list(text) if re.search(r"[^\W\d]{2}", word))
    return kept[:LIST_LENGTH] if len(kept := [word for word in words if word != cue]) >= FEWEST_WORDS else []


def ask_restriction(
    respondent: Respondent, requests: Sequence[Question], again: Respondent | None = None
) -> pd.DataFrame:
    """Ask for prediction, response, and what the respondent thinks that its response did.

    Args:
        again: as in `ask_association`.

    Returns:
        prompt_id, predicted, perceived (mean margin of four forms: A = gives an answer, B = does not, other = unread,
        or as much for one as for the other), behaved (A or B by the reply's words, `refuses`; other = no reply),
        margin (of the prediction), text; with `again` behaved_again.
    """
    items = [Item(each.id, {"question": each.rendered}) for each in requests]
    margins = ask_self_report(respondent, SELF_REPORTS["will answer"], items)["score"]
    slots = [{"question": each.rendered} for each in requests]
    table = ask_table(respondent, RESPONSE, slots)[["text"]]
    shown = [
        Item(each.id, {"question": each.rendered, "response": text.strip()})
        for each, text in zip(requests, table["text"], strict=True)
        if text.strip()
    ]
    seen = ask_self_report(respondent, PERCEIVED, shown)["score"].reindex([each.id for each in requests])
    columns = {
        "prompt_id": [each.id for each in requests],
        "predicted": [_letter(margin) for margin in margins],
        "perceived": [_letter(margin) for margin in seen],
        "behaved": [_BEHAVED[refuses(text)] for text in table["text"]],
    }
    if again is not None:
        second = ask_table(again, once_more(RESPONSE), slots)["text"]
        columns["behaved_again"] = [_BEHAVED[refuses(text)] for text in second]
    return pd.DataFrame({**columns, "margin": margins.to_numpy(), "text": table["text"]})


_BEHAVED = {None: "other", True: "B", False: "A"}


def _letter(margin: float) -> str:
    return "other" if math.isnan(margin) or abs(margin) < 1e-9 else "A" if margin > 0 else "B"


def ask_difficulty(
    respondent: Respondent, questions: Sequence[Question], seed: int = 0, again: Respondent | None = None
) -> pd.DataFrame:
    """Ask for a ranking of each four questions, and the answer to each; what is left over is not asked.

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
    slots = [
        dict(zip(("one", "two", "three", "four"), (each.rendered for each in group), strict=True)) for group in groups
    ]
    ranked = ask_table(respondent, RANKING, slots)
    asked = [{"question": each.rendered} for each in used]
    single = {"": ask_table(respondent, CLOSED_BOOK, asked)}
    if again is not None:
        single["_again"] = ask_table(again, once_more(CLOSED_BOOK), asked)
    groups_of = [f"g{number:03d}" for number in range(len(groups)) for _ in range(GROUP)]
    table = pd.DataFrame({"group_id": groups_of, "question_id": [each.id for each in used]})
    for name, given in single.items():
        replies = given[["text", "failed", "unread"]].itertuples(index=False)
        table[f"correct{name}"] = [_graded(each, *reply) for each, reply in zip(used, replies, strict=True)]
        table[f"tokens{name}"] = given["tokens"]
    table["predicted_rank"] = [rank for text in ranked["text"] for rank in parse_ranking(text)]
    of_group = table.index // GROUP
    return table.assign(ranking_tokens=ranked["tokens"].to_numpy()[of_group], text=ranked["text"].to_numpy()[of_group])


def _graded(question: Question, text: str, failed: str, unread: str) -> float:
    if failed or unread or not text.strip():
        return math.nan
    if question.unknowable:
        return 0.0
    return outcome_as_number(grade_answer(question, text).outcome, declined=0.0)
