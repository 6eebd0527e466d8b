"""The viewer's pages: what they say is what the run holds, whatever its texts are, and nothing outside is read."""

import io
import json
import shutil
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import numpy as np
import pandas as pd
import pytest
from blank import draw_nothing
from viewed_runs import HOSTILE, ODD, SETTINGS, Read, make_folder, names_in, stored, sweep_halfway

from onedial.core import LEDGER, Ledger
from onedial.report import SECTIONS, Contents, doubts
from onedial.verdict import SweepRun, sweep_grid
from onedial.view import RunFolder, Viewer, export_to

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


@pytest.fixture(scope="module")
def plain(folder):
    return SweepRun.open(folder.path / "plain")


@pytest.fixture(scope="module")
def grid(plain):
    return sweep_grid(plain.sweep(), plain.splits(), plain.under_test())


def page(viewer, *parts, status=200, **query):
    """The page at an address, read as a browser does."""
    address = "/" + "/".join(quote(part, safe="") for part in parts) + (f"?{urlencode(query)}" if query else "")
    answer = viewer.answer(address)
    assert answer.status == status, Read(answer.body).text
    return Read(answer.body)


def csv(viewer, *parts, **query):
    """The table at an address."""
    address = "/" + "/".join(quote(part, safe="") for part in parts) + f"?{urlencode(query)}"
    answer = viewer.answer(address)
    assert answer.kind.startswith("text/csv")
    return pd.read_csv(io.BytesIO(answer.body))


def test_every_folder_is_listed_as_what_it_is(viewer, folder):
    table = csv(viewer, "runs.csv").set_index("run")
    assert table["state"].to_dict() == {
        "plain": "finished",
        ODD: "finished",
        "live": "going on",
        "broken": "interrupted",
        "wrong": "unreadable",
        "linked": "unreadable",
        "away": "no run",
        "notes": "no run",
    }
    assert table.loc["plain", "says"].lower().rstrip(".") == stored(folder.path / "plain" / "verdict.json")[
        "sentence"
    ].lower().rstrip(".")
    assert "is not JSON" in table.loc["wrong", "says"]
    assert "leads out" in table.loc["linked", "says"]
    shown = page(viewer)
    assert [row[0] for row in shown.rows[1:]] == list(table.index)
    assert {link for link in shown.links if link.endswith("/overview")} == {
        f"/run/{quote(name, safe='')}/overview" for name in ("plain", ODD, "live", "broken")
    }


def test_a_folder_that_is_a_run_itself_is_shown_as_the_one_that_it_is(folder):
    alone = Viewer(RunFolder(folder.path / "plain"))
    assert csv(alone, "runs.csv")["run"].tolist() == ["plain"]
    assert page(alone, "run", "plain", "dial")


@pytest.mark.parametrize("view", ["overview", "dial", "table", "part", "question", "compare", "index"])
def test_hostile_texts_stay_texts(viewer, view):
    addresses = {
        "index": ["/"],
        "compare": [f"/compare?run={KEY}&run=plain"],
        "dial": [
            f"/run/{KEY}/dial?{name}={quote(text)}" for name in ("filter", "target", "sort") for text in ("", *HOSTILE)
        ],
        "table": [f"/run/{KEY}/table?name={name}" for name in ("questions.parquet", "reasoned", *map(quote, HOSTILE))],
        "part": [f"/run/{KEY}/part?of={name}" for name in ("targets", "about", *map(quote, HOSTILE))],
        "question": [f"/run/{KEY}/question?id=q{i:04d}" for i in range(len(HOSTILE))],
        "overview": [f"/run/{KEY}/overview", "/run/live/overview"],
    }
    for address in addresses[view]:
        answer = viewer.answer(address)
        read = Read(answer.body)
        scripts = [attributes for tag, attributes in read.tags if tag == "script"]
        assert all(set(each) == {"src"} and each["src"] in ("/view.js", "/explorer.js") for each in scripts)
        assert not {tag for tag, _ in read.tags} & {"img", "iframe"}
        assert not [name for _, attributes in read.tags for name in attributes if name.startswith("on")]
        assert "script-src 'self'" in answer.policy
    if view in ("dial", "question", "table"):
        assert any(text in Read(viewer.answer(address).body).text for text in HOSTILE for address in addresses[view])


