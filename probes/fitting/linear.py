"""Find where in a model a label is readable, and along which direction.

A linear probe is L2-penalised logistic regression on standardised activations:

    log-odds(label 1 | h) = intercept + slope * (direction . h)

h is one residual stream in the model's own coordinates; scaling is folded back, so that `direction` (unit length,
positive towards label 1) may be added to the stream as it is. How readable the label is: the AUROC on held-out
questions, 0.5 = not at all, 1 = perfectly. Held out are whole topics, and all wordings of a question at once
(`probes.fitting.folds`): a probe that has seen a topic reads the topic, which may tell the label well enough. The
strength of the penalty is chosen for each fold by questions of the others (`probes.fitting.crossfit`); slope and
intercept are calibrated on held-out scores. A label that can be read off is not thereby used by the model; whether a
direction matters for the answer is what steering asks.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from numpy.typing import ArrayLike
from torch import Tensor

from onedial.core.calls import says_how
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.models.forward.activations import Activations
from onedial.models.model import OpenModel
from onedial.stats.arrays import Floats
from onedial.stats.estimate import Estimate
from onedial.stats.intervals import unit_weights
from onedial.stats.level import Z_95
from onedial.stats.roc import roc_area_interval
from onedial.stats.solvers import METHODS, NO_PENALTY, PENALISED, PENALTIES, Training
from probes.fitting.concordance import N_BOOTSTRAP, Concordance
from probes.fitting.crossfit import CrossFitted, best_penalties, cross_fit, of_rows, platt
from probes.fitting.folds import N_FOLDS, TopicFolds, group_numbers
from steering.importing import as_vector
from steering.interventions import SteeringVector
from steering.looks import Look

LEAST = 2 * N_FOLDS
"""Questions of either label: the variance within a fold has no meaning for one."""


@dataclass(frozen=True)
class Probe:
    """A direction of one layer's residual stream along which a label can be read.

    Attributes:
        direction: unit length, float32, on the CPU, positive towards label 1.
        slope: log-odds per unit of the stream's projection on `direction`, calibrated on held-out questions; 0 where
            their scores lean the wrong way, so that nothing is read.
        intercept: log-odds of a stream of zeros.
        auroc: on held-out questions, compared within folds. se: the standard deviation over draws of the topics
            (`probes.fitting.concordance`), the probes as they are.
        n_positive, n_negative: questions of label 1 and 0.
    """

    direction: Float[Tensor, " d_model"]
    slope: float
    intercept: float
    auroc: float
    se: float
    n_positive: int
    n_negative: int

    __repr__ = one_line

    def as_vector(self, model: OpenModel, layer: int) -> SteeringVector:
        """The direction as a steering vector after a layer, positive towards label 1; see `steering.as_vector`.

        Args:
            layer: that whose stream the probe was fitted to.

        >>> from onedial import load_model
        >>> model = load_model("smollm2-135m-instruct")
        >>> streams = torch.randn(40, model.d_model, generator=torch.Generator().manual_seed(0))
        >>> probe = fit_probe(streams, streams[:, 0] > 0, topics=[str(place % 8) for place in range(40)])
        >>> probe.as_vector(model, layer=2).layer
        2
        """
        return as_vector(self.direction, model, layer)


@says_how
def fit_probe(
    residuals: Float[Tensor, "question d_model"],
    labels: ArrayLike | Tensor,
    *,
    topics: Sequence[str | None] | None = None,
    groups: Sequence[Hashable] | None = None,
    seed: int = 0,
) -> Probe:
    """Fit a probe to all questions, and measure on held-out topics how well such a probe reads the label.

    Args:
        residuals: one row per question.
        labels: (question,) 1 / 0; nan where an answer could not be read: such a question trains and judges nothing.
        topics: of each question. Without them questions are held out one by one, which is said: the AUROC then counts
            what a topic tells of its own questions.
        groups: which question each is a wording of, by any name, None for one that is like no other; they are held out
            together.
        seed: of the folds.

    Raises:
        InputError: nan or infinite activations, labels other than 1, 0 and nan or of another number, fewer than 10
            questions of either label, fewer topics than folds, activations that do not differ.

    >>> rng = np.random.default_rng(0)
    >>> labels = np.arange(80) % 2
    >>> residuals = torch.tensor(rng.standard_normal((80, 8)) + labels[:, None], dtype=torch.float32)
    >>> probe = fit_probe(residuals, labels, topics=[f"topic {place // 10}" for place in range(80)])
    >>> probe.auroc > 0.9
    True
    """
    rows, truth = _rows(residuals, labels)
    return _fit(rows, truth, _folds(len(rows), truth, topics, groups, seed))


@says_how
def probe_layers(
    residuals: Activations | Float[Tensor, "question layer d_model"],
    labels: ArrayLike | Tensor | Mapping[str, ArrayLike | Tensor],
    layers: Sequence[int] | None = None,
    *,
    topics: Sequence[str | None] | None = None,
    groups: Sequence[Hashable] | None = None,
    seed: int = 0,
) -> Look:
    """How readable a label is after each layer, or several labels; the same folds at every layer.

    Args:
        residuals: as `onedial.models.read_activations` gives them, or a tensor.
        labels: as in `fit_probe`, or name -> labels.
        layers: names of the second axis of a tensor; by default counted from 0. Others: as in `fit_probe`.

    Returns:
        A curve for each label; columns `label, layer, auroc, se, auroc_low, auroc_high` (auroc +- 1.96 se; where
        nothing overlaps, so that no draw of topics differs, `roc_area_interval`). The best of many layers looks better
        than it is: choose on some questions, report on others.

    Raises:
        InputError: as in `fit_probe`, or the number of layers differs.

    >>> rng = np.random.default_rng(0)
    >>> labels, topics = np.arange(80) % 2, [f"topic {place // 10}" for place in range(80)]
    >>> residuals = torch.tensor(rng.standard_normal((80, 2, 8)), dtype=torch.float32)
    >>> residuals[:, 1] += torch.tensor(labels, dtype=torch.float32)[:, None]
    >>> curve = probe_layers(residuals, labels, [4, 5], topics=topics).to_frame().set_index("layer")["auroc"]
    >>> int(curve.idxmax())
    5
    """
    if isinstance(residuals, Activations):
        layers, residuals = residuals.layers, residuals.residuals
    layers = range(residuals.shape[1]) if layers is None else layers
    if len(layers) != residuals.shape[1]:
        raise InputError(
            f"{len(layers)} layers are named, but the activations hold {residuals.shape[1]}; name each of them once"
        )
    curves = []
    for name, given in (labels if isinstance(labels, Mapping) else {"the label": labels}).items():
        rows, truth = _rows(residuals, given)
        folds = _folds(len(rows), truth, topics, groups, seed)
        probes = [_fit(rows[:, place], truth, folds) for place in range(len(layers))]
        curves += [(name, layer, each.auroc, each.se, *_ends(each)) for layer, each in zip(layers, probes, strict=True)]
    frame = pd.DataFrame(curves, columns=["label", "layer", "auroc", "se", "auroc_low", "auroc_high"])
    best = frame.loc[frame.groupby("label", sort=False)["auroc"].idxmax()]
    says = "; ".join(
        f"{row['label']}: AUROC {Estimate(row['auroc'], row['auroc_low'], row['auroc_high']):.2f} after layer "
        f"{row['layer']}, the best of {len(layers)}"
        for _, row in best.iterrows()
    )
    return Look(
        frame, f"{says}; 0.5 is chance", "lines", "layer", "auroc", "label", xlabel="layer",
        ylabel="held-out AUROC (band: 95%)", rule=0.5, limits=(None, 1.02),
    )  # fmt: skip


def _ends(probe: Probe) -> tuple[float, float]:
    """95% interval of a probe's AUROC."""
    if probe.se == 0:
        return roc_area_interval(probe.auroc, probe.n_positive, probe.n_negative)
    return max(0.0, probe.auroc - Z_95 * probe.se), min(1.0, probe.auroc + Z_95 * probe.se)


