"""The cheap replacement: an order of the questions from their words alone, trained on what is hard for other models.

If targets share one difficulty and differ in where they draw the line, then a question's difficulty, read off its
words, and one threshold per target stand in for any dial. The test is as hard as for a probe: topics are held out.

    for each fold of whole topics, and each base model:
        difficulty   of the questions of the other topics, inferred from the other base models' answers (factor score)
        text         ridge on words, pairs of words and surface, trained on it, gives an order of the fold's questions
        cut          at the yes rate that the target has on the other topics: its threshold
    agreement and kappa of what is above the cut with what the target says

Other orders (the dial's, the unsteered margin) are cut at the same rates on the same questions. The shared difficulty
itself is no replacement, since it needs other models' answers to the very question; it says what a perfect reader of
difficulty would reach.

Intervals are over topics, the fits as they are. Where words told nothing, kappa was -.005 on average, and the interval
over 12 simulated topics held 0 in 85% of 60 samples: it is somewhat narrow.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import sparse

from onedial.core import InputError, noticed
from onedial.panels import EXTRACTION
from onedial.scale import fit_factor_model
from onedial.stats import ALPHAS, average_within_models, count, count_resampled, interval, text_features
from onedial.verdict.dial import dial_of_grid
from onedial.verdict.rivals.rivals import cut_at_rate
from onedial.verdict.sweep_run import SweepRun

TEXT, DIFFICULTY, MAJORITY = "text", "shared difficulty", "majority"
REPLACEMENT_COLUMNS = (
    "order", "kappa", "low", "high", "agreement", "agreement_low", "agreement_high", "over_text", "over_text_low",
    "over_text_high", "n_targets", "n_questions", "n_missing",
)  # fmt: skip
_LEAST = 20


def replacement_table(
    answers: pd.DataFrame,
    models: Sequence[str],
    texts: Sequence[str],
    folds: np.ndarray,
    topics: np.ndarray,
    orders: Mapping[str, np.ndarray] | None = None,
    embedding: np.ndarray | None = None,
    n_bootstrap: int = 999,
    seed: int = 0,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Text and other orders against every target, on topics that neither text nor cut has seen.

    Args:
        answers: question x target, 1 / 0 / nan. models: base model of each target. texts: of the questions.
        folds, topics: question -> number; a topic is in one fold.
        orders: name -> (question,) higher = rather yes, nan unread; compared with the text.
        embedding: (question, dimension) of the texts, for a second text order that sees it too.

    Returns:
        By order, `REPLACEMENT_COLUMNS`: kappa and agreement, mean over targets within base models and then over base
        models, with 95% intervals over topics; over_text: kappa minus that of the text on the same questions, both
        drawn together;
        n_missing: answers left out, since the target did not answer or the order has no place for the question. And by
        order and target: `order, target, model, n, yes_rate, kappa, agreement`.

    Raises:
        InputError: tables of other lengths; fewer than two base models; fewer than 20 questions outside a fold.

    >>> rng = np.random.default_rng(0)
    >>> hard = np.repeat([0, 1], 30)
    >>> answers = pd.DataFrame({name: (rng.random(60) < np.where(hard, 0.2, 0.8)) * 1.0 for name in ("a", "b")})
    >>> texts, topics = np.where(hard, "an old obscure duke", "a big town"), np.arange(60) % 3
    >>> table, _ = replacement_table(answers, ["a", "b"], list(texts), topics, topics, n_bootstrap=19)
    >>> table[["order", "kappa"]].round(1).to_numpy().tolist()
    [['text', 0.6], ['shared difficulty', 0.5], ['majority', -0.1]]
    """
    n, own_models = len(answers), np.asarray(models, dtype=str)
    if not len(texts) == len(folds) == len(topics) == n or len(own_models) != answers.shape[1]:
        raise InputError(
            f"answers of {n} questions and {answers.shape[1]} targets, {len(texts)} texts, {len(folds)} folds, "
            f"{len(topics)} topics, {len(own_models)} base models; give one of each for every question and target"
        )
    if len(np.unique(own_models)) < 2:
        raise InputError("all targets are of one base model, so no difficulty can be inferred from others; add models")
    if fewest := [fold for fold in np.unique(folds) if (folds != fold).sum() < _LEAST]:
        raise InputError(f"fewer than {_LEAST} questions stand outside fold {fewest[0]}; give more questions or folds")
    given = answers.to_numpy(dtype=float)
    features = text_features(texts)
    kinds = {TEXT: features}
    if embedding is not None:
        spread = np.where(embedding.std(axis=0) > 0, embedding.std(axis=0), 1.0)
        scaled = (embedding - embedding.mean(axis=0)) / spread / np.sqrt(embedding.shape[1])
        kinds[f"{TEXT} and embedding"] = sparse.hstack([features, sparse.csr_matrix(scaled)]).tocsr()
    ease = _ease_for_others(answers, own_models)
    said = {name: _from_text(kind, ease, given, folds) for name, kind in kinds.items()}
    every = {**(orders or {}), DIFFICULTY: ease}
    said |= {name: _cut(np.broadcast_to(np.reshape(order, (n, -1)), given.shape), given, folds)
             for name, order in every.items()}  # fmt: skip
    said[MAJORITY] = _cut(np.zeros_like(given), given, folds)
    codes = np.unique(topics, return_inverse=True)[1]
    lines, by_target = [], []
    for name, predicted in said.items():
        counts, resampled = count(predicted, given), count_resampled(predicted, given, n_bootstrap, seed, codes)
        drawn = average_within_models(resampled.kappa(), own_models)
        low, high = _ends(drawn)
        agreed_low, agreed_high = _ends(average_within_models(resampled.agreement(), own_models))
        same = np.where(np.isnan(predicted), np.nan, said[TEXT])  # the text on the questions that this order places
        over = drawn - average_within_models(count_resampled(same, given, n_bootstrap, seed, codes).kappa(), own_models)
        kappa = float(average_within_models(counts.kappa(), own_models))
        text = float(average_within_models(count(same, given).kappa(), own_models))
        lines.append(
            {
                "order": name, "kappa": kappa, "low": low, "high": high,
                "agreement": float(average_within_models(counts.agreement(), own_models)),
                "agreement_low": agreed_low, "agreement_high": agreed_high,
                "over_text": kappa - text, **dict(zip(("over_text_low", "over_text_high"), _ends(over), strict=True)),
                "n_targets": int((counts.n > 0).sum()), "n_questions": n, "n_missing": int(given.size - counts.n.sum()),
            }
        )  # fmt: skip
        by_target.append(
            pd.DataFrame(
                {
                    "order": name, "target": answers.columns, "model": own_models, "n": counts.n.astype(int),
                    "yes_rate": np.nanmean(given, axis=0), "kappa": counts.kappa(), "agreement": counts.agreement(),
                }
            )
        )  # fmt: skip
    return pd.DataFrame(lines, columns=list(REPLACEMENT_COLUMNS)), pd.concat(by_target, ignore_index=True)


