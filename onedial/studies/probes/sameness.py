"""Are the main labels and those of the facts read along one direction? All at one layer.

directions.csv   cosines with intervals, nulls and reliabilities      cross.csv     each probe on each label
transfer.csv     probes of the questions on the facts, and back       erasure.csv   one label out, the others read
"""

import pandas as pd

from onedial.studies.probes.probes_study import Study
from probes.directions.erasure import erasure_table
from probes.directions.geometry import LabelledRows, cross_evaluation, direction_table, transfer_table
from probes.fitting.crossfit import cross_fit, of_rows

BEST_ESTIMATED = "mean_difference"
"""The direction with the least noise (docs/probes.md), beside that of the method which reads best."""


def directions_stage(study: Study) -> None:
    """All comparisons at the study's one layer."""
    layer, task, method = study.one_layer, study.task, study.options.methods[0]
    rows, main, nulls = study.rows(layer), study.main_labels, study.options.nulls
    of_questions = LabelledRows(rows, task, study.penalties(layer), main)
    tables = {
        "directions": pd.concat(
            direction_table(of_questions, name, n_null=nulls).assign(method=name)
            for name in dict.fromkeys([method, BEST_ESTIMATED])
        ),
        "cross": cross_evaluation(study.fitted(layer)[method], task.draws, main, task.labels),
    }
    if (asked := study.measured_facts) is not None:
        facts, fitted = asked.task, study.fitted(layer, facts=True)[method]
        among = cross_evaluation(fitted, facts.draws, facts.labels, facts.labels)
        tables["cross"] = pd.concat([tables["cross"], among])
        penalties = study.penalties(layer, facts=True)
        of_facts = LabelledRows(study.rows(layer, asked.store), facts, penalties, facts.labels)
        tables["transfer"] = pd.concat(
            transfer_table(here, there, method, n_null=nulls)
            for here, there in ((of_questions, of_facts), (of_facts, of_questions))
        )
    before = study.fitted(layer).get("ridge")
    if before is None:
        before = cross_fit(of_rows(rows), task.labels, task.values, task.folds, ["ridge"])["ridge"]
    tables["erasure"] = erasure_table(rows, task, before, main, main)
    for name, table in tables.items():
        study.run.write_table(f"{name}.csv", table.assign(layer=layer))
