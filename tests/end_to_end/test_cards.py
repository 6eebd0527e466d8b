"""How objects show themselves, in a line and in Jupyter."""

import dataclasses
import importlib
import inspect
import re
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import torch

from onedial.core.cards import html_card, one_line
from onedial.panels.panel_files import load_panel


def test_text_of_users_stays_text():
    card = html_card("<b>run</b>", {"<i>": "</script>", "left out": None})
    assert card == (
        "<div><b>&lt;b&gt;run&lt;/b&gt;</b><table><tr><th>&lt;i&gt;</th><td>&lt;/script&gt;</td></tr></table></div>"
    )


@dataclass
class Everything:
    short: tuple[int, ...]
    text: str
    long: list[int]
    tensor: torch.Tensor
    table: pd.DataFrame
    number: np.float64
    lines: object
    secret: str = field(default="", repr=False)
    __repr__ = one_line


def test_a_line_tells_long_fields_by_size():
    """A line tells tables by shape and long fields by size and keeps what is short."""
    panel = load_panel("embedded")
    shown = repr(
        Everything((1, 2), "x" * 200, list(range(99)), torch.zeros(3, 4), panel.answers, np.float64(1), panel, "key")
    )
    assert shown == (
        f"Everything(short=(1, 2), text='{'x' * 57}...', long=<list of 99>, tensor=<Tensor 3 x 4, torch.float32>, "
        "table=<DataFrame 533 x 25>, number=np.float64(1.0), lines=<ResponseMatrix>)"
    )


def test_whatever_holds_tensors_or_tables_shows_itself_in_a_line():
    rooms = ("scale", "confidence", "asking", "panels", "models", "verdict")
    packages = [
        importlib.import_module(room) for room in (*(f"onedial.{room}" for room in rooms), "probes", "steering")
    ]
    public = [getattr(package, name) for package in packages for name in package.__all__]
    holders = [
        each for each in public if inspect.isclass(each) and dataclasses.is_dataclass(each) and holds_arrays(each)
    ]
    assert len(holders) > 8
    generated = [each.__name__ for each in holders if inspect.unwrap(each.__repr__).__code__.co_filename == "<string>"]
    assert generated == []  # give these `__repr__ = one_line`


def holds_arrays(kind):
    return any(
        re.search(r"Tensor|ndarray|DataFrame|Series|Floats", str(part.type)) for part in dataclasses.fields(kind)
    )
