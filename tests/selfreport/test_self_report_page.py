"""The page of what models say of themselves: its numbers are its tables', every answer can be read, nothing is run."""

import re
from io import StringIO

import pandas as pd
import pytest

from onedial.core.run.run import Run
from onedial.selfreport.battery.overview import battery_overview, overview_sentences
from onedial.selfreport.show.self_report_page import AnswerLog, end_self_report


@pytest.fixture
def run(tmp_path):
    with Run.create(tmp_path / "run", "ask_battery", {}) as made:
        yield made


def shown(run: Run) -> list[pd.DataFrame]:
    return pd.read_html(StringIO((run.path / "report.html").read_text()))


def test_tables_and_answers_stand_on_the_page_as_they_are(run):
    scores = pd.DataFrame({"auroc": [0.25, 0.5], "auroc_low": [0.125, 0.0], "auroc_high": [0.5, 1.0]}, index=["a", "b"])
    written = pd.DataFrame(
        {"respondent": [f"m{i // 100}" for i in range(200)], "text": [f"reply {i}" for i in range(200)]}
    )
    end_self_report(run, "?", ["It is so", "and so"], {"scores": scores}, {"hedges": AnswerLog(written, "answers/")})
    first, answers = shown(run)
    assert first["auroc"].tolist() == ["0.250 [0.125, 0.500]", "0.500 [0.000, 1.000]"]
    assert set(answers["respondent"]) == {"m0", "m1"}
    assert set(answers["text"]) <= set(written["text"])
    assert f"{len(answers)} of 200 answers" in (run.path / "report.html").read_text()


def test_what_a_model_writes_is_shown_and_not_run(run):
    hostile = pd.DataFrame({"text": ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>"]})
    scores = pd.DataFrame({"value": [1.0]}, index=["<b>model</b>"])
    end_self_report(run, "?", ["<i>said</i>"], {"scores": scores}, {"hedges": AnswerLog(hostile, "answers/")})
    page = (run.path / "report.html").read_text()
    assert not re.search(r"<(script>alert|img src=x|b>model|i>said)", page)
    assert "&lt;script&gt;alert(1)" in page


def test_a_score_differs_only_where_its_interval_does():
    """A score differs from knowing nothing only where its interval leaves that out."""
    table = pd.DataFrame(
        {"auroc": [0.8, 0.6, 0.2], "low": [0.6, 0.4, 0.1], "high": [0.9, 0.7, 0.4], "n": 40, "n_unread": [0, 0, 0]},
        index=pd.MultiIndex.from_tuples([("m", "a"), ("m", "b"), ("m", "c")], names=["respondent", "author"]),
    )
    first, *rest = overview_sentences(battery_overview({"critics": table}))
    assert first.startswith("2 of 3 scores of m")
    assert len(rest) == 2
    assert all(f"{value:.2f} ({low:.2f}" in line for line, value, low in zip(rest, (0.8, 0.2), (0.6, 0.1), strict=True))
