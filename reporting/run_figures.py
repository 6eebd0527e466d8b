"""Draw a run's figures from its tables into its folder, with their captions beside them in figures/captions.json."""

import pandas as pd

from common import write_json
from matching.match import dose_response as dose_response_of
from matching.tables import sweep_grid
from reporting import figures
from reporting.figure_style import Drawing, save_figure
from reporting.run_directory import RunDirectory
from reporting.run_files import read_json


def write_figures(run: RunDirectory) -> dict[str, dict[str, str]]:
    """Draw everything that the run's tables allow, as PNG and SVG.

    Returns:
        name -> {"title", "caption"} of every figure in the run's folder, those that others added at the end.
    """
    matches, verdict, scan = run.matches(), run.verdict(), run.layer_scan()
    unit = str(run.config.get("unit") or "residual_norm")
    excluded = set(verdict["excluded"])
    drawings = {
        "magnitude_threshold": figures.magnitude_against_threshold(matches, verdict["line"], unit),
        "dose_response": figures.dose_response(dose_response(run), matches, unit),
        "agreement": figures.agreement_per_target(matches, excluded),
        "kappa": figures.kappa_per_target(matches, excluded),
    }
    if scan is not None:
        drawings["layer_map"] = figures.layer_map(scan, unit)
    captions = {name: _save(run, name, drawing) for name, drawing in drawings.items()}
    added = {name: words for name, words in read_captions(run).items() if name not in captions}
    write_json(run.path / "figures" / "captions.json", captions | added)
    return captions | added


def add_figure(run: RunDirectory, name: str, drawing: Drawing) -> None:
    """Put one more figure into the run; the report shows it after the run's own."""
    captions = read_captions(run) | {name: _save(run, name, drawing)}
    write_json(run.path / "figures" / "captions.json", captions)


def read_captions(run: RunDirectory) -> dict[str, dict[str, str]]:
    """name -> {"title", "caption"} of the figures that are there."""
    file = run.path / "figures" / "captions.json"
    return read_json(file) if file.exists() else {}


def dose_response(run: RunDirectory) -> pd.DataFrame:
    """The dose-response table of the run's own vector (manifest: vector_id), computed from its sweep."""
    sweep = run.read_sweep()
    several = sweep["vector_id"].nunique() > 1
    return dose_response_of(sweep_grid(sweep, vector_id=run.manifest.get("vector_id") if several else None))


def _save(run: RunDirectory, name: str, drawing: Drawing) -> dict[str, str]:
    save_figure(drawing.figure, run.path / "figures", name)
    return {"title": drawing.title, "caption": drawing.caption}
