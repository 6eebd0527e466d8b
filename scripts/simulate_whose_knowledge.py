"""How often a panel is said to know of itself what was planted in it (docs/instruments.md).

    python scripts/simulate_whose_knowledge.py                      # the table of the page; some minutes on a core
    python scripts/simulate_whose_knowledge.py --sets 20            # fewer panels of each kind
    python scripts/simulate_whose_knowledge.py --table found.csv    # kept as it grows, and gone on with

Eight respondents answer 300 questions. Whether one is right follows a scale that all share, and what the question is
to it alone; its confidence follows the scale, noise, and by .3 or .5 what the question is to it alone, or not at all.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from growing_table import GrowingTable

from onedial.core import positive, program_parser, run_command
from onedial.stats import LEVEL

N_QUESTIONS, N_RESPONDENTS = 300, 8
OWN = {"nothing of its own": 0.0, ".3 of its own": 0.3, ".5 of its own": 0.5}
SETS, RESAMPLES = 200, 199


def panel(own: float, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Confidence and correctness, question x respondent."""
    rng = np.random.default_rng([1, seed])
    shape = N_QUESTIONS, N_RESPONDENTS
    ease, private = rng.standard_normal((N_QUESTIONS, 1)), rng.standard_normal(shape)
    follows, skill = rng.uniform(0.4, 1.2, N_RESPONDENTS), rng.uniform(0.5, 1.5, N_RESPONDENTS)
    correct = skill * ease + private > rng.normal(0, 0.5, N_RESPONDENTS)
    confidence = follows * ease + own * private + rng.standard_normal(shape)
    names = [f"respondent {place}" for place in range(N_RESPONDENTS)]
    return pd.DataFrame(confidence, columns=names), pd.DataFrame(correct.astype(float), columns=names)


def summary(planted: str, sets: int) -> dict[str, str | float]:
    """Shares of the panels, and of their respondents, by what is said of them."""
    from onedial.confidence import whose_knowledge
    from onedial.confidence.knowledge import OPEN, SHARED
    from onedial.confidence.knowledge import OWN as ITSELF

    found = [
        whose_knowledge(*panel(OWN[planted], seed), n_bootstrap=RESAMPLES, seed=seed).targets for seed in range(sets)
    ]
    means = pd.Series([table.loc["mean", "verdict"] for table in found])
    singles = pd.concat([table.drop(index="mean") for table in found])
    return {
        "planted": planted,
        "sets": sets,
        "shared": (means == SHARED).mean(),
        "itself": (means == ITSELF).mean(),
        "open": (means == OPEN).mean(),
        "single_itself": (singles["verdict"] == ITSELF).mean(),
        "likelihood_ratio": (singles["p_own"] < LEVEL).mean(),
    }


def main() -> None:
    options = parse_options()
    table = GrowingTable(options.table, ("planted", "sets"))
    for planted in OWN:
        if (planted, options.sets) not in table:
            table.add([summary(planted, options.sets)])
    print(table.frame.round(3).to_string(index=False))


def parse_options() -> argparse.Namespace:
    parser = program_parser(__doc__)
    parser.add_argument("--sets", type=positive, default=SETS, help="panels of each kind (%(default)s)")
    parser.add_argument("--table", type=Path, help="also keep the rows there, as CSV; what it holds is not made anew")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(run_command(main))
