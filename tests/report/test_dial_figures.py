"""What the dial does to each question, drawn: the right numbers at the right places."""

import json
from html import unescape

import numpy as np
import pandas as pd
import pytest
from reporting_run import VECTOR_ID, make_run, simulated_scan
from safetensors.numpy import save_file

from onedial.report import write_report
from onedial.report.contents import Contents
from onedial.report.figures import dial_figures, figures
from onedial.report.report_tables import factor_rows, scale_sentence
from onedial.report.sections import vector
from onedial.scale import Simulated
from onedial.scale.study.factor_figures import loadings_against_threshold
from onedial.verdict import SweepRun, sweep_grid


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("dial") / "run", n_targets=8)


@pytest.fixture(scope="module")
def grid(run):
    return sweep_grid(run.sweep(), run.splits(), run.under_test())


def test_the_map_goes_from_easy_to_hard(grid):
    difficulty = pd.Series(np.arange(len(grid.questions))[::-1].astype(float), index=grid.questions)
    difficulty.iloc[3] = np.nan
    drawn = dial_figures.question_map(grid, difficulty).figure.axes[0].collections[0].get_array()
    expected = np.delete(grid.margins, 3, axis=0)[::-1]
    np.testing.assert_array_equal(np.ma.filled(drawn, np.nan).reshape(expected.shape), expected)
    by_own = dial_figures.question_map(grid, None).figure.axes[0].collections[0].get_array()
    share = np.nanmean(np.ma.filled(by_own, np.nan).reshape(grid.margins.shape) > 0, axis=1)
    assert share[:20].mean() > share[-20:].mean()


def test_levels_and_topics_have_their_own_yes_rates_and_small_ones_none(run, grid):
    questions = run.questions()
    questions.loc[:3, "topic"] = "rare"
    axes = dial_figures.rates_by_group(grid, questions, "norms").figure.axes
    by_level = {line.get_gid(): line.get_ydata() for line in axes[0].lines if line.get_gid()}
    rows = questions.set_index("id")["level"].reindex(grid.questions).to_numpy() == 2
    (found,) = [curve for name, curve in by_level.items() if "level 2:" in name]
    np.testing.assert_allclose(found, np.nanmean(grid.answers[rows], axis=0))
    assert not any("rare" in (line.get_gid() or "") for line in axes[1].lines)
    assert dial_figures.grouped_by(questions.drop(columns=["level", "topic"])) == []


def test_the_histogram_shows_the_settings_nearest_to_its_yes_rates(grid):
    axes = dial_figures.margin_histogram(grid).figure.axes
    test = grid.rows("test")
    rates = np.nanmean(grid.answers[test], axis=0)
    assert len(axes) == 3
    for each, wanted in zip(axes, dial_figures.SETTINGS, strict=True):
        counted = sum(patch.get_data().values.sum() for patch in each.patches)
        place = int(np.abs(rates - wanted).argmin())
        assert counted == (~np.isnan(grid.margins[test, place])).sum()
        assert f"yes {rates[place]:.2f}" in each.get_title(loc="left")


def test_the_line_joins_the_places_by_likelihood_and_is_not_drawn_without_r2(run):
    matches, line = run.matches(), run.verdict()["line"]
    placed = matches[np.isfinite(matches["threshold"]) & np.isfinite(matches["magnitude_ml"])]
    drawing = figures.magnitude_against_threshold(matches, line, "raw")
    (axes,) = drawing.figure.axes
    drawn = next(each for each in axes.lines if len(each.get_xdata()) > 2)
    x, y = np.asarray(drawn.get_xdata()), np.asarray(drawn.get_ydata())
    np.testing.assert_allclose(y, line["intercept"] + line["slope"] * x)
    assert placed["threshold"].min() <= x.min() < x.max() <= placed["threshold"].max()
    without = figures.magnitude_against_threshold(matches, line | {"r2": None}, "raw")
    assert all(len(each.get_xdata()) <= 2 for each in without.figure.axes[0].lines)
    assert "no line" in " ".join(text.get_text() for text in without.figure.axes[0].texts)


def test_a_place_beyond_the_dial_stands_hollow_at_the_edge(run):
    matches, line = run.matches(), run.verdict()["line"]
    far = matches.index[np.isfinite(matches["threshold"]).argmax()]
    matches.loc[far, ["magnitude_ml", "magnitude_ml_se"]] = 50.0, 300.0
    drawing = figures.magnitude_against_threshold(matches, line, "raw")
    (axes,) = drawing.figure.axes
    chosen = matches[["magnitude", "magnitude_rate"]].to_numpy()
    assert axes.get_ylim()[1] < np.nanmax(chosen) + np.ptp(chosen[np.isfinite(chosen)])
    hollow = [each for each in axes.lines if each.get_marker() != "None" and each.get_markerfacecolor() == "#ffffff"]
    assert matches.loc[far, "threshold"] in [each.get_xdata()[0] for each in hollow]
    assert "hollow: beyond the dial" in [text.get_text() for text in drawing.figure.legends[0].get_texts()]


