"""What the Python package mirt makes of the simulated answers: logistic slopes, as normal-ogive loadings.

    pip install mirt==1.2.0 && python scripts/make_mirt_references.py tests/reference

Writes mirt_loadings.csv. A logistic slope is 1.702 times a normal-ogive one, approximately; the two kinds of curve
differ most where slopes are steep.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from onedial.core import program_parser, run_command


def main() -> None:
    parser = program_parser(__doc__)
    parser.add_argument("folder", type=Path, help="where the reference file is written")
    folder = parser.parse_args().folder

    import mirt

    rows = []
    for name, model in (("sim2", "2PL"), ("fit", "2PL"), ("graded", "GRM")):
        panel = pd.read_csv(folder / f"{name}_X.csv").drop(columns="continuous", errors="ignore")
        codes = np.where(panel.isna(), -1, panel.fillna(0)).astype(int)
        fit = mirt.fit_mirt(codes, model, n_quadpts=61, tol=1e-7, accelerate="squarem", compute_standard_errors=False)
        slope = np.asarray(fit.model.parameters["discrimination"]).ravel() / 1.702
        rows += [(name, column, a / np.sqrt(1 + a**2)) for column, a in zip(panel, slope, strict=True)]
    table = pd.DataFrame(rows, columns=["panel", "respondent", "loading"])
    table.to_csv(folder / "mirt_loadings.csv", index=False, float_format="%.8g")


if __name__ == "__main__":
    sys.exit(run_command(main))
