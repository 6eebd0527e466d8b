"""Draw a run's figures from its tables into its folder, with their captions beside them in figures/captions.json."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from onedial.report.contents import Contents
from onedial.report.figures import dial_figures, figures
from onedial.report.figures.captions import CAPTIONS, TITLES
from onedial.report.figures.figures import shade_beyond
from onedial.report.figures.path_figure import dial_path_figure
from onedial.report.figures.rival_figures import controls_figure, prediction_figure, rivals_figure
from onedial.scale.study import factor_figures
from onedial.show import (
    CAPTIONS as CAPTIONS_FILE,
)
from onedial.show import (
    COLOURS,
    FAINT,
    INK,
    Drawing,
    interval,
    named,
    new_figure,
    number,
    save_figure,
    set_title,
    styled,
)
from onedial.verdict import CANNOT_BE_JUDGED, SweepRun, rates_along_controls


@styled
def side_effects_figure(effects: pd.DataFrame, said: Mapping[str, Any], unit: str) -> Drawing:
    """The figure.

    Args:
        effects: columns of `steering.fact_effects` and `steering.effects_on_text`, one row per setting.
        said: low, high, limit. unit: name of the unit of the magnitudes.
    """
    table = effects.sort_values("setting")
    x = table["setting"]
    figure = new_figure(5.4)
    above, below = figure.subplots(2, 1, sharex=True)
    above.fill_between(x, table["accuracy_low"], table["accuracy_high"], color=COLOURS[0], alpha=0.18, linewidth=0)
    above.plot(x, table["accuracy"], color=COLOURS[0], label="accuracy on facts")
    above.plot(x, table["negative_flips"], color=COLOURS[1], linestyle="--", label="wrong after, right before")
    above.set_ylim(-0.02, 1.02)
    above.set_ylabel("share of facts")
    above.legend(loc="best")
    set_title(above, TITLES["side_effects"], f"usable: accuracy falls by at most {100 * said['limit']:g} points")
    below.plot(x, table["kl"], color=COLOURS[2], label="KL of the next token (nats)")
    below.set_ylabel("KL (nats)")
    right = below.twinx()
    right.grid(False)
    right.plot(x, table["perplexity"], color=COLOURS[3], linestyle=":", label="perplexity")
    right.set_ylabel("perplexity")
    right.spines["right"].set_visible(True)
    below.legend(handles=[*below.get_lines(), *right.get_lines()], loc="best")
    for axes in (above, below):
        axes.axvline(0, color=FAINT, linewidth=0.8, linestyle=":")
    shade_beyond([above, below], (float(said["low"]), float(said["high"])))
    below.set_xlabel(f"magnitude ({unit})")
    return Drawing(figure, TITLES["side_effects"], CAPTIONS["side_effects"])


JITTER = 0.012


@styled
def reasoned_figure(settings: pd.DataFrame, ease: pd.DataFrame, rho: tuple[float, float, float], unit: str) -> Drawing:
    """The figure.

    Args:
        settings, ease: of `onedial.verdict.comparing.reasoned`. rho: with its interval.
        unit: name of the unit of the magnitudes.
    """
    figure = new_figure(6.0)
    above, below = figure.subplots(2, 1, height_ratios=(1.0, 1.25))
    for name, colour, words in (("direct", FAINT, "first token"), ("reasoned", COLOURS[0], "after reasoning")):
        known = settings.dropna(subset=[name])
        reach = np.array([known[name] - known[f"{name}_low"], known[f"{name}_high"] - known[name]])
        reach = reach.clip(0)  # an interval's end and a share of 0 or 1 may differ in the last bit
        above.errorbar(known["magnitude"], known[name], yerr=reach, color=colour, marker="o", markersize=4, label=words)
    unread = settings["n_unread"] / settings["n"]
    above.plot(settings["magnitude"], unread, color=COLOURS[1], linestyle=":", marker="x", label="texts not read")
    above.axvline(0, color=FAINT, linewidth=0.8, linestyle=":")
    above.set_ylim(-0.02, 1.02)
    above.set_xlabel(f"magnitude ({unit})")
    above.set_ylabel("share")
    above.legend(loc="best")
    set_title(above, TITLES["reasoned"])
    known = ease.dropna()
    rng = np.random.default_rng(0)  # ties lie side by side instead of on one point
    x, y = (known[name].to_numpy(float) + rng.uniform(-JITTER, JITTER, len(known)) for name in ("direct", "reasoned"))
    (points,) = below.plot(x, y, linestyle="", marker="o", markersize=3, alpha=0.5, color=COLOURS[0])
    named(points, f"{len(known)} questions")
    below.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle=":")
    below.set_xlabel("share of the settings with yes, first token")
    below.set_ylabel("after reasoning")
    remark = (
        f"rank correlation {number(rho[0], 2)} {interval(rho[1], rho[2], 2)}, {len(known)} questions"
        if np.isfinite(rho[0])
        else "one of the two orders is constant, or nothing could be read"
    )
    set_title(below, "The order of the questions", remark)
    return Drawing(figure, TITLES["reasoned"], CAPTIONS["reasoned"])


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
    drawings = {}
    if verdict["reproduced"] != CANNOT_BE_JUDGED:  # else a line through what nothing can be said of is all one sees
        drawings["magnitude_threshold"] = figures.magnitude_against_threshold(matches, verdict["line"], unit, usable)
    drawings |= {
        "dose_response": figures.dose_response_curves(
            contents.dose_response, matches, unit, usable, rates_along_controls(contents.tables)
        ),
        "agreement": figures.agreement_per_target(matches, excluded),
        "kappa": figures.kappa_per_target(matches, excluded),
    }
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
    run.run.write_json(CAPTIONS_FILE, captions)
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
        drawings["scree"] = factor_figures.scree(factor.eigenvalues, factor.null)
    return drawings


def _save(run: SweepRun, name: str, drawing: Drawing) -> dict[str, str]:
    save_figure(drawing.figure, run.path / "figures", name)
    return {"title": drawing.title, "caption": drawing.caption}
