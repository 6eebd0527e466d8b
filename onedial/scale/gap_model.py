"""The one-factor model that random matrices are drawn from: like the fitted one, and it knows where the gaps lie.

Answers that are missing on hard questions tell where a question lies, as answers do. The number of gaps of a question
(few to many, in quarters of the questions) therefore enters the fit like one more respondent with ordered categories,
whose slope says how much the gaps have to do with the scale. With gaps at random that slope is near 0 and nothing
changes. Without it the places of questions with gaps would be drawn too easy, and the matrices drawn from them would
lack what the gaps do to correlations.
"""

from dataclasses import replace

import numpy as np

from onedial.scale.evidence import MISSING, Codes, codes_of
from onedial.scale.likelihood import AsymptoteKind, MarginalFit, Model, ScaleKind, fit_marginal
from onedial.scale.response_curves import Curves
from onedial.stats.answers import Answers
from onedial.stats.remembered import remembered

_LEAST_SHARE = 0.05  # of the questions, in every category of gaps


def null_model(answers: Answers, scale: ScaleKind = "histogram", asymptotes: AsymptoteKind = "none") -> MarginalFit:
    """The model to draw from: a fit of the respondents' curves, whose posterior knows the gaps.

    Args:
        answers: of respondents that vary and hang together. scale, asymptotes: as in `response_model`.
    """
    return null_fit(codes_of(answers), scale, asymptotes)


@remembered
def null_fit(codes: Codes, scale: ScaleKind, asymptotes: AsymptoteKind) -> MarginalFit:
    """The same of answers in any number of categories: codes (question, respondent), as `fit_marginal` takes them."""
    gaps = gap_categories(codes)
    if gaps is None:
        return fit_marginal(codes, Model(scale, asymptotes))
    whose = np.arange(codes.shape[1] + 1) < codes.shape[1]  # the number of gaps is no answer
    joint = fit_marginal(np.column_stack([codes, gaps]), Model(scale, asymptotes, whose=whose))
    k, floors, centre = int(codes.max()) + 1, joint.curves.floors, joint.point.centre
    own = Curves(joint.curves.slope[:-1], joint.curves.cuts[: k - 1, :-1], None if floors is None else floors[:k, :-1])
    return replace(
        joint,
        model=replace(joint.model, whose=None),
        codes=codes,
        curves=own,
        point=replace(joint.point, centre=None if centre is None else centre[:k]),
        known_posterior=joint.posterior,
    )


def gap_categories(codes: Codes) -> Codes | None:
    """(question,) 0 to 3 = few to many respondents without an answer; None where no split leaves enough of each."""
    n_missing = (codes == MISSING).sum(axis=1)
    cuts = np.unique(np.quantile(n_missing, [0.25, 0.5, 0.75], method="lower"))
    category = np.searchsorted(cuts, n_missing, side="left")
    category = np.unique(category, return_inverse=True)[1]
    share = np.bincount(category) / len(category)
    if len(share) < 2 or share.min() < _LEAST_SHARE:
        return None
    return category.astype(np.int8)
