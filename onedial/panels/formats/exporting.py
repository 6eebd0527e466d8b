"""Panels in other people's formats: Every Eval Ever and py-irt.

What is missing stays out: no unread answer and no unknown correctness becomes a 0. An exporter is a function of one
signature; what a value means is chosen by name:

    said_yes             1 yes, 0 no
    answered_correctly   1 the question itself was answered correctly, 0 it was not
    came_true            1 yes and correct, or no and wrong; 0 otherwise
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from onedial.asking.questions import Question
from onedial.core.errors import InputError
from onedial.core.files import APPLICATION, sha256_of_text, write_text
from onedial.panels.formats.records import UNREAD
from onedial.panels.panels import ResponseMatrix, panel_long

Value = Literal["said_yes", "answered_correctly", "came_true"]
EVALUATION = "says it can answer"
"""How an export names what was asked."""
SCHEMA_VERSION = "0.3.0"
Export = Callable[[ResponseMatrix, Sequence[Question], Value, Path], int]


def export_every_eval_ever(panel: ResponseMatrix, questions: Sequence[Question], value: Value, path: Path) -> int:
    """One line per answer for which the value is known (the schema requires a verdict for every line).

    `evaluation` holds the value; said_yes, answered_correctly, confidence, margin and the like stand in `metadata`, as
    texts, since the schema has no field for them. An unread answer has no said_yes: with that value its line bears the
    error "unread", and its verdict counts for nothing.

    Args:
        panel: with its long table where it has one. questions: give the accepted answers, and the texts where the
            panel has none.
        value: what `evaluation` says. path: of the JSONL file; Every Eval Ever calls it *_samples.jsonl.

    Returns:
        How many answers were left out, since the value is not known.
    """
    by_id = {question.id: question for question in questions}
    texts = {} if panel.question_texts is None else panel.question_texts.dropna().to_dict()
    rows, n_left_out = _known(panel, value, with_unread=value == "said_yes")
    holds_yes_no = bool(panel.answers.notna().any(axis=None))
    lines = []
    for row in rows:
        question = by_id.get(row["question_id"])
        text = str(texts.get(row["question_id"], "")) if question is None else question.rendered
        references = list(question.answers) if question else []
        model, framing = panel.respondents.loc[row["respondent"], ["model", "framing"]]
        name = f"{EVALUATION}: {framing}" if framing else EVALUATION
        words, raw = {1.0: "Yes", 0.0: "No"}.get(row["said_yes"], ""), row.get("raw_text")
        extras = (
            _extras(row) | ({} if words or not holds_yes_no else {"said_yes": UNREAD}) | {"epoch": row["sample"] + 1}
        )
        attribution = {"turn_idx": 0, "source": "output.raw", "extracted_value": words, "is_terminal": True}
        line = {
            **{"schema_version": SCHEMA_VERSION, "evaluation_id": f"{name}/{model}/onedial", "model_id": str(model)},
            **{"evaluation_name": name, "evaluation_result_id": value, "interaction_type": "single_turn"},
            "sample_id": str(row["question_id"]),
            "sample_hash": sha256_of_text(text + "".join(references)),
            "input": {"raw": text, "reference": references},
            "output": {"raw": [raw if isinstance(raw, str) and raw else words]},
            "answer_attribution": [attribution | {"extraction_method": APPLICATION}],
            "evaluation": {"score": float(row["value"] == 1), "is_correct": row["value"] == 1},
            "metadata": {name: str(cell) for name, cell in extras.items()},
        }
        lines.append(line | ({"error": UNREAD} if pd.isna(row["value"]) else {}))
    _write_lines(path, lines)
    return n_left_out


def export_py_irt(panel: ResponseMatrix, questions: Sequence[Question], value: Value, path: Path) -> int:
    """One line per respondent: {"subject_id": name, "responses": {question: 0 or 1}}; unknown values are left out.

    Several samples count as one value: 1 where more than half are, left out for a tie.

    Args, Returns: as in `export_every_eval_ever`.
    """
    rows, n_left_out = _known(panel, value)
    table = pd.DataFrame(rows, columns=["question_id", "respondent", "value"])
    responses: dict[str, dict[str, int]] = {str(name): {} for name in panel.answers.columns}
    means = table.groupby(["respondent", "question_id"], sort=False)["value"].mean().reset_index()
    for name, question, mean in means.itertuples(index=False):
        if mean != 0.5:
            responses[str(name)][str(question)] = int(mean > 0.5)
    _write_lines(path, [{"subject_id": name, "responses": answers} for name, answers in responses.items()])
    return n_left_out


EXPORTERS: dict[str, Export] = {
    "every-eval-ever": export_every_eval_ever,
    "py-irt": export_py_irt,
}


def _known(panel: ResponseMatrix, value: Value, with_unread: bool = False) -> tuple[list[dict[str, Any]], int]:
    """Rows of the panel for which the value is known (or all), with it; and how many are left out."""
    long = panel.responses if panel.responses is not None else panel_long(panel)
    long = long.copy()
    if "answered_correctly" not in long.columns:
        long["answered_correctly"] = np.nan
    if value != "said_yes" and long["answered_correctly"].isna().all():
        raise InputError(
            f"the panel does not say which answers were correct, so that {value} is not known; give said_yes"
        )
    came_true = (long["said_yes"] == long["answered_correctly"]).astype(float)
    came_true = came_true.where(long["said_yes"].notna() & long["answered_correctly"].notna())
    long["value"] = came_true if value == "came_true" else long[value].astype(float)
    # whatever the file calls its samples, they are counted from 0 here
    long["sample"] = long.groupby(["question_id", "respondent"]).cumcount()
    is_known = long["value"].notna() | with_unread
    rows = [{str(name): cell for name, cell in row.items()} for row in long[is_known].to_dict("records")]
    return rows, int((~is_known).sum())


def _extras(row: dict[str, Any]) -> dict[str, Any]:
    """What a row says besides its value, where it says something."""
    values = {name: row.get(name) for name in ("said_yes", "answered_correctly", "confidence", "margin", "mass")}
    return {name: float(cell) for name, cell in values.items() if cell is not None and not pd.isna(cell)} | {
        "respondent": str(row["respondent"])
    }


def _write_lines(path: Path, lines: Sequence[dict[str, Any]]) -> None:
    write_text(path, "".join(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n" for line in lines))
