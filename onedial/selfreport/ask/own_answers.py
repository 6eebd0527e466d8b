"""Asked about one's own answers: a second look, confidence after a look, predicted properties, questions one fails.

Everything is a request of its own, and what is written is kept beside what was read from it.
"""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files

import pandas as pd

from onedial.asking import (
    CLOSED_BOOK,
    CONFIDENCE_IN_NUMBERS,
    Instrument,
    PromptTemplate,
    Question,
    Respondent,
    Response,
    Turns,
    answers_in_order,
    is_read,
    normalised_text,
)
from onedial.core import sha256_of_text
from onedial.panels import grade_answer, outcome_as_number
from onedial.selfreport.ask.requests import Request, drawn, once_more, writes
from onedial.selfreport.ask.self_reports import SELF_REPORTS, Item, ask_self_report


def _written(answers: Sequence[Response]) -> list[str]:
    return [answer.raw_text.strip() for answer in answers]


def _listed(words: str) -> tuple[str, ...]:
    return tuple(words.split(", "))


def correct(question: Question, text: str) -> float:
    """1 for a right answer, 0 for a wrong one, nan for none."""
    return outcome_as_number(grade_answer(question, text).outcome)


# ---- a second look ---------------------------------------------------------------------------------------------------

CHECKED = Instrument(
    "checked",
    PromptTemplate(
        "Check this answer. Then answer the question again, in as few words as possible.",
        "Answer:",
        "checked",
        ("question", "answer"),
        ((CLOSED_BOOK.template.user, "Answer: {answer}"),),
    ),
    CLOSED_BOOK.scale,
    CLOSED_BOOK.reader,
)


def ask_correction(respondent: Respondent, questions: Sequence[Question], temperature: float = 1.0) -> pd.DataFrame:
    """One answer to each question, and one after the request to check it; both drawn.

    Ask again with a respondent of another seed for a further sample.

    Returns:
        question_id, first, second (1 / 0, nan for what is no answer), first_text, second_text. An empty first answer is
        not checked.
    """
    first = _written(
        answers_in_order(
            respondent, [CLOSED_BOOK.prompt(each.text) for each in questions], drawn(CLOSED_BOOK, temperature)
        )
    )
    said = [(each, text) for each, text in zip(questions, first, strict=True) if text]
    checked = _written(
        answers_in_order(
            respondent, [CHECKED.prompt(each.text, answer=text) for each, text in said], drawn(CHECKED, temperature)
        )
    )
    second = dict(zip([each.id for each, _ in said], checked, strict=True))
    return pd.DataFrame(
        [
            [each.id, correct(each, text), correct(each, second.get(each.id, "")), text, second.get(each.id, "")]
            for each, text in zip(questions, first, strict=True)
        ],
        columns=["question_id", "first", "second", "first_text", "second_text"],
    )


# ---- confidence after a look -----------------------------------------------------------------------------------------

_NUMBER = (
    "How likely is it that {which} is correct? Give the percentage in two digits, from 00 (impossible) to 99 (certain)."
)
_LOOKS = {
    "question criticised": writes(
        "question criticised",
        "Question: {question}\n\nSay in one sentence what makes this question hard.",
        ("question",),
        40,
    ),
    "answer criticised": writes(
        "answer criticised",
        "Question: {question}\nAnswer: {answer}\n\nSay in one sentence what may be wrong with this answer.",
        ("question", "answer"),
        40,
    ),
    "gap named": writes(
        "gap named",
        "Question: {question}\n\nSay in one sentence what you would have to look up to answer this question.",
        ("question",),
        40,
    ),
}
CONFIDENCE_WAYS = ("plain", "answer shown", *_LOOKS)
"""plain: before any answer. answer shown: one's own answer, in a fresh chat. The others: after one's own sentence."""


