"""How much of what frontier models say a dial predicts, by the size of the subject that it turns.

    python scripts/dials_by_size.py --out FOLDER

Reads the stored runs on `frontier-confidence`, one folder of tests/reference/frontier_confidence for each subject, and
writes sizes.csv (a row for each subject) and sizes.png: bits per test question and mean kappa with 95% intervals over
questions, and as lines what other models, topics and text tell without steering. Told in docs/findings.md.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from onedial.core.command_line import run_command
from onedial.core.errors import InputError
from onedial.core.options import Options, option, parse_options

if TYPE_CHECKING:
    from onedial.show.figure_style import Drawing

STORED = Path(__file__).resolve().parent.parent / "tests" / "reference" / "frontier_confidence"
MILLIONS = {"135m": 134.5, "270m": 268.1, "0.5b": 494.0, "1.5b": 1543.7}
"""Parameters of each subject, embeddings among them."""
BASELINES_OF = "0.5b"
"""The run whose baselines are drawn as lines: they hang on the questions, not on the subject."""
PANELS = {"bits": "bits per test question saved", "signal": "mean kappa at matched yes rates"}
LINES = {"shared difficulty": "-", "mean of other models": "--", "text, from other models": ":"}
ENDS = {"": "value", "_low": "low", "_high": "high"}


def sizes(folder: Path) -> pd.DataFrame:
    """One row for each subject, the smallest first.

    Returns:
        Index size; millions, judged and predicted (base models), bits and signal with _low and _high, p of the signal,
        margin (bits of the unsteered margin), rho (of the dial's order and the margin's), r2_ml and its median by
        chance, possible (bits that other models' answers save on the same questions).

    Raises:
        InputError: no run is stored there, or one of a subject whose size is not known.
    """
    rows = {}
    for path in sorted(folder.glob("*/verdict.json")):
        if path.parent.name not in MILLIONS:
            raise InputError(f"{path.parent} is of unknown size; known are {', '.join(MILLIONS)}")
        rows[path.parent.name] = _row(path.parent)
    if not rows:
        raise InputError(f"{folder} holds no run (SIZE/verdict.json); give the folder of the stored runs")
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("size").sort_values("millions")


def _row(folder: Path) -> dict[str, Any]:
    verdict = json.loads((folder / "verdict.json").read_text(encoding="utf-8"))
    prediction, signal, line = (verdict[name] for name in ("prediction", "signal", "line"))
    return {
        "millions": MILLIONS[folder.name],
        "judged": verdict["n_eligible"],
        "predicted": prediction["n_predicted"],
        **{f"bits{end}": prediction["bits"][name] for end, name in ENDS.items()},
        **{f"signal{end}": signal[name] for end, name in ENDS.items()},
        "p": signal["p"],
        "margin": bits_by_source(folder)["unsteered margin"],
        "rho": verdict["order"]["rho"]["value"],
        "r2_ml": line["r2"],
        "r2_ml_by_chance": line["r2_null_median"],
        "possible": prediction["possible"]["value"],
    }


def bits_by_source(folder: Path) -> pd.Series:
    """Bits of every source that a run was set beside, by all fitting answers."""
    table = pd.read_csv(folder / "prediction.csv", dtype={"k": str})
    return table[table["k"] == "all"].set_index("source")["bits"]


def draw(table: pd.DataFrame, baselines: Mapping[str, pd.Series]) -> "Drawing":
    """Bits and mean kappa against millions of parameters.

    Args:
        table: of `sizes`. baselines: `PANELS` -> what each baseline reaches, index its name.
    """
    from onedial.show.figure_style import COLOURS, FAINT
    from onedial.show.plots import Curve, Panel, curves

    x, ends = table["millions"], [table["millions"].min(), table["millions"].max()]
    panels = []
    for name, words in PANELS.items():
        dial = Curve(
            x, table[name], "the dial", COLOURS[0], table[f"{name}_low"], table[f"{name}_high"], {"marker": "o"}
        )
        others = [
            Curve(ends, [baselines[name][baseline]] * 2, baseline, FAINT, look={"linestyle": dashes})
            for baseline, dashes in LINES.items()
        ]
        panels.append(Panel([dial, *others], words, rules=(0,)))
    drawing = curves(panels, "parameters of the subject", zero=False, inch=2.1, below=True)
    for axes in drawing.figure.axes:
        axes.set_xscale("log")
        axes.set_xticks(x, [str(size).upper() for size in table.index])
        axes.minorticks_off()
    return drawing


def main() -> None:
    from onedial.show.figure_style import save_figure

    options = parse_options(ScriptOptions, __doc__)
    table, folder = sizes(STORED), STORED / BASELINES_OF
    kappas = pd.read_csv(folder / "baselines.csv").set_index("baseline")["signal"]
    drawing = draw(table, {"bits": bits_by_source(folder), "signal": kappas})
    options.out.mkdir(parents=True, exist_ok=True)
    table.round(5).to_csv(options.out / "sizes.csv", lineterminator="\n")
    save_figure(drawing.figure, options.out, "sizes")
    print(table.round(3).to_string())


@dataclass(frozen=True, kw_only=True)
class ScriptOptions(Options):
    """What it is told."""

    out: Path = option(..., "where the table and the figure go", metavar="FOLDER")


if __name__ == "__main__":
    sys.exit(run_command(main))
