"""What is turned: directions at the candidate layers, the layer that is taken, and the dials made of them.

directions.csv  cosines.csv  vectors/    layer_scan.csv  layer.json    adapter/
"""

from typing import Any

from onedial.core.pulse import say
from onedial.models.prompt_set import PromptSet
from onedial.show.progress import progress_bar
from onedial.studies.dials.study import DialStudy
from steering.dials.adapters import ADAPTER_PASSES, FILE, Adapter, LoraDial, train_adapter
from steering.dials.comparison import compare_directions, share_by_effect
from steering.dials.dials import Dial, InterventionDial, ThresholdShift, instructed_threshold, personas
from steering.interventions import Intervention, SteeringVector
from steering.planning.layers import candidate_layers, scan_layers


def directions(study: DialStudy) -> dict[tuple[int, str], SteeringVector]:
    """Every direction at every candidate layer, made on the extraction split and measured on the fitting split."""
    run, options = study.run, study.options
    if run.has("directions.csv"):
        table = run.read_table("directions.csv")
        made = [(int(layer), str(method)) for layer, method in table[["layer", "method"]].to_numpy()]
        return {each: SteeringVector.load(run.path / vector_file(*each)) for each in made}
    made_on, held_out = (
        PromptSet.build(study.model, study.inputs.in_splits(split), study.template)
        for split in ("extraction", "fitting")
    )
    found = compare_directions(
        study.model,
        made_on,
        held_out,
        candidate_layers(options.layer, study.model.n_layers),
        progress_bar,
        methods=options.methods,
        contrast=options.contrast,
        framings=options.framings,
        seed=options.seed,
    )
    for (layer, method), vector in found.vectors.items():
        vector.save(run.file(vector_file(layer, method)))
    run.write_table("cosines.csv", found.cosines)
    run.write_table("directions.csv", found.table)
    return found.vectors


def vector_file(layer: int, method: str) -> str:
    return f"vectors/L{layer}-{method}.safetensors"


def chosen_layer(study: DialStudy, vectors: dict[tuple[int, str], SteeringVector]) -> int:
    """Where the smallest push along the first method's direction turns the fitting questions both ways."""
    if study.run.has("layer.json"):
        return int(study.run.read_json("layer.json")["layer"])
    candidates = [
        Intervention.of(vector, positions=study.options.positions)
        for (_, method), vector in vectors.items()
        if method == study.options.methods[0]
    ]
    fitting = PromptSet.build(study.model, study.inputs.in_splits("fitting"), study.template)
    with progress_bar(len(fitting), f"scanning {len(candidates)} layer(s)") as advance:
        scan = scan_layers(study.model, fitting, candidates, advance)
    study.run.write_table("layer_scan.csv", scan.table)
    study.run.write_json("layer.json", {"layer": scan.layer, "spans": scan.spans})
    return scan.layer


def make_dials(study: DialStudy, vectors: dict[tuple[int, str], SteeringVector], layer: int) -> list[Dial]:
    """All dials, in the order of the table: each method added, the first method by each operator, several layers."""
    options, how = study.options, {"positions": study.options.positions}
    dials: list[Any] = []
    if "interventions" in options.dials:
        for method in (*options.methods, *options.framings):
            if (layer, method) not in vectors:
                continue
            kind = "control" if method == "random" else "intervention"
            dials.append(InterventionDial(Intervention.of(vectors[layer, method], **how), f"{method}, add", kind))
        first = options.methods[0]
        for operator in options.operators:
            if operator != "add":
                intervention = Intervention.of(vectors[layer, first], operator=operator, **how)
                dials.append(InterventionDial(intervention, f"{first}, {operator}"))
        table = study.run.read_table("directions.csv")
        own = table[(table["method"] == first) & (table["effect"] > 0)].sort_values("effect", ascending=False)
        together = sorted(own["layer"].astype(int).head(options.together))
        if len(together) > 1:
            effects = own.set_index("layer")["effect"]
            shared = share_by_effect([vectors[each, first] for each in together], [effects[each] for each in together])
            name = f"{first}, add at {len(together)} layers"
            dials.append(InterventionDial(Intervention.of(*shared, unit="raw", intervention_id=name, **how), name))
    if "lora" in options.dials:
        dials.append(LoraDial(adapter(study)))
    others = {"cut": ThresholdShift(), "threshold": instructed_threshold(), "personas": personas()}
    return dials + [dial for kind, dial in others.items() if kind in (*options.dials, "cut")]


def adapter(study: DialStudy) -> Adapter:
    """The adapter of `--dials lora`, trained on the extraction split."""
    folder = study.run.path / "adapter"
    if study.run.has(f"adapter/{FILE}"):
        return Adapter.load(folder)
    prompts = PromptSet.build(study.model, study.inputs.in_splits("extraction"), study.template)
    with progress_bar(ADAPTER_PASSES, "adapter, passes over the extraction split") as advance:
        found = train_adapter(study.model, prompts, study.options.lora_rate, seed=study.options.seed, progress=advance)
    say(f"adapter: yes rate {found.unsteered:.2f} before, {found.reached:.2f} after {found.n_passes} passes")
    found.save(folder)
    return found
