"""What comes with the project and is called by a name: panels and questions in onedial/panels/data.

embedded      533 questions of fact, and what 26 respondents (4 base models) say of whether they can answer them
development   60 more questions, on which wordings are chosen; no run uses them
facts         200 questions about the world to be answered with yes or no, in pairs that differ in a word, one of each
              true; about nobody's ability
frontier      450 requests, and what 18 respondents (18 base models) say of whether they would answer them:
              about refusal, not ability
frontier-safe the 250 of these requests that are harmless
frontier-confidence
              1500 multiple-choice questions (MMLU), how confident 33 respondents (33 base models) were of their
              answers, in numbers, and which were correct; at least 95 of 100 is a yes, or what a name such as
              frontier-confidence:90 says
"""

from collections.abc import Iterable
from contextlib import ExitStack
from importlib.resources import as_file, files
from pathlib import Path

from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.core.suggestions import did_you_mean

NAMED_PANELS = {
    "embedded": ("panel.csv", "respondents.csv"),
    "frontier": ("frontier/panel.csv", "frontier/respondents.csv"),
    "frontier-confidence": ("frontier_confidence/answers.csv.gz", "frontier_confidence/respondents.csv"),
}
"""Name to files: the panel and what is known of its respondents; how it was asked stands in elicitation.yaml beside
them."""
NAMED_QUESTIONS = {
    "embedded": "questions.jsonl",
    "development": "development.jsonl",
    "facts": "facts.jsonl",
    "frontier": "frontier/panel.csv",
    "frontier-safe": "frontier/safe.csv",
    "frontier-confidence": "frontier_confidence/questions.csv.gz",
}
NOTES = {
    "frontier": "asked whether they would answer a request: about refusal, not ability",
    "frontier-safe": "harmless requests that models may refuse: about refusal, not ability",
    "frontier-confidence": "numbers stated after answering, of 1,500 questions; 126 are known by their beginning only, "
    "and nobody is asked them again",
}
"""What must be said wherever a name is used."""


def embedded_file(name: str, stack: ExitStack) -> Path:
    """The path of a file in onedial/panels/data, kept valid until the stack is closed.

    Raises:
        InputError: this installation lacks the file.
    """
    resource = files("onedial.panels").joinpath("data", *name.split("/"))
    if not resource.is_file():
        raise InputError(f"this installation lacks its data file onedial/panels/data/{name}; install the project again")
    return stack.enter_context(as_file(resource))


def beside(name: str, file: str) -> str:
    """The name in onedial/panels/data of a file in the same folder as another."""
    return f"{name.rpartition('/')[0]}/{file}".lstrip("/")


def say_what_it_is_about(name: str) -> None:
    """Give notice of what a reader must know of this name, where there is something."""
    if name in NOTES:
        notice(f"{name}: {NOTES[name]}")


def unknown_name(what: str, given: str, known: Iterable[str], otherwise: str) -> InputError:
    """The error for a name that nothing has: the nearest known one, all of them, and what else may be given.

    Args:
        what: "is no panel called" and so on follow "there". given: what came.
        known: names that would do. otherwise: "a file" and the like.
    """
    names = list(known)
    meant = did_you_mean(given, names) or ";"
    shown = ", ".join(f"{name} ({NOTES[name]})" if name in NOTES else name for name in names)
    return InputError(f"there {what} {given!r}{meant} known are {shown}; or give {otherwise}")
