"""Where a model behind a provider or a server is found, and how it is asked; the key itself never stands here."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from onedial.core.errors import InputError

ROOM = {"direct": 256, "closed book": 256, "reasoned": 2048}
"""Tokens that may be written by default; models that are asked for one word rarely use them."""
ROOM_TO_REASON = 8192
"""The same where a reasoning effort is asked for: what a model thinks to itself counts too."""
NO_KEY = "none"
TOP_LOGPROBS = 20
"""Likeliest tokens that are asked for; few servers show more, and some refuse so many."""


@dataclass(frozen=True)
class ProviderModel:
    """A model that somebody else runs.

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
    """

    model: str
    provider: str = ""
    server: str = ""
    key: str = field(default="", repr=False)
    temperature: float | None = None
    reasoning_effort: str | None = None
    max_tokens: int | None = None
    connections: int | None = None
    retries: int = 8
    timeout: int = 600
    top_logprobs: int = TOP_LOGPROBS
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)

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

    def room(self, instrument: str) -> int:
        """How many tokens may be written.

        Args:
            instrument: direct, reasoned or closed book.
        """
        if self.max_tokens is not None:
            return self.max_tokens
        return ROOM_TO_REASON if self.reasoning_effort not in (None, "none") else ROOM[instrument]

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


def known_secrets() -> list[str]:
    """Every value in the environment that may be a key, longest first: none of them may be written anywhere."""
    marks = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL")
    values = {value for name, value in os.environ.items() if any(mark in name.upper() for mark in marks)}
    return sorted((value for value in values if len(value) >= 8), key=len, reverse=True)


def without_secrets(text: str, secrets: list[str]) -> str:
    """The text, with "[key]" wherever one of the secrets stands in it."""
    for secret in secrets:
        text = text.replace(secret, "[key]")
    return text
