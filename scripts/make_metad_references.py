"""What metadpy makes of rating counts: its own documented example, and counts drawn from known signals.

    pip install metadpy==0.1.2 && python scripts/make_metad_references.py tests/reference

Writes metad_metadpy.csv. metadpy is GPL-3 and needs numba, pymc and more: it is the oracle of a test's reference file,
never a dependency. Counts run from the surest answer S1 to the surest answer S2.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtr

from onedial.core import program_parser, run_command

EXAMPLE = ([36, 24, 17, 20, 10, 12, 9, 2], [1, 4, 10, 11, 19, 18, 28, 39])
CRITERIA = np.array([-1.3, -0.8, -0.4, 0.1, 0.5, 0.9, 1.5])


def drawn(signal: float, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Counts of four ratings on either side, for two signals a distance apart."""
    counts = []
    for mean in (-signal / 2, signal / 2):
        edges = np.concatenate([[0], ndtr(CRITERIA - mean), [1]])
        counts.append(rng.multinomial(n, np.diff(edges)))
    return counts[0], counts[1]


def main() -> None:
    parser = program_parser(__doc__)
    parser.add_argument("folder", type=Path, help="where the reference file is written")
    folder = parser.parse_args().folder

    from metadpy.mle import fit_metad
    from metadpy.sdt import roc_auc

    rng = np.random.default_rng(0)
    cases = {"example": tuple(map(np.array, EXAMPLE)), "example_padded": tuple(np.array(n) + 1 / 8 for n in EXAMPLE)}
    cases |= {f"signal_{signal}_{n}": drawn(signal, n, rng) for signal in (0.8, 1.5, 2.2) for n in (200, 1000)}
    rows = []
    for name, (first, second) in cases.items():
        fit = fit_metad(first.astype(float), second.astype(float), 4)
        values = {
            "dprime": fit["dprime"],
            "meta_d": fit["meta_d"],
            "m_ratio": fit["m_ratio"],
            "log_likelihood": fit["logL"],
        }
        counts = {f"s{side}_{i}": n for side, ns in ((1, first), (2, second)) for i, n in enumerate(ns)}
        rows.append({"case": name, **counts, **values, "auroc2": roc_auc(nR_S1=list(first), nR_S2=list(second))})
    pd.DataFrame(rows).to_csv(folder / "metad_metadpy.csv", index=False, float_format="%.10g")


if __name__ == "__main__":
    sys.exit(run_command(main))
