"""What was pushed and how far: the vector, the yes rates along its dial, and other directions beside it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from safetensors import SafetensorError, safe_open

from onedial.asking.yes_no import MASS_FLOOR
from onedial.core.errors import InputError
from onedial.core.files import json_value
from onedial.report import figures as draw
from onedial.report.contents import Contents
from onedial.report.meaning import WORDS
from onedial.show.columns import interval, number
from onedial.show.results import Result
from onedial.show.run_tables import Rows
from onedial.verdict.verdict import THIS_DIRECTION, UNTESTED


def _pushes(table: pd.DataFrame, stored: Contents) -> list[tuple[str, dict[str, Any]]]:
    """List the vector, median and best of each drawn kind, and each other contrast."""
    numbers = ["signal", "order_gain", "push", "kl", "turning"]
    table = table.assign(kl=table.get("kl", np.nan))  # runs before it was measured
    vector = stored.verdict.direction.vector
    lines: list[tuple[str, dict[Any, Any]]] = [
        ("the vector", {name: vector.get(name) for name in numbers} | {"cosine": 1.0})
    ]
    for kind, drawn in table[table["drawn"]].groupby("role", sort=False):
        best = drawn[numbers].max()
        best[["push", "kl", "turning"]] = drawn[["push", "kl", "turning"]].min()
        middle = drawn[numbers].median().to_dict() | {"cosine": drawn["cosine"].median()}
        lines += [
            (f"{kind}, median of {len(drawn)}", middle),
            (f"{kind}, best of {len(drawn)} in each", best.to_dict()),
        ]
    lines += [(str(row["role"]), row.to_dict()) for _, row in table[~table["drawn"].astype(bool)].iterrows()]
    return [(name, _never(row)) for name, row in lines]


def _never(row: dict[str, Any]) -> dict[str, Any]:
    """Write a push that is not there as one without end, and its cost as well where costs were measured."""
    if np.isfinite(row["push"]):
        return row
    kl = row.get("kl")
    return row | {"push": np.inf, "kl": np.inf if kl is not None and kl == kl else kl}


def _other_pushes(_: Any, stored: Contents) -> list[str]:
    push = stored.verdict.push
    return [] if push == THIS_DIRECTION else [WORDS["controls"]["untested" if push == UNTESTED else "as_good"]]


def _vector_facts(file: Path) -> dict[str, Any]:
    """Read the metadata of a vector's file.

    Raises:
        InputError: the file is not one of vectors.
    """
    try:
        with safe_open(file, framework="np") as opened:
            metadata = dict(opened.metadata() or {})
        return {name: json_value(value) for name, value in metadata.items() if name != "format"}
    except (SafetensorError, json.JSONDecodeError) as error:
        raise InputError(f"{file} is no steering vector ({error}); restore it, or make the run again") from error


def _vector(_: Any, stored: Contents) -> Rows:
    """List name, place, making, reliability and length of what was swept."""
    entry, n_layers = stored.entry, stored.model.get("n_layers", stored.model.get("layers"))
    layers = ", ".join(map(str, entry["layers"]))
    ends = [number(end(entry["magnitudes"])) for end in (min, max)]
    rows = [
        ("name", ", ".join(map(str, entry["vectors"]))),
        ("layer", f"{layers} of {n_layers} (counted from 0)" if n_layers is not None else layers),
        ("done", f"{entry['operator']} at positions {entry['positions']}"),
        ("swept", f"{len(entry['magnitudes'])} magnitudes from {ends[0]} to {ends[1]}"),
    ]
    files = [stored.run.path / stored.sweep.vector_file(str(name)) for name in entry["vectors"]]
    for facts in (_vector_facts(file) for file in files if file.is_file()):
        where = f", layer {facts['layer']}" if len(entry["vectors"]) > 1 else ""
        share = number(facts["raw_norm"] / facts["residual_norm"])
        method = str(facts["method"]).replace("_", " ")
        made = f"{facts['n_yes']} questions on the side of yes and {facts['n_no']} on that of no"
        rows.append((f"made of{where}", f"{made} ({facts['n_unread']} unread), by {method}"))
        length = f"{number(facts['raw_norm'], 2)} as extracted, {share} of the median residual norm"
        rows.append((f"length{where}", f"{length} {number(facts['residual_norm'], 1)}"))
    if (vector := stored.manifest.facts.get("vector")) is None:
        return [*rows, ("reliability", "not measured")]
    thirds = "; outer thirds of the margins, since one side had too few" if vector.get("by_thirds") else ""
    halves = f"by halves of them {number(vector['half_cosine'], 2)} {interval(vector['low'], vector['high'], 2)}"
    return [
        *rows,
        ("unsteered answers behind it", f"{vector['n_said_yes']} yes, {vector['n_said_no']} no{thirds}"),
        ("cosine to what as many other questions would give", f"{number(vector['reliability'], 2)} ({halves})"),
    ]


def pushed(stored: Contents) -> str:
    """Say what was pushed: the layer, and the unsteered answers that the direction was made of."""
    words, facts, layers = WORDS["pushed"], stored.manifest.facts.get("vector"), stored.entry["layers"]
    where = words["where"].format(layers=" and ".join(map(str, layers)), of=stored.model.get("n_layers", "?"))
    if facts is None:
        return f"{where}."
    n = facts["n_said_yes"] + facts["n_said_no"]
    made = words["thirds" if facts.get("by_thirds") else "sides"].format(n=n, yes=facts["n_said_yes"])
    return f"{where}, {made}."


PUSHED: dict[str, Result] = {
    "controls": Result(
        "Would any push do?",
        lambda judged: judged.controls,
        index="intervention_id",
        columns=("signal", "order_gain", "push", "kl", "turning", "cosine"),
        lines=_pushes,
        first="direction",
        figure=draw.pushes,
        doubts=_other_pushes,
    ),
    "vector": Result(
        "The vector",
        rows=_vector,
        figures={"layer_map": draw.layers},
        fill=lambda *_: {"limit": f"{draw.UNREADABLE:.0%}"},
    ),
    "dose": Result(
        "Dose-response",
        figures={"dose_response": draw.dose},
        fill=lambda *_: {"floor": f"{MASS_FLOOR:g}"},
    ),
}