def ask_confidence_ways(respondent: Respondent, questions: Sequence[Question]) -> pd.DataFrame:
    """Confidence in numbers, asked in each of `CONFIDENCE_WAYS`, beside the graded answer.

    Returns:
        question_id, way, confidence (expected value over all number tokens), likeliest (the likeliest decile), correct,
        written (the sentence before it); nan where unread. An empty answer is asked no further than `plain`.
    """
    answers = _written(answers_in_order(respondent, [CLOSED_BOOK.prompt(each.text) for each in questions], CLOSED_BOOK))
    said = {each.id: text for each, text in zip(questions, answers, strict=True)}
    right = {each.id: correct(each, said[each.id]) for each in questions}
    rows: list[list[object]] = []
    for way in CONFIDENCE_WAYS:
        asked = [each for each in questions if way == "plain" or said[each.id]]
        slots = {each.id: {"question": each.text, "answer": said[each.id]} for each in asked}
        written = dict.fromkeys(slots, "")
        if way == "plain":
            instrument = CONFIDENCE_IN_NUMBERS
        elif way == "answer shown":
            instrument = ANSWER_SHOWN
        else:
            look = _LOOKS[way]
            prompts = [look.prompt(**{slot: slots[each.id][slot] for slot in look.template.slots}) for each in asked]
            written = dict(zip(slots, _written(answers_in_order(respondent, prompts, look)), strict=True))
            which = "this answer" if "answer" in look.template.slots else "your answer to the question"
            instrument = _number_after(
                way, which, "", ((look.template.user, "{look}"),), (*look.template.slots, "look")
            )
            slots = {key: value | {"look": written[key] or "-"} for key, value in slots.items()}
        kept = instrument.template.slots
        prompts = [instrument.prompt(**{slot: slots[each.id][slot] for slot in kept}) for each in asked]
        given = answers_in_order(respondent, prompts, instrument)
        for each, answer in zip(asked, given, strict=True):
            read = answer.value is not None
            confidence = answer.stated if read else math.nan
            rows.append(
                [each.id, way, confidence, answer.value if read else math.nan, right[each.id], written[each.id]]
            )
    return pd.DataFrame(rows, columns=["question_id", "way", "confidence", "likeliest", "correct", "written"])


def _number_after(
    way: str, which: str, before: str, earlier: Turns = (), slots: tuple[str, ...] = ("question", "answer")
) -> Instrument:
    template = PromptTemplate(before + _NUMBER.replace("{which}", which), "Answer: ", way, slots, earlier)
    return CONFIDENCE_IN_NUMBERS.framed(template)


ANSWER_SHOWN = _number_after("answer shown", "the answer", "Question: {question}\nAnswer: {answer}\n\n")


# ---- properties of one's own answer ----------------------------------------------------------------------------------

_FIRST_WORD = re.compile(r"\w+")
PROPERTIES: dict[str, tuple[str, Callable[[str], bool]]] = {
    "first word": ('begin with the word "The"', lambda text: (_FIRST_WORD.findall(text.lower()) or [""])[0] == "the"),
    "length": ("have more than three words", lambda text: len(text.split()) > 3),
    "digits": ("hold a number in digits", lambda text: any(sign.isdigit() for sign in text)),
}
_FUNCTION_WORDS = {
    "English": _listed("the, a, an, is, are, of, and, to, in, it, that, you, for, with, was, be, this, they"),
    "German": _listed("der, die, das, ist, sind, und, ein, eine, zu, den, von, mit, nicht, auf, es, im, für, sie"),
    "French": _listed("le, la, les, est, sont, et, un, une, des, de, du, à, en, que, pour, dans, il, elle"),
    "Spanish": _listed("el, la, los, las, es, son, y, un, una, de, en, que, por, para, con, del, se, su"),
}
SHORT, SENTENCE = Request(CLOSED_BOOK), Request(writes("request", "{question}", ("question",), 32))
PREDICTIONS = {
    **{name: SHORT.would(name, f"Would your reply {words}?") for name, (words, _) in PROPERTIES.items()},
    "language": SENTENCE.would("language", "Would your reply be in English?"),
}
"""What is predicted of one's own reply -> how it is asked."""


def language_of(text: str) -> str | None:
    """English, German, French or Spanish, by its function words; None where two have as many, or there are none.

    >>> language_of("Der Hund ist im Garten."), language_of("Paris"), language_of("The sea is deep.")
    ('German', None, 'English')
    """
    words = re.findall(r"[^\W\d_]+", text.lower())
    counts = sorted(((sum(word in own for word in words), name) for name, own in _FUNCTION_WORDS.items()), reverse=True)
    return counts[0][1] if counts[0][0] > counts[1][0] else None


