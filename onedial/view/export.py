"""The viewer's pages as files that need no server: every view of every run, the dial at each of its magnitudes.

Tables are whole, are filtered and sorted by a script of the page, and lie beside it as CSV; comparisons are left out.
"""

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from onedial.core import InputError, say
from onedial.view.application import Viewer
from onedial.view.runs import RunFolder


def export_to(folder: Path, runs: RunFolder) -> int:
    """Write the pages into a new or empty folder; how many files they are. A view that cannot be made is told of.

    Raises:
        InputError: the folder holds something.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is not empty; give a new or empty folder with --export")
    if folder.resolve().is_relative_to(runs.path):
        raise InputError(f"{folder} lies among the runs that are to be exported; give a folder outside of {runs.path}")
    folder.mkdir(parents=True, exist_ok=True)
    viewer = _Still(runs)
    viewer.link()
    for address in viewer.addresses:  # grows while pages name further ones
        answer = viewer.answer(address)
        (folder / viewer.names[address]).write_bytes(answer.body)
        if answer.status != 200:
            say(f"{address} could not be made; its page says why")
    return len(viewer.addresses)


class _Still(Viewer):
    """Names a file for each address that a page links to."""

    is_live = False

    def __init__(self, runs: RunFolder) -> None:
        super().__init__(runs)
        self.names: dict[str, str] = {}
        self.addresses: list[str] = []

    def link(self, *parts: str, **query: Any) -> str:
        address = super().link(*parts, **query)
        if address not in self.names:
            self.addresses.append(address)
            self.names[address] = self._new_name(address)
        return self.names[address]

    def _new_name(self, address: str) -> str:
        if address == "/":
            return "index.html"
        path = urlsplit(address).path
        is_file = path.endswith((".csv", ".js", ".html")) or "/file/" in path
        ending = Path(path).suffix if is_file else ".html"
        words = (
            re.sub(r"[^A-Za-z0-9.+-]+", "-", address.removeprefix("/run/").removesuffix(ending))
            .strip("-.")[:80]
            .lower()
        )
        name, number = f"{words}{ending}", 2
        while name in self.names.values():
            name, number = f"{words}-{number}{ending}", number + 1
        return name
