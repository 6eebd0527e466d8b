"""From findings to headline: what speaks against one scale for all, and what each headline needs.

A finding speaks against one scale if its test is significant at its level and its effect is at least the floor. What
was not found could not have been seen if an effect of the stated size would be missed more often than found. Both
stand in the verdict, whatever its first sentence is. That sentence is the first of `HEADLINES` whose needs are met.
docs/psychometrics.md shows both tables.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from onedial.scale.checks import bundles, residual_correlations
from onedial.scale.checks.near_copies import SHARED
from onedial.scale.response_curves import SALIENT
from onedial.stats.level import LEVEL

FEWEST_QUESTIONS = 20
STRONG = 0.5  # of the variance: more shared than not
SEEN = 0.5  # power from which on something would rather be seen than missed
SECOND_SCALE = 0.8
"""Correlation of two scales that is still worth knowing of."""
CLOSE, SEVERAL = 0.05, 1 / 3
"""What one factor leaves of the correlations, as a part of what it explains on average: a close fit (Maydeu-Olivares,
2017, Structural Equation Modeling 24, 645-655), and where no scale is common to all. Two halves of the respondents
whose scales correlate by r leave (1 - r) / (1 + r): .05 at .9, a third at .5."""


@dataclass(frozen=True)
class Objection:
    """Something that would speak against one scale for all.

    Attributes:
        what, test, effect: in words. floor: the effect below which it is no finding, however certain. stated: the size
            whose power counts; None where absence is not claimed.
    """

    what: str
    test: str
    effect: str
    floor: float
    stated: Any = None

    def counts(self, p: float, effect: float) -> bool:
        """Whether it speaks against one scale."""
        return bool(p <= LEVEL and abs(effect) >= self.floor)

    def unseen(self, power: float) -> bool:
        """Whether it was not found because it could not have been."""
        return not power >= SEEN


OBJECTIONS = {
    "structure": Objection(
        "one factor is not all",
        "second eigenvalue, residual correlations",
        "residuals beyond chance / mean squared loading",
        CLOSE,
        f"a scale that correlates {SECOND_SCALE:g}",
    ),
    "pair": Objection(
        "a pair shares more",
        "score, Holm",
        "residual correlation",
        residual_correlations.FLOOR,
        residual_correlations.RESIDUAL_OF_INTEREST,
    ),
    "group": Objection(
        "topics differ for some",
        "yes rates, adjusted",
        "difference of the yes rate",
        bundles.FLOOR,
        bundles.DIFFERENCE_OF_INTEREST,
    ),
    "stranger": Objection("a stranger", "loading below .3, adjusted", "1 − loading", 1 - SALIENT),
    "reversed": Objection("the other way round", "loading below 0", "− loading", SALIENT),
    "copy": Objection("two count as one", "tetrads", "part of what the scale leaves", round(SHARED, 2)),
}


@dataclass(frozen=True)
class Evidence:
    """What a headline rests on: each check gives some of it.

    Attributes:
        too_small: why nothing can be said, or "". share_words, share, share_low, share_high: of the variance.
        compared: whether anything was compared with chance. nothing: how sure it is that nothing is shared, or "".
        one_model: the only one, or "". within: p of what models share, where all that is shared is within models.
        between, within_only: shares of the variance; nan where unknown. too_few: that so few respondents fit any scale.
        misfit: certain effect of `structure`, else 0. unseen: whether a second scale could not have been seen.
    """

    too_small: str = ""
    share_words: str = ""
    share: float = float("nan")
    share_low: float = float("nan")
    share_high: float = float("nan")
    compared: bool = True
    nothing: str = ""
    one_model: str = ""
    within: str = ""
    between: float = float("nan")
    within_only: float = float("nan")
    too_few: str = ""
    misfit: float = 0.0
    unseen: bool = False

    @classmethod
    def of(cls, known: dict[str, Any]) -> "Evidence":
        """Of what the checks gave; a check of somebody's own may give more."""
        names = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in known.items() if name in names})


