"""The explorable report: what its tables hold, and what it does in a real browser."""

import json
import re
import time

import numpy as np
import pandas as pd
import pytest
from browser import errors_of, opened, requests_of
from reporting_run import make_run

from onedial.report.explorer import explorer_of, hundredths, script_json
from onedial.report.meaning import why_left_out
from onedial.report.report import contents_of, end_sweep
from onedial.show.columns import number
from onedial.verdict.case import sweep_grid

HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    "<!-- <script> --> <img src=x onerror='window.hacked = 1'>",
    "separated\u2028by\u2029lines, \\u003cb\\u003e & &lt;b&gt;",
    "</title><b>\"bold\"</b> 'quoted' ${window.hacked = 1} {{ 7 * 7 }}",
]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("explorer") / "run", n_targets=8, n_questions=240, texts=HOSTILE)


@pytest.fixture(scope="module")
def page(run):
    """The report with its figures, which take as long as all else."""
    end_sweep(run)
    return run.path / "report.html"


@pytest.fixture(scope="module")
def tables(run):
    return json.loads(explorer_of(contents_of(run)).json)


@pytest.fixture(scope="module")
def grid(run):
    return sweep_grid(run.sweep(), run.splits(), run.under_test())


@pytest.fixture(scope="module")
def chrome(page):
    with opened(page) as chrome:
        yield chrome


# ---- the tables --------------------------------------------------------------------------------------------------


def test_rounding_never_changes_an_answer():
    assert [hundredths(value) for value in (1e-9, 0.004, -1e-9, 0.0, 0.126, -500.0)] == [1, 1, 0, 0, 13, -9999]
    assert hundredths(float("nan")) is None


def test_json_stays_text_inside_a_script():
    text = script_json(HOSTILE)
    assert not set(text) & {"<", ">", "&", "\u2028", "\u2029"}
    assert json.loads(text) == HOSTILE
    assert script_json("día 日") == '"día 日"'  # a character each, so that a page in any script holds as much


def test_the_explorer_holds_the_answers_of_subject_and_targets(run, tables, grid):
    signs = [["-" if value is None else str(int(value > 0)) for value in row] for row in tables["questions"]["margins"]]
    expected = [["-" if np.isnan(value) else str(int(value)) for value in row] for row in grid.answers]
    assert signs == expected
    assert any("-" in row for row in signs)
    panel = run.panel().pivot(index="question_id", columns="respondent", values="said_yes").loc[grid.questions]
    for target in tables["targets"]:
        assert target["answers"] == "".join("-" if np.isnan(each) else str(int(each)) for each in panel[target["name"]])
    assert tables["questions"]["text"][: len(HOSTILE)] == HOSTILE


