"""A folder of runs for the viewer: finished, going on, interrupted, damaged and foreign, with hostile names."""

import json
import os
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

from reporting_run import VECTOR_ID, intervention, make_run

from onedial.core.run.run import Run
from onedial.report.report import write_report
from onedial.verdict.sweep_run import SweepRun

HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    "separated\u2028by\u2029lines & &lt;b&gt;",
    "</title>\"bold\" 'quoted' ${window.hacked = 1} {{ 7 * 7 }}",
]
ODD = "a <b>run<b> of $x \"q\" 'é\u2028' 100% #1?&=+"


class Folder(NamedTuple):
    """Where it lies, and a run that this process is writing."""

    path: Path
    going_on: Run


def make_folder(folder: Path) -> Folder:
    """Runs called plain and `ODD` (finished), live, broken, wrong, linked, and what is no run."""
    inside = folder / "runs"
    inside.mkdir(parents=True)
    run = make_run(inside / "plain", n_targets=6, n_questions=160, texts=HOSTILE)
    write_report(run)
    shutil.copytree(inside / "plain", inside / ODD)
    live = Run.create(inside / "live", "steer_sweep", {"model": HOSTILE[0], "budget": 3})
    Run.create(inside / "broken", "steer_sweep", {}).release()
    Run.create(inside / "wrong", "fit_factor", {}).release()
    (inside / "wrong" / "manifest.json").write_text("{", encoding="utf-8")
    Run.create(inside / "linked", "fit_factor", {}).release()
    (folder / "secret.csv").write_text("column\nTOPSECRET\n", encoding="utf-8")
    (inside / "linked" / "table.csv").symlink_to(folder / "secret.csv")
    (inside / "away").symlink_to(folder)
    (inside / "notes").mkdir()
    (inside / "notes" / "readme.txt").write_text("TOPSECRET", encoding="utf-8")
    return Folder(inside, live)


def sweep_halfway(going_on: Run, finished: SweepRun, n: int) -> Any:
    """The first n questions of a finished sweep, as they stand in a run that is going on; returns their rows."""
    sweep, run = finished.sweep(), SweepRun(going_on)
    run.write_interventions([intervention(VECTOR_ID, sweep)])
    rows = sweep[sweep["question_id"].isin(sorted(sweep["question_id"].unique())[:n])]
    run.parts["sweep"].append(rows)
    (run.path / "sweep" / ".part-00001-x.part.parquet").write_bytes(b"half")
    return rows


class Read(HTMLParser):
    """A page as a browser reads it: its tags, its links, its texts, and the rows of its last table."""

    def __init__(self, body: bytes) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.links: list[str] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self._in: list[str] = []
        self.feed(body.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note it."""
        if tag in ("style", "td", "th"):
            self._in.append(tag)
        self.tags.append((tag, dict(attrs)))
        if tag == "a":
            self.links.append(dict(attrs).get("href") or "")
        if tag == "table":
            self.rows = []
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        """A cell, or the style, is over."""
        if self._in and self._in[-1] == tag:
            self._in.pop()

    def handle_data(self, data: str) -> None:
        """Into the text, and into the cell that is open."""
        if self._in[-1:] != ["style"]:
            self.text += data
        if self._in[-1:] in (["td"], ["th"]):
            self.rows[-1][-1] += data


def stored(path: Path) -> Any:
    """A JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def names_in(path: Path) -> list[str]:
    """Every file below a folder."""
    return sorted(os.path.join(place, file) for place, _, files in os.walk(path) for file in files)
