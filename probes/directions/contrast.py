"""Truth without labels: directions along which a statement and its negation, and a yes and a no, contradict each other.

A statement (p = 0) and its negation (p = 1) are each put to the model and answered by yes (a = 0) and by no (a = 1). A
direction of truth must give the two answers of one statement opposite readings. With z the streams, normalised over the
training statements for each answer apart (so that which answer was given cannot be read), and p = 1 / (1 + exp(-(b + w
z))), contrast-consistent search (Burns et al., 2023, ICLR) looks for the w, b that make least

    consistency + confidence = (p_yes - (1 - p_no))^2 + min(p_yes, p_no)^2          mean over statements

from several starts, of which the one of the least loss is kept. A statement's reading is (p_yes + 1 - p_no) / 2.

    ccs             as above, the statements of both polarities in one heap
    polar ccs       polarities are normalised apart too, and the polar gap (below) is added to the loss: a statement and
                    its negation must be read as opposites as well (in the spirit of arXiv 2511.21737)
    crc             the first principal component of z_yes - z_no
    random          a direction drawn uniformly
    supervised      LDA on z_yes - z_no with the labels: what could be found

All but the last leave open which end means true. That one bit is taken from the training statements' labels, so that
chance is .5 on held-out ones. Two measures need no label at all, for any reading of probabilities:

    polar gap       ((pA_yes - pB_no)^2 + (pA_no - pB_yes)^2) / 2; A the statement, B its negation; 0 = consistent
    contradiction   pA_yes pB_yes + pA_no pB_no; 0 = never both; .5 where every p is .5

and `opposite` is the share of pairs in which both answers lean the other way for the negation than for the statement.
Nothing in the loss speaks of truth: any feature that yes and no carry with opposite signs will do, and a prominent one
wins (Farquhar et al., 2023, arXiv 2312.10029).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from scipy.special import expit
from torch import Tensor

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from probes.directions.concordance import Area, Concordance, auroc_by_column, difference_interval
from probes.fitting.folds import TopicFolds
from probes.fitting.reads_at_all import copies_within, reads_by_chance
from probes.fitting.solvers import METHODS, NO_PENALTY, Training

Floats = NDArray[np.float64]

RESTARTS, STEPS, RATE, DECAY = 10, 400, 0.01, 0.01
"""As in Burns et al., but for the steps: they take 1000; after 400 the restarts rank alike by loss."""
_REST, _LOOK, _LEAST = 1e-2, 25, 1e-3
N_RANDOM = 10
N_COPIES = 199


@dataclass(frozen=True, eq=False)
class StatementStreams:
    """Streams after an answer to each statement and to its negation.

    Attributes:
        streams: (statement, polarity, answer, d_model); polarity 0 as it stands, 1 negated; answer 0 yes, 1 no.
        true: (statement,) 1 where it holds as it stands, 0 where not. folds: of the statements, by topic.
    """

    streams: Floats
    true: Floats
    folds: TopicFolds

    __repr__ = one_line

    def __post_init__(self) -> None:
        if self.streams.ndim != 4 or self.streams.shape[1:3] != (2, 2) or len(self.streams) != len(self.folds):
            raise InputError(
                f"streams of shape {self.streams.shape} for folds of {len(self.folds)} statements; give (statement, 2 "
                "polarities, 2 answers, d_model)"
            )
        if self.true.shape != (len(self.streams),) or not np.isin(self.true, (0.0, 1.0)).all():
            raise InputError(f"truth of shape {self.true.shape} for {len(self.streams)} statements; give 1 or 0 each")

    @property
    def holds(self) -> Floats:
        """(statement, polarity) whether what is said holds: a negation turns it round."""
        return np.stack([self.true, 1 - self.true], axis=1)


class Reading(NamedTuple):
    """What a method reads.

    Attributes:
        score: (statement, polarity) higher = true, or the other way round. chance: (statement, polarity, answer)
            probabilities p; None for a method that has none.
    """

    score: Floats
    chance: Floats | None


Contrast = Callable[[Floats, Floats, Floats, int], Reading]
"""Given normalised training streams, what holds of them, all streams, and a seed: a reading of all of them."""


# ---- methods -------------------------------------------------------------------------------------------------------


def ccs(train: Floats, holds: Floats, every: Floats, seed: int) -> Reading:
    """Contrast-consistent search; the labels are not looked at."""
    return _consistent(train, every, seed, polar=0.0)


def polar_ccs(train: Floats, holds: Floats, every: Floats, seed: int) -> Reading:
    """The same with the polar gap in the loss."""
    return _consistent(train, every, seed, polar=1.0)


def crc(train: Floats, holds: Floats, every: Floats, seed: int) -> Reading:
    """Contrastive representation clustering: the first principal component of the differences of the answers."""
    differences = _differences(train)
    centred = differences - differences.mean(axis=0)
    axis = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    return Reading((every[:, :, 0] - every[:, :, 1]) @ axis, None)


def random(train: Floats, holds: Floats, every: Floats, seed: int) -> Reading:
    """A direction that knows nothing."""
    axis = np.random.default_rng(seed).standard_normal(train.shape[-1])
    return Reading((every[:, :, 0] - every[:, :, 1]) @ axis, None)


def supervised(train: Floats, holds: Floats, every: Floats, seed: int) -> Reading:
    """LDA of the differences, with the labels."""
    training = Training.of(_differences(train))
    weight = METHODS["lda"](training, holds.reshape(-1, 1), NO_PENALTY)[0, :, 0]
    flat = (every[:, :, 0] - every[:, :, 1]).reshape(-1, every.shape[-1])
    return Reading((training.standardised(flat) @ weight).reshape(every.shape[:2]), None)


CONTRASTS: dict[str, Contrast] = {
    "ccs": ccs,
    "polar ccs": polar_ccs,
    "crc": crc,
    "random": random,
    "supervised": supervised,
}
"""Name to method; a new one is a function above and a line here."""
LABELLED = frozenset({"supervised"})
"""Methods that look at the labels, whose folds therefore share them: labels that mean nothing stand beside these."""
POLARITIES_APART = frozenset({"polar ccs"})
"""Methods before which each polarity is normalised apart."""


def _consistent(train: Floats, every: Floats, seed: int, polar: float) -> Reading:
    """From several starts at once, by Adam with weight decay apart from the gradient."""
    z = torch.from_numpy(train.astype(np.float32)).reshape(-1, train.shape[-1])
    lead = (*train.shape[:3], RESTARTS)
    drawn = np.random.default_rng(seed).standard_normal((z.shape[1], RESTARTS))
    weight = torch.from_numpy((drawn / np.linalg.norm(drawn, axis=0)).astype(np.float32)).requires_grad_()
    offset, before = torch.zeros(RESTARTS, requires_grad=True), torch.full((RESTARTS,), torch.inf)
    parts = [{"params": [weight], "weight_decay": DECAY}, {"params": [offset], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(parts, lr=RATE)
    for step in range(1, STEPS + 1):
        loss = contrast_loss((z @ weight + offset).sigmoid().reshape(lead), polar)
        optimizer.zero_grad()
        loss.sum().backward()
        optimizer.step()
        if step % _LOOK == 0:
            if (before - loss.detach() < _REST * loss.detach().clamp(min=_LEAST)).all():
                break
            before = loss.detach()
    with torch.no_grad():
        best = int(contrast_loss((z @ weight + offset).sigmoid().reshape(lead), polar).argmin())
    found = expit(every @ weight.detach()[:, best].double().numpy() + offset[best].item())
    return Reading((found[..., 0] + 1 - found[..., 1]) / 2, found)


def contrast_loss(p: Tensor, polar: float = 0.0) -> Tensor:
    """(start,) loss of probabilities (statement, polarity, answer, start).

    Args:
        polar: weight of the polar gap.

    >>> contrast_loss(torch.full((1, 1, 2, 1), 0.5)).tolist()
    [0.25]
    """
    yes, no = p[:, :, 0], p[:, :, 1]
    loss = ((yes + no - 1) ** 2 + torch.minimum(yes, no) ** 2).mean(dim=(0, 1))
    return loss + polar * ((p[:, 0] - p[:, 1].flip(1)) ** 2).mean(dim=(0, 1)) if polar else loss


# ---- measuring -----------------------------------------------------------------------------------------------------


def polar_gap(p: Floats) -> Floats:
    """(statement,) half the summed squares of pA_yes - pB_no and pA_no - pB_yes, from (statement, polarity, answer).

    >>> polar_gap(np.array([[[0.9, 0.1], [0.1, 0.9]]])).round(2).tolist()  # the negation is read as the opposite
    [0.0]
    """
    return ((p[:, 0] - p[:, 1, ::-1]) ** 2).mean(axis=1)


def contradiction(p: Floats) -> Floats:
    """(statement,) pA_yes pB_yes + pA_no pB_no.

    >>> contradiction(np.array([[[0.9, 0.1], [0.1, 0.9]]])).round(2).tolist()
    [0.18]
    """
    return (p[:, 0] * p[:, 1]).sum(axis=1)


def opposite(p: Floats) -> NDArray[np.bool_]:
    """(statement,) whether both answers lean the other way for the negation: the polar gap's sign in the paper.

    >>> opposite(np.array([[[0.9, 0.1], [0.1, 0.9]]])).tolist()
    [True]
    """
    yes, no = np.sign(p[:, 0, 0] - p[:, 1, 0]), np.sign(p[:, 1, 1] - p[:, 0, 1])
    return np.asarray(yes * no > 0)


CONTRAST_COLUMNS = (
    "method", "marker", "auroc", "low", "high", "p_reads", "as_it_stands", "negated", "hurt", "hurt_low", "hurt_high",
    "polar_gap", "contradiction", "opposite", "n",
)  # fmt: skip


def read_without_labels(
    real: StatementStreams,
    nonsense: StatementStreams,
    draws: Floats,
    methods: Sequence[str] = tuple(CONTRASTS),
    seed: int = 0,
) -> pd.DataFrame:
    """Every method on held-out topics, with a real negation, and with a word of nonsense in its place as the control.

    Both are fitted and judged apart. In the control what "is negated" counts as turned round though it is not, so that
    a method which reads truth must do worse there: if the negation is understood it loses what it had, and if it is
    not, neither was better than the other from the beginning.

    Args:
        real, nonsense: the same statements and folds. draws: of the topics (`topic_draws`).
        methods: keys of `CONTRASTS`.

    Returns:
        One row per method and marker ("negation", "nonsense"), `CONTRAST_COLUMNS`: AUROC over both polarities with its
        95% interval over topics, and of either polarity; p_reads of the method with labels, among copies of them that
        are shuffled within topics and read anew (`probes.fitting.reads_at_all`), nan of the others; hurt: AUROC with
        the negation minus that with nonsense, its interval; polar_gap, contradiction, opposite: means, nan for a method
        without probabilities; n statements.

    Raises:
        InputError: the control has other statements, or an unknown method.

    >>> import numpy as np
    >>> from probes import StatementStreams, TopicFolds, topic_draws
    >>> rng, true = np.random.default_rng(0), np.arange(60) % 2 * 1.0
    >>> sides = np.where(np.stack([true, 1 - true], axis=1) == 1, 1.0, -1.0)  # (statement, polarity)
    >>> streams = rng.standard_normal((60, 2, 2, 4))
    >>> streams[..., 0] += 2 * sides[..., None] * np.array([1, -1])  # yes and no carry the truth with opposite signs
    >>> material = StatementStreams(streams, true, TopicFolds.of(np.arange(60) % 6))
    >>> found = read_without_labels(material, material, topic_draws(6, 19), methods=["crc"])
    >>> found["auroc"].round(1).tolist()
    [1.0, 1.0]
    """
    if unknown := [name for name in methods if name not in CONTRASTS]:
        raise InputError(f"the method {unknown[0]!r} is not known; choose among {', '.join(CONTRASTS)}")
    if real.streams.shape != nonsense.streams.shape or (real.true != nonsense.true).any():
        raise InputError(
            f"streams of shape {real.streams.shape} and, with nonsense, {nonsense.streams.shape}; give the same "
            "statements in the same order"
        )
    lines = []
    for name in methods:
        agreement = {}
        for marker, material in (("negation", real), ("nonsense", nonsense)):
            found = _readings(material, name, seed)
            readings = [reading.towards(material.holds) for reading in found]
            agreement[marker] = _against([reading.score for reading in readings], material.holds, material.folds)
            measures = _measures(readings, material, agreement[marker].area(draws))
            if name in LABELLED:
                measures["p_reads"] = reads_by_chance(measures["auroc"], _auroc_of_copies(material, seed))
            lines.append({"method": name, "marker": marker, **measures})
        hurt = difference_interval(agreement["negation"], agreement["nonsense"], draws)
        lines[-2] |= dict(zip(("hurt", "hurt_low", "hurt_high"), hurt, strict=True))
    return pd.DataFrame(lines).reindex(columns=list(CONTRAST_COLUMNS))


@dataclass(frozen=True, eq=False)
class _HeldOut:
    """Readings of each fold's method, of all statements, before it is known which end means true."""

    by_fold: list[Reading]
    folds: TopicFolds

    def towards(self, target: Floats) -> Reading:
        """Each statement by the method that has not seen its topic, the end told by the target in those it has seen."""
        score = np.full_like(self.by_fold[0].score, np.nan)
        chance = None if self.by_fold[0].chance is None else np.full_like(self.by_fold[0].chance, np.nan)
        for fold, reading in enumerate(self.by_fold):
            own = self.folds.inside(fold)
            turned = _area(reading.score[~own], target[~own]) < 0.5
            score[own] = -reading.score[own] if turned else reading.score[own]
            if chance is not None and reading.chance is not None:
                chance[own] = 1 - reading.chance[own] if turned else reading.chance[own]
        return Reading(score, chance)


