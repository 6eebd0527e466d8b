"""One attempt to get an answer: what became of it, when it is made again, and how long to wait before.

A request is made again unless the server refused it for good (400, 401, 403, 404, ..., as a status or as the code of
an error that comes with status 200 or inside a choice): after a limit (429), a failure of the server (5xx), a lost
connection, a timeout, and after what is no answer at all (half a JSON text, a gateway's page of HTML with status 200).
What an attempt did cost is the server's word; where it said none, nobody knows, and only a refusal by its status is
known to cost nothing.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from onedial.asking.respondents import Response

_FOR_THE_TIME_BEING = {408, 409, 425, 429}
_MAY_HAVE_BEEN_MADE = {408, 499}
"""Refusals after which the server may have worked all the same."""
_NEVER_ARRIVED = {"ConnectError", "ConnectTimeout", "ConnectionRefusedError"}
"""As the HTTP libraries call it when there was no connection."""
_FOR_GOOD = (ImportError, NotImplementedError, ValidationError, AttributeError, TypeError)
"""What is wrong here, or with what the server sends beside an answer; another attempt would be paid for too."""
_LONGEST_WAIT = 120.0
_LONGEST_WAIT_ASKED_FOR = 300.0


class ErrorInsteadOfAnswer(RuntimeError):
    """What a server says in place of an answer, with status 200 or inside a choice.

    Args:
        sent: its error, in whatever form.
    """

    def __init__(self, sent: Any) -> None:
        super().__init__(words_of(sent) or "the server sent an error in place of an answer, without a reason")
        code = sent.get("code", sent.get("status")) if isinstance(sent, Mapping) else None
        self.code = int(code) if isinstance(code, int | str) and str(code).isdigit() else None


def words_of(sent: Any) -> str:
    """The reason in a server's error: its message, wherever it stands ("" where there is none).

    >>> words_of({"error": {"message": "Too long.", "code": 400}}), words_of({"detail": "Not Found"})
    ('Too long.', 'Not Found')
    >>> words_of({"detail": [{"loc": ["body", "logprobs"], "msg": "extra fields not permitted"}]})
    'body.logprobs: extra fields not permitted'
    """
    if isinstance(sent, str):
        return " ".join(sent.split())
    if isinstance(sent, Sequence):
        return "; ".join(filter(None, map(words_of, sent)))
    if not isinstance(sent, Mapping):
        return ""
    if (message := sent.get("msg")) and isinstance(where := sent.get("loc"), list | tuple):
        return f"{'.'.join(map(str, where))}: {message}"
    words = (words_of(sent.get(name)) for name in ("message", "error", "detail", "details", "msg", "reason"))
    text = next(filter(None, words), "")
    upstream = sent.get("metadata")
    raw = words_of(upstream.get("raw")) if isinstance(upstream, Mapping) else ""
    return f"{text} ({raw})" if text and raw else text or raw


@dataclass(frozen=True)
class Attempt:
    """What became of one attempt.

    Attributes:
        response: with its error where it failed.
        refused: the server said that it did nothing, or never heard of it, so nothing can have been spent.
        again: it failed in a way that may pass.
        wait: seconds that the server asks to wait; None where it says nothing.
    """

    response: Response
    refused: bool = False
    again: bool = False
    wait: float | None = None


def failed(error: BaseException, clean: Callable[[str], str], **noted: Any) -> Attempt:
    """The attempt that ended in this exception, told in one line: status, kind and reason.

    Args:
        clean: takes keys out of the words. noted: other fields of the response.
    """
    chain: list[Any] = [error]
    while (before := chain[-1].__cause__ or chain[-1].__context__) is not None and before not in chain:
        chain.append(before)
    stating = [each for each in reversed(chain) if isinstance(getattr(each, "status_code", None), int)]
    status = stating[0].status_code if stating else None
    code = next((each.code for each in chain if isinstance(each, ErrorInsteadOfAnswer)), None)
    refusal = status if status is not None else code
    is_refused = refusal is not None and 400 <= refusal < 500
    again = not any(isinstance(each, _FOR_GOOD) for each in chain)
    again = again and not (is_refused and refusal not in _FOR_THE_TIME_BEING)
    nothing_done = any(type(each).__name__ in _NEVER_ARRIVED for each in chain)
    if status is not None and is_refused:
        nothing_done = status not in _MAY_HAVE_BEEN_MADE
    telling = stating[:1] or [each for each in chain if str(each) and type(each).__name__ != "RetryError"] or [error]
    if type(telling[0]).__name__ != "APIConnectionError":  # which does not say what was wrong with the connection
        del telling[1:]
    reason = ", ".join(f"{type(each).__name__}: {_with_its_body(each)}" for each in telling[:2])
    if "logprobs" in reason:
        reason += "; give this model `top_logprobs: 5`, or `logprobs: false`"
    if "response_format" in reason or "json_schema" in reason:
        reason += "; ask this model with `replies: line`"
    line = f"{'' if refusal is None else f'{refusal} '}{reason}"[:500]
    return Attempt(Response(error=clean(line), **noted), nothing_done, again, _asked_for(chain))


def seconds_to_wait(n_failed: int, attempt: Attempt) -> float:
    """Before the next attempt: what the server asks for, else longer each time, with some chance in it.

    Args:
        n_failed: attempts so far, from 1.
    """
    if attempt.wait is not None:
        return min(attempt.wait, _LONGEST_WAIT_ASKED_FOR)
    return min(_LONGEST_WAIT, 2.0 ** (n_failed - 1)) * random.uniform(0.5, 1.0)


def _with_its_body(error: BaseException) -> str:
    """An exception's words, and the server's own where they are not among them."""
    text, words = plain_words(str(error)), words_of(getattr(error, "body", None))
    return text if words in text else f"{text}: {words}"


def plain_words(text: str) -> str:
    """In one line, without a terminal's marks."""
    return " ".join(text.replace("[bold]", "").replace("[/bold]", "").split())


def _asked_for(chain: Sequence[Any]) -> float | None:
    """Seconds of a header Retry-After; of a date, as of anything else, None."""
    headers = (getattr(getattr(each, "response", None), "headers", None) for each in chain)
    text = next((text for each in headers if each is not None and (text := each.get("retry-after"))), "")
    return float(text) if text.isdecimal() else None
