"""Addresses in, pages out: every view of every run, rendered here: a link restores it, and nothing has to be built.

/                              the runs                /compare?run=..&run=..       several side by side
/run/KEY/overview              the sentence, its figure, who is reproduced, what to doubt; or how far it has come
/run/KEY/dial?magnitude=..&target=..&filter=..&sort=..&page=..    and dial.csv: the same rows, all of them
/run/KEY/question?id=..
/run/KEY/files                 whatever the run stores; table?name=.. and table.csv show one of them as a table,
                               file/NAME hands it out as it lies there
/run/KEY/part?of=..            the report's sections, a group at a time (`PARTS`)
/run/KEY/report.html           as it lies there, in a sandbox
"""

import re
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from onedial.core import InputError
from onedial.report import (
    OVERVIEW,
    SECTIONS,
    Contents,
    comparison_figures,
    comparison_sections,
    comparison_sentence,
    doubts,
    ranked,
)
from onedial.show import Section, flat_rows, headline, number, page, save_figure, stage_rows, surroundings
from onedial.verdict import RULE, SweepRun, compare_runs
from onedial.view.desk import Desk, Wanted
from onedial.view.dial import Turned, curve
from onedial.view.progress import LAST_LINES, log_lines, rates_so_far, rows_of_progress
from onedial.view.runs import FINISHED, GOING_ON, STATES, RunFolder, Seen
from onedial.view.stored import is_shown, is_table, listed
from onedial.view.tables import Asked, as_csv, shown

TEMPLATES = Path(__file__).parent / "templates"
SCRIPTS = {
    "view.js": TEMPLATES / "view.js",
    "still.js": TEMPLATES / "still.js",
    "explorer.js": page.TEMPLATES / "explorer.js",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
)
SECONDS_AGAIN = 2
MOST_COPIED = 2_000_000
"""Bytes of a file that a copy of the pages hands out as it lies there."""
PARTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "targets": (("targets", "prediction", "models", "criteria", "missing"), ("matches.csv", "prediction.csv")),
    "rivals": (("rivals", "bias", "facts", "knowing"), ("rivals.csv", "knowing.csv")),
    "controls": (("controls", "side effects"), ("controls.csv", "side_effects.csv")),
    "vector": (
        ("vector", "interchange", "mediation", "path"),
        ("layer_scan.csv", "interchange.csv", "mediation.csv", "path.csv"),
    ),
    "scale": (("scale",), ()),
    "reasoned": (("reasoned",), ("reasoned_settings.csv",)),
    "figures": (("figures",), ()),
}
"""View -> (the report's sections that it shows, the tables behind them); any other section stands under `THE_REST`."""
THE_REST = "about"
COLUMNS = (
    "margin: of yes over no in logits, above 0 the subject says yes; turns_at: the magnitude at which the answer first "
    "turns; targets_yes: share of the targets that say yes; a dash: not read, or not there."
)


@dataclass(frozen=True)
class Answer:
    """What goes back to a browser. `policy`: of the content. `name`: under which it is to be kept, and not shown.
    `to`: the address that a browser goes to instead."""

    body: bytes
    kind: str = "text/html; charset=utf-8"
    status: int = 200
    policy: str = POLICY
    name: str = ""
    to: str = ""


