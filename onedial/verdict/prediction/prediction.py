"""How much of what can be predicted of each target does the dial predict? In bits per held-out question.

A target is placed on an order of the questions from its fitting answers (`placing`), its test answers are predicted as
probabilities, and each scores -log2 of the probability that it was given. Between two marks:

    0  the target's yes rate alone, from the same answers and likewise with a prior learnt from other base models
    1  the targets' own answers, asked for again (`retest`), where the panel has them of all judged targets; else the
       best account from the other base models' answers to the very questions (`sources.ACCOUNTS`), chosen by its loss
       in five folds of the fitting split, over all judged targets together

    bits   loss of the yes rate alone - loss of the source, mean over a target's test answers, over the targets of a
           base model, over base models
    share  bits of the dial / bits of mark 1; said only where mark 1 predicts `OPEN_FLOOR` or more of mark 0's loss:
           of less than that a few thousandths of a bit are any share

Where no question names a topic, or texts know nothing of the named ones, what the dial tells of questions that read
alike bounds what topics may tell (`alike`); where texts do, what it tells within topics, which may be too coarse.

A question without a score lies in the middle of the order, so that all sources are scored on the same answers, and
what could not be read counts as unknown.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from scipy import stats

from onedial.show.columns import percent
from onedial.stats.estimate import Estimate
from onedial.stats.level import LEVEL, QUANTILES_95, interval_95
from onedial.stats.multiple_tests import adjusted
from onedial.stats.resampling import FEWEST_TOPICS, resampled_weights
from onedial.verdict.case import Case
from onedial.verdict.numbers import FEWEST_MODELS, PanelEstimate, average_within_models, model_means, panel_estimate
from onedial.verdict.prediction.alike import MOST, texts_know_topics, told_of_alike
from onedial.verdict.prediction.losses import Losses, mean_of_answers
from onedial.verdict.prediction.retest import RETEST, retest_gains, shares_of_samples
from onedial.verdict.prediction.sources import ACCOUNTS, DIAL, SURFACE_SOURCES, every_source

FLOOR, OPEN_FLOOR = 0.1, 0.05
"""Shares of the predictable, and of what the yes rate alone leaves, under which nothing is called reproduced."""
Gains = dict[str, np.ndarray]
"""Source -> question x target: losses, or bits against the yes rate alone."""
COLUMNS = ["source", "own_answers", "n_targets", "n_unscored", "loss", "bits", "low", "high", "low_topics"]
COLUMNS += ["high_topics", "low_models", "high_models", "share", "share_low", "share_high"]
NAMED = 3
"""So many predicted base models or fewer are named in the sentence."""


@dataclass(frozen=True)
class Prediction:
    """What the dial predicts of the judged targets, placed by all of their fitting answers.

    Attributes:
        mark: what marks what can be predicted, `retest.RETEST` or an account; "" where there is no other base model.
        n_models, n_predicted: base models, and those whose targets the dial predicts better than their yes rates: p
            adjusted over base models (Benjamini and Hochberg) at most .05, and a share of at least `FLOOR`.
        yes_rate: loss of mark 0, bits per question. bits, possible: of the dial, of mark 1. share: their ratio.
        surface: the best of `sources.SURFACE_SOURCES` ("" where there is none). beyond: bits of the dial minus its.
        by: what the intervals that decide are drawn over: "questions" or "topics".
        topics: whether questions name two topics or more, and, where all else suffices, their texts know of them, and
            not of finer ones that may be all that is shared. alike: where not, what the dial tells of questions that
            read alike, as a share of what it tells of a question (nan where texts are not known).
        models: base model -> bits, low, high, p, p_adjusted, possible, share, predicted, needed (1 or 0: whether
            without it there would not be enough).
        sources: source -> base model -> bits, of every source by all answers; no part of verdict.json.
        kin: all of this with kin (`scale.NearCopies`) as one base model; None where there are none.
    """

    mark: str = ""
    n_models: int = 0
    n_predicted: int = 0
    yes_rate: float = float("nan")
    bits: PanelEstimate = field(default_factory=PanelEstimate)
    possible: PanelEstimate = field(default_factory=PanelEstimate)
    share: PanelEstimate = field(default_factory=PanelEstimate)
    surface: str = ""
    beyond: PanelEstimate = field(default_factory=PanelEstimate)
    by: str = "questions"
    topics: bool = True
    alike: Estimate = field(default_factory=Estimate)
    models: dict[str, dict[str, float]] = field(default_factory=dict)
    sources: dict[str, dict[str, float]] = field(default_factory=dict)
    kin: "Prediction | None" = None

    @property
    def enough(self) -> bool:
        """Whether more than half of the base models are predicted, the share's interval lies above its floor and the
        dial's bits above theirs, and no source without a reader predicts as well."""
        above = self.share.low >= FLOOR and self.bits.value >= OPEN_FLOOR * self.yes_rate
        return 2 * self.n_predicted > self.n_models and above and not self.surface_suffices

    @property
    def better(self) -> str:
        """Than what base models are predicted better, after their number and before the bits that this leaves."""
        if self.n_predicted == 1:
            return "is predicted better than by its yes rate; yes rates leave"
        return "are predicted better than by their yes rates, which leave"

    @property
    def hangs_on_kin(self) -> bool:
        """Whether it is enough only while kin count as base models of their own."""
        return self.enough and self.kin is not None and not self.kin.enough

    @property
    def suffices(self) -> bool:
        """Whether there is enough, with kin as one too, and topics are not all that is shared."""
        of_questions = self.topics or self.alike.high < MOST
        return self.enough and not self.hangs_on_kin and of_questions

    @property
    def surface_suffices(self) -> bool:
        """Whether a source that knows no model's reading of the question is not shown to predict less than the dial."""
        return bool(self.n_predicted) and self._low(self.beyond) <= 0

    @property
    def has_share(self) -> bool:
        """Whether the dial's bits can be said as a share of what can be predicted."""
        return self.share.value == self.share.value and share_is_told(self.possible.value, self.yes_rate)

    def clause(self, family: str = "") -> str:
        """Say of how many base models, and what share, in the words of the sentence.

        Args:
            family: that all of them are of; empty where they are of several, or nothing is known of it.
        """
        predicted = [name for name, row in self.models.items() if row["predicted"]]
        named = f" ({', '.join(predicted)})" if 0 < len(predicted) <= NAMED else ""
        of_one = f", all of the family {family}," if family else ""
        better = "are predicted better than by their yes rates,"
        if self.n_predicted == 1:
            better = "is predicted better than by its yes rate, all of them on average"
        words = (
            f"{self.n_predicted} of {self.n_models} base models{named}{of_one} {better} by {self.bits.value:.3f} of "
            f"{self.yes_rate:.3f} bits a question{self._share_clause()}"
        )
        if not self.hangs_on_kin or self.kin is None:
            of_topics = self.enough and not self.suffices
            return words + ("; topics may be all that they share with the dial" if of_topics else "")
        joined = ", ".join(name for name in self.kin.models if name not in self.models)
        return (
            f"{words}; it hangs on {joined}, which may be one base model by their answers: counted so, "
            f"{self.kin.n_predicted} of {self.kin.n_models} are predicted"
        )

    def _share_clause(self) -> str:
        mark = words_of_mark(self.mark)
        if np.isnan(self.share.value):
            return f"; {mark} are not shown to predict any"
        if not share_is_told(self.possible.value, self.yes_rate):
            return f"; {mark} predict {self.possible.value:.3f}, too little for a share"
        low, high = self.share.low, self.share.high
        ends = f"{percent(low)} to {percent(high)}" if np.isfinite(high) else f"{percent(low)} or more"
        return f", {percent(self.share.value)} ({ends}) of what {mark} predict"

    def _low(self, number: PanelEstimate) -> float:
        return number.low_topics if self.by == "topics" else number.low