def _readings(material: StatementStreams, method: str, seed: int) -> list[_HeldOut]:
    """One, or several of a method that is drawn."""
    streams, folds, holds = material.streams, material.folds, material.holds
    found: list[list[Reading]] = [[] for _ in range(N_RANDOM if method == "random" else 1)]
    for fold in range(folds.n_folds):
        seen = ~folds.inside(fold)
        every = _normalised(streams, seen, apart=method in POLARITIES_APART)
        for draw, readings in enumerate(found):
            readings.append(CONTRASTS[method](every[seen], holds[seen], every, (seed * 100 + draw) * 100 + fold))
    return [_HeldOut(readings, folds) for readings in found]


def _auroc_of_copies(material: StatementStreams, seed: int) -> Floats:
    """(copy,) AUROC of `supervised`, fitted and judged by truths that are shuffled within topics."""
    streams, folds = material.streams, material.folds
    true = copies_within(material.true, *folds.exchangeable(), N_COPIES, seed)
    holds = np.stack([true, 1 - true], axis=1).reshape(-1, N_COPIES)
    fold, score = np.repeat(folds.fold, 2), np.empty_like(holds)
    for left_out in range(folds.n_folds):
        seen, judged = ~folds.inside(left_out), fold == left_out
        rows = _differences(_normalised(streams, seen, apart=False))
        training = Training.of(rows[~judged])
        score[judged] = training.standardised(rows[judged]) @ METHODS["lda"](training, holds[~judged], NO_PENALTY)[0]
    return auroc_by_column(score, holds, fold)