@dataclass(frozen=True)
class Headline:
    """The verdict's first sentence.

    Attributes:
        words: with fields of `Evidence`. needs: in words. holds: whether they are met. ends: whether nothing else needs
            to be said.
    """

    words: str
    needs: str
    holds: Callable[[Evidence], bool]
    ends: bool = False


HEADLINES = (
    Headline(
        "Too small to say whether a scale is shared: {too_small}. Ask more questions.",
        "under 20 questions, or a loading is not known to within 1",
        lambda e: bool(e.too_small),
        ends=True,
    ),
    Headline(
        "One factor would explain {share:.0%} of the variance; nothing was compared with chance.",
        "`--replicates 0`",
        lambda e: not e.compared,
    ),
    Headline(
        "Nothing is shared that shuffled answers would not show{nothing}",
        "first eigenvalue: p > .05",
        lambda e: bool(e.nothing),
        ends=True,
    ),
    Headline(
        "There is no scale that models share: what looks shared is each model agreeing with itself{within}.",
        "nothing is shared between models, more within",
        lambda e: bool(e.within),
        ends=True,
    ),
    Headline(
        "All respondents are one model, {one_model}: that its framings agree ({share:.0%} of the variance) says "
        "nothing of a scale that models share.",
        "one model",
        lambda e: bool(e.one_model),
        ends=True,
    ),
    Headline("Something is shared; whether it is one scale {too_few}", "three respondents", lambda e: bool(e.too_few)),
    Headline(
        "Little is shared between models: {between:.0%} of the variance, against {within_only:.0%} that each model "
        "shares only with itself.",
        "less is shared between models than within one",
        lambda e: e.between < e.within_only,
    ),
    Headline(
        "There is no scale that is common to all.",
        "one factor is not all: effect of 1/3 or more",
        lambda e: e.misfit >= SEVERAL,
    ),
    Headline(
        "One scale explains most of the answers ({share_words}), but it is not all that is shared.",
        "one factor is not all; share: interval above .5",
        lambda e: e.misfit > 0 and e.share_low >= STRONG,
    ),
    Headline(
        "Something is shared ({share_words}), but one scale is not all of it.",
        "one factor is not all",
        lambda e: e.misfit > 0,
    ),
    Headline(
        "One scale may be shared, and explain most of the answers ({share_words}).",
        "interval above .5; a second scale could not have been seen",
        lambda e: e.share_low >= STRONG and e.unseen,
    ),
    Headline(
        "One scale is shared, and it explains most of the answers ({share_words}).",
        "interval above .5",
        lambda e: e.share_low >= STRONG,
    ),
    Headline(
        "Something is shared ({share_words}), but most of each respondent's answers is its own.",
        "interval below .5",
        lambda e: e.share_high < STRONG,
    ),
    Headline("About half of what is answered is shared ({share_words}).", "else", lambda _: True),
)


def verdict(known: dict[str, Any], against: list[str], missed: list[str]) -> str:
    """The judgement of a panel.

    Args:
        known: of `Evidence`. against: what speaks against one scale. missed: what could not have been seen.
    """
    evidence = Evidence.of(known)
    headline = next(row for row in HEADLINES if row.holds(evidence))
    opening = headline.words.format(**vars(evidence))
    if headline.ends:
        return opening
    parts = [f"Against one scale for all: {'; '.join(against)}."] if against else []
    parts += [f"Could not have been seen: {'; '.join(missed)}."] if missed else []
    return " ".join([opening, *(parts or ["Nothing found here speaks against one scale for all."])])


def relative(size: float, loadings: Any) -> float:
    """A residual correlation as a part of the mean squared loading.

    >>> round(relative(0.064, np.full(12, 0.76)), 2)
    0.11
    """
    return float(size / np.nanmean(np.asarray(loadings) ** 2))
