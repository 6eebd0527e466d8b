"""Outputs of batches, a request a line, as OpenAI's, Anthropic's and Google's servers write them.

respondent  the model that the response names
item        custom_id (Gemini: key); the requests' texts stand in another file, but for Vertex, whose lines hold them
answer      each choice or candidate, which are samples; of a message the text, without its thoughts
no answer   a request that was rejected, errored, expired or cancelled, with the server's words
"""

import json
from dataclasses import replace
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
    if not isinstance(row, dict) or not ("response" in row or "error" in row or isinstance(row.get("result"), dict)):
        return False
    return "custom_id" in row or ("key" in row and "model" not in row) or row.keys() >= {"request", "status"}


def read(path: Path, choices: LogChoices) -> list[LogRun]:
    """Read one file; every model in it is a run.

    Raises:
        InputError: a line that is no object or has no custom_id, or a response of another kind.
    """
    runs: dict[str, list[LogRecord]] = {}
    rows = read_json_rows(path)
    is_google = "custom_id" not in rows[0]
    for number, row in enumerate(rows if is_google else read_json_rows(path, "custom_id"), start=1):
        read_row = _google if is_google else _anthropic if "result" in row else _openai
        model, records = read_row(row, f"{path}, line {number}")
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
    if isinstance(body.get("output"), list):  # of the Responses API
        parts = [part for each in body["output"] if each.get("type") == "message" for part in each["content"]]
        end = {"finish_reason": dig(body, "incomplete_details.reason")}
        return str(body["model"]), [_answer(LogRecord(item), parts, end)]
    if not isinstance(body.get("choices"), list) or not body["choices"]:
        raise InputError(f"{where} holds no completion (choices, output); write its answers as a table with raw_text")
    texts = [choice.get("text", dig(choice, "message.content")) for choice in body["choices"]]
    pairs = zip(texts, body["choices"], strict=True)
    return str(body.get("model") or ""), [_answer(LogRecord(item), text, choice) for text, choice in pairs]


def _anthropic(row: dict[str, Any], where: str) -> tuple[str, list[LogRecord]]:
    item, result = str(row["custom_id"]), row["result"]
    if result.get("type") != "succeeded":
        error = result.get("error")
        words = message_of(dig(error, "error") or error or result.get("type"))
        return "", [LogRecord(item, failed=words)]
    message = result["message"]
    return str(message["model"]), [_answer(LogRecord(item), message["content"], message)]


def _google(row: dict[str, Any], where: str) -> tuple[str, list[LogRecord]]:
    """A line of a Gemini or Vertex batch; of the latter a status says what failed."""
    response = row.get("response") or {}
    asked = dig(row, "request.contents") or []
    common = LogRecord(str(row.get("key") or ""), prompt=_text(asked[-1]["parts"]) or "" if asked else "")
    if not (common.item or common.prompt):
        raise InputError(f"{where} has neither a key nor the request's text; give each line one of them")
    candidates = response.get("candidates") or ()
    records = [_answer(common, dig(candidate, "content.parts") or [], candidate) for candidate in candidates]
    error = row.get("error") or row.get("status") or dig(response, "promptFeedback.blockReason") or "no response"
    records = records or [replace(common, failed=message_of(error))]
    return str(response.get("modelVersion") or ""), records


def _answer(record: LogRecord, content: Any, end: Any) -> LogRecord:
    """With what came, and how it ended."""
    finished, failed = ended(end)
    return replace(record, text=_text(content), finished=finished, failed=failed)


def _text(content: Any) -> str | None:
    """A text, or what its parts of text say together, without thoughts; None where it holds none."""
    if isinstance(content, list):
        held = [part for part in content if isinstance(part, dict) and "text" in part and not part.get("thought")]
        parts = [part["text"] for part in held if part.get("type", "text") in ("text", "output_text")]
        return "".join(map(str, parts)) if parts else None
    return content if isinstance(content, str) else None
