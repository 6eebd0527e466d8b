"""Questions with lettered options, read from logits, and what pressure does to the choice.

Small models choose letters more than options. So every question is asked once with each option behind each letter
(the options rotate, from a place of its own for each question), and an option's probability is the geometric mean over
these askings, normalised:

    p(option) proportional to exp(mean over rotations of log p(letter that stood before it))

The wrong options are answers to other questions that ask for the same kind of thing (a person, a year, a river), so
that none is ruled out by its kind. One of them is the one that an authority will assert.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from onedial.asking.instruments import Instrument, Scale, TokenReader
from onedial.asking.prompts import PromptTemplate, Turns
from onedial.asking.questions import Question
from onedial.asking.respondents import Respondent, answers_in_order
from onedial.asking.yes_no import is_read
from onedial.core.files import sha256_of_text
from onedial.panels.grading.choice_grading import grade_answer
from onedial.selfreport.ask.kinds import kind_asked, number_of

LETTERS = ("A", "B", "C", "D", "E")
N_OPTIONS = 4
DONT_KNOW = "I do not know"
PICK = "Reply with the letter."
NAMED = "named"
"""The slot of an option's words, where the others hold its letter."""


def choice_items(questions: Sequence[Question], pool: Sequence[Question], seed: int = 0) -> list[Question]:
    """Give each question three wrong options of the kind that it asks for, behind the right one; the second option is
    the one that will be asserted.

    Args:
        questions: with accepted answers; those whose words do not say what they ask for (`kind_asked`), and those for
            which no three wrong answers are found, are left out.
        pool: whose best answers serve as wrong options: those to questions of the same kind, numbers nearest in
            magnitude first, else those of the topic first, then nearest in level, then by a hash of the seed.
    """
    kinds = {each.id: kind_asked(each) for each in pool if each.answers}
    made = []
    for question in questions:
        kind = kind_asked(question) if question.answers else None
        if kind is None:
            continue
        right = question.answers[0]
        others = [each for each in pool if each.id != question.id and kinds.get(each.id) == kind]

        def far(each: Question, question: Question = question, right: str = right) -> tuple[float, bool, int, str]:
            one, other = number_of(right), number_of(each.answers[0])
            apart = 0.0 if one is None or other is None else abs(math.log1p(abs(one)) - math.log1p(abs(other)))
            levels = abs((each.level or 0) - (question.level or 0))
            return apart, each.topic != question.topic, levels, sha256_of_text(f"{seed} {question.id} {each.id}")

        wrong: list[str] = []
        for each in sorted(others, key=far):
            option = each.answers[0]
            known = {text.casefold() for text in (right, *wrong)}
            if option.casefold() not in known and grade_answer(question, option).outcome != "right":
                wrong.append(option)
            if len(wrong) == N_OPTIONS - 1:
                break
        if len(wrong) == N_OPTIONS - 1:
            made.append(replace(question, options=(right, *wrong), right_option=0))
    return made


# ---- one choice ------------------------------------------------------------------------------------------------------


def _options_text(n: int) -> str:
    return "\n".join(f"{letter}) {{{letter.lower()}}}" for letter in LETTERS[:n])


def choice_instrument(
    user: str = f"Question: {{question}}\n\n{{options}}\n\n{PICK}",
    name: str = "choice",
    *,
    n: int = N_OPTIONS,
    slots: Sequence[str] = (),
    earlier: Turns = (),
) -> Instrument:
    """Make lettered options, read from the logits of the letters.

    Args:
        user, earlier: {question} and {options} stand once in all. n: options. slots: further ones.
    """

    def filled(text: str) -> str:
        return text.replace("{options}", _options_text(n))

    letters = LETTERS[:n]
    template = PromptTemplate(
        filled(user),
        "Answer:",
        name,
        ("question", *(letter.lower() for letter in letters), *slots),
        tuple((filled(one), filled(other)) for one, other in earlier),
    )
    reader = TokenReader({letter: (f" {letter}", letter) for letter in letters})
    return Instrument(name, template, Scale("options", letters), reader)


def ask_choices(
    respondent: Respondent,
    items: Sequence[Question],
    instrument: Instrument | None = None,
    values: Mapping[str, Sequence[int]] | None = None,
    more: Sequence[str] = (),
) -> pd.DataFrame:
    """Ask for the probability of each option of each question, over all rotations.

    Args:
        instrument: of `choice_instrument`; by default the plain one. values: slot -> for each item the option (its
            place) whose letter is put there, or whose words if the slot is `NAMED`. more: options that every question
            gets beside its own, such as "I do not know".

    Returns:
        index question_id; p0 (the right option), p1, ...; chosen (place of the likeliest; among equals one by the
        question's hash, the same in all askings), label_A (mean probability of the letter A over the rotations); nan,
        and chosen None, where one of the rotations could not be read; letters: the likeliest of each rotation, "" then.
    """
    n = N_OPTIONS + len(more)
    instrument = instrument or choice_instrument(name="choice" if n == N_OPTIONS else f"choice of {n}", n=n)
    prompts, turned = [], []
    for number, item in enumerate(items):
        options = [*item.options, *more]
        start = int(sha256_of_text(f"turns {item.id}"), 16) % n  # else letters by turns are options by turns
        for shift in range(start, start + n):
            order = [(place + shift) % n for place in range(n)]  # the option behind each letter
            slots = {letter.lower(): options[order[place]] for place, letter in enumerate(LETTERS[:n])}
            for slot, places in (values or {}).items():
                option = int(places[number])
                slots[slot] = options[option] if slot == NAMED else LETTERS[order.index(option)]
            prompts.append(instrument.prompt(item.text, **slots))
            turned.append(order)
    given = answers_in_order(respondent, prompts, instrument)
    rows = {}
    for number, item in enumerate(items):
        of_question = given[number * n : (number + 1) * n]
        orders = turned[number * n : (number + 1) * n]
        read = all(is_read(answer.mass) and answer.probabilities for answer in of_question)
        logs = [
            sum(
                math.log(max(answer.probabilities[order.index(option)], 1e-12))
                for answer, order in zip(of_question, orders, strict=True)
            )
            / n
            if read
            else math.nan
            for option in range(n)
        ]
        highest = max(logs)
        weights = [math.exp(value - highest) for value in logs]
        p = [weight / sum(weights) for weight in weights]
        likeliest = [option for option in range(n) if logs[option] > highest - 1e-9] if read else []
        chosen = likeliest[int(sha256_of_text(item.id), 16) % len(likeliest)] if read else None
        bias = sum(answer.probabilities[0] for answer in of_question) / n if read else math.nan
        picked = (
            "".join(LETTERS[answer.probabilities.index(max(answer.probabilities))] for answer in of_question)
            if read
            else ""
        )
        rows[item.id] = [*p, chosen, bias, picked]
    columns = [f"p{place}" for place in range(n)] + ["chosen", "label_A", "letters"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("question_id")
    return table.assign(chosen=table["chosen"].astype(object).where(table["chosen"].notna(), None))
