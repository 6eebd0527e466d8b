"""Is it one shared scale? From a panel of yes/no answers to one page that says so, or what speaks against it.

    python experiments/fit_factor.py frontier-confidence        # 33 frontier models on 1,500 questions, a minute
    python experiments/fit_factor.py PANEL                      # a CSV: question_id and a column per target, or long
    python experiments/fit_factor.py PANEL --questions FILE     # with topic and level: is the scale the same in each?
    python experiments/fit_factor.py PANEL --out factor --zero-cells none --thresholds global
    python experiments/fit_factor.py PANEL --replicates 0       # no nulls and no intervals: seconds
    python experiments/fit_factor.py PANEL --categories 70,80,90,95,99      # numbers, in six ordered categories

Writes report.html, factor.json (onedial.scale.FactorModel), summary.json (every number on it), figures/, and as tables
respondents, questions, eigenvalues, correlations with intervals, missingness, respondents_fit, questions_fit, scale,
accounts (what else would make the parabola or a second factor), residuals, sensitivity; with base models in the table
of respondents clusters; with models or families of several respondents specific_* (which share is everybody's, theirs,
one's own); with known groups respondents_by_* and questions_by_*; with several factors factors and factor_names.
What the respondents' confidence is worth, where the panel says what they then got right, is told by
experiments/score_confidence.py. Needs no model and no GPU.
"""

import argparse
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onedial.core import (
    InputError,
    Notes,
    Run,
    add_run_options,
    noted,
    parse_run_options,
    positive,
    program_parser,
    run_command,
)
from onedial.studies import Start, add_panel_options

if TYPE_CHECKING:
    import pandas as pd

    from onedial.panels import ResponseMatrix
    from onedial.scale import PanelAnalysis
    from onedial.show import Drawing


PROGRAM = "fit_factor"


def fit_factor(options: argparse.Namespace, notes: Notes) -> None:
    from onedial.panels import load_panel
    from onedial.scale import write_factor_report
    from onedial.show import save_results
    from onedial.stats import fits_remembered

    panel = load_panel(options.panel, options.respondents, numbers=options.categories is not None)
    tables_of = factor_tables if options.categories is None else graded_results
    with Start(PROGRAM, options, f"factor-{Path(options.panel).stem}").begin(notes) as run:
        with run.withdrawn_if_refused(), run.stage("fit"), fits_remembered():
            tables, figures = tables_of(panel, options, run)
        save_results(run, tables, figures)
        report = write_factor_report(run)
    print(f"report: {report}; what confidence is worth: python experiments/score_confidence.py {options.panel}")


