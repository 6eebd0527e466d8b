"""Runs as logs that `inspect view` opens: a sweep, and what models were asked about themselves.

A sweep has a sample for every question and a score for every magnitude; of a battery or a self-prediction every single
answer is a sample (`write_answer_log`). Of a sweep:

sample      the question, with its split and topic; its output is the unsteered answer
score       named by the magnitude: 1 yes, 0 no, with margin and mass; an answer that could not be read has none
metrics     of each magnitude: yes rate, its standard error over questions, and how many were not read
metadata    the verdict's sentence, the vector's place, the run's folder and its commit
"""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import pandas as pd

from onedial.asking.store import ANSWERS, Line, Store
from onedial.asking.yes_no import is_read
from onedial.core.errors import InputError
from onedial.core.run.run import Run
from onedial.verdict.sweep_run import SweepRun

try:
    from inspect_ai.log import (
        EvalConfig,
        EvalDataset,
        EvalLog,
        EvalMetric,
        EvalResults,
        EvalSample,
        EvalScore,
        EvalSpec,
        write_eval_log,
    )
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Score
except ImportError:
    raise InputError("an Inspect log needs inspect_ai; run `pip install 'onedial[providers]'`") from None

TASK = "onedial sweep"


def write_inspect_log(run: SweepRun, path: Path) -> int:
    """Write the sweep of the intervention under test to a new file, and return how many answers could not be read.

    Args:
        path: .eval (compressed) or .json.

    Raises:
        InputError: the file's name ends otherwise; or the run has no verdict yet. Already at import: inspect_ai is not
            installed.
    """
    _refuse_other_names(path)
    if not run.is_finished:
        raise InputError(f"{run.path} has no verdict yet; finish it with --resume, then export it")
    table, questions = run.sweep(), {row["id"]: row for row in run.questions().to_dict("records")}
    table = table[table["intervention_id"] == run.under_test()]
    table = table.assign(name=table["magnitude"].map(name_of), yes=(table["margin"] > 0).astype(float))
    table["yes"] = table["yes"].where(is_read(table["mass"]))
    model = str(run.run.manifest.facts["model"]["name"])
    entry = run.interventions().set_index("intervention_id").loc[run.under_test()]
    found = EvalLog(
        status="success",
        eval=EvalSpec(
            created=run.run.manifest.started,
            task=TASK,
            model=model,
            dataset=EvalDataset(
                name=str(run.config.get("questions") or run.config.get("panel")), samples=len(questions)
            ),
            config=EvalConfig(),
            task_args={"layers": list(entry["layers"]), "operator": str(entry["operator"])},
            metadata={"sentence": run.verdict()["sentence"], "run": str(run.path), "commit": run.run.manifest.commit},
        ),
        results=EvalResults(
            total_samples=len(questions),
            completed_samples=len(questions),
            scores=[_rates(name, own) for name, own in _by_magnitude(table)],
        ),
        samples=[
            _sample(model, questions[question], own) for question, own in table.groupby("question_id", sort=False)
        ],
    )
    write_eval_log(found, str(path))
    return int(table["yes"].isna().sum())


def write_answer_log(run: Run, path: Path) -> tuple[int, int]:
    """Write every single answer of a run that asked models about themselves to a new file.

    A sample's score is the value on its instrument's scale, with margin, mass and probabilities; a text has none, nor
    has an answer that could not be read.

    Args:
        path: .eval (compressed) or .json.

    Returns:
        Samples, and how many of them have no score.

    Raises:
        InputError: the file's name ends otherwise, or nothing was asked yet.
    """
    _refuse_other_names(path)
    lines = [line for line in Store(run.path / ANSWERS).lines() if not line.get("error")]
    if not lines:
        raise InputError(f"{run.path} holds no answers yet; finish it with --resume, then export it")
    found = EvalLog(
        status="success",
        eval=EvalSpec(
            created=run.manifest.started,
            task="onedial ask",
            model=", ".join(dict.fromkeys(line["respondent"] for line in lines)),
            dataset=EvalDataset(name=str(run.path), samples=len(lines)),
            config=EvalConfig(),
            metadata={"commit": run.manifest.commit},
        ),
        samples=[_single(f"{line['occasion'] or 'asked'}-{number:06}", line) for number, line in enumerate(lines)],
    )
    write_eval_log(found, str(path))
    return len(lines), sum("value" not in line for line in lines)


def _single(name: str, line: Line) -> EvalSample:
    metadata: Line = {key: line[key] for key in ("margin", "mass", "probabilities") if key in line}
    scores = {line["instrument"]: Score(value=line["value"], metadata=metadata)} if "value" in line else None
    return EvalSample(
        id=name,
        epoch=1,
        input=line["prompt"],
        target="",
        output=ModelOutput.from_content(line["respondent"], line.get("raw_text", "")),
        scores=scores,
        metadata={
            **{key: line[key] for key in ("respondent", "instrument")},
            **{"test": line["occasion"], "seed": line["sample"]},
        },
    )


def _refuse_other_names(path: Path) -> None:
    if path.suffix not in (".eval", ".json"):
        raise InputError(f"{path}: an Inspect log ends in .eval or .json; give --out such a name")


def name_of(magnitude: float) -> str:
    """The score's name.

    >>> name_of(-0.25), name_of(0.0)
    ('-0.25', '0')
    """
    return f"{magnitude:+.4g}" if magnitude else "0"


def _by_magnitude(table: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    return [(str(own["name"].iloc[0]), own) for _, own in table.groupby("magnitude")]


def _rates(name: str, own: pd.DataFrame) -> EvalScore:
    read = own["yes"].dropna()
    told = {"yes rate": float(read.mean()), "stderr": float(read.std()) / max(len(read), 1) ** 0.5}
    metrics = {key: EvalMetric(name=key, value=value) for key, value in told.items() if value == value}
    n_unread = len(own) - len(read)
    return EvalScore(name=name, scorer="says_yes", metrics=metrics, scored_samples=len(read), unscored_samples=n_unread)


def _sample(model: str, question: dict[Hashable, Any], own: pd.DataFrame) -> EvalSample:
    scores = {
        row["name"]: Score(
            value=row["yes"],
            answer="yes" if row["yes"] else "no",
            metadata={"margin": row["margin"], "mass": row["mass"], "magnitude": row["magnitude"]},
        )
        for row in own.sort_values("magnitude").to_dict("records")
        if row["yes"] == row["yes"]
    }
    unsteered = scores.get("0")
    return EvalSample(
        id=str(question["id"]),
        epoch=1,
        input=str(question["question"]),
        target="",
        output=ModelOutput.from_content(model, (unsteered.answer if unsteered else None) or ""),
        scores=scores,
        metadata={name: str(question[name]) for name in ("split", "topic") if question.get(name)},
    )
