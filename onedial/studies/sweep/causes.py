"""Test what answers hang on and what a push goes through: interchange and mediation, of test questions alone.

Every process makes the whole of each, and the first one writes.

interchange.csv    for pairs of questions, far apart in the subject's own margin or in what the panel's respondents say
mediation.csv      at three layers above the vector's, probes of the questions that are no test questions
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from onedial.asking.yes_no import is_read
from onedial.core.progress import progress_bar
from onedial.models.forward.activations import read_activations
from onedial.models.processes import wait_for_all
from onedial.panels.splits import TEST
from onedial.stats.roc import roc_area
from onedial.stats.solvers import METHODS, Training
from onedial.studies.sweep.sweep_study import SweepStudy
from probes.fitting.controls import shuffled_within
from steering.causes import (
    INTERCHANGE_DRAWN,
    INTERCHANGE_PAIRS,
    MEDIATION_DRAWN,
    MEDIATION_LAYERS,
    MEDIATION_QUESTIONS,
    Chance,
    interchange,
    mediation,
)
from steering.interventions import SteeringVector

OWN_MARGIN, PANEL = "own margin", "panel"
SHUFFLED = [("shuffled", f"shuffled {n}") for n in range(MEDIATION_DRAWN)]
LEAST = 10
"""Questions of either label that a probe is fitted to."""


def swap_components(study: SweepStudy) -> None:
    """Swap what lies along the vector between questions that are far apart: interchange.csv."""
    tables = []
    scores = {OWN_MARGIN: own_margins(study)} | ({PANEL: panel_share(study)} if study.inputs.has_panel else {})
    for kind, score in scores.items():
        order = score.reindex(study.inputs.ids(TEST)).dropna().sort_values(kind="stable").index
        n = min(INTERCHANGE_PAIRS, len(order) // 3)
        if n < 2:
            study.notes.tell(f"no interchange of questions far apart by {kind}: {len(order)} test questions have one")
            continue
        with progress_bar(2 * n, f"components swapped, {kind}") as advance:
            table = interchange(
                study.model,
                study.prompts,
                vector_of(study),
                list(zip(order[: -n - 1 : -1], order[:n], strict=True)),
                chance=Chance(INTERCHANGE_DRAWN, seed=study.options.seed),
                progress=advance,
            )
        tables.append(table.assign(pairs=kind))
    if tables:
        study.sweep_run.run.write_table("interchange.csv", pd.concat(tables))
    wait_for_all()


def mediate(study: SweepStudy) -> None:
    """Hold directions of probes still above the push: mediation.csv."""
    options, inputs, vector = study.options, study.inputs, vector_of(study)
    layers = layers_above(vector.layer, study.model.n_layers)
    if not layers:
        return study.notes.tell(f"no mediation: nothing lies above layer {vector.layer}, at which the dial pushes")
    read = read_activations(study.model, study.prompts, layers)
    held_out = np.array([inputs.splits[name] == TEST for name in read.question_ids])
    labels = labels_to_read(study, read.question_ids, ~held_out)
    truth = labels.to_numpy(float)
    topics = np.unique([str(question.topic) for question in inputs.questions], return_inverse=True)[1]
    copies = [
        shuffled_within(truth[~held_out, :1], topics[~held_out], options.seed + number)
        for number in range(MEDIATION_DRAWN)
    ]
    asked = np.array(inputs.ids(TEST))
    asked = asked[np.sort(np.random.default_rng(options.seed).permutation(len(asked))[:MEDIATION_QUESTIONS])]
    prompts, tables = study.prompts.subset(asked.tolist()), []
    for place, layer in enumerate(layers):
        rows = read.residuals[:, place].double().numpy()
        training = Training.of(rows[~held_out])
        fitted = METHODS["lda"](training, np.hstack([truth[~held_out], *copies]), [0.0])[0] / training.scale[:, None]
        lines = torch.from_numpy(fitted.T).float()
        reads = {
            name: float(roc_area(rows[held_out] @ fitted[:, number], truth[held_out, number]))
            for number, name in enumerate(map(str, labels))
        }
        with progress_bar(len(prompts), f"mediation at layer {layer}") as advance:
            table = mediation(
                study.model,
                prompts,
                vector,
                ends_of(study),
                layer,
                dict(zip([("probe", name) for name in reads] + SHUFFLED, lines, strict=True)),
                chance=Chance(MEDIATION_DRAWN, seed=options.seed),
                progress=advance,
            )
        tables.append(table.assign(auroc=table["direction"].map(reads)))
    study.sweep_run.run.write_table("mediation.csv", pd.concat(tables))
    wait_for_all()


def vector_of(study: SweepStudy) -> SteeringVector:
    """What is added at the last token, at one layer."""
    return study.intervention.vectors[0]


def layers_above(layer: int, n_layers: int) -> list[int]:
    """At most `MEDIATION_LAYERS`, evenly spread over those above; the last, where the answer is read, is none of them.

    >>> layers_above(14, 30), layers_above(3, 5), layers_above(4, 5)
    ([18, 22, 25], [], [])
    """
    above = np.arange(layer + 1, n_layers - 1)
    places = (np.arange(1, MEDIATION_LAYERS + 1) * len(above)) // (MEDIATION_LAYERS + 1)
    return sorted(set(above[places].tolist())) if len(above) else []


def own_margins(study: SweepStudy) -> pd.Series:
    """Question id -> the subject's unsteered margin, where it was read."""
    return study.unsteered["margin"][is_read(study.unsteered["mass"])]


def panel_share(study: SweepStudy) -> pd.Series:
    """Question id -> the share of the panel's respondents that say yes."""
    return study.inputs.panel.answers.mean(axis=1)


def labels_to_read(study: SweepStudy, ids: Sequence[str], fitted: NDArray[np.bool_]) -> pd.DataFrame:
    """What the probes are to read, 1 / 0 / nan, a column each: own margin and panel above the median of what they are
    fitted to, and own correctness where it is known.

    Args:
        fitted: which of the questions the probes are fitted to; a label needs `LEAST` of either kind among them.
    """
    names = list(ids)
    scores = {OWN_MARGIN: own_margins(study).reindex(names), PANEL: panel_share(study).reindex(names)}
    labels = {
        name: (score > score[fitted].median()).where(score.notna()).astype(float) for name, score in scores.items()
    }
    if study.inputs.subject_correct is not None:
        labels["own correctness"] = study.inputs.subject_correct.reindex(names).round()
    counts = {name: label[fitted].value_counts().reindex([0, 1]) for name, label in labels.items()}
    return pd.DataFrame({name: label for name, label in labels.items() if (counts[name] >= LEAST).all()})


def ends_of(study: SweepStudy) -> tuple[float, float]:
    """The magnitudes, in residual norms, at which the fitting questions' yes rates are nearest to .1 and .9."""
    low, high = sorted(
        setting / study.intervention.units_per_norm for setting in study.settings_at((0.1, 0.9))["setting"]
    )
    return low, high
