"""Universes: which there are, what each is judged to be, and what is told of all of them."""

import numpy as np
import pytest
from simulated_panels import framings_of
from verdict_tables import case_of, judge, simulated

from onedial.panels.panels import ResponseMatrix
from onedial.verdict.case import sweep_grid
from onedial.verdict.comparing.multiverse import (
    RESULT_COLUMNS,
    Universe,
    axes_table,
    judge_universe,
    laid_even,
    multiverse_summary,
    multiverse_table,
    no_result,
    universes_of,
)

CHOICES = ([9, 15, 21], ["response", "answer"], ["plain", "plain, no first"], 2)


def test_one_thing_is_varied_at_a_time():
    one = universes_of(*CHOICES, own_layer=15)
    assert one[0] == Universe(15, "response", "plain")
    assert len(one) == len(set(one)) == 1 + 2 + 1 + 1 + 2
    assert all(len(each.varied(one[0]).split()) == 1 for each in one[1:])
    assert [each.name(one[0]) for each in one] == [
        "as run", "layer 9", "layer 21", "answer contrast", "no first", "draw 1", "draw 2",
    ]  # fmt: skip


def judged(kind, seed=0, **options):
    """The verdict on a sweep, and what it gives as a universe."""
    sweep, panel = simulated(kind, seed, n_questions=400, n_targets=9, **options)
    sweep = sweep.assign(mass=0.9)
    matrix = ResponseMatrix(panel, framings_of(panel.columns))
    about = sweep.drop_duplicates("question_id").set_index("question_id")[["split", "topic"]]
    found = judge_universe(laid_even(sweep_grid(sweep)).beside(matrix, about=about, n_resamples=199))
    return judge(case_of(sweep, matrix, topics=about["topic"]), 199), found


@pytest.mark.parametrize(
    ("kind", "reordering", "reproduced", "dial"),
    [
        ("threshold shift", 0.0, "reproduced", "a threshold shift"),
        ("dial order", 0.9, "reproduced", "it reorders questions towards the targets"),
        ("unrelated", 0.9, "not reproduced", "open"),
    ],
)
def test_a_universe_is_judged_as_the_sweep_that_it_is(kind, reordering, reproduced, dial):
    verdict, found = judged(kind, reordering=reordering)
    assert list(found) == RESULT_COLUMNS
    assert (found["reproduced"], found["dial"]) == (reproduced, dial)
    assert found["order_gain"] == pytest.approx(verdict.order.value, abs=1e-9)  # the same order: nothing is chosen
    assert found["rho_dial"] == pytest.approx(verdict.order.rho.value, abs=1e-9)
    assert found["push"] == pytest.approx(verdict.direction.vector["push"], abs=1e-9)
    assert found["signal"] == pytest.approx(verdict.signal.value, abs=0.03)  # magnitudes are of another grid


def table_of(signals, universes):
    rows = [no_result() | {"signal": s, "order_gain": s / 10, "rho_dial": 1 - s, "judged": s == s} for s in signals]
    for row in rows:
        row["reproduced"] = "reproduced" if row["signal"] > 0.15 else "not reproduced"
    return multiverse_table(universes, rows)


def test_median_and_worst_are_over_what_can_be_judged_and_name_the_universe():
    universes = universes_of(*CHOICES, own_layer=15)
    table = table_of([0.2, 0.1, 0.3, np.nan, 0.25, 0.22, 0.18], universes)
    summary = multiverse_summary(table)
    assert (summary["n_universes"], summary["n_judged"]) == (7, 6)
    own = summary["numbers"]["signal"]
    assert own["median"] == pytest.approx(0.21)
    assert (own["worst"], own["worst_universe"]) == (0.1, "layer 9")
    assert summary["numbers"]["rho_dial"]["worst_universe"] == "layer 21"
    assert summary["same"]["reproduced"] == 5
    assert "S 0.210 (worst 0.100, layer 9)" in summary["sentence"]
    assert '"reproduced" holds in 5 of 6' in summary["sentence"]


def test_which_choice_matters_is_the_spread_with_the_others_as_they_are():
    universes = universes_of(*CHOICES, own_layer=15)
    signals = [0.1 * (each.layer == 21) + 0.02 * each.resample + 0.3 for each in universes]
    spread = axes_table(table_of(signals, universes)).set_index(["number", "axis"])["spread"]["signal"]
    assert spread["layer"] == pytest.approx(0.1)
    assert spread["resample"] == pytest.approx(0.04)
    assert spread["contrast"] == spread["wording"] == pytest.approx(0)


def test_where_nothing_can_be_judged_that_is_said():
    universes = universes_of([3], ["response"], ["plain"], 1, own_layer=3)
    assert multiverse_summary(table_of([np.nan, np.nan], universes))["sentence"] == "none of 2 universes can be judged"
