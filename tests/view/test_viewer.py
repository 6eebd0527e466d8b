"""The viewer's pages: what they say is what the run holds, whatever its texts are, and nothing outside is read."""

import io
import json
import shutil
from urllib.parse import quote, urlencode

import numpy as np
import pandas as pd
import pytest
from blank import draw_nothing
from viewed_runs import HOSTILE, ODD, Read, make_folder, names_in, stored, sweep_halfway

from onedial.asking.store import ANSWERS
from onedial.core.errors import InputError
from onedial.verdict.sweep_run import SweepRun
from onedial.view.application import Viewer
from onedial.view.runs import RunFolder
from onedial.view.tables import rows_of

KEY = quote(ODD, safe="")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        draw_nothing(patched.setattr)
        made = make_folder(tmp_path_factory.mktemp("viewed"))
    yield made
    made.going_on.release()


@pytest.fixture(scope="module")
def viewer(folder):
    return Viewer(RunFolder(folder.path))


def page(viewer, *parts, status=200, **query):
    """The page at an address, read as a browser does."""
    address = "/" + "/".join(quote(part, safe="") for part in parts) + (f"?{urlencode(query)}" if query else "")
    answer = viewer.answer(address)
    assert answer.status == status, Read(answer.body).text
    return Read(answer.body)


def test_every_folder_is_listed_as_what_it_is(viewer, folder):
    shown = page(viewer)
    listed = {row[0]: dict(zip(("state", "says"), row[1:3], strict=True)) for row in shown.rows[1:]}
    assert {name: each["state"] for name, each in listed.items()} == {
        "plain": "finished",
        ODD: "finished",
        "live": "going on",
        "broken": "interrupted",
        "wrong": "unreadable",
        "linked": "unreadable",
        "away": "no run",
        "notes": "no run",
    }
    report = Read((folder.path / "plain" / "report.html").read_bytes()).text
    assert all(sentence in report for sentence in listed["plain"]["says"].rstrip(".").split(". "))
    assert "is not JSON" in listed["wrong"]["says"]
    assert "leads out" in listed["linked"]["says"]
    assert {link for link in shown.links if link.startswith("/run/")} == {
        f"/run/{quote(name, safe='')}" for name in ("plain", ODD, "live", "broken")
    }


@pytest.mark.parametrize(
    "address",
    [
        "/",
        f"/?sort={quote(HOSTILE[0])}",
        f"/run/{KEY}",
        "/run/live",
        f"/run/{KEY}/files",
        f"/run/{KEY}/table?name=questions.parquet",
        *(f"/run/{KEY}/table?name={quote(text)}" for text in HOSTILE),
    ],
)
def test_hostile_texts_stay_texts(viewer, address):
    answer = viewer.answer(address)
    read = Read(answer.body)
    assert [attributes for tag, attributes in read.tags if tag == "script"] == [{"src": "/view.js"}]
    assert not {tag for tag, _ in read.tags} & {"iframe", "b" if "table" in address else "iframe"}
    assert all(str(a["src"]).startswith("/run/") for tag, a in read.tags if tag == "img")
    assert not [name for _, attributes in read.tags for name in attributes if name.startswith("on")]
    assert "script-src 'self'" in answer.policy
    if "questions" in address:
        assert all(text in read.text for text in HOSTILE)


@pytest.mark.parametrize(
    "address",
    [
        "/run/..%2Fruns%2Fplain",
        "/run/../../secret.csv",
        "/run/away",
        "/run/away%2Fruns%2Fplain",
        "/run/notes",
        "/run/linked/table?name=table.csv",
        "/run/linked/file/table.csv",
        "/run/plain/table?name=../../secret.csv",
        "/run/plain/file/..%2F..%2Fsecret.csv",
        "/run/plain/file/config.yaml/..",
        "/run/plain/file/sweep",
        "/run/plain/table?name=/etc/passwd",
        "/run/plain/table.csv?name=..%2F..%2Fsecret.csv",
        "/run/plain/%2e%2e%2f%2e%2e%2fsecret.csv",
        "//etc/passwd",
        "/view.js/../application.py",
        "/application.py",
        "/run/" + "a" * 5000,
        "/run/plain\0",
        "//[",
        "http://[/",
    ],
)
def test_nothing_outside_is_shown(viewer, address):
    answer = viewer.answer(address)
    assert answer.status in (404, 500)
    assert b"TOPSECRET" not in answer.body
    assert b"root:" not in answer.body


def test_an_overview_leads_to_figures_tables_files_and_the_report(viewer, folder):
    shown = page(viewer, "run", "plain")
    images = [str(attributes["src"]) for tag, attributes in shown.tags if tag == "img"]
    captions = stored(folder.path / "plain" / "figures" / "captions.json")
    assert len(images) == len(captions)
    assert {viewer.answer(image).kind for image in images} == {"image/svg+xml"}
    assert {viewer.answer(link).status for link in shown.links} == {200}
    assert {"/run/plain/files", "/run/plain/report.html", "/run/plain/table?name=matches.csv"} <= set(shown.links)


