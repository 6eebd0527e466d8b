"""Several guesses with probabilities in one reply ("Just Ask for Calibration", arXiv 2305.14975: verbalised, top k).

Naming rivals keeps a respondent from being sure of the one answer that comes to mind. Two things are judged: the
likeliest guess by its probability, and all guesses by the sum of theirs.
"""

import math
import re
from collections.abc import Sequence
from itertools import chain

import pandas as pd

from onedial.asking import Question, Respondent, ask_table, unmarked
from onedial.confidence import brier_skill, expected_calibration_error
from onedial.panels import grade_answer, outcome_as_number
from onedial.selfreport.ask.requests import writes
from onedial.selfreport.frame import BatteryTest, Draws, area, signal_of

K = 4
GUESS = writes(
    "guesses",
    f"Question: {{question}}\n\nGive your {K} best guesses and the probability that each of them is correct, from 0% "
    "to 100%. Write each guess on a line of its own, as short as possible and the likeliest first, and after it a "
    "colon and its probability. Write nothing else.",
    ("question",),
    96,
    "1.",
)
_ROW = re.compile(r'[\s\[{,]*\{\s*"\w+"\s*:\s*"([^"]+)"\s*,\s*"\w+"\s*:\s*"?([\d.]+ ?%?)"?\s*\}[\s\]}]*')
"""A guess and its probability in JSON."""
_PAIR = re.compile(
    r"^((?:G\d\s*|\(?\d{1,2})[.):]\s*[^\W\d][^\n%]*|\A[^\W\d][^\n%]*)\n\W*(?:P\d\W*|probability\W*)?"
    r"(\d{1,3}(?:\.\d+)? ?%|0?\.\d+)\W*$",
    re.MULTILINE | re.IGNORECASE,
)
"""A guess, and its probability on the next line; once alone it may be of all of them."""
_MARK = re.compile(
    r"^\s*(?:[-•]\s+|G\d\s*[.):]\s*|\(?\d{1,2}[.)](?!\d)\s*)?(?:(?:guess|answer) \d\s*[.):]\s*"
    r"|(?:first|second|third|fourth|best|next)(?: best)? guess:\s*)?",
    re.IGNORECASE,
)
_APART = r"(?:\s*[:=(,|\[]\s*|\s+[–—-]\s+)(?:probability\s*:?\s*)?(?:about\s+|approximately\s+|around\s+|[~≈<>]\s*)?"
_SURE = r"\s*(?:(?:likely|confident|confidence|certain|sure|probability|chance|likelihood)\b)?[\])|]*\W*$"
_PROBABILITY = re.compile(
    rf"(?:{_APART}|\s+)(?P<percent>\d{{1,3}}(?:\.\d+)?)\s*(?:%|percent){_SURE}"
    rf"|{_APART}(?P<share>0?\.\d+|0|1|1\.0+){_SURE}|\s*[:=]\s*(?P<bare>\d{{1,3}})\W*$",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"(?P<percent>\d{1,3}(?:\.\d+)?)\s*%(?:\s*[:–—-])?\s+(?P<guess>[^\W\d].*)")
_MORE = re.compile(r"(?<=[%)])[,;]\s+|(?<=\.\d)[,;]\s+|(?<=\.\d\d)[,;]\s+|;\s+")
_NO_GUESS = re.compile(
    r"\W*(?:(?:the|your|my|first|second|third|fourth|best)\s+)*(?:guess|answer|probability\b.*|P\d)?(?:\s+is)?\W*"
    r"|[\d.]+\s*%\s*(?:to|[–—-])",
    re.IGNORECASE,
)


def parse_guesses(text: str) -> list[tuple[str, float]]:
    """(guess, probability) of each line that has both, at most `K`; of a guess that stands twice, the first.

    A share, a percentage and a number after a colon are probabilities. Where lines are numbered, what stands between
    and after them is no guess; neither are "the second guess", "the probability of ..." and "0% to".

    >>> parse_guesses('[{"guess": "Paris", "probability": 0.6}, {"guess": "Lyon", "probability": 0.25}]')
    [('Paris', 0.6), ('Lyon', 0.25)]
    >>> parse_guesses("Paris: 60%\\n2. Lyon (25%)\\n3. Nice: .1\\n4. paris: 5%\\n5. Apollo 11")
    [('Paris', 0.6), ('Lyon', 0.25), ('Nice', 0.1)]
    """
    found: dict[str, tuple[str, float]] = {}
    text = _ROW.sub(r"\n\1: \2", text) if _ROW.search(text) else text
    text = _in_percent(unmarked(text))
    text = _PAIR.sub(r"\1: \2", text) if len(_PAIR.findall(text)) > 1 else text
    if re.fullmatch(r'\{(?:\s*"[^"]+"\s*:\s*[\d.]+\s*,?)+\}', text):
        text = re.sub(r"[{}]", "", text).replace(",", "\n")
    first, *rest = [line.strip("| ") for line in text.splitlines()] or [""]
    numbered = [line for line in rest if (mark := _MARK.match(line)) and mark.end()]
    for part in chain.from_iterable(_MORE.split(line) for line in [first, *(numbered or rest)]):
        bare = _MARK.sub("", part, count=1)
        stated, ahead = _PROBABILITY.search(bare), _BEFORE.fullmatch(bare)
        guess = bare[: stated.start()] if stated else ahead["guess"] if ahead else ""
        guess = guess.strip(" \"'.|")
        if _NO_GUESS.fullmatch(guess):
            continue
        share = stated["share"] if stated else None
        percent = (stated["percent"] or stated["bare"]) if stated else ahead["percent"] if ahead else ""
        p = float(share) if share else float(percent) / 100
        if p <= 1:
            found.setdefault(guess.casefold(), (guess, p))
    return list(found.values())[:K]


