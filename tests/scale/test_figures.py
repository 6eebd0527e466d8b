"""The figures of a panel show the numbers that they are given."""

import numpy as np
import pytest
from psychometric_data import answers

from onedial.scale.checks.question_bootstrap import bootstrap_questions
from onedial.scale.factor.factor_model import fit_factor_model
from onedial.scale.factor.structure import permutation_null, quadratic_fit_test, revised_parallel_analysis
from onedial.scale.study import factor_figures as draw
from onedial.stats.answers import PsychometricsWarning


def test_figures_show_the_numbers_that_they_are_given():
    varied = answers("gaps")
    with pytest.warns(PsychometricsWarning, match="always gave only one kind"):
        model = fit_factor_model(varied.assign(always=1))
    drawing = draw.loadings_against_threshold(
        model, bootstrap_questions(varied, n_replicates=9), quadratic_fit_test(varied, n_replicates=9)
    )
    points = {tuple(np.ravel(line.get_xydata())) for line in drawing.figure.axes[0].lines if len(line.get_xdata()) == 1}
    assert points == set(zip(model.thresholds.drop("always"), model.loadings["factor_1"].dropna(), strict=True))
    assert "1 respondents that gave only one kind" in drawing.caption
    assert model.heywood == ["r7"]
    assert "Heywood" in drawing.caption
    parallel = revised_parallel_analysis(varied, n_replicates=9)
    axes = draw.scree(
        draw.eigenvalue_table(model.eigenvalues, permutation_null(varied, n_replicates=9), parallel)
    ).figure.axes[0]
    lines = {line.get_label(): line.get_ydata() for line in axes.lines}
    above = model.eigenvalues > 0.01
    np.testing.assert_allclose(lines["panel"][above], model.eigenvalues[above])
    np.testing.assert_allclose(lines["one factor fewer"][:2], parallel.mean[:2])
    mesh = draw.correlation_map(model).figure.axes[0].collections[0]
    order = model.thresholds.sort_values().index
    expected = model.tetrachoric.correlation.loc[order, order].to_numpy(copy=True)
    np.fill_diagonal(expected, np.nan)
    np.testing.assert_allclose(np.ma.filled(mesh.get_array(), np.nan).reshape(expected.shape), expected)
