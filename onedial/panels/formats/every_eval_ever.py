"""Every Eval Ever's interchange files: *_samples.jsonl, one line per sample and metric.

respondent  model_id
item        evaluation_name and sample_id; metadata.epoch is a repetition
answer      output.raw, each a repetition; of a conversation the last text of the assistant
score       evaluation.is_correct where the score is 0 or 1: converters write false beside graded scores as well
no answer   a line with an error, whose score counts for nothing
confidence  has no field of its own: metadata
"""

from pathlib import Path
from typing import Any

from onedial.core.errors import InputError
from onedial.panels.formats.records import (
    LogChoices,
    LogRecord,
    LogRun,
    begins_with_keys,
    dig,
    ended,
    is_right,
    message_of,
    read_json_rows,
    texts_of,
)

FORMAT = "every-eval-ever"
_REQUIRED = ("schema_version", "evaluation_id", "model_id", "evaluation_name", "sample_id", "input", "evaluation")


def is_mine(path: Path) -> bool:
    """Whether a file looks like Every Eval Ever's samples."""
    return begins_with_keys(path, "schema_version", "evaluation_id", "sample_id")


def read(path: Path, choices: LogChoices) -> list[LogRun]:
    """Read one file; every model and evaluation in it is a run.

    Raises:
        InputError: a line that is no object, or lacks a required field.
    """
    together: dict[tuple[str, str], dict[tuple[str, ...], list[dict[str, Any]]]] = {}
    for row in read_json_rows(path, *_REQUIRED):
        # lm-eval's filters are part of the name: "task/filter"; the sample is the same
        task = str(row["evaluation_name"]).removesuffix(f"/{dig(row, 'metadata.filter')}")
        sample = (str(row["evaluation_id"]), str(row["sample_id"]), str(dig(row, "metadata.epoch") or ""))
        together.setdefault((str(row["model_id"]), task), {}).setdefault(sample, []).append(row)
    if not together:
        raise InputError(f"{path} is empty; check that it was written to its end")
    runs = []
    for (model, task), samples in together.items():
        records = tuple(record for same in samples.values() for record in _records(same, choices, path))
        runs.append(LogRun(str(path), FORMAT, model, task, {}, records))
    return runs


def _records(rows: list[dict[str, Any]], choices: LogChoices, path: Path) -> list[LogRecord]:
    first = rows[0]
    asked = first["input"] if isinstance(first["input"], dict) else {}
    metadata = first.get("metadata") or {}
    where = f"{path}, sample {first['sample_id']}"
    finished, failed = ended(metadata, first, first.get("output"))
    errors = [row["error"] for row in rows if row.get("error")]
    failed = f"error: {message_of(errors[0])}" if errors else failed
    texts = _texts(first)
    is_scored = failed is None and len(texts) == 1  # one score for several texts is of none of them
    return [
        LogRecord(
            item=choices.text_of("question_id", metadata, first, where=where) or str(first["sample_id"]),
            prompt=str(asked.get("formatted") or asked.get("raw") or ""),
            text=text,
            question=choices.text_of("question", metadata, first, where=where),
            options=tuple(str(option) for option in asked.get("choices") or ()),
            accepted=texts_of(asked.get("reference")),
            topic=choices.text_of("topic", metadata, first, where=where),
            scores={_score_name(row): _score(row) for row in rows} if is_scored else {},
            confidence=choices.confidence_of(metadata, first, where=where),
            finished=finished,
            failed=failed,
        )
        for text in texts
    ]


def _score_name(row: dict[str, Any]) -> str:
    return str(row.get("evaluation_result_id") or row["evaluation_name"])


def _score(row: dict[str, Any]) -> bool | None:
    score, correct = dig(row, "evaluation.score"), dig(row, "evaluation.is_correct")
    return is_right(correct) if is_right(score) is not None else None


def _texts(row: dict[str, Any]) -> list[str | None]:
    raw = dig(row, "output.raw")
    if isinstance(raw, list) and raw:
        return [str(text) for text in raw]
    turns = [turn for turn in row.get("messages") or () if isinstance(turn, dict) and turn.get("role") == "assistant"]
    contents = [turn["content"] for turn in turns if turn.get("content")]
    return [str(contents[-1])] if contents else [None]
