"""A served setting is the model at that setting, text by text and number by number, whoever asks and beside whom."""

import asyncio
import gc
import json
import math
import threading
import time
from dataclasses import replace

import pytest
import torch
from fake_vllm import FakeVllm
from fastapi.testclient import TestClient
from starlette.exceptions import HTTPException
from tiny_models import tiny_model, vectors_at

from onedial.core.errors import InputError
from onedial.serving.dial import Dial
from onedial.serving.engine_queue import queue_of
from onedial.serving.openai_server import TicketedStream, answers_to, server_of
from onedial.serving.requests import Request, RequestQueue, Ticket, Written, until
from steering.engines.writer import EngineError, Vllm
from steering.interventions import Intervention

SETTINGS = (0.0, 1.5, -2.0)
CHATS = [f"Question {number}: what is {number} times {number}?" for number in range(4)]


@pytest.fixture(scope="module", params=["transformers", "vLLM"])
def dial(request):
    """Of a model that writes by itself, or by what answers as vLLM does."""
    model = tiny_model("llama")
    if request.param == "vLLM":
        model.writer = Vllm(model, FakeVllm(tiny_model("llama"), max_tokens=512))
    return Dial(model, "tiny", Intervention.of(*vectors_at(model, [2]), positions="all"))


@pytest.fixture(scope="module")
def client(dial):
    with TestClient(server_of(dial)) as client:
        yield client


def written(dial, chat, magnitude, n=12):
    push = dial.intervention * magnitude if magnitude else None
    return tiny_model("llama").generate(chat, push, max_new_tokens=n)


def chat_body(chat, magnitude=0.0, **more):
    name = f"tiny@{magnitude}" if magnitude else "tiny"
    return {"model": name, "messages": [{"role": "user", "content": chat}], "temperature": 0, "max_tokens": 12, **more}


def answer_to(client, **body):
    response = client.post("/v1/chat/completions", json=chat_body(**body))
    assert response.status_code == 200, response.text
    return response.json()["choices"][0]


def test_mixed_settings_are_each_what_they_are_alone(dial, client):
    wanted = {(chat, magnitude): written(dial, chat, magnitude) for chat in CHATS for magnitude in SETTINGS}
    assert len(set(wanted.values())) > len(CHATS)
    texts = {}

    def ask(chat, magnitude):
        texts[chat, magnitude] = answer_to(client, chat=chat, magnitude=magnitude)["message"]["content"]

    threads = [threading.Thread(target=ask, args=each) for each in wanted]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert texts == wanted


def test_a_stream_ends_with_the_same_text(dial, client):
    with client.stream("POST", "/v1/chat/completions", json=chat_body(CHATS[0], 1.5, stream=True)) as response:
        lines = [line.removeprefix("data: ") for line in response.iter_lines() if line]
    assert lines[-1] == "[DONE]"
    pieces = [json.loads(line)["choices"][0] for line in lines[:-1]]
    assert "".join(piece["delta"]["content"] for piece in pieces) == written(dial, CHATS[0], 1.5)
    assert [piece["finish_reason"] for piece in pieces[:-1]] == [None] * (len(pieces) - 1)


STREAMS = {
    "bytes come one by one, each read as a letter of its own": (["a", "a�", "a��", "a€", "a€ b"], (), "a€ b"),
    "a stop comes in pieces": (["one", "one\n", "one\n\n"], ("\n\n",), "one"),
    "what began as a stop was none": (["one", "one\n", "one\ntwo"], ("\n\n",), "one\ntwo"),
    "one stop begins within another": (["xab", "xabz"], ("bc", "abz"), "x"),
    "nothing is left before the stop": (["#", "##"], ("##",), ""),
}


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_takes_nothing_back(name, dial, monkeypatch):
    texts, stops, whole = STREAMS[name]

    def ask(_, request):
        ticket = Ticket(request)
        for text in texts:
            request.on_text(until(text, request.stop))
        ticket.answer.set_result(Written(whole, len(texts), True))
        return ticket

    monkeypatch.setattr(RequestQueue, "ask", ask)
    with TestClient(server_of(dial)) as client:
        body = chat_body(CHATS[0], stream=True, stop=list(stops), stream_options={"include_usage": True})
        events = client.post("/v1/chat/completions", json=body).text.split("\n\n")
    *pieces, usage = [json.loads(event.removeprefix("data: ")) for event in events if event.startswith("data: {")]
    assert "".join(piece["choices"][0]["delta"]["content"] for piece in pieces) == whole
    assert usage["usage"]["completion_tokens"] == len(texts)


def test_a_stream_that_fails_says_so(dial, monkeypatch):
    monkeypatch.setattr("onedial.serving.requests.generate", lambda *_, **__: 1 / 0)
    monkeypatch.setattr(FakeVllm, "put", lambda *_, **__: 1 / 0)
    with TestClient(server_of(dial)) as client:
        events = client.post("/v1/chat/completions", json=chat_body(CHATS[0], stream=True)).text
    assert json.loads(events.removeprefix("data: "))["error"]["code"] == 500