def _measures(readings: Sequence[Reading], material: StatementStreams, area: Area) -> dict[str, float]:
    scores = [reading.score for reading in readings]
    alone = [
        _against([score[:, [side]] for score in scores], material.holds[:, [side]], material.folds).auroc
        for side in (0, 1)
    ]
    found = {**area.named(), "as_it_stands": alone[0], "negated": alone[1]}
    for name, measure in (("polar_gap", polar_gap), ("contradiction", contradiction), ("opposite", opposite)):
        chances = [reading.chance for reading in readings if reading.chance is not None]
        found[name] = float(np.mean([measure(chance) for chance in chances])) if chances else float("nan")
    return found | {"n": len(material.true)}


def _normalised(streams: Floats, looked_at: NDArray[np.bool_], *, apart: bool) -> Floats:
    """Mean 0 and standard deviation 1 for each answer (and, apart, each polarity) over what may be looked at."""
    over = (0,) if apart else (0, 1)
    mean, spread = streams[looked_at].mean(axis=over), streams[looked_at].std(axis=over)
    return np.asarray((streams - mean) / np.where(spread > 0, spread, 1.0))


def _differences(streams: Floats) -> Floats:
    return (streams[:, :, 0] - streams[:, :, 1]).reshape(-1, streams.shape[-1])


def _against(scores: Sequence[Floats], truth: Floats, folds: TopicFolds) -> Concordance:
    """Pairs over both polarities, of several scores in one; a statement and its negation are of one fold and topic."""
    each = folds.take(np.repeat(np.arange(len(truth)), truth.shape[1]))
    found = [Concordance.of(score.reshape(-1), truth.reshape(-1), each) for score in scores]
    return replace(
        found[0],
        agreeing=np.sum([one.agreeing for one in found], axis=0),
        pairs=np.sum([one.pairs for one in found], axis=0),
    )


def _area(score: Floats, truth: Floats) -> float:
    return float(auroc_by_column(score.reshape(-1, 1), truth.reshape(-1, 1), np.zeros(score.size, dtype=np.intp))[0])
