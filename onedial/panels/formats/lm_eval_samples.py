"""Sample files of the lm-evaluation-harness: samples_TASK_DATE.jsonl, with results_*.json beside them.

respondent  model_name of the results file (else the folder's name); its arguments and generation settings
item        the document's `question_id` or `id`, else doc_hash: the same document has it in every task
question    the document's `question`, or the field that is named, also by a preset that the task is called like; else
            the prompt. `options` (a field) where letters are scored, and `final` (of a worked solution) likewise
answer      each text of `resps` is a repetition; where the options are yes and no, their log-likelihoods give
            said_yes, margin (yes minus no) and mass (their summed probability)
score       every metric under every filter: a file holds one row per filter, which are put together here
"""

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from onedial.asking.questions import LETTERS
from onedial.asking.replies import leaves_a_thought_open
from onedial.asking.tables import listed
from onedial.asking.yes_no import NO_VARIANTS, YES_VARIANTS
from onedial.core.errors import InputError
from onedial.panels.formats.records import (
    LogChoices,
    LogRecord,
    LogRun,
    begins_with_keys,
    dig,
    ended,
    is_right,
    read_json,
    read_json_rows,
    texts_of,
)
from onedial.panels.questions.cells import final_answer
from onedial.panels.questions.question_columns import presets

FORMAT = "lm-eval"
_NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.-]+)")
_EXACT = (("question_id", "question_id"), ("question_id", "id"), ("question", "question"), ("topic", "topic"))
"""What is read under its own name where no other is declared."""
_YES, _NO = ({word.strip().casefold() for word in variants} for variants in (YES_VARIANTS, NO_VARIANTS))
_FIELDS = {
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "input", "model_name"),
    *("doc_hash", "prompt_hash", "target_hash", "schema_version", "eval_id", "task_name"),
}


def is_mine(path: Path) -> bool:
    """Whether a file looks like a sample file; those of lmms-eval have no arguments, but the prompt as `input`."""
    return begins_with_keys(path, "doc_id", "resps")


def read(path: Path, choices: LogChoices) -> list[LogRun]:
    """Read one sample file.

    Raises:
        InputError: a line that is no object, or rows without the fields of a sample file.
    """
    documents: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    rows = read_json_rows(path, "doc_id", "doc", "resps")
    for row in rows:  # of one document there is one for each filter
        key = tuple(str(row.get(name)) for name in ("doc_id", "doc_hash", "target_hash", "prompt_hash"))
        documents.setdefault(key, []).append(row)
    named = _NAME.fullmatch(path.stem)
    task = named["task"] if named else path.stem.removeprefix("samples_")
    preset = _preset_of(task, rows[0]["doc"])
    of_documents = {role: preset[role] for role in ("question", "topic", "final") if isinstance(preset.get(role), str)}
    options = preset.get("options", ())
    of_documents |= {"options": options if isinstance(options, str) else "+".join(options)} if options else {}
    choices = replace(choices, columns=of_documents | dict(choices.columns))
    results = _results_beside(path, named["date"] if named else "")
    about = {name: results.get(name) for name in ("lm_eval_version", "chat_template_sha")}
    return [
        LogRun(
            source=str(path),
            format=FORMAT,
            model=str(results.get("model_name") or path.resolve().parent.name.replace("__", "/")),
            task=task,
            settings=_settings(results, rows[0]),
            records=tuple(record for same in documents.values() for record in _records(same, choices, path)),
            about=about | {"results": "found" if results else "not found: the model's name is the folder's"},
            grading="number" if "final" in choices.columns else "text",
        )
    ]


def _preset_of(task: str, doc: Any) -> dict[str, Any]:
    """The mapping of the preset that a task or its group is called like; of a group only where its fields are there."""
    names = [name for name in presets() if task == name or task.startswith(f"{name}_")]
    preset = presets()[max(names, key=len)].columns.mapped() if names else {}
    columns = [value for part, value in preset.items() if part not in ("key_is", "split", "final")]
    heads = [name for value in columns for name in (value if isinstance(value, tuple) else (value,))]
    is_whole = isinstance(doc, dict) and all(name in doc or name.partition(".")[0] in doc for name in heads)
    return preset if is_whole or task in names else {}


def _results_beside(path: Path, date: str) -> dict[str, Any]:
    """The results of the same evaluation: of the same date, else the only one there is."""
    beside = sorted(path.parent.glob("results_*.json"))
    of_date = [file for file in beside if date and date in file.name] or (beside if len(beside) == 1 else [])
    content = read_json(of_date[-1]) if of_date else {}
    return content if isinstance(content, dict) else {}


def _settings(results: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, str]:
    given: dict[str, Any] = {}
    for settings in (dig(results, "config.model_args"), _argument(row, 0, 1)):
        given |= settings if isinstance(settings, Mapping) else {}
    for name in ("chat_template_sha", "system_instruction_sha"):
        given |= {name: str(results[name])[:8]} if results.get(name) else {}
    return {name: str(value) for name, value in given.items() if name not in ("pretrained", "model", "until")}


