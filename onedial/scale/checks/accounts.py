"""What else would make the parabola of loading on threshold, and what a second factor, from one scale alone?

Four things that have nothing to do with how closely a respondent follows the scale bend loadings along thresholds and
leave a second eigenvalue behind: a scale that is not normal, answers at random (guesses, lapses, a constant answer)
that all give equally often, or each as often as it does, and both together. Each is a model that the panel is fitted
with. A parabola is explained by such an account if the account's own panels show one as strong though loadings have
nothing to do with thresholds, or if no bend is left among the loadings once the account is in the model. A second
factor is explained if the account's panels of one factor have a second eigenvalue as large. A finding stands if no
account explains it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from onedial.core.cards import one_line
from onedial.scale.factor.nulls import Counted, Nulls, Replicates, Simulated
from onedial.scale.factor.quadratic import bend_among, parabola_r2
from onedial.scale.likelihood import AsymptoteKind, MarginalFit, ScaleKind
from onedial.scale.specific.specific_factors import SpecificFactors, drawn_answers
from onedial.scale.standard_errors import loading_covariance
from onedial.stats.arrays import Floats
from onedial.stats.level import LEVEL, interval_95, p_value
from onedial.stats.multiple_tests import p_text

ACCOUNTS: dict[str, tuple[ScaleKind, AsymptoteKind]] = {
    "any scale": ("histogram", "none"),
    "random answers, all alike": ("normal", "common"),
    "random answers, each its own": ("normal", "own"),
    "any scale, random answers all alike": ("histogram", "common"),
    "any scale, random answers": ("histogram", "own"),
}
PLAIN = "normal scale"
"""No account but the one that is usually taken for granted."""


@dataclass(frozen=True)
class RivalAccounts:
    """One panel under the accounts.

    Attributes:
        table: index account, the usual model (`PLAIN`) first; `random_answers`, mean share of answers at random,
            `log_likelihood`, `loadings_share`, mean squared loading; `refitted_r2`, the parabola of the account's
            loadings on its thresholds, and `bend_p`, that they have none; `null_r2, null_low, null_high`, R^2 of the
            parabola by minres in the account's panels (mean and central 95%), and `r2_p`; `parabola_p`, the larger of
            the two p; `null_second`, mean second eigenvalue of the account's panels, and `second_p`.
        r2, second: parabola by minres, and second eigenvalue, of the panel.
    """

    table: pd.DataFrame
    r2: float
    second: float

    __repr__ = one_line

    def explaining(self, finding: str) -> pd.DataFrame:
        """The accounts that explain the `parabola` or the `second` factor, the most likely p first."""
        p = f"{finding}_p"
        return self.table[~(self.table[p] <= LEVEL)].sort_values(p, ascending=False)

    def stands(self, finding: str) -> bool:
        """Whether no account explains the `parabola`, or the `second` factor."""
        return not len(self.explaining(finding))

    def nearest(self, finding: str) -> tuple[ScaleKind, AsymptoteKind]:
        """Scale and asymptotes of the account that comes nearest to explaining the finding."""
        return ACCOUNTS[str(self.table.loc[list(ACCOUNTS), f"{finding}_p"].fillna(1.0).idxmax())]

    def sentence(self, finding: str) -> str:
        """Which accounts of the `parabola`, or of the `second` eigenvalue, remain possible."""
        r2, second = f"The parabola of loading on threshold (R^2 {self.r2:.2f})", self.second
        opening = r2 if finding == "parabola" else f"The second eigenvalue ({second:.2f})"
        explaining = self.explaining(finding)
        if PLAIN in explaining.index:
            p = p_text(explaining[f"{finding}_p"][PLAIN])
            return f"{opening} needs no further account: one normal scale alone would make it ({p})."
        if len(explaining):
            each = " or ".join(
                f"{self._phrase(str(name))} ({p_text(row[f'{finding}_p'])})" for name, row in explaining.iterrows()
            )
            return f"{opening} is also what {each} would make, from one scale."
        each = ", ".join(self._phrase(str(name)) for name in ACCOUNTS)
        return f"{opening} is explained by none of these: {each} (largest {p_text(self.table[f'{finding}_p'].max())})."

    def _phrase(self, account: str) -> str:
        share = f"{self.table['random_answers'][account]:.1%}"
        return {
            "any scale": "a scale of another shape",
            "random answers, all alike": f"random answers ({share}, all alike)",
            "random answers, each its own": f"random answers ({share}, each respondent its own)",
            "any scale, random answers all alike": f"both together ({share} random, all alike)",
            "any scale, random answers": f"both together ({share} random, each respondent its own)",
        }.get(account, account)


def rival_accounts(matrix: Any, **choices: Any) -> RivalAccounts:
    """Fit every account and ask whether it explains the parabola and the second factor.

    Formula: marginal maximum likelihood on a scale of that shape with those asymptotes (`response_model`).
    `r2_p = (1 + #{null R^2 >= observed}) / (B + 1)` as in `quadratic_fit_test`, `second_p` as in
    `one_factor_bootstrap`, both with answers of the account. `bend_p`: regression of the account's loadings on 1, t and
    t^2 of its thresholds, weighted by their covariance and a scatter of their own (F test with the scale factor of
    Knapp and Hartung, 2003, Statistics in Medicine 22, 2693-2710).

    Args:
        matrix, choices: as in `permutation_null`; six respondents for the parabola.

    Returns:
        RivalAccounts. Sign: small p = the account does not explain the finding.

    Raises:
        InputError: fewer than three respondents vary, or B < 1.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> hidden = 0.8 * rng.standard_normal((1000, 1)) + 0.6 * rng.standard_normal((1000, 12))
    >>> answers = hidden > np.linspace(-1.3, 1.3, 12)
    >>> guessed = np.where(rng.random(answers.shape) < 0.2, 1, answers)  # a fifth always yes
    >>> found = rival_accounts(guessed, n_replicates=49)
    >>> bool(found.table["parabola_p"]["normal scale"] <= 0.05), found.stands("parabola")
    (True, False)
    """
    nulls = Nulls.of(matrix, **choices)
    own, rows = nulls.observed(), {}
    r2, second = float(own.r2[0]), float(own.eigenvalues[0, 1])
    for name, account in {PLAIN: ("normal", "none"), **ACCOUNTS}.items():
        null_r2, null_second = nulls.drawn("unrelated", *account).r2, nulls.drawn("one factor", *account).eigenvalues
        rows[name] = _row(nulls.fits.null(*account)) | _beside(r2, null_r2, second, null_second[:, 1])
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("account")
    table["parabola_p"] = table[["r2_p", "bend_p"]].max(axis=1, skipna=False)
    return RivalAccounts(table, r2, second)


def kin_account(matrix: Any, specific: SpecificFactors, **choices: Any) -> Simulated:
    """The second eigenvalue against that of panels that have one scale and what each group of respondents shares.

    Formula: answers simulated from the model of `specific`, with its scale and its answers at random, every question
    drawn from its posterior, gaps where they are; p = (1 + #{simulated >= observed}) / (B + 1).

    Args:
        matrix, choices: as in `permutation_null`. specific: of the same matrix (`specific_factors`).

    Returns:
        Simulated. Sign: small p = the groups do not make the second factor.
    """
    nulls = Nulls.of(matrix, **choices)
    answered = nulls.answers.answered.astype(np.float32)
    draws = drawn_answers(specific.model.fit, nulls.n_replicates, np.random.default_rng(nulls.seed))
    counted = (Counted.of((yes[None].astype(np.float32) * answered, answered)) for yes in draws)
    null = Replicates.of(counted, nulls.thresholds, nulls.zero_cells)
    return Simulated.beside(nulls.observed().eigenvalues[0, 1], null.eigenvalues[:, 1])


def kin_bend(specific: SpecificFactors) -> float:
    """Whether loadings bend along thresholds once what groups of respondents share is in the model.

    Formula: the regression of `rival_accounts` (`bend_p`) for the general loadings of the model of `specific`, with
    their covariance, on its thresholds. Loadings of one scale alone take up what a group shares: a large or a close
    group pulls the scale towards itself, and with it the loadings of everybody who says yes about as often.

    Args:
        specific: of yes/no answers (`specific_factors`), best with any scale and each respondent's answers at random.

    Returns:
        p; nan with fewer than six respondents. Sign: small p = a bend is left.
    """
    fit = specific.model.fit
    m = len(fit.curves.slope)
    return bend_among(fit.curves.loading, fit.curves.thresholds[0], loading_covariance(fit)[:m, :m])


def _row(fit: MarginalFit) -> dict[str, float]:
    curves, several = fit.curves, len(fit.curves.slope) > 3
    return {
        "random_answers": float(1 - np.mean(curves.attentive)),
        "log_likelihood": fit.log_likelihood,
        "loadings_share": float((curves.loading**2).mean()),
        "refitted_r2": float(parabola_r2(curves.loading[None], curves.thresholds)[0]) if several else float("nan"),
        "bend_p": bend_among(curves.loading, curves.thresholds[0], loading_covariance(fit)),
    }


def _beside(r2: float, null_r2: Floats, second: float, null_second: Floats) -> dict[str, float]:
    low, high = interval_95(null_r2)
    return {
        "null_r2": float(np.nanmean(null_r2)) if np.isfinite(null_r2).any() else float("nan"),
        "null_low": low,
        "null_high": high,
        "r2_p": p_value(r2, null_r2),
        "null_second": float(null_second.mean()),
        "second_p": p_value(second, null_second),
    }
