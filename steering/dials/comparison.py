"""Compare directions: how well each reads the answer, resembles the others, and moves the margin.

Each is made on one set of questions and measured on another:

    auroc        how often a yes lies further along the direction than a no, on the held-out questions' unsteered
                 streams and answers at the answer position; .5 = not at all. Where the subject says nearly always the
                 same, its upper third of margins against its lower third, as the contrast has it
    norm         of the direction as extracted; residual_norm: median length of the stream there
    effect       mean of [m(x, +step) - m(x, -step)] / (2 step), the margin's change per residual norm added at the
                 answer position, + is to yes

Intervals are 95% percentiles of a bootstrap over topics, or over questions where there are fewer than ten topics.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import torch

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.core.progress import progress_bar
from onedial.models.forward.activations import read_activations
from onedial.models.inside.gradients import margin_gradients
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.stats.intervals import drawn_units, unit_weights
from onedial.stats.level import interval_95
from onedial.stats.roc import roc_area
from steering.causes import mean_with_interval, slopes_along
from steering.contrasts import split_by_response
from steering.directions import DIRECTIONS
from steering.interventions import SteeringVector
from steering.vectors import Making, contrast_of, vectors_of

N_BOOTSTRAP = 999
DIRECTION_COLUMNS = (
    "layer", "method", "auroc", "auroc_low", "auroc_high", "norm", "residual_norm", "effect", "effect_low",
    "effect_high", "n", "n_unread",
)  # fmt: skip


@dataclass(frozen=True)
class DirectionComparison:
    """See the module's text.

    Attributes:
        table: one row per layer and method, `DIRECTION_COLUMNS`; n: held-out questions that could be read with and
            without a push, n_unread: the others.
        cosines: columns layer, method, other, cosine.
        vectors: by layer and method.
    """

    table: pd.DataFrame
    cosines: pd.DataFrame
    vectors: dict[tuple[int, str], SteeringVector]

    __repr__ = one_line


def compare_directions(
    model: OpenModel,
    made_on: PromptSet,
    held_out: PromptSet,
    layers: Sequence[int],
    *,
    methods: Sequence[str] = tuple(DIRECTIONS),
    contrast: str = "response",
    framings: Sequence[str] = (),
    seed: int = 0,
) -> DirectionComparison:
    """Make every direction at every layer, and measure all of them.

    Args:
        made_on: questions that directions are made of. held_out: on which they are measured.
        methods: keys of `DIRECTIONS`; all but the first are left out, with a notice, where these questions do not hold
            what they need.
        framings: keys of `POLES`: the mean difference between the poles of each is one more direction,
            which stands under that name.

    Raises:
        InputError: as `contrast_of` and the directions themselves.

    >>> from onedial import PromptSet, load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=80)
    >>> made, held = (PromptSet.build(model, part, METACOGNITIVE) for part in (questions[:40], questions[40:]))
    >>> compare_directions(model, made, held, [2], methods=["mean_difference"]).table["method"].tolist()
    ['mean_difference']
    """
    layers = list(layers)
    with progress_bar(len(made_on), f"reading yes and no after {len(layers)} layer(s)") as advance:
        contrasted = contrast_of(model, made_on, layers, Making(contrast, methods[0], seed=seed), advance)
    if "gradient" in methods and contrasted.gradients is None:
        with progress_bar(len(made_on), "gradients") as advance:
            contrasted = replace(contrasted, gradients=margin_gradients(model, made_on, layers, advance))
    made = {}
    for method in methods:
        try:
            made[method] = vectors_of(model.identity, contrasted, method, made_on.prompt_hash, made_on.template)
        except InputError as reason:
            if method == methods[0]:  # the layer is chosen by it
                raise
            notice(f"{method} is left out: {reason}")
            continue
    for framing in framings:
        with progress_bar(len(made_on), f"{framing}: two framings") as advance:
            in_framing = contrast_of(model, made_on, layers, Making(framing, seed=seed), advance)
        made[framing] = vectors_of(model.identity, in_framing, "mean_difference", made_on.prompt_hash, made_on.template)
    vectors = {(vector.layer, method): vector for method, in_framing in made.items() for vector in in_framing}
    with progress_bar(len(held_out), "held-out streams") as advance:
        read = read_activations(model, held_out, layers, advance)
    weights = unit_weights(drawn_units(held_out.topics or None, len(held_out)), N_BOOTSTRAP, seed)
    yes, no = split_by_response(read.margin, read.mass)
    said_yes = torch.where(yes, 1.0, torch.where(no, 0.0, torch.nan)).numpy()
    pushes = [(vector.layer, vector.direction, vector.residual_norm) for vector in vectors.values()]
    with progress_bar(len(held_out), f"a small push along {len(pushes)} directions") as advance:
        slopes = dict(zip(vectors, slopes_along(model, held_out, pushes, progress=advance).T, strict=True))
    rows = []
    for (layer, method), vector in vectors.items():
        streams = read.residuals[:, layers.index(layer)]
        score = torch.where(read.read, streams @ vector.direction, torch.nan).numpy()
        slope = slopes[layer, method]
        known = np.isfinite(slope)
        areas = roc_area(score, said_yes, weights)
        rows.append(
            (
                layer, method, float(roc_area(score, said_yes)), *interval_95(areas[np.isfinite(areas)], fewest=2),
                vector.raw_norm, vector.residual_norm, *mean_with_interval(slope, weights), int(known.sum()),
                int((~known).sum()),
            )
        )  # fmt: skip
    return DirectionComparison(pd.DataFrame(rows, columns=DIRECTION_COLUMNS), _cosines(vectors), vectors)


def share_by_effect(vectors: Sequence[SteeringVector], effects: Sequence[float]) -> list[SteeringVector]:
    """Vectors of several layers whose magnitude, in `raw` units, is shared so that each moves the margin as far.

    A layer whose push moves the margin twice as far per residual norm gets half the length; together a magnitude of 1
    moves it, to first order, as far as one residual norm at a layer of harmonic mean effect.

    Args:
        effects: of each vector, margin per residual norm (`compare_directions`).

    Raises:
        InputError: an effect that is not above 0: that layer pulls the other way.

    >>> from onedial import PromptSet, load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> from steering.vectors import extract_vector
    >>> model = load_model("smollm2-135m-instruct")
    >>> prompts = PromptSet.build(model, load_questions("embedded", n=20), METACOGNITIVE)
    >>> len(share_by_effect(extract_vector(model, prompts, [1, 2]), [1.0, 2.0]))
    2
    """
    if len(effects) != len(vectors) or not all(effect > 0 for effect in effects):
        raise InputError(
            f"effects of {', '.join(f'{each:.3g}' for each in effects)} for {len(vectors)} layers; magnitudes are "
            "shared among layers that all move the margin towards yes"
        )
    mean = len(effects) / sum(1 / effect for effect in effects)
    return [
        replace(vector, raw_norm=vector.residual_norm * mean / (effect * len(vectors)))
        for vector, effect in zip(vectors, effects, strict=True)
    ]


def _cosines(vectors: dict[tuple[int, str], SteeringVector]) -> pd.DataFrame:
    rows = [
        (layer, method, other, float(vector.direction @ vectors[layer, other].direction))
        for (layer, method), vector in vectors.items()
        for other_layer, other in vectors
        if other_layer == layer
    ]
    return pd.DataFrame(rows, columns=["layer", "method", "other", "cosine"])
