"""What the confidence of a panel is worth: for whom is whose yes the best, and does anybody know what it knows?

    python experiments/score_confidence.py embedded
    python experiments/score_confidence.py panels/mine/panel.csv --out scores --replicates 0    # no intervals: seconds
    python experiments/score_confidence.py frontier-confidence      # 33 frontier models, in numbers
    python experiments/score_confidence.py frontier          # yes rates alone: it is about refusal, and has no grades

Prints and writes, into DIR: respondents.csv (yes rate, accuracy, what came true, each with its interval and counts of
what is missing), and where the panel says what was answered correctly (a long panel's answered_correctly) f_beta.csv
and attitudes.csv (the best respondent for each attitude to error), confidence_accuracy.csv (the line between base
models), calibration.csv and metacognition.csv (where there is numeric confidence: stated, or by margins), pairwise.csv,
pairwise_pooled.csv, within_respondents.csv, whose_knowledge.csv with its matrix (does confidence know of oneself, or of
what is hard for all?), summary.json, figures/ and report.html. Framings of one base model are no further
models: where models are compared, they are averaged first. Needs no model and no GPU.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onedial.core import InputError, Notes, add_run_options, natural, parse_run_options, program_parser, run_command
from onedial.studies import Start

if TYPE_CHECKING:
    import pandas as pd

    from onedial.confidence import FBetaCurve
    from onedial.panels import ResponseMatrix
    from onedial.show import Drawing

ATTITUDES = {
    "a wrong yes costs far more": 1 / 4,
    "a wrong yes costs more": 1 / 2,
    "both cost the same": 1,
    "a wrong no costs more": 2,
    "a wrong no costs far more": 4,
}
"""Attitude to error to beta."""
FEWEST_MODELS = 3
PROGRAM = "score_confidence"


def main() -> None:
    options = parse_options()
    notes = Notes()
    with notes.collected():
        score_confidence(options, notes)


def score_confidence(options: argparse.Namespace, notes: Notes) -> None:
    from onedial.confidence import write_confidence_report
    from onedial.panels import correctness_of, load_panel
    from onedial.show import save_results

    panel = load_panel(options.panel, options.respondents)
    with Start(PROGRAM, options, f"confidence-{Path(options.panel).stem}").begin(notes) as run:
        correctness = correctness_of(panel)
        tables, figures = rate_tables(panel, correctness)
        if correctness is None:
            print("\nthe panel does not say which answers were correct: no F-beta, no line, no calibration")
        else:
            with run.withdrawn_if_refused():
                more_tables, more_figures = worth_tables(panel, correctness, options, tables["respondents"])
            tables |= more_tables
            figures |= more_figures
        save_results(run, tables, figures)
        report = write_confidence_report(run)
    print(f"\nreport: {report}")


def rate_tables(
    panel: "ResponseMatrix", correctness: "pd.DataFrame | None"
) -> tuple[dict[str, Any], dict[str, "Drawing"]]:
    """How often each respondent says yes and is right, with what is missing."""
    from onedial.confidence import confidence_figures as draw
    from onedial.panels import rates_of_respondents

    rates = rates_of_respondents(panel, correctness)
    n_models = rates["model"].nunique()
    print(f"{len(panel.answers)} questions, {len(rates)} respondents of {n_models} base models\n")
    shown = {"yes": share_with_interval(rates, "yes_rate", "yes"), "unread": rates["n_unread"]}
    if correctness is not None:
        shown |= {
            "right": share_with_interval(rates, "accuracy", "accuracy"),
            "ungraded": rates["n_ungraded"],
            "came true": share_with_interval(rates, "came_true", "came_true"),
            "of": rates["n_both"],
        }
    print_table(shown)
    return {"respondents": rates}, {"rates": draw.rates(rates)}


def worth_tables(
    panel: "ResponseMatrix", correctness: "pd.DataFrame", options: argparse.Namespace, rates: "pd.DataFrame"
) -> tuple[dict[str, Any], dict[str, "Drawing"]]:
    """F-beta, the line between base models, calibration, pairwise calibration."""
    from onedial.confidence import confidence_figures as draw
    from onedial.confidence import f_beta_curve, f_beta_figure, pairwise_calibration

    n = max(options.replicates, 1)
    curve = f_beta_curve(panel, correctness)
    best = attitudes_table(curve, panel, correctness)
    print("\nF-beta: whose yes marks best what it then gets right, by what an error costs")
    columns = ["beta", "best", "f_beta", "always_yes", "best_other_model", "f_beta_other"]
    print(best.round(3)[columns].to_string())
    pairwise = pairwise_calibration(panel, correctness, n_permutations=n, seed=options.seed)
    untested = [] if options.replicates else ["null_mean", "null_95", "p"]
    tables: dict[str, Any] = {
        "f_beta": curve.curve.assign(best=curve.best),
        "attitudes": best,
        "pairwise": pairwise.pairs.set_index(["first", "second"]).drop(columns=untested, errors="ignore"),
        "pairwise_pooled": pairwise.pooled.rename_axis("questions").drop(columns=untested),
        "within_respondents": pairwise.within.rename_axis("questions"),
    }
    figures = {"f_beta": f_beta_figure.f_beta_curves(curve)}
    summary: dict[str, Any] = {"replicates": options.replicates, "seed": options.seed}
    for more_tables, more_figures, facts in (
        line_between_models(panel, correctness, rates),
        calibration_tables(panel, correctness, options),
        knowledge_tables(panel, correctness, options),
    ):
        tables |= more_tables
        figures |= more_figures
        summary |= facts
    pooled, within = pairwise.pooled.iloc[0], pairwise.within.iloc[0]
    chance = f"shared difficulty and rates alone: {pooled['null_mean']:+.3f}, p = {pooled['p']:.3g}"
    print(
        f"\nwhere two disagree ({pooled['n']:.0f} times), the one that says yes is right more often by "
        f"{pooled['advantage']:+.3f} ({chance if options.replicates else 'not tested: --replicates 0'})\n"
        f"one respondent by itself is right more often where it says yes than where it says no by "
        f"{within['gain']:+.3f} on average ({within['n_respondents']:.0f} respondents)"
    )
    if options.replicates:
        figures["pairwise"] = draw.pairwise(pairwise)
    return tables | {"summary": summary}, figures


def attitudes_table(curve: "FBetaCurve", panel: "ResponseMatrix", correctness: "pd.DataFrame") -> "pd.DataFrame":
    """The best respondent for each attitude, and the best one of another base model.

    Returns:
        Index attitude; beta, best, model, f_beta, n, always_yes (what the best respondent would get by saying yes to
        everything: (1 + beta^2) a / (beta^2 a + 1) at its accuracy a), best_other_model, f_beta_other.
    """
    import pandas as pd

    models = panel.respondents["model"]
    accuracy = correctness.where(panel.answers.notna()).mean()
    rows = {}
    for attitude, beta in ATTITUDES.items():
        nearest = min(curve.curve.index, key=lambda each: abs(each - beta))
        values = curve.curve.loc[nearest].dropna().sort_values(ascending=False, kind="stable")
        if values.empty:
            continue
        best, square = values.index[0], float(nearest) ** 2
        others = values[(models[values.index] != models[best]).to_numpy()]
        rows[attitude] = {
            "beta": float(nearest),
            "best": best,
            "model": models[best],
            "f_beta": values.iloc[0],
            "n": int(curve.n[best]),
            "always_yes": (1 + square) * accuracy[best] / (square * accuracy[best] + 1),
            "best_other_model": others.index[0] if len(others) else "",
            "f_beta_other": others.iloc[0] if len(others) else float("nan"),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("attitude")


def line_between_models(
    panel: "ResponseMatrix", correctness: "pd.DataFrame", rates: "pd.DataFrame"
) -> tuple[dict[str, Any], dict[str, "Drawing"], dict[str, Any]]:
    """Confidence on accuracy over base models; refused in words where there are too few of them."""
    from dataclasses import asdict

    import pandas as pd

    from onedial.confidence import confidence_accuracy_regression
    from onedial.confidence import confidence_figures as draw
    from onedial.panels import base_model_means, stated_confidence

    found = stated_confidence(panel)
    numbers = found.values if found is not None and found.source == "stated" else None
    means = base_model_means(panel, correctness, numbers)
    what = "mean confidence" if numbers is not None else "yes rate"
    result = None
    tables: dict[str, Any] = {"base_models": means}
    if len(means) < FEWEST_MODELS:
        sentence = (
            f"no line of confidence on accuracy: the panel holds {len(means)} base models with grades, and a line "
            f"between models takes {FEWEST_MODELS}; their framings are no further models"
        )
    else:
        result = confidence_accuracy_regression(means["confidence"], means["accuracy"])
        line = result.line
        lines = {"as is": asdict(line), "logit": asdict(result.logit_line)}
        tables["confidence_accuracy"] = pd.DataFrame.from_dict(lines, orient="index").rename_axis("scale")
        sentence = (
            f"between {line.n} base models (framings averaged first), {what} on accuracy: slope {line.slope:.2f} "
            f"({line.slope_low:.2f} to {line.slope_high:.2f}), p = {line.p:.2g}; 1 is calibrated, 0 is no knowledge of "
            "who knows more"
        )
        if line.slope != line.slope:
            sentence = f"no line of confidence on accuracy: the {len(means)} base models are all equally accurate"
    print(f"\n{sentence}")
    return tables, {"base_models": draw.base_models(means, rates, result)}, {"line_between_models": sentence}


def calibration_tables(
    panel: "ResponseMatrix", correctness: "pd.DataFrame", options: argparse.Namespace
) -> tuple[dict[str, Any], dict[str, "Drawing"], dict[str, Any]]:
    """Calibration of numeric confidence, and meta-d'; said in words where there is none."""
    from onedial.confidence import calibration_table, metacognition_sentences, metacognition_table
    from onedial.confidence import confidence_figures as draw
    from onedial.panels import stated_confidence

    confidence = stated_confidence(panel)
    if confidence is None:
        sentence = "no calibration: the panel holds yes and no, but neither stated confidence nor margins"
        print(f"\n{sentence}")
        return {}, {}, {"calibration": sentence}
    sure = confidence.values[confidence.values.columns[confidence.values.notna().any()]]
    right = correctness[sure.columns]
    table = calibration_table(sure, right, n_bootstrap=max(options.replicates, 1), seed=options.seed)
    second_order = metacognition_table(sure, right, n_bootstrap=min(options.replicates, 200), seed=options.seed)
    if not options.replicates:
        table, second_order = (
            each[[column for column in each.columns if not column.endswith(("_low", "_high"))]]
            for each in (table, second_order)
        )
    source = "as stated" if confidence.source == "stated" else "by margins, 1 / (1 + exp(-margin))"
    shown = {"n": table["n"], "accuracy": table["accuracy"].round(3), "confidence": table["mean_confidence"].round(3)}
    shown["error"] = share_with_interval(table, "ece_mass", "ece_mass")
    shown["skill"] = share_with_interval(table, "brier_skill", "brier_skill")
    shown["auroc"] = share_with_interval(table, "auroc", "auroc")
    print(f"\ncalibration of confidence {source}: error (0 is best), Brier skill (0 is no better than the mean), AUROC")
    print_table(shown)
    models = panel.respondents.loc[sure.columns, "model"]
    figures = {"reliability": draw.reliability(sure, right, models, confidence.source)}
    sentences = metacognition_sentences(second_order)
    print("\nis the confidence worth as much as the yes? (meta-d' over d', 1: as much)")
    print("\n".join(sentences))
    summary = {"calibration": f"confidence {source}", "metacognition": sentences}
    return {"calibration": table, "metacognition": second_order}, figures, summary


