"""The zoo: of somebody who knows nothing each instrument finds nothing, and what was planted it finds."""

import importlib
import math

import pandas as pd
import pytest
from tiny_experiment import ROOT

from onedial.selfreport import BATTERY


@pytest.fixture(scope="module")
def zoo():
    return importlib.import_module("zoo")


@pytest.fixture(scope="module")
def read(zoo):
    return pd.DataFrame([row for cell in zoo.cells() for row in zoo.rows_of(*cell, 0)])


@pytest.mark.long
def test_no_constant_answer_and_no_love_of_a_letter_or_place_passes_for_anything(zoo, read):
    fixed = read[(read["expected"] == zoo.NOTHING) & ~read["kind"].isin([*zoo.BY_CHANCE, *zoo.CARRIES])]
    assert set(fixed["says"]) <= {zoo.NOTHING, zoo.NO_NUMBER}, fixed


@pytest.mark.long
def test_what_was_planted_is_found_by_every_instrument_and_its_opposite_is_called_the_opposite(zoo, read):
    missed = read[(read["expected"] != zoo.NOTHING) & (read["says"] != read["expected"])]
    assert missed.empty, missed


@pytest.mark.long
def test_chance_and_fickleness_are_taken_for_something_about_as_rarely_as_an_interval_misses(zoo, read):
    by_chance = read[(read["expected"] == zoo.NOTHING) & read["kind"].isin(zoo.BY_CHANCE)]
    assert by_chance["says"].isin([zoo.THERE, zoo.AGAINST]).mean() <= 0.1  # of some 350; one in twenty by chance


def test_every_test_of_the_battery_is_in_the_zoo_and_its_first_number_has_a_value_of_nothing(zoo):
    assert {name.partition(",")[0] for name in zoo.TRIALS} >= set(BATTERY)
    lines = {name: test.headline for name, test in BATTERY.items()}
    assert not [name for name, line in lines.items() if math.isnan(line.nothing)]
    assert all(line.share or line.low for line in lines.values())


@pytest.mark.long
def test_the_stored_table_is_of_all_instruments_and_none_of_them_fails(read):
    stored = pd.read_csv(ROOT / "tests" / "reference" / "simulated" / "zoo.csv").set_index("score")
    assert list(stored.index) == list(dict.fromkeys(read["score"]))
    assert (stored["fixed_taken"] == 0).all()
    assert (stored["chance_taken"] <= 0.2 * stored["chance_n"]).all()  # of 27 to 90
    assert stored["chance_taken"].sum() <= 0.1 * stored["chance_n"].sum()
    assert (stored["planted_found"] >= 0.9 * stored["planted_n"]).all()
    assert (stored["opposed_found"] >= 0.9 * stored["opposed_n"]).all()


def test_a_reading_is_there_only_where_its_interval_leaves_nothing_out(zoo):
    assert zoo.Reading(0.6, 0.55, 0.7, 0.5).says == zoo.THERE
    assert zoo.Reading(0.4, 0.3, 0.45, 0.5).says == zoo.AGAINST
    assert zoo.Reading(0.5, 0.5, 0.5, 0.5).says == zoo.NOTHING
    assert zoo.Reading(0.6, math.nan, math.nan, 0.5).says == zoo.NO_NUMBER
