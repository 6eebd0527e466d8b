"""The program that sets runs side by side, as a user calls it."""

import json

import pytest
from browser import errors_of, opened, requests_of
from reporting_run import make_run
from tiny_experiment import ROOT

from onedial.core.run.run import Run

COMPARE_RUNS = ROOT / "experiments" / "compare_runs.py"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return [make_run(folder / name, n_targets=6, texts=texts).path for name, texts in (("a", ()), ("b", ["<b>hi</b>"]))]


def test_two_runs_stand_on_one_page(folders, call, tmp_path):
    ended = call(COMPARE_RUNS, *folders, "--out", tmp_path / "out", drawn=True)
    assert ended.code == 0, ended.err
    html = (tmp_path / "out" / "report.html").read_text("utf-8")
    for title in ("The verdicts", "What was done differently", "Beside the first run"):
        assert title in html
    assert "the runs have the same configuration" in html
    sentence = json.loads((tmp_path / "out" / "summary.json").read_text())["sentence"]
    assert sentence[1:] in html.replace("&#34;", '"')
    assert "<b>hi</b>" not in html
    assert (tmp_path / "out" / "figures" / "comparison_numbers.png").stat().st_size > 5000
    for name in ("differences", "answers", "beside_first"):
        assert (tmp_path / "out" / f"{name}.csv").is_file()


@pytest.mark.launched
def test_the_page_of_two_runs_asks_for_nothing_and_fits_a_phone(folders, call, tmp_path):
    assert call(COMPARE_RUNS, *folders, "--out", tmp_path / "out").code == 0
    with opened(tmp_path / "out" / "report.html", width=400) as chrome:
        assert errors_of(chrome) == []
        assert not [address for address in requests_of(chrome) if not address.startswith(("file:", "data:"))]
        assert chrome.execute_script("return document.documentElement.scrollWidth") <= 400


def test_a_run_without_a_sweep_is_named_by_its_program(folders, call, tmp_path):
    Run.create(tmp_path / "factor", "fit_factor", {}).release()
    ended = call(COMPARE_RUNS, folders[0], tmp_path / "factor", "--out", tmp_path / "out")
    assert ended.code == 2
    assert "factor is a run of fit_factor, which has no sweep; give the folder of a steer_sweep run" in ended.err
