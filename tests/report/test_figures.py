"""The figures of a sweep: both formats, every number of targets, whatever the tables lack, and the stored numbers."""

import csv
import itertools
import json

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image
from reporting_run import make_run, simulated_scan

from onedial.report import sweep_figures as figures
from onedial.report.report import contents_of
from onedial.scale.factor.factor_model import fit_factor_model
from onedial.scale.study.factor_figures import correlation_map, scree
from onedial.show.figure_style import PAPER, family_styles, save_figure
from onedial.show.labels import shortened, target_labels
from onedial.show.results import draw

OF_THE_DIAL = ["dose_response", "question_map", "margin_histogram"]
NAMES = [
    "bits_of_models",
    "prediction",
    "baselines",
    "agreement",
    "layer_map",
    *OF_THE_DIAL,
    "loadings",
    "dial_path",
]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("figures") / "run", n_targets=6)


def with_tables(run, verdict=None, **tables):
    """What a run has stored, with other tables in place of some."""
    contents = contents_of(run)
    contents.__dict__["verdict"] = run.verdict() | (verdict or {})
    contents._read.update(tables)
    return contents


def shown(draw_one, run, name, **changes):
    """A figure of a stored table."""
    contents = with_tables(run, **changes)
    return draw_one(contents[name], contents)


def rendered(drawing):
    """The figure's renderer after one drawing, for the extents of what is on it."""
    canvas = FigureCanvasAgg(drawing.figure)
    canvas.draw()
    return canvas.get_renderer()


def drawn(contents):
    draw(contents)
    return list(contents.captions)


def test_every_figure_is_written_as_png_and_svg_with_a_caption(run):
    contents = contents_of(run)
    assert drawn(contents) == NAMES  # of a run that cannot be judged: no line of place on threshold
    for name, words in contents.captions.items():
        with Image.open(run.path / "figures" / f"{name}.png") as picture:
            assert picture.width == 960  # 4.8 inches at 200 dots
        assert (run.path / "figures" / f"{name}.svg").read_text().rstrip().endswith("</svg>")
        assert len(words["caption"]) > 100
        assert "{" not in words["caption"]


def test_without_a_layer_scan_there_is_no_map_of_layers(undrawn, tmp_path):
    run = make_run(tmp_path / "run")
    (run.path / "layer_scan.csv").unlink()
    assert drawn(contents_of(run)) == [name for name in NAMES if name != "layer_map"]


def test_runs_without_baselines_and_panels_without_a_scale_are_drawn_without_their_figures(undrawn, tmp_path):
    run = make_run(tmp_path / "run")
    for file in ("baselines.csv", "prediction.csv", "path.csv", "path_targets.csv", "path.json"):
        (run.path / file).unlink()
    left = [name for name in NAMES if name not in ("baselines", "prediction", "dial_path")]
    assert drawn(contents_of(run)) == left


