"""How objects show themselves, in a line and in Jupyter."""

import dataclasses
import importlib
import inspect
import re


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
