"""Control directions: would any push of this size have done as well?

Each control is swept on a range of its own, as the vector is, at a few magnitudes, and what is compared needs only
where its answers turn:

    signal      S, at the magnitudes at which the subject says yes as often as each target (`nulls.signal`)
    order_gain  C_A, how much better its order puts the targets' yes above their no than the unsteered margin does
    push        residual norms between yes rates of .1 and .9; inf where it never gets there
    kl          what that costs elsewhere: KL of the next token on neutral text, without it against with it, the mean
                of both ends of the push, in nats; inf where it never gets there, nan where it was not measured
    turning     share of the questions whose answer turns more than once

A control may turn its dial the other way round: its order is then read backwards, so it loses nothing by that.
"""

import numpy as np
import pandas as pd

from onedial.stats.roc import auc
from onedial.stats.shares import rates
from onedial.verdict.case import Case
from onedial.verdict.criteria.nulls import signal
from onedial.verdict.dial import Turns
from onedial.verdict.numbers import average_within_models

ORTHOGONAL = 0.2
"""A control whose cosine with the vector is at most this has nothing of it."""
CONTROL_COLUMNS = ["role", "drawn", "signal", "order_gain", "push", "kl", "turning", "cosine"]
RATE_COLUMNS = ["intervention_id", "role", "magnitude", "n_read", "yes_rate"]
RATE_POINTS = 61
"""Magnitudes, evenly over its range, at which the yes rate along a control is told."""


def control_table(case: Case) -> pd.DataFrame:
    """Measure what each control does, for the targets that the vector itself is judged by.

    Returns:
        Index control (as given); columns `CONTROL_COLUMNS`.

    >>> from dataclasses import replace
    >>> from onedial.verdict import SweepRun
    >>> case = replace(SweepRun.open("tests/reference/golden/all_positions").case(), n_resamples=19)
    >>> control_table(case).index.tolist()
    ['L20-random-1', 'L20-random-2', 'L20-random-3']
    """
    rows = {}
    for name, control in case.controls.items():
        numbers = dial_numbers(case, control.dial)
        numbers["push"] *= control.norms_per_unit
        numbers["kl"] = control.kl
        rows[name] = {"role": control.role, "drawn": control.drawn, **numbers, "cosine": control.cosine}
    table = pd.DataFrame.from_dict(rows, orient="index", columns=CONTROL_COLUMNS)
    return table.rename_axis("intervention_id")


def control_rates(case: Case) -> pd.DataFrame:
    """Compute the dose-response of each control: the yes rate of the test questions over its range.

    Returns:
        Columns `RATE_COLUMNS`: magnitude in the vector's unit, n_read answers. Sign: positive magnitudes
        are those along the control as it was made, whichever way its yes rate goes.
    """
    tables = []
    for name, control in case.controls.items():
        magnitudes = np.linspace(control.dial.low, control.dial.high, RATE_POINTS)
        answers = control.dial.answers_at(magnitudes)[case.test]
        yes_rate, read = rates(answers)
        table = pd.DataFrame({"magnitude": magnitudes * control.norms_per_unit / case.norms_per_unit, "n_read": read})
        tables.append(table.assign(intervention_id=name, role=control.role, yes_rate=yes_rate)[RATE_COLUMNS])
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=RATE_COLUMNS)


def dial_numbers(case: Case, dial: Turns) -> dict[str, float]:
    """Compute signal, order_gain, push (in the dial's own unit) and turning of one dial, from where answers turn.

    Args:
        dial: over the same questions, in the same order, as the sweep's.
    """
    models = case.models[case.judged]
    nothing = {"signal": np.nan, "order_gain": np.nan}
    numbers = {"push": dial.push(case.ordering), "turning": dial.turning}
    if not case.judged.any():
        return nothing | numbers
    known, margins = case.orders
    ease = np.where(np.isnan(known), np.nan, dial.ease[case.ordered])
    given = case.given[case.ordered][:, case.judged]
    margin = auc(np.where(np.isnan(ease), np.nan, margins), given)
    area = auc(ease, given)
    forwards, backwards = area - margin, (1 - area) - margin
    return {
        "signal": _signal(case, dial, models),
        "order_gain": float(max(average_within_models(each, models) for each in (forwards, backwards))),
        **numbers,
    }


def _signal(case: Case, dial: Turns, models: np.ndarray) -> float:
    """Compute S at the magnitudes at which the yes rate on the fitting split is nearest to each target's."""
    turns = [each for each in dial.crossings if each is not None and len(each)]
    points = np.unique(np.concatenate([[dial.low, dial.high], *turns]))
    middles = np.concatenate([[dial.low], (points[:-1] + points[1:]) / 2, [dial.high]])
    answers = dial.answers_at(middles)
    given = case.given[case.fitting][:, case.judged]
    fitting = answers[case.fitting]
    read, seen = ~np.isnan(fitting), ~np.isnan(given)
    yes = np.where(read, fitting, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        both = seen.T.astype(float) @ read
        distance = np.abs(seen.T.astype(float) @ yes - (np.nan_to_num(given).T @ read)) / both
    chosen = np.nanargmin(np.where(both > 0, distance, np.inf), axis=1)
    return signal(answers[case.test][:, chosen], case.given[case.test][:, case.judged], models)
