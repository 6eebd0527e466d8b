"""Put the tests of self-prediction to models and score them; or score a folder of raw answers."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from onedial.asking.questions import sample_questions
from onedial.asking.store import Store
from onedial.asking.tables import read_table, text_of, typed
from onedial.core.errors import InputError
from onedial.core.progress import progress_bar
from onedial.core.run.notes import Notes
from onedial.core.run.run import Run
from onedial.panels.questions.question_files import load_questions
from onedial.selfreport.ask.self_prediction import ask_association, ask_difficulty, ask_restriction, association_words
from onedial.selfreport.frame import Make
from onedial.selfreport.show.self_report_page import AnswerLog, end_self_report
from onedial.show.results import finish as write_results
from onedial.show.results import results_of
from onedial.studies.battery.everybody import ask_everybody
from onedial.studies.battery.self_prediction import TESTS, score_self_prediction
from onedial.studies.battery.tuned import check_tuned, score_tuned, tuned_answers
from onedial.studies.options.asked import ScoreOptions, SelfPredictionOptions
from onedial.studies.start import Start

COLUMNS = {
    "association": ["model", "word", "option", "predicted", "listed", "listed_again", "text"],
    "restriction": ["model", "prompt_id", "predicted", "perceived", "behaved", "behaved_again", "margin", "text"],
    "difficulty": [
        *("model", "group_id", "question_id", "correct", "tokens", "correct_again", "tokens_again", "predicted_rank"),
        "text",
    ],
}
ASKED = ("predicted", "listed", "perceived", "behaved", "predicted_rank")
KEYS = {
    "association": ["model", "word", "option"],
    "restriction": ["model", "prompt_id"],
    "difficulty": ["model", "group_id", "question_id"],
}
QUESTION = "Can a model say what it would answer?"
BESIDE = ("benchmarks", "families")
"""What may stand beside the answers in a folder of them."""


def ask_self_prediction(program: str, options: SelfPredictionOptions, notes: Notes) -> None:
    """Put the three tests to everybody and score them; with `--tuned`, tune everybody to everybody."""
    if options.tuned:
        check_tuned(options.model)
    families, tests = families_of(options.families, options.model), tests_of(options)
    by_test: dict[str, list[pd.DataFrame]] = {test: [] for test in tests}

    def ask(run: Run, store: Store, name: str, make: Make) -> None:
        for test, put in tests.items():
            with progress_bar(None, f"{name}, {test}: answers") as advance, store.occasion(test, advance):
                by_test[test].append(put(make(0), again=make(1)).assign(model=name)[COLUMNS[test]])
                store.tell_failed(name)

    def scored(run: Run, store: Store) -> None:
        answers = {
            test: pd.concat(tables, ignore_index=True).sort_values(KEYS[test], kind="stable", ignore_index=True)
            for test, tables in by_test.items()
        }
        finish(run, store, answers, families, options)

    ask_everybody(program, "self-prediction", options, notes, [ask], scored)


def tests_of(options: SelfPredictionOptions) -> dict[str, Callable[..., pd.DataFrame]]:
    """Test -> what asks a respondent, and one that replies again."""
    n, seed = options.n_questions, options.seed
    requests, questions = (
        sample_questions(pool, min(n, len(pool)), seed)
        for pool in (load_questions("frontier"), load_questions("embedded"))
    )
    return {
        "association": partial(ask_association, words=list(association_words())[:n]),
        "restriction": partial(ask_restriction, requests=requests),
        "difficulty": partial(ask_difficulty, questions=questions, seed=seed),
    }


def finish(
    run: Run,
    store: Store,
    answers: dict[str, pd.DataFrame],
    families: pd.DataFrame | None,
    options: SelfPredictionOptions,
) -> None:
    """Scores of what was asked, and of tuned models."""
    for test, table in answers.items():
        run.write_table(f"{test}.csv", table.drop(columns="text"))
        print(f"{test}: {len(table)} rows, {n_unread(table)} of which something could not be read")
    beside = {} if families is None else {"families": families}
    if families is not None:
        run.write_table("families.csv", families)
    scored = score_self_prediction(answers | beside, options.replicates, options.seed)
    tables = {f"scores_{test}": table for test, table in scored.scores.items()} | scored.tables
    if options.tuned:
        write_results(run, results_of(tables), None)  # tuning takes longest, and these do not wait for it
        predicted, left_out = tuned_answers(run, store, options.model, answers["association"], options.seed)
        kin = None if families is None else dict(zip(families["model"], families["family"], strict=True))
        tuned, sentences = score_tuned(predicted, left_out, kin, options.replicates, options.seed)
        scored.sentences.extend(sentences)
        tables |= {} if tuned is None else {"tuned": tuned}
    logs = {name: AnswerLog(answers[name], f"{name}.csv") for name in scored.scores}
    end_self_report(run, QUESTION, scored.sentences, tables, logs, scored.figures)


def n_unread(table: pd.DataFrame) -> int:
    """Rows of which something could not be read."""
    read = table[[name for name in ASKED if name in table]].replace("other", None)
    return int(read.isna().any(axis=1).sum())


def families_of(file: Path | None, models: Sequence[str]) -> pd.DataFrame | None:
    """The table of families, checked before anything is asked: each model once, and two families or more."""
    if file is None:
        return None
    given = read_table(file)
    given.require("model", "family")
    table = pd.DataFrame({name: given.parse(name, text_of, "write it as text") for name in ("model", "family")})
    if unknown := [name for name in models if name not in set(table["model"])]:
        raise InputError(
            f"--families {file} names no family of {unknown[0]}; give one for each of --model, as named there"
        )
    known = table[table["model"].isin(models)]
    if (
        known["model"].duplicated().any()
        or known["family"].isna().any()
        or known["family"].nunique() < min(len(models), 2)
    ):
        raise InputError(f"--families {file}: give each model of --model one family, and two families or more")
    return known


# ---- answers that are there ------------------------------------------------------------------------------------------


def score_folder(program: str, options: ScoreOptions, notes: Notes) -> None:
    """Scores of a folder of raw answers."""
    tables: dict[str, Any] = {name: read_answers(options.folder, name) for name in (*TESTS, *BESIDE)}
    present = {name: table for name, table in tables.items() if table is not None}
    if not set(TESTS) & set(present):
        raise InputError(f"{options.folder} holds none of {', '.join(TESTS)} as .csv or .csv.gz; check the folder")
    if "families" in present and "family" not in present["families"]:
        raise InputError(f"{options.folder}/families has no column family; give model and family")
    start = Start(program, options, "self-prediction")
    scored = score_self_prediction(present, options.replicates, options.seed)
    if "families" not in present and scored.figures:
        notes.tell("a families.csv (model, family) in the folder tells knowledge of oneself from that of one's family")
    logs = {name: AnswerLog(present[name], f"{name}.csv") for name in scored.scores}
    with start.begin(notes) as run:
        end_self_report(run, QUESTION, scored.sentences, scored.scores | scored.tables, logs, scored.figures)


def read_answers(folder: Path, name: str) -> pd.DataFrame | None:
    """The table of that name, or None where there is none; text columns keep words such as "null"."""
    file = next((file for ending in (".csv", ".csv.gz") if (file := folder / f"{name}{ending}").is_file()), None)
    if file is None:
        return None
    table = read_table(file)
    table.require("model")
    return typed(table)
