"""Answers in ordered categories: against psych and polycor, against known truth, and yes/no as the special case."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from psychometric_data import answers, matrix

from onedial.core.errors import InputError
from onedial.scale.categories import cut_confidence
from onedial.scale.correlations.latent_correlations import latent_correlations
from onedial.scale.misfit.answer_fit import information_of
from onedial.scale.response_curves import UNUSED, Curves, log_categories
from onedial.scale.response_model import response_model
from onedial.scale.study.analysis import analyse_panel
from onedial.stats.answers import PsychometricsWarning

CUTS = np.array([-1.0, -0.2, 0.6, 1.3])


def graded() -> pd.DataFrame:
    return answers("graded").drop(columns="continuous")


def simulated(seed: int, n: int, loadings: np.ndarray, missing: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Five categories from one factor, and the easiness of the questions."""
    rng = np.random.default_rng(seed)
    easiness = rng.standard_normal(n)
    latent = loadings * easiness[:, None] + np.sqrt(1 - loadings**2) * rng.standard_normal((n, len(loadings)))
    values = np.searchsorted(CUTS, latent).astype(float)
    values[rng.random(values.shape) < missing] = np.nan
    return values, easiness


def test_correlations_agree_with_polycor_and_psych():
    found = latent_correlations(graded(), zero_cells="none").correlation.to_numpy()
    assert np.abs(found - matrix("graded_polycor")).max() < 1e-4
    assert np.abs(found - matrix("graded_psych_pairwise")).max() < 1e-4
    filled = latent_correlations(graded(), zero_cells="half").correlation.to_numpy()
    # psych takes the cuts from a table that 0.5 has made add up to more than 1
    assert np.abs(filled - matrix("graded_psych_half")).max() < 1.5e-3
    assert np.abs(filled - found).max() > 1e-3
    two = graded()[["r1", "r3"]]
    globally = latent_correlations(two, thresholds="global", zero_cells="none").correlation.to_numpy()
    assert np.abs(globally - matrix("graded_psych_global")).max() < 1e-4
    assert abs(globally[0, 1] - found[0, 2]) > 1e-3


@pytest.mark.parametrize("mode", ["pairwise", "global"])
@pytest.mark.parametrize("rule", ["half", "none", "exclude"])
def test_any_two_numbers_are_two_categories_also_among_respondents_with_more(mode, rule):
    panel = answers("gaps")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PsychometricsWarning)
        expected = latent_correlations(panel, mode, rule)
        more = (panel * 7 - 3).assign(third=np.arange(len(panel)) % 3)
        found = latent_correlations(more, mode, rule)
    kept = panel.columns
    pd.testing.assert_frame_equal(found.correlation.loc[kept, kept], expected.correlation, check_exact=True)
    pd.testing.assert_frame_equal(found.zero_cells.loc[kept, kept], expected.zero_cells)
    pd.testing.assert_frame_equal(found.n_pairwise.loc[kept, kept], expected.n_pairwise)


def test_correlations_of_cut_normal_variables_are_theirs():
    loadings = np.array([0.9, 0.7, 0.5, 0.3])
    values, _ = simulated(0, 30_000, loadings, missing=0.1)
    found = latent_correlations(values).correlation.to_numpy()
    expected = np.outer(loadings, loadings)
    np.fill_diagonal(expected, 1)
    np.testing.assert_allclose(found, expected, atol=0.02)
    flipped = latent_correlations(np.column_stack([values[:, 0], 4 - values[:, 1]])).correlation.iloc[0, 1]
    assert flipped == pytest.approx(-found[0, 1], abs=1e-8)


def test_the_graded_model_recovers_loadings_cuts_and_places():
    loadings = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.75])
    values, easiness = simulated(1, 4000, loadings, missing=0.15)
    found = response_model(values)
    np.testing.assert_allclose(found.respondents["loading"], loadings, atol=0.03)
    np.testing.assert_allclose(found.thresholds, np.tile(-CUTS, (6, 1)), atol=0.08)
    assert np.corrcoef(found.difficulty, -easiness)[0, 1] > 0.91
    inside = np.abs(found.difficulty + easiness) < 1.96 * found.difficulty_se
    assert 0.93 < inside.mean() < 0.97
    z = (found.respondents["loading"] - loadings) / found.respondents["loading_se"]
    assert np.abs(z).max() < 4


def test_a_category_that_a_respondent_never_uses_is_left_out_of_its_cuts():
    values, _ = simulated(3, 1500, np.array([0.8, 0.7, 0.7, 0.6]))
    values[:, 1] = np.where(values[:, 1] == 2, 3, values[:, 1])
    found = response_model(values)
    assert np.isnan(found.thresholds.iloc[1, 1])
    assert found.thresholds.drop(columns=2.0).notna().all(axis=None)
    assert found.respondents["n_categories"].tolist() == [5, 4, 5, 5]
    np.testing.assert_allclose(found.respondents["loading"], [0.8, 0.7, 0.7, 0.6], atol=0.06)
    assert (found.thresholds.diff(axis=1).iloc[[0, 2, 3], 1:] < 0).all(axis=None)


