"""Models behind a server: reading what they say, faults on the way, and keys that must not be seen."""

import importlib.util
import json
import math
import threading
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from fake_server import FakeServer, Fault, question_of

from onedial.asking.asks import Ask
from onedial.asking.instruments import CAN_YOU_ANSWER, CLOSED_BOOK, CONFIDENCE_IN_NUMBERS, REASONED
from onedial.asking.providers import providers
from onedial.asking.providers.attempts import failed
from onedial.asking.providers.provider_reading import from_the_answer_on, response_of, why_unread
from onedial.asking.providers.provider_settings import ProviderModel
from onedial.asking.providers.providers import ProviderRespondent, Request, answers_side_by_side
from onedial.asking.respondents import Identity, Outspoken, Respondent, answers_in_order, prompt_key
from onedial.core.errors import InputError
from onedial.core.files import sha256_of_text
from onedial.core.notices import Notice
from onedial.selfreport.ask.questionnaires import ALL_AT_ONCE
from onedial.selfreport.ask.self_prediction import LIST, RANKING
from onedial.selfreport.ask.self_reports import lettered
from onedial.selfreport.battery.guesses import GUESS
from onedial.selfreport.battery.reasoning import STEPS

CANARY = "sk-canary-4f1c2b7e9d"
needs_inspect = pytest.mark.skipif(
    importlib.util.find_spec("inspect_ai") is None,
    reason="inspect_ai is an optional extra (onedial[providers])",
)
SENT = yaml.safe_load((Path(__file__).parents[1] / "reference" / "servers.yaml").read_text("utf-8"))
LOGS = {"Yes": math.log(0.6), "No": math.log(0.3), "I": math.log(0.05)}


def prompts(*questions, instrument=CAN_YOU_ANSWER):
    return [instrument.prompt(question) for question in questions]


def respondent(server, **settings):
    return ProviderRespondent(ProviderModel("tiny", server=server.url, **{"retries": 0} | settings))


class Permitted(Request):
    """Notes what becomes of its attempts; all of them together may make so many."""

    def __init__(self, respondent, question, left=(), place=0):
        super().__init__(respondent, *prompts(question), CAN_YOU_ANSWER, place)
        self.left, self.begun, self.came = left, 0, []

    def permits(self):
        return bool(self.left) and self.left.pop()

    def begins(self):
        self.begun += 1

    def ended(self, attempt):
        self.came.append(attempt)


# ---- reading, without a server ---------------------------------------------------------------------------------------


NOTHING_SAID = "length, nothing but reasoning; raise max_tokens"


@pytest.mark.parametrize(
    ("instrument", "text", "kept"),
    [
        (CLOSED_BOOK, "Okay, who wrote Emma?\nIt was", ""),
        (CLOSED_BOOK, "[THINK]Jane Austen", ""),
        (CLOSED_BOOK, "Jane Austen\n\nQuestion: Who wrote", "Jane Austen"),
        (CONFIDENCE_IN_NUMBERS, "Hmm, 60% or so", "Hmm, 60% or so"),
    ],
)
def test_a_free_text_of_nothing_but_reasoning_is_not_there_to_be_graded(instrument, text, kept):
    response = response_of(instrument, text, False, [], unread=why_unread("max_tokens", text, False))
    assert (response.raw_text, response.value) == (kept, None)
    assert (response.unread == NOTHING_SAID) is (kept != "Jane Austen")


def alternatives(*tokens):
    """As OpenAI's protocol gives them: (written, its log probability, {others: theirs}) for each token."""
    return [
        {
            "token": token,
            "logprob": log,
            "top_logprobs": [{"token": k, "logprob": v} for k, v in ({token: log} | others).items()],
        }
        for token, log, others in tokens
    ]


@pytest.mark.parametrize(("tokens", "text", "reasoned", "margin"), SENT["margins"])
def test_no_sentinel_enlarges_a_margin(tokens, text, reasoned, margin):
    """A margin is of the tokens of the answer and no sentinel enlarges it."""
    shown = from_the_answer_on(alternatives(*tokens), text, reasoned)
    response = response_of(CAN_YOU_ANSWER, text, True, shown)
    assert response.said_yes is True
    assert response.margin == pytest.approx(math.nan if margin is None else margin, nan_ok=True)


