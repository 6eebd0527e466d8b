"""What the explorable part of a report holds: the run's tables as one JSON text, small enough and safe inside a page.

The script (`templates/explorer.js`) is hand-written: what it does (a range input, sorting, filtering, two kinds of
curve) takes less code than a library would weigh, and a report has to open in ten years as it does today. It is named
in the page's content policy by its hash; nothing else may run there, and nothing may be fetched.
"""

import json
import math
from typing import Any

import numpy as np
import pandas as pd

from onedial.panels.panel_scores import correctness_of
from onedial.panels.panels import panel_from_long
from onedial.report.contents import Contents
from onedial.report.meaning import why_left_out
from onedial.show.page import Explorer
from onedial.verdict.case import Case
from onedial.verdict.criteria.status import JUDGED

MOST_CHARACTERS = 4_000_000
"""Of JSON in a page; a longer one is thinned: every second magnitude, then questions that are not in the test split."""
_FEWEST_MAGNITUDES = 9
_LARGEST = 99.99
_SIGNS = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def explorer_of(contents: Contents, most: int = MOST_CHARACTERS) -> Explorer:
    """Collect the run's tables for the explorer.

    Args:
        most: characters of JSON; the tables are thinned down to it, which the explorer's note then says.
    """
    magnitudes = contents.grid.magnitudes
    kept, questions, note = np.arange(len(magnitudes)), np.arange(len(contents.grid.questions)), ""
    while len(text := script_json(_tables(contents, kept, questions))) > most:
        if len(kept) > _FEWEST_MAGNITUDES:
            kept = _every_second(kept, contents.grid.unsteered)
            note = f"To keep this page small, {len(kept)} of {len(magnitudes)} magnitudes are here."
        elif (contents.grid.splits[questions] != "test").any():
            questions = questions[contents.grid.splits[questions] == "test"]
            note += " Of the questions only those of the test split are here."
        elif len(questions) > 50:
            questions = questions[:: math.ceil(len(text) / most) + 1]
            note += f" Of the test questions {len(questions)} are here, so the numbers are of these."
        else:
            break
    return Explorer(text, note.strip(), len(written(contents)) > 0, contents.sweep.has_panel)


def script_json(value: Any) -> str:
    """Write JSON that stays text inside a script element: no tag, comment or line separator can be read out of it."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign, escaped in _SIGNS.items():
        text = text.replace(sign, escaped)
    return text


def hundredths(margin: float) -> int | None:
    """Write a margin in hundredths, None where it is nan; rounding never turns a yes (above 0) into a no."""
    if math.isnan(margin):
        return None
    return max(round(100 * min(margin, _LARGEST)), 1) if margin > 0 else min(round(100 * max(margin, -_LARGEST)), 0)


def _tables(contents: Contents, kept: np.ndarray, questions: np.ndarray) -> dict[str, Any]:
    grid = contents.grid
    names = [str(name) for name in grid.questions[questions]]
    table = contents.questions.assign(id=contents.questions["id"].astype(str)).set_index("id").reindex(names)
    magnitudes = grid.magnitudes[kept]
    return {
        "unit": contents.unit,
        "magnitudes": [_rounded(value, 5) for value in magnitudes],
        "zero": int(np.flatnonzero(magnitudes == 0.0)[0]),
        "questions": {
            "id": names,
            "text": [str(text) for text in table["question"]],
            "topic": _column(table, "topic"),
            "level": _column(table, "level"),
            "split": "".join(split[0] for split in grid.splits[questions]),
            "correct": _signs(table["subject_correct"]) if "subject_correct" in table else None,
            "difficulty": _difficulty(contents, names),
            "margins": [[hundredths(value) for value in row] for row in grid.margins[np.ix_(questions, kept)]],
            "turns": _turns(grid, questions),
        },
        "targets": _targets(contents, names, magnitudes),
        "written": [each for each in written(contents) if each["id"] in set(names)],
    }


def written(contents: Contents) -> list[dict[str, Any]]:
    """List what the subject wrote, where the run holds texts: question, magnitude, how it was read, and the text."""
    if not contents.numbers("reasoned"):
        return []
    texts = contents.sweep.parts["reasoned"].read().sort_values("magnitude", kind="stable")
    return [
        {
            "id": str(row["question_id"]),
            "magnitude": _rounded(row["magnitude"], 5),
            "said": None if pd.isna(row["said_yes"]) else int(row["said_yes"]),
            "text": str(row["text"]),
        }
        for _, row in texts.iterrows()
    ]


def _targets(contents: Contents, names: list[str], magnitudes: np.ndarray) -> list[dict[str, Any]]:
    if not contents.sweep.has_panel:
        return []
    panel = panel_from_long(contents.panel)
    answers, correct = _by_name(panel.answers, names), correctness_of(panel)
    correct = None if correct is None else _by_name(correct, names)
    rows = []
    for target, row in contents["matches"].sort_values("yes_rate", kind="stable").iterrows():
        at = None if pd.isna(row["magnitude"]) else int(np.abs(magnitudes - row["magnitude"]).argmin())
        rows.append(
            {
                "name": str(target),
                "model": str(row["model"]),
                "status": str(row["status"]),
                "why": why_left_out(row),
                "judged": row["status"] in JUDGED,
                "rate": _rounded(row["yes_rate"], 4),
                "magnitude": _rounded(row["magnitude"], 5),
                "at": at,
                "answers": _signs(answers[target]),
                "correct": None if correct is None else _signs(correct[target]),
            }
        )
    return rows


def _turns(grid: Case, questions: np.ndarray) -> list[list[float] | None]:
    crossings = grid.dial.crossings
    return [None if (turns := crossings[q]) is None else [round(float(m), 4) for m in turns] for q in questions]


def _difficulty(contents: Contents, names: list[str]) -> list[float | None]:
    if contents.factor is None:
        return [None] * len(names)
    return [_rounded(value, 2) for value in _by_name(contents.factor.difficulty, names)]


def _by_name(values: Any, names: list[str]) -> Any:
    """Put the rows of a table or a series of questions in the order of these names."""
    return values.set_axis(values.index.astype(str)).reindex(names)


def _column(table: pd.DataFrame, name: str) -> list[Any]:
    if name not in table:
        return [None] * len(table)
    return [
        None if pd.isna(value) else int(value) if name == "level" and float(value).is_integer() else value
        for value in table[name]
    ]


def _signs(values: pd.Series) -> str:
    """Write one letter each: 1, 0, or - where nothing is known."""
    return "".join("1" if value == 1 else "0" if value == 0 else "-" for value in values)


def _rounded(value: float, digits: int) -> float | None:
    return round(float(value), digits) if value is not None and math.isfinite(value) else None


def _every_second(kept: np.ndarray, zero: int) -> np.ndarray:
    """Keep every second of these positions, with 0 and both ends."""
    return np.unique(np.concatenate([kept[::2], [zero, kept[0], kept[-1]]]))
