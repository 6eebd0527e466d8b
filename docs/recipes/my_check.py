"""A check of the scale: a question to a panel, and what is found.

Its sentences stand under the title, tables become CSV, numbers go to summary.json, and what is `against` one scale
joins the verdict. `fit` holds the panel and what the other checks computed of it.

    python experiments/study_panel.py frontier --deep --replicates 0 --plugin my_check.py --out runs/checked
"""

import numpy as np
import pandas as pd

from onedial.scale import CHECKS, Check, Finding


def early_and_late(fit):
    """Does anybody say yes more often to the first half of the questions, or to the second?"""
    said_yes = np.where(fit.answers.answered, fit.answers.yes, np.nan)
    half = len(said_yes) // 2
    rates = {"early": np.nanmean(said_yes[:half], axis=0), "late": np.nanmean(said_yes[half:], axis=0)}
    table = pd.DataFrame(rates, fit.answers.respondents)
    moved = (table["late"] - table["early"]).abs()
    return Finding(
        sentences=[f"Between the halves of the list yes rates differ by up to {moved.max():.0%} ({moved.idxmax()})."],
        tables={"early_and_late": table},
        numbers={"early_and_late": float(moved.max())},
        against=["the order of the questions counts"] if moved.max() > 0.2 else [],
    )


CHECKS["early and late"] = Check("Does the order of the questions matter?", early_and_late)
