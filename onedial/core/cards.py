"""How an object shows itself: in a line, and in Jupyter as a heading and rows of name and value, every text escaped."""

import dataclasses
import html
from collections.abc import Collection, Mapping
from typing import Any

LONGEST = 60
"""Characters that a field may take in a line; what is longer is told by its kind and size."""


def one_line(instance: Any) -> str:
    """Show a dataclass in one line, for `__repr__ = one_line`: tables by their shape, long fields by their size.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Reading:
    ...     name: str
    ...     values: list[int]
    ...     __repr__ = one_line
    >>> Reading("first", list(range(500)))
    Reading(name='first', values=<list of 500>)
    """
    shown = [
        f"{field.name}={_shortly(getattr(instance, field.name))}"
        for field in dataclasses.fields(instance)
        if field.repr
    ]
    return f"{type(instance).__name__}({', '.join(shown)})"


def _shortly(value: Any) -> str:
    """Write a value where it is short, else its kind and size; arrays and tables always by their shape."""
    kind = type(value).__name__
    if getattr(value, "shape", ()):
        dtype = getattr(value, "dtype", None)  # a table has one for each column
        return f"<{kind} {' x '.join(map(str, value.shape))}{'' if dtype is None else f', {dtype}'}>"
    text = value if isinstance(value, str) else ""
    if len(text) > LONGEST:
        return repr(f"{text[: LONGEST - 3]}...")
    if isinstance(value, Collection) and not text and len(value) > LONGEST:  # too long to be written out only to be cut
        return f"<{kind} of {len(value)}>"
    whole = repr(value)
    if len(whole) <= LONGEST and "\n" not in whole:
        return whole
    return f"<{kind} of {len(value)}>" if isinstance(value, Collection) else f"<{kind}>"


def html_card(heading: str, rows: Mapping[str, Any], below: str = "") -> str:
    """Write HTML for a `_repr_html_`: colours are the notebook's own, so that it can be read in light and dark.

    Args:
        rows: name -> value, shown as text; a None leaves its row out.
        below: HTML that is put behind the rows as it stands, such as a DataFrame's own.

    >>> html_card("a < b", {"n": 3})
    '<div><b>a &lt; b</b><table><tr><th>n</th><td>3</td></tr></table></div>'
    """
    lines = "".join(
        f"<tr><th>{html.escape(str(name))}</th><td>{html.escape(str(value))}</td></tr>"
        for name, value in rows.items()
        if value is not None
    )
    return f"<div><b>{html.escape(heading)}</b><table>{lines}</table>{below}</div>"
