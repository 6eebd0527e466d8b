"""The one text that a respondent is asked: a question, in a framing, ending where the answer begins."""

from dataclasses import dataclass

from common import InputError

SLOT = "{question}"


@dataclass(frozen=True)
class Prompt:
    """What one respondent is shown, before any chat template.

    Attributes:
        user: the whole user turn; framings stand here, since Mistral and Gemma know no system turn.
        assistant_prefix: text that the assistant's turn is begun with, so that the next token is the answer.
    """

    user: str
    assistant_prefix: str = ""


@dataclass(frozen=True)
class PromptTemplate:
    """A user turn with one `{question}` slot, and the beginning of the assistant's turn."""

    user: str
    assistant_prefix: str = ""
    name: str = "custom"

    def __post_init__(self) -> None:
        if self.user.count(SLOT) != 1:
            raise InputError(
                f"the prompt {self.name!r} holds {SLOT} {self.user.count(SLOT)} times; it must stand there exactly once"
            )

    def fill(self, question: str) -> Prompt:
        """Put one question into the slot."""
        return Prompt(self.user.replace(SLOT, question), self.assistant_prefix)


METACOGNITIVE = PromptTemplate(
    name="neutral",
    user=(
        "Here is a question of general knowledge.\n\n"
        "Question: {question}\n\n"
        "Do you think you can answer this question correctly? Reply with one word, Yes or No."
    ),
    assistant_prefix="Answer:",
)