@pytest.mark.parametrize(
    "address",
    [
        "/run/..%2Fruns%2Fplain/overview",
        "/run/../../secret.csv",
        "/run/away/overview",
        "/run/away%2Fruns%2Fplain/overview",
        "/run/notes/overview",
        "/run/linked/table?name=table.csv",
        "/run/plain/table?name=../../secret.csv",
        "/run/plain/file/..%2F..%2Fsecret.csv",
        "/run/plain/file/config.yaml/..",
        "/run/linked/file/table.csv",
        "/run/plain/file/sweep",
        "/run/plain/table?name=/etc/passwd",
        "/run/plain/table.csv?name=..%2F..%2Fsecret.csv",
        "/run/plain/%2e%2e%2f%2e%2e%2fsecret.csv",
        "/run/plain/part?of=../../secret",
        "//etc/passwd",
        "/view.js/../application.py",
        "/application.py",
        "/run/" + "a" * 5000 + "/overview",
        "/run/plain\0/overview",
        "//[",
        "http://[/",
    ],
)
def test_nothing_outside_is_shown(viewer, address):
    answer = viewer.answer(address)
    assert answer.status in (404, 500)
    assert b"TOPSECRET" not in answer.body
    assert b"root:" not in answer.body


def test_the_dial_shows_each_answer_and_margin_of_the_setting(viewer, plain, grid):
    found = csv(viewer, "run", "plain", "dial.csv", magnitude=0.41).set_index("id").loc[grid.questions]
    column = int(np.abs(grid.magnitudes - 0.41).argmin())
    said = found["answer"].map({"yes": 1.0, "no": 0.0}).to_numpy()
    np.testing.assert_array_equal(said, grid.answers[:, column])
    np.testing.assert_allclose(found["margin"], grid.margins[:, column])
    panel = plain.panel().pivot(index="question_id", columns="respondent", values="said_yes").loc[grid.questions]
    np.testing.assert_allclose(found["targets_yes"], panel.mean(axis=1))


def test_the_share_of_agreement_at_a_targets_magnitude_is_that_of_the_verdict(viewer, plain):
    target, row = next((name, row) for name, row in plain.matches().iterrows() if row["status"] == "ok")
    found = csv(viewer, "run", "plain", "dial.csv", magnitude=row["magnitude"], target=target, filter='split = "test"')
    read = found[found["unsteered"].notna()]["agree"].dropna()
    assert len(read) == row["n_test"]
    assert (read == "yes").mean() == pytest.approx(row["agreement"])


def test_what_the_model_wrote_stands_beside_its_answer_at_the_nearest_setting(viewer):
    for magnitude in SETTINGS:
        found = csv(viewer, "run", "plain", "dial.csv", magnitude=magnitude + 0.1).set_index("id")
        assert found.loc["q0003", f"wrote at {magnitude:+.3g}"] == f"<i>q0003</i> at {magnitude:g}"
    assert "<i>q0003</i> at -1" in page(viewer, "run", "plain", "question", id="q0003").text


def test_a_link_restores_the_view_and_its_csv_holds_the_same_rows(viewer):
    query = {"magnitude": "0.5", "filter": 'answer = yes and not topic = "topic 1"', "sort": "-margin"}
    whole = csv(viewer, "run", "plain", "dial.csv", **query)
    assert (whole["answer"] == "yes").all()
    assert not (whole["topic"] == "topic 1").any()
    assert whole["margin"].is_monotonic_decreasing
    assert 50 < len(whole) <= 150
    shown = [page(viewer, "run", "plain", "dial", page=n, **query) for n in (1, 2, 3)]
    place = shown[0].rows[0].index("id")
    assert [row[place] for each in shown for row in each.rows[1:]] == whole["id"].tolist()
    fields = {attributes.get("name"): attributes.get("value") for tag, attributes in shown[0].tags if tag == "input"}
    assert fields["filter"] == query["filter"]
    chosen = [attributes["value"] for tag, attributes in shown[0].tags if tag == "option" and "selected" in attributes]
    assert chosen == ["0.5"]
    following = next(link for link in shown[0].links if "page=2" in link)
    assert dict(parse_qsl(urlsplit(following).query)) == {**query, "page": "2"}
    assert f"/run/plain/dial.csv?{urlencode(query)}" in shown[1].links


