"""Compute what the study asks of a panel, each thing once."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from onedial.confidence.calibration import calibration_table, reliability_table
from onedial.confidence.confidence_accuracy import ConfidenceAccuracy, confidence_accuracy_regression
from onedial.confidence.f_beta import FBetaCurve, f_beta_curve
from onedial.confidence.metacognition import metacognition_table
from onedial.confidence.predictors import Predictors, compare_predictors, predictors_of_correctness
from onedial.confidence.shared_or_own import SharedOrOwn, shared_or_own
from onedial.confidence.validity import screen_confidence
from onedial.core.errors import InputError
from onedial.panels.panel_scores import (
    Confidence,
    base_model_means,
    correctness_of,
    rates_of_respondents,
    stated_confidence,
)
from onedial.panels.panels import ResponseMatrix
from onedial.stats.roc import auc
from onedial.studies.panel.readings import Reading, other_readings

ATTITUDES = {
    "a wrong yes costs far more": 1 / 4,
    "a wrong yes costs more": 1 / 2,
    "both cost the same": 1,
    "a wrong no costs more": 2,
    "a wrong no costs far more": 4,
}
"""Attitude to error to beta."""
FEWEST_MODELS, FEWEST_WRONG, MOST_REPLICATES = 3, 10, 199
NOT_TESTED = "Whose knowledge it is was not tested: --replicates 0."


@dataclass(frozen=True)
class StudyCase:
    """A panel, and what is asked of it. Where the panel has no grades, whatever needs them is None.

    Args:
        n_replicates: random draws of each null and interval; 0 = none. with_scale: whether its factor is fitted.
    """

    panel: ResponseMatrix
    n_replicates: int
    seed: int
    with_scale: bool = True

    def stages(self) -> dict[str, Callable[[], object]]:
        """What takes long, by name, in its order."""
        scale = {"scale": lambda: self.as_answered, "readings": lambda: self.readings} if self.with_scale else {}
        graded = {"calibration": lambda: self.calibration, "knowledge": lambda: (self.own, self.predictors)}
        return scale | (graded if self.correctness is not None else {})

    @cached_property
    def as_answered(self) -> Reading:
        """The factor of the yes and no as they are, with its nulls."""
        return Reading.of(self.panel.answers, self.n_replicates, self.seed)

    @cached_property
    def readings(self) -> pd.DataFrame:
        """One row for each way to read the panel; see `other_readings`."""
        return other_readings(self.as_answered, self.panel, self.n_replicates, self.seed)

    @cached_property
    def correctness(self) -> pd.DataFrame | None:
        """Question x respondent, 1 = right; None where the panel does not say."""
        return correctness_of(self.panel)

    @property
    def graded(self) -> pd.DataFrame:
        """The same, where it is known to be there."""
        assert self.correctness is not None
        return self.correctness

    @cached_property
    def confidence(self) -> Confidence | None:
        """Numeric confidence, stated or by margins."""
        return stated_confidence(self.panel)

    @property
    def stated(self) -> pd.DataFrame | None:
        """Numbers that were stated; None where there are none."""
        return self.confidence.values if self.confidence is not None and self.confidence.source == "stated" else None

    @cached_property
    def families(self) -> "pd.Series[Any]":
        """(model,) its family; "" where it is not known."""
        return self.panel.respondents.groupby("model", sort=False)["family"].first()

    @cached_property
    def respondents(self) -> pd.DataFrame:
        """How often each says yes and is right, with what is missing; its loading and threshold."""
        table = rates_of_respondents(self.panel, self.correctness).assign(family=self.panel.respondents["family"])
        table = table.rename(columns={"yes_low": "yes_rate_low", "yes_high": "yes_rate_high"})
        if self.with_scale:
            model = self.as_answered.model
            known = {"threshold": model.thresholds, "threshold_se": model.threshold_se}
            table = table.join(model.loadings.set_axis(["loading"], axis=1).assign(**known))
        return table.sort_values("yes_rate")

    @cached_property
    def base_models(self) -> pd.DataFrame:
        """Mean confidence and accuracy of each base model, its framings averaged."""
        return base_model_means(self.panel, self.graded, self.stated).assign(family=self.families)

    @cached_property
    def line(self) -> ConfidenceAccuracy | None:
        """Confidence on accuracy between base models; None where there are too few of them."""
        if len(self.base_models) < FEWEST_MODELS:
            return None
        return confidence_accuracy_regression(self.base_models["confidence"], self.base_models["accuracy"])

    def line_of_those_that_tell(self) -> dict[str, float] | None:
        """The line of the models whose confidence tells; None where these are all, or too few."""
        kept = self.panel.select(respondents=list(self.screening.index[self.screening["tells"]]))
        if len(kept.respondents) == len(self.screening) or kept.respondents["model"].nunique() < FEWEST_MODELS:
            return None
        numbers = None if self.stated is None else self.stated[kept.answers.columns]
        means = base_model_means(kept, self.graded[kept.answers.columns], numbers)
        line = confidence_accuracy_regression(means["confidence"], means["accuracy"]).line
        return {"n": line.n, "slope": line.slope, "low": line.slope_low, "high": line.slope_high}

    def lines(self) -> pd.DataFrame | None:
        """The line as it is and on logits."""
        if self.line is None:
            return None
        return pd.DataFrame.from_dict({"as is": asdict(self.line.line), "logit": asdict(self.line.logit_line)}, "index")

    @cached_property
    def f_beta(self) -> FBetaCurve:
        """F-beta of every respondent."""
        return f_beta_curve(self.panel, self.graded)

    def attitudes(self) -> pd.DataFrame:
        """The best respondent for each attitude to error, and the best one of another base model.

        Returns:
            Index attitude; beta, best, model, f_beta, n, always_yes (what the best respondent would get by saying yes
            to everything: (1 + beta^2) a / (beta^2 a + 1) at its accuracy a), best_other_model, f_beta_other.
        """
        models, rows = self.panel.respondents["model"], {}
        accuracy = self.graded.where(self.panel.answers.notna()).mean()
        for attitude, beta in ATTITUDES.items():
            values = pd.Series(self.f_beta.curve.loc[beta]).dropna().sort_values(ascending=False, kind="stable")
            if values.empty:
                continue
            best = values.index[0]
            others = values[(models[values.index] != models[best]).to_numpy()]
            rows[attitude] = {
                "beta": float(beta),
                "best": best,
                "model": models[best],
                "f_beta": values.iloc[0],
                "n": int(self.f_beta.n[best]),
                "always_yes": (1 + beta**2) * accuracy[best] / (beta**2 * accuracy[best] + 1),
                "best_other_model": others.index[0] if len(others) else "",
                "f_beta_other": others.iloc[0] if len(others) else float("nan"),
            }
        return pd.DataFrame.from_dict(rows, orient="index")

    @cached_property
    def screening(self) -> pd.DataFrame:
        """Whose confidence says anything of its own answers."""
        return screen_confidence(
            self.panel.answers, self.graded, None if self.confidence is None else self.confidence.values
        )

    @cached_property
    def numbers_and_grades(self) -> tuple[pd.DataFrame, pd.DataFrame] | None:
        """Numeric confidence of those that have any, and their grades."""
        if self.confidence is None:
            return None
        sure = self.confidence.values.dropna(axis=1, how="all")
        return sure, self.graded[sure.columns]

    @cached_property
    def calibration(self) -> pd.DataFrame | None:
        """Calibration error, Brier skill and AUROC of each respondent."""
        if self.numbers_and_grades is None:
            return None
        return calibration_table(*self.numbers_and_grades, n_bootstrap=self.n_replicates, seed=self.seed)

    def metacognition(self) -> pd.DataFrame | None:
        """meta-d' and M-ratio of each respondent."""
        return None if self.numbers_and_grades is None else metacognition_table(*self.numbers_and_grades)

    def reliability(self) -> pd.DataFrame | None:
        """Share right by confidence, framings of a base model pooled."""
        if self.numbers_and_grades is None:
            return None
        return reliability_table(*self.numbers_and_grades, self.panel.respondents["model"])

    @cached_property
    def by_base_model(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Confidence and correctness with a column for each base model, framings averaged."""
        values = self.panel.answers.astype(float) if self.confidence is None else self.confidence.values
        values = values.dropna(axis=1, how="all")
        models = self.panel.respondents["model"].reindex(values.columns).to_numpy()
        sure, right = (table.T.groupby(models, sort=False).mean().T for table in (values, self.graded[values.columns]))
        return sure, (right > 0.5).astype(float).where(right.notna())

    def answered(self) -> pd.DataFrame | None:
        """Question x model, what each answered, where a model has one framing only and the panel says so."""
        responses, (sure, _) = self.panel.responses, self.by_base_model
        model_of = self.panel.respondents["model"]
        if responses is None or "answered" not in responses or not model_of.is_unique:
            return None
        table = responses.pivot_table(index="question_id", columns="respondent", values="answered", aggfunc="first")
        return table.rename(columns=model_of.to_dict()).reindex(index=sure.index, columns=sure.columns)

    @cached_property
    def own(self) -> SharedOrOwn | str:
        """What is shared and what is a model's own; or why that cannot be said."""
        if not self.n_replicates:
            return NOT_TESTED
        try:
            return shared_or_own(*self.by_base_model, self.families, min(self.n_replicates, MOST_REPLICATES), self.seed)
        except InputError as error:
            return f"Whose knowledge it is cannot be said: {error}."

    @cached_property
    def predictors(self) -> Predictors | None:
        """What tells a model's right from its wrong answers; None where `own` says why not, or nobody errs."""
        if isinstance(self.own, str):
            return None
        sure, right = self.by_base_model
        tables = predictors_of_correctness(sure, right, self.families, self.answered(), self.panel.question_texts)
        try:
            return compare_predictors(tables, right, self.families, min(self.n_replicates, MOST_REPLICATES), self.seed)
        except InputError:  # nobody has ten right and ten wrong answers
            return None

    def predictors_by_model(self) -> pd.DataFrame | None:
        """AUROC of each predictor for each model."""
        if self.predictors is None:
            return None
        return self.predictors.auroc.assign(**{"one model of another family": self.predictors.one_other})

    def topics(self) -> pd.DataFrame | None:
        """AUROC of confidence for correctness, respondent x topic, and over all; None where no topics are known.

        nan where fewer than ten answers of a topic are right, or wrong.
        """
        about = self.panel.about_questions
        if about is None or "topic" not in about or self.confidence is None:
            return None
        values = {}
        for topic in [*sorted(about["topic"].dropna().unique()), "all"]:
            rows = (about["topic"] == topic).to_numpy() | (topic == "all")
            for name in map(str, self.confidence.values):
                sure, right = (table.loc[rows, name].to_numpy(float) for table in (self.confidence.values, self.graded))
                right = np.where(np.isfinite(sure), right, np.nan)
                enough = min((right == 1).sum(), (right == 0).sum()) >= FEWEST_WRONG
                values[name, topic] = auc(sure, right[:, None])[0] if enough else np.nan
        return pd.Series(values).unstack(sort=False)