LETTERS = lettered("known", "{question}", "I know it", "I do not know it")


def test_what_an_outspoken_respondent_says_counts_whole():
    """What an outspoken respondent says counts whole and what it shows stays."""

    class Says:
        identity = Identity("says")

        def answer(self, prompts, instrument):
            yield response_of(instrument, "A", True, [])
            yield response_of(instrument, "neither", True, [], place=1)
            yield response_of(instrument, "B", True, [{"B": math.log(0.8), "A": math.log(0.1)}], place=2)

    answered, unread, shown = answers_in_order(Outspoken(Says()), prompts("q"), LETTERS["A first"])
    assert (answered.margin, answered.mass, answered.probabilities) == (1.0, 1.0, (1.0, 0.0))
    assert unread.value is None
    assert math.isnan(unread.mass)
    assert shown.margin == pytest.approx(math.log(1 / 8))


def test_margin_and_mass_are_those_of_the_first_token_that_says_something():
    space = {"\n": 0.0}
    response = response_of(CAN_YOU_ANSWER, "\nYes", True, [space, LOGS])
    assert response.margin == pytest.approx(math.log(0.6 / 0.3))
    assert response.mass == pytest.approx(0.9)
    assert response.confidence == pytest.approx(2 / 3)


def test_an_option_not_shown_is_as_likely_as_the_least_shown():
    """An option that is not shown counts as likely as the least likely token that is."""
    response = response_of(CAN_YOU_ANSWER, "Yes", True, [{"Yes": math.log(0.9), "Yeah": math.log(0.02)}])
    assert response.margin == pytest.approx(math.log(0.9 / 0.02))
    assert response.mass == pytest.approx(0.9)


def test_an_answer_that_comes_late_has_no_margin():
    """An answer that does not come first has no margin and one with too little mass is unread."""
    later = response_of(CAN_YOU_ANSWER, "Well: yes.", True, [{"Well": -0.1, "Yes": -3.0}])
    assert (later.said_yes, math.isnan(later.margin), math.isnan(later.mass)) == (True, True, True)
    faint = response_of(CAN_YOU_ANSWER, "Yes", True, [{"Yes": math.log(0.04), "No": math.log(0.03), "x": -0.1}])
    assert (faint.value, faint.said_yes) == (None, None)


def test_a_key_is_named_and_never_written(monkeypatch):
    settings = ProviderModel("tiny", server="http://127.0.0.1:1/v1", key="ONEDIAL_TEST_KEY")
    monkeypatch.delenv("ONEDIAL_TEST_KEY", raising=False)
    with pytest.raises(InputError, match=r"\$ONEDIAL_TEST_KEY, which is not set"):
        settings.key_value()
    monkeypatch.setenv("ONEDIAL_TEST_KEY", CANARY)
    assert settings.key_value() == CANARY
    assert CANARY not in repr(settings)


# ---- against a server ----------------------------------------------------------------------------------------------


@needs_inspect
def test_every_question_gets_its_own_answer():
    """Every question gets its own answer with what the server says of itself."""

    def answering(body):
        return "Yes" if "river" in question_of(body) else "No"

    def shown(body):
        return {"Yes": 0.6, "No": 0.3} if "river" in question_of(body) else {"No": 0.8, "Yes": 0.1}

    with FakeServer(answering, model="tiny-2026-11", fingerprint="fp_7", logprobs=shown) as server:
        asked = ProviderRespondent(ProviderModel("tiny", server=server.url, temperature=0, retries=0))
        given = answers_in_order(asked, prompts("Which river?", "Who?", "What river?"), CAN_YOU_ANSWER)
        request = server.asked[0]
    assert isinstance(asked, Respondent)
    assert [each.said_yes for each in given] == [True, False, True]
    assert [each.margin for each in given] == pytest.approx([math.log(2), -math.log(8), math.log(2)])
    assert {(each.served_model, each.served_fingerprint) for each in given} == {("tiny-2026-11", "fp_7")}
    assert len({each.prompt_hash for each in given}) == 3
    assert all(each.tokens_in > 0 and each.tokens_out > 0 and each.answered_at and each.seconds > 0 for each in given)
    assert (request["temperature"], request["logprobs"], request["top_logprobs"]) == (0, True, 20)
    assert [turn["role"] for turn in request["messages"]] == ["user"]


