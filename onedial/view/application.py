"""Addresses in, pages out: the runs of a folder, rendered here, so that nothing has to be built.

/                                     the runs; ?state=.. those of a state, ?sort=.. by a column
/run/KEY                              the sentence, the figures, how it was made; or how far it has come
/run/KEY/report.html                  as it lies there, in a sandbox
/run/KEY/files                        whatever the run stores
/run/KEY/table?name=..&sort=..&page=..    a table of it, and table.csv the whole of it as CSV
/run/KEY/file/NAME                    a file as it lies there
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from onedial.core.errors import InputError
from onedial.show import page
from onedial.show.results import captions_of
from onedial.show.run_tables import flat_rows, stage_rows, surroundings
from onedial.view.progress import LAST_LINES, log_lines, rates_so_far, rows_of_progress
from onedial.view.runs import FINISHED, GOING_ON, STATES, RunFolder, Seen
from onedial.view.tables import PARTS, is_table, rows_of, stored_table

TEMPLATES = Path(__file__).parent / "templates"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
)
SECONDS_AGAIN = 2


@dataclass(frozen=True)
class Answer:
    """What goes back to a browser. `policy`: of the content. `name`: under which it is to be kept, and not shown."""

    body: bytes
    kind: str = "text/html; charset=utf-8"
    status: int = 200
    policy: str = POLICY
    name: str = ""


class Viewer:
    """The pages of one folder of runs. Not for several threads at once.

    >>> import tempfile
    >>> Viewer(RunFolder(Path(tempfile.mkdtemp()))).answer("/run/../etc").status
    404
    """

    def __init__(self, runs: RunFolder) -> None:
        self._runs = runs

    def answer(self, address: str) -> Answer:
        """The page at an address as a browser asks for it; never raises, whatever is asked or lies in the folder."""
        try:
            split = urlsplit(address)
            parts = [unquote(part) for part in split.path.split("/") if part]
            return self._answer(parts, dict(parse_qsl(split.query)))
        except InputError as error:
            return _page("This cannot be shown", [_part("wrong", str(error))], status=404)
        except Exception as error:  # a damaged run must not end the viewer for the others
            said = f"The run's files do not fit together ({type(error).__name__}: {error})."
            return _page("This cannot be shown", [_part("wrong", said)], status=500)

    def _answer(self, parts: list[str], query: dict[str, str]) -> Answer:
        if not parts:
            return self._index(query)
        if parts == ["view.js"]:
            return Answer((TEMPLATES / "view.js").read_bytes(), "text/javascript; charset=utf-8")
        if parts[0] == "run" and len(parts) > 1:
            seen, view = self._runs.one(parts[1]), parts[2:]
            if not view:
                return _overview(seen) if seen.state == FINISHED else _progress(seen)
            if view == ["report.html"] and (seen.path / "report.html").is_file():
                return Answer((seen.path / "report.html").read_bytes(), policy=REPORT_POLICY)
            if view == ["files"]:
                return _files(seen)
            if view in (["table"], ["table.csv"]):
                return _table(seen, query, as_file=view == ["table.csv"])
            if view[0] == "file" and len(view) == 2 and (file := seen.file(view[1])).is_file():
                kind = "image/svg+xml" if file.suffix == ".svg" else "application/octet-stream"
                return Answer(file.read_bytes(), kind, policy=REPORT_POLICY, name=file.name)
        raise InputError("there is no such page; begin at the list of runs")

    def _index(self, query: dict[str, str]) -> Answer:
        runs = self._runs.seen()
        chosen = [seen for seen in runs if query.get("state") in (None, "", seen.state)]
        table = pd.DataFrame(
            [(seen.key, seen.state, seen.sentence, seen.begun, seen.program, seen.model) for seen in chosen],
            columns=["run", "state", "says", "begun", "program", "model"],
        )
        counts = [(state, n) for state in STATES if (n := sum(seen.state == state for seen in runs))]
        states = [(f"{n} {state}", _link(query, state=state)) for state, n in counts]
        rows = _rows(table, query, {seen.key: _to(seen) for seen in chosen if seen.run is not None})
        again = 2 * SECONDS_AGAIN if any(seen.state == GOING_ON for seen in runs) else 0
        title = f"{'Runs' if states else 'No runs'} in {self._runs.path.name}/"
        bar = [*states, ("all", "/")] if len(states) > 1 else states
        return _page(title, [_part("links", bar), _part("live", [rows], again)])


def _to(seen: Seen, *parts: str, **query: str) -> str:
    """The address of a page of a run."""
    return "/" + "/".join(quote(part, safe="") for part in ("run", seen.key, *parts)) + (_link(query) if query else "")


def _link(query: dict[str, str], **changed: str) -> str:
    """This page with other parameters; those that are empty are left out."""
    return "?" + urlencode({name: value for name, value in {**query, **changed}.items() if value})


def _overview(seen: Seen) -> Answer:
    """What the run says and shows, its tables, and how it was made."""
    assert seen.run is not None
    manifest = seen.run.manifest
    drawn = [
        (words["title"], words["caption"], _to(seen, "file", f"figures/{name}.svg"))
        for name, words in captions_of(seen.run).items()
        if f"figures/{name}.svg" in seen.files
    ]
    tables = [(name, _to(seen, "table", name=name)) for name, path in seen.files.items() if is_table(path)]
    blocks = [
        *([_part("figures", drawn[:1])] if drawn else []),
        _part("links", tables, "Tables"),
        *([page.folded("Notes of the run", [page.items(manifest.notes)])] if manifest.notes else []),
        *([page.folded(f"{len(drawn) - 1} more figures", [_part("figures", drawn[1:])])] if drawn[1:] else []),
        page.folded("Time per stage", [page.rows(stage_rows(manifest.stages))]),
        page.folded("Configuration", [page.code(manifest.command), page.rows(flat_rows(seen.run.config))]),
        page.folded("Versions, machine, seeds", [page.rows(surroundings(manifest))]),
    ]
    return _page(seen.sentence, blocks, seen)


def _progress(seen: Seen) -> Answer:
    """How far the run has come, looked at again as long as it goes on."""
    assert seen.run is not None
    going_on = seen.state == GOING_ON
    blocks = [page.rows(rows_of_progress(seen.run, going_on))]
    if lines := log_lines(seen.run)[-LAST_LINES:]:
        blocks.append(page.code("\n".join(lines)))
    if (rates := rates_so_far(seen.run)) is not None:
        most = int((rates["n"] + rates["n_unread"]).max())
        blocks += [page.text(f"Yes rate along the dial, over the {most} questions swept so far:")]
        blocks += [_part("meters", rates.to_dict("records"))]
    title = "The run is going on" if going_on else "The run was broken off; the same command with --resume goes on"
    return _page(title, [_part("live", blocks, SECONDS_AGAIN if going_on else 0)], seen)


def _files(seen: Seen) -> Answer:
    """Whatever the run stores: tables to look at, and all but tables in parts to be had as they lie there."""
    rows = []
    for name, path in seen.files.items():
        size = sum(part.stat().st_size for part in (path.glob(PARTS) if path.is_dir() else [path]))
        shown = _to(seen, "table", name=name) if is_table(path) else ""
        had = _to(seen, "table.csv", name=name) if path.is_dir() else _to(seen, "file", name)
        rows.append((name, f"{size / 1024:,.1f} kB", shown, had))
    return _page("What the run stores", [_part("files", rows)], seen)


def _table(seen: Seen, query: dict[str, str], as_file: bool) -> Answer:
    name = query.get("name", "")
    path = seen.file(name)
    if as_file:
        stem = name.replace("/", "-").removesuffix(".parquet").removesuffix(".csv")
        csv = stored_table(path).to_csv(index=False, lineterminator="\n")
        return Answer(csv.encode("utf-8", "replace"), "text/csv; charset=utf-8", name=f"{stem}.csv")
    links = [("download as CSV", _to(seen, "table.csv", name=name))]
    links += [("as it lies there", _to(seen, "file", name))] if path.is_file() else []
    return _page(name, [_part("links", links), _rows(stored_table(path), query)], seen)


def _rows(table: pd.DataFrame, query: dict[str, str], leads: dict[str, str] | None = None) -> Markup:
    """A page of a table whose headings sort it; `leads`: where the first cell of a row leads to."""
    rows = rows_of(table, query.get("sort", ""), query.get("page", ""))
    heads = []
    for name, numeric in rows.heads:
        mark = {name: "ascending", f"-{name}": "descending"}.get(rows.sort, "")
        heads.append((name, numeric, mark, _link(query, sort=f"-{name}" if mark == "ascending" else name, page="")))
    pages = [
        (words, _link(query, page=str(at)))
        for words, at in (("page before", rows.page - 1), ("next page", rows.page + 1))
        if 1 <= at <= rows.n_pages
    ]
    return _part("rows", rows, heads, pages, leads or {})


def _page(title: str, blocks: Sequence[Markup], seen: Seen | None = None, status: int = 200) -> Answer:
    (headline, rest), bar = page.halves(title), [("All runs", "/")]
    if seen is not None:
        bar += [(seen.key, _to(seen)), ("files", _to(seen, "files"))]
        bar += [("report", _to(seen, "report.html"))] if (seen.path / "report.html").is_file() else []
    style = Markup((page.TEMPLATES / "explorer.css").read_text("utf-8") + (TEMPLATES / "view.css").read_text("utf-8"))
    html = _ENVIRONMENT.get_template("view.html.j2").render(
        title=f"{headline} – {seen.key}" if seen else headline,
        headline=headline,
        rest=rest,
        bar=bar,
        seen=seen,
        blocks=blocks,
        style=style,
    )
    return Answer(html.encode("utf-8", "replace"), status=status)


def _part(name: str, *contents: Any) -> Markup:
    return Markup(str(getattr(_ENVIRONMENT.get_template("parts.html.j2").module, name)(*contents)).strip())


_ENVIRONMENT = Environment(
    loader=FileSystemLoader([TEMPLATES, page.TEMPLATES]),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
