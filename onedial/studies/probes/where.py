"""Where in the prompt the main labels read, and from which layer on the last token decides: where.csv, patching.csv."""

import numpy as np
import pandas as pd

from onedial.models.inside.store_filling import store_activations
from onedial.studies.probes.study import Study
from probes.directions.where import MappedQuestions, patching_table, position_map
from steering.causes import patched_margins

MAPPED_LAYERS = 10


def where_stage(study: Study) -> None:
    """Maps of some questions, and patches between the easiest and the hardest."""
    if study.options.read_at != "last" or not study.options.n_mapped:
        return
    options, asked = study.options, study.spread_over_topics(study.options.n_mapped)
    prompts = study.prompts.subset(asked)
    with study.progress_bar(len(asked), "activations of each token") as advance:
        store = store_activations(
            study.model,
            prompts,
            study.folder("each"),
            layers=study.spread_layers(MAPPED_LAYERS),
            positions=["each"],
            progress=advance,
        )
    mapped = MappedQuestions(store, prompts, study.places(asked))
    probes = study.probes_at(study.one_layer)[options.methods[0]]
    directions = {label: probes[label].direction for label in study.main_labels}
    study.run.write_table("where.csv", position_map(mapped, study.store, study.task, directions, study.model))
    pairs = easy_and_hard(study.labels.difficulty, options.n_mapped // 3, options.seed)
    tables = []
    with study.progress_bar(sum(len(donors) for donors, _ in pairs.values()), "patches") as advance:
        for kind, (donors, receivers) in pairs.items():
            margins = patched_margins(
                study.model,
                study.prompts,
                study.places(donors).tolist(),
                study.places(receivers).tolist(),
                study.store.layers,
                progress=advance,
            )
            table = patching_table(margins.double().numpy(), study.store.layers, options.replicates, options.seed)
            tables.append(table.assign(kind=kind))
    study.run.write_table("patching.csv", pd.concat(tables))


def easy_and_hard(difficulty: pd.Series, n: int, seed: int = 0) -> dict[str, tuple[list[str], list[str]]]:
    """Kind -> donors and receivers for patching: the n easiest and the n hardest questions, paired at random.

    Args:
        difficulty: index question_id, higher = harder; nan takes no part.
    """
    order = difficulty.dropna().sort_values(kind="stable").index.tolist()
    n = min(n, len(order) // 2)
    drawn = np.random.default_rng(seed).permutation(n)
    easy, hard = order[:n], [order[len(order) - n + place] for place in drawn]
    return {"easy into hard": (easy, hard), "hard into easy": (hard, easy)}
