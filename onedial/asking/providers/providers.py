"""Models behind a provider or a server as respondents, by inspect_ai's model interface.

Connections, caching and logs are inspect_ai's own: `inspect view --log-dir` opens what was asked. Attempts are ours
(`attempts`), so that none is made that nobody counted.
It is an optional extra (onedial[providers]), imported only where such a model is asked. Requests run at once,
in a thread of their own; responses come as they arrive.

What a provider is asked is a conversation: earlier turns, then the user's. The beginning of the assistant's turn
(`Prompt.assistant_prefix`) is for models on this machine and is left out.
"""

import importlib.util
import json
import queue
import threading
import time
import warnings
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from onedial.asking.instruments import Instrument, TokenReader
from onedial.asking.prompts import Prompt
from onedial.asking.providers.attempts import (
    Account,
    Attempt,
    ErrorInsteadOfAnswer,
    UnderWay,
    chain_of,
    code_of,
    failed,
    seconds_to_wait,
    status_of,
    under_way,
    words_of,
)
from onedial.asking.providers.provider_reading import from_the_answer_on, response_of, why_unread
from onedial.asking.providers.provider_settings import ROOM, ProviderModel, known_secrets, without_secrets
from onedial.asking.respondents import Identity, Response
from onedial.core import InputError, sha256_of_text, whole_characters

_INSTALL = "python -m pip install -e '.[providers]'"
_AT_ONCE = 64
_WAIT = 0.05
_NO_USE = 10
"""So many failures of a respondent that has not answered once end the asking."""
_REFUSED = {401: "refused the key", 403: "refused the key", 404: "knows no such model"}
_LARGEST = 1 << 26
"""Bytes of an answer that are read: many times what the longest has, with the likeliest tokens at each of its own."""
_CUT_OFF = ("max_tokens", "model_length")
"""As inspect_ai says that an answer has not come to its end."""
_INSTEAD = ("model_length", "content_filter")
"""As it says that the server has refused a prompt, whose reason it gives as if it were an answer, without usage."""
_one_at_a_time = threading.Lock()


@dataclass(frozen=True)
class Asking:
    """What one respondent is asked together."""

    respondent: "ProviderRespondent"
    prompts: Sequence[Prompt]
    instrument: Instrument


def require_inspect() -> None:
    """Say what to install where inspect_ai is missing.

    Raises:
        InputError: it is.
    """
    if importlib.util.find_spec("inspect_ai") is None:
        raise InputError(f"models of providers and servers are asked through inspect_ai; install it with `{_INSTALL}`")


