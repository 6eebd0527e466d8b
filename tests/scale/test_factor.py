"""Loadings, scores and the cross-check by marginal likelihood: against psych, and against known truth."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from psychometric_data import REFERENCE, answers, matrix, one_factor

from onedial.core.errors import InputError
from onedial.scale.factor.factor_model import FactorModel, fit_factor_model
from onedial.scale.factor.minres import MAX_COMMUNALITY, minres, minres_one_factor
from onedial.scale.factor.quadratic import quadratic_fit
from onedial.scale.factor.scores import factor_scores
from onedial.scale.fits import Fits
from onedial.scale.response_model import response_model
from onedial.stats.answers import PsychometricsWarning


@pytest.mark.parametrize("name", ["sim1", "sim2", "sim3"])
def test_one_minres_factor_agrees_with_psych(name):
    ours = minres(matrix(f"{name}_psych_c05_raw_local"), 1)[:, 0]
    assert np.abs(ours - matrix(f"{name}_psych_minres")[:, 0]).max() < 4.5e-6


# sim1 and sim2 have a Heywood case, where psych's gradient is not that of its loss and it stops short of the minimum
@pytest.mark.parametrize(("name", "tolerance"), [("sim1", 2e-3), ("sim2", 2e-3), ("sim3", 4.5e-6)])
def test_two_minres_factors_agree_with_psych(name, tolerance):
    ours = minres(matrix(f"{name}_psych_c05_raw_local"), 2)
    theirs = matrix(f"{name}_psych_minres")[:, 1:]
    assert np.abs(np.abs(ours) - np.abs(theirs)).max() < tolerance
    assert (ours.sum(axis=0) > 0).all()


def test_minres_recovers_loadings_whatever_pairs_are_excluded():
    loadings = np.linspace(0.3, 0.95, 12) * np.where(np.arange(12) == 3, -1, 1)
    correlation = np.outer(loadings, loadings)
    np.fill_diagonal(correlation, 1)
    gaps = np.random.default_rng(0).random((12, 12)) < 0.3
    correlation[gaps | gaps.T] = np.nan
    np.fill_diagonal(correlation, 1)
    np.testing.assert_allclose(minres_one_factor(correlation), loadings, atol=1e-6)
    two = np.column_stack([loadings, np.tile([0.2, -0.2], 6)]) * 0.9
    product = two @ two.T
    product[gaps | gaps.T] = np.nan
    np.fill_diagonal(product, 1)
    result = minres(product, 2)
    np.testing.assert_allclose(result @ result.T, two @ two.T, atol=1e-5)


def test_a_stack_of_matrices_gives_what_each_gives_alone():
    stack = np.stack([matrix(f"sim{i}_psych_c05_raw_local") for i in (1, 2, 3)])
    alone = np.stack([minres_one_factor(one) for one in stack])
    np.testing.assert_allclose(minres_one_factor(stack), alone, atol=1e-7)


def test_a_heywood_case_is_named():
    with pytest.warns(PsychometricsWarning, match="Heywood case: the uniqueness of m02"):
        model = fit_factor_model(answers("sim1"), n_factors=2)
    assert model.heywood == ["m02"]
    communality = (model.loadings**2).sum(axis=1)
    assert communality.idxmax() == "m02"
    assert (communality.drop("m02") < MAX_COMMUNALITY).all()


def test_a_heywood_factor_is_the_least_squares_solution():
    """One heywood factor is the least squares solution that several factors would give."""
    correlation = np.array([[1, 0.9, 0.8, 0.3], [0.9, 1, 0.5, 0.1], [0.8, 0.5, 1, 0.1], [0.3, 0.1, 0.1, 1]])
    ours = minres_one_factor(correlation)

    def loss(loading):
        residual = np.outer(loading, loading) - correlation
        np.fill_diagonal(residual, np.maximum(loading**2 - MAX_COMMUNALITY, 0))
        return (residual**2).sum()

    assert ours[0] ** 2 > MAX_COMMUNALITY
    for step in np.vstack([np.eye(4), -np.eye(4)]) * 1e-4:
        assert loss(ours) < loss(ours + step)


def test_explained_variance_names_three_denominators():
    model = fit_factor_model(answers("sim1"))
    shares = model.explained.loc["factor_1"]
    truth = np.mean(pd.read_csv(REFERENCE / "sim1_truth.csv")["loading"] ** 2)
    assert truth == pytest.approx(0.561, abs=5e-4)
    assert shares["eigenvalue_of_total_variance"] == pytest.approx(0.573, abs=5e-4)
    assert shares["squared_loadings_of_total_variance"] == pytest.approx(0.553, abs=5e-4)
    assert 0.553 < shares["squared_loadings_of_common_variance"] < 1
    assert model.eigenvalues.sum() == pytest.approx(19)


def test_loadings_and_thresholds_of_a_large_sample_are_the_true_ones():
    truth = one_factor(7, 40_000, 8, rates=(0.15, 0.85), missing=0.2)
    model = fit_factor_model(truth.answers)
    np.testing.assert_allclose(model.loadings["factor_1"], truth.loadings, atol=0.02)
    np.testing.assert_allclose(model.thresholds, truth.thresholds, atol=0.03)


@pytest.mark.parametrize(("missing", "least"), [(0.0, 0.94), (0.2, 0.93)])
def test_difficulties_follow_the_true_factor_and_their_intervals_cover_it(missing, least):
    truth = one_factor(11, missing=missing)
    model = fit_factor_model(truth.answers)
    assert np.corrcoef(model.difficulty, -truth.easiness)[0, 1] > least
    coverage = (np.abs(model.difficulty + truth.easiness) < 1.96 * model.difficulty_se).mean()
    assert 0.93 < coverage < 0.97


def test_scores_are_the_posterior_mean_of_the_model():
    # one respondent that always follows the factor: the posterior is a truncated normal, whose mean is known
    scores = factor_scores(np.array([[1.0], [0.0], [np.nan]]), [np.sqrt(MAX_COMMUNALITY)], [0.3], n_nodes=2001)
    density = np.exp(-(0.3**2) / 2) / np.sqrt(2 * np.pi)
    rate = 0.6179114221889526
    expected = -np.sqrt(MAX_COMMUNALITY) * density / rate
    assert scores["difficulty"].iloc[0] == pytest.approx(expected, abs=1e-6)
    assert scores["difficulty"].iloc[1] == pytest.approx(np.sqrt(MAX_COMMUNALITY) * density / (1 - rate), abs=1e-6)
    assert np.isnan(scores["difficulty"].iloc[2])
    assert list(scores["n"]) == [1, 1, 0]


def test_a_saved_model_comes_back_the_same(tmp_path):
    panel = answers("gaps")
    panel["always"] = 1
    with pytest.warns(PsychometricsWarning, match="always"):
        model = fit_factor_model(panel, n_permutations=19)
    model.save(tmp_path / "factor.json")
    json.loads((tmp_path / "factor.json").read_text())
    loaded = FactorModel.load(tmp_path / "factor.json")
    pd.testing.assert_frame_equal(loaded.loadings, model.loadings)
    pd.testing.assert_series_equal(loaded.thresholds, model.thresholds)
    pd.testing.assert_series_equal(loaded.difficulty, model.difficulty)
    pd.testing.assert_frame_equal(loaded.explained, model.explained)
    pd.testing.assert_frame_equal(loaded.tetrachoric.correlation, model.tetrachoric.correlation)
    pd.testing.assert_frame_equal(loaded.tetrachoric.zero_cells, model.tetrachoric.zero_cells)
    assert np.isnan(loaded.tetrachoric.min_eigenvalue)
    assert loaded.quadratic_fit.r2 == model.quadratic_fit.r2
    assert loaded.heywood == model.heywood
    np.testing.assert_array_equal(loaded.null.simulated, model.null.simulated)
    without = fit_factor_model(answers("gaps"))
    without.save(tmp_path / "bare.json")
    assert FactorModel.load(tmp_path / "bare.json").null is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no file"),
        ("not json", "something else than FactorModel.save wrote"),
        ("{}", "something else than FactorModel.save wrote"),
        ("[1]", "holds no FactorModel"),
        ('{"part": "os"}', "something else than FactorModel.save wrote"),
        ('{"series": [1, 2], "index": {"data": [1]}, "name": "a"}', "something else than FactorModel.save wrote"),
    ],
)
def test_a_file_that_is_no_factor_model_is_refused(tmp_path, content, message):
    path = tmp_path / "factor.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError, match=message):
        FactorModel.load(path)


def test_marginal_likelihood_recovers_what_an_empty_cell_correction_hides():
    truth = one_factor(13, 1500, 12, rates=(0.02, 0.98), loadings=(0.8, 0.8))
    marginal = response_model(truth.answers)
    corrected = fit_factor_model(truth.answers)
    extreme = np.abs(truth.thresholds) > 1.3
    assert np.abs(marginal.respondents["loading"] - 0.8).max() < 0.12
    assert corrected.loadings["factor_1"][extreme].mean() < marginal.respondents["loading"][extreme].mean() - 0.05
    errors = (marginal.respondents["loading"] - 0.8) / marginal.respondents["loading_se"]
    assert 0.5 < np.sqrt((errors**2).mean()) < 1.7


def test_the_parabola_agrees_with_r():
    loadings = np.linspace(0.5, 0.9, 8)
    cuts = np.array([-1.8, -1.2, -0.6, -0.2, 0.2, 0.6, 1.2, 1.8])
    fit = quadratic_fit(loadings, cuts)
    assert fit.r2 == pytest.approx(matrix("panel_values")[1, 0], abs=1e-12)
    low, high = fit.r2_range
    assert low <= fit.r2 <= high
    np.testing.assert_allclose(fit.predict(cuts), loadings, atol=0.02)


def test_constant_respondents_keep_their_row_with_nan():
    panel = pd.DataFrame(one_factor(1, 300, 6).answers, columns=list("abcdef"))
    panel["c"] = 0.0
    with pytest.warns(PsychometricsWarning, match="c gave only one kind"):
        model = fit_factor_model(panel)
    assert list(model.loadings.index) == list("abcdef")
    assert np.isnan(model.loadings.loc["c", "factor_1"])
    assert len(model.eigenvalues) == 5
    assert model.difficulty.notna().all()


@pytest.mark.parametrize(
    ("panel", "options", "message"),
    [
        (np.ones((50, 4)), {}, "0 of 4 respondents gave both yes and no"),
        ([[1, 0, 1, 0]], {}, "0 of 4"),
        ([[1], [0], [1]], {}, "1 of 1"),
        (one_factor(0, 50, 6).answers, {"n_factors": 3}, "choose 1 to 2"),
        (one_factor(0, 50, 6).answers, {"n_factors": 0}, "choose 1 to 2"),
    ],
)
def test_a_matrix_or_an_option_that_allows_no_factor_is_refused(panel, options, message):
    with pytest.raises(InputError, match=message):
        fit_factor_model(panel, **options)


def test_a_panel_in_two_parts_is_called_so_and_each_part_gets_its_loadings():
    panel = pd.DataFrame(one_factor(3, 2000, 6, rates=(0.3, 0.7)).answers, columns=list("abcdef"))
    panel.loc[:999, ["a", "b", "c"]] = np.nan
    panel.loc[1000:, ["d", "e", "f"]] = np.nan
    with pytest.warns(PsychometricsWarning, match=r"parts that share too few questions \(a, b, c \| d, e, f\)"):
        model = fit_factor_model(panel)
    halves = [fit_factor_model(panel[list(names)].dropna()).loadings for names in ("abc", "def")]
    np.testing.assert_allclose(model.loadings, pd.concat(halves), atol=1e-6)
    assert (model.loadings > 0.3).all(axis=None)


def test_scores_need_no_finer_nodes():
    """Scores and their errors need no finer nodes also where loadings are near one."""
    truth = one_factor(3, 400, 30, rates=(0.4, 0.6), loadings=(0.95, 0.985))
    result = factor_scores(truth.answers, truth.loadings, truth.thresholds)
    finest = factor_scores(truth.answers, truth.loadings, truth.thresholds, n_nodes=6001)
    coarse = factor_scores(truth.answers, truth.loadings, truth.thresholds, n_nodes=61)
    np.testing.assert_allclose(result, finest, rtol=1e-6, atol=1e-9)
    assert np.abs(np.log(coarse["se"] / finest["se"])).max() > 1
    many = factor_scores(np.ones((1, 400)), np.full(400, 0.9), np.zeros(400))
    assert many["se"].iloc[0] == pytest.approx(
        factor_scores(np.ones((1, 400)), np.full(400, 0.9), np.zeros(400), 6001)["se"].iloc[0]
    )


def test_a_respondent_that_shares_no_question_has_no_loading_and_a_reason():
    panel = pd.DataFrame(one_factor(6, 400, 6).answers, columns=list("abcdef"))
    alone = pd.DataFrame({"alone": np.random.default_rng(0).integers(0, 2, 50).astype(float)})
    panel = pd.concat([panel, alone], ignore_index=True)
    with pytest.warns(PsychometricsWarning, match="alone"):
        table = response_model(panel).respondents
    assert table.loc["alone", ["loading", "loading_se", "slope", "intercept"]].isna().all()
    assert table.loc["alone", "status"] == "no two others share its questions"
    assert table.loc["a", "status"] == "estimated"
    assert np.isfinite(table.loc["alone", "threshold"])
    with pytest.warns(PsychometricsWarning, match="alone"):
        model = fit_factor_model(panel)
    assert np.isnan(model.loadings.loc["alone", "factor_1"])
    pd.testing.assert_series_equal(
        model.loadings["factor_1"].drop("alone"), fit_factor_model(panel.drop(columns="alone")).loadings["factor_1"]
    )


def test_a_panel_without_overlap_is_refused():
    panel = np.full((300, 6), np.nan)
    for i in range(6):
        panel[50 * i : 50 * i + 50, i] = np.arange(50) % 2
    for analysis in (fit_factor_model, response_model):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PsychometricsWarning)
            with pytest.raises(InputError, match="no three of"):
                analysis(panel)


def test_a_loading_at_its_bound_has_a_status_and_no_standard_error():
    panel = pd.DataFrame(one_factor(8, 200, 6, rates=(0.3, 0.7), loadings=(0.4, 0.5)).answers, columns=list("abcdef"))
    panel["twin"] = panel["a"]
    table = response_model(panel).respondents
    bound = table["status"].str.startswith("at the bound")
    assert bound[["a", "twin"]].any()
    assert table.loc[bound, "loading_se"].isna().all()
    assert table.loc[~bound, "loading_se"].between(0.01, 0.5).all()


def test_gaps_that_tell_where_a_question_lies_are_let_tell_it():
    off = {"ignorable": [], "informative": [], "raw": []}
    for seed in range(8):
        truth = one_factor(seed, 900, 10, rates=(0.3, 0.7))
        panel = truth.answers.copy()
        panel[(truth.easiness < 0) & (np.random.default_rng(seed).random(900) < 0.85), 0] = np.nan
        everything = truth.answers[:, 0].mean()
        off["raw"].append(np.nanmean(panel[:, 0]) - everything)
        off["ignorable"].append(response_model(panel).respondents["yes_rate"][0] - everything)
        off["informative"].append(Fits.of(panel).null("normal").yes_rates()[0, 0] - everything)
    assert np.mean(off["raw"]) > 0.12
    assert 0.015 < np.mean(off["ignorable"]) < np.mean(off["raw"]) / 2
    assert abs(np.mean(off["informative"])) < 0.015
