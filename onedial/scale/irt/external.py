"""Somebody else's answers on a scale that a panel has made: where the questions lie stays as the panel says.

A respondent that took no part in making the scale, such as one model at every setting of a dial, gets a threshold and a
loading on it. What the panel knows of question q is a distribution over the scale, w_q(z), its posterior; with it

    P(yes to q) = sum_z w_q(z) Phi(a z + d),   loading = a / sqrt(1 + a^2),   threshold = d / sqrt(1 + a^2)

so that questions of which the panel knows little pull little. a and d are found by maximum likelihood (an item put on a
scale with its parameters fixed; Kim, 2006, Journal of Educational Measurement 43, 355-381). Standard errors are of the
sandwich kind, from the scores of the questions or of groups of them, so that they hold across respondents who were
asked the same questions (White, 1982, Econometrica 50, 1-25). They take the scale as given; its origin and unit are
mean and spread of the questions that the panel answered.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

from onedial.core import InputError, one_line
from onedial.scale.correlations.thresholds import normal_quantile
from onedial.scale.factor.usable import usable_answers
from onedial.scale.irt.category_curves import STEEPEST
from onedial.scale.irt.expectation import posterior_of
from onedial.scale.irt.irt import marginal_model
from onedial.scale.irt.marginal_fit import MarginalFit
from onedial.stats import Answers, Floats, as_answers

PLACED = "placed"
FEWEST = 5
TOO_FEW = f"fewer than {FEWEST} answers of one kind to the scale's questions"
AT_BOUND = "at the bound of the loading (Heywood case)"
_LEAST = 1e-12
_FURTHEST = 40.0
_MOST_STEPS = 60
_SETTLED = 1e-11


@dataclass(frozen=True)
class PlacedRespondents:
    """Respondents on somebody else's scale.

    Attributes:
        table: index respondent; `threshold, threshold_se, loading, loading_se, yes_rate, n` (answers to questions that
            the scale knows) and `status`. nan where `status` is not "placed"; at the bound the loading stands, without
            standard errors.
        covariance: (2 respondents, 2 respondents) of all thresholds, then all loadings; nan where there is no standard
            error.
    """

    table: pd.DataFrame
    covariance: Floats

    __repr__ = one_line

    def contrast(self, thresholds: Floats, loadings: Floats) -> tuple[float, float]:
        """A weighted sum of thresholds and loadings and its standard error; weights of 0 leave a respondent out."""
        weights = np.concatenate([thresholds, loadings])
        used = weights != 0
        values = np.concatenate([self.table["threshold"], self.table["loading"]])
        variance = weights[used] @ self.covariance[np.ix_(used, used)] @ weights[used]
        return float(weights[used] @ values[used]), float(np.sqrt(variance))


@dataclass(frozen=True)
class QuestionScale:
    """A panel's scale, on which others can be placed.

    Attributes:
        questions: their identifiers. respondents: those whose answers made the scale.
        fit: the panel's two-parameter model with a normal scale.
    """

    questions: pd.Index
    respondents: pd.Index
    fit: MarginalFit

    @classmethod
    def of(cls, matrix: Any) -> "QuestionScale":
        """Fit a panel, question x respondent, 1 / 0 / nan.

        Raises:
            InputError: fewer than three respondents vary or share questions.
        """
        answers = usable_answers(as_answers(matrix))
        fit, linked = marginal_model(answers)
        return cls(answers.questions, answers.respondents[linked], fit)

    def posterior(self, without: Sequence[Any] = ()) -> Floats:
        """(question, node) where each question lies by the answers of all respondents but some; nan rows where nobody
        else answered.

        The others' curves stay as they are: of what is left out only its own answers are taken back.
        """
        kept = ~self.respondents.isin(list(without))
        codes = self.fit.codes[:, kept]
        found = posterior_of(codes, self.fit.log_p[:, kept], self.fit.log_weight)[0]
        found[(codes < 0).all(axis=1)] = np.nan
        return found

    def place(self, others: Any, without: Sequence[Any] = (), groups: pd.Series | None = None) -> PlacedRespondents:
        """Threshold and loading of respondents on this scale.

        Args:
            others: question x respondent, 1 / 0 / nan; questions that the scale does not know are left out.
            without: respondents of the scale whose answers do not count, so that nobody is placed by answers of its
                own.
            groups: question -> group that hangs together, such as its topic: standard errors are over groups then.

        Returns:
            PlacedRespondents. Sign: threshold higher = more often yes; a positive loading follows the panel's scale.

        Raises:
            InputError: the two have no question in common.
        """
        answers = as_answers(others)
        rows = self.questions.get_indexer(answers.questions)
        if not (rows >= 0).any():
            raise InputError(
                f"none of the {len(rows)} questions is among the {len(self.questions)} of the scale; "
                "both need the same identifiers"
            )
        posterior = np.full((len(rows), len(self.fit.nodes)), np.nan)
        posterior[rows >= 0] = self.posterior(without)[rows[rows >= 0]]
        units = None if groups is None else pd.factorize(groups.reindex(answers.questions))[0]
        return _placed(answers, posterior, self.fit.nodes, units)


def _placed(answers: Answers, posterior: Floats, nodes: Floats, units: Any) -> PlacedRespondents:
    known = ~np.isnan(posterior[:, 0])
    n_units = len(known) if units is None else int(units.max()) + 1
    index = np.arange(len(known)) if units is None else units
    m = len(answers.respondents)
    seen = answers.answered & known[:, None]
    yes = answers.yes.astype(bool) & seen
    n, n_yes = seen.sum(axis=0), yes.sum(axis=0)
    found = {name: np.full(m, np.nan) for name in ("threshold", "threshold_se", "loading", "loading_se")}
    with np.errstate(invalid="ignore"):
        found |= {"yes_rate": n_yes / n, "n": n.astype(float)}
    enough = np.minimum(n_yes, n - n_yes) >= FEWEST
    status = np.where(enough, PLACED, TOO_FEW).astype(object)
    influence = np.full((n_units, 2 * m), np.nan)
    at, scores, information = _fitted(np.nan_to_num(posterior), nodes, seen[:, enough], yes[:, enough])
    for place, column in enumerate(np.flatnonzero(enough)):
        slope, intercept = at[:, place]
        root = np.sqrt(1 + slope**2)
        found["threshold"][column], found["loading"][column] = intercept / root, slope / root
        if abs(slope) >= STEEPEST * (1 - 1e-6):
            status[column] = AT_BOUND
            continue
        # What one question's answer moves: the inverse information times its score, then on to threshold and loading.
        moved = scores[:, :, place].T @ np.linalg.pinv(information[place])
        by_unit = np.zeros((n_units, 2))
        np.add.at(by_unit, index[known], moved[known])
        influence[:, column] = by_unit @ np.array([-intercept * slope / root**3, 1 / root])
        influence[:, m + column] = by_unit @ np.array([1 / root**3, 0.0])
    covariance = influence.T @ influence
    if n_units > 1:
        covariance *= n_units / (n_units - 1)
    errors = np.sqrt(np.diag(covariance))
    found["threshold_se"], found["loading_se"] = errors[:m], errors[m:]
    return PlacedRespondents(pd.DataFrame(found, index=answers.respondents).assign(status=status), covariance)


def _fitted(posterior: Floats, nodes: Floats, seen: Any, yes: Any) -> tuple[Floats, Floats, Floats]:
    """(2, respondent) slope and intercept at the maximum, (2, question, respondent) scores and (respondent, 2, 2)
    observed information there, by Newton's method for all respondents at once.

    Where the surface is not curved downwards, the scores' products stand in for the information; a step that makes the
    answers less likely is halved; a slope at its bound stays there while it would go beyond.
    """
    sign = np.where(yes, 1.0, -1.0) * seen

    def chance(at: Floats, who: Any) -> Floats:
        reached = posterior @ ndtr(at[0][:, None] * nodes + at[1][:, None]).T
        return np.where(seen[:, who], np.maximum(np.where(yes[:, who], reached, 1 - reached), _LEAST), 1.0)

    def bent(at: Floats, who: Any) -> tuple[Floats, Floats, Floats]:
        z = at[0][:, None] * nodes + at[1][:, None]
        density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
        share = sign[:, who] / chance(at, who)
        scores = np.stack([share * (posterior @ (density * nodes).T), share * (posterior @ density.T)])
        second = [(share * (posterior @ (-z * density * nodes**power).T)).sum(axis=0) for power in (2, 1, 0)]
        products = np.einsum("iqm,jqm->mij", scores, scores)
        return scores, products, products - np.array([second[:2], second[1:]]).transpose(2, 0, 1)

    n_yes, n = (seen & yes).sum(axis=0), seen.sum(axis=0)
    found = np.stack([np.full(len(n), 0.5), normal_quantile(n_yes, n - n_yes) * np.sqrt(1.25)])
    bounds = np.array([[STEEPEST], [_FURTHEST]])
    left = np.arange(len(n))
    for _ in range(_MOST_STEPS):
        at = found[:, left]
        loss = -np.log(chance(at, left)).sum(axis=0)
        scores, products, information = bent(at, left)
        uphill = scores.sum(axis=1)
        peaked = (information[:, 0, 0] > 0) & (np.linalg.det(information) > 0)
        matrix = np.where(peaked[:, None, None], information, products + _LEAST * np.eye(2))
        step = np.linalg.solve(matrix, uphill.T[:, :, None])[:, :, 0].T
        held = (np.abs(at[0]) >= STEEPEST) & (uphill[0] * at[0] > 0)
        step = np.where(held, [np.zeros(len(left)), uphill[1] / np.maximum(matrix[:, 1, 1], _LEAST)], step)
        far = (uphill * step).sum(axis=0) > _SETTLED  # twice the gain that a step promises
        for _ in range(_MOST_STEPS):
            tried = np.clip(at + step, -bounds, bounds)
            worse = far & (-np.log(chance(tried, left)).sum(axis=0) > loss)
            if not worse.any():
                break
            step = np.where(worse, step / 2, step)
        found[:, left] = tried
        left = left[far]
        if not len(left):
            break
    scores, _, information = bent(found, slice(None))
    return found, scores, information
