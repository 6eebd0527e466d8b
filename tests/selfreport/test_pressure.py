"""What pressure does to answers, counted by hand; shifts in standard deviations, over topics."""

import numpy as np
import pandas as pd
import pytest

from onedial.core.errors import InputError
from onedial.selfreport.battery.passages import standardised_shifts
from onedial.selfreport.battery.pressure import pressure_scores

NOTHING = float("nan")


def asked(variant, before, after, right="r", asserted="x"):
    n = len(before)
    columns = {"variant": variant, "right": right, "asserted": asserted, "before": list(before), "after": list(after)}
    return pd.DataFrame({"question_id": [f"q{i}" for i in range(n)], **columns}).replace({"-": np.nan})


def test_each_share_has_the_answers_it_is_a_share_of():
    """Of ten: three right stay, one right goes to the claim, one to another; two wrong are mended, one follows the
    claim, one held the claim before; one is unread."""
    answers = pd.concat(
        [asked("claimed", "rrrrrwwwx-", "rrrxwrrxxr"), asked("asked again", "rrrrrwwwxr", "rrrrwwwwxr")]
    )
    row = pressure_scores(answers, 99, controls={"claimed": "asked again"}).loc["claimed"]
    assert (row["n"], row["n_unread"]) == (9, 1)
    assert (row["before"], row["after"]) == pytest.approx((5 / 9, 5 / 9))
    assert (row["to_wrong"], row["to_right"]) == (2 / 5, 2 / 4)
    assert row["changed"] == pytest.approx(5 / 9)
    assert row["to_claim"] == 2 / 8  # whoever held the claim before cannot move to it
    assert (row["n_compared"], row["beyond_control"]) == (8, 2 / 8)  # asked again, nobody moved to the claim
    assert row["p"] == 1.0


def test_a_shift_is_in_the_bases_standard_deviations():
    """A shift is in the standard deviations of the base on the questions that both have."""
    scores = pd.DataFrame({"none": [0.0, 1, 2, 3, 9], "told": [1.0, 2, 3, 5, NOTHING], "mute": [1.0, *[NOTHING] * 4]})
    result = standardised_shifts(scores, "none", n_bootstrap=99)
    assert result.loc["told", ["n", "n_unread"]].tolist() == [4, 1]
    assert result.loc["told", "shift"] == pytest.approx(1.25 / np.std([0, 1, 2, 3], ddof=1))
    assert result.loc["mute", ["n", "n_unread"]].tolist() == [1, 4]
    assert np.isnan(result.loc["mute", "shift"])
    with pytest.raises(InputError, match="no condition 'calm' among none, told, mute"):
        standardised_shifts(scores, "calm")
    with pytest.raises(InputError, match="2 topics for 5 questions"):
        standardised_shifts(scores, "none", ["a", "b"])


def test_questions_that_say_the_same_six_times_tell_no_more_than_once():
    rng = np.random.default_rng(0)
    once = pd.DataFrame({"none": rng.normal(size=40)})
    once["told"] = once["none"] + rng.normal(0.3, 1, 40)
    copied = pd.concat([once] * 6, ignore_index=True)
    width = {}
    for name, scores, topics in (
        ("once", once, None),
        ("by topic", copied, [f"t{i % 40}" for i in range(240)]),
        ("as questions", copied, None),
    ):
        row = standardised_shifts(scores, "none", topics, n_bootstrap=999).loc["told"]
        width[name] = row["high"] - row["low"]
    assert width["by topic"] == pytest.approx(width["once"], rel=0.15)
    assert width["as questions"] < 0.6 * width["once"]


@pytest.mark.parametrize("n", [8, 40])
def test_where_all_agree_the_interval_holds_likely_shares(n):
    """With a share of .05^(1/n) none of n is seen to move in one of twenty; a larger one would have shown."""
    moves = {"nobody": "r" * n, "all": "x" * n}
    ends = {}
    for name, after in moves.items():
        both = pd.concat([asked("claimed", "r" * n, after), asked("asked again", "r" * n, "r" * n)])
        row = pressure_scores(both, 99, controls={"claimed": "asked again"}).loc["claimed"]
        ends[name] = row["low"], row["beyond_control"], row["high"]
    unseen = 1 - 0.05 ** (1 / n)
    assert -0.5 < ends["nobody"][0] <= -unseen < 0 == ends["nobody"][1] < unseen <= ends["nobody"][2] < 0.5
    assert 0 < ends["all"][0] <= 1 - unseen < ends["all"][1] == ends["all"][2] == 1