def dial_order(run: SweepRun) -> pd.Series:
    """Question id -> ease of the dial under test (higher = turns to yes earlier); nan for those it was made of.

    Raises:
        InputError: the run has not come to a sweep.

    >>> dial_order(SweepRun.open("tests/reference/golden/default")).round(2).head(3).tolist()
    [0.52, nan, nan]
    """
    tables = run.tables()
    if tables.sweep.empty:
        raise InputError(f"{run.path} holds no sweep; finish the run with --resume, or give another one as the dial")
    grid = tables.grid
    return pd.Series(np.where(grid.rows(EXTRACTION), np.nan, dial_of_grid(grid).ease), index=grid.questions)


def _ease_for_others(answers: pd.DataFrame, models: np.ndarray) -> np.ndarray:
    """Question x target: minus the difficulty that the other base models share, or their share of yes."""
    found = np.full(answers.shape, np.nan)
    for model in np.unique(models):
        own = models == model
        others = answers.loc[:, ~own]
        try:
            with noticed(lambda text: None):
                ease = -fit_factor_model(others, n_permutations=0).difficulty.reindex(answers.index).to_numpy(float)
        except InputError:  # too few respondents for a factor
            ease = average_within_models(others.to_numpy(float), models[~own])
        found[:, own] = ease[:, None]
    return found


def _from_text(features: sparse.csr_matrix, ease: np.ndarray, given: np.ndarray, folds: np.ndarray) -> np.ndarray:
    """Question x target: what the text says, trained and cut on the other topics."""
    from sklearn.linear_model import RidgeCV

    said, known = np.full(given.shape, np.nan), ~np.isnan(ease)
    columns = {tuple(np.nan_to_num(column)): place for place, column in enumerate(ease.T)}
    for fold in np.unique(folds):
        own = folds == fold
        for column in columns.values():  # targets of one base model share the training values
            train = ~own & known[:, column]
            score = RidgeCV(ALPHAS).fit(features[train], ease[train, column]).predict(features)
            same = np.flatnonzero((np.nan_to_num(ease) == np.nan_to_num(ease[:, [column]])).all(axis=0))
            for target in same:
                said[own, target] = cut_at_rate(score, given[:, target], ~own)[own]
    return said


def _cut(order: np.ndarray, given: np.ndarray, folds: np.ndarray) -> np.ndarray:
    """Question x target: above the cut at which the yes rate on the other topics is nearest to the target's."""
    said = np.full(given.shape, np.nan)
    for fold in np.unique(folds):
        own = folds == fold
        for target in range(given.shape[1]):
            said[own, target] = cut_at_rate(order[:, target], given[:, target], ~own)[own]
    return said


def _ends(drawn: np.ndarray) -> tuple[float, float]:
    low, high = interval(drawn)
    return float(low), float(high)
