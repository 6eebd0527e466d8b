"""The verdict: known truth gets its three answers, the numbers fit each other, and each rule says what it is asked for.

Margins are synthetic: what is tested is the procedure.
"""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import simulated_panels
from verdict_tables import case_of, judge, plain_sweep, simulated

from onedial.core.errors import InputError
from onedial.stats.estimate import Estimate
from onedial.verdict import verdict
from onedial.verdict.baselines.facts import FactsResult
from onedial.verdict.baselines.texts import push_settings, text_cost
from onedial.verdict.case import sweep_grid
from onedial.verdict.line import Line
from onedial.verdict.verdict import DIALS, Verdict

REFERENCE = Path(__file__).parents[1] / "reference"

N = 99
ALONE = {}
"""By its identity: a case and its verdict without controls."""


@pytest.fixture(scope="module")
def steered_matches():
    sweep, panel = simulated()
    return case_of(sweep, panel, respondents=simulated_panels.framings_of(panel.columns), n_resamples=199)


def topics_of(sweep):
    return sweep.drop_duplicates("question_id").set_index("question_id")["topic"]


def beside(matches, controls=None, **known):
    """The verdict beside these controls; what is predicted of the targets does not rest on them."""
    name = id(matches)
    alone = ALONE[name] = ALONE.get(name) or (matches, judge(matches, N))
    prediction = alone[1].prediction
    return alone[1] if controls is None else judge(matches, N, prediction, controls=controls, **known)


def drawn_controls(matches, **columns):
    """A control table of 99 drawn directions that are worse than the vector in everything, but for what is given."""
    of_vector = beside(matches).direction.vector
    table = pd.DataFrame(
        {
            "role": "random",
            "drawn": True,
            "signal": np.linspace(-0.1, of_vector["signal"] - 0.02, 99),
            "order_gain": np.linspace(-0.2, of_vector["order_gain"] - 0.01, 99),
            "push": np.linspace(of_vector["push"] * 3, of_vector["push"] * 40, 99),
            "kl": np.linspace(0.5, 3.0, 99),
            "turning": 0.5,
            "cosine": 0.0,
        },
        index=[f"random {number}" for number in range(99)],
    )
    return table.assign(**columns)


# ---- is it reproduced? -----------------------------------------------------------------------------------------------


def test_targets_made_by_steering_are_reproduced():
    """Targets made by steering are reproduced and a shift of the cut is recognised as such."""
    sweep, _ = simulated(n_questions=800, reordering=0.9)
    panel = simulated_panels.dial_order_targets(np.random.default_rng(1), sweep, 12, noise=0.3)
    result = judge(case_of(sweep, panel, topics=topics_of(sweep)))
    assert (result.reproduced, result.dial, result.push) == ("reproduced", verdict.TOWARDS, "untested")
    assert result.sentence.startswith("reproduced; 12 of 12 base models are predicted")
    assert result.sentence.endswith("towards the targets; whether another push does as well is untested")
    only_shifts, panel = simulated("threshold shift", reordering=0.0)
    result = judge(case_of(only_shifts, panel, topics=topics_of(only_shifts)))
    assert (result.reproduced, result.dial) == ("reproduced", verdict.THRESHOLD_SHIFT)
    assert result.order.rho.value > 0.999
    assert result.order.value == pytest.approx(0, abs=1e-3)


def test_four_targets_cannot_be_judged_and_the_reason_is_said():
    sweep, panel = simulated(n_targets=4)
    result = judge(case_of(sweep, panel), N)
    assert result.sentence == "cannot be judged: 4 of 4 targets can be judged, and it takes 5"
    assert np.isfinite(result.signal.value)


def test_a_dial_that_does_not_reach_the_targets_refutes_nothing():
    sweep, panel = simulated(n_targets=12)
    low = sweep[sweep["magnitude"] <= 0]
    result = judge(case_of(low, panel[panel.columns[6:]]), N)
    assert result.reproduced == verdict.CANNOT_BE_JUDGED
    assert "the dial does not reach, with" in result.sentence
    assert result.reach < 0.5


