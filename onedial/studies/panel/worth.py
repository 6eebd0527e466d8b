"""What a panel's confidence is worth: rates, attitudes, the line between models, calibration, whose knowledge it is.

Each function prints what it found and returns (tables, figures, what goes into summary.json).
"""

from typing import Any

import numpy as np
import pandas as pd

from onedial.confidence.f_beta import FBetaCurve
from onedial.core.errors import InputError
from onedial.panels.panels import ResponseMatrix
from onedial.show.figure_style import Drawing

Results = tuple[dict[str, Any], dict[str, Drawing], dict[str, Any]]

ATTITUDES = {
    "a wrong yes costs far more": 1 / 4,
    "a wrong yes costs more": 1 / 2,
    "both cost the same": 1,
    "a wrong no costs more": 2,
    "a wrong no costs far more": 4,
}
"""Attitude to error to beta."""
FEWEST_MODELS = 3
FEWEST_WRONG = 10


def rate_tables(panel: ResponseMatrix, correctness: pd.DataFrame | None) -> tuple[dict[str, Any], dict[str, Drawing]]:
    """How often each respondent says yes and is right, with what is missing."""
    from onedial.confidence import confidence_figures as draw
    from onedial.panels.panel_scores import rates_of_respondents

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


def attitude_tables(panel: ResponseMatrix, correctness: pd.DataFrame) -> Results:
    """F-beta of every respondent, and whose yes is best at each attitude to error."""
    from onedial.confidence import confidence_figures as draw
    from onedial.confidence.f_beta import f_beta_curve

    curve = f_beta_curve(panel, correctness)
    best = attitudes_table(curve, panel, correctness)
    print("\nF-beta: whose yes marks best what it then gets right, by what an error costs")
    columns = ["beta", "best", "f_beta", "always_yes", "best_other_model", "f_beta_other"]
    print(best.round(3)[columns].to_string())
    tables = {"f_beta": curve.curve.assign(best=curve.best), "attitudes": best}
    return tables, {"f_beta": draw.f_beta_curves(curve)}, {}


def attitudes_table(curve: FBetaCurve, panel: ResponseMatrix, correctness: pd.DataFrame) -> pd.DataFrame:
    """The best respondent for each attitude, and the best one of another base model.

    Returns:
        Index attitude; beta, best, model, f_beta, n, always_yes (what the best respondent would get by saying yes to
        everything: (1 + beta^2) a / (beta^2 a + 1) at its accuracy a), best_other_model, f_beta_other.
    """
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


def line_between_models(panel: ResponseMatrix, correctness: pd.DataFrame, rates: pd.DataFrame) -> Results:
    """Confidence on accuracy over base models; refused in words where there are too few of them."""
    from dataclasses import asdict

    from onedial.confidence import confidence_figures as draw
    from onedial.confidence.confidence_accuracy import confidence_accuracy_regression
    from onedial.panels.panel_scores import base_model_means, stated_confidence

    found = stated_confidence(panel)
    numbers = found.values if found is not None and found.source == "stated" else None
    means = base_model_means(panel, correctness, numbers)
    what = "mean confidence" if numbers is not None else "yes rate"
    families = panel.respondents.groupby("model")["family"].first()
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
    return (
        tables,
        {"base_models": draw.base_models(means, rates, result, numbers is not None, families)},
        {"line_between_models": sentence},
    )


def screening_tables(panel: ResponseMatrix, correctness: pd.DataFrame) -> Results:
    """Whose confidence says anything of its own answers; and the line between models without the others."""
    from onedial.confidence.confidence_accuracy import confidence_accuracy_regression
    from onedial.confidence.validity import screen_confidence, screening_sentence
    from onedial.panels.panel_scores import base_model_means, stated_confidence

    found = stated_confidence(panel)
    table = screen_confidence(panel.answers, correctness, None if found is None else found.values)
    sentence = screening_sentence(table)
    facts: dict[str, Any] = {}
    kept = panel.select(respondents=list(table.index[table["tells"]]))
    if len(kept.respondents) < len(table) and kept.respondents["model"].nunique() >= FEWEST_MODELS:
        numbers = found.values[kept.answers.columns] if found is not None and found.source == "stated" else None
        means = base_model_means(kept, correctness[kept.answers.columns], numbers)
        line = confidence_accuracy_regression(means["confidence"], means["accuracy"]).line
        facts = {
            "line_of_those_that_tell": {
                "n": line.n,
                "slope": line.slope,
                "low": line.slope_low,
                "high": line.slope_high,
            }
        }
        sentence += (
            f" Between the {line.n} models that tell, confidence on accuracy has a slope of {line.slope:.2f} "
            f"({line.slope_low:.2f} to {line.slope_high:.2f})."
        )
    print(f"\n{sentence}")
    return {"screening": table}, {}, {"screening": sentence, **facts}


