"""A look is a table, a picture of one axes, and in a notebook both, without a script and without a server."""

import base64
import re

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot

from steering.looks import KINDS, Look

TOKENS = pd.DataFrame(
    {
        "text": 0,
        "place": range(4),
        "token": ["A", " <b>", "\n", "x" * 200],
        "layer": 3,
        "towards": [0.9, -0.2, 0.0, 0.1],
    }
)
LOOKS = {
    "lines": Look(
        pd.DataFrame(
            {"x": [0, 1, 0, 1], "y": [0.1, 0.4, 0.2, 0.2], "y_low": 0.0, "y_high": 0.5, "g": ["a", "a", "b", "b"]}
        ),
        "rises",
        "lines",
        "x",
        "y",
        "g",
        faint=("b",),
    ),
    "points": Look(pd.DataFrame({"x": [0.0, 1.0, 2.0], "y": [1.0, np.nan, 0.0]}), "apart", "points", "x", "y"),
    "bars": Look(pd.DataFrame({"x": [1.0, -1.0], "y": [" a\n", "$b$"]}), "raised", "bars", "x", "y"),
    "cells": Look(pd.DataFrame(np.eye(3)), "cosines", "cells", limits=(-1, 1)),
    "map": Look(TOKENS, "map", "cells", "place", "layer", "towards"),
    "tokens": Look(TOKENS, "coloured", "tokens", by="towards"),
}


def test_every_kind_is_tried_here():
    assert {look.kind for look in LOOKS.values()} == set(KINDS)


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_a_notebook_gets_a_picture_and_an_escaped_table(look):
    """A notebook gets a picture and an escaped table and nothing that runs."""
    shown = look._repr_html_()
    picture = base64.b64decode(re.search(r"data:image/png;base64,([^\"]+)", shown)[1])
    assert picture.startswith(b"\x89PNG")
    assert picture == base64.b64decode(look._png())  # the same look gives the same bytes
    assert look.says in shown
    assert not re.search(r"<script|https?://| <b>", shown)


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_it_draws_into_given_axes_and_returns_them(look):
    """It draws into given axes and returns them and opens none by itself."""
    pyplot.close("all")
    look._repr_html_()
    assert not pyplot.get_fignums()
    figure, (left, right) = pyplot.subplots(1, 2)
    assert look.plot(right) is right
    assert not left.has_data()
    assert look.plot().figure is not figure
    pyplot.close("all")


def test_picture_and_table_are_shown_apart(monkeypatch):
    """GitHub leaves out pictures that stand within HTML."""
    displayed = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: displayed.append(set(data) - {"text/plain"}))
    LOOKS["bars"]._ipython_display_()
    assert displayed == [{"image/png"}, {"text/html"}]


def test_what_is_taken_out_of_a_look_does_not_change_it():
    frame = LOOKS["bars"].to_frame()
    frame.loc[0, "x"] = 7.0
    assert LOOKS["bars"].to_frame()["x"][0] == 1.0
