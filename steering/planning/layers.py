"""Choose the layer where the smallest push turns the answers both ways.

Of the candidate layers, the chosen one has the smallest magnitude, in residual norms, at which the subject's yes rate
on the fitting split reaches .05 on one side and .95 on the other, with at most 5% more of the answers unread on the
way than without steering. No target is looked at. Where no layer reaches both, the one whose yes rate covers most is
taken, and the scan says so. Once a layer has, larger pushes are tried on no other.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.core.progress import shown
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from steering.interventions import Intervention
from steering.planning.magnitudes import (
    RANGE_QUESTIONS,
    coarse_grid,
    find_range,
    most_unread,
    rates_along,
)

SPAN_LOW, SPAN_HIGH = 0.05, 0.95
NOT_BOTH_WAYS = "does not turn the answers both ways"
WRONG_WAY = "the dial runs the wrong way: the yes rate falls as"


@dataclass(frozen=True)
class LayerScan:
    """What the scan saw and chose.

    Attributes:
        table: columns `layer, magnitude, yes_rate, unread`; magnitudes in the interventions' unit.
        reach: per layer, the magnitude in residual norms at which the yes rate has spanned .05 to .95; inf where it
            does not among the magnitudes that were tried.
        layer: the chosen one.
        spans: whether any layer spans at all; where none does, the yes rate rises most along the chosen one.
    """

    table: pd.DataFrame
    reach: pd.Series
    layer: int
    spans: bool

    __repr__ = one_line

    @property
    def falls(self) -> bool:
        """Whether the yes rate falls along the chosen layer more than it rises: the dial runs the wrong way."""
        return _rise(self.rates()) < 0

    def rates(self) -> pd.DataFrame:
        """The chosen layer's rates by magnitude, as `magnitudes.yes_rates` gives them."""
        chosen = self.table[self.table["layer"] == self.layer]
        return chosen.set_index("magnitude")[["yes_rate", "unread"]]


