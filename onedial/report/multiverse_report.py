"""The page of a multiverse, from the run's files alone."""

from pathlib import Path

import pandas as pd

from onedial.core import Run
from onedial.show import Column, Section, captions_of, digits, headline, p_value, page

_NUMBERS = {"signal": "S", "order_gain": "C_A", "rho_dial": "rho_dial"}
_AXES = {"layer": "layer", "contrast": "contrast", "wording": "wording", "resample": "questions drawn"}


def write_multiverse_report(run: Run) -> Path:
    """Write report.html of a run of `multiverse.py`, and return its path.

    Raises:
        InputError: a table is missing or broken.
    """
    summary, table = run.read_json("summary.json"), run.read_table("universes.csv").set_index("universe")
    numbers = [(letter, summary["numbers"][name]) for name, letter in _NUMBERS.items()]
    shown = page.table("Universes", "universe", _UNIVERSES, table, lambda row: not row["judged"])
    html = page.page(
        question=f"How much of the verdict on {summary['model']} is owed to how the vector was made?",
        headline=headline(str(summary["sentence"])),
        lead=str(summary["asked"]),
        sections=[
            Section("Every choice", [page.figures(run.path / "figures", captions_of(run))]),
            Section("Median and worst", [page.table("Numbers", "number", _MIDDLES, numbers)]),
            Section(
                "Which choice matters",
                [
                    page.text(
                        "The largest minus the smallest value among universes that differ in this choice alone (the "
                        "median over all such groups)."
                    ),
                    page.table("Spread", "choice", _SPREAD, _spreads(summary["axes"])),
                ],
            ),
            Section("Universes", [shown]),
        ],
        title=f"Multiverse of {summary['model']}",
        foot=run.path.resolve().name,
    )
    run.write_text("report.html", html)
    return run.path / "report.html"


_MIDDLES = (
    Column("as_run", form=digits(3)),
    Column("median", form=digits(3)),
    Column("worst", form=digits(3)),
    Column("worst_universe", "in"),
    Column("best", form=digits(3)),
)
_SPREAD = [Column(name, letter, digits(3)) for name, letter in _NUMBERS.items()]
_UNIVERSES = (
    Column("signal", "S", digits(3), ends=("signal_low", "signal_high")),
    Column("signal_p", "p", p_value),
    Column("order_gain", "C_A", digits(3, signed=True), ends=("order_gain_low", "order_gain_high")),
    Column("rho_dial", "rho_dial", digits(3)),
    Column("push", form=digits(3)),
    Column("yes_rate", form=digits(2)),
    Column("reproduced", "reproduced?"),
    Column("dial"),
)


def _spreads(found: list[dict[str, object]]) -> pd.DataFrame:
    """Choice by number, in the order of `_AXES`; choices that were not varied are left out."""
    table = pd.DataFrame(found, columns=["number", "axis", "n", "spread"])
    table = table.pivot(index="axis", columns="number", values="spread").rename_axis(columns=None)
    return table.reindex([axis for axis in _AXES if axis in table.index]).rename(index=_AXES)
