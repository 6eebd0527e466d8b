"""The one likelihood: its gradient, its maximum, what is nested in what, and what others have found."""

import numpy as np
import pandas as pd
import pytest
from psychometric_data import REFERENCE, answers, one_factor
from scipy.stats import multivariate_normal

from onedial.scale.expectation import MISSING, Data, codes_of
from onedial.scale.likelihood import Model, _inside, _Parameters, _starting_point, fit_marginal
from onedial.scale.nodes import quadrature
from onedial.scale.response_curves import Curves
from onedial.scale.response_model import rasch_test, response_model
from onedial.scale.standard_errors import question_scores
from onedial.stats.answers import as_answers

FAMILIES = np.array([0, 0, 0, 1, 1, 2, 2, 2, 3])
SIGNS = np.where(np.arange(9) == 2, -1.0, 1.0)
MODELS = {
    "free slopes": Model(),
    "equal slopes": Model(signs=SIGNS),
    "any scale, common asymptotes": Model("histogram", "common"),
    "smooth scale, common asymptotes": Model("smooth", "common"),
}
LSAT6 = [3, 6, 2, 11, 1, 1, 3, 4, 1, 8, 0, 16, 0, 3, 2, 15, 10, 29, 14, 81, 3, 28, 15, 80, 16, 56, 21, 173, 11]
LSAT6 += [61, 28, 298]
LSAT7 = [12, 19, 1, 7, 3, 19, 3, 17, 10, 5, 3, 7, 7, 23, 8, 28, 7, 39, 11, 34, 14, 51, 15, 90, 6, 25, 7, 35, 18, 136]
LSAT7 += [32, 308]
"""How many of 1,000 gave each pattern of five answers, from 00000 to 11111 (Bock and Lieberman, 1970)."""


def drawn(seed: int, n: int = 300, graded: bool = False) -> np.ndarray:
    """Categories of nine respondents, three families and one alone, the third the other way round; some guessed."""
    rng = np.random.default_rng(seed)
    loading = rng.uniform(0.4, 0.85, 9) * SIGNS
    family = rng.uniform(0.2, 0.45, 9)
    hidden = loading * rng.standard_normal((n, 1)) + family * rng.standard_normal((n, 4))[:, FAMILIES]
    hidden += np.sqrt(1 - loading**2 - family**2) * rng.standard_normal((n, 9))
    panel = (hidden > rng.uniform(-0.8, 0.8, 9)).astype(float)
    panel += graded * (hidden > 1)
    panel[rng.random(panel.shape) < 0.08] = 1
    panel[rng.random(panel.shape) < 0.05] = np.nan
    panel[:, 4] = np.minimum(panel[:, 4], 1)  # does not use the highest category
    return np.where(np.isnan(panel), MISSING, panel).astype(np.int8)


@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_the_gradient_is_that_of_the_likelihood(name, graded):
    model, codes, rng = MODELS[name], drawn(1, graded=graded), np.random.default_rng(0)
    data = Data(codes)
    begin = _inside(data, model, _starting_point(data))
    point = type(begin)(begin.curves, quadrature(81)[0], begin.scale)
    parameters = _Parameters(data, model, point)
    low, high = parameters.bounds.T
    x = np.clip(parameters.packed(point) + 0.05 * rng.standard_normal(len(low)), low + 1e-4, high - 1e-4)
    gradient = parameters.loss(x)[1]
    for place, step in enumerate(1e-6 * np.eye(len(x))):
        numeric = (parameters.loss(x + step)[0] - parameters.loss(x - step)[0]) / 2e-6
        assert gradient[place] == pytest.approx(numeric, rel=1e-4, abs=1e-4)


def test_nothing_nearby_is_likelier():
    """Nothing nearby is likelier and the scores of the questions add up to nothing."""
    fit = fit_marginal(codes_of(as_answers(one_factor(1, 600, 8, loadings=(0.4, 0.8), missing=0.2).answers)))

    def likelihood(slope_step, cut_step):
        moved = Curves(fit.curves.slope + slope_step, fit.curves.cuts + cut_step)
        return fit.data.expect(moved, fit.nodes, fit.log_weight).log_likelihood

    assert np.abs(question_scores(fit).sum(axis=0)).max() < 0.05
    for step in 1e-2 * np.eye(8):
        assert fit.log_likelihood > max(likelihood(s * step, 0) for s in (-1, 1))
        assert fit.log_likelihood > max(likelihood(0, s * step) for s in (-1, 1))


def orthant_log_likelihood(panel, loading, threshold):
    """Log-likelihood by the multivariate normal distribution itself: no slopes, no nodes, scipy's integration."""
    total = 0.0
    for row, count in panel.groupby(list(panel.columns), dropna=False).size().items():
        seen = ~np.isnan(row)
        sign = np.where(np.array(row)[seen] == 1, 1.0, -1.0)
        shared = np.outer(loading[seen], loading[seen])
        np.fill_diagonal(shared, 1.0)
        cut = sign * threshold[seen]
        cov = np.outer(sign, sign) * shared
        total += count * np.log(multivariate_normal.cdf(cut, cov=cov, maxpts=20_000, abseps=1e-6, releps=1e-6, rng=0))
    return total


