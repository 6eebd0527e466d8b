"""Take off a label what is shared, and test whether a stream predicts what is left.

To hold difficulty constant one would have to know it. A panel measures it with noise, and whatever a stream says of the
difficulty better than the panel then passes for knowledge of the subject's own (Westfall and Yarkoni, 2016, PLoS ONE
11, e0152719). So nothing is held constant here. The panel's measures D are taken off the label y instead,

    c = y - D lambda - W gamma

where their noise makes c noisier and nothing else, if lambda is what a question that is easier for all by so much
means for y, and not the smaller slope of y on noisy measures. The stream itself tells lambda: with E its held-out
readings of D, which the panel's noise cannot enter,

    (lambda, gamma) by instrumental variables: E'(y - D lambda - W gamma) = 0, W'(...) = 0

(Fuller's k-class estimator, 1977, Econometrica 45, 939-953, which leans to least squares where a stream hardly reads
the difficulty, and there is nothing to be mistaken for). If the stream knows of y nothing but what it knows of the
shared difficulty, c is noise to it. The test reads c off the stream by ridge with Ledoit and Wolf's shrinkage, topics
held out, and correlates the reading with c. Its null: c shuffled within topics, and everything from lambda on done
again, the probe included, so that neither the number of coordinates nor the training questions that the folds share
can make a finding; wordings of one question change places as one. Everything is taken as its deviation from its topic's
mean: how topics differ says nothing here.
(With fewer than two questions to a topic, whole topics change places within folds: `TopicFolds.exchangeable`.)

What it asks is whether the stream tells the questions at which this respondent is better or worse than their difficulty
for all would have it. A kind of question that it is good at is enough for that. And what other respondents know for
themselves must not be legible in the stream, else it counts as own with the other sign.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onedial.core.errors import InputError
from onedial.stats.arrays import Floats
from probes.fitting.folds import TopicFolds
from probes.fitting.reads_at_all import copies_within, held_out, readers_of

Linear = Callable[[Floats], Floats]

N_SHUFFLES = 999
FULLER = 4.0
"""Fuller's constant: 4 has the least mean squared error, 1 the least bias."""


@dataclass(frozen=True)
class BeyondShared:
    """How well a stream predicts what is left of a label when what is shared is off.

    Attributes:
        n: questions.
        correlation: of the held-out reading with what is left, within topics; above 0 = the stream knows more.
        null_high: the 95% point of the same for shuffled copies. p: one-sided.
        slopes: lambda, one for each measure of what is shared.
        reads_shared: correlation of the stream's held-out reading with each of those measures, within topics.
    """

    n: int
    correlation: float
    null_high: float
    p: float
    slopes: tuple[float, ...]
    reads_shared: tuple[float, ...]


