"""Is it one shared scale? From a panel of yes/no answers to one page that says so, or what speaks against it.

    python experiments/fit_factor.py frontier-confidence        # 33 frontier models on 1,500 questions, a minute
    python experiments/fit_factor.py PANEL                      # a CSV: question_id and a column per target, or long
    python experiments/fit_factor.py PANEL --questions FILE     # with topic and level: is the scale the same in each?
    python experiments/fit_factor.py PANEL --out factor --zero-cells none --thresholds global
    python experiments/fit_factor.py PANEL --link OTHER         # OTHER's questions on this panel's scale; or a bank.csv
    python experiments/fit_factor.py PANEL --replicates 0       # no nulls and no intervals: seconds
    python experiments/fit_factor.py PANEL --categories 70,80,90,95,99      # numbers, in six ordered categories

Writes report.html, factor.json (onedial.scale.FactorModel), summary.json (every number on it), figures/, and as tables
respondents, questions, eigenvalues, correlations with intervals, missingness, respondents_fit, questions_fit, scale,
accounts (what else would make the parabola or a second factor), residuals, sensitivity; with base models in the table
of respondents clusters; with models or families of several respondents specific_* (which share is everybody's, theirs,
one's own); bank (difficulties with their information, for other panels to be linked to), plausible_values (draws of
each difficulty, to go on computing with) and, with --link, link and linked_questions; where models share framings
generalizability; with known groups respondents_by_* and questions_by_*; with several factors factors and factor_names.
What the respondents' confidence is worth, where the panel says what they then got right, is told by
experiments/score_confidence.py. Needs no model and no GPU.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from onedial.core import InputError, Notes, Run, RunOptions, option, program, run_command
from onedial.studies import Start
from onedial.studies.options import PanelOptions

if TYPE_CHECKING:
    import pandas as pd

    from onedial.panels import ResponseMatrix
    from onedial.scale import PanelAnalysis, ScaleBank
    from onedial.show import Drawing


PROGRAM = "fit_factor"
YES_AND_NO = ("link", "questions", "n_factors", "extraction")


@dataclass(frozen=True, kw_only=True)
class FactorOptions(PanelOptions, RunOptions, group="factor"):
    """What is asked of a panel's scale."""

    questions: str | None = option(
        None, "file with id, question, topic, level of the questions (none; of embedded its own)"
    )
    link: str | None = option(None, "another panel, or a run's bank.csv, to put on this scale", metavar="PANEL")
    categories: tuple[float, ...] = option(
        (),
        "read numbers as ordered categories that begin at these points, as 70,80,90,95,99 (yes and no)",
        metavar="POINTS",
        check=lambda points: None if sorted(set(points)) == list(points) else "give points that rise",
        excludes=YES_AND_NO,
    )
    n_factors: int = option(1, "that are fitted", at_least=1)
    extraction: Literal["minres", "principal"] = option("minres", "of the factors")
    thresholds: str = option("pairwise", "of each pair, or of all answers", choices=("pairwise", "global"))
    zero_cells: str = option("half", "what is done about empty cells", choices=("half", "none", "exclude"))
    replicates: int = option(
        999,
        "of each null and bootstrap; 0: none",
        at_least=0,
        check=lambda n: "give 0, or at least 2" if n == 1 else None,
    )
    sensitivity_replicates: int = option(199, "of each row's nulls; 0: no table", at_least=0)


def fit_factor(options: FactorOptions, notes: Notes) -> None:
    from onedial.panels import load_panel
    from onedial.scale import write_factor_report
    from onedial.show import save_results
    from onedial.stats import fits_remembered

    panel = load_panel(options.panel, options.respondents, numbers=bool(options.categories))
    tables_of = graded_results if options.categories else factor_tables
    with Start(PROGRAM, options, f"factor-{Path(options.panel).stem}").begin(notes) as run:
        with run.withdrawn_if_refused(), run.stage("fit"), fits_remembered():
            tables, figures = tables_of(panel, options, run)
        save_results(run, tables, figures)
        report = write_factor_report(run)
    print(f"report: {report}; what confidence is worth: python experiments/score_confidence.py {options.panel}")


def graded_results(
    panel: "ResponseMatrix", options: FactorOptions, run: Run
) -> tuple[dict[str, Any], dict[str, "Drawing"]]:
    """What can be asked of a panel in ordered categories; print the page, return tables and figures."""
    from onedial.panels import stated_confidence
    from onedial.scale import analyse_graded_panel, graded_tables
    from onedial.scale.misfit import fit_figures
    from onedial.scale.study import factor_figures as draw

    numbers, known = stated_confidence(panel), panel.respondents
    if numbers is None:
        raise InputError(f"{options.panel} holds no number; give a panel of numbers, or leave --categories out")
    rules: dict[str, Any] = {"thresholds": options.thresholds, "zero_cells": options.zero_cells}
    found = analyse_graded_panel(
        numbers.values, list(options.categories), known, n_replicates=options.replicates, seed=options.seed, **rules
    )
    tables = graded_tables(found)
    tables["summary"]["rules"] = {**rules, "categories": list(options.categories), "seed": options.seed}
    print("\n".join(tables["summary"]["page"]))
    families = known["family"] if (known["family"] != "").any() else None
    difficulty = found.model.difficulty
    figures = {
        "scree": draw.scree(found.eigenvalues, *(found.nulls or ())),
        "wright_map": fit_figures.wright_map(difficulty, found.information, found.places, families),
    }
    return tables, figures


def factor_tables(
    panel: "ResponseMatrix", options: FactorOptions, run: Run
) -> tuple[dict[str, Any], dict[str, "Drawing"]]:
    """Ask everything of the panel; print the page, save factor.json, return the other tables and the figures."""
    from onedial.scale import ScaleBank, analyse_panel, analysis_summary, analysis_tables, plausible_values

    bank = ScaleBank.of(panel.answers)
    linked = linked_tables(bank, options.link) if options.link else {}
    rules: dict[str, Any] = {"thresholds": options.thresholds, "zero_cells": options.zero_cells}
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
    kept = {"bank": bank.questions, "plausible_values": plausible_values(panel.answers, seed=options.seed), **linked}
    return {**analysis_tables(analysis), **kept, "summary": summary}, factor_figures(analysis, families)


def linked_tables(bank: "ScaleBank", other: str) -> dict[str, "pd.DataFrame"]:
    """How another panel's scale stands to this one's, said aloud, and where its questions lie on it."""
    import pandas as pd

    from onedial.panels import load_panel
    from onedial.scale import ScaleBank, link_panels

    stored = Path(other).name == "bank.csv"
    other_bank = ScaleBank.kept(pd.read_csv(other, index_col=0)) if stored else ScaleBank.of(load_panel(other).answers)
    link = link_panels(bank, other_bank)
    print(f"{link.sentence()}\n")
    values = {name: getattr(link, name) for name in ("slope", "slope_se", "shift", "shift_se", "by", "n")}
    return {"link": pd.DataFrame([values]).set_index("by"), "linked_questions": link.moved(other_bank)}


def known_questions(panel: "ResponseMatrix", options: FactorOptions) -> "pd.DataFrame | None":
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


main = program(FactorOptions, fit_factor, __doc__)

if __name__ == "__main__":
    sys.exit(run_command(main))
