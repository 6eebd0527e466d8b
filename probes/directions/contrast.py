"""Read truth without labels: directions along which a statement and its negation, a yes and a no, contradict.

A statement (p = 0) and its negation (p = 1) are each put to the model and answered by yes (a = 0) and by no (a = 1). A
direction of truth must give the two answers of one statement opposite readings. With z the streams, normalised over the
training statements for each answer apart (so that which answer was given cannot be read), and p = 1 / (1 + exp(-(b + w
z))), contrast-consistent search (Burns et al., 2023, ICLR) looks for the w, b that make least

    consistency + confidence = (p_yes - (1 - p_no))^2 + min(p_yes, p_no)^2          mean over statements

from several starts, of which the one of the least loss is kept. A statement's reading is (p_yes + 1 - p_no) / 2.

    ccs             as above, the statements of both polarities in one heap
    polar ccs       polarities are normalised apart too, and the polar gap (below) is added to the loss: a statement and
                    its negation must be read as opposites as well (in the spirit of arXiv 2511.21737)
    supervised      LDA on z_yes - z_no with the labels: what could be found

The first two leave open which end means true. That one bit is taken from the training statements' labels, so that
chance is .5 on held-out ones. Two measures need no label at all:

    polar gap       ((pA_yes - pB_no)^2 + (pA_no - pB_yes)^2) / 2; A the statement, B its negation; 0 = consistent
    contradiction   pA_yes pB_yes + pA_no pB_no; 0 = never both; .5 where every p is .5

Nothing in the loss speaks of truth: any feature that yes and no carry with opposite signs will do, and a prominent one
wins (Farquhar et al., 2023, arXiv 2312.10029).
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from scipy.special import expit
from torch import Tensor

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.stats.arrays import Floats
from onedial.stats.solvers import METHODS, NO_PENALTY, Training
from probes.fitting.concordance import Concordance, auroc_by_column
from probes.fitting.folds import TopicFolds
from probes.fitting.reads_at_all import copies_within, reads_by_chance

RESTARTS, STEPS, RATE, DECAY = 10, 400, 0.01, 0.01
"""As in Burns et al., but for the steps: they take 1000; after 400 the restarts rank alike by loss."""
_REST, _LOOK, _LEAST = 1e-2, 25, 1e-3
N_COPIES = 199
SUPERVISED = "supervised"
CONTRASTS = {"ccs": 0.0, "polar ccs": 1.0}
"""Methods without labels, and the weight of the polar gap in the loss of each."""
CONTRAST_COLUMNS = (
    "method", "auroc", "low", "high", "p_reads", "as_it_stands", "negated", "polar_gap", "contradiction", "n",
)  # fmt: skip


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
        if self.streams.shape[:-1] != (len(self.folds), 2, 2) or self.true.shape != (len(self.folds),):
            raise InputError(
                f"streams of shape {self.streams.shape} and truth of shape {self.true.shape} for folds of "
                f"{len(self.folds)} statements; give (statement, 2 polarities, 2 answers, d_model), and 1 or 0 each"
            )

    @property
    def holds(self) -> Floats:
        """(statement, polarity) whether what is said holds: a negation turns it round."""
        return np.stack([self.true, 1 - self.true], axis=1)

    def normalised(self, looked_at: NDArray[np.bool_], *, apart: bool) -> Floats:
        """Streams of mean 0 and standard deviation 1 for each answer (and, apart, each polarity) over what may be
        looked at."""
        over = (0,) if apart else (0, 1)
        mean, spread = self.streams[looked_at].mean(axis=over), self.streams[looked_at].std(axis=over)
        return np.asarray((self.streams - mean) / np.where(spread > 0, spread, 1.0))


def search(train: Floats, every: Floats, seed: int, polar: float) -> Floats:
    """Probabilities (statement, polarity, answer) of all streams, by contrast-consistent search in the training ones:
    from several starts at once, by Adam with weight decay apart from the gradient."""
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
    return np.asarray(expit(every @ weight.detach()[:, best].double().numpy() + offset[best].item()))


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


def read_without_labels(material: StatementStreams, draws: Floats, seed: int = 0) -> pd.DataFrame:
    """Every method on held-out topics.

    Args:
        draws: of the topics (`unit_weights`).

    Returns:
        One row per method, `CONTRAST_COLUMNS`: AUROC over both polarities with its 95% interval over topics, and of
        either polarity; p_reads of the method with labels, among copies of them that are shuffled within topics and
        read anew (`probes.fitting.reads_at_all`), nan of the others; polar_gap, contradiction: means, nan of the
        method with labels; n statements.

    >>> import numpy as np
    >>> from probes import TopicFolds
    >>> from probes.directions.statement_streams import StatementStreams
    >>> from onedial.stats.intervals import unit_weights
    >>> rng, true = np.random.default_rng(0), np.arange(60) % 2 * 1.0
    >>> sides = np.where(np.stack([true, 1 - true], axis=1) == 1, 1.0, -1.0)  # (statement, polarity)
    >>> streams = rng.standard_normal((60, 2, 2, 4))
    >>> streams[..., 0] += 2 * sides[..., None] * np.array([1, -1])  # yes and no carry the truth with opposite signs
    >>> material = StatementStreams(streams, true, TopicFolds.of(np.arange(60) % 6))
    >>> read_without_labels(material, unit_weights(np.arange(6), 19, 0))["auroc"].round(1).tolist()
    [1.0, 1.0, 1.0]
    """
    rows = []
    for name, polar in CONTRASTS.items():
        chance = _held_out(material, polar, seed)
        row = _agreement((chance[..., 0] + 1 - chance[..., 1]) / 2, material, draws)
        gaps = {"polar_gap": polar_gap(chance).mean(), "contradiction": contradiction(chance).mean()}
        rows.append({"method": name, **row, **gaps})
    copies = copies_within(material.true, *material.folds.exchangeable(), N_COPIES, seed)
    scores = _by_labels(material, np.column_stack([material.true, copies]))
    row = _agreement(scores[..., 0], material, draws)
    fold = np.repeat(material.folds.fold, 2)
    truths = np.stack([copies, 1 - copies], axis=1).reshape(-1, N_COPIES)
    by_chance = auroc_by_column(scores[..., 1:].reshape(-1, N_COPIES), truths, fold)
    rows.append({"method": SUPERVISED, **row, "p_reads": reads_by_chance(row["auroc"], by_chance)})
    return pd.DataFrame(rows).reindex(columns=list(CONTRAST_COLUMNS))


def _held_out(material: StatementStreams, polar: float, seed: int) -> Floats:
    """Each statement's probabilities by a search that has not seen its topic, the end told in those it has seen."""
    p_held_out = np.empty(material.streams.shape[:3])
    for fold in range(material.folds.n_folds):
        held_out = material.folds.inside(fold)
        every = material.normalised(~held_out, apart=polar > 0)
        p = search(every[~held_out], every, seed * 10_000 + fold, polar)
        score, holds = (
            (p[~held_out, :, 0] - p[~held_out, :, 1]).reshape(-1, 1),
            material.holds[~held_out].reshape(-1, 1),
        )
        turned = auroc_by_column(score, holds, np.zeros(len(score), dtype=np.intp))[0] < 0.5
        p_held_out[held_out] = 1 - p[held_out] if turned else p[held_out]
    return p_held_out


