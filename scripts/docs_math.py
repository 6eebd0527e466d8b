"""Write formulas of the documentation as MathML, which browsers draw by themselves: nothing is fetched, no script runs.

A hook of MkDocs (`hooks` in mkdocs.yml). `pymdownx.arithmatex` finds `$...$` and `$$...$$` outside of code; here each
becomes one `<math>` element. Without latex2mathml (onedial[docs]) formulas stay as they were written.
"""

import html
import re
from typing import Any

INLINE = re.compile(r'<span class="arithmatex">\\\((.+?)\\\)</span>', re.DOTALL)
BLOCK = re.compile(r'<div class="arithmatex">\s*\\\[(.+?)\\\]\s*</div>', re.DOTALL)

SCROLLS = "max-width: 100%; overflow-x: auto; overflow-y: hidden"
"""A wide formula scrolls by itself instead of widening the page."""
LONG = 60
"""Characters of TeX from which on one within a sentence may be wide."""


def on_page_content(content: str, **_: Any) -> str:
    """Write the page's formulas as MathML; called by MkDocs after the Markdown has been turned to HTML."""
    try:
        from latex2mathml.converter import convert
    except ImportError:
        return content

    def inline(match: re.Match[str]) -> str:
        drawn = convert(html.unescape(match[1]))
        return f'<span style="{SCROLLS}; display: inline-block">{drawn}</span>' if len(match[1]) > LONG else drawn

    def block(match: re.Match[str]) -> str:
        return f'<div style="{SCROLLS}">{convert(html.unescape(match[1]), display="block")}</div>'

    return BLOCK.sub(block, INLINE.sub(inline, content))