class ProviderRespondent:
    """Fulfils `onedial.asking.Respondent` with a model of a provider or server.

    Args:
        settings: where it is and how it is asked.
        sample: which repeat of the same prompt this is; another one is never answered from the cache of the first.
        logs: folder for inspect_ai's logs; None keeps none.
        logprobs: ask for the first tokens' probabilities where an instrument reads tokens. Some models refuse requests
            that do.

    Raises:
        InputError: inspect_ai or the provider's own library is missing, no such provider, the key is not set.
    """

    def __init__(
        self, settings: ProviderModel, *, sample: int = 0, logs: Path | str | None = None, logprobs: bool = True
    ) -> None:
        require_inspect()
        self.settings, self.sample, self.logs, self.logprobs = settings, sample, logs, logprobs
        self._secrets = known_secrets()
        if (key := settings.key_value()) and len(key) >= 8:
            self._secrets = [key, *self._secrets]
        self._models: dict[tuple[int, bool], Any] = {}
        self._model(1, False)

    @property
    def identity(self) -> Identity:
        return self.identity_of(self.settings, self.settings.model)

    @staticmethod
    def identity_of(settings: ProviderModel, model: str) -> Identity:
        """The identity of a model with these settings; nobody can know the fingerprint of its weights."""
        parts = {"temperature": settings.temperature, "reasoning effort": settings.reasoning_effort, **settings.extra}
        return Identity(model, "", ", ".join(f"{name} {value}" for name, value in parts.items() if value is not None))

    def answer(self, prompts: Sequence[Prompt], instrument: Instrument) -> Iterator[Response]:
        """One response to each prompt, as they come.

        Raises:
            InputError: the key is refused, there is no such model, or nothing at all is answered.
        """
        for _, response in answers_side_by_side([Asking(self, prompts, instrument)]):
            yield response

    def room(self, instrument: Instrument) -> int:
        """How many tokens may be written."""
        kind = "direct" if isinstance(instrument.reader, TokenReader) else instrument.name
        if kind not in ROOM:
            return self.settings.max_tokens or ROOM["direct"]
        return self.settings.room(kind)

    def model_for(self, instrument: Instrument) -> Any:
        """inspect_ai's model, set up for this instrument."""
        reads_tokens = isinstance(instrument.reader, TokenReader)
        reasons = self.settings.reasoning_effort not in (None, "none")
        return self._model(self.room(instrument), reads_tokens and self.logprobs and not reasons)

    def without_secrets(self, text: str) -> str:
        """The text without any key."""
        return without_secrets(text, self._secrets)

    def _model(self, max_tokens: int, logprobs: bool) -> Any:
        from inspect_ai.model import CachePolicy, GenerateConfig, get_model

        own = self.settings
        if (max_tokens, logprobs) not in self._models:
            config: dict[str, Any] = {
                "max_tokens": max_tokens,
                "temperature": own.temperature,
                "reasoning_effort": own.reasoning_effort,
                "max_connections": own.connections,
                "max_retries": 0,
                "attempt_timeout": own.timeout,
                "extra_body": dict(own.extra) or None,
            }
            if logprobs:
                config |= {"logprobs": True, "top_logprobs": own.top_logprobs}
            if own.cache:
                config["cache"] = CachePolicy(expiry=None, scopes={"sample": str(self.sample)})
            try:
                model = get_model(
                    own.inspect_name,
                    config=GenerateConfig(**config),
                    base_url=own.server or None,
                    api_key=own.key_value(),
                    memoize=False,
                )
            except Exception as error:  # of many kinds: each provider's library has its own
                reason = self.without_secrets(_plain(str(error)))
                raise InputError(f"{own.model} cannot be asked: {reason}") from None
            model.api.generate = _telling_who_answered(model.api, self)  # type: ignore[method-assign]
            if hasattr(model.api, "on_response"):
                model.api.on_response = _refusing_errors(model.api.on_response)
            if hasattr(model.api, "chat_choices_from_completion"):
                model.api.chat_choices_from_completion = _sparing(model.api.chat_choices_from_completion)
            self._models[max_tokens, logprobs] = model
        return self._models[max_tokens, logprobs]


def answers_side_by_side(work: Sequence[Asking], account: Account | None = None) -> Iterator[tuple[int, Response]]:
    """Ask several respondents at once; each response comes with the place of its asking in `work`.

    Leaving the iterator, by Ctrl-C too, ends what is under way.

    Args:
        account: is asked before every attempt and told of it. A prompt whose first attempt is not permitted has no
            response; one whose retry is not has that of its last attempt.

    Raises:
        InputError: see `ProviderRespondent.answer`.
        OSError: the account could not write.
    """
    work = [asking for asking in work]
    if not any(asking.prompts for asking in work):
        return
    told: queue.SimpleQueue[tuple[int, Response] | BaseException | None] = queue.SimpleQueue()
    stopped = threading.Event()

    def give(place: int, response: Response) -> None:
        told.put((place, response))

    def broken(error: Exception) -> None:
        stopped.set()
        told.put(error)

    def run() -> None:
        try:
            _ask_all(work, give, broken, account or _NoAccount(), stopped)
            told.put(None)
        except BaseException as error:  # the thread that reads raises it
            told.put(error)

    thread = threading.Thread(target=run, name="asking", daemon=True)
    with _one_at_a_time:
        thread.start()
        try:
            yield from _checked(work, iter(lambda: _next(told), None))
        finally:
            stopped.set()
            thread.join(timeout=30)


