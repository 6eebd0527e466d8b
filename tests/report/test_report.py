"""The report: one file, the verdict's own numbers, and no outcome dressed up."""

import base64
import functools
import hashlib
import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace

import pandas as pd
import pytest
from reporting_run import make_run

from onedial.core.errors import InputError
from onedial.report.report import contents_of, end_sweep
from onedial.report.sections.asked_and_read import missing_rows
from onedial.show.results import doubts_of, lines_of, shown_columns
from onedial.verdict.sweep_run import SweepRun
from onedial.verdict.verdict import CANNOT_BE_JUDGED, FLAGS, RULE, THIS_DIRECTION, UNTESTED

VOID = {"meta", "link", "input", "br", "img", "hr"}
LOADING = {"src", "srcset", "href", "xlink:href", "action", "poster", "data", "background", "cite"}


class Page(HTMLParser):
    """What a browser would load, the visible text, and what stands in each table and at each element of a class."""

    def __init__(self, html):
        super().__init__()
        self.loads, self.values, self.ids, self.words, self.tags, self.tables = [], [], [], [], set(), {}
        self.opened, self.pieces = [], {}
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.add(tag)
        self.loads += [value for name, value in attributes if name in LOADING]
        self.ids += [value for name, value in attributes if name == "id"]
        if tag == "data":
            self.values.append(given["value"])
        if "aria-label" in given and given.get("class") == "scroll":
            self.table = self.tables[given["aria-label"]] = []
        if tag == "tr" and self.tables:
            self.table.append([])
        if tag in ("th", "td") and self.tables:
            self.table[-1].append(["", given.get("data-csv", "").split("|")])
        if tag not in VOID:
            self.opened.append((tag, given.get("class")))

    def handle_endtag(self, tag):
        while self.opened and self.opened.pop()[0] != tag:
            pass

    def handle_data(self, data):
        self.words.append(data)
        tags = [tag for tag, _ in self.opened]
        if "table" in tags and tags[-1] in ("th", "td") and self.tables:
            self.table[-1][-1][0] += data
        for name in (tags[-1:] + [kind for _, kind in self.opened]) if tags else []:
            self.pieces.setdefault(name, []).append(data)

    def of_class(self, name):
        return "".join(self.pieces[name])

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


parsed = functools.cache(Page)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    run = make_run(tmp_path_factory.mktemp("report") / "run", n_targets=12)
    end_sweep(run)
    return run


@pytest.fixture(scope="module")
def html(run):
    return (run.path / "report.html").read_text(encoding="utf-8")


def test_the_report_loads_nothing_from_outside(html):
    """The report loads nothing from outside and runs one script of its own."""
    page = parsed(html)
    assert all(link.startswith(("#", "data:image/png;base64,")) for link in page.loads)
    assert not page.tags & {"link", "iframe", "img", "object", "embed"}
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", html, re.DOTALL)
    assert re.findall(r"<script[^>]*>", html) == ['<script type="application/json" id="explorer-data">', "<script>"]
    digest = base64.b64encode(hashlib.sha256(scripts[1].encode()).digest()).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html)[1]
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert len(html.encode()) < 6_000_000
    assert not re.search(r"@import|url\((?!#)", html)
    assert "http://www.w3.org/TR" not in html


def test_ids_on_the_page_are_unique_and_every_reference_has_its_target(html):
    page = parsed(html)
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.loads if link.startswith("#")} <= set(page.ids)
    assert set(re.findall(r"url\(#([^)]+)\)", html)) <= set(page.ids)


@pytest.mark.parametrize("name", ["matches", "baselines"])
def test_cells_are_the_rounded_numbers_of_the_file(run, html, name):
    """The numbers behind a table are those of the run's file and its cells are these rounded."""
    head, *rows = parsed(html).tables[f"Table of {name}"]
    contents = contents_of(run)
    stored, result = contents[name], contents.results[name]
    columns = shown_columns(result.columns, lines_of(result, stored, contents))
    assert [names for _, names in head[1:]] == [column.names for column in columns]
    assert sorted(row[0][0] for row in rows) == sorted(stored.index)
    for (row, _), *cells in rows:
        for column, (shown, values) in zip(columns, cells, strict=True):
            known = [each for each in zip(column.names, values, strict=False) if each[0] in stored and each[1]]
            for place, (each, value) in enumerate(known):
                assert float(value) == pytest.approx(stored.loc[row, each], rel=1e-6)
                if column.name in stored:
                    written = re.findall(r"[−+]?\d+\.?\d*", shown)[place].replace("−", "-")
                    decimals = len(written.partition(".")[2])
                    assert float(written) == pytest.approx(float(value), abs=0.5001 * 10**-decimals)
            if not known and column.name in stored:
                assert shown in (str(stored.loc[row, column.name]), "–")


def test_every_target_is_in_the_table_of_targets_from_rarely_to_often_yes(run, html):
    matches = run.matches().sort_values("yes_rate", kind="stable")
    rows = parsed(html).tables["Table of matches"][1:]
    assert [(row[0][0], row[1][0]) for row in rows] == list(matches["status"].items())
    missing = run.panel()["said_yes"].isna().groupby(run.panel()["respondent"]).sum()
    assert [float(row[-1][0]) for row in rows] == [missing[target] for target in matches.index]


def leaves(value):
    if isinstance(value, dict):
        return [leaf for each in value.values() for leaf in leaves(each)]
    if isinstance(value, list):
        return [float(len(value)), *(leaf for each in value for leaf in leaves(each))]
    return [float(value)] if isinstance(value, int | float) else []


CONSTANTS = {"95%", "90%", ".1", ".9", "0", "4", "5", "100", "99", "1", "2", "3"}
"""Levels, yes rates and small counts in the wording of cards and doubts."""


