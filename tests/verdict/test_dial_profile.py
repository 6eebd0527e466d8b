"""The dial's profile finds what was planted, calls still what is still, and says what it cannot say."""

import numpy as np
import pandas as pd
import pytest

from onedial.core.errors import InputError
from onedial.report.profile import sentences_of
from onedial.verdict.comparing.dial_profile import (
    AGAINST,
    ALIKE,
    AS_ANY,
    MOVES,
    OPEN,
    PROFILE_COLUMNS,
    STILL,
    UNREAD,
    profile_of,
)

SETTINGS = (-0.2, -0.1, 0.1, 0.2)


def planted(slopes, n=40, n_controls=19, seed=0, noise=0.2, unread=()):
    """Scores with standard deviation 1 that shift by slope x sign(magnitude), and controls that do nothing."""
    rng = np.random.default_rng(seed)
    rows = []
    for report, slope in slopes.items():
        base = rng.normal(size=n)
        who = [("dial", "vector", slope), *((f"random {c}", "random", 0.0) for c in range(n_controls))]
        for name, role, own in who:
            for magnitude in (0.0, *SETTINGS) if role == "vector" else SETTINGS:
                moved = base + own * np.sign(magnitude) + (noise * rng.normal(size=n) if magnitude else 0)
                for item, score in enumerate(moved):
                    lost = report in unread and item % 3 > 0
                    rows.append([report, "plain", f"q{item}", name, role, magnitude, np.nan if lost else score, np.nan])
    return pd.DataFrame(rows, columns=PROFILE_COLUMNS)


RIGHT = pd.DataFrame({"right": [0.5], "n": [10]}, index=[0.0])


def said(answers):
    """The sentences."""
    return sentences_of(profile_of(answers), RIGHT)


def test_what_moves_moves_against_and_stays_is_told_apart():
    found = profile_of(planted({"can you answer": 2.0, "P(True)": 0.8, "will answer": -0.7, "unrelated facts": 0.0}))
    assert found.reports["verdict"].tolist() == [MOVES, MOVES, AGAINST, STILL]
    assert found.reports.loc["P(True)", "together"] == pytest.approx(0.8, abs=0.25)
    text = " ".join(sentences_of(found, RIGHT))
    assert "Moves together with it: P(True)." in text
    assert "Moves the other way: will answer." in text
    assert "not the word yes as such" in text
    assert "Confidence moves where it is asked for without that word (P(True))." in text


def test_a_confidence_that_stays_is_named_beside_one_that_moves():
    found = said(planted({"can you answer": 2.0, "P(True)": 0.8, "confidence in numbers": 0.0}))
    assert any("(P(True)), and stays where it is asked for as confidence in numbers." in line for line in found)


def test_a_yes_that_moves_alone_is_said_to_move_alone():
    slopes = {"can you answer": 2.0, "confidence in numbers": 0.0, "confidence in words": 0.0, "P(True)": 0.0}
    text = " ".join(said(planted(slopes | {"unrelated facts": 1.0})))
    assert "part of what is turned is the word yes" in text
    assert "No other statement of confidence that could be read moves" in text


def test_shift_is_in_standard_deviations_of_the_unsteered_score_whatever_its_unit():
    answers = planted({"can you answer": 1.5})
    scaled = answers.assign(score=answers["score"] * 100 + 7)
    one, other = profile_of(answers), profile_of(scaled)
    np.testing.assert_allclose(one.cells["shift"], other.cells["shift"], atol=1e-6)
    own = one.cells[one.cells["role"] == "vector"]
    assert ((own["low"] < own["shift"]) & (own["shift"] < own["high"])).all()


def test_what_can_hardly_be_read_has_no_number_and_what_is_lost_is_counted():
    found = profile_of(planted({"can you answer": 2.0, "P(IK)": 3.0}, unread=("P(IK)",)))
    row = found.reports.loc["P(IK)"]
    assert (row["verdict"], row["n"], row["n_unread"]) == (UNREAD, 40, 26)
    assert np.isnan(row["together"])
    assert found.cells[found.cells["report"] == "P(IK)"]["shift"].isna().all()
    assert "No number, since 50% or more of the answers cannot be read: P(IK)." in sentences_of(found, RIGHT)


def test_a_setting_that_makes_answers_unreadable_is_left_out_and_said():
    answers = planted({"can you answer": 2.0})
    answers.loc[(answers["magnitude"] == 0.2) & (answers["role"] == "vector"), "score"] = np.nan
    cells = profile_of(answers).cells
    own = cells[cells["role"] == "vector"].set_index("magnitude")
    assert own.loc[0.2, "status"] == UNREAD
    assert np.isfinite(own.loc[0.1, "shift"])
    assert profile_of(answers).reports.loc["can you answer", "verdict"] == MOVES


