"""The probes read on another checkpoint, the same questions: elsewhere.csv."""

import numpy as np
import pandas as pd

from onedial.asking.yes_no import is_read
from onedial.models.inside.activation_store import ActivationStore
from onedial.models.model import load_model
from onedial.models.prompt_set import PromptSet
from onedial.studies.probes.probes_study import Floats, Study
from probes.fitting.labels import OWN_MARGIN, OWN_YES
from probes.fitting.measure import ProbeTask
from probes.other_checkpoint import read_elsewhere


def elsewhere_stage(study: Study) -> None:
    """At the study's one layer; nothing where no other checkpoint is named."""
    if study.options.other_model:
        table = read_on_other_model(study, study.options.other_model, study.one_layer)
        study.run.write_table("elsewhere.csv", table)


def read_on_other_model(study: Study, name: str, layer: int) -> pd.DataFrame:
    """The probes of one layer on the same layer of another checkpoint, whose own answers are its own labels there."""
    options = study.options
    other = load_model(name, dtype=options.dtype, device_map=options.device_map)
    store = study.read(PromptSet.build(other, study.questions, study.template), "other", other, [layer])
    fitted = study.fitted(layer)[options.methods[0]]
    truth = own_labels_there(study.task, store)
    table = read_elsewhere(study.rows(layer), study.rows(layer, store), study.task, fitted, truth, options.methods[0])
    return table.assign(model=name, layer=layer)


def own_labels_there(task: ProbeTask, store: ActivationStore) -> Floats:
    """(question, label) the task's labels, with the other checkpoint's own yes in the place of the subject's."""
    margin, truth = store.margin.double().numpy(), task.values.copy()
    read = is_read(store.mass.numpy())
    for label in {OWN_YES, OWN_MARGIN} & set(task.labels):
        cut = 0.0 if label == OWN_YES else float(np.median(margin[read]))
        truth[:, task.labels.index(label)] = np.where(read, margin > cut, np.nan)
    return truth
