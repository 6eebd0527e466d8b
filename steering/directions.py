"""Make directions of a contrast between yes and no. A new one is a function here, and a line below.

Every direction has one signature:

    direction(contrast) -> (directions, lengths)

    contrast     activations on the side of yes and on that of no (`steering.contrasts.Contrast`)
    directions   `layer d_model`, unit length each, positive towards yes
    lengths      `layer`, each direction's length as extracted: what a magnitude of 1 is worth in raw units. Of a
                 direction that is no difference of means, how far apart the two means are along it

What each of them is good for is measured by `steering.dials.comparison.compare_directions`.
"""

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
import torch
from einops import einsum
from jaxtyping import Float
from torch import Tensor

from onedial.core.errors import InputError
from onedial.stats.solvers import METHODS, Training
from steering.contrasts import Contrast
from steering.nulls import random_unit

PENALTY = 0.3
"""Of logistic and ridge regression, in mean eigenvalues of the standardised stream; the middle of `PENALTIES`."""

Directions = tuple[Float[Tensor, "layer d_model"], Float[Tensor, " layer"]]
Direction = Callable[[Contrast], Directions]


def mean_difference(contrast: Contrast) -> Directions:
    """Mean of the activations on the side of yes minus mean of those on the side of no.

    The difference is taken of means, not of principal components of paired differences: removing the mean of the
    differences would remove the signal itself.
    """
    return unit_and_length(_mean_differences(contrast))


def without_unembedding(contrast: Contrast) -> Directions:
    """The mean difference with Yes minus No of the unembedding projected out: what is more than the words' own push.

    Raises:
        InputError: the contrast does not hold the unembedding.
    """
    axis = _given(contrast.answer_axis, "the unembedding's answer direction")
    axis = axis / axis.norm()
    difference = _mean_differences(contrast)
    return unit_and_length(difference - (difference @ axis)[:, None] * axis)


def principal_component(contrast: Contrast) -> Directions:
    """First principal component of the paired differences yes minus no, not centred, signed as the mean difference.

    Centring the differences would take out their mean, the signal itself. Where the contrast has no pairs, each yes is
    paired with each no: the second moment of all those differences is the sum of the two sides' covariances and of the
    mean difference's outer product.
    """
    return _along_contrast(torch.stack([_first_axis(rows) for rows in _differences(contrast)]), contrast)


def logistic(contrast: Contrast) -> Directions:
    """The normal of an L2-penalised logistic regression of the side on the standardised stream (`METHODS`)."""
    return _probed("logistic", contrast)


def lda(contrast: Contrast) -> Directions:
    """The mean difference whitened by the covariance, shrunk as Ledoit and Wolf estimate (`METHODS`)."""
    return _probed("lda", contrast)


def ridge(contrast: Contrast) -> Directions:
    """Ridge regression of the unsteered margin on the standardised stream, over the questions of either side."""
    asked = contrast.asked
    margin = contrast.activations.margin[asked].double().numpy()
    spread = float(margin.std()) or 1.0
    labels = (margin - margin.mean()) / spread  # a linear method takes any numbers where it takes 1 and 0
    return _fitted("ridge", contrast.activations.residuals[asked], labels, contrast)


def gradient(contrast: Contrast) -> Directions:
    """Mean gradient of the margin at the answer position: no other direction moves the mean margin as far by a small
    push. Of the labels it knows nothing.

    Raises:
        InputError: the contrast holds no gradients.
    """
    gradients = _given(contrast.gradients, "gradients of the margin")
    return _along(gradients[contrast.asked].mean(dim=0), contrast)


def within_topics(contrast: Contrast) -> Directions:
    """Mean difference within topics, which no difference between topics can make.

    Formula: sum over topics of w_t (mean yes_t - mean no_t), w_t = n_yes n_no / (n_yes + n_no), divided by the sum of
    w_t: the coefficient of the side in a regression with an intercept for each topic. Questions without a topic are one
    topic together; a topic with one side only does not count.

    Raises:
        InputError: no topic has questions on both sides.
    """
    rows = _given(contrast.rows, "the questions of its rows")
    names = contrast.topics or ("",) * len(contrast.activations.question_ids)
    codes = torch.tensor([sorted(set(names)).index(name) for name in names])
    yes_topic, no_topic = codes[rows[0]], codes[rows[1]]
    total, weights = torch.zeros_like(contrast.yes[0]), 0.0
    for topic in yes_topic.unique():
        yes, no = contrast.yes[yes_topic == topic], contrast.no[no_topic == topic]
        if len(no):
            weight = len(yes) * len(no) / (len(yes) + len(no))
            total = total + weight * (yes.mean(dim=0) - no.mean(dim=0))
            weights += weight
    if not weights:
        raise InputError(
            "within_topics: no topic has questions on both sides; give questions with topics of several "
            "questions each, or another method"
        )
    return unit_and_length(total / weights)