def predict(case: Case, sources: Sequence[str] | None = None) -> tuple[Prediction, pd.DataFrame]:
    """Predict every judged target from every source, with the intervals of the module's description.

    Args:
        sources: of `sources.every_source`, `DIAL` among them; None: all.

    Returns:
        What the dial predicts, and a row for each source (`COLUMNS`): loss and bits, their share of mark 1,
        n_unscored test answers of judged targets to whose question the source gives no score. A source that has no
        score for any target is left out.

    >>> from dataclasses import replace
    >>> from onedial.verdict import SweepRun
    >>> case = replace(SweepRun.open("tests/reference/golden/default").case(), n_resamples=19)
    >>> prediction, table = predict(case, sources=[DIAL])
    >>> prediction.n_models, table["source"].unique().tolist()
    (3, ['the dial'])
    """
    models = case.models[case.judged]
    if not len(models) or len(np.unique(models)) < 2:
        return Prediction(n_models=len(np.unique(models))), pd.DataFrame(columns=COLUMNS)
    shares, known = shares_of_samples(case), every_source()
    losses = Losses(case, shares)
    scored = {name: known[name].scores(case)[:, case.judged] for name in (known if sources is None else sources)}
    scored = {name: scores for name, scores in scored.items() if name == DIAL or not np.isnan(scores).all()}
    orders = {name: losses.order(scores) for name, scores in scored.items()}
    alone = losses.order(np.full(losses.asked.shape, np.nan))
    mark = min(
        (name for name in ACCOUNTS if name in orders), key=lambda name: losses.in_folds(*orders[name]), default=""
    )
    open_bits = losses.of(*alone)
    lost: Gains = {name: losses.of(*order) for name, order in orders.items()}
    gains: Gains = {name: open_bits - lost[name] for name in lost}
    if shares is not None:
        mark, gains[RETEST] = RETEST, retest_gains(case)
        lost[RETEST] = open_bits - gains[RETEST]
    drawn = _Resampled(gains, case)
    unscored = {name: int((np.isnan(scored[name]) & losses.asked).sum()) for name in scored} | {RETEST: 0}
    rows = []
    for name, gain in gains.items():
        number, share = drawn.number(name), drawn.share(name, mark)
        own_answers = name == RETEST or known[name].own_answers
        loss = average(lost[name], models)
        row = [name, own_answers, gain.shape[1], unscored[name], loss, number.value, number.low, number.high]
        row += [number.low_topics, number.high_topics, number.low_models, number.high_models]
        rows.append([*row, share.value, share.low, share.high])
    rate = mean_of_answers(open_bits)
    summary = replace(_with_needed(_summary(rate, drawn, mark), rate, drawn, mark), sources=drawn.by_source())
    kin = np.array(case.near_copies.kin_counted_as, dtype=str)[case.judged]
    if set(kin) != set(models.astype(str)):
        summary = replace(summary, kin=_summary(rate, drawn.counted_as(kin), mark))
    named = len(set(case.topics)) > 1 and not (summary.suffices and not texts_know_topics(case))
    if not named or summary.suffices:
        alike = told_of_alike(case, within=named)
        if not named or alike.value >= MOST:
            summary = replace(summary, topics=False, alike=alike)
    return summary, pd.DataFrame(rows, columns=COLUMNS)


