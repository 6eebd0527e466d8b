"""What a collected panel's respondents said and knew, in the tables of docs/data.md.

    python scripts/describe_panel.py onedial/panels/data                      # the embedded panel
    python scripts/describe_panel.py runs/panel --questions my_questions.jsonl --out described

FOLDER is one that panel.py collect wrote. Writes, with --out: respondents.csv (yes rate, unread, mass, what the margin
knows), levels.csv (share right of the closed-book answers, and of non-answers, by intended level), outcomes.csv,
kinship.csv and eigenvalues.csv (correlations within and between base models).
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from onedial.asking.questions import Question
from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.files import atomic_path
from onedial.core.options import Options, option, parse_options
from onedial.panels.grading.closed_book import NO_ANSWER, accuracy_by_level, non_answers_by_level, outcome_counts
from onedial.panels.panel_files import load_panel
from onedial.panels.panel_scores import summarise_panel
from onedial.panels.panels import ResponseMatrix
from onedial.panels.questions.question_files import load_questions
from onedial.scale.correlations.latent_correlations import latent_correlations

FILES = ("panel.csv", "closed_book.csv")
LEAST = 0.05
"""Respondents with a yes rate below this, or above 1 minus this, are left out: their correlations are hardly known."""


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    folder: Path = option(..., f"holds {', '.join(FILES)}", positional=True)
    questions: str = option("embedded", "that were asked: a name or a file")
    out: Path | None = option(None, "folder for the tables as CSV (default: printed only)", metavar="DIR")


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse_options(ScriptOptions, __doc__, arguments)
    tables = describe(options.folder, load_questions(options.questions))
    for name, table in tables.items():
        print(f"{name}\n{table.round(3).to_string()}\n")
        if options.out is not None:
            options.out.mkdir(parents=True, exist_ok=True)
            with atomic_path(options.out / f"{name}.csv") as temporary:
                table.to_csv(temporary, float_format="%.6g", lineterminator="\n")


def describe(folder: Path, questions: list[Question]) -> Mapping[str, pd.DataFrame]:
    """Name -> table, as the module says.

    Args:
        questions: all that were asked; give the intended levels.

    Raises:
        InputError: a file is missing; or no two respondents say yes and no often enough to be compared.
    """
    for name in FILES:
        if not (folder / name).is_file():
            raise InputError(f"there is no file {folder / name}; give a folder that panel.py collect wrote")
    panel, closed = load_panel(folder / FILES[0]), pd.read_csv(folder / FILES[1])
    assert panel.responses is not None  # a panel.csv of panel.py collect is long
    within_and_between, eigenvalues = kinship(panel)
    return {
        "respondents": summarise_panel(panel.responses, questions),
        "levels": _beside(accuracy_by_level(closed, questions), non_answers_by_level(closed, questions)),
        "outcomes": outcome_counts(closed).rename(columns={NO_ANSWER: "no_answer"}),
        "kinship": within_and_between,
        "eigenvalues": eigenvalues,
    }


def kinship(panel: ResponseMatrix) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tetrachoric correlations of pairs within and between base models (`pairs, mean, lowest, highest`), and the
    eigenvalues of all as shares of their number, of respondents whose yes rate is not too extreme to be compared."""
    rates = panel.answers.mean()
    kept = rates.index[rates.between(LEAST, 1 - LEAST)]
    models = panel.respondents.loc[kept, "model"].to_numpy()
    correlation = latent_correlations(panel.answers[kept]).correlation.to_numpy()
    first, second = np.triu_indices(len(kept), 1)
    same, values = models[first] == models[second], pd.Series(correlation[first, second])
    rows = {
        name: {"pairs": known.count(), "mean": known.mean(), "lowest": known.min(), "highest": known.max()}
        for name, known in (("within", values[same]), ("between", values[~same]))
    }
    spectrum = np.linalg.eigvalsh(correlation)[::-1] if np.isfinite(correlation).all() else np.array([])
    shares = pd.DataFrame({"share": spectrum / len(kept)}).rename_axis("place")
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("pairs_of"), shares


def _beside(right: pd.DataFrame, silent: pd.DataFrame) -> pd.DataFrame:
    """right_1, silent_1, right_2, ...: the two shares of each level side by side."""
    return pd.concat([right.add_prefix("right_"), silent.add_prefix("silent_")], axis=1)


if __name__ == "__main__":
    sys.exit(run_command(main))
