"""Baselines without steering: what else puts the questions in an order, and how well does it do by the same rule?

Each baseline gives every target an order of the questions. It is cut where the target's yes rate on the fitting split
says, as the dial is set, and its kappa on the test split is averaged as S is. Beside it stands S minus the baseline's,
over the same resamples of the test questions.

    unsteered margin            the subject with another cut: a bias on the yes token's logit is the same thing
    level                       the data set's own label (difficulty; whether a request is safe), low or high first as
                                the other base models answer outside the test split
    text, from other models     as text, trained on what the other base models say: like for like with one dial
    mean of other models        what the other base models say to the very question
    shared difficulty           the factor score of the panel without the target's base model
    topic means                 the target's yes rate in the question's topic, drawn towards its mean
    text                        words by TF-IDF beside length, digits, capitals, superlatives: ridge
    instructed threshold        the subject told "only if you are at least t% sure", at the t at which it says yes most
                                nearly as often as the target; where it was asked so

Topic means and text are trained on the target's answers outside the test split, extraction questions included:
a baseline is worth the more the stronger it is. Each of them is an account of that one target alone.

The unsteered margin, the level, the text from other models, their mean and the shared difficulty are one-dimensional
accounts: one order of the questions that only takes another cut for each target (they differ between base models only
by leaving these out).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from onedial.asking.sweep_tables import margins_by
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.core.notices import noticed
from onedial.panels.splits import FITTING, TEST
from onedial.scale.factor.factor_model import fit_factor_model
from onedial.stats.agreement import count, count_resampled, interval
from onedial.stats.texts import ridge_scores, text_features
from onedial.verdict.case import Case
from onedial.verdict.numbers import average_within_models

BASELINE_COLUMNS = [
    "one_order",
    "n_targets",
    "signal",
    "low",
    "high",
    "difference",
    "difference_low",
    "difference_high",
]
MEAN, LEVEL_LABEL = "mean of other models", "level"
_SHRINK = 5.0
"""Topic means are drawn towards the target's mean as if by five further answers."""


Scores = Callable[[Case], np.ndarray | None]


def same_for_all(scores: np.ndarray, case: Case) -> np.ndarray:
    """Repeat one order of the questions for each target."""
    return np.repeat(scores[:, None], case.given.shape[1], axis=1)


def _unsteered(case: Case) -> np.ndarray:
    return same_for_all(case.unsteered_margins, case)


def _level(case: Case) -> np.ndarray | None:
    return None if case.levels is None else turned_as_others_answer(case.levels, case)


def turned_as_others_answer(scores: np.ndarray, case: Case) -> np.ndarray:
    """Turn scores so that they go with the other base models' answers outside the test split.

    Args:
        scores: question; nan where there is none.

    Returns:
        question x target; nan for a target where fewer than three questions tell.
    """
    scores_of_each = no_scores(case)
    for targets, mean in others_means(case):
        known = (case.splits != TEST) & ~np.isnan(scores) & ~np.isnan(mean)
        if known.sum() > 2:
            along = np.cov(scores[known], mean[known])[0, 1]
            scores_of_each[:, targets] = (scores if along >= 0 else -scores)[:, None]
    return scores_of_each


def others_means(case: Case) -> list[tuple[np.ndarray, np.ndarray]]:
    """List for each base model its targets, as a mask, and the mean answer of the others to each question."""
    pairs = []
    for model in np.unique(case.models):
        targets = case.models == model
        if not targets.all():
            given = case.given[:, ~targets]
            pairs.append((targets, average_within_models(given, case.models[~targets])))
    return pairs


def _text(case: Case) -> np.ndarray:
    return _ridge_on_own(case, text_features(case.texts)) if case.texts else no_scores(case)


def _ridge_on_own(case: Case, features: np.ndarray | sparse.csr_matrix) -> np.ndarray:
    return ridge_scores(features, case.given, case.splits != TEST)


def _text_from_others(case: Case) -> np.ndarray:
    if not case.texts:
        return no_scores(case)
    return ridge_scores(text_features(case.texts), _mean_of_others(case), case.splits != TEST)


