"""Is a questionnaire answered as one scale, and alike each time? Alpha, intraclass correlations, revision, mixed model.

Coherence is not validity. Alpha is of models as persons: repeats of one model have nothing but noise to vary by. The
intraclass correlation is of ratings as they were said: recoded, whoever says 3 to everything would differ between
statements by their keys alone, and agree with itself perfectly. What does not vary has neither, and is nan.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import f as f_distribution

from onedial.core.errors import InputError
from onedial.stats.arrays import Floats
from onedial.stats.intervals import resampled_interval, unit_weights
from onedial.stats.level import QUANTILES_95


@dataclass(frozen=True)
class IntraclassCorrelation:
    """Two-way random effects, absolute agreement (McGraw and Wong, 1996).

    Attributes:
        single: ICC(A,1), of one administration. average: ICC(A,k), of the mean of all k.
        single_low, single_high, average_low, average_high: 95% intervals. n, k: targets and administrations that count.
    """

    single: float
    single_low: float
    single_high: float
    average: float
    average_low: float
    average_high: float
    n: int
    k: int


def cronbach_alpha(ratings: ArrayLike) -> float:
    """Compute the internal consistency of a scale.

    Formula: k / (k - 1) (1 - sum of item variances / variance of the sum), over rows without a gap (Cronbach, 1951,
    Psychometrika 16, 297-334).

    Args:
        ratings: (person, item), here model x item, reversed items recoded.

    Returns:
        alpha, higher = more coherent; nan for fewer than two items or rows, or where the sums do not vary, as when all
        answers are identical.

    R: `psych::alpha(x)$total$raw_alpha`.

    Sign: higher = items that agree more.
    """
    values = _whole(ratings)
    n, k = values.shape
    if n < 2 or k < 2:
        return float("nan")
    total = values.sum(axis=1).var(ddof=1)
    return float(k / (k - 1) * (1 - values.var(axis=0, ddof=1).sum() / total)) if total > 1e-12 else float("nan")


def intraclass_correlation(ratings: ArrayLike) -> IntraclassCorrelation:
    """Measure how administrations agree on the same targets, differences in level counting as disagreement.

    Formula: with mean squares of rows R, columns C and error E over n rows and k columns,
    ICC(A,1) = (R - E) / (R + (k - 1) E + k (C - E) / n), ICC(A,k) = (R - E) / (R + (C - E) / n); intervals by the F of
    McGraw and Wong (1996), Psychological Methods 1, 30-46.

    Args:
        ratings: (target, administration), for example item x administration; rows with a gap are left out.

    Returns:
        IntraclassCorrelation; nan where the targets do not differ at all, or there are fewer than two of either.

    R: `irr::icc(x, model = "twoway", type = "agreement", unit = "single")`, and unit = "average".

    Sign: higher = administrations that agree more.
    """
    values = _whole(ratings)
    n, k = values.shape
    nan = float("nan")
    if n < 2 or k < 2:
        return IntraclassCorrelation(nan, nan, nan, nan, nan, nan, n, k)
    rows, columns, grand = values.mean(axis=1), values.mean(axis=0), values.mean()
    between = k * ((rows - grand) ** 2).sum() / (n - 1)
    across = n * ((columns - grand) ** 2).sum() / (k - 1)
    error = ((values - rows[:, None] - columns + grand) ** 2).sum() / ((n - 1) * (k - 1))
    if between <= 1e-12:
        return IntraclassCorrelation(nan, nan, nan, nan, nan, nan, n, k)
    single = (between - error) / (between + (k - 1) * error + k * (across - error) / n)
    average = (between - error) / (between + (across - error) / n)
    if error <= 1e-12 and across <= 1e-12:
        return IntraclassCorrelation(1.0, 1.0, 1.0, 1.0, 1.0, 1.0, n, k)
    a = k * single / (n * (1 - single))
    b = 1 + k * single * (n - 1) / (n * (1 - single))
    df = (a * across + b * error) ** 2 / ((a * across) ** 2 / (k - 1) + (b * error) ** 2 / ((n - 1) * (k - 1)))
    upper, lower = f_distribution.ppf(QUANTILES_95[1], n - 1, df), f_distribution.ppf(QUANTILES_95[1], df, n - 1)
    spread = k * across + (k * n - k - n) * error
    low = n * (between - upper * error) / (upper * spread + n * between)
    high = n * (lower * between - error) / (spread + n * lower * between)
    average_ends = [k * end / (1 + (k - 1) * end) for end in (low, high)]
    return IntraclassCorrelation(
        float(single), float(low), float(high), float(average), float(average_ends[0]), float(average_ends[1]), n, k
    )


def identical_share(ratings: ArrayLike) -> tuple[float, int]:
    """Count the targets that were rated the same in all administrations, and those that were read in all.

    Formula: targets whose ratings are all equal / targets without a missing rating.

    Args:
        ratings: target x administration, nan = unread.

    Returns:
        (share, number of targets). Sign: higher = more stable.

    R: `irr::agree(x)`.
    """
    values = _whole(ratings)
    if not len(values):
        return float("nan"), 0
    return float((values == values[:, :1]).all(axis=1).mean()), len(values)


def balanced_mean(ratings: pd.DataFrame, column: str = "rating") -> float:
    """Average a scale in which a constant answer scores its middle.

    Formula: (mean over the statements that speak for it + mean over the reversed ones, recoded) / 2; the plain
    mean where all statements are of one kind.

    Args:
        ratings: columns reversed (whether the statement is) and the one averaged; nan is left out.

    Returns:
        points of the scale. Sign: higher = more of what is measured.

    >>> answers = pd.DataFrame({"reversed": [False, False, True], "rating": [3.0, 3.0, 2.0]})  # 3 throughout, of 1 to 4
    >>> balanced_mean(answers)
    2.5
    """
    return float(ratings.groupby("reversed")[column].mean().mean())


def revisions(ratings: pd.DataFrame, n_bootstrap: int = 1999, seed: int = 0) -> pd.DataFrame:
    """Measure what each follow-up does to the ratings, and what sets the wordings apart.

    Formula: change = rating after - rating before, per item and administration; deference = mean change after
    encouraging - mean change after doubting wording, over those asked in both: 0 = the wording does not matter. Where
    all change alike, others are thought to change by as much as ratings differ, or by a step (`resampled_interval`).

    Args:
        ratings: columns condition, administration, item, follow_up ("" for the first), rating.
        n_bootstrap: over items. seed: of it.

    Returns:
        index follow-up, then "deference"; n, n_unread, change, low, high, up, down (shares).

    Sign: positive = the rating rose.
    """
    key = ["condition", "administration", "item"]
    wide = ratings.pivot_table(index=key, columns="follow_up", values="rating", dropna=False)
    if "" not in wide:
        raise InputError("the ratings hold no first rating (follow_up blank); give those as well")
    wide = wide[wide[""].notna()]
    changes = {name: wide[name] - wide[""] for name in wide.columns if name}
    if {"encouraging", "doubting"} <= changes.keys():
        changes["deference"] = changes["encouraging"] - changes["doubting"]
    items, codes = np.unique(wide.index.get_level_values("item"), return_inverse=True)
    draws = unit_weights(np.arange(len(items)), n_bootstrap, seed)
    reach = max(1.0, float(ratings["rating"].max() - ratings["rating"].min()))
    rows = {}
    for name, change in changes.items():
        known = change.notna().to_numpy()
        values = change.fillna(0).to_numpy()
        sums = np.bincount(codes, values * known, minlength=len(items))
        counts = np.bincount(codes, known, minlength=len(items))
        with np.errstate(invalid="ignore", divide="ignore"):
            means = (draws @ sums) / (draws @ counts)
        low, high = resampled_interval(float(change.mean()), means, int((counts > 0).sum()), -reach, reach)
        rows[name] = {
            "n": int(known.sum()),
            "n_unread": int((~known).sum()),
            "change": float(change.mean()),
            "low": low,
            "high": high,
            "up": float((change[known] > 0).mean()),
            "down": float((change[known] < 0).mean()),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("follow_up")


def rating_model(ratings: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Fit a mixed model of the ratings: condition and model fixed, items random.

    Formula: rating = a + condition + model + item, item ~ N(0, s^2), by restricted maximum likelihood
    (`statsmodels.MixedLM`).

    Args:
        ratings: columns rating, condition, item, and model where there are several; rows without a rating are left out.
        reference: the condition that the others are compared with.

    Returns:
        index term; estimate, se, low, high, p. Sign: positive = rated higher than under the reference. All nan where
        no item's ratings vary or the model cannot be fitted.

    R: `lme4::lmer(rating ~ condition + model + (1 | item))`.
    """
    import warnings

    import statsmodels.formula.api as smf

    table = ratings[ratings["rating"].notna()].copy()
    levels = {"condition": [reference, *table["condition"]], "model": [*table.get("model", [])]}
    levels = {name: list(dict.fromkeys(levels_of_one)) for name, levels_of_one in levels.items()}
    for name in (compared := [name for name, levels_of_one in levels.items() if len(levels_of_one) > 1]):
        table[name] = pd.Categorical(table[name], levels[name])  # the first is what the others are compared with
    terms = [f"{name}: {level}" for name in compared for level in levels[name][1:]]
    empty = pd.DataFrame(np.nan, pd.Index(terms, name="term"), ["estimate", "se", "low", "high", "p"])
    varies = (table.groupby("item")["rating"].nunique() > 1).any()  # items differ by their keys alone
    if not terms or not varies or table["item"].nunique() < 2:
        return empty
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fit = smf.mixedlm("rating ~ " + " + ".join(compared), table, groups=table["item"]).fit(reml=True)
        except np.linalg.LinAlgError:
            return empty
    coefficients = pd.concat([fit.params, fit.bse, fit.conf_int(), fit.pvalues], axis=1).iloc[1 : len(terms) + 1]
    return coefficients.set_axis(empty.columns, axis=1).set_axis(empty.index)


def _whole(ratings: ArrayLike) -> Floats:
    values = np.asarray(ratings, dtype=float)
    if values.ndim != 2:
        raise InputError(f"ratings of shape {values.shape}; give a table with two sides")
    return np.asarray(values[np.isfinite(values).all(axis=1)])
