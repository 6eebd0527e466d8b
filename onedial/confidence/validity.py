"""Screening before reading: does a respondent's confidence say anything of its own answers?

From the 2 x 2 table of right and wrong answers against yes and no (or confidence above and below a cut), the indices
that J.-P. Cacioli (2026, arXiv 2604.17707) took over from clinical questionnaires:

    L     share of yes where the answer is wrong: .95 or more, and its interval above .90, is invalid
    Fp    share of no where the answer is right: .50 or more, and its interval above .40, is invalid
    RBS   Fp - (1 - L), above 0 where no marks right answers more than wrong ones: invalid where its interval is above 0
    TRIN  share of the more frequent answer; .95 or more is a warning

They are about one cut: a respondent whose numbers tell right from wrong answers well breaks them where the cut lies
badly, and a coin passes them half of the time, since its RBS lies on either side of 0. So beside them stands what needs
no cut and a coin does not have: an AUROC of confidence for being right whose 95% interval lies above .5.
"""

from typing import Any

import numpy as np
import pandas as pd

from onedial.confidence.calibration import aligned
from onedial.stats.level import Z_95
from onedial.stats.roc import roc_area, roc_area_interval
from onedial.stats.shares import wilson_interval

VALID, UNCLEAR, INVALID, TOO_FEW = "valid", "indeterminate", "invalid", "too few"
FEWEST_IN_CELL = 5
_L, _L_LOW, _FP, _FP_LOW, _TRIN, _CHANCE = 0.95, 0.90, 0.50, 0.40, 0.95, 0.5


def screen_confidence(said: Any, correctness: Any, confidence: pd.DataFrame | None = None) -> pd.DataFrame:
    """Screen every respondent of a panel before anything is read from its confidence.

    Formula: above; Wilson's intervals for L and Fp, a normal one for RBS, Newcombe's for the AUROC (questions
    independent: too narrow where topics are shared).

    Args:
        said: question x respondent, 1 = yes (confidence above the cut), 0 = no, nan = unread.
        correctness: the same form, 1 = right. Cells known in both count.
        confidence: the same labels, any numbers, higher = surer; None takes the yes and no for the AUROC.

    Returns:
        index respondent; n, n_right, n_wrong, fewest_in_cell, l, fp and rbs (each with _low and _high), trin, auroc,
        auroc_low, auroc_high; `tells`: the AUROC's interval lies above .5; `tier`: valid, indeterminate (a limit is
        passed, its interval's is not), invalid, or too few (under five answers in a cell); `why`: the rules broken.
        Sign: higher l = surer of wrong answers, higher auroc = tells right from wrong.

    Raises:
        InputError: the matrices do not belong together.

    Python: `validity_screen.screen` for the indices and the tier.

    >>> import pandas as pd
    >>> right = [1] * 60 + [0] * 40
    >>> said = {"knows": [1] * 50 + [0] * 30 + [1] * 20, "yes-sayer": [1] * 55 + [0] * 5 + [1] * 35 + [0] * 5}
    >>> found = screen_confidence(pd.DataFrame(said), pd.DataFrame({name: right for name in said}))
    >>> print(found[["l", "fp", "rbs", "auroc", "tells", "tier"]].round(2).to_string(index_names=False))
                  l    fp   rbs  auroc  tells   tier
    knows      0.50  0.17 -0.33   0.67   True  valid
    yes-sayer  0.88  0.08 -0.04   0.52  False  valid
    """
    yes, right = aligned(said, correctness)
    sure = yes if confidence is None else confidence.reindex(index=yes.index, columns=yes.columns).astype(float)
    table = pd.DataFrame({"n": yes.notna().sum(), "n_right": right.sum(), "n_wrong": (1 - right).sum()})
    cells = {"yes_right": yes * right, "yes_wrong": yes * (1 - right)}
    cells |= {"no_right": (1 - yes) * right, "no_wrong": (1 - yes) * (1 - right)}
    table = table.assign(**{name: cell.sum() for name, cell in cells.items()}).astype(int)
    areas = pd.DataFrame([_area(sure[name], right[name]) for name in yes], index=table.index)
    table = _indices(table.join(areas).rename_axis("respondent"))
    return _judged(table).drop(columns=list(cells))


