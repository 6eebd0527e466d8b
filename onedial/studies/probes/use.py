"""Is what reads also used? Pushes along the directions: effects.csv."""

import torch

from onedial.core.progress import progress_bar
from onedial.studies.probes.probes_study import Study
from probes.fitting.linear import Probe
from steering.causes import Chance, effects_of

PUSHED = ("logistic", "mean_difference")


def use_stage(study: Study) -> None:
    """Push the directions, as they are read and as the difference of means, on some of the questions."""
    options, layer, probes = study.options, study.one_layer, study.probes_at(study.one_layer)
    methods = [name for name in options.methods if name in PUSHED] or list(options.methods[:1])
    known: dict[tuple[str, str], Probe] = {
        (label, method): probes[method][label] for method in methods for label in study.main_labels
    }
    if study.measured_facts is not None:
        of_facts = study.probes_at(layer, facts=True)[options.methods[0]]
        known |= {(label, options.methods[0]): probe for label, probe in of_facts.items()}
    asked = study.spread_over_topics(options.n_pushed)
    with progress_bar(len(asked), "pushes") as advance:
        table = effects_of(
            study.model,
            study.prompts.subset(asked),
            {f"{label} | {method}": probe.direction for (label, method), probe in known.items()},
            layer,
            study.store.read(layer),
            step=options.step,
            chance=Chance(options.controls, options.replicates, options.seed),
            progress=advance,
        )
    split = table["direction"].str.split(" | ", regex=False, n=1)
    table = table.assign(label=split.str[0], method=split.str[1].fillna(""), layer=layer, step=options.step)
    first = [probe for (label, _), probe in known.items() if label == study.main_labels[0]][-1].direction
    pushed = [known.get((label, method)) for label, method in table[["label", "method"]].to_numpy()]
    table["auroc"] = [probe.auroc if probe else float("nan") for probe in pushed]
    table["cosine_with_own"] = [float(torch.dot(probe.direction, first)) if probe else float("nan") for probe in pushed]
    study.run.write_table("effects.csv", table)
