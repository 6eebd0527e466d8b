"""Inspect's logs: .eval (a zip file of JSON) and the older .json.

respondent  eval.model, and what of its configuration and task arguments differs between logs
item        eval.task and the sample's id; an epoch is a repetition
answer      each choice, which are samples; the scores are of the first
margin      where the first token of the answer is a yes or a no, and its alternatives are logged
no answer   a sample with an error, a limit or an invalidation; a score of nan is unscored

Inspect's own reader opens them (versions, compression); what it gives is read here as plain dictionaries.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onedial.asking.instruments import CAN_YOU_ANSWER
from onedial.asking.providers.provider_reading import from_the_answer_on, response_of
from onedial.asking.replies import how_ended
from onedial.core.errors import InputError
from onedial.panels.formats.records import (
    ASKED_AS,
    NAN,
    LogChoices,
    LogRecord,
    LogRun,
    dig,
    is_right,
    message_of,
    texts_of,
)

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample, EvalSpec
    from inspect_ai.model import ChatCompletionChoice
    from inspect_ai.scorer import Score

FORMAT = "inspect"
# Settings of the connection, which say nothing about the respondent.
_CONNECTION = {"max_connections", "max_retries", "timeout", "attempt_timeout", "cache", "batch"}
_CONNECTION |= {"logprobs", "top_logprobs"}


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
    log = _open(path)
    about, samples = log.eval, log.samples or []
    records = tuple(record for sample in samples for record in _records(sample, choices, f"{path}, sample {sample.id}"))
    if not records:
        raise InputError(f"{path} holds no samples (status {log.status!r}); was it logged without them?")
    if not choices.incomplete and log.status != "success":
        n_all = (about.dataset.samples or 0) * (about.config.epochs or 1)
        of = f" of {n_all}" if n_all >= len(records) else ""
        raise InputError(
            f"{path} is of an evaluation with status {log.status!r} that holds {len(records)}{of} samples; finish it "
            "with `inspect eval-retry`, or pass --incomplete to take what is there"
        )
    generate = [config.model_dump(exclude_none=True) for config in (log.plan.config, about.model_generate_config)]
    settings = {name: value for config in generate for name, value in config.items() if name not in _CONNECTION}
    about_log = {"status": log.status, "created": about.created, "packages": about.packages}
    return [
        LogRun(
            source=str(path),
            format=FORMAT,
            model=_model(about),
            task=str(about.task).rpartition("/")[2],
            settings={name: _plain(value) for name, value in (settings | about.task_args).items()},
            records=records,
            about=about_log | {"model_args": sorted(about.model_args)},
        )
    ]


def _open(path: Path) -> "EvalLog":
    try:
        from inspect_ai.log import read_eval_log
    except ImportError as error:
        raise InputError(
            f"{path} is read by Inspect's library; install it: pip install 'onedial[providers]'"
        ) from error
    try:
        return read_eval_log(str(path), resolve_attachments=True)
    except Exception as error:  # whatever comes of a damaged log: zip, zstandard, JSON, pydantic
        reason = " ".join(str(error).split())[:100]
        raise InputError(f"{path} is no whole Inspect log ({reason}); was it written to its end?") from error


def _model(about: "EvalSpec") -> str:
    """Who was asked: where no model was named ("none/none"), the one that has a role."""
    roles = (about.model_roles or {}).values()
    models = [each.model for role in roles for each in (role if isinstance(role, list) else [role])]
    return models[0] if about.model in ("none/none", "none") and models else about.model


def _records(sample: "EvalSample", choices: LogChoices, where: str) -> list[LogRecord]:
    messages = [] if isinstance(sample.input, str) else sample.input
    asked = [message.text for message in messages if message.role == "user"] or [each.text for each in messages]
    turns = tuple(message.text for message in messages if message.role in ("user", "assistant"))
    output, metadata, scores = sample.output, sample.metadata or {}, sample.scores or {}
    asked_as = {name: dig(metadata, name) for name in ASKED_AS}
    holders = [score.metadata for score in scores.values()] + [score.value for score in scores.values()]
    first = LogRecord(
        item=choices.text_of("question_id", metadata, where=where) or str(sample.id),
        prompt=sample.input if isinstance(sample.input, str) else "".join(asked[-1:]),
        turns=turns,
        question=choices.text_of("question", metadata, where=where),
        options=tuple(sample.choices or ()),
        accepted=texts_of(sample.target),
        topic=choices.text_of("topic", metadata, where=where),
        scores=_scores(scores),
        confidence=choices.confidence_of(*holders, metadata, sample.store, where=where),
        failed=_failure(sample),
        uid=str(sample.uuid or ""),
        asked_as={} if None in asked_as.values() else asked_as,
    )
    records = [
        replace(
            first,
            text=choice.message.text,
            margin=_margin(choice),
            finished=how_ended(choice.stop_reason) != "cut off",
            scores=first.scores if number == 0 else {},
            uid=f"{first.uid}{f' {number}' if number and first.uid else ''}",
        )
        for number, choice in enumerate(output.choices)
    ]
    return records or [first]


def _failure(sample: "EvalSample") -> str | None:
    if sample.limit:
        return f"limit: {sample.limit.type}"
    if sample.invalidation:
        return "invalidated"
    error = sample.error.message if sample.error else sample.output.error
    return f"error: {message_of(error)}" if error else None


def _scores(scores: "Mapping[str, Score]") -> dict[str, bool | None]:
    outcomes: dict[str, bool | None] = {}
    for name, score in scores.items():
        parts = score.value if isinstance(score.value, dict) else {"": score.value}
        outcomes |= {f"{name}.{part}" if part else name: is_right(value) for part, value in parts.items()}
    return outcomes


def _margin(choice: "ChatCompletionChoice") -> float:
    """Log-odds of yes at the first token of the answer, as of a model that is asked live (`provider_reading`)."""
    if not choice.logprobs:
        return NAN
    text, content = choice.message.text, choice.message.content
    reasoned = not isinstance(content, str) and any(part.type == "reasoning" for part in content)
    shown = from_the_answer_on([token.model_dump() for token in choice.logprobs.content], text, reasoned)
    return response_of(CAN_YOU_ANSWER, text, True, shown).margin


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
