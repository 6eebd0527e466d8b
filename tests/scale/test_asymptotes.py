"""Answers at random: recovered where they are planted, absent where they are not, and no ground for structure."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr

from onedial.core.errors import InputError
from onedial.scale.checks.accounts import RivalAccounts, rival_accounts
from onedial.scale.checks.quadratic import bend_among
from onedial.scale.checks.structure import one_factor_bootstrap
from onedial.scale.evidence import codes_of
from onedial.scale.likelihood import Model, fit_marginal
from onedial.scale.response_model import BEYOND, response_model
from onedial.scale.standard_errors import loading_covariance, loading_errors
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
    plain, found = (response_model(one_scale(0, random=random, yes=yes), asymptotes=k) for k in ("none", "common"))
    assert found.respondents["lower"].iloc[0] == pytest.approx(random * yes, abs=0.02)
    assert found.respondents["upper"].iloc[0] == pytest.approx(1 - random * (1 - yes), abs=0.02)
    assert found.respondents["loading"].mean() == pytest.approx(0.8, abs=0.02)
    assert plain.respondents["loading"].mean() < 0.77
    assert found.log_likelihood > plain.log_likelihood + 10


def test_each_respondent_has_its_own_asymptotes():
    guess = np.where(np.arange(12) % 2, 0.25, 0.0)
    found = response_model(one_scale(1, random=guess, yes=1.0), asymptotes="own").respondents
    middle = slice(2, None)  # who says yes to nearly everything shows no guesses
    assert np.abs(found["lower"] - guess)[middle].mean() < 0.06
    assert found["lower"][1::2].mean() - found["lower"][::2].mean() > 0.1
    assert found["loading"][middle].mean() == pytest.approx(0.8, abs=0.03)


def test_a_respondent_whose_every_yes_is_a_guess_has_a_loading_that_is_unknown_and_not_exact():
    panel = one_scale(4, random=0.1, yes=1.0)
    panel["beyond"] = (np.random.default_rng(1).random(len(panel)) < 0.05).astype(float)
    fit = fit_marginal(codes(panel), Model(asymptotes="common"))
    errors = loading_errors(fit)
    assert np.isnan(errors[-1])
    assert (errors[:-1] > 0.01).all()
    assert response_model(panel, asymptotes="common").respondents["status"].iloc[-1] == BEYOND
    assert 0 <= bend_among(fit.curves.loading, fit.curves.thresholds[0], loading_covariance(fit)) <= 1


def test_nothing_at_random_is_found_where_nothing_is():
    panel = one_scale(2)
    plain, found = (response_model(panel, asymptotes=kind) for kind in ("none", "common"))
    assert found.respondents["lower"].iloc[0] + 1 - found.respondents["upper"].iloc[0] < 0.01
    np.testing.assert_allclose(found.respondents["loading"], plain.respondents["loading"], atol=0.03)
    assert found.log_likelihood >= plain.log_likelihood


def test_the_likelihood_is_that_of_the_four_parameter_model_and_nothing_nearby_is_likelier():
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


def test_categories_given_at_random_are_found_too():
    rng = np.random.default_rng(4)
    hidden = 0.8 * rng.standard_normal((1200, 1)) + 0.6 * rng.standard_normal((1200, 10))
    graded = np.where(
        rng.random(hidden.shape) < 0.15, rng.integers(0, 3, hidden.shape), np.digitize(hidden, [-0.6, 0.6])
    )
    found = response_model(graded, asymptotes="common")
    assert found.respondents["random_answers"].iloc[0] == pytest.approx(0.15, abs=0.03)
    assert found.respondents["loading"].mean() == pytest.approx(0.8, abs=0.03)


def test_an_unknown_kind_of_asymptotes_is_refused():
    with pytest.raises(InputError, match="asymptotes='some'"):
        response_model(one_scale(6, 60), asymptotes="some")


def test_a_finding_that_one_account_could_not_be_tried_for_has_no_largest_p():
    table = pd.DataFrame({"parabola_p": [0.02, np.nan], "second_p": [0.02, 0.3]})
    accounts = RivalAccounts(table, r2=0.5, second=1.2)
    assert np.isnan(accounts.table["parabola_p"].max(skipna=False))
    assert not accounts.stands("parabola")
    assert accounts.table["second_p"].max() == 0.3


def test_a_parabola_and_a_second_factor_of_random_answers_are_explained_by_them():
    found = rival_accounts(one_scale(7, random=0.12, yes=1.0), n_replicates=49)
    usual = found.table.loc["normal scale"]
    assert usual["r2_p"] <= 0.05
    assert usual["second_p"] <= 0.05
    for finding in ("parabola", "second"):
        assert not found.stands(finding)
        assert "random answers, all alike" in found.explaining(finding).index
        assert "random answers" in found.sentence(finding)
    assert found.nearest("second")[1] != "none"
    assert found.table["random_answers"]["random answers, all alike"] == pytest.approx(0.12, abs=0.03)


def test_a_parabola_of_a_skewed_scale_with_random_answers_is_explained_by_both_together():
    rng, m = np.random.default_rng(11), 19
    rates = rng.permutation(np.linspace(0.1, 0.9, m))
    hidden = 0.8 * rng.exponential(1, (1000, 1)) + 0.6 * rng.standard_normal((1000, m))
    answers = hidden > np.quantile(hidden, 1 - rates, axis=0).diagonal()
    found = rival_accounts(np.where(rng.random((1000, m)) < 0.05, rng.random((1000, m)) < 0.5, answers), 39)
    assert found.r2 > 0.8
    assert not found.stands("parabola")


def test_a_true_parabola_and_a_true_second_scale_stand():
    rng = np.random.default_rng(8)
    loading = 0.92 - 0.3 * (LIMITS / LIMITS.max()) ** 2
    scales = rng.standard_normal((1500, 1)) * np.sqrt(0.7) + np.sqrt(0.3) * rng.standard_normal((1500, 2))
    noise = np.sqrt(1 - loading**2) * rng.standard_normal((1500, 12))
    bent = rival_accounts(loading * rng.standard_normal((1500, 1)) + noise > LIMITS, n_replicates=49)
    assert bent.stands("parabola")
    assert not bent.stands("second")
    two = rival_accounts(0.8 * scales[:, np.arange(12) % 2] + 0.6 * rng.standard_normal((1500, 12)) > LIMITS, 49)
    assert two.stands("second")


def test_a_null_with_random_answers_has_a_larger_second_eigenvalue():
    panel = one_scale(9, 800, random=0.15, yes=1.0)
    plain, random = (one_factor_bootstrap(panel, 49, asymptotes=kind).second for kind in ("none", "common"))
    assert random.mean > plain.mean
    assert plain.p < random.p