def share_is_told(possible: float, yes_rate: float) -> bool:
    """Whether the best account predicts enough for the dial's bits to be said as a share of its.

    Args:
        possible: its bits. yes_rate: bits that the yes rate alone leaves.

    >>> share_is_told(0.3, 0.7), share_is_told(0.017, 0.708)
    (True, False)
    """
    return possible >= OPEN_FLOOR * yes_rate


def words_of_mark(mark: str) -> str:
    """Say who marks what can be predicted.

    >>> words_of_mark("shared difficulty")
    'the answers of other models'
    """
    return "the targets' repeated answers" if mark == RETEST else "the answers of other models"


def average(losses: np.ndarray, models: np.ndarray) -> float:
    """Average over a target's answers, over targets of a base model, over base models."""
    return float(average_within_models(mean_of_answers(losses), models))


def _with_needed(summary: Prediction, rate: np.ndarray, drawn: "_Resampled", mark: str) -> Prediction:
    """Say of every base model whether it is `needed`."""
    models = {}
    for name, row in summary.models.items():
        others = drawn.models.astype(str) != name
        left = len(np.unique(drawn.models[others])) > 1 and _summary(rate[others], drawn.of(others), mark).enough
        models[name] = {**row, "needed": int(summary.enough and not left)}
    return replace(summary, models=models)


def _summary(rate: np.ndarray, drawn: "_Resampled", mark: str) -> Prediction:
    """Args: rate: bits that the yes rate alone leaves of a question, by target."""
    surfaces = [name for name in SURFACE_SOURCES if name in drawn.place]
    surface = max(surfaces, key=lambda name: drawn.number(name).value, default="")
    models = drawn.by_model(mark)
    return Prediction(
        mark=mark,
        n_models=len(models),
        n_predicted=int(sum(model["predicted"] for model in models.values())),
        yes_rate=float(average_within_models(rate, drawn.models)),
        bits=drawn.number(DIAL),
        possible=drawn.number(mark) if mark else PanelEstimate(),
        share=drawn.share(DIAL, mark),
        surface=surface,
        beyond=drawn.number(DIAL, surface) if surface else PanelEstimate(),
        by="questions" if drawn.topics is None else "topics",
        models=models,
    )