def test_respondents_without_information_have_a_reason():
    values, _ = simulated(4, 400, np.array([0.8, 0.7, 0.7, 0.6]))
    panel = pd.DataFrame(values, columns=list("abcd")).assign(always=4.0)
    with pytest.warns(PsychometricsWarning, match="always gave only one kind of answer"):
        found = response_model(panel)
    assert found.respondents.loc["always", "status"] == "used one category only, or none"
    assert np.isnan(found.respondents.loc["always", "loading"])
    with pytest.warns(PsychometricsWarning, match="always gave only one kind of answer"):
        assert latent_correlations(panel).correlation["always"].isna().all()


def test_confidences_are_cut_where_it_is_said():
    confidence = pd.DataFrame({"a": [0, 19.9, 20, 55, 100, np.nan]})
    assert cut_confidence(confidence, [20, 40, 60, 80])["a"].tolist()[:5] == [0, 0, 1, 2, 4]
    assert np.isnan(cut_confidence(confidence, [20])["a"].iloc[5])
    with pytest.raises(InputError, match="rising points"):
        cut_confidence(confidence, [40, 20])
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="cut them into at most 20 first"):
        latent_correlations(rng.uniform(0, 100, (200, 3)))


def test_one_scale_in_categories_is_called_one_and_two_are_not():
    loadings = np.tile([0.85, 0.7], 4)
    one, easiness = simulated(6, 300, loadings, missing=0.05)
    two = np.column_stack([one[:, :4], simulated(7, 300, loadings[:4])[0]])
    cuts = [1, 2, 3, 4]
    single, double = (analyse_panel(pd.DataFrame(panel), at=cuts, n_replicates=19) for panel in (one, two))
    share, low, high = single.fit.share
    table = single.tables["respondents"]
    assert share == pytest.approx((table["loading"] ** 2).mean())
    assert low < (loadings**2).mean() < high
    assert np.corrcoef(single.tables["questions"]["difficulty"], -easiness)[0, 1] > 0.92
    # half of the answers reach a cut where a z + d = 0
    np.testing.assert_allclose(table.filter(like="difficulty at").loc[0], -CUTS / 0.85, atol=0.35)
    assert single.summary["second_eigenvalue"]["p"] > 0.05
    assert double.summary["second_eigenvalue"]["p"] == 0.05
    assert "a second factor" in double.verdict
    assert "a second factor" not in single.verdict


def test_categories_are_placed_as_yes_and_no_are_and_tell_more():
    values = pd.DataFrame(simulated(8, 400, np.full(6, 0.75))[0])
    coarse, fine = (analyse_panel(values, at=cuts, n_replicates=0) for cuts in ([2], [1, 2, 3, 4]))
    yes_and_no = response_model((values >= 2) * 1.0).respondents
    places = coarse.tables["respondents"]["difficulty at 2"]
    np.testing.assert_allclose(places, yes_and_no["intercept"] / yes_and_no["slope"], atol=1e-6)
    assert fine.fit.response.reliability[0] > coarse.fit.response.reliability[0] + 0.05


def test_who_answers_the_other_way_round_and_who_does_not_belong_are_told_apart_in_categories():
    values, _ = simulated(9, 400, np.full(8, 0.75))
    values[:, 0] = 4 - values[:, 0]
    values[:, 1] = np.random.default_rng(0).integers(0, 5, 400)
    page = " ".join(analyse_panel(pd.DataFrame(values), at=[1, 2, 3, 4], n_replicates=0).page.split())
    assert re.search(r"The other way round, high where the others are low: 0 -0\.\d\d \(-0\.\d\d to -0\.\d\d\)\.", page)
    assert re.search(r"Not on this scale, by a loading below 0\.3: 1 -?0\.\d\d \(", page)


def test_information_is_that_of_every_category():
    cuts = np.array([[1.0, 0.4], [-0.5, UNUSED]])
    curves = Curves(np.array([1.2, 0.8]), cuts, np.array([[0.05, 0.1], [0.02, 0.0], [0.1, 0.0]]))
    found = information_of(curves)
    nodes, step = -found["difficulty"].to_numpy(), 1e-5
    low, p, high = (np.exp(log_categories(curves, nodes + d)) for d in (-step, 0, step))
    expected = (((high - low) / (2 * step)) ** 2 / np.maximum(p, 1e-12)).sum(axis=(0, 1))
    np.testing.assert_allclose(found["information"], expected, rtol=1e-5)
