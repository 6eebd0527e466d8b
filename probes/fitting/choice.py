"""Choose the layer that reads best, without rewarding the luck of the best of many.

For each fold the layer is chosen by the inner scores of its training questions, and the fold's own questions are scored
by that layer's probe. So the AUROC of the chosen layers is one that somebody could have announced beforehand; the
highest number of the table is not.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from onedial.core.errors import InputError
from probes.fitting.concordance import Area, Concordance, auroc_by_column
from probes.fitting.crossfit import CrossFitted


@dataclass(frozen=True)
class ChosenLayer:
    """One label's best layer.

    Attributes:
        layer: chosen most often, over the folds.
        area: AUROC on held-out topics, the layer being chosen without them.
        highest: the highest AUROC of any layer, which is too good.
    """

    layer: int
    area: Area
    highest: float


def choose_layer(by_layer: Mapping[int, CrossFitted], label: str, draws: np.ndarray) -> ChosenLayer:
    """The layer at which one label reads best; see the module's text.

    Args:
        by_layer: layer -> held-out scores of one method. draws: of topics, see `unit_weights`.

    Raises:
        InputError: no layer.

    >>> import numpy as np
    >>> import pandas as pd
    >>> from probes import ProbeTask, TopicFolds
    >>> from probes.fitting.crossfit import cross_fit, of_rows
    >>> rng = np.random.default_rng(0)
    >>> rows, topics = rng.standard_normal((120, 6)), np.repeat(list("abcdef"), 20)
    >>> truth = pd.DataFrame({"knows": rows[:, 0] > 0, "sure": rows[:, 0] + rows[:, 1] > 0}, dtype=float)
    >>> task = ProbeTask(truth, ("a question",) * 120, TopicFolds.of(topics), n_bootstrap=19)
    >>> noise = rng.standard_normal((120, 6))
    >>> by_layer = {
    ...     layer: cross_fit(of_rows(own), task.labels, task.values, task.folds, ["ridge"])["ridge"]
    ...     for layer, own in {10: noise, 20: rows}.items()
    ... }
    >>> choose_layer(by_layer, "knows", task.draws).layer
    20
    """
    if not by_layer:
        raise InputError("there are no layers to choose among; measure at least one")
    layers = sorted(by_layer)
    first = by_layer[layers[0]]
    at, folds = first.labels.index(label), first.folds
    truth = first.truth[:, at]
    score, chosen = np.full(len(truth), np.nan), []
    for fold in range(folds.n_folds):
        others = ~folds.inside(fold)
        inner = np.stack([by_layer[layer].inner[fold][others][:, at] for layer in layers], axis=1)
        columns = np.repeat(truth[others][:, None], len(layers), axis=1)
        area = np.nan_to_num(auroc_by_column(inner, columns, folds.fold[others]), nan=0.5)
        chosen.append(layers[int(area.argmax())])
        score[~others] = by_layer[chosen[-1]].score[~others, at]
    highest = max(Concordance.of(by_layer[layer].score[:, at], truth, folds).auroc for layer in layers)
    most = Counter(chosen).most_common()
    layer = sorted(layer for layer, times in most if times == most[0][1])[0]
    return ChosenLayer(layer, Concordance.of(score, truth, folds).area(draws), highest)
