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

from fastapi import Depends, FastAPI, Header, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from onedial.core.errors import InputError
from onedial.models.writing import ScoredToken
from onedial.serving.dial import Dial
from onedial.serving.engine_queue import queue_of
from onedial.serving.requests import Request as Asked
from onedial.serving.requests import RequestQueue, Ticket, Written

SECONDS_TO_NOTICE = 0.2
"""After which a client that has left is noticed."""
MOST_CHOICES, MOST_TOP = 128, 20
WITHOUT_EFFECT = {"metadata", "service_tier", "store", "stream_options", "user"}
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

    def refuse_what_is_not_had(self) -> None:
        """Raise InputError for a field that would change the text and is not had here."""
        for name, value in (self.model_extra or {}).items():
            if name in WITHOUT_EFFECT or value is None or (name in NEUTRAL and value == NEUTRAL[name]):
                continue
            raise InputError(f"the field {name!r} is not had here; leave it out")
        if self.stream and self.n > 1:
            raise InputError("several choices cannot be streamed; ask for n = 1, or without stream")

    @property
    def stops(self) -> tuple[str, ...]:
        """What ends the text."""
        return (self.stop,) if isinstance(self.stop, str) else tuple(filter(None, self.stop or ()))


class ChatBody(_Body):
    """A chat completion's request."""

    messages: list[dict[str, Any]] = Field(min_length=1)
    max_completion_tokens: int | None = Field(None, ge=1)
    logprobs: bool = False
    top_logprobs: int | None = Field(None, ge=0, le=MOST_TOP)


class TextBody(_Body):
    """A completion's request."""

    prompt: str | list[str] | list[int] | list[list[int]]
    logprobs: int | None = Field(None, ge=0, le=MOST_TOP)
    echo: bool = False


def server_of(dial: Dial, key: str | None = None) -> FastAPI:
    """The application.

    Args:
        dial: what is asked. key: what a request must bear (`Authorization: Bearer KEY`), if anything.
    """
    queue, seeds = queue_of(dial), itertools.count()

    @asynccontextmanager
    async def alive(_: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(queue.close)

    def may_ask(authorization: str = Header("")) -> None:
        if key is not None and not hmac.compare_digest(authorization.encode(), f"Bearer {key}".encode()):
            raise HTTPException(401, "a key is needed here; send it as `Authorization: Bearer KEY`")

    app = FastAPI(title="onedial", lifespan=alive, dependencies=[Depends(may_ask)], openapi_url=None)

    @app.exception_handler(InputError)
    async def refused(_: Request, error: InputError) -> JSONResponse:
        return _error(400, str(error))

    @app.exception_handler(HTTPException)
    async def not_allowed(_: Request, error: HTTPException) -> JSONResponse:
        return _error(error.status_code, str(error.detail))

    @app.exception_handler(Exception)
    async def failed(_: Request, error: Exception) -> JSONResponse:
        return _error(500, f"the request failed ({type(error).__name__})")

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "body")
        return _error(400, f"{place or 'the body'}: {first['msg'].lower()}")

    @app.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/v1/models")
    async def models() -> dict[str, Any]:
        return {"object": "list", "data": [{"id": dial.name, "object": "model", "owned_by": "onedial", **_told(dial)}]}

    def asked(body: _Body, ids: Sequence[int], most: int | None, **more: Any) -> list[Asked]:
        """One request for each choice."""
        seed = itertools.count(body.seed) if body.seed is not None else seeds
        room = (dial.model.max_tokens or 1 << 20) - len(ids)
        n_new = max(1, room) if most is None else most
        magnitude = dial.magnitude_in(body.model)
        one = Asked(ids, magnitude, n_new, body.stops, body.temperature, **more)
        return [replace(one, seed=next(seed)) for _ in range(body.n)]

    @app.post("/v1/chat/completions", response_model=None)
    async def chat(body: ChatBody, http: Request) -> Any:
        body.refuse_what_is_not_had()
        (ids,) = dial.model.token_ids([[_message(each) for each in body.messages]])
        n_top = (body.top_logprobs or 0) if body.logprobs else None
        requests = asked(body, ids, body.max_completion_tokens or body.max_tokens, n_top=n_top)
        about = {"id": f"chatcmpl-{next(seeds)}", "created": int(time.time()), "model": body.model}
        if body.stream:
            return _streamed(queue, requests[0], about, is_chat=True)
        answers = await _answers(queue, requests, http)
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
        about = {"id": f"cmpl-{next(seeds)}", "created": int(time.time()), "model": body.model}
        if body.stream:
            if len(requests) > 1 or body.echo:
                raise InputError("several prompts, or an echo, cannot be streamed; ask without stream")
            return _streamed(queue, requests[0], about, is_chat=False)
        answers = await _answers(queue, requests, http)
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