def _records(rows: list[dict[str, Any]], choices: LogChoices, path: Path) -> list[LogRecord]:
    first = rows[0]
    doc = first["doc"] if isinstance(first["doc"], dict) else {}
    where = f"{path}, document {first['doc_id']}"
    known = {role: choices.text_of(role, doc, where=where) for role in ("question_id", "question", "topic")}
    known |= {role: str(doc[name]) for role, name in _EXACT if known[role] is None and doc.get(name) not in (None, "")}
    scores = {
        (f"{row.get('filter', f'filter {number}')}/{metric}" if len(rows) > 1 else metric): is_right(value)
        for number, row in enumerate(rows, start=1)
        for metric, value in _metrics(row).items()
    }
    finished, failed = ended(first)
    prompt = str(_argument(first, 0, 0) or first.get("input") or "")
    common = LogRecord(
        item=known["question_id"] or str(first.get("doc_hash") or first["doc_id"])[:12],
        prompt=prompt,
        question=known["question"],
        topic=known["topic"],
        accepted=tuple(
            final_answer(text, choices.columns.get("final", "")) or text for text in texts_of(first.get("target"))
        ),
        scores=scores,
        confidence=choices.confidence_of(doc, first, where=where),
        finished=finished and not leaves_a_thought_open(prompt),
        failed=failed,
    )
    given = first["resps"] if isinstance(first["resps"], list) else [first["resps"]]
    likelihoods = [_likelihood(option) for option in given]
    contexts, continuations = ([_argument(first, number, part) for number in range(len(given))] for part in (0, 1))
    if given and all(isinstance(text, str) for text in continuations) and None not in likelihoods:
        # options differ in the continuation; of multiple inputs in the context
        options = contexts if len({*continuations}) == 1 < len(given) else continuations
        logs: dict[str, float] = {}
        for context, option, value in zip(contexts, options, likelihoods, strict=True):
            if value is not None and (options is contexts or context == contexts[0]):  # else it is unconditional
                logs.setdefault(str(option).strip(), value)
        if list(logs) == list(LETTERS[: len(logs)]) and len(logs) > 1:
            at = choices.columns.get("options", "").split("+")
            shown = dig(doc, at[0]) if len(at) == 1 else [dig(doc, name) for name in at]
            if not isinstance(shown, list) or len(shown) != len(logs):
                raise InputError(
                    f"{where} scores the letters {', '.join(logs)}; name the field of the options that they stand for "
                    f"(--columns options=FIELD): it holds {listed(map(str, doc))}"
                )
            logs = dict(zip(map(str, shown), logs.values(), strict=True))
        return [_from_likelihoods(common, logs)]
    texts = given[0] if given and isinstance(given[0], list) else given
    texts = [text if isinstance(text, str) else None for text in texts] or [None]
    # of several texts the metrics are of the one that the filter left, where it left one
    of_first = len(texts) == 1 or first.get("filtered_resps") in ([texts[0]], texts[0])
    scored = [scores if of_first else {}, *({} for _ in texts[1:])]
    records = [replace(common, text=text, scores=score) for text, score in zip(texts, scored, strict=True)]
    return [record if record.text is not None else replace(record, failed="no text") for record in records]


def _metrics(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row's metrics; older versions do not list them, and every number beside their own fields is one.

    Those of lmms-eval may be objects, {"score": 1.0, "prediction": ...}.
    """
    values = {name: dig(value, "score") if isinstance(value, Mapping) else value for name, value in row.items()}
    if row.get("metrics"):
        return {name: values.get(name) for name in row["metrics"]}
    return {
        name: value for name, value in values.items() if name not in _FIELDS and isinstance(value, bool | int | float)
    }


def _likelihood(option: Any) -> float | None:
    """The log-likelihood in [[value, is greedy]], also where a list around it is left out; None where it is none."""
    option = option[0] if isinstance(option, list) and len(option) == 1 else option
    if not isinstance(option, list) or len(option) != 2 or str(option[1]) not in ("True", "False", "0", "1"):
        return None
    try:
        value = float(option[0])
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) and value <= _ROUNDED else None


_ROUNDED = 1e-3
"""So much may a log-likelihood be above 0."""


def _from_likelihoods(common: LogRecord, likelihoods: dict[str, float]) -> LogRecord:
    """What the log-likelihoods of the options say: yes or no where the options are these, else the most likely one."""
    yes, no = ([log for text, log in likelihoods.items() if text.casefold() in words] for words in (_YES, _NO))
    if yes and no and len(yes) + len(no) == len(likelihoods):
        margin = float(np.logaddexp.reduce(yes) - np.logaddexp.reduce(no))
        return replace(common, said_yes=margin > 0, margin=margin, mass=min(float(np.exp(yes + no).sum()), 1.0))
    return replace(common, text=max(likelihoods, key=lambda text: likelihoods[text]), options=tuple(likelihoods))


def _argument(row: Mapping[str, Any], generation: int, number: int) -> Any:
    """arguments.gen_args_G.arg_N, also where older versions wrote lists."""
    arguments = row.get("arguments")
    if isinstance(arguments, Mapping):
        return dig(arguments, f"gen_args_{generation}.arg_{number}")
    try:
        return arguments[generation][number]  # type: ignore[index]
    except (TypeError, IndexError, KeyError):
        return None