class _NoAccount:
    """Permits everything and writes nothing."""

    def permits(self, place: int, at: int) -> bool | None:
        return True

    def begins(self, place: int, at: int) -> None:
        return

    def ended(self, place: int, attempt: Attempt) -> None:
        return


def _next(told: "queue.SimpleQueue[Any]") -> Any:
    while True:  # with a timeout, so that Ctrl-C is heard
        try:
            return told.get(timeout=0.2)
        except queue.Empty:
            continue


def _checked(work: Sequence[Asking], told: Iterator[Any]) -> Iterator[tuple[int, Response]]:
    answered, failed = [0] * len(work), [0] * len(work)
    for each in told:
        if isinstance(each, BaseException):
            raise each
        place, response = each
        answered[place] += not response.error
        failed[place] += bool(response.error)
        if response.error and not answered[place]:
            _refuse_what_cannot_be_asked(work[place].respondent, response.error, failed[place])
        yield place, response


def _refuse_what_cannot_be_asked(respondent: ProviderRespondent, error: str, n_failed: int) -> None:
    name = respondent.settings.model
    for status, what in _REFUSED.items():
        if error.startswith(f"{status} "):
            raise InputError(f"{name}: the server {what} ({error}); correct it, and continue with --resume") from None
    if n_failed >= _NO_USE:
        raise InputError(
            f"{name}: {n_failed} requests failed and none was answered, the last by {error}; fix that first"
        )


# ---- in the thread that asks ---------------------------------------------------------------------------------------


def _ask_all(
    work: Sequence[Asking],
    give: Callable[[int, Response], None],
    broken: Callable[[Exception], None],
    account: Account,
    stopped: threading.Event,
) -> None:
    """Ask everything: as one task of inspect_ai for each asking, whose logs it writes."""
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageAssistant, ChatMessageUser
    from inspect_ai.solver import solver

    def task(place: int, asking: Asking) -> Any:
        model = asking.respondent.model_for(asking.instrument)

        @solver(name="asking")
        def asked() -> Any:
            async def solve(state: Any, generate: Any) -> Any:
                at = state.metadata["place"]
                try:
                    attempt, output = await _attempts(asking, place, at, model, state.messages, account, stopped)
                except Exception as error:  # the account's, or ours: those of an attempt are its response
                    broken(error)
                    return state
                if attempt is None:
                    return state
                give(place, attempt.response)
                if output is not None:
                    state.output = output
                elif attempt.response.error:
                    raise RuntimeError(attempt.response.error) from None
                return state

            return solve

        def turns(prompt: Prompt) -> list[Any]:
            earlier = [(ChatMessageUser(content=u), ChatMessageAssistant(content=a)) for u, a in prompt.earlier]
            return [*(each for turn in earlier for each in turn), ChatMessageUser(content=prompt.user)]

        samples = [
            Sample(input=turns(prompt), id=at + 1, metadata={"place": at}) for at, prompt in enumerate(asking.prompts)
        ]
        name = f"{asking.respondent.settings.model}-{asking.instrument.template.name}-{asking.instrument.name}"
        return Task(
            dataset=MemoryDataset(samples),
            solver=asked(),
            name="".join(letter if letter.isalnum() else "-" for letter in name),
            model=model,
            metadata={"instrument": asking.instrument.name, "framing": asking.instrument.template.name},
        )

    tasks = [task(place, asking) for place, asking in enumerate(work) if asking.prompts]
    logs = work[0].respondent.logs
    warnings.filterwarnings("ignore", "Pydantic serializer warnings")  # of what a server sent
    with TemporaryDirectory() as folder:
        evaluate(
            tasks,
            display="none",
            log_level="error",
            log_dir=str(logs or folder),
            log_samples=logs is not None,
            log_model_api=False,
            log_realtime=False,
            fail_on_error=False,
            score=False,
            max_tasks=len(tasks),
            max_samples=max([_AT_ONCE, *(asking.respondent.settings.connections or 0 for asking in work)]),
        )