def _by_labels(material: StatementStreams, truths: Floats) -> Floats:
    """(statement, polarity, truth) held-out LDA scores of the answers' difference, for each (statement, truth)."""
    score = np.empty((len(truths), 2, truths.shape[1]))
    holds = np.stack([truths, 1 - truths], axis=1)
    for fold in range(material.folds.n_folds):
        held_out = material.folds.inside(fold)
        every = material.normalised(~held_out, apart=False)
        rows = every[:, :, 0] - every[:, :, 1]
        training = Training.of(rows[~held_out].reshape(-1, rows.shape[-1]))
        weight = METHODS["lda"](training, holds[~held_out].reshape(-1, truths.shape[1]), NO_PENALTY)[0]
        score[held_out] = training.standardised(rows[held_out]) @ weight
    return score


def _agreement(score: Floats, material: StatementStreams, draws: Floats) -> dict[str, float]:
    """AUROC over both polarities with its interval, and of either; a statement and its negation are of one fold."""
    both = material.folds.take(np.repeat(np.arange(len(score)), 2))
    area = Concordance.of(score.reshape(-1), material.holds.reshape(-1), both).area(draws)
    one, other = (Concordance.of(score[:, side], material.holds[:, side], material.folds).auroc for side in (0, 1))
    return {**area.named(), "as_it_stands": one, "negated": other, "n": len(score)}
