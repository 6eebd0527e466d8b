"""The five plots: what is drawn stands where its numbers are, and what is missing is not drawn."""

import numpy as np
import pandas as pd

from onedial.show.plots import Axis, Points, forest, scatter

TABLE = pd.DataFrame({"x": [0.5, 0.2, np.nan], "x_low": [0.4, 0.1, np.nan], "x_high": [0.6, 0.3, np.nan]}, list("abc"))


def points(axes):
    return {line.get_gid(): (line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines if line.get_gid()}


def test_the_first_row_of_a_forest_is_on_top():
    """The first row of a forest is on top and its bar ends where the interval does."""
    (axes,) = forest(TABLE, "x").figure.axes
    labels = dict(zip([label.get_text() for label in axes.get_yticklabels()], axes.get_yticks(), strict=True))
    assert sorted(labels, key=labels.get, reverse=True) == ["a", "b", "c"]
    segments = [segment for bars in axes.collections[1:] for segment in bars.get_segments() if len(segment)]
    bars = {segment[0][1]: segment[:, 0].tolist() for segment in segments}
    assert bars[labels["a"]] == [0.4, 0.6]
    assert points(axes)["named: a: 0.500 [0.400, 0.600]"] == (0.5, labels["a"])


def test_groups_of_one_row_lie_side_by_side():
    """Groups of one row lie side by side and several values without groups are strokes with a median."""
    twice = pd.concat([TABLE.assign(run="one"), TABLE.assign(run="two")])
    (axes,) = forest(twice, "x", points=Points(by="run")).figure.axes
    heights = [y for name, (_, y) in points(axes).items() if name.startswith("named: a")]
    assert len(set(heights)) == 2
    (axes,) = forest(twice[["x"]].assign(x=[0.1, 0.2, 0.3, 0.3, 0.4, 0.5]), "x").figure.axes
    assert points(axes)["named: a: median 0.200"][0] == 0.2


def test_an_infinite_place_stands_apart_at_the_right_over_the_word_never():
    table = pd.DataFrame({"push": [1.0, np.inf], "gain": [0.1, 0.2]}, ["near", "far"])
    for log in (True, False):
        (axes,) = scatter(table, "push", "gain", Axis("push", log=log), Axis("gain")).figure.axes
        places = [x for x, _ in points(axes).values()]
        assert places[0] == 1.0 < places[1] < np.inf
        assert "never" in [text.get_text() for text in axes.texts]


def test_no_name_covers_another_or_a_point():
    """Of fifty crowded points some names have no place; those that are written lie apart from each other."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(50, 2)), [f"respondent-{i}" for i in range(50)], ["x", "y"])
    drawn = scatter(table, "x", "y", Axis("x"), Axis("y"), Points(annotated={name: name for name in table.index}))
    drawn.figure.draw_without_rendering()
    axes = drawn.figure.axes[0]
    boxes = [text.get_window_extent() for text in axes.texts]
    assert 5 < len(boxes) < 50
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[i + 1 :])
    assert all(axes.bbox.x0 <= box.x0 and box.x1 <= axes.bbox.x1 for box in boxes)
