"""A run folder of HELM: scenario_state.json (what was asked and answered), per_instance_stats.json (what it was worth).

respondent  adapter_spec.model
item        instance.id; a train trial is a repetition
answer      the first completion; of a joint multiple choice, the option that its letter stands for, where it
            is a letter alone
score       mean of exact_match, quasi_exact_match and the like, where it is 0 or 1
left out    perturbed instances, and requests for one reference of several (their completions are no answers)
"""

from collections import Counter
from pathlib import Path
from typing import Any

from onedial.core import InputError
from onedial.panels.formats.records import LogChoices, LogRecord, LogRun, dig, is_right, read_json, texts_of

FORMAT = "helm"
STATE, STATS, SPEC = "scenario_state.json", "per_instance_stats.json", "run_spec.json"
_CORRECTNESS = (
    *("exact_match", "quasi_exact_match", "prefix_exact_match", "quasi_prefix_exact_match"),
    *("chain_of_thought_correctness", "math_equiv", "math_equiv_chain_of_thought", "ifeval_strict_accuracy"),
)
_VARYING = ("temperature", "instructions", "max_train_instances", "method")


def is_mine(path: Path) -> bool:
    """Whether a folder looks like a HELM run."""
    return path.is_dir() and (path / STATE).is_file()


def read(path: Path, choices: LogChoices) -> list[LogRun]:
    """Read one run folder.

    Raises:
        InputError: a file cannot be read or lacks its fields.
    """
    state = read_json(path / STATE)
    adapter, requests = dig(state, "adapter_spec") or {}, dig(state, "request_states")
    if not isinstance(requests, list) or "model" not in adapter:
        raise InputError(f"{path / STATE} is no scenario state of HELM: it lacks request_states or adapter_spec.model")
    scores = _scores(path / STATS)
    left_out: Counter[str] = Counter()
    records = []
    for number, request in enumerate(requests):
        instance = request.get("instance") or {}
        if instance.get("perturbation"):
            left_out["perturbed instance"] += 1
        elif request.get("reference_index") is not None:
            left_out["request for one reference of several"] += 1
        else:
            records.append(_record(request, instance, scores, choices, f"{path / STATE}, request {number}"))
    if not records:
        raise InputError(f"{path} holds no answers to whole questions ({dict(left_out)})")
    spec = read_json(path / SPEC) if (path / SPEC).is_file() else {}
    return [
        LogRun(
            source=str(path),
            format=FORMAT,
            model=str(adapter["model"]),
            task=str(dig(spec, "name") or path.name).partition(":")[0],
            settings={name: str(adapter[name]) for name in _VARYING if adapter.get(name) not in (None, "")},
            records=tuple(records),
            left_out=left_out,
            about={"stats": "found" if scores else "not found: correctness is not known"},
        )
    ]


def _scores(path: Path) -> dict[tuple[str, int], dict[str, bool | None]]:
    """(instance, trial) to scores, of unperturbed instances."""
    if not path.is_file():
        return {}
    content = read_json(path)
    if not isinstance(content, list):
        raise InputError(f"{path} holds a {type(content).__name__} where HELM writes a list")
    found: dict[tuple[str, int], dict[str, bool | None]] = {}
    for entry in content:
        if entry.get("perturbation"):
            continue
        scores = found.setdefault((str(entry.get("instance_id")), int(entry.get("train_trial_index") or 0)), {})
        for stat in entry.get("stats") or ():
            name = dig(stat, "name.name")
            if name in _CORRECTNESS and not dig(stat, "name.perturbation"):
                mean = stat.get("mean")
                if mean is None and stat.get("count"):
                    mean = stat["sum"] / stat["count"]
                scores[str(name)] = is_right(mean)
    return found


def _record(
    request: dict[str, Any],
    instance: dict[str, Any],
    scores: dict[tuple[str, int], dict[str, bool | None]],
    choices: LogChoices,
    where: str,
) -> LogRecord:
    identity, trial = str(instance.get("id")), int(request.get("train_trial_index") or 0)
    references = [reference for reference in instance.get("references") or () if isinstance(reference, dict)]
    right = [dig(reference, "output.text") for reference in references if "correct" in (reference.get("tags") or ())]
    completions = dig(request, "result.completions") or []
    text = dig(completions[0], "text") if completions else None
    succeeded = dig(request, "result.success")
    mapping = request.get("output_mapping") or {}
    chosen = mapping.get(str(text).strip().rstrip(".)")) if text else None
    return LogRecord(
        item=identity,
        prompt=str(dig(request, "request.prompt") or ""),
        text=chosen or text,
        question=(dig(instance, choices.question_field) if choices.question_field else None)
        or dig(instance, "input.text"),
        options=tuple(map(str, mapping.values())),
        accepted=texts_of(right),
        scores=scores.get((identity, trial), {}),
        confidence=choices.confidence_of(instance.get("extra_data"), request.get("annotations"), where=where),
        failed=None if succeeded in (True, None) and completions else "error",
    )
