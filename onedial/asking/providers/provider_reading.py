"""What a provider's model said, as a response on the instrument's scale.

The text is the answer. Where the provider shows the likeliest first tokens, they give beside it

    margin = log P(yes tokens) - log P(no tokens)    in nats, positive = yes
    mass   = P(yes tokens) + P(no tokens)            of those tokens that are shown: a lower bound

An option none of whose tokens is shown counts as likely as the least likely token that is, so that a margin is never
larger than it can be known to be. Where the first token that says something is no answer, there is no margin.
"""

import math
from collections.abc import Sequence
from typing import Any

from onedial.asking.instruments import Instrument, Scale, TextReader, TokenReader
from onedial.asking.providers.options_said import option_said
from onedial.asking.respondents import Response, as_read, response_from_text
from onedial.asking.yes_no import is_read

_MARKS = " \t\n*_\"'`#>:-."


def response_of(
    instrument: Instrument, text: str, finished: bool, shown: Sequence[dict[str, float]], **rest: Any
) -> Response:
    """Read one answer.

    Args:
        shown: of each token that was written, from the first on, the likeliest alternatives and their log
            probabilities, the written one first; empty where none are shown.
        rest: other fields of the response.
    """
    if isinstance(instrument.reader, TextReader):
        return response_from_text(instrument.scale, instrument.reader, text, finished, **rest)
    option = option_said(instrument.scale, instrument.reader, text)
    value, first = _value(instrument.scale, option), _first_that_says(shown)
    logs = None if option is None or first is None else _logs(instrument.reader, first)
    if logs is None:
        return Response(**as_read(instrument.scale, value), raw_text=text, **rest)
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
    known = []
    for spellings in reader.spellings.values():
        wanted = {spelling.strip() for spelling in spellings}
        own = sum(math.exp(log) for token, log in alternatives.items() if token.strip() in wanted)
        known.append(math.log(own) if own else -math.inf)  # some servers write -9999 for none
    if max(known) == -math.inf or next(iter(alternatives)).strip() not in {
        spelling.strip() for spellings in reader.spellings.values() for spelling in spellings
    }:
        return None
    least = min(alternatives.values())
    return known, [value if value > -math.inf else least for value in known]