def test_a_panel_without_targets_still_gives_a_verdict():
    """A panel without a target to judge still gives a verdict that json can hold."""
    sweep, panel = simulated(n_targets=6)
    result = judge(case_of(sweep, panel * 0 + 1), N)
    assert result.reproduced == "cannot be judged"
    assert set(result.excluded.values()) == {"constant"}
    stored = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert stored["signal"]["p"] is None
    assert stored["n_eligible"] == 0
    assert np.isnan(Verdict.from_dict(stored).signal.p)


def test_a_verdict_comes_back_from_its_file():
    """With facts, reversed wordings and controls among its parts."""
    stored = json.loads((REFERENCE / "controls99" / "verdict.json").read_text())
    again = Verdict.from_dict(stored | {"line": dataclasses.asdict(Line())})
    assert (again.signal.low, again.bias.dial.share.high) == (
        stored["signal"]["low"],
        stored["bias"]["dial"]["share"]["high"],
    )
    assert Verdict.from_dict(again.to_dict()).to_dict() == again.to_dict()
    result = judge(case_of(*simulated("threshold shift")), N)
    assert Verdict.from_dict(result.to_dict()).to_dict() == result.to_dict()


# ---- what is the dial? -----------------------------------------------------------------------------------------------


def test_a_dial_that_reorders_against_the_targets_is_said_to():
    sweep, panel = simulated("threshold shift", n_questions=800, n_targets=12, reordering=0.9)
    result = judge(case_of(sweep, panel), 399)
    assert result.dial == verdict.AWAY
    assert result.order.high < 0


def test_without_a_signal_two_orders_are_not_called_the_same():
    sweep, panel = simulated("unrelated", seed=1, n_questions=800, n_targets=12, reordering=0.9)
    result = judge(case_of(sweep, panel), 399)
    assert result.reproduced == verdict.NOT_REPRODUCED
    assert result.order.equivalent
    assert result.dial != verdict.THRESHOLD_SHIFT


# ---- which push? -----------------------------------------------------------------------------------------------------


def test_a_threshold_shift_is_ranked_by_its_push():
    """A direction is ranked by the push where the dial is a threshold shift."""
    sweep, panel = simulated("threshold shift", reordering=0.0)
    matches = case_of(sweep, panel)
    result = beside(matches, controls=drawn_controls(matches))
    assert (result.push, result.direction.by, result.direction.rank) == (verdict.THIS_DIRECTION, "push", 1)
    assert result.direction.p == pytest.approx(0.01)
    assert result.sentence.endswith("it takes this direction; no topics known")
    cheap = drawn_controls(matches)
    cheap.iloc[:9, cheap.columns.get_loc("push")] = result.direction.vector["push"] / 2
    cheaper = beside(matches, controls=cheap)
    assert (cheaper.push, cheaper.direction.rank) == (verdict.ANY_PUSH, 10)
    assert cheaper.sentence.endswith("any push of this size does as well; no topics known")


@pytest.fixture(scope="module")
def reordered():
    sweep, _ = simulated(n_questions=800, reordering=0.9)
    return case_of(sweep, simulated_panels.dial_order_targets(np.random.default_rng(1), sweep, 12))


def test_a_direction_is_ranked_by_its_order_where_the_dial_reorders(reordered):
    matches = reordered
    result = beside(matches, controls=drawn_controls(matches, push=0.0))
    assert (result.push, result.direction.by, result.direction.ranks["push"]) == (
        verdict.THIS_DIRECTION,
        "order_gain",
        100,
    )
    as_good = drawn_controls(matches)
    as_good.iloc[:6, as_good.columns.get_loc("order_gain")] = 0.5
    assert beside(matches, controls=as_good).push == verdict.ANY_PUSH


@pytest.mark.parametrize(("share", "push"), [(0.95, verdict.ANY_PUSH), (0.85, verdict.THIS_DIRECTION)])
def test_a_control_nine_tenths_as_good_decides(reordered, share, push):
    """A control whose order is nine tenths as good decides though it ranks behind."""
    matches = reordered
    table = drawn_controls(matches, push=1.0)
    gain = beside(matches).direction.vector["order_gain"]
    table.iloc[0, table.columns.get_loc("order_gain")] = share * gain
    result = beside(matches, controls=table)
    assert (result.push, result.direction.rank) == (push, 1)


