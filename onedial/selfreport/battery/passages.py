"""P(IK) beside no, a useless, a misleading and a helpful passage (arXiv 2207.05221).

The helpful passage says the accepted answer, the misleading one a wrong option, in the same words; the useless one is
about nothing in particular. P(IK) that tracks knowledge rises with the helpful one alone.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from onedial.asking.questions import Question
from onedial.asking.respondents import Respondent
from onedial.core.errors import InputError
from onedial.core.files import sha256_of_text
from onedial.panels.questions.facts import load_passages
from onedial.selfreport.ask.self_reports import SELF_REPORTS, Item, Items, SelfReport, ask_self_report, lettered
from onedial.selfreport.battery.choices import drawn_items
from onedial.selfreport.frame import BatteryTest, Draws, Headline
from onedial.stats.arrays import Floats
from onedial.stats.intervals import drawn_units, resampled_interval, unit_weights
from onedial.stats.level import MOST_UNREAD

PASSAGES = ("none", "useless", "misleading", "helpful")
KNOWS_PASSAGE = "helpful, beyond misleading"
BESIDE = SelfReport(
    "P(IK) beside a passage",
    lettered(
        "P(IK) beside a passage",
        "{passage}\n\nQuestion: {question}\n\nDo you know the answer to this question?",
        "I know the answer",
        "I do not know the answer",
        ("passage", "question"),
    ),
    "questions",
)


def _beside(kind: str, item: Question, seed: int = 0) -> Item:
    """Put something beside a question: another kind of `PASSAGES` than none."""
    if kind == "useless":
        neutral = load_passages()
        passage = neutral[int(sha256_of_text(f"{seed} {item.id}"), 16) % len(neutral)]
    else:
        option = item.options[0 if kind == "helpful" else 1]
        passage = f"A book of reference says of the question below that its answer is {option}."
    return Item(item.id, {"question": item.text, "passage": passage})


def ask_beside_passages(respondent: Respondent, items: Sequence[Question], seed: int = 0) -> pd.DataFrame:
    """Ask P(IK) without a passage, and beside each kind of `PASSAGES`.

    Returns:
        question_id, passage, score (mean margin of the four forms; nan where one is unread), goes_by (of
        `ask_self_report`).
    """
    plain = ask_self_report(
        respondent, SELF_REPORTS["P(IK)"], [Item(item.id, {"question": item.text}) for item in items]
    ).assign(passage="none")
    # A question's passages stand side by side, in an order by hash: who says again what it has just said has no shift.
    plan = [
        (kind, item)
        for item in items
        for kind in sorted(PASSAGES[1:], key=lambda kind: sha256_of_text(f"{item.id} {kind}"))
    ]
    asked = [_beside(kind, item, seed) for kind, item in plan]
    beside = ask_self_report(respondent, BESIDE, asked).assign(passage=[kind for kind, _ in plan])
    both = pd.concat([plain, beside]).rename_axis("question_id").reset_index()
    return both[["question_id", "passage", "score", "goes_by"]].astype({"score": float})


def _score(answers: pd.DataFrame, draws: Draws) -> pd.DataFrame:
    """What each kind of passage does to P(IK), and the helpful one beyond the misleading one (`standardised_shifts`).

    The two differ in the answer alone: who goes by the length of what is shown, or takes any answer for knowledge,
    moves alike beside both.
    """
    scores = answers.pivot(index="question_id", columns="passage", values="score")
    where = draws.of(scores.index)
    shifts = standardised_shifts(scores, "none", where, draws.n, draws.seed)
    beyond = standardised_shifts(scores[["misleading", "helpful"]], "misleading", where, draws.n, draws.seed)
    table = pd.concat([shifts, beyond.rename({"helpful": KNOWS_PASSAGE})])
    return table.reindex([*PASSAGES[1:], KNOWS_PASSAGE]).rename_axis("passage")


def standardised_shifts(
    scores: pd.DataFrame, base: str, topics: Sequence[str] | None = None, n_bootstrap: int = 1999, seed: int = 0
) -> pd.DataFrame:
    """Measure how far each condition moves a score from its base, in the base's own standard deviations.

    Formula: mean over questions of (score - base) / SD(base); interval by `resampled_interval` over topics
    (`drawn_units`), the standard deviation drawn with them. Where all questions move alike, others are thought to move
    as far the other way, or by a standard deviation.

    Args:
        scores: question x condition, nan where unread. base: the condition compared with. topics: of the questions, in
            their order. n_bootstrap: resamples. seed: of them.

    Returns:
        index condition (all but the base); n, n_unread, shift, low, high; nan where more than half is unread. Sign:
        positive = higher than in the base.

    Raises:
        InputError: no such base, or another number of topics than of questions.
    """
    if base not in scores:
        raise InputError(f"there is no condition {base!r} among {', '.join(map(str, scores.columns))}")
    if topics is not None and len(topics) != len(scores):
        raise InputError(f"{len(topics)} topics for {len(scores)} questions; give one for each")
    units = drawn_units(topics, len(scores))
    drawn = unit_weights(units, n_bootstrap, seed)
    start = scores[base].to_numpy(dtype=float)
    rows = {}
    for condition in scores.columns.drop(base):
        change = scores[condition].to_numpy(dtype=float) - start
        known = np.isfinite(change)
        row: dict[str, float] = {"n": int(known.sum()), "n_unread": int((~known).sum())}
        if known.sum() > 1 and row["n_unread"] <= MOST_UNREAD * len(known):
            weights = np.vstack([np.ones(int(known.sum())), drawn[:, known]])
            values = _standardised(change[known], start[known], weights)
            if np.ptp(change[known]) == 0:  # the standard deviation alone would differ between resamples
                values[1:] = values[0]
            shift, reach = float(values[0]), max(1.0, abs(float(values[0])))
            n_units = len(np.unique(units[known]))
            low, high = resampled_interval(shift, values[1:], n_units, -reach, reach)
            row |= {"shift": shift, "low": low, "high": high}
        rows[condition] = row
    columns = ["n", "n_unread", "shift", "low", "high"]
    return pd.DataFrame.from_dict(rows, orient="index").reindex(columns=columns).rename_axis("condition")


def _standardised(change: Floats, start: Floats, weights: Floats) -> Floats:
    n = weights.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = weights @ start / n
        variance = (weights @ start**2 / n - mean**2) * n / (n - 1)
        values = (weights @ change / n) / np.sqrt(np.maximum(variance, 0))
    return np.where(variance > 1e-18, values, np.nan)


def _items(kind: str) -> Items:
    def items(questions: Sequence[Question], seed: int) -> list[Item]:
        return [_beside(kind, each, seed) for each in drawn_items(questions, seed)]

    return items


PASSAGES_TEST = BatteryTest(
    ask=lambda make, material: ask_beside_passages(make(0), material.items),
    scores={"passages": _score},
    headline=Headline("passages", "shift", "shift of P(IK) in standard deviations", only=(KNOWS_PASSAGE,), chance=0),
    measures="P(IK) beside no, useless, misleading, helpful passage",
    source="2207.05221",
    formula="shift in standard deviations, helpful less misleading",
    caveat="the passage says the answer outright",
    reports=[replace(BESIDE, name=f"P(IK) beside a {kind} passage", items=_items(kind)) for kind in PASSAGES[1:]],
    figure="passages",
)
