"""From a run's sweep and a panel to its matches, factor and verdict, all of them written into the run."""

import re
import warnings

import pandas as pd

from common import InputError
from elicitation import ResponseMatrix
from matching import Verdict, control_signals, judge, judged_targets, match_targets
from psychometrics import FactorModel, fit_factor_model
from psychometrics.answers import PsychometricsWarning
from reporting.run_directory import RunDirectory


def match_and_judge(run: RunDirectory, panel: ResponseMatrix, seed: int) -> Verdict:
    """Match the panel with the run's vector, judge, and write matches.csv, verdict.json and factor.json.

    factor.json is left out, and thresholds are Phi^-1 of the yes rates, where the panel is too small for a factor.

    Raises:
        InputError: the run has no sweep, or its tables do not fit together.
    """
    sweep = run.read_sweep()
    if sweep.empty:
        raise InputError(f"{run.path} holds no sweep to match with; finish the run with --resume")
    own, controls = vectors_of(run, sweep)
    splits = run.questions().set_index("id")["split"]
    factor = _fit_factor(run, panel, seed)
    thresholds = None if factor is None else factor.thresholds
    matches = match_targets(sweep, panel, splits, thresholds, vector_id=own, seed=seed)
    signals = control_signals(sweep, panel, judged_targets(matches.table), controls, splits) if controls else None
    verdict = judge(matches, control_signals=signals, seed=seed)
    run.write_matches(matches.table)
    if factor is not None:
        run.write_factor(factor)
    run.write_verdict(verdict.to_dict())
    return verdict


def vectors_of(run: RunDirectory, sweep: pd.DataFrame) -> tuple[str, list[str]]:
    """The vector that the run is about, and the control directions swept at its layer.

    Raises:
        InputError: the sweep holds several vectors and the manifest names none of them.
    """
    layers = sweep.drop_duplicates("vector_id").set_index("vector_id")["layer"]
    own = str(layers.index[0] if len(layers) == 1 else run.manifest.get("vector_id"))
    if own not in layers.index:
        raise InputError(
            f"{run.path}/manifest.json names the vector {own!r}, but the sweep holds "
            f"{', '.join(map(str, layers.index[:4]))}; make the run again"
        )
    same_layer = layers.index[layers == layers[own]]
    return own, [str(name) for name in same_layer if name != own and re.search(r"(^|-)random-\d+$", str(name))]


def _fit_factor(run: RunDirectory, panel: ResponseMatrix, seed: int) -> FactorModel | None:
    """The factor model; what it warns of (constant targets, Heywood cases) goes into the run's log."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PsychometricsWarning)
        try:
            factor = fit_factor_model(panel, seed=seed)
        except InputError as reason:
            run.log(f"no factor model: {reason}")
            factor = None
    for warning in caught:
        run.log(f"factor model: {warning.message}")
    return factor