def parse_options(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = program_parser(__doc__)
    add_panel_options(parser)
    parser.add_argument(
        "--questions", help="file with id, question, topic, level of the questions (default: none; 'embedded')"
    )
    parser.add_argument(
        "--categories",
        metavar="POINTS",
        type=rising_points,
        help="read numbers as ordered categories that begin at these points, as 70,80,90,95,99 (default: yes and no)",
    )
    parser.add_argument("--n-factors", type=positive, default=1)
    parser.add_argument("--extraction", choices=["minres", "principal"], default="minres")
    parser.add_argument("--thresholds", choices=["pairwise", "global"], default="pairwise")
    parser.add_argument("--zero-cells", choices=["half", "none", "exclude"], default="half")
    parser.add_argument("--replicates", type=int, default=999, help="of each null and bootstrap; 0 = none")
    parser.add_argument("--sensitivity-replicates", type=int, default=199, help="of each row's nulls; 0 = no table")
    add_run_options(parser)
    options = parse_run_options(parser, arguments)
    for name in ("replicates", "sensitivity_replicates"):
        if getattr(options, name) < 0 or (name == "replicates" and options.replicates == 1):
            raise InputError(f"--{name.replace('_', '-')} {getattr(options, name)}; give 0, or at least 2")
    if options.categories is not None:
        for name in ("questions", "n_factors", "extraction"):
            if getattr(options, name) != parser.get_default(name):
                raise InputError(f"--{name.replace('_', '-')} is for yes and no; leave it or --categories out")
    return options


def rising_points(given: str) -> list[float]:
    """Numbers between commas, each above the one before it."""
    points = [float(point) for point in given.split(",")]
    if not all(math.isfinite(point) for point in points) or sorted(set(points)) != points:
        raise argparse.ArgumentTypeError(f"{given!r} does not rise; give points such as 70,80,90,95,99")
    return points


def graded_results(
    panel: "ResponseMatrix", options: argparse.Namespace, run: Run
) -> tuple[dict[str, Any], dict[str, "Drawing"]]:
    """What can be asked of a panel in ordered categories; print the page, return tables and figures."""
    from onedial.panels import stated_confidence
    from onedial.scale import analyse_graded_panel, graded_tables
    from onedial.scale.misfit import fit_figures
    from onedial.scale.study import factor_figures as draw

    numbers, known = stated_confidence(panel), panel.respondents
    if numbers is None:
        raise InputError(f"{options.panel} holds no number; give a panel of numbers, or leave --categories out")
    rules = {"thresholds": options.thresholds, "zero_cells": options.zero_cells}
    found = analyse_graded_panel(
        numbers.values, options.categories, known, n_replicates=options.replicates, seed=options.seed, **rules
    )
    tables = graded_tables(found)
    tables["summary"]["rules"] = {**rules, "categories": options.categories, "seed": options.seed}
    print("\n".join(tables["summary"]["page"]))
    families = known["family"] if (known["family"] != "").any() else None
    difficulty = found.model.difficulty
    figures = {
        "scree": draw.scree(found.eigenvalues, *(found.nulls or ())),
        "wright_map": fit_figures.wright_map(difficulty, found.information, found.places, families),
    }
    return tables, figures


def factor_tables(
    panel: "ResponseMatrix", options: argparse.Namespace, run: Run
) -> tuple[dict[str, Any], dict[str, "Drawing"]]:
    """Ask everything of the panel; print the page, save factor.json, return the other tables and the figures."""
    from onedial.scale import analyse_panel, analysis_summary, analysis_tables

    rules = {"thresholds": options.thresholds, "zero_cells": options.zero_cells}
    analysis = analyse_panel(
        panel,
        panel.respondents,
        known_questions(panel, options),
        options.n_factors,
        options.extraction,
        n_replicates=options.replicates,
        n_sensitivity=options.sensitivity_replicates,
        seed=options.seed,
        **rules,
    )
    analysis.model.save(run.file("factor.json"))
    summary = {"rules": {**rules, "extraction": options.extraction, "seed": options.seed}, **analysis_summary(analysis)}
    print("\n".join(summary["page"]))
    known = panel.respondents
    families = known["family"] if "family" in known and (known["family"] != "").any() else None
    return {**analysis_tables(analysis), "summary": summary}, factor_figures(analysis, families)


def known_questions(panel: "ResponseMatrix", options: argparse.Namespace) -> "pd.DataFrame | None":
    """What is known of the questions: topic, level, whether they can be known at all, and the length of their text."""
    import pandas as pd

    from onedial.asking import questions_frame
    from onedial.panels import load_questions

    source = options.questions or ("embedded" if options.panel == "embedded" else None)
    if source is None and panel.about_questions is not None and "topic" in panel.about_questions:
        return panel.about_questions[["topic"]]
    if source is None:
        texts = panel.question_texts
        return None if texts is None or texts.isna().any() else pd.DataFrame({"length": texts.str.len()})
    table = questions_frame(load_questions(source)).set_index("id")
    known = table[["topic", "level", "unknowable"]].assign(length=table["question"].str.len())
    if not panel.answers.index.isin(known.index).all():
        missing = panel.answers.index[~panel.answers.index.isin(known.index)]
        raise InputError(
            f"{source} says nothing of {len(missing)} of the panel's questions, such as {missing[0]}; give questions "
            "with the panel's ids"
        )
    return known.dropna(axis=1, how="all")


def factor_figures(analysis: "PanelAnalysis", families: "pd.Series | None" = None) -> dict[str, "Drawing"]:
    """Every figure of the panel."""
    from onedial.scale.misfit import fit_figures
    from onedial.scale.study import factor_figures as draw

    fitted = analysis.answer_fit
    figures = {
        "loadings": draw.loadings_against_threshold(
            analysis.model, analysis.bootstrap, analysis.parabola, analysis.free, analysis.missing
        ),
        "scree": draw.scree(analysis.model.eigenvalues, analysis.shuffled, analysis.parallel),
        "correlations": draw.correlation_map(analysis.model),
        "scale": draw.scale_shapes(analysis.scale),
        "wright_map": fit_figures.wright_map(
            fitted.questions["difficulty"], fitted.information, fitted.respondents[["place"]], families
        ),
        "curves": fit_figures.characteristic_curves(fitted),
    }
    if analysis.clusters is not None:
        figures["clusters"] = draw.within_and_between(analysis.clusters)
    return figures


main = noted(parse_options, fit_factor)

if __name__ == "__main__":
    sys.exit(run_command(main))
