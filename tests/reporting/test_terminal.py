"""The terminal: the table and the sentence, bars only for people, one line per stage for files."""

import io
import re

import pytest
from reporting_run import make_run
from rich.console import Console

from reporting.terminal import print_summary, progress_bar


def console(width=100, terminal=False):
    return Console(file=io.StringIO(), width=width, force_terminal=terminal, color_system=None)


@pytest.mark.parametrize("width", [60, 100])
def test_the_summary_names_every_target_and_ends_with_the_sentence(tmp_path, width):
    run, page = make_run(tmp_path / "run"), console(width)
    print_summary(run.matches(), run.verdict(), page)
    text = page.file.getvalue()
    words = re.sub(r"[\s│]", "", text)
    for target, status in run.matches()["status"].items():
        assert str(target)[:3] in text
        assert status in text
    sentence = run.verdict()["sentence"]
    assert sentence[1:].replace(" ", "") in words[-200:]
    assert f"{run.verdict()['signal']['estimate']:.3f}" in text
    assert all(len(line) <= width for line in text.splitlines())


def test_text_in_square_brackets_is_printed_as_it_stands(tmp_path):
    run, page = make_run(tmp_path / "run"), console()
    renamed = run.matches().rename(index=lambda name: f"[bold]m[/bold]{name[:2]}").assign(framing="")
    print_summary(renamed, run.verdict(), page)
    assert "[bold]m[/bold]" in page.file.getvalue()


def test_into_a_file_goes_one_line_per_stage():
    page = console()
    with progress_bar(1000, "sweep", page) as advance:
        for _ in range(1000):
            advance(1)
    lines = page.file.getvalue().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("sweep: 1000 in ")


def test_of_several_processes_only_the_first_shows_its_progress(monkeypatch):
    page = console()
    monkeypatch.setenv("RANK", "1")
    with progress_bar(4, "sweep", page) as advance:
        advance(4)
    assert page.file.getvalue() == ""


def test_a_terminal_sees_a_bar_with_the_time_left():
    page = console(terminal=True)
    with progress_bar(4, "prefill", page) as advance:
        advance(2)
        advance(2)
    assert "left" in page.file.getvalue()
    assert "4/4" in page.file.getvalue()


def test_a_stage_that_ended_early_says_how_far_it_came():
    page = console()
    with progress_bar(10, "sweep", page) as advance:
        advance(3)
    assert page.file.getvalue().startswith("sweep: 3 of 10 in ")


def test_a_stage_that_fails_prints_no_line_of_success():
    page = console()
    with pytest.raises(RuntimeError), progress_bar(10, "sweep", page):
        raise RuntimeError("out of memory")
    assert page.file.getvalue() == ""