def _in_percent(text: str) -> str:
    """The text with numbers as `_PROBABILITY` reads them: the middle of a range, a decimal point, no fractions."""
    text = re.sub(r"(\d),(\d+)\s*%", r"\1.\2%", re.sub(r"\s*(?:->|=>|\u2192)\s*", ": ", text))
    text = re.sub(r"(\d)\u2044([1-9])", lambda found: f"{int(found[1]) / int(found[2]):.4g}", text)
    text = re.sub(
        r"(\d+)\s*%?\s*[-\u2013]\s*(\d+)\s*%", lambda found: f"{(int(found[1]) + int(found[2])) / 2:g}%", text
    )
    text = re.sub(r"(\d)\s*(?:/|out of)\s*100\b", r"\1%", re.sub(r"(\.\d+)/1\b", r"\1", text))
    return re.sub(r"(%)\s*\([^)\n%]*\)", r"\1", text)


def ask_guesses(respondent: Respondent, questions: Sequence[Question]) -> pd.DataFrame:
    """Four guesses to each question, with probabilities.

    Returns:
        question_id, n_guesses, top (probability of the likeliest guess, the first of equals), top_right (1 / 0), total
        (sum of the probabilities), any_right (whether a guess is right), text; nan where no guess has a probability.
    """
    written = ask_table(respondent, GUESS, [{"question": each.text} for each in questions])["text"]
    rows: list[list[object]] = []
    for question, text in zip(questions, written, strict=True):
        guesses = parse_guesses(text)
        right = [outcome_as_number(grade_answer(question, guess).outcome, declined=0.0) for guess, _ in guesses]
        p = [each for _, each in guesses]
        best = p.index(max(p)) if p else 0
        found = [p[best], right[best], sum(p), _any(right)] if p else [math.nan] * 4
        rows.append([question.id, len(p) or math.nan, *found, text])
    return pd.DataFrame(rows, columns=["question_id", "n_guesses", "top", "top_right", "total", "any_right", "text"])


def _any(right: Sequence[float]) -> float:
    """1 where one is right, nan where none is and one could not be graded."""
    return 1.0 if 1.0 in right else math.nan if any(map(math.isnan, right)) else 0.0


def guess_scores(own: pd.DataFrame, draws: Draws) -> pd.DataFrame:
    """The likeliest guess by its probability, and all of them by their sum.

    Formula: `signal_table`, `expected_calibration_error` (bins of equal mass), `brier_skill`; a sum above 1 is held
    against 1 in these two.

    Args:
        own: of `ask_guesses`.

    Returns:
        index of ("top", "all"); n, n_unread, stated (mean), right (share), over_one (share of sums above 1), ece,
        skill, auroc, low, high. Sign: auroc above .5 = likelier guesses are more often right.
    """
    rows = {}
    for which, (said, truth) in {"top": ("top", "top_right"), "all": ("total", "any_right")}.items():
        # An answer without guesses is unread, and not ungraded.
        right = own[truth].where(own[said].notna(), 0)
        found = signal_of(own[said], right, own["question_id"], draws)
        read = own[own[said].notna() & right.notna()]
        n_unread = int(own[said].isna().sum())
        row: dict[str, object] = {"n": len(read), "n_unread": n_unread}
        if len(read) >= max(1, n_unread):
            held, y = read[said].clip(upper=1), read[truth]
            row |= {"stated": float(read[said].mean()), "right": float(y.mean())}
            row["over_one"] = float((read["total"] > 1 + 1e-9).mean())
            row["ece"] = expected_calibration_error(held, y, bins="mass", n_bootstrap=1).value
            row["skill"] = brier_skill(held, y, n_bootstrap=1).value
            row |= {name: found[name] for name in ("auroc", "low", "high")}
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
