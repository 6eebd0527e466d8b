"""Inspect's logs: .eval (a zip file of JSON) and the older .json.

respondent  eval.model, and what of its configuration and task arguments differs between logs
item        eval.task and the sample's id; an epoch is a repetition
answer      the completion of the first choice
margin      where the first token's alternatives hold both a yes and a no
no answer   a sample with an error, a limit or an invalidation; a score of nan is unscored

Inspect's own reader opens them (versions, compression); what it gives is read here as plain dictionaries.
"""

import json
import math
import re
from pathlib import Path
from typing import Any

from onedial.asking import NO_VARIANTS, YES_VARIANTS
from onedial.core import InputError, refuse_large
from onedial.panels.formats.records import (
    ASKED_AS,
    NAN,
    LogChoices,
    LogRecord,
    LogRun,
    dig,
    is_right,
    texts_of,
)

FORMAT = "inspect"
# Settings of the connection, which say nothing about the respondent.
_CONNECTION = {
    "max_connections",
    "max_retries",
    "timeout",
    "attempt_timeout",
    "cache",
    "batch",
    "logprobs",
    "top_logprobs",
}


def is_mine(path: Path) -> bool:
    """Whether a file looks like an Inspect log."""
    if path.suffix == ".eval":
        return True
    if path.suffix != ".json" or not path.is_file():
        return False
    with path.open(encoding="utf-8", errors="replace") as file:
        start = file.read(4000)
    return '"eval"' in start and '"version"' in start and '"task_id"' in start


def read(path: Path, choices: LogChoices) -> list[LogRun]:
    """Read one log.

    Raises:
        InputError: it is damaged, is no Inspect log, holds no samples, or its evaluation did not come to its end.
    """
    header, samples = _open(path)
    about = header["eval"]
    records = [_record(sample, choices, f"{path}, sample {sample.get('id')}") for sample in samples]
    if not records:
        raise InputError(f"{path} holds no samples (status {header.get('status')!r}); was it logged without them?")
    if not choices.incomplete and (ended := header.get("status")) not in (None, "success"):
        n_all = (dig(about, "dataset.samples") or 0) * (dig(about, "config.epochs") or 1)
        of = f" of {n_all}" if n_all >= len(records) else ""
        raise InputError(
            f"{path} is of an evaluation with status {ended!r} that holds {len(records)}{of} samples; finish it with "
            "`inspect eval-retry`, or pass --incomplete to take what is there"
        )
    generate = about.get("model_generate_config") or {}
    generate = {**(dig(header, "plan.config") or {}), **generate}
    settings = {name: _plain(value) for name, value in generate.items() if name not in _CONNECTION}
    settings |= {name: _plain(value) for name, value in (about.get("task_args") or {}).items()}
    return [
        LogRun(
            source=str(path),
            format=FORMAT,
            model=_model(about),
            task=str(about["task"]).rpartition("/")[2],
            settings=settings,
            records=tuple(records),
            about={
                "status": header.get("status"),
                "created": about.get("created"),
                "packages": about.get("packages"),
                "model_args": sorted(about.get("model_args") or {}),
            },
        )
    ]


def _model(about: dict[str, Any]) -> str:
    """Who was asked: where no model was named ("none/none"), the one that has a role."""
    named = str(about["model"])
    if named not in ("none/none", "none"):
        return named
    roles = [dig(role, "model") for role in (about.get("model_roles") or {}).values()]
    return next((str(model) for model in roles if model), named)


