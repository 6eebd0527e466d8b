"""Do pairs of respondents share something beyond the scale?"""

import numpy as np
import pandas as pd

from onedial.scale.checks.residual_correlations import ResidualCorrelations, residual_correlations
from onedial.scale.response_model import AT_BOUND
from onedial.scale.study.panel_fit import Finding, PanelFit
from onedial.scale.study.rule import OBJECTIONS
from onedial.stats.answers import names
from onedial.stats.level import Z_95
from onedial.stats.multiple_tests import p_text

_HARDLY_ANY = 20.0
"""Log likelihood that guesses and any shape have to gain over one normal scale before pairs are tested with them: what
two respondents share can look like either."""
_RULE = OBJECTIONS["pair"]


def dependence(fit: PanelFit) -> Finding:
    """Pairs with something in common beyond the scale, how many of them are kin, and loadings that a pair can make."""
    residuals = _residuals(fit)
    pairs, violations = residuals.pairs, residuals.violations()
    finding = Finding(tables={"residuals": pairs})
    if len(violations):
        n, kin = len(violations), ""
        if fit.kin is not None:
            same = fit.kin[violations["first"]].to_numpy() == fit.kin[violations["second"]].to_numpy()
            kin = f"; {same.sum()} of them are of one {fit.kin.name}"
        finding.sentences.append(
            f"{n} of {len(pairs)} pairs {'has' if n == 1 else 'have'} a residual correlation of {_RULE.floor:g} or "
            f"more beyond the scale, most of all {_pair(violations.iloc[0])}{kin}."
        )
        finding.against.append(f"{n} {'pair shares' if n == 1 else 'pairs share'} something beyond the scale")
    else:
        power, first = residuals.power(_RULE.stated), pairs.iloc[0]
        stated = f"a pair of respondents with a residual correlation of {_RULE.stated:g}"
        most = f"; most of all {_pair(first)}, adjusted {p_text(first['q'])}" if first["q"] < 1 else ""
        finding.sentences.append(
            f"No pair of respondents is shown to share something beyond the scale ({stated} would be found in "
            f"{power:.0%}{most})."
        )
        if _RULE.unseen(power):
            finding.missed.append(stated)
    finding.sentences += _at_bound(fit)
    return finding


def _pair(row: pd.Series) -> str:
    """Two names and their residual correlation, where it is known to within 1."""
    size = f"{row['residual']:+.2f}" if Z_95 * row["se"] < 1 else "size not known"
    return f"{row['first']} and {row['second']} ({size})"


def _at_bound(fit: PanelFit) -> list[str]:
    """Loadings of 1 in words, each with whom it correlates most."""
    table, correlation = fit.response.respondents, fit.factor.tetrachoric.correlation
    with_whom = correlation.mask(np.eye(len(correlation), dtype=bool)).abs()
    each = [
        f"{name} (with {with_whom[name].idxmax()})"
        for name in table.index[table["status"] == AT_BOUND]
        if with_whom[name].notna().any()
    ]
    if not each:
        return []
    return [
        f"A loading of 1 is the work of few answers, or of a pair that shares something of its own: {names(each, 3)}."
    ]


def _residuals(fit: PanelFit) -> ResidualCorrelations:
    """On a normal scale; where guesses and any shape gain much, with them, unless it is one pair that they stand for:
    without one of the pair, half of what they gained is gone."""
    plain = residual_correlations(fit.fits, seed=fit.seed)
    if fit.gain_of_guesses < _HARDLY_ANY:
        return plain
    if len(named := plain.violations()) and named["residual"].iloc[0] > 0:
        others = fit.answers.select(fit.answers.respondents != named["second"].iloc[0])
        gain = PanelFit(others).gain_of_guesses
        if gain < min(_HARDLY_ANY, fit.gain_of_guesses / 2):
            return plain
    return residual_correlations(fit.fits, "histogram", "common", fit.seed)
