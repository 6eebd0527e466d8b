"""OpenAI's protocol before a dial: chat completions, completions, log-probabilities, streaming.

The setting is part of the model's name in a request (`NAME@0.2`; `NAME` is the unsteered model), so that one server
answers lm-eval, Inspect, promptfoo or a browser at every setting. A request that asks for what is not had here is
refused in one sentence (status 400), and nothing that changes a text is left out in silence.
"""

import asyncio
import hmac
import itertools
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from fastapi import Depends, FastAPI, Header, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, model_validator
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.types import Receive, Scope, Send

from onedial.core.errors import InputError
from onedial.models.writing import ScoredToken
from onedial.serving.dial import Dial
from onedial.serving.engine_queue import queue_of
from onedial.serving.requests import MOST_TOP, RequestQueue, Ticket, Written
from onedial.serving.requests import Request as Asked

SECONDS_TO_NOTICE = 0.2
"""After which a client that has left is noticed."""
MOST_CHOICES = 128
PAGES = r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?"
"""Whose scripts a browser lets ask: those that this machine serves."""
WITHOUT_EFFECT = {"metadata", "service_tier", "store", "user"}
"""Fields that change no text."""
NEUTRAL: Mapping[str, Any] = {
    "best_of": 1, "frequency_penalty": 0, "logit_bias": {}, "parallel_tool_calls": True, "presence_penalty": 0,
    "response_format": {"type": "text"}, "suffix": "", "tool_choice": "none", "tools": [], "top_p": 1,
}  # fmt: skip
"""Fields of the protocol that are not had here, and the values at which that makes no difference."""


