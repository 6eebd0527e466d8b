"""Is anything shared? The share of the variance that the page's own loadings explain, beside shuffled answers."""

import numpy as np
from scipy.special import ndtri

from onedial.scale.checks.accounts import PLAIN
from onedial.scale.factor.nulls import Simulated
from onedial.scale.response_model import response_model
from onedial.scale.study.panel_fit import WORTH_A_NAME, Finding, PanelFit
from onedial.stats.arrays import number
from onedial.stats.level import LEVEL
from onedial.stats.multiple_tests import p_text
from onedial.stats.power import POWER

ANY_SHAPE, ANY_ACCOUNT = "if all guess equally often and the scale has any shape", "any scale, random answers all alike"
_STRONG = 0.5  # of the variance: more shared than not
_WORTH_ANOTHER_SHAPE = 9.2
"""Log likelihood that guesses and any shape have to gain over one normal scale: half the 95% point of chi-squared with
ten degrees of freedom, since a histogram has no fixed number of parameters."""
_WORTH_A_SCALE = 0.1  # of the variance, below which nobody would speak of one
_EXTRACTIONS = {"minres": "minres loadings", "principal": "principal components (unique variance included)"}


def shared(fit: PanelFit) -> Finding:
    """The headline share, another account's, and the first eigenvalue beside shuffled answers."""
    (share, low, high), other = fit.share, share_by_another_account(fit)
    found = Finding(numbers={"share": {"share": share, "low": low, "high": high, "other": other and other[0]}})
    between = f" ({low:.1%} to {high:.1%})" if np.isfinite(low) else ""
    if fit.begins:
        m, factor = fit.n_varied, fit.polychoric
        found.sentences.append(
            f"First factor: {share:.1%} of the variance{between} by the graded response model, whose loadings are "
            f"listed below; of the polychoric correlations {(factor.loadings**2).sum() / m:.1%} by minres loadings and "
            f"{factor.eigenvalues[0] / m:.1%} by eigenvalue."
        )
    else:
        shares = {str(name): number(fit.factor.explained, "factor_1", str(name)) for name in fit.factor.explained}
        marginal = float(fit.response.respondents["loading"].pow(2).mean())
        found.sentences.append(
            f"First factor: {shares['squared_loadings_of_total_variance']:.1%} of the total variance{between} by "
            f"{_EXTRACTIONS[fit.extraction]}, {shares['eigenvalue_of_total_variance']:.1%} by eigenvalue, "
            f"{shares['squared_loadings_of_common_variance']:.1%} of the common variance; by marginal likelihood, "
            f"without any correction, {marginal:.1%}."
        )
        explained = {str(name): row.to_dict() for name, row in fit.factor.explained.items()}
        found.numbers |= {"explained": explained, "marginal_loadings_of_total_variance": marginal}
    if other:
        found.sentences.append(f"By another account: {other[0]:.1%} {other[1]}.")
    if not fit.n_replicates:
        found.opening = f"One factor would explain {share:.0%} of the variance; nothing was compared with chance."
        return found
    null = fit.shuffled
    found.sentences.append(
        f"First eigenvalue {null.observed[0]:.2f}; answers shuffled {null.mean[0]:.2f}, {p_text(null.p[0])}."
    )
    if null.p[0] > LEVEL:
        found.ends = nothing_shared(fit)
    elif fit.models is not None and len(fit.models) == 1:
        found.ends = (
            f"All respondents are one model, {fit.models[0]}: that its framings agree ({share:.0%} of the variance) "
            "says nothing of a scale that models share."
        )
    return found


def share_by_another_account(fit: PanelFit) -> tuple[float, str] | None:
    """The share under an account that is not the usual one, and its name, where it is another.

    Shares of random answers of each respondent's own are at least 0, and raise loadings where nobody guesses: of .49
    planted they made .54, those of all .52; where a third guesses at .3, .51 and .46.
    """
    if fit.specific is not None and fit.kin is not None and fit.by_kin:
        other = number(fit.specific.model.shares, "general", "share")
        account = f"beside what each {fit.kin[0]} shares and answers at random"
    elif fit.begins:
        other, account = number(response_model(fit.fits, "histogram", "common").shares, "general", "share"), ANY_SHAPE
    elif fit.n_replicates:
        table = fit.accounts.table
        gain = np.diff(table["log_likelihood"][[PLAIN, ANY_ACCOUNT]])[0]
        better = "better" if gain >= _WORTH_ANOTHER_SHAPE else "no better"
        other, account = number(table, ANY_ACCOUNT, "loadings_share"), f"{ANY_SHAPE}, which fits {better}"
    else:
        return None
    return (other, account) if abs(fit.share[0] - other) >= WORTH_A_NAME else None


def of_variance(fit: PanelFit) -> str:
    """The headline share in words."""
    share, low, high = fit.share
    words = f"{share:.0%} of the variance" + (f", {low:.0%} to {high:.0%}" if np.isfinite(low) else "")
    other = share_by_another_account(fit)
    return f"{words}; {other[0]:.0%} {other[1]}" if other else words


def one_scale(fit: PanelFit) -> str:
    """The verdict's first sentence where nothing else opens it."""
    if fit.share[0] >= _STRONG:
        return f"One scale is shared, and it explains most of the answers ({of_variance(fit)})."
    return f"Something is shared ({of_variance(fit)}), but most of each respondent's answers is its own."


def nothing_shared(fit: PanelFit) -> str:
    """That no scale was found, and how large a one would have been."""
    opening = f"Nothing is shared that shuffled answers would not show ({p_text(fit.shuffled.p[0])})"
    if fit.begins:
        return f"{opening}; how large a scale would have been found is not known."
    least = least_share(fit.shuffled)
    if least <= _WORTH_A_SCALE:
        return f"{opening}: there is no scale to speak of (one of {least:.0%} of the variance would be found in 80%)."
    much = f"only from {least:.0%} of the variance on" if least < 1 else "of no size"
    return f"{opening}, but it could have been missed: a scale would be found in 80% {much}."


def least_share(shuffled: Simulated) -> float:
    """The share of the variance from which on one scale would be found four times out of five.

    Formula: with equal loadings on one scale that explains s of the variance the first eigenvalue is 1 + (m - 1) s; it
    must be above the 95% point of those of shuffled answers by Phi^-1(.8) of their standard deviations.
    """
    null = shuffled.simulated[:, 0]
    needed = np.quantile(null, 1 - LEVEL) + ndtri(POWER) * null.std(ddof=1)
    return float((needed - 1) / (len(shuffled.observed) - 1))
