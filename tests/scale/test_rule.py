"""From findings to headline: the table is the page's, and no sentence says what its findings do not carry."""

import re
from pathlib import Path

import numpy as np
import pytest

from onedial import confidence, scale
from onedial.scale.study.rule import HEADLINES, OBJECTIONS, relative, verdict

PAGE = Path(__file__).parents[2] / "docs" / "psychometrics.md"
SHARED = {"share": 0.7, "share_low": 0.6, "share_high": 0.8, "share_words": "70%"}


def objections() -> list[str]:
    return [
        f"| {row.what} | {row.test} | {row.effect} | {row.floor:g} | {'' if row.stated is None else row.stated} |"
        for row in OBJECTIONS.values()
    ]


def headlines() -> list[str]:
    """Without numbers, and what follows a colon."""
    words = [re.split(r"[:;]| {|{(?!share)", row.words.replace(" ({share_words})", ""))[0] for row in HEADLINES]
    return [f"| {row.needs} | {sentence.rstrip('.,')} |" for row, sentence in zip(HEADLINES, words, strict=True)]


def test_the_page_shows_the_rule():
    page = PAGE.read_text(encoding="utf-8")
    for row in objections() + headlines():
        assert row in page


def test_every_function_of_the_page_is_exported_with_rs_call():
    """Every function that the page names can be imported and shows the call of R and an example."""
    listed = re.findall(r"`([a-z]+_[a-z_]+)(?:\([^`]*\))?`", PAGE.read_text(encoding="utf-8"))
    assert len(set(listed)) > 10
    for name in listed:
        text = (getattr(scale, name, None) or getattr(confidence, name)).__doc__
        assert re.search(r"^ *R: ", text, re.MULTILINE)
        assert ">>>" in text


@pytest.mark.parametrize(
    ("known", "opening"),
    [
        ({"too_small": "few", "nothing": ": none"}, "Too small to say"),
        ({"nothing": ": none", "misfit": 0.5}, "Nothing is shared"),
        ({"misfit": 0.4}, "There is no scale that is common to all"),
        ({"misfit": 0.1}, "One scale explains most of the answers (70%), but"),
        ({"misfit": 0.1, "share_low": 0.4}, "Something is shared (70%), but one scale is not all"),
        ({"unseen": True}, "One scale may be shared"),
        ({}, "One scale is shared"),
        ({"share_low": 0.4}, "About half"),
        ({"share_low": 0.1, "share_high": 0.3}, "Something is shared (70%), but most"),
        ({"between": 0.1, "within_only": 0.5}, "Little is shared between models"),
    ],
)
def test_the_first_headline_whose_needs_are_met_stands(known, opening):
    assert verdict(SHARED | known, [], []).startswith(opening)


def test_a_trivial_objection_does_not_hide_what_could_not_be_seen():
    sentence = verdict(SHARED, ["one pair"], ["a second scale"])
    assert sentence.endswith("Against one scale for all: one pair. Could not have been seen: a second scale.")
    assert verdict(SHARED, [], []).endswith("Nothing found here speaks against one scale for all.")


def test_what_counts_is_certain_and_large():
    """What counts is certain and large and what is unseen is rather missed."""
    rule = OBJECTIONS["pair"]
    assert rule.counts(0.01, -0.2)
    assert not rule.counts(0.01, 0.1)
    assert not rule.counts(0.1, 0.5)
    assert [rule.unseen(power) for power in (0.3, 0.7, float("nan"))] == [True, False, True]


def test_halves_that_correlate_leave_what_the_floor_is_said_to_be():
    """Loadings of .8 on two scales that correlate r: (1 - r) / (1 + r)."""
    half = np.arange(40) % 2
    for r in (0.9, 0.8, 0.5):
        correlation = 0.64 * np.where(half[:, None] == half, 1, r)
        loading = np.full(40, 0.8 * np.sqrt((1 + r) / 2))
        left = (correlation - np.outer(loading, loading))[np.triu_indices(40, 1)]
        assert relative(np.sqrt((left**2).mean()), loading) == pytest.approx((1 - r) / (1 + r), rel=0.05)