def test_the_layer_map_frames_the_chosen_layer_over_the_range_that_was_swept():
    scan = simulated_scan(np.random.default_rng(0))
    axes = figures.layer_map(scan, "raw", chosen=[12], swept=(-0.3, 0.5)).figure.axes[0]
    (frame,) = axes.patches
    assert (frame.get_x(), frame.get_width()) == (-0.3, 0.8)
    assert axes.get_yticklabels()[round(frame.get_y() + 0.5)].get_text() == "12"
    assert axes.get_xscale() == "symlog"


def test_the_report_names_the_vector_its_contrast_reliability_and_length(tmp_path):
    run = make_run(tmp_path / "run")
    assert "not measured" in "".join(vector(Contents(run, {})).blocks)
    facts = {"layer": 10, "n_yes": 31, "n_no": 42, "n_unread": 3, "method": "mean_difference", "raw_norm": 5.0}
    metadata = {name: json.dumps(value) for name, value in (facts | {"residual_norm": 50.0}).items()}
    (run.path / "vectors").mkdir()
    save_file({"direction": np.ones(2)}, run.path / run.vector_file(VECTOR_ID), {"format": "x", **metadata})
    halves = {"half_cosine": 0.6, "low": 0.5, "high": 0.7, "reliability": 0.75, "n_said_yes": 31, "n_said_no": 42}
    writable = SweepRun.open(run.path, write=True)
    with writable.run:
        writable.run.record(vector=halves)
    section = vector(Contents(SweepRun.open(run.path), {}))
    text = "".join(section.blocks)
    for words in ("31 questions on the side of yes and 42 on that of no (3 unread)", "0.75 (cosine of the halves 0.60"):
        assert words in text
    assert "5.00 as extracted, 0.100 of the median residual norm 50.0" in text
    assert "10 of 30 (counted from 0)" in text


def test_one_shared_difficulty_is_a_sentence_and_two_figures(undrawn, run):
    html = write_report(run).read_text("utf-8")
    section = html[html.index('id="scale"') :].split("<h2>")[1]
    assert scale_sentence(run.factor(), run.parabola()) in unescape(section)
    assert "so that the targets answer alike; whether models share a scale, or only the framings" in section
    for name in ("loadings", "scree"):
        assert f'id="{name}-title"' in section
        assert f'id="{name}-title"' not in html[: html.index("<h2>One shared difficulty?</h2>")]


def test_the_parabola_stands_beside_its_null_in_figure_and_sentence(run):
    factor, null = run.factor(), run.parabola()
    assert null.observed == pytest.approx(factor.quadratic_fit.r2, abs=1e-6)
    axes, strip = loadings_against_threshold(factor, null=null).figure.axes
    counted = sum(patch.get_data().values.sum() for patch in strip.patches)
    assert counted == np.isfinite(null.simulated).sum() > 100
    assert [line.get_xdata()[0] for line in strip.lines] == [null.observed]
    assert f"if unrelated {null.mean:.2f}" in " ".join(text.get_text() for text in axes.texts)


@pytest.mark.parametrize(("p", "words"), [(0.01, "more than chance has it"), (0.5, "is no more than its null")])
def test_the_sentence_says_whether_the_loadings_bend_more_than_chance_has_it(run, p, words):
    null = Simulated(0.7, np.array([0.2, 0.4, 0.6, np.nan]), p)
    said = scale_sentence(run.factor(), null)
    assert f"{words}: R² 0.70, and 0.40 on average, under 0.58 in 95 of 100" in said
    assert f"(p = {p:.3f})" in said
    assert "3 panels drawn" in dict(factor_rows(run.factor(), null))["R² of the parabola of loading on threshold"]
    assert "null" not in scale_sentence(run.factor())


def test_a_run_judged_before_its_null_was_drawn_is_reported_without_it(undrawn, tmp_path):
    run = make_run(tmp_path / "run")
    (run.path / "parabola.json").unlink()
    html = write_report(SweepRun.open(run.path)).read_text("utf-8")
    assert "whether the parabola is more than its correction makes, experiments/study_panel.py --deep tests" in html
