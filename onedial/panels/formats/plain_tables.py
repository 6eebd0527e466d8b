"""Plain tables (CSV, JSONL, Parquet): one row per answer, columns under their usual names or named by the user.

respondent  the column respondent, or model
            (a table without one is wide: a column of answers for each respondent)
item        question_id, or a hash of the question's text, once what all prompts share is taken away
answer      said_yes where it is one (1/0, yes/no, true/false; a longer text is read like any answer), and raw_text
score       answered_correctly: whether the question itself was answered correctly
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from onedial.asking.replies import was_broken_off, was_filtered
from onedial.asking.tables import SUFFIXES, Table, is_blank, listed, name_of, read_table, text_of
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.panels.columns import Columns, simple
from onedial.panels.formats.records import LogChoices, LogRecord, LogRun, dig, ended, is_right, texts_of
from onedial.panels.questions.cells import TRUTH
from onedial.panels.questions.prompts import PROMPTS
from onedial.panels.spellings import Spellings
from onedial.panels.stated_numbers import Stated, stated, tops_of
from onedial.panels.wide_tables import OF_QUESTIONS, columns_of, melted, turned, without_summaries

FORMAT = "table"
ROLES = {
    "question_id": "question_id custom_id id item item_id sample_id",
    "question": "question prompt query input",
    "respondent": "respondent model model_id model_name llm",
    "said_yes": "said_yes yes_no says_yes",
    "raw_text": "raw_text raw_response response output completion generation text",
    "answered_correctly": "answered_correctly correct is_correct",
    "confidence": "confidence stated_confidence",
    "accepted": "answers accepted target reference",
    "topic": "topic subject category",
    "framing": "framing condition",
    "error": "error",
    "stop_reason": "stop_reason finish_reason done_reason",
}
"""What a row of answers has, and the names of columns that hold it."""
_ANSWERS = {"said_yes", "raw_text", "answered_correctly"}
_NO_ERROR = {"false", "none", "null", "nan", "no", "0", "0.0", "ok", "[]", "{}"}
_FAILED = re.compile(
    r"(?:is_|was_)?(?:error|refused|refusal|failed|invalid|timeout|timed_out)|pars(?:e|ing)_(?:failed|error)"
)
_SUCCEEDED = re.compile(r"(?:is_)?(?:valid|parsed|success|successful)")
_ENDS = {"status", *ROLES["stop_reason"].split()}
_CODE = re.compile(r"[-+]?\d+(?:[.,]\d+)?")
_LIKE_ANSWERS = re.compile(r"scor|correct|accura|grade|right|answer|respon|output|conf|prob|yes")


def is_mine(path: Path) -> bool:
    """Whether a file is a table at all; asked last."""
    return path.is_file() and path.suffix.lower() in SUFFIXES


def read(path: Path, choices: LogChoices) -> list[LogRun]:
    """Read one table; every respondent (in every framing) is a run.

    Raises:
        InputError: an unusable table, or one without respondents, or without answers.
    """
    table = _without_envelopes(read_table(path))
    columns = _columns(table, choices.columns)
    if "respondent" not in columns.found or not columns.found.keys() & _ANSWERS:
        table = _wide_as_long(table, choices)
        columns = _columns(table, choices.columns)
    if "respondent" not in columns.found:
        raise InputError(
            f"{path} has no column for the respondent ({listed(ROLES['respondent'].split())}), and none of answers for "
            "each; name it with --columns respondent=COLUMN"
        )
    if not columns.found.keys() & _ANSWERS:
        raise InputError(
            f"{path} has no column of answers (said_yes, raw_text or answered_correctly); it holds "
            f"{listed(map(str, table.frame.columns))}: name one with --columns said_yes=COLUMN"
        )
    models = columns.parse("respondent", name_of, "name the respondent")
    framings = columns.parse("framing", _text, "give text")
    asked = zip(models, framings, strict=True)
    identities, texts = (columns.parse(role, _text, "write it otherwise") for role in ("question_id", "question"))
    refuse_ids_of_rows(table, identities, [*map(str, asked)], texts)
    runs: dict[tuple[str, str], list[LogRecord]] = {}
    tops = [choices.confidence_scale] * len(models)
    if choices.confidence_scale is None and "confidence" in columns.found:
        tops = _tops(columns, models)
    for model, framing, record in zip(models, framings, _records(columns, choices, tops), strict=True):
        runs.setdefault((model, framing or ""), []).append(record)
    raw = choices.confidence_scale or 1.0
    for (model, _), records in runs.items():
        numbers = [record.confidence * raw for record in records if record.confidence == record.confidence]
        if raw > 1 and max(numbers, default=raw) <= 1 and any(0 < number < 1 for number in numbers):
            raise InputError(
                f"{path}: {model!r} states numbers from 0 to 1, and --confidence-scale is {raw:g}; write all on "
                "one scale"
            )
    left = [name for name in map(str, table.frame.columns) if name not in columns.found.values()]
    if unread := [name for name in left if _LIKE_ANSWERS.search(name.lower())]:
        notice(f"{path}: the columns {listed(unread)} are not read; name what they are with --columns OURS=THEIRS")
    about = {"columns": columns.found}
    return [
        LogRun(str(path), FORMAT, model, framing, {}, tuple(records), scores_are_of_the_question=True, about=about)
        for (model, framing), records in runs.items()
    ]


def _without_envelopes(table: Table) -> Table:
    """The table with the text, the end and the model of each completion of OpenAI's API as columns, where one of its
    columns holds such, as a batch's output does, or Ollama's messages; what the table says itself stays.
    """
    frame = table.frame
    opened = {name: [_opened(cell) for cell in frame[name]] for name in map(str, frame.columns)}
    name = next((name for name, cells in opened.items() if any(cells)), None)
    if name is None:
        return table
    held = pd.DataFrame([found or {} for found in opened[name]], columns=["raw_text", "finish_reason", "model"])
    if held["model"].nunique() == 1:  # a request that failed names none
        held["model"] = held["model"].dropna().iloc[0]
    added = held[[column for column in held.dropna(axis=1, how="all") if column not in frame.columns]]
    whole = pd.concat([frame.drop(columns=name), added], axis=1).astype(object)
    return replace(table, frame=whole.where(whole.notna(), None))


def _opened(cell: Any) -> dict[str, Any] | None:
    if isinstance(cell, dict) and cell.get("role") == "assistant":
        return {"raw_text": cell.get("content")}
    body = cell.get("body", cell) if isinstance(cell, dict) else None
    if not isinstance(body, dict) or not isinstance(choices := body.get("choices"), list):
        return None
    if not choices or not isinstance(choices[0], dict):
        return None
    text = dig(choices[0], "message.content")
    found = {"raw_text": choices[0].get("text") if text is None else text}
    return found | {"finish_reason": choices[0].get("finish_reason"), "model": body.get("model")}


def _wide_as_long(table: Table, choices: LogChoices) -> Table:
    """A table with a column for each respondent, or its models in the rows, as one with a row for each answer.

    Raises:
        InputError: it is neither, or holds no yes or no.
    """
    table = without_summaries(turned(table, choices.spellings.holds))
    found = _columns(table, choices.columns).found
    if "respondent" in found or not {"question_id", "question"} & found.keys():
        return table
    names, _ = columns_of(table, choices.spellings.holds, tuple(found.values()))
    if not names:
        return table
    about = table.frame[[name for name in table.frame.columns if name in OF_QUESTIONS or name in found.values()]]
    table = melted(choices.spellings.without_blanks(table, names), names, about)
    if all(_said(cell, choices.spellings) is None for cell in table.frame["said_yes"]):
        words = listed(dict.fromkeys(str(cell) for cell in table.frame["said_yes"].dropna()), 4)
        raise InputError(
            f"{table.path} has a column for each respondent, and none of its cells can be read as yes or no: they hold "
            f"{words}; name their spellings with --yes and --no; numbers need no import, but a cut (panel.csv:95)"
        )
    return table


def _columns(table: Table, chosen: Mapping[str, str]) -> Columns:
    held = [str(column) for column in table.frame.columns]
    for name, column in chosen.items():
        if name not in ROLES:
            raise InputError(f"--columns {name}={column}: {name!r} is none of {', '.join(ROLES)}")
        if column not in held:
            raise InputError(f"--columns {name}={column}: {table.path} holds {listed(held)}")
    return Columns(table, ROLES, chosen)


def _tops(columns: Columns, models: Sequence[str]) -> list[float | None]:
    """What stands for certain in each row, as its respondent's numbers tell.

    Raises:
        InputError: the scale of some respondent is doubtful.
    """
    numbers: dict[str, list[Stated]] = {}
    for model, number in zip(models, columns.parse("confidence", stated, "give a number"), strict=True):
        numbers.setdefault(model, []).append(number)
    found = tops_of(numbers, {}, columns.table, "Say --confidence-scale 5, 10 or 100")
    return [found.get(model) for model in models]


def _records(columns: Columns, choices: LogChoices, tops: Sequence[float | None]) -> list[LogRecord]:
    is_prompt = "question" not in choices.columns and columns.found.get("question") in PROMPTS
    readers = {
        **dict.fromkeys(("question", "question_id", "raw_text", "topic", "error", "stop_reason"), _text),
        **{"said_yes": lambda cell: (_said(cell, choices.spellings), _text(cell)), "accepted": _accepted},
        **{"answered_correctly": _correct, "confidence": _plain},
    }
    held, failing = set(columns.found), failures(columns.table, columns.found.get("error"))
    cells = {role: columns.parse(role, read, "write it otherwise") for role, read in readers.items()}
    records = []
    for row, (values, top) in enumerate(zip(zip(*cells.values(), strict=True), tops, strict=True)):
        own, where = dict(zip(cells, values, strict=True)), columns.table.where(row)
        if own["question"] is None and own["question_id"] is None:
            raise InputError(f"{where} has neither a question_id nor a question; give one of them")
        said, words = own["said_yes"] if "said_yes" in held else (None, None)
        if said is None and words is not None and _CODE.fullmatch(words.strip()):
            raise InputError(
                f"{columns.table.where(row, columns.found['said_yes'])} holds {words!r}, a number that is neither 1 "
                "nor 0; say what it stands for with --yes, --no or --blank"
            )
        finished, failed = ended(own)
        records.append(
            LogRecord(
                item=own["question_id"] or "",
                prompt=own["question"] or "",
                text=own["raw_text"] if said is not None or own["raw_text"] is not None else words,
                question=None if is_prompt else own["question"],
                accepted=own["accepted"],
                topic=own["topic"],
                said_yes=said,
                scores={} if own["answered_correctly"] is None else {"answered_correctly": own["answered_correctly"]},
                confidence=replace(choices, confidence_scale=top).confidence_of(
                    {choices.confidence: own["confidence"]}, where=where
                ),
                finished=finished,
                failed="error" if failing[row] else failed,
            )
        )
    return records


def refuse_ids_of_rows(table: Table, ids: Sequence[Any], respondents: Sequence[Any], texts: Sequence[Any]) -> None:
    """Raise InputError where ids number the answers, though their texts were put to several respondents."""
    rows = pd.DataFrame({"id": list(ids), "respondent": list(respondents), "text": list(texts)}).dropna()
    if rows["id"].duplicated().any() or rows["respondent"].nunique() < 2:
        return
    n_asked = rows.groupby(rows["text"].astype(str))["respondent"].nunique()
    if (n_asked > 1).any():
        raise InputError(
            f"{table.path} gives every answer an id of its own, though {(n_asked > 1).sum()} texts were put to several "
            "respondents; leave that column out, so that questions go by their texts, or give the ids of the questions"
        )


def failures(table: Table, chosen: str | None = None) -> list[str | None]:
    """Of each row the column that says that its answer is none (an error, a refusal, not valid); None where none does.

    Args:
        chosen: a column of errors under another name.
    """
    found: list[str | None] = [None] * len(table.frame)
    for name in map(str, table.frame.columns):
        simple_name = simple(name)
        if name == chosen or _FAILED.fullmatch(simple_name):
            failed = [(_text(cell) or "false").casefold() not in _NO_ERROR for cell in table.frame[name]]
        elif _SUCCEEDED.fullmatch(simple_name):
            failed = [TRUTH.get((_text(cell) or "").casefold()) is False for cell in table.frame[name]]
        elif simple_name in _ENDS:
            failed = [was_broken_off(cell) or was_filtered(cell) for cell in table.frame[name]]
        else:
            continue
        found = [before or (name if now else None) for before, now in zip(found, failed, strict=True)]
    return found


def _said(cell: Any, spellings: Spellings) -> bool | None:
    try:
        value = spellings.said(cell)
    except ValueError:
        return None
    return None if value != value else bool(value)


def _correct(cell: Any) -> bool | None:
    word = str(cell).strip().casefold()
    return {"right": True, "yes": True, "wrong": False, "no": False}.get(word, is_right(_plain(cell)))


def _accepted(cell: Any) -> tuple[str, ...]:
    if isinstance(cell, str):
        return texts_of(cell.split("|"))
    return () if is_blank(cell) else texts_of(list(cell) if hasattr(cell, "__iter__") else cell)


def _plain(cell: Any) -> Any:
    """A blank cell as None, a number of pandas as Python's."""
    if is_blank(cell):
        return None
    return cell.item() if hasattr(cell, "item") else cell


def _text(cell: Any) -> str | None:
    return str(cell) if isinstance(cell, bool | list | dict) else text_of(cell)