def test_under_99_controls_the_answer_is_untested(steered_matches):
    """Under 99 drawn controls the rank is given and the answer is untested."""
    result = beside(steered_matches, controls=drawn_controls(steered_matches).iloc[:98])
    assert (result.push, result.direction.rank, result.direction.n_controls) == (verdict.UNTESTED, 1, 98)


def test_the_cost_on_neutral_text_decides_nothing(steered_matches):
    """The cost on neutral text is ranked where it was measured and decides nothing."""
    table = drawn_controls(steered_matches)
    without, cheap, dear = (
        beside(steered_matches, controls=table, kl=kl) for kl in (float("nan"), 0.1, float(table["kl"].median()))
    )
    assert "kl" not in without.direction.ranks
    assert cheap.direction.ranks["kl"] == 1
    assert dear.direction.ranks["kl"] == 51
    assert cheap.push == dear.push == without.push
    assert cheap.direction.vector["kl"] == 0.1


def test_the_ends_of_a_push_have_the_two_yes_rates():
    """The ends of a push have the two yes rates and its cost is their mean."""
    sweep, _ = simulated()
    dial = sweep_grid(sweep).dial
    rows = np.ones(len(dial.questions), bool)
    few, many = dial.push_ends(rows)
    assert abs(many - few) == pytest.approx(dial.push(rows))
    rates = np.nanmean(dial.answers_at(np.array([few - 1e-9, many + 1e-9])), axis=0)
    assert rates[0] <= 0.1 <= 0.9 <= rates[1]
    assert rates == pytest.approx([0.1, 0.9], abs=0.01)
    short = dataclasses.replace(dial, crossings=[np.array([])] * len(rows))
    settings = push_settings({"own": dial, "short": short}, rows)
    assert settings == {"own": [few, many], "short": []}
    texts = pd.DataFrame({"intervention_id": "own", "magnitude": [few, many], "kl": [0.2, 0.4]})
    assert text_cost(texts, "own", 1.0) == pytest.approx(0.3)
    assert text_cost(texts, "short", float("inf")) == float("inf")
    assert np.isnan(text_cost(None, "own", 1.0))


# ---- flags -----------------------------------------------------------------------------------------------------------


def facts_with(share):
    numbers = dict.fromkeys((field.name for field in dataclasses.fields(FactsResult)), Estimate())
    return FactsResult(**numbers | {"share": Estimate(share), "n": 60})


@pytest.mark.parametrize(("share", "flags"), [(0.24, []), (0.26, ["mostly a yes-bias"])])
def test_a_dial_that_moves_facts_is_flagged(steered_matches, share, flags):
    """A dial that moves unrelated facts by more than a quarter is flagged."""
    result = judge(steered_matches, N, facts=facts_with(share))
    assert result.flags == [*flags, verdict.TOPICS_UNKNOWN]
    assert result.sentence.endswith("; ".join(result.flags))


def test_a_signal_without_topics_is_flagged():
    """A signal is said without topics only with a flag and no signal needs none."""
    sweep, panel = simulated("dial order", n_targets=9)
    topics = pd.Series(np.arange(len(panel)) % 5, index=panel.index).astype(str)
    judged = judge(case_of(sweep, panel, topics=topics), N)
    assert judged.reproduced in (verdict.NOT_ENOUGH, verdict.REPRODUCED)
    assert verdict.TOPICS_UNKNOWN not in judged.flags
    sweep, panel = simulated("unrelated", n_targets=9)
    unrelated = judge(case_of(sweep, panel), N)
    assert (unrelated.reproduced, unrelated.flags) == (verdict.NOT_REPRODUCED, [])


def test_unread_answers_that_decide_are_flagged(steered_matches):
    """Unread answers that decide are flagged and those that do not are not."""
    sweep, panel = simulated(n_questions=800)
    assert judge(case_of(sweep, panel), N).flags == [verdict.TOPICS_UNKNOWN]
    difficulty = sweep["question_id"].map(panel.mean(axis=1))
    lost = (difficulty.between(0.3, 0.7)) & (sweep["magnitude"] != 0) & (sweep["split"] == "test")
    result = judge(case_of(sweep.assign(mass=sweep["mass"].mask(lost, 0.0)), panel), N)
    assert result.unread_as_wrong.gain.value < result.gain.value
    assert result.unread_as_wrong.reproduced == verdict.NOT_REPRODUCED != result.reproduced
    assert verdict.UNREAD_DECIDE in result.flags