def calibration_tables(panel: ResponseMatrix, correctness: pd.DataFrame, replicates: int, seed: int) -> Results:
    """Calibration of numeric confidence, and meta-d'; said in words where there is none."""
    from onedial.confidence import confidence_figures as draw
    from onedial.confidence.calibration import calibration_table
    from onedial.confidence.metacognition import metacognition_sentences, metacognition_table
    from onedial.panels.panel_scores import stated_confidence

    confidence = stated_confidence(panel)
    if confidence is None:
        sentence = "no calibration: the panel holds yes and no, but neither stated confidence nor margins"
        print(f"\n{sentence}")
        return {}, {}, {"calibration": sentence}
    sure = confidence.values[confidence.values.columns[confidence.values.notna().any()]]
    right = correctness[sure.columns]
    table = calibration_table(sure, right, n_bootstrap=max(replicates, 1), seed=seed)
    second_order = metacognition_table(sure, right, n_bootstrap=min(replicates, 200), seed=seed)
    if not replicates:
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


def topic_table(panel: ResponseMatrix, correctness: pd.DataFrame) -> pd.DataFrame | None:
    """AUROC of confidence for correctness, respondent x topic, and over all; None where no topics are known.

    nan where fewer than ten answers of a topic are right, or wrong.
    """
    from onedial.panels.panel_scores import stated_confidence
    from onedial.stats.roc import auc

    about, confidence = panel.about_questions, stated_confidence(panel)
    if about is None or "topic" not in about or confidence is None:
        return None
    values = {}
    for topic in [*sorted(about["topic"].dropna().unique()), "all"]:
        rows = (about["topic"] == topic).to_numpy() | (topic == "all")
        for name in map(str, confidence.values):
            sure, right = (table.loc[rows, name].to_numpy(float) for table in (confidence.values, correctness))
            right = np.where(np.isfinite(sure), right, np.nan)
            enough = min((right == 1).sum(), (right == 0).sum()) >= FEWEST_WRONG
            values[name, topic] = auc(sure, right[:, None])[0] if enough else np.nan
    table = pd.Series(values).unstack(sort=False)
    return table.rename_axis("respondent")


def knowledge_tables(panel: ResponseMatrix, correctness: pd.DataFrame, replicates: int, seed: int) -> Results:
    """Whose knowledge is it: everybody's, a family's, one's own? And what predicts correctness better?"""
    from onedial.confidence import knowledge_figures as draw
    from onedial.confidence.predictors import compare_predictors, predictors_of_correctness
    from onedial.confidence.shared_or_own import shared_or_own

    if not replicates:
        print("\nwhose knowledge it is was not tested: --replicates 0")
        return {}, {}, {"shared_or_own": "not tested: --replicates 0"}
    sure, right, families, answered = by_base_model(panel, correctness)
    drawn = min(replicates, 199)
    try:
        found = shared_or_own(sure, right, families, drawn, seed)
    except InputError as error:
        print(f"\nwhose knowledge it is cannot be said: {error}")
        return {}, {}, {"shared_or_own": str(error)}
    print(f"\n{found.sentence()}")
    texts = panel.question_texts
    predictors = predictors_of_correctness(sure, right, families, answered, texts)
    compared = compare_predictors(predictors, right, families, drawn, seed)
    print("\nwhat tells a model's right from its wrong answers? AUROC, mean over models")
    print_table({"auroc": share_with_interval(compared.summary, "auroc", "auroc")})
    tables = {
        "shared_or_own": found.models,
        "shared_or_own_mean": found.mean.to_dict() | {"scales": found.scales},
        "shared_or_own_correlations": found.correlations,
        "predictors": compared.summary,
        "predictors_by_model": compared.auroc.assign(**{"one model of another family": compared.one_other}),
    }
    figures = {"shared_or_own": draw.shared_or_own_parts(found), "predictors": draw.predictors(compared)}
    return tables, figures, {"shared_or_own": found.sentence()}


def by_base_model(
    panel: ResponseMatrix, correctness: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame, "pd.Series[Any]", pd.DataFrame | None]:
    """Confidence, correctness and families with a column for each base model, framings averaged; and what each
    answered, where a model has one framing only and the panel says so.
    """
    from onedial.panels.panel_scores import stated_confidence

    confidence = stated_confidence(panel)
    values = panel.answers.astype(float) if confidence is None else confidence.values
    values = values[[name for name in values.columns if values[name].notna().any()]]
    models = panel.respondents["model"].reindex(values.columns)
    sure, right = (
        table.T.groupby(models.to_numpy(), sort=False).mean().T for table in (values, correctness[values.columns])
    )
    families = panel.respondents.groupby("model")["family"].first()
    said = panel.responses
    answered = None
    if said is not None and "answered" in said and models.is_unique:
        answered = said.pivot_table(index="question_id", columns="respondent", values="answered", aggfunc="first")
        answered = answered.reindex(index=sure.index, columns=values.columns).set_axis(sure.columns, axis=1)
    return sure, (right > 0.5).astype(float).where(right.notna()), families, answered


def share_with_interval(table: pd.DataFrame, value: str, name: str) -> pd.Series:
    """ ".62 (.58 to .66)", or the number alone where the table has no interval, or "-" where there is no number."""

    def cell(row: pd.Series) -> str:
        if row[value] != row[value]:
            return "-"
        if f"{name}_low" not in row:
            return f"{row[value]:.2f}"
        return f"{row[value]:.2f} ({row[f'{name}_low']:.2f} to {row[f'{name}_high']:.2f})"

    return table.apply(cell, axis=1)


def print_table(columns: dict[str, pd.Series]) -> None:
    print(pd.DataFrame(columns).to_string())
