"""Is a direction used? Push the stream along it by a little, and see how far the margin goes.

A label that reads off the stream along a direction need not move the answer: the model may hold it and not look at it.
With m(x, s) the margin of question x where the direction is added s residual norms long at one layer,

    effect = mean over questions of [m(x, +step) - m(x, -step)] / (2 step)     margin per residual norm, + is to yes

A small step makes it the mean gradient of the margin along the direction, so that effects of several directions
compare. Beside it stand the effects of random directions, pushed in the same way: `random` evenly from the sphere,
`covariance` drawn with the covariance of the streams, so that it points where streams differ anyway. Only an effect
that is further from 0 than theirs says more than that anything that is pushed moves something.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from jaxtyping import Float
from torch import Tensor

from onedial.asking import is_read
from onedial.core import InputError
from onedial.models import OpenModel, PromptSet
from onedial.stats import interval_95
from probes import topic_draws
from steering.directions import drawn_like, random_unit
from steering.sweeping import sweep
from steering.vectors import SteeringVector

STEP = 0.05
N_RANDOM = 20
N_BOOTSTRAP = 999
EFFECT_COLUMNS = ("direction", "kind", "effect", "low", "high", "p", "p_covariance", "n", "n_unread")


def effects_of(
    model: OpenModel,
    prompts: PromptSet,
    directions: Mapping[str, Float[Tensor, " _"]],
    layer: int,
    streams: Float[Tensor, "question d_model"],
    topics: Sequence[str | None],
    *,
    step: float = STEP,
    n_random: int = N_RANDOM,
    n_bootstrap: int = N_BOOTSTRAP,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> pd.DataFrame:
    """The effect of each direction at one layer, and of random ones; see the module's text.

    Args:
        prompts: the questions that are asked. topics: of them, for the intervals.
        directions: name -> direction of any length, positive towards label 1.
        streams: of some questions at the last position of that layer; give scale and covariance.
        step: in residual norms, to either side. n_random: directions of either kind.
        progress: is told how many questions were finished.

    Returns:
        One row per direction, `EFFECT_COLUMNS`; kind is "probe", "random" or "covariance". low, high: 95% interval over
        topics. p: share of the `random` directions with at least such an effect in either direction, (1 + k) / (1 + n);
        p_covariance: the same among the others. n: questions that could be read on both sides; n_unread: the rest.

    Raises:
        InputError: no direction, one without length or of another width, a step that is not above 0, topics of another
            number than the questions, a layer that the model has not.

    >>> import torch
    >>> from onedial import PromptSet, load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> from onedial.models import read_activations
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=20)
    >>> prompts, topics = PromptSet.build(model, questions, METACOGNITIVE), [question.topic for question in questions]
    >>> middle = model.n_layers // 2
    >>> streams = read_activations(model, prompts, [middle]).residuals[:, 0]
    >>> any_way = {"any": torch.ones(model.d_model)}
    >>> effects_of(model, prompts, any_way, middle, streams, topics, n_random=2, n_bootstrap=19)["kind"].tolist()
    ['probe', 'random', 'random', 'covariance', 'covariance']
    """
    if not directions or not step > 0 or len(topics) != len(prompts):
        raise InputError(
            f"{len(directions)} directions, a step of {step}, {len(topics)} topics for {len(prompts)} questions; give "
            "at least one direction, a step above 0, and a topic (or None) for each question"
        )
    model.check_layers([layer])
    width = model.identity.d_model
    for name, direction in directions.items():
        if tuple(direction.shape) != (width,) or not direction.norm() > 0:
            raise InputError(
                f"the direction {name!r} has shape {tuple(direction.shape)} and length {direction.norm().item():.3g}; "
                f"give {width} numbers that are not all 0"
            )
    pushed = {("probe", name): direction for name, direction in directions.items()}
    pushed |= {("random", f"random {draw}"): random_unit(width, seed * 1000 + draw) for draw in range(n_random)}
    pushed |= {
        ("covariance", f"covariance {draw}"): drawn_like(streams, seed * 1000 + draw) for draw in range(n_random)
    }
    norm = float(streams.norm(dim=-1).median())
    vectors = [
        SteeringVector(
            direction=(direction / direction.norm()).float().cpu(),
            layer=layer,
            raw_norm=norm,
            residual_norm=norm,
            model=model.identity,
            method=f"{place:04d}",
            contrast="none",
            prompt_hash=prompts.prompt_hash,
        )
        for place, direction in enumerate(pushed.values())
    ]
    table = sweep(model, vectors, prompts, [-step, step], progress=progress).table
    table = table.assign(margin=table["margin"].where(is_read(table["mass"])))
    own_topic = [topic if topic is not None else f"question {place}" for place, topic in enumerate(topics)]
    names, codes = np.unique(own_topic, return_inverse=True)
    draws = topic_draws(len(names), n_bootstrap, seed)
    by_vector = dict(iter(table.groupby("intervention_id")))
    lines = []
    for (kind, name), vector in zip(pushed, vectors, strict=True):
        wide = by_vector[vector.vector_id].pivot(index="question_id", columns="magnitude", values="margin")
        both = wide.loc[list(prompts.question_ids)].to_numpy(dtype=float)
        slope = (both[:, 1] - both[:, 0]) / (2 * step)
        read = np.isfinite(slope)
        low, high = _interval(slope[read], codes[read], draws)
        effect = float(slope[read].mean()) if read.any() else float("nan")
        lines.append(
            {"direction": name, "kind": kind, "effect": effect, "low": low, "high": high, "n": int(read.sum()),
             "n_unread": int((~read).sum())}
        )  # fmt: skip
    found = pd.DataFrame(lines)
    for column, kind in (("p", "random"), ("p_covariance", "covariance")):
        chance = found.loc[found["kind"] == kind, "effect"].abs().to_numpy()
        found[column] = [(1 + (chance >= abs(effect)).sum()) / (1 + len(chance)) for effect in found["effect"]]
        found.loc[found["kind"] != "probe", column] = np.nan
    return found[list(EFFECT_COLUMNS)]


def _interval(slope: np.ndarray, topic: np.ndarray, draws: np.ndarray) -> tuple[float, float]:
    """95% interval of the mean when topics are drawn with replacement."""
    sums = np.bincount(topic, slope, minlength=draws.shape[1])
    counts = np.bincount(topic, minlength=draws.shape[1])
    total = draws @ counts
    means = (draws @ sums)[total > 0] / total[total > 0]
    return interval_95(means, fewest=2)
