"""Who can be compared, and every response model that is fitted to them, each once.

Whatever takes a matrix of answers takes `Fits` of one as well: what was fitted is then handed on.

Random matrices are drawn from a fit that knows where the gaps lie (`Fits.null`). Answers that are missing on hard
questions tell where a question lies, as answers do. The number of gaps of a question (few to many, in quarters of the
questions) therefore enters that fit like one more respondent with ordered categories, whose slope says how much the
gaps have to do with the scale. With gaps at random that slope is near 0 and nothing changes. Without it the places of
questions with gaps would be drawn too easy, and the matrices drawn from them would lack what the gaps do to
correlations.
"""

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from onedial.scale.expectation import MISSING, Codes, codes_of
from onedial.scale.factor.usable import linked_respondents, require_usable
from onedial.scale.likelihood import AsymptoteKind, MarginalFit, Model, ScaleKind, fit_marginal
from onedial.scale.response_curves import UNUSED, Curves
from onedial.stats.answers import Answers, as_answers, names, one_kind_of_answer, warn
from onedial.stats.arrays import Booleans

_LEAST_SHARE = 0.05  # of the questions, in every category of gaps


class Fits:
    """The respondents of a panel that can be compared, and what was fitted to their answers.

    A warning names the others: who used one category only, or shares too few questions.

    Attributes:
        panel: all answers. kept: (respondent,) True for those that can be compared. answers: of these.
        codes: (question, respondent) of these.

    Raises:
        InputError: fewer than three can be compared.
    """

    def __init__(self, panel: Answers) -> None:
        self.panel, self.kept = panel, _comparable(panel)
        self.answers = panel.select(self.kept)
        self.codes = codes_of(self.answers)
        self._known: dict[Hashable, MarginalFit] = {}
        self._with_gaps: dict[Hashable, MarginalFit] = {}

    @classmethod
    def of(cls, matrix: Any) -> "Fits":
        """Of a question x respondent matrix, 1 / 0 / nan."""
        return matrix if isinstance(matrix, cls) else cls(as_answers(matrix))

    def fit(self, model: Model) -> MarginalFit:
        """A response model of their answers."""
        return fit_marginal(self.codes, model, known=self._known)

    def equal_slopes(self, free: MarginalFit) -> MarginalFit:
        """One slope for all, but for its sign, beside the answers at random of a fit with a slope for each."""
        if (free.model.key, "equal") not in self._known:
            signs = np.where(free.curves.slope < 0, -1.0, 1.0)
            model = Model(free.model.scale, "held", signs=signs)
            self._known[free.model.key, "equal"] = fit_marginal(self.codes, model, start=free)
        return self._known[free.model.key, "equal"]

    def null(self, scale: ScaleKind = "histogram", asymptotes: AsymptoteKind = "common") -> MarginalFit:
        """The model to draw from: a fit of the respondents' curves, whose posterior knows the gaps."""
        plain, gaps = self.fit(Model(scale, asymptotes)), gap_categories(self.codes)
        if gaps is None:
            return plain
        if plain.model.key not in self._with_gaps:
            self._with_gaps[plain.model.key] = _knowing_gaps(plain, gaps)
        return self._with_gaps[plain.model.key]


def _knowing_gaps(plain: MarginalFit, gaps: Codes) -> MarginalFit:
    """The fit of answers and numbers of gaps, beginning where the gaps have nothing to do with the scale."""
    m, k, share = len(plain.curves.slope), len(plain.curves.cuts) + 1, np.bincount(gaps) / len(gaps)
    more, point = max(0, len(share) - k), plain.point
    cuts = np.full((k + more - 1, m + 1), UNUSED)
    cuts[: k - 1, :m] = point.curves.cuts
    cuts[: len(share) - 1, m] = ndtri(share[::-1].cumsum()[-2::-1])
    floors = None if point.curves.floors is None else np.pad(point.curves.floors, ((0, more), (0, 1)))
    start = replace(
        plain,
        point=replace(
            point,
            curves=Curves(np.append(point.curves.slope, 0.0), cuts, floors),
        ),
        log_likelihood=plain.log_likelihood + len(gaps) * float(share @ np.log(share)),
    )
    whose = np.arange(m + 1) < m  # the number of gaps is no answer
    joint = fit_marginal(np.column_stack([plain.codes, gaps]), replace(plain.model, whose=whose), start)
    floors = joint.curves.floors
    return replace(
        joint,
        model=plain.model,
        codes=plain.codes,
        curves=Curves(
            joint.curves.slope[:-1], joint.curves.cuts[: k - 1, :-1], None if floors is None else floors[:k, :-1]
        ),
        known_posterior=joint.posterior,
    )


def gap_categories(codes: Codes) -> Codes | None:
    """(question,) 0 to 3 = few to many respondents without an answer; None where no split leaves enough of each."""
    n_missing = (codes == MISSING).sum(axis=1)
    cuts = np.unique(np.quantile(n_missing, [0.25, 0.5, 0.75], method="lower"))
    category = np.unique(np.searchsorted(cuts, n_missing, side="left"), return_inverse=True)[1]
    share = np.bincount(category) / len(category)
    return None if len(share) < 2 or share.min() < _LEAST_SHARE else category.astype(np.int8)


def _comparable(panel: Answers) -> Booleans:
    varies = panel.varies
    require_usable(panel)
    if not varies.all():
        warn(one_kind_of_answer(names(panel.respondents[~varies])))
    linked = linked_respondents(panel.answered[:, varies])
    if not linked.all():
        alone = names(panel.respondents[varies][~linked])
        warn(f"no two others share enough questions with {alone}; there is no loading to estimate, and it is nan")
    kept = varies.copy()
    kept[varies] = linked
    return kept
