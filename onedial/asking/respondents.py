"""What every respondent can do, whether it is a model on this machine, steered or not, or behind a server."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from onedial.asking.instruments import Instrument, Scale, TextReader
from onedial.asking.prompts import Prompt
from onedial.asking.yes_no import is_read
from onedial.core.files import sha256_of_text


@dataclass(frozen=True)
class Identity:
    """Who answers.

    Attributes:
        model: its name.
        fingerprint: what tells its weights from others; "" where nobody can know.
        setting: what was done to it, such as "L21-response-mean_difference at +0.12"; "" for the model as it is.
    """

    model: str
    fingerprint: str = ""
    setting: str = ""


@dataclass(frozen=True)
class Response:
    """One answer to one prompt.

    Attributes:
        place: of the prompt among those that were asked together.
        value: on the instrument's scale (`onedial.asking.instruments`); None where it could not be read, or for text.
        said_yes: True for yes, False for no; None where it could not be read, or on another scale.
        margin: logsumexp over the yes tokens' logits minus logsumexp over the no tokens', in nats, positive = yes;
            nan where the respondent shows no logits.
        mass: probability of all tokens that are an answer, 0 to 1; nan where the respondent shows none.
        probabilities: of each option of the scale, given that one of them is said; empty where none are shown.
        stated: the probability that it stated, as an expected value over all tokens that state one, or as written; nan
            on other scales.
        raw_text: what it wrote, as it stands; "" where only logits were read.
        prompt_hash: SHA-256 of the rendered prompt, so that two runs can be told to have asked the same.
        tokens_in, tokens_out: how many were read and written; None where nobody knows.
        error: why there is no answer; "" where there is one, or one that merely cannot be read.
        unread: why an answer that came cannot be read ("length, nothing but reasoning; raise max_tokens"); "" where
            it can, or where nothing more is known than its text.
        served_model, served_fingerprint: who answered, by the server's own word; "" where it says nothing.
        answered_at: when, ISO 8601 in UTC; "" where nobody noted it.
        seconds: how long it took, retries included; nan where nobody measured.
    """

    place: int = 0
    value: float | None = None
    said_yes: bool | None = None
    margin: float = math.nan
    mass: float = math.nan
    probabilities: tuple[float, ...] = ()
    stated: float = math.nan
    raw_text: str = ""
    prompt_hash: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    error: str = ""
    unread: str = ""
    served_model: str = ""
    served_fingerprint: str = ""
    answered_at: str = ""
    seconds: float = math.nan

    @property
    def confidence(self) -> float | None:
        """Probability that it would say yes, or the probability that it stated."""
        if not math.isnan(self.stated):
            return self.stated
        return self.probabilities[0] if self.said_yes is not None and self.probabilities else None


@runtime_checkable
class Respondent(Protocol):
    """Anything that answers prompts."""

    @property
    def identity(self) -> Identity:
        """Who answers; the same for as long as the object lives."""
        ...

    def answer(self, prompts: Sequence[Prompt], instrument: Instrument) -> Iterator[Response]:
        """Answer every prompt, one response each, as they come; `Response.place` tells which is whose.

        What could not be read is a response too, without a value; so is a failed request, with its error.
        """
        ...


RESPONDENTS: dict[str, Callable[[int], Respondent]] = {}
"""Respondents of one's own by name, each made from a seed; models that are given by a name are looked for here first.

A model's checkpoint, provider or server needs no entry."""


def answers_in_order(respondent: Respondent, prompts: Sequence[Prompt], instrument: Instrument) -> list[Response]:
    """All responses, in the order of the prompts."""
    return sorted(respondent.answer(prompts, instrument), key=lambda response: response.place)


class Outspoken:
    """A respondent that shows no logits, where an instrument reads them: what it says counts whole.

    Margins are 1 for yes and -1 for no, masses 1, and all probability is on the option said; a mean over several forms
    is then a vote. What was shown stays as it is.

    Args:
        respondent: such as a provider's model.
    """

    def __init__(self, respondent: Respondent) -> None:
        self._respondent = respondent

    @property
    def identity(self) -> Identity:
        return self._respondent.identity

    def answer(self, prompts: Sequence[Prompt], instrument: Instrument) -> Iterator[Response]:
        for response in self._respondent.answer(prompts, instrument):
            yield response if isinstance(instrument.reader, TextReader) else counted_whole(response, instrument.scale)


def counted_whole(response: Response, scale: Scale) -> Response:
    """A response without logits with all probability on the option that it says; any other as it is."""
    if response.value is None or not math.isnan(response.mass):
        return response
    if scale.kind == "yes/no":
        option = int(response.value == 0)
    else:
        option = scale.values.index(response.value) if scale.kind == "probability" else int(response.value)
    margin = {True: 1.0, False: -1.0, None: math.nan}[response.said_yes]
    probabilities = tuple(float(place == option) for place in range(len(scale.options)))
    return replace(response, margin=margin, mass=1.0, probabilities=probabilities)


def response_from_logits(
    scale: Scale, logits: Sequence[float], mass: float, margin: float = math.nan, **rest: Any
) -> Response:
    """What the summed logits of each option say.

    Args:
        logits: logsumexp over the tokens of each option of the scale.
        mass: probability of all of them together; below the floor the answer is unread.
        margin: of yes over no, on that scale.
        rest: other fields of the response.
    """
    highest = max(logits)
    weights = [math.exp(value - highest) for value in logits]
    probabilities = tuple(weight / sum(weights) for weight in weights)
    value = said_yes = None
    if is_read(mass):
        if scale.kind == "yes/no":
            said_yes = margin > 0
            value = float(said_yes)
        else:
            likeliest = max(range(len(logits)), key=lambda option: logits[option])
            value = scale.values[likeliest] if scale.kind == "probability" else float(likeliest)
    stated = scale.expectation(probabilities)[0] if scale.kind == "probability" and value is not None else math.nan
    return Response(
        value=value, said_yes=said_yes, margin=margin, mass=mass, probabilities=probabilities, stated=stated, **rest
    )


def as_read(scale: Scale, value: float | None) -> dict[str, Any]:
    """Value, said_yes and stated of an answer of which only the value is known."""
    known = value is not None
    return {
        "value": value,
        "said_yes": value == 1.0 if known and scale.kind == "yes/no" else None,
        "stated": value if known and scale.kind == "probability" else math.nan,
    }


def response_from_text(scale: Scale, reader: TextReader, text: str, finished: bool = True, **rest: Any) -> Response:
    """What a written text says.

    Args:
        finished: False where it was cut off.
        rest: other fields of the response, such as its place.
    """
    value = reader.parse(text) if finished or not reader.must_finish else None
    return Response(**as_read(scale, value), raw_text=reader.trim(text), **rest)


def prompt_key(prompt: Prompt, instrument: Instrument) -> str:
    """Hash of what is asked and how it is read, before any chat template."""
    turns = [text for turn in prompt.earlier for text in turn]
    return sha256_of_text("\x1f".join([instrument.name, *turns, prompt.user, prompt.assistant_prefix]))