@pytest.mark.parametrize("gone", [True, False])
def test_a_request_that_ends_early_leaves_no_noise(gone, caplog):
    """Neither where its client has left, nor where one of its choices fails."""
    tickets = []

    class Queue:
        def ask(self, request):
            tickets.append(Ticket(request))
            if not gone:
                tickets[-1].answer.set_exception(ZeroDivisionError())
            return tickets[-1]

    class Http:
        async def is_disconnected(self):
            return True

    with pytest.raises(HTTPException if gone else ZeroDivisionError):
        asyncio.run(answers_to(Queue(), [Request([1])] * 2, Http()))
    gc.collect()
    assert [each.answer.cancelled() for each in tickets] == [gone] * 2
    assert not caplog.records


def test_a_ticket_leaves_with_a_client_that_never_listened():
    ticket = Ticket(Request([1]))

    async def send(_):
        raise OSError

    async def nothing():
        yield ""

    stream = TicketedStream(nothing(), ticket)
    with pytest.raises((OSError, ExceptionGroup)):
        asyncio.run(stream({"type": "http", "asgi": {"spec_version": "2.3"}}, asyncio.Event().wait, send))
    assert ticket.answer.cancelled()


def test_a_text_ends_before_its_stop(dial, client):
    whole = written(dial, CHATS[1], 0.0)
    stop = whole[4:6]
    choice = answer_to(client, chat=CHATS[1], stop=[stop])
    assert choice["message"]["content"] == whole[: whole.index(stop)]
    assert choice["finish_reason"] == "stop"


def test_draws_are_their_seeds(client):
    first, again, other = (
        answer_to(client, chat=CHATS[0], temperature=1.0, seed=seed)["message"]["content"] for seed in (7, 7, 8)
    )
    assert first == again != other


def test_choices_share_no_draws_with_seeds_nearby(client):
    """The first is the seed's own, the next not that of the next seed."""
    several = client.post("/v1/chat/completions", json=chat_body(CHATS[0], temperature=1.0, seed=7, n=3)).json()
    texts = [each["message"]["content"] for each in several["choices"]]
    alone = [answer_to(client, chat=CHATS[0], temperature=1.0, seed=seed)["message"]["content"] for seed in (7, 8, 9)]
    assert texts[0] == alone[0]
    assert len({*texts, *alone}) == 5


def test_requests_that_name_no_length_share_a_batch(dial):
    queue = queue_of(dial)
    kinds = {Request([5] * n, max_tokens=queue.room_after([5] * n, wanted=100)).kind for n in (3, 30)}
    assert len(kinds) == 1
    assert queue.room_after([5] * 500) == 12
    queue.close()


@pytest.mark.parametrize("magnitude", [0.0, 1.5])
def test_log_probabilities_are_those_of_a_plain_forward(dial, magnitude, client):
    (ids,) = dial.model.token_ids([CHATS[0]])
    body = {"model": f"tiny@{magnitude}", "prompt": ids, "max_tokens": 3, "logprobs": 2, "echo": True, "temperature": 0}
    logprobs = client.post("/v1/completions", json=body).json()["choices"][0]["logprobs"]
    whole = torch.tensor([[*ids, *_tokens(dial, ids, magnitude)]])
    push = dial.intervention * magnitude
    with torch.inference_mode(), push.steer(dial.model):
        log_p = dial.model.hf(input_ids=whole, use_cache=False).logits[0, :-1].log_softmax(-1)
    wanted = log_p.gather(1, whole[0, 1:, None])[:, 0].tolist()
    assert logprobs["token_logprobs"][0] is None
    assert logprobs["token_logprobs"][1:] == pytest.approx(wanted, abs=1e-4)
    assert max(logprobs["top_logprobs"][-1].values()) == pytest.approx(float(log_p[-1].max()), abs=1e-4)


def _tokens(dial, ids, magnitude, n=3):
    queue = queue_of(dial)
    try:
        answer = queue.ask(Request(ids, magnitude, n, n_top=0)).answer.result(timeout=60)
    finally:
        queue.close()
    return [each.token for each in answer.tokens]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": "tiny@much"}, "must be a number"),
        ({"model": "other"}, "not served here"),
        ({"model": "tinyer@1"}, "not served here"),
        ({"model": "tiny@nan"}, "finite"),
        ({"tools": [{"type": "function"}]}, "'tools'"),
        ({"top_p": 0.5}, "'top_p'"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "images"),
        ({"max_tokens": 10**6}, "at most"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"model": "tiny@1e300"}, "finite"),
        ({"n": 2, "stream": True}, "cannot be streamed"),
        ({"logprobs": True, "stream": True}, "cannot be streamed"),
    ],
)
def test_a_bad_request_is_one_sentence(client, changes, words):
    response = client.post("/v1/chat/completions", json=chat_body(CHATS[0]) | changes)
    assert response.status_code == 400
    assert words in response.json()["error"]["message"]
    assert "/" not in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("prompt", "words"), [("", "empty"), ([10**6], "none of the model's"), ([1.5], "no text"), (None, "field required")]
)
def test_a_prompt_is_a_text_or_tokens_of_the_model(client, prompt, words):
    response = client.post("/v1/completions", json={"model": "tiny", "prompt": prompt})
    assert response.status_code == 400
    assert words in response.json()["error"]["message"]


