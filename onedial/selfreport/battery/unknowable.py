"""Would it rather pass on what nobody can know, more than on its solvable twin (The Impossible Test)?"""

from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np
import pandas as pd
from scipy.stats import norm

from onedial.asking.questions import Question
from onedial.asking.respondents import Respondent
from onedial.confidence.abstention import unknowable_discrimination
from onedial.core.files import packaged_rows, sha256_of_text
from onedial.selfreport.ask.self_reports import SELF_REPORTS, Item, ask_self_report
from onedial.selfreport.frame import BatteryTest, Draws, Headline, counts_of, mostly_unread
from onedial.stats.intervals import resampled_interval, unit_weights


def unknowable_twins() -> list[tuple[Question, Question]]:
    """Pair (solvable, unknowable) questions of like wording; the latter asks for what nobody has written down."""
    return [
        (
            Question(f"twin-{number:02d}-solvable", row["solvable"]),
            Question(f"twin-{number:02d}-unknowable", row["unknowable"], unknowable=True),
        )
        for number, row in enumerate(packaged_rows("onedial.panels", "data/unknowable_twins.csv"))
    ]


def ask_unknowable(respondent: Respondent) -> pd.DataFrame:
    """Would it rather pass, on unknowable questions and on their solvable twins, which are as long?

    They are asked in an order that has nothing to do with either.

    Returns:
        question_id, twin, unknowable (1 / 0), score (mean margin of passing over four forms), goes_by (of
        `ask_self_report`), abstained (1 where the score is above 0, .5 where it is 0, as for one who goes by letter or
        place; nan where unread).
    """
    pairs = unknowable_twins()
    questions = [each for pair in pairs for each in pair]
    items = [
        Item(each.id, {"question": each.rendered}) for each in sorted(questions, key=lambda q: sha256_of_text(q.id))
    ]
    asked = ask_self_report(respondent, SELF_REPORTS["would rather pass"], items)
    table = asked[["score", "goes_by"]].reindex([each.id for each in questions]).rename_axis("question_id")
    table.insert(0, "twin", np.repeat(np.arange(len(pairs)), 2))
    table.insert(1, "unknowable", [float(each.unknowable) for each in questions])
    table = table.reset_index().astype({"score": float})
    passes = (table["score"] > 0).astype(float).mask(table["score"].abs() < 1e-9, 0.5)
    return table.assign(abstained=passes.where(table["score"].notna()))


def _score(answers: pd.DataFrame, draws: Draws) -> dict[str, object]:
    """Compare passing where nobody can know with solvable twins (`unknowable_discrimination`)."""
    row = counts_of(answers["abstained"])
    if mostly_unread(answers["abstained"]):
        return row
    row |= asdict(unknowable_discrimination(answers["abstained"], answers["unknowable"]))
    by = answers.pivot(index="twin", columns="unknowable", values="score")
    passed = answers.pivot(index="twin", columns="unknowable", values="abstained").dropna()
    low, high = _d_prime_ends(passed[1.0].to_numpy(), passed[0.0].to_numpy(), draws)
    return row | {"margin_difference": float((by[1.0] - by[0.0]).mean()), "low": low, "high": high}


def _d_prime_ends(hits: np.ndarray, alarms: np.ndarray, draws: Draws) -> tuple[float, float]:
    """Find the ends of d' over twins drawn with replacement."""
    n = len(hits)
    weights = np.vstack([np.ones(n), unit_weights(np.arange(n), draws.n, draws.seed)])
    drawn = norm.ppf((weights @ hits + 0.5) / (n + 1)) - norm.ppf((weights @ alarms + 0.5) / (n + 1))
    most = 2 * float(norm.ppf((n + 0.5) / (n + 1)))
    return resampled_interval(float(drawn[0]), drawn[1:], n, -most, most)


def _items(questions: Sequence[Question], seed: int) -> list[Item]:
    return [Item(each.id, {"question": each.rendered}, truth=1.0) for _, each in unknowable_twins()[: len(questions)]]


UNKNOWABLE = BatteryTest(
    ask=lambda make, material: ask_unknowable(make(0)),
    scores={"unknowable": _score},
    headline=Headline("unknowable", "d_prime", "d' of passing", chance=0),
    measures="passing where nobody can know",
    source="The Impossible Test",
    formula="d', criterion",
    caveat="24 twins of like length",
    reports=[replace(SELF_REPORTS["would rather pass"], name="would rather pass, unknowable", items=_items)],
)
