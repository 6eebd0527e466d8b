"""The dial's profile finds what was planted, calls still what is still, and says what it cannot say."""

import numpy as np
import pandas as pd
import pytest

from onedial.verdict.comparing.dial_profile import AGAINST, AS_ANY, MOVES, PROFILE_COLUMNS, STILL, UNREAD, profile_of

SETTINGS = (-0.2, -0.1, 0.1, 0.2)


def planted(slopes, n=40, n_controls=19, seed=0, noise=0.2, unread=()):
    """Scores with standard deviation 1 that shift by slope x sign(magnitude), and controls that do nothing."""
    rng = np.random.default_rng(seed)
    rows = []
    for report, slope in slopes.items():
        base = rng.normal(size=n)
        who = [("dial", "vector", slope), *((f"random {c}", "random", 0.0) for c in range(n_controls))]
        for name, role, rise in who:
            for magnitude in (0.0, *SETTINGS) if role == "vector" else SETTINGS:
                moved = base + rise * np.sign(magnitude) + (noise * rng.normal(size=n) if magnitude else 0)
                for item, score in enumerate(moved):
                    lost = report in unread and item % 3 > 0
                    rows.append([report, "plain", f"q{item}", name, role, magnitude, np.nan if lost else score, np.nan])
    return pd.DataFrame(rows, columns=PROFILE_COLUMNS)


def test_what_moves_moves_against_and_stays_is_told_apart():
    result = profile_of(planted({"can you answer": 2.0, "P(True)": 0.8, "will answer": -0.7, "unrelated facts": 0.0}))
    assert result.reports["verdict"].tolist() == [MOVES, MOVES, AGAINST, STILL]
    assert result.reports.loc["P(True)", "together"] == pytest.approx(0.8, abs=0.25)


def test_a_shift_is_in_the_unsteered_scores_deviations():
    """Shift is in standard deviations of the unsteered score whatever its unit."""
    answers = planted({"can you answer": 1.5})
    scaled = answers.assign(score=answers["score"] * 100 + 7)
    one, other = profile_of(answers), profile_of(scaled)
    np.testing.assert_allclose(one.cells["shift"], other.cells["shift"], atol=1e-6)
    of_vector = one.cells[one.cells["role"] == "vector"]
    assert ((of_vector["low"] < of_vector["shift"]) & (of_vector["shift"] < of_vector["high"])).all()


def test_what_can_hardly_be_read_has_no_number_and_what_is_lost_is_counted():
    result = profile_of(planted({"can you answer": 2.0, "P(IK)": 3.0}, unread=("P(IK)",)))
    row = result.reports.loc["P(IK)"]
    assert (row["verdict"], row["n"], row["n_unread"]) == (UNREAD, 40, 26)
    assert np.isnan(row["together"])
    assert result.cells[result.cells["report"] == "P(IK)"]["shift"].isna().all()


def test_a_setting_that_makes_answers_unreadable_is_left_out_and_said():
    answers = planted({"can you answer": 2.0})
    answers.loc[(answers["magnitude"] == 0.2) & (answers["role"] == "vector"), "score"] = np.nan
    cells = profile_of(answers).cells
    of_vector = cells[cells["role"] == "vector"].set_index("magnitude")
    assert of_vector.loc[0.2, "status"] == UNREAD
    assert np.isfinite(of_vector.loc[0.1, "shift"])
    assert profile_of(answers).reports.loc["can you answer", "verdict"] == MOVES


def test_a_shift_is_over_answers_read_at_both():
    """A shift is the mean over the answers that were read at the setting and before."""
    answers = planted({"can you answer": 2.0}, n_controls=1, noise=0.0)
    place = answers["question_id"].str.removeprefix("q").astype(int)
    of_vector = answers["role"] == "vector"
    answers.loc[of_vector & (place < 20) & (answers["magnitude"] != 0), "score"] += 1.0
    answers.loc[of_vector & (place < 10) & (answers["magnitude"] == 0.1), "score"] = np.nan
    cells = profile_of(answers).cells.query("role == 'vector'").set_index("magnitude")
    sd = answers.loc[of_vector & (answers["magnitude"] == 0), "score"].std(ddof=1)
    assert cells.loc[0.1, "shift"] * sd == pytest.approx(2 + 10 / 30)
    assert cells.loc[0.2, "shift"] * sd == pytest.approx(2 + 20 / 40)


@pytest.mark.long
def test_a_push_as_any_is_a_mover_one_time_in_twenty():
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


def test_random_directions_that_move_as_far_are_said():
    """What random directions move as far is said to move as any push does."""
    answers = planted({"can you answer": 2.0, "unrelated facts": 1.0})
    far = (answers["report"] == "unrelated facts") & (answers["role"] == "random")
    lift = answers["intervention_id"].str.removeprefix("random ").where(far, "0").astype(float) / 9
    result = profile_of(answers.assign(score=answers["score"] + lift * np.sign(answers["magnitude"])))
    assert result.reports.loc["unrelated facts", "verdict"] == AS_ANY
