"""Measure every label at every layer, and choose the best layer of each without what judges it.

probes      of the questions    probes.csv, chosen.csv, methods.csv
facts       of the facts        facts.csv, chosen_facts.csv
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from onedial.core.progress import progress_bar
from onedial.models.inside.activation_store import ActivationStore
from onedial.studies.probes.probes_study import Floats, ProbeStudy
from probes.fitting.choice import choose_layer
from probes.fitting.crossfit import CrossFitted
from probes.fitting.measure import PROBE_COLUMNS, ProbeTask, measure_layer
from probes.fitting.reads_at_all import N_COPIES, Readers, auroc_of_copies, readers_of, reads_by_chance
from probes.layer_files import save_layer
from probes.residualise import beyond_known


def probes_stage(study: ProbeStudy) -> None:
    """Probe every label of the questions at every layer by all methods: probes.csv, chosen.csv, methods.csv."""
    table = measure_layers(study, "probes", study.store, study.task, study.options.methods)
    by_layer = {layer: study.fitted(layer)[study.options.methods[0]] for layer in study.store.layers}
    chosen, methods = chosen_tables(table, study.task, by_layer, study.options.methods[0], study.rows)
    study.run.write_table("chosen.csv", chosen)
    study.run.write_table("methods.csv", methods)


def facts_stage(study: ProbeStudy) -> None:
    """Probe the truth of facts, and the subject's yes to them, by the first method: facts.csv, chosen_facts.csv."""
    if study.facts is None:
        return
    asked, method = study.facts, study.options.methods[0]
    table = measure_layers(study, "facts", asked.store, asked.task, [method])
    by_layer = {layer: study.fitted(layer, facts=True)[method] for layer in asked.store.layers}

    def rows(layer: int) -> Floats:
        return study.rows(layer, asked.store)

    study.run.write_table("chosen_facts.csv", chosen_tables(table, asked.task, by_layer, method, rows)[0])


def measure_layers(
    study: ProbeStudy, name: str, store: ActivationStore, task: ProbeTask, methods: Sequence[str]
) -> pd.DataFrame:
    """NAME.csv: every label of a task at every layer; what stands in the run already is not measured again."""
    parts = study.run.parts(name, ["layer", *PROBE_COLUMNS], ["layer", "label", "method"])
    done = {int(layer) for layer in parts.done("layer")}
    left = [layer for layer in store.layers if layer not in done]
    with progress_bar(len(left), name) as advance:
        for layer in left:
            measured = measure_layer(study.rows(layer, store), task, methods)
            save_layer(study.run.file(study.layer_file(layer, name)), measured, task.labels)
            parts.append(measured.table.assign(layer=layer))
            advance(1)
    table = parts.read()
    study.run.write_table(f"{name}.csv", table)
    return table


def chosen_tables(
    table: pd.DataFrame,
    task: ProbeTask,
    by_layer: Mapping[int, CrossFitted],
    method: str,
    rows: Callable[[int], Floats],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Choose each label's layer by the other topics, and set all methods there beside each other.

    Args:
        table: of every layer, see `measure_layers`. by_layer: layer -> held-out scores of `method`.
        rows: layer -> (question, d_model) activations.

    `p_reads` is that of `probes.fitting.reads_at_all`, of the AUROC that stands beside it among copies read at the
    layer named; `p_adds` that of `beyond_known`: whether the stream there predicts what the words leave of the
    label.
    """
    lines: list[dict[Any, Any]] = []
    by_method: list[dict[Any, Any]] = []
    readers: dict[int, Readers] = {}
    for label in task.labels:
        chosen = choose_layer(by_layer, label, task.draws)
        at_layer = table[(table["layer"] == chosen.layer) & (table["label"] == label)].set_index("method")
        reported = at_layer.loc[method].to_dict()
        area = {"auroc": chosen.area.auroc, "low": chosen.area.low, "high": chosen.area.high, "se": chosen.area.se}
        over = {
            "over_text": area["auroc"] - reported["text"],
            "over_text_low": reported["over_text_low"] + area["auroc"] - reported["auroc"],
            "over_text_high": reported["over_text_high"] + area["auroc"] - reported["auroc"],
        }
        streams = rows(chosen.layer)
        if chosen.layer not in readers:
            readers[chosen.layer] = readers_of(streams, task.folds)
        truth = task.values[:, task.labels.index(label)]
        copies = auroc_of_copies(readers[chosen.layer], truth, task.folds, seed=task.seed)
        by_chance = {"null_high": float(np.quantile(copies, 0.95)), "p_reads": reads_by_chance(area["auroc"], copies)}
        words = task.text.score[:, [task.labels.index(label)]]
        adds = beyond_known(streams, truth, words, task.folds, N_COPIES, task.seed)
        named = {"p_adds": adds.p, "highest": chosen.highest, "layer": chosen.layer}
        lines.append({"label": label, **reported, **area, **over, **by_chance, **named})
        by_method.append({"label": label, **at_layer["auroc"].to_dict()})
    return pd.DataFrame(lines), pd.DataFrame(by_method)
