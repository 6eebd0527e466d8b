"""Tables of answers (CSV, JSON, JSONL, Parquet, Excel): a row for each answer, or a column for each respondent.

Columns go by exact names (`ROLES`, and `onedial.panels.answer_tables.NAMES`) or by those that the user declares:

respondent  the column respondent, or model (with framing)
item        question_id, or a hash of the question's text, once what all prompts share is taken away
answer      said_yes, by one table of words; raw_text, which is read like any answer
score       answered_correctly: whether the question itself was answered correctly
no answer   a row whose error is neither blank nor a no, or whose finish_reason (stop_reason, ...) says so
"""

import math
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from onedial.asking.tables import SUFFIXES, Table, is_blank, name_of, read_table, text_of
from onedial.core.errors import InputError
from onedial.panels.answer_tables import NAMES, long_table, refuse_ids_of_rows
from onedial.panels.formats.records import LogChoices, LogRecord, LogRun, dig, ended, message_of, texts_of
from onedial.panels.panel_files import RESPONDENTS_FILE
from onedial.panels.questions.cells import list_in_text
from onedial.panels.spellings import WANTED_OF_ERRORS, Spellings, is_error

FORMAT = "table"
ANSWERS = ("said_yes", "raw_text", "answered_correctly")
ROLES = (
    *("question_id", "question", "prompt", "respondent", "framing", *ANSWERS),
    *("confidence", "accepted", "topic", "sample", "error", "stop_reason"),
)
"""What a row of answers may have; `prompt` is a question with what stands around it."""


def is_mine(path: Path) -> bool:
    """Whether a file is a table at all; asked last."""
    return path.is_file() and path.suffix.lower() in SUFFIXES


def read(path: Path, choices: LogChoices) -> list[LogRun]:
    """Read one table; every respondent (in every framing) is a run.

    Raises:
        InputError: an unusable table, or one without respondents, or without answers.
    """
    table = read_table(path)
    heads = set()
    for field in choices.columns.values():  # message.content: what the objects of a column hold
        head, _, rest = field.partition(".")
        if rest and field not in table.frame.columns and head in table.frame.columns:
            inside = [dig(list_in_text(cell), rest) for cell in table.frame[head]]
            table = replace(table, frame=table.frame.assign(**{field: inside}))
            heads.add(head)
    table = replace(table, frame=table.frame.drop(columns=list(heads - {*choices.columns.values()})))
    beside = path.parent / RESPONDENTS_FILE
    known = set(map(str, read_table(beside).frame.get("respondent", ()))) if beside.exists() else ()
    declared = (choices.columns, choices.about, ANSWERS, "said_yes", known, choices.turned)
    try:
        table, questions = long_table(table, *declared)
    except InputError as error:
        raise InputError(_suggestion(path, table, choices) or str(error)) from None
    if questions is not None:
        about_questions = questions[[name for name in ("question", "topic") if name in questions]]
        table = Table(
            path, table.frame.join(about_questions, on="question_id"), table.places, table.unit, table.stood_in
        )
    framed = {"model", "framing"} <= set(table.frame.columns)
    models = table.parse("model" if framed else "respondent", name_of, "name the respondent")
    framings = table.parse("framing", text_of, "give text")
    records = _records(table, choices)
    names = [f"{model}: {framing}" for model, framing in zip(models, framings, strict=True)]
    texts = [record.question or record.prompt or None for record in records]
    refuse_ids_of_rows(table, [record.item or None for record in records], names, texts)
    runs: dict[tuple[str, str], list[LogRecord]] = {}
    for model, framing, record in zip(models, framings, records, strict=True):
        runs.setdefault((model, framing or ""), []).append(record)
    read = {name: table.theirs.get(name, name) for name in ROLES if name in table.frame.columns}
    kind = "yes-no" if "said_yes" in read else None if "raw_text" in read else "question"
    if table.theirs.get("said_yes") == NAMES["said_yes"]:
        kind = None  # what `answer` answers may be the question itself
    about = {"columns": read, "not read": [name for name in map(str, table.frame.columns) if name not in read]}
    return [
        LogRun(str(path), FORMAT, model, framing, {}, tuple(rows), True, kind, about)
        for (model, framing), rows in runs.items()
    ]


_WHO = re.compile(r"(?:.*\.)?(?:model|respondent|llm|engine)(?:_?(?:name|id|group))?", re.IGNORECASE)
_ASKED = re.compile(r"(?:prompt|question|input|instruction|query|request)s?(?:_?text)?", re.IGNORECASE)
_WROTE = re.compile(
    r"(?:(?:.*_)?(?:response|output|completion|generation|reply|choices)(?:_?text)?)(?:\..*(?:content|text|\d))?",
    re.IGNORECASE,
)
_SPEAKERS = {"user": "prompt", "human": "prompt", "assistant": "raw_text", "gpt": "raw_text", "model": "raw_text"}


