"""Test whether a direction is used, by what, and what a push goes through, by a few edited runs of every question.

`effects_of`: push the stream along it by a little. A label that reads off the stream along a direction need not move
the answer: the model may hold it and not look at it. With m(x, s) the margin of question x where the direction is added
s residual norms long at one layer,

    effect = mean over questions of [m(x, +step) - m(x, -step)] / (2 step)     margin per residual norm, + is to yes

`interchange`: swap what lies along it between two questions. One to which the subject says yes more (the donor) and one
to which it says so less (the receiver) differ along the vector v, and in much else. With x the stream at the last token

    x_r + (v . x_d - v . x_r) v        x_d + (v . x_r - v . x_d) v
    share = sum over pairs [m(r swapped) - m(r) + m(d) - m(d swapped)] / sum over pairs 2 [m(d) - m(r)]

0 = what lies along v decides nothing between them, 1 = all of it.

`mediation`: what of a push goes through a direction that can be read off further up? What the stream x holds along a
mediator p there is set to what another run of the same question holds (x + (p . x' - p . x) p): up and down are the two
ends of the push, 0 is the unsteered run.

    total     mean over questions of m(up) - m(down)
    direct    the same with p . x as unsteered in both: the effect that is left when the mediator is held still
    indirect  m(0, p . x as in up) - m(0, p . x as in down): the effect of what the push does to the mediator alone
    removed   1 - direct / total          carried   indirect / total

For a model that is linear above the mediator removed = carried; where they differ what is done along p meets what is
done beside it.

`patched_margins`: put the donor's whole stream after layer L in the place of the receiver's, at the last token. If the
receiver's answer becomes the donor's, what decides between them has come to the last token by layer L.

    recovered(L) = [m(receiver with the donor's stream after L) - m(receiver)] / [m(donor) - m(receiver)]

Beside every direction stand those that chance gives (`steering.nulls`), done in the same way; in the tables p ranks it
among the `random` ones, p_covariance or p_shuffled among those, as (1 + k) / (1 + n).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor

from onedial.core.errors import InputError
from onedial.models.forward.activations import read_activations
from onedial.models.forward.batches import Progress
from onedial.models.model import OpenModel
from onedial.models.prompt_set import PromptSet
from onedial.stats.arrays import Floats
from onedial.stats.intervals import unit_weights
from onedial.stats.level import QUANTILES_95, interval_95
from onedial.stats.resampling import N_RESAMPLES, resampled_weights
from onedial.stats.shares import share_of
from steering.interventions import SteeringVector
from steering.nulls import Lines, drawn_lines, ranked
from steering.operators import add
from steering.reading import UNEDITED, Rows, margins_of, read_along, read_margins

STEP, N_RANDOM, N_BOOTSTRAP = 0.05, 20, 999
EFFECT_COLUMNS = ("direction", "kind", "effect", "low", "high", "p", "p_covariance", "n", "n_unread")
INTERCHANGE_PAIRS, INTERCHANGE_DRAWN = 40, 39
"""Pairs that a sweep is tested on at most, and directions of either drawn kind."""
INTERCHANGE_COLUMNS = (
    "direction", "kind", "share", "low", "high", "p", "p_covariance", "gap", "gap_low", "gap_high", "n", "n_unread",
)  # fmt: skip
MEDIATION_COLUMNS = (
    "direction", "kind", "layer", "carried", "carried_low", "carried_high", "p", "p_shuffled", "removed", "removed_low",
    "removed_high", "indirect", "direct", "total", "total_low", "total_high", "n", "n_unread",
)  # fmt: skip
MEDIATION_QUESTIONS, MEDIATION_LAYERS, MEDIATION_DRAWN = 32, 3, 19
"""Questions and layers that a sweep is tested on at most, and directions of either drawn kind."""
_EACH = 4
"""Rows of a mediator: up and down with it held still, and unsteered with it as in up and as in down."""


@dataclass(frozen=True)
class Chance:
    """What chance gives beside a direction.

    Attributes:
        n_drawn: directions of each drawn kind. n_bootstrap: resamples of an interval.
    """

    n_drawn: int
    n_bootstrap: int = N_RESAMPLES
    seed: int = 0


# ---- a small push ----------------------------------------------------------------------------------------------------


def effects_of(
    model: OpenModel,
    prompts: PromptSet,
    directions: Mapping[str, Float[Tensor, " _"]],
    layer: int,
    streams: Float[Tensor, "question d_model"],
    *,
    step: float = STEP,
    chance: Chance = Chance(N_RANDOM, N_BOOTSTRAP),
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Measure the effect of each direction at one layer, and of random ones; see the module's text.

    Args:
        prompts: the questions that are asked; their topics, where they have any, give the intervals.
        directions: name -> direction of any length, positive towards label 1.
        streams: of some questions at the last position of that layer; give scale and covariance.
        step: in residual norms, to either side.
        progress: is told how many questions were finished.

    Returns:
        One row per direction, `EFFECT_COLUMNS`; kind is "probe", "random" or "covariance". low, high: 95% interval over
        topics. n: questions that could be read on both sides; n_unread: the rest.

    Raises:
        InputError: no direction, one without length or of another width, a step that is not above 0, or a
            layer that the model has not.

    >>> import torch
    >>> from onedial import PromptSet, load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=20)
    >>> prompts, middle = PromptSet.build(model, questions, METACOGNITIVE), model.n_layers // 2
    >>> streams = read_activations(model, prompts, [middle]).residuals[:, 0]
    >>> any_way = {"any": torch.ones(model.d_model)}
    >>> effects_of(model, prompts, any_way, middle, streams, chance=Chance(2, 19))["kind"].tolist()
    ['probe', 'random', 'random', 'covariance', 'covariance']
    """
    if not directions or not step > 0:
        raise InputError(
            f"{len(directions)} directions, a step of {step}; give at least one direction, and a step above 0"
        )
    model.check_layers([layer])
    for name, direction in directions.items():
        if tuple(direction.shape) != (model.d_model,) or not direction.norm() > 0:
            raise InputError(
                f"the direction {name!r} has shape {tuple(direction.shape)} and length {direction.norm().item():.3g}; "
                f"give {model.d_model} numbers that are not all 0"
            )
    lines: Lines = {("probe", name): direction for name, direction in directions.items()}
    lines |= drawn_lines(chance.n_drawn, model.d_model, chance.seed, streams)
    norm = float(streams.norm(dim=-1).median())
    slopes = slopes_along(model, prompts, [(layer, line, norm) for line in unit_lines(lines)], step, progress)
    topics = prompts.topics or [""] * len(prompts)
    units = [topic or f"question {place}" for place, topic in enumerate(topics)]
    weights = unit_weights(np.unique(units, return_inverse=True)[1], chance.n_bootstrap, chance.seed)
    rows = []
    for (kind, name), slope in zip(lines, slopes.T, strict=True):
        effect, low, high = mean_with_interval(slope, weights)
        n = int(np.isfinite(slope).sum())
        rows.append((name, kind, effect, low, high, n, len(slope) - n))
    table = pd.DataFrame(rows, columns=[name for name in EFFECT_COLUMNS if name not in ("p", "p_covariance")])
    return ranked(table, "effect", {"p": "random", "p_covariance": "covariance"})[list(EFFECT_COLUMNS)]


