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
import re
from collections.abc import Sequence
from importlib.resources import files
from itertools import permutations

import pandas as pd

from onedial.asking import CLOSED_BOOK, Question, Respondent, Response, answers_in_order, unmarked
from onedial.core import InputError, sha256_of_text
from onedial.panels import grade_answer, outcome_as_number
from onedial.selfreport.ask.requests import Request, once_more, refuses, writes
from onedial.selfreport.ask.self_reports import SELF_REPORTS, Item, SelfReport, ask_self_report, lettered

GROUP = 4
LIST_LENGTH = 5
FEWEST_WORDS = 3
"""A list of fewer different words beside the cue is no list of five."""

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


_ITEM = re.compile(r"\s*(?:\(?\d{1,2}[.)]|[-•–])\s")
_REMARK = re.compile(r"\((?=[^)\n]*[^\W\d])[^)\n]*\)")
_OPENERS = {"sure", "certainly", "of course", "okay", "ok", "words", "here", "answer", "yes"}


def parse_list(text: str, cue: str = "") -> list[str]:
    """The first five different words of a list, in lower case; empty where there is none of `FEWEST_WORDS` or more.

    What announces the list ("Sure! Here are five words:"), phrases of more than two words and the cue are no words of
    it.

    >>> parse_list("Sure! Here are five words: Roof, door, door, house", "house")
    []
    >>> parse_list("Sure! Here are five words: roof, door, wall, house", "house")
    ['roof', 'door', 'wall']
    """
    plain = re.sub(r"(?<=\s)(?=\(?\d{1,2}[.)]\s)", "\n", _REMARK.sub("", unmarked(text)))
    lines = [
        re.split(r":|\s[–—-]\s", line)[0] if _ITEM.match(line) else re.sub(r"^[^:]*:", "", line)
        for line in plain.splitlines()
    ]
    rows = ((line.strip("| "), sign) for line in lines for sign in ",;/|•、·")
    first = next(((line, sign) for line, sign in rows if line.count(sign) >= FEWEST_WORDS - 1), None)
    pieces = first[0].split(first[1]) if first is not None else re.split(r"[,;|\n]", "\n".join(lines))
    pieces = [re.sub(r"^.*\b(?:are|include)\s+", "", pieces[0]), *pieces[1:]]
    pieces = [*pieces[:-1], *re.split(r"\s+and\s+", pieces[-1])]
    bare = [re.sub(r"(?<=\w[^\W\d])\. .*", "", piece).rpartition("!")[2] or piece for piece in pieces]
    found = [
        re.sub(r"^\W*\d*\W*(?:[a-e][.)]\s+)?(?:and\s+)?|\W+$", "", piece, flags=re.IGNORECASE).lower() for piece in bare
    ]
    words = [word for word in dict.fromkeys(found) if len(word) > 1 and len(word.split()) <= 2 and word not in _OPENERS]
    kept = [word for word in words if word != cue.lower()][:LIST_LENGTH]
    return kept if len(kept) >= FEWEST_WORDS else []


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


_NUMBERED_LABEL = re.compile(r"\W*\d[.)]\s*Q[1-4]\b(?!.*\bQ[1-4]\b)")
_BETWEEN = re.compile(
    r"(?:[^\w>]|->|=>)*(?:(?:and|then)\b|\((?:easiest|hardest|easy|hard)\))?(?:[^\w>]|->|=>)*", re.IGNORECASE
)
"""What may stand between two labels of an order; "Q2 > Q1" says easier or harder."""
_ONE_LABEL = re.compile(r"\W*(?:\d[.)]\s*)?Q[1-4](?:\s*\([^)]*\))?\W*")


def parse_ranking(text: str) -> list[float]:
    """Rank of Q1 to Q4, 1 = easiest; nan for all where the first line with a label is no order of the four, once or
    again and again, no label stands alone on each of four lines, and no rank behind each of them.

    >>> parse_ranking("Q2, Q1, Q4, Q3"), parse_ranking("Q1: 3\\nQ2: 1\\nQ3: 2\\nQ4: 4")
    ([2.0, 1.0, 4.0, 3.0], [3.0, 1.0, 2.0, 4.0])
    >>> parse_ranking("Q2, Q1, Q3, Q4, Q2, Q1, Q3, Q4"), parse_ranking("Q1, Q2, Q1, Q3, Q4")
    ([2.0, 1.0, 3.0, 4.0], [nan, nan, nan, nan])
    """
    plain = re.sub(r"\bquestion ([1-4])\b", r"Q\1", unmarked(text), flags=re.IGNORECASE)
    plain = re.sub(r"\bq([1-4])\b", r"Q\1", plain)
    ranked = dict(re.findall(r"^\W*Q([1-4])\s*[:=]\s*([1-4])\W*$", plain, re.MULTILINE))
    if set(ranked) == set(ranked.values()) == set("1234"):
        return [float(ranked[label]) for label in "1234"]
    if re.search(r"\bhardest\b[^\n]*\beasiest\b", plain, re.IGNORECASE):
        return [float("nan")] * GROUP
    lines = [line for line in plain.splitlines() if re.search(r"\bQ[1-4]\b", line)]
    if not lines and re.fullmatch(r"\W*[1-4](?:\W+[1-4])*\W*", plain):
        lines = [re.sub("([1-4])", r"Q\1", plain)]
    elif len(lines) == GROUP and all(_NUMBERED_LABEL.match(line) for line in lines):
        lines = [" ".join(re.findall(r"\bQ[1-4]\b", line)[0] for line in lines)]
    elif all(_ONE_LABEL.fullmatch(line) for line in lines):
        lines = [" ".join(lines)]
    told = lines[0] if lines else ""
    told = told.rpartition(":")[2] if len(re.findall(r"\bQ[1-4]\b", told.rpartition(":")[2])) >= GROUP else told
    between = re.split(r"\bQ[1-4]\b", told)[1:-1]
    labels = [int(found) for found in re.findall(r"\bQ([1-4])\b", told)]
    if not all(_BETWEEN.fullmatch(each) for each in between):
        labels = []
    order = labels[:GROUP]
    if tuple(order) not in set(permutations(range(1, GROUP + 1))) or labels != order * (len(labels) // GROUP):
        return [float("nan")] * GROUP
    return [float(order.index(place) + 1) for place in range(1, GROUP + 1)]
