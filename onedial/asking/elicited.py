"""How a panel was asked, and what its table means: a YAML file beside it, elicitation.yaml, that travels with it.

    question: Would you answer this request?     # what was asked of each question; a subject is asked the same
    paraphrased: true                            # these are our words, not the panel's own (default false)
    when: before                                 # before (default) or after the question itself was answered
    reasoned: true                               # whether a reasoning came first; left out where nobody knows
    answer: yes/no                               # yes/no (default), or number
    yes: ["Yes, I can", ja]                      # further spellings of yes and no in the table; codes, such as 1 and 2
    no: [nein]
    blank: [refused, "?"]                        # further words for a blank (NA, N/A, null, None and - are known)
    top: 100                                     # the number that stands for certain; no scale is told by the numbers
    cut: 95                                      # at least this number is a yes (number), or median: each one's own
    prompt: {user: "Request: {question} ...", assistant_prefix: "Answer:"}     # what a subject is shown
    columns: {answered_correctly: correct}       # our name of a column: the table's
    about: [source, year]                        # columns of a wide table that hold no answers
    turned: name                                 # a row is a respondent, who is named in this column
    questions: questions.csv                     # files beside the panel with question_id, question, topic and more
    asked: "2025"                                # when
    licence: CC BY 4.0
    source: where it comes from

No key is required. A prompt asks the same question where it holds `question` word for word; which letters are capitals
and how words are parted does not count.
"""

import math
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Strict

from onedial.asking.named_data import NAMED_PANELS, beside, embedded_file
from onedial.asking.questions import normalised_text
from onedial.core.borders import CLOSED, Write, checked, read_yaml
from onedial.core.errors import InputError

ELICITATION_FILE = "elicitation.yaml"
YES_OR_NO: Literal["yes/no"] = "yes/no"
NUMBER = "number"
BEFORE: Literal["before"] = "before"
AFTER = "after"
MEDIAN = "median"

Cut = float | str
"""At least this number is a yes; `MEDIAN` stands for each respondent's own."""
_SPELT: dict[Any, str] = {True: "yes", False: "no"}
"""YAML 1.1 reads a bare yes or no as true or false, in keys too."""


def cut_of(value: Any) -> Cut:
    """A number, or `MEDIAN`.

    Raises:
        ValueError: anything else.
    """
    if value == MEDIAN:
        return MEDIAN
    if isinstance(value, bool) or not math.isfinite(float(value)):
        raise ValueError("no number")
    return float(value)


def _text(value: Any) -> str:
    if isinstance(value, bool | Mapping | list) or value is None or not str(value).strip():
        raise ValueError("no text")
    return str(value).strip()


def _texts(value: Any) -> tuple[str, ...]:
    values = value if isinstance(value, list | tuple) else [value]
    return tuple(_SPELT[each] if isinstance(each, bool) else _text(each) for each in values)


def _mapping(value: Any) -> dict[str, str]:
    return {_text(key): _text(each) for key, each in dict(value).items()}


def _prompt(value: Any) -> dict[str, str]:
    content = _mapping(value)
    if "user" not in content or not content.keys() <= {"user", "assistant_prefix", "name"}:
        raise ValueError("no prompt")
    return content


def _top(value: Any) -> float:
    if isinstance(value, bool) or not float(value) > 0:
        raise ValueError("not above 0")
    return float(value)


_Words = Annotated[str, BeforeValidator(_text), Write("write it as text")]
_List = Annotated[tuple[str, ...], BeforeValidator(_texts), Write("write one text or a list of them")]
_Switch = Annotated[bool, Strict(), Write("write true or false")]
_Known = Annotated[bool | None, Strict(), Write("write true or false")]


