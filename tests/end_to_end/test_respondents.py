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


@pytest.fixture(scope="module", params=INSTRUMENTS_ASKED)
def instrument(request):
    return INSTRUMENTS_ASKED[request.param]


@pytest.fixture(scope="module")
def responses(respondent, instrument):
    return answers_in_order(respondent, [instrument.prompt(question) for question in QUESTIONS], instrument)


def test_it_is_a_respondent_with_an_identity_that_stays(respondent, instrument, responses):
    assert isinstance(respondent, Respondent)
    assert respondent.identity == respondent.identity
    assert respondent.identity.model


def test_every_prompt_gets_one_response_with_its_place(responses):
    assert [response.place for response in responses] == list(range(len(QUESTIONS)))
    assert [response.error for response in responses] == [""] * len(QUESTIONS)
    assert len({response.prompt_hash for response in responses}) == len(QUESTIONS)


def test_an_answer_does_not_depend_on_what_is_asked_beside_it(respondent, instrument, responses):
    backwards = [instrument.prompt(question) for question in reversed(QUESTIONS)]
    again = answers_in_order(respondent, backwards, instrument)[::-1]
    for one, other in zip(responses, again, strict=True):
        assert (one.value, one.said_yes, one.raw_text, one.prompt_hash) == (
            *(other.value, other.said_yes, other.raw_text),
            other.prompt_hash,
        )
        assert one.margin == pytest.approx(other.margin, abs=1e-4, nan_ok=True)


def test_what_is_unread_has_no_value_and_a_value_lies_on_the_scale(instrument, responses):
    for response in responses:
        if not math.isnan(response.mass):
            assert (response.value is None) == (not is_read(response.mass))
            assert sum(response.probabilities) == pytest.approx(1.0)
        if instrument.scale.kind == "yes/no":
            assert response.said_yes == (None if response.value is None else response.value == 1.0)
            if response.value is not None and not math.isnan(response.margin):
                assert response.said_yes == (response.margin > 0)
                assert (response.confidence > 0.5) == response.said_yes
        elif response.value is not None:
            assert response.said_yes is None
            places = range(len(instrument.scale.options))
            assert response.value in (instrument.scale.values if instrument.scale.kind == "probability" else places)
            assert (response.confidence is not None) == (instrument.scale.kind == "probability")


def test_tokens_are_counted(respondent, instrument, responses):
    assert all(response.tokens_in > 3 for response in responses)
    writes = isinstance(respondent, ProviderRespondent) or not isinstance(instrument.reader, TokenReader)
    assert all((response.tokens_out > 0) == writes for response in responses)


def test_no_prompts_get_no_responses(respondent, instrument):
    assert list(respondent.answer([], instrument)) == []


def test_responses_become_measurements_under_one_schema(respondent, instrument, responses):
    ids = [f"q{i}" for i in range(len(QUESTIONS))]
    table = measurements("r", respondent.identity, instrument.name, instrument.template.name, ids, reversed(responses))
    assert list(table.columns) == MEASUREMENT_COLUMNS
    assert table["question_id"].tolist() == ids[::-1]
    assert not table.duplicated(["respondent", "instrument", "framing", "question_id", "sample"]).any()
    values = [math.nan if each.value is None else each.value for each in reversed(responses)]
    assert table["value"].tolist() == pytest.approx(values, nan_ok=True)


# ---- what is true of some --------------------------------------------------------------------------------------------


def test_steering_by_nothing_answers_as_the_model_alone_and_says_what_it_is():
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
    told, untold = answers_in_order(respondent, prompts, CAN_YOU_ANSWER)
    assert told.tokens_in > untold.tokens_in + len("Who sang?") + len("Nobody did.")
    assert told.margin != untold.margin
    text = respondent.model.render(prompts[0])
    assert text.index("Who sang?") < text.index("Nobody did.") < text.index("Who? Sure?")