def language_requests() -> list[Question]:
    """Short requests in four languages; `topic` is the language."""
    text = files("onedial.panels").joinpath("data", "language_requests.csv").read_text(encoding="utf-8")
    return [
        Question(f"language-{number:02d}", row["request"], topic=row["language"])
        for number, row in enumerate(csv.DictReader(io.StringIO(text)))
    ]


def ask_properties(
    respondent: Respondent, questions: Sequence[Question], again: Respondent | None = None
) -> pd.DataFrame:
    """What the respondent predicts of its own reply to a request, and what the reply then is.

    The first word, the length and digits are asked of short answers to the questions; the language of replies to
    requests in four languages (`language_requests`). What is predicted is the request that is then made (`Request`).

    Args:
        again: who replies a second time, drawn at temperature 1: the same model under another seed.

    Returns:
        property, item (question_id), predicted (1 / 0, nan unread), margin, actual (1 / 0, nan where no answer could be
        read, or its language not told), text; with `again` actual_again.
    """
    requests = language_requests()
    texts: dict[str, dict[str, str]] = {name: {} for name in ("actual", *(["actual_again"] if again else []))}
    for request, asked in ((SHORT, questions), (SENTENCE, requests)):
        prompts = [request.made.prompt(each.text) for each in asked]
        for name, who, made in (("actual", respondent, request.made), ("actual_again", again, once_more(request.made))):
            if who is not None:
                replies = _written(answers_in_order(who, prompts, made))
                texts[name] |= dict(zip([each.id for each in asked], replies, strict=True))
    rows: list[list[object]] = []
    for name, instrument in PREDICTIONS.items():
        asked = sorted(requests if name == "language" else questions, key=lambda each: sha256_of_text(each.id + name))
        given = answers_in_order(respondent, [instrument.prompt(each.text) for each in asked], instrument)
        for each, answer in zip(asked, given, strict=True):
            actual = [_property(name, own[each.id]) for own in texts.values()]
            said = math.nan if answer.said_yes is None else float(answer.said_yes)
            margin = answer.margin if is_read(answer.mass) else math.nan
            rows.append([name, each.id, said, margin, *actual, texts["actual"][each.id]])
    return pd.DataFrame(rows, columns=["property", "item", "predicted", "margin", *texts, "text"])


def _property(name: str, text: str) -> float:
    if name == "language":
        found = language_of(text)
        return math.nan if found is None else float(found == "English")
    return float(PROPERTIES[name][1](text)) if text else math.nan


# ---- a question that I would fail ------------------------------------------------------------------------------------

MADE = writes(
    "question made",
    "Write one short question about {topic} that you would answer {how}. Reply with the question alone.",
    ("topic", "how"),
    40,
    "Question:",
)
_FEWEST_WORDS = 4
_QUOTES = "\"'\u201d\u2019\u00bb*_ "
"""A question may come in quotation marks, or printed bold."""


def _as_asked(text: str) -> str:
    """A question without its spelling: "What's it?", in quotation marks, is "What is it?"."""
    return normalised_text(re.sub(r"(?<=\w)['\u2019]s\b", " is", text))


