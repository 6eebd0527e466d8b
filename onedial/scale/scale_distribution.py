"""How are the questions spread over the scale, and what do loadings and thresholds become when the answer is used?

Tetrachoric correlations and the two-parameter model hold the scale to be normal. Where it is not (a long tail of hard
questions; questions that are safe or unsafe and little between) a normal model bends the loadings along the thresholds,
though every respondent follows the scale equally closely: a parabola that no rule for empty cells takes away.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from onedial.core.cards import one_line
from onedial.scale.factor.quadratic import parabola_r2
from onedial.scale.fits import Fits
from onedial.scale.likelihood import MarginalFit, Model, ScaleKind
from onedial.stats.arrays import Floats, number
from onedial.stats.level import LEVEL
from onedial.stats.multiple_tests import chi_squared_tail, p_text

KINDS: tuple[ScaleKind, ...] = ("normal", "smooth", "histogram")
EXTRA_PARAMETERS = {"normal": 0, "smooth": 2}  # beyond place and unit, which the curves leave open


@dataclass(frozen=True)
class ScaleDistribution:
    """The same panel on scales of three kinds.

    Attributes:
        comparison: index kind of scale; `n_parameters` of its shape (nan for the histogram: not fixed),
            `log_likelihood`, `gain` = 2 (log likelihood - that of the normal scale), `p` of the gain: chi-squared with
            2 degrees of freedom for `smooth`, nan for the histogram, whose gain has no such law. `skewness`, `kurtosis`
            (0 for a normal scale), `loadings_share` = mean squared loading, `quadratic_r2` = parabola of loading on
            threshold.
        loadings: (respondent, kind).
        weights: kind, `node` and `weight`: the distributions, of mean 0 and variance 1; node = easiness.
    """

    comparison: pd.DataFrame
    loadings: pd.DataFrame
    weights: pd.DataFrame

    __repr__ = one_line

    @property
    def is_normal(self) -> bool:
        """Whether the smooth alternative leaves normality standing."""
        return number(self.comparison, "smooth", "p") > LEVEL

    def sentences(self) -> list[str]:
        """What the comparison says."""

        def of(kind: ScaleKind, column: str) -> float:
            return number(self.comparison, kind, column)

        bent = f"bending it gains 2 x {max(0.0, of('smooth', 'gain')) / 2:.1f} of log likelihood with 2 parameters"
        p = of("smooth", "p")
        if self.is_normal:
            return [f"The scale may be normal: {bent} ({p_text(p)})."]
        skewness, kurtosis = of("histogram", "skewness"), of("histogram", "kurtosis")
        return [
            f"The scale is not normal: {bent} ({p_text(p)}), any distribution 2 x {of('histogram', 'gain') / 2:.1f} "
            f"(skewness {skewness:.1f}, excess kurtosis {kurtosis:.1f}).",
            f"With any distribution, loadings explain {of('histogram', 'loadings_share'):.0%} of the variance (normal "
            f"scale: {of('normal', 'loadings_share'):.0%}), and the parabola of loading on threshold has R^2 "
            f"{of('histogram', 'quadratic_r2'):.2f} (normal scale: {of('normal', 'quadratic_r2'):.2f}).",
        ]


def scale_distribution(matrix: Any) -> ScaleDistribution:
    """Fit the response model on a normal scale, a bent one, and a histogram.

    Formula: marginal maximum likelihood with the scale's distribution estimated along (`onedial.scale.likelihood`);
    likelihood ratio of `smooth` against normal: 2 (l1 - l0) ~ chi-squared(2) (Neyman, 1937, Skandinavisk
    Aktuarietidskrift 20, 149-199, for the alternative). The histogram has no such law.

    Args:
        matrix: question x respondent, 1 / 0 / nan; at least three respondents that vary.

    Returns:
        ScaleDistribution. Sign: gain > 0 speaks against normality; node higher = easier question.

    Raises:
        InputError: fewer than three respondents vary or hang together.

    R: `mirt::mirt(x, 1, "2PL", dentype = "EHW")` for the histogram, `dentype = "Gaussian"`; `dentype = "Davidian-4"` is
    another smooth alternative.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> scale_distribution(answers).is_normal
    True
    """
    panel = Fits.of(matrix)
    fits, whose = {kind: panel.fit(Model(kind)) for kind in KINDS}, panel.answers.respondents
    rows = {kind: _row(fit, fits["normal"]) for kind, fit in fits.items()}
    rows["smooth"]["p"] = chi_squared_tail(rows["smooth"]["gain"], 2)
    return ScaleDistribution(
        comparison=pd.DataFrame.from_dict(rows, orient="index").rename_axis("scale"),
        loadings=pd.DataFrame({kind: fit.curves.loading for kind, fit in fits.items()}, whose),
        weights=pd.concat(
            {kind: pd.DataFrame({"node": f.nodes, "weight": np.exp(f.log_weight)}) for kind, f in fits.items()},
            names=["scale", "position"],
        ),
    )


def moments(nodes: Floats, weights: Floats) -> tuple[float, float]:
    """Skewness and excess kurtosis of a distribution over nodes with mean 0 and variance 1."""
    return float(weights @ nodes**3), float(weights @ nodes**4 - 3)


def _row(fit: MarginalFit, normal: MarginalFit) -> dict[str, float]:
    skewness, kurtosis = moments(fit.nodes, np.exp(fit.log_weight))
    r2 = parabola_r2(fit.curves.loading[None], fit.curves.thresholds)[0] if len(fit.curves.slope) > 3 else float("nan")
    return {
        "n_parameters": EXTRA_PARAMETERS.get(fit.model.scale, float("nan")),
        "log_likelihood": fit.log_likelihood,
        "gain": 2 * (fit.log_likelihood - normal.log_likelihood),
        "p": float("nan"),
        "skewness": skewness,
        "kurtosis": kurtosis,
        "loadings_share": float((fit.curves.loading**2).mean()),
        "quadratic_r2": float(r2),
    }
