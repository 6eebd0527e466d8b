"""Where a model behind a provider or a server is found, and how it is asked; the key itself never stands here."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any
from urllib.parse import urlsplit

from annotated_types import Ge, Len
from pydantic import AfterValidator, BeforeValidator, Strict

from onedial.asking.instruments import Instrument, TokenReader
from onedial.asking.prompts import Prompt
from onedial.asking.reply_forms import Replies
from onedial.asking.respondents import Identity
from onedial.core.borders import CLOSED, Write
from onedial.core.errors import InputError

ROOM = {"direct": 256, "closed book": 256, "reasoned": 2048}
"""Tokens that may be written by default; models that are asked for one word rarely use them."""
ROOM_TO_REASON = 8192
"""The same where a reasoning effort is asked for: what a model thinks to itself counts too."""
NO_KEY = "none"
TOP_LOGPROBS = 20
"""Likeliest tokens that are asked for; few servers show more, and some refuse so many."""


def _text(value: Any) -> Any:
    """A name may look like a number (4.1)."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _bare(server: str) -> str:
    """An address goes into logs: no password may stand in it, and nothing that looks like one."""
    parts = urlsplit(server)
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("a secret")
    return server


def _variable(key: str) -> str:
    if not re.fullmatch(r"[A-Z][A-Z0-9_]*", key):
        raise ValueError("no name of a variable")
    return key


Text = Annotated[str, BeforeValidator(_text), Write("write text")]
Count = Annotated[int, Strict(), Ge(1)]
Number = Annotated[int, Strict(), Ge(0)] | Annotated[float, Strict(), Ge(0)]
_Whole = Write("write a whole number")


@dataclass(frozen=True)
class ProviderModel:
    """A model that somebody else runs, as a file of respondents gives it too.

    Attributes:
        model: its name there.
        provider: as inspect_ai names it (openai, anthropic, google, mistral, openrouter, vllm, ...); "" for any server
            that speaks OpenAI's protocol.
        server: its address, such as http://127.0.0.1:8000/v1; needed where there is no provider.
        key: name of the environment variable that holds the key; "" for the one that the provider's library reads.
        temperature, reasoning_effort, max_tokens: None for the provider's own, and for `ROOM`.
        connections: at most so many requests at once; None for 32.
        retries: of a request that was refused for the time being, or failed on the way, waiting longer each time.
        timeout: seconds until an attempt counts as failed.
        top_logprobs: how many of the likeliest tokens are asked for.
        extra: further fields of each request, such as {"enable_thinking": False}.
        logprobs: ask for the first tokens' probabilities where an instrument reads tokens; some models refuse that.
        replies: how texts are asked for so that they can be read (`onedial.asking.reply_forms`).
    """

    __pydantic_config__ = CLOSED

    model: Annotated[str, BeforeValidator(_text), Len(1), Write("give its name")]
    provider: Text = ""
    server: Annotated[
        str,
        AfterValidator(_bare),
        Write(
            "write the bare address, since logs would keep a name, a password or a query in it; give a secret as "
            "`key`, by the name of an environment variable",
            hidden=True,
        ),
    ] = ""
    key: Annotated[
        str,
        Strict(),
        AfterValidator(_variable),
        Write(
            "it is no name of an environment variable (capitals, digits, _): never write a key into a file, export it, "
            "and write the variable's name",
            hidden=True,
        ),
    ] = field(default="", repr=False)
    temperature: Annotated[Number | None, Write("write a number from 0 on")] = None
    reasoning_effort: Annotated[str | None, BeforeValidator(_text), Write("write text")] = None
    max_tokens: Annotated[Count | None, _Whole] = None
    connections: Annotated[Count | None, _Whole] = None
    retries: Annotated[int, Strict(), Ge(0), _Whole] = 8
    timeout: Annotated[Count, _Whole] = 600
    top_logprobs: Annotated[Count, _Whole] = TOP_LOGPROBS
    extra: Annotated[Mapping[str, Any], Write("write fields, as {enable_thinking: false}")] = field(
        default_factory=dict, hash=False
    )
    logprobs: Annotated[bool, Strict(), Write("write true or false")] = True
    replies: Annotated[Replies, Write("write schema (of a server that knows JSON schemas), line or free")] = "line"

    @property
    def identity(self) -> Identity:
        """Nobody can know the fingerprint of its weights; its settings are told."""
        parts = {"temperature": self.temperature, "reasoning effort": self.reasoning_effort, **self.extra}
        setting = ", ".join(f"{name} {value}" for name, value in parts.items() if value is not None)
        return Identity(self.model, "", setting)

    @property
    def inspect_name(self) -> str:
        """The name by which inspect_ai finds it."""
        return f"{self.provider or 'openai-api/server'}/{self.model}"

    @property
    def what_is_asked(self) -> str:
        """What tells its answers from those of other settings; the address is no part of it, for servers move."""
        settings = (self.temperature, self.reasoning_effort, self.max_tokens)
        known = [self.inspect_name, *("" if each is None else str(each) for each in settings)]
        return "\x1f".join(known + ([json.dumps(self.extra, sort_keys=True)] if self.extra else []))

    @property
    def reasons(self) -> bool:
        """Whether it is asked to think to itself first."""
        return self.reasoning_effort not in (None, "none")

    def shows(self, instrument: Instrument) -> bool:
        """Whether it is asked for the likeliest tokens of the answer."""
        return isinstance(instrument.reader, TokenReader) and self.logprobs and not self.reasons

    def asks_for(self, instrument: Instrument) -> Replies:
        """How a reply to this instrument is asked for: freely where its tokens are shown, or it has no form."""
        form = instrument.form
        if form is None or self.shows(instrument) or (self.replies == "line" and not form.line):
            return "free"
        return self.replies

    def prompt_for(self, prompt: Prompt, instrument: Instrument) -> Prompt:
        """The prompt as it goes out."""
        is_line = instrument.form is not None and self.asks_for(instrument) == "line"
        return instrument.form.with_line(prompt) if is_line and instrument.form else prompt

    def room_for(self, instrument: Instrument) -> int:
        """How many tokens may be written; a text that has no `ROOM` of its own is asked for directly, however it
        reasons.
        """
        if self.max_tokens is not None:
            return self.max_tokens
        name = "direct" if isinstance(instrument.reader, TokenReader) else instrument.name
        return ROOM_TO_REASON if self.reasons and name in ROOM else ROOM.get(name, ROOM["direct"])

    def key_value(self) -> str | None:
        """The key; None leaves it to the provider's library, and a server that asks for none gets `NO_KEY`.

        Raises:
            InputError: the environment variable is not set.
        """
        if not self.key:
            return None if self.provider else NO_KEY
        value = os.environ.get(self.key)
        if not value:
            raise InputError(f"the key of {self.model} is to stand in ${self.key}, which is not set; export it first")
        return value

    def secrets(self) -> list[str]:
        """Its key, and every value in the environment that may be one, longest first: none of them may be written."""
        marks = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")
        values = {value for name, value in os.environ.items() if any(mark in name.upper() for mark in marks)}
        values.add(self.key_value() or "")
        return sorted((value for value in values if len(value) >= 8), key=len, reverse=True)
