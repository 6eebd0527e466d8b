"""Screening before reading: does a respondent's confidence say anything of its own answers?

It does where the AUROC of confidence for being right has its 95% interval above .5. That needs no cut, and a coin does
not have it.
"""

from typing import Any

import pandas as pd

from onedial.confidence.calibration import aligned
from onedial.stats.roc import roc_area, roc_area_interval

_CHANCE = 0.5


def screen_confidence(said_yes: Any, correctness: Any, confidence: pd.DataFrame | None = None) -> pd.DataFrame:
    """Screen every respondent of a panel before anything is read from its confidence.

    Formula: AUROC with Newcombe's interval (questions independent: too narrow where topics are shared).

    Args:
        said_yes: question x respondent, 1 = yes, 0 = no, nan = unread. correctness: the same form, 1 = right. Cells
            known in both count. confidence: the same labels, any numbers, higher = surer; None takes the yes and no.

    Returns:
        index respondent; n, n_right, n_wrong, auroc, auroc_low, auroc_high (nan where all are right, or all wrong), and
        `tells`: the interval lies above .5. Sign: higher auroc = tells right from wrong.

    Raises:
        InputError: the matrices do not belong together.

    >>> right = [1] * 60 + [0] * 40
    >>> answers = {"knows": [1] * 50 + [0] * 30 + [1] * 20, "yes-sayer": [1] * 55 + [0] * 5 + [1] * 35 + [0] * 5}
    >>> result = screen_confidence(pd.DataFrame(answers), pd.DataFrame({name: right for name in answers}))
    >>> print(result[["n_wrong", "auroc", "tells"]].round(2).to_string(index_names=False))
               n_wrong  auroc  tells
    knows           40   0.67   True
    yes-sayer       40   0.52  False
    """
    yes, right = aligned(said_yes, correctness)
    sure = yes if confidence is None else confidence.reindex(index=yes.index, columns=yes.columns).astype(float)
    table = pd.DataFrame({"n": yes.notna().sum(), "n_right": right.sum(), "n_wrong": (1 - right).sum()}).astype(int)
    areas = pd.DataFrame([_area(sure[name], right[name]) for name in yes], index=table.index)
    table = table.join(areas).rename_axis("respondent")
    return table.assign(tells=table["auroc_low"] > _CHANCE)


def screening_sentence(table: pd.DataFrame) -> str:
    """Whose confidence tells right from wrong.

    Args:
        table: of `screen_confidence`.

    >>> answers = pd.DataFrame({"knows": [1] * 50 + [0] * 30 + [1] * 20, "always": [1] * 100})
    >>> right = pd.DataFrame({name: [1] * 60 + [0] * 40 for name in answers})
    >>> screening_sentence(screen_confidence(answers, right))
    'The confidence of 1 of 2 tells their right from their wrong answers; not shown for always.'
    """
    mute = list(map(str, table.index[~table["tells"]]))
    words = f"The confidence of {len(table) - len(mute)} of {len(table)} tells their right from their wrong answers"
    return words + (f"; not shown for {', '.join(mute)}." if mute else ".")


def _area(scores: "pd.Series[float]", right: "pd.Series[float]") -> dict[str, float]:
    known = scores.notna() & right.notna()
    n_right, n_wrong = int(right[known].sum()), int((1 - right[known]).sum())
    area = float(roc_area(scores[known], right[known]))
    low, high = roc_area_interval(area, n_right, n_wrong)
    return {"auroc": area, "auroc_low": low, "auroc_high": high}
