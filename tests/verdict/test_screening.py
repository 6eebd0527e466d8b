"""Screening: each check finds what it is there for, says about whom, and is silent on a sound panel."""

import numpy as np
import pandas as pd
import pytest
import simulated_panels
from verdict_tables import case_of, judge, simulated

from onedial.verdict.screening import CHECKS, screen
from onedial.verdict.verdict import CANNOT_BE_JUDGED

COPIES, NEAR, FRAMINGS, GAPS, TWICE, ONE_SIDED = CHECKS


def matched(sweep, panel, respondents=None, texts=None):
    return case_of(sweep, panel, respondents=respondents, texts=texts)


def checks(result):
    return [each.check for each in result]


@pytest.fixture(scope="module")
def sound():
    return simulated("dial order", n_targets=9)


@pytest.mark.parametrize("kind", simulated_panels.TARGETS)
def test_a_sound_panel_raises_nothing_but_what_is_said_of_coins(kind):
    sweep, panel = simulated(kind, n_targets=9)
    texts = [f"question {number}" for number in range(400)]
    assert checks(screen(matched(sweep, panel, texts=texts))) == ([ONE_SIDED] if kind == "base rates" else [])


def test_a_copy_is_seen_unless_it_is_declared(sound):
    """A copy of a target and of the subject is found unless it is said to be one."""
    sweep, panel = sound
    unsteered = sweep[sweep["magnitude"] == 0].set_index("question_id")["margin"]
    flipped = panel["target 4"].copy()
    flipped.iloc[:3] = 1 - flipped.iloc[:3]
    more = panel.assign(again=flipped, own=(unsteered > 0).astype(float))
    result, near = screen(matched(sweep, more))
    assert (result.check, result.about) == (COPIES, ["again", "own", "target 4"])
    assert (near.check, near.about) == (NEAR, ["target 4", "again"])
    models = pd.DataFrame({"model": more.columns.where(more.columns != "again", "target 4")}, index=more.columns)
    (result,) = screen(matched(sweep, more, models))
    assert result.about == ["own"]


def test_the_subject_among_the_targets_is_seen(sound):
    """The subject at another setting is found among the targets and an honest one is not."""
    sweep, panel = sound
    ease = matched(sweep, panel).dial.ease
    at = pd.Series((ease > np.quantile(ease, 0.8)).astype(float), panel.index)
    noisy = at.where(np.arange(len(at)) % 20 > 0, 1 - at)  # one answer in twenty
    assert screen(matched(sweep, panel.assign(noisy=noisy))) == []
    (result,) = screen(matched(sweep, panel.assign(steered=at)))
    assert (result.check, result.about) == (COPIES, ["steered"])
    assert "steered and the subject where it says yes as often (1.00)" in result.sentence


def test_near_copies_count_as_one_base_model(sound):
    """Near copies count as one base model and models of one scale do not."""
    sweep, panel = sound
    rng = np.random.default_rng(1)
    apart = rng.standard_normal((400, 1)) + 0.8 * rng.standard_normal((400, 3)) > 0
    parent = rng.standard_normal((400, 1))
    tunes = parent + 0.4 * rng.standard_normal((400, 3)) > 0
    both = np.hstack([tunes, apart]).astype(float)
    names = ["tune a", "tune b", "tune c", "other d", "other e", "other f"]
    result = matched(sweep, pd.DataFrame(both, panel.index, names))
    assert result.matches["model"].tolist() == ["tune a + tune b + tune c"] * 3 + names[3:]
    near = screen(result)[0]
    assert (near.check, near.about) == (NEAR, names[:3])
    assert matched(sweep, panel).matches["model"].tolist() == list(panel.columns)


def test_framings_without_a_table_of_respondents_are_noticed(sound):
    sweep, panel = sound
    named = panel.rename(columns=lambda name: f"gpt: {name}")
    (result,) = screen(matched(sweep, named))
    assert (result.check, len(result.about)) == (FRAMINGS, 9)
    assert judge(matched(sweep, named), 19).reproduced == CANNOT_BE_JUDGED
    two = matched(sweep, named.rename(columns={"gpt: target 3": "o3"}))
    assert judge(two, 19).reproduced != CANNOT_BE_JUDGED
    assert screen(matched(sweep, panel.rename(columns=lambda name: f"openai/{name}"))) == []
    assert screen(matched(sweep, named, pd.DataFrame({"model": "gpt"}, index=named.columns))) == []


def test_gaps_that_go_with_the_order_are_told_from_gaps_by_chance(sound):
    sweep, panel = sound
    rng, ease = np.random.default_rng(0), sweep.groupby("question_id")["margin"].mean()
    by_chance, by_order = rng.random(400) < 0.1, rng.random(400) < 0.2 * (ease.to_numpy() < 0)
    gapped = panel.assign(
        **{"target 1": panel["target 1"].mask(by_chance), "target 2": panel["target 2"].mask(by_order)}
    )
    (result,) = screen(matched(sweep, gapped))
    assert (result.check, result.about) == (GAPS, ["target 2"])


def test_one_text_under_two_ids_is_found(sound):
    texts = [f"question {number}" for number in range(399)] + ["  Question 7 "]
    (result,) = screen(matched(*sound, texts=texts))
    assert result.check == TWICE
    assert result.about == ["q0007", "q0399"]


def test_what_screening_finds_is_among_the_flags_and_in_the_sentence(sound):
    sweep, panel = sound
    result = judge(matched(sweep, panel.assign(again=panel["target 4"])), 19)
    assert [each for each in result.flags if each in CHECKS] == [COPIES, NEAR]
    assert result.sentence.endswith(f"{COPIES}; {NEAR}")