class Viewer:
    """The pages of one folder of runs; with a `desk`, the model writes on demand. Not for several threads at once.

    >>> import tempfile
    >>> Viewer(RunFolder(Path(tempfile.mkdtemp()))).answer("/run/../etc/overview").status
    404
    """

    is_live = True
    """Whether somebody is there to answer filters; a static copy has none (`onedial.view.export`)."""

    def __init__(self, runs: RunFolder, desk: Desk | None = None) -> None:
        self._runs, self._desk = runs, desk
        self._opened: dict[Path, tuple[Any, Opened]] = {}

    def answer(self, address: str) -> Answer:
        """The page at an address as a browser asks for it; never raises, whatever is asked or lies in the folder."""
        try:
            split = urlsplit(address)
            parts, pairs = [unquote(part) for part in split.path.split("/") if part], parse_qsl(split.query)
            return self._answer(parts, dict(pairs), [value for name, value in pairs if name == "run"])
        except InputError as error:
            return self._page("This cannot be shown", [self._part("wrong", str(error))], status=404)
        except Exception as error:  # a damaged run must not end the viewer for the others
            said = f"The run's files do not fit together ({type(error).__name__}: {error}); make its report again."
            return self._page("This cannot be shown", [self._part("wrong", said)], status=500)

    def take(self, address: str, form: str) -> Answer:
        """What a form asks for that was sent to an address: that the model write about a question."""
        parts = [unquote(part) for part in urlsplit(address).path.split("/") if part]
        if self._desk is None or len(parts) != 3 or parts[0] != "run" or parts[2] != "write":
            return self._page("This cannot be taken", [self._part("wrong", "nothing is to be sent here")], status=404)
        asked = dict(parse_qsl(form))
        try:
            opened = self._open(self._runs.one(parts[1]))
            if opened.dial is None:
                raise InputError(opened.why_not or "the run has no dial")
            wanted = Wanted(opened.seen.path, opened.dial.known(asked.get("id", "")), bool(asked.get("alone")))
            self._desk.begin(wanted, opened.dial.three(), asked.get("token", ""))
        except Exception as error:  # as `answer`
            said = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
            return self._page("This cannot be written", [self._part("wrong", said)], status=409)
        query = {name: asked.get(name) for name in ("id", "magnitude", "alone")}
        return Answer(b"", status=303, to=self.link("run", parts[1], "question", **query) + "#live")

    def link(self, *parts: str, **query: Any) -> str:
        """The address of a view; parameters that are empty are left out."""
        asked = urlencode({name: value for name, value in query.items() if value not in ("", None)})
        return "/" + "/".join(quote(part, safe="") for part in parts) + (f"?{asked}" if asked else "")

    def _answer(self, parts: list[str], query: dict[str, str], chosen: list[str]) -> Answer:
        if not parts or parts == ["runs.csv"]:
            return self._index(query, as_file=bool(parts))
        if parts == ["compare"]:
            return self._comparison(chosen)
        if len(parts) == 1 and parts[0] in SCRIPTS:
            return Answer(SCRIPTS[parts[0]].read_bytes(), "text/javascript; charset=utf-8")
        if parts[0] == "run" and len(parts) in (2, 3):
            return self._run(self._open(self._runs.one(parts[1])), (*parts, "overview")[2], query)
        if parts[0] == "run" and len(parts) == 4 and parts[2] == "file":
            file = self._runs.one(parts[1]).file(parts[3])
            if file.is_dir():
                raise InputError(f"{parts[3]} is a table in parts; its page hands it out as CSV")
            return Answer(file.read_bytes(), "application/octet-stream", name=file.name)
        raise InputError("there is no such page; begin at the list of runs")

    # ---- the runs ----------------------------------------------------------------------------------------------------

    def _index(self, query: Mapping[str, str], as_file: bool) -> Answer:
        seen = self._runs.seen()
        table = pd.DataFrame(
            [{"run": each.key, "state": each.state, "says": each.sentence, **each.facts} for each in seen],
            columns=["run", "state", "says", "begun", "program", "model"],
        )
        if as_file:
            return _as_file(table, query)
        able = {each.key for each in seen if each.run is not None}

        def overview(key: str) -> str:
            return self.link("run", key, "overview") if key in able else ""

        rows, status = self._rows(table, query, "Runs", (), ("runs.csv",), "run", overview)
        again = 2 * SECONDS_AGAIN if self.is_live and any(each.state == GOING_ON for each in seen) else 0
        counts = ", ".join(f"{n} {state}" for state in STATES if (n := sum(each.state == state for each in seen)))
        blocks = [self._part("live", [rows], again)]
        blocks.insert(0, self._asking(query, 'state = "finished" and model ~ "qwen"'))
        if self.is_live:
            sweeps = [each.key for each in seen if each.is_sweep and each.state == FINISHED]
            blocks += [self._part("chosen", sweeps, self.link("compare"))] if len(sweeps) > 1 else []
        title = f"{'Runs' if able else 'No runs'} in {self._runs.path.name}"
        return self._page(title, blocks, over=counts, status=status)

    def _comparison(self, chosen: Sequence[str]) -> Answer:
        if len(set(chosen)) < 2:
            raise InputError("a comparison takes two finished sweeps or more; choose them below the list of runs")
        opened = {key: self._open(self._runs.one(key)) for key in dict.fromkeys(chosen)}
        if without := [key for key, each in opened.items() if each.contents is None]:
            raise InputError(
                f"{', '.join(without)}: {opened[without[0]].why_not or 'not a finished sweep'}; choose others"
            )
        comparison = compare_runs({key: SweepRun(each.run) for key, each in opened.items()})
        with tempfile.TemporaryDirectory() as folder:
            drawings = comparison_figures(comparison)
            for name, drawing in drawings.items():
                save_figure(drawing.figure, Path(folder), name)
            captions = {name: {"title": each.title, "caption": each.caption} for name, each in drawings.items()}
            sections = comparison_sections(comparison, Path(folder), captions)
        links = [(key, self.link("run", key, "overview")) for key in opened]
        blocks = [self._part("links", "of", links), self._part("sections", sections)]
        return self._page(headline(comparison_sentence(comparison)), blocks, scripts=("explorer.js",))

    # ---- one run -----------------------------------------------------------------------------------------------------

    def _open(self, seen: Seen) -> "Opened":
        """The run with what was read of it, as long as its files stay as they are."""
        stamp = tuple(
            (file.stat().st_mtime_ns if (file := seen.path / name).is_file() else 0)
            for name in ("manifest.json", "verdict.json", "report.html", "figures/captions.json")
        )
        kept = self._opened.pop(seen.path, None)
        opened = kept[1] if kept is not None and kept[0] == (stamp, seen.state) else Opened(seen)
        self._opened[seen.path] = ((stamp, seen.state), opened)
        while len(self._opened) > 6:
            self._opened.pop(next(iter(self._opened)))
        return opened

    def _run(self, opened: "Opened", view: str, query: dict[str, str]) -> Answer:
        if view == "overview":
            return self._overview(opened)
        if view == "report.html":
            file = opened.seen.path / view
            if not file.is_file():
                raise InputError("the run has no report yet; finish it with --resume")
            return Answer(file.read_bytes(), policy=REPORT_POLICY)
        if view in ("files", "files.csv"):
            return self._files(opened, query, as_file=view.endswith(".csv"))
        if view in ("table", "table.csv"):
            return self._table(opened, query, as_file=view.endswith(".csv"))
        if view in ("dial", "dial.csv", "question", "part"):
            if view == "part" and query.get("of") in opened.parts:
                return self._one_part(opened, query["of"])
            if view == "part" or opened.dial is None:
                raise InputError(opened.why_not or f"the run has no {query.get('of') or view}")
            if view == "question":
                return self._question(opened, opened.dial, query)
            return self._dial(opened, opened.dial, query, as_file=view.endswith(".csv"))
        raise InputError(f"a run has no view {view!r}; take one of those at the top")

    def _overview(self, opened: "Opened") -> Answer:
        seen = opened.seen
        facts = ", ".join(value for value in (seen.facts["program"], seen.facts["model"], seen.facts["begun"]) if value)
        over = Markup("{} {}").format(self._part("state", seen.state), facts)
        if seen.state != FINISHED:
            return self._progress(opened, over)
        wrong = [self._part("wrong", opened.why_not)] if opened.why_not else []
        blocks = self._judged(opened, opened.contents) if opened.contents is not None else self._found(seen)
        return self._page(seen.sentence, wrong + blocks, opened, "overview", over, scripts=("explorer.js",))

    def _judged(self, opened: "Opened", contents: Contents) -> list[Markup]:
        """What the report begins with; each doubt leads to the view of its section."""
        view_of = {name: view for view, (names, _) in PARTS.items() for name in names}
        views = [(words, view_of.get(about, THE_REST)) for words, about in doubts(contents)]
        links = [
            (words, self.link("run", opened.seen.key, "part", of=view if view in opened.parts else THE_REST))
            for words, view in views
        ]
        right = [ranked(contents.verdict["prediction"]), self._part("doubts", "What to doubt", links)]
        if OVERVIEW not in contents.captions:
            return right
        figure = page.lead_figure(contents.run.path / "figures", OVERVIEW, contents.captions[OVERVIEW])
        return [page.beside(figure, right)]

    def _found(self, seen: Seen) -> list[Markup]:
        """First figure, sentences, notes and tables of a run that is no sweep."""
        assert seen.run is not None
        left = [page.lead_figure(seen.path / "figures", name, words) for name, words in [*seen.captions.items()][:1]]
        tables = [name for name, path in seen.files.items() if is_table(path)]
        links = [(name, self.link("run", seen.key, "table", name=name)) for name in tables]
        right = [*self._summary(seen), self._part("links", "Tables:", links)]
        if notes := seen.run.manifest.notes:
            right.append(self._part("scrolled", "What the run came upon", [page.items(notes)], "notes"))
        return [self._part("screen", left, right)] if left else right

    def _summary(self, seen: Seen) -> list[Markup]:
        """The sentences of a run that is no sweep."""
        if seen.run is None or not seen.run.has("summary.json"):
            return []
        stored = seen.run.read_json("summary.json")
        told: dict[str, list[str]] = {"": []}
        for name in ("sentences", "sections"):
            for title, said in stored[name].items() if isinstance(stored.get(name), dict) else [("", stored.get(name))]:
                if isinstance(said, list):
                    told[str(title)] = [str(line) for line in said]
                elif isinstance(said, str):
                    told[""].append(said)
        lists = [Markup("<h3>{}</h3>{}").format(title, page.items(lines)) for title, lines in told.items() if lines]
        return [self._part("scrolled", "What it found", lists, "found")] if lists else []

    def _progress(self, opened: "Opened", over: Markup) -> Answer:
        run, going_on = opened.run, opened.seen.state == GOING_ON
        blocks = [page.rows(rows_of_progress(run, going_on))]
        if opened.seen.is_sweep and (rates := rates_so_far(run)) is not None:
            drawn = curve(rates["magnitude"].to_numpy(), rates["yes_rate"].to_numpy(), "yes rate", 0.0, 1.0)
            most = int((rates["n"] + rates["n_unread"]).max())
            blocks += [page.text(f"Yes rate along the dial, over the {most} questions swept so far:"), drawn]
        if lines := log_lines(run)[-LAST_LINES:]:
            blocks.append(page.code("\n".join(lines)))
        live = self._part("live", blocks, SECONDS_AGAIN if going_on and self.is_live else 0)
        title = "The run is going on" if going_on else "The run was broken off; the same command with --resume goes on"
        return self._page(title, [live], opened, "overview", over)

    def _one_part(self, opened: "Opened", name: str) -> Answer:
        tables = [each for each in PARTS.get(name, ((), ()))[1] if each in opened.seen.files]
        links = [(each, self.link("run", opened.seen.key, "table", name=each)) for each in tables]
        blocks = [self._part("links", "As tables:", links), self._part("sections", opened.parts[name])]
        return self._page(name.capitalize(), blocks, opened, name, scripts=("explorer.js",))

    def _files(self, opened: "Opened", query: dict[str, str], as_file: bool) -> Answer:
        """The list of whatever the run stores."""
        key, files = opened.seen.key, opened.seen.files
        table = listed(files)
        if as_file:
            return _as_file(table, query)

        def to(name: str) -> str:
            return self.link("run", key, "table", name=name) if is_shown(files[name]) else self._raw(opened, name)

        rows, status = self._rows(table, query, "Files", ("run", key, "files"), ("run", key, "files.csv"), "file", to)
        blocks = [self._asking(query, 'holds ~ "auroc"'), rows]
        return self._page("What the run stores", blocks, opened, "files", status=status)

    def _raw(self, opened: "Opened", name: str) -> str:
        """The address of a file as it lies there; "" for what is no file, or too large for a copy of the pages."""
        file = opened.seen.files[name]
        is_left_out = file.is_dir() or (not self.is_live and file.stat().st_size > MOST_COPIED)
        return "" if is_left_out else self.link("run", opened.seen.key, "file", name)

    def _table(self, opened: "Opened", query: dict[str, str], as_file: bool) -> Answer:
        key, name = opened.seen.key, query.get("name", "")
        table = opened.seen.table(name)
        if as_file:
            return _as_file(table, query)
        raw = [("as it lies there", address)] if (address := self._raw(opened, name)) else []
        rows, status = self._rows(table, query, name, ("run", key, "table"), ("run", key, "table.csv"))
        example = f"{_word(table.columns[-1])} is not missing" if len(table.columns) else ""
        blocks = [self._asking(query, example), rows, self._part("links", "", raw)]
        return self._page(name, blocks, opened, "files", status=status)

    # ---- the dial ----------------------------------------------------------------------------------------------------

    def _dial(self, opened: "Opened", dial: Turned, query: dict[str, str], as_file: bool) -> Answer:
        key, target, setting = opened.seen.key, query.get("target", ""), dial.setting_of(query.get("magnitude", ""))
        table = dial.questions_at(setting, target)
        if as_file:
            return _as_file(table, query)
        settings = [
            (
                f"{m:.6g}",
                f"{number(m, signed=True)}, yes {number(rate, 2)}",
                "" if self.is_live else self.link("run", key, "dial", magnitude=f"{m:.6g}"),
            )
            for m, rate in dial.rates
        ]
        at = settings[setting][0]

        def question(name: str) -> str:
            return self.link("run", key, "question", id=name, magnitude=at) if self.is_live else ""

        here, csv = ("run", key, "dial"), ("run", key, "dial.csv")
        rows, status = self._rows(table, query, "Questions at this setting", here, csv, "id", question)
        said = f"Magnitude {number(float(at), signed=True)}: {dial.said_of(setting)}."
        if self.is_live:
            beside = self._part("beside", dial.targets, target, query)
        else:
            links = self._part("links", "At", [(label, address) for _, label, address in settings])
            beside = Markup("<noscript>{}</noscript>{}").format(links, self._asking(query, 'answer = yes and "river"'))
        live = self._part("live", [rows])
        blocks = [self._part("dial", settings, setting, said), beside, live, page.small(COLUMNS)]
        return self._page("Turn the dial", blocks, opened, "dial", status=status)

    def _question(self, opened: "Opened", dial: Turned, query: dict[str, str]) -> Answer:
        text, settings, targets, drawn = dial.one_question(query.get("id", ""))
        back = self.link("run", opened.seen.key, "dial", magnitude=query.get("magnitude"))
        tables = [
            [Markup("<h2>{}</h2>").format(label), self._part("rows", shown(table, Asked(), whole=True), label, None)]
            for label, table in (("At every setting", settings), ("What each target said", targets))
        ]
        blocks = [
            self._part("links", "", [("back to all questions", back)]),
            drawn,
            *self._written(opened, dial, query),
        ]
        blocks.append(self._part("screen", *tables))
        over = f"question {query.get('id')}"
        return self._page(text, blocks, opened, "dial", over=over, scripts=("explorer.js",))

    def _written(self, opened: "Opened", dial: Turned, query: dict[str, str]) -> list[Markup]:
        """What the model has written about the question on demand, and the form that asks for it."""
        if self._desk is None:
            return []
        wanted = Wanted(opened.seen.path, query["id"], bool(query.get("alone")))
        sheet, at_work = self._desk.sheet(wanted), self._desk.at_work()
        blocks = []
        if sheet is not None:
            how = "the question alone, steered at every position" if wanted.alone else "the run's request, as swept"
            table = pd.DataFrame(zip(sheet.magnitudes, sheet.texts, strict=False), columns=["magnitude", "writes"])
            blocks.append(page.text(f"What the model writes after {how}:"))
            blocks.append(self._part("rows", shown(table, Asked(), whole=True), "What the model writes", None))
            if sheet.said:
                so_far = "" if sheet.is_done else f", {time.monotonic() - sheet.since:.0f} s so far"
                blocks.append(page.small(f"{sheet.said}{so_far}"))
        elif at_work is not None:
            blocks.append(page.small(f"The model is writing about question {at_work.question}; one at a time."))
        if at_work is None:
            settings = ", ".join(number(magnitude, signed=True) for magnitude in dial.three())
            hidden = {"token": self._desk.token, "id": query["id"], "magnitude": query.get("magnitude", "")}
            address = self.link("run", opened.seen.key, "write")
            blocks.append(self._part("writing", address, settings, hidden, wanted.alone))
        return [self._part("live", blocks, 1 if at_work is not None else 0)]

    # ---- parts of pages ----------------------------------------------------------------------------------------------

    def _rows(
        self,
        table: pd.DataFrame,
        query: Mapping[str, str],
        label: str,
        here: tuple[str, ...],
        csv: tuple[str, ...],
        key: str = "",
        row_to: Callable[[str], str] | None = None,
    ) -> tuple[Markup, int]:
        """A page of a table, and the status that goes with it: a filter that cannot be read is said above all rows."""
        asked, wrong = Asked.of(query), Markup("")
        try:
            found = shown(table, asked, key, whole=not self.is_live, exact=not self.is_live)
        except InputError as error:
            wrong, found = self._part("wrong", str(error)), shown(table, Asked(), key)

        def to(**changed: Any) -> str:
            return self.link(*here, **{**query, **changed})

        address = self.link(*csv, **{**query, "page": ""})
        return wrong + self._part(
            "rows", found, label, to if self.is_live else None, row_to, address
        ), 400 if wrong else 200

    def _asking(self, query: Mapping[str, str], example: str) -> Markup:
        """The filter above a table: for the viewer, or for the page's own script (`still.js`)."""
        return self._part("asking", query, example) if self.is_live else self._part("still", example)

    def _bar(self, opened: "Opened | None", here: str) -> list[tuple[str, str, bool]]:
        bar = [("All runs", self.link(), opened is None)]
        if opened is None:
            return bar
        key = opened.seen.key
        bar.append((key, self.link("run", key, "overview"), here == "overview"))
        if opened.contents is not None:
            bar.append(("dial", self.link("run", key, "dial", magnitude=None if self.is_live else "0"), here == "dial"))
        bar += [(name, self.link("run", key, "part", of=name), here == name) for name in opened.parts]
        bar.append(("files", self.link("run", key, "files"), here == "files"))
        if opened.run.has("report.html"):
            bar.append(("report", self.link("run", key, "report.html"), False))
        return bar

    def _page(
        self,
        title: str,
        blocks: Sequence[Markup],
        opened: "Opened | None" = None,
        here: str = "",
        over: str = "",
        status: int = 200,
        scripts: Sequence[str] = (),
    ) -> Answer:
        style = (page.TEMPLATES / "explorer.css").read_text("utf-8") + (TEMPLATES / "view.css").read_text("utf-8")
        html = _ENVIRONMENT.get_template("view.html.j2").render(
            title=f"{title} – {opened.seen.key}" if opened else title,
            style=Markup(style),
            bar=self._bar(opened, here),
            over=over,
            headline=title,
            blocks=blocks,
            scripts=[
                self.link(name)
                for name in dict.fromkeys(("view.js", *([] if self.is_live else ["still.js"]), *scripts))
            ],
        )
        return Answer(html.encode("utf-8", "replace"), status=status)

    def _part(self, name: str, *contents: Any) -> Markup:
        return Markup(str(getattr(_ENVIRONMENT.get_template("parts.html.j2").module, name)(*contents)).strip())


