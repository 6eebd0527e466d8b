"""What predicts whether a model is right: its own confidence, others', or what is known without asking anybody?"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from onedial.core.calls import says_how
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.stats.arrays import Floats
from onedial.stats.intervals import unit_weights
from onedial.stats.level import interval_95
from onedial.stats.roc import auc
from onedial.stats.texts import ridge_scores, text_features

OWN, FAMILY, OTHERS = "its own confidence", "its family's confidence", "other families' confidence"
IN_ANSWER, TEXT, HISTORY, RIGHT = (
    "other families' confidence in its answer",
    "the question's words",
    "correctness history",
    "share of other families that is right",
)
_FOLDS, _FEWEST_WRONG = 5, 10


@dataclass(frozen=True)
class Predictors:
    """How well each predictor tells the questions that a model gets right from those that it gets wrong.

    Attributes:
        summary: index predictor; auroc, auroc_low, auroc_high (mean over models; alone), bits with its interval (log
            loss that it saves per question alone, beside the share right), bits_more with its interval (that it saves
            where all others are known), n_models. Intervals over families, and of bits over questions too.
            beside it auroc_less with its interval: its AUROC minus that of the model's own confidence.
        auroc, bits, bits_more: model x predictor. one_other: (model,) mean AUROC of the confidence of single models of
            other families. left_out: models with fewer than ten right or wrong answers.
    """

    summary: pd.DataFrame
    auroc: pd.DataFrame
    bits: pd.DataFrame
    bits_more: pd.DataFrame
    one_other: "pd.Series[Any]"
    left_out: list[str]

    __repr__ = one_line


def predictors_of_correctness(
    confidence: pd.DataFrame,
    correctness: pd.DataFrame,
    families: "pd.Series[Any]",
    answered: pd.DataFrame | None = None,
    texts: "pd.Series[Any] | None" = None,
) -> dict[str, pd.DataFrame]:
    """One table for each predictor: question x model, nan where it is not known.

    Args:
        confidence, correctness: question x model. families: index model; a model without one is its own.
        answered: question x model, what each answered; with it, how confident other families are in that answer: the
            mean over their models of the confidence stated in it, 0 where a model answered otherwise.
        texts: index question; with it, what is known of a question before anybody has answered it: its words, learnt
            from the model's own past correctness, and its correctness history, learnt from everybody's (Generalized
            Correctness Models, 2509.24988): predicted mean correctness of all other models + predicted difference of
            its own from it, so that a short history of its own leans on theirs.

    Returns:
        name -> question x model. Confidence enters as normal scores of its ranks, so that no model's scale counts for
        more. Sign: higher = more likely to be right.

    >>> sure = pd.DataFrame({"a": [0.9, 0.4, 0.6], "b": [0.8, 0.3, 0.7], "c": [0.2, 0.5, 0.9]})
    >>> right = pd.DataFrame({"a": [1.0, 0.0, 1.0], "b": [1.0, 0.0, 0.0], "c": [0.0, 1.0, 1.0]})
    >>> tables = predictors_of_correctness(sure, right, pd.Series({"a": "x", "b": "x", "c": "y"}))
    >>> tables[RIGHT]["c"].tolist()  # the share of models of other families that were right
    [1.0, 0.0, 0.5]
    """
    names, kin = list(confidence.columns), _kin(families, list(confidence.columns))
    scores = confidence.apply(_normal_scores)
    apart = {name: [other for other in names if kin[other] != kin[name]] for name in names}
    within = {name: [other for other in names if kin[other] == kin[name] and other != name] for name in names}
    tables = {
        OWN: scores,
        FAMILY: pd.DataFrame({name: scores[within[name]].mean(axis=1) for name in names}),
        OTHERS: pd.DataFrame({name: scores[apart[name]].mean(axis=1) for name in names}),
        RIGHT: pd.DataFrame({name: correctness[apart[name]].mean(axis=1) for name in names}),
    }
    if answered is not None:
        tables[IN_ANSWER] = pd.DataFrame(
            {
                name: confidence[apart[name]]
                .where(answered[apart[name]].eq(answered[name], axis=0), 0.0)
                .where(confidence[apart[name]].notna() & answered[[name]].notna().to_numpy())
                .mean(axis=1)
                for name in names
            }
        )
    if texts is not None:
        known = texts.reindex(confidence.index).dropna()
        words = text_features(known.tolist()) if len(known) else np.empty((0, 0))
        others = pd.DataFrame({name: correctness.drop(columns=name).mean(axis=1) for name in names})
        tables[TEXT] = _from_text(known.index, words, correctness)
        learnt = (_from_text(known.index, words, part) for part in (others, correctness - others))
        tables[HISTORY] = next(learnt) + next(learnt)
    order = [OWN, FAMILY, OTHERS, TEXT, HISTORY, IN_ANSWER, RIGHT]
    return {name: tables[name] for name in order if name in tables}


@says_how
def compare_predictors(
    tables: dict[str, pd.DataFrame],
    correctness: pd.DataFrame,
    families: "pd.Series[Any]",
    n_bootstrap: int = 199,
    seed: int = 0,
) -> Predictors:
    """Score every predictor alone and given all others, model by model.

    Formula: AUROC of the predictor; log loss of logistic regressions (ridge, scikit-learn's default) fitted and scored
    in five folds of the questions, in bits per question, against the share right in the same folds: alone, and of all
    predictors against all but one. A gap in a predictor is its mean.

    Args:
        tables: of `predictors_of_correctness`. correctness: question x model. families: index model.
        n_bootstrap: resamples of questions and families at once. seed: of folds and resamples.

    Returns:
        Predictors; bits > 0 = helps.

    Raises:
        InputError: no model has ten right and ten wrong answers.

    >>> from onedial.confidence import predictors_of_correctness
    >>> rng, names = np.random.default_rng(0), list("abcd")
    >>> sure = pd.DataFrame(rng.random((60, 4)), columns=names)
    >>> right = pd.DataFrame((rng.random((60, 4)) < sure) * 1.0, columns=names)
    >>> families = pd.Series(list("xxyy"), names)
    >>> compare_predictors(predictors_of_correctness(sure, right, families), right, families, 19).auroc.shape
    (4, 4)
    """
    names = list(map(str, correctness))
    right = {name: int((correctness[name] == 1).sum()) for name in names}
    wrong = {name: int((correctness[name] == 0).sum()) for name in names}
    models = [name for name in names if min(right[name], wrong[name]) >= _FEWEST_WRONG]
    if not models:
        raise InputError(f"no model has {_FEWEST_WRONG} right and {_FEWEST_WRONG} wrong answers; nothing to predict")
    used = [name for name, table in tables.items() if table[models].notna().any().any()]
    n = len(correctness)
    areas = np.full((len(models), len(used)), np.nan)
    alone, more = np.full((n, len(models), len(used)), np.nan), np.full((n, len(models), len(used)), np.nan)
    for place, model in enumerate(models):
        there = [j for j, name in enumerate(used) if tables[name][model].notna().any()]
        known = np.flatnonzero(correctness[model].notna())
        y = correctness[model].to_numpy(float)[known]
        x = np.column_stack([_filled(tables[used[j]][model].to_numpy(float)[known]) for j in there])
        base = _losses(np.zeros((len(known), 1)), y, seed)
        whole = _losses(x, y, seed)
        for column, j in enumerate(there):
            values = tables[used[j]][model].to_numpy(float)[known]
            areas[place, j] = auc(values, y[:, None])[0]
            alone[known, place, j] = base - _losses(x[:, [column]], y, seed)
            rest = np.delete(x, column, axis=1)
            more[known, place, j] = (_losses(rest, y, seed) if rest.shape[1] else base) - whole
    kin = _kin(families, models)
    place_of_own = used.index(OWN) if OWN in used else None
    summary = _summary(areas, alone, more, [kin[model] for model in models], n_bootstrap, seed, place_of_own)
    index, columns = pd.Index(models, name="model"), pd.Index(used, name="predictor")
    return Predictors(
        summary.set_axis(columns, axis=0),
        pd.DataFrame(areas, index, columns),
        pd.DataFrame(_mean(alone), index, columns),
        pd.DataFrame(_mean(more), index, columns),
        _one_other(tables.get(OWN, pd.DataFrame()), correctness[models], _kin(families, names)),
        [name for name in names if name not in models],
    )


def _kin(families: "pd.Series[Any]", names: list[str]) -> dict[str, str]:
    known = families.reindex(names).fillna("").astype(str)
    return {name: known[name] or f"({name})" for name in names}


def _normal_scores(values: "pd.Series[Any]") -> "pd.Series[Any]":
    return pd.Series(ndtri((values.rank() - 0.5) / values.notna().sum()), values.index)


def _filled(values: Floats) -> Floats:
    spread = np.nanstd(values)
    return np.nan_to_num((values - np.nanmean(values)) / (spread if spread > 0 else 1.0))


def _losses(x: Floats, y: Floats, seed: int) -> Floats:
    """(question,) log loss in bits, each question from a model that did not see it; nothing known: the share right."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold

    p = np.empty(len(y))
    for seen, left in StratifiedKFold(_FOLDS, shuffle=True, random_state=seed).split(x, y):
        if not x.any():
            p[left] = y[seen].mean()
            continue
        p[left] = LogisticRegression().fit(x[seen], y[seen]).predict_proba(x[left])[:, 1]
    return -np.log2(np.clip(np.where(y == 1, p, 1 - p), 1e-9, 1))


def _from_text(known: pd.Index, features: Any, correctness: pd.DataFrame) -> pd.DataFrame:
    """Correctness of each model predicted from the question's words, by ridge regressions that did not see it."""
    scores = pd.DataFrame(np.nan, correctness.index, correctness.columns)
    graded = correctness.loc[known].dropna(axis=1, how="all")
    if not graded.empty:
        wanted = graded.fillna(graded.mean()).to_numpy(float)
        scores.loc[known, graded.columns] = ridge_scores(features, wanted, np.ones(len(known), dtype=bool))
    return scores


def _one_other(scores: pd.DataFrame, correctness: pd.DataFrame, kin: dict[str, str]) -> "pd.Series[Any]":
    """(model,) how well one other model does on average: mean AUROC over models of other families."""
    by_predictor = {}
    for name in map(str, correctness):
        others = scores[[other for other in map(str, scores) if kin[other] != kin[name]]].to_numpy(float)
        areas = np.array([auc(column, correctness[[name]].to_numpy(float))[0] for column in others.T])
        by_predictor[name] = float(_mean(areas)) if len(areas) else float("nan")
    return pd.Series(by_predictor)


def _summary(
    areas: Floats, alone: Floats, more: Floats, kin: list[str], n_bootstrap: int, seed: int, place_of_own: int | None
) -> pd.DataFrame:
    """Means over models, with intervals from resamples of the questions and of the families."""
    rng, n = np.random.default_rng(seed), len(alone)
    groups = [np.flatnonzero(np.array(kin) == name) for name in dict.fromkeys(kin)]
    weights = unit_weights(np.arange(n), n_bootstrap, rng)
    models = [np.concatenate([groups[i] for i in rng.integers(len(groups), size=len(groups))]) for _ in weights]
    table = pd.DataFrame(index=range(areas.shape[1]))
    measured = {"auroc": areas[None], "bits": alone, "bits_more": more}
    if place_of_own is not None:
        measured["auroc_less"] = (areas - areas[:, [place_of_own]])[None]
    for name, values in measured.items():
        table[name] = _mean(_mean(values))
        resampled = zip(_resampled(values, weights), models, strict=True)
        drawn = np.array([_mean(each[of]) for each, of in resampled]).reshape(-1, len(table))
        table[[f"{name}_low", f"{name}_high"]] = [interval_95(column) for column in drawn.T]
    return table.assign(n_models=np.isfinite(areas).sum(axis=0))


def _resampled(values: Floats, weights: Floats) -> Floats:
    """(resample, model, predictor) weighted means over the questions; what has none keeps its value."""
    if len(values) == 1:
        return np.repeat(values, len(weights), axis=0)
    known = np.isfinite(values).reshape(len(values), -1)
    count = weights @ known
    total = weights @ np.where(known, values.reshape(len(values), -1), 0.0)
    return np.asarray((total / np.where(count > 0, count, np.nan)).reshape(len(weights), *values.shape[1:]))


def _mean(values: Floats) -> Floats:
    """Over the first axis, what is not known left out; nan where nothing is."""
    known = np.isfinite(values)
    count = known.sum(axis=0)
    return np.asarray(np.where(known, values, 0).sum(axis=0) / np.where(count > 0, count, np.nan))
