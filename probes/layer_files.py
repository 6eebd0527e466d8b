"""Keep what was read at one layer in a file: held-out scores, inner scores and probes, without the activations.

A file holds, for each method, `score`, `inner` and `penalty` of `CrossFitted`, and of each label's probe the direction,
its slope and its intercept.
"""

from pathlib import Path

import numpy as np
import torch

from onedial.core.calls import says_how
from onedial.core.errors import InputError
from onedial.models.tensor_files import read_tensors, write_tensors
from probes.fitting.crossfit import CrossFitted
from probes.fitting.linear import Probe
from probes.fitting.measure import LayerReading, ProbeTask

FORMAT = "onedial-layer-probes-1"


@says_how
def save_layer(path: Path | str, reading: LayerReading, labels: list[str]) -> None:
    """Write scores and probes of a layer, all or nothing.

    >>> import numpy as np
    >>> import pandas as pd
    >>> from probes import ProbeTask, TopicFolds, load_layer, measure_layer
    >>> rng = np.random.default_rng(0)
    >>> rows, topics = rng.standard_normal((120, 6)), np.repeat(list("abcdef"), 20)
    >>> truth = pd.DataFrame({"knows": rows[:, 0] > 0, "sure": rows[:, 0] + rows[:, 1] > 0}, dtype=float)
    >>> task = ProbeTask(truth, ("a question",) * 120, TopicFolds.of(topics), 0, 0, n_bootstrap=19)
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> save_layer(f"{folder.name}/20.safetensors", measure_layer(rows, task, ["ridge"]), task.labels)
    >>> list(load_layer(f"{folder.name}/20.safetensors", task)[0])
    ['ridge']
    """
    arrays: dict[str, np.ndarray] = {}
    facts: dict[str, list[list[float]]] = {}
    for method, fitted in reading.fitted.items():
        probes = [reading.probes[method][label] for label in labels]
        arrays |= {
            f"{method}.score": fitted.score.astype(np.float32),
            f"{method}.inner": fitted.inner.astype(np.float32),
            f"{method}.penalty": fitted.penalty,
            f"{method}.direction": np.stack([probe.direction.numpy() for probe in probes]),
        }
        facts[method] = [
            [probe.slope, probe.intercept, probe.auroc, probe.se, probe.n_positive, probe.n_negative]
            for probe in probes
        ]
    tensors = {name: torch.from_numpy(np.ascontiguousarray(value)) for name, value in arrays.items()}
    write_tensors(path, tensors, {"labels": labels, "probes": facts}, FORMAT)


@says_how
def load_layer(path: Path | str, task: ProbeTask) -> tuple[dict[str, CrossFitted], dict[str, dict[str, Probe]]]:
    """Method -> held-out scores, and method -> label -> probe.

    Raises:
        InputError: missing, broken, or of other labels or questions than the task's.

    >>> import numpy as np
    >>> import pandas as pd
    >>> from probes import ProbeTask, TopicFolds, measure_layer, save_layer
    >>> rng = np.random.default_rng(0)
    >>> rows, topics = rng.standard_normal((120, 6)), np.repeat(list("abcdef"), 20)
    >>> truth = pd.DataFrame({"knows": rows[:, 0] > 0, "sure": rows[:, 0] + rows[:, 1] > 0}, dtype=float)
    >>> task = ProbeTask(truth, ("a question",) * 120, TopicFolds.of(topics), 0, 0, n_bootstrap=19)
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> save_layer(f"{folder.name}/20.safetensors", measure_layer(rows, task, ["ridge"]), task.labels)
    >>> list(load_layer(f"{folder.name}/20.safetensors", task)[1]["ridge"])
    ['knows', 'sure']
    """
    tensors, labels, facts = read_tensors(
        path,
        FORMAT,
        lambda tensors, facts: (tensors, facts["labels"], facts["probes"]),
        what="file of probes",
        remedy="delete it and pass --resume",
    )
    if labels != task.labels:
        raise InputError(f"{path} holds other labels than these; make the run again with another --out")
    arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
    fitted, probes = {}, {}
    for method, lines in facts.items():
        score = arrays[f"{method}.score"].astype(float)
        if score.shape != task.values.shape:
            raise InputError(f"{path} holds scores of {len(score)} questions, not of {len(task.values)}")
        fitted[method] = CrossFitted(
            tuple(task.labels),
            task.values,
            score,
            arrays[f"{method}.inner"].astype(float),
            arrays[f"{method}.penalty"],
            task.folds,
        )
        directions = torch.from_numpy(arrays[f"{method}.direction"])
        probes[method] = {
            label: Probe(direction, slope, intercept, auroc, se, int(n_positive), int(n_negative))
            for label, direction, (slope, intercept, auroc, se, n_positive, n_negative) in zip(
                task.labels, directions, lines, strict=True
            )
        }
    return fitted, probes
