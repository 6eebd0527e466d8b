"""What each criterion's magnitudes give: how well they follow the thresholds, and the kappa that they reach."""

import numpy as np
import pandas as pd

from onedial.stats import N_RESAMPLES, average_within_models, count, count_resampled, groups_among, interval
from onedial.verdict.criteria.criteria import AGREEMENT, CRITERIA
from onedial.verdict.criteria.nulls import line_null, r_squared
from onedial.verdict.criteria.status import JUDGED, OK
from onedial.verdict.match import TargetMatches

CRITERIA_COLUMNS = ["n_line", "r2", "r2_null_median", "r2_null_95", "n_judged", "kappa", "low", "high"]
_PERMUTATIONS = 499
_FEWEST = 3
"""Targets that a line takes."""


def criteria_table(matches: TargetMatches, n_bootstrap: int = N_RESAMPLES, seed: int = 0) -> pd.DataFrame:
    """One row for each of `CRITERIA` that the targets were matched by. It decides nothing: the verdict rests on two.

    Returns:
        Index criterion; R^2 of its magnitudes on the thresholds over the n_line targets of status `ok`, beside the
        median and the 95% point of R^2 with the panel's rows permuted; and the mean test kappa of the n_judged targets
        at its magnitudes, over base models, with its 95% interval over questions (no variation or nothing read: 0).
        Wordings of one question are permuted and drawn together.

    >>> from onedial.verdict import match_targets
    >>> from onedial.verdict.simulation import dial_order_targets, simulate_sweep
    >>> rng = np.random.default_rng(0)
    >>> sweep = simulate_sweep(rng, 200, 11)
    >>> panel = dial_order_targets(rng, sweep, 6)
    >>> criteria_table(match_targets(sweep, panel, n_bootstrap=99), 99).index.tolist()
    ['agreement', 'rate']
    """
    table, evidence = matches.table, matches.evidence
    thresholds = table["threshold"].to_numpy(float)
    judged = table["status"].isin(JUDGED).to_numpy()
    models = table["model"].to_numpy()[judged]
    fitting, test = (groups_among(evidence.wordings, rows) for rows in (evidence.fitting_rows, evidence.test_rows))
    rows = {}
    for name in (name for name in CRITERIA if name == AGREEMENT or name in evidence.matched):
        magnitudes = table["magnitude" if name == AGREEMENT else f"magnitude_{name}"].to_numpy(float)
        ok = np.isfinite(thresholds) & np.isfinite(magnitudes) & (table["status"] == OK).to_numpy()
        r2, null = np.nan, np.array([np.nan])
        if ok.sum() >= _FEWEST:
            given = evidence.fitting_targets[:, ok]
            r2 = float(r_squared(thresholds[ok], magnitudes[ok]))
            null = line_null(
                name, evidence.fitting_margins, given, evidence.magnitudes, thresholds[ok], _PERMUTATIONS, seed, fitting
            )
        median, upper = np.nanquantile(null, [0.5, 0.95]) if np.isfinite(null).any() else (np.nan, np.nan)
        kappa, ends = np.nan, np.array([np.nan, np.nan])
        if judged.any():
            answers = (evidence.steered if name == AGREEMENT else evidence.matched[name])[:, judged]
            given = evidence.test_targets[:, judged]
            kappa = float(average_within_models(np.nan_to_num(count(answers, given).kappa()), models))
            drawn = np.nan_to_num(count_resampled(answers, given, n_bootstrap, seed, test).kappa())
            ends = np.array(interval(average_within_models(drawn, models)))
        rows[name] = [int(ok.sum()), r2, median, upper, int(judged.sum()), kappa, *map(float, ends)]
    return pd.DataFrame.from_dict(rows, orient="index", columns=CRITERIA_COLUMNS).rename_axis("criterion")
