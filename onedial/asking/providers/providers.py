"""Models behind a provider or a server as respondents, by inspect_ai's providers.

inspect_ai is an optional extra (onedial[providers]), imported only where such a model is asked: its `get_model` finds
the provider, turns a conversation into a request, and a reply into an output. Attempts are made here, in one event
loop in a thread of its own: `Model.generate` makes them again where no budget can hold them back, waits no longer where
a server asks for it (Retry-After), and its record of each call costs as much as the call. Responses come as they
arrive.

What a provider is asked is a conversation: earlier turns, then the user's. The beginning of the assistant's turn
(`Prompt.assistant_prefix`) is for models on this machine and is left out.
"""

import asyncio
import functools
import importlib.util
import json
import os
import queue
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from onedial.asking.instruments import Instrument
from onedial.asking.prompts import Prompt
from onedial.asking.providers.attempts import Attempt, failed, plain_words, seconds_to_wait
from onedial.asking.providers.provider_reading import from_the_answer_on, response_of, why_unread
from onedial.asking.providers.provider_settings import ProviderModel
from onedial.asking.respondents import Identity, Response
from onedial.core.errors import InputError
from onedial.core.files import sha256_of_text
from onedial.core.notices import notice
from onedial.core.plain_values import whole_characters

_INSTALL = "python -m pip install -e '.[providers]'"
_AT_ONCE = 32
"""Requests to one model, where its file does not say."""
_WAIT = 0.05
_NO_USE = 10
"""So many failures of a respondent that has not answered once end the asking."""
_REFUSED = {401: "refused the key", 403: "refused the key", 404: "knows no such model"}
_CUT_OFF = ("max_tokens", "model_length")
"""As inspect_ai says that an answer has not come to its end."""
_INSTEAD = ("model_length", "content_filter")
"""As it says that the server has refused a prompt, whose reason it gives as if it were an answer, without usage."""
_PATIENCE = 30.0
"""Seconds in which a connection that is broken off ends."""
_SAY_EVERY = 5.0
"""Seconds between two lines on requests that wait to be tried again."""


@dataclass(eq=False)
class Request:
    """One prompt to one model. Whoever keeps what it costs is asked before every attempt and told of it, retries
    included: all three methods run in the loop that sends, one at a time, and must not take long.

    Attributes:
        place: of the prompt among those that were asked together.
    """

    respondent: "ProviderRespondent"
    prompt: Prompt
    instrument: Instrument
    place: int

    def permits(self) -> bool | None:
        """Whether an attempt may be made; False for never, None for not yet."""
        return True

    def begins(self) -> None:
        """It goes out as soon as this returns."""

    def ended(self, attempt: Attempt) -> None:
        """It has come back; a process that is killed never comes here."""


AnyRequest = TypeVar("AnyRequest", bound=Request)


class ProviderRespondent:
    """Fulfils `onedial.asking.respondents.Respondent` with a model of a provider or server.

    Args:
        settings: where it is and how it is asked.

    Raises:
        InputError: inspect_ai or the provider's own library is missing, no such provider, the key is not set.
    """

    def __init__(self, settings: ProviderModel) -> None:
        if importlib.util.find_spec("inspect_ai") is None:
            raise InputError(
                f"models of providers and servers are asked through inspect_ai; install it with `{_INSTALL}`"
            )
        self.settings, self._secrets = settings, settings.secrets()
        self._models: dict[tuple[int, bool], Any] = {}
        self._model(1, False)

    @property
    def identity(self) -> Identity:
        return self.settings.identity

    def answer(self, prompts: Sequence[Prompt], instrument: Instrument) -> Iterator[Response]:
        """One response to each prompt, as they come.

        Raises:
            InputError: the key is refused, there is no such model, or nothing at all is answered.
        """
        shown = [self.settings.prompt_for(prompt, instrument) for prompt in prompts]
        requests = [Request(self, prompt, instrument, place) for place, prompt in enumerate(shown)]
        yield from (response for _, response in answers_side_by_side(requests))

    def model_for(self, instrument: Instrument) -> Any:
        """inspect_ai's model, set up for this instrument."""
        return self._model(self.settings.room_for(instrument), self.settings.shows(instrument))

    def clean(self, text: str) -> str:
        """The text without any key, and without halves of characters, which no file can hold."""
        text = str(whole_characters(text))
        for secret in self._secrets:
            text = text.replace(secret, "[key]")
        return text

    def _model(self, max_tokens: int, logprobs: bool) -> Any:
        if (max_tokens, logprobs) not in self._models:
            self._models[max_tokens, logprobs] = self._made(max_tokens, logprobs)
        return self._models[max_tokens, logprobs]

    def _made(self, max_tokens: int, logprobs: bool) -> Any:
        from inspect_ai.model import GenerateConfig, Model, get_model

        settings = self.settings
        config: dict[str, Any] = {
            "max_tokens": max_tokens,
            "temperature": settings.temperature,
            "reasoning_effort": settings.reasoning_effort,
            "extra_body": dict(settings.extra) or None,
        }
        if logprobs:
            config |= {"logprobs": True, "top_logprobs": settings.top_logprobs}
            if settings.temperature not in (None, 0, 1):
                notice(
                    f"{settings.model} is asked at temperature {settings.temperature}; some servers scale log "
                    "probabilities by it, and margins are read as they come: ask at 0 or 1 to compare them with others'"
                )
        given: dict[str, Any] = {"config": GenerateConfig(**config), "base_url": settings.server or None}
        given["api_key"] = settings.key_value()
        try:
            if settings.provider:
                model: Any = get_model(settings.inspect_name, **given, memoize=False)
            else:
                from onedial.asking.providers.server import Server

                model = Model(Server(settings.inspect_name.partition("/")[2], **given), given["config"])
        except Exception as error:  # of many kinds: each provider's library has its own
            raise InputError(f"{settings.model} cannot be asked: {self.clean(plain_words(str(error)))}") from None
        if hasattr(getattr(model.api, "client", None), "max_retries"):
            model.api.client.max_retries = 0  # a client's own attempts would be counted by nobody
        return model


