"""Who follows the scale how closely, who answers the other way round, and how well is it known?"""

import numpy as np
import pandas as pd

from onedial.scale.checks.question_bootstrap import QuestionBootstrap, bootstrap_questions
from onedial.scale.misfit.answer_fit import answer_fit
from onedial.scale.response_model import ResponseModel, rasch_test
from onedial.scale.study import factor_figures as draw
from onedial.scale.study.panel_fit import Finding, PanelFit

_FEWEST_TOPICS = 8  # for a bootstrap over topics
_SHOWN = ["loading", "loading_se", "threshold", "threshold_se", "yes_rate", "status"]


def closeness(fit: PanelFit) -> Finding:
    """Loadings and thresholds, with intervals over questions, and over topics where there are enough."""
    model = fit.factor
    table = fit.loadings.to_frame().join(
        pd.DataFrame(
            {
                "threshold": model.thresholds,
                "threshold_formula_se": model.threshold_se,
                "n_answers": fit.answers.n_answered,
                "n_blank": fit.answers.n_questions - fit.answers.n_answered,
                "n_zero_cell_pairs": model.tetrachoric.zero_cells.sum(axis=1),
            }
        )
    )
    table = table.join(model.loadings.drop(columns="factor_1"))
    table = table.join(fit.response.respondents[_SHOWN].add_prefix("marginal_"))
    widths, by_topic = [], _by_topic(fit)
    if fit.n_replicates:
        intervals = fit.bootstrap.respondents
        table = table.join(intervals[[column for column in intervals if column not in table]])
        for drawn, unit in ((fit.bootstrap, "questions"), (by_topic, "topics")):
            if drawn is not None:
                width = (drawn.respondents["loading_high"] - drawn.respondents["loading_low"]).median()
                widths.append(f"{width:.2f} over {unit}")
    bars = f"; the median width of a 95% interval is {' and '.join(widths)}" if widths else ""
    return Finding(
        sentences=[f"{_run(fit.loadings)}{bars}.", _reliability(fit.response)],
        tables={
            "respondents": table,
            "questions": pd.DataFrame({"difficulty": model.difficulty, "difficulty_se": model.difficulty_se}),
        },
        numbers={"heywood": model.heywood, "reliability": fit.response.reliability[0]},
    )


def surprises(fit: PanelFit) -> Finding:
    """Who does not follow the scale as the others do; whether one slope would do for all."""
    found, rasch = answer_fit(fit.fits), rasch_test(fit.fits, "histogram", "common")
    turned, m = int(found.respondents["reversed"].sum()), len(found.respondents)
    against, off = _turned(turned, m), _off(found.respondents)
    one_slope = f"A Rasch model, one slope for all, does not hold: {', '.join(against)}."
    return Finding(
        sentences=[*found.sentences(), one_slope if turned else rasch.sentence()],
        tables={"respondents_fit": found.respondents, "information": found.information},
        numbers={"rasch": {name: getattr(rasch, name) for name in ("loading", "ratio", "df", "p")}},
        against=against + off,
        figures={
            "wright_map": lambda: draw.wright_map(fit.factor.difficulty, found.information, found.respondents["place"])
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