def test_a_large_run_is_thinned_to_the_size_of_a_page_and_says_so(run):
    whole = explorer_of(contents_of(run))
    assert whole.note == ""
    fewer = explorer_of(contents_of(run), most=len(whole.json) // 2)
    tables = json.loads(fewer.json)
    assert len(fewer.json) <= len(whole.json) // 2
    assert tables["magnitudes"][tables["zero"]] == 0
    assert (tables["magnitudes"][0], tables["magnitudes"][-1]) == (-1.2, 1.2)
    assert f"{len(tables['magnitudes'])} of 25 magnitudes" in fewer.note
    least = explorer_of(contents_of(run), most=6000)
    assert set(json.loads(least.json)["questions"]["split"]) == {"t"}
    assert "Of the test questions" in least.note


# ---- in a browser ------------------------------------------------------------------------------------------------


def turn_to(chrome, place):
    chrome.execute_script(
        "const dial = document.querySelector('#x-dial'); dial.value = arguments[0];"
        "dial.dispatchEvent(new Event('input'));",
        place,
    )


def choose(chrome, field, value):
    chrome.execute_script(
        "const field = document.querySelector('#' + arguments[0]); field.value = arguments[1];"
        "field.dispatchEvent(new Event('input')); field.dispatchEvent(new Event('change'));",
        field,
        str(value),
    )


def rows(chrome, table):
    return chrome.execute_script(
        "return Array.from(document.querySelectorAll('#' + arguments[0] + ' > tbody > tr:not(.opened)'))"
        ".map((row) => Array.from(row.cells).map((cell) => cell.textContent));",
        table,
    )


def said(chrome, field):
    return chrome.execute_script("return document.querySelector('#' + arguments[0]).textContent", field)


@pytest.fixture
def fresh(chrome):
    chrome.refresh()
    return chrome


@pytest.mark.launched
def test_the_page_asks_for_nothing_and_the_console_stays_silent(chrome):
    assert errors_of(chrome) == []
    asked = [address for address in requests_of(chrome) if not address.startswith("data:")]
    assert {address.rsplit("/", 1)[-1] for address in asked} == {"report.html"}


@pytest.mark.launched
def test_the_slider_moves_yes_rate_agreement_and_the_turned_questions(run, fresh, grid):
    test, answers = grid.rows("test"), grid.answers
    panel = run.panel().pivot(index="question_id", columns="respondent", values="said_yes").loc[grid.questions]
    for place in (3, 9, 17, 21):
        turn_to(fresh, place)
        answers_here = answers[test, place]
        assert said(fresh, "x-yes") == number(np.nanmean(answers_here))
        unsteered = answers[test, grid.unsteered]
        assert said(fresh, "x-to-yes-title") == f"Turned to yes: {((answers_here == 1) & (unsteered == 0)).sum()}"
        assert said(fresh, "x-to-no-title") == f"Turned to no: {((answers_here == 0) & (unsteered == 1)).sum()}"
        for name, _, _, agreement, *_ in rows(fresh, "x-targets"):
            given = panel[name].to_numpy()[test]
            both = ~np.isnan(given) & ~np.isnan(answers_here) & ~np.isnan(unsteered)
            assert float(agreement) == pytest.approx((given == answers_here)[both].mean(), abs=6e-4)


@pytest.mark.launched
def test_at_its_own_magnitude_a_target_has_the_agreement_of_the_verdict(run, fresh):
    matches = run.matches()
    for place, target in enumerate(matches.sort_values("yes_rate", kind="stable").index):
        choose(fresh, "x-target", place)
        fresh.execute_script("document.querySelector('#x-match').click()")
        shown = next(row for row in rows(fresh, "x-targets") if row[0] == target)
        assert shown[3] == number(matches["agreement"][target])
        assert why_left_out(matches.loc[target]) in said(fresh, "x-said")


@pytest.mark.launched
def test_search_filter_and_sort_do_what_they_say(fresh, tables, grid):
    total = int(grid.rows("test").sum())
    assert said(fresh, "x-count") == f"{total} of {total} questions"
    choose(fresh, "x-split", "")
    choose(fresh, "x-search", "the 239th THING")
    assert [row[0] for row in rows(fresh, "x-questions")] == ["What is the 239th thing?"]
    choose(fresh, "x-search", "")
    choose(fresh, "x-topic", "topic 2")
    expected = sum(topic == "topic 2" for topic in tables["questions"]["topic"])
    assert said(fresh, "x-count").startswith(f"{expected} of ")
    choose(fresh, "x-topic", "")
    choose(fresh, "x-level", 3)
    assert said(fresh, "x-count").startswith(f"{tables['questions']['level'].count(3)} of ")
    choose(fresh, "x-level", "")
    turn_to(fresh, 20)
    choose(fresh, "x-only", "to yes")
    turned = (grid.answers[:, 20] == 1) & (grid.answers[:, grid.unsteered] == 0)
    assert said(fresh, "x-count").startswith(f"{turned.sum()} of ")


@pytest.mark.launched
def test_hostile_texts_stay_texts(fresh):
    choose(fresh, "x-split", "")
    choose(fresh, "x-search", "q0000")
    fresh.execute_script("document.querySelector('#x-questions tbody button').click()")
    assert [row[0] for row in rows(fresh, "x-questions")] == HOSTILE[:1]
    for place, text in enumerate(HOSTILE):
        choose(fresh, "x-search", f"q{place:04d}")
        assert rows(fresh, "x-questions")[0][:2] == [text, text]
    assert fresh.execute_script("return window.hacked === undefined && document.querySelector('b b, img') === null")
    assert errors_of(fresh) == []


@pytest.mark.launched
def test_the_keyboard_turns_the_dial_and_every_control_has_a_name(fresh):
    keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
    by = pytest.importorskip("selenium.webdriver.common.by").By
    dial = fresh.find_element(by.ID, "x-dial")
    before = int(dial.get_property("value"))
    dial.send_keys(keys.ARROW_RIGHT)
    assert int(dial.get_property("value")) == before + 1
    assert "yes rate" in dial.get_attribute("aria-valuetext")
    for control in fresh.find_elements(by.CSS_SELECTOR, "#explorer .controls :is(input, select, button)"):
        assert control.accessible_name.strip(), control.get_attribute("id")


@pytest.mark.launched
def test_every_line_of_the_contents_opens_its_section_and_goes_there(fresh):
    anchors = fresh.execute_script("return Array.from(document.querySelectorAll('.contents a'), (each) => each.hash)")
    assert len(anchors) > 15
    for anchor in anchors:
        fresh.execute_script("location.hash = arguments[0]", anchor)
        time.sleep(0.05)
        is_open, top = fresh.execute_script(
            "const part = document.querySelector(arguments[0]);"
            "return [part.tagName !== 'DETAILS' || part.open, part.getBoundingClientRect().top]",
            anchor,
        )
        assert is_open, anchor
        assert -1 <= top < 1000, anchor


def downloaded(chrome, folder, table, label):
    """The file that the button below a table gives, as a table."""
    chrome.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})
    chrome.execute_script(
        "Array.from(document.querySelectorAll('.scroll'))"
        ".find((each) => each.getAttribute('aria-label') === arguments[0])"
        ".nextElementSibling.querySelector('button').click()",
        table,
    )
    for _ in range(100):
        if (file := folder / f"{label}.csv").exists() and file.stat().st_size:
            return pd.read_csv(file)
        time.sleep(0.1)
    raise AssertionError(f"no {label}.csv in {list(folder.iterdir())}")


