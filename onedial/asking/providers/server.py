"""A server that speaks OpenAI's protocol of chat completions, by inspect_ai's class for one.

By the protocol a completion has choices; a choice has a message, whose content is a text or a list of typed parts, and
ends by one of `_ENDS`. Whatever is off it is a failed request, in the server's own words where it sent any.
"""

from collections.abc import Mapping
from typing import Any

from inspect_ai.model._providers.openai_compatible import OpenAICompatibleAPI

from onedial.asking.providers.attempts import ErrorInsteadOfAnswer

_ENDS = ("stop", "length", "content_filter", "tool_calls", "function_call")
_TEXTS, _THOUGHTS = ("text", "output_text"), ("thinking", "reasoning")
"""Types of parts that are said, and of those that are thought before."""


class Server(OpenAICompatibleAPI):  # type: ignore[misc]  # inspect_ai is an optional extra
    """Fulfils inspect_ai's `ModelAPI`; both methods are those that it leaves to its subclasses."""

    def on_response(self, response: dict[str, Any]) -> None:
        """Look at what came.

        Raises:
            ErrorInsteadOfAnswer: it is no completion; gateways send errors with status 200, too.
        """
        if not response.get("choices"):
            raise ErrorInsteadOfAnswer(response.get("error") or response)
        for choice in response["choices"]:
            end = choice.get("finish_reason")
            if choice.get("error"):
                raise ErrorInsteadOfAnswer(choice["error"])
            if end not in _ENDS:
                raise ErrorInsteadOfAnswer(f"the server ended its answer by {end!r}, without a reason")
            if choice.get("message") is None:
                raise ErrorInsteadOfAnswer("the server sent a choice without a message")

    def chat_choices_from_completion(self, completion: Any, tools: Any) -> Any:
        """The choices, a content in parts as one text, beside which thoughts are its reasoning.

        Raises:
            ErrorInsteadOfAnswer: a part of another type.
        """
        for choice in completion.choices:
            message = choice.message
            if isinstance(message.content, str | None):
                continue
            kinds = [part.get("type") if isinstance(part, Mapping) else None for part in message.content]
            if other := set(kinds) - {*_TEXTS, *_THOUGHTS}:
                raise ErrorInsteadOfAnswer(f"the server sent a content with parts that are no text ({other})")
            parts = list(zip(kinds, message.content, strict=True))
            message.content = "".join(str(part["text"]) for kind, part in parts if kind in _TEXTS)
            if thoughts := [part for kind, part in parts if kind in _THOUGHTS]:
                message.reasoning_content = str(thoughts)
        return super().chat_choices_from_completion(completion, tools)