def _suggestion(path: Path, table: Table, choices: LogChoices) -> str | None:
    """A refusal that names the fields which may say who was asked and wrote what; None where none do."""
    first = {str(name): list_in_text(cell) for name, cell in table.frame.iloc[0].items()}
    texts = [(field[1:], text, role) for field, text, role in _texts_in(first)]
    meant: dict[str, str] = {}
    for role, pattern in (("raw_text", _WROTE), ("prompt", _ASKED), ("respondent", _WHO)):
        fields = [field for field, *_ in texts if pattern.fullmatch(field)]
        if fields:
            meant[role] = min(fields, key=lambda field: field.count("."))
    meant |= {_SPEAKERS[role]: field for field, _, role in texts if role in _SPEAKERS}  # what was said last
    meant = {role: field for role, field in meant.items() if role not in first}
    if choices.columns or not {"respondent", "raw_text"} <= meant.keys() | first.keys():
        return None
    once = [name for name in first if table.frame[name].map(str).is_unique]
    texts_asked = {str(dig(row, meant.get("prompt", "question"))) for row in table.frame.to_dict("records")}
    has_ids_of_answers = bool({"question_id", "id"} & {*once}) and 1 < len(texts_asked) < len(table.frame)
    no_ids = {"question_id": ""} if has_ids_of_answers else {}
    samples = {"sample": once[0]} if once else {}
    for known in (meant | no_ids, meant | no_ids | samples):
        try:
            trial = replace(choices, columns=known, confidence_scale=choices.confidence_scale or math.inf)
            (record, *_), *_ = (run.records for run in read(path, trial))
            break
        except InputError:
            continue
    else:
        return None
    asked = record.question or record.prompt or record.item
    scale = "" if record.confidence != record.confidence else ", and what stands for certain: --confidence-scale TOP"
    columns = shlex.quote(",".join(f"{role}={field}" for role, field in sorted(known.items())))
    return (
        f"{path} does not say under names that are known who wrote what; if that is meant, add --columns {columns} "
        f"(row 1: {asked[:60]!r} -> {str(record.text)[:60]!r}), and what was asked: --asked yes-no (can you answer "
        f"this?) or question{scale}"
    )


def _texts_in(value: Any, field: str = "", role: str = "") -> Iterator[tuple[str, str, str]]:
    """Path and words of every text in a row, and the role of who speaks there."""
    if isinstance(value, str):
        yield field, value, role
    elif isinstance(value, dict):
        role = str(value.get("role") or value.get("from") or role).casefold()
        for name, each in value.items():
            yield from _texts_in(
                each, f"{field}.{name}", role if name in ("content", "text", "value", "message") else ""
            )
    elif isinstance(value, list) and len(value) == 2 and all(isinstance(each, str) for each in value):
        yield from ((f"{field}.0", value[0], ""), (f"{field}.1", value[1], value[0].casefold()))  # [role, words]
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from _texts_in(each, f"{field}.{place}", role)


def _records(table: Table, choices: LogChoices) -> list[LogRecord]:
    readers: dict[str, Any] = {
        **dict.fromkeys(("question_id", "topic"), text_of),
        **dict.fromkeys(("question", "prompt", "raw_text"), _text),
        **{"said_yes": choices.spellings.said, "answered_correctly": Spellings().said, "accepted": texts_of},
        "error": is_error,
    }
    wanted = dict.fromkeys(readers, "write it as text") | {
        "said_yes": "answers are 1/0, yes/no, y/n or true/false; say what other words and codes stand for (--yes, "
        "--no, --blank), or that the column holds texts to be read (--columns raw_text=COLUMN)",
        "error": WANTED_OF_ERRORS,
        "answered_correctly": "write 1/0, yes/no or true/false, or leave it blank",
    }
    cells = {role: table.parse(role, reader, wanted[role]) for role, reader in readers.items()}
    rows, may_be_an_answer = table.frame.to_dict("records"), table.theirs.get("said_yes") == NAMES["said_yes"]
    records = []
    for number, row in enumerate(rows):
        values, where = {role: column[number] for role, column in cells.items()}, table.where(number)
        if values["question_id"] is None and values["question"] is None and values["prompt"] is None:
            raise InputError(f"{where} has neither a question_id nor a question; give one of them")
        finished, failed = ended({name: cell for name, cell in row.items() if not is_blank(cell)})
        correct = values["answered_correctly"]
        records.append(
            LogRecord(
                item=values["question_id"] or "",
                prompt=values["prompt"] or values["question"] or "",
                text=str(row["said_yes"]) if may_be_an_answer and not is_blank(row["said_yes"]) else values["raw_text"],
                question=values["question"],
                accepted=values["accepted"],
                topic=values["topic"],
                said_yes=None if values["said_yes"] != values["said_yes"] else bool(values["said_yes"]),
                scores={} if correct != correct else {"answered_correctly": bool(correct)},
                confidence=replace(choices, columns={}).confidence_of(row, where=where),
                finished=finished,
                failed=message_of(row["error"]) if values["error"] else failed,
            )
        )
    return records


def _text(cell: Any) -> str | None:
    """A text, or the last of a list of messages.

    Raises:
        ValueError: anything else.
    """
    if isinstance(cell, list) and cell and all(isinstance(each, dict) and "content" in each for each in cell):
        return text_of(cell[-1]["content"])
    return str(cell) if isinstance(cell, bool) else text_of(cell)