def answers_side_by_side(requests: Sequence[AnyRequest]) -> Iterator[tuple[AnyRequest, Response]]:
    """Send requests to several models at once; each with its response, as they come.

    A request whose first attempt is not permitted has no response; one whose retry is not has that of its last attempt.
    Leaving the iterator, by Ctrl-C too, ends what is under way.

    Raises:
        InputError: see `ProviderRespondent.answer`.
        OSError: a request could not be kept.
    """
    if not requests:
        return
    arrived: queue.SimpleQueue[tuple[AnyRequest, Response] | None] = queue.SimpleQueue()
    ended = threading.Event()

    async def asked() -> None:
        try:
            await _ask_all(requests, arrived.put)
        finally:
            arrived.put(None)
            ended.set()

    running = asyncio.run_coroutine_threadsafe(asked(), _loop(os.getpid()))
    answered, failures = set[ProviderRespondent](), Counter[ProviderRespondent]()
    try:
        while (one := arrived.get()) is not None:
            request, response = one
            whose = request.respondent
            if not response.error:
                answered.add(whose)
            elif whose not in answered:
                failures[whose] += 1
                _refuse_what_cannot_be_asked(whose.settings.model, response.error, failures[whose])
            yield request, response
        running.result()
    finally:
        running.cancel()
        ended.wait(_PATIENCE)


@functools.cache
def _loop(process: int) -> asyncio.AbstractEventLoop:
    """The loop in which requests run, so that connections stay open from one asking to the next.

    Args:
        process: a fork has a loop of its own.
    """
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="asking", daemon=True).start()
    return loop


def _refuse_what_cannot_be_asked(name: str, error: str, n_failed: int) -> None:
    for status, what in _REFUSED.items():
        if error.startswith(f"{status} "):
            raise InputError(f"{name}: the server {what} ({error}); correct it, and continue with --resume") from None
    if n_failed >= _NO_USE:
        raise InputError(
            f"{name}: {n_failed} requests failed and none was answered, the last by {error}; fix that first"
        )


# ---- in the loop that asks -----------------------------------------------------------------------------------------


async def _ask_all(requests: Sequence[AnyRequest], give: Callable[[tuple[AnyRequest, Response]], object]) -> None:
    """Ask everything: of each model as many prompts at once as it has connections."""
    warnings.filterwarnings("ignore", "Pydantic serializer warnings")  # of what a server sent
    models: dict[tuple[str, str], list[AnyRequest]] = {}
    for request in requests:
        settings = request.respondent.settings
        models.setdefault((settings.server, settings.inspect_name), []).append(request)

    async def one_after_another(left: Iterator[AnyRequest]) -> None:
        for request in left:
            model = request.respondent.model_for(request.instrument)
            if (attempt := await _attempts(request, model)) is not None:
                give((request, attempt.response))

    tasks = []
    for waiting in models.values():
        at_once = max(request.respondent.settings.connections or _AT_ONCE for request in waiting)
        left = iter(waiting)
        tasks += [asyncio.create_task(one_after_another(left)) for _ in range(min(at_once, len(waiting)))]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _attempts(request: Request, model: Any) -> Attempt | None:
    """The last of the attempts that one prompt needs; None where none was permitted."""
    last = None
    for n_failed in range(request.respondent.settings.retries + 1):
        if last is not None:
            _say_what_waits(last.response.error)
            await asyncio.sleep(seconds_to_wait(n_failed, last))
        while not (allowed := request.permits()):
            if allowed is False:
                return last
            await asyncio.sleep(_WAIT)
        request.begins()
        last = await _attempt(request, model)
        request.ended(last)
        if not last.again:
            break
    return last


