"""Figures of confidence show the numbers that they are given."""

import numpy as np
import pandas as pd
import pytest

from onedial.confidence import confidence_figures as draw
from onedial.confidence.confidence_accuracy import confidence_accuracy_regression
from onedial.panels.panel_files import load_panel
from onedial.panels.panel_scores import base_model_means, correctness_of, rates_of_respondents, stated_confidence
from onedial.show.figure_style import INK


@pytest.fixture(scope="module")
def panel():
    return load_panel("embedded")


@pytest.fixture(scope="module")
def right(panel):
    return correctness_of(panel)


@pytest.fixture(scope="module")
def table(panel, right):
    return rates_of_respondents(panel, right)


def test_every_respondent_has_its_rates_at_its_place(table):
    axes = draw.rates(table).figure.axes[0]
    said, correct = (container.lines[0].get_xdata() for container in axes.containers)
    np.testing.assert_allclose(said, table["yes_rate"])
    np.testing.assert_allclose(correct, table["accuracy"])
    assert len(axes.get_yticklabels()) == 25


def test_without_grades_only_yes_rates_are_drawn(table):
    axes = draw.rates(table[[column for column in table if "accuracy" not in column]]).figure.axes[0]
    assert len(axes.containers) == 1


def test_more_respondents_than_can_be_named_are_counted_in_the_caption(table):
    many = pd.concat([table.rename(index=lambda name, k=k: f"{name} {k}") for k in range(3)])
    assert f"Not drawn: {len(many) - 60} respondents" in draw.rates(many).caption


def test_points_are_base_models_and_the_line_is_theirs(panel, right, table):
    means = base_model_means(panel, right)
    result = confidence_accuracy_regression(means["confidence"], means["accuracy"])
    axes = draw.base_models(means, table, result).figure.axes[0]
    points = [line.get_xydata()[0] for line in axes.lines if line.get_markersize() == 7]
    np.testing.assert_allclose(points, means[["accuracy", "confidence"]])
    ends = next(line.get_xydata() for line in axes.lines if line.get_color() == INK)
    np.testing.assert_allclose(ends[:, 1], result.line.intercept + result.line.slope * ends[:, 0])
    without = draw.base_models(means.head(2), table, None).figure.axes[0]
    assert any("2 base models, and it takes 3" in text.get_text() for text in without.texts)


def test_reliability_pools_the_framings_of_a_model_and_leaves_small_bins_out(panel, right):
    confidence = stated_confidence(panel)
    drawing = draw.reliability(confidence.values, right, panel.respondents["model"], confidence.source)
    model = "qwen2.5-coder-1.5b-instruct"
    own = panel.respondents.index[panel.respondents["model"] == model]
    pairs = pd.DataFrame({"sure": confidence.values[own].stack(), "right": right[own].stack()}).dropna()
    bins = np.ceil(pairs["sure"] * 10).clip(1, 10)
    expected = pairs.groupby(bins)["right"].agg(["mean", "size"])
    shown = [line.get_ydata() for line in drawing.figure.axes[0].lines[1:]]
    wanted = expected.loc[expected["size"] >= 10, "mean"].to_numpy()
    assert any(len(own) == len(wanted) and np.allclose(own, wanted) for own in shown)
    assert "are not drawn" in drawing.caption
