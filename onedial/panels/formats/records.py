"""What every reader of a foreign log gives: runs, each with one record per item and repetition.

A record says what was asked, what came back, and what the log itself makes of it. What that means for a panel (was it
"can you answer this?" or the question itself?) is decided later, for a run as a whole
(`onedial.panels.formats.imported_panel`).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from onedial.asking.replies import how_ended
from onedial.asking.tables import read_table
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.panels.cuts import PERCENT
from onedial.panels.spellings import Spellings

NAN = float("nan")
ASKED_AS = ("respondent", "test", "instrument", "seed")
"""What a log of ours says of each answer."""
_FIRST_LINE = 1 << 24
"""Characters of a file's first line that are looked at to tell its format."""
UNREAD = "unread"
"""Why an answer is blank that came back, but is neither yes nor no."""
_ENDS = ("finish_reason", "stop_reason", "done_reason", "finishReason", "stopReason", "native_finish_reason")
"""Under which names a log tells how an answer ended."""


@dataclass(frozen=True)
class LogRecord:
    """One answer of one model to one item, or the reason why there is none.

    Attributes:
        item: the item's id in its task; "" where it has none, and goes by its question.
        prompt: what was asked, as far as the log tells; "" where it does not.
        turns: all that was said before the answer, turn by turn; empty where that is the prompt alone.
        text: what the model wrote; None where the log holds no text (only log-likelihoods, or nothing at all).
        question: the question without its prompt, where the log has it by itself.
        options: of a multiple choice, in their order.
        accepted: the log's target or references, as texts.
        topic: where the log has one.
        said_yes: where the log gives it outright (log-likelihoods of yes and no, a column of a table).
        margin: log-odds of yes in nats where the log gives both; nan.
        mass: probability of yes and no together; nan.
        scores: name of a score to whether it says correct; None where it says neither.
        confidence: a stated probability of being right, 0 to 1; nan.
        finished: False where it was cut off (`length`, `max_tokens`), or where its prompt has left a thought open that
            does not close: what is said on the way is no answer.
        failed: why this is no answer ("error", "limit", "invalidated", ...); None where it is one.
        uid: identifies this very answer among all logs; "" where the log has none.
        asked_as: of a log of ours, `ASKED_AS` by name; else empty.
    """

    item: str
    prompt: str = ""
    turns: tuple[str, ...] = ()
    text: str | None = None
    question: str | None = None
    options: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()
    topic: str | None = None
    said_yes: bool | None = None
    margin: float = NAN
    mass: float = NAN
    scores: Mapping[str, bool | None] = field(default_factory=dict)
    confidence: float = NAN
    finished: bool = True
    failed: str | None = None
    uid: str = ""
    asked_as: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """A log that is not what it seems fails here, where its reader can name it."""
        texts = [self.item, self.prompt, *self.turns, self.uid, *self.options, *self.accepted, *self.scores]
        texts += [text for text in (self.text, self.question, self.topic, self.failed) if text is not None]
        wrong = [text for text in texts if not isinstance(text, str)]
        if wrong or not all(value in (True, False, None) for value in self.scores.values()):
            raise TypeError(f"{wrong[0] if wrong else self.scores!r} where a text or a score belongs")


@dataclass(frozen=True)
class LogRun:
    """One model under one task with one configuration.

    Attributes:
        source: the file or folder.
        format: the key of the reader.
        model: its name as the log gives it.
        task: what was run.
        settings: what else tells this run from another of the same model and task (temperature, arguments).
        records: in the log's order.
        scores_are_of_the_question: whether the scores tell if the question itself was answered correctly, also where
            the run asked for a yes or no.
        asked: "yes-no" or "question" where the log's own columns say it (`onedial.panels.formats.asked`).
        about: versions and the like, for the report.
        grading: of its questions.
    """

    source: str
    format: str
    model: str
    task: str
    settings: Mapping[str, str]
    records: tuple[LogRecord, ...]
    scores_are_of_the_question: bool = False
    asked: str | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    grading: str = "text"

    __repr__ = one_line


