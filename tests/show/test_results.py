"""A result is declared once: computed, stored, drawn, said on the page and printed, or left out where there is none."""

import io
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

from onedial.core.run.run import Run
from onedial.show.columns import like
from onedial.show.glossary import MEANINGS
from onedial.show.plots import forest
from onedial.show.results import Result, Stored, doubts_of, finish, section_of, shown_columns, write_page
from onedial.show.terminal import print_results

TABLE = pd.DataFrame({"signal": [0.5, 0.25], "low": [0.4, 0.1], "high": [0.6, 0.4]}, index=["first", "second"])
WORDS = {"scores": {"text": "Of {n} rows.", "caption": "All {n}."}}
RESULTS = {
    "summary": Result(compute=lambda case: {"sentence": "it works", "n": len(case)}),
    "scores": Result(
        "How good?",
        lambda case: case if len(case) else None,
        index="name",
        columns=(like("signal", ends=("low", "high")),),
        figure=lambda table, _: forest(table, "signal", "S"),
        fill=lambda table, _: {"n": len(table)},
        doubts=lambda table, _: ["hardly any"] if table is not None and len(table) < 5 else [],
        terminal=True,
    ),
    "absent": Result("Never there", lambda case: None, columns=("signal",)),
    "always": Result("Said anyway", items=lambda *_: ["a sentence"]),
}


@pytest.fixture
def stored(tmp_path):
    with Run.create(tmp_path / "run", "program", {}) as run:
        finish(run, RESULTS, TABLE)
        yield Stored(run, RESULTS, WORDS)


def test_a_table_is_read_back_under_its_name(stored):
    """A table is stored under its name and read back with its rows named."""
    pd.testing.assert_frame_equal(stored["scores"], TABLE.rename_axis("name"))
    assert stored.numbers("summary")["n"] == 2


def test_the_page_says_what_is_there_and_nothing_of_what_is_not(stored):
    html = write_page(stored, "Which?", "it works").read_text("utf-8")
    assert stored.run.manifest.facts["sentence"] == "it works"
    assert "Of 2 rows." in html
    assert "0.500 [0.400, 0.600]" in html
    assert 'id="scores-title"' in html
    assert "Never there" not in html
    assert stored.captions["scores"] == {"title": "How good?", "caption": "All 2."}
    assert section_of("absent", stored) is None
    assert section_of("summary", stored) is None


def test_the_terminal_prints_the_same_numbers(stored):
    """The terminal prints the same numbers and doubts lead to their result."""
    console = Console(file=io.StringIO(), width=80, color_system=None)
    print_results(stored, "It works.", console=console)
    assert "0.250" in console.file.getvalue()
    assert doubts_of(stored) == [("hardly any", "scores")]


def test_a_result_that_is_gone_when_judged_again_has_no_section(tmp_path):
    with Run.create(tmp_path / "run", "program", {}) as run:
        finish(run, RESULTS, TABLE.iloc[:0])
        assert section_of("scores", Stored(run, RESULTS, WORDS)) is None


def test_a_word_is_explained_once_where_it_first_stands_and_in_a_list(stored):
    """Not in a heading or a table, and with no more than the words that a kind of run names."""
    words = WORDS | {"glossary": {"words": "dial, margin"}, "scores": {"text": "Two dials, a dial; any panel."}}
    html = write_page(Stored(stored.run, RESULTS, words), "Which dial?", "it works").read_text("utf-8")
    assert html.count('class="term"') == 1
    assert f'<a class="term" href="#words" title="{MEANINGS["dial"]}">dials</a>, a dial; any panel.' in html
    assert f"<dt>dial</dt><dd>{MEANINGS['dial']}</dd>" in html


def test_a_column_in_which_no_row_has_anything_is_left_out():
    table = pd.DataFrame({"signal": [0.5], "gain": [None]})
    assert [column.name for column in shown_columns(["signal", "gain"], table)] == ["signal"]
    assert [column.name for column in shown_columns(["signal", "gain"], [])] == ["signal", "gain"]


def test_the_glossary_of_the_pages_is_that_of_the_documentation():
    documented = (Path(__file__).parents[2] / "docs" / "index.md").read_text(encoding="utf-8")
    for word, meaning in MEANINGS.items():
        assert f"- **{word.capitalize()}**: {meaning}." in documented