def test_the_marginal_likelihood_is_the_normals():
    """The marginal likelihood is that of the normal distribution behind it."""
    panel = pd.DataFrame(one_factor(5, 600, 4, loadings=(0.5, 0.9)).answers)
    panel.iloc[::7, 1] = np.nan
    fitted = response_model(panel)
    loading, threshold = (fitted.respondents[column].to_numpy() for column in ("loading", "threshold"))
    at = orthant_log_likelihood(panel, loading, threshold)
    assert fitted.log_likelihood == pytest.approx(at, abs=5e-3)
    for place in range(4):
        step = 0.03 * np.eye(4)[place]
        for moved in ((loading + step, threshold), (loading - step, threshold), (loading, threshold + step)):
            assert orthant_log_likelihood(panel, *moved) < at


@pytest.mark.parametrize(
    ("name", "free", "equal", "slopes", "cuts"),
    [
        # log likelihoods of ltm and mirt in the logistic form: -2466.65 and -2658.81
        ("lsat6", -2466.69, -2467.15, [0.42, 0.43, 0.54, 0.40, 0.36], [1.55, 0.60, 0.15, 0.77, 1.20]),
        # Bock and Aitkin, 1981, table 3: slopes and intercepts of the normal ogive
        ("lsat7", -2658.79, -2664.91, [0.56, 0.65, 0.99, 0.46, 0.41], [1.08, 0.48, 1.05, 0.30, 1.09]),
    ],
)
def test_the_law_school_tests_have_their_published_values(name, free, equal, slopes, cuts):
    panel = lsat(name)
    result = response_model(panel)
    assert result.log_likelihood == pytest.approx(free, abs=0.006)
    assert result.log_likelihood - rasch_test(panel).ratio / 2 == pytest.approx(equal, abs=0.006)
    np.testing.assert_allclose(result.respondents["slope"], slopes, atol=0.02)
    np.testing.assert_allclose(result.respondents["intercept"], cuts, atol=0.02)
    for options in ({"asymptotes": "common"}, {"scale": "smooth"}, {"scale": "histogram"}):
        assert response_model(panel, **options).log_likelihood >= result.log_likelihood


def lsat(name: str) -> pd.DataFrame:
    times = LSAT7 if name == "lsat7" else LSAT6
    return pd.DataFrame(np.repeat((np.arange(32)[:, None] >> np.arange(4, -1, -1)) & 1, times, axis=0).astype(float))


@pytest.mark.parametrize("seed", range(4))
def test_no_model_is_less_likely_than_one_that_is_nested_in_it(seed):
    codes = drawn(seed, (60, 150, 400, 90)[seed], graded=seed == 1)
    free = fit_marginal(codes)
    equal = fit_marginal(codes, Model(signs=np.sign(free.curves.slope)))
    smooth, histogram = (fit_marginal(codes, Model(kind)) for kind in ("smooth", "histogram"))
    common, both = fit_marginal(codes, Model(asymptotes="common")), fit_marginal(codes, Model("histogram", "common"))
    for narrow, wide in (
        (equal, free), (free, smooth), (smooth, histogram), (free, common), (histogram, both), (common, both),
    ):  # fmt: skip
        assert wide.log_posterior >= narrow.log_posterior - 1e-5
        assert wide.log_prior <= 1e-9
        assert wide.converged


def test_a_climb_that_is_stopped_says_so(monkeypatch):
    monkeypatch.setattr("onedial.scale.likelihood._MOST_STEPS", 2)
    monkeypatch.setattr("onedial.scale.likelihood._ROUNDS", 1)
    assert not fit_marginal(drawn(0)).converged


def test_a_reversed_answerer_is_no_unequal_slope():
    """Whoever answers the other way round is said to and is no unequal slope."""
    rng = np.random.default_rng(5)
    hidden = np.where(np.arange(9) % 3 == 0, -0.75, 0.75) * rng.standard_normal((1500, 1))
    panel = pd.DataFrame((hidden + np.sqrt(1 - 0.75**2) * rng.standard_normal((1500, 9)) > 0).astype(float))
    result = rasch_test(panel)
    assert response_model(panel).respondents["reversed"].tolist() == [place % 3 == 0 for place in range(9)]
    assert result.loading == pytest.approx(0.75, abs=0.02)
    assert result.p > 0.01


def test_the_place_of_each_answer_in_the_file_does_not_matter():
    panel = answers("sim2")
    ours = response_model(panel)
    mixed = response_model(panel.iloc[::-1, ::-1])
    assert mixed.log_likelihood == pytest.approx(ours.log_likelihood, abs=1e-5)
    np.testing.assert_allclose(mixed.respondents["loading"][panel.columns], ours.respondents["loading"], atol=1e-3)


@pytest.mark.parametrize(("name", "within"), [("sim2", 0.11), ("fit", 0.03)])
def test_loadings_are_those_of_logistic_models_up_to_the_form_of_the_curve(name, within):
    """The Python package mirt 1.2.0; a logistic slope is 1.702 times a normal-ogive one, approximately."""
    theirs = pd.read_csv(REFERENCE / "mirt_loadings.csv").set_index(["panel", "respondent"])["loading"][name]
    ours = response_model(answers(name)).respondents["loading"]
    assert np.abs(ours - theirs).max() < within
    assert np.abs(ours - theirs).median() < within / 4
    assert np.corrcoef(ours, theirs)[0, 1] > 0.98