@dataclass(frozen=True)
class LogChoices:
    """What the user chose for all readers.

    Attributes:
        columns: our name to the column of a table, or to the field of a log (dots go down: "scores.conf").
        confidence_scale: what a stated confidence calls certainty, such as 1 or 100; None refuses a confidence.
        about: columns of a wide table that are no respondents. turned: see `answer_tables.long_table`.
        incomplete: take what is there of an evaluation that did not come to its end.
        spellings: of yes, no and nothing, for plain tables.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    confidence_scale: float | None = None
    about: tuple[str, ...] = ()
    turned: str = ""
    incomplete: bool = False
    spellings: Spellings = field(default_factory=Spellings)

    def text_of(self, role: str, *holders: Any, where: str) -> str | None:
        """The text under the name that stands for this one in these dictionaries; None where no name is given for it.

        Raises:
            InputError: a name is given, and no text stands there.
        """
        if role not in self.columns:
            return None
        value = next((value for each in holders if (value := dig(each, self.columns[role])) not in (None, "")), None)
        if not isinstance(value, str | int):
            raise InputError(f"{where} has no text under {self.columns[role]!r}, which is to be its {role}")
        return str(value).strip()

    def confidence_of(self, *holders: Any, where: str) -> float:
        """The first value under `confidence` in these dictionaries, as a share; nan where there is none.

        A percent sign goes before the scale.

        Raises:
            InputError: it is no number, or outside the scale, or that is not declared.
        """
        name = self.columns.get("confidence", "confidence")
        value = next((value for each in holders if (value := dig(each, name)) is not None), None)
        try:
            number = self.spellings.number(value)
        except ValueError as error:
            raise InputError(
                f"{where} gives the confidence {value!r}, which is no number; name another field (--columns "
                "confidence=FIELD)"
            ) from error
        if number.value != number.value:
            return NAN
        scale = PERCENT if number.in_percent else self.confidence_scale
        if scale is None:
            raise InputError(
                f"{where} gives the confidence {value!r}; say what stands for certain, such as --confidence-scale 1 or "
                "--confidence-scale 100"
            )
        if not 0 <= number.value <= scale:
            raise InputError(f"{where} gives the confidence {value!r}, outside 0 to {scale:g}")
        return number.value / scale


def dig(holder: Any, path: str) -> Any:
    """The value under a dotted path in nested dictionaries and lists (choices.0); None where it ends early."""
    if isinstance(holder, Mapping) and path in holder:
        return holder[path]
    for part in path.split("."):
        if isinstance(holder, list) and part.isdigit():
            holder = dict(enumerate(holder)).get(int(part))
        elif isinstance(holder, Mapping) and part in holder:
            holder = holder[part]
        else:
            return None
    return holder


def ended(*holders: Any) -> tuple[bool, str | None]:
    """Whether an answer came to its end, and why it is none, by all that the first of these holders says of its end.

    >>> ended({"finish_reason": "length"}), ended({}, {"stop_reason": "end_turn"}), ended({"done_reason": "error"})
    ((False, None), (True, None), (True, 'error'))
    """
    ends = next(filter(None, ([holder[name] for name in _ENDS if dig(holder, name)] for holder in holders)), [])
    kinds = set(map(how_ended, ends))
    return "cut off" not in kinds, next((kind for kind in ("error", "content filter") if kind in kinds), None)


def message_of(error: Any) -> str:
    """What an error says, on a line; "error" where it only says that it is one.

    >>> message_of({"message": "too many\\nrequests"}), message_of(True)
    ('too many requests', 'error')
    """
    message = (
        error.get("message") or error.get("errorMessage") or error.get("code") or error
        if isinstance(error, Mapping)
        else error
    )
    text = " ".join(str(message).split())[:200]
    return "error" if Spellings().holds(text) else text


def texts_of(value: Any) -> tuple[str, ...]:
    """A target, however it is written, as accepted texts."""
    values = value if isinstance(value, list | tuple) else [value]
    return tuple(dict.fromkeys(str(one).strip() for one in values if one is not None and str(one).strip()))


_RIGHT = {"c": True, "correct": True, "true": True, "1": True, "1.0": True}
_RIGHT |= {"i": False, "incorrect": False, "false": False, "0": False, "0.0": False}


def is_right(value: Any) -> bool | None:
    """Whether a score says correct: 1, true, C and "correct" do, 0, false, I and "incorrect" do not.

    The rest is neither: partial credit, no answer, nan.
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return {1.0: True, 0.0: False}.get(float(value))
    return _RIGHT.get(value.strip().lower()) if isinstance(value, str) else None


def cleaned(value: Any) -> Any:
    """A text, or a record, run, list or dictionary of texts, without what no UTF-8 file may hold.

    Zero bytes and halves of surrogate pairs, which models write and JSON carries, become replacement characters.
    """
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, LogRecord | LogRun):
        return replace(value, **{name: cleaned(part) for name, part in vars(value).items()})
    if isinstance(value, list | tuple):
        return type(value)(cleaned(part) for part in value)
    if isinstance(value, Mapping):
        return {cleaned(name): cleaned(part) for name, part in value.items()}
    return value


def read_json(path: Path) -> Any:
    """A JSON file's content.

    Raises:
        InputError: it cannot be read as JSON, or is too large.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path} is no whole JSON file ({str(error)[:80]}); check that it was written to its end"
        ) from error


def begins_with_keys(path: Path, *keys: str) -> bool:
    """Whether a file holds rows in JSON, and the first holds all of these keys."""
    if path.suffix not in (".jsonl", ".json") or not path.is_file():
        return False
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        start = file.readline(_FIRST_LINE)
        if path.suffix == ".json" or start.strip() == "[":
            start += file.read(_FIRST_LINE)
    return all(f'"{key}"' in start for key in keys)


def read_json_rows(path: Path, *required: str) -> list[dict[str, Any]]:
    """The objects of a JSONL file, of a JSON array, or of the one array in an object, without what each leaves out.

    Raises:
        InputError: as `read_table`; or a row lacks one of the required keys.
    """
    table = read_table(path)
    rows = [
        {str(name): cell for name, cell in row.items() if not (isinstance(cell, float) and cell != cell)}
        for row in table.frame.to_dict("records")
    ]
    for number, row in enumerate(rows):
        if missing := [name for name in required if name not in row]:
            raise InputError(f"{table.where(number)} has no {missing[0]!r}; every row of such a log has one")
    return rows
