"""The figure of what moves together: the farthest on top, and in colour what the rule says moves."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from onedial.report.profile_figure import dial_profile
from onedial.show.figure_style import FAINT

STORED = Path(__file__).resolve().parents[1] / "reference" / "profile" / "reports.csv"


@pytest.fixture(scope="module")
def reports():
    return pd.read_csv(STORED).set_index("report")


@pytest.fixture(scope="module")
def axes(reports):
    """Every instrument moves by a share of what the stored run found, at four settings, beside five random pushes."""
    rng = np.random.default_rng(0)
    cells = [
        {
            "report": name,
            "magnitude": setting,
            "role": role,
            "shift": at,
            "low": at - 0.2,
            "high": at + 0.2,
            "status": "",
        }
        for name, row in reports.iterrows()
        for setting in (-0.1, 0.1, 0.2, 0.3)
        for role, at in [
            ("vector", row["together"] * setting / 0.3),
            *(("random", each) for each in rng.normal(0, 0.5, 5)),
        ]
    ]
    return dial_profile(pd.DataFrame(cells), reports).figure.axes[0]


def test_the_instruments_stand_from_the_farthest_shift_to_the_smallest(reports, axes):
    heights = {text.get_text(): text.get_position()[1] for text in axes.texts if text.get_text() in reports.index}
    order = sorted(heights, key=heights.get, reverse=True)
    shifts = reports["together"].abs()[order].dropna()
    assert len(order) == len(reports)
    assert list(shifts) == sorted(shifts, reverse=True)


def test_only_what_moves_with_the_dial_or_against_it_is_in_colour(reports, axes):
    bars = [line for line in axes.lines if len(line.get_xdata()) == 2 and line.get_linewidth() > 1]
    coloured = sum(to_hex(line.get_color()) != FAINT for line in bars)
    moving = reports["verdict"].isin(["moves with the dial", "moves against it"]).sum()
    assert 0 < moving < len(reports)
    assert coloured == 4 * moving