def slopes_along(
    model: OpenModel,
    prompts: PromptSet,
    pushes: Sequence[tuple[int, Float[Tensor, " d_model"], float]],
    step: float = STEP,
    progress: Progress | None = None,
) -> Floats:
    """(question, push) change of the margin per residual norm; nan where one of the two answers was not read.

    Args:
        pushes: layer, direction of length 1, and the residual norm there. step: in residual norms, to either side.
    """
    ends = torch.tensor([[-step, step]])
    rows = [Rows({layer: partial(_added, line.to(model.device), norm)}, ends) for layer, line, norm in pushes]
    margins = read_margins(model, prompts, rows, progress)
    return (margins[:, 1::2] - margins[:, ::2]) / (2 * step)


def mean_with_interval(values: Floats, weights: Floats) -> tuple[float, float, float]:
    """Mean over what is known and its 95% interval, by (resample, question) how often each question was drawn."""
    known = np.isfinite(values)
    if not known.any():
        return float("nan"), float("nan"), float("nan")
    drawn = weights[:, known]
    with np.errstate(invalid="ignore", divide="ignore"):
        means = drawn @ values[known] / drawn.sum(axis=1)
    return float(values[known].mean()), *interval_95(means, fewest=2)


# ---- a swap ----------------------------------------------------------------------------------------------------------


