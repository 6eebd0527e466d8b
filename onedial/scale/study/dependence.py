"""Do pairs of respondents share something beyond the scale?"""

import numpy as np

from onedial.scale.checks.residual_correlations import FLOOR, RESIDUAL_OF_INTEREST, residual_correlations
from onedial.scale.study.panel_fit import Finding, PanelFit

_HARDLY_ANY = 20.0
"""Log likelihood that guesses and any shape have to gain over one normal scale before pairs are tested with them: what
two respondents share can look like either."""
PAIR = f"a pair of respondents with a residual correlation of {RESIDUAL_OF_INTEREST:g}"


def dependence(fit: PanelFit) -> Finding:
    """Pairs with something in common beyond the scale, and how many of them are kin."""
    if fit.gain_of_guesses >= _HARDLY_ANY:
        residuals = residual_correlations(fit.fits, "histogram", "common", fit.seed)
    else:
        residuals = residual_correlations(fit.fits, seed=fit.seed)
    pairs, violations, least = residuals.pairs, residuals.violations(), residuals.least
    found = Finding(
        tables={"residuals": pairs}, numbers={"residuals": {"least": least if np.isfinite(least) else None}}
    )
    if len(violations):
        n, first = len(violations), violations.iloc[0]
        most = f"{first['first']} and {first['second']} ({first['residual']:+.2f})"
        kin = ""
        if fit.kin is not None:
            same = fit.kin[violations["first"]].to_numpy() == fit.kin[violations["second"]].to_numpy()
            kin = f"; {same.sum()} of them are of one {fit.kin.name}"
        found.sentences.append(
            f"{n} of {len(pairs)} pairs have a residual correlation of {FLOOR:g} or more beyond the scale, most of all "
            f"{most}{kin}."
        )
        found.against.append(f"{n} {'pair shares' if n == 1 else 'pairs share'} something beyond the scale")
        return found
    power = f"one of {least:.2f} would be found in 80%" if np.isfinite(least) else "none, however large, would be found"
    found.sentences.append(f"No pair of respondents has a residual correlation beyond the scale ({power}).")
    if least > RESIDUAL_OF_INTEREST:
        found.missed.append(PAIR)
    return found
