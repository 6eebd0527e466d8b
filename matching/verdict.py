"""The verdict: one sentence from four numbers.

    S  signal     mean test kappa at the rate-matched magnitudes, against the panel's rows permuted
    G  gain       mean test agreement minus the majority answer's
    C  steering   mean test agreement minus the moved cut's
    D  direction  rank of S among control directions

Means are over the targets of one base model first, then over base models, and over the judged targets only
(`status.JUDGED`). The first line that applies is the sentence:

    under 5 judged targets        cannot be judged
    p of S above .05              not reproduced
    G's lower bound <= 0          shared signal, no better than the majority answer
    C's lower bound <= 0          beats the majority answer; not shown to beat moving the cut
    D not run (under 99 controls) reproduced; direction untested
    p of D above .05              reproduced, but a random direction does as well
    else                          reproduced

R^2 of magnitude on threshold is reported beside its null and decides nothing (docs/method.md says why).
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from common import InputError
from matching.agreement import count, count_resampled, interval
from matching.controls import judged_targets
from matching.match import Evidence, TargetMatches
from matching.nulls import average_within_models, line_null, p_value, r_squared, signal, signal_null
from matching.status import OK

CANNOT_BE_JUDGED = "cannot be judged"
NOT_REPRODUCED = "not reproduced"
MAJORITY_AS_GOOD = "shared signal, no better than the majority answer"
CUT_AS_GOOD = "beats the majority answer; not shown to beat moving the cut"
DIRECTION_UNTESTED = "reproduced; direction untested"
ANY_DIRECTION = "reproduced, but a random direction does as well"
REPRODUCED = "reproduced"
SENTENCES = (
    CANNOT_BE_JUDGED,
    NOT_REPRODUCED,
    MAJORITY_AS_GOOD,
    CUT_AS_GOOD,
    DIRECTION_UNTESTED,
    ANY_DIRECTION,
    REPRODUCED,
)

MIN_TARGETS, MIN_CONTROLS = 5, 99
LEVEL = 0.05
LINE_PERMUTATIONS = 499
"""The null of R^2 decides nothing: enough for its median and 95% point."""
SAME = 0.02
"""Two agreements are called the same when the 90% interval of their difference lies within +- this."""
_DETECTABLE = float(stats.norm.ppf(0.975) + stats.norm.ppf(0.8))


@dataclass(frozen=True)
class Signal:
    """S, its one-sided p, and mean and 95% point of its null."""

    estimate: float
    p: float
    null_mean: float
    null_95: float
    n_permutations: int


@dataclass(frozen=True)
class Gain:
    """G with its 95% interval; `detectable` is the true gain that this size would find 4 times in 5."""

    estimate: float
    low: float
    high: float
    detectable: float


@dataclass(frozen=True)
class Steering:
    """C with its 95% and 90% intervals; `equivalent`: the 90% interval lies within +-.02."""

    estimate: float
    low: float
    high: float
    low_90: float
    high_90: float
    equivalent: bool


@dataclass(frozen=True)
class Direction:
    """D: rank of S among itself and the controls (1 = highest), p = rank / (n_controls + 1)."""

    run: bool
    rank: int | None
    n_controls: int
    p: float


@dataclass(frozen=True)
class Line:
    """Least squares of the magnitude of best agreement on threshold.

    slope, intercept, r2 and the null's median and 95% point are over the n `ok` targets, r2_all over all n_all.
    """

    slope: float
    intercept: float
    r2: float
    r2_null_median: float
    r2_null_95: float
    n: int
    r2_all: float
    n_all: int


@dataclass(frozen=True)
class Verdict:
    """The sentence and all that it rests on; agreement, majority and moved cut are the means that G and C compare."""

    sentence: str
    n_targets: int
    n_eligible: int
    excluded: dict[str, str]
    signal: Signal
    gain: Gain
    steering: Steering
    direction: Direction
    line: Line
    agreement: float
    majority: float
    moved_cut: float
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values for verdict.json; what could not be computed is None."""
        return _without_nan(asdict(self))


def judge(
    matches: TargetMatches,
    n_permutations: int = 1999,
    n_bootstrap: int = 1999,
    control_signals: Sequence[float] | np.ndarray | None = None,
    seed: int = 0,
) -> Verdict:
    """Say whether the steered subject reproduces the targets.

    Args:
        control_signals: S of each control direction (`controls.control_signals`); None where none was swept. With
            fewer than 99 the rank is given, but the direction counts as untested.
        seed: of permutations and resamples.

    Raises:
        InputError: a control signal is not a number, or fewer than 19 permutations or resamples are asked for.
    """
    if min(n_permutations, n_bootstrap) < 19:
        raise InputError("a 5% level needs at least 19 permutations and 19 resamples; 1999 are usual")
    table, judged = matches.table, matches.table.index.isin(judged_targets(matches.table))
    models, evidence = table["model"].to_numpy()[judged], matches.evidence
    means, gain, steering = _differences(evidence, judged, models, n_bootstrap, seed)
    found = _signal(evidence, judged, models, n_permutations, seed)
    direction = _direction(found.estimate, control_signals)
    return Verdict(
        sentence=_sentence(int(judged.sum()), found, gain, steering, direction),
        n_targets=len(table),
        n_eligible=int(judged.sum()),
        excluded={str(target): str(name) for target, name in table.loc[~judged, "status"].items()},
        signal=found,
        gain=gain,
        steering=steering,
        direction=direction,
        line=_line(matches, n_permutations, seed),
        agreement=means["agreement"],
        majority=means["majority"],
        moved_cut=means["moved_cut"],
        seed=seed,
    )