@needs_inspect
def test_margins_at_a_temperature_are_pointed_at():
    """Margins at a temperature that a server may scale them by are pointed at."""
    with FakeServer("Yes", logprobs={"Yes": 0.6, "No": 0.3}) as server:
        for temperature, n_notices in ((0.5, 1), (0, 0), (1, 0), (None, 0)):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", Notice)
                answers_in_order(respondent(server, temperature=temperature), prompts("Who?", "When?"), CAN_YOU_ANSWER)
            assert sum("scale log probabilities" in str(each.message) for each in caught) == n_notices


@needs_inspect
def test_passing_failures_are_asked_again():
    """What fails for the time being is asked again and what fails for good is an error."""
    seen: dict[str, int] = {}
    lock = threading.Lock()

    def answering(body):
        question = question_of(body)
        with lock:
            seen[question] = seen.get(question, 0) + 1
            n = seen[question]
        if question == "limited":
            return Fault(429, headers={"Retry-After": "0"}) if n == 1 else "Yes"
        if question == "broken":
            return Fault(500) if n == 1 else "No"
        if question == "nonsense":
            return Fault(200, "<html>bad gateway</html>")
        if question == "bad":
            return Fault(400, '{"error": {"message": "no such parameter"}}')
        return ""

    asked = ("limited", "broken", "empty", "nonsense", "bad")
    with FakeServer(answering) as server:
        given = dict(
            zip(asked, answers_in_order(respondent(server, retries=1), prompts(*asked), CAN_YOU_ANSWER), strict=True)
        )
    assert (given["limited"].said_yes, given["broken"].said_yes) == (True, False)
    assert seen["limited"] == seen["broken"] == 2
    assert (given["empty"].said_yes, given["empty"].error) == (None, "")
    for name in ("nonsense", "bad"):
        assert given[name].said_yes is None
        assert given[name].error
    assert "no such parameter" in given["bad"].error


def test_a_server_says_in_seconds_when_to_ask_again():
    error = RuntimeError("busy")
    for header, seconds in (("90", 90), ("Sat, 29 Nov 2025 12:01:30 GMT", None), ("soon", None)):
        error.response = SimpleNamespace(headers={"retry-after": header})
        assert failed(error, str).wait == seconds


@needs_inspect
def test_no_key_reaches_what_is_written(tmp_path, monkeypatch):
    """No key reaches answers messages or files when the server repeats it."""
    monkeypatch.setenv("ONEDIAL_TEST_KEY", CANARY)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))

    def answering(body):
        if question_of(body) == "echo":
            return f"Yes, and your key is {CANARY}"
        return Fault(400, f'{{"error": {{"message": "bad request with {CANARY}"}}}}')

    with FakeServer(answering, key=CANARY) as server:
        settings = ProviderModel("tiny", server=server.url, key="ONEDIAL_TEST_KEY", retries=0)
        given = answers_in_order(ProviderRespondent(settings), prompts("echo", "fail"), CAN_YOU_ANSWER)
        monkeypatch.setenv("ONEDIAL_TEST_KEY", f"{CANARY}-other")
        with pytest.raises(InputError, match="refused the key") as refused:
            list(ProviderRespondent(settings).answer(prompts("echo"), CAN_YOU_ANSWER))
    assert given[0].said_yes
    assert "[key]" in given[1].error
    assert CANARY not in repr(given) + str(refused.value)
    for file in (each for each in tmp_path.rglob("*") if each.is_file()):
        assert CANARY.encode() not in file.read_bytes(), file


