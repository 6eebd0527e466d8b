"""Draw a run's figures from its tables into its folder, with their captions beside them in figures/captions.json."""

from onedial.report.contents import Contents
from onedial.report.figures import dial_figures, figures
from onedial.report.figures.criteria_figure import criteria_figure
from onedial.report.figures.path_figure import dial_path_figure
from onedial.report.figures.reasoned_figure import reasoned_figure
from onedial.report.figures.rival_figures import controls_figure, prediction_figure, rivals_figure
from onedial.report.figures.side_effects_figure import side_effects_figure
from onedial.scale.study import factor_figures
from onedial.show import CAPTIONS, Drawing, save_figure
from onedial.verdict import DECISIVE, SweepRun, rates_along_controls


def write_figures(contents: Contents) -> dict[str, dict[str, str]]:
    """Draw everything that the run's tables allow, as PNG and SVG.

    Returns:
        name -> {"title", "caption"} of every figure in the run's folder.
    """
    run, matches, verdict = contents.run, contents.matches, contents.verdict
    unit = str(run.config.get("unit") or "residual_norm")
    excluded = set(verdict["excluded"])
    found = run.side_effects()
    usable = None if found is None else (float(found[1]["low"]), float(found[1]["high"]))
    drawings = {
        "magnitude_threshold": figures.magnitude_against_threshold(matches, verdict["line"], unit, usable),
        "dose_response": figures.dose_response_curves(
            contents.dose_response, matches, unit, usable, rates_along_controls(contents.tables)
        ),
        "agreement": figures.agreement_per_target(matches, excluded),
        "kappa": figures.kappa_per_target(matches, excluded),
    }
    if (criteria := contents.criteria) is not None and len(criteria) > len(DECISIVE):
        drawings["criteria"] = criteria_figure(matches, criteria, figures.UNITS.get(unit, unit))
    if (scan := run.layer_scan()) is not None:
        own = contents.own
        ends = (min(own["magnitudes"]), max(own["magnitudes"]))
        drawings["layer_map"] = figures.layer_map(scan, unit, own["layers"], ends)
    if (rivals := contents.rivals) is not None:
        drawings["rivals"] = rivals_figure(rivals, verdict["signal"])
    if (prediction := contents.prediction) is not None and len(prediction):
        drawings["prediction"] = prediction_figure(prediction, verdict["prediction"]["mark"])
    if (path := contents.path) is not None and path.settings["threshold_se"].notna().any():
        drawings["dial_path"] = dial_path_figure(path)
    if (controls := contents.controls) is not None and len(controls):
        drawings["controls"] = controls_figure(controls, verdict["direction"]["own"])
    if found is not None:
        drawings["side_effects"] = side_effects_figure(*found, figures.UNITS.get(unit, unit))
    if (reasoned := run.reasoned()) is not None:
        low, middle, high = (
            float("nan") if reasoned[name] is None else float(reasoned[name]) for name in ("rho_low", "rho", "rho_high")
        )
        shown = figures.UNITS.get(unit, unit)
        drawings["reasoned"] = reasoned_figure(run.reasoned_settings(), run.reasoned_ease(), (middle, low, high), shown)
    drawings |= _of_questions(contents, figures.UNITS.get(unit, unit))
    captions = {name: _save(run, name, drawing) for name, drawing in drawings.items()}
    run.run.write_json(CAPTIONS, captions)
    return captions


def _of_questions(contents: Contents, unit: str) -> dict[str, Drawing]:
    """What the dial does to each question, and the scale that the panel shares."""
    grid, factor = contents.grid, contents.factor
    drawings = {
        "question_map": dial_figures.question_map(grid, None if factor is None else factor.difficulty),
        "margin_histogram": dial_figures.margin_histogram(grid),
    }
    if dial_figures.grouped_by(questions := contents.questions):
        drawings["rates_by_group"] = dial_figures.rates_by_group(grid, questions, unit)
    if factor is not None:
        drawings["loadings"] = factor_figures.loadings_against_threshold(factor, null=contents.parabola)
        drawings["scree"] = factor_figures.scree(factor, factor.null)
    return drawings


def _save(run: SweepRun, name: str, drawing: Drawing) -> dict[str, str]:
    save_figure(drawing.figure, run.path / "figures", name)
    return {"title": drawing.title, "caption": drawing.caption}
