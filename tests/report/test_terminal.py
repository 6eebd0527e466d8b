"""The terminal: the table and the sentence, bars only for people, one line per stage for files."""

import io
import re
from pathlib import Path

import pytest
from reporting_run import make_run
from rich.console import Console

from onedial.core import progress
from onedial.core.progress import progress_bar
from onedial.report.meaning import headline_of
from onedial.report.report import contents_of, opening_of
from onedial.show.ending import say_results
from onedial.verdict.sweep_run import SweepRun

GOLDEN = Path(__file__).resolve().parents[1] / "reference/golden/default"


def print_summary(run, page):
    contents = contents_of(run)
    say_results(contents, opening_of(contents), page)


def console(width=100):
    return Console(file=io.StringIO(), width=width, color_system=None)


@pytest.mark.parametrize("width", [60, 100])
def test_the_summary_names_every_target_and_ends_with_the_sentence(tmp_path, width):
    run, page = make_run(tmp_path / "run"), console(width)
    print_summary(run, page)
    text = page.file.getvalue()
    words = re.sub(r"[\s│]", "", text)
    for target, status in run.matches()["status"].items():
        assert str(target)[:3] in text
        assert status in text
    assert headline_of(run.verdict()).replace(" ", "") in words[-600:]
    assert f"{run.verdict().signal:.3f}".split()[0] in text
    assert all(len(line) <= width for line in text.splitlines())


def test_text_in_square_brackets_is_printed_as_it_stands(tmp_path):
    run, page = make_run(tmp_path / "run"), console()
    renamed = run.matches().rename(index=lambda name: f"[bold]m[/bold]{name[:2]}").rename_axis("target")
    run.run.write_table("matches.csv", renamed, index=True)
    print_summary(run, page)
    assert "[bold]m[/bold]" in page.file.getvalue()


@pytest.mark.parametrize("width", [60, 80, 120])
def test_every_target_has_one_line_and_a_name_of_its_own(width):
    run = SweepRun.open(GOLDEN)
    page = console(width)
    print_summary(run, page)
    lines = page.file.getvalue().splitlines()
    rows = lines[1 : 1 + len(run.matches())]
    assert all(row.split()[-1].strip("−0123456789.") == "" for row in rows), rows
    names = [re.split(r" (?:ok|edge|few) +", row)[0].strip() for row in rows]
    assert len(set(names)) == len(names)
    assert not lines[1 + len(run.matches())].startswith(" ")  # the legend follows at once


def test_a_log_gets_a_line_per_tenth_with_the_time_left(monkeypatch):
    page, now = console(), [0.0]
    monkeypatch.setattr(progress.time, "perf_counter", lambda: now[0])
    with progress_bar(200, "sweep", page) as advance:
        for _ in range(200):
            now[0] += 1.0
            advance(1)
    lines = page.file.getvalue().splitlines()
    assert lines[0] == "sweep: 10% (20 of 200), 3 min left"
    assert [line.split()[1] for line in lines[:-1]] == [f"{tenth}0%" for tenth in range(1, 10)]
    assert lines[-1] == "sweep: 200 in 200.0 s"


def test_of_several_processes_only_the_first_shows_its_progress(monkeypatch):
    page = console()
    monkeypatch.setenv("RANK", "1")
    with progress_bar(4, "sweep", page) as advance:
        advance(4)
    assert page.file.getvalue() == ""


def test_a_stage_that_fails_prints_no_line_of_success():
    page = console()
    with pytest.raises(RuntimeError), progress_bar(10, "sweep", page):
        raise RuntimeError("out of memory")
    assert page.file.getvalue() == ""
