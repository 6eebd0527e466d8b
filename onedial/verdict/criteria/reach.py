"""Whether the dial reaches the targets: an unusable dial refutes nothing."""

import numpy as np

from onedial.verdict.criteria.status import CONSTANT
from onedial.verdict.match import TargetMatches


def reached_share(matches: TargetMatches) -> float:
    """Share of the targets whose yes rate on the fitting split lies within what the readable magnitudes reach.

    Targets that always give one answer are left aside; nan where there is no other.
    """
    evidence = matches.evidence
    wanted = (matches.table["status"] != CONSTANT).to_numpy()
    given = evidence.fitting_targets[:, wanted]
    answered = (~np.isnan(given)).any(axis=0)
    if not answered.any():
        return float("nan")
    rates = np.nanmean(given[:, answered], axis=0)
    reached = np.nanmean(evidence.fitting_subject, axis=0)
    return float(((rates >= reached.min()) & (rates <= reached.max())).mean())
