"""The figures: both formats, every number of targets, whatever the tables lack."""

import csv
import itertools
import json

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image
from reporting_run import make_run

from onedial.report.contents import Contents
from onedial.report.figures import figures
from onedial.report.figures.rival_figures import controls_figure, prediction_figure, rivals_figure
from onedial.report.figures.run_figures import write_figures
from onedial.scale import fit_factor_model
from onedial.scale.study.factor_figures import correlation_map, scree
from onedial.show import family_styles, save_figure, target_labels
from onedial.show.labels import shortened

OWN = ["dose_response", "agreement", "kappa"]  # of a run that cannot be judged: no line of place on threshold
OF_QUESTIONS = ["question_map", "margin_histogram", "rates_by_group", "loadings", "scree"]
BESIDE = ["rivals", "prediction", "dial_path"]
NAMES = [*OWN, "layer_map", *BESIDE, *OF_QUESTIONS]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("figures") / "run", n_targets=6)


def drawn(drawing):
    """The figure's renderer after one drawing, for the extents of what is on it."""
    canvas = FigureCanvasAgg(drawing.figure)
    canvas.draw()
    return canvas.get_renderer()


def test_every_figure_is_written_as_png_and_svg_with_a_caption(run):
    captions = write_figures(Contents(run))
    assert list(captions) == NAMES
    for name, words in captions.items():
        with Image.open(run.path / "figures" / f"{name}.png") as picture:
            assert picture.width == 960  # 4.8 inches at 200 dots
        assert (run.path / "figures" / f"{name}.svg").read_text().rstrip().endswith("</svg>")
        assert len(words["caption"]) > 100
        assert "{" not in words["caption"]


def test_without_a_layer_scan_there_is_no_map_of_layers(undrawn, tmp_path):
    run = make_run(tmp_path / "run")
    (run.path / "layer_scan.csv").unlink()
    assert list(write_figures(Contents(run))) == [name for name in NAMES if name != "layer_map"]


def test_old_runs_without_rivals_and_panels_without_a_scale_are_drawn_without_their_figures(undrawn, tmp_path):
    run = make_run(tmp_path / "run")
    for file in ("rivals.csv", "prediction.csv", "path.csv", "path_targets.csv", "path.json"):
        (run.path / file).unlink()
    assert list(write_figures(Contents(run))) == [name for name in NAMES if name not in BESIDE]


def test_rivals_stand_in_the_order_of_their_signal_with_steering_among_them(run):
    rivals = run.rivals().assign(n_targets=lambda table: table["n_targets"].where(table.index != "text", 0))
    drawing = rivals_figure(rivals, {"value": 0.2, "low": 0.1, "high": None})
    (axes,) = drawing.figure.axes
    said = [label.get_text() for label in axes.get_yticklabels()]
    assert set(said) == {"steering", *rivals.index} - {"text"}
    signal = rivals["signal"].to_dict() | {"steering": 0.2}
    assert [signal[name] for name in said] == sorted(signal[name] for name in said)


def read_off(axes):
    """{row: (point, low, high)} of a figure with named rows, as the axes show it."""
    ends = {}
    for bars in axes.collections:
        for (low, at), (high, _) in (each for each in bars.get_segments() if len(bars.get_segments()) == 1):
            ends[at] = low, high
    points = {line.get_ydata()[0]: line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 1}
    rows = dict(zip(axes.get_yticks(), axes.get_yticklabels(), strict=True))
    return {label.get_text(): (points[at], *ends[at]) for at, label in rows.items()}


def saved(file, name, *columns):
    """{name: numbers} of a table, read without the project's readers; where it tells numbers of answers, of all."""
    with open(file, newline="", encoding="utf-8") as table:
        rows = [row for row in csv.DictReader(table) if row.get("k", "all") == "all"]
    return {row[name]: tuple(float(row[column]) for column in columns) for row in rows}


def test_points_and_bars_of_rivals_and_sources_are_the_numbers_of_the_saved_tables(run):
    verdict = json.loads((run.path / "verdict.json").read_text())
    wanted = saved(run.path / "rivals.csv", "rival", "signal", "low", "high")
    wanted["steering"] = tuple(verdict["signal"][name] for name in ("value", "low", "high"))
    shown = read_off(rivals_figure(run.rivals(), verdict["signal"]).figure.axes[0])
    assert len(shown) > 5
    assert shown == {name: pytest.approx(wanted[name], nan_ok=True) for name in shown}
    wanted = saved(run.path / "prediction.csv", "source", "bits", "low", "high")
    shown = read_off(prediction_figure(run.prediction(), next(iter(wanted))).figure.axes[0])
    assert len(shown) > 2
    assert shown == {name: pytest.approx(wanted[name], nan_ok=True) for name in shown}


