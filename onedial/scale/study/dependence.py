"""Do pairs of respondents share something beyond the scale? Yen's Q3."""

from onedial.scale.checks.residual_correlations import FLOOR, RESIDUAL_OF_INTEREST, residual_correlations
from onedial.scale.study.panel_fit import Finding, PanelFit
from onedial.stats.multiple_tests import p_text

_REPLICATES = 199  # the largest of hundreds of pairs has a long tail
PAIR = f"a pair of respondents with a residual correlation of {RESIDUAL_OF_INTEREST:g}"


def dependence(fit: PanelFit) -> Finding:
    """Pairs with something in common beyond the scale, and how many of them are kin."""
    if not fit.n_replicates:
        return Finding(missed=[f"{PAIR} (not tested)"])
    residuals = residual_correlations(fit.fits, min(fit.n_replicates, _REPLICATES), fit.seed)
    pairs, violations, least = residuals.pairs, residuals.violations(), residuals.least
    found = Finding(
        tables={"residuals": pairs}, numbers={"residuals": {"largest": residuals.largest.to_dict(), "least": least}}
    )
    if len(violations):
        n, first = len(violations), violations.iloc[0]
        most = f"{first['first']} and {first['second']} (residual {first['q3'] - first['null_mean']:+.2f})"
        kin = ""
        if fit.kin is not None:
            same = fit.kin[violations["first"]].to_numpy() == fit.kin[violations["second"]].to_numpy()
            kin = f"; {same.sum()} of them are of one {fit.kin.name}"
        found.sentences.append(
            f"{n} of {len(pairs)} pairs have {FLOOR:g} or more in common, or opposed, beyond the scale, most of all "
            f"{most}{kin}."
        )
        found.against.append(f"{n} {'pair shares' if n == 1 else 'pairs share'} something beyond the scale")
        return found
    power = f"a residual of {least:.2f} would be found in 80%"
    if least > RESIDUAL_OF_INTEREST:
        found.missed.append(PAIR)
        found.sentences.append(f"No pair of respondents was found to share something beyond the scale ({power}).")
    else:
        found.sentences.append(
            f"No pair of respondents has {FLOOR:g} or more in common beyond the scale (largest |z| "
            f"{residuals.largest.observed:.1f}, {p_text(residuals.largest.p)}; {power})."
        )
    return found
