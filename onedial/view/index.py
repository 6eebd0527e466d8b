"""List the runs below a folder on one page, `index.html`: state, headline, program, model, and a link to the report.

The page is written again whenever a browser asks for it. The server is the standard library's: it has one reader, on
this machine, and answers GET alone. A page elsewhere may send a browser here under a name of its own (DNS rebinding);
only requests that name this machine by a number or as localhost are answered.
"""

import ipaddress
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from onedial.core.errors import InputError
from onedial.core.files import write_text
from onedial.core.run.run import Run
from onedial.show import page
from onedial.show.columns import headline

INDEX = "index.html"


@dataclass(frozen=True)
class ListedRun:
    """A row of the page.

    Attributes:
        name: the run's place below the folder. link: to its report, or to its files where it has none.
        state: finished, running, interrupted, or unreadable (damaged, or of another version).
        headline: what it says; of an unfinished run the last line of its log; of an unreadable one why.
    """

    name: str
    link: str
    state: str
    headline: str
    program: str = ""
    model: str = ""
    begun: str = ""


def runs_below(folder: Path) -> list[ListedRun]:
    """List the runs of a folder, newest first. Links are not followed."""
    listed = [_listed(path, path.relative_to(folder).as_posix()) for path in _run_folders(folder)]
    return sorted(listed, key=lambda run: run.begun, reverse=True)


def write_index(folder: Path) -> Path:
    """Write the page into the folder; returns its path.

    Raises:
        InputError: the folder cannot be written.
    """
    template = Environment(
        loader=FileSystemLoader([Path(__file__).parent / "templates", page.TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    ).get_template("index.html.j2")
    runs, name = runs_below(folder), folder.resolve().name
    title = f"{len(runs) or 'No'} run{'' if len(runs) == 1 else 's'} in {name}/"
    style = Markup((page.TEMPLATES / "explorer.css").read_text("utf-8"))
    html = template.render(title=title, headline=title, runs=runs, style=style)
    try:
        write_text(folder / INDEX, html)
    except OSError as error:
        raise InputError(f"{folder / INDEX} cannot be written ({error.strerror}); copy the runs elsewhere") from None
    return folder / INDEX


def server_of(folder: Path, port: int) -> ThreadingHTTPServer:
    """Make a server of the folder's files on this machine, whose first page is the list.

    Raises:
        InputError: the port is taken.
    """
    try:
        return ThreadingHTTPServer(("127.0.0.1", port), partial(_Handler, directory=str(folder)))
    except OSError as error:
        raise InputError(f"port {port} cannot be had ({error.strerror}); give another --port") from None


class _Handler(SimpleHTTPRequestHandler):
    def send_head(self) -> Any:
        """Refuse another machine's name; write the list before it is sent."""
        host = self.headers.get("Host", "")
        if not _names_this_machine(host):
            return self.send_error(403, "this server answers to the address that it printed, and to no other name")
        if self.path.split("?")[0] in ("/", f"/{INDEX}"):
            write_index(Path(self.directory))
        return super().send_head()

    def end_headers(self) -> None:
        """Forbid that the list, which changes, comes from a browser's memory."""
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing for a request."""


def _names_this_machine(host: str) -> bool:
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return name.lower() == "localhost"
    return True


def _run_folders(folder: Path) -> Iterator[Path]:
    for place, folders, _ in os.walk(folder):
        path = Path(place)
        if Run.is_at(path):
            folders.clear()
            yield path
        folders[:] = [name for name in folders if not name.startswith(".")]


def _listed(path: Path, name: str) -> ListedRun:
    report = path / "report.html"
    link = quote(f"{name}/{report.name if report.is_file() else ''}")
    try:
        run = Run.open(path)
        manifest = run.manifest
        model = manifest.facts.get("model")
        model_name = model["name"] if isinstance(model, dict) else run.config.get("model")
        running = Run.is_held(path)
        if manifest.finished and not running:
            state, text = "finished", headline(str(manifest.facts.get("sentence", "")))
        else:
            log = path / "log.txt"
            lines = log.read_text("utf-8", errors="replace").splitlines() if log.is_file() else []
            state, text = "running" if running else "interrupted", lines[-1].partition("Z ")[2] if lines else ""
        begun = str(manifest.started).replace("T", " ").removesuffix("Z")
        return ListedRun(name, link, state, text, manifest.program, str(model_name or ""), begun)
    except InputError as error:
        return ListedRun(name, link, "unreadable", str(error))
    except (OSError, AttributeError, KeyError, TypeError, ValueError) as error:
        return ListedRun(name, link, "unreadable", f"its files do not fit together ({type(error).__name__})")