def interchange(
    model: OpenModel,
    prompts: PromptSet,
    vector: SteeringVector,
    pairs: Sequence[tuple[str, str]],
    *,
    chance: Chance = Chance(INTERCHANGE_DRAWN),
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Swap what lies along each direction between questions, and give its share; see the module's text.

    Swapped likewise: what lies along Yes minus No of the unembedding (`words`) and along `covariance` directions; moved
    along `random` directions is each question as far as the vector's swap moves it.

    Args:
        prompts: holds the questions of all pairs. vector: its direction and layer alone matter.
        pairs: ids of donor and receiver; a question stands in one of them.
        progress: is told how many questions were finished.

    Returns:
        One row per direction, `INTERCHANGE_COLUMNS`. low, high: 95% over pairs; share is nan where the interval of the
        gap (mean of m(d) - m(r), in logits) holds 0, since then there is nothing to share. n: pairs that could be read;
        n_unread: the rest.

    Raises:
        InputError: fewer than two pairs, a question in two of them, or a vector of another model.

    >>> from onedial import PromptSet, load_model, load_questions
    >>> from steering import extract_vector
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=20)
    >>> vector = extract_vector(model, questions, layer=21)
    >>> prompts = PromptSet.build(model, questions, vector.template)
    >>> pairs = [(questions[0].id, questions[1].id), (questions[2].id, questions[3].id)]
    >>> interchange(model, prompts, vector, pairs, chance=Chance(2, 9)).shape[0] > 0
    True
    """
    names = [name for pair in pairs for name in pair]
    if len(pairs) < 2 or len(set(names)) < len(names):
        raise InputError(
            f"{len(pairs)} pairs of {len(set(names))} questions for an interchange; give two or more, and each "
            "question in one of them"
        )
    vector.check_model(model)
    vector.check_stream("what is exchanged here is")
    asked = prompts.subset(names)
    activations = read_activations(model, asked, [vector.layer])
    streams = activations.residuals[:, 0]
    lines = {("vector", "the vector"): vector.direction, ("words", "Yes minus No"): _words(model, asked)}
    lines |= drawn_lines(chance.n_drawn, model.d_model, chance.seed, streams)
    along = unit_lines(lines)
    other = streams.unflatten(0, (-1, 2)).flip(1).flatten(0, 1)
    amounts = (other - streams) @ along.T
    amounts[:, [kind == "random" for kind, _ in lines]] = amounts[:, :1]
    by_line = rearrange(
        moved_margins(model, asked, vector.layer, along, amounts, progress),
        "(pair side) line -> line side pair",
        side=2,
    )
    plain = torch.where(activations.read, activations.margin, torch.nan).double().numpy().reshape(-1, 2).T
    weights = np.concatenate(list(resampled_weights(len(pairs), chance.n_bootstrap, chance.seed)))
    rows = []
    for (kind, name), (donor, receiver) in zip(lines, by_line, strict=True):
        came = (receiver - plain[1]) + (plain[0] - donor)
        share, gap = share_of(came / 2, plain[0] - plain[1], weights)
        rows.append(
            {
                "direction": name, "kind": kind, "share": share.value, "low": share.low, "high": share.high,
                **gap.columns("gap"), "n": share.n, "n_unread": share.n_missing,
            }
        )  # fmt: skip
    table = ranked(pd.DataFrame(rows), "share", {"p": "random", "p_covariance": "covariance"})
    return table[list(INTERCHANGE_COLUMNS)]


def moved_margins(
    model: OpenModel,
    prompts: PromptSet,
    layer: int,
    directions: Float[Tensor, "direction d_model"],
    amounts: Float[Tensor, "question direction"],
    progress: Progress | None = None,
) -> Floats:
    """(question, direction) margin of each question with its stream at the last token moved along each direction by its
    own amount; nan where the answer could not be read.

    Args:
        directions: of length 1. amounts: in the stream's own units.
    """
    along, far = directions.to(model.device), amounts.float().flatten().to(model.device)

    def move(stream: Tensor, settings: Tensor) -> Tensor:
        cell = settings.long().to(far.device)
        push = far[cell][..., None] * along[cell % len(along)]
        return stream + push.to(stream.device, stream.dtype)

    cells = torch.arange(amounts.numel(), dtype=torch.float32).reshape(amounts.shape)  # each row's place in `far`
    rows = Rows({layer: move}, cells, together=True)
    return read_margins(model, prompts, [rows], progress)


# ---- what a push goes through ----------------------------------------------------------------------------------------


def mediation(
    model: OpenModel,
    prompts: PromptSet,
    vector: SteeringVector,
    ends: tuple[float, float],
    layer: int,
    probes: Lines,
    *,
    chance: Chance = Chance(MEDIATION_DRAWN),
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Measure what of a push goes through each mediator; see the module's text.

    Mediators are directions of probes (`probe`), that of the push itself (`vector`), Yes minus No of the unembedding
    (`words`), and what chance gives: directions from the sphere and probes fitted to shuffled labels (`shuffled`).

    Args:
        prompts: the questions, none of which a mediator was fitted to. vector: what is pushed along.
        ends: two magnitudes in residual norms, the lower first.
        layer: of the mediators, above the vector's. probes: ("probe" or "shuffled", name) -> direction of any length.
        chance: its directions are drawn from the sphere.
        progress: is told how many questions were finished.

    Returns:
        One row per mediator, `MEDIATION_COLUMNS`, in logits and shares with 95% intervals over questions; shares are
        nan where the interval of the total holds 0. n: questions read in every run of this mediator; n_unread: the
        rest.

    Raises:
        InputError: a layer not above the vector's, ends out of order, no mediator, a vector of another model, or a
            model that has to be run plainly, one setting at a time.

    >>> import torch
    >>> from onedial import load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> from steering import extract_vector
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=20)
    >>> vector, prompts = extract_vector(model, questions, layer=21), PromptSet.build(model, questions, METACOGNITIVE)
    >>> any_way, above = {("probe", "any"): torch.ones(model.d_model)}, vector.layer + 1
    >>> result = mediation(model, prompts, vector, (-0.1, 0.1), above, any_way, chance=Chance(2, 19))
    >>> result["kind"].tolist()
    ['probe', 'vector', 'words', 'random', 'random']
    """
    vector.check_model(model)
    vector.check_stream("what is exchanged here is")
    model.check_layers([layer])
    down, up = ends
    if not (layer > vector.layer and up > down):
        raise InputError(
            f"a mediator at layer {layer} of a push from {down:.4g} to {up:.4g} at layer {vector.layer}; give a layer "
            "above the push, and its lower end first"
        )
    if "last" not in model.fast_paths_for(max(map(len, prompts.sequences))).allowed:
        raise InputError(
            f"{model.identity.name} is run plainly, one setting at a time, so that no setting can be given what "
            "another holds; leave mediation out"
        )
    lines: Lines = {key: line for key, line in probes.items() if key[0] == "probe"}
    lines |= {("vector", "the vector"): vector.direction, ("words", "Yes minus No"): _words(model, prompts)}
    lines |= drawn_lines(chance.n_drawn, model.d_model, chance.seed)
    lines |= {key: line for key, line in probes.items() if key not in lines}
    run = _mediated(model, vector, ends, layer, unit_lines(lines))
    margins = read_margins(model, prompts, [run], progress)
    total = margins[:, 1] - margins[:, 2]
    rest = rearrange(margins[:, 3:], "question (line each) -> line each question", each=_EACH)
    weights = np.concatenate(list(resampled_weights(len(margins), chance.n_bootstrap, chance.seed)))
    rows = []
    for (kind, name), each in zip(lines, rest, strict=True):
        direct, indirect = each[0] - each[1], each[2] - each[3]
        whole = np.where(np.isfinite(direct + indirect), total, np.nan)
        carried, of = share_of(indirect, whole, weights)
        removed, _ = share_of(whole - direct, whole, weights)
        read = np.isfinite(whole)
        rows.append(
            {
                "direction": name, "kind": kind, "layer": layer,
                **carried.columns("carried"), **removed.columns("removed"),
                "indirect": float(indirect[read].mean()) if read.any() else float("nan"),
                "direct": float(direct[read].mean()) if read.any() else float("nan"),
                **of.columns("total"), "n": carried.n, "n_unread": carried.n_missing,
            }
        )  # fmt: skip
    table = ranked(pd.DataFrame(rows), "carried", {"p": "random", "p_shuffled": "shuffled"})
    return table[list(MEDIATION_COLUMNS)]