def probes_of(rows: Floats, fitted: CrossFitted, method: str, draws: Floats) -> dict[str, Probe]:
    """Label -> one probe of all questions, with the penalty that the folds chose for the label.

    Log-odds are calibrated on the scores of held-out topics: in-sample scores would be too sure of themselves. Every
    model's scores are counted in standard deviations of its own training questions, so that the one scale serves.

    Args:
        rows: (question, d_model). fitted: held-out scores of the same questions. method: a key of `METHODS`, the one
            that gave them. draws: of topics, see `unit_weights`.

    Raises:
        InputError: activations that do not differ.
    """
    training = Training.of(rows)
    grid = PENALTIES if method in PENALISED else NO_PENALTY
    directions = training.normalised(METHODS[method](training, fitted.truth, grid))
    shift, slope = platt(fitted.score, fitted.truth)
    chosen = best_penalties(fitted)
    probes = {}
    for at, label in enumerate(fitted.labels):
        weight = directions[grid.index(chosen[at]), :, at] / training.scale
        length = float(np.linalg.norm(weight))
        if not length > 0:
            raise InputError(
                f"the activations of {len(rows)} questions are all the same, so no direction reads {label!r}; read "
                "them after a layer, at the last position"
            )
        area = Concordance.of(fitted.score[:, at], fitted.truth[:, at], fitted.folds).area(draws)
        readable = max(float(slope[at]), 0.0)  # scores that lean the wrong way on held-out topics tell nothing
        probes[label] = Probe(
            direction=torch.from_numpy(weight / length).float(),
            slope=readable * length,
            intercept=float(shift[at] - readable * (weight @ training.mean)),
            auroc=area.auroc,
            se=area.se,
            n_positive=area.n_positive,
            n_negative=area.n_negative,
        )
    return probes


def _rows(residuals: Tensor, labels: ArrayLike | Tensor) -> tuple[Floats, Floats]:
    """Activations and labels, as numbers."""
    try:
        truth = np.asarray(labels.cpu() if isinstance(labels, Tensor) else labels, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"the labels are no numbers ({error}); give 1 and 0, or True and False") from error
    return residuals.detach().double().cpu().numpy(), truth


def _fit(rows: Floats, truth: Floats, folds: TopicFolds) -> Probe:
    fitted = cross_fit(of_rows(rows), ["the label"], truth[:, None], folds, least=LEAST)["logistic"]
    return probes_of(rows, fitted, "logistic", unit_weights(np.arange(folds.n_topics), N_BOOTSTRAP, 0))["the label"]


def _folds(
    n: int, truth: Floats, topics: Sequence[str | None] | None, groups: Sequence[Hashable] | None, seed: int
) -> TopicFolds:
    for name, given in (("labels", truth), ("topics", topics), ("groups", groups)):
        if given is not None and len(given) != n:
            raise InputError(f"{len(given)} {name} for {n} questions; give one for each")
    if topics is not None:
        return TopicFolds.of(topics, N_FOLDS, seed, groups)
    notice(
        "no topics were given, so questions of one topic may train the probe and judge it, and what is read may be the "
        "topic; pass topics="
    )
    numbers = range(n) if groups is None else group_numbers(groups)  # several wordings of a question count once
    return TopicFolds.of([f"question {number}" for number in numbers], N_FOLDS, seed)
