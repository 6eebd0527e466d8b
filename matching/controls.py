"""Control directions: does a vector that was not made from yes and no do as well?

A control's signal S is computed as the vector's own (`nulls.signal`): for the same targets, on the same test
questions, at the magnitudes at which the subject, steered along the control, says yes as often as each target.
A control may turn its dial the other way round; its range runs to both sides of 0, so it loses nothing by that.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from matching import choice
from matching.nulls import signal
from matching.splits import FITTING, TEST
from matching.status import JUDGED
from matching.tables import describe_targets, panel_answers, sweep_grid


def control_signal(
    sweep: pd.DataFrame,
    panel: Any,
    targets: Sequence[str] | pd.Index,
    splits: pd.Series | None = None,
    respondents: pd.DataFrame | None = None,
    vector_id: str | None = None,
) -> float:
    """S of one control direction.

    Args:
        sweep: of the control, over the questions and at the site of the vector that it is a control for.
        panel, splits, respondents, vector_id: as in `match_targets`.
        targets: those that the vector itself is judged by (`judged_targets`).

    Raises:
        InputError: tables that do not fit together.
    """
    grid = sweep_grid(sweep, splits, vector_id)
    frame = panel_answers(panel, grid.questions)[list(targets)]
    fitting, test, given = grid.rows(FITTING), grid.rows(TEST), frame.to_numpy()
    allowed = choice.readable_magnitudes(grid.answers[fitting], grid.unsteered)
    distance = choice.rate_distance(grid.answers[fitting], given[fitting])
    rate, _, _ = choice.middle_of_best(-distance, grid.magnitudes, allowed)
    models = describe_targets(panel, frame.columns, respondents)["model"].to_numpy()
    return signal(grid.answers[test][:, rate], given[test], models)


def control_signals(
    sweep: pd.DataFrame,
    panel: Any,
    targets: Sequence[str] | pd.Index,
    vector_ids: Sequence[str],
    splits: pd.Series | None = None,
    respondents: pd.DataFrame | None = None,
) -> np.ndarray:
    """S of every control direction that the sweep holds under `vector_ids`; see `control_signal`."""
    own_rows = dict(tuple(sweep[sweep["vector_id"].isin(vector_ids)].groupby("vector_id")))
    return np.array([control_signal(own_rows[name], panel, targets, splits, respondents) for name in vector_ids])


def judged_targets(table: pd.DataFrame) -> pd.Index:
    """The targets of a match table that enter the verdict's numbers."""
    return table.index[table["status"].isin(JUDGED)]
