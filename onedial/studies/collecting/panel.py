"""Make a panel of the answers: put together, graded, judged, written, and told.

panel.csv  respondents.csv  closed_book.csv  judged.csv  judge_agreement.csv  costs.csv
"""

import numpy as np
import pandas as pd

from onedial.asking.instruments import CLOSED_BOOK
from onedial.asking.prompt_checks import check_mass
from onedial.core.notices import leave_undone
from onedial.core.progress import progress_bar
from onedial.core.run.files import write_csv
from onedial.core.run.notes import Notes
from onedial.core.run.run import Run
from onedial.panels.collecting.collected_panel import (
    failures,
    often_unread,
    panel_table,
    respondents_table,
    where_it_comes_from,
)
from onedial.panels.collecting.collection import Collection
from onedial.panels.collecting.judging import agreement, answers_to_judge, judge_answers
from onedial.panels.grading.closed_book import accuracy_by_level, grade_closed_book, non_answers_by_level
from onedial.panels.panel_scores import summarise_panel
from onedial.studies.bill import tell_costs
from onedial.studies.options.collecting import SAMPLE_JUDGED, CollectOptions

DIGITS = "%.6g"
N_SHOWN = 10
"""Texts that could not be read, and are shown."""


def save(collection: Collection, run: Run, options: CollectOptions, notes: Notes, *, may_lack: bool) -> None:
    """Put the parts together, grade the closed-book answers, write the files, and show how the respondents answer.

    Args:
        may_lack: whether questions may be missing, since the budget ended it.
    """
    rows = collection.rows(may_lack=may_lack)
    is_closed = rows["instrument"] == CLOSED_BOOK.name
    answers = rows[~is_closed].assign(answered_correctly=float("nan")).reset_index(drop=True)
    if is_closed.any():
        answers["answered_correctly"] = grade(rows[is_closed], answers, collection, run, options)
    panel = panel_table(collection, answers)
    write_csv(run.file("panel.csv"), panel, float_format=DIGITS)
    write_csv(run.file("respondents.csv"), respondents_table(collection, answers), float_format=DIGITS)
    run.record(**where_it_comes_from(collection, rows, str(options.questions)))
    n, n_unread = len(panel), int(panel["said_yes"].isna().sum())
    run.record(sentence=f"{n} answers of {panel['respondent'].nunique()} respondents, {n_unread} of them unread")
    if len(panel):
        print(summarise_panel(panel, collection.questions).round(3).to_string())
    masses = panel.groupby("respondent", sort=False)["mass"]
    for name, part in masses:
        if part.notna().any() and (fault := check_mass(part.tolist())):
            print(f"{name}: {fault}")
    for sentence, is_all in failures(rows).items():
        (leave_undone if is_all else notes.tell)(sentence)
    if n and answers["error"].fillna("").eq("").any() and panel["said_yes"].isna().all():
        leave_undone("no answer could be read as yes or no: what was asked, or how, has to change")
    for sentence, unread in often_unread(answers).items():
        notes.tell(sentence)
        for question, text in unread.head(N_SHOWN).to_numpy():
            print(f"  {question}: {' '.join(str(text).split())[:160]!r}")
    tell_costs(collection.store.costs(), run)
    for sentence in collection.changed_models():
        notes.tell(sentence)
    print(f"\npanel: {run.path / 'panel.csv'}")


def grade(
    closed_rows: pd.DataFrame,
    answers: pd.DataFrame,
    collection: Collection,
    run: Run,
    options: CollectOptions,
) -> np.ndarray:
    """Write closed_book.csv and print what it says; whether each row of `said` comes from who answered correctly."""
    questions = collection.questions
    came = (closed_rows[["error", "unread"]].fillna("") == "").all(axis=1)
    written = closed_rows[came].drop_duplicates(["label", "question_id"])
    closed = grade_closed_book(written.assign(model=written["label"], text=written["raw_text"]), questions)
    write_csv(run.file("closed_book.csv"), closed, float_format=DIGITS)
    unanswered, accuracy = non_answers_by_level(closed, questions), accuracy_by_level(closed, questions)
    print(f"share of closed-book answers that are no answer, by level:\n{unanswered.round(3).to_string()}")
    print(f"\nshare of the others that is correct, by level:\n{accuracy.round(3).to_string()}\n")
    correct = closed.set_index(["model", "question_id"])["correct"]
    if options.judge is not None:
        judged = judge(closed, collection, run, options).set_index(["model", "question_id"])
        correct = judged["judged_right"].reindex(correct.index) if options.judge == "all" else correct
    return correct.reindex(pd.MultiIndex.from_frame(answers[["label", "question_id"]])).to_numpy()


def judge(closed: pd.DataFrame, collection: Collection, run: Run, options: CollectOptions) -> pd.DataFrame:
    """Put closed-book answers before the file's judge, those that it has not judged; write and print what it says."""
    entry, questions = collection.judge, collection.questions
    assert entry is not None
    rows = answers_to_judge(closed, questions, SAMPLE_JUDGED if options.judge == "sample" else None)
    store = collection.store
    with progress_bar(len(rows), f"judge {entry.label}") as advance:
        judged = judge_answers(rows, questions, entry, store, advance)
    if store.budget is not None and store.budget.exhausted:
        leave_undone(
            f"the budget of {store.budget.limit:g} would have been passed: {store.budget.spent:.4g} is spent, and "
            f"{int(judged['judged_right'].isna().sum())} of {len(judged)} answers have no verdict; a larger --budget "
            "with --resume goes on"
        )
    table = pd.DataFrame([agreement(judged)], index=[entry.label])
    write_csv(run.file("judged.csv"), judged, float_format=DIGITS)
    write_csv(run.file("judge_agreement.csv"), table.rename_axis("judge").reset_index(), float_format=DIGITS)
    print(f"judge and grader on {len(rows)} closed-book answers:\n{table.round(3).to_string()}\n")
    return judged