def _mean_of_others(case: Case) -> np.ndarray:
    """Score a question by the mean answer of the other base models, for all targets of a base model alike."""
    scores = no_scores(case)
    for targets, mean in others_means(case):
        scores[:, targets] = mean[:, None]
    return scores


def topic_means(case: Case) -> np.ndarray:
    """Score a question by the target's yes rate in its topic outside the test split, its own answer included."""
    if len(set(case.topics)) < 2:
        return no_scores(case)
    scores = no_scores(case)
    for target, given in enumerate(case.given.T):
        known = (case.splits != TEST) & ~np.isnan(given)
        if not known.any():
            continue
        mean = given[known].mean()
        for topic in np.unique(case.topics):
            here = case.topics == topic
            scores[here, target] = (given[known & here].sum() + _SHRINK * mean) / ((known & here).sum() + _SHRINK)
    return scores


def _shared_difficulty(case: Case) -> np.ndarray:
    scores = no_scores(case)
    for model in np.unique(case.models):
        targets = case.models == model
        try:
            with noticed(lambda text: None):  # said once already, of the whole panel
                others = pd.DataFrame(case.given[:, ~targets], case.questions, case.targets[~targets])
                factor = fit_factor_model(others, n_permutations=0)
        except InputError:  # too few respondents or questions are left for a factor
            continue
        scores[:, targets] = -factor.difficulty.reindex(case.questions).to_numpy(float)[:, None]
    return scores


def _instructed(case: Case) -> np.ndarray | None:
    if case.instructed is None:
        return None
    scores = no_scores(case)
    fitting, margins = case.splits == FITTING, case.instructed
    for target, given in enumerate(case.given.T):
        both = fitting[:, None] & ~np.isnan(margins) & ~np.isnan(given)[:, None]
        if not both.any():
            continue
        with np.errstate(invalid="ignore", divide="ignore"):
            away = np.abs(((margins > 0) & both).sum(axis=0) - (both * np.nan_to_num(given)[:, None]).sum(axis=0))
            away = away / both.sum(axis=0)
        scores[:, target] = margins[:, int(np.nanargmin(away))]
    return scores


def no_scores(case: Case) -> np.ndarray:
    """Give question x target scores of nan: nothing is said of any."""
    return np.full(case.given.shape, np.nan)


@dataclass(frozen=True)
class Baseline:
    """An account of the targets that needs no steering: an order of the questions for each of them.

    Attributes:
        scores: from a case to question x target, higher where a yes is likelier and nan where it says nothing; or
            None, where what it is made of was not measured. What a target says to test questions must not enter its
            scores, nor its base model's other targets; what it says to a question must not enter that question's.
        one_order: one order for all targets (but for leaving out each base model), as a dial has.
        own_answers: trained, or chosen, on the target's own answers outside the test split.
    """

    scores: Scores
    one_order: bool = False
    own_answers: bool = False
    __repr__ = one_line

    def of(self, name: str, case: Case) -> np.ndarray | None:
        """Compute the scores, and check their shape.

        Raises:
            InputError: another shape than question x target.
        """
        scores = self.scores(case)
        if scores is not None and np.shape(scores) != case.given.shape:
            raise InputError(
                f"the baseline {name!r} gives scores of shape {np.shape(scores)} for {case.given.shape[0]} questions "
                f"and {case.given.shape[1]} targets; return one score for each, {case.given.shape}"
            )
        return scores


BASELINES: dict[str, Baseline] = {
    "unsteered margin": Baseline(_unsteered, one_order=True),
    LEVEL_LABEL: Baseline(_level, one_order=True),
    "text, from other models": Baseline(_text_from_others, one_order=True),
    MEAN: Baseline(_mean_of_others, one_order=True),
    "shared difficulty": Baseline(_shared_difficulty, one_order=True),
    "topic means": Baseline(topic_means, own_answers=True),
    "text": Baseline(_text, own_answers=True),
    "instructed threshold": Baseline(_instructed, own_answers=True),
}
"""Name to baseline; a plugin's stands in the same tables and figures."""


def scores_of(name: str, case: Case) -> np.ndarray | None:
    """Make (question, target) scores of one of `BASELINES` once, since they are sources of the predictions too."""
    if name not in case.scores_made:
        case.scores_made[name] = BASELINES[name].of(name, case)
    return case.scores_made[name]