def ask_failing(respondent: Respondent, topics: Sequence[str], judge: Respondent) -> pd.DataFrame:
    """A question that it would answer wrongly and one that it would answer rightly, made, answered and judged.

    Nobody has a key to made questions, so the judge's P(True) stands in for it (mean margin of four forms): a weak
    judge makes the score noise. What is no question, or repeats the topic's other one, is invalid.

    Args:
        topics: one pair of questions is made of each. judge: any respondent that shows logits.

    Returns:
        topic, wanted ("wrongly" or "rightly"), question, answer, valid, margin (of true over false; nan where invalid
        or unread), failed (1 where it is below 0; nan where the judge holds both for as likely).
    """
    # A topic's two stand side by side, in an order by hash: who says no the more, the longer it is asked, fails both.
    plan = [
        (topic, how)
        for topic in topics
        for how in sorted(("wrongly", "rightly"), key=lambda how: sha256_of_text(f"{topic} {how}"))
    ]
    texts = _written(answers_in_order(respondent, [MADE.prompt(topic=topic, how=how) for topic, how in plan], MADE))
    made = [text.splitlines()[0].strip() if text else "" for text in texts]
    valid = [text.rstrip(_QUOTES).endswith("?") and len(text.split()) >= _FEWEST_WORDS for text in made]
    asked = [(topic, _as_asked(text)) for (topic, _), text in zip(plan, made, strict=True)]
    seen = Counter(asked)
    valid = [good and seen[each] == 1 for each, good in zip(asked, valid, strict=True)]
    answers = _written(answers_in_order(respondent, [CLOSED_BOOK.prompt(text or "-") for text in made], CLOSED_BOOK))
    items = [
        Item(str(place), {"question": text, "answer": answer})
        for place, (text, answer, good) in enumerate(zip(made, answers, valid, strict=True))
        if good and answer
    ]
    margins = ask_self_report(judge, SELF_REPORTS["P(True)"], items)["score"].to_dict() if items else {}
    rows = []
    for place, (topic, how) in enumerate(plan):
        margin = margins.get(str(place), math.nan)
        failed = math.nan if math.isnan(margin) or abs(margin) < 1e-9 else float(margin < 0)
        rows.append([topic, how, made[place], answers[place], valid[place], margin, failed])
    return pd.DataFrame(rows, columns=["topic", "wanted", "question", "answer", "valid", "margin", "failed"])


# ---- hedges ----------------------------------------------------------------------------------------------------------

HEDGES = {
    "first person": _listed(
        "i think, i believe, i guess, i suppose, i am not sure, i'm not sure, i am unsure, i'm not certain, "
        "i am not certain, i'm unsure, i am uncertain, i'm uncertain, i'm not entirely, i am not entirely, "
        "i'm not completely, i am not completely, i can't say for certain, i cannot say for certain, i'm guessing, "
        "i don't know, i do not know, i have no idea, i would guess, in my opinion, as far as i know, "
        "to the best of my knowledge, if i remember, if i recall, my guess, my best guess"
    ),
    "impersonal": _listed(
        "perhaps, maybe, probably, possibly, likely, it seems, it appears, might be, may be, could be, "
        "it is possible, it is unclear, it is not clear, not entirely clear, it's not certain, it is not certain, "
        "it is believed, it's believed, it is thought, reportedly"
    ),
}
SURE_ANSWER = writes(
    "free answer",
    "Question: {question}\n\nAnswer in one or two sentences. If you are not sure, say so.",
    ("question",),
    48,
)


def count_hedges(text: str) -> dict[str, int]:
    """How often a text hedges in the first person and impersonally, and its number of words.

    >>> count_hedges("I think it is probably Oslo.")
    {'first person': 1, 'impersonal': 1, 'words': 6}
    """
    return count_phrases(text, HEDGES)


def count_phrases(text: str, kinds: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """How often the phrases of each kind stand in a text, and its number of words; "i can" is not in "I can't".

    >>> count_phrases("I can't sing, I cannot; I can't I can.", {"able": ["i can"]})
    {'able': 1, 'words': 9}
    """
    plain = " ".join(re.findall(r"[\w']+", text.lower().replace("’", "'")))
    counts = {
        kind: sum(len(re.findall(rf"(?<![\w']){re.escape(phrase)}(?![\w'])", plain)) for phrase in phrases)
        for kind, phrases in kinds.items()
    }
    return counts | {"words": len(plain.split())}


def ask_hedges(respondent: Respondent, questions: Sequence[Question]) -> pd.DataFrame:
    """Free answers, their hedges, and whether they are right.

    Returns:
        question_id, text, first person, impersonal, words, correct. Phrases are English: of a text in another language
        (`language_of`) none is counted, and no word.
    """
    texts = _written(answers_in_order(respondent, [SURE_ANSWER.prompt(each.text) for each in questions], SURE_ANSWER))
    return pd.DataFrame(
        [
            {"question_id": each.id, "text": text}
            | count_hedges(text if language_of(text) in (None, "English") else "")
            | {"correct": correct(each, text)}
            for each, text in zip(questions, texts, strict=True)
        ],
        columns=["question_id", "text", *HEDGES, "words", "correct"],
    )