@needs_inspect
def test_two_respondents_are_asked_at_once():
    """Two respondents are asked at once and a refusal leaves the rest unasked."""
    with FakeServer(lambda body: "Yes", keep=False) as one, FakeServer(lambda body: "No", keep=False) as other:
        left, asked = [True] * 4, [respondent(each) for each in (one, other)]
        given = list(answers_side_by_side([Permitted(each, text, left) for each in asked for text in "abcdef"]))
    assert len(given) == 4 == one.n_asked + other.n_asked
    assert all(response.said_yes == (request.respondent is asked[0]) for request, response in given)


@needs_inspect
def test_leaving_the_answers_ends_what_is_under_way():
    with FakeServer(lambda body: "Yes", seconds=0.05) as server:
        answers = respondent(server, connections=2).answer(prompts(*map(str, range(200))), CLOSED_BOOK)
        next(answers)
        answers.close()
        n_asked = server.n_asked
        time.sleep(0.2)
        assert server.n_asked - n_asked <= 2
    assert n_asked < 200


@needs_inspect
def test_a_server_that_is_not_there_ends_in_one_sentence():
    with FakeServer(lambda body: "Yes") as server:
        gone = server.url
    with pytest.raises(InputError, match="10 requests failed and none was answered"):
        list(
            ProviderRespondent(ProviderModel("tiny", server=gone, retries=0)).answer(
                prompts(*map(str, range(12))), CAN_YOU_ANSWER
            )
        )


@needs_inspect
def test_every_attempt_is_permitted_begun_and_ended_once_retries_included():
    answered = []

    def answering(body):
        answered.append(body)
        return Fault(200, '{"choices": [') if len(answered) < 3 else "Yes"

    with FakeServer(answering) as server:
        asked = Permitted(respondent(server, retries=3), "q", [True] * 9, place=2)
        ((request, response),) = answers_side_by_side([asked])
    assert request is asked
    assert (response.said_yes, response.place) == (True, 2)
    assert asked.begun == len(asked.came) == len(answered) == 3
    assert [(attempt.again, attempt.refused) for attempt in asked.came] == [
        (True, False),
        (True, False),
        (False, False),
    ]


@needs_inspect
@pytest.mark.parametrize(
    ("beside", "fails"),
    [
        ({"usage": None}, False),
        ({"usage": {"prompt_tokens": 9, "completion_tokens": None}}, True),
        ({"usage": {}}, True),
        ({"model": None}, True),
        ({"logprob": "many"}, True),
        *(({"logprob": value}, False) for value in (math.nan, math.inf, 1e308)),
    ],
)
def test_what_stands_beside_an_answer_is_asked_for_once(beside, fails):
    """A number that cannot be is no margin; what is no number fails for good, so that it is paid for once."""
    with FakeServer(lambda body: "Yes", logprobs=lambda body: {"Yes": 0.9}) as server:
        completion = server._completion

        def odd(body, text):
            whole = completion(body, text)
            if "logprob" in beside:
                whole["choices"][0]["logprobs"]["content"][0]["top_logprobs"][0] |= {"token": "No", **beside}
            return whole | beside

        server._completion = odd
        (response,) = respondent(server, retries=1).answer(prompts("q"), CAN_YOU_ANSWER)
        assert server.n_asked == 1
    assert (response.said_yes, bool(response.error)) == (None if fails else True, fails)
    assert math.isnan(response.margin) == (fails or "logprob" in beside)


@needs_inspect
@pytest.mark.parametrize("details", [{}, {"prompt_tokens_details": {"cached_tokens": 64}}])
def test_tokens_that_a_server_had_cached_are_counted_too(details):
    usage = {"prompt_tokens": 90, "completion_tokens": 7, "total_tokens": 97, **details}
    with FakeServer(lambda body: "Yes") as server:
        completion = server._completion
        server._completion = lambda body, text: completion(body, text) | {"usage": usage}
        (response,) = respondent(server).answer(prompts("q"), CAN_YOU_ANSWER)
    assert (response.tokens_in, response.tokens_out) == (90, 7)


