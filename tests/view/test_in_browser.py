"""Three tasks in a real browser, on a phone and on a desk: find the run that failed, watch one, download a table."""

import threading
import time

import pandas as pd
import pytest
from blank import draw_nothing
from browser import errors_of, opened, requests_of
from viewed_runs import make_folder, sweep_halfway

from onedial.core.errors import InputError
from onedial.core.run.run import Run
from onedial.verdict.sweep_run import SweepRun
from onedial.view.application import Viewer
from onedial.view.runs import RunFolder
from onedial.view.server import bound


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        draw_nothing(patched.setattr)
        made = make_folder(tmp_path_factory.mktemp("viewed"))
    with (
        pytest.raises(InputError),
        Run.create(made.path / "failed", "fit_factor", {"model": "tiny"}) as run,
        run.stage("fit"),
    ):
        raise InputError("the panel holds one model; give two")
    yield made
    made.going_on.release()


@pytest.fixture(scope="module")
def address(made):
    with bound("127.0.0.1", 0) as server:
        server.viewer = Viewer(RunFolder(made.path))
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def click(chrome, text):
    from selenium.webdriver.common.by import By

    chrome.find_element(By.LINK_TEXT, text).click()


def text_of(chrome):
    return chrome.find_element("tag name", "main").text


def check(chrome, address, width):
    """Nothing is wider than the screen, nothing went wrong, and nobody else was asked."""
    assert chrome.execute_script("return document.documentElement.scrollWidth") <= width
    assert errors_of(chrome) == []
    assert all(each.startswith((address, "data:")) for each in requests_of(chrome))


@pytest.mark.launched
@pytest.mark.parametrize("width", [400, 1300])
def test_the_run_that_failed_is_found_with_its_reason(address, width):
    with opened(address, width=width) as chrome:
        click(chrome, "2 interrupted")
        assert "the panel holds one model; give two" in text_of(chrome)
        assert "plain" not in text_of(chrome).split()
        click(chrome, "failed")
        assert "--resume goes on" in text_of(chrome)
        assert "fit: broken off" in text_of(chrome)
        check(chrome, address, width)


@pytest.mark.launched
@pytest.mark.parametrize("width", [400, 1300])
def test_a_run_that_goes_on_is_watched_without_a_hand(address, made, width):
    from selenium.webdriver.support.ui import WebDriverWait

    finished = SweepRun.open(made.path / "plain")
    sweep_halfway(made.going_on, finished, 20)
    with opened(f"{address}run/live", width=width) as chrome:
        wait = WebDriverWait(chrome, 30, ignored_exceptions=[Exception])
        assert "20 questions" in text_of(chrome)
        more = finished.sweep()
        own = sorted(more["question_id"].unique())[20:45]
        SweepRun(made.going_on).parts["sweep"].append(more[more["question_id"].isin(own)])
        wait.until(lambda _: "45 questions" in text_of(chrome))
        check(chrome, address, width)
    for part in (made.going_on.path / "sweep").glob("part-*"):
        part.unlink()


@pytest.mark.launched
@pytest.mark.parametrize("width", [400, 1300])
def test_a_report_is_opened_and_a_table_sorted_and_downloaded(address, made, width, tmp_path):
    with opened(address, width=width) as chrome:
        chrome.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
        click(chrome, "plain")
        click(chrome, "report")
        assert chrome.find_element("tag name", "h1").text
        chrome.back()
        click(chrome, "matches.csv")
        click(chrome, "kappa")
        click(chrome, "kappa ▲")
        click(chrome, "download as CSV")
        check(chrome, address, width)
        file, since = tmp_path / "matches.csv", time.monotonic()
        while not file.exists() and time.monotonic() - since < 20:
            time.sleep(0.1)
        pd.testing.assert_frame_equal(pd.read_csv(file), pd.read_csv(made.path / "plain" / "matches.csv"))