def test_a_control_that_never_turns_the_dial_stands_apart_from_those_that_do(tmp_path):
    controls = pd.DataFrame(
        {
            "role": ["random", "random", "politeness"],
            "push": [0.5, np.nan, 3.0],
            "order_gain": [-0.1, -0.2, 0.01],
        },
        index=["r1", "r2", "polite"],
    )
    drawing = controls_figure(controls, {"push": 0.1, "order_gain": 0.03})
    (axes,) = drawing.figure.axes
    places = {round(float(line.get_ydata()[0]), 3): float(line.get_xdata()[0]) for line in axes.lines[2:]}
    assert places[-0.1] == 0.5
    assert places[-0.2] > 3.0
    assert places[0.03] == 0.1
    assert "politeness" in {text.get_text() for text in axes.texts}
    controls_figure(controls.assign(push=np.inf), {"push": None, "order_gain": None})


def test_controls_are_thin_lines_over_the_vectors_range_and_the_caption_counts_those_that_turn_half(run):
    dose, matches = run.dose_response(), run.matches()
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
    drawing = figures.dose_response_curves(dose, matches, "raw", None, controls)
    found = {line.get_gid(): line for line in drawing.figure.axes[0].lines if line.get_gid()}
    assert sorted(found) == [f"named: control {name}" for name in sorted(lines)]
    rising = found["named: control rising"]
    assert (min(rising.get_xdata()), max(rising.get_xdata())) == ends
    assert rising.get_ydata() == pytest.approx(np.interp(rising.get_xdata(), magnitudes, lines["rising"][1]))
    assert rising.get_linewidth() < 1
    assert "controls (3)" in [text.get_text() for text in drawing.figure.axes[0].get_legend().get_texts()]
    assert "3 directions of equal length" in drawing.caption
    assert "reached by 1 of them (topics)" in drawing.caption
    without = figures.dose_response_curves(dose, matches, "raw", None, controls.iloc[:0])
    assert "Grey: the test questions" not in without.caption


