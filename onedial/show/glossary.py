"""The words that a page explains (glossary.yaml): a tooltip and a link where each first stands, and a list of them."""

import re
from collections.abc import Sequence
from pathlib import Path

import yaml
from markupsafe import Markup, escape

MEANINGS: dict[str, str] = yaml.safe_load(Path(__file__).with_name("glossary.yaml").read_text(encoding="utf-8"))
"""Word -> what it means."""
WORDS = "Words"
"""Title of the section that lists them, to which every explained word leads."""
_SILENT = {"a", "b", "button", "details", "h1", "h2", "h3", "label", "pre", "script", "select", "style", "svg", "table"}
"""Elements in which nothing is explained: links, headings, controls, pictures, data, and what is behind a click."""
_TAG = re.compile(r"(<[^>]*>)")


class Glossary:
    """Explains each word once, in the order in which the parts of a page are given.

    Args:
        words: of `MEANINGS`, those that mean on this page what they mean there.

    Attributes:
        used: word -> its meaning, of those that were explained so far.

    >>> Glossary(["dial"]).explained(Markup("<p>Two dials, one dial.</p>"))  # doctest: +ELLIPSIS
    Markup('<p>Two <a class="term" href="#words" title="...">dials</a>, one dial.</p>')
    """

    def __init__(self, words: Sequence[str] = ()) -> None:
        self.left = {word: MEANINGS[word] for word in words}
        self.used: dict[str, str] = {}

    def explained(self, html: Markup) -> Markup:
        """Mark every word that has not been explained yet where it first stands."""
        if not self.left:
            return html
        silent, pieces = [], _TAG.split(str(html))
        for place, piece in enumerate(pieces):
            if piece.startswith("<"):
                name = piece.strip("</> ").partition(" ")[0]
                if name in _SILENT and not piece.startswith("</"):
                    silent.append(name)
                elif silent and piece == f"</{silent[-1]}>":
                    silent.pop()
            elif not silent:
                pieces[place] = self._marked(piece)
        return Markup("".join(pieces))

    def _marked(self, text: str) -> str:
        if not self.left or not text.strip():
            return text
        return re.sub(rf"(?<![\w/.-])({'|'.join(self.left)})s?(?![\w/-]|\.\w)", self._mark, text, flags=re.IGNORECASE)

    def _mark(self, match: re.Match[str]) -> str:
        word = match[1].lower()
        if word not in self.left:
            return match[0]
        self.used[word] = self.left.pop(word)
        return f'<a class="term" href="#{WORDS.lower()}" title="{escape(self.used[word])}">{match[0]}</a>'