async def _attempts(
    asking: Asking,
    place: int,
    at: int,
    model: Any,
    messages: Sequence[Any],
    account: Account,
    stopped: threading.Event,
) -> tuple[Attempt | None, Any]:
    """The last of the attempts that one prompt needs, with inspect_ai's output; nothing where none was permitted."""
    import anyio
    from anyio.to_thread import run_sync

    async def begins() -> None:
        await run_sync(account.begins, place, at)

    last: tuple[Attempt | None, Any] = (None, None)
    for n_failed in range(asking.respondent.settings.retries + 1):
        if last[0] is not None:
            await _unless(stopped, anyio.sleep(seconds_to_wait(n_failed, last[0])))
        while not (allowed := not stopped.is_set() and account.permits(place, at)):
            if allowed is False:
                return last
            await anyio.sleep(_WAIT)
        attempt, output = await _unless(stopped, _ask_one(asking, at, model, messages, begins))
        if attempt is None:
            if isinstance(output, OSError):
                raise output
            return None, None
        await run_sync(account.ended, place, attempt)
        last = attempt, output
        if not attempt.again:
            break
    return last


async def _unless(stopped: threading.Event, work: Any) -> tuple[Attempt | None, Any]:
    """What `work` gives, or nothing as soon as all is stopped."""
    import anyio

    given: list[Any] = []

    async def finish(scope: Any) -> None:
        given.append(await work)
        scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(finish, group.cancel_scope)
        while not given and not stopped.is_set():
            await anyio.sleep(0.1)
        if stopped.is_set():
            group.cancel_scope.cancel()
    return given[0] if given else (None, None)


async def _ask_one(
    asking: Asking, at: int, model: Any, messages: Sequence[Any], begins: Any
) -> tuple[Attempt | None, Any]:
    """One attempt, with inspect_ai's output where there is one; or what kept it from being begun."""
    prompt, began = asking.prompts[at], time.monotonic()
    about: dict[str, Any] = {
        "place": at,
        "prompt_hash": sha256_of_text(json.dumps([*map(list, prompt.earlier), prompt.user], ensure_ascii=False)),
    }
    way = UnderWay(begins)
    under_way.set(way)
    try:
        output = await model.generate(list(messages))
        response = _read(asking, output, about | _noted(began))
    except Exception as error:
        if way.broken is not None:
            return None, way.broken
        text = asking.respondent.without_secrets(whole_characters(_failure(error)))
        return failed(Response(error=text, **_noted(began), **about), error, way.sent), None
    no_answer = bool(response.error) and not output.error
    is_passing = no_answer and not (output.choices and _is_refusal(output))
    return Attempt(response, way.sent, again=is_passing), None if no_answer else output


def _noted(began: float) -> dict[str, Any]:
    return {
        "answered_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "seconds": round(time.monotonic() - began, 3),
    }


def _read(asking: Asking, output: Any, about: Mapping[str, Any]) -> Response:
    usage = output.usage
    rest = dict(about) | {
        "served_model": output.model or "",
        "served_fingerprint": str((output.metadata or {}).get("system_fingerprint") or ""),
        "tokens_in": None if usage is None else _tokens_in(usage),
        "tokens_out": None if usage is None else usage.output_tokens,
    }
    if not output.choices:
        return Response(error=output.error or "the server sent no answer", **rest)
    choice = output.choices[0]
    text = asking.respondent.without_secrets(output.completion)
    refused = _is_refusal(output)
    if refused or (output.error and not text):
        told = (text or output.error) if refused else output.error
        return Response(error=asking.respondent.without_secrets(told or choice.stop_reason), **rest)
    content = choice.message.content
    reasoned = not isinstance(content, str) and any(part.type == "reasoning" for part in content)
    shown = [] if choice.logprobs is None else [token.model_dump() for token in choice.logprobs.content]
    return response_of(
        asking.instrument,
        text,
        choice.stop_reason not in _CUT_OFF,
        from_the_answer_on(shown, text, reasoned),
        unread=why_unread(choice.stop_reason, text, reasoned),
        **rest,
    )


