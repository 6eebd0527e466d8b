"""Name what the study shows of a panel, once: every table, its picture and its section."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from onedial.confidence.metacognition import metacognition_sentences
from onedial.confidence.predictors import OWN
from onedial.confidence.validity import screening_sentence
from onedial.scale.study.factor_figures import parabola_plot, scree
from onedial.show.columns import Column, digits, like, percent
from onedial.show.figure_style import COLOURS, FAINT, INK, Drawing, family_styles
from onedial.show.plots import SHARES, Axis, Curve, Panel, Points, curves, forest, scatter
from onedial.show.results import SURROUNDINGS, WARNINGS, Make, Result, Stored, words_in
from onedial.stats.level import LEVEL
from onedial.studies.panel import sentences as say
from onedial.studies.panel.case import StudyCase

WORDS = words_in(__file__)
MOST_ROWS, MOST_LABELS = 60, 12
EVEN = Curve([0, 1], [0, 1], colour=FAINT, look={"linestyle": "--", "linewidth": 1.2})


def _graded(compute: Callable[[StudyCase], Any]) -> Callable[[StudyCase], Any]:
    return lambda case: None if case.correctness is None else compute(case)


def _scaled(compute: Callable[[StudyCase], Any]) -> Callable[[StudyCase], Any]:
    return lambda case: compute(case) if case.with_scale else None


def _of_table(words: Callable[[pd.DataFrame], str]) -> Make:
    return lambda table, _: words(table)


def _by(table: pd.DataFrame) -> str:
    return "family" if (table["family"] != "").any() else ""


def _loadings(_: Any, stored: Stored) -> Drawing:
    table, first = stored["respondents"].dropna(subset=["loading"]), stored["readings"].iloc[0]
    unrelated = ""
    if "parabola_p" in first:
        unrelated = f"; if unrelated {first['parabola_unrelated']:.2f} (p = {first['parabola_p']:.2g})"
    return parabola_plot(table, unrelated, _by(table))


def _closeness(_: Any, stored: Stored) -> str:
    readings = stored["readings"]
    return say.turned(stored["respondents"], readings.iloc[0]) + say.parabola(readings)


def _rates(table: pd.DataFrame, _: Stored) -> Drawing:
    values = {"yes_rate": "says yes"} | ({"accuracy": "is right"} if "accuracy" in table else {})
    drawn = forest(table.head(MOST_ROWS).rename(index=say.short), values, Axis(limits=SHARES))
    left = len(table) - MOST_ROWS
    return Drawing(drawn.figure, caption=f"Not drawn: {left} respondents." if left > 0 else "")


def _base_models(table: pd.DataFrame, stored: Stored) -> Drawing:
    lines, stated = [EVEN], not np.allclose(table["confidence"], _mean_yes(table, stored))
    if (table["n_respondents"] > 1).any():
        framings, look = stored["respondents"], {"linestyle": "", "marker": ".", "alpha": 0.6}
        lines.append(Curve(framings["accuracy"], framings["yes_rate"], "single framings", FAINT, look=look))
    if "confidence_accuracy" in stored:
        line = stored["confidence_accuracy"].loc["as is"]
        x = np.array([table["accuracy"].min(), table["accuracy"].max()])
        lines.append(Curve(x, line["intercept"] + line["slope"] * x, colour=INK))
    lowest = {name: max(0.0, np.floor(10 * table[name].min() - 0.5) / 10) - 0.02 for name in ("accuracy", "confidence")}
    return scatter(
        table,
        "accuracy",
        "confidence",
        Axis("share of questions answered correctly", (lowest["accuracy"], 1.02)),
        Axis("mean stated confidence" if stated else "share of questions with yes", (lowest["confidence"], 1.02)),
        Points(by=_by(table)),
        lines=lines,
    )


def _mean_yes(table: pd.DataFrame, stored: Stored) -> "pd.Series[float]":
    return stored["respondents"].groupby("model")["yes_rate"].mean().reindex(table.index)


def _f_beta(_: Any, stored: Stored) -> Drawing:
    table = stored["f_beta"]
    best = list(dict.fromkeys(table["best"].dropna()))
    names = [name for name in table.columns.drop("best") if name not in best] + best
    colours = dict(zip(best, COLOURS, strict=False))
    lines = [
        Curve(
            np.log2(table.index.to_numpy(float)),
            table[name],
            say.short(name) if name in best else "",
            colours.get(name, FAINT),
            look={} if name in best else {"linewidth": 0.8, "alpha": 0.5},
            name=str(name),
        )
        for name in names
    ]
    ends = f"from beta {table.index.min():g} to {table.index.max():g}"
    panel = Panel(lines, "F-beta", title=f"in colour: the {len(best)} that are best somewhere {ends}")
    return curves([panel], "log₂ beta; left: a wrong yes costs more, right: a wrong no", inch=2.9, below=True)


def _reliability(_: Any, stored: Stored) -> Drawing:
    table, lines = stored["reliability"], [EVEN]
    styles = family_styles(list(map(str, table["model"].unique())))
    for name, (colour, marker) in styles.items():
        rows, look = table[table["model"] == name], {"marker": marker, "markersize": 4, "linewidth": 1.0}
        label = say.short(name) if len(styles) <= MOST_LABELS else ""
        lines.append(Curve(rows["confidence"], rows["right"], label, colour, look=look, name=name))
    panel = Panel(lines, "share answered correctly", SHARES)
    return curves([panel], "confidence", zero=False, inch=3.6, below=True, xlimits=SHARES)


def _predictors(table: pd.DataFrame, _: Stored) -> Drawing:
    axis = Axis("AUROC for what the model gets right (0.5: chance)", rules={0.5: ":"})
    return forest(table.sort_values("auroc"), "auroc", axis, Points(bold=[OWN]), longest=40)


def _own(table: pd.DataFrame, _: Stored) -> Drawing:
    table = table.sort_values("total", ascending=False).head(MOST_ROWS).rename(index=say.short)
    table = table.rename(columns={"low": "own_low", "high": "own_high"})
    values = {"shared": "shared by all", "family": "its family's", "own": "its own part"}
    return forest(table, values, points=Points(bold=list(table.index[table["p_adjusted"] <= LEVEL])), longest=26)


STUDY_RESULTS: dict[str, Result] = {
    "summary": Result(compute=say.summary),
    **WARNINGS,
    "readings": Result(
        "Is it one shared scale?",
        _scaled(lambda case: case.readings),
        index="reading",
        columns=(
            *(
                "n_models",
                Column(
                    "share",
                    "first factor",
                    percent,
                    short="first",
                    tip="share of the variance, by marginal likelihood",
                    ends=("share_low", "share_high"),
                ),
                "first",
                "first_shuffled",
                "second",
                "n_factors",
                "rmsea",
                "cfi",
                "srmr",
            ),
            *("parabola_r2", "parabola_p"),
        ),
        text=_of_table(say.scale),
        figures={"scree": lambda _, stored: scree(stored["eigenvalues"])},
        folded=False,
        terminal=True,
    ),
    "eigenvalues": Result(compute=_scaled(lambda case: case.as_answered.eigenvalues()), index="rank"),
    "questions": Result(
        compute=_scaled(lambda case: case.as_answered.model.difficulty.to_frame("difficulty")), index="question_id"
    ),
    "loadings": Result(
        "Who follows it how closely?",
        text=_closeness,
        figure=_loadings,
        when=lambda _, stored: "readings" in stored,
        folded=False,
    ),
    "limits": Result(
        "Caveats",
        items=lambda _, stored: stored.numbers("summary")["limits"],
        when=lambda _, stored: bool(stored.numbers("summary")["limits"]),
        folded=False,
    ),
    "respondents": Result(
        "How often yes, how often right?",
        lambda case: case.respondents,
        index="respondent",
        texts=("family", "framing"),
        columns=(
            *("loading", "threshold", "yes_rate", "n_unread", like("accuracy", heading="right"), "n_ungraded"),
            *("came_true", like("n_both", heading="of")),
        ),
        hidden=True,
        figures={"rates": _rates},
    ),
    "base_models": Result(
        "Do surer models get more right?",
        _graded(lambda case: case.base_models),
        index="model",
        texts=("family",),
        text=lambda table, stored: say.line(table, stored),
        figure=_base_models,
        folded=False,
    ),
    "confidence_accuracy": Result(compute=_graded(lambda case: case.lines()), index="scale"),
    "attitudes": Result(
        "Whose yes is best, by what an error costs?",
        _graded(lambda case: case.attitudes()),
        index="attitude",
        texts=("best_other_model",),
        columns=(
            *("beta", Column("best"), "f_beta", "always_yes", "best_other_model"),
            like("f_beta", name="f_beta_other", heading="F of that one"),
        ),
        text=lambda table, stored: say.attitudes(stored["f_beta"]["best"]),
        figures={"f_beta": _f_beta},
        folded=False,
    ),
    "f_beta": Result(compute=_graded(lambda case: case.f_beta.curve.assign(best=case.f_beta.best)), index="beta"),
    "screening": Result(
        "Whose confidence says anything?",
        _graded(lambda case: case.screening.sort_values("auroc")),
        index="respondent",
        columns=("tells", "auroc", "n_right", "n_wrong"),
        text=lambda table, _: f"{screening_sentence(table)} {WORDS['screening']['about']}",
        hidden=True,
        folded=False,
    ),
    "calibration": Result(
        "Is it calibrated?",
        _graded(lambda case: case.calibration),
        index="respondent",
        columns=(
            *("n", "mean_confidence", like("accuracy", heading="right"), "ece_mass", "brier_skill", "reliability"),
            *("resolution", "auroc"),
        ),
        items=lambda _, stored: metacognition_sentences(stored["metacognition"]),
        hidden=True,
        figures={"reliability": _reliability},
    ),
    "reliability": Result(compute=_graded(lambda case: case.reliability())),
    "metacognition": Result(compute=_graded(lambda case: case.metacognition()), index="respondent", texts=("status",)),
    "predictors": Result(
        "What tells a model's right answers from its wrong ones?",
        _graded(lambda case: None if case.predictors is None else case.predictors.summary),
        index="predictor",
        columns=("auroc", like("bits", heading="bits alone"), "bits_more", like("n_models", heading="models")),
        text=lambda table, stored: say.predictors(table, stored.numbers("summary")),
        figure=_predictors,
        hidden=True,
        folded=False,
    ),
    "predictors_by_model": Result(compute=_graded(lambda case: case.predictors_by_model()), index="model"),
    "shared_or_own": Result(
        "Does a model know itself?",
        _graded(lambda case: None if isinstance(case.own, str) else case.own.models),
        index="model",
        columns=(
            "n",
            *(Column(part, form=digits(2)) for part in ("total", "shared", "family")),
            Column("own", form=digits(3), ends=("low", "high")),
            "p_adjusted",
            Column("verdict"),
        ),
        text=lambda table, stored: stored.numbers("shared_or_own_mean")["words"],
        hidden=True,
        figure=_own,
        folded=False,
    ),
    "shared_or_own_mean": Result(compute=_graded(say.own_of_all)),
    "not_tested": Result(
        "Does a model know itself?",
        items=lambda _, stored: [stored.numbers("shared_or_own_mean")["reason"]],
        when=lambda _, stored: "reason" in stored.numbers("shared_or_own_mean"),
        folded=False,
    ),
    "shared_or_own_correlations": Result(
        compute=_graded(lambda case: None if isinstance(case.own, str) else case.own.correlations),
        index="confidence of",
    ),
    "topics": Result(
        "By topic",
        _graded(lambda case: case.topics()),
        index="respondent",
        lines=lambda table, _: table.round(2),
        first="model",
        hidden=True,
    ),
    **SURROUNDINGS,
}
