"""Grade the stored closed-book answers of a panel once more, after keys or rules have changed; no model is asked.

    python scripts/regrade_panel.py onedial/panels/data                       # the embedded panel
    python scripts/regrade_panel.py runs/panel --questions my_questions.jsonl

Rewrites the grades in FOLDER/closed_book.csv and the column answered_correctly of FOLDER/panel.csv (which it finds
through the models in respondents.csv); every other cell stays as it is. Prints what changed, model by model.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from onedial.asking import Question
from onedial.core import InputError, Options, atomic_path, option, parse_options, run_command
from onedial.panels import accuracy_by_level, grade_closed_book, load_questions, non_answers_by_level, outcome_counts

FILES = ("closed_book.csv", "panel.csv", "respondents.csv")


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    folder: Path = option(..., f"holds {', '.join(FILES)}", positional=True)
    questions: str = option("embedded", "that were asked: a name or a file")


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse_options(ScriptOptions, __doc__, arguments)
    questions = load_questions(options.questions)
    before, after = regrade(options.folder, questions)
    print(changes(before, after).to_string(), "\n\nshare of answers that are correct, by level:", sep="")
    print(accuracy_by_level(after, questions).round(3).to_string())
    print("\nshare of non-answers, of all that were asked:")
    print(non_answers_by_level(after, questions).round(3).to_string())


def regrade(folder: Path, questions: Sequence[Question]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Recompute the grades of a folder's closed-book answers, and with them its panel's `answered_correctly`.

    Returns:
        The closed-book table as it was and as it is now.

    Raises:
        InputError: a file is missing or lacks a column, a respondent is unknown, or a question is not given. Nothing
            is written then.
    """
    closed, panel, respondents = (_table(folder / name) for name in FILES)
    for name, table, columns in (
        (FILES[0], closed, ("model", "question_id", "text")),
        (FILES[1], panel, ("question_id", "respondent", "answered_correctly")),
        (FILES[2], respondents, ("respondent", "model")),
    ):
        missing = [column for column in columns if column not in table.columns]
        if missing:
            raise InputError(f"{folder / name} has no column {missing[0]!r}; give a folder that panel.py collect wrote")
    after = grade_closed_book(closed, questions)
    correct = after.set_index(["model", "question_id"])["correct"]
    if correct.index.has_duplicates:
        raise InputError(f"{folder / FILES[0]} answers {correct.index[correct.index.duplicated()][0]} twice; keep one")
    models = panel["respondent"].map(respondents.set_index("respondent")["model"])
    if models.isna().any():
        unknown = panel["respondent"][models.isna()].iloc[0]
        raise InputError(f"{folder / FILES[2]} does not list the respondent {unknown!r}; add it")
    found = correct.reindex(pd.MultiIndex.from_arrays([models, panel["question_id"]])).to_numpy()
    panel["answered_correctly"] = pd.Series(found).map({1.0: "1", 0.0: "0"})
    for name, table in ((FILES[0], after), (FILES[1], panel)):
        with atomic_path(folder / name) as temporary:
            table.to_csv(temporary, index=False, float_format="%.6g", lineterminator="\n")
    return closed, after


def changes(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """Counts of each outcome per model, and how many were right before."""
    were_right = pd.to_numeric(before["correct"]) == 1 if "correct" in before else pd.Series(False, before.index)
    counts = outcome_counts(after)
    right_before = were_right.groupby(before["model"], sort=False).sum().reindex(counts.index)
    return counts.assign(right_before=right_before)


def _table(path: Path) -> pd.DataFrame:
    """Every cell as it stands; blank is nan, and "NA" is text."""
    if not path.is_file():
        raise InputError(f"there is no file {path}; give a folder that panel.py collect wrote")
    return pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])


if __name__ == "__main__":
    sys.exit(run_command(main))
