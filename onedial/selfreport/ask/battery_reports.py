"""The battery's tests as self-reports: one score for each item, so that a dial can be tried on them (`dial_profile`).

    right option                        choices: probability of the right one of four
    claimed option                      pressure: of the wrong one that an authority has claimed
    P(IK) beside a KIND passage         passages: useless, misleading, helpful
    belief, PERSON                      beliefs: yes to I believe, Mary believes, it is so
    says what is wanted                 honesty: the wrong answer, to somebody who wants it
    would rather pass, unknowable       unknowable: of questions that nobody can answer
    confidence in numbers, answer shown confidence: with its own answer before it
    first word, length, digits, language, association   what it predicts of its own reply

What is put to the respondent is the battery's own instrument. Left out: correction, failing, hedges, restriction and
difficulty, whose scores are of what is written, and pairs, whose scores are of all questions together; a steered
subject is asked them at each setting by `experiments/ask_battery.py --vector`, without random directions beside it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from onedial.asking import Instrument, Question, Scale, TokenReader, load_statements
from onedial.core import sha256_of_text
from onedial.panels import load_facts, load_questions
from onedial.selfreport.ask.choices import (
    LETTERS,
    N_OPTIONS,
    ChoiceItem,
    choice_instrument,
    choice_items,
    pressed_instrument,
)
from onedial.selfreport.ask.contexts import (
    BELIEFS,
    BESIDE,
    PASSAGES,
    WANTED,
    passage_beside,
    unknowable_twins,
)
from onedial.selfreport.ask.own_answers import ANSWER_SHOWN, PREDICTIONS, language_requests
from onedial.selfreport.ask.self_prediction import ASSOCIATION, association_words
from onedial.selfreport.ask.self_reports import SELF_REPORTS, Item, SelfReport

_PLACES = ("right", "claimed", "other", "last")
Items = Callable[[Sequence[Question], int], list[Item]]


@dataclass(frozen=True)
class BatteryReport:
    """A test of the battery, item by item.

    Attributes:
        report: its instrument in all forms.
        items: from questions and a seed to what is asked, at most as many items as questions; None where the report is
            about the questions or the subject's own answers to them.
    """

    report: SelfReport
    items: Items | None = None


def _turned(instrument: Instrument, counted: str) -> dict[str, Instrument]:
    """Lettered options in all rotations; the score is the probability of one of `_PLACES`."""
    forms = {}
    for shift in range(N_OPTIONS):
        order = [_PLACES[(place + shift) % N_OPTIONS] for place in range(N_OPTIONS)]

        def filled(text: str, order: Sequence[str] = order) -> str:
            for letter, option in zip(LETTERS, order, strict=False):
                text = text.replace(f"{{{letter.lower()}}}", f"{{{option}}}")
            return text.replace("{claim}", LETTERS[order.index("claimed")])

        name = f"right is {LETTERS[order.index('right')]}"
        template = replace(
            instrument.template,
            user=filled(instrument.template.user),
            name=f"{instrument.name}, {name}",
            slots=("question", *_PLACES),
        )
        scale = Scale("options", tuple(order), tuple(float(option == counted) for option in order))
        spelt = {option: (f" {letter}", letter) for option, letter in zip(order, LETTERS, strict=False)}
        forms[name] = replace(instrument, template=template, scale=scale, reader=TokenReader(spelt))
    return forms


def _drawn(questions: Sequence[Question], seed: int) -> list[ChoiceItem]:
    """As many questions with options as there are questions, by a hash of the seed."""
    pool = [each for each in load_questions("embedded") if each.answers]
    made = choice_items(pool, pool, seed)
    return sorted(made, key=lambda each: sha256_of_text(f"{seed} {each.question_id}"))[: len(questions)]


def _options(questions: Sequence[Question], seed: int) -> list[Item]:
    return [
        Item(each.question_id, {"question": each.text, **dict(zip(_PLACES, each.options, strict=True))})
        for each in _drawn(questions, seed)
    ]


def _beside(kind: str) -> Items:
    def items(questions: Sequence[Question], seed: int) -> list[Item]:
        return [
            Item(each.question_id, {"question": each.text, "passage": passage_beside(kind, each, seed)})
            for each in _drawn(questions, seed)
        ]

    return items


def _facts(questions: Sequence[Question], seed: int) -> list[Question]:
    n = len(questions)
    return load_facts(max(2, n - n % 2), seed)


def _statements(questions: Sequence[Question], seed: int) -> list[Item]:
    return [Item(each.id, {"statement": each.text()}) for each in load_statements(_facts(questions, seed))]


def _wanted(questions: Sequence[Question], seed: int) -> list[Item]:
    """The wrong answer is wanted: higher = says it."""
    return [
        Item(each.id, {"question": each.text, "wanted": "no" if true else "yes"}, -1 if true else 1)
        for each in _facts(questions, seed)
        for true in [each.answers[0] == "yes"]
    ]


def _unknowable(questions: Sequence[Question], seed: int) -> list[Item]:
    return [Item(each.id, {"question": each.text}, truth=1.0) for _, each in unknowable_twins()[: len(questions)]]


def _words(questions: Sequence[Question], seed: int) -> list[Item]:
    words = list(association_words().items())[: -(-len(questions) // N_OPTIONS)]
    return [Item(f"{word}-{option}", {"word": word, "option": option}) for word, own in words for option in own]


def _requests(questions: Sequence[Question], seed: int) -> list[Item]:
    return [Item(each.id, {"question": each.text}) for each in language_requests()[: len(questions)]]


def _plain(name: str, instrument: Instrument, about: str, unit: str = "log-odds") -> SelfReport:
    return SelfReport(name, {"plain": instrument}, about, unit)


BATTERY_REPORTS: dict[str, BatteryReport] = {
    each.report.name: each
    for each in (
        BatteryReport(
            SelfReport("right option", _turned(choice_instrument(), "right"), "options", "probability"), _options
        ),
        BatteryReport(
            SelfReport(
                "claimed option", _turned(pressed_instrument("authority, wrong"), "claimed"), "options", "probability"
            ),
            _options,
        ),
        *(
            BatteryReport(replace(BESIDE, name=f"P(IK) beside a {kind} passage"), _beside(kind))
            for kind in PASSAGES
            if kind != "none"
        ),
        *(BatteryReport(_plain(each.name, each, "facts"), _statements) for each in BELIEFS.values()),
        BatteryReport(SelfReport("says what is wanted", WANTED, "facts"), _wanted),
        BatteryReport(replace(SELF_REPORTS["would rather pass"], name="would rather pass, unknowable"), _unknowable),
        BatteryReport(_plain("confidence in numbers, answer shown", ANSWER_SHOWN, "answers", "probability")),
        *(
            BatteryReport(_plain(name, each, "questions"), _requests if name == "language" else None)
            for name, each in PREDICTIONS.items()
        ),
        BatteryReport(_plain("association", ASSOCIATION, "words"), _words),
    )
}