def _is_refusal(output: Any) -> bool:
    return output.usage is None and output.choices[0].stop_reason in _INSTEAD


def _tokens_in(usage: Any) -> int:
    return usage.input_tokens + (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)


def _failure(error: BaseException) -> str:
    """Status, kind and reason in one line, the status first."""
    chain, status = chain_of(error), status_of(error)
    if status is None:
        told = [each for each in chain if str(each) and type(each).__name__ != "RetryError"] or [error]
        if type(told[0]).__name__ != "APIConnectionError":  # which does not say what was wrong with the connection
            del told[1:]
    else:
        told = [next(each for each in reversed(chain) if getattr(each, "status_code", None) == status)]
    reason = ", ".join(f"{type(each).__name__}: {_plain(_with_its_body(each))}" for each in told[:2])
    if status is not None and 300 <= status < 400 and (elsewhere := told[0].response.headers.get("location")):
        reason = f"the server sends on to {elsewhere}; ask that one if you trust it"
    status = code_of(error) if status is None else status
    if "logprobs" in reason:
        reason += "; give this model `top_logprobs: 5`, or `logprobs: false`"
    return f"{'' if status is None else f'{status} '}{reason}"[:500]


def _with_its_body(error: BaseException) -> str:
    """An exception's words, and the server's own where they are not among them."""
    said, words = str(error), words_of(getattr(error, "body", None))
    return said if words in said else f"{said}: {words}"


def _plain(text: str) -> str:
    return " ".join(text.replace("[bold]", "").replace("[/bold]", "").split())


def _telling_who_answered(api: Any, respondent: ProviderRespondent) -> Any:
    """A provider's `generate` that is one attempt, says the server's fingerprint, and whose failures hold no key."""
    generate = api.generate

    async def generated(*args: Any, **named: Any) -> Any:
        client: Any = getattr(api, "client", None)
        if hasattr(client, "max_retries"):
            client.max_retries = 0  # a client's own attempts would be counted by nobody
        connections: Any = getattr(client, "_client", None)
        if hasattr(connections, "follow_redirects"):
            connections.follow_redirects = False  # questions, and keys in headers of their own, go to no other host
            hooks = connections.event_hooks
            if _bounded not in hooks["response"]:
                connections.event_hooks = hooks | {"response": [*hooks["response"], _bounded]}
        if (way := under_way.get()) is not None:
            await way.goes_out()
        try:
            result = await generate(*args, **named)
        except Exception as error:
            _strip(error, respondent)
            _strip_log(respondent)
            raise
        output, call = result if isinstance(result, tuple) else (result, None)
        if call is not None and call.response is not None:
            call.response = _clean(call.response, respondent)
        if isinstance(output, Exception):
            _strip(output, respondent)
            return result
        if call is not None and call.response and (fingerprint := call.response.get("system_fingerprint")):
            output.metadata = (output.metadata or {}) | {"system_fingerprint": fingerprint}
        told = output.model_dump()
        if (clean := whole_characters(told)) != told:
            output = type(output).model_validate(clean)
        told = output.model_dump_json()
        if (clean := respondent.without_secrets(told)) != told:
            output = type(output).model_validate_json(clean)
        return output if call is None else (output, call)

    return generated