def test_identical_answers_have_no_standard_deviation_and_no_number():
    answers = planted({"can you answer": 2.0})
    answers.loc[answers["magnitude"] == 0, "score"] = 1.0
    assert profile_of(answers).reports.loc["can you answer", "verdict"] == ALIKE


def test_too_few_controls_decide_nothing():
    found = profile_of(planted({"can you answer": 2.0}, n_controls=3))
    assert found.reports.loc["can you answer", "verdict"] == OPEN
    assert any("only 19 or more can show" in line for line in sentences_of(found, RIGHT))


@pytest.mark.long
def test_a_push_that_does_what_any_push_does_is_called_to_move_in_about_one_of_twenty():
    """Null: the dial and 19 controls shift everything by a draw of their own; an interval alone would call it moved."""
    rng = np.random.default_rng(1)
    called = 0
    for seed in range(24):
        answers = planted({"can you answer": 0.0}, n=10, seed=seed)
        shift = {name: rng.normal() for name in answers["intervention_id"].unique()}
        moved = answers["score"] + answers["intervention_id"].map(shift) * np.sign(answers["magnitude"])
        verdict = profile_of(answers.assign(score=moved), n_bootstrap=199).reports["verdict"].iloc[0]
        called += verdict in (MOVES, AGAINST)
    assert called <= 4  # 5% of 24 is 1.2; 5 or more have a chance of .6%


def test_what_random_directions_move_as_far_is_said_to_move_as_any_push_does():
    answers = planted({"can you answer": 2.0, "unrelated facts": 1.0})
    far = (answers["report"] == "unrelated facts") & (answers["role"] == "random")
    lift = answers["intervention_id"].str.removeprefix("random ").where(far, "0").astype(float) / 9
    found = profile_of(answers.assign(score=answers["score"] + lift * np.sign(answers["magnitude"])))
    assert found.reports.loc["unrelated facts", "verdict"] == AS_ANY
    assert any("not decided" in line for line in sentences_of(found, RIGHT))


def test_random_directions_that_move_it_as_far_the_other_way_count_as_well():
    answers = planted({"can you answer": 1.0})
    against = (answers["role"] == "random") * -2.0 * np.sign(answers["magnitude"])
    row = profile_of(answers.assign(score=answers["score"] + against)).reports.loc["can you answer"]
    assert (row["p"], row["verdict"]) == (1.0, AS_ANY)
    still = profile_of(answers).reports.loc["can you answer"]
    assert (still["p"], still["verdict"]) == (1 / 20, MOVES)


def test_an_item_counts_where_all_of_its_forms_could_be_read():
    one, other = (planted({"can you answer": 1.0}).assign(form=form) for form in ("A first", "B first"))
    lost = other["question_id"].isin([f"q{item}" for item in range(9)])
    found = profile_of(pd.concat([one, other.assign(score=other["score"].mask(lost))]))
    whole = profile_of(pd.concat([one, other])[~pd.concat([lost, lost])])
    assert found.reports.loc["can you answer", ["n", "n_unread"]].tolist() == [40, 9]
    numbers = ["mean", "sd", "together"]
    assert found.reports[numbers].to_numpy() == pytest.approx(whole.reports[numbers].to_numpy())


def test_the_share_right_is_of_what_has_a_truth():
    answers = planted({"unrelated facts": 0.0}).assign(truth=1.0)
    truths = profile_of(answers).truths
    own = answers[(answers["role"] == "vector") & (answers["magnitude"] == 0)]
    assert truths.loc[truths["magnitude"] == 0, "share"].item() == pytest.approx((own["score"] > 0).mean())
    wrong = own.index[own["score"] < 0][:5]
    row = profile_of(answers.assign(score=answers["score"].mask(answers.index.isin(wrong)))).truths.iloc[0]
    assert (row["n"], row["n_unread"]) == (35, 5)
    assert row["share"] == pytest.approx((own["score"] > 0).sum() / 35)


def test_answers_without_an_unsteered_setting_are_refused():
    answers = planted({"can you answer": 1.0})
    with pytest.raises(InputError, match="magnitude 0"):
        profile_of(answers[answers["magnitude"] != 0])
    with pytest.raises(InputError, match="lack truth"):
        profile_of(answers.drop(columns="truth"))


def test_wordings_of_one_question_are_drawn_together():
    answers = planted({"can you answer": 0.5}, n=60, n_controls=2, noise=1.0)
    four = [f" {place}" for place in range(4)]
    many = pd.concat([answers.assign(question_id=answers["question_id"] + end) for end in four])
    wordings = [[name + end for end in four] for name in answers["question_id"].unique()]
    told, untold = (profile_of(many, 499, wordings=each).cells.iloc[0] for each in (wordings, ()))
    assert (told["high"] - told["low"]) / (untold["high"] - untold["low"]) == pytest.approx(2, rel=0.2)
