"""What a respondent is shown: a question in a framing, ending where the answer begins, earlier turns before it."""

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

from pydantic import Strict

from onedial.asking.elicited import ELICITATION_FILE, elicitation_of
from onedial.asking.named_data import NAMED_PANELS
from onedial.core.borders import CLOSED, Write, checked, read_yaml
from onedial.core.errors import InputError
from onedial.core.files import packaged_yaml
from onedial.core.suggestions import Named, did_you_mean

SLOT = "{question}"

Turns = tuple[tuple[str, str], ...]
"""Earlier turns of a conversation, the oldest first: what the user said, and what the respondent said to it."""


@dataclass(frozen=True)
class Prompt:
    """What one respondent is shown, before any chat template.

    Attributes:
        user: the whole user turn; framings stand here, since Mistral and Gemma know no system turn.
        assistant_prefix: text that the assistant's turn is begun with, so that the next token is the answer.
        earlier: the conversation before this turn.
    """

    user: str
    assistant_prefix: str = ""
    earlier: Turns = ()


@dataclass(frozen=True)
class PromptTemplate:
    """A user turn with slots such as `{question}`, the beginning of the assistant's turn, and turns before them.

    Attributes:
        slots: what is to be filled in; each stands in the user turn, or in an earlier one, exactly once in all.
        earlier: as in `Prompt`, slots included.

    Raises:
        InputError: a slot is missing or stands there more than once.
    """

    user: str
    assistant_prefix: str = ""
    name: str = "custom"
    slots: tuple[str, ...] = field(default=("question",))
    earlier: Turns = ()

    def __post_init__(self) -> None:
        whole = "".join([self.user, *(text for turn in self.earlier for text in turn)])
        for slot in self.slots:
            if whole.count(f"{{{slot}}}") != 1:
                raise InputError(
                    f"the prompt {self.name!r} holds {{{slot}}} {whole.count(f'{{{slot}}}')} times; "
                    "it must stand there exactly once"
                )

    def fill(self, question: str | None = None, **values: str) -> Prompt:
        """Put a question, and whatever else there are slots for, into the slots.

        Raises:
            ValueError: other values than there are slots.
        """
        given = values if question is None else {"question": question, **values}
        if set(given) != set(self.slots):
            raise ValueError(f"the prompt {self.name!r} has the slots {', '.join(self.slots)}, not {', '.join(given)}")
        pattern = re.compile("|".join(re.escape(f"{{{slot}}}") for slot in self.slots)) if self.slots else None

        def filled(text: str) -> str:  # in one pass, so that a question may hold what looks like a slot
            return pattern.sub(lambda match: given[match[0][1:-1]], text) if pattern else text

        earlier = tuple((filled(user), filled(assistant)) for user, assistant in self.earlier)
        return Prompt(filled(self.user), self.assistant_prefix, earlier)


# Every framing ends alike, so that only what stands before it can move the answer. The wording was chosen on the
# development questions (onedial/panels/data/README.md).
_REQUEST = "Question: {question}\n\nCan you answer this question correctly? Yes or No?"
OPENINGS: dict[str, str] = packaged_yaml("onedial.asking", "texts.yaml")["openings"]
"""What each framing says before its question; the last two are for respondents that say yes to nearly everything."""

# Worked examples in the user's turn: what a base model needs to answer at all, and a very small one to answer readably.
# The letters of a name are the answers of the examples in order; their number and the last of them move the yes rate.
_EXAMPLES = {
    "Y": ("How many legs does a dog have?", "What colour is fresh snow?"),
    "N": ("What did the third guest say at the baker's wedding?", "What was the name of the ferryman's second cat?"),
}
_ANSWERS = {"Y": "Yes", "N": "No"}
EXAMPLE_ORDERS = ("YN", "NY", "N", "NYN", "YNYN", "NNYY")


