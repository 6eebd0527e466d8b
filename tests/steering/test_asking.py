"""Instruments at many settings at once: what the quick way reads is what a steered respondent says one by one."""

import numpy as np
import pytest
from tiny_models import vectors_at

from onedial.asking.instruments import REASONED
from onedial.asking.respondents import answers_in_order
from onedial.core.errors import InputError
from onedial.selfreport.ask.self_reports import SELF_REPORTS, Item
from steering.asking import ASKED_COLUMNS, ask_settings
from steering.interventions import Intervention
from steering.respondent import SteeredRespondent

TEXTS = ["Who?", "What is the tallest of all the trees?", "When, to the day?"]
SLOTS = {"question": "", "answer": "Nobody", "statement": "know rivers."}


def items_for(instrument):
    return [
        Item(f"q{place}", {slot: SLOTS[slot] or text for slot in instrument.template.slots})
        for place, text in enumerate(TEXTS)
    ]


@pytest.mark.parametrize("positions", ["last", "all"])
@pytest.mark.parametrize("name", SELF_REPORTS)
def test_the_quick_way_equals_a_steered_respondent(model, name, positions):
    report = SELF_REPORTS[name]
    form, instrument = list(report.forms.items())[-1]
    items = items_for(instrument)
    intervention = Intervention.of(*vectors_at(model, [2]), positions=positions)
    prompts = [report.prompt(form, item) for item in items]
    named = dict(zip([item.item_id for item in items], prompts, strict=True))
    table = ask_settings(model, named, instrument, [intervention], [0.0, 0.3])
    assert list(table.columns) == ASKED_COLUMNS
    for magnitude in (0.0, 0.3):
        plain = answers_in_order(SteeredRespondent(model, intervention, magnitude), prompts, instrument)
        at_magnitude = table[table["magnitude"] == magnitude]
        assert at_magnitude["mass"].to_numpy() == pytest.approx([each.mass for each in plain], abs=1e-4)
        if instrument.scale.kind == "yes/no":
            assert at_magnitude["margin"].to_numpy() == pytest.approx([each.margin for each in plain], abs=1e-3)
        else:
            expected = [instrument.scale.expectation(each.probabilities)[0] for each in plain]
            assert at_magnitude["expected"].to_numpy() == pytest.approx(expected, abs=1e-4)
    assert np.abs(np.diff(table.pivot(index="question_id", columns="magnitude", values="mass"), axis=1)).max() > 0


def test_a_resumed_asking_asks_the_rest_alone(model):
    report = SELF_REPORTS["confidence in words"]
    instrument = report.forms["plain"]
    items = items_for(instrument)
    kept = []
    arguments = (model, {item.item_id: report.prompt("plain", item) for item in items}, instrument)
    vectors = vectors_at(model, [2])
    ask_settings(*arguments, vectors, [0.0, 0.1], done={"q0", "q2"}, sink=kept.append)
    assert [set(part["question_id"]) for part in kept] == [{"q1"}]
    assert ask_settings(*arguments, vectors, [0.0], done={"q0", "q1", "q2"}).empty


def test_an_instrument_that_writes_is_refused(model):
    with pytest.raises(InputError, match="written, not read from logits"):
        ask_settings(model, {"q": REASONED.prompt("Who?")}, REASONED, vectors_at(model, [2]), [0.0])
