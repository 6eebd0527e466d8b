"""Draw directions by chance, and rank others among them.

random       evenly from the sphere
covariance   from the normal distribution with the covariance of some streams: it points where streams differ anyway
"""

from collections.abc import Mapping

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from onedial.stats.level import p_value

Lines = dict[tuple[str, str], Tensor]
"""(kind, name) -> direction of any length."""


def drawn_lines(n: int, d_model: int, seed: int, streams: Float[Tensor, "question d_model"] | None = None) -> Lines:
    """`n` directions of either kind, those with the streams' covariance only where streams are given.

    >>> list(drawn_lines(1, 4, seed=0, streams=torch.eye(4)))
    [('random', 'random 0'), ('covariance', 'covariance 0')]
    """
    seeds = [seed * 1000 + draw for draw in range(n)]
    lines = {("random", f"random {draw}"): random_unit(d_model, drawn) for draw, drawn in enumerate(seeds)}
    if streams is not None:
        lines |= {("covariance", f"covariance {draw}"): drawn_like(streams, drawn) for draw, drawn in enumerate(seeds)}
    return lines


def ranked(table: pd.DataFrame, column: str, nulls: Mapping[str, str]) -> pd.DataFrame:
    """With, for each null, how often its directions reach as far from 0 as each direction that is none of theirs.

    Args:
        table: columns kind and `column`. nulls: name of the new column -> kind of the directions that are drawn.

    Returns:
        the table with a p value in each new column, (1 + k) / (1 + n); nan for what chance has drawn.

    >>> table = pd.DataFrame({"kind": ["vector", "random", "random"], "effect": [-3.0, 1.0, 2.0]})
    >>> round(float(ranked(table, "effect", {"p": "random"})["p"][0]), 2)
    0.33
    """
    drawn = table["kind"].isin(list(nulls.values()))
    for name, kind in nulls.items():
        chance = table.loc[table["kind"] == kind, column].abs().to_numpy()
        table = table.assign(**{name: [p_value(abs(value), chance) for value in table[column]]})
        table.loc[drawn, name] = float("nan")
    return table


def random_unit(d_model: int, seed: int) -> Float[Tensor, " d_model"]:
    """Draw one direction uniformly from the sphere."""
    drawn = torch.randn(d_model, generator=generator_of(seed))
    return drawn / drawn.norm()


def drawn_like(streams: Float[Tensor, "question d_model"], seed: int) -> Float[Tensor, " d_model"]:
    """Draw a direction from the normal distribution with the streams' covariance: a mixture of the centred streams."""
    centred = streams - streams.mean(dim=0)
    return torch.randn(len(centred), generator=generator_of(seed)).to(centred) @ centred


def generator_of(seed: int) -> torch.Generator:
    """Torch's generator for a seed of any length, as numpy's may be."""
    return torch.Generator().manual_seed(seed % 2**63)
