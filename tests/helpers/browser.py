"""A real browser without a window: headless Chromium, with its console and its requests written down."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def opened(page: Path | str, width: int = 1300, height: int = 1000, dark: bool = False) -> Iterator[Any]:
    """A page, by file or address, in headless Chromium as a selenium driver; skips where there is no browser."""
    browser = next((result for name in PROGRAMS if (result := shutil.which(name))), None)
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("no chromium with its chromedriver on this machine: apt-get install chromium chromium-driver")
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is missing: pip install selenium")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(flag)
    options.add_argument(f"--window-size={width},{height}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        chrome.get(page if isinstance(page, str) else page.resolve().as_uri())
        yield chrome
    finally:
        chrome.quit()


def errors_of(chrome: Any) -> list[str]:
    """What the console has said so far that is more than a remark."""
    return [entry["message"] for entry in chrome.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def requests_of(chrome: Any) -> list[str]:
    """Every address that was asked for so far."""
    sent = [json.loads(entry["message"])["message"] for entry in chrome.get_log("performance")]
    return [each["params"]["request"]["url"] for each in sent if each["method"] == "Network.requestWillBeSent"]
