"""The verdict: three questions, each answered by a number and a rule that was written down before.

*Is it reproduced?* The first that applies:

    cannot be judged                          no panel, under 5 judged targets, all of one base model, or the dial does
                                              not reach most of their yes rates
    not reproduced                            p of S above .05
    a shared signal, not enough to reproduce  half of the base models or fewer predicted better than by their yes rates;
                                              or not shown to be 10% of the predictable; or under 5% of what yes rates
                                              leave; or not shown to be more than length, label or topic predict; or
                                              no topics are known, or none that texts know of, and it may tell
                                              of topics alone (`alike`)
    reproduced                                else

*What is the dial?* By the account that it tests (one scale of difficulty, a threshold of each model's own) a dial that
is a threshold shift is what should be found, and no shortfall:

    a threshold shift             rho_dial at least .99, or p of S at most .05 and the 90% interval of C_A within +-.02
    reorders towards the targets  C_A's lower bound above 0
    reorders away from them       C_A's upper bound below 0
    open                          else

*Which push?* Untested under 99 controls; this direction, where it ranks above 95% of them and no control that is
orthogonal to it comes within 90%; else any push. Where the dial is a threshold shift, or no target is there, no order
can tell directions apart, so what ranks is the push that is needed; else it is C_A.

    bits, share what the dial predicts of held-out answers (`prediction`), alone and of what other models' answers do
    S  signal   mean test kappa at the rate-matched magnitudes, against the panel's rows permuted within topics
    G  gain     mean test agreement minus the majority answer's
    C_A order   mean of A_t(dial's order) - A_t(unsteered margin)
    rho_dial    Spearman's correlation of the dial's order with the unsteered margin

Flags may follow: *mostly a yes-bias* (`yes_bias`; where the question was not reversed, `facts`), *unread answers
decide* (counted as wrong, they change the first answer), *length, label or topic predicts as well*, the names of what
`screening` found, *asked otherwise* (the subject than the panel: another question, moment or form).
docs/evidence.md argues each choice.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from onedial.core.errors import InputError
from onedial.core.plain_values import from_plain, plain
from onedial.stats.estimate import Estimate, rank_correlation
from onedial.stats.level import LEVEL, POWER, least_z, p_value
from onedial.stats.resampling import FEWEST_TOPICS, strata_of
from onedial.verdict.baselines.baselines import Ceiling, ceiling
from onedial.verdict.baselines.facts import MOSTLY_BIAS, FactsResult, facts_result
from onedial.verdict.baselines.yes_bias import YesBias, yes_bias
from onedial.verdict.case import Case
from onedial.verdict.controls import ORTHOGONAL, control_table, dial_numbers
from onedial.verdict.criteria.choice import majority_answers
from onedial.verdict.criteria.nulls import Permutations, signal, signal_null
from onedial.verdict.criteria.status import CONSTANT
from onedial.verdict.line import Line, line_of
from onedial.verdict.numbers import (
    Drawn,
    PanelEstimate,
    areas,
    average_within_models,
    counts,
    panel_estimate,
    without_each_model,
)
from onedial.verdict.prediction.prediction import Prediction, predict
from onedial.verdict.screening import CHECKS, Screened, of_one_name, screen

RULE = 5
"""Version of the rule; 1: one sentence on a ladder, with C, agreement minus the moved cut's, as a rung; 2: the majority
answer was chosen on the fitting questions; 3: G, the gain over the majority answer, decided where prediction does;
4: the same as now, where a threshold shift was called a moved cut, and a baseline a rival."""

CANNOT_BE_JUDGED = "cannot be judged"
NOT_REPRODUCED = "not reproduced"
NOT_ENOUGH = "a shared signal, not enough to reproduce"
REPRODUCED = "reproduced"
ANSWERS = (CANNOT_BE_JUDGED, NOT_REPRODUCED, NOT_ENOUGH, REPRODUCED)

THRESHOLD_SHIFT = "a threshold shift"
TOWARDS = "it reorders questions towards the targets"
AWAY = "it reorders questions away from the targets"
OPEN = "open"
DIALS = (THRESHOLD_SHIFT, TOWARDS, AWAY, OPEN)

UNTESTED = "untested"
ANY_PUSH = "any push of this size"
THIS_DIRECTION = "this direction"

YES_BIAS = "mostly a yes-bias"
UNREAD_DECIDE = "unread answers decide"
SURFACE_AS_GOOD = "length, label or topic predicts as well"
TOPICS_UNKNOWN = "no topics known"
ASKED_OTHERWISE = "asked otherwise"
FLAGS = (YES_BIAS, UNREAD_DECIDE, SURFACE_AS_GOOD, TOPICS_UNKNOWN, *CHECKS, ASKED_OTHERWISE)

MIN_TARGETS, MIN_MODELS, MIN_CONTROLS = 5, 2, 99
NO_PANEL = "no panel was given"
ONE_MODEL = "of one base model, by what is said of them"
SAME = 0.02
"""Two orders are called the same when the 90% interval of C_A lies within +- this."""
SAME_RHO = 0.99
AS_GOOD = 0.9
REACH = 0.5
"""The dial must reach the yes rates of at least this share of the targets."""


@dataclass(frozen=True)
class Signal(PanelEstimate):
    """S, with its one-sided p, and the mean and the 95% point of its null."""

    p: float = math.nan
    null_mean: float = math.nan
    null_95: float = math.nan
    n_permutations: int = 0


@dataclass(frozen=True)
class Order(PanelEstimate):
    """C_A over the questions that the order rests on; with rho_dial, and the share of the questions that turn more than
    once."""

    equivalent: bool = False
    rho: Estimate = field(default_factory=Estimate)
    turning: float = math.nan


@dataclass(frozen=True)
class AgainstControls:
    """The vector among its controls.

    Attributes:
        n_controls: random ones that the rank is among.
        by: "push" or "order_gain": what decides. rank: 1 = best. p: (1 + as good or better) / (n_controls + 1).
        ranks: the rank by each of signal, order_gain and push, and kl where it was measured.
        vector: its numbers, as a control's (`controls.dial_numbers`), the push in residual norms.
        as_good: controls orthogonal to the vector that reach 90% of it.
    """

    n_controls: int = 0
    by: str = ""
    rank: int | None = None
    p: float = math.nan
    ranks: dict[str, int] = field(default_factory=dict)
    vector: dict[str, float] = field(default_factory=dict)
    as_good: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class UnreadAsWrong:
    """The first answer, S with its p, and G, with unread answers counted as wrong."""

    reproduced: str
    signal: float
    p: float
    gain: PanelEstimate


@dataclass(frozen=True)
class Verdict:
    """Three answers and all that they rest on.

    Attributes:
        rule: version of the rule.
        sentence: the answers and flags as one sentence.
        reproduced, dial, push: the three answers. flags: of `FLAGS`. because: why it cannot be judged; "" otherwise.
        reach: share of the targets whose yes rate the dial reaches.
        prediction: what the dial predicts of the targets' held-out answers.
        screening: what is wrong with the panel; each check's name is among the flags.
        ceiling: None where no account of one order has a signal.
        models: base model -> signal, gain and order of its targets, and of all without it.
        unread_as_wrong: None where all was read.
        agreement, majority, threshold_shift: means over targets, as G compares them.
    """

    rule: int
    sentence: str
    reproduced: str
    dial: str
    push: str
    flags: list[str]
    because: str
    n_targets: int
    n_eligible: int
    excluded: dict[str, str]
    reach: float
    prediction: Prediction
    screening: list[Screened]
    signal: Signal
    gain: PanelEstimate
    order: Order
    direction: AgainstControls
    facts: FactsResult | None
    bias: YesBias | None
    ceiling: Ceiling | None
    models: dict[str, dict[str, float]]
    unread_as_wrong: UnreadAsWrong | None
    line: Line
    agreement: float
    majority: float
    threshold_shift: float
    seed: int

    def row(self) -> dict[str, Any]:
        """List answers and numbers as they stand in a table of several verdicts."""
        return {
            "reproduced": self.reproduced,
            "dial": self.dial,
            **self.prediction.bits.columns("bits"),
            "share": self.prediction.share.value,
            **self.signal.columns("signal"),
            "signal_p": self.signal.p,
            **self.gain.columns("gain"),
            **self.order.columns("order_gain"),
            **self.order.rho.columns("rho_dial"),
        }

    @property
    def is_judged(self) -> bool:
        """Whether anything could be judged."""
        return self.reproduced != CANNOT_BE_JUDGED

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Verdict":
        """The verdict that `to_dict` was of; without the bits of every source, which verdict.json does not hold."""
        verdict: Verdict = from_plain(cls, values)
        return verdict

    def to_dict(self) -> dict[str, Any]:
        """Make plain values for verdict.json; what could not be computed is None."""
        values: dict[str, Any] = plain(asdict(self))
        for prediction in (values["prediction"], values["prediction"]["kin"]):
            (prediction or {}).pop("sources", None)
        return values


def judge(
    case: Case,
    prediction: Prediction | None = None,
    baselines: pd.DataFrame | None = None,
    controls: pd.DataFrame | None = None,
    facts: FactsResult | None = None,
    bias: YesBias | None = None,
) -> Verdict:
    """Say whether the steered subject reproduces the targets, what its dial is, and which push does it.

    Args:
        prediction: what the dial predicts (`prediction.predict`). baselines: `baselines.baseline_table`; without them S
            is said to be no share of anything. controls: `controls.control_table`. facts, bias: what the dial does to
            unrelated facts, and to reversed questions. All but the baselines are computed where they are not handed
            over.

    Raises:
        InputError: the case allows fewer than 19 permutations and resamples.

    >>> from dataclasses import replace
    >>> from onedial.verdict import SweepRun
    >>> case = SweepRun.open("tests/reference/golden/default").case()
    >>> judge(replace(case, n_resamples=99)).reproduced
    'a shared signal, not enough to reproduce'
    """
    if case.n_resamples < 19:
        raise InputError("a 5% level needs at least 19 permutations and 19 resamples; 1999 are usual")
    numbers, judged = _Numbers(case), case.judged
    signal_number = numbers.signal()
    gain, means = numbers.gain(), numbers.means()
    order = numbers.order()
    if prediction is None:
        prediction, _ = predict(case)
    if controls is None and case.controls:
        controls = control_table(case)
    facts, bias = facts or facts_result(case), bias or yes_bias(case)
    reached = _reached_share(case)

    def answered(number: Signal) -> tuple[str, str]:
        return _reproduced(case, reached, number, prediction)

    reproduced, because = answered(signal_number)
    dial = _dial(order, signal_number)
    direction = _direction(case, controls, dial)
    push = _push(direction)
    worst = numbers.unread_as_wrong()
    has_signal = reproduced in (NOT_ENOUGH, REPRODUCED)
    screened = screen(case)
    flags = [
        flag
        for flag, holds in {
            YES_BIAS: bias.mostly if bias is not None else facts is not None and facts.share.value > MOSTLY_BIAS,
            UNREAD_DECIDE: reproduced != CANNOT_BE_JUDGED and worst and answered(worst[0])[0] != reproduced,
            SURFACE_AS_GOOD: has_signal and prediction.surface_suffices,
            TOPICS_UNKNOWN: has_signal and not prediction.topics,
            **{finding.check: True for finding in screened},
            ASKED_OTHERWISE: case.asked_otherwise,
        }.items()
        if holds
    ]
    return Verdict(
        rule=RULE,
        sentence=sentence_of(reproduced, because, dial, push, flags, prediction.clause(_one_family(case))),
        reproduced=reproduced,
        dial=dial,
        push=push,
        flags=flags,
        because=because,
        n_targets=len(judged),
        n_eligible=int(judged.sum()),
        excluded={str(target): str(case.status[t]) for t, target in enumerate(case.targets) if not judged[t]},
        reach=reached,
        prediction=prediction,
        screening=screened,
        signal=signal_number,
        gain=gain,
        order=order,
        direction=direction,
        facts=facts,
        bias=bias,
        ceiling=None if baselines is None else ceiling(baselines, signal_number.value),
        models=numbers.by_model(),
        unread_as_wrong=None
        if worst is None
        else UnreadAsWrong(answered(worst[0])[0], worst[0].value, worst[0].p, worst[1]),
        line=line_of(case) if len(judged) else Line(),
        agreement=means["agreement"],
        majority=means["majority"],
        threshold_shift=means["threshold_shift"],
        seed=case.seed,
    )


def _reached_share(case: Case) -> float:
    """Compute the share of the targets whose yes rate on the fitting split the readable magnitudes reach.

    Targets that always give one answer are left aside; nan where there is no other.
    """
    given = case.given[case.fitting][:, case.status != CONSTANT]
    answered = (~np.isnan(given)).any(axis=0)
    if not answered.any():
        return float("nan")
    rates = np.nanmean(given[:, answered], axis=0)
    reached = np.nanmean(case.answers[case.fitting][:, case.allowed], axis=0)
    return float(((rates >= reached.min()) & (rates <= reached.max())).mean())


def _one_family(case: Case) -> str:
    """Name the family that all judged targets are of, where they are of two base models or more."""
    families = set(case.respondents["family"][case.judged].astype(str))
    return families.pop() if len(families) == 1 and len(set(case.models[case.judged])) > 1 else ""


def sentence_of(reproduced: str, because: str, dial: str, push: str, flags: Sequence[str], predicted: str = "") -> str:
    """Write the answers as one sentence, in small letters and without a full stop.

    Args:
        predicted: `Prediction.clause`; left out where it is empty.
    """
    if reproduced == CANNOT_BE_JUDGED:
        parts = [f"{CANNOT_BE_JUDGED}: {because}", *(flag for flag in flags if flag in (*CHECKS, ASKED_OTHERWISE))]
        return "; ".join(parts)
    parts = [
        reproduced,
        *([predicted] if predicted else []),
        {
            THRESHOLD_SHIFT: "the dial is a threshold shift",
            OPEN: "whether the dial is more than a threshold shift is open",
        }.get(dial, dial.replace("it reorders", "the dial reorders")),
        {
            UNTESTED: "whether another push does as well is untested",
            ANY_PUSH: "any push of this size does as well",
            THIS_DIRECTION: "it takes this direction",
        }[push],
    ]
    return "; ".join([*parts, *flags])


# ---- the three answers -----------------------------------------------------------------------------------------------


def _reproduced(case: Case, reached: float, number: Signal, prediction: Prediction) -> tuple[str, str]:
    """Answer whether it is reproduced, and why it cannot be judged."""
    judged, n_judged = case.judged, int(case.judged.sum())
    if not len(judged):
        return CANNOT_BE_JUDGED, NO_PANEL
    if n_judged < MIN_TARGETS:
        return CANNOT_BE_JUDGED, f"{n_judged} of {len(judged)} targets can be judged, and it takes {MIN_TARGETS}"
    if of_one_name(case) or prediction.n_models < MIN_MODELS:
        return CANNOT_BE_JUDGED, f"all {n_judged} judged targets are {ONE_MODEL}, and it takes {MIN_MODELS}"
    if reached < REACH:
        return CANNOT_BE_JUDGED, f"the dial does not reach, with {reached:.0%} of the targets' yes rates in its range"
    if number.p > LEVEL:
        return NOT_REPRODUCED, ""
    return (REPRODUCED if prediction.suffices else NOT_ENOUGH), ""


def _dial(order: Order, number: Signal) -> str:
    # Two orders that know nothing of the targets do equally well: without a signal, equivalence says nothing.
    if order.rho.value >= SAME_RHO or (order.equivalent and number.p <= LEVEL):
        return THRESHOLD_SHIFT
    if order.low > 0:
        return TOWARDS
    return AWAY if order.high < 0 else OPEN


def _push(direction: AgainstControls) -> str:
    if direction.n_controls < MIN_CONTROLS:
        return UNTESTED
    return ANY_PUSH if direction.p > LEVEL or direction.as_good else THIS_DIRECTION


def _direction(case: Case, controls: pd.DataFrame | None, dial: str) -> AgainstControls:
    vector = dial_numbers(case, case.dial)
    vector["push"] *= case.norms_per_unit
    if not math.isnan(case.kl):
        vector["kl"] = case.kl
    if controls is None or controls.empty:
        return AgainstControls(vector=vector)
    of_targets = ("signal", "order_gain") if len(case.targets) else ()
    by = "push" if dial == THRESHOLD_SHIFT or not of_targets else "order_gain"
    drawn = controls[controls["drawn"]]
    measured: list[str] = [name for name in (*of_targets, "push", "kl") if name in vector]
    ranks = {name: _rank(vector[name], drawn[name], smaller=name in ("push", "kl")) for name in measured}
    apart = controls[controls["cosine"].abs() <= ORTHOGONAL]
    if by == "push":
        near = apart["push"] <= vector["push"] / AS_GOOD
    else:
        near = (apart["order_gain"] >= AS_GOOD * vector["order_gain"]) & (vector["order_gain"] > 0)
    return AgainstControls(
        n_controls=len(drawn),
        by=by,
        rank=ranks[by],
        p=ranks[by] / (len(drawn) + 1),
        ranks=ranks,
        vector=vector,
        as_good=[str(name) for name in apart.index[near & np.isfinite(apart["push"])]],
    )


def _rank(value: float, others: pd.Series, *, smaller: bool) -> int:
    """Rank 1 + how many others are as good or better; what is not a number counts as worse than anything."""
    values = others.to_numpy(float)
    with np.errstate(invalid="ignore"):
        as_good = values <= value if smaller else values >= value
    return 1 + int(as_good.sum())


# ---- the numbers -----------------------------------------------------------------------------------------------------


class _Numbers:
    """S, G and C_A of the judged targets, and their parts by base model, over the same resamples."""

    def __init__(self, case: Case) -> None:
        self.case, self.judged, self.models = case, case.judged, case.models[case.judged]
        self.given, self.groups = case.given[case.test][:, self.judged], case.groups(case.test)
        self.steered, self.matched = case.steered[:, self.judged], case.rate_matched[:, self.judged]
        self.majority = case.majority[:, self.judged]
        self.parts: dict[str, np.ndarray] = {}
        """Number -> its value of each target."""

    def signal(self, matched: np.ndarray | None = None) -> Signal:
        """Compute S; matched: the subject's answers where they are not those at the rate-matched magnitudes."""
        case, n = self.case, self.case.n_resamples
        if not self.judged.any():
            return Signal(n_permutations=n)
        subject = self.matched if matched is None else matched
        number = self._number("signal", lambda drawn: np.nan_to_num(counts(subject, self.given, drawn).kappa()))
        null = signal_null(subject, self.given, self.models, Permutations(n, case.seed, case.strata, self.groups))
        null_95 = float(np.quantile(null, 1 - LEVEL))
        return Signal(
            **asdict(number) | {"detectable": float(null_95 + ndtri(POWER) * number.se)},
            p=p_value(signal(subject, self.given, self.models), null),
            null_mean=float(null.mean()),
            null_95=null_95,
            n_permutations=n,
        )

    def gain(self, steered: np.ndarray | None = None, majority: np.ndarray | None = None) -> PanelEstimate:
        """Compute G; steered, majority: the answers where they are not the case's."""
        if not self.judged.any():
            return PanelEstimate()
        one, other = (self.steered, self.majority) if steered is None or majority is None else (steered, majority)
        number = self._number(
            "gain",
            lambda drawn: counts(one, self.given, drawn).agreement() - counts(other, self.given, drawn).agreement(),
        )
        return replace(number, detectable=least_z() * number.se)

    def means(self) -> dict[str, float]:
        """Compute the three mean agreements."""
        shift = self.case.threshold_shift[:, self.judged]
        sides = {"agreement": self.steered, "majority": self.majority, "threshold_shift": shift}
        if not self.judged.any():
            return dict.fromkeys(sides, math.nan)
        agreements = {name: counts(answers, self.given).agreement() for name, answers in sides.items()}
        return {name: float(average_within_models(values, self.models)) for name, values in agreements.items()}

    def order(self) -> Order:
        """Compute C_A over fitting and test questions, and rho_dial."""
        case, (ease, margins) = self.case, self.case.orders
        rho = rank_correlation(ease, margins)
        order = Order(rho=rho, n=rho.n, n_missing=rho.n_missing, turning=case.dial.turning)
        if not self.judged.any():
            return order
        given = case.given[case.ordered][:, self.judged]
        number = self._number(
            "order", lambda drawn: areas(ease, given, drawn) - areas(margins, given, drawn), rows=case.ordered
        )
        number = replace(number, n=rho.n, n_missing=rho.n_missing)
        return replace(order, **asdict(number), equivalent=number.within(SAME))

    def by_model(self) -> dict[str, dict[str, float]]:
        """Compute each number of each base model's targets, and of all others together (`without_...`)."""
        table: dict[str, dict[str, float]] = {}
        for model in [str(name) for name in np.unique(self.models)]:
            targets = self.models == model
            table[model] = {"n_targets": int(targets.sum())}
            for name, values in self.parts.items():
                table[model][name] = float(average_within_models(values[targets], self.models[targets]))
                table[model][f"without_{name}"] = without_each_model(values, self.models)[model]
        return table

    def unread_as_wrong(self) -> tuple[Signal, PanelEstimate] | None:
        """Compute S and G with every unread answer counted as the wrong one; None where all were read."""
        unread = [np.isnan(side) & ~np.isnan(self.given) for side in (self.matched, self.steered)]
        if not self.judged.any() or not (unread[0].any() or unread[1].any()):
            return None
        wrong, majority = 1 - self.given, np.broadcast_to(majority_answers(self.given), self.given.shape)
        matched, steered = (np.where(np.isnan(side), wrong, side) for side in (self.matched, self.steered))
        return self.signal(matched), self.gain(steered, majority)

    def _number(
        self, name: str, statistic: Callable[[Drawn | None], np.ndarray], rows: np.ndarray | None = None
    ) -> PanelEstimate:
        """Estimate a number with intervals over questions, topics and base models; its first values are its parts.

        Args:
            statistic: value of each target; of drawn questions, resample x target.
            rows: of the questions that it rests on; by default those of the test split.
        """
        case = self.case
        groups = self.groups if rows is None else case.groups(rows)
        topics = case.strata if rows is None else strata_of(case.topics[rows])
        values = statistic(None)
        self.parts.setdefault(name, values)
        many = topics.max(initial=0) + 1 >= FEWEST_TOPICS
        by_topic = statistic((case.n_resamples, case.seed, topics)) if many else None
        by_question = statistic((case.n_resamples, case.seed, groups))
        return panel_estimate(values, by_question, by_topic, self.models, n=len(topics))