@pytest.mark.parametrize("name", ["matches.csv", "questions.parquet", "sweep", "panel.parquet"])
def test_any_table_of_a_run_is_shown_and_downloaded_with_the_same_filter(viewer, plain, name):
    stored_rows = {"sweep": plain.sweep, "matches.csv": plain.matches, "panel.parquet": plain.panel}.get(name)
    assert stored_rows is None or len(csv(viewer, "run", "plain", "table.csv", name=name)) == len(stored_rows())
    column = {"matches.csv": "model", "questions.parquet": "topic", "sweep": "question_id"}.get(name, "respondent")
    query = {"name": name, "filter": f'{column} ~ "a" or {column} ~ "1"', "sort": column}
    whole = csv(viewer, "run", "plain", "table.csv", **query)
    shown = page(viewer, "run", "plain", "table", **query)
    assert [row[shown.rows[0].index(f"{column} ▲")] for row in shown.rows[1:]] == whole[column].astype(str).tolist()[
        :50
    ]


def test_a_text_in_a_csv_is_no_formula(viewer, folder):
    assert csv(viewer, "run", ODD, "dial.csv")["question"].isin(HOSTILE).sum() == len(HOSTILE)
    answer = viewer.answer(f"/run/plain/dial.csv?filter={quote('margin < 0')}")
    assert all(not line.startswith(b"=") for line in answer.body.splitlines())


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"filter": "margn > 1"}, "did you mean 'margin'"),
        ({"sort": "nothing"}, "names no column"),
    ],
)
def test_a_wrong_filter_is_said_above_the_whole_table(viewer, query, words):
    shown = page(viewer, "run", "plain", "dial", status=400, **query)
    assert words in shown.text
    assert len(shown.rows) == 51


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"magnitude": "much"}, "no number"),
        ({"magnitude": "nan"}, "no number"),
        ({"page": "0"}, "no whole number"),
        ({"page": "9" * 30}, "no whole number"),
        ({"target": "nobody"}, "nobody"),
    ],
)
def test_an_address_that_asks_for_what_is_not_there_says_so(viewer, query, words):
    assert words in page(viewer, "run", "plain", "dial", status=404, **query).text


def test_the_page_after_the_last_is_the_last(viewer):
    assert "page 4 of 4" in page(viewer, "run", "plain", "dial", page=999).text


def test_every_section_of_the_report_stands_in_one_view(viewer, plain):
    contents = Contents(plain, stored(plain.path / "figures" / "captions.json"))
    titles = [found.title for name, make in SECTIONS.items() if name != "dial" and (found := make(contents))]
    views = {link for link in page(viewer, "run", "plain", "overview").links if "/part?of=" in link}
    said = "".join(Read(viewer.answer(link).body).text for link in sorted(views))
    assert [title for title in titles if said.count(title) == 0] == []
    assert len(views) >= 6


def test_the_overview_ranks_base_models_and_leads_to_what_is_to_be_doubted(viewer, plain):
    shown = page(viewer, "run", "plain", "overview")
    models = plain.verdict()["prediction"]["models"]
    ranked = sorted(models, key=lambda name: -models[name]["bits"])
    start = shown.text.index("Who is reproduced how well?")
    assert sorted(ranked, key=lambda name: shown.text.index(name, start)) == ranked
    assert plain.verdict()["sentence"][1:] in shown.text
    told = doubts(Contents(plain, {}))
    assert told
    assert all(words in shown.text[start:] for words, _ in told)
    assert "/run/plain/part?of=rivals" in shown.links
    assert {viewer.answer(link).status for link in shown.links} == {200}


def test_a_run_that_is_going_on_shows_its_yes_rates_so_far(viewer, folder, plain):
    rows = sweep_halfway(folder.going_on, plain, 30)
    ledger = Ledger(folder.going_on.file(LEDGER))
    ledger.begin(question_id="q1")
    ledger.end(ledger.begin(question_id="q2"), outcome="answered", tokens_in=70, tokens_out=3)
    with folder.going_on.stage("sweep"):
        shown = page(viewer, "run", "live", "overview")
    assert "over the 30 questions swept so far" in shown.text
    own = rows[(rows["magnitude"] == 0.5) & (rows["mass"] >= 0.1)]
    assert f"magnitude +0.500: yes rate {(own['margin'] > 0).mean():.2f}" in shown.text
    assert "going on for" in shown.text
    assert str(len(rows)) in shown.text
    assert ("div", {"id": "live", "data-again": "2"}) in shown.tags
    assert csv(viewer, "run", "live", "table.csv", name="sweep")["question_id"].nunique() == 30
    told = shown.text.replace("\n", " ").split()
    assert " ".join(told).count("requests under way1 requests answered1 tokens in70 tokens out3 budget3") == 1
    assert "going on" in page(viewer).text


