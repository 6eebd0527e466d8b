"""Vectors and ranges of every universe, wording by wording, and where they turn answers.

layer_scan.csv  layer.json    plans/wording-*.json  vectors/    turns/
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from onedial.core.errors import InputError
from onedial.core.run.notes import Notes
from onedial.show.progress import progress_bar
from onedial.studies.multiverse.study import MultiverseStudy
from onedial.verdict.comparing.multiverse import Universe
from steering.critical import crossings_along
from steering.interventions import Intervention, SteeringVector
from steering.planning.layers import scan_layers
from steering.planning.plan import ranges_along
from steering.vectors import contrast_of, vectors_of


def own_layer(study: MultiverseStudy, candidates: list[int]) -> int:
    """The layer that a run would take: where the smallest push turns the fitting questions both ways."""
    if len(candidates) == 1:
        return candidates[0]
    run, options = study.run, study.options
    if run.has("layer.json"):
        return int(run.read_json("layer.json")["layer"])
    prompts = study.prompts(0, "extraction")
    found = contrast_of(
        study.model, prompts, candidates, options.contrasts[0], method=options.method, seed=options.seed
    )
    vectors = vectors_of(study.model.identity, found, options.method, prompts.prompt_hash, prompts.template)
    fitting = study.prompts(0, "fitting")
    with progress_bar(len(fitting), f"scanning {len(candidates)} layers") as advance:
        scan = scan_layers(study.model, fitting, [Intervention.of(vector) for vector in vectors], advance)
    run.write_table("layer_scan.csv", scan.table)
    run.write_json("layer.json", {"layer": scan.layer, "spans": scan.spans})
    return scan.layer


def plan_wording(study: MultiverseStudy, wording: int, universes: Sequence[Universe], notes: Notes) -> dict[str, Any]:
    """Vectors and ranges of the universes of one wording: from the run's files, else made and saved.

    Returns:
        entries: universe_id -> entry of the intervention, with n_yes and n_no; refused: universe_id -> why there is no
        vector.
    """
    run, options, model, file = study.run, study.options, study.model, f"plans/wording-{wording}.json"
    own = [each for each in universes if each.wording == study.templates[wording].name]
    if run.has(file):
        stored = run.read_json(file)
        if all(run.has(vector_file(wording, name)) for name in stored["entries"]):
            return stored
    prompts = study.prompts(wording, "extraction")
    made: list[Intervention] = []
    refused: dict[str, str] = {}
    for contrast in dict.fromkeys(each.contrast for each in own):
        here = [each for each in own if each.contrast == contrast]
        layers = sorted({each.layer for each in here})
        with progress_bar(len(prompts), f"{study.templates[wording].name}: {contrast} contrast") as advance:
            try:
                found = contrast_of(model, prompts, layers, contrast, advance, method=options.method, seed=options.seed)
            except InputError as reason:
                refused |= {each.universe_id: str(reason) for each in here}
                continue
        for each in here:
            try:
                sides = found.at_layer(each.layer)
                if each.resample:
                    sides = sides.resampled(options.seed + each.resample)
                vector = vectors_of(model.identity, sides, options.method, prompts.prompt_hash, prompts.template)[0]
            except InputError as reason:
                refused[each.universe_id] = str(reason)
                continue
            vector.save(run.file(vector_file(wording, each.universe_id)))
            made.append(Intervention.of(vector, intervention_id=each.universe_id))
    if wording == 0 and universes[0].universe_id in refused:
        raise InputError(refused[universes[0].universe_id])
    fitting = study.prompts(wording, "fitting")
    ranges = ranges_along(model, fitting, made, progress_bar, "universes", confirmed=True) if made else {}
    entries = {
        each.intervention_id: each.as_dict(ranges[each.intervention_id])
        | {"n_yes": each.vectors[0].n_yes, "n_no": each.vectors[0].n_no}
        for each in made
    }
    for name, why in refused.items():
        notes.tell(f"warning: {study.templates[wording].name}, {name} has no vector: {why}")
    plan = {"entries": entries, "refused": refused}
    run.write_json(file, plan)
    return plan


def vector_file(wording: int, universe_id: str) -> str:
    return f"vectors/wording-{wording}/{universe_id}.safetensors"


def interventions_of(study: MultiverseStudy, wording: int, plan: dict[str, Any]) -> list[Intervention]:
    """The interventions of a plan, their vectors from the run's files."""
    return [
        Intervention.of(SteeringVector.load(study.run.path / vector_file(wording, name)), intervention_id=name)
        for name in plan["entries"]
    ]


def find_turns(study: MultiverseStudy, wording: int, plan: dict[str, Any]) -> None:
    """Where the answers turn along every vector of one wording, for what is not on disk yet."""
    if not plan["entries"]:
        return
    prompts, parts = study.prompts(wording, "fitting", "test"), study.turns(wording)
    done = parts.done("question_id")
    ranges = {name: (entry["magnitudes"][0], entry["magnitudes"][-1]) for name, entry in plan["entries"].items()}

    def save(part: pd.DataFrame) -> None:
        parts.append(part)

    with progress_bar(len(prompts) - len(done), f"{study.templates[wording].name}: {len(ranges)} universes") as advance:
        crossings_along(
            study.model, prompts, ranges, interventions_of(study, wording, plan), sink=save, done=done, progress=advance
        )
