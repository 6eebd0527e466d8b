"""Can models say what they would answer, and better than others can say it? The Self-Execution study's scores.

    python experiments/score_self_prediction.py tests/reference/self_execution     # the study's own raw answers
    python experiments/score_self_prediction.py MY-FOLDER --out scores

FOLDER holds one table or more (.csv or .csv.gz): association (model, word, option, predicted, listed), restriction
(model, prompt_id, predicted, perceived, and behaved where it is known), difficulty (model, group_id, question_id,
correct, tokens, predicted_rank, and measured_rank where it is known), and, if wanted, ability (model, ability) and
families (model, family). Prints and writes, into the run's folder, TEST.csv with the published metrics, what the
majority class scores, and intervals; cross_TEST.csv and matrix_TEST.csv, who predicts whom; means.csv; a figure. Needs
no model and no GPU.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from onedial.core import (
    InputError,
    Notes,
    add_run_options,
    noted,
    parse_run_options,
    positive,
    program_parser,
    run_command,
)
from onedial.studies import Start

if TYPE_CHECKING:
    import pandas as pd

PROGRAM = "score_self_prediction"
TESTS = ("association", "restriction", "difficulty")


def score_self_prediction(options: argparse.Namespace, notes: Notes) -> None:
    found = {name: table for name in (*TESTS, "ability") if (table := read_answers(options.folder, name)) is not None}
    tests = [name for name in TESTS if name in found]
    if not tests:
        raise InputError(f"{options.folder} holds none of {', '.join(TESTS)} as .csv or .csv.gz; check the folder")
    if (kin := read_answers(options.folder, "families")) is not None and "family" not in kin:
        raise InputError(f"{options.folder}/families has no column family; give model and family")
    start = Start(PROGRAM, options, "self-prediction")
    from onedial.selfreport import association_scores, cross_prediction, difficulty_scores, restriction_scores
    from onedial.selfreport.show import self_prediction_figure
    from onedial.show import save_results

    n, seed = options.replicates, options.seed
    scores = {}
    for name in tests:
        if name == "restriction":
            scores[name] = restriction_scores(found[name], n, seed)
        else:
            score = association_scores if name == "association" else difficulty_scores
            scores[name] = score(found[name], n, seed)
    matrices = {name: who_predicts_whom(name, found[name]) for name in tests}
    families = None if kin is None else dict(zip(kin["model"], kin["family"], strict=True))
    crossed = {name: cross_prediction(each, n, seed, families) for name, each in matrices.items() if len(each) > 2}
    tables = scores | {f"matrix_{name}": each for name, each in matrices.items()}
    tables |= {f"cross_{name}": each for name, each in crossed.items()}
    if len(tests) == len(TESTS):
        tables["means"] = mean_of_three(scores, found.get("ability"))
    figures = {"who_predicts_whom": self_prediction_figure.own_and_others(crossed)} if crossed else {}
    with start.begin(notes) as run:
        save_results(run, tables, figures)
    for name, table in scores.items():
        print(f"\n{name}\n{table.round(3).to_string()}")
    for name, table in crossed.items():
        row = table.loc["mean"]
        whose = "of oneself or one's family" if families is None else "of oneself over one's family"
        print(
            f"\n{name}: predicted by itself {row['own']:.3f}, by the others {row['others']:.3f}; advantage {whose} "
            f"{row['advantage']:+.3f}, p = {row['p']:.2g}"
        )
    if crossed and families is None:
        print("\na families.csv (model, family) in the folder tells knowledge of oneself from that of one's family")
    if "means" in tables and "ability" in tables["means"]:
        means = tables["means"].dropna()
        print("\ncorrelation with ability over " + f"{len(means)} models: ")
        print(means.drop(columns="ability").corrwith(means["ability"]).round(3).to_string())
    print(f"\nwritten to {run.path}")


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


def who_predicts_whom(test: str, answers: "pd.DataFrame") -> "pd.DataFrame":
    """Predictor x target: balanced accuracy of one model's predictions against another's outcomes on the same items."""
    import pandas as pd

    from onedial.selfreport import measured_ranks, pair_scores, prediction_matrix

    names = list(dict.fromkeys(answers["model"]))
    if test == "difficulty":
        ranked = (
            answers if "measured_rank" in answers else answers.assign(measured_rank=measured_ranks(answers, "half"))
        )
        ranked = ranked.sort_values(["group_id", "question_id"], kind="stable")
        groups = list(dict.fromkeys(ranked["group_id"]))
        by = {
            column: {key: part.to_numpy(float) for key, part in ranked.groupby(["model", "group_id"])[column]}
            for column in ("predicted_rank", "measured_rank")
        }

        def ordered(one: str, other: str) -> float:
            scores = [
                pair_scores(by["predicted_rank"][one, group], by["measured_rank"][other, group])
                for group in groups
                if (one, group) in by["predicted_rank"] and (other, group) in by["measured_rank"]
            ]
            known = [score for score in scores if score == score]
            return sum(known) / len(known) if known else float("nan")

        return pd.DataFrame({other: {one: ordered(one, other) for one in names} for other in names})
    if test == "restriction":
        index, said, did = ["prompt_id"], "predicted", "behaved" if "behaved" in answers else "perceived"
        coded = answers.assign(**{column: answers[column].map({"A": 1.0, "B": 0.0}) for column in (said, did)})
    else:
        index, said, did, coded = ["word", "option"], "predicted", "listed", answers
    coded = coded.drop_duplicates(["model", *index])
    predicted, outcome = (coded.pivot(index=index, columns="model", values=each)[names] for each in (said, did))
    return prediction_matrix(predicted, outcome)


def mean_of_three(scores: "dict[str, pd.DataFrame]", ability: "pd.DataFrame | None") -> "pd.DataFrame":
    """Mean accuracy over the three tests: invalid rankings left out, counted as wrong, and restriction where read."""
    import pandas as pd

    association, restriction = scores["association"]["accuracy"], scores["restriction"]
    difficulty = scores["difficulty"]
    table = pd.DataFrame(
        {
            "invalid_left_out": (association + restriction["accuracy"] + difficulty["adjusted_accuracy"]) / 3,
            "invalid_wrong": (association + restriction["accuracy"] + difficulty["accuracy"]) / 3,
            "restriction_where_read": (association + restriction["accuracy_where_read"] + difficulty["accuracy"]) / 3,
        }
    ).dropna()
    return table if ability is None else table.join(ability.set_index("model")["ability"])


def parse_options(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = program_parser(__doc__)
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="of the raw answers")
    parser.add_argument("--replicates", type=positive, default=4999, help="of intervals and tests (%(default)s)")
    add_run_options(parser)
    return parse_run_options(parser, arguments)


main = noted(parse_options, score_self_prediction)

if __name__ == "__main__":
    sys.exit(run_command(main))