async def _bounded(response: Any) -> None:
    """Have an HTTP response end in an error where it holds more than any answer does, packed or not."""
    from httpx import DecodingError

    parts_of = response.aiter_bytes

    async def parts(*chosen: Any) -> AsyncIterator[bytes]:
        size = 0
        async for part in parts_of(*chosen):
            size += len(part)
            if size > _LARGEST:
                raise DecodingError(f"an answer of more than {_LARGEST:,} bytes is not read")
            yield part

    response.aiter_bytes = parts


def _refusing_errors(looked_at: Callable[[Any], None]) -> Callable[[Any], None]:
    """What looks at an answer; gateways send errors with status 200, too."""

    def on_response(response: Any) -> None:
        if not response.get("choices"):
            told = response.get("error") or response
            if isinstance(told, str) or words_of(told):
                raise ErrorInsteadOfAnswer(told)
        looked_at(response)

    return on_response


def _sparing(choices_of: Callable[..., Any]) -> Callable[..., Any]:
    """What finds the choices in an OpenAI completion, sparing answers that were paid for: counts of tokens,
    probabilities and a model's name that are none of the kind count as not given, and of a content in parts the texts
    are the answer. An error inside a choice is raised.
    """
    from pydantic import ValidationError

    def choices(completion: Any, *more: Any) -> Any:
        for choice in completion.choices or ():
            if (told := getattr(choice, "error", None)) or choice.finish_reason == "error":
                raise ErrorInsteadOfAnswer(told or {})
            if not isinstance(choice.message.content, str | None):
                _join_parts(choice.message)
        try:
            type(completion).model_validate(completion.model_dump(warnings=False))
        except ValidationError as error:
            wrong = {name for each in error.errors() for name in each["loc"]}
            completion.usage = None if "usage" in wrong else completion.usage
            completion.model = "" if "model" in wrong else completion.model
            for choice in (completion.choices or ()) if "logprobs" in wrong else ():
                choice.logprobs = None
        return choices_of(completion, *more)

    return choices


def _join_parts(message: Any) -> None:
    """Make one text of a message's content in parts; parts that are thoughts become its reasoning."""
    parts = message.content if isinstance(message.content, list) else [message.content]
    texts, thoughts = [], []
    for part in parts:
        if isinstance(part, Mapping) and (kind := str(part.get("type", "text"))) not in ("text", "output_text"):
            thoughts += [words_of(part.get(kind) or part.get("text"))] if kind in ("thinking", "reasoning") else []
        else:
            texts.append(str(part.get("text") or part.get("content") or "") if isinstance(part, Mapping) else str(part))
    message.content = "".join(texts)
    if any(thoughts) and not getattr(message, "reasoning_content", None):
        message.reasoning_content = "\n".join(thoughts)


def _clean(value: Any, respondent: ProviderRespondent) -> Any:
    """The same JSON without any key, and without halves of characters, which no log can hold."""
    return whole_characters(json.loads(respondent.without_secrets(json.dumps(value, default=str))))


def _strip(error: BaseException | None, respondent: ProviderRespondent) -> None:
    """Take every key out of an exception and what led to it, and where they were raised: inspect_ai writes both into
    its logs, and to lay out the source of every frame took a third of the time of a request that fails.
    """
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        error.__traceback__ = None
        error.args = tuple(respondent.without_secrets(a) if isinstance(a, str) else a for a in error.args)
        for name in ("message", "body"):
            if (value := getattr(error, name, None)) is not None:
                clean = respondent.without_secrets(value if isinstance(value, str) else json.dumps(value, default=str))
                setattr(error, name, clean if isinstance(value, str) else json.loads(clean))
        error = error.__cause__ or error.__context__


def _strip_log(respondent: ProviderRespondent) -> None:
    """Take every key out of what a failed request got back, which is noted for the log before anybody raises."""
    from inspect_ai.log import transcript

    for event in reversed(transcript().events):
        call = getattr(event, "call", None)
        if call is not None and call.response is not None:
            call.response = _clean(call.response, respondent)
            return
