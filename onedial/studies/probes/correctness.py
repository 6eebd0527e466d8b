"""Own correctness beyond words and difficulty, and other models' beside it: own.csv."""

import pandas as pd

from onedial.studies.probes.probes_study import Study
from probes.fitting.labels import OWN_CORRECT, correct_label
from probes.own_correctness import own_or_shared


def own_stage(study: Study) -> None:
    """At the study's one layer, and where own correctness reads best; nothing where nobody's correctness is known."""
    respondents = study.labels.panel.respondents["model"]
    if not {OWN_CORRECT, *(correct_label(str(model)) for model in respondents)} & set(study.task.labels):
        return
    method, tables = study.options.methods[0], []
    chosen = study.run.read_table("chosen.csv").set_index("label")["layer"]
    places = {"where all are compared": study.one_layer}
    if OWN_CORRECT in chosen.index:
        places["where own correctness reads best"] = int(chosen[OWN_CORRECT])
    for where, layer in places.items():
        table = own_or_shared(study.rows(layer), study.fitted(layer)[method], study.task, study.labels)
        tables.append(table.assign(layer=layer, where=where))
    study.run.write_table("own.csv", pd.concat(tables))