class _Body(BaseModel):
    model_config = ConfigDict(extra="allow")

    model: str
    max_tokens: int | None = Field(None, ge=0)
    temperature: float = Field(1.0, ge=0, allow_inf_nan=False)
    seed: int | None = Field(None, ge=0, lt=1 << 62)
    stop: str | list[str] | None = None
    n: int = Field(1, ge=1, le=MOST_CHOICES)
    stream: bool = False
    stream_options: Mapping[str, Any] = {}
    logprobs: bool | int | None = None

    @model_validator(mode="before")
    @classmethod
    def without_nulls(cls, given: Any) -> Any:
        """Leave out what is null, as if it were not given."""
        if not isinstance(given, dict):
            raise InputError("no JSON object came; send one, with the header `Content-Type: application/json`")
        try:
            json.dumps(given, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise InputError("a text holds half of a character (a lone surrogate); send whole ones") from error
        return {name: value for name, value in given.items() if value is not None}

    def refuse_what_is_not_had(self) -> None:
        """Raise InputError for a field that would change the text and is not had here."""
        for name, value in (self.model_extra or {}).items():
            if name not in WITHOUT_EFFECT and (name not in NEUTRAL or value != NEUTRAL[name]):
                raise InputError(f"the field {name!r} is not had here; leave it out")
        if self.stream and (self.n > 1 or self.logprobs not in (None, False)):
            raise InputError("several choices, or log-probabilities, cannot be streamed; ask without stream")

    @property
    def stops(self) -> tuple[str, ...]:
        """What ends the text."""
        return tuple(filter(None, [self.stop] if isinstance(self.stop, str) else self.stop or ()))


class ChatBody(_Body):
    """A chat completion's request."""

    messages: list[dict[str, Any]] = Field(min_length=1)
    max_tokens: int | None = Field(None, ge=1)
    max_completion_tokens: int | None = Field(None, ge=1)
    logprobs: bool = False
    top_logprobs: int | None = Field(None, ge=0, le=MOST_TOP)


class TextBody(_Body):
    """A completion's request."""

    prompt: Any
    logprobs: int | None = Field(None, ge=0, le=MOST_TOP)
    echo: bool = False


def server_of(dial: Dial, key: str | None = None) -> FastAPI:
    """Make the application.

    Args:
        dial: what is asked. key: what a request must bear (`Authorization: Bearer KEY`), if anything.
    """
    queue, numbers = queue_of(dial), itertools.count()

    @asynccontextmanager
    async def alive(_: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(queue.close)

    def may_ask(authorization: str = Header("")) -> None:
        if key is not None and not hmac.compare_digest(authorization.encode(), f"Bearer {key}".encode()):
            raise HTTPException(401, "a key is needed here; send it as `Authorization: Bearer KEY`")

    app = FastAPI(title="onedial", lifespan=alive, dependencies=[Depends(may_ask)], openapi_url=None)
    app.add_middleware(CORSMiddleware, allow_origin_regex=PAGES, allow_methods=["*"], allow_headers=["*"])

    @app.exception_handler(InputError)
    async def refused(_: Request, error: InputError) -> JSONResponse:
        return _error(400, str(error))

    @app.exception_handler(HTTPException)
    async def not_allowed(_: Request, error: HTTPException) -> JSONResponse:
        return _error(error.status_code, str(error.detail))

    @app.exception_handler(Exception)
    async def failed(_: Request, error: Exception) -> JSONResponse:
        return _error(500, _failure(error))

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(part for part in first["loc"][1:] if isinstance(part, str))
        return _error(400, f"{place or 'the body'}: {first['msg'].lower().removeprefix('value error, ')}")

    @app.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/v1/models")
    async def models() -> dict[str, Any]:
        return {"object": "list", "data": [{"id": dial.name, "object": "model", "owned_by": "onedial", **_told(dial)}]}

    def asked(body: _Body, ids: Sequence[int], most: int | None, **more: Any) -> list[Asked]:
        """Make one request for each choice."""
        n_new = queue.room_after(ids) if most is None else most
        one = Asked(ids, dial.magnitude_in(body.model), n_new, body.stops, body.temperature, **more)
        return one.choices(body.n, body.seed)

    @app.post("/v1/chat/completions", response_model=None)
    async def chat(body: ChatBody, http: Request) -> Any:
        body.refuse_what_is_not_had()
        (ids,) = dial.model.token_ids([[_message(each) for each in body.messages]])
        n_top = (body.top_logprobs or 0) if body.logprobs else None
        requests = asked(body, ids, body.max_completion_tokens or body.max_tokens, n_top=n_top)
        about = {"id": f"chatcmpl-{next(numbers)}", "created": int(time.time()), "model": body.model}
        if body.stream:
            return _streamed(queue, requests[0], about, body)
        answers = await answers_to(queue, requests, http)
        choices = [
            {
                "index": index,
                "message": {"role": "assistant", "content": each.text},
                "finish_reason": "stop" if each.finished else "length",
                "logprobs": {"content": [_chat_token(dial, one) for one in each.tokens]} if body.logprobs else None,
            }
            for index, each in enumerate(answers)
        ]
        return {**about, "object": "chat.completion", "choices": choices, "usage": _usage([ids], answers)}

    @app.post("/v1/completions", response_model=None)
    async def text(body: TextBody, http: Request) -> Any:
        body.refuse_what_is_not_had()
        prompts = _sequences(dial, body.prompt)
        most = 16 if body.max_tokens is None else body.max_tokens
        if not most and not body.echo:
            raise InputError("max_tokens is 0, and echo was not asked for: nothing would come back; ask for 1 or more")
        with_scores = body.echo and body.logprobs is not None
        requests = [one for ids in prompts for one in asked(body, ids, most, n_top=body.logprobs, echo=with_scores)]
        about = {"id": f"cmpl-{next(numbers)}", "created": int(time.time()), "model": body.model}
        if body.stream:
            if len(requests) > 1 or body.echo:
                raise InputError("several prompts, or an echo, cannot be streamed; ask without stream")
            return _streamed(queue, requests[0], about, body)
        answers = await answers_to(queue, requests, http)
        choices = [
            {
                "index": index,
                "text": (dial.model.tokenizer.decode(one.token_ids) if body.echo else "") + each.text,
                "finish_reason": "stop" if each.finished else "length",
                "logprobs": None if body.logprobs is None else _text_tokens(dial, [*each.prompt_tokens, *each.tokens]),
            }
            for index, (one, each) in enumerate(zip(requests, answers, strict=True))
        ]
        return {**about, "object": "text_completion", "choices": choices, "usage": _usage(prompts, answers)}

    return app


# ---- waiting for answers ---------------------------------------------------------------------------------------------


async def answers_to(queue: RequestQueue, requests: Sequence[Asked], http: Request) -> list[Written]:
    """Wait for all answers; where the client leaves before, its places are freed."""
    tickets: list[Ticket] = []
    try:
        for each in requests:
            tickets.append(queue.ask(each))
        answers = asyncio.gather(*(asyncio.wrap_future(each.answer) for each in tickets), return_exceptions=True)
        while not (await asyncio.wait([answers], timeout=SECONDS_TO_NOTICE))[0]:
            if await http.is_disconnected():
                raise HTTPException(499, "the client has left")
        return [ticket.answer.result() for ticket in tickets]
    except asyncio.CancelledError:
        raise HTTPException(503, "the server is ending") from None
    finally:
        for ticket in tickets:
            ticket.leave()


class TicketedStream(StreamingResponse):
    """Its ticket leaves with its client, even with one that is gone before the first event."""

    def __init__(self, events: AsyncIterator[str], ticket: Ticket) -> None:
        super().__init__(events, media_type="text/event-stream")
        self._ticket = ticket

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._ticket.leave()


def _streamed(queue: RequestQueue, request: Asked, about: Mapping[str, Any], body: _Body) -> StreamingResponse:
    """Send the text as it comes, as server-sent events."""
    loop, texts, is_chat = asyncio.get_running_loop(), asyncio.Queue[str | None](), isinstance(body, ChatBody)

    def tell(text: str | None) -> None:
        loop.call_soon_threadsafe(texts.put_nowait, text)

    ticket = queue.ask(replace(request, on_text=tell))
    ticket.answer.add_done_callback(lambda _: tell(None))

    def event(**more: Any) -> str:
        kind = "chat.completion.chunk" if is_chat else "text_completion"
        return f"data: {json.dumps({**about, 'object': kind, **more})}\n\n"

    def choice(piece: str, finished: str | None = None) -> dict[str, Any]:
        part = {"delta": {"role": "assistant", "content": piece}} if is_chat else {"text": piece}
        return {"index": 0, **part, "finish_reason": finished}

    async def events() -> AsyncIterator[str]:
        sent = ""
        while (so_far := await texts.get()) is not None:
            ready = so_far.rstrip("�")  # a letter of which some bytes are still to come
            for each in request.stop:  # what may be the beginning of a stop is held back
                n_held = next((n for n in range(len(each), 0, -1) if ready.endswith(each[:n])), 0)
                ready = ready[: len(ready) - n_held]
            if len(ready) > len(sent) and ready.startswith(sent):
                yield event(choices=[choice(ready[len(sent) :])])
                sent = ready
        try:
            answer = ticket.answer.result()
        except Exception as error:
            yield f"data: {json.dumps(_fault(500, _failure(error)))}\n\n"
            return
        yield event(choices=[choice(answer.text[len(sent) :], "stop" if answer.finished else "length")])
        if body.stream_options.get("include_usage"):
            yield event(choices=[], usage=_usage([request.token_ids], [answer]))
        yield "data: [DONE]\n\n"

    return TicketedStream(events(), ticket)


# ---- between the protocol and the model ------------------------------------------------------------------------------


def _error(status: int, message: str) -> JSONResponse:
    return JSONResponse(_fault(status, message), status)


def _fault(status: int, message: str) -> dict[str, Any]:
    kind = "invalid_request_error" if status < 500 else "server_error"
    return {"error": {"message": message, "type": kind, "code": status}}


def _failure(error: Exception) -> str:
    """Say what a client is told of an error, whose own words may hold paths of this machine."""
    return str(error) if isinstance(error, InputError) else f"the request failed ({type(error).__name__})"


def _told(dial: Dial) -> dict[str, Any]:
    return {name: value for name, value in dial.description.items() if name != "model"}


def _message(message: Mapping[str, Any]) -> dict[str, str]:
    """Read a message of a chat, its text in one piece.

    Raises:
        InputError: it has no role or text, or holds what is no text.
    """
    role, content = message.get("role"), message.get("content")
    if isinstance(content, list) and all(isinstance(part, dict) and part.get("type") == "text" for part in content):
        content = "".join(str(part.get("text", "")) for part in content)
    if not isinstance(role, str) or not isinstance(content, str) or message.get("tool_calls"):
        raise InputError("each message needs a role and a text as its content; images and tools are not read here")
    return {"role": role, "content": content}


def _sequences(dial: Dial, prompt: Any) -> list[list[int]]:
    """Make token ids of each prompt, of a text without the chat template."""
    many = prompt if isinstance(prompt, list) and prompt and not isinstance(prompt[0], int) else [prompt]
    if not all(isinstance(each, str) or (isinstance(each, list) and {type(t) for t in each} <= {int}) for each in many):
        raise InputError("the prompt is no text; send a text, a list of tokens, or a list of either")
    sequences = [list(dial.model.tokenizer(each).input_ids) if isinstance(each, str) else list(each) for each in many]
    if not all(sequences):
        raise InputError("the prompt is empty; give a text")
    if any(not 0 <= token < dial.model.n_embedded for ids in sequences for token in ids):
        raise InputError(f"a token is none of the model's; its tokens are 0 to {dial.model.n_embedded - 1}")
    return sequences


def _usage(prompts: Sequence[Sequence[int]], answers: Sequence[Written]) -> dict[str, int]:
    n_in, n_out = sum(map(len, prompts)), sum(each.n_tokens for each in answers)
    return {"prompt_tokens": n_in, "completion_tokens": n_out, "total_tokens": n_in + n_out}


def _chat_token(dial: Dial, scored: ScoredToken) -> dict[str, Any]:
    def told(token: int, log_p: float) -> dict[str, Any]:
        text = dial.model.tokenizer.decode([token])
        return {"token": text, "logprob": log_p, "bytes": list(text.encode())}

    return told(scored.token, scored.log_p) | {"top_logprobs": [told(*each) for each in scored.likeliest]}


def _text_tokens(dial: Dial, scored: Sequence[ScoredToken]) -> dict[str, Any]:
    """List tokens and log-probabilities; of a prompt's first token it is null, since nothing stands before it."""
    decode = dial.model.tokenizer.decode
    texts = [decode([each.token]) for each in scored]
    known = [each.log_p == each.log_p for each in scored]
    top = [{decode([token]): log_p for token, log_p in reversed(each.likeliest)} for each in scored]
    return {
        "tokens": texts,
        "token_logprobs": [each.log_p if there else None for each, there in zip(scored, known, strict=True)],
        "top_logprobs": [each if there else None for each, there in zip(top, known, strict=True)],
        "text_offset": [0, *itertools.accumulate(map(len, texts))][: len(texts)],
    }
