"""Why a target is not judged, or is judged with care, in a sentence with its numbers."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from onedial.show import number
from onedial.verdict import JUDGED, MIN_FITTING, MIN_OF_A_KIND, MIN_TEST


def why_left_out(row: pd.Series | Mapping[str, Any]) -> str:
    """What a target's status means for it.

    Args:
        row: of the table of matches.
    """
    status, n_test = str(row["status"]), int(row["n_test"])
    if status == "constant":
        always = "yes" if row["yes_rate"] > 0.5 else "no"
        return f"Left out: it says {always} to every question, so there is no choice to reproduce."
    if status == "few":
        if n_test < MIN_TEST:
            reason = f"{n_test} of its answers can be compared on the test questions, and it takes {MIN_TEST}"
        elif row["n_fitting"] < MIN_FITTING:
            reason = (
                f"{int(row['n_fitting'])} of its answers can be compared on the fitting questions, and it takes "
                f"{MIN_FITTING}"
            )
        else:
            reason = (
                f"of its {n_test} test answers under {MIN_OF_A_KIND} are {'yes' if row['yes_rate'] < 0.5 else 'no'} "
                f"(yes rate {number(row['yes_rate'], 2)})"
            )
        return f"Left out: {reason}."
    if status == "flat":
        return "Left out: over the whole range the dial moves the subject's yes rate by under .10 on its questions."
    if status == "edge":
        return (
            f"Judged, but not in the line of best magnitudes: its own {number(row['magnitude'])} lies at an end of the "
            "range that may be chosen from, so it is only a bound."
        )
    if status == "not monotone":
        return (
            "Judged, but not in the line of best magnitudes: the subject's yes rate falls somewhere as the magnitude "
            "rises."
        )
    return "Judged." if status in JUDGED else f"Left out: {status}."
