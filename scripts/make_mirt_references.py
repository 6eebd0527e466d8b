"""What the Python package mirt makes of the simulated answers: logistic slopes, as normal-ogive loadings.

    pip install mirt==1.2.0 && python scripts/make_mirt_references.py tests/reference

Writes mirt_loadings.csv, bifactor_X.csv (answers of a general factor and four of three respondents each, a twentieth of
them missing) and mirt_bifactor.csv. A logistic slope is 1.702 times a normal-ogive one, approximately; the two kinds of
curve differ most where slopes are steep.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from onedial.core import program_parser, run_command

_GROUPS = np.repeat(np.arange(4), 3)


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

    panel = _bifactor_panel()
    panel.to_csv(folder / "bifactor_X.csv", index=False)
    codes = np.where(panel.isna(), -1, panel.fillna(0)).astype(int)
    found = mirt.bfactor(codes, _GROUPS, n_quadpts=41, tol=1e-7, compute_standard_errors=False)
    slopes = {k: np.asarray(found.model.parameters[f"{k}_loadings"]) / 1.702 for k in ("general", "specific")}
    size = np.sqrt(1 + slopes["general"] ** 2 + slopes["specific"] ** 2)
    loadings = pd.DataFrame({name: slope / size for name, slope in slopes.items()}, panel.columns)
    loadings.rename_axis("respondent").to_csv(folder / "mirt_bifactor.csv", float_format="%.8g")


def _bifactor_panel() -> pd.DataFrame:
    rng = np.random.default_rng(7)
    n, m = 1200, len(_GROUPS)
    general, specific, cut = rng.uniform(0.5, 0.8, m), rng.uniform(0.3, 0.5, m), rng.uniform(-0.8, 0.8, m)
    hidden = general * rng.standard_normal((n, 1)) + specific * rng.standard_normal((n, 4))[:, _GROUPS]
    hidden += np.sqrt(1 - general**2 - specific**2) * rng.standard_normal((n, m))
    said = np.where(rng.random((n, m)) < 0.05, np.nan, hidden > cut)
    return pd.DataFrame(said, columns=[f"m{i:02d}" for i in range(m)]).astype("Int8")


if __name__ == "__main__":
    sys.exit(run_command(main))
