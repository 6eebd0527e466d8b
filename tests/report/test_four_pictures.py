"""The pictures that carry the project, in a browser at the widths of a phone and of a desk: every letter can be read,
none covers another, none is cut off.

Measured rather than compared with stored screenshots: pixels differ between versions of the browser and of its fonts,
and say nothing of what became worse.
"""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from browser import opened
from reporting_run import make_run

from onedial.report import figures
from onedial.report.profile import dial_profile
from onedial.report.report import contents_of
from onedial.scale.study.factor_figures import wright_map
from onedial.show import page
from onedial.show.figure_style import save_figure

STORED = Path(__file__).resolve().parents[1] / "reference" / "profile" / "reports.csv"
SMALLEST = 10
LETTERS = """return [...document.querySelectorAll("figure")].map((figure) => {
  const own = figure.querySelector("svg").getBoundingClientRect();
  const letters = [...figure.querySelectorAll("svg text")].filter((each) => each.textContent.trim()).map((each) => {
    const box = each.getBoundingClientRect(), matrix = each.getScreenCTM();
    const size = parseFloat(getComputedStyle(each).fontSize) * Math.hypot(matrix.a, matrix.b);
    const place = [box.left - own.left, box.top - own.top, box.right - own.left, box.bottom - own.top];
    return [each.textContent.trim(), ...place, size];
  });
  return [figure.querySelector("b").textContent, own.width, own.height, letters];
});"""


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """A page with the four, of tables of a usual size."""
    folder, rng = tmp_path_factory.mktemp("pictures"), np.random.default_rng(0)
    run = make_run(folder / "run", n_targets=6, n_questions=160)
    contents = contents_of(run)
    contents.__dict__["verdict"] = replace(run.verdict(), reproduced="not reproduced")
    reports = pd.read_csv(STORED).set_index("report")
    cells = [
        {"report": name, "magnitude": at, "role": role, "shift": shift, "low": shift - 0.2, "high": shift + 0.2}
        for name, row in reports.iterrows()
        for at in (-0.1, 0.1, 0.2, 0.3)
        for role, shift in (("vector", row["together"] * at / 0.3), ("random", rng.normal(0, 0.5)))
    ]
    names = [f"{family}-{i}" for i, family in enumerate(["claude-opus", "gemini-flash-preview", "qwen3-instruct"] * 11)]
    grid = np.linspace(-4, 4, 81)
    fit = SimpleNamespace(
        respondents=pd.DataFrame({"place": rng.normal(0.5, 0.7, 33)}, index=names),
        questions=pd.DataFrame({"difficulty": rng.normal(size=300)}),
        information=pd.DataFrame({"difficulty": grid, "information": np.exp(-(grid**2))}),
    )
    drawings = {
        "targets along the dial": figures.line(run.matches(), contents),
        "one scale": wright_map(fit.questions["difficulty"], fit.information, fit.respondents["place"]),
        "what does as well": figures.baselines(contents["baselines"], contents),
        "what moves together": dial_profile(pd.DataFrame(cells).assign(status="cannot be read"), reports),
    }
    for name, drawing in drawings.items():
        save_figure(drawing.figure, folder, name.replace(" ", "_"))
    captions = {name.replace(" ", "_"): {"title": name, "caption": "What it shows."} for name in drawings}
    section = page.Section("Pictures", [page.figures(folder, captions)])
    file = folder / "page.html"
    file.write_text(page.page("q", "headline", "lead", [section], "title", "foot"), encoding="utf-8")
    return file


@pytest.mark.launched
def test_letters_are_read_and_none_covers_another(pictures):
    """Letters are read and none covers another at the width of a phone and of a desk."""
    result = {}
    with opened(pictures, width=400) as chrome:
        for width in (400, 1300):
            sized = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
            chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", sized)
            result[width] = chrome.execute_script(LETTERS)
            assert chrome.execute_script("return document.documentElement.scrollWidth") <= width
    assert [len(each) for each in result.values()] == [4, 4]
    for width, drawn in result.items():
        for title, wide, high, letters in drawn:
            assert len(letters) > 5, title
            for text, left, top, right, bottom, size in letters:
                assert size >= SMALLEST, (width, title, text, size)
                assert left >= -1, (width, title, text)
                assert top >= -1, (width, title, text)
                assert right <= wide + 1, (width, title, text)
                assert bottom <= high + 1, (width, title, text)
            covering = [
                (one[0], other[0])
                for i, one in enumerate(letters)
                for other in letters[i + 1 :]
                if min(one[3], other[3]) - max(one[1], other[1]) > 1
                and min(one[4], other[4]) - max(one[2], other[2]) > 3
            ]
            assert covering == [], (width, title)
