"""From a panel of yes/no answers to thresholds, loadings, difficulties, and how far each can be trusted.

    python experiments/fit_factor.py PANEL                      # a CSV: question_id and a column per target, or long
    python experiments/fit_factor.py PANEL --out factor --zero-cells none --thresholds global
    python experiments/fit_factor.py PANEL --replicates 0       # no nulls and no intervals: seconds

Writes factor.json (psychometrics.FactorModel), respondents.csv, questions.csv, eigenvalues.csv, correlations.csv,
missingness.csv, sensitivity.csv, summary.json and figures/. Where a long panel says whether each answer was correct
(column answered_correctly), also f_beta.csv, calibration.csv, confidence_accuracy.csv and pairwise.csv.
Needs no model and no GPU.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from common import InputError
from common.command_line import run_command

if TYPE_CHECKING:
    import pandas as pd

    from elicitation import ResponseMatrix
    from psychometrics import FactorModel
    from reporting.figure_style import Drawing


def main() -> None:
    options = parse_options()
    from elicitation import load_panel

    panel = load_panel(options.panel, options.respondents)
    out = options.out or Path("runs") / f"factor-{Path(options.panel).stem}"
    tables, figures = factor_tables(panel, options, out)
    if (correctness := correctness_of(panel)) is None:
        print("the panel does not say which answers were correct: no F-beta, no calibration")
    else:
        more_tables, more_figures = calibration_tables(panel, correctness, options)
        tables |= more_tables
        figures |= more_figures
    save(out, tables, figures)
    print(f"written to {out}")


def parse_options(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("panel", metavar="PANEL", help="CSV, JSONL or Parquet, wide or long; or 'embedded'")
    parser.add_argument("--respondents", type=Path, help="table with respondent, model, framing, family")
    parser.add_argument("--out", type=Path, help="folder to write to (default: runs/factor-NAME)")
    parser.add_argument("--n-factors", type=int, default=1)
    parser.add_argument("--extraction", choices=["minres", "principal"], default="minres")
    parser.add_argument("--thresholds", choices=["pairwise", "global"], default="pairwise")
    parser.add_argument("--zero-cells", choices=["half", "none", "exclude"], default="half")
    parser.add_argument("--replicates", type=int, default=999, help="of each null and bootstrap; 0 = none")
    parser.add_argument("--sensitivity-replicates", type=int, default=199, help="of each row's nulls; 0 = no table")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    for name in ("replicates", "sensitivity_replicates"):
        if getattr(options, name) < 0 or (name == "replicates" and options.replicates == 1):
            raise InputError(f"--{name.replace('_', '-')} {getattr(options, name)}; give 0, or at least 2")
    return options


def factor_tables(
    panel: "ResponseMatrix", options: argparse.Namespace, out: Path
) -> tuple[dict[str, Any], dict[str, "Drawing"]]:
    """Fit, test and resample; print what is found, save factor.json, return the other tables and the figures."""
    from psychometrics import (
        bootstrap_questions,
        fit_factor_model,
        missingness_test,
        one_factor_bootstrap,
        quadratic_fit_test,
        revised_parallel_analysis,
        sensitivity_table,
        summarise_sensitivity,
        tetrachoric,
        two_parameter_irt,
    )
    from reporting import factor_figures as draw

    rules = {"thresholds": options.thresholds, "zero_cells": options.zero_cells}
    chance = {"n_replicates": options.replicates, "seed": options.seed, **rules}
    model = fit_factor_model(
        panel, options.n_factors, options.extraction, n_permutations=options.replicates, seed=options.seed, **rules
    )
    model.save(out / "factor.json")
    other_mode: Literal["pairwise", "global"] = "global" if options.thresholds == "pairwise" else "pairwise"
    shift = (tetrachoric(panel, other_mode, options.zero_cells).correlation - model.tetrachoric.correlation).abs()
    marginal = two_parameter_irt(panel)
    missing = missingness_test(panel)
    summary: dict[str, Any] = {
        "rules": {**rules, "extraction": options.extraction, "seed": options.seed},
        "explained": {name: share.to_dict() for name, share in model.explained.items()},
        "quadratic_fit": model.quadratic_fit.to_dict(),
        "n_zero_cell_pairs": model.tetrachoric.n_zero_cell_pairs,
        "max_delta_rho_of_threshold_modes": float(shift.max().max()),
        "min_eigenvalue": model.tetrachoric.min_eigenvalue,
        "heywood": model.heywood,
        "marginal_loadings_of_total_variance": float((marginal.respondents["loading"] ** 2).mean()),
    }
    print_model(model, summary, missing)
    respondents = respondents_table(model, marginal.respondents)
    figures = {"correlations": draw.correlation_map(model)}
    tables: dict[str, Any] = {"missingness": missing, "correlations": model.tetrachoric.correlation}
    if options.replicates:
        bootstrap = bootstrap_questions(panel, **chance)
        parallel = revised_parallel_analysis(panel, max_factors=2, **chance)
        one_factor = one_factor_bootstrap(panel, **chance)
        parabola = quadratic_fit_test(panel, **chance)
        bars = [column for column in bootstrap.respondents if column not in respondents]
        respondents = respondents.join(bootstrap.respondents[bars])
        summary |= {
            "n_factors_by_revised_parallel_analysis": parallel.n_above(),
            "second_eigenvalue": one_factor.second.to_dict(),
            "smallest_eigenvalue": one_factor.smallest.to_dict(),
            "quadratic_r2": parabola.to_dict(),
            "intervals": bootstrap.shares.to_dict(orient="index"),
        }
        tables["eigenvalues"] = scree_table(model, parallel)
        figures["loadings"] = draw.loadings_against_threshold(model, bootstrap, parabola)
        figures["scree"] = draw.scree(model, model.null, parallel)
        print_chance(model, summary)
    else:
        tables["eigenvalues"] = model.eigenvalues.to_frame("observed")
        figures["loadings"] = draw.loadings_against_threshold(model)
        figures["scree"] = draw.scree(model)
    if options.sensitivity_replicates:
        table = sensitivity_table(panel, options.sensitivity_replicates, seed=options.seed, **rules)
        tables["sensitivity"] = table
        summary["sensitivity"] = summarise_sensitivity(table)
        print("\nUnder every rule, and with each respondent left out:")
        print("\n".join(f"- {sentence}" for sentence in summary["sensitivity"]))
    questions = {"difficulty": model.difficulty, "difficulty_se": model.difficulty_se}
    return tables | {"respondents": respondents, "questions": frame_of(questions), "summary": summary}, figures


def calibration_tables(
    panel: "ResponseMatrix", correctness: "pd.DataFrame", options: argparse.Namespace
) -> tuple[dict[str, Any], dict[str, "Drawing"]]:
    """What the panel's answers say about what the respondents then got right."""
    from dataclasses import asdict

    import pandas as pd

    from psychometrics import calibration_table, confidence_accuracy_regression, f_beta_curve, pairwise_calibration
    from reporting import factor_figures as draw

    n = max(options.replicates, 1)
    stated = stated_confidence(panel)
    curve = f_beta_curve(panel, correctness)
    regression = confidence_accuracy_regression(panel, correctness)
    pairwise = pairwise_calibration(panel, correctness, n_permutations=n, seed=options.seed)
    lines = pd.DataFrame({"as is": asdict(regression.line), "logit": asdict(regression.logit_line)}).T
    tables = {
        "f_beta": curve.curve.assign(best=curve.best),
        "calibration": calibration_table(stated, correctness, n_bootstrap=n, seed=options.seed),
        "confidence_accuracy": lines.rename_axis("scale"),
        "pairwise": pairwise.pairs.set_index(["first", "second"]),
        "pairwise_pooled": pairwise.pooled.rename_axis("questions"),
        "within_respondents": pairwise.within.rename_axis("questions"),
    }
    line, pooled = regression.line, pairwise.pooled.iloc[0]
    print(
        f"\nconfidence on accuracy: slope {line.slope:.3f} ({line.slope_low:.3f} to {line.slope_high:.3f}), "
        f"p = {line.p:.3g}, {line.n} respondents\n"
        f"where two disagree, the one that says yes is right more often by {pooled['advantage']:+.3f} "
        f"(shared difficulty and rates alone: {pooled['null_mean']:+.3f}, p = {pooled['p']:.3g})"
    )
    return tables, {
        "f_beta": draw.f_beta_curves(curve),
        "confidence_accuracy": draw.confidence_against_accuracy(regression),
    }