def _mediated(
    model: OpenModel,
    vector: SteeringVector,
    ends: tuple[float, float],
    layer: int,
    along: Float[Tensor, "mediator d_model"],
) -> Rows:
    """Unsteered, up, down, then four rows of each mediator (see `_EACH`).

    All rows of a question go up side by side, so that what one holds after `layer` can be put into another there.
    """
    down, up = (end * vector.residual_norm for end in ends)
    device, n = model.device, len(along)
    pushes = torch.tensor([0.0, up, down] + [up, down, 0.0, 0.0] * n, device=device)
    giver = torch.tensor([0, 0, 1, 2] * n, device=device)
    push, held = vector.direction.to(device), along.to(device).repeat_interleave(_EACH, dim=0)

    def steer(stream: Tensor, settings: Tensor) -> Tensor:
        return stream + (pushes[settings.long()][..., None] * push).to(stream.device, stream.dtype)

    def mediate(stream: Tensor, settings: Tensor) -> Tensor:
        wide, line = stream.float(), held.to(stream.device)
        unpatched = (wide[:, 3:] * line).sum(dim=-1)
        given = (wide[:, giver.to(stream.device)] * line).sum(dim=-1)
        return torch.cat(
            [stream[:, :3], stream[:, 3:] + ((given - unpatched)[..., None] * line).to(stream.dtype)], dim=1
        )

    settings = torch.arange(len(pushes), dtype=torch.float32)[None]
    return Rows({vector.layer: steer, layer: mediate}, settings, together=True)


