"""A setting gives answers: every dial by one contract, and each by what it claims."""

import numpy as np
import pandas as pd
import pytest

from onedial.asking.prompts import METACOGNITIVE, Prompt
from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.core.notices import Notice
from onedial.models.prompt_set import PromptSet
from steering.dials.dials import (
    DIAL_COLUMNS,
    RATES,
    Dial,
    InterventionDial,
    Put,
    ThresholdShift,
    ask_together,
    instructed_threshold,
    personas,
)
from steering.interventions import Intervention
from steering.operators import OPERATORS
from steering.planning.magnitudes import ROUNDS, seek_settings, settings_at, swept_at
from steering.vectors import extract_vector

QUESTIONS = [Question(f"q{i:02d}", f"What is the {'very ' * (i % 4)}first of {i}?") for i in range(26)]
KINDS = ["threshold shift", "instructed threshold", "personas", *OPERATORS]


@pytest.fixture(scope="module")
def vector(model):
    return extract_vector(model, PromptSet.build(model, QUESTIONS, METACOGNITIVE), [2])[0]


@pytest.fixture(params=KINDS)
def dial(request, vector):
    if request.param in OPERATORS:
        return InterventionDial(Intervention.of(vector, operator=request.param))
    cases = (ThresholdShift(), instructed_threshold((50.0, 90.0)), personas(("child", "exam")))
    return {each.name: each for each in cases}[request.param]


def unsteered(model):
    return ThresholdShift().ask(Put(model, QUESTIONS, METACOGNITIVE), [0.0]).set_index("question_id")["margin"]


def test_every_dial_answers_by_one_contract_and_does_nothing_at_0(model, dial):
    assert isinstance(dial, Dial)
    settings = [0.0, *[each for each in dial.first_settings() if each][:2]]
    counts = []
    table = dial.ask(Put(model, QUESTIONS, METACOGNITIVE, counts.append), settings)
    assert list(table.columns) == DIAL_COLUMNS
    assert len(table) == len(QUESTIONS) * 3
    assert set(table["setting"]) == set(settings)
    plain = table[table["setting"] == 0.0].set_index("question_id")["margin"]
    np.testing.assert_allclose(plain, unsteered(model).loc[plain.index], atol=1e-4)
    assert sum(counts) > 0


def test_a_threshold_shift_is_a_bias_on_the_yes_tokens(model):
    prompts = PromptSet.build(model, QUESTIONS[:3], METACOGNITIVE)
    batch = model.tokenise([METACOGNITIVE.fill(QUESTIONS[0].text)])
    logits = model.hf(input_ids=batch.input_ids).logits[0, -1]
    logits[list(prompts.tokens.yes)] += 1.25
    biased = logits[list(prompts.tokens.yes)].logsumexp(0) - logits[list(prompts.tokens.no)].logsumexp(0)
    table = ThresholdShift().ask(Put(model, QUESTIONS[:3], METACOGNITIVE), [1.25]).set_index("question_id")
    assert table.loc["q00", "margin"] == pytest.approx(biased.item(), abs=1e-4)


def test_an_instruction_stands_before_the_prompt_and_nothing_else_changes(model):
    dial = instructed_threshold((90.0,))
    table = dial.ask(Put(model, QUESTIONS[:2], METACOGNITIVE), [90.0]).set_index("question_id")
    text = "Say Yes only if you are at least 90% sure that your answer is right; otherwise say No."
    prompt = METACOGNITIVE.fill(QUESTIONS[1].text)
    batch = model.tokenise([Prompt(f"{text}\n\n{prompt.user}", prompt.assistant_prefix)])
    tokens = PromptSet.build(model, QUESTIONS[:1], METACOGNITIVE).tokens
    expected = model.readout.margin(model.final_residual(batch), tokens).item()
    assert table.loc["q01", "margin"] == pytest.approx(expected, abs=1e-4)
    with pytest.raises(InputError, match="has no setting 40; choose among 0, 90"):
        dial.ask(Put(model, QUESTIONS, METACOGNITIVE), [40.0])
    with pytest.raises(InputError, match="there is no framing 'pirate'"):
        personas(("pirate",))


def straight_dial(slopes, at=(-4.0, 0.0, 4.0)):
    """A dial whose margins are these functions of the setting, its first settings, and the rounds it was asked."""
    rounds = []

    def ask(number, settings):
        rounds.append(settings)
        rows = [
            ("planted", setting, question, float(slope(setting)), 1.0)
            for setting in settings["planted"]
            for question, slope in enumerate(slopes)
        ]
        return pd.DataFrame(rows, columns=["dial", "setting", "question_id", "margin", "mass"])

    return ask, {"planted": list(at)}, rounds


def test_a_rate_is_sought_until_its_own_answers_have_it():
    """Margins bend, so that straight lines between the first settings are wrong by up to half of the questions."""
    bends = [lambda x, at=at: np.exp(x) - at for at in np.linspace(1.1, 50, 40)]
    ask, first, rounds = straight_dial(bends)
    placed, answers = seek_settings(ask, first, RATES, {"planted"})
    assert placed["reached"].all()
    rates = (answers["margin"] > 0).groupby(answers["setting"]).mean()
    np.testing.assert_allclose(rates.loc[placed["setting"]], placed["rate_found"])
    assert (placed["rate_found"] - placed["rate"]).abs().max() <= 1 / 40 + 1e-9
    assert 1 < len(rounds) <= 1 + ROUNDS
    assert len(set(answers["setting"])) == len(answers) / 40  # no setting is asked again
    unsought, _ = seek_settings(ask, first, RATES, set())
    assert not unsought["reached"].any()