class Opened:
    """A run with what was read of it, each once."""

    def __init__(self, seen: Seen) -> None:
        assert seen.run is not None
        self.seen, self.run = seen, seen.run

    @cached_property
    def why_not(self) -> str:
        """Why a finished sweep cannot be shown as one; "" where it can, or is none."""
        if not self.seen.is_sweep or self.seen.state != FINISHED:
            return ""
        rule = SweepRun(self.run).verdict().get("rule")
        again = "judge it again, which needs no model: onedial judge RUN"
        return "" if rule == RULE else f"the run was judged by rule {rule}, and this version shows rule {RULE}; {again}"

    @cached_property
    def contents(self) -> Contents | None:
        """The tables of a finished sweep; None for any other run."""
        if not self.seen.is_sweep or self.seen.state != FINISHED or self.why_not:
            return None
        return Contents(SweepRun(self.run), self.seen.captions)

    @cached_property
    def dial(self) -> Turned | None:
        """Its dial, where it is a finished sweep."""
        return None if self.contents is None else Turned(self.contents)

    @cached_property
    def sections(self) -> dict[str, Section]:
        """The report's sections by name, those that the run has something for; the dial has a view of its own."""
        contents = self.contents
        if contents is None:
            return {}
        made = {name: make(contents) for name, make in SECTIONS.items() if name != "dial"}
        return {name: section for name, section in made.items() if section is not None}

    @cached_property
    def parts(self) -> dict[str, list[Section]]:
        """Sections by view, in the order of `PARTS`."""
        if self.contents is None:
            rest = {THE_REST: _about(self.run)}
            if not (captions := self.seen.captions):
                return rest
            return {"figures": [Section("", [page.figures(self.run.path / "figures", captions)])], **rest}
        grouped = {
            view: [self.sections[name] for name in names if name in self.sections] for view, (names, _) in PARTS.items()
        }
        taken = {name for names, _ in PARTS.values() for name in names}
        grouped[THE_REST] = [section for name, section in self.sections.items() if name not in taken]
        return {view: sections for view, sections in grouped.items() if sections}


def _about(run: Any) -> list[Section]:
    """What every run knows of itself."""
    manifest = run.manifest
    notes = [Section("Notes of the run", [page.items(manifest.notes)])] if manifest.notes else []
    return [
        *notes,
        Section("Do it again", [page.code(manifest.command)]),
        Section("Configuration", [page.rows(flat_rows(run.config))]),
        Section("Time per stage", [page.rows(stage_rows(manifest.stages))]),
        Section("Versions, machine, seeds", [page.rows(surroundings(manifest))]),
    ]


def _word(column: Any) -> str:
    """A column as a filter names it."""
    return str(column) if re.fullmatch(r"[^\W\d]\w*", str(column)) else f"`{column}`"


def _as_file(table: pd.DataFrame, query: Mapping[str, str]) -> Answer:
    return Answer(as_csv(Asked.of(query).rows_of(table)), "text/csv; charset=utf-8")


_ENVIRONMENT = Environment(
    loader=FileSystemLoader([TEMPLATES, page.TEMPLATES]),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
