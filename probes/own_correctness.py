"""Does the stream know of the subject's own ability, or of what is hard for everyone?

For each base model whose closed-book answers are known, with y whether it was right:

    base    log-odds(y) = a + b1 words + b2 difficulty + b3 share of the others that were right
    both    ... + d score                         the held-out score of a probe of the subject's stream fitted to y

Words are the held-out score of the words alone; difficulty and the others' share leave out the subject, and the model
whose answers are predicted. A stream that holds knowledge of its own has d > 0 for the subject's own correctness. If
another model's correctness is predicted as well beyond the same base, what the stream holds is shared: something about
the question that the panel's difficulty measures badly, and nothing private (`probes.fitting.nested` has the test).

That test takes difficulty for known. Where only the shared difficulty is in the stream, which measures it better than
the panel does, its p is small for the subject as for others. So the verdict is that of another test, which takes what
is shared off the label instead of holding it constant (`probes.residualise.beyond_shared`):

    its own                     that test finds more than what is shared
    shared, or measured badly   only the nested models find something: it cannot be told apart from difficulty that the
                                panel measures badly
    nothing found               neither does
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from onedial.core.errors import InputError
from onedial.stats.level import LEVEL
from probes.fitting.concordance import Concordance
from probes.fitting.crossfit import CrossFitted
from probes.fitting.labels import OWN_CORRECT, ProbeLabels, correct_label, shared_difficulty
from probes.fitting.measure import ProbeTask
from probes.fitting.nested import what_is_added
from probes.residualise import beyond_shared

Floats = NDArray[np.float64]

OWN_COLUMNS = (
    "label", "own", "n", "n_positive", "reading", "by_own_probe", "base", "both", "added", "low", "high",
    "brier_skill_base", "brier_skill_both", "p", "beyond", "beyond_null", "p_beyond",
    "reads_shared", "verdict",
)  # fmt: skip
ITS_OWN, MEASURED_BADLY, NOTHING_FOUND = "its own", "shared, or measured badly", "nothing found"


def own_or_shared(rows: Floats, fitted: CrossFitted, task: ProbeTask, labels: ProbeLabels) -> pd.DataFrame:
    """One row per base model whose correctness is known, the subject first; see the module's text.

    Args:
        rows: (question, d_model) the subject's activations at one layer. fitted: their held-out scores.
        labels: of the same questions.

    Returns:
        `OWN_COLUMNS`: reading = AUROC of the score by itself; by_own_probe = AUROC of the probe that was fitted to the
        subject's own correctness, on this label; added, low, high: gain in AUROC over the base with its 95% interval
        over topics; p: of the nested models. beyond: correlation of what a probe reads with what is left of the label
        when what is shared is off; beyond_null, p_beyond: the 95% point of its null, and p; reads_shared: correlation
        of the stream's reading of the panel's difficulty with that difficulty, within topics.

    Raises:
        InputError: nobody's correctness is known.

    >>> import numpy as np
    >>> import pandas as pd
    >>> from onedial.panels import ResponseMatrix
    >>> from probes import ProbeTask, TopicFolds, cross_fit, of_rows
    >>> rng, names = np.random.default_rng(0), ["one: a", "two: a"]
    >>> rows, ids = rng.standard_normal((120, 6)), pd.Index([f"q{number}" for number in range(120)], name="question_id")
    >>> answers = pd.DataFrame({name: (rows[:, 0] + rng.standard_normal(120) > 0) * 1.0 for name in names}, ids)
    >>> respondents = pd.DataFrame({"model": ["one", "two"], "framing": "", "family": ""}, index=names)
    >>> respondents.index.name = "respondent"
    >>> truth = pd.DataFrame({"own correct": (rows[:, 0] + rows[:, 1] > 0) * 1.0}, ids)
    >>> mean, panel = answers.mean(axis=1), ResponseMatrix(answers, respondents)
    >>> labels = ProbeLabels(truth, -mean, mean, panel, ())
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
        gain = what_is_added(label, fitted, [task.text], task.draws, known, task.seed)
        words = task.text.score[:, [task.text.labels.index(label)]]
        beyond = beyond_shared(rows, truth[label], known, fitted.folds, words, seed=task.seed)
        lines.append(
            {
                "label": label,
                "own": label == OWN_CORRECT,
                "n": gain.n,
                "n_positive": int((truth[label][np.isfinite(known).all(axis=1)] == 1).sum()),
                "reading": _auroc(fitted, label, label),
                "by_own_probe": _auroc(fitted, OWN_CORRECT, label),
                "base": gain.base,
                "both": gain.both,
                "added": gain.added,
                "low": gain.low,
                "high": gain.high,
                "brier_skill_base": gain.brier_skill_base,
                "brier_skill_both": gain.brier_skill_both,
                "p": gain.p,
                "beyond": beyond.correlation,
                "beyond_null": beyond.null_high,
                "p_beyond": beyond.p,
                "reads_shared": beyond.reads_shared[0],
                "verdict": ITS_OWN if beyond.p <= LEVEL else MEASURED_BADLY if gain.p <= LEVEL else NOTHING_FOUND,
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
