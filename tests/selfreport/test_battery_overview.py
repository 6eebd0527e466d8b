"""The battery at a glance: shares get their interval, what is unread has no number, and every test has a line."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scripted import Scripted

from onedial.panels.questions.question_files import load_questions
from onedial.selfreport.ask.choices import ask_choices, choice_items
from onedial.selfreport.battery import BATTERY, battery_scores
from onedial.selfreport.battery.overview import CANNOT_BE_ASKED, TOO_FEW, battery_overview, overview_sentences
from onedial.selfreport.battery.pairs import ask_pairs
from onedial.selfreport.battery.passages import KNOWS_PASSAGE
from onedial.selfreport.battery.reply_screening import screen_replies
from onedial.selfreport.battery.unknowable import ask_unknowable
from onedial.selfreport.frame import area
from onedial.selfreport.score.relative_confidence import paired_design
from onedial.stats.shares import wilson_interval


def index(*names):
    return pd.MultiIndex.from_tuples(names, names=["respondent", "part"])


def test_a_plugins_test_is_read_first(monkeypatch):
    """A test that a plugin adds is scored screened and read first by its one entry."""
    added = replace(
        BATTERY["hedges"], scores={"late": lambda answers, draws: {"auroc": 0.7, "low": 0.6, "high": 0.8}},
        headline=area("late", "whatever"), reply="text",
    )  # fmt: skip
    monkeypatch.setitem(BATTERY, "late", added)
    answers = pd.DataFrame({"respondent": "it", "text": ["the same"] * 9})
    screening = screen_replies({"late": answers})
    overview = battery_overview(battery_scores("late", answers, {}), screening)
    assert overview.loc[("it", "late", "AUROC of whatever"), "value"] == 0.7
    assert screening["why"].tolist() == ["always says the same"]


def test_a_share_has_wilson_s_interval_and_an_area_that_of_its_table():
    choices = pd.DataFrame({"n": [20], "n_unread": [2], "accuracy": [0.3]}, pd.Index(["it"], name="respondent"))
    confidence = pd.DataFrame(
        {"n": [9, 8], "n_unread": [0, 1], "auroc": [0.6, 0.7], "low": [0.4, np.nan], "high": [0.8, np.nan]},
        index(("it", "plain"), ("it", "gap named")),
    )
    result = battery_overview({"confidence": confidence, "choices": choices}).droplevel("respondent")
    low, high = wilson_interval(pd.Series([6]), pd.Series([20]))
    row = result.loc[("choices", "right among four options")]
    assert row[["n", "n_unread", "value", "low", "high", "chance"]].tolist() == pytest.approx(
        [20, 2, 0.3, low.item(), high.item(), 0.25]
    )
    assert row["status"] == ""
    assert result.loc["confidence"].index.tolist() == ["AUROC of stated confidence: plain"]
    assert result.loc["confidence"].iloc[0][["low", "high"]].tolist() == [0.4, 0.8]


def test_what_is_mostly_unread_cannot_be_asked():
    """What is mostly unread cannot be asked and what has too few of a kind says so."""
    passages = pd.DataFrame(
        {"n": [3, 16], "n_unread": [13, 0], "shift": np.nan, "low": np.nan, "high": np.nan},
        index(("it", KNOWS_PASSAGE), ("other", KNOWS_PASSAGE)),
    )
    assert battery_overview({"passages": passages})["status"].tolist() == [CANNOT_BE_ASKED, TOO_FEW]
    (sentence,) = overview_sentences(battery_overview({"passages": passages}))
    assert sentence.startswith("no score of 2 respondents can be compared with chance; 1 have too few answers")
    few = passages.assign(shift=1.0, low=0.5, high=1.5)
    assert battery_overview({"passages": few})["value"].isna().tolist() == [True, False]


def asked(rule, test):
    """What a respondent of a rule leaves in one test of the battery."""
    pool = [each for each in load_questions("embedded") if each.answers]
    respondent = Scripted(rule)
    table = {
        "choices": lambda: ask_choices(respondent, choice_items(pool, pool)[:24]).assign(kind="").reset_index(),
        "pairs": lambda: ask_pairs(respondent, pool[:24], paired_design(24, 4)),
        "unknowable": lambda: ask_unknowable(respondent),
    }[test]()
    return screen_replies({test: table.assign(respondent="it")}).loc[("it", test)]


def by_letter(prompt, instrument):
    spelt = list(instrument.reader.spellings.values())
    return [2.0 if "A" in spellings else 0.0 for spellings in spelt]


def by_first_line(prompt, instrument):
    first = next(line[0] for line in prompt.user.splitlines() if line[1:3] == ") ")
    return [2.0 if first in spellings else 0.0 for spellings in instrument.reader.spellings.values()]


def by_question(prompt, instrument):
    """The longer question or option: by what is shown and not by where it stands."""
    shown = {line[0]: len(line) for line in prompt.user.splitlines() if line[1:3] == ") "}
    return [float(shown[next(iter(spellings)).strip()]) for spellings in instrument.reader.spellings.values()]


@pytest.mark.parametrize("test", ["choices", "pairs", "unknowable"])
def test_who_goes_by_the_letter_is_said_to(test):
    """Who goes by the letter is said to and who goes by what is shown is not."""
    assert asked(by_letter, test)["why"] == "goes by the letter"
    assert asked(by_question, test)["why"] == ""
    if test == "unknowable":
        assert asked(by_first_line, test)["why"] == "goes by the place"


def test_who_always_says_the_same_is_said_to():
    """Who always says the same is said to and its scores are not to be read."""
    replies = pd.DataFrame(
        {"respondent": ["it"] * 40 + ["other"] * 40, "text": ["Paris"] * 39 + [""] + list("ab") * 20}
    )
    screening = screen_replies({"hedges": replies})
    assert screening["why"].tolist() == ["always says the same", ""]
    scored = pd.DataFrame({"auroc": 0.9, "low": 0.8, "high": 1.0, "n": 40, "n_empty": 0}, ["it", "other"])
    overview = battery_overview({"hedges": scored.rename_axis("respondent")}, screening)
    assert overview["status"].tolist() == ["not to be read: always says the same", ""]
    first, *rest = overview_sentences(overview)
    assert first.startswith("1 of 1 scores")
    assert "1 are not to be read" in first
    assert not any(sentence.startswith("it:") and "0.90" in sentence for sentence in rest)
