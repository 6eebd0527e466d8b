"""The battery: tests of what a respondent says of itself, each in one file; a line below makes one known everywhere."""

from collections.abc import Mapping

import pandas as pd

from onedial.core.errors import InputError
from onedial.selfreport.ask.self_reports import SelfReport
from onedial.selfreport.battery.beliefs import BELIEFS_TEST
from onedial.selfreport.battery.choices import CHOICES
from onedial.selfreport.battery.confidence import CONFIDENCE
from onedial.selfreport.battery.correction import CORRECTION
from onedial.selfreport.battery.critics import CRITICS
from onedial.selfreport.battery.debate import DEBATE
from onedial.selfreport.battery.guesses import GUESSES
from onedial.selfreport.battery.hedges import HEDGES_TEST
from onedial.selfreport.battery.honesty import HONESTY
from onedial.selfreport.battery.pairs import PAIRS
from onedial.selfreport.battery.passages import PASSAGES_TEST
from onedial.selfreport.battery.pressure import PRESSURE
from onedial.selfreport.battery.properties import PROPERTIES_TEST
from onedial.selfreport.battery.reasoning import REASONING
from onedial.selfreport.battery.unknowable import UNKNOWABLE
from onedial.selfreport.frame import BatteryTest, Draws

BATTERY: dict[str, BatteryTest] = {
    "choices": CHOICES,
    "pairs": PAIRS,
    "pressure": PRESSURE,
    "correction": CORRECTION,
    "confidence": CONFIDENCE,
    "properties": PROPERTIES_TEST,
    "passages": PASSAGES_TEST,
    "beliefs": BELIEFS_TEST,
    "honesty": HONESTY,
    "unknowable": UNKNOWABLE,
    "hedges": HEDGES_TEST,
    "guesses": GUESSES,
    "reasoning": REASONING,
    "debate": DEBATE,
    "critics": CRITICS,
}


BATTERY_REPORTS: dict[str, SelfReport] = {report.name: report for test in BATTERY.values() for report in test.reports}
"""The tests item by item, on which a dial can be tried: what is put to the respondent is the battery's own instrument.

Tests whose scores are of what is written, or of all questions together, have none."""


def battery_scores(
    test: str, answers: pd.DataFrame, topics: Mapping[str, str], n_bootstrap: int = 1999, seed: int = 0
) -> dict[str, pd.DataFrame]:
    """Make the tables of one test.

    Formula: of the functions that the test's own text names (docs/instruments.md has an overview).

    Args:
        test: a key of `BATTERY`. answers: of all respondents, with a column respondent. topics: question id -> topic,
            of which whole ones are resampled. n_bootstrap: resamples. seed: of them.

    Returns:
        name -> table, its index beginning with the respondent. Sign: of each column's function.

    Raises:
        InputError: there is no such test.
    """
    if test not in BATTERY:
        raise InputError(f"there is no test {test!r}; choose from {', '.join(BATTERY)}")
    return BATTERY[test].tables(answers, Draws(topics, n_bootstrap, seed)) if len(answers) else {}