def correctness_of(panel: "ResponseMatrix") -> "pd.DataFrame | None":
    """Question x respondent, 1 = right, from the long panel's answered_correctly (of several samples: most; a tie is
    unknown), or None where the panel does not say."""
    if panel.responses is None or "answered_correctly" not in panel.responses:
        return None
    share = panel.responses.pivot_table("answered_correctly", "question_id", "respondent", aggfunc="mean")
    right = (share > 0.5).astype(float).where(share.notna() & (share != 0.5))
    return right.reindex(index=panel.answers.index, columns=panel.answers.columns)


def stated_confidence(panel: "ResponseMatrix") -> "pd.DataFrame":
    """Question x respondent probability of yes: 1 / (1 + exp(-margin)) where the long panel gives margins (their mean
    over samples), else the yes or no itself; nan where the answer was not read."""
    from scipy.special import expit

    answers = panel.answers
    if panel.responses is None or "margin" not in panel.responses or panel.responses["margin"].isna().all():
        return answers
    margins = panel.responses.pivot_table("margin", "question_id", "respondent", aggfunc="mean")
    return expit(margins.reindex(index=answers.index, columns=answers.columns)).where(answers.notna())


def respondents_table(model: "FactorModel", marginal: "pd.DataFrame") -> "pd.DataFrame":
    """Loadings, thresholds and the cross-check by marginal likelihood, one row per respondent."""
    rates = {
        "threshold": model.thresholds,
        "threshold_formula_se": model.threshold_se,
        "n_answers": model.tetrachoric.n_answers,
        "n_zero_cell_pairs": model.tetrachoric.zero_cells.sum(axis=1),
    }
    loadings = model.loadings.rename(columns={"factor_1": "loading"})
    check = marginal[["loading", "loading_se", "threshold"]].add_prefix("marginal_")
    return loadings.join([frame_of(rates), check])


