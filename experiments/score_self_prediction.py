"""Can models say what they would answer, and better than others can say it? The Self-Execution study's scores.

    python experiments/score_self_prediction.py tests/reference/self_execution     # the study's own raw answers
    python experiments/score_self_prediction.py MY-FOLDER --out scores

FOLDER holds one table or more (.csv or .csv.gz): association (model, word, option, predicted, listed), restriction
(model, prompt_id, predicted, perceived, and behaved where it is known), difficulty (model, group_id, question_id,
correct, tokens, predicted_rank, and measured_rank and ranking_tokens where they are known), and, if wanted, benchmarks
(model, benchmark, score; they give rasch.csv, abilities) and families (model, family). Prints and writes, into the
run's folder, TEST.csv with the published metrics, what the majority class scores, and intervals; beside_study.csv, what
the study published; cross_TEST.csv and matrix_TEST.csv, who predicts whom; means.csv and correlations.csv of the three
tests; figures; and report.html, with answers to look through. Needs no model and no GPU.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from onedial.core import InputError, Notes, RunOptions, option, program, run_command
from onedial.studies import Start

if TYPE_CHECKING:
    import pandas as pd

PROGRAM = "score_self_prediction"
TESTS = ("association", "restriction", "difficulty")
BESIDE = ("benchmarks", "families")


@dataclass(frozen=True, kw_only=True)
class ScoreOptions(RunOptions, group="scores"):
    """What is scored."""

    folder: Path = option(..., "of the raw answers", positional=True)
    replicates: int = option(4999, "of intervals and tests", at_least=1)


def score_self_prediction(options: ScoreOptions, notes: Notes) -> None:
    found = {name: table for name in (*TESTS, *BESIDE) if (table := read_answers(options.folder, name)) is not None}
    if not set(TESTS) & set(found):
        raise InputError(f"{options.folder} holds none of {', '.join(TESTS)} as .csv or .csv.gz; check the folder")
    if "families" in found and "family" not in found["families"]:
        raise InputError(f"{options.folder}/families has no column family; give model and family")
    start = Start(PROGRAM, options, "self-prediction")
    from onedial.show import save_results
    from onedial.studies.battery import score_self_prediction, write_self_prediction_page

    scored = score_self_prediction(found, options.replicates, options.seed)
    tables = scored.scores | scored.tables
    with start.begin(notes) as run:
        save_results(run, tables, scored.figures)
        report = write_self_prediction_page(run, scored, tables, found)
    for name, table in scored.scores.items():
        print(f"\n{name}\n{table.round(3).to_string()}")
    print("\n" + "\n".join(scored.sentences))
    if "families" not in found and scored.figures:
        print("\na families.csv (model, family) in the folder tells knowledge of oneself from that of one's family")
    print(f"\nreport: {report}")


def read_answers(folder: Path, name: str) -> "pd.DataFrame | None":
    """The table of that name, or None where there is none; text columns keep words such as "null"."""
    import pandas as pd

    for ending in (".csv", ".csv.gz"):
        file = folder / f"{name}{ending}"
        if file.is_file():
            try:
                table = pd.read_csv(file, keep_default_na=False, na_values=[""])
            except (ValueError, OSError, EOFError) as error:
                raise InputError(
                    f"{file} cannot be read ({error}); give a table with a line of column names"
                ) from error
            if "model" not in table:
                raise InputError(f"{file} has no column model; it has {', '.join(map(str, table.columns))}")
            return table
    return None


main = program(ScoreOptions, score_self_prediction, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main))
