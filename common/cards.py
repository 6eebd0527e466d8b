"""How an object shows itself in Jupyter: a heading and rows of name and value, every text escaped."""

import html
from collections.abc import Mapping
from typing import Any


def html_card(heading: str, rows: Mapping[str, Any], below: str = "") -> str:
    """HTML for a `_repr_html_`: colours are the notebook's own, so that it can be read in light and dark.

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
