"""A whole run directory from simulated answers, for the tests of the report."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from onedial.core.run.run import Run
from onedial.panels.panels import ResponseMatrix
from onedial.panels.splits import assign_splits
from onedial.report.report import keep_judgement
from onedial.verdict.sweep_run import SweepRun

MODELS = {
    "Llama-3.1-8B-Instruct": "Llama",
    "Qwen2.5-Coder-1.5B-Instruct": "Qwen",
    "gemma-3-270m": "Gemma",
    "Mistral-7B-Instruct-v0.3": "Mistral",
    "SmolLM2-135M-Instruct": "SmolLM",
    "claude-sonnet": "Claude",
}
VECTOR_ID = "L10-response-mean_difference"
JUDGED: dict[tuple[Any, ...], Any] = {}
"""By what was simulated: a judgement that several tests ask for is made once."""
OF_RUN: dict[Path, Any] = {}
"""The same by the run's folder."""
FRAMINGS = ("neutral", "cautious", "eager", "expert in another field", "high stakes", "hurried", "humble")


def simulated_sweep(questions: pd.DataFrame, difficulty: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Margins that rise with the magnitude and fall with difficulty; far from 0 the mass sinks."""
    magnitudes = np.linspace(-1.2, 1.2, 25).round(3)
    hardness = difficulty + rng.normal(0, 0.6, len(difficulty))
    margins = 2.5 * magnitudes[None, :] - hardness[:, None]
    masses = 0.95 * np.exp(-1.3 * np.abs(magnitudes) ** 3)[None, :] * rng.uniform(0.6, 1, margins.shape)
    table = pd.DataFrame(margins, index=questions["id"], columns=pd.Index(magnitudes, name="magnitude"))
    mass = pd.DataFrame(masses, index=table.index, columns=table.columns)
    long = table.stack().rename("margin").reset_index().rename(columns={"id": "question_id"})
    return long.assign(
        mass=mass.stack().to_numpy(),
        split=long["question_id"].map(questions.set_index("id")["split"]),
        intervention_id=VECTOR_ID,
    )


def simulated_panel(
    difficulty: pd.Series, n_targets: int, rng: np.random.Generator
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Answers question x target, and what is known of each target; the last one says yes to everything."""
    names, rows = [], []
    for i in range(n_targets):
        model, framing = list(MODELS)[i % len(MODELS)], FRAMINGS[i // len(MODELS) % len(FRAMINGS)]
        names.append(f"{model} / {framing}")
        rows.append({"model": model, "framing": framing, "family": MODELS[model]})
    thresholds = np.append(np.linspace(-1.7, 1.7, n_targets - 1), np.inf)[:n_targets]
    felt = difficulty.to_numpy()[:, None] + rng.normal(0, 0.7, (len(difficulty), n_targets))
    answers = (felt < rng.permuted(thresholds)[None, :]).astype(float)
    answers[rng.uniform(size=answers.shape) < 0.03] = np.nan
    respondents = pd.DataFrame(rows, index=pd.Index(names, name="respondent"))
    return pd.DataFrame(answers, index=difficulty.index, columns=names), respondents


def make_run(
    folder: Path,
    n_targets: int = 6,
    n_questions: int = 240,
    seed: int = 0,
    texts: Sequence[str] = (),
    answered: Callable[[pd.DataFrame], pd.DataFrame] = lambda sweep: sweep,
    **replaced: Any,
) -> SweepRun:
    """A finished run, but for its figures and its report; keywords replace entries of its verdict.

    Args:
        texts: of the first questions, and of their topics.
        answered: what becomes of the simulated sweep before it is kept and judged.
    """
    rng = np.random.default_rng(seed)
    questions = pd.DataFrame(
        {
            "id": [f"q{i:04d}" for i in range(n_questions)],
            "question": [f"What is the {i}th thing?" for i in range(n_questions)],
            "answers": [["thing"] for _ in range(n_questions)],
            "topic": [f"topic {i % 6}" for i in range(n_questions)],
            "level": [1 + i % 5 for i in range(n_questions)],
        }
    )
    for i, text in enumerate(texts):
        questions.loc[i, ["question", "topic"]] = text
    questions["split"] = assign_splits(questions, seed).to_numpy()
    difficulty = pd.Series(rng.normal(size=n_questions), index=pd.Index(questions["id"], name="question_id"))
    answers, respondents = simulated_panel(difficulty, n_targets, rng)
    sweep = answered(simulated_sweep(questions, difficulty.to_numpy(), rng))
    panel = answers.stack(future_stack=True).rename("said_yes").rename_axis(["question_id", "respondent"]).reset_index()
    configuration = {"model": "embedded", "method": "mean_difference", "unit": "residual_norm"}
    run = SweepRun(Run.create(folder, "steer_sweep", configuration))
    model = {"name": "SmolLM2-135M-Instruct", "sha256": "2e5f" * 16, "layers": 30, "d_model": 576}
    run.run.record(model=model, device="cpu", dtype="float32", seeds={"seed": seed})
    with run.run.stage("sweep"):
        prompt = "<|im_start|>user\nDo you think you can answer <this> correctly?<|im_end|>\nAnswer:"
        run.keep_inputs(questions, panel.merge(respondents.reset_index(), on="respondent"), prompt)
        run.write_interventions([intervention(VECTOR_ID, sweep)])
        run.parts["sweep"].append(sweep)
    asked = (n_targets, n_questions, seed, tuple(texts), answered)
    if asked not in JUDGED:
        JUDGED[asked] = run.judge(ResponseMatrix(answers, respondents), seed)
    judgement = OF_RUN[run.path] = JUDGED[asked]
    keep_judgement(run, judgement)
    with run.run:
        run.run.write_json("verdict.json", judgement.verdict.to_dict() | replaced)
        run.write_table("layer_scan", simulated_scan(rng))
    return run


def intervention(name: str, sweep: pd.DataFrame, role: str = "vector") -> dict[str, Any]:
    """An entry of interventions.json."""
    return {
        "intervention_id": name,
        "role": role,
        "operator": "add",
        "positions": "last",
        "unit": "residual_norm",
        "layers": [10],
        "vectors": [name],
        "magnitudes": sorted(sweep["magnitude"].unique()),
    }


def simulated_scan(rng: np.random.Generator) -> pd.DataFrame:
    """Eight layers, each with magnitudes of its own."""
    rows = [
        {
            "layer": layer,
            "magnitude": magnitude,
            "yes_rate": 1 / (1 + np.exp(-magnitude * layer / 3 + rng.normal(0, 0.1))),
            "unread": 0.2 if abs(magnitude) > 1.5 else 0.0,
        }
        for layer in range(8, 24, 2)
        for magnitude in np.linspace(-2, 2, 9 + layer % 4)
    ]
    return pd.DataFrame(rows)
