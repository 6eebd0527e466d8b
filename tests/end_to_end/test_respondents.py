"""One contract for all respondents: a local model, a steered one, one without the fast path, one behind a server."""

import math

import pytest
from respondent_kinds import INSTRUMENTS_ASKED, KINDS, QUESTIONS, local, steered

from onedial.asking.instruments import CAN_YOU_ANSWER, TokenReader
from onedial.asking.measuring import MEASUREMENT_COLUMNS, measurements
from onedial.asking.prompts import Prompt, PromptTemplate
from onedial.asking.providers.providers import ProviderRespondent
from onedial.asking.respondents import Respondent, answers_in_order
from onedial.asking.yes_no import is_read
from onedial.models.respondent import LocalRespondent


@pytest.fixture(scope="module", params=KINDS)
def respondent(request):
    return KINDS[request.param]()


@pytest.mark.parametrize("name", INSTRUMENTS_ASKED)
def test_answers_come_in_order_with_their_tokens(respondent, name):
    """Answers come in order with their tokens whatever is asked beside and unread is no value."""
    instrument = INSTRUMENTS_ASKED[name]
    prompts = [instrument.prompt(question) for question in QUESTIONS]
    responses = answers_in_order(respondent, prompts, instrument)
    assert isinstance(respondent, Respondent)
    assert respondent.identity == respondent.identity
    assert [(response.place, response.error) for response in responses] == [(n, "") for n in range(len(QUESTIONS))]
    assert len({response.prompt_hash for response in responses}) == len(QUESTIONS)
    writes = isinstance(respondent, ProviderRespondent) or not isinstance(instrument.reader, TokenReader)
    assert all(each.tokens_in > 3 and (each.tokens_out > 0) == writes for each in responses)
    for response in responses:
        check_value(response, instrument.scale)
    again = answers_in_order(respondent, prompts[::-1], instrument)[::-1]
    for one, other in zip(responses, again, strict=True):
        assert (one.value, one.said_yes, one.raw_text) == (other.value, other.said_yes, other.raw_text)
        assert one.prompt_hash == other.prompt_hash
        assert one.margin == pytest.approx(other.margin, abs=1e-4, nan_ok=True)
    ids = [f"q{i}" for i in range(len(QUESTIONS))]
    table = measurements("r", respondent.identity, name, instrument.template.name, ids, reversed(responses))
    assert list(table.columns) == MEASUREMENT_COLUMNS
    assert table["question_id"].tolist() == ids[::-1]
    values = [math.nan if each.value is None else each.value for each in reversed(responses)]
    assert table["value"].tolist() == pytest.approx(values, nan_ok=True)
    assert list(respondent.answer([], instrument)) == []


def check_value(response, scale):
    """What is unread has no value, and a value lies on the scale."""
    if not math.isnan(response.mass):
        assert (response.value is None) == (not is_read(response.mass))
        assert sum(response.probabilities) == pytest.approx(1.0)
    if scale.kind == "yes/no":
        assert response.said_yes == (None if response.value is None else response.value == 1.0)
        if response.value is not None and not math.isnan(response.margin):
            assert response.said_yes == (response.margin > 0)
            assert (response.confidence > 0.5) == response.said_yes
    elif response.value is not None:
        assert response.said_yes is None
        assert response.value in (scale.values if scale.kind == "probability" else range(len(scale.options)))
        assert (response.confidence is not None) == (scale.kind == "probability")


# ---- what is true of some --------------------------------------------------------------------------------------------


def test_steering_by_nothing_answers_as_the_model_alone():
    """Steering by nothing answers as the model alone and says what it is."""
    plain, still = local(), steered(magnitude=0.0)
    for instrument in INSTRUMENTS_ASKED.values():
        prompts = [instrument.prompt(question) for question in QUESTIONS]
        one, other = (answers_in_order(each, prompts, instrument) for each in (plain, still))
        # Random weights write on and on, and rounding may tip a late word.
        assert [r.raw_text[:20] for r in one] == [r.raw_text[:20] for r in other]
        assert [r.margin for r in one] == pytest.approx([r.margin for r in other], abs=1e-4, nan_ok=True)
    assert plain.identity.setting == ""
    assert still.identity.setting.endswith(" at +0")
    assert plain.identity.fingerprint == still.identity.fingerprint


def test_a_steered_subject_is_steered_by_batches_and_left_as_it_was():
    subject = steered()
    answers = subject.answer([CAN_YOU_ANSWER.prompt(question) for question in QUESTIONS], CAN_YOU_ANSWER)
    first = next(answers)
    # The consumer may use the model between two batches: it must find it unsteered.
    unsteered = answers_in_order(LocalRespondent(subject.model), [CAN_YOU_ANSWER.prompt("Who?")], CAN_YOU_ANSWER)[0]
    rest = {response.place: response for response in answers} | {first.place: first}
    assert rest[0].prompt_hash == unsteered.prompt_hash
    assert abs(rest[0].margin - unsteered.margin) > 1e-3
    assert [m for m in subject.model.hf.modules() if m._forward_hooks or m._forward_pre_hooks] == []


def test_earlier_turns_are_read_and_change_the_answer():
    respondent = local()
    template = PromptTemplate("{question} Sure?", "Answer:", earlier=(("Who sang?", "Nobody did."),))
    prompts = [template.fill("Who?"), Prompt("Who? Sure?", "Answer:")]
    with_turns, untold = answers_in_order(respondent, prompts, CAN_YOU_ANSWER)
    assert with_turns.tokens_in > untold.tokens_in + len("Who sang?") + len("Nobody did.")
    assert with_turns.margin != untold.margin
    text = respondent.model.render(prompts[0])
    assert text.index("Who sang?") < text.index("Nobody did.") < text.index("Who? Sure?")
