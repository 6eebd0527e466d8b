"""The targets one by one, the base models one by one, and whether they share one scale of difficulty."""

from typing import Any

import numpy as np
import pandas as pd

from onedial.report import figures as draw
from onedial.report.contents import Contents
from onedial.report.meaning import WORDS, why_left_out
from onedial.report.sections.predicted import NAMED, fill_of_mark
from onedial.show.columns import SIDES, like, number
from onedial.show.results import Result
from onedial.show.run_tables import Rows
from onedial.stats.answers import names
from onedial.verdict.numbers import FEWEST_MODELS
from onedial.verdict.prediction.prediction import share_is_told


def _targets(table: pd.DataFrame, stored: Contents) -> pd.DataFrame:
    """Sort targets from rarely yes to often yes, with how many answers the panel lacks."""
    missing = stored.panel["said_yes"].isna().groupby(stored.panel["respondent"]).sum()
    lines = table.assign(n_unread=table["n_unread_fitting"] + table["n_unread_test"])
    lines["missing"] = [missing.get(target, 0) for target in lines.index]
    return lines.sort_values("yes_rate", kind="stable")


def _left_out(table: pd.DataFrame, _: Contents) -> list[str]:
    odd = table[table["status"] != "ok"].sort_values("yes_rate", kind="stable")
    return [f"{target}: {why_left_out(row)}" for target, row in odd.iterrows()]


def _excluded(_: Any, stored: Contents) -> list[str]:
    n, words = len(stored.verdict.excluded), WORDS["matches"]["excluded"]
    return [words.format(n=n, of=stored.verdict.n_targets)] * (n > 0)


def _models(_: Any, stored: Contents) -> list[tuple[str, dict[str, Any]]]:
    """List what the dial predicts of each base model, and the verdict's numbers with it alone and without it."""
    prediction, rows = stored.verdict.prediction, []
    for name, numbers in stored.verdict.models.items():
        bits = prediction.models.get(name, {})
        share_is_known = share_is_told(bits.get("possible", 0.0), prediction.yes_rate)
        rows.append((name, {**bits, **numbers} | ({} if share_is_known else {"share": None})))
    return rows


def _about_models(_: Any, stored: Contents) -> list[Any]:
    needed = [name for name, model in stored.verdict.prediction.models.items() if model.get("needed")]
    words, n = WORDS["models"], len(stored.verdict.models)
    sentences = [words["needed"].format(names=names(needed, NAMED))] if needed else []
    return sentences + [words["few"].format(n=n)] * (n < FEWEST_MODELS)


TARGETS: dict[str, Result] = {
    "matches": Result(
        "Targets",
        lambda judged: judged.case.matches,
        index="target",
        texts=("model", "framing", "family", "status"),
        columns=(
            *(
                "status",
                "yes_rate",
                "magnitude",
                "agreement",
                "majority",
                "threshold_shift",
                "kappa",
            ),
            *("n_test", "n_unread", "missing"),
        ),
        lines=_targets,
        faint=lambda row: row["status"] != "ok",
        figures={"agreement": draw.agreement},
        items=_left_out,
        doubts=_excluded,
        terminal=True,
    ),
    "models": Result(
        "Model by model",
        columns=(
            *("n_targets", like("bits", ends=SIDES), "p_adjusted", "share", "predicted", "needed", "signal"),
            *("without_signal", "gain", "without_gain", "order", "without_order"),
        ),
        lines=_models,
        first="base model",
        fill=fill_of_mark,
        doubts=_about_models,
        when=lambda _, stored: stored.verdict.models,
    ),
}


def _scale(_: Any, stored: Contents) -> list[str]:
    """Say whether one scale stands out beside what chance gives."""
    factor, words = stored.factor, WORDS["factor"]
    assert factor is not None
    first, second, *_ = [*factor.eigenvalues.to_numpy(float) / len(factor.eigenvalues), np.nan]
    upper = None if factor.null is None else float(factor.null.upper[0]) / len(factor.eigenvalues)
    stands = "unknown" if upper is None else "shared" if first > upper else "no_scale"
    return [words[key].format(first=first, second=second, upper=upper) for key in ("eigenvalues", stands, "more")]


def _factor(_: Any, stored: Contents) -> Rows:
    """List how much of the panel one shared difficulty explains, each share with its denominator."""
    factor, known = stored.factor, WORDS["denominators"]
    assert factor is not None
    rows = [
        (known.get(str(name), str(name).replace("_", " ")), number(share))
        for name, share in factor.explained.iloc[0].items()
    ]
    if (null := factor.null) is not None:
        chance = number(null.upper[0] / len(null.observed))
        rows.append((known["null"], f"{chance} (p = {number(null.p[0])}, {null.n_replicates} permutations)"))
    return [
        *rows,
        ("respondents", str(len(factor.thresholds))),
        ("questions with a difficulty", str(int(factor.difficulty.notna().sum()))),
        ("root mean square residual correlation", number(factor.residual_rms)),
        ("Heywood cases", ", ".join(map(str, factor.heywood)) or "none"),
    ]


SCALE: dict[str, Result] = {
    "line": Result(
        "Does the magnitude follow the threshold?",
        figures={"magnitude_threshold": lambda _, stored: draw.line(stored["matches"], stored)},
        when=lambda _, stored: stored.verdict.is_judged,
    ),
    "factor": Result(
        "One shared difficulty?",
        items=_scale,
        rows=_factor,
        figures={"loadings": draw.loadings},
        when=lambda _, stored: stored.factor is not None,
    ),
}