async def _answers(queue: RequestQueue, requests: Sequence[Asked], http: Request) -> list[Written]:
    """All answers; where the client leaves before, its places are freed."""
    tickets: list[Ticket] = []
    try:
        tickets += [queue.ask(each) for each in requests]
        pending = {asyncio.wrap_future(ticket.answer) for ticket in tickets}
        while pending:
            _, pending = await asyncio.wait(pending, timeout=SECONDS_TO_NOTICE)
            if pending and await http.is_disconnected():
                raise HTTPException(499, "the client has left")
        return [ticket.answer.result() for ticket in tickets]
    finally:
        for ticket in tickets:
            if not ticket.answer.done():
                ticket.leave()


def _streamed(queue: RequestQueue, request: Asked, about: Mapping[str, Any], is_chat: bool) -> StreamingResponse:
    """The text as it comes, as server-sent events."""
    loop, texts = asyncio.get_running_loop(), asyncio.Queue[str | None]()

    def tell(text: str | None) -> None:
        loop.call_soon_threadsafe(texts.put_nowait, text)

    ticket = queue.ask(replace(request, on_text=tell))
    ticket.answer.add_done_callback(lambda _: tell(None))

    def event(piece: str, finished: str | None) -> str:
        kind = "chat.completion.chunk" if is_chat else "text_completion"
        part = {"delta": {"role": "assistant", "content": piece}} if is_chat else {"text": piece}
        choice = {"index": 0, **part, "finish_reason": finished}
        return f"data: {json.dumps({**about, 'object': kind, 'choices': [choice]})}\n\n"

    async def events() -> AsyncIterator[str]:
        sent = ""
        try:
            while (so_far := await texts.get()) is not None:
                ready = so_far.removesuffix("�")  # a letter of which some bytes are still to come
                for each in request.stop:  # what may be the beginning of a stop is held back
                    held = next((n for n in range(len(each), 0, -1) if ready.endswith(each[:n])), 0)
                    ready = ready[: len(ready) - held]
                if len(ready) > len(sent) and ready.startswith(sent):
                    yield event(ready[len(sent) :], None)
                    sent = ready
            answer = ticket.answer.result()
            yield event(answer.text[len(sent) :], "stop" if answer.finished else "length")
            yield "data: [DONE]\n\n"
        finally:
            ticket.leave()

    return StreamingResponse(events(), media_type="text/event-stream")


# ---- between the protocol and the model ------------------------------------------------------------------------------


def _error(status: int, message: str) -> JSONResponse:
    kind = "invalid_request_error" if status < 500 else "server_error"
    return JSONResponse({"error": {"message": message, "type": kind, "code": status}}, status)


def _told(dial: Dial) -> dict[str, Any]:
    return {name: value for name, value in dial.description.items() if name != "model"}


def _message(message: Mapping[str, Any]) -> dict[str, str]:
    """A message of a chat, its text in one piece.

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
    """Token ids of each prompt: of a text without the chat template."""
    many = prompt if isinstance(prompt, list) and prompt and not isinstance(prompt[0], int) else [prompt]
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
    """Of a prompt's first token the log-probability is null: nothing stands before it."""
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