def test_a_rate_is_sought_near_0_where_a_far_setting_happens_to_have_it():
    """Beyond 8 answers turn to no again: at the far end half say yes, which 0.4 is wanted for."""
    turns = [lambda x, at=at: 10 * x - at if x < 8 else -1.0 + at for at in np.linspace(0.05, 1.95, 20)]
    ask, first, _ = straight_dial(turns, at=(-1.0, 0.0, 4.0, 10.0))
    placed, answers = seek_settings(ask, first, [0.5], {"planted"})
    assert (answers.loc[answers["setting"] == 10.0, "margin"] > 0).mean() == 0.5
    assert placed["reached"].all()
    assert 0 < placed["setting"].item() < 1


def test_a_rate_that_a_dial_jumps_over_is_not_reached():
    jump = [lambda x, up=up: 1.0 if x > (0.3 if up else 9) else -1.0 for up in [True] * 15 + [False] * 5]
    ask, first, _ = straight_dial(jump)
    placed, _ = seek_settings(ask, first, (0.5, 0.75), {"planted"})
    assert placed["reached"].tolist() == [False, True]
    assert placed["rate_found"].tolist() in ([0.75, 0.75], [0.0, 0.75])


@pytest.mark.parametrize("kind", ["threshold shift", "add", "rotate"])
def test_a_dial_is_placed_at_the_yes_rates_that_were_asked_for(model, vector, kind):
    """To one answer by its own answers at the settings, or they are not reached; those of a threshold shift all."""
    shift = kind == "threshold shift"
    dial = ThresholdShift() if shift else InterventionDial(Intervention.of(vector, operator=kind))

    def ask(_, settings):
        return dial.ask(Put(model, QUESTIONS, METACOGNITIVE), settings[dial.name]).assign(dial=dial.name)

    placed, _ = seek_settings(ask, {dial.name: dial.first_settings()}, RATES, {dial.name})
    there = placed[placed["reached"]]
    assert len(there) == len(RATES) if shift else len(there) > 0
    again = dial.ask(Put(model, QUESTIONS, METACOGNITIVE), there["setting"].tolist())
    rates = (again["margin"] > 0).groupby(again["setting"]).mean().loc[there["setting"]]
    np.testing.assert_allclose(rates, there["rate_found"], atol=1e-9)
    assert (there["rate_found"] - there["rate"]).abs().max() <= 1 / len(QUESTIONS) + 1e-9


def test_what_a_dial_does_not_reach_is_said():
    margins = pd.DataFrame(
        {"question_id": ["a", "b"] * 2, "magnitude": [0.0, 0.0, 1.0, 1.0], "margin": [1.0, -1, 2, -1]}
    )
    placed = settings_at(margins.assign(mass=1.0), (0.1, 0.5), within=0.05)
    assert placed["reached"].tolist() == [False, True]
    assert placed["setting"].tolist() == [0.0, 0.0]
    unread = margins.assign(mass=[1.0, 1.0, 0.01, 1.0])
    assert settings_at(unread, (0.5,))["setting"].tolist() == [0.0]


def test_a_rate_that_no_swept_magnitude_has_is_left_out():
    table = pd.DataFrame(
        {"question_id": ["a", "b"] * 2, "magnitude": [0.0, 0.0, 1.0, 1.0], "margin": [-1.0, -1, 2, -1]}
    )
    with pytest.warns(Notice, match=r"does not reach the yes rate 0\.9 .*nearest is 0\.50, at magnitude \+1"):
        placed = swept_at(table.assign(mass=1.0), (0.5, 0.9))
    assert placed["setting"].tolist() == [1.0]


def test_a_dial_is_placed_where_the_push_is_small():
    """At -4 one of five says yes, as wanted; so does, but for one question of fifty, a push a tenth as large."""
    asked = np.arange(50)
    yes = {-4.0: asked < 10, 0.0: asked < 0, 0.4: asked < 11, 1.0: asked < 50}
    table = pd.concat(
        [
            pd.DataFrame({"question_id": asked, "magnitude": at, "margin": np.where(answers, 1e-9, -1.0), "mass": 1.0})
            for at, answers in yes.items()
        ]
    )
    placed = settings_at(table, (0.2, 0.98)).set_index("rate")
    assert placed["reached"].all()
    assert placed["setting"].tolist() == [0.4, 1.0]


def test_interventions_are_asked_together_as_each_alone(model, vector):
    dials = [InterventionDial(Intervention.of(vector, operator=name), name) for name in ("add", "rotate")]
    prompts, frames = PromptSet.build(model, QUESTIONS, METACOGNITIVE), []
    settings = {"add": [0.0, 0.3], "rotate": [-0.2]}
    ask_together(model, dials, prompts, settings, sink=frames.append, done={"q01"})
    table = pd.concat(frames)
    assert "q01" not in set(table["question_id"])
    for dial in dials:
        alone = dial.ask(Put(model, QUESTIONS, METACOGNITIVE), settings[dial.name]).set_index(
            ["question_id", "setting"]
        )
        of_dial = table[table["dial"] == dial.name].set_index(["question_id", "setting"])
        np.testing.assert_allclose(of_dial["margin"], alone["margin"].loc[of_dial.index], atol=1e-4)