# ---- a patch ---------------------------------------------------------------------------------------------------------


def patched_margins(
    model: OpenModel,
    prompts: PromptSet,
    donors: Sequence[int],
    receivers: Sequence[int],
    layers: Sequence[int],
    *,
    progress: Progress | None = None,
) -> Float[Tensor, "pair layer_and_two"]:
    """Margins of each pair: of the receiver patched after each layer, then of the receiver and of the donor unpatched.

    After the last layer the receiver's answer is the donor's by construction. Keys and values of the earlier positions
    stay the receiver's own.

    Args:
        donors, receivers: places among the prompts, pair by pair. layers: of the patches.
        progress: is told how many pairs were done.

    Raises:
        InputError: no pair, donors of another number than receivers, or a layer that the model has not.

    >>> from onedial import load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> model = load_model("smollm2-135m-instruct")
    >>> prompts = PromptSet.build(model, load_questions("embedded", n=4), METACOGNITIVE)
    >>> patched_margins(model, prompts, [0, 1], [2, 3], [1]).shape
    torch.Size([2, 3])
    """
    if not donors or len(donors) != len(receivers):
        raise InputError(f"{len(donors)} donors for {len(receivers)} receivers; give at least one pair, one of each")
    model.check_layers(layers)
    givers, takers = (
        prompts.subset([prompts.question_ids[place] for place in chosen]) for chosen in (donors, receivers)
    )
    given = read_activations(model, givers, layers)
    streams, places = given.residuals.to(model.device), torch.arange(len(donors), dtype=torch.float32)[:, None]
    rows = [Rows({layer: partial(_put, streams[:, n])}, places) for n, layer in enumerate(layers)]
    numbers = np.stack(read_along(model, takers, [*rows, UNEDITED], margins_of(model, takers), progress=progress))
    return torch.cat([torch.from_numpy(numbers[:, 0]).float(), given.margin[:, None]], dim=1)


