"""The figures of a sweep: both formats, every number of targets, whatever the tables lack, and the stored numbers."""

import csv
import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image
from reporting_run import make_run

from onedial.report import figures
from onedial.report.report import contents_of
from onedial.show.figure_style import save_figure
from onedial.show.results import draw

NAMES = ["bits_of_models", "prediction", "baselines", "agreement", "layer_map", "dose_response", "loadings"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("figures") / "run", n_targets=6)


def with_tables(run, verdict=None, **tables):
    """What a run has stored, with other tables in place of some."""
    contents = contents_of(run)
    contents.__dict__["verdict"] = replace(run.verdict(), **(verdict or {}))
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


def test_runs_are_drawn_without_what_they_lack(undrawn, tmp_path):
    """Runs without baselines and panels without a scale are drawn without their figures."""
    run = make_run(tmp_path / "run")
    for file in ("baselines.csv", "prediction.csv"):
        (run.path / file).unlink()
    left = [name for name in NAMES if name not in ("baselines", "prediction")]
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
    """{name: numbers} of a table, read without the project's readers."""
    with open(file, newline="", encoding="utf-8") as table:
        return {row[name]: tuple(float(row[column]) for column in columns) for row in csv.DictReader(table)}


def test_points_are_the_numbers_of_the_tables(run):
    """Points and bars of baselines and sources are the numbers of the saved tables."""
    verdict = json.loads((run.path / "verdict.json").read_text())
    wanted = saved(run.path / "baselines.csv", "baseline", "signal", "low", "high")
    wanted["steering"] = tuple(verdict["signal"][name] for name in ("value", "low", "high"))
    result = read_off(shown(figures.baselines, run, "baselines").figure.axes[0])
    assert len(result) > 5
    assert result == {name: pytest.approx(wanted[name], nan_ok=True) for name in result}
    wanted = saved(run.path / "prediction.csv", "source", "bits", "low", "high")
    result = read_off(shown(figures.sources, run, "prediction").figure.axes[0])
    assert len(result) > 2
    assert result == {name: pytest.approx(wanted[name], nan_ok=True) for name in result}


def test_the_first_figure_shows_each_base_model(tmp_path):
    """The first figure shows each base model with its interval the best on top."""
    run = make_run(tmp_path / "run", n_targets=12)
    models = run.verdict().prediction.models
    axes = shown(figures.bits_of_models, run, "bits_of_models").figure.axes[0]
    result = read_off(axes)
    assert result == {
        name: pytest.approx(tuple(of_model[k] for k in ("bits", "low", "high"))) for name, of_model in models.items()
    }
    heights = dict(zip([label.get_text() for label in axes.get_yticklabels()], axes.get_yticks(), strict=True))
    assert sorted(models, key=lambda name: models[name]["bits"]) == sorted(heights, key=heights.get)


def test_the_same_tables_give_the_same_bytes(run, tmp_path):
    for folder in ("one", "two"):
        save_figure(shown(figures.agreement, run, "matches").figure, tmp_path / folder, "agreement")
    for suffix in ("png", "svg"):
        one, two = (tmp_path / folder / f"agreement.{suffix}" for folder in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize("n_targets", [1, 6, pytest.param(40, marks=pytest.mark.long)])
def test_no_label_leaves_the_figure_and_no_two_targets_overlap(n_targets, tmp_path):
    run = make_run(tmp_path / "run", n_targets=n_targets, n_questions=120)
    judged = {"reproduced": "reproduced"}
    drawings = [
        shown(figures.line, run, "matches", verdict=judged),
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


def test_the_line_is_drawn_through_all_targets_that_have_a_magnitude(run):
    drawing = shown(figures.line, run, "matches", verdict={"reproduced": "reproduced"})
    matches = run.matches()
    points = [line.get_xydata()[0] for line in drawing.figure.axes[0].lines if line.get_gid()]
    known = matches[["threshold", "magnitude"]].dropna()
    np.testing.assert_allclose(sorted(map(tuple, points)), sorted(map(tuple, known.to_numpy())))
    assert f"over {len(known)} targets" in drawing.figure.axes[0].get_title(loc="left")