@pytest.mark.launched
def test_a_table_is_downloaded_with_the_numbers_behind_its_cells(run, fresh, tmp_path):
    table = downloaded(fresh, tmp_path, "Table of matches", "table-of-matches").set_index("target")
    stored = run.matches().loc[table.index]
    shared = [name for name in table.columns if name in stored and name != "status"]
    assert len(shared) > 9
    pd.testing.assert_frame_equal(table[shared], stored[shared], check_dtype=False, rtol=1e-6, check_names=False)
    assert list(table["status"]) == list(stored["status"])


@pytest.mark.launched
def test_the_questions_are_downloaded_as_filtered(fresh, grid, tmp_path):
    """The questions are downloaded as they are filtered with texts as texts."""
    choose(fresh, "x-split", "")
    turn_to(fresh, 17)
    table = downloaded(fresh, tmp_path, "Questions", "questions").set_index("id")
    assert list(table["question"][: len(HOSTILE)]) == HOSTILE
    assert len(table) == len(grid.questions)
    margins = pd.Series(grid.margins[:, 17], grid.questions)
    np.testing.assert_allclose(table["margin"], margins[table.index], atol=0.0101)
    assert set(table["magnitude"]) == {grid.magnitudes[17]}


@pytest.mark.launched
def test_the_first_screen_holds_sentence_figure_and_doubts(page):
    """The first screen holds sentence figure and doubts and the page is short."""
    with opened(page, height=900) as chrome:
        for part in ("h1", "header figure svg", ".doubts"):
            bottom = chrome.execute_script(
                "return document.querySelector(arguments[0]).getBoundingClientRect().bottom", part
            )
            assert 0 < bottom <= 900, part
        height = "return document.documentElement.scrollHeight"
        folded = chrome.execute_script(height)
        chrome.execute_script("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        assert folded < 0.45 * chrome.execute_script(height)
        assert folded < 5800


@pytest.mark.launched
def test_on_a_phone_in_the_dark_nothing_sticks_out(page):
    with opened(page, width=400, dark=True) as chrome:
        chrome.execute_script("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        wide = chrome.execute_script("return document.documentElement.scrollWidth")
        paper = chrome.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert wide <= 400
        assert max(map(int, re.findall(r"\d+", paper)[:3])) < 60
        assert errors_of(chrome) == []
