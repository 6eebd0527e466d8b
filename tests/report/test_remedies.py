"""Where a run cannot be judged, the report says what keeps it from that and what may mend it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reporting_run import make_run

from onedial.report.remedies import what_to_try
from onedial.report.report import end_sweep
from onedial.verdict.case import Case
from onedial.verdict.sweep_run import SweepRun
from onedial.verdict.verdict import CANNOT_BE_JUDGED

GOLDEN = Path(__file__).resolve().parents[1] / "reference/golden/default"

MAGNITUDES = np.linspace(-1, 1, 9)
MATCHES = pd.DataFrame({"status": ["ok", "edge", "constant"], "yes_rate": [0.1, 0.5, 0.9]}, index=["a", "b", "c"])


def grid(rates, unread=0.0):
    """400 fitting questions, of which so many say yes at each magnitude; above 0.4 a share of them is unread."""
    order = np.arange(400)[:, None] / 400
    margins = np.where(order < np.asarray(rates)[None, :], 1.0, -1.0)
    margins[:, MAGNITUDES > 0.4] = np.where(order < unread, np.nan, margins[:, MAGNITUDES > 0.4])
    return Case(pd.Index(range(400)), np.full(400, "fitting"), MAGNITUDES, margins, np.ones_like(margins))


def told(rates, unread=0.0, reach=0.3, n_eligible=12):
    verdict = replace(SweepRun.open(GOLDEN).verdict(), reach=reach, n_eligible=n_eligible)
    return what_to_try(verdict, grid(rates, unread), MATCHES)


def test_an_unread_end_asks_for_another_layer():
    """A range that ends in unread answers asks for another layer or prompt."""
    remedy, down, up = told(np.linspace(0.3, 0.5, 9), unread=0.35)
    assert "says yes to 0.30 to 0.42 of the fitting questions; the targets' yes rates run from 0.10 to 0.90" in remedy
    assert down.startswith("Downwards the last magnitude is −1.000, with a yes rate of 0.30")
    assert up.startswith("Upwards it ends at +0.250, since at the next magnitude 35% of the answers are neither")
    assert "--layer auto" in up


def test_too_few_targets_are_counted_by_what_is_wrong_with_them():
    (remedy,) = told(np.linspace(0.05, 0.95, 9), reach=1.0, n_eligible=2)
    assert "2 targets can be judged (1 ok, 1 edge, 1 constant), and it takes 5" in remedy
    assert told(np.linspace(0.05, 0.95, 9), reach=0.8) == []


@pytest.mark.parametrize("reproduced", [CANNOT_BE_JUDGED, "not reproduced"])
def test_the_report_has_the_section_only_where_nothing_could_be_judged(undrawn, tmp_path, reproduced):
    run = make_run(tmp_path / "run")
    run.run.write_json("verdict.json", run.verdict().to_dict() | {"reproduced": reproduced, "reach": 0.2})
    page = end_sweep(run).read_text("utf-8")
    assert ("What keeps it from being judged, and what to try" in page) == (reproduced == CANNOT_BE_JUDGED)
