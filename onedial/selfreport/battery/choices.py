"""Knowledge among options, with abstention as one of them (arXiv 2510.04302)."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from onedial.asking.instruments import Instrument, Scale, TokenReader
from onedial.asking.questions import Question
from onedial.confidence.abstention import break_even, distributional_correctness
from onedial.core.files import sha256_of_text
from onedial.panels.questions.question_files import load_questions
from onedial.selfreport.ask.choices import (
    DONT_KNOW,
    LETTERS,
    N_OPTIONS,
    ask_choices,
    choice_instrument,
    choice_items,
)
from onedial.selfreport.ask.self_reports import Item, SelfReport
from onedial.selfreport.frame import BatteryTest, Draws, Headline, Make, Material, counts_of, mostly_unread
from onedial.stats.intervals import mean_interval

PLACES = ("right", "claimed", "other", "last")
"""Slots of a question's options, in their order."""


def _ask(make: Make, material: Material) -> pd.DataFrame:
    """The options alone, and with "I do not know" among them: kind ("" or idk), and the columns of `ask_choices`."""
    kinds = {"": (), "idk": (DONT_KNOW,)}
    tables = {kind: ask_choices(make(0), material.items, more=more) for kind, more in kinds.items()}
    table = pd.concat(tables, names=["kind"]).reset_index()
    return table.assign(chosen=pd.to_numeric(table["chosen"]))


def _score(answers: pd.DataFrame, draws: Draws) -> dict[str, object]:
    plain, idk = (answers[answers["kind"] == kind].set_index("question_id") for kind in ("", "idk"))
    row = counts_of(plain["chosen"]) | {"n_unread_idk": int(idk["chosen"].isna().sum())}
    if mostly_unread(plain["chosen"]):
        return row
    read = plain[plain["chosen"].notna()]
    options = [f"p{place}" for place in range(N_OPTIONS)]
    # Of options that are equally likely each counts by its share: drawn by hash, a letter might have luck.
    p = read[options].to_numpy(dtype=float)
    likeliest = p >= p.max(axis=1, keepdims=True) - 1e-9
    accuracy = float((likeliest[:, 0] / likeliest.sum(axis=1)).mean())
    row |= {"accuracy": accuracy, "label_bias": float(read["label_A"].mean() - 1 / N_OPTIONS)}
    if not mostly_unread(idk["chosen"]):
        known = idk[idk["chosen"].notna()]
        value = distributional_correctness(known["p0"], known[["p1", "p2", "p3"]].sum(axis=1), known["p4"])
        low, high = mean_interval(value, -1, 1, draws.of(known.index), draws.n, draws.seed)
        given, first = known["chosen"] != N_OPTIONS, known["chosen"] == 0
        row |= {
            **{"dcs": float(value.mean()), "dcs_low": low, "dcs_high": high, "break_even": break_even()},
            "p_dont_know": float(known["p4"].mean()),
            "abstained": float((~given).mean()),
            "right_of_given": float(first[given].mean()),
            "single_answer": float((first * 1.0 - (given & ~first) * 1.0).mean()),
        }
    return row


# ---- item by item ----------------------------------------------------------------------------------------------------


def drawn_items(questions: Sequence[Question], seed: int) -> list[Question]:
    """Draw as many questions with options as there are questions, by a hash of the seed."""
    pool = [each for each in load_questions("embedded") if each.answers]
    made = choice_items(pool, pool, seed)
    return sorted(made, key=lambda each: sha256_of_text(f"{seed} {each.id}"))[: len(questions)]


def options_of(questions: Sequence[Question], seed: int) -> list[Item]:
    """Make questions with their options in `PLACES`."""
    return [
        Item(each.id, {"question": each.text, **dict(zip(PLACES, each.options, strict=True))})
        for each in drawn_items(questions, seed)
    ]


def turned(instrument: Instrument, counted: str) -> dict[str, Instrument]:
    """Make lettered options in all rotations; the score is the probability of one of `PLACES`."""
    forms = {}
    for shift in range(N_OPTIONS):
        order = [PLACES[(place + shift) % N_OPTIONS] for place in range(N_OPTIONS)]
        text = instrument.template.user.replace("{claim}", LETTERS[order.index("claimed")])
        for letter, option in zip(LETTERS, order, strict=False):
            text = text.replace(f"{{{letter.lower()}}}", f"{{{option}}}")
        name = f"right is {LETTERS[order.index('right')]}"
        full = f"{instrument.name}, {name}"
        template = replace(instrument.template, user=text, name=full, slots=("question", *PLACES))
        scale = Scale("options", tuple(order), tuple(float(option == counted) for option in order))
        spelt = {option: (f" {letter}", letter) for option, letter in zip(order, LETTERS, strict=False)}
        forms[name] = replace(instrument, template=template, scale=scale, reader=TokenReader(spelt))
    return forms


CHOICES = BatteryTest(
    ask=_ask,
    scores={"choices": _score},
    headline=Headline("choices", "accuracy", "right among four options", "", "", share=True, chance=1 / N_OPTIONS),
    measures="knowledge among options, with abstention",
    source="2510.04302",
    formula="accuracy (ties by their share); label bias mean p(A) - 1/4; DCS = (p_right - p_wrong) (1 - p_IDK)",
    caveat="a rule for English finds the kind asked for",
    reply="letters",
    reports=(
        SelfReport("right option", turned(choice_instrument(), "right"), "options", "probability", items=options_of),
    ),
)
