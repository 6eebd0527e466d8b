"""Test whether the stream knows of the subject's own ability, or of what is hard for everyone.

For each base model whose closed-book answers are known, the subject first, what others share is taken off the label
instead of being held constant (`probes.residualise.beyond_shared`): the panel's difficulty and the share of the other
models that were right, both without the subject and without the model whose answers are predicted. Bad measurement of
what is shared makes that test noisier, and adds nothing. A held-out reading of the words alone is held constant.

    its own          the stream reads more of the label than what is shared, at the 5% level
    nothing found    it does not; that is no proof that there is nothing
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from onedial.core.errors import InputError
from onedial.stats.arrays import Floats
from onedial.stats.level import LEVEL
from probes.fitting.concordance import Concordance
from probes.fitting.crossfit import CrossFitted
from probes.fitting.labels import OWN_CORRECT, ProbeLabels, correct_label, shared_difficulty
from probes.fitting.measure import ProbeTask
from probes.residualise import beyond_shared

OWN_COLUMNS = (
    "label", "own", "n", "n_positive", "reading", "by_own_probe", "beyond", "beyond_null", "p_beyond", "reads_shared",
    "verdict",
)  # fmt: skip
ITS_OWN, NOTHING_FOUND = "its own", "nothing found"


def own_or_shared(rows: Floats, fitted: CrossFitted, task: ProbeTask, labels: ProbeLabels) -> pd.DataFrame:
    """One row per base model whose correctness is known, the subject first; see the module's text.

    Args:
        rows: (question, d_model) the subject's activations at one layer. fitted: their held-out scores.
        labels: of the same questions.

    Returns:
        `OWN_COLUMNS`: reading = AUROC of the score by itself; by_own_probe = AUROC of the probe that was fitted to the
        subject's own correctness, on this label; beyond: correlation of what a probe reads with what is left of the
        label when what is shared is off; beyond_null, p_beyond: the 95% point of its null, and p; reads_shared:
        correlation of the stream's reading of the panel's difficulty with that difficulty, within topics.

    Raises:
        InputError: nobody's correctness is known.

    >>> import numpy as np
    >>> import pandas as pd
    >>> from onedial.panels import ResponseMatrix
    >>> from probes import ProbeTask, TopicFolds
    >>> from probes.fitting.crossfit import cross_fit, of_rows
    >>> rng, names = np.random.default_rng(0), ["one: a", "two: a"]
    >>> rows, ids = rng.standard_normal((120, 6)), pd.Index([f"q{number}" for number in range(120)], name="question_id")
    >>> answers = pd.DataFrame({name: (rows[:, 0] + rng.standard_normal(120) > 0) * 1.0 for name in names}, ids)
    >>> respondents = pd.DataFrame({"model": ["one", "two"], "framing": "", "family": ""}, index=names)
    >>> respondents.index.name = "respondent"
    >>> truth = pd.DataFrame({"own correct": (rows[:, 0] + rows[:, 1] > 0) * 1.0}, ids)
    >>> panel = ResponseMatrix(answers, respondents)
    >>> labels = ProbeLabels(truth, -answers.mean(axis=1), panel, ())
    >>> task = ProbeTask(truth, ("a question",) * 120, TopicFolds.of(np.arange(120) % 6), n_bootstrap=19)
    >>> fitted = cross_fit(of_rows(rows), task.labels, task.values, task.folds, ["lda"])["lda"]
    >>> own_or_shared(rows, fitted, task, labels)["verdict"].tolist()
    ['its own']
    """
    models = {
        str(model): correct_label(str(model))
        for model in dict.fromkeys(labels.panel.respondents["model"])
        if correct_label(str(model)) in fitted.labels
    }
    wanted = ([("", OWN_CORRECT)] if OWN_CORRECT in fitted.labels else []) + list(models.items())
    if not wanted:
        raise InputError("nobody's correctness is known; give a panel with the column answered_correctly")
    truth = {label: fitted.truth[:, fitted.labels.index(label)] for _, label in wanted}
    lines = []
    for model, label in wanted:
        known = _known_without(model, models, labels, truth)
        words = task.text.score[:, [task.text.labels.index(label)]]
        beyond = beyond_shared(rows, truth[label], known, fitted.folds, words, seed=task.seed)
        lines.append(
            {
                "label": label,
                "own": label == OWN_CORRECT,
                "n": beyond.n,
                "n_positive": int((truth[label][np.isfinite(np.column_stack([known, words])).all(axis=1)] == 1).sum()),
                "reading": _auroc(fitted, label, label),
                "by_own_probe": _auroc(fitted, OWN_CORRECT, label),
                "beyond": beyond.correlation,
                "beyond_null": beyond.null_high,
                "p_beyond": beyond.p,
                "reads_shared": beyond.reads_shared[0],
                "verdict": ITS_OWN if beyond.p <= LEVEL else NOTHING_FOUND,
            }
        )
    return pd.DataFrame(lines, columns=list(OWN_COLUMNS))


def _known_without(
    model: str, models: Mapping[str, str], labels: ProbeLabels, truth: Mapping[str, np.ndarray]
) -> np.ndarray:
    """(question, number) difficulty, and the share of base models that were right, without one of them."""
    respondents = labels.panel.respondents["model"]
    left_out = list(respondents.index[respondents == model])
    difficulty = shared_difficulty(labels.panel, left_out) if left_out else labels.difficulty
    columns = [difficulty.to_numpy(dtype=float)]
    others = [truth[label] for other, label in models.items() if other != model]
    if others:
        known = np.isfinite(others)
        share = np.where(known, np.nan_to_num(others), 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        # Where no other model's answer could be graded, the mean stands in, so that no question is lost by it.
        columns.append(np.where(known.any(axis=0), share, share[known.any(axis=0)].mean()))
    return np.column_stack(columns)


def _auroc(fitted: CrossFitted, probe: str, label: str) -> float:
    if probe not in fitted.labels:
        return float("nan")
    score, truth = fitted.score[:, fitted.labels.index(probe)], fitted.truth[:, fitted.labels.index(label)]
    return Concordance.of(score, truth, fitted.folds).auroc
