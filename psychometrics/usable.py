"""Which respondents a factor analysis can use, and their eigenvalues."""

from common import InputError
from psychometrics.answers import Answers, names, warn
from psychometrics.arrays import Floats
from psychometrics.latent_correlation import ThresholdMode, ZeroCellRule, correlations
from psychometrics.pair_counts import count_pairs
from psychometrics.replicates import eigenvalues, fill_gaps
from psychometrics.thresholds import thresholds_of

MIN_RESPONDENTS = 3


def usable_answers(answers: Answers) -> Answers:
    """The respondents that gave both kinds of answer; a warning names the others.

    Raises:
        InputError: fewer than three are left.
    """
    usable = require_usable(answers)
    if usable is not answers:
        left_out = answers.respondents[~answers.varies]
        warn(f"{names(left_out)} gave only one kind of answer (or none) and cannot be placed on a factor")
    return usable


def require_usable(answers: Answers) -> Answers:
    """The respondents that gave both kinds of answer, without a warning about the others.

    Raises:
        InputError: fewer than three are left; one factor has no unique solution then.
    """
    if answers.varies.all() and answers.n_respondents >= MIN_RESPONDENTS:
        return answers
    if answers.varies.sum() < MIN_RESPONDENTS:
        left_out = answers.respondents[~answers.varies]
        reason = f" ({names(left_out)} gave only one kind of answer, or none)" if len(left_out) else ""
        raise InputError(
            f"{int(answers.varies.sum())} of {answers.n_respondents} respondents gave both yes and no{reason}; "
            "a factor model needs at least 3 such respondents, so add respondents or questions"
        )
    return answers.select(answers.varies)


def observed_correlation(answers: Answers, thresholds: ThresholdMode, zero_cells: ZeroCellRule) -> Floats:
    """(respondent, respondent) tetrachoric correlations, nan where a pair gives none."""
    return correlations(count_pairs(answers), thresholds_of(answers), thresholds, zero_cells)


def observed_eigenvalues(answers: Answers, thresholds: ThresholdMode, zero_cells: ZeroCellRule) -> Floats:
    """(respondent,) eigenvalues in falling order, gaps filled by the one-factor model."""
    return eigenvalues(fill_gaps(observed_correlation(answers, thresholds, zero_cells)))