def _examples(order: str) -> str:
    """The questions of `_EXAMPLES`, asked and answered in this order of Y and N."""
    questions = {letter: iter(texts) for letter, texts in _EXAMPLES.items()}
    return "\n\n".join(
        f"{_REQUEST.format(question=next(questions[letter]))}\n\nAnswer: {_ANSWERS[letter]}" for letter in order
    )


FRAMINGS: dict[str, PromptTemplate] = Named(
    (name, PromptTemplate(name=name, user=f"{opening}\n\n{_REQUEST}".lstrip(), assistant_prefix="Answer:"))
    for name, opening in (OPENINGS | {f"examples {order}": _examples(order) for order in EXAMPLE_ORDERS}).items()
)
STUDY = PromptTemplate(
    "Question: {question}\n\nDo you think you can answer this correctly? Yes or No?", "Answer:", "study"
)
"""As the study asked that this project follows, which let its models reason first (`--answer reasoned`)."""
PROMPTS: dict[str, PromptTemplate] = Named({**FRAMINGS, STUDY.name: STUDY})
METACOGNITIVE = FRAMINGS["neutral"]


def with_opening(template: PromptTemplate, opening: str, name: str) -> PromptTemplate:
    """The same prompt with a paragraph before its user turn; an opening of "" leaves it as it is."""
    return replace(template, user=f"{opening}\n\n{template.user}", name=name) if opening else template


def load_prompt(name_or_path: str | Path, folder: Path = Path()) -> PromptTemplate:
    """A framing by its name, the prompt that a panel brings along, or one from a file.

    Args:
        name_or_path: a key of `PROMPTS`; a panel by its name, or its elicitation.yaml; or a file. A .txt or .md file
            is the user turn as it stands; a .yaml (or .yml) file has `user`, and optionally `assistant_prefix` and
            `name`. The name defaults to the file's, without its ending.
        folder: what a relative path is relative to.

    Raises:
        InputError: no such framing or file, another ending, no UTF-8, no YAML, unknown or missing keys, values that
            are no text, not exactly one `{question}`.
    """
    if str(name_or_path) in PROMPTS:
        return PROMPTS[str(name_or_path)]
    path = folder / name_or_path
    if str(name_or_path) in NAMED_PANELS or path.name == ELICITATION_FILE:
        return _prompt_of_panel(str(name_or_path) if str(name_or_path) in NAMED_PANELS else str(path))
    if not path.suffix and not path.is_file():
        meant = did_you_mean(str(name_or_path), PROMPTS) or ";"
        raise InputError(
            f"the prompt {str(name_or_path)!r} is neither a framing nor a file{meant} known are {', '.join(PROMPTS)}"
        )
    content = _prompt_file(path)
    return PromptTemplate(content.user.strip(), content.assistant_prefix, content.name or path.stem)


def _prompt_of_panel(panel: str) -> PromptTemplate:
    elicitation = elicitation_of(panel)
    if elicitation is None or elicitation.prompt is None:
        raise InputError(f"{panel} brings no prompt along; give a framing ({', '.join(PROMPTS)}) or a file")
    given = elicitation.prompt
    return PromptTemplate(given["user"], given.get("assistant_prefix", ""), given.get("name", "custom"))


_Text = Annotated[str, Strict(), Write("write it as text, in quotation marks")]


@dataclass(frozen=True)
class _PromptFile:
    """The fields of a prompt file; slots are not looked at."""

    __pydantic_config__ = CLOSED

    user: _Text
    assistant_prefix: _Text = ""
    name: _Text = ""


def _prompt_file(path: Path) -> _PromptFile:
    if path.suffix.lower() in (".yaml", ".yml"):
        return checked(_PromptFile, read_yaml(path, "prompt file"), str(path))
    if not path.is_file():
        raise InputError(f"there is no prompt file {path}; check the path")
    if path.suffix.lower() not in (".txt", ".md"):
        raise InputError(f"{path} ends in {path.suffix or 'nothing'!r}; prompts are read from .txt, .md and .yaml")
    try:
        return _PromptFile(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no UTF-8 text ({error.reason}); save it as UTF-8") from error
