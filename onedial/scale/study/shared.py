"""Is anything shared? The share by marginal likelihood, beside that of pairs and that of shuffled answers."""

import numpy as np
from scipy.special import ndtri

from onedial.scale.factor.nulls import Simulated
from onedial.scale.share import WORTH_A_NAME, Share
from onedial.scale.study.panel_fit import Finding, PanelFit
from onedial.stats.arrays import number
from onedial.stats.level import LEVEL, POWER
from onedial.stats.multiple_tests import p_text

ANY_SHAPE = "if all guess equally often and the scale has any shape"
_FEW_SHARED = 50  # questions of a pair, whose correlation is then known to within .2 or worse
_WORTH_A_SCALE = 0.1  # of the variance, below which nobody would speak of one


def shared(fit: PanelFit) -> Finding:
    """The headline share, another account's, and the first eigenvalue beside shuffled answers."""
    share, other, explained = fit.share, share_with_guesses(fit), fit.factor.explained
    pairs, common, eigenvalue = (
        number(explained, "factor_1", f"{kind}_variance")
        for kind in ("squared_loadings_of_total", "squared_loadings_of_common", "eigenvalue_of_total")
    )
    m = fit.n_varied
    n_pairs = m * (m - 1) // 2 - fit.factor.n_filled_pairs
    finding = Finding(
        sentences=[
            f"First factor: {share.value:.1%} of the total variance ({share.low:.1%} to {share.high:.1%}), by marginal "
            f"likelihood of all answers; {what_errors_add(share)}. By the correlations of {n_pairs} of "
            f"{m * (m - 1) // 2} pairs it is {pairs:.1%} ({common:.1%} of the common variance, {eigenvalue:.1%} by "
            "eigenvalue).",
            *disagreement(fit, pairs),
        ],
        numbers={
            "share": {**share.columns("share"), "other": other and other[0]},
            "explained": {str(name): row.to_dict() for name, row in explained.items()},
        },
        evidence={"share_words": of_variance(fit), "compared": bool(fit.n_replicates), **share.columns("share")},
    )
    if share.one_slope:
        finding.sentences.append("So few answers do not tell loadings apart: the share is that of one slope for all.")
    if other and fit.is_shared:
        instead = "; but guesses also stand in for a second factor, and one is not all" if fit.one_is_not_all else ""
        finding.sentences.append(f"By another account: {other[0]:.1%} {other[1]}{instead}.")
    if fit.informative_gaps:
        finding.sentences.append(
            f"{gaps(fit)}. The likelihood knows how many a question lacks; if blanks tell of the respondent too, and "
            f"would all have been {filled_with(fit)}, the share is {fit.share_with_gaps_filled:.1%}."
        )
    if not fit.n_replicates:
        return finding
    null = fit.shuffled
    finding.sentences.append(
        f"First eigenvalue {null.observed[0]:.2f}; answers shuffled {null.mean[0]:.2f}, {p_text(null.p[0])}."
    )
    if not fit.is_shared:
        finding.evidence["nothing"] = nothing_shared(fit)
    elif fit.models is not None and len(fit.models) == 1:
        finding.evidence["one_model"] = fit.models[0]
    return finding


def disagreement(fit: PanelFit, pairs: float) -> list[str]:
    """That the two shares differ by more than their errors, why they may, and which is believed."""
    share = fit.share
    if not np.isfinite(share.low) or share.low <= pairs <= share.high:
        return []
    n = np.median(fit.factor.tetrachoric.n_pairwise.to_numpy()[np.triu_indices(len(fit.answers.respondents), 1)])
    reasons = [f"pairs share {n:.0f} questions in the middle"] if n < _FEW_SHARED else []
    reasons += [gaps(fit).lower()] if fit.informative_gaps else []
    reasons += ["guesses or a scale of another shape fit better"] if fit.guesses_fit_better else []
    why = f" ({'; '.join(reasons)})" if reasons else " (a rule for empty cells, or a second factor)"
    return [f"The two differ by more than their errors{why}: the one by marginal likelihood is to be believed."]


def what_errors_add(share: Share) -> str:
    """The share without the errors of the loadings, or with them where it is stated without."""
    if share.value == share.squares:
        return f"{share.without_errors:.1%} without what errors of the loadings add"
    return f"{share.squares:.0%} with the errors of the loadings"


def share_with_guesses(fit: PanelFit) -> tuple[float, str] | None:
    """The share on a scale of any shape where all guess, and its name, where it is another."""
    other = fit.with_guesses.share.value
    account = f"{ANY_SHAPE}, which fits {'better' if fit.guesses_fit_better else 'no better'} by BIC"
    return (other, account) if abs(fit.share.value - other) >= WORTH_A_NAME else None


def gaps(fit: PanelFit) -> str:
    """Where answers are missing, in words."""
    return f"Answers are missing on {' and '.join(fit.informative_gaps)} questions"


def filled_with(fit: PanelFit) -> str:
    """What blanks would have been, had everybody answered as such questions suggest."""
    return " or ".join({"hard": "no", "easy": "yes"}[word] for word in fit.informative_gaps)


def of_variance(fit: PanelFit) -> str:
    """The headline share in words."""
    share, other = fit.share, share_with_guesses(fit)
    words = f"{share.value:.0%} of the variance"
    words += f", {share.low:.0%} to {share.high:.0%}"
    words += f"; {what_errors_add(share)}" if share.value < share.squares else ""
    words += f"; {other[0]:.0%} {other[1]}" if other and fit.guesses_fit_better and not fit.one_is_not_all else ""
    if fit.informative_gaps and abs(fit.share_with_gaps_filled - share.value) >= WORTH_A_NAME:
        words += f"; {fit.share_with_gaps_filled:.0%} if blanks would have been {filled_with(fit)}"
    return words


def nothing_shared(fit: PanelFit) -> str:
    """How surely no scale was found: how large a one would have been."""
    opening = f" ({p_text(fit.shuffled.p[0])})"
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