def entropy(contrast: Contrast) -> Directions:
    """Covariance of the stream with the entropy of the answer, signed as the mean difference: what goes with doubt.

    The entropy is that of yes against no, -p log p - (1 - p) log(1 - p) with p = 1 / (1 + exp(-margin)), over the
    questions of either side.
    """
    asked = contrast.asked
    p = contrast.activations.margin[asked].double().sigmoid()
    doubt = -(torch.xlogy(p, p) + torch.xlogy(1 - p, 1 - p)).float()
    streams = contrast.activations.residuals[asked]
    covariance = einsum(
        doubt - doubt.mean(), streams - streams.mean(dim=0), "question, question layer d_model -> layer d_model"
    )
    return _along_contrast(unit_and_length(covariance)[0], contrast)


def random(contrast: Contrast) -> Directions:
    """Drawn evenly from the sphere, the same draw at each layer, as long as the mean difference there: a control."""
    _, lengths = mean_difference(contrast)
    drawn = random_unit(contrast.yes.shape[-1], contrast.seed)
    return drawn.expand(len(lengths), -1).clone(), lengths


def unit_and_length(raw: Float[Tensor, "layer d_model"]) -> Directions:
    """Vectors as directions and lengths; a vector of length 0 stays one, which no `SteeringVector` accepts.

    >>> units, lengths = unit_and_length(torch.tensor([[3.0, 4.0]]))
    >>> lengths.tolist()
    [5.0]
    """
    lengths = raw.norm(dim=-1)
    return raw / lengths.clamp(min=torch.finfo(torch.float32).tiny)[:, None], lengths


def _mean_differences(contrast: Contrast) -> Float[Tensor, "layer d_model"]:
    return contrast.yes.mean(dim=0) - contrast.no.mean(dim=0)


def _along(raw: Float[Tensor, "layer d_model"], contrast: Contrast) -> Directions:
    """Directions of any length, each as long as its sides are apart along it: a magnitude of 1 crosses from the mean of
    one side to that of the other, whatever units a method computes in."""
    directions = unit_and_length(raw)[0]
    return directions, (directions * _mean_differences(contrast)).sum(dim=-1).abs()


def _along_contrast(raw: Float[Tensor, "layer d_model"], contrast: Contrast) -> Directions:
    """The same for directions that know no sign of their own: positive where the mean difference is."""
    against = (raw * _mean_differences(contrast)).sum(dim=-1) < 0
    return _along(torch.where(against[:, None], -raw, raw), contrast)


def _differences(contrast: Contrast) -> Iterator[Float[Tensor, "difference d_model"]]:
    """Of each layer, rows with the second moment of yes minus no over all pairs."""
    for layer in range(contrast.yes.shape[1]):
        yes, no = contrast.yes[:, layer], contrast.no[:, layer]
        if contrast.paired:
            yield yes - no
        else:
            sides = [(side - side.mean(dim=0)) / len(side) ** 0.5 for side in (yes, no)]
            yield torch.cat([*sides, (yes.mean(dim=0) - no.mean(dim=0))[None]])


def _first_axis(rows: Float[Tensor, "row d_model"]) -> Float[Tensor, " d_model"]:
    """The unit vector along which the rows' second moment is largest, of either sign."""
    _, vectors = torch.linalg.eigh((rows @ rows.T).double())
    return unit_and_length((rows.double().T @ vectors[:, -1])[None].float())[0][0]


def _probed(method: str, contrast: Contrast) -> Directions:
    labels = np.repeat([1.0, 0.0], [len(contrast.yes), len(contrast.no)])
    return _fitted(method, torch.cat([contrast.yes, contrast.no]), labels, contrast)


def _fitted(
    method: str, streams: Float[Tensor, "row layer d_model"], labels: np.ndarray, contrast: Contrast
) -> Directions:
    """A linear method of `probes` at each layer, in the stream's own coordinates."""
    directions = []
    for layer in range(streams.shape[1]):
        training = Training.of(streams[:, layer].double().numpy())
        direction = METHODS[method](training, labels[:, None], [PENALTY])[0, :, 0] / training.scale
        directions.append(torch.from_numpy(direction / max(np.linalg.norm(direction), np.finfo(float).tiny)).float())
    return _along(torch.stack(directions), contrast)


T = TypeVar("T")


def _given(what: T | None, name: str) -> T:
    if what is None:
        raise InputError(f"this contrast does not hold {name}; make it with `steering.vectors.contrast_of`")
    return what


DIRECTIONS: dict[str, Direction] = {
    "mean_difference": mean_difference,
    "without_unembedding": without_unembedding,
    "principal_component": principal_component,
    "logistic": logistic,
    "lda": lda,
    "ridge": ridge,
    "gradient": gradient,
    "within_topics": within_topics,
    "entropy": entropy,
    "random": random,
}
READ_NO_SIDES = frozenset({"ridge", "gradient", "entropy"})
"""Those made of each question's own margin: what stands on either side of a contrast says nothing to them."""
NEED_GRADIENTS = frozenset({"gradient"})
"""Those for which `contrast_of` computes the gradients of the margin."""