@pytest.mark.parametrize("body", [b"{abc", b"[1]", b"", rb'{"model": "tiny", "prompt": "half \ud800"}'])
def test_a_body_that_cannot_be_read_is_one_sentence(client, body):
    response = client.post("/v1/completions", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 400
    assert response.json()["error"]["message"].startswith("the body")


def test_what_is_not_there_is_said_as_the_protocol_says_it(client):
    assert client.get("/v1/embeddings").json()["error"]["code"] == 404


def test_nulls_and_an_empty_stop_change_nothing(dial, client):
    choice = answer_to(client, chat=CHATS[0], stop="", n=None, tools=None, logprobs=None, seed=None)
    assert choice["message"]["content"] == written(dial, CHATS[0], 0.0)


def test_only_pages_of_this_machine_may_ask_from_a_browser(client):
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"}
    codes = [
        client.options("/v1/chat/completions", headers={"Origin": origin, **asked}).status_code
        for origin in ("http://localhost:3000", "http://localhost.example.org", "https://example.org")
    ]
    assert codes == [200, 400, 400]


def test_a_given_text_is_scored_where_the_push_acts_everywhere(dial):
    last = Dial(dial.model, "tiny", replace(dial.intervention, positions="last"))
    body = {"prompt": "one two", "max_tokens": 1, "logprobs": 1, "echo": True}
    with TestClient(server_of(last)) as client:
        refused = client.post("/v1/completions", json=body | {"model": "tiny@1"})
        assert refused.status_code == 400
        assert "all positions" in refused.json()["error"]["message"]
        assert client.post("/v1/completions", json=body | {"model": "tiny"}).status_code == 200


def test_a_key_is_needed_where_one_is_given(dial):
    with TestClient(server_of(dial, key="secret")) as client:
        assert client.get("/v1/models").status_code == 401
        assert client.get("/v1/models", headers={"Authorization": "Bearer other"}).status_code == 401
        listed = client.get("/v1/models", headers={"Authorization": "Bearer secret"}).json()
    assert [each["id"] for each in listed["data"]] == ["tiny"]


def test_a_client_that_leaves_frees_its_place(dial):
    queue = queue_of(dial)
    (ids,) = dial.model.token_ids([CHATS[0]])
    begun, texts = threading.Event(), []

    def hear(text):
        texts.append(text)
        begun.set()

    long = queue.ask(Request(ids, max_tokens=400, on_text=hear))
    waiting = queue.ask(Request(ids, max_tokens=400))
    assert begun.wait(60)
    waiting.leave()
    long.leave()
    answer = queue.ask(Request(ids, max_tokens=2)).answer.result(timeout=60)
    queue.close()
    assert answer.n_tokens == 2
    assert len(texts) < 400
    assert waiting.answer.cancelled() or waiting.answer.result(timeout=60).n_tokens < 400


def test_a_batch_ends_once_nobody_waits_for_it(dial):
    queue = queue_of(dial)
    (ids,) = dial.model.token_ids([CHATS[0]])
    long = [queue.ask(Request(ids, max_tokens=300)) for _ in range(3)]
    begun = time.monotonic()
    while not all(each.answer.running() for each in long):
        assert time.monotonic() < begun + 60
        time.sleep(0.01)
    for each in long:
        each.leave()
    assert [each.answer.result(timeout=60).n_tokens < 300 for each in long] == [True] * 3
    queue.close()


def test_what_fails_reaches_its_client_alone(dial, monkeypatch):
    queue = queue_of(dial)
    (ids,) = dial.model.token_ids([CHATS[0]])
    with monkeypatch.context() as broken:
        broken.setattr("onedial.serving.requests.generate", lambda *_, **__: 1 / 0)
        broken.setattr(FakeVllm, "put", lambda *_, **__: 1 / 0)
        with pytest.raises((ZeroDivisionError, RuntimeError)):
            queue.ask(Request(ids, max_tokens=2)).answer.result(timeout=60)
    assert queue.ask(Request(ids, max_tokens=2)).answer.result(timeout=60).n_tokens == 2
    queue.close()


@pytest.mark.parametrize("dial", ["vLLM"], indirect=True)
def test_what_vllm_says_of_itself_is_no_clients_business(dial, monkeypatch):
    """Nor does a failed proof end the thread that writes."""

    def prove(*_):
        raise EngineError("vLLM failed (OSError: /home/somebody/model)")

    with TestClient(server_of(dial), raise_server_exceptions=False) as client:
        with monkeypatch.context() as broken:
            broken.setattr(Vllm, "prove", prove)
            failed = client.post("/v1/chat/completions", json=chat_body(CHATS[0], 1.5))
        assert (failed.status_code, "home" in failed.text) == (500, False)
        assert answer_to(client, chat=CHATS[0], magnitude=1.5)


@pytest.mark.parametrize("magnitude", [math.inf, math.nan])
def test_a_setting_is_finite(dial, magnitude):
    with pytest.raises(InputError, match="finite"):
        dial.push(magnitude)