def _open(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What the log says of itself, and its samples."""
    refuse_large(path)
    try:
        from inspect_ai.log import read_eval_log
    except ImportError as error:
        raise InputError(
            f"{path} is read by Inspect's library; install it: pip install 'onedial[providers]'"
        ) from error
    try:
        log = read_eval_log(str(path), resolve_attachments=True)
    except Exception as error:  # whatever comes of a damaged log: zip, zstandard, JSON, pydantic
        reason = " ".join(str(error).split())[:100]
        raise InputError(f"{path} is no whole Inspect log ({reason}); was it written to its end?") from error
    samples = [sample.model_dump(exclude_none=True) for sample in log.samples or []]
    return log.model_dump(exclude={"samples"}, exclude_none=True), samples


def _record(sample: dict[str, Any], choices: LogChoices, where: str) -> LogRecord:
    prompt = _text(sample.get("input"), role="user")
    output = sample.get("output") or {}
    text = _completion(output)
    metadata = sample.get("metadata") or {}
    asked_as = {name: dig(metadata, name) for name in ASKED_AS}
    scores = sample.get("scores") or {}
    holders = [dig(score, "metadata") for score in scores.values()]
    holders += [dig(score, "value") for score in scores.values()] + [metadata, sample.get("store")]
    options = tuple(_text(option) for option in sample.get("choices") or ())
    target = texts_of(sample.get("target"))
    question = dig({**sample, **metadata}, choices.question_field) if choices.question_field else None
    return LogRecord(
        item=str(sample.get("id")),
        prompt=prompt,
        turns=_turns(sample.get("input")),
        text=text,
        question=str(question).strip() if question else None,
        options=options,
        accepted=target,
        topic=_topic(metadata),
        margin=_margin(output, text),
        scores=_scores(scores),
        confidence=choices.confidence_of(*holders, where=where),
        finished=dig((output.get("choices") or [{}])[0], "stop_reason") not in ("max_tokens", "model_length"),
        failed=_failure(sample, output),
        uid=str(sample.get("uuid") or ""),
        asked_as={} if None in asked_as.values() else asked_as,
    )


def _failure(sample: dict[str, Any], output: dict[str, Any]) -> str | None:
    if sample.get("error"):
        return "error"
    if sample.get("limit"):
        return f"limit: {dig(sample, 'limit.type') or 'unknown'}"
    if sample.get("invalidation"):
        return "invalidated"
    return "error" if output.get("error") else None


def _completion(output: dict[str, Any]) -> str | None:
    listed = output.get("choices") or []
    message = dig(listed[0], "message.content") if listed else None
    if message is None:
        message = output.get("completion")
    return None if message is None else _text(message)


def _text(content: Any, role: str | None = None) -> str:
    """A text, a list of parts, or a list of messages (then the last of this role), as text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return "" if content is None else str(content)
    messages = [part for part in content if isinstance(part, dict) and "role" in part]
    if messages:
        own = [message for message in messages if role is None or message["role"] == role] or messages
        return _text(own[-1].get("content"))
    parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
    return "".join(_text(part.get("text")) for part in parts)


def _turns(content: Any) -> tuple[str, ...]:
    """What user and assistant say before the answer; empty where the input is one text."""
    listed = content if isinstance(content, list) else []
    said = [turn for turn in listed if isinstance(turn, dict) and turn.get("role") in ("user", "assistant")]
    return tuple(_text(turn.get("content")) for turn in said)


def _scores(scores: dict[str, Any]) -> dict[str, bool | None]:
    found: dict[str, bool | None] = {}
    for name, score in scores.items():
        value = dig(score, "value")
        if isinstance(value, dict):
            found |= {f"{name}.{part}": is_right(own) for part, own in value.items()}
        else:
            found[name] = is_right(value)
    return found


def _margin(output: dict[str, Any], text: str | None) -> float:
    """Log-odds of yes at the first token, where the text begins with a yes or a no and the alternatives hold both."""
    listed = output.get("choices") or []
    content = dig(listed[0], "logprobs.content") if listed else None
    first = content[0] if isinstance(content, list) and content else {}
    yes, no = ({word.strip() for word in variants} for variants in (YES_VARIANTS, NO_VARIANTS))
    begins = re.match(r"\s*(\w+)", text or "")
    if begins is None or begins[1] not in yes | no:
        return NAN
    alternatives = [other for other in first.get("top_logprobs") or [] if isinstance(other.get("logprob"), float)]
    sums = [sum(math.exp(other["logprob"]) for other in alternatives if _word(other) in words) for words in (yes, no)]
    return math.log(sums[0]) - math.log(sums[1]) if all(sums) else NAN


def _word(token: dict[str, Any]) -> str:
    return str(token.get("token", "")).strip(" \u0120\u2581")  # as tokenizers write the space before a word


def _topic(metadata: dict[str, Any]) -> str | None:
    for name in ("topic", "subject", "category"):
        if isinstance(metadata.get(name), str):
            return metadata[name]
    return None


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
