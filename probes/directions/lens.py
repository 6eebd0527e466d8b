"""What each layer would answer, and what its answer says of each label.

says_yes            share of questions whose margin in the lens is above 0
agrees              share whose answer there is the final one
settled             share whose answer stays the final one from there on (`onedial.models.Lens.settled`)
rank_correlation    Spearman's, over questions, of the margin there with the final one
mass                median probability of yes and no together: an answer needs some
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from onedial.models.inside.lens import Lens
from probes.directions.concordance import Concordance
from probes.fitting.folds import TopicFolds
from probes.fitting.measure import ProbeTask


def lens_table(lens: Lens, task: ProbeTask, labels: Sequence[str]) -> pd.DataFrame:
    """One row per layer: the columns of the module's text, `median_margin`, and for each label three.

    Args:
        lens: of the task's questions. labels: the AUROC of the margin for each, with its 95% interval over topics,
            stands under the label's name, and that with ` low` and ` high` behind it.

    >>> import tempfile
    >>> from onedial import PromptSet, load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> from onedial.models import store_activations
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=12)
    >>> folder, prompts = tempfile.TemporaryDirectory(), PromptSet.build(model, questions, METACOGNITIVE)
    >>> store = store_activations(model, prompts, f"{folder.name}/acts", positions=["last"])
    >>> from onedial.models import lens_of
    >>> from probes import TopicFolds
    >>> truth = pd.DataFrame({"hard": [question.level > 2 for question in questions]}, dtype=float)
    >>> folds = TopicFolds.of([question.topic for question in questions], n_folds=3)
    >>> task = ProbeTask(truth, tuple(question.text for question in questions), folds, n_bootstrap=19)
    >>> len(lens_table(lens_of(model, store, prompts.tokens), task, ["hard"])) == model.n_layers
    True
    """
    margin, mass = lens.margin.double().numpy(), lens.mass.double().numpy()
    rank = pd.DataFrame(margin).rank()
    whole = TopicFolds(np.zeros_like(task.folds.fold), task.folds.topic, task.folds.names, 1)
    settled = lens.settled.numpy()
    lines = []
    for place, layer in enumerate(lens.layers):
        line = {
            "layer": layer,
            "says_yes": float((margin[:, place] > 0).mean()),
            "agrees": float(lens.agrees[:, place].mean()),
            "settled": float((settled <= layer).mean()),
            "rank_correlation": float(rank[place].corr(rank[len(lens.layers) - 1])),
            "mass": float(np.median(mass[:, place])),
            "median_margin": float(np.median(margin[:, place])),
        }
        for label in labels:
            truth = task.values[:, task.labels.index(label)]
            area = Concordance.of(margin[:, place], truth, whole).area(task.draws)
            line |= {label: area.auroc, f"{label} low": area.low, f"{label} high": area.high}
        lines.append(line)
    return pd.DataFrame(lines)
