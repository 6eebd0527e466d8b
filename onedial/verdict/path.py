"""The dial's path through the panel's factor: the steered subject at each magnitude as one more respondent.

The panel's answers make a scale; on it the subject gets a threshold and a loading at every magnitude
(`QuestionScale`). A dial that only moves the threshold runs level in the plane of the two; one that
breaks the answers drops. A target's place rests on the answers of the other base models alone, so that no target is
compared with what its own answers made.

    slope   of threshold on magnitude
    change  of the loading from one end of the range to the other, by the straight line of loading on magnitude

Both over the settings with yes rates from .05 to .95.
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
            models' answers.
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
        framings = [str(name) for name in answers.columns[models == model]]
        if scale.respondents.isin(framings).all():
            continue
        placed = scale.place(answers[framings], without=framings, groups=_groups(topics, answers.index))
        targets.append(placed.table.assign(model=model))
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
    known = topics.reindex(questions).fillna("")
    return known if known.nunique() >= FEWEST_TOPICS else None


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