def read_off(axes):
    """{row: (point, low, high)} of a figure with named rows, as the axes show it."""
    ends = {}
    for bars in axes.collections:
        for (low, at), (high, _) in (each for each in bars.get_segments() if len(bars.get_segments()) == 1):
            ends[at] = low, high
    points = {line.get_ydata()[0]: line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"}
    rows = dict(zip(axes.get_yticks(), axes.get_yticklabels(), strict=True))
    return {label.get_text(): (points[at], *ends[at]) for at, label in rows.items()}


def saved(file, name, *columns):
    """{name: numbers} of a table, read without the project's readers; where it tells numbers of answers, of all."""
    with open(file, newline="", encoding="utf-8") as table:
        rows = [row for row in csv.DictReader(table) if row.get("k", "all") == "all"]
    return {row[name]: tuple(float(row[column]) for column in columns) for row in rows}


def test_points_and_bars_of_baselines_and_sources_are_the_numbers_of_the_saved_tables(run):
    verdict = json.loads((run.path / "verdict.json").read_text())
    wanted = saved(run.path / "baselines.csv", "baseline", "signal", "low", "high")
    wanted["steering"] = tuple(verdict["signal"][name] for name in ("value", "low", "high"))
    found = read_off(shown(figures.baselines, run, "baselines").figure.axes[0])
    assert len(found) > 5
    assert found == {name: pytest.approx(wanted[name], nan_ok=True) for name in found}
    wanted = saved(run.path / "prediction.csv", "source", "bits", "low", "high")
    found = read_off(shown(figures.sources, run, "prediction").figure.axes[0])
    assert len(found) > 2
    assert found == {name: pytest.approx(wanted[name], nan_ok=True) for name in found}


def test_the_first_figure_shows_each_base_model_with_its_interval_the_best_on_top(tmp_path):
    run = make_run(tmp_path / "run", n_targets=12)
    models = run.verdict()["prediction"]["models"]
    axes = shown(figures.bits_of_models, run, "bits_of_models").figure.axes[0]
    found = read_off(axes)
    assert found == {
        name: pytest.approx(tuple(own[k] for k in ("bits", "low", "high"))) for name, own in models.items()
    }
    heights = dict(zip([label.get_text() for label in axes.get_yticklabels()], axes.get_yticks(), strict=True))
    assert sorted(models, key=lambda name: models[name]["bits"]) == sorted(heights, key=heights.get)


def test_a_control_that_never_turns_the_dial_stands_apart_from_those_that_do(run):
    controls = pd.DataFrame(
        {
            "role": ["random", "random", "politeness"],
            "push": [0.5, np.nan, 3.0],
            "order_gain": [-0.1, -0.2, 0.01],
        },
        index=["r1", "r2", "polite"],
    )
    direction = {"direction": {"vector": {"push": 0.1, "order_gain": 0.03}}}
    (axes,) = shown(figures.pushes, run, "controls", verdict=direction, controls=controls).figure.axes
    points = [line for line in axes.lines if line.get_gid()]
    places = {round(float(line.get_ydata()[0]), 3): float(line.get_xdata()[0]) for line in points}
    assert places[-0.1] == 0.5
    assert places[-0.2] > 3.0
    assert places[0.03] == 0.1
    assert "politeness" in {text.get_text() for text in axes.texts}
    nowhere = {"direction": {"vector": {"push": None, "order_gain": None}}}
    shown(figures.pushes, run, "controls", verdict=nowhere, controls=controls.assign(push=np.inf))


def test_controls_are_thin_lines_over_the_vectors_range_and_the_caption_counts_those_that_turn_half(run):
    dose = run.dose_response()
    ends = dose["magnitude"].min(), dose["magnitude"].max()
    magnitudes = np.linspace(-3, 3, 13)
    lines = {
        "flat-1": ("random", np.zeros(13)),
        "rising": ("topics", np.linspace(0, 1, 13)),
        "late": ("length", np.where(magnitudes > ends[1] + 0.5, 1.0, 0.0)),
    }
    controls = pd.concat(
        pd.DataFrame({"intervention_id": name, "role": role, "magnitude": magnitudes, "yes_rate": rate})
        for name, (role, rate) in lines.items()
    )
    contents = contents_of(run)
    contents.__dict__["control_rates"] = controls
    drawing = figures.dose(None, contents)
    found = {line.get_gid(): line for line in drawing.figure.axes[0].lines if line.get_gid()}
    assert sorted(found) == [f"named: control {name}" for name in sorted(lines)]
    rising = found["named: control rising"]
    assert (min(rising.get_xdata()), max(rising.get_xdata())) == ends
    assert rising.get_ydata() == pytest.approx(np.interp(rising.get_xdata(), magnitudes, lines["rising"][1]))
    assert "3 directions of equal length" in drawing.caption
    assert "reached by 1 of them (topics)" in drawing.caption
    assert figures.dose(None, contents_of(run)).caption == ""


def test_the_same_tables_give_the_same_bytes(run, tmp_path):
    for folder in ("one", "two"):
        save_figure(shown(figures.agreement, run, "matches").figure, tmp_path / folder, "agreement")
    for suffix in ("png", "svg"):
        one, two = (tmp_path / folder / f"agreement.{suffix}" for folder in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def test_drawing_leaves_the_settings_of_matplotlib_alone(run):
    before = dict(matplotlib.rcParams)
    shown(figures.agreement, run, "matches")
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("n_targets", [1, 6, 40])
def test_no_label_leaves_the_figure_and_no_two_targets_overlap(n_targets, tmp_path):
    run = make_run(tmp_path / "run", n_targets=n_targets, n_questions=120)
    judged = {"reproduced": "reproduced"}
    drawings = [
        shown(figures.places, run, "matches", verdict=judged),
        figures.dose(None, contents_of(run)),
        shown(figures.agreement, run, "matches"),
    ]
    for drawing in (each for each in drawings if each is not None):
        width, height = drawing.figure.get_size_inches()
        everything = drawing.figure.get_tightbbox(rendered(drawing))
        assert min(everything.x0, everything.y0) >= -0.01
        assert everything.x1 <= width + 0.01
        assert everything.y1 <= height + 0.01
    renderer = rendered(drawings[2])
    labels = drawings[2].figure.axes[0].get_yticklabels()
    assert len(labels) == n_targets
    boxes = sorted((label.get_window_extent(renderer) for label in labels), key=lambda box: box.y0)
    assert all(below.y1 <= above.y0 + 1 for below, above in itertools.pairwise(boxes))


JUDGED = {"reproduced": "reproduced"}


def test_many_models_of_similar_names_stay_apart_in_the_legend(run):
    names = [f"provider-model-{i}-instruct-preview" for i in range(19)]
    rows = run.matches().sample(19, replace=True, random_state=0)
    many = rows.assign(model=names, family="", framing="").set_index(pd.Index(names, name="target"))
    many = many.assign(threshold=0.0, magnitude_ml=0.1, magnitude_ml_se=0.1)
    drawing = shown(figures.places, run, "matches", verdict=JUDGED, matches=many)
    legend = drawing.figure.legends[0]
    labels = [text.get_text() for text in legend.get_texts() if not text.get_text().startswith("hollow")]
    assert len(set(labels)) == 19
    assert legend.get_window_extent(rendered(drawing)).x1 <= drawing.figure.bbox.x1


def test_targets_stand_from_rarely_yes_to_often_yes(run):
    axes = shown(figures.agreement, run, "matches").figure.axes[0]
    names = [label.get_text() for label in axes.get_yticklabels()]
    expected = target_labels(run.matches().sort_values("yes_rate", kind="stable"))
    assert [label for _, label in sorted(zip(-axes.get_yticks(), names, strict=True))] == expected


def test_points_of_targets_out_of_the_verdict_are_hollow(run):
    first = str(run.matches().sort_values("yes_rate").index[0])
    axes = shown(figures.agreement, run, "matches", verdict={"excluded": {first: "few"}}).figure.axes[0]
    points = [line for line in axes.lines if line.get_gid() and line.get_marker() == "o"]
    points = sorted(points, key=lambda line: -line.get_ydata()[0])
    hollow = [point.get_markerfacecolor() == PAPER for point in points]
    assert hollow == [True] + [False] * (len(hollow) - 1)


def test_targets_without_threshold_are_counted_in_the_caption(run):
    matches = run.matches()
    matches["threshold"] = [np.nan, np.nan, *np.linspace(-1, 1, len(matches) - 2)]
    drawing = shown(figures.places, run, "matches", verdict=JUDGED, matches=matches)
    n_absent = (matches["threshold"].isna() | matches["magnitude_ml"].isna()).sum()
    assert n_absent >= 2
    assert f"Not drawn: {n_absent} targets" in drawing.caption


def test_a_table_of_nan_is_still_drawn(run):
    matches = run.matches()
    numbers = matches.select_dtypes("number").columns
    empty = matches.assign(**{name: np.nan for name in numbers}, status="few")
    assert shown(figures.places, run, "matches", verdict=JUDGED, matches=empty) is None
    rendered(shown(figures.agreement, run, "matches", matches=empty))


def test_long_names_stay_different_when_shortened():
    names = ["Qwen2.5-Coder-0.5B-Instruct-GGUF-q4", "Qwen2.5-Coder-1.5B-Instruct-GGUF-q4"]
    table = pd.DataFrame({"model": names, "framing": "very cautious indeed"}, index=["a", "b"])
    labels = target_labels(table, 20)
    assert len(set(labels)) == 2
    assert shortened("abcdefghij", 5) == "ab…ij"


def test_every_family_has_a_look_of_its_own():
    looks = family_styles([f"family {i}" for i in range(40)])
    assert len(set(looks.values())) == 40


def placed(run, **line):
    """A figure of places, of which the first lies far below the dial and the last far above."""
    matches = run.matches()
    at = np.linspace(-0.2, 0.2, len(matches))
    matches = matches.assign(threshold=at, magnitude_ml=at, magnitude_ml_se=0.1)
    matches.loc[matches.index[0], "magnitude_ml"] = -9.0
    matches.loc[matches.index[-1], "magnitude_ml"] = 9.0
    known = {"r2": 0.9, "r2_null_median": 0.5, "slope": 1.0, "intercept": 0.0, "n": len(matches), "r2_within": 0.42}
    known |= {"dial_low": -1.0, "dial_high": 1.0, "n_beyond": 2} | line
    drawing = shown(figures.places, run, "matches", verdict=JUDGED | {"line": known}, matches=matches)
    return drawing, [line for line in drawing.figure.axes[0].lines if line.get_gid()]


def test_places_beyond_the_dial_are_hollow_at_the_edge_and_r2_is_told_without_them(run):
    drawing, points = placed(run)
    chosen = run.matches()[["magnitude", "magnitude_rate"]].to_numpy()
    assert sum(point.get_markerfacecolor() == PAPER for point in points) == 2
    assert max(point.get_ydata()[0] for point in points) < np.nanmax(chosen) + np.ptp(chosen[np.isfinite(chosen)])
    legend = [text.get_text() for text in drawing.figure.legends[0].get_texts()]
    assert "hollow: beyond the dial" in legend
    assert "2 beyond the magnitudes that were asked" in drawing.caption
    assert "counted in R² (without what is extrapolated 0.42)" in drawing.caption


def test_the_line_joins_the_places_by_likelihood_and_is_not_drawn_without_r2(run):
    drawing, _ = placed(run, slope=0.5, intercept=0.01)
    (line,) = [each for each in drawing.figure.axes[0].lines if len(each.get_xdata()) > 2]
    x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    np.testing.assert_allclose(y[~np.isnan(y)], 0.01 + 0.5 * x[~np.isnan(y)])
    without, _ = placed(run, r2=None)
    assert all(len(each.get_xdata()) <= 2 for each in without.figure.axes[0].lines)


def test_the_map_goes_from_easy_to_hard(run):
    contents = contents_of(run)
    grid = contents.grid
    drawn = figures.question_map(None, contents).figure.axes[0].collections[0].get_array()
    difficulty = contents.factor.difficulty.reindex(grid.questions)
    known = np.flatnonzero(difficulty.notna())
    expected = grid.margins[known[np.argsort(-difficulty.to_numpy()[known], kind="stable")]]
    np.testing.assert_array_equal(np.ma.filled(drawn, np.nan).reshape(expected.shape), expected)
    contents.__dict__["factor"] = None
    drawn = figures.question_map(None, contents).figure.axes[0].collections[0].get_array()
    share = np.nanmean(np.ma.filled(drawn, np.nan).reshape(grid.margins.shape) > 0, axis=1)
    assert share[-20:].mean() > share[:20].mean()  # rows are drawn from the bottom up


def test_the_histogram_shows_the_settings_nearest_to_its_yes_rates(run):
    contents = contents_of(run)
    grid, axes = contents.grid, figures.margins_at_settings(None, contents).figure.axes
    rates = np.nanmean(grid.answers[grid.test], axis=0)
    assert len(axes) == 3
    for each, wanted in zip(axes, figures.SETTINGS, strict=True):
        counted = sum(patch.get_data().values.sum() for patch in each.patches)
        place = int(np.abs(rates - wanted).argmin())
        assert counted == (~np.isnan(grid.margins[grid.test, place])).sum()
        assert f"yes {rates[place]:.2f}" in each.get_title(loc="left")


def test_the_layer_map_frames_the_chosen_layer_over_the_range_that_was_swept(tmp_path):
    run = make_run(tmp_path / "run")
    contents = contents_of(run)
    entry = contents.entry
    axes = figures.layers(None, contents).figure.axes[0]
    (frame,) = axes.patches
    ends = min(entry["magnitudes"]), max(entry["magnitudes"])
    assert (frame.get_x(), frame.get_width()) == (ends[0], ends[1] - ends[0])
    assert axes.get_yticklabels()[round(frame.get_y() + 0.5)].get_text() == str(entry["layers"][0])
    assert axes.get_xscale() == "symlog"
    assert str(entry["layers"][0]) in set(simulated_scan(np.random.default_rng(0))["layer"].astype(str))


@pytest.mark.parametrize("name", ["$x^{", "a$b$c", r"$\frac{1}{", "cheap: $0.25"])
def test_a_dollar_in_a_name_is_a_dollar(tmp_path, name):
    rng = np.random.default_rng(0)
    said = pd.DataFrame(rng.integers(0, 2, (60, 4)).astype(float), columns=[name, "b", "c", "d"])
    model = fit_factor_model(said)
    save_figure(correlation_map(model).figure, tmp_path, "correlation_map")
    save_figure(scree(model.eigenvalues).figure, tmp_path, "scree")
    assert name.replace("&", "&amp;") in (tmp_path / "correlation_map.svg").read_text()
    assert "mathdefault" not in (tmp_path / "scree.svg").read_text()
