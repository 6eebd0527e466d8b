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
from scipy.optimize import minimize

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.scale.correlations.thresholds import normal_quantile
from onedial.scale.evidence import Data
from onedial.scale.fits import Fits
from onedial.scale.likelihood import MarginalFit, Model, fit_marginal
from onedial.scale.nodes import N_NODES
from onedial.scale.response_curves import STEEPEST, Chances, Curves
from onedial.scale.response_model import AT_BOUND
from onedial.stats.answers import Answers, as_answers
from onedial.stats.arrays import Floats

PLACED = "placed"
FEWEST = 5
TOO_FEW = f"fewer than {FEWEST} answers of one kind to the scale's questions"
_LEAST = 1e-12
_FURTHEST = 38.0
_SETTLED = 1e-13  # relative gain of a step
_STEP = 1e-4


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
        fits = Fits.of(matrix)
        fit = fits.fit(Model())
        # others may follow the scale more closely than its respondents, and need finer nodes
        fit = fit_marginal(fits.codes, start=fit, n_nodes=max(N_NODES, len(fit.nodes)))
        return cls(fits.answers.questions, fits.answers.respondents, fit)

    def posterior(self, without: Sequence[Any] = ()) -> Floats:
        """(question, node) where each question lies by the answers of all respondents but some; nan rows where nobody
        else answered.

        The others' curves stay as they are: of what is left out only its own answers are taken back.
        """
        kept = ~self.respondents.isin(list(without))
        codes = self.fit.codes[:, kept]
        found = Data(codes).posterior(self.fit.curves.take(kept), self.fit.nodes, self.fit.log_weight)
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
    observed information there: one climb for all respondents, by the engine's own derivatives."""
    shown = np.stack([seen & ~yes, seen & yes]).astype(float)

    def expected(slope: Floats, cut: Floats) -> tuple[Chances, Floats, Floats]:
        """Curves, (category, question, respondent) chances, and (category, respondent, node) expected answers."""
        curves = Chances.of(Curves(slope, cut[None]), nodes)
        p = np.exp(curves.log_p)
        chance = np.maximum(posterior @ p.transpose(0, 2, 1), _LEAST)
        return curves, chance, p * ((shown / chance).transpose(0, 2, 1) @ posterior)

    def uphill(at: Floats) -> Floats:
        curves, _, counts = expected(*at)
        by_slope, by_cut, _ = curves.slopes_by(counts)
        return np.stack([by_slope, by_cut[0]])

    def loss(x: Floats) -> tuple[float, Floats]:
        way, threshold = x.reshape(2, -1)
        slope, size = np.sinh(way), np.cosh(way)
        curves, chance, counts = expected(slope, threshold * size)
        by_slope, by_cut, _ = curves.slopes_by(counts)
        along = (by_slope + by_cut[0] * threshold * slope / size) * size
        return -float((shown * np.log(chance)).sum()), -np.concatenate([along, by_cut[0] * size])

    n_yes, n = shown[1].sum(axis=0), shown.sum(axis=(0, 1))
    steepest = np.arcsinh(STEEPEST)
    bounds = np.repeat([[-steepest, steepest], [-_FURTHEST, _FURTHEST]], len(n), axis=0)
    x = np.concatenate([np.full(len(n), np.arcsinh(0.5)), normal_quantile(n_yes, n - n_yes)])
    if len(n):
        options = {"ftol": _SETTLED, "gtol": 0.0, "maxiter": 1000, "maxfun": 10_000, "maxcor": 20}
        x = minimize(loss, x, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    way, threshold = x.reshape(2, -1)
    found = np.stack([np.sinh(way), threshold * np.cosh(way)])
    curves, chance, _ = expected(*found)
    density = posterior @ np.stack([np.exp(curves.log_rise[0]) * nodes, np.exp(curves.log_rise[0])]).transpose(0, 2, 1)
    scores = density * (shown[1] / chance[1] - shown[0] / chance[0])
    columns = [
        (uphill(found - step[:, None]) - uphill(found + step[:, None])) / (2 * _STEP) for step in _STEP * np.eye(2)
    ]
    return found, scores, np.stack(columns, axis=-1).transpose(1, 0, 2)
