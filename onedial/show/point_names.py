"""Names beside points, moved apart where points crowd, each with a line back to its point."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from onedial.show.figure_style import FAINT, INK, PAPER

_ANGLES = np.deg2rad([0, 180, 90, 270, 45, 135, 315, 225, 22, 158, 338, 202, 67, 113, 293, 247])
_DISTANCES = (6.0, 10.0, 15.0, 21.0, 28.0, 37.0, 48.0, 62.0, 80.0)  # points
_NEAR = 8.0  # up to here a name needs no line
_LEADER = {"arrowstyle": "-", "color": FAINT, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 2}
_SIZE = 6.5
_LETTER, _LINE = 0.56 * _SIZE, 1.25 * _SIZE  # a letter's width and a line's height


def name_points(
    axes: Axes,
    x: Sequence[float],
    y: Sequence[float],
    names: Sequence[str],
    avoid: NDArray | None = None,
) -> None:
    """Write each name where it covers neither a point nor another name, as near to its point as that allows.

    The most crowded points choose first. Limits and scales of the axes must be final.

    Args:
        avoid: (place, 2) what else is drawn there and is not to be covered: other points, bars, curves.
    """
    figure = axes.get_figure(root=True)
    if figure is None:
        return
    figure.draw_without_rendering()
    pixel = 72 / figure.dpi
    places = axes.transData.transform(np.column_stack([x, y])) * pixel
    frame = axes.get_window_extent().get_points() * pixel
    distance = np.linalg.norm(places[:, None] - places, axis=2)
    crowding = (distance < 30).sum(axis=1)
    drawn = places if avoid is None else np.vstack([places, axes.transData.transform(avoid) * pixel])
    taken = np.empty((0, 4))
    for i in np.argsort(-crowding, kind="stable"):
        width, height = _LETTER * len(names[i]), _LINE
        boxes, offsets = _candidates(places[i], width, height)
        best = int(np.argmin(_cost(boxes, taken, drawn, frame, i)))
        taken = np.vstack([taken, boxes[best]])
        middle = offsets[best] + np.array([width, height]) / 2
        far = np.hypot(*middle) - min(width, height) / 2 > _NEAR + height / 2
        axes.annotate(
            names[i],
            (float(x[i]), float(y[i])),
            tuple(offsets[best]),
            textcoords="offset points",
            fontsize=_SIZE,
            color=INK,
            zorder=5,
            path_effects=[withStroke(linewidth=1.5, foreground=PAPER)],
            arrowprops=_LEADER if far else None,
        )


def _candidates(place: NDArray, width: float, height: float) -> tuple[NDArray, NDArray]:
    """(candidate, 4) left, bottom, right, top; and (candidate, 2) offsets of the lower left corner from the point."""
    towards = np.column_stack([np.cos(_ANGLES), np.sin(_ANGLES)])
    near = np.concatenate([towards * reach for reach in _DISTANCES])
    side = np.tile(towards, (len(_DISTANCES), 1))
    offsets = near + (side - 1) / 2 * np.array([width, height])
    corner = place + offsets
    return np.column_stack([corner, corner + np.array([width, height])]), offsets


def _cost(boxes: NDArray, taken: NDArray, places: NDArray, frame: NDArray, own: int) -> NDArray:
    """(candidate,) what is covered, what sticks out, and how far away it is."""
    if len(taken):
        wide = np.minimum(boxes[:, None, 2], taken[:, 2]) - np.maximum(boxes[:, None, 0], taken[:, 0])
        high = np.minimum(boxes[:, None, 3], taken[:, 3]) - np.maximum(boxes[:, None, 1], taken[:, 1])
        covered = (np.maximum(wide, 0) * np.maximum(high, 0)).sum(axis=1)
    else:
        covered = np.zeros(len(boxes))
    others = np.delete(places, own, axis=0)
    inside = (
        (others[:, 0] > boxes[:, None, 0] - 3) & (others[:, 0] < boxes[:, None, 2] + 3)
        & (others[:, 1] > boxes[:, None, 1] - 2) & (others[:, 1] < boxes[:, None, 3] + 2)
    )  # fmt: skip
    out = np.maximum(frame[0] - boxes[:, :2], 0).sum(axis=1) + np.maximum(boxes[:, 2:] - frame[1], 0).sum(axis=1)
    return 100 * covered + 8000 * inside.sum(axis=1) + 3000 * out + np.arange(len(boxes))
