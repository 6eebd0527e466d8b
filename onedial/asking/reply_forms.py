"""How a reply is asked for so that it can be read: held to a schema, on a last line, or in words alone.

    schema   the server holds the reply to a JSON schema with the field `answer`
    line     the reply is to end with a line `Answer: ...`, where the instrument's words leave open how it is written
    free     in these words alone ("Reply with the four labels alone, separated by commas")

Which of them is said of a model of a provider or server (`ProviderModel.replies`); a model on this machine goes on from
the words that begin its reply ("Words:"). What comes is kept as it was written; `ReplyForm.said` takes the answer out,
in words that `onedial.asking.readers` know.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from onedial.asking.prompts import Prompt
from onedial.asking.replies import without_thoughts

Replies = Literal["schema", "line", "free"]
FIELD = "answer"
_LINE = re.compile(r"\W*answer\W*:\s*(\S.*)", re.IGNORECASE)


@dataclass(frozen=True)
class ReplyForm:
    """What an instrument's answer is made of.

    Attributes:
        schema: JSON schema of the answer.
        written: the answer by this schema -> words that the readers know.
        line: what stands behind "Answer:" on the last line, as it is asked for; "" where the instrument's words say
            already how the whole reply is written.
        before: what is written ahead of the answer in a schema, such as a reasoning.
    """

    schema: Mapping[str, Any]
    written: Callable[[Any], str] = str
    line: str = ""
    before: tuple[str, ...] = ()

    @property
    def of_reply(self) -> dict[str, Any]:
        """JSON schema of the whole reply."""
        fields = {**{name: {"type": "string"} for name in self.before}, FIELD: dict(self.schema)}
        return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}

    def with_line(self, prompt: Prompt) -> Prompt:
        """The same prompt with the request for a last line."""
        asked = f'End your reply with a line that says only "Answer:" and {self.line}.'
        return replace(prompt, user=f"{prompt.user}\n\n{asked}") if self.line else prompt

    def said(self, text: str) -> str:
        """The answer in a reply: a schema's field, or a last line; the whole where it has neither.

        "" where a reply to a schema is broken off; an answer of another kind is left to the readers as it stands.

        >>> WORDS.said('{"answer": ["sea", "salt"]}'), WORDS.said('{"answer": ["sea", "sa'), WORDS.said("sea, salt")
        ('sea, salt', '', 'sea, salt')
        >>> PERCENT.said("One of two, so 50%, or more.\\nAnswer: 60")
        '60'
        """
        bare = without_thoughts(text)
        if re.match(rf'\{{\s*"(?:{"|".join([*self.before, FIELD])})"\s*:', bare):
            try:
                reply = json.loads(bare, strict=False)
            except ValueError:
                return ""
            return self.written(reply[FIELD]) if _fits(reply.get(FIELD), self.schema) else text
        last = _LINE.fullmatch(next(reversed(bare.splitlines()), "")) if self.line else None
        return last[1] if last else text


def _fits(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether a value is of a schema's types."""
    if schema["type"] == "array":
        return isinstance(value, list) and all(_fits(each, schema["items"]) for each in value)
    if schema["type"] == "object":
        return isinstance(value, dict) and all(
            _fits(value.get(name), field) for name, field in schema["properties"].items()
        )
    return type(value) in {"string": (str,), "integer": (int,), "number": (int, float)}[schema["type"]]


def _list_of(kind: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": dict(kind)}


def _rows_of(**fields: Mapping[str, Any]) -> dict[str, Any]:
    row = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    return _list_of(row)


def _numbered(mark: str, values: list[str]) -> str:
    return "\n".join(f"{mark}{number}{'.' if not mark else ':'} {each}" for number, each in enumerate(values, start=1))


_TEXT, _WHOLE, _NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}
WORDS = ReplyForm(_list_of(_TEXT), ", ".join)
PERCENT = ReplyForm(_WHOLE, "{:d}%".format, "the percentage")
RATINGS = ReplyForm(
    _rows_of(statement=_TEXT, rating=_WHOLE),
    lambda rows: "\n".join(f"{row['statement']}: {row['rating']:d}" for row in rows),
)
GUESSES = ReplyForm(
    _rows_of(guess=_TEXT, percent=_NUMBER),
    lambda rows: _numbered("", [f"{row['guess']}: {row['percent']:g}%" for row in rows]),
)
STEPS = ReplyForm(_list_of(_TEXT), lambda steps: _numbered("Step ", steps))
SHORT = ReplyForm(_TEXT)
YES_OR_NO_LAST = ReplyForm({"type": "string", "enum": ["Yes", "No"]}, "Answer: {}".format, before=("reasoning",))