def _sentence(n_judged: int, found: Signal, gain: Gain, steering: Steering, direction: Direction) -> str:
    if n_judged < MIN_TARGETS:
        return CANNOT_BE_JUDGED
    if found.p > LEVEL:
        return NOT_REPRODUCED
    if not gain.low > 0:
        return MAJORITY_AS_GOOD
    if not steering.low > 0:
        return CUT_AS_GOOD
    if not direction.run:
        return DIRECTION_UNTESTED
    return ANY_DIRECTION if direction.p > LEVEL else REPRODUCED


def _signal(evidence: Evidence, judged: np.ndarray, models: np.ndarray, n_permutations: int, seed: int) -> Signal:
    if not judged.any():
        return Signal(math.nan, math.nan, math.nan, math.nan, n_permutations)
    subject, given = evidence.rate_matched[:, judged], evidence.test_targets[:, judged]
    estimate = signal(subject, given, models)
    null = signal_null(subject, given, models, n_permutations, seed)
    return Signal(
        estimate, p_value(estimate, null), float(null.mean()), float(np.quantile(null, 1 - LEVEL)), n_permutations
    )


def _differences(
    evidence: Evidence, judged: np.ndarray, models: np.ndarray, n_bootstrap: int, seed: int
) -> tuple[dict[str, float], Gain, Steering]:
    """The three mean agreements and what lies between them, over the same resamples of the test questions."""
    if not judged.any():
        nan = math.nan
        means = {"agreement": nan, "majority": nan, "moved_cut": nan}
        return means, Gain(nan, nan, nan, nan), Steering(nan, nan, nan, nan, nan, False)
    given = evidence.test_targets[:, judged]
    means, resampled = {}, {}
    for name, predicted in (
        ("agreement", evidence.steered),
        ("majority", evidence.majority),
        ("moved_cut", evidence.cut),
    ):
        own = predicted[:, judged]
        means[name] = float(average_within_models(count(own, given).agreement(), models))
        counts = count_resampled(own, given, n_bootstrap, seed)
        resampled[name] = average_within_models(counts.agreement(), models)
    above_majority = resampled["agreement"] - resampled["majority"]
    above_cut = resampled["agreement"] - resampled["moved_cut"]
    low, high = map(float, interval(above_majority))
    gain = Gain(
        means["agreement"] - means["majority"], low, high, _DETECTABLE * float(np.nanstd(above_majority, ddof=1))
    )
    low, high = map(float, interval(above_cut))
    low_90, high_90 = map(float, interval(above_cut, 0.90))
    equivalent = bool(low_90 > -SAME and high_90 < SAME)
    return means, gain, Steering(means["agreement"] - means["moved_cut"], low, high, low_90, high_90, equivalent)


def _direction(estimate: float, control_signals: Sequence[float] | np.ndarray | None) -> Direction:
    signals = np.asarray([] if control_signals is None else control_signals, dtype=float)
    if np.isnan(signals).any():
        raise InputError(f"{int(np.isnan(signals).sum())} of {len(signals)} control signals are not numbers")
    if not len(signals) or math.isnan(estimate):
        return Direction(False, None, len(signals), math.nan)
    p = p_value(estimate, signals)
    return Direction(len(signals) >= MIN_CONTROLS, round(p * (len(signals) + 1)), len(signals), p)


def _line(matches: TargetMatches, n_permutations: int, seed: int) -> Line:
    table, evidence = matches.table, matches.evidence
    placed = np.isfinite(table["threshold"].to_numpy(float)) & np.isfinite(table["magnitude"].to_numpy(float))
    ok = placed & (table["status"] == OK).to_numpy()
    slope = intercept = r2 = median = upper = math.nan
    if ok.sum() >= 3:
        x, y = table.loc[ok, "threshold"].to_numpy(float), table.loc[ok, "magnitude"].to_numpy(float)
        r2 = float(r_squared(x, y))
        if np.ptp(x) > 0:
            fit = stats.linregress(x, y)
            slope, intercept = float(fit.slope), float(fit.intercept)
        null = line_null(
            evidence.fitting_subject,
            evidence.fitting_targets[:, ok],
            evidence.magnitudes,
            x,
            min(n_permutations, LINE_PERMUTATIONS),
            seed,
        )
        if np.isfinite(null).any():
            median, upper = float(np.nanmedian(null)), float(np.nanquantile(null, 1 - LEVEL))
    everyone: pd.DataFrame = table[placed]
    r2_all = math.nan
    if len(everyone) >= 3:
        r2_all = float(r_squared(everyone["threshold"].to_numpy(float), everyone["magnitude"].to_numpy(float)))
    return Line(slope, intercept, r2, median, upper, int(ok.sum()), r2_all, len(everyone))


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