def beyond_shared(
    rows: Floats,
    truth: Floats,
    shared: Floats,
    folds: TopicFolds,
    known: Floats | None = None,
    n_shuffles: int = N_SHUFFLES,
    seed: int = 0,
) -> BeyondShared:
    """Does a stream predict a label beyond what is shared, though that is measured badly? See the module's text.

    Args:
        rows: (question, d_model) activations. truth: (question,) 1 / 0 / nan.
        shared: (question, measure) what others say of the same questions, each measure with noise of its own that the
            label does not share. known: (question, number) what is to be held constant as it is, such as a reading of
            the words. Questions with nan in any of these are left out.
        n_shuffles: copies of the null.

    Raises:
        InputError: no more questions than topics and numbers, or a label or measure that does not vary within topics.

    >>> rng = np.random.default_rng(0)
    >>> shared = rng.standard_normal(80)
    >>> stream = np.column_stack([shared + rng.standard_normal(80) for _ in range(8)])
    >>> folds = TopicFolds.of([f"topic {place // 10}" for place in range(80)])
    >>> result = beyond_shared(stream, (shared > 0) * 1.0, shared[:, None], folds, n_shuffles=19)
    >>> result.p > 0.05
    True
    """
    numbers = np.zeros((len(truth), 0)) if known is None else known
    usable = np.isfinite(np.column_stack([truth, shared, numbers]).sum(axis=1))
    own_folds, n = folds.take(usable), int(usable.sum())
    topic, group = own_folds.exchangeable()
    spare = n - len(np.unique(topic)) - numbers.shape[1] - 2 * shared.shape[1]
    if spare < 1:
        raise InputError(f"{n} questions of which all is known leave nothing to test; ask more questions")
    readers = readers_of(rows[usable], own_folds)
    label, measures = _within(truth[usable, None], topic), _within(shared[usable], topic)
    if not (np.abs(np.column_stack([label, measures])).max(axis=0) > 1e-9).all():
        raise InputError("the label, or a measure of what is shared, does not vary within topics")
    readings = _within(held_out(readers, measures, own_folds), topic)
    held = _off(_within(numbers[usable], topic))
    label, measures, instruments = held(label), held(measures), held(readings)
    slopes_of = _fuller(measures, instruments, 1 - FULLER / max(spare, FULLER))
    left = label - measures @ slopes_of(label)
    shuffled = held(copies_within(left[:, 0], topic, group, n_shuffles, seed))
    each = np.column_stack([left, shuffled - measures @ slopes_of(shuffled)])
    correlations = _correlation(each, _within(held_out(readers, each, own_folds), topic))
    return BeyondShared(
        n=n,
        correlation=float(correlations[0]),
        null_high=float(np.quantile(correlations[1:], 0.95)),
        p=float((1 + (correlations[1:] >= correlations[0] - 1e-12).sum()) / (1 + n_shuffles)),
        slopes=tuple(slopes_of(label)[:, 0].tolist()),
        reads_shared=tuple(_correlation(measures, instruments).tolist()),
    )


def beyond_known(
    rows: Floats, truth: Floats, known: Floats, folds: TopicFolds, n_shuffles: int = N_SHUFFLES, seed: int = 0
) -> BeyondShared:
    """Does a stream predict what exact numbers, such as a held-out reading of the words, leave of a label?

    The test of `beyond_shared` with nothing in the place of what is shared: c = y - W gamma by least squares.

    Args:
        known: (question, number). Others, and errors, as there.

    >>> rng = np.random.default_rng(0)
    >>> stream = rng.standard_normal((80, 8))
    >>> folds = TopicFolds.of([f"topic {place // 10}" for place in range(80)])
    >>> result = beyond_known(stream, (stream[:, 0] > 0) * 1.0, rng.standard_normal((80, 1)), folds, n_shuffles=19)
    >>> result.p
    0.05
    """
    return beyond_shared(rows, truth, np.empty((len(truth), 0)), folds, known, n_shuffles, seed)


def _within(values: Floats, topic: NDArray[np.intp]) -> Floats:
    """Deviations of each column from its topic's mean."""
    member = np.eye(topic.max() + 1)[topic]
    deviations: Floats = values - member @ ((member.T @ values) / np.maximum(member.sum(axis=0), 1)[:, None])
    return deviations


def _off(columns: Floats) -> Linear:
    """A function that takes what these columns explain off others, by least squares."""
    basis = np.linalg.svd(columns, full_matrices=False)[0][:, : np.linalg.matrix_rank(columns)]
    return lambda values: values - basis @ (basis.T @ values)


def _fuller(measures: Floats, instruments: Floats, k: float) -> Linear:
    """A function that gives the k-class slopes of labels on the measures: [D'(I - k M) D]^-1 D'(I - k M) y.

    M takes the instruments off; k = 1 is instrumental variables, k = 0 least squares.
    """
    clean = _off(instruments)
    bent = measures - k * clean(measures)
    inverse = np.linalg.pinv(bent.T @ measures)
    return lambda labels: inverse @ (bent.T @ labels)


def _correlation(one: Floats, other: Floats) -> Floats:
    """(column,) of deviations; 0 where one does not vary."""
    lengths = np.sqrt((one**2).sum(axis=0) * (other**2).sum(axis=0))
    return np.asarray((one * other).sum(axis=0) / np.where(lengths > 0, lengths, np.inf))