@dataclass(frozen=True)
class Elicitation:
    """How a panel was asked; see the module's text for each attribute.

    Attributes:
        prompt: user, and optionally assistant_prefix and name, as in a prompt file; None where the file has none.
    """

    __pydantic_config__ = CLOSED

    question: Annotated[
        str, BeforeValidator(_text), Write("write what was asked, like question: Would you answer this request?")
    ] = ""
    paraphrased: _Switch = False
    when: Annotated[Literal["before", "after"], Write("write before or after")] = BEFORE
    reasoned: _Known = None
    answer: Annotated[Literal["yes/no", "number"], Write("write yes/no or number")] = YES_OR_NO
    yes: _List = ()
    no: _List = ()
    blank: _List = ()
    top: Annotated[float | None, BeforeValidator(_top), Write("write a number above 0")] = None
    cut: Annotated[Cut | None, BeforeValidator(cut_of), Write("write a number, or median")] = None
    prompt: Annotated[
        dict[str, str] | None, BeforeValidator(_prompt), Write("write user, and if wanted assistant_prefix and name")
    ] = None
    columns: Annotated[dict[str, str], BeforeValidator(_mapping), Write("write OURS: THEIRS")] = field(
        default_factory=dict
    )
    about: _List = ()
    turned: _Words = ""
    questions: _List = ()
    asked: _Words = ""
    licence: _Words = ""
    source: _Words = ""

    def in_words(self) -> str:
        """How it was asked, in half a sentence; "" where nothing says in which words."""
        if not self.question:
            return ""
        words = f"asked {'in other words, ' if self.paraphrased else ''}“{self.question}”"
        form = "for yes or no" if self.answer == YES_OR_NO else f"for {self._a_number}"
        reasoned = {True: ", after a reasoning", False: ", without a reasoning", None: ""}[self.reasoned]
        return f"{words} {form}, {self.when} answering{reasoned}" + (f", {self.asked}" if self.asked else "")

    @property
    def _a_number(self) -> str:
        return "a number" if self.top is None else f"a number from 0 to {self.top:g}"

    def otherwise(self, prompt: str) -> list[str]:
        """In what a subject that is asked for yes or no before it answers anything is asked otherwise.

        Args:
            prompt: what the subject is shown.

        Returns:
            One clause for each difference in question, moment and form; empty where there is none. Whether a
            reasoning came first is another matter (`onedial.panels.inputs.ExperimentInputs.elicited_otherwise`).
        """
        differences = []
        if self.question and f" {normalised_text(self.question)} " not in f" {normalised_text(prompt)} ":
            differences.append(f"the panel was asked “{self.question}”, the subject something else")
        if self.when == AFTER:
            differences.append("the panel was asked after answering, the subject is asked before")
        if self.answer == NUMBER:
            differences.append(f"the panel stated {self._a_number}, the subject says yes or no")
        return differences

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without what is blank."""
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        return {name: value for name, value in plain.items() if value not in ("", [], {}, None)}


def how_asked(elicitation: Elicitation | None, prompt: str) -> dict[str, Any]:
    """For a run's manifest: how the panel was asked (None where it does not say) and in what the subject otherwise.

    Args:
        prompt: what the subject is shown, with or without a question in it.
    """
    return {
        "panel": None if elicitation is None else elicitation.to_dict(),
        "panel_in_words": "" if elicitation is None else elicitation.in_words(),
        "otherwise": [] if elicitation is None else elicitation.otherwise(prompt),
    }


def read_elicitation(path: Path, declared: Mapping[str, Any] | None = None) -> Elicitation:
    """Read an elicitation.yaml.

    Args:
        declared: by its keys, what goes before what the file says.

    Raises:
        InputError: no YAML, an unknown key, or a value that its key cannot have.
    """
    content = read_yaml(path, "file on how a panel was asked") if path.is_file() or not declared else {}
    if isinstance(content, dict):
        content = {_SPELT.get(key, key): value for key, value in content.items()} | dict(declared or {})
    elicitation = checked(Elicitation, content, str(path) if path.is_file() or not declared else "what is declared")
    if elicitation.answer == YES_OR_NO and elicitation.cut is not None:
        raise InputError(f"{path} gives a cut, but the answers are yes and no; write answer: number, or leave it out")
    return elicitation


def panel_and_cuts(given: str) -> tuple[str, tuple[Cut, ...], float | None]:
    """A panel as it is named, the cuts behind its colon ("frontier-confidence:90,95" has 90 and 95), and what stands
    for certain, where that is said ("panel.csv:8/10" has 10).

    Raises:
        InputError: what follows the name of a panel is no cut, or stands twice.
    """
    name, colon, behind = given.rpartition(":")
    if not colon or not name or Path(given).exists():
        return given, (), None
    try:
        cuts_named, slash, certain = behind.partition("/")
        cuts = tuple(cut_of(each.strip()) for each in cuts_named.split(","))
        top = _top(certain) if slash else None
    except ValueError:
        if name not in NAMED_PANELS and not Path(name).exists():
            return given, (), None
        raise InputError(
            f"the panel {given!r} has no cut that can be read; write {name}:CUT/TOP, {name}:CUT,CUT or {name}:median"
        ) from None
    if len(set(cuts)) < len(cuts):
        raise InputError(f"the panel {given!r} names a cut twice; name each once")
    return name, cuts, top


def elicitation_of(panel: str, declared: Mapping[str, Any] | None = None) -> Elicitation | None:
    """How a panel was asked, by its name or file; None where no elicitation.yaml says so and nothing is declared.

    Raises:
        InputError: as `read_elicitation`.
    """
    name, *_ = panel_and_cuts(panel)
    with ExitStack() as stack:
        if name in NAMED_PANELS:
            file = embedded_file(beside(NAMED_PANELS[name][0], ELICITATION_FILE), stack)
            return read_elicitation(file, declared)
        path = Path(name).parent / ELICITATION_FILE
        return read_elicitation(path, declared) if declared or path.is_file() else None


def prompt_of_panel(panel: str) -> str | None:
    """What `load_prompt` takes for the prompt that a panel brings along; None where it brings none."""
    elicitation = elicitation_of(panel)
    if elicitation is None or elicitation.prompt is None:
        return None
    name, *_ = panel_and_cuts(panel)
    return name if name in NAMED_PANELS else str(Path(name).parent / ELICITATION_FILE)
