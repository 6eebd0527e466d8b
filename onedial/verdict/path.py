"""The dial's path through the panel's factor: the steered subject at each magnitude as one more respondent.

The panel's answers make a scale; on it the subject gets a threshold and a loading at every magnitude
(`QuestionScale`). A dial that only moves the threshold runs level in the plane of the two; one that
breaks the answers drops. A target's place and the path that it is compared with rest on the answers of the other base
models alone, so that no target is compared with what its own answers made.

    magnitude_factor  where the path has the target's threshold, between settings in a straight line: matching on the
                      factor rather than by raw yes rate, which differs where gaps are informative
    distance          the target's loading minus the path's at that threshold
    slope             of threshold on magnitude; change: of the loading from one end of the range to the other, by the
                      straight line of loading on magnitude. Both over the settings with yes rates from .05 to .95
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.panels.splits import EXTRACTION
from onedial.scale.place.question_scale import PlacedRespondents, QuestionScale
from onedial.stats.estimate import Estimate
from onedial.stats.level import Z_95
from onedial.stats.numbers import FEWEST_TOPICS
from onedial.verdict.case import Case

LEAST_RATE, MOST_RATE = 0.05, 0.95
MOST_SETTINGS = 21


@dataclass(frozen=True)
class DialPath:
    """Where the dial leads on the panel's scale.

    Attributes:
        settings: index magnitude; `threshold, threshold_se, loading, loading_se, yes_rate, n, status`, on the scale of
            all targets.
        targets: index target; model, `threshold, threshold_se, loading, loading_se, n, status` by the other base
            models' answers, and on the path by the same: `magnitude_factor`, its `magnitude_factor_se`, `path_loading`,
            `distance`, `distance_se`; nan where the path does not reach the target's threshold.
        slope: threshold per unit of magnitude. change: of the loading along the range. low, high: that range.
        over_topics: whether standard errors are over topics, of which there are ten or more, and not over questions.
    """

    settings: pd.DataFrame
    targets: pd.DataFrame
    slope: Estimate
    change: Estimate
    low: float
    high: float
    over_topics: bool

    __repr__ = one_line

    def numbers(self) -> dict[str, Any]:
        """All that is no table."""
        return {name: value for name, value in asdict(self).items() if name not in ("settings", "targets")}


def dial_path(case: Case) -> DialPath | None:
    """The path of the intervention under test; None where the panel is too small for a scale.

    The questions that its vector was made from have no part.

    >>> from dataclasses import replace
    >>> from onedial.verdict import SweepRun
    >>> case = replace(SweepRun.open("tests/reference/golden/default").case(), n_resamples=19)
    >>> path = dial_path(case)
    >>> path.slope.low > 0  # a larger magnitude, a higher threshold: more often yes
    True
    """
    answers = case.panel
    try:
        scale = QuestionScale.of(answers)
    except InputError:  # fewer than three respondents that vary: no factor, as `judgement` has said
        return None
    subject, topics = _subject(case), case.about.get("topic")
    groups = _groups(topics, subject.index)
    path = scale.place(subject, groups=groups)
    settings = path.table.rename_axis("magnitude")
    models = pd.Series(case.models, index=answers.columns)
    targets = []
    for model in models.unique():
        own = [str(name) for name in answers.columns[models == model]]
        if scale.respondents.isin(own).all():
            continue
        around = scale.place(subject, without=own, groups=groups)
        placed = scale.place(answers[own], without=own, groups=_groups(topics, answers.index))
        targets.append(_beside(placed, around).assign(model=model))
    slope, change, low, high = _along(path)
    table = pd.concat(targets).reindex(answers.columns).rename_axis("target") if targets else pd.DataFrame()
    return DialPath(settings, table, slope, change, low, high, groups is not None)


def _subject(case: Case) -> pd.DataFrame:
    """Question x magnitude, within what can be read, of at most MOST_SETTINGS evenly chosen settings with 0."""
    usable = case.readable
    chosen = np.unique(usable[np.linspace(0, len(usable) - 1, min(len(usable), MOST_SETTINGS)).round().astype(int)])
    chosen = np.union1d(chosen, [case.unsteered])
    rows = case.splits != EXTRACTION
    return pd.DataFrame(
        case.answers[rows][:, chosen], index=case.questions[rows], columns=pd.Index(case.magnitudes[chosen])
    )


def _groups(topics: pd.Series | None, questions: pd.Index) -> pd.Series | None:
    if topics is None:
        return None
    own = topics.reindex(questions).fillna("")
    return own if own.nunique() >= FEWEST_TOPICS else None


def _along(path: PlacedRespondents) -> tuple[Estimate, Estimate, float, float]:
    """Slope of the threshold and change of the loading over the settings that answer both ways."""
    table = path.table
    magnitudes = table.index.to_numpy(float)
    used = (
        table["yes_rate"].between(LEAST_RATE, MOST_RATE) & table["threshold_se"].notna() & (table["threshold_se"] > 0)
    ).to_numpy()
    if used.sum() < 3:
        return Estimate(), Estimate(), math.nan, math.nan
    low, high = float(magnitudes[used].min()), float(magnitudes[used].max())
    centred = np.where(used, magnitudes - magnitudes[used].mean(), 0.0)
    weights, nothing = centred / (centred**2).sum(), np.zeros(len(table))
    slope = _slope(*path.contrast(weights, nothing))
    change = _slope(*path.contrast(nothing, weights * (high - low)))
    return slope, change, low, high


def _slope(value: float, error: float) -> Estimate:
    return Estimate(value, value - Z_95 * error, value + Z_95 * error, error)


def _beside(placed: PlacedRespondents, around: PlacedRespondents) -> pd.DataFrame:
    """Each target, and the path where it has the target's threshold."""
    path = around.table[around.table["threshold_se"].notna()]
    slope = _along(around)[0].value
    rows = []
    for threshold in placed.table["threshold"]:
        rows.append(_meeting(path, float(threshold)))
    met = pd.DataFrame(
        rows,
        index=placed.table.index,
        columns=["magnitude_factor", "_threshold_se", "path_loading", "_loading_se"],
    )
    table = pd.concat([placed.table, met], axis=1)
    both = np.sqrt(table["threshold_se"] ** 2 + table["_threshold_se"] ** 2)
    return table.assign(
        magnitude_factor_se=both / abs(slope) if slope else math.nan,
        distance=table["loading"] - table["path_loading"],
        distance_se=np.sqrt(table["loading_se"] ** 2 + table["_loading_se"] ** 2),
    ).drop(columns=["_threshold_se", "_loading_se"])


def _meeting(path: pd.DataFrame, threshold: float) -> tuple[float, float, float, float]:
    """Magnitude, threshold's error, loading and its error where the path has this threshold; of several meetings the
    middle one (the lower of two)."""
    values = path["threshold"].to_numpy(float)
    above = values >= threshold
    meetings = np.flatnonzero(above[1:] != above[:-1]) if not math.isnan(threshold) else np.array([], dtype=int)
    if not len(meetings):
        return math.nan, math.nan, math.nan, math.nan
    at = meetings[(len(meetings) - 1) // 2]
    share = (threshold - values[at]) / (values[at + 1] - values[at])
    columns = np.column_stack([path.index.to_numpy(float), path[["threshold_se", "loading", "loading_se"]]])
    found = (1 - share) * columns[at] + share * columns[at + 1]
    return float(found[0]), float(found[1]), float(found[2]), float(found[3])
