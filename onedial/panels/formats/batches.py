"""Outputs of batches, a request a line, as OpenAI's and Anthropic's servers write them.

respondent  the model that the response names
item        custom_id; the requests' texts stand in another file
answer      each choice of an OpenAI response, which are samples; the text of an Anthropic message, without its thoughts
no answer   a request that was rejected, errored, expired or cancelled, with the server's words
"""

import json
from pathlib import Path
from typing import Any

from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.panels.formats.records import LogChoices, LogRecord, LogRun, dig, ended, message_of, read_json_rows

FORMAT = "batch"


def is_mine(path: Path) -> bool:
    """Whether the first line of a file is a request of a batch."""
    if path.suffix != ".jsonl" or not path.is_file():
        return False
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        try:
            row = json.loads(file.readline())
        except (ValueError, RecursionError):
            return False
    return isinstance(row, dict) and "custom_id" in row and ("response" in row or isinstance(row.get("result"), dict))


def read(path: Path, choices: LogChoices) -> list[LogRun]:
    """Read one file; every model in it is a run.

    Raises:
        InputError: a line that is no object or has no custom_id, or a response that is no chat completion.
    """
    runs: dict[str, list[LogRecord]] = {}
    for number, row in enumerate(read_json_rows(path, "custom_id"), start=1):
        model, records = (_anthropic if "result" in row else _openai)(row, f"{path}, line {number}")
        runs.setdefault(model, []).extend(records)
    nobody = runs.pop("", [])
    if len(runs) == 1:
        next(iter(runs.values())).extend(nobody)
    elif nobody:
        reason = f"first {nobody[0].item!r}: {nobody[0].failed}"
        if not runs:
            raise InputError(f"{path} holds {len(nobody)} requests that failed, and no answer ({reason})")
        notice(f"{path}: {len(nobody)} requests failed and name no model; they are left out ({reason})")
    return [LogRun(str(path), FORMAT, model, "", {}, tuple(records)) for model, records in runs.items()]


def _openai(row: dict[str, Any], where: str) -> tuple[str, list[LogRecord]]:
    item, response = str(row["custom_id"]), row.get("response") or {}
    body = response.get("body") or {}
    error = row.get("error") or body.get("error")
    if error or int(response.get("status_code") or 200) >= 400 or not body:
        return str(body.get("model") or ""), [LogRecord(item, failed=message_of(error or "no response"))]
    if not isinstance(body.get("choices"), list) or not body["choices"]:
        raise InputError(f"{where} holds no chat completion (choices); write its answers as a table with raw_text")
    records = []
    for choice in body["choices"]:
        text, (finished, failed) = dig(choice, "message.content"), ended(choice)
        text = choice.get("text") if text is None else text
        records.append(LogRecord(item, text=_text(text), finished=finished, failed=failed))
    return str(body.get("model") or ""), records


def _anthropic(row: dict[str, Any], where: str) -> tuple[str, list[LogRecord]]:
    item, result = str(row["custom_id"]), row["result"]
    if result.get("type") != "succeeded":
        error = result.get("error")
        words = message_of(dig(error, "error") or error or result.get("type"))
        return "", [LogRecord(item, failed=words)]
    message = result["message"]
    finished, failed = ended(message)
    return str(message["model"]), [LogRecord(item, text=_text(message["content"]), finished=finished, failed=failed)]


def _text(content: Any) -> str | None:
    """A text, or what its parts of text say together; None where it holds none."""
    if isinstance(content, list):
        parts = [part["text"] for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(map(str, parts)) if parts else None
    return content if isinstance(content, str) else None