def _ratio_interval(top: np.ndarray, bottom: np.ndarray) -> tuple[float, float]:
    """Compute 95% of a ratio of two means over base models, resample x model; no bound where nothing is left to share.
    Quantiles are drawn values, since nothing lies between a number and infinity."""
    above, below = top.mean(axis=1), bottom.mean(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(below > 0, above / below, np.inf)
    low, high = np.quantile(ratio, QUANTILES_95, method="inverted_cdf")
    return float(low), float(high)


class _Resampled:
    """Bits in the same resamples of questions for every source, and of whole topics where there are ten."""

    def __init__(self, gains: Gains, case: Case) -> None:
        self.models, self.seed, self.n = case.models[case.judged], case.seed, int(case.test.sum())
        self.place = {name: number for number, name in enumerate(gains)}
        stacked = np.stack(list(gains.values()), axis=-1)  # question x target x source
        self.values = np.stack([mean_of_answers(gain) for gain in gains.values()], axis=-1)
        known = (~np.isnan(stacked[..., 0])).astype(np.float32)
        flat = np.nan_to_num(stacked).reshape(len(stacked), -1).astype(np.float32)

        def drawn(groups: np.ndarray | None) -> np.ndarray:
            pieces = []
            for weights in resampled_weights(len(flat), case.n_resamples, case.seed, groups):
                with np.errstate(invalid="ignore", divide="ignore"):
                    means = (weights @ flat).reshape(-1, *stacked.shape[1:]) / (weights @ known)[..., None]
                pieces.append(means)
            return np.concatenate(pieces).astype(float)

        self.questions, groups = drawn(case.groups(case.test)), case.strata
        self.topics = drawn(groups) if groups.max(initial=0) + 1 >= FEWEST_TOPICS else None

    def of(self, targets: np.ndarray) -> "_Resampled":
        """Take the same resamples of some of the targets."""
        some = self.counted_as(self.models[targets])
        some.values, some.questions = self.values[targets], self.questions[:, targets]
        some.topics = None if self.topics is None else self.topics[:, targets]
        return some

    def counted_as(self, models: np.ndarray) -> "_Resampled":
        """Count targets as other base models, in the same resamples."""
        other = copy(self)
        other.models = models
        return other

    @property
    def deciding(self) -> np.ndarray:
        """Resample x target x source, over topics where there are enough."""
        return self.questions if self.topics is None else self.topics

    def number(self, name: str, minus: str = "") -> PanelEstimate:
        """Estimate the bits of a source, or of it minus those of another one."""

        def of(means: np.ndarray) -> np.ndarray:
            alone = means[..., self.place[name]]
            return alone - means[..., self.place[minus]] if minus else alone

        by_topic = None if self.topics is None else of(self.topics)
        return panel_estimate(of(self.values), of(self.questions), by_topic, self.models, self.n)

    def share(self, one: str, other: str) -> PanelEstimate:
        """Divide the bits of one source by another's; nan where the other's interval does not lie above 0."""
        if other not in self.place:
            return PanelEstimate()
        top, bottom = (model_means(self.deciding[..., self.place[name]], self.models) for name in (one, other))
        values = [average_within_models(self.values[..., self.place[name]], self.models) for name in (one, other)]
        if not interval_95(bottom.mean(axis=1))[0] > 0:
            return PanelEstimate()
        ends = _ratio_interval(top, bottom)
        n_models = top.shape[1]
        if n_models < FEWEST_MODELS:
            return PanelEstimate(float(values[0] / values[1]), *ends, n=self.n)
        chosen = np.random.default_rng(self.seed).integers(n_models, size=top.shape)
        wider = _ratio_interval(*(np.take_along_axis(means, chosen, axis=1) for means in (top, bottom)))
        return PanelEstimate(float(values[0] / values[1]), *ends, n=self.n, low_models=wider[0], high_models=wider[1])

    def by_source(self) -> dict[str, dict[str, float]]:
        """Compute the bits of each base model's targets by every source; see `Prediction.sources`."""
        names = np.unique(self.models.astype(str)).tolist()
        return {
            name: dict(zip(names, model_means(self.values[..., place], self.models).tolist(), strict=True))
            for name, place in self.place.items()
        }

    def by_model(self, mark: str) -> dict[str, dict[str, float]]:
        """Compute the dial's bits of each base model's targets; see `Prediction.models`."""
        names = [str(name) for name in np.unique(self.models.astype(str))]
        place = self.place[DIAL]
        estimates = model_means(self.values[..., place], self.models)
        drawn = model_means(self.deciding[..., place], self.models)
        errors = drawn.std(axis=0, ddof=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            p = np.where(errors > 0, stats.norm.sf(estimates / errors), 1.0)
        p_adjusted = adjusted(p)
        possible = np.full(len(names), np.nan)
        if mark:
            possible = model_means(self.values[..., self.place[mark]], self.models)
        rows = {}
        for number, name in enumerate(names):
            low, high = interval_95(drawn[:, number])
            share = estimates[number] / possible[number] if possible[number] > 0 else float("nan")
            rows[name] = {
                "bits": float(estimates[number]),
                "low": low,
                "high": high,
                "p": float(p[number]),
                "p_adjusted": float(p_adjusted[number]),
                "possible": float(possible[number]),
                "share": float(share),
                "predicted": int(p_adjusted[number] <= LEVEL and not share < FLOOR),
            }
        return rows
