"""Does the answer hang on what the stream holds along the vector? Swap that between two questions, and see.

A question to which the subject says yes more (the donor) and one to which it says so less (the receiver) differ along
the vector v, and in much else. With x the stream at the last token after the vector's layer, the receiver is answered
again with the donor's component, and the donor with the receiver's:

    x_r + (v . x_d - v . x_r) v        x_d + (v . x_r - v . x_d) v

    share = sum over pairs [m(r swapped) - m(r) + m(d) - m(d swapped)] / sum over pairs 2 [m(d) - m(r)]

with m the margin: 0 = what lies along v decides nothing between them, 1 = all of it. Swapped likewise: what lies along
Yes minus No of the unembedding (`words`) and along directions drawn with the covariance of the streams (`covariance`,
where streams differ); and moved along directions drawn uniformly from the sphere (`random`) is each question as far
as the vector's swap moves it.
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
from onedial.models import OpenModel, PromptSet, halving_on_out_of_memory, read_activations
from onedial.stats import N_RESAMPLES, p_value, resampled_weights, share_of
from steering.directions import drawn_like, random_unit
from steering.vectors import SteeringVector

INTERCHANGE_PAIRS, INTERCHANGE_DRAWN = 40, 39
"""Pairs that a sweep is tested on at most, and directions of either drawn kind."""
INTERCHANGE_COLUMNS = (
    "direction", "kind", "share", "low", "high", "p", "p_covariance", "gap", "gap_low", "gap_high", "n", "n_unread",
)  # fmt: skip


def interchange(
    model: OpenModel,
    prompts: PromptSet,
    vector: SteeringVector,
    pairs: Sequence[tuple[str, str]],
    *,
    n_drawn: int = INTERCHANGE_DRAWN,
    n_bootstrap: int = N_RESAMPLES,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> pd.DataFrame:
    """The share of each direction; see the module's text.

    Args:
        prompts: holds the questions of all pairs. vector: its direction and layer alone matter.
        pairs: ids of donor and receiver; a question stands in one of them.
        n_drawn: directions of either drawn kind. progress: is told how many questions were finished.

    Returns:
        One row per direction, `INTERCHANGE_COLUMNS`. low, high: 95% over pairs; share is nan where the interval of the
        gap (mean of m(d) - m(r), in logits) holds 0, since then there is nothing to share. p: of `vector` and `words`,
        how often a `random` direction moves as much in either direction, (1 + k) / (1 + n); p_covariance: likewise. n:
        pairs that could be read; n_unread: the rest.

    Raises:
        InputError: fewer than two pairs, a question in two of them, or a vector of another model.

    >>> from onedial import PromptSet, load_model, load_questions
    >>> from steering import extract_vector
    >>> model, questions = load_model("smollm2-135m-instruct"), load_questions("embedded", n=20)
    >>> vector = extract_vector(model, questions, layer=21)
    >>> prompts = PromptSet.build(model, questions, vector.template)
    >>> pairs = [(questions[0].id, questions[1].id), (questions[2].id, questions[3].id)]
    >>> interchange(model, prompts, vector, pairs, n_drawn=2, n_bootstrap=9).shape[0] > 0
    True
    """
    names = [name for pair in pairs for name in pair]
    if len(pairs) < 2 or len(set(names)) < len(names):
        raise InputError(
            f"{len(pairs)} pairs of {len(set(names))} questions for an interchange; give two or more, and each "
            "question in one of them"
        )
    vector.check_model(model)
    asked = prompts.subset(names)
    found = read_activations(model, asked, [vector.layer])
    streams = found.residuals[:, 0]
    other = rearrange(
        rearrange(streams, "(pair side) d_model -> pair side d_model", side=2).flip(1), "p s d -> (p s) d"
    )
    lines = {
        ("vector", "the vector"): vector.direction,
        ("words", "Yes minus No"): model.readout.answer_direction(asked.tokens),
    }
    lines |= {("random", f"random {draw}"): random_unit(model.d_model, seed * 1000 + draw) for draw in range(n_drawn)}
    lines |= {("covariance", f"covariance {draw}"): drawn_like(streams, seed * 1000 + draw) for draw in range(n_drawn)}
    directions = torch.stack([line.float().cpu() / line.float().cpu().norm() for line in lines.values()])
    amounts = (other - streams) @ directions.T
    amounts[:, [kind == "random" for kind, _ in lines]] = amounts[:, :1]
    moved = moved_margins(model, asked, vector.layer, directions, amounts, progress)
    swapped = rearrange(moved.double().numpy(), "(pair side) line -> pair side line", side=2)
    plain = torch.where(found.read, found.margin, torch.nan).double().numpy().reshape(-1, 2)
    weights = np.concatenate(list(resampled_weights(len(pairs), n_bootstrap, seed)))
    gap = plain[:, 0] - plain[:, 1]
    rows = []
    for place, (kind, name) in enumerate(lines):
        came = (swapped[:, 1, place] - plain[:, 1]) + (plain[:, 0] - swapped[:, 0, place])
        share, whole = share_of(came / 2, gap, weights)
        rows.append(
            {
                "direction": name, "kind": kind, "share": share.value, "low": share.low,
                "high": share.high, **whole.columns("gap"), "n": share.n, "n_unread": share.n_missing,
            }
        )  # fmt: skip
    table = ranked(pd.DataFrame(rows), "share", {"p": "random", "p_covariance": "covariance"})
    return table[list(INTERCHANGE_COLUMNS)]


def ranked(table: pd.DataFrame, column: str, nulls: Mapping[str, str]) -> pd.DataFrame:
    """With, for each null, how often its directions reach as far from 0 as each direction that is none of theirs.

    Args:
        table: columns kind and `column`. nulls: name of the new column -> kind of the directions that are drawn.
    """
    drawn = table["kind"].isin(list(nulls.values()))
    for name, kind in nulls.items():
        chance = table.loc[table["kind"] == kind, column].abs().to_numpy()
        table = table.assign(**{name: [p_value(abs(own), chance) for own in table[column]]})
        table.loc[drawn, name] = np.nan
    return table


@torch.inference_mode()
def moved_margins(
    model: OpenModel,
    prompts: PromptSet,
    layer: int,
    directions: Float[Tensor, "direction d_model"],
    amounts: Float[Tensor, "question direction"],
    progress: Callable[[int], None] | None = None,
) -> Float[Tensor, "question direction"]:
    """The margin of each question with its stream at the last token moved along each direction by its own amount.

    Args:
        directions: of length 1. amounts: in the stream's own units.

    Returns:
        nan where the answer could not be read.
    """
    runner = model.runner(prompts.sequences, [layer])
    margins = torch.full(amounts.shape, torch.nan)
    along, far = directions.to(model.device), amounts.float().to(model.device)

    def work(batch: list[int]) -> list[int]:
        started = runner.start([prompts.sequences[index] for index in batch])
        own = far[batch]
        places = torch.arange(own.numel(), device=model.device).reshape(own.shape)  # of each row in `own`, flattened

        def edit(stream: Tensor, settings: Tensor) -> Tensor:
            cell = settings.long()
            push = own.flatten()[cell][..., None] * along[cell % len(along)]
            return stream + push.to(stream.device, stream.dtype)

        final = runner.steer(started, {layer: edit}, places.float())
        margin, mass = model.readout.margin_and_mass(final, prompts.tokens)
        margins[batch] = torch.where(is_read(mass), margin, torch.nan).float().cpu()
        return batch

    for batch in prompts.batches(model, None, len(directions)):
        for part in halving_on_out_of_memory(work, batch):
            if progress:
                progress(len(part))
    return margins
