"""Is the dial's order about knowing? Whether what turns early is what somebody gets right.

    subject_correct  P(ease of a question that the subject then answers correctly > of one that it does not)
    target_correct   the same for each target's correctness
    yes_within_right, yes_within_wrong
                     how well the order puts the target's yes above its no, among the questions that it gets right, and
                     among those that it gets wrong: an order that only knows who is right says nothing within either
    n_within_right, n_within_wrong
                     questions that these two rest on: placed, graded so, and answered with yes or no by the target

.5 is an order that knows nothing. Correctness is that of closed-book answers, where the panel has them.
"""

import numpy as np
import pandas as pd

from onedial.stats.level import QUANTILES_95
from onedial.stats.resampling import counted_once
from onedial.stats.roc import auc, auc_resampled
from onedial.verdict.case import Case

KNOWING_COLUMNS = ["n_graded", "target_correct", "low", "high", "yes_within_right", "yes_within_wrong"]
KNOWING_COLUMNS += ["n_within_right", "n_within_wrong"]
SUBJECT = "(subject)"
FEWEST = 10


def knowing_table(
    case: Case, correctness: pd.DataFrame | None, subject_correct: pd.Series | None
) -> pd.DataFrame | None:
    """Make a row for the subject and each target whose correctness is known on ten questions of a kind or more.

    Args:
        correctness: question x target (1, 0, nan). subject_correct: question.

    Returns:
        Index respondent (the subject's row is `SUBJECT`); columns `KNOWING_COLUMNS`, 95% intervals over questions,
        wordings of one together;
        None where nobody's correctness is known.
    """
    ease, ordered, groups = case.orders[0], case.questions[case.ordered], case.groups(case.ordered)
    known: dict[str, np.ndarray] = {}
    if subject_correct is not None:
        known[SUBJECT] = subject_correct.reindex(ordered).to_numpy(float)
    if correctness is not None:
        known |= {
            str(target): correctness[target].reindex(ordered).to_numpy(float)
            for target in case.targets
            if target in correctness
        }
    rows = {}
    for name, right in known.items():
        graded = ~np.isnan(right) & ~np.isnan(ease)
        if counted_once(np.stack([right == 1, right == 0], axis=1) & graded[:, None], groups).min() < FEWEST:
            continue
        low, high = np.nanquantile(
            auc_resampled(ease, right[:, None], case.n_resamples, case.seed, groups)[:, 0], QUANTILES_95
        )
        within, counts = [np.nan, np.nan], [0, 0]
        if name != SUBJECT:
            given = case.given[case.ordered, case.targets.get_loc(name)]
            within = [float(auc(ease, np.where(right == kind, given, np.nan)[:, None])[0]) for kind in (1, 0)]
            counts = [int((graded & (right == kind) & ~np.isnan(given)).sum()) for kind in (1, 0)]
        rows[name] = [int(graded.sum()), float(auc(ease, right[:, None])[0]), float(low), float(high), *within, *counts]
    if not rows:
        return None
    return pd.DataFrame.from_dict(rows, orient="index", columns=KNOWING_COLUMNS).rename_axis("respondent")
