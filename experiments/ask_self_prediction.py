"""Ask models what they would answer, and then let them answer: the Self-Execution study's tests asked anew.

    python experiments/ask_self_prediction.py --out asked                # embedded model; a few minutes on a CPU
    python experiments/ask_self_prediction.py --model MODEL,MODEL,MODEL --n-questions 120 --out asked
    python experiments/score_self_prediction.py asked                    # published metrics, who predicts whom

Writes association.csv, restriction.csv and difficulty.csv, as score_self_prediction.py reads them, and every answer
into parts/. Words are our own list of 120 with four options each; requests are those of `--panel frontier`;
questions the embedded ones. An interrupted run continues with --resume and the same options.
"""

import argparse
import sys
from functools import partial
from itertools import chain

from onedial.core import LEDGER, Notes, add_run_options, noted, parse_run_options, positive, program_parser, run_command
from onedial.studies import BUDGET_MAY_CHANGE, Start, add_budget_options, bill_of, model_names, tell_costs

PROGRAM = "ask_self_prediction"
MODEL = "smollm2-135m-instruct"
COLUMNS = {
    "association": ["model", "word", "option", "predicted", "listed", "text"],
    "restriction": ["model", "prompt_id", "predicted", "perceived", "behaved", "margin", "text"],
    "difficulty": ["model", "group_id", "question_id", "correct", "tokens", "predicted_rank", "text"],
}
KEYS = {
    "association": ["model", "word", "option"],
    "restriction": ["model", "prompt_id"],
    "difficulty": ["model", "group_id", "question_id"],
}


def ask_self_prediction(options: argparse.Namespace, notes: Notes) -> None:
    models = model_names(options.model)
    start = Start(PROGRAM, options, "self-prediction", BUDGET_MAY_CHANGE)
    from onedial.asking import sample_questions
    from onedial.panels import load_questions
    from onedial.selfreport import ask_association, ask_difficulty, ask_restriction, association_words
    from onedial.show import progress_bar
    from onedial.studies.battery import models_elsewhere, respondents_of

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
    subjects = respondents_of(models, bill)
    first = next(subjects)  # at once, so that a wrong name leaves no folder behind
    with start.begin(notes) as run:
        bill.opens(run.file(LEDGER))
        for name, make in chain([first], subjects):
            with run.stage(name), progress_bar(len(asked), name) as advance:
                for test, (ask, items) in asked.items():
                    parts = run.parts(f"parts/{test}", COLUMNS[test], KEYS[test])
                    if name not in parts.done("model"):
                        with bill.occasion(test):
                            rows = ask(make(0), items)  # type: ignore[operator]
                        parts.append(rows.assign(model=name))
                    advance(1)
        for test in asked:
            table = run.parts(f"parts/{test}", COLUMNS[test], KEYS[test]).read()
            run.write_table(f"{test}.csv", table.drop(columns="text"))
            unread = (
                table.drop(columns=["text", "tokens", "margin"], errors="ignore")
                .replace("other", None)
                .isna()
                .any(axis=1)
            )
            print(f"{test}: {len(table)} rows, {int(unread.sum())} of which something could not be read")
        tell_costs(bill.costs(), run)
    print(f"\nwritten to {run.path}; now: python experiments/score_self_prediction.py {run.path}")


def parse_options(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = program_parser(__doc__)
    parser.add_argument("--model", default=MODEL, help="names, folders, PROVIDER:MODEL or MODEL@ADDRESS (%(default)s)")
    parser.add_argument("--n-questions", type=positive, default=40, help="words, requests, questions (%(default)s)")
    add_budget_options(parser)
    add_run_options(parser, seed="of the draw of requests and questions")
    return parse_run_options(parser, arguments)


main = noted(parse_options, ask_self_prediction)

if __name__ == "__main__":
    sys.exit(run_command(main, resumes=True))
