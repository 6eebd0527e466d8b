"""An exported page filters and sorts by itself, as the viewer does, and its address says how."""

import json

import numpy as np
import pandas as pd
import pytest
from browser import errors_of, opened

from onedial.core import InputError, Run
from onedial.view import RunFolder, export_to, matching
from onedial.view.tables import Asked

TABLE = pd.DataFrame(
    {
        "topic": ["law", "Sea law", None, "sea"],
        "margin": [0.5, np.nan, -1.0, 2.0],
        "said yes": [1.0, 0.0, np.nan, 1.0],
        "right": [True, False, True, False],
        "answer": ["yes", "no", None, "yes"],
        "exact": [0.5000199, 0.500001, np.inf, np.nan],
    }
)
KEPT = [
    *("", "margin > 0.4", "margin >= -1 and margin<.6", "0 < margin", 'topic = "law"', 'topic ~ "LAW"'),
    *('topic != "law"', 'not topic = "law"', "topic is missing or margin is missing", "right = no", '"sea"'),
    *("not (topic is missing or margin is missing)", "topic is not missing and `said yes` = yes", "margin > -1e0"),
    *("answer = yes and right = yes", "margin = 2 or margin = .5 and right = no", "topic < answer", "exact > 0.50001"),
]
WRONG = ["margn > 1", 'margin > "x"', "margin", "(margin > 1", "margin > 1 margin > 2", "margin >", 'topic = "law']


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported")
    with Run.create(folder / "runs" / "one", "program", {}) as run:
        run.write_table("table.parquet", TABLE)
    export_to(folder / "site", RunFolder(folder / "runs"))
    return next((folder / "site").glob("one-table*parquet*.html"))


@pytest.mark.launched
def test_a_page_without_a_server_keeps_and_orders_the_rows_that_the_viewer_would(site):
    shown = """
      const asked = JSON.parse(arguments[0]), out = [], done = arguments[arguments.length - 1];
      const step = () => {
        if (!asked.length) return done(JSON.stringify(out));
        location.hash = new URLSearchParams(asked.shift());
        setTimeout(() => {
          const rows = [...document.querySelectorAll("tbody tr")].filter((row) => !row.hidden);
          out.push([rows.map((row) => row.dataset.n), document.querySelector("p.wrong")?.textContent || ""]);
          step();
        }, 20);
      };
      document.querySelectorAll("tbody tr").forEach((row, n) => { row.dataset.n = n; });
      step();"""
    asked = [{"filter": each} for each in KEPT + WRONG]
    whole = "margin < 9 or margin is missing"
    asked += [{"sort": f"{sign}{name}", "filter": whole} for name in TABLE for sign in ("", "-")]
    with opened(site) as chrome:
        found = json.loads(chrome.execute_async_script(shown, json.dumps(asked)))
        assert chrome.execute_script("return getComputedStyle(document.getElementById('still')).display") == "flex"
        assert errors_of(chrome) == []
    for query, (rows, wrong) in zip(asked, found, strict=True):
        if query.get("filter") in WRONG:
            with pytest.raises(InputError):
                matching(TABLE, query["filter"])
            assert wrong.startswith("the filter ")
            assert rows == ["0", "1", "2", "3"]
        else:
            assert wrong == ""
            kept = Asked(**query).rows_of(TABLE).index
            assert [int(row) for row in rows] == kept.tolist(), query
