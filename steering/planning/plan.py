"""Plan what will be swept: the intervention, its layer, its magnitudes and its controls, none chosen by a look at any
target."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import torch

from onedial.core.cards import one_line
from onedial.core.progress import progress_bar
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from steering.controls import Material, control_interventions, cosine
from steering.interventions import Intervention, SteeringVector
from steering.planning.layers import (
    NOT_BOTH_WAYS,
    WRONG_WAY,
    LayerScan,
    best_place,
    candidate_layers,
    contenders,
    layers_together,
    scan_layers,
)
from steering.planning.magnitudes import (
    RANGE_QUESTIONS,
    choose_magnitudes,
    few_magnitudes,
    find_range,
    rates_along,
)
from steering.planning.reliability import Reliability, reliability_of
from steering.reading import grid_of
from steering.vectors import AS_USUAL, Making, contrast_of, vectors_of

CONTROLS_AT_ONCE = 8
"""So many are asked about together, at every candidate layer, before it is told how far that is."""


@dataclass(frozen=True)
class SweepPlan:
    """Interventions to sweep and the magnitudes of each.

    Attributes:
        intervention: the one that the run is about.
        controls: the same done with directions that were not made from yes and no (`steering.controls`).
        magnitudes: by intervention_id, in its unit: its grid, 0 always among them.
        scan: what the choice of layer rests on; None where both layer and magnitudes were given.
        reliability: how well the vector's direction repeats; None in a plan that was read from files.
        candidates: the intervention at each layer that it was chosen among; controls are compared with that at theirs.
    """

    intervention: Intervention
    controls: tuple[Intervention, ...]
    magnitudes: dict[str, list[float]]
    scan: LayerScan | None
    reliability: Reliability | None = None
    notes: list[str] = field(default_factory=list)
    candidates: tuple[Intervention, ...] = ()

    __repr__ = one_line

    @property
    def interventions(self) -> list[Intervention]:
        """The intervention and its controls."""
        return [self.intervention, *self.controls]

    @property
    def vectors(self) -> list[SteeringVector]:
        """Every vector of every intervention, each once."""
        return list({vector.vector_id: vector for each in self.interventions for vector in each.vectors}.values())

    def entries(self) -> list[dict[str, object]]:
        """The entries of interventions.json."""
        beside = {each.layers[0]: each for each in self.candidates}
        return [
            each.as_dict(
                self.magnitudes[each.intervention_id], cosine(beside.get(each.layers[0], self.intervention), each)
            )
            for each in self.interventions
        ]


def make_plan(
    model: OpenModel,
    extraction: PromptSet,
    fitting: PromptSet,
    *,
    layer: str = "auto",
    making: Making = AS_USUAL,
    pushed: Callable[..., Intervention] = Intervention.of,
    magnitudes: Sequence[float] | None = None,
    n_controls: int = 0,
) -> SweepPlan:
    """Extract on one split, choose layer and magnitudes on another.

    Args:
        layer: as in `candidate_layers`; with several candidates the scan chooses. Layers at once are scanned as one,
            under the number of the lowest.
        pushed: what is done with a vector, such as `partial(Intervention.of, operator="clamp")`.
        magnitudes: None chooses them.
        n_controls: drawn controls; with any, one of each other contrast is added.

    Raises:
        InputError: see the parts.

    >>> from onedial import load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=40)
    >>> made, chosen = (PromptSet.build(model, part, METACOGNITIVE) for part in (questions[:20], questions[20:]))
    >>> make_plan(model, made, chosen, layer="2", magnitudes=[-0.1, 0.0, 0.1]).magnitudes
    {'L2-response-mean_difference': [-0.1, 0.0, 0.1]}
    """
    layers = candidate_layers(layer, model.n_layers)
    with progress_bar(len(extraction), f"reading yes and no after {len(layers)} layer(s)") as advance:
        contrasted = contrast_of(model, extraction, layers, making, advance)
    vectors = vectors_of(model.identity, contrasted, making.method, extraction.prompt_hash, extraction.template)
    candidates = [pushed(*vectors)] if layers_together(layer) else [pushed(vector) for vector in vectors]
    scan, beside = None, tuple(candidates)
    if len(candidates) > 1 or magnitudes is None:
        with progress_bar(len(fitting), f"scanning {len(layers)} layer(s)") as advance:
            scan = scan_layers(model, fitting, candidates, advance)
        candidates = [each for each in candidates if each.layers[0] == scan.layer]
    chosen = candidates[0]
    if magnitudes is not None or scan is None:
        grid = grid_of([0.0, *(magnitudes or ())])
    else:
        with progress_bar(len(fitting), "placing the magnitudes") as advance:
            grid = choose_magnitudes(model, fitting, chosen, scan.rates(), advance)
    controls: list[Intervention] = []
    grids: dict[str, list[float]] = {}
    if n_controls:
        made = [
            control_interventions(
                Material(model, each.vectors[0], contrasted.at_layer(each.layers[0]), extraction),
                each,
                n_controls,
                making.seed,
            )
            for each in beside
        ]
        controls, grids = at_their_layers(model, fitting, made)
    reliability = reliability_of(contrasted.at_layer(chosen.layers[0]), making.method, making.seed)
    return SweepPlan(
        chosen,
        tuple(controls),
        {chosen.intervention_id: grid} | grids,
        scan,
        reliability,
        _notes([each.layers[0] for each in candidates] if layers_together(layer) else layers, scan, reliability)
        + rounding_notes(grid, chosen, model.dtype),
        beside,
    )


def at_their_layers(
    model: OpenModel, fitting: PromptSet, made: Sequence[Sequence[Intervention]]
) -> tuple[list[Intervention], dict[str, list[float]]]:
    """Choose each control's layer as the vector's is chosen (`best_place`), and its magnitudes there.

    A vector that was chosen for the smallest push among several layers would else be ranked among directions that were
    not, and needs a smaller push than most of them by that alone. The first questions of the fitting split
    (`RANGE_QUESTIONS`) are asked.

    Args:
        made: by candidate layer, the same controls in the same order.
    """
    few = fitting.subset(fitting.question_ids[:RANGE_QUESTIONS])
    groups = list(zip(*made, strict=True))
    parts = [groups[start : start + CONTROLS_AT_ONCE] for start in range(0, len(groups), CONTROLS_AT_ONCE)]
    rates: dict[str, pd.DataFrame] = {}
    with progress_bar(len(few) * len(parts), f"finding layer and range of {len(made[0])} controls") as advance:
        for part in parts:
            together = [each for same in part for each in same]
            rates |= rates_along(model, few, together, advance, further=contenders(part))
    chosen = []
    for same in groups:
        place, _ = best_place([rates[each.intervention_id] for each in same], [each.units_per_norm for each in same])
        chosen.append(same[place])
    names = [each.intervention_id for each in chosen]
    return chosen, {name: few_magnitudes(*find_range(rates[name])) for name in names}


def rounding_notes(grid: Sequence[float], intervention: Intervention, dtype: torch.dtype) -> list[str]:
    """Whether steps of the grid are smaller than what a 16-bit residual stream can hold.

    Additions below about 1/256 of the residual stream are rounded away in bfloat16 (1/2048 in float16), so that answers
    near the cut go to and fro.
    """
    if dtype not in (torch.bfloat16, torch.float16) or len(grid) < 2:
        return []
    least = torch.finfo(dtype).eps / 2
    steps = np.diff(sorted(grid)) / intervention.units_per_norm
    if not (n_small := int((steps < least).sum())):
        return []
    return [
        f"warning: {n_small} of {len(steps)} steps between magnitudes are smaller than what "
        f"{str(dtype).removeprefix('torch.')} can tell ({least:.2g} residual norms), so that answers near the cut go "
        "to and fro; --dtype float32, or fewer --magnitudes"
    ]


def _notes(layers: Sequence[int], scan: LayerScan | None, reliability: Reliability) -> list[str]:
    """What a user should know of these choices."""
    notes = []
    if scan is not None and not scan.spans:
        which = (
            f"layer {scan.layer} {NOT_BOTH_WAYS}"
            if len(layers) == 1
            else (f"no layer turns the answers both ways; layer {scan.layer} raises the yes rate most")
        )
        notes.append(f"warning: {which}")
    if scan is not None and scan.falls:
        notes.append(
            f"warning: {WRONG_WAY} layer {scan.layer} is pushed towards yes, so "
            "targets get no place on it; try another --layer, --contrast or --prompt"
        )
    if scan is not None and len(layers) > 1 and scan.layer in (min(layers), max(layers)):
        notes.append(
            f"the chosen layer {scan.layer} is at the border of the candidates ({min(layers)}-{max(layers)}); "
            "one beyond it may do better: see --layer"
        )
    return notes + reliability.notes()
