"""The results of dials side by side at equal yes rates: of a `onedial.studies.dials.dials_study.DialStudy`."""

import numpy as np
import pandas as pd

from onedial.show.columns import like
from onedial.show.figure_style import COLOURS, FAINT, MARKERS, Drawing
from onedial.show.plots import Axis, Cells, Colours, Curve, Over, Panel, Points, curves, forest, heatmap
from onedial.show.results import SURROUNDINGS, WARNINGS, Result, Stored, words_in
from onedial.verdict.comparing.dial_comparison import CUT

WORDS = words_in(__file__, "dials.yaml")
MOST_LINES = 6


def _gains(table: pd.DataFrame, _: Stored) -> Drawing:
    """Order gain of every dial over a threshold shift, the best on top; chosen on the fitting split: bold."""
    rows = table[(table.index != CUT) & table["order_gain"].notna()].sort_values("order_gain", ascending=False)
    return forest(
        rows,
        "order_gain",
        "area gained over a threshold shift",
        Points(bold=[str(name) for name in rows.index[rows["chosen"].astype(bool)]]),
    )


def _costs(table: pd.DataFrame, stored: Stored) -> Drawing:
    """Draw KL on neutral text along the yes rates, of the best dials that push."""
    rates = stored["rates"]
    pushed = set(rates.loc[rates["kl"].notna(), "dial"])
    best = table[table.index.isin(pushed - {CUT})].sort_values("order_gain", ascending=False, na_position="last")
    lines = []
    for place, name in enumerate([*best.index[:MOST_LINES], *(CUT,) * (CUT in pushed)]):
        rows = rates[(rates["dial"] == name) & rates["reached"].astype(bool)].sort_values("rate")
        kl = rows["kl"].clip(lower=1e-6)
        look = {"marker": MARKERS[place % len(MARKERS)], "markersize": 4}
        lines.append(Curve(rows["rate"], kl, str(name), FAINT if name == CUT else COLOURS[place], look=look))
    panel = Panel(lines, "KL, nats", log=True, height=1.4)
    return curves([panel], "yes rate on the fitting questions", zero=False, below=True, xlimits=(0.05, 0.95))


def _cosines(table: pd.DataFrame, stored: Stored) -> Drawing:
    """Draw cosines between the directions at the layer of the dials."""
    layer = int(stored.run.read_json("layer.json")["layer"])
    rows = table[table["layer"] == layer]
    names = list(dict.fromkeys(rows["method"]))
    wide = rows.pivot(index="method", columns="other", values="cosine").loc[names, names].to_numpy(float)
    edges = np.arange(len(names) + 1)
    labels = {place + 0.5: name.replace("_", " ") for place, name in enumerate(names)}
    return heatmap(
        [Cells(edges, edges, wide)],
        Axis(ticks={place: name.replace(" ", "\n") for place, name in labels.items()}),
        Axis(ticks=labels),
        Colours("RdBu_r", (-1, 1)),
        Over(written=True),
        remark=f"cosines at layer {layer}",
        height=1.4 + 0.36 * len(names),
    )


def _not_compared(table: pd.DataFrame, _: Stored) -> list[str]:
    """Say why a dial has no number."""
    return [
        WORDS["dials"]["without" if row["n_rates"] else "void" if row["n_void"] else "never"].format(name=name)
        for name, row in table.iterrows()
        if row["order_gain"] != row["order_gain"]
    ]


def _measured(table: pd.DataFrame, _: Stored) -> pd.DataFrame:
    """List dial by dial the rates that it reaches."""
    return table[table["reached"].astype(bool)].set_index("dial")


DIAL_RESULTS: dict[str, Result] = {
    "comparison": Result(
        compute=lambda study: {"sentence": study.comparison.sentence(), "chosen": study.comparison.chosen}
    ),
    **WARNINGS,
    "dials": Result(
        "Whose order is the targets'?",
        lambda study: study.comparison.table,
        index="dial",
        columns=("n_rates", "n_void", "apart", "n_targets", "signal", "order_gain", "rho"),
        items=_not_compared,
        figure=_gains,
        figures={"dials_kl": _costs},
        folded=False,
        terminal=True,
    ),
    "cosines": Result("How alike are the directions?", written=True, figures={"direction_cosines": _cosines}),
    "targets": Result(compute=lambda study: study.comparison.targets),
    "rates": Result(
        "Which yes rates were measured?",
        lambda study: study.rates,
        columns=("rate", "setting", "rate_found", like("yes_rate", heading="on the test split"), "void"),
        lines=_measured,
        first="dial",
    ),
    **SURROUNDINGS,
}
