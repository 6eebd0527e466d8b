"""What the report says besides the verdict, as rows of text: targets, missing answers, factor, provenance, limits."""

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from elicitation.yes_no import MASS_FLOOR
from psychometrics import FactorModel
from reporting.figures import unread_share
from reporting.meaning import NOTHING, interval, number

Rows = list[tuple[str, str]]
DENOMINATORS = {
    "eigenvalue_of_total_variance": "first eigenvalue, of the total variance (unique variance included)",
    "squared_loadings_of_total_variance": "squared loadings, of the total variance",
    "squared_loadings_of_common_variance": "squared loadings, of the common variance",
}
TARGET_COLUMNS = (
    "status",
    "yes rate",
    "agreement",
    "majority answer",
    "moved cut",
    "kappa",
    "magnitude",
    "threshold",
    "test answers",
    "unread",
    "missing",
)


def target_rows(matches: pd.DataFrame, panel: pd.DataFrame) -> list[dict[str, Any]]:
    """One row per target, from rarely yes to often yes: name, status, and cells in the order of `TARGET_COLUMNS`."""
    missing = panel["said_yes"].isna().groupby(panel["respondent"]).sum()
    rows = []
    for target, row in matches.sort_values("yes_rate", kind="stable").iterrows():
        cells = [
            row["status"],
            number(row["yes_rate"], 2),
            f"{number(row['agreement'], 2)} {interval(row['agreement_low'], row['agreement_high'], 2)}",
            number(row["majority"], 2),
            number(row["moved_cut"], 2),
            f"{number(row['kappa'], 2)} {interval(row['kappa_low'], row['kappa_high'], 2)}",
            number(row["magnitude"]),
            NOTHING
            if pd.isna(row["threshold"])
            else f"{number(row['threshold'], 2)} ± {number(row['threshold_se'], 2)}",
            f"{row['n_test']:.0f}",
            f"{row['n_unread_fitting'] + row['n_unread_test']:.0f}",
            str(missing.get(target, 0)),
        ]
        rows.append({"target": target, "ok": row["status"] == "ok", "cells": cells})
    return rows


def missing_rows(dose: pd.DataFrame, panel: pd.DataFrame, questions: pd.DataFrame) -> Rows:
    """How many answers were not there, or could not be read, on either side."""
    total = dose["n"].sum() + dose["n_unread"].sum()
    unsteered = dose[dose["magnitude"] == 0]
    share = unread_share(dose.groupby("magnitude")[["n", "n_unread"]].sum())
    worst = float(share.index[int(share.argmax())])
    gaps = int(panel["said_yes"].isna().sum())
    counts = questions["split"].value_counts()
    return [
        ("questions", ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))),
        ("panel: missing answers", f"{gaps} of {len(panel)} ({gaps / max(len(panel), 1):.1%})"),
        (
            f"subject: unread answers (mass under {MASS_FLOOR:g})",
            f"{dose['n_unread'].sum()} of {total} ({dose['n_unread'].sum() / max(total, 1):.1%}) over all magnitudes",
        ),
        (
            "subject, unsteered: unread answers",
            f"{unsteered['n_unread'].sum()} of {unsteered['n'].sum() + unsteered['n_unread'].sum()}",
        ),
        ("most unread", f"{share.max():.1%} at magnitude {number(worst)}" if share.max() > 0 else "none anywhere"),
    ]


def factor_rows(factor: FactorModel) -> Rows:
    """How much of the panel one shared difficulty explains, each share with its denominator."""
    first = factor.explained.iloc[0]
    rows = [(DENOMINATORS.get(str(name), str(name).replace("_", " ")), number(share)) for name, share in first.items()]
    if factor.null is not None:
        null, size = factor.null, len(factor.null.observed)
        rows.append(
            (
                "first eigenvalue by chance, of the total variance (95% point of the permutation null)",
                f"{number(null.upper[0] / size)} (p = {number(null.p[0])}, {null.n_replicates} permutations)",
            )
        )
    return [
        *rows,
        ("respondents", str(len(factor.thresholds))),
        ("questions with a difficulty", str(int(factor.difficulty.notna().sum()))),
        ("R² of the parabola of loading on threshold", number(factor.quadratic_fit.r2)),
        ("root mean square residual correlation", number(factor.residual_rms)),
        ("Heywood cases", ", ".join(map(str, factor.heywood)) or "none"),
    ]


def flat_rows(values: Mapping[str, Any]) -> Rows:
    """Nested values as (dotted name, text)."""
    rows: Rows = []
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            rows.extend((f"{key}.{name}", text) for name, text in flat_rows(value))
        else:
            rows.append((key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)))
    return rows


def stage_rows(stages: list[Mapping[str, Any]]) -> Rows:
    """Seconds per stage, in the order of first appearance; a stage that was resumed is added up."""
    seconds: dict[str, float] = {}
    broken: dict[str, int] = {}
    for entry in stages:
        name = entry["stage"]
        seconds[name] = seconds.get(name, 0.0) + entry["seconds"]
        broken[name] = broken.get(name, 0) + (not entry["completed"])
    return [
        (name, f"{spent:.1f} s" + (f" (broken off {broken[name]} times)" if broken[name] else ""))
        for name, spent in seconds.items()
    ]


def limits(verdict: Mapping[str, Any], questions: pd.DataFrame) -> list[str]:
    """What the verdict does not say."""
    n_test = int((questions["split"] == "test").sum())
    excluded = verdict["excluded"]
    said = [
        f"One subject, one wording of the prompt, {n_test} test questions: another of any of these may come out "
        "otherwise.",
        "Intervals are over questions; targets count as given. Targets that are one model under several framings are "
        "averaged first, so they do not count as independent evidence.",
        "A yes is a claim, not an ability: nothing here says whether subject or targets answer correctly.",
        "R² of magnitude on threshold decides nothing, since targets that have nothing to do with the subject "
        "line up as well.",
    ]
    if excluded:
        named = ", ".join(f"{target} ({status})" for target, status in excluded.items())
        said.insert(1, f"Left out of the verdict: {len(excluded)} of {verdict['n_targets']} targets: {named}.")
    return said