def test_a_run_that_is_let_go_of_is_not_looked_at_again(viewer):
    shown = page(viewer, "run", "broken", "overview")
    assert "--resume" in shown.text
    assert ("div", {"id": "live"}) in shown.tags


def test_runs_are_compared_on_one_page(viewer):
    answer = viewer.answer(f"/compare?run=plain&run={KEY}")
    assert answer.status == 200
    for title in ("The verdicts", "Pair by pair", "Target by target"):
        assert title in Read(answer.body).text
    for chosen, words in (("run=plain", "two finished sweeps"), ("run=plain&run=live", "live")):
        refused = viewer.answer(f"/compare?{chosen}")
        assert refused.status == 404
        assert words in Read(refused.body).text


def test_a_drawing_that_acts_is_not_shown(folder, tmp_path):
    shutil.copytree(folder.path / "plain", tmp_path / "runs" / "plain")
    drawn = tmp_path / "runs" / "plain" / "figures" / "dose_response.svg"
    for hostile in (
        '<script xmlns="http://www.w3.org/2000/svg">1</script>',
        '<rect onload="1"/>',
        '<image href="//e.example/"/>',
    ):
        svg = (folder.path / "plain" / "figures" / "dose_response.svg").read_text("utf-8")
        drawn.write_text(svg.replace("</svg>", f"{hostile}</svg>"), encoding="utf-8")
        shown = page(Viewer(RunFolder(tmp_path / "runs")), "run", "plain", "overview", status=404)
        assert "more than a drawing" in shown.text


def test_a_damaged_run_is_said_to_be_damaged_and_the_others_are_shown(folder, tmp_path):
    for name in ("plain", "other"):
        shutil.copytree(folder.path / "plain", tmp_path / "runs" / name)
    (tmp_path / "runs" / "plain" / "matches.csv").write_text("nonsense\n1\n", encoding="utf-8")
    viewer = Viewer(RunFolder(tmp_path / "runs"))
    answer = viewer.answer("/run/plain/overview")
    assert answer.status == 500
    assert b"do not fit together" in answer.body
    assert b"Traceback" not in answer.body
    assert page(viewer, "run", "other", "overview")
    assert page(viewer)


def test_a_run_from_before_ends_were_marked_is_finished_where_its_last_stage_is(tmp_path):
    golden = Path(__file__).resolve().parents[1] / "reference" / "golden" / "default"
    _, begun, failed = (Path(shutil.copytree(golden, tmp_path / name)) for name in ("a", "b", "c"))
    (begun / "log.txt").write_text("2026-11-22T08:09:01Z report: started\n")
    manifest = stored(failed / "manifest.json")
    manifest["stages"][-1]["completed"] = False
    (failed / "manifest.json").write_text(json.dumps(manifest))
    states = [seen.state for seen in RunFolder(tmp_path).seen()]
    assert states == ["finished", "interrupted", "interrupted"]


def test_the_report_is_shown_as_it_lies_there_and_can_do_nothing(viewer, folder):
    answer = viewer.answer("/run/plain/report.html")
    assert answer.body == (folder.path / "plain" / "report.html").read_bytes()
    assert answer.policy.startswith("sandbox allow-scripts; default-src 'none'")


def test_looking_changes_nothing(viewer, folder):
    before = names_in(folder.path / "plain")
    for address in ("/", "/run/plain/overview", "/run/plain/dial", "/run/plain/table?name=sweep"):
        viewer.answer(address)
    assert names_in(folder.path / "plain") == before


def test_an_export_is_whole_in_itself(folder, grid, tmp_path):
    shutil.copytree(folder.path / "plain", tmp_path / "runs" / "plain")
    n = export_to(tmp_path / "site", RunFolder(tmp_path / "runs"))
    files = {file.name: file for file in (tmp_path / "site").iterdir()}
    assert len(files) == n
    for name, file in files.items():
        if name.endswith(".html") and "report" not in name:
            read = Read(file.read_bytes())
            linked = [link for link in read.links if not link.startswith("#")]
            linked += [str(attributes["src"]) for tag, attributes in read.tags if tag == "script"]
            assert set(linked) <= set(files), name
            forms = {str(attributes.get("id")) for tag, attributes in read.tags if tag == "form"}
            assert forms <= {"dial", "still"}, name
    dials = [name for name in files if "dial" in name and name.endswith(".csv")]
    assert len(dials) == len(grid.magnitudes)
    assert all(len(pd.read_csv(files[name])) == len(grid.questions) for name in dials)