_SAID = [-_SAY_EVERY]


def _say_what_waits(error: str) -> None:
    """Say on stderr, every few seconds at most, that requests fail and are made again."""
    if (now := time.monotonic()) - _SAID[0] >= _SAY_EVERY:
        _SAID[0] = now
        print(f"a request failed and waits to be tried again ({error[:80]})", file=sys.stderr, flush=True)


async def _attempt(request: Request, model: Any) -> Attempt:
    prompt, respondent, began = request.prompt, request.respondent, time.monotonic()
    turns = json.dumps([*map(list, prompt.earlier), prompt.user], ensure_ascii=False)
    response, is_passing = Response(), False
    error: Exception | None = None
    try:
        async with asyncio.timeout(respondent.settings.timeout):
            response, is_passing = _read(request, await _sent(request, model))
    except TimeoutError:
        error = TimeoutError(f"no answer within {respondent.settings.timeout} s")
    except Exception as failure:
        error = failure
    noted: dict[str, Any] = {
        "place": request.place,
        "prompt_hash": sha256_of_text(turns),
        "answered_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "seconds": round(time.monotonic() - began, 3),
    }
    if error is not None:
        return failed(error, respondent.clean, **noted)
    return Attempt(replace(response, **noted), again=is_passing)


async def _sent(request: Request, model: Any) -> Any:
    """inspect_ai's output for one request."""
    from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ResponseSchema
    from inspect_ai.util import JSONSchema

    prompt, config, form = request.prompt, model.config, request.instrument.form
    if form is not None and request.respondent.settings.asks_for(request.instrument) == "schema":
        schema = ResponseSchema(name="reply", json_schema=JSONSchema.model_validate(form.of_reply), strict=True)
        config = config.model_copy(update={"response_schema": schema})
    earlier = [(ChatMessageUser(content=u), ChatMessageAssistant(content=a)) for u, a in prompt.earlier]
    turns = [*(each for turn in earlier for each in turn), ChatMessageUser(content=prompt.user)]
    result = await model.api.generate(turns, [], "none", config)
    output, call = result if isinstance(result, tuple) else (result, None)
    if isinstance(output, Exception):
        raise output
    if call is not None and call.response and (fingerprint := call.response.get("system_fingerprint")):
        output.metadata = (output.metadata or {}) | {"system_fingerprint": fingerprint}
    return output


def _read(request: Request, output: Any) -> tuple[Response, bool]:
    """What an output says, and whether it is no answer in a way that may pass."""
    usage, clean = output.usage, request.respondent.clean
    rest: dict[str, Any] = {
        "served_model": clean(output.model or ""),
        "served_fingerprint": clean(str((output.metadata or {}).get("system_fingerprint") or "")),
    }
    if usage is not None:
        cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
        rest |= {"tokens_in": usage.input_tokens + cached, "tokens_out": usage.output_tokens}
    if not output.choices:
        return Response(error=clean(output.error or "the server sent no answer"), **rest), not output.error
    choice = output.choices[0]
    text = clean(output.completion)
    refused = usage is None and choice.stop_reason in _INSTEAD
    if refused or (output.error and not text):
        why = (text or output.error) if refused else output.error
        return Response(error=clean(why or choice.stop_reason), **rest), False
    content = choice.message.content
    reasoned = not isinstance(content, str) and any(part.type == "reasoning" for part in content)
    shown = [] if choice.logprobs is None else [token.model_dump() for token in choice.logprobs.content]
    declined = not isinstance(content, str) and any(getattr(part, "refusal", False) for part in content)
    filtered = choice.stop_reason == "content_filter" or declined  # ended, or written, by somebody else
    response = response_of(
        request.instrument,
        "" if filtered else text,
        choice.stop_reason not in _CUT_OFF,
        [] if filtered else from_the_answer_on(shown, text, reasoned),
        unread=why_unread("content_filter" if filtered else choice.stop_reason, text, reasoned),
        **rest,
    )
    return replace(response, raw_text=text) if filtered else response, False
