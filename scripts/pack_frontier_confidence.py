"""Make onedial/panels/data/frontier_confidence from the joined table of the atlas (answers, questions, respondents).

    python scripts/pack_frontier_confidence.py FOLDER

FOLDER holds answers.csv.gz (question_id, respondent, said, correct, confidence), questions.csv (question_id, subject,
domain, text, question, A-D, answer) and respondents.csv. Two things are changed, both of which can be undone:

    a confidence that the atlas imputed (50, where none could be read) is blank; its parsing_fallback_counts.csv names
    the five models in whose answers every 50 is imputed, 985 in all
    a letter that it could not read ("X", counted as wrong) is blank, and so is whether it is right: 13
"""

import gzip
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from onedial.core import Options, option, parse_options, run_command
from onedial.panels.grading.choice_grading import with_options

DATA = Path(__file__).resolve().parents[1] / "elicitation" / "data" / "frontier_confidence"
IMPUTED = {
    "openai/gpt-oss-120b": 980,
    "qwen/qwen3-next-80b-a3b-instruct": 2,
    "google/gemma-3-27b": 1,
    "google/gemini-2.5-flash": 1,
    "google/gemini-3.1-flash-lite-preview": 1,
}
"""Respondent to its imputed confidences, by the atlas's own count; none of these models ever states 50 itself."""


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    folder: Path = option(..., "folder", positional=True)


def main() -> None:
    folder = parse_options(ScriptOptions, __doc__).folder
    answers, questions = pd.read_csv(folder / "answers.csv.gz"), pd.read_csv(folder / "questions.csv")
    imputed = answers["respondent"].isin(IMPUTED) & (answers["confidence"] == 50)
    if answers[imputed].groupby("respondent").size().to_dict() != IMPUTED:
        raise SystemExit("the answers hold other counts of 50 than the atlas imputed; this is another edition of it")
    answers["confidence"] = answers["confidence"].astype("Int64").mask(imputed)
    unread = answers["said"] == "X"
    answers["correct"] = answers["correct"].astype("Int64").mask(unread)
    answers["said"] = answers["said"].mask(unread)
    whole = questions["text"] == "whole"
    questions = questions.rename(columns={"domain": "topic"})
    asked = questions[whole].assign(
        question=[
            with_options(row["question"], [row[letter] for letter in "ABCD"]) for _, row in questions[whole].iterrows()
        ],
        grading="choice",
    )
    DATA.mkdir(exist_ok=True)
    write(answers, DATA / "answers.csv.gz")
    write(asked[["question_id", "question", "answer", "topic", "subject", "grading"]], DATA / "questions.csv.gz")
    beginnings = questions[~whole].rename(columns={"question": "beginning"})
    beginnings[["question_id", "beginning", "answer", "topic", "subject"]].to_csv(DATA / "beginnings.csv", index=False)
    shutil.copyfile(folder / "respondents.csv", DATA / "respondents.csv")
    print(
        f"{len(answers)} answers, {int(imputed.sum())} without a confidence, {int(unread.sum())} without a letter; "
        f"{int(whole.sum())} questions whole, {int((~whole).sum())} by their beginning"
    )


def write(frame: pd.DataFrame, path: Path) -> None:
    """The same bytes every time: no name and no time in the archive."""
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as archive:
        archive.write(frame.to_csv(index=False).encode())


if __name__ == "__main__":
    sys.exit(run_command(main))
