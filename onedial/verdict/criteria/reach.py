"""Whether the dial reaches the targets: an unusable dial refutes nothing."""

import numpy as np

from onedial.verdict.case import Case
from onedial.verdict.criteria.status import CONSTANT


def reached_share(case: Case) -> float:
    """Compute the share of the targets whose yes rate on the fitting split the readable magnitudes reach.

    Targets that always give one answer are left aside; nan where there is no other.
    """
    given = case.given[case.fitting][:, case.status != CONSTANT]
    answered = (~np.isnan(given)).any(axis=0)
    if not answered.any():
        return float("nan")
    rates = np.nanmean(given[:, answered], axis=0)
    reached = np.nanmean(case.answers[case.fitting][:, case.allowed], axis=0)
    return float(((rates >= reached.min()) & (rates <= reached.max())).mean())
