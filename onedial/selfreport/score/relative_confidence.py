"""Which of two are you surer of? From pairs to a scale: connected designs, Bradley-Terry, and circular triads.

A pair is (winner, loser), by place among the items. Scores are logits, centred; higher = surer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from onedial.core.errors import InputError
from onedial.stats.arrays import Floats

RIDGE = 0.01
"""Penalty on squared scores / 2, so that an item that won every comparison has a finite score."""

Pairs = Sequence[tuple[int, int]]


def paired_design(n_items: int, n_each: int = 4, seed: int = 0) -> list[tuple[int, int]]:
    """Choose which items to compare: unions of random rings, so that all hang together and each is met equally often.

    Args:
        n_items: at least 3. n_each: comparisons of each item, an even number below n_items. seed: of the rings.

    Returns:
        n_items n_each / 2 different pairs, each item first about as often as second.

    Raises:
        InputError: too few items, or an odd or too large n_each.

    Formula: each ring joins the items in a random order to a circle. Sign: none.
    """
    if n_items < 3 or n_each < 2 or n_each % 2 or n_each >= n_items:
        raise InputError(f"{n_items} items in {n_each} comparisons each; give 3 or more, and an even number below that")
    rng = np.random.default_rng(seed)
    taken: set[frozenset[int]] = set()
    pairs: list[tuple[int, int]] = []
    tries = 0
    while len(pairs) < n_items * n_each // 2:
        ring = [int(item) for item in rng.permutation(n_items)]
        new = [(ring[place], ring[(place + 1) % n_items]) for place in range(n_items)]
        tries += 1
        if tries > 2000:  # dense designs leave no ring free: take what is free, the ring's own order
            free = [pair for pair in combinations(range(n_items), 2) if frozenset(pair) not in taken]
            return pairs + free[: n_items * n_each // 2 - len(pairs)]
        if not any(frozenset(pair) in taken for pair in new):
            taken |= {frozenset(pair) for pair in new}
            pairs += new
    return pairs


def bradley_terry(pairs: Pairs, n_items: int) -> tuple[Floats, Floats]:
    """Fit scores and standard errors.

    Formula: P(i beats j) = 1 / (1 + exp(-(s_i - s_j))), by penalised maximum likelihood (`choix.opt_pairwise`); errors
    from the inverse of the information, less the mean.

    Raises:
        InputError: no pairs, or an item that is compared with nothing.

    Args:
        pairs: (surer, less sure) places of items. n_items: number of items.

    Returns:
        (item,) scores of mean 0, (item,) standard errors. Sign: higher = surer.

    R: `BradleyTerry2::BTm`.

    >>> answered = [(max(pair), min(pair)) for pair in paired_design(20, n_each=6)]  # item 19 is the surest
    >>> scores, errors = bradley_terry(answered, 20)
    >>> round(float(np.corrcoef(scores, range(20))[0, 1]), 1), circular_triads(answered)[1]  # nothing runs in a circle
    (0.9, 0)
    """
    import choix

    met = {item for pair in pairs for item in pair}
    if not pairs or met != set(range(n_items)):
        raise InputError(f"{n_items - len(met)} of {n_items} items were compared with nothing; use a connected design")
    scores = np.asarray(choix.opt_pairwise(n_items, list(pairs), alpha=RIDGE))
    scores = scores - scores.mean()
    information = np.eye(n_items) * RIDGE
    for winner, loser in pairs:
        p = 1 / (1 + np.exp(scores[loser] - scores[winner]))
        weight = p * (1 - p)
        information[winner, winner] += weight
        information[loser, loser] += weight
        information[winner, loser] -= weight
        information[loser, winner] -= weight
    centre = np.eye(n_items) - 1 / n_items
    covariance = centre @ np.linalg.inv(information) @ centre
    return scores, np.sqrt(np.diag(covariance))


def circular_triads(pairs: Pairs) -> tuple[int, int]:
    """Triads of which every pair was compared, and how many of them run in a circle; a pair compared often counts by
    its majority, and not at all where that is a tie.

    Formula: a triad is circular if each of its items beats one of the other two (Kendall and Babington Smith, 1940,
    Biometrika 31, 324-345).

    Args:
        pairs: (surer, less sure) places of items.

    Returns:
        (triads, circular ones). Sign: more circular ones = less consistent.

    R: `eba::circular`.
    """
    wins: dict[tuple[int, int], int] = {}
    for winner, loser in pairs:
        wins[winner, loser] = wins.get((winner, loser), 0) + 1
    beats = {pair for pair, n in wins.items() if n > wins.get((pair[1], pair[0]), 0)}
    neighbours: dict[int, set[int]] = {}
    for one, other in beats:
        neighbours.setdefault(one, set()).add(other)
        neighbours.setdefault(other, set()).add(one)
    n_triads = circular = 0
    for one, linked in neighbours.items():
        for second, third in combinations(sorted(item for item in linked if item > one), 2):
            if third in neighbours[second]:
                n_triads += 1
                won = [sum((a, b) in beats for b in (one, second, third)) for a in (one, second, third)]
                circular += won == [1, 1, 1]
    return n_triads, circular


@dataclass(frozen=True)
class CircularNull:
    """How many triads run in a circle, and how many would by chance and on one scale.

    Attributes:
        n_triads, circular: that were observed.
        by_chance: expected where every pair is a coin flip. p_chance: share of such draws with as few circles or fewer.
        on_one_scale: expected where the fitted Bradley-Terry scores are all there is. p_scale: share of such draws with
            as many circles or more.
    """

    n_triads: int
    circular: int
    by_chance: float
    p_chance: float
    on_one_scale: float
    p_scale: float


def circular_null(pairs: Pairs, n_items: int, n_replicates: int = 999, seed: int = 0) -> CircularNull:
    """Is there any order in the pairs, and is there more disorder than one scale with its noise has?

    Formula: the same pairs are decided anew, by coin flips and by P(i beats j) = 1 / (1 + exp(-(s_i - s_j))) with the
    fitted scores; circles are counted in each draw; p = (1 + draws at least as extreme) / (1 + draws).

    Args:
        pairs: (surer, less sure) places of items. n_items: number of items. n_replicates: draws of each kind. seed: of
            them.

    Returns:
        CircularNull. Sign: a small p_chance = there is an order; a small p_scale = one scale is not all of it.

    Raises:
        InputError: as in `bradley_terry`.
    """
    scores, _ = bradley_terry(pairs, n_items)
    n_triads, circular = circular_triads(pairs)
    winner, loser = np.asarray(pairs).T
    on_scale = 1 / (1 + np.exp(scores[loser] - scores[winner]))
    rng = np.random.default_rng(seed)
    drawn = {}
    for name, chance in (("coin", np.full(len(winner), 0.5)), ("scale", on_scale)):
        counts = []
        for _ in range(n_replicates):
            stays = rng.random(len(winner)) < chance
            turned = zip(np.where(stays, winner, loser).tolist(), np.where(stays, loser, winner).tolist(), strict=True)
            counts.append(circular_triads(list(turned))[1])
        drawn[name] = np.array(counts)
    return CircularNull(
        n_triads,
        circular,
        float(drawn["coin"].mean()),
        (1 + int((drawn["coin"] <= circular).sum())) / (1 + n_replicates),
        float(drawn["scale"].mean()),
        (1 + int((drawn["scale"] >= circular).sum())) / (1 + n_replicates),
    )