@needs_inspect
def test_what_breaks_while_an_answer_is_kept_is_heard_of():
    class Breaks(Permitted):
        def ended(self, attempt):
            raise ValueError("a row that cannot be written")

    with (
        FakeServer(lambda body: "Yes") as server,
        pytest.raises(ValueError, match="a row that cannot be written"),
    ):
        list(answers_side_by_side([Breaks(respondent(server), "q", [True])]))


# ---- what servers send in place of a text, or beside it --------------------------------------------------------------


def sends(server, **choice):
    """The server's completion with another message, or other fields of its choice."""
    completion = server._completion

    def odd(body, text):
        whole = completion(body, text)
        whole["choices"][0] |= choice
        return whole

    server._completion = odd


@needs_inspect
@pytest.mark.parametrize("content", SENT["contents that say yes"])
def test_of_a_content_in_parts_the_text_is_read_at_the_first_attempt(content):
    with FakeServer(lambda body: "") as server:
        sends(server, message={"role": "assistant", "content": content})
        (response,) = respondent(server, retries=1).answer(prompts("q"), CAN_YOU_ANSWER)
        assert server.n_asked == 1
    assert (response.said_yes, response.raw_text, response.error) == (True, "Yes", "")


@needs_inspect
@pytest.mark.parametrize("content", SENT["contents that are none"])
def test_a_content_off_the_protocol_is_a_failed_request(content):
    with FakeServer(lambda body: "") as server:
        sends(server, message={"role": "assistant", "content": content})
        (response,) = respondent(server).answer(prompts("q"), CAN_YOU_ANSWER)
    assert (response.said_yes, "parts that are no text" in response.error) == (None, True)


@needs_inspect
@pytest.mark.parametrize(("choice", "why"), SENT["empty"])
def test_an_empty_answer_says_why_it_is_empty_and_is_no_failure(choice, why):
    with FakeServer(lambda body: "") as server:
        sends(server, **choice)
        (response,) = respondent(server, retries=1).answer(prompts("q"), CAN_YOU_ANSWER)
        assert server.n_asked == 1
    assert (response.said_yes, response.error, response.unread) == (None, "", why)


@needs_inspect
@pytest.mark.parametrize(("status", "body", "words", "n_asked"), SENT["errors"])
def test_an_error_in_place_of_an_answer_fails_in_the_servers_own_words(status, body, words, n_asked, monkeypatch):
    monkeypatch.setattr(providers, "seconds_to_wait", lambda *_: 0)
    with FakeServer(lambda asked: Fault(status, json.dumps(body))) as server:
        (response,) = respondent(server, retries=1).answer(prompts("q"), CAN_YOU_ANSWER)
        assert server.n_asked == n_asked
    assert words in response.error
    assert response.said_yes is None


@needs_inspect
@pytest.mark.parametrize(("reason", "error"), SENT["errors in a choice"])
@pytest.mark.parametrize("text", ["", "Yes, since"])
def test_an_error_inside_a_choice_is_a_failure(text, reason, error, monkeypatch):
    """An error inside a choice is a failure and tried again whatever was written."""
    monkeypatch.setattr(providers, "seconds_to_wait", lambda *_: 0)
    with FakeServer(lambda body: text) as server:
        sends(server, finish_reason=reason, **({} if error is None else {"error": error}))
        (response,) = respondent(server, retries=1).answer(prompts("q"), CAN_YOU_ANSWER)
        assert server.n_asked == 2
    assert (error or {"message": "without a reason"})["message"] in response.error


@needs_inspect
def test_extra_fields_and_the_number_of_top_logprobs_are_sent_as_given():
    with FakeServer(lambda body: "Yes") as server:
        asked = respondent(server, extra={"enable_thinking": False, "chat_template_kwargs": {"a": 1}}, top_logprobs=5)
        list(asked.answer(prompts("q"), CAN_YOU_ANSWER))
        (body,) = server.asked
    assert (body["enable_thinking"], body["chat_template_kwargs"], body["top_logprobs"]) == (False, {"a": 1}, 5)


