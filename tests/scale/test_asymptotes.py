"""Answers at random: recovered where they are planted, absent where they are not, and no ground for structure."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr

from onedial.scale.expectation import codes_of
from onedial.scale.factor.structure import one_factor_bootstrap, quadratic_fit_test
from onedial.scale.likelihood import Model, fit_marginal
from onedial.scale.response_model import BEYOND, response_model
from onedial.scale.standard_errors import loading_errors
from onedial.stats.answers import as_answers

LIMITS = np.linspace(-1.2, 1.2, 12)


def one_scale(seed: int, n: int = 1200, random: float | np.ndarray = 0.0, yes: float = 0.5) -> pd.DataFrame:
    """Answers of loading .8, some of them given whatever the question."""
    rng = np.random.default_rng(seed)
    hidden = 0.8 * rng.standard_normal((n, 1)) + 0.6 * rng.standard_normal((n, len(LIMITS)))
    rote = rng.random(hidden.shape) < random
    return pd.DataFrame(np.where(rote, rng.random(hidden.shape) < yes, hidden > LIMITS).astype(float))


def codes(panel: pd.DataFrame):
    return codes_of(as_answers(panel))


@pytest.mark.parametrize(("random", "yes"), [(0.06, 0.5), (0.2, 1.0)])
def test_the_asymptotes_of_all_and_the_loadings_are_recovered(random, yes):
    plain, result = (response_model(one_scale(0, random=random, yes=yes), asymptotes=k) for k in ("none", "common"))
    assert result.respondents["lower"].iloc[0] == pytest.approx(random * yes, abs=0.02)
    assert result.respondents["upper"].iloc[0] == pytest.approx(1 - random * (1 - yes), abs=0.02)
    assert result.respondents["loading"].mean() == pytest.approx(0.8, abs=0.02)
    assert plain.respondents["loading"].mean() < 0.77
    assert result.log_likelihood > plain.log_likelihood + 10


def test_a_guessers_loading_is_unknown():
    """A respondent whose every yes is a guess has a loading that is unknown and not exact."""
    panel = one_scale(4, random=0.1, yes=1.0)
    panel["beyond"] = (np.random.default_rng(1).random(len(panel)) < 0.05).astype(float)
    fit = fit_marginal(codes(panel), Model(asymptotes="common"))
    errors = loading_errors(fit)
    assert np.isnan(errors[-1])
    assert (errors[:-1] > 0.01).all()
    assert response_model(panel, asymptotes="common").respondents["status"].iloc[-1] == BEYOND


def test_nothing_at_random_is_found_where_nothing_is():
    panel = one_scale(2)
    plain, result = (response_model(panel, asymptotes=kind) for kind in ("none", "common"))
    assert result.respondents["lower"].iloc[0] + 1 - result.respondents["upper"].iloc[0] < 0.01
    np.testing.assert_allclose(result.respondents["loading"], plain.respondents["loading"], atol=0.03)
    assert result.log_likelihood >= plain.log_likelihood


def test_the_likelihood_is_the_four_parameter_models():
    """The likelihood is that of the four parameter model and nothing nearby is likelier."""
    fit = fit_marginal(codes(one_scale(3, 500, random=0.1)), Model(asymptotes="common"))

    def likelihood(slope, cut, low, high) -> float:
        yes = low + (high - low) * ndtr(slope[:, None] * fit.nodes + cut[:, None])
        log_p = np.where(fit.codes[..., None] == 1, np.log(yes), np.log(1 - yes)).sum(axis=1)
        return float(np.log(np.exp(log_p + fit.log_weight).sum(axis=1)).sum())

    floors = np.asarray(fit.curves.floors)
    low, high = floors[1, 0], 1 - floors[0, 0]
    best = likelihood(fit.curves.slope, fit.curves.cuts[0], low, high)
    assert best == pytest.approx(fit.log_likelihood, abs=1e-6)
    for step in (-0.01, 0.01):
        assert likelihood(fit.curves.slope, fit.curves.cuts[0], max(low + step, 0), high) < best
        assert likelihood(fit.curves.slope, fit.curves.cuts[0], low, high + step) < best
        assert likelihood(fit.curves.slope + 3 * step, fit.curves.cuts[0], low, high) < best


PLAIN = {"n_replicates": 49, "scale": "normal", "asymptotes": "none"}


def test_random_answers_make_a_parabola_and_a_second_factor():
    """A normal scale without random answers takes both for findings; the account of the house does not."""
    panel = one_scale(7, random=0.12, yes=1.0)
    assert quadratic_fit_test(panel, **PLAIN).p <= 0.05
    assert one_factor_bootstrap(panel, **PLAIN).second.p <= 0.05
    assert quadratic_fit_test(panel, n_replicates=49).p > 0.05
    assert one_factor_bootstrap(panel, n_replicates=49).second.p > 0.05


def test_a_true_parabola_and_a_true_second_scale_stand():
    rng = np.random.default_rng(8)
    loading = 0.92 - 0.3 * (LIMITS / LIMITS.max()) ** 2
    scales = rng.standard_normal((1500, 1)) * np.sqrt(0.7) + np.sqrt(0.3) * rng.standard_normal((1500, 2))
    noise = np.sqrt(1 - loading**2) * rng.standard_normal((1500, 12))
    bent = loading * rng.standard_normal((1500, 1)) + noise > LIMITS
    assert quadratic_fit_test(bent, n_replicates=49).p <= 0.05
    assert one_factor_bootstrap(bent, n_replicates=49).second.p > 0.05
    two = 0.8 * scales[:, np.arange(12) % 2] + 0.6 * rng.standard_normal((1500, 12)) > LIMITS
    assert one_factor_bootstrap(two, n_replicates=49).second.p <= 0.05
