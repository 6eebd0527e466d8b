"""Every Eval Ever's interchange files: *_samples.jsonl, one line per sample and metric.

respondent  model_id
item        evaluation_name and sample_id; metadata.epoch is a repetition
answer      output.raw, each a repetition; of a conversation the last text of the assistant
score       evaluation.is_correct where the score is 0 or 1: converters write false beside graded scores as well
no answer   a line with an error, whose score counts for nothing
confidence  has no field of its own: metadata
our own     what `onedial.panels.export_every_eval_ever` wrote comes back whole: said_yes, unread, margin, mass and
            whether the question was answered correctly stand in metadata, and `evaluation` is one of them
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from onedial.core.errors import InputError
from onedial.panels.formats.records import (
    APPLICATION,
    EVALUATION,
    NAN,
    UNREAD,
    LogChoices,
    LogRecord,
    LogRun,
    begins_with_keys,
    dig,
    ended,
    is_right,
    read_json_rows,
    texts_of,
    topic_of,
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
    versions = set()
    for number, row in enumerate(read_json_rows(path), start=1):
        missing = [key for key in _REQUIRED if key not in row]
        if missing:
            raise InputError(f"{path}, line {number} has no {missing[0]!r}, which the schema requires")
        versions.add(str(row["schema_version"]))
        # lm-eval's filters are part of the name: "task/filter"; the sample is the same
        task = str(row["evaluation_name"])
        filtered = dig(row, "metadata.filter")
        if filtered and task.endswith(f"/{filtered}"):
            task = task.removesuffix(f"/{filtered}")
        sample = (str(row["evaluation_id"]), str(row["sample_id"]), str(dig(row, "metadata.epoch") or ""))
        if _is_ours(row):
            task = task.removeprefix(f"{EVALUATION}: ")
        together.setdefault((str(row["model_id"]), task), {}).setdefault(sample, []).append(row)
    if not together:
        raise InputError(f"{path} is empty; check that it was written to its end")
    return [
        LogRun(
            source=str(path),
            format=FORMAT,
            model=model,
            task=task,
            settings={},
            records=tuple(record for rows in samples.values() for record in _records(rows, choices, path)),
            scores_are_of_the_question=any(_is_ours(rows[0]) for rows in samples.values()),
            about={"schema_versions": sorted(versions)},
        )
        for (model, task), samples in together.items()
    ]


def _records(rows: list[dict[str, Any]], choices: LogChoices, path: Path) -> list[LogRecord]:
    first = rows[0]
    where = f"{path}, sample {first['sample_id']}"
    asked = first["input"] if isinstance(first["input"], dict) else {}
    metadata = first.get("metadata") or {}
    question = dig({**first, **metadata}, choices.question_field) if choices.question_field else None
    finished, failed = ended(metadata, first, first.get("output"))
    failed = "error" if any(row.get("error") for row in rows) else failed
    texts = _texts(first)
    scores = {_score_name(row): _score(row) for row in rows} if failed is None else {}
    if len(texts) > 1:  # one score for several texts is of none of them
        scores = {}
    records = [
        LogRecord(
            item=str(first["sample_id"]),
            prompt=str(asked.get("formatted") or asked.get("raw") or ""),
            text=text,
            question=str(question).strip() if question else None,
            options=tuple(str(option) for option in asked.get("choices") or ()),
            accepted=texts_of(asked.get("reference")),
            topic=topic_of(metadata),
            scores=scores,
            confidence=choices.confidence_of(metadata, first, where=where),
            finished=finished,
            failed=failed,
        )
        for text in texts
    ]
    return [replace(record, **_ours(metadata)) for record in records] if _is_ours(first) else records


def _is_ours(row: dict[str, Any]) -> bool:
    said = row.get("answer_attribution")
    return isinstance(said, list) and bool(said) and dig(said[0], "extraction_method") == APPLICATION


def _ours(metadata: dict[str, Any]) -> dict[str, Any]:
    """Fields of a record as our own export noted them."""
    said = str(metadata.get("said_yes", ""))
    correct = is_right(metadata.get("answered_correctly"))
    return {
        "said_yes": is_right(said),
        "failed": UNREAD if said == UNREAD else None,
        "margin": _number(metadata.get("margin")),
        "mass": _number(metadata.get("mass")),
        "scores": {"answered_correctly": correct} if correct is not None else {},
    }


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return NAN


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