def candidate_layers(option: str, n_layers: int) -> list[int]:
    """What `--layer` stands for: `14`, `10,12,14`, `8-20`, `all`, `auto` (every second of the middle half), or `few`
    (at .5, .6 and .7 of the depth).

    `10+14+18` stands for all of these layers at once (`layers_together`).

    Raises:
        InputError: not of these forms, or a layer that the model has not.

    >>> candidate_layers("8-10", 30), candidate_layers("10,20", 30), candidate_layers("auto", 12)
    ([8, 9, 10], [10, 20], [3, 5, 7, 9])
    """
    if option == "all":
        return list(range(n_layers))
    if option == "few":
        return sorted({n_layers * tenths // 10 for tenths in (5, 6, 7)})
    if option == "auto":
        return list(range(n_layers // 4, max(3 * n_layers // 4, n_layers // 4) + 1, 2))
    layers: list[int] = []
    for piece in option.split("+" if layers_together(option) else ","):
        first, dash, last = piece.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise InputError(
                f"--layer {option!r} is none of: an index (14), a list (10,12), a range (8-20), all, auto, few, or "
                "layers at once (10+14)"
            )
        highest = max(int(first), int(last or first))
        if highest >= n_layers:
            raise InputError(
                f"layer {highest} requested, but this model has layers 0-{n_layers - 1}; "
                f"give layer {n_layers - 1} or less"
            )
        layers += range(int(first), int(last or first) + 1)
    if not layers:
        raise InputError(f"--layer {option!r} names no layer; write a range upwards, for example 8-20")
    return sorted(set(layers))


def layers_together(option: str) -> bool:
    """Whether `--layer` names layers that are steered at once, rather than candidates of which one is chosen."""
    return "+" in option


def scan_layers(
    model: OpenModel,
    fitting: PromptSet,
    candidates: Sequence[Intervention],
    progress: Callable[[int], None] | None = None,
) -> LayerScan:
    """Sweep one intervention per layer over doubled magnitudes, all layers from one prefill, and choose.

    >>> from onedial import PromptSet, load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> from steering import Intervention
    >>> from steering.vectors import extract_vector
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=20)
    >>> prompts = PromptSet.build(model, questions, METACOGNITIVE)
    >>> candidates = [Intervention.of(vector) for vector in extract_vector(model, prompts, [1, 2])]
    >>> scan_layers(model, prompts, candidates).layer in (1, 2)
    True
    """
    rates_by_id = rates_along(model, fitting, candidates, progress, further=contenders([candidates]))
    rates = [rates_by_id[each.intervention_id] for each in candidates]
    place, reach = best_place(rates, [each.units_per_norm for each in candidates])
    layers = [each.layers[0] for each in candidates]
    beside = zip(rates, layers, strict=True)
    scanned = pd.concat(
        [scanned_rates.reset_index().assign(layer=layer) for scanned_rates, layer in beside], ignore_index=True
    )
    return LayerScan(
        scanned[["layer", "magnitude", "yes_rate", "unread"]],
        pd.Series(reach, index=layers, name="reach"),
        layers[place],
        bool(np.isfinite(reach).any()),
    )


def even_grid(
    model: OpenModel,
    prompts: PromptSet,
    interventions: Sequence[Intervention],
    progress: Callable[[int], None] | bool = False,
) -> dict[str, list[float]]:
    """Even magnitudes over the stretch in which the first of these turns the answers, the same pushes for all of them.

    Found by doubling on the first questions (`RANGE_QUESTIONS`); a notice where they do not turn, or the wrong way.

    Returns:
        intervention_id -> `COARSE_POINTS` magnitudes in its unit, 0 among them.
    """
    first, few = interventions[0], prompts.subset(prompts.question_ids[:RANGE_QUESTIONS])
    with shown(progress is True, len(few), "questions that show the range of magnitudes") as advance:
        rates = rates_along(model, few, [first], advance)[first.intervention_id]
    if math.isinf(spanning_magnitude(rates.set_axis(rates.index / first.units_per_norm))):
        notice(f"{first.intervention_id} {NOT_BOTH_WAYS}")
    if _rise(rates) < 0:
        notice(f"{WRONG_WAY} {first.intervention_id} is pushed towards yes; try another layer, contrast or prompt")
    norms = [magnitude / first.units_per_norm for magnitude in coarse_grid(*find_range(rates))]
    return {each.intervention_id: [norm * each.units_per_norm for norm in norms] for each in interventions}


def best_place(rates: Sequence[pd.DataFrame], units_per_norm: Sequence[float]) -> tuple[int, list[float]]:
    """Which of several pushes turns the answers with the least magnitude, or raises the yes rate most where none does.

    Args:
        rates: of each, as `yes_rates` gives them. units_per_norm: units of its magnitudes that are a residual norm.

    Returns:
        its place among them, the first of equals; and of each the magnitude that it needs (`spanning_magnitude`).
    """
    both = zip(rates, units_per_norm, strict=True)
    reach = [spanning_magnitude(rate.set_axis(rate.index / units)) for rate, units in both]
    if np.isfinite(reach).any():
        return int(np.argmin(reach)), reach
    return int(np.argmax([_rise(rate) for rate in rates])), reach


def contenders(
    groups: Sequence[Sequence[Intervention]],
) -> Callable[[dict[str, pd.DataFrame]], list[Intervention]]:
    """Of each group that one is chosen from (`best_place`): the best where one spans already, else all of them."""

    def still(rates: dict[str, pd.DataFrame]) -> list[Intervention]:
        left: list[Intervention] = []
        for same in groups:
            of_same = [rates[each.intervention_id] for each in same]
            place, reach = best_place(of_same, [each.units_per_norm for each in same])
            left += [same[place]] if math.isfinite(reach[place]) else same
        return left

    return still


def _rise(rates: pd.DataFrame) -> float:
    """By how much the yes rate rises from the side of no to that of yes, at most; below 0 where it falls instead.

    Args:
        rates: as `yes_rates` gives them, of which the magnitudes count at which enough could be read.
    """
    readable = rates.loc[rates["unread"] <= most_unread(rates), "yes_rate"]
    if not len(readable):
        return 0.0
    rise = float(readable[readable.index >= 0].max() - readable[readable.index <= 0].min())
    fall = float(readable[readable.index <= 0].max() - readable[readable.index >= 0].min())
    return rise if rise >= fall else -fall


def spanning_magnitude(rates: pd.DataFrame) -> float:
    """The smallest m with yes rate <= .05 at -m and >= .95 at +m (linear in between); inf where there is none, or too
    much cannot be read before.

    Args:
        rates: index magnitude in residual norms, 0 and both sides of it; columns yes_rate, unread.
    """
    needed, limit = [], most_unread(rates)
    for side in (-1, 1):
        one_side = rates[(rates.index * side) >= 0]
        one_side = one_side.set_axis(np.abs(one_side.index)).sort_index()
        grid, rate, unread = (
            part.to_numpy(dtype=float) for part in (one_side.index, one_side["yes_rate"], one_side["unread"])
        )
        excess = rate - SPAN_HIGH if side > 0 else SPAN_LOW - rate
        ends = np.flatnonzero((excess >= 0) | (unread > limit))
        if len(ends) == 0 or unread[ends[0]] > limit:
            return float("inf")
        first = int(ends[0])
        if first == 0:
            needed.append(0.0)
            continue
        before, after = excess[first - 1], excess[first]
        share = 1.0 if np.isnan(before) or after == before else -before / (after - before)
        needed.append(float(grid[first - 1] + share * (grid[first] - grid[first - 1])))
    return max(needed)