# ---- the numbers -----------------------------------------------------------------------------------------------------


def test_a_target_at_an_end_of_the_range_is_judged():
    sweep, panel = simulated("base rates", n_targets=12)
    matches = case_of(sweep, panel)
    edge = (matches.matches["status"] == "edge").sum()
    result = judge(matches, N)
    assert edge > 6
    assert result.n_eligible == 12


# ---- size and power, small (scripts/simulate.py verdicts is the large one) ----------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scenario", "reproduced", "dials"),
    [
        ("unrelated", {verdict.NOT_REPRODUCED}, set(DIALS)),
        pytest.param("base rates", {verdict.NOT_REPRODUCED}, set(DIALS), marks=pytest.mark.long),
        ("pure shift", {verdict.REPRODUCED}, {verdict.THRESHOLD_SHIFT}),
        pytest.param("towards, much", {verdict.REPRODUCED}, {verdict.TOWARDS}, marks=pytest.mark.long),
        pytest.param("each its own way", {verdict.REPRODUCED, verdict.NOT_ENOUGH}, set(DIALS), marks=pytest.mark.long),
    ],
)
def test_the_verdict_says_what_is_true_of_simulated_panels(scenario, reproduced, dials):
    rows = []
    for seed in range(4):
        sweep, panel = simulated_panels.SCENARIOS[scenario].draw(seed, 300, 12)
        topics = sweep.drop_duplicates("question_id").set_index("question_id")["topic"]
        matches = case_of(sweep, panel, topics=topics, seed=seed)
        result = judge(matches, 199, seed=seed)
        rows.append((result.reproduced in reproduced and result.dial in dials, result.sentence))
    assert sum(right for right, _ in rows) >= 3, rows


def test_nineteen_permutations_can_show_a_signal():
    """The least p of 19 is .05 itself, which suffices for a signal and for the orders to be called the same."""
    result = judge(case_of(*simulated("threshold shift")), 19)
    assert result.signal.p == 0.05
    assert (result.reproduced, result.dial) == (verdict.NOT_ENOUGH, verdict.THRESHOLD_SHIFT)


def test_permutations_must_be_enough(steered_matches):
    with pytest.raises(InputError, match="at least 19"):
        judge(steered_matches, 9)


def test_without_topics_texts_must_show_they_are_not_all():
    """Questions of one topic share a word. The dial's order is its topic's alone, or each question's own."""
    rng, magnitudes = np.random.default_rng(0), np.linspace(-2.5, 2.5, 41)
    topic, private = np.repeat(np.arange(20), 20), rng.standard_normal(400)
    words = ["river", "opera", "planet", "football", "king", "enzyme", "engine", "poem", "cheese", "bridge"]
    words += ["saint", "guitar", "volcano", "senator", "virus", "triangle", "desert", "painter", "whale", "verb"]
    texts = [f"about the {words[place]}, number {rng.integers(10**6)}" for place in topic]
    names = [f"q{n}" for n in range(400)]
    for ease, reproduced in ((rng.standard_normal(20)[topic], verdict.NOT_ENOUGH), (private, verdict.REPRODUCED)):
        margins = ease[:, None] + 0.2 * private[:, None] + magnitudes
        sweep = plain_sweep(margins, np.tile(["extraction", "fitting", "test", "test"], 100), magnitudes)
        noise, cuts = rng.standard_normal((400, 9)), np.linspace(-1, 1, 9)
        panel = pd.DataFrame((ease[:, None] + 0.7 * noise > cuts).astype(float), names)
        panel = panel.rename(columns=lambda name: f"target {name}")
        texts_by_name = pd.Series(texts, names)
        result = judge(case_of(sweep, panel, texts=texts_by_name), N)
        assert (result.reproduced, result.flags) == (reproduced, [verdict.TOPICS_UNKNOWN])
        untold = judge(case_of(sweep, panel), N)
        assert untold.reproduced == verdict.NOT_ENOUGH
        assert np.isnan(untold.prediction.alike.high)
        named = pd.Series(topic.astype(str), names)
        assert judge(case_of(sweep, panel, texts=texts_by_name, topics=named), N).prediction.topics