def patching_table(margins: Floats, layers: Sequence[int], n_bootstrap: int = 999, seed: int = 0) -> pd.DataFrame:
    """How far a patched stream takes the answer, a row for each layer.

        recovered(layer) = sum over pairs (patched margin - receiver's) / sum over pairs (donor's margin - receiver's)

    0 = the patch changes nothing, 1 = the receiver answers as the donor does. Sums above and below, since the ratio of
    one pair whose margins hardly differ may be anything.

    Args:
        margins: (pair, layer + 2) as `patched_margins` gives them: patched after each layer, then the
            receiver's own and the donor's.

    Returns:
        Columns `layer, recovered, low, high` (95% over pairs), `moved` (mean change of the margin), `margin` and
        `donor_margin` (means, unpatched), `n` pairs.

    >>> margins = np.array([[-1.0, 0.5, -1.0, 1.0], [-2.0, 1.0, -2.0, 2.0]])  # two layers, receiver, donor
    >>> patching_table(margins, [10, 20], n_bootstrap=19)["recovered"].tolist()
    [0.0, 0.75]
    """
    plain, given = margins[:, [-2]], margins[:, [-1]]
    moved, whole = margins[:, :-2] - plain, given - plain
    draws = unit_weights(np.arange(len(margins)), n_bootstrap, seed)
    low, high = np.quantile((draws @ moved) / (draws @ whole), QUANTILES_95, axis=0)
    columns = {"layer": list(layers), "recovered": moved.sum(axis=0) / whole.sum(), "low": low, "high": high}
    ends = {"margin": float(plain.mean()), "donor_margin": float(given.mean()), "n": len(margins)}
    return pd.DataFrame(columns | {"moved": moved.mean(axis=0)} | ends)


def _put(sources: Float[Tensor, "pair d_model"], stream: Tensor, settings: Tensor) -> Tensor:
    """The stream of the pair that a setting numbers, in the place of what is there."""
    return sources[settings.long().to(sources.device)].to(stream.device, stream.dtype).expand(*settings.shape, -1)


def _added(line: Tensor, norm: float, stream: Tensor, settings: Tensor) -> Tensor:
    return add(stream, line.to(stream.device), settings.to(stream.device), norm)


def _words(model: OpenModel, prompts: PromptSet) -> Float[Tensor, " d_model"]:
    return model.readout.answer_direction(prompts.tokens)


def unit_lines(lines: Lines) -> Float[Tensor, "line d_model"]:
    """Each at length 1, float32 on the CPU."""
    return torch.stack([line.float().cpu() / line.float().cpu().norm() for line in lines.values()])
