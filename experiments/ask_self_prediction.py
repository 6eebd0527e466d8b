"""Ask models what they would answer, and then let them answer: the Self-Execution study's tests asked anew.

    python experiments/ask_self_prediction.py --out asked                # embedded model; a few minutes on a CPU
    python experiments/ask_self_prediction.py --model MODEL,MODEL,MODEL --n-questions 120 --out asked
    python experiments/ask_self_prediction.py --model A1,A2,A3,B1,B2,B3 --families families.csv
    python experiments/ask_self_prediction.py --model MODEL,OTHER --n-questions 120 --tuned     # needs peft

Writes association.csv, restriction.csv and difficulty.csv, every answer with its text into parts/, and what they say:
scores_TEST.csv with the published metrics, cross_TEST.csv and matrix_TEST.csv (who predicts whom), means.csv, a figure
and report.html with answers to look through. --tuned teaches every model half of every model's lists and sets what it
predicts of the others beside what that model itself does (tuned.csv). score_self_prediction.py scores such a folder
again. Words are our own list of 120 with four options each; requests are those of `--panel frontier`; questions the
embedded ones. An interrupted run continues with --resume and the same options.
"""

import sys
from collections.abc import Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from onedial.core import InputError, Notes, program, run_command
from onedial.studies import Start, bill_of, tell_costs
from onedial.studies.options import SelfPredictionOptions

if TYPE_CHECKING:
    import pandas as pd

PROGRAM = "ask_self_prediction"
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


def ask_self_prediction(options: SelfPredictionOptions, notes: Notes) -> None:
    models = list(options.model)
    start = Start(PROGRAM, options, "self-prediction")
    from onedial.asking import sample_questions
    from onedial.panels import load_questions
    from onedial.selfreport import ask_association, ask_difficulty, ask_restriction, association_words
    from onedial.show import progress_bar, save_results
    from onedial.studies.battery import (
        check_tuned,
        kept,
        models_elsewhere,
        respondents_of,
        score_self_prediction,
        score_tuned,
        tuned_answers,
        write_self_prediction_page,
    )

    if options.tuned:
        check_tuned(models)
    bill = bill_of(options, models, models_elsewhere(models))
    n, seed = options.n_questions, options.seed
    words = list(association_words())[:n]
    requests, questions = load_questions("frontier"), load_questions("embedded")
    asked = {
        "association": (ask_association, words),
        "restriction": (ask_restriction, sample_questions(requests, min(n, len(requests)), seed)),
        "difficulty": (partial(ask_difficulty, seed=seed), sample_questions(questions, min(n, len(questions)), seed)),
    }
    start.set_threads()
    kin = families_of(options.families, models)
    subjects = respondents_of(models, bill)
    first = next(subjects)  # at once, so that a wrong name leaves no folder behind
    with start.begin(notes) as run:
        bill.opens(run.file("answers.jsonl"))
        for name, make in chain([first], subjects):
            with run.stage(name):
                for test, (ask, items) in asked.items():
                    parts = run.parts(f"parts/{test}", COLUMNS[test], KEYS[test])
                    if name not in parts.done("model"):
                        with bill.occasion(test), progress_bar(None, f"{name}, {test}: answers") as advance:
                            own = kept(make, run, test, name, advance)
                            rows = ask(own(0), items, again=own(1))  # type: ignore[operator]
                            bill.keep(parts, rows.assign(model=name), name)
        answers = {test: run.parts(f"parts/{test}", COLUMNS[test], KEYS[test]).read() for test in asked}
        for test, table in answers.items():
            run.write_table(f"{test}.csv", table.drop(columns="text"))
            print(f"{test}: {len(table)} rows, {n_unread(table)} of which something could not be read")
        if kin is not None:
            run.write_table("families.csv", kin)
        scored = score_self_prediction(
            answers if kin is None else answers | {"families": kin}, options.replicates, seed
        )
        tables = {f"scores_{test}": table for test, table in scored.scores.items()} | scored.tables
        save_results(run, tables, scored.figures)  # tuning takes longest, and these do not wait for it
        if options.tuned:
            families = None if kin is None else dict(zip(kin["model"], kin["family"], strict=True))
            predicted, left_out = tuned_answers(run, models, answers["association"], seed)
            tuned, sentences = score_tuned(predicted, left_out, families, options.replicates, seed)
            scored.sentences.extend(sentences)
            if tuned is not None:
                tables["tuned"] = tuned
                save_results(run, tables, scored.figures)
        report = write_self_prediction_page(run, scored, tables, answers)
        tell_costs(bill.costs(), run)
    print("\n" + "\n".join(scored.sentences) + f"\nreport: {report}")


def n_unread(table: "pd.DataFrame") -> int:
    """Rows of which something could not be read."""
    read = table[[name for name in ASKED if name in table]].replace("other", None)
    return int(read.isna().any(axis=1).sum())


def families_of(file: Path | None, models: Sequence[str]) -> "pd.DataFrame | None":
    """The table of families, checked before anything is asked: each model once, and two families or more."""
    import pandas as pd

    if file is None:
        return None
    try:
        table = pd.read_csv(file, dtype=str)
    except (OSError, ValueError) as error:
        raise InputError(f"--families {file} cannot be read ({error}); give a CSV with model and family") from error
    if missing := {"model", "family"} - set(table):
        raise InputError(f"--families {file} has no column {', '.join(sorted(missing))}; give model and family")
    if unknown := [name for name in models if name not in set(table["model"])]:
        raise InputError(
            f"--families {file} names no family of {unknown[0]}; give one for each of --model, as named there"
        )
    own = table[table["model"].isin(models)]
    if own["model"].duplicated().any() or own["family"].isna().any() or own["family"].nunique() < min(len(models), 2):
        raise InputError(f"--families {file}: give each model of --model one family, and two families or more")
    return own


main = program(SelfPredictionOptions, ask_self_prediction, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))
