"""What a factor goes with: topics, levels and lengths of questions, families and framings of respondents.

A factor is named by the known differences that go with it: its scores over questions with what is known of the
questions, its loadings over respondents with what is known of them. For a label, eta squared is the share of variance
that lies between its groups; for a number, the squared correlation. Chance alone gives a label with G groups about
(G - 1) / (n - 1), so every share is compared with labels assigned at random.
"""

from typing import Any

import numpy as np
import pandas as pd

from onedial.core.errors import InputError
from onedial.stats.arrays import Booleans, Floats, Integers
from onedial.stats.level import p_value
from onedial.stats.multiple_tests import adjusted

_MOST_LEVELS = 12  # of a number that counts as a label


def name_factors(values: pd.DataFrame, known: pd.DataFrame, n_permutations: int = 999, seed: int = 0) -> pd.DataFrame:
    """How much each factor has to do with each column of what is known.

    Formula: eta squared = 1 - sum of squares within groups / total (text, or a number with at most twelve values), else
    r squared; p = (1 + #{permuted >= observed}) / (B + 1), adjusted by Benjamini and Hochberg over all cells.

    Args:
        values: (question or respondent, factor) scores or loadings. known: what is known of the same, one column each;
            rows are matched by name. n_permutations: B. seed: of the permutations.

    Returns:
        one row per factor and column: `factor, column, share, chance` (mean of the permuted shares), `highest` (the
        group with the highest mean, or + / - for a number), `p, q, n`; the largest share above chance first.
        Sign: share between 0 and 1.

    Raises:
        InputError: nothing is known of any row, or B < 1.

    R: `summary(lm(score ~ label))$r.squared`.

    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.standard_normal((400, 1)) + rng.standard_normal((400, 6)) > 0) * 1.0  # one scale
    >>> sums, lengths = pd.DataFrame({"first": answers.sum(axis=1)}), pd.DataFrame({"length": rng.random(400)})
    >>> name_factors(sums, lengths, 99).shape[0]
    1
    """
    if n_permutations < 1:
        raise InputError(f"n_permutations={n_permutations}; ask for at least 1")
    rows_known = values.index.intersection(known.index)
    if not len(rows_known):
        raise InputError("none of the rows is known by name; use the same names in both tables")
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for column in known:
        about = known[column].reindex(rows_known)
        for factor in values:
            score = values[factor].reindex(rows_known).to_numpy(dtype=float)
            there = np.isfinite(score) & about.notna().to_numpy()
            row = _row(score[there], about[there], n_permutations, rng)
            if row is not None:
                rows.append({"factor": factor, "column": column, **row})
    columns = ["factor", "column", "share", "chance", "highest", "p", "q", "n"]
    table = pd.DataFrame(rows, columns=columns)
    table["q"] = adjusted(table["p"].to_numpy(dtype=float))
    order = (table["share"] - table["chance"]).sort_values(ascending=False).index
    return table.reindex(order).reset_index(drop=True)


def _row(score: Floats, about: pd.Series, n_permutations: int, rng: np.random.Generator) -> dict[str, Any] | None:
    is_label = not pd.api.types.is_numeric_dtype(about) or about.nunique() <= _MOST_LEVELS
    distinct = about.nunique()
    if len(score) < 3 or distinct < 2 or (is_label and distinct > len(score) / 2) or np.ptp(score) == 0:
        return None
    dealt = rng.permuted(np.tile(score, (n_permutations, 1)), axis=1)
    if is_label:
        code, groups = pd.factorize(about)
        member = np.eye(len(groups), dtype=bool)[code]
        share, simulated = _eta_squared(score, member), _eta_squared(dealt, member)
        means = np.array([score[code == group].mean() for group in range(len(groups))])
        highest = str(groups[int(np.argmax(means))])
    else:
        x = about.to_numpy(dtype=float)
        share, simulated = _r_squared(score, x), _r_squared(dealt, x)
        highest = "+" if np.corrcoef(score, x)[0, 1] > 0 else "-"
    return {
        "share": float(share),
        "chance": float(simulated.mean()),
        "highest": highest,
        "p": p_value(float(share), simulated),
        "n": len(score),
    }


def _eta_squared(score: Floats, member: Booleans | Integers) -> Floats:
    centred = score - score.mean(axis=-1, keepdims=True)
    sums = centred @ member.astype(float)
    return (sums**2 / member.sum(axis=0)).sum(axis=-1) / (centred**2).sum(axis=-1)


def _r_squared(score: Floats, x: Floats) -> Floats:
    centred, known = score - score.mean(axis=-1, keepdims=True), x - x.mean()
    return (centred @ known) ** 2 / ((centred**2).sum(axis=-1) * (known**2).sum())
