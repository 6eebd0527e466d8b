"""How much of what a push does goes through a direction that can be read off further up?

The push is made at one layer and at the last token alone, so all of it passes through that token's stream after any
layer above. There only what the stream x holds along a mediator p is set to what another run of the same question holds
(x + (p . x' - p . x) p): up and down are the two ends of the push, 0 is the unsteered run.

    total     mean over questions of m(up) - m(down), m the margin
    direct    the same with p . x as unsteered in both: the effect that is left when the mediator is held still
    indirect  m(0, p . x as in up) - m(0, p . x as in down): the effect of what the push does to the mediator alone
    removed   1 - direct / total          carried   indirect / total

For a model that is linear above the mediator removed = carried; where they differ what is done along p meets what is
done beside it. Mediators are directions of probes (`probe`), that of the push itself (`vector`), Yes minus No of the
unembedding (`words`), and beside them what chance gives: directions from the sphere (`random`) and probes fitted to
shuffled labels (`shuffled`).
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor

from onedial.asking import is_read
from onedial.core import InputError
from onedial.models import OpenModel, PromptSet, halving_on_out_of_memory
from onedial.stats import N_RESAMPLES, resampled_weights, share_of
from steering.directions import random_unit
from steering.effects.interchange import ranked
from steering.vectors import SteeringVector

MEDIATION_COLUMNS = (
    "direction", "kind", "layer", "carried", "carried_low", "carried_high", "p", "p_shuffled", "removed", "removed_low",
    "removed_high", "indirect", "direct", "total", "total_low", "total_high", "n", "n_unread",
)  # fmt: skip
MEDIATION_QUESTIONS, MEDIATION_LAYERS, MEDIATION_DRAWN = 32, 3, 19
"""Questions and layers that a sweep is tested on at most, and directions of either drawn kind."""
_EACH = 4
"""Rows of a mediator: up and down with it held still, and unsteered with it as in up and as in down."""


def mediation(
    model: OpenModel,
    prompts: PromptSet,
    vector: SteeringVector,
    ends: tuple[float, float],
    layer: int,
    probes: Mapping[str, Float[Tensor, " d_model"]],
    *,
    shuffled: Sequence[Float[Tensor, " d_model"]] = (),
    n_drawn: int = MEDIATION_DRAWN,
    n_bootstrap: int = N_RESAMPLES,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> pd.DataFrame:
    """The share of each mediator; see the module's text.

    Args:
        prompts: the questions, none of which a mediator was fitted to. vector: what is pushed along.
        ends: two magnitudes in residual norms, the lower first.
        layer: of the mediators, above the vector's. probes: name -> direction of any length.
        shuffled: directions of probes of shuffled labels. n_drawn: directions from the sphere.
        progress: is told how many questions were finished.

    Returns:
        One row per mediator, `MEDIATION_COLUMNS`, in logits and shares with 95% intervals over questions; shares are
        nan where the interval of the total holds 0. p: of what chance has not drawn, how often a `random` direction
        carries as much, (1 + k) / (1 + n); p_shuffled: how often a `shuffled` one does; nan where there are none. n:
        questions read in every run of this mediator; n_unread: the rest.

    Raises:
        InputError: a layer not above the vector's, ends out of order, no mediator, a vector of another model, or a
            model that has to be run plainly, one setting at a time.

    >>> import torch
    >>> from onedial import load_model, load_questions
    >>> from onedial.asking import METACOGNITIVE
    >>> from steering import extract_vector
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=20)
    >>> vector, prompts = extract_vector(model, questions, layer=21), PromptSet.build(model, questions, METACOGNITIVE)
    >>> any_way, above = {"any": torch.ones(model.d_model)}, vector.layer + 1
    >>> found = mediation(model, prompts, vector, (-0.1, 0.1), above, any_way, n_drawn=2, n_bootstrap=19)
    >>> found["kind"].tolist()
    ['probe', 'vector', 'words', 'random', 'random']
    """
    vector.check_model(model)
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
    mediators = {("probe", name): line for name, line in probes.items()} | {
        ("vector", "the vector"): vector.direction,
        ("words", "Yes minus No"): model.readout.answer_direction(prompts.tokens),
    }
    mediators |= {("random", f"random {n}"): random_unit(model.d_model, seed * 1000 + n) for n in range(n_drawn)}
    mediators |= {("shuffled", f"shuffled {n}"): line for n, line in enumerate(shuffled)}
    along = torch.stack([each.float().cpu() / each.float().cpu().norm() for each in mediators.values()])
    margins = _margins(model, prompts, vector, ends, layer, along, progress).double().numpy()
    total = margins[:, 1] - margins[:, 2]
    rest = rearrange(margins[:, 3:], "question (mediator each) -> question mediator each", each=_EACH)
    weights = np.concatenate(list(resampled_weights(len(margins), n_bootstrap, seed)))
    rows = []
    for place, (kind, name) in enumerate(mediators):
        direct, indirect = rest[:, place, 0] - rest[:, place, 1], rest[:, place, 2] - rest[:, place, 3]
        whole = np.where(np.isfinite(direct + indirect), total, np.nan)
        carried, of = share_of(indirect, whole, weights)
        removed, _ = share_of(whole - direct, whole, weights)
        rows.append(
            {
                "direction": name, "kind": kind, "layer": layer,
                **carried.columns("carried"), **removed.columns("removed"),
                "indirect": _mean(indirect, whole), "direct": _mean(direct, whole),
                **of.columns("total"), "n": carried.n, "n_unread": carried.n_missing,
            }
        )  # fmt: skip
    table = ranked(pd.DataFrame(rows), "carried", {"p": "random", "p_shuffled": "shuffled"})
    return table[list(MEDIATION_COLUMNS)]


@torch.inference_mode()
def _margins(
    model: OpenModel,
    prompts: PromptSet,
    vector: SteeringVector,
    ends: tuple[float, float],
    layer: int,
    along: Float[Tensor, "mediator d_model"],
    progress: Callable[[int], None] | None,
) -> Float[Tensor, "question row"]:
    """Unsteered, up, down, then four rows of each mediator (see `_EACH`); nan where the answer was not read.

    All rows of a question go up side by side, so that what one holds after `layer` can be put into another there.
    """
    down, up = (end * vector.residual_norm for end in ends)
    device, n = model.device, len(along)
    pushes = torch.tensor([0.0, up, down] + [up, down, 0.0, 0.0] * n, device=device)
    giver = torch.tensor([0, 1, 2] + [0, 0, 1, 2] * n, device=device)
    push = vector.direction.to(device)
    held = along.to(device).repeat_interleave(_EACH, dim=0)
    runner = model.runner(prompts.sequences, [vector.layer])

    def steer(stream: Tensor, settings: Tensor) -> Tensor:
        return stream + (pushes[settings.long()][..., None] * push).to(stream.device, stream.dtype)

    def mediate(stream: Tensor, settings: Tensor) -> Tensor:
        wide, line = stream.float(), held.to(stream.device)
        own = (wide[:, 3:] * line).sum(dim=-1)
        given = (wide[:, giver[3:].to(stream.device)] * line).sum(dim=-1)
        return torch.cat([stream[:, :3], stream[:, 3:] + ((given - own)[..., None] * line).to(stream.dtype)], dim=1)

    found = torch.full((len(prompts), len(pushes)), torch.nan)
    settings = torch.arange(len(pushes), dtype=torch.float32, device=device)[None]

    def work(batch: list[int]) -> list[int]:
        started = runner.start([prompts.sequences[index] for index in batch])
        final = runner.steer(started, {vector.layer: steer, layer: mediate}, settings)
        margin, mass = model.readout.margin_and_mass(final, prompts.tokens)
        found[batch] = torch.where(is_read(mass), margin, torch.nan).float().cpu()
        return batch

    for batch in prompts.batches(model, None, len(pushes)):
        for part in halving_on_out_of_memory(work, batch):
            if progress:
                progress(len(part))
    return found


def _mean(values: np.ndarray, known: np.ndarray) -> float:
    """Over the questions that were read in every run."""
    here = np.isfinite(known)
    return float(values[here].mean()) if here.any() else float("nan")
