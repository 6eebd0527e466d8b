"""Several guesses with probabilities in one reply ("Just Ask for Calibration", arXiv 2305.14975: verbalised, top k).

Naming rivals keeps a respondent from being sure of the one answer that comes to mind. Two things are judged: the
likeliest guess by its probability, and all guesses by the sum of theirs.
"""

import math
from collections.abc import Sequence

import pandas as pd

from onedial.asking.measuring import ask_table
from onedial.asking.questions import Question
from onedial.asking.readers import N_GUESSES, parse_guesses
from onedial.asking.reply_forms import GUESSES as GUESSED
from onedial.asking.respondents import Respondent
from onedial.confidence.calibration import brier_skill, expected_calibration_error
from onedial.panels.grading.choice_grading import grade_answer
from onedial.panels.grading.grading import outcome_as_number
from onedial.selfreport.ask.requests import writes
from onedial.selfreport.frame import BatteryTest, Draws, area, signal_of

GUESS = writes(
    "guesses",
    f"Question: {{question}}\n\nGive your {N_GUESSES} best guesses and the probability that each of them is correct, "
    "from 0% to 100%. Write each guess on a line of its own, as short as possible and the likeliest first, and after "
    "it a colon and its probability. Write nothing else.",
    ("question",),
    96,
    "1.",
    form=GUESSED,
)


def ask_guesses(respondent: Respondent, questions: Sequence[Question]) -> pd.DataFrame:
    """Ask for four guesses to each question, with probabilities.

    Returns:
        question_id, n_guesses, top (probability of the likeliest guess, the first of equals), top_right (1 / 0), total
        (sum of the probabilities), any_right (whether a guess is right), text; nan where no guess has a probability.
    """
    written = ask_table(respondent, GUESS, [{"question": each.rendered} for each in questions])["text"]
    rows: list[list[object]] = []
    for question, text in zip(questions, written, strict=True):
        guesses = parse_guesses(text)
        right = [outcome_as_number(grade_answer(question, guess).outcome, declined=0.0) for guess, _ in guesses]
        p = [each for _, each in guesses]
        best = p.index(max(p)) if p else 0
        figures = [p[best], right[best], sum(p), _any(right)] if p else [math.nan] * 4
        rows.append([question.id, len(p) or math.nan, *figures, text])
    return pd.DataFrame(rows, columns=["question_id", "n_guesses", "top", "top_right", "total", "any_right", "text"])


def _any(right: Sequence[float]) -> float:
    """Give 1 where one is right, nan where none is and one could not be graded."""
    return 1.0 if 1.0 in right else math.nan if any(map(math.isnan, right)) else 0.0


def guess_scores(answers: pd.DataFrame, draws: Draws) -> pd.DataFrame:
    """Score the likeliest guess by its probability, and all of them by their sum.

    Formula: `signal_table`, `expected_calibration_error` (bins of equal mass), `brier_skill`; a sum above 1 is held
    against 1 in these two.

    Args:
        answers: of `ask_guesses`.

    Returns:
        index of ("top", "all"); n, n_unread, stated (mean), right (share), over_one (share of sums above 1), ece,
        skill, auroc, low, high. Sign: auroc above .5 = likelier guesses are more often right.
    """
    rows = {}
    for which, (stated, truth) in {"top": ("top", "top_right"), "all": ("total", "any_right")}.items():
        # An answer without guesses is unread, and not ungraded.
        right = answers[truth].where(answers[stated].notna(), 0)
        signal = signal_of(answers[stated], right, answers["question_id"], draws)
        read = answers[answers[stated].notna() & right.notna()]
        n_unread = int(answers[stated].isna().sum())
        row: dict[str, object] = {"n": len(read), "n_unread": n_unread}
        if len(read) >= max(1, n_unread):
            held, y = read[stated].clip(upper=1), read[truth]
            row |= {"stated": float(read[stated].mean()), "right": float(y.mean())}
            row["over_one"] = float((read["total"] > 1 + 1e-9).mean())
            row["ece"] = expected_calibration_error(held, y, bins="mass", n_bootstrap=1).value
            row["skill"] = brier_skill(held, y, n_bootstrap=1).value
            row |= {name: signal[name] for name in ("auroc", "low", "high")}
        rows[which] = row
    columns = ["n", "n_unread", "stated", "right", "over_one", "ece", "skill", "auroc", "low", "high"]
    return pd.DataFrame.from_dict(rows, orient="index").reindex(columns=columns).rename_axis("which")


GUESSES = BatteryTest(
    ask=lambda make, material: ask_guesses(make(0), material.questions),
    scores={"guesses": guess_scores},
    headline=area("guesses", "the likeliest guess", only=("top",)),
    measures="four guesses with probabilities in one reply",
    source="2305.14975",
    formula="AUROC of the likeliest, Brier skill, sum of all",
    caveat="a text that names no probabilities is unread",
    reply="text",
)