def baseline_table(case: Case) -> pd.DataFrame:
    """Compute S of every baseline, and S of steering minus it.

    Both are over the targets for which the baseline has an order, so the differences' n_targets may differ.

    Returns:
        Index baseline; columns `BASELINE_COLUMNS`; 95% intervals over test questions.
    """
    groups, test_targets = case.groups(case.test), case.given[case.test]
    rows: dict[str, list[Any]] = {}
    for name, baseline in BASELINES.items():
        if (scores := scores_of(name, case)) is None:
            continue
        cut = {
            int(target): cut_at_rate(scores[:, target], case.given[:, target], case.fitting)[case.test]
            for target in np.flatnonzero(case.judged)
        }
        placed = [target for target, answers in cut.items() if not np.isnan(answers).all()]
        if not placed:
            rows[name] = [baseline.one_order, 0, *[np.nan] * 6]
            continue
        sides = {
            "baseline": np.stack([cut[target] for target in placed], axis=1),
            "steered": case.rate_matched[:, placed],
        }
        models, values, drawn = case.models[placed], {}, {}
        for side, answers in sides.items():
            kappas = count(answers, test_targets[:, placed]).kappa()
            resampled = count_resampled(answers, test_targets[:, placed], case.n_resamples, case.seed, groups).kappa()
            values[side] = float(average_within_models(np.nan_to_num(kappas), models))
            drawn[side] = average_within_models(np.nan_to_num(resampled), models)
        low, high = interval(drawn["baseline"])
        apart_low, apart_high = interval(drawn["steered"] - drawn["baseline"])
        apart = values["steered"] - values["baseline"]
        rows[name] = [baseline.one_order, len(placed), values["baseline"], float(low), float(high), apart]
        rows[name] += [float(apart_low), float(apart_high)]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=BASELINE_COLUMNS).rename_axis("baseline")
    return table.astype(dict.fromkeys(BASELINE_COLUMNS[2:], float))


def cut_at_rate(scores: np.ndarray, given: np.ndarray, fitting: np.ndarray) -> np.ndarray:
    """Say yes where the score is above the cut at which the yes rate on the fitting split is nearest to the target's.

    Args:
        scores, given: question; nan where there is none. fitting: mask.

    Returns:
        1, 0, nan where the score is missing; nan throughout where the fitting split tells no rate.
    """
    known = fitting & ~np.isnan(scores) & ~np.isnan(given)
    if not known.any():
        return np.full(len(scores), np.nan)
    values = np.sort(np.unique(scores[known]))
    cuts = np.concatenate([[-np.inf], (values[:-1] + values[1:]) / 2, [np.inf]])
    rates = np.array([(scores[known] > cut).mean() for cut in cuts])
    cut = cuts[np.abs(rates - given[known].mean()).argmin()]
    return np.where(np.isnan(scores), np.nan, (scores > cut).astype(float))


@dataclass(frozen=True)
class Ceiling:
    """The best one-dimensional account without steering, its own S, and the share of it that the dial's S is."""

    account: str
    signal: float
    share: float


def ceiling(baselines: pd.DataFrame, signal: float) -> Ceiling | None:
    """Find what `signal`, S of the dial, is held against; None where no account has one above 0."""
    accounts = baselines[baselines["one_order"].astype(bool) & (baselines["signal"] > 0)]
    accounts = accounts.drop(index=["unsteered margin", LEVEL_LABEL], errors="ignore")
    if accounts.empty or np.isnan(signal):
        return None
    best, highest = str(accounts["signal"].idxmax()), float(accounts["signal"].max())
    return Ceiling(best, highest, signal / highest)


def instructed_margins(
    instructed: pd.DataFrame | None, questions: pd.Index, unsteered: np.ndarray
) -> np.ndarray | None:
    """Lay margins out as question x level, without an instruction first; nan where unread or not asked so."""
    if instructed is None or instructed.empty:
        return None
    margins = margins_by(instructed, "level").reindex(questions).to_numpy(float)
    return np.column_stack([np.where(np.isnan(margins).all(axis=1), np.nan, unsteered), margins])
