"""Slider, filter and the way back, in a real browser."""

import threading

import pytest
from blank import draw_nothing
from browser import errors_of, opened, requests_of
from viewed_runs import make_folder

from onedial.view import RunFolder, Viewer
from onedial.view.server import bound


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        draw_nothing(patched.setattr)
        made = make_folder(tmp_path_factory.mktemp("viewed"))
    with bound("127.0.0.1", 0) as server:
        server.viewer = Viewer(RunFolder(made.path))
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()
    made.going_on.release()


@pytest.mark.launched
def test_the_dial_is_turned_filtered_and_turned_back_and_each_state_has_an_address(address):
    from selenium.common.exceptions import StaleElementReferenceException
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

    with opened(f"{address}run/plain/dial", height=900) as chrome:
        wait = WebDriverWait(chrome, 20, ignored_exceptions=[StaleElementReferenceException])

        def said():
            return chrome.find_element(By.ID, "said").text

        def n_rows():
            return int(chrome.find_element(By.CSS_SELECTOR, "#live .pages span").text.split()[0])

        assert said().startswith("Magnitude +0.000")
        chrome.execute_script("window.scrollTo(0, 500)")
        slider = chrome.find_element(By.CSS_SELECTOR, "#dial input[type=range]")
        assert slider.location["y"] - chrome.execute_script("return scrollY") < 150  # it stays beside the questions
        slider.send_keys(Keys.ARROW_RIGHT)
        wait.until(lambda _: said().startswith("Magnitude +0.100"))
        wait.until(lambda _: "magnitude=0.1" in chrome.current_url)
        field = chrome.find_element(By.NAME, "filter")
        field.send_keys('answer = yes and topic = "topic 4"', Keys.ENTER)
        wait.until(lambda _: n_rows() < 30)
        kept, turned = n_rows(), chrome.current_url
        assert "filter=answer" in turned
        slider.send_keys(Keys.ARROW_LEFT)
        wait.until(lambda _: said().startswith("Magnitude +0.000"))
        chrome.back()
        wait.until(lambda _: said().startswith("Magnitude +0.100"))
        assert chrome.current_url == turned
        assert n_rows() == kept
        assert chrome.find_element(By.CSS_SELECTOR, "#dial input[type=range]").get_attribute("value") == "13"
        chrome.back()
        wait.until(lambda _: n_rows() == 160)
        assert chrome.find_element(By.NAME, "filter").get_attribute("value") == ""
        chrome.get(turned)
        assert n_rows() == kept
        assert errors_of(chrome) == []
        assert all(each.startswith((address, "data:")) for each in requests_of(chrome))