# ---- how texts are asked for -----------------------------------------------------------------------------------------


@needs_inspect
@pytest.mark.parametrize(
    ("instrument", "answer", "answer_text"),
    [
        (LIST.made, ["sea", "salt", "wave", "blue", "deep"], "sea, salt, wave, blue, deep"),
        (RANKING, ["Q2", "Q1", "Q4", "Q3"], "Q2, Q1, Q4, Q3"),
        (ALL_AT_ONCE, [{"statement": "A", "rating": 3}, {"statement": "B", "rating": 1}], "A: 3\nB: 1"),
        (GUESS, [{"guess": "Paris", "percent": 70}, {"guess": "Rome", "percent": 5.5}], "1. Paris: 70%\n2. Rome: 5.5%"),
        (STEPS, ["It lies in Africa.", "So it is hot."], "Step 1: It lies in Africa.\nStep 2: So it is hot."),
    ],
)
def test_a_server_that_knows_schemas_is_held_to_one(instrument, answer, answer_text):
    """The raw reply is kept, the field is read, and its schema was sent."""
    written = json.dumps({"answer": answer})
    slots = dict.fromkeys(instrument.template.slots, "x")
    with FakeServer(lambda body: written) as server:
        (response,) = respondent(server, replies="schema").answer([instrument.prompt(**slots)], instrument)
        (body,) = server.asked
    schema = body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["answer"]["type"] == "array"
    assert schema["required"] == ["answer"]
    assert (response.raw_text, instrument.said(response.raw_text)) == (written, answer_text)


@needs_inspect
def test_a_reasoned_reply_to_a_schema_is_read_from_its_field():
    written = '{"reasoning": "Answer: No, or rather not.", "answer": "Yes"}'
    with FakeServer(lambda body: written) as server:
        (response,) = respondent(server, replies="schema").answer(prompts("q", instrument=REASONED), REASONED)
    assert (response.said_yes, response.raw_text) == (True, written)


@needs_inspect
@pytest.mark.parametrize(
    ("settings", "reply", "value", "is_line"),
    [
        ({"logprobs": False}, "One of two, so 50%, or rather more.\nAnswer: 62", 0.645, True),
        ({"logprobs": False, "replies": "schema"}, '{"answer": 62}', 0.645, False),
        ({"logprobs": False, "replies": "free"}, "62%", 0.645, False),
        ({"replies": "schema"}, "62", 0.645, False),
    ],
)
def test_a_percentage_is_asked_for_on_a_line_unless_its_tokens_are_shown(settings, reply, value, is_line):
    with FakeServer(lambda body: reply) as server:
        asked = prompts("q", instrument=CONFIDENCE_IN_NUMBERS)
        (response,) = respondent(server, **settings).answer(asked, CONFIDENCE_IN_NUMBERS)
        (body,) = server.asked
    assert response.value == pytest.approx(value)
    assert ("Answer:" in body["messages"][-1]["content"]) == is_line
    assert ("response_format" in body) == (settings == {"logprobs": False, "replies": "schema"})


@pytest.mark.parametrize("text", ['{"answer": "sea, salt"}', '{"answer": [1, 2]}', '{"words": ["sea"]}', "sea, salt"])
def test_a_reply_that_is_none_to_the_schema_is_left_as_it_stands(text):
    assert LIST.made.said(text) == text


def test_an_answer_to_a_schema_is_kept_apart_from_one_in_free_words():
    """What was asked before there were forms is found again."""
    shown, free = ([CLOSED_BOOK.prompt("q")], CLOSED_BOOK)
    keys = [
        Ask("m", ProviderModel("m", "openai", replies=replies), shown, free, whom="w").keys
        for replies in ("line", "free", "schema")
    ]
    before = sha256_of_text(f"{prompt_key(shown[0], free)}\x1fw")
    assert [key[0][3] == before for key in keys] == [True, True, False]
