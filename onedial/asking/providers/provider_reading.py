"""What a provider's model said, as a response on the instrument's scale.

The text is the answer. Where the provider shows the likeliest first tokens, they give beside it

    margin = log P(yes tokens) - log P(no tokens)    in nats, positive = yes
    mass   = P(yes tokens) + P(no tokens)            of those tokens that are shown: a lower bound

An option none of whose tokens is shown counts as likely as the least likely token that is, so that a margin is never
larger than it can be known to be; what servers write for none (-9999, -inf) is no token that is shown, nor is a 0.0
with which some fill up. Where a server shows the written token alone, the others have at most what it leaves. Where the
first token that says something is no answer, there is no margin. Thoughts that stand among the tokens are left out.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from onedial.asking.instruments import Instrument, Scale, TextReader, TokenReader
from onedial.asking.readers import option_said
from onedial.asking.replies import begun, without_thoughts
from onedial.asking.respondents import Response, as_read, response_from_text
from onedial.asking.yes_no import is_read

_MARKS = " \t\n*_\"'`#>:-."
_ROUNDED = 1e-3
"""So much may a logarithm of a probability be above 0; where one is not, none of them is believed."""
_SENTINEL = -100.0
"""From here down a logarithm says that there is none: of no token is one known that is so unlikely."""
_LEAST = 1e-6
"""Probabilities below are the rounding of others."""
_AS_TOKENIZERS_WRITE = str.maketrans({"\u0120": " ", "\u2581": " ", "\u010a": "\n"})


def why_unread(stop_reason: str, text: str, reasoned: bool) -> str:
    """Why an answer that came has nothing to be read; "" where it has.

    Args:
        stop_reason: as inspect_ai calls it. reasoned: whether the server gave a reasoning apart from the text.

    >>> why_unread("max_tokens", "", True), why_unread("stop", "Yes", False)
    ('length, nothing but reasoning; raise max_tokens', '')
    """
    is_cut_off = stop_reason in ("max_tokens", "model_length")
    if stop_reason == "content_filter" and text.strip():
        return "content_filter, ended by the server"
    if without_thoughts(text) and (not is_cut_off or begun(text)):
        return ""
    why = "length" if is_cut_off else stop_reason
    what = "nothing but reasoning" if reasoned or text.strip() else "nothing was written"
    return f"{why}, {what}{'; raise max_tokens' if is_cut_off else ''}"


def from_the_answer_on(
    tokens: Sequence[Mapping[str, Any]], text: str, reasoned: bool = False
) -> list[dict[str, float]]:
    """The alternatives at each token from the first of the answer on, the written one first.

    Args:
        tokens: as OpenAI's protocol gives them: token, logprob, top_logprobs.
        text: what was written, as the server gives it.
        reasoned: whether it gives a reasoning apart from it, which may stand among the tokens.

    Returns:
        token -> log probability; empty where they cannot be, or where the answer is not found among them.
    """
    written = [str(token.get("token", "")).translate(_AS_TOKENIZERS_WRITE) for token in tokens]
    whole, answer = "".join(written), without_thoughts(text)
    spoken = without_thoughts(whole)
    if not spoken or not answer:
        return []
    start = whole.rfind(spoken) if spoken != whole.strip() else 0
    if reasoned and len(spoken) > len(answer):
        if not spoken.endswith(answer):
            return []
        start = whole.rfind(answer)
    shown, at = [], 0
    for token, name in zip(tokens, written, strict=True):
        at += len(name)
        if at > start:
            shown.append(_alternatives(token))
    return shown if all(shown) else []


def _alternatives(token: Mapping[str, Any]) -> dict[str, float]:
    """The likeliest tokens at one place, the written one first; empty where their logarithms cannot be."""
    listed = [token, *(token.get("top_logprobs") or [])]
    logs = [(str(each.get("token", "")).translate(_AS_TOKENIZERS_WRITE), each.get("logprob")) for each in listed]
    if not all(isinstance(log, int | float) and log <= _ROUNDED for _, log in logs):
        return {}
    logs_of: dict[str, float] = {}
    for name, log in logs:
        if log > _SENTINEL:
            logs_of.setdefault(name, float(log))
    first = logs[0][0]
    if sum(map(math.exp, logs_of.values())) > 1.01:  # more than there is: some are there to fill up
        logs_of = {name: log for name, log in logs_of.items() if name == first or log != 0}
    return logs_of if first in logs_of and sum(map(math.exp, logs_of.values())) <= 1.01 else {}


def response_of(
    instrument: Instrument, text: str, finished: bool, shown: Sequence[dict[str, float]], unread: str = "", **rest: Any
) -> Response:
    """Read one answer.

    Args:
        finished: False where it was cut off: what it says while it reasons is not its answer.
        shown: of each token that was written, from the first on, the likeliest alternatives and their log
            probabilities, the written one first; empty where none are shown.
        unread: why it cannot be read, where it cannot (`why_unread`).
        rest: other fields of the response.
    """
    if isinstance(instrument.reader, TextReader):
        return _from_text(instrument, instrument.reader, text, finished, unread, **rest)
    option = option_said(instrument.scale, instrument.reader, instrument.said(text), finished)
    value, first = _value(instrument.scale, option), _first_that_says(shown)
    logs = None if option is None or first is None else _logs(instrument.reader, first)
    if logs is None:
        why = "" if value is not None else unread or ("" if finished else _NOT_YET)
        return Response(**as_read(instrument.scale, value), raw_text=text, unread=why, **rest)
    known, floored = logs
    mass = min(1.0, sum(map(math.exp, known)))
    total = sum(map(math.exp, floored))
    read = is_read(mass)
    is_binary = instrument.scale.kind == "yes/no"
    probabilities = tuple(math.exp(value) / total for value in floored)
    return Response(
        value=value if read else None,
        said_yes=option == 0 if read and is_binary else None,
        margin=floored[0] - floored[1] if is_binary else math.nan,
        mass=mass,
        probabilities=probabilities,
        stated=instrument.scale.expectation(probabilities)[0] if read else math.nan,
        raw_text=text,
        **rest,
    )


_NOT_YET = "length, cut off before it says; raise max_tokens"


def _from_text(
    instrument: Instrument, reader: TextReader, text: str, finished: bool, unread: str, **rest: Any
) -> Response:
    """What a written text says; a free text that holds nothing but reasoning is kept as none, lest it be graded."""
    response = response_from_text(instrument.scale, reader, instrument.said(text), finished, **rest)
    response = replace(response, raw_text=reader.trim(text))
    if response.value is not None:
        return response
    if instrument.scale.kind == "text":
        return replace(response, unread=unread, raw_text="" if unread else response.raw_text or text)
    why = unread or (_NOT_YET if reader.must_finish and not finished else "")
    return replace(response, unread=why, raw_text=response.raw_text or text)


def _value(scale: Scale, option: int | None) -> float | None:
    if option is None:
        return None
    if scale.kind == "yes/no":
        return float(option == 0)
    return scale.values[option] if scale.kind == "probability" and scale.values else float(option)


def _first_that_says(shown: Sequence[dict[str, float]]) -> dict[str, float] | None:
    """The alternatives at the first token that is more than space or markup."""
    return next((alternatives for alternatives in shown if next(iter(alternatives), "").strip(_MARKS)), None)


def _logs(reader: TokenReader, alternatives: dict[str, float]) -> tuple[list[float], list[float]] | None:
    """Log probability of each option as shown (-inf where it is not), and at most as it can be; None where none is."""
    wanted = [{spelling.strip() for spelling in forms} for forms in reader.spellings.values()]
    if not any(next(iter(alternatives)).strip() in forms for forms in wanted):
        return None
    shown = [sum(math.exp(log) for token, log in alternatives.items() if token.strip() in forms) for forms in wanted]
    known = [math.log(p) if p else -math.inf for p in shown]  # some servers write -9999 for none
    least, is_alone = min(alternatives.values()), shown.count(0.0) == len(shown) - 1
    if is_alone and all(any(token.strip() in forms for forms in wanted) for token in alternatives):
        least = min(least, math.log(max(1 - max(shown), _LEAST))) if max(shown) < 1 else least
    return known, [log if log > -math.inf else least for log in known]