def test_a_run_that_is_going_on_shows_its_yes_rates_so_far(viewer, folder):
    rows = sweep_halfway(folder.going_on, SweepRun.open(folder.path / "plain"), 30)
    asked = {"respondent": "m", "label": "m", "occasion": "", "asked": "", "sample": 0, "time": 0, "begun": "now"}
    lines = [asked | {"attempt": item, "item": item, "instrument": "reasoned"} for item in ("q1", "q2")]
    lines.append({"attempt": "q2", "outcome": "answered", "tokens_in": 70, "tokens_out": 3})
    folder.going_on.file(ANSWERS).write_text("".join(json.dumps(line) + "\n" for line in lines))
    with folder.going_on.stage("sweep"):
        shown = page(viewer, "run", "live")
    assert "over the 30 questions swept so far" in shown.text
    own = rows[(rows["magnitude"] == 0.5) & (rows["mass"] >= 0.1)]
    assert [row[2] for row in shown.rows if row[0] == "+0.5"] == [f"{(own['margin'] > 0).mean():.2f}"]
    assert "going on for" in shown.text
    assert ("div", {"id": "live", "data-again": "2"}) in shown.tags
    told = "".join(shown.text.split())
    assert "requestsunderway1requestsanswered1tokensin70tokensout3budget3" in told


def test_a_table_in_parts_is_sorted_page_by_page_and_had_whole_as_csv(viewer, folder):
    whole = SweepRun.open(folder.path / "plain").sweep()
    first = page(viewer, "run", "plain", "table", name="sweep", sort="-margin")
    second = page(viewer, "run", "plain", "table", name="sweep", sort="-margin", page=2)
    place = first.rows[0].index("margin ▼")
    seen = [row[place] for each in (first, second) for row in each.rows[1:]]
    expected = whole["margin"].sort_values(ascending=False).head(100)
    assert seen == [f"{value:.4g}".replace("-", "−") for value in expected]
    answer = viewer.answer("/run/plain/table.csv?name=sweep")
    assert (answer.kind.partition(";")[0], answer.name) == ("text/csv", "sweep.csv")
    assert len(pd.read_csv(io.BytesIO(answer.body))) == len(whole)


def test_every_file_can_be_had_as_it_lies_there(viewer, folder):
    shown = page(viewer, "run", "plain", "files")
    for link in shown.links:
        answer = viewer.answer(link)
        assert answer.status == 200
        if "/file/" in link:
            assert answer.name
    answer = viewer.answer("/run/plain/file/config.yaml")
    assert answer.body == (folder.path / "plain" / "config.yaml").read_bytes()
    assert not [row for row in shown.rows if row[0].startswith(".")]


def test_missing_values_come_last_either_way_and_ends_stand_beside_their_number():
    table = pd.DataFrame(
        {
            "x": [2.0, np.nan, 1.0],
            "x_low": [1.0, np.nan, 0.5],
            "x_high": [3.0, np.nan, 1.5],
            "name": ["b", None, "A"],
            "many": [[1, 2], None, []],
        }
    )
    for sort, first in (("x", "1 [0.5, 1.5]"), ("-x", "2 [1, 3]"), ("name", "1 [0.5, 1.5]"), ("-name", "2 [1, 3]")):
        lines = rows_of(table, sort).lines
        assert (lines[0][0], lines[-1]) == (first, ["–", "–", "–"])
    assert rows_of(table, page="7").page == 1
    with pytest.raises(InputError):
        rows_of(table, "x_lo")
    assert rows_of(table.iloc[:0]).lines == []


def test_a_damaged_run_is_said_to_be_damaged_and_the_others_are_shown(folder, tmp_path):
    for name in ("plain", "other"):
        shutil.copytree(folder.path / "plain", tmp_path / "runs" / name)
    (tmp_path / "runs" / "plain" / "figures" / "captions.json").write_text(json.dumps({"a": 1}))
    (tmp_path / "runs" / "plain" / "figures" / "a.svg").write_text("no drawing")
    (tmp_path / "runs" / "plain" / "panel.parquet").write_bytes(b"nonsense")
    viewer = Viewer(RunFolder(tmp_path / "runs"))
    assert "do not fit together" in page(viewer, "run", "plain", status=500).text
    assert "broken or no table" in page(viewer, "run", "plain", "table", name="panel.parquet", status=404).text
    assert page(viewer, "run", "other")
    assert page(viewer)


def test_the_report_is_shown_as_it_lies_there_and_can_do_nothing(viewer, folder):
    answer = viewer.answer("/run/plain/report.html")
    assert answer.body == (folder.path / "plain" / "report.html").read_bytes()
    assert answer.policy.startswith("sandbox allow-scripts; default-src 'none'")


def test_looking_changes_nothing(viewer, folder):
    before = names_in(folder.path / "plain")
    for address in ("/", "/run/plain", "/run/plain/files", "/run/plain/table?name=sweep"):
        viewer.answer(address)
    assert names_in(folder.path / "plain") == before