@pytest.mark.parametrize("place", ["findings", "doubts"])
def test_every_number_of_the_overview_and_the_cards_is_one_of_the_run(run, html, place):
    """Of the texts there, each numeral is a number of the verdict, or a count of its tables, in so many digits."""
    verdict, text = run.verdict().to_dict(), parsed(html).of_class(place)
    for name in (*verdict["models"], *run.matches().index, *contents_of(run)["baselines"].index):
        text = text.replace(str(name), "")
    bits, beyond = (verdict["prediction"][name]["value"] for name in ("bits", "beyond"))
    known = [*leaves(verdict), len(verdict["models"]), len(verdict["excluded"]), bits - beyond]
    known += [each + 1 for each in leaves(verdict["direction"]) if each == int(each)]
    dose = run.dose_response().groupby("magnitude")[["n_read", "n_unread"]].sum()
    known.append(float((dose["n_unread"] / dose.sum(axis=1)).max()))
    result = re.findall(r"(?<![\w.])[−+]?\d*\.?\d+%?", text)
    assert result
    for numeral in result:
        plain = numeral.replace("−", "-").rstrip("%")
        decimals = len(plain.partition(".")[2]) + 2 * numeral.endswith("%")
        value = float(plain) / (100 if numeral.endswith("%") else 1)
        close = any(abs(abs(value) - abs(each)) <= 0.5001 * 10**-decimals for each in known)
        in_100 = any(abs(abs(value) - 100 * abs(each)) <= 0.0501 for each in known)
        assert numeral in CONSTANTS or close or in_100, numeral


def doubted(run, **changes):
    contents = contents_of(run)
    contents.__dict__["verdict"] = replace(run.verdict(), **changes)
    return [about for _, about in doubts_of(contents)]


def test_what_is_to_be_doubted_follows_from_the_verdict(run):
    gain = run.verdict().gain
    better, no_better = (replace(gain, low=low) for low in (0.01, -0.01))
    assert ("verdict" in doubted(run, gain=better)) < ("verdict" in doubted(run, gain=no_better))
    assert ("matches" in doubted(run, excluded={})) < ("matches" in doubted(run, excluded={"a": "few"}))
    assert ("controls" in doubted(run, push=THIS_DIRECTION)) < ("controls" in doubted(run, push=UNTESTED))
    many = {str(n): {} for n in range(5)}
    assert ("models" in doubted(run, models=many)) < ("models" in doubted(run, models={"a": {}}))
    assert ("remedies" in doubted(run)) < ("remedies" in doubted(run, reproduced=CANNOT_BE_JUDGED))
    assert len(doubted(run, flags=list(FLAGS))) > len(doubted(run, flags=[], screening=[]))


def test_prompt_command_and_stages_are_shown_and_escaped(run, html):
    page = parsed(html)
    assert "correctly?<|im_end|>" in page.text
    assert "answer <this>" in page.text
    assert "<this>" not in html
    assert run.run.manifest.command in page.text.replace("\n", " ")
    assert "sweep" in page.text


def test_a_run_without_a_verdict_is_refused(tmp_path):
    run = make_run(tmp_path / "run")
    (run.path / "verdict.json").unlink()
    with pytest.raises(InputError, match=r"is not finished; continue it with --resume"):
        end_sweep(run)


def test_a_run_without_factor_model_and_layer_scan_has_a_report(undrawn, tmp_path):
    run = make_run(tmp_path / "run", n_targets=2)
    assert run.factor() is None
    (run.path / "layer_scan.csv").unlink()
    text = parsed(end_sweep(run).read_text(encoding="utf-8")).text
    assert "One shared difficulty?" not in text
    assert text.count("1 of 2 targets can be judged, and it takes 5") == 2  # of the window and of the page


def test_a_verdict_of_an_older_rule_is_named_and_not_shown_under_new_words(run, tmp_path):
    shutil.copytree(run.path, tmp_path / "run")
    older = SweepRun.open(tmp_path / "run")
    older.run.write_json("verdict.json", {"rule": 2, "sentence": "reproduced by a threshold shift"})
    with pytest.raises(InputError, match=rf"judged by rule 2, .* rule {RULE}; judge it again"):
        end_sweep(older)


def test_the_most_unread_magnitude_counts_answers_not_splits():
    dose = pd.DataFrame(
        {
            "split": ["fitting", "test"] * 2,
            "magnitude": [0.0, 0.0, 1.0, 1.0],
            "n_read": [25, 50, 24, 50],
            "n_unread": [0, 0, 1, 0],
        }
    )
    questions = pd.DataFrame({"split": ["fitting"] * 25 + ["test"] * 50})
    panel, sweep = pd.DataFrame({"said_yes": [1.0]}), SimpleNamespace(overflowed=list)
    rows = dict(missing_rows(SimpleNamespace(dose_response=dose, panel=panel, questions=questions, sweep=sweep)))
    assert rows["most unread"].startswith("1.3% at magnitude 1")


def test_overflowed_answers_are_counted_apart(undrawn, tmp_path):
    """Answers that overflowed are counted apart from those that could not be read."""

    def overflowing(sweep):
        lost = (sweep["magnitude"] == sweep["magnitude"].max()) & sweep["question_id"].isin(sweep["question_id"][:9])
        return sweep.assign(margin=sweep["margin"].mask(lost), mass=sweep["mass"].mask(lost))

    run = make_run(tmp_path / "run", n_targets=6, answered=overflowing)
    lost = run.overflowed()
    assert 0 < len(lost) < run.sweep()["mass"].isna().sum() + 1
    text = parsed(end_sweep(run).read_text(encoding="utf-8")).text
    assert f"of these, overflowed (no finite logits) {len(lost)}" in " ".join(text.split())
    assert f"{len(lost)} answers of the subject overflowed" in text