def knowledge_tables(
    panel: "ResponseMatrix", correctness: "pd.DataFrame", options: argparse.Namespace
) -> tuple[dict[str, Any], dict[str, "Drawing"], dict[str, Any]]:
    """Whose knowledge is it: of oneself, or of what is hard for all? Base models, framings averaged."""
    from onedial.confidence import whose_knowledge
    from onedial.panels import stated_confidence

    if not options.replicates:
        return {}, {}, {"whose_knowledge": "not tested: --replicates 0"}
    confidence = stated_confidence(panel)
    values = panel.answers.astype(float) if confidence is None else confidence.values
    values = values[[name for name in values.columns if values[name].notna().any()]]
    models = panel.respondents["model"]
    sure, right = (
        table.T.groupby(models.reindex(table.columns).to_numpy(), sort=False).mean().T
        for table in (values, correctness[values.columns])
    )
    try:
        found = whose_knowledge(sure, (right > 0.5).astype(float).where(right.notna()), options.replicates)
    except InputError as error:
        print(f"\nwhose knowledge it is cannot be said: {error}")
        return {}, {}, {"whose_knowledge": str(error)}
    print(f"\n{found.sentence()}")
    tables = {"whose_knowledge": found.targets, "whose_knowledge_matrix": found.matrix}
    return tables, {}, {"whose_knowledge": found.sentence()}


def share_with_interval(table: "pd.DataFrame", value: str, name: str) -> "pd.Series":
    """ ".62 (.58 to .66)", or the number alone where the table has no interval, or "-" where there is no number."""

    def cell(row: "pd.Series") -> str:
        if row[value] != row[value]:
            return "-"
        if f"{name}_low" not in row:
            return f"{row[value]:.2f}"
        return f"{row[value]:.2f} ({row[f'{name}_low']:.2f} to {row[f'{name}_high']:.2f})"

    return table.apply(cell, axis=1)


def print_table(columns: dict[str, "pd.Series"]) -> None:
    import pandas as pd

    print(pd.DataFrame(columns).to_string())


def parse_options(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = program_parser(__doc__)
    parser.add_argument(
        "panel", metavar="PANEL", help="embedded, frontier (refusal, not ability), frontier-confidence, or a file"
    )
    parser.add_argument("--respondents", type=Path, help="table with respondent, model, framing, family")
    parser.add_argument(
        "--replicates", type=natural, default=999, help="of intervals and tests; 0 = none (%(default)s)"
    )
    add_run_options(parser)
    return parse_run_options(parser, arguments)


if __name__ == "__main__":
    sys.exit(run_command(main))