def scree_table(model: "FactorModel", parallel: Any) -> "pd.DataFrame":
    """Observed eigenvalues beside both nulls."""
    conditional = parallel.to_frame().drop(columns="observed").add_prefix("one_factor_fewer_")
    if model.null is None:
        return conditional
    return model.null.to_frame().rename(columns=lambda name: name.replace("null", "shuffled")).join(conditional)


def frame_of(columns: dict[str, "pd.Series"]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(columns)


def print_model(model: "FactorModel", summary: dict[str, Any], missing: "pd.DataFrame") -> None:
    first = model.explained.iloc[0]
    pairs = len(model.thresholds) * (len(model.thresholds) - 1) // 2
    gaps = int(missing["n_missing"].sum())
    not_random = missing.index[missing["p_adjusted"] < 0.05]
    print(
        f"{len(model.difficulty)} questions, {len(model.thresholds)} respondents, {gaps} answers missing\n"
        f"first factor: {first['squared_loadings_of_total_variance']:.1%} of the total variance by minres loadings, "
        f"{first['eigenvalue_of_total_variance']:.1%} by eigenvalue, "
        f"{first['squared_loadings_of_common_variance']:.1%} of the common variance\n"
        f"(marginal likelihood, no correction: {summary['marginal_loadings_of_total_variance']:.1%})\n"
        f"pairs with an empty cell: {summary['n_zero_cell_pairs']} of {pairs}; threshold modes move correlations by "
        f"up to {summary['max_delta_rho_of_threshold_modes']:.3f}\n"
        f"parabola of loading on threshold: R^2 {model.quadratic_fit.r2:.2f}"
    )
    if len(not_random):
        print(
            f"answers are not missing at random for {', '.join(map(str, not_random))}: the others say yes to "
            f"{missing.loc[not_random, 'others_yes_when_answered'].mean():.0%} of what these answered and "
            f"{missing.loc[not_random, 'others_yes_when_missing'].mean():.0%} of what they left out"
        )


def print_chance(model: "FactorModel", summary: dict[str, Any]) -> None:
    second, smallest, parabola = (summary[key] for key in ("second_eigenvalue", "smallest_eigenvalue", "quadratic_r2"))
    if model.null is not None:
        print(f"first eigenvalue {model.null.observed[0]:.2f}; answers shuffled {model.null.mean[0]:.2f}, "
              f"p = {model.null.p[0]:.3g}")  # fmt: skip
    for name, found in (("second eigenvalue", second), ("smallest eigenvalue", smallest)):
        print(f"{name} {found['observed']:.2f}; under one factor {found['null_mean']:.2f}, p = {found['p']:.3g}")
    print(f"R^2 of the parabola where loadings and thresholds are unrelated: {parabola['null_mean']:.2f}, "
          f"p = {parabola['p']:.3g}")  # fmt: skip


def save(out: Path, tables: dict[str, Any], figures: dict[str, "Drawing"]) -> None:
    """Write every table as CSV (a dictionary as JSON) and every figure as PNG and SVG, with captions.json."""
    import pandas as pd

    from common import atomic_path, write_json
    from psychometrics.factor_file import plain
    from reporting.figure_style import save_figure

    for name, table in tables.items():
        if isinstance(table, pd.DataFrame):
            with atomic_path(out / f"{name}.csv") as temporary:
                table.to_csv(temporary, float_format="%.8g")
        else:
            write_json(out / f"{name}.json", plain(table))
    (out / "figures").mkdir(parents=True, exist_ok=True)
    for name, drawing in figures.items():
        save_figure(drawing.figure, out / "figures", name)
    captions = {name: {"title": drawing.title, "caption": drawing.caption} for name, drawing in figures.items()}
    write_json(out / "figures" / "captions.json", captions)


if __name__ == "__main__":
    sys.exit(run_command(main))
