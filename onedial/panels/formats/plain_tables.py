"""Tables of answers (CSV, JSON, JSONL, Parquet, Excel): a row for each answer, or a column for each respondent.

Columns go by exact names (`ROLES`, and `onedial.panels.answer_tables.NAMES`) or by those that the user declares:

respondent  the column respondent, or model (with framing)
item        question_id, or a hash of the question's text, once what all prompts share is taken away
answer      said_yes, by one table of words; raw_text, which is read like any answer
score       answered_correctly: whether the question itself was answered correctly
no answer   a row whose error is neither blank nor a no, or whose finish_reason (stop_reason, ...) says so
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from onedial.asking.tables import SUFFIXES, Table, is_blank, name_of, read_table, text_of
from onedial.core.errors import InputError
from onedial.panels.answer_tables import NAMES, long_table, refuse_ids_of_rows
from onedial.panels.formats.records import LogChoices, LogRecord, LogRun, ended, message_of, texts_of
from onedial.panels.panel_files import RESPONDENTS_FILE
from onedial.panels.questions.cells import cells_of, list_in_text
from onedial.panels.questions.question_columns import head_of
from onedial.panels.spellings import WANTED, WANTED_OF_ERRORS, WANTED_OF_TRUTHS, Spellings, is_error

FORMAT = "table"
ANSWERS = ("said_yes", "raw_text", "answered_correctly")
ROLES = (
    *("question_id", "question", "prompt", "respondent", "framing", *ANSWERS),
    *("confidence", "accepted", "topic", "sample", "error", "stop_reason"),
)
"""What a row of answers may have; `prompt` is a question with what stands around it."""
_MOST_FIELDS = 16


def is_mine(path: Path) -> bool:
    """Whether a file is a table at all; asked last."""
    return path.is_file() and path.suffix.lower() in SUFFIXES


def read(path: Path, choices: LogChoices) -> list[LogRun]:
    """Read one table; every respondent (in every framing) is a run.

    Raises:
        InputError: an unusable table, or one without respondents, or without answers.
    """
    table = read_table(path)
    names, fields = [str(name) for name in table.frame.columns], {*choices.columns.values()}
    heads = {field: head for field in fields - {*names} if (head := head_of(field, names))}
    inside = {field: cells_of(table, field) for field in heads}  # message.content: what the objects of a column hold
    table = replace(table, frame=table.frame.assign(**inside).drop(columns=list({*heads.values()} - fields)))
    beside = path.parent / RESPONDENTS_FILE
    known = set(map(str, read_table(beside).frame.get("respondent", ()))) if beside.exists() else ()
    declared = (choices.columns, choices.about, ANSWERS, "said_yes", known, choices.turned)
    try:
        table, questions = long_table(table, *declared)
    except InputError as error:
        raise error if choices.columns else _with_fields(error, table) from None
    if questions is not None:
        about_questions = questions[[name for name in ("question", "topic") if name in questions]]
        table = replace(table, frame=table.frame.join(about_questions, on="question_id"))
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


def _with_fields(refusal: InputError, table: Table) -> InputError:
    """With what row 1 holds where, if somebody wrote words there under no name that is read."""
    first = {str(name): list_in_text(cell) for name, cell in table.frame.iloc[0].items()}
    texts = dict(_texts_in(first))
    if not any(" " in text.strip() for field, text in texts.items() if field not in ("question", "topic")):
        return refusal
    is_log = any(isinstance(cell, dict | list) for cell in first.values())
    what = f"{table.path} says under no name that is read who answered what" if is_log else str(refusal)
    shown = ", ".join(f"{field}: {text[:40]!r}" for field, text in list(texts.items())[:_MOST_FIELDS])
    return InputError(
        f"{what}; row 1 holds {shown}: name who answered, what was asked and what came, --columns "
        "respondent=FIELD,prompt=FIELD,raw_text=FIELD, and say --asked yes-no (can you answer this?) or question"
    )


def _texts_in(value: Any, field: str = "") -> Iterator[tuple[str, str]]:
    """Path and words of every text in a row."""
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, dict | list):
        for name, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts_in(each, f"{field}.{name}" if field else str(name))


def _records(table: Table, choices: LogChoices) -> list[LogRecord]:
    readers: dict[str, Any] = {
        **dict.fromkeys(("question_id", "topic"), text_of),
        **dict.fromkeys(("question", "prompt", "raw_text"), _text),
        **{"said_yes": choices.spellings.said, "answered_correctly": Spellings().said, "accepted": texts_of},
        "error": is_error,
    }
    wanted = dict.fromkeys(readers, "write it as text") | {
        "said_yes": f"{WANTED}; a column of texts to be read is named: --columns raw_text=COLUMN",
        "error": WANTED_OF_ERRORS,
        "answered_correctly": WANTED_OF_TRUTHS,
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
