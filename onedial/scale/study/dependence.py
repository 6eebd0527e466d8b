"""Do pairs of respondents share something beyond the scale?"""

from onedial.scale.checks.residual_correlations import residual_correlations
from onedial.scale.study.panel_fit import Finding, PanelFit
from onedial.scale.study.rule import OBJECTIONS

_HARDLY_ANY = 20.0
"""Log likelihood that guesses and any shape have to gain over one normal scale before pairs are tested with them: what
two respondents share can look like either."""
_RULE = OBJECTIONS["pair"]


def dependence(fit: PanelFit) -> Finding:
    """Pairs with something in common beyond the scale, and how many of them are kin."""
    if fit.gain_of_guesses >= _HARDLY_ANY:
        residuals = residual_correlations(fit.fits, "histogram", "common", fit.seed)
    else:
        residuals = residual_correlations(fit.fits, seed=fit.seed)
    pairs, violations = residuals.pairs, residuals.violations()
    finding = Finding(tables={"residuals": pairs})
    if len(violations):
        n, first = len(violations), violations.iloc[0]
        most = f"{first['first']} and {first['second']} ({first['residual']:+.2f})"
        kin = ""
        if fit.kin is not None:
            same = fit.kin[violations["first"]].to_numpy() == fit.kin[violations["second"]].to_numpy()
            kin = f"; {same.sum()} of them are of one {fit.kin.name}"
        finding.sentences.append(
            f"{n} of {len(pairs)} pairs have a residual correlation of {_RULE.floor:g} or more beyond the scale, most "
            f"of all {most}{kin}."
        )
        finding.against.append(f"{n} {'pair shares' if n == 1 else 'pairs share'} something beyond the scale")
        return finding
    power = residuals.power(_RULE.stated)
    stated = f"a pair of respondents with a residual correlation of {_RULE.stated:g}"
    finding.sentences.append(
        f"No pair of respondents has a residual correlation beyond the scale ({stated} would be found in {power:.0%})."
    )
    if _RULE.unseen(power):
        finding.missed.append(stated)
    return finding
