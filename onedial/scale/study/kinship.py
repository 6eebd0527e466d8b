"""How alike the respondents of a panel answer, within and between base models.

    python -m onedial.scale.study.kinship embedded
    python -m onedial.scale.study.kinship PANEL --least .05

Framings of one base model share what the model finds hard. Where they correlate highly with each other and hardly with
those of other models, a panel of many respondents holds as many difficulties as it has base models, and a count of
targets says little about how often a result was found.

Correlations are tetrachoric (`tetrachoric`): positive where two respondents say yes to the same questions
once their yes rates are accounted for. Agreement is the plain share of equal answers over the questions that both
answered.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from onedial.asking.tables import listed
from onedial.core.cards import one_line
from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.options import Options, option, parse_options
from onedial.panels.keying import keyed
from onedial.panels.panel_files import load_panel
from onedial.panels.panels import ResponseMatrix

LEAST = 0.05
"""Respondents with a yes rate below this, or above 1 minus this, are left out: their correlations are hardly known."""
NEAR_COPY = 0.93
"""Two respondents that agree on a larger share of their questions answer nearly as one."""


@dataclass(frozen=True)
class Kinship:
    """Pairs of respondents.

    Attributes:
        pairs: `first, second, same_model, correlation, agreement, n` (questions that both answered), one row per pair.
        summary: index within, between; `pairs, mean, lowest, highest` of the correlations.
        eigenvalue_shares: of the correlation matrix, from the largest, as shares of their number; empty where a
            correlation is unknown.
        kept: the respondents compared. left_out: those with too extreme a yes rate.
        n_models: base models among the kept.
    """

    pairs: pd.DataFrame
    summary: pd.DataFrame
    eigenvalue_shares: np.ndarray
    kept: tuple[str, ...]
    left_out: tuple[str, ...]
    n_models: int

    __repr__ = one_line

    def near_copies(self, agreement: float = NEAR_COPY) -> pd.DataFrame:
        """Pairs that agree on more than this share, from the closest."""
        near = self.pairs[self.pairs["agreement"] > agreement]
        return near.sort_values("agreement", ascending=False, ignore_index=True)


def kinship_of(panel: ResponseMatrix, least: float = LEAST) -> Kinship:
    """Compare every pair of respondents.

    Args:
        panel: with the base model of each respondent.
        least: smallest yes rate, and smallest rate of no, of a respondent that is compared.

    Raises:
        InputError: fewer than two respondents are left.

    >>> from onedial.panels import load_panel
    >>> kinship_of(load_panel("embedded")).n_models
    4
    """
    rates = panel.answers.mean()
    is_kept = (rates >= least) & (rates <= 1 - least)
    kept, left_out = list(rates.index[is_kept]), list(rates.index[~is_kept])
    if len(kept) < 2:
        raise InputError(
            f"{len(kept)} of {len(rates)} respondents have a yes rate between {least:g} and {1 - least:g}; "
            "give a panel with two of them at least, or a smaller --least"
        )
    from onedial.scale.correlations.tetrachoric import (
        tetrachoric,  # takes a second to load, which a start without it need not wait for
    )

    answers, models = panel.answers[kept], panel.respondents.loc[kept, "model"].to_numpy()
    correlation = tetrachoric(answers).correlation.to_numpy()
    values = answers.to_numpy(dtype=float)
    both = (~np.isnan(values)).astype(float)
    yes, no = (values == 1).astype(float), (values == 0).astype(float)
    n, equal = both.T @ both, yes.T @ yes + no.T @ no
    first, second = np.triu_indices(len(kept), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        agreement = (equal / n)[first, second]
    pairs = pd.DataFrame(
        {
            "first": np.array(kept, dtype=object)[first],
            "second": np.array(kept, dtype=object)[second],
            "same_model": models[first] == models[second],
            "correlation": correlation[first, second],
            "agreement": agreement,
            "n": n[first, second].astype(int),
        }
    )
    return Kinship(
        pairs=pairs,
        summary=_summary(pairs),
        eigenvalue_shares=_eigenvalue_shares(correlation),
        kept=tuple(kept),
        left_out=tuple(left_out),
        n_models=len(set(models)),
    )


def _summary(pairs: pd.DataFrame) -> pd.DataFrame:
    rows = {}
    for name, is_same in (("within", True), ("between", False)):
        known = pairs.loc[pairs["same_model"] == is_same, "correlation"].dropna()
        rows[name] = {"pairs": len(known), "mean": known.mean(), "lowest": known.min(), "highest": known.max()}
    return pd.DataFrame.from_dict(rows, orient="index")


def _eigenvalue_shares(correlation: np.ndarray) -> np.ndarray:
    if np.isnan(correlation).any():
        return np.array([])
    return np.linalg.eigvalsh(correlation)[::-1] / len(correlation)


@dataclass(frozen=True, kw_only=True)
class KinshipOptions(Options):
    """Whose answers are compared."""

    panel: str = option(..., "embedded, frontier (refusal, not ability), or a file", positional=True)
    respondents: str | None = option(None, "table with respondent, model (default: respondents.csv beside the panel)")
    least: float = option(LEAST, "smallest yes rate and no rate", at_least=0, below=0.5)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse_options(KinshipOptions, __doc__, arguments, "python -m onedial.scale.study.kinship")
    found = kinship_of(keyed(load_panel(options.panel, options.respondents)), options.least)
    print(f"{len(found.kept)} respondents of {found.n_models} base models", end="")
    print(f"; left out for their yes rates: {listed(found.left_out)}" if found.left_out else "")
    print(f"\ntetrachoric correlations within and between base models:\n{found.summary.round(2).to_string()}")
    shares = ", ".join(f"{share:.3f}" for share in found.eigenvalue_shares[:8])
    print(f"\neigenvalues as shares of the variance: {shares or 'not known: a correlation is missing'}")
    near = found.near_copies()
    print(f"\npairs that agree on more than {NEAR_COPY:.0%} of their questions: {len(near)}")
    if len(near):
        print(near.drop(columns="same_model").round(3).to_string(index=False))


if __name__ == "__main__":
    sys.exit(run_command(main))
