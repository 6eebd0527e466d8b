"""Who follows the scale how closely, who answers the other way round, and how well is it known?"""

import numpy as np
import pandas as pd

from onedial.scale.checks.question_bootstrap import QuestionBootstrap, bootstrap_questions
from onedial.scale.misfit.answer_fit import answer_fit
from onedial.scale.response_model import ResponseModel, rasch_test
from onedial.scale.study import factor_figures as draw
from onedial.scale.study.panel_fit import Finding, PanelFit
from onedial.stats.level import Z_95

_FEWEST_TOPICS = 8  # for a bootstrap over topics


def closeness(fit: PanelFit) -> Finding:
    """Loadings and thresholds with their intervals; over topics too, where there are enough of them."""
    pairwise, table = fit.factor.loadings, fit.response.respondents.copy()
    for name in ("loading", "threshold"):
        error = Z_95 * table[f"{name}_se"]
        bound = 1 if name == "loading" else np.inf
        table[f"{name}_low"], table[f"{name}_high"] = (
            (table[name] + side * error).clip(-bound, bound) for side in (-1, 1)
        )
    table = table.assign(
        n_answers=fit.answers.n_answered,
        n_blank=fit.answers.n_questions - fit.answers.n_answered,
        n_zero_cell_pairs=fit.factor.tetrachoric.zero_cells.sum(axis=1),
        pairwise_loading=pairwise["factor_1"],
    ).join(pairwise.drop(columns="factor_1"))
    widths = [f"{(table['loading_high'] - table['loading_low']).median():.2f}"]
    if (by_topic := _by_topic(fit)) is not None:
        width = (by_topic.respondents["loading_high"] - by_topic.respondents["loading_low"]).median()
        widths = [f"{widths[0]} over questions", f"{width:.2f} over topics (of the correlations of pairs)"]
    return Finding(
        sentences=[
            f"{_run(fit.loadings)}; the median width of a 95% interval is {' and '.join(widths)}.",
            *([_reliability(fit.response)] if fit.is_shared else []),
        ],
        tables={
            "respondents": table,
            "questions": fit.response.difficulty.to_frame().join(fit.response.difficulty_se),
        },
        numbers={"heywood": fit.factor.heywood, "reliability": fit.response.reliability[0]},
    )


def surprises(fit: PanelFit) -> Finding:
    """Who does not follow the scale as the others do; whether one slope would do for all."""
    misfit = answer_fit(fit.fits)
    if not fit.is_shared:
        table = misfit.respondents.assign(follows="", belongs=True, reversed=False)
        return Finding(["Nothing is shared, so that nobody follows it or does not."], {"respondents_fit": table})
    rasch = rasch_test(fit.fits, "histogram", "common")
    turned, m = int(misfit.respondents["reversed"].sum()), len(misfit.respondents)
    against, off = _turned(turned, m), _off(misfit.respondents)
    one_slope = f"A Rasch model, one slope for all, does not hold: {', '.join(against)}."
    return Finding(
        sentences=[*misfit.sentences(), one_slope if turned else rasch.sentence()],
        tables={"respondents_fit": misfit.respondents, "information": misfit.information},
        numbers={"rasch": {name: getattr(rasch, name) for name in ("loading", "ratio", "df", "p")}},
        against=against + off,
        figures={
            "wright_map": lambda: draw.wright_map(
                fit.response.difficulty, misfit.information, misfit.respondents["place"]
            )
        },
    )


def _turned(n: int, m: int) -> list[str]:
    """What so many that answer the other way round speak against."""
    return [f"{n} of {m} {'answers' if n == 1 else 'answer'} the other way round"] if n else []


def _off(table: pd.DataFrame) -> list[str]:
    """What those that do not belong speak against."""
    n = int((~table["belongs"] & ~table["reversed"]).sum())
    return [f"{n} of {len(table)} {'does' if n == 1 else 'do'} not follow it"] if n else []


def _run(loadings: pd.Series) -> str:
    known = loadings.dropna()
    low, high = known.idxmin(), known.idxmax()
    return f"Loadings run from {known.min():.2f} ({low}) to {known.max():.2f} ({high})"


def _reliability(model: ResponseModel) -> str:
    reliability, error = model.reliability
    return f"Difficulty scores have a reliability of {reliability:.2f} (error {error:.2f} of the scale's spread)."


def _by_topic(fit: PanelFit) -> QuestionBootstrap | None:
    """Resamples of whole topics, where there are enough of them."""
    if fit.questions is None or "topic" not in fit.questions or fit.few < 2:
        return None
    topics = fit.questions["topic"].reindex(fit.answers.questions)
    if topics.isna().any() or topics.nunique() < _FEWEST_TOPICS:
        return None
    return bootstrap_questions(fit.fits, np.asarray(topics), n_replicates=fit.few, seed=fit.seed)