def test_the_same_tables_give_the_same_bytes(run, tmp_path):
    matches = run.matches()
    for folder in ("one", "two"):
        save_figure(figures.kappa_per_target(matches).figure, tmp_path / folder, "kappa")
    for suffix in ("png", "svg"):
        one, two = (tmp_path / folder / f"kappa.{suffix}" for folder in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def test_drawing_leaves_the_settings_of_matplotlib_alone(run):
    before = dict(matplotlib.rcParams)
    figures.agreement_per_target(run.matches())
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("n_targets", [1, 6, 40])
def test_no_label_leaves_the_figure_and_no_two_targets_overlap(n_targets, tmp_path):
    run = make_run(tmp_path / "run", n_targets=n_targets, n_questions=120)
    matches, line = run.matches(), run.verdict()["line"]
    drawings = [
        figures.magnitude_against_threshold(matches, line, "residual_norm"),
        figures.dose_response_curves(run.dose_response(), matches, "residual_norm"),
        figures.agreement_per_target(matches),
        figures.kappa_per_target(matches),
    ]
    for drawing in drawings:
        width, height = drawing.figure.get_size_inches()
        everything = drawing.figure.get_tightbbox(drawn(drawing))
        assert everything.x0 >= -0.01, drawing.title
        assert everything.y0 >= -0.01, drawing.title
        assert everything.x1 <= width + 0.01, drawing.title
        assert everything.y1 <= height + 0.01, drawing.title
    renderer = drawn(drawings[3])
    labels = drawings[3].figure.axes[0].get_yticklabels()
    assert len(labels) == n_targets
    boxes = sorted((label.get_window_extent(renderer) for label in labels), key=lambda box: box.y0)
    assert all(below.y1 <= above.y0 + 1 for below, above in itertools.pairwise(boxes))


def test_many_models_of_similar_names_stay_apart_in_the_legend(run):
    names = [f"provider-model-{i}-instruct-preview" for i in range(19)]
    rows = run.matches().sample(19, replace=True, random_state=0)
    many = rows.assign(model=names, family="", framing="").set_index(pd.Index(names, name="target"))
    drawing = figures.magnitude_against_threshold(many, run.verdict()["line"], "residual_norm")
    legend = drawing.figure.legends[0]
    labels = [text.get_text() for text in legend.get_texts() if not text.get_text().startswith("hollow")]
    assert len(set(labels)) == 19
    assert legend.get_window_extent(drawn(drawing)).x1 <= drawing.figure.bbox.x1


def test_targets_stand_from_rarely_yes_to_often_yes(run):
    matches = run.matches()
    drawing = figures.agreement_per_target(matches)
    axes = drawing.figure.axes[0]
    shown = [label.get_text() for label in axes.get_yticklabels()]
    heights = axes.get_yticks()
    expected = target_labels(matches.sort_values("yes_rate", kind="stable"))
    assert [label for _, label in sorted(zip(-heights, shown, strict=True))] == expected


def test_points_of_targets_out_of_the_verdict_are_hollow(run):
    matches = run.matches()
    excluded = {str(matches.sort_values("yes_rate").index[0])}
    points = figures.kappa_per_target(matches, excluded).figure.axes[0].lines[-len(matches) :]
    hollow = [point.get_markerfacecolor() == figures.PAPER for point in points]
    assert hollow == [True] + [False] * (len(matches) - 1)


def test_targets_without_threshold_are_counted_in_the_caption(run):
    matches = run.matches()
    matches["threshold"] = [np.nan, np.nan, *np.linspace(-1, 1, len(matches) - 2)]
    drawing = figures.magnitude_against_threshold(matches, run.verdict()["line"], "residual_norm")
    n_absent = (matches["threshold"].isna() | matches["magnitude_ml"].isna()).sum()
    assert n_absent >= 2
    assert f"Not drawn: {n_absent} of 6 targets" in drawing.caption


def test_a_table_of_nan_is_still_drawn(run):
    matches = run.matches()
    numbers = matches.select_dtypes("number").columns
    empty = matches.assign(**{name: np.nan for name in numbers}, status="few")
    line = dict.fromkeys(run.verdict()["line"])
    titles = [
        figures.magnitude_against_threshold(empty, line, "raw").title,
        figures.agreement_per_target(empty).title,
        figures.kappa_per_target(empty).title,
    ]
    assert len(set(titles)) == 3


def test_long_names_stay_different_when_shortened():
    names = ["Qwen2.5-Coder-0.5B-Instruct-GGUF-q4", "Qwen2.5-Coder-1.5B-Instruct-GGUF-q4"]
    table = pd.DataFrame({"model": names, "framing": "very cautious indeed"}, index=["a", "b"])
    labels = target_labels(table, 20)
    assert len(set(labels)) == 2
    assert shortened("abcdefghij", 5) == "ab…ij"


def test_every_family_has_a_look_of_its_own():
    looks = family_styles([f"family {i}" for i in range(40)])
    assert len(set(looks.values())) == 40


def test_places_beyond_the_dial_are_hollow_and_counted_and_r2_is_told_without_them(run):
    matches, line = run.matches(), run.verdict()["line"]
    places = np.linspace(-0.2, 0.2, len(matches))
    matches = matches.assign(threshold=places, magnitude_ml=places, magnitude_ml_se=0.1)
    matches.loc[matches.index[0], "magnitude_ml"] = -9.0
    matches.loc[matches.index[-1], "magnitude_ml"] = 9.0
    line = line | {"r2": 0.9, "r2_null_median": 0.5, "slope": 1.0, "intercept": 0.0, "n": len(matches)}
    line |= {"dial_low": -1.0, "dial_high": 1.0, "n_beyond": 2, "r2_within": 0.42}
    drawing = figures.magnitude_against_threshold(matches, line, "residual_norm")
    faces = [
        each.get_markerfacecolor() for each in drawing.figure.axes[0].lines if each.get_marker() not in ("None", "|")
    ]
    assert sum(face == figures.PAPER for face in faces) == 2
    legend = [text.get_text() for text in drawing.figure.legends[0].get_texts()]
    assert "hollow: beyond the dial" in legend
    assert "2 hollow points lie beyond the magnitudes that were asked" in drawing.caption
    assert "counted in R² (without what is extrapolated 0.42)" in drawing.caption


@pytest.mark.parametrize("name", ["$x^{", "a$b$c", r"$\frac{1}{", "cheap: $0.25"])
def test_a_dollar_in_a_name_is_a_dollar(tmp_path, name):
    rng = np.random.default_rng(0)
    said = pd.DataFrame(rng.integers(0, 2, (60, 4)).astype(float), columns=[name, "b", "c", "d"])
    model = fit_factor_model(said)
    save_figure(correlation_map(model).figure, tmp_path, "correlation_map")
    save_figure(scree(model.eigenvalues).figure, tmp_path, "scree")
    assert name.replace("&", "&amp;") in (tmp_path / "correlation_map.svg").read_text()
    assert "mathdefault" not in (tmp_path / "scree.svg").read_text()
