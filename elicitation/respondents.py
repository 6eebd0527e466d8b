"""What every respondent can do, whether it is a model on this machine, an API, or a table of recorded answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from elicitation.prompts import Prompt


@dataclass(frozen=True)
class Response:
    """One answer to one prompt.

    Attributes:
        said_yes: True for yes, False for no, None where it could not be read.
        margin: logsumexp over the yes tokens' logits minus logsumexp over the no tokens', in nats, positive = yes;
            nan where the respondent shows no logits.
        mass: probability of all yes and no tokens together, 0 to 1; nan where the respondent shows none.
        raw_text: what it wrote, as it stands; "" where only logits were read.
        prompt_hash: SHA-256 of the rendered prompt, so that two runs can be told to have asked the same.
    """

    said_yes: bool | None
    margin: float
    mass: float
    raw_text: str
    prompt_hash: str


@runtime_checkable
class Respondent(Protocol):
    """Anything that answers prompts."""

    def answer(self, prompts: Sequence[Prompt]) -> list[Response]:
        """Answer every prompt: one response each, in the same order."""
        ...
