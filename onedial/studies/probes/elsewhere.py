"""The probes read on what they were not fitted to.

readings.csv    the facts, each with its distance; the reader abstains where they lie far off
elsewhere.csv   the same questions on another checkpoint (`other_model`)
"""

import numpy as np
import pandas as pd

from onedial.asking.yes_no import is_read
from onedial.models.inside.activation_store import ActivationStore
from onedial.models.inside.store_filling import store_activations
from onedial.models.model import load_model
from onedial.models.prompt_set import PromptSet
from onedial.studies.probes.study import Floats, Study
from probes.fitting.labels import OWN_MARGIN, OWN_YES
from probes.fitting.measure import ProbeTask
from probes.reading import Surroundings, read_elsewhere, read_with_distance


def elsewhere_stage(study: Study) -> None:
    """Both, at the study's one layer."""
    layer, method = study.one_layer, study.options.methods[0]
    rows = study.rows(layer)
    if (asked := study.measured_facts) is not None:
        around, own, probes = Surroundings.of(rows, study.task), study.rows(layer, asked.store), study.probes_at(layer)
        found = [
            read_with_distance(probes[method][label], around, own, list(asked.store.question_ids)).assign(label=label)
            for label in study.main_labels
        ]
        study.run.write_table("readings.csv", pd.concat(found).rename_axis("question_id"), index=True)
    if study.options.other_model:
        study.run.write_table("elsewhere.csv", read_on_other_model(study, study.options.other_model, layer))


def read_on_other_model(study: Study, name: str, layer: int) -> pd.DataFrame:
    """The probes of one layer on the same layer of another checkpoint, whose own answers are its own labels there."""
    options = study.options
    other = load_model(name, dtype=options.dtype, device_map=options.device_map)
    prompts = PromptSet.build(other, study.questions, study.template)
    with study.progress_bar(len(prompts), f"activations of {name}") as advance:
        store = store_activations(
            other,
            prompts,
            study.folder("other"),
            layers=[layer],
            positions=[options.read_at],
            progress=advance,
        )
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