def screening_sentence(table: pd.DataFrame) -> str:
    """Whose confidence tells right from wrong, and whose yes and no breaks the published rules.

    Args:
        table: of `screen_confidence`.

    Returns:
        Two sentences.

    >>> said = pd.DataFrame({"knows": [1] * 50 + [0] * 30 + [1] * 20, "always": [1] * 100})
    >>> right = pd.DataFrame({name: [1] * 60 + [0] * 40 for name in said})
    >>> print(screening_sentence(screen_confidence(said, right)).partition(";")[0])
    The confidence of 1 of 2 tells their right from their wrong answers
    """
    mute = list(map(str, table.index[~table["tells"]]))
    words = f"The confidence of {len(table) - len(mute)} of {len(table)} tells their right from their wrong answers"
    words += f"; not shown for {', '.join(mute)}." if mute else "."
    tiers = [
        f"{kind}: {', '.join(map(str, table.index[table['tier'] == kind]))}"
        for kind in (INVALID, UNCLEAR, TOO_FEW)
        if (table["tier"] == kind).any()
    ]
    n_valid = int((table["tier"] == VALID).sum())
    out = f" ({'; '.join(tiers)})" if tiers else ""
    return f"{words} By the indices of validity at this cut {n_valid} are valid{out}."


def _area(scores: "pd.Series[float]", right: "pd.Series[float]") -> dict[str, float]:
    known = scores.notna() & right.notna()
    n_right, n_wrong = int(right[known].sum()), int((1 - right[known]).sum())
    if not n_right or not n_wrong:
        return dict.fromkeys(("auroc", "auroc_low", "auroc_high"), np.nan)
    area = float(roc_area(scores[known], right[known]))
    low, high = roc_area_interval(area, n_right, n_wrong)
    return {"auroc": area, "auroc_low": low, "auroc_high": high}


def _indices(table: pd.DataFrame) -> pd.DataFrame:
    table["fewest_in_cell"] = table[["yes_right", "yes_wrong", "no_right", "no_wrong"]].min(axis=1)
    variance = pd.Series(0.0, index=table.index)
    for name, part, whole in (("l", "yes_wrong", "n_wrong"), ("fp", "no_right", "n_right")):
        table[name] = table[part] / table[whole].where(table[whole] > 0)
        table[f"{name}_low"], table[f"{name}_high"] = wilson_interval(table[part], table[whole])
        variance += table[name] * (1 - table[name]) / table[whole]
    table["rbs"] = table["fp"] - (1 - table["l"])
    table["rbs_low"], table["rbs_high"] = (table["rbs"] + side * Z_95 * np.sqrt(variance) for side in (-1, 1))
    share = (table["yes_right"] + table["yes_wrong"]) / table["n"].where(table["n"] > 0)
    table["trin"] = np.maximum(share, 1 - share)
    return table


def _judged(table: pd.DataFrame) -> pd.DataFrame:
    few = table["fewest_in_cell"] < FEWEST_IN_CELL
    limits = {
        "sure of nearly all its wrong answers": (table["l"] >= _L, table["l_low"] > _L_LOW),
        "unsure of half its right answers": (table["fp"] >= _FP, table["fp_low"] > _FP_LOW),
        "not surer of right answers than of wrong ones": (table["rbs"] > 0, table["rbs_low"] > 0),
    }
    passed = pd.DataFrame({reason: beyond & ~few for reason, (beyond, _) in limits.items()})
    certain = np.logical_or.reduce([beyond & surely for beyond, surely in limits.values()])
    table["tells"] = table["auroc_low"] > _CHANCE
    table["tier"] = np.select([few, certain, passed.any(axis=1)], [TOO_FEW, INVALID, UNCLEAR], VALID)
    passed["nearly always the same answer"] = table["trin"] >= _TRIN
    table["why"] = ["; ".join(passed.columns[row]) for row in passed.to_numpy()]
    return table
