"""Sample files of the lm-evaluation-harness: samples_TASK_DATE.jsonl, with results_*.json beside them.

respondent  model_name of the results file (else the folder's name); its arguments and generation settings
item        the document's own id, else doc_hash: the same document has it in every task
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

from onedial.asking.replies import leaves_a_thought_open
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
    topic_of,
)

FORMAT = "lm-eval"
_NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.-]+)")
_IDS = ("id", "question_id", "qid", "sample_id", "idx")
_QUESTIONS = ("question", "query", "problem", "prompt", "input", "text")
_YES, _NO = ({word.strip() for word in variants} for variants in (YES_VARIANTS, NO_VARIANTS))


def is_mine(path: Path) -> bool:
    """Whether a file looks like a sample file; those of lmms-eval have no arguments, but the prompt as `input`."""
    return begins_with_keys(path, "doc_id", "resps")


def read(path: Path, choices: LogChoices) -> list[LogRun]:
    """Read one sample file.

    Raises:
        InputError: a line that is no object, or rows without the fields of a sample file.
    """
    rows = read_json_rows(path)
    if not rows:
        raise InputError(f"{path} is empty; was the evaluation run with --log_samples?")
    for number, row in enumerate(rows, start=1):
        missing = [key for key in ("doc_id", "doc", "resps") if key not in row]
        if missing:
            raise InputError(f"{path}, row {number} has no {missing[0]!r}; it is no sample file of lm-eval")
    named = _NAME.fullmatch(path.stem)
    task = named["task"] if named else path.stem.removeprefix("samples_")
    results = _results_beside(path, named["date"] if named else "")
    records = [record for same in _by_document(rows) for record in _records(same, choices, path)]
    return [
        LogRun(
            source=str(path),
            format=FORMAT,
            model=str(results.get("model_name") or path.parent.name.replace("__", "/")),
            task=task,
            settings=_settings(results, rows[0]),
            records=tuple(records),
            about={
                "lm_eval_version": results.get("lm_eval_version"),
                "chat_template_sha": results.get("chat_template_sha"),
                "model_sha": dig(results, "config.model_sha"),
                "model_revision": dig(results, "config.model_revision"),
                "results": "found" if results else "not found: the model's name is the folder's",
            },
        )
    ]


def _results_beside(path: Path, date: str) -> dict[str, Any]:
    """The results of the same evaluation: of the same date, else the only one there is."""
    beside = sorted(path.parent.glob("results_*.json"))
    own = [file for file in beside if date and date in file.name] or (beside if len(beside) == 1 else [])
    content = read_json(own[-1]) if own else {}
    return content if isinstance(content, dict) else {}


def _settings(results: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, str]:
    arguments = dig(results, "config.model_args") or {}
    settings = {name: str(value) for name, value in arguments.items()} if isinstance(arguments, Mapping) else {}
    settings = {name: value for name, value in settings.items() if name not in ("pretrained", "model")}
    generation = _argument(row, 0, 1)
    if isinstance(generation, Mapping):
        settings |= {name: str(value) for name, value in generation.items() if name != "until"}
    if results.get("chat_template_sha"):
        settings["chat_template"] = str(results["chat_template_sha"])[:8]
    if results.get("system_instruction_sha"):
        settings["system_instruction"] = str(results["system_instruction_sha"])[:8]
    return settings


def _by_document(rows: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Rows of one document (one per filter) together."""
    together: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        key = tuple(str(row.get(name)) for name in ("doc_id", "doc_hash", "target_hash", "prompt_hash"))
        together.setdefault(key, []).append(row)
    return list(together.values())


def _records(rows: list[dict[str, Any]], choices: LogChoices, path: Path) -> list[LogRecord]:
    first = rows[0]
    doc = first["doc"] if isinstance(first["doc"], dict) else {}
    where = f"{path}, document {first['doc_id']}"
    item = next((str(doc[name]) for name in _IDS if doc.get(name) not in (None, "")), None)
    fields = [choices.question_field] if choices.question_field else list(_QUESTIONS)
    found = (dig(doc, name) for name in fields)
    question = next((text.strip() for text in found if isinstance(text, str) and text.strip()), None)
    filters = {str(row.get("filter", "none")) for row in rows}
    many = len(filters) > 1 or len(rows) > 1
    scores = {
        (f"{row.get('filter', f'filter {number}')}/{metric}" if many else metric): is_right(value)
        for number, row in enumerate(rows, start=1)
        for metric, value in _metrics(row).items()
    }
    common = LogRecord(
        item=item or str(first.get("doc_hash") or first["doc_id"])[:12],
        prompt=str(_argument(first, 0, 0) or first.get("input") or ""),
        question=question,
        topic=topic_of(doc),
        accepted=texts_of(first.get("target")),
        scores=scores,
        confidence=choices.confidence_of(doc, first, where=where),
    )
    given = first["resps"] if isinstance(first["resps"], list) else [first["resps"]]
    continuations = [_argument(first, number, 1) for number in range(len(given))]
    likelihoods = [_likelihood(option) for option in given]
    if given and all(isinstance(text, str) for text in continuations) and None not in likelihoods:
        known = {str(text).strip(): value for text, value in zip(continuations, likelihoods, strict=True)}
        return [_from_likelihoods(common, {text: value for text, value in known.items() if value is not None})]
    finished, failed = ended(first)
    texts = given[0] if given and isinstance(given[0], list) else given
    texts = [text if isinstance(text, str) else None for text in texts] or [None]
    if len(texts) > 1:  # the metrics are of the one text that the filter left, where it left one
        is_scored = [first.get("filtered_resps") in ([text], text) and number == 0 for number, text in enumerate(texts)]
    else:
        is_scored = [True] * len(texts)
    return [
        replace(
            common,
            text=text,
            scores=scores if scored else {},
            finished=finished and not leaves_a_thought_open(common.prompt),
            failed=failed if text is not None else "no text",
        )
        for text, scored in zip(texts, is_scored, strict=True)
    ]


_FIELDS = {
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "input", "model_name"),
    *("doc_hash", "prompt_hash", "target_hash", "schema_version", "eval_id", "task_name"),
}


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
    return value if math.isfinite(value) else None


def _from_likelihoods(common: LogRecord, likelihoods: dict[str, float]) -> LogRecord:
    """What the log-likelihoods of the options say: yes or no where the options are these, else the most likely one."""
    yes = [value for text, value in likelihoods.items() if text in _YES]
    no = [value for text, value in likelihoods.items() if text in _NO]
    if yes and no and len(yes) + len(no) == len(likelihoods):
        margin = _log_sum(yes) - _log_sum(no)
        mass = math.exp(_log_sum(yes)) + math.exp(_log_sum(no))
        return replace(common, said_yes=margin > 0, margin=margin, mass=min(mass, 1.0))
    best = max(likelihoods, key=lambda text: likelihoods[text])
    return replace(common, text=best, options=tuple(likelihoods))


def _log_sum(values: list[float]) -> float:
    highest = max(values)
    return highest + math.log(sum(math.exp(value - highest) for value in values))


def _argument(row: Mapping[str, Any], generation: int, number: int) -> Any:
    """arguments.gen_args_G.arg_N, also where older versions wrote lists."""
    arguments = row.get("arguments")
    if isinstance(arguments, Mapping):
        return dig(arguments, f"gen_args_{generation}.arg_{number}")
    try:
        return arguments[generation][number]  # type: ignore[index]
    except (TypeError, IndexError, KeyError):
        return None
