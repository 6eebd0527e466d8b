"""Make tables of which a stored result holds a part, or that are worked out of several.

Each is given what its sources hold, in the order of stored_runs.yaml; what is stored is the table that it returns.
"""

import pandas as pd


def dial_table(dials: pd.DataFrame, rates: pd.DataFrame) -> pd.DataFrame:
    """Take dials.csv in the columns of docs/evidence.md, KL and flips at three of the rates."""
    columns = ["dial", "kind", "n_rates", "n_targets", "signal", "signal_low", "signal_high", "order_gain"]
    columns += ["order_gain_low", "order_gain_high", "rho", "fitting_order_gain", "chosen"]
    table = dials[columns].set_index("dial")
    reached = rates[rates["reached"].astype(bool)]
    for rate in (0.1, 0.5, 0.9):
        there = reached[(reached["rate"] - rate).abs() < 1e-9].set_index("dial")
        for column in ("kl", "negative_flips"):
            table[f"{column}_at_{rate}"] = there[column].reindex(table.index)
    return table.reset_index()


def draws_side_by_side(*tables: pd.DataFrame) -> pd.DataFrame:
    """Set the dials of the later draws side by side, each draw behind the column's name."""
    draws = [dial_table(*pair).set_index("dial") for pair in zip(tables[::2], tables[1::2], strict=True)]
    columns = ["order_gain", "order_gain_low", "order_gain_high", "signal", "kl_at_0.5"]
    beside = {f"{name}_{number}": frame[name] for name in columns for number, frame in enumerate(draws)}
    order = ["mean_difference, add", "lda, add", "random, add", "mean_difference, clamp", "threshold shift"]
    return pd.DataFrame(beside).reindex(order).rename_axis("dial").reset_index()


def tests_on_kinds_of_scale(table: pd.DataFrame) -> pd.DataFrame:
    """Set the kinds of the study `scale` of simulate.py structure side by side."""
    table = table.query("study == 'scale'")
    table = table.assign(kind=table["panel"].str.split().str[0])
    beside = table.pivot(index="what", columns="kind", values="found").reindex(table["what"].unique())
    return beside.reset_index()


def tests_of_structure(table: pd.DataFrame) -> pd.DataFrame:
    """Take the other studies of simulate.py structure."""
    return table.query("study != 'scale'")[["study", "panel", "what", "sets", "found", "se"]]


def peers_side_by_side(table: pd.DataFrame) -> pd.DataFrame:
    """Set question-magnitudes per second of bench_sweep.py's peers side by side; and how many times ours are."""
    beside = table.assign(place=table["positions"] + "_" + table["layer"].astype(str))
    beside = beside.pivot(index="who", columns="place", values="rate").reindex(table["who"].unique())
    ours = beside.index.str.startswith("ours")
    beside.loc["faster than the best peer by"] = beside[ours].max() / beside[~ours].max()
    return beside.reset_index()


def placing_by_size(*summaries: pd.DataFrame) -> pd.DataFrame:
    """Join summary.csv of each panel at three numbers of answers."""
    panels = dict(zip(("frontier-confidence", "frontier", "embedded"), summaries, strict=True))
    tables = [table[table["k"].isin([10, 25, 50])].assign(panel=panel) for panel, table in panels.items()]
    return pd.concat(tables).set_index("panel").reset_index()
