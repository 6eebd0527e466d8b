"""What the report says besides the verdict, as rows of text: targets, missing answers, factor, provenance, limits."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from onedial.asking import MASS_FLOOR
from onedial.panels import FITTING, TEST
from onedial.report.figures.figures import unread_share
from onedial.scale import FactorModel, Simulated
from onedial.show import NOTHING, Rows, TableRow, interval, number, p_value
from onedial.stats import LEVEL
from onedial.verdict import EDGE, SweepGrid

CHANCE = 0.5
"""Of the facts that are true."""
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


SIDE_EFFECTS = ("accuracy on facts", "wrong after, right before", "KL (nats)", "perplexity", "mass on facts", "usable")


def side_effect_rows(effects: pd.DataFrame, said: Mapping[str, Any]) -> list[TableRow]:
    """At most eleven magnitudes from end to end, with cells in the order of `SIDE_EFFECTS`; faint outside the range."""
    ordered = effects.sort_values("setting")
    wanted = {round(place * (len(ordered) - 1) / 10) for place in range(11)} | {
        int((ordered["setting"].to_numpy() == 0).argmax())
    }
    rows = []
    for place in sorted(wanted):
        row = ordered.iloc[place]
        inside = said["low"] <= row["setting"] <= said["high"]
        cells = [
            f"{number(row['accuracy'], 2)} {interval(row['accuracy_low'], row['accuracy_high'], 2)}",
            number(row["negative_flips"], 2),
            number(row["kl"], 3),
            number(row["perplexity"], 1),
            number(row["mass"], 2),
            "yes" if inside else "no",
        ]
        rows.append(TableRow(number(row["setting"], 3, signed=True), cells, faint=not inside))
    return rows


REASONED = ("yes rate", "first token's", "kappa", "read both ways", "unread")


def reasoned_rows(settings: pd.DataFrame) -> list[TableRow]:
    """One row per setting of written answers, with cells in the order of `REASONED`."""
    return [
        TableRow(
            number(row["magnitude"], 3, signed=True),
            [
                *(
                    f"{number(row[name], 2)} {interval(row[f'{name}_low'], row[f'{name}_high'], 2)}"
                    for name in ("reasoned", "direct")
                ),
                number(row["kappa"], 2),
                f"{row['n_both']:.0f}",
                f"{row['n_unread']:.0f} of {row['n']:.0f}",
            ],
        )
        for _, row in settings.iterrows()
    ]


def reasoned_texts(texts: pd.DataFrame, questions: pd.DataFrame) -> Rows:
    """What was written to one question at three settings, the lowest, the middle and the highest, and how it was read.

    The question is the one that was read at most settings, of several the first.
    """
    if texts.empty:
        return []
    read = texts["said_yes"].notna().groupby(texts["question_id"]).sum()
    chosen = str(read.index[int(read.to_numpy().argmax())])
    own = texts[texts["question_id"] == chosen].sort_values("magnitude")
    asked = questions.set_index("id")["question"].get(chosen, chosen)
    rows = []
    for place in sorted({0, len(own) // 2, len(own) - 1}):
        row = own.iloc[place]
        said = "not read" if pd.isna(row["said_yes"]) else "yes" if row["said_yes"] == 1 else "no"
        label = f"magnitude {number(row['magnitude'], 3, signed=True)}, read as {said}: {asked}"
        rows.append((label, str(row["text"]).strip() or "(nothing was written)"))
    return rows


def target_rows(matches: pd.DataFrame, panel: pd.DataFrame) -> list[TableRow]:
    """One row per target, from rarely yes to often yes, with cells in the order of `TARGET_COLUMNS`."""
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
        rows.append(TableRow(str(target), cells, faint=row["status"] != "ok"))
    return rows


RIVAL_COLUMNS = ("order", "S", "95%", "S of steering minus it", "95%", "targets")
CRITERIA_COLUMNS = ("kappa", "95%", "targets judged", "R²", "by chance, median", "95%", "targets on the line")
MODEL_COLUMNS = ("targets", "signal", "without it", "gain", "without it", "order", "without it")
CONTROL_COLUMNS = ("S", "order", "push", "KL", "turning", "cosine")
KNOWING_COLUMNS = ("graded", "correct", "95%", "yes among right", "yes among wrong")


def criteria_rows(criteria: pd.DataFrame) -> list[TableRow]:
    """One row for each criterion of a target's magnitude."""
    return [
        TableRow(
            str(name),
            [
                number(row["kappa"]),
                interval(row["low"], row["high"]),
                f"{row['n_judged']:.0f}",
                number(row["r2"], 2),
                number(row["r2_null_median"], 2),
                number(row["r2_null_95"], 2),
                f"{row['n_line']:.0f}",
            ],
        )
        for name, row in criteria.iterrows()
    ]


def rival_rows(rivals: pd.DataFrame) -> list[TableRow]:
    """One row per rival, the best first; faint where it has no order for any target."""
    rows = []
    for name, row in rivals.sort_values("signal", ascending=False, kind="stable").iterrows():
        cells = [
            "one for all" if row["one_order"] else "of each target",
            number(row["signal"]),
            interval(row["low"], row["high"]),
            number(row["difference"], signed=True),
            interval(row["difference_low"], row["difference_high"], signed=True),
            f"{row['n_targets']:.0f}",
        ]
        rows.append(TableRow(str(name), cells, faint=not row["n_targets"] > 0))
    return rows


PREDICTION_COLUMNS = ("placed by", "bits", "95%", "95%, models like these", "share", "95%", "without a score")
PREDICTED_COLUMNS = ("bits", "95%", "p, adjusted", "share", "predicted")


def prediction_rows(prediction: pd.DataFrame) -> list[TableRow]:
    """One row per source and number of answers, the best first within each number, the whole fitting split first."""
    rows = []
    sizes = {str(size): place for place, size in enumerate(prediction["k"].unique())}
    order = prediction.assign(place=prediction["k"].astype(str).map(sizes))
    for _, row in order.sort_values(["place", "bits"], ascending=[False, False], kind="stable").iterrows():
        cells = [
            f"{row['k']} of its answers",
            number(row["bits"], signed=True),
            interval(row["low"], row["high"], signed=True),
            interval(row["low_models"], row["high_models"], signed=True),
            number(row["share"], 2),
            interval(row["share_low"], row["share_high"], 2),
            f"{row['n_unscored']:.0f}",
        ]
        rows.append(TableRow(str(row["source"]), cells, faint=bool(row["low"] <= 0)))
    return rows


def predicted_rows(models: Mapping[str, Mapping[str, Any]]) -> list[TableRow]:
    """One row per base model: what the dial predicts of its targets."""
    return [
        TableRow(
            name,
            [
                number(own["bits"], signed=True),
                interval(own["low"], own["high"], signed=True),
                p_value(own["p_adjusted"]),
                number(own["share"], 2),
                "yes" if own["predicted"] else "no",
            ],
            faint=not own["predicted"],
        )
        for name, own in models.items()
    ]


def model_rows(models: Mapping[str, Mapping[str, Any]]) -> list[TableRow]:
    """One row per base model."""
    rows = []
    for name, own in models.items():
        cells = [f"{own['n_targets']:.0f}"]
        for key, signed in (("signal", False), ("gain", True), ("order", True)):
            cells += [number(own.get(each), signed=signed) for each in (key, f"without_{key}")]
        rows.append(TableRow(name, cells))
    return rows


def facts_rows(found: Mapping[str, Any]) -> Rows:
    """What the dial does to unrelated facts."""
    return [
        ("facts asked", f"{found['n']}, of which {found['n_unread']} were not read unsteered"),
        (
            "shift of their yes rate, as a share of the question's own",
            f"{number(found['share'], 2)} {interval(found['share_low'], found['share_high'], 2)}",
        ),
        (
            "answered rightly, unsteered",
            f"{number(found['accuracy'], 2)} {interval(found['accuracy_low'], found['accuracy_high'], 2)}"
            + ("; no better than guessing, so the loss below says nothing" if _guessed(found) else ""),
        ),
        (
            "loss at the worst magnitude",
            f"{number(found['loss'], 2)} {interval(found['loss_low'], found['loss_high'], 2)}",
        ),
        ("median |margin| at its smallest, of the unsteered one", number(found["shrink"], 2)),
        ("between magnitudes", f"{number(found['from_magnitude'])} and {number(found['to_magnitude'])}"),
    ]


BIAS_COLUMNS = ("logits per residual norm", "the dial", "Yes minus No")
_BIAS = {
    "as_asked": "margin as asked",
    "reversed": "margin of the reversed wording",
    "facts": "margin of unrelated facts",
    "bias": "yes-bias: half their sum",
    "confidence": "confidence: half their difference",
    "share": "yes-bias, as a share of the shift as asked",
    "facts_share": "facts, as a share of the shift as asked",
    "alike": "correlation of the unsteered margins of both wordings",
}


def bias_rows(found: Mapping[str, Any]) -> list[TableRow]:
    """What the push does to either wording, beside Yes minus No in the unembedding where that was asked."""

    def told(slopes: Mapping[str, Any] | None, name: str) -> str:
        if slopes is None or slopes[name]["value"] is None:
            return "–"
        own = slopes[name]
        return f"{number(own['value'], 2)} {interval(own['low'], own['high'], 2)}"

    return [TableRow(words, [told(found[who], name) for who in ("own", "yardstick")]) for name, words in _BIAS.items()]


def bias_words(found: Mapping[str, Any]) -> str:
    """How it is read, in words."""
    own = found["own"]
    share, alike = own["share"]["value"], own["alike"]["low"]
    read = (
        "Unsteered, questions that get more yes in one wording get more in the other: the subject may not have read "
        "the reversal, and the flag asks the facts as well."
        if alike is not None and alike > 0
        else ""
    )
    said = "" if share is None else f"Of the shift of the question as asked {share:.0%} is a bias towards yes."
    return f"{said} {read}".strip()


def _guessed(found: Mapping[str, Any]) -> bool:
    """Whether the unsteered subject may know nothing of the facts."""
    return found["accuracy_low"] is not None and found["accuracy_low"] <= CHANCE


def knowing_rows(knowing: pd.DataFrame) -> list[TableRow]:
    """The subject first, then each target whose correctness is known."""
    return [
        TableRow(
            str(name),
            [
                f"{row['n_graded']:.0f}",
                number(row["target_correct"], 2),
                interval(row["low"], row["high"], 2),
                _with_count(row, "right"),
                _with_count(row, "wrong"),
            ],
        )
        for name, row in knowing.iterrows()
    ]


def _with_count(row: pd.Series, kind: str) -> str:
    """The AUROC of yes among what was answered so, and of how many questions; older runs have not stored how many."""
    value, n = number(row[f"yes_within_{kind}"], 2), row.get(f"n_within_{kind}")
    return value if n is None or not n > 0 else f"{value} (n {n:.0f})"


def control_rows(controls: pd.DataFrame, own: Mapping[str, Any]) -> list[TableRow]:
    """The vector, median and best of each drawn kind, and each other contrast."""

    def row(name: str, values: Mapping[Any, Any], cosine: float | None = None) -> TableRow:
        push, kl = values["push"], values.get("kl")
        never = push is None or push == float("inf")
        return TableRow(
            name,
            [
                number(values["signal"]),
                number(values["order_gain"], signed=True),
                "never" if never else number(push, 2),
                "never" if never and kl is not None and kl == kl else number(kl),
                number(values["turning"], 2),
                number(cosine, 2, signed=True),
            ],
        )

    controls = controls.assign(kl=controls["kl"] if "kl" in controls else float("nan"))  # runs before it was measured
    rows = [row("the vector", own, 1.0)]
    for kind, drawn in controls[controls["drawn"]].groupby("role", sort=False):
        numbers = drawn[["signal", "order_gain", "push", "kl", "turning"]]
        rows.append(row(f"{kind}, median of {len(drawn)}", numbers.median().to_dict(), drawn["cosine"].median()))
        best = numbers.max() if len(numbers) else numbers.median()
        best[["push", "kl", "turning"]] = numbers[["push", "kl", "turning"]].min()
        rows.append(row(f"{kind}, best of {len(drawn)} in each", best.to_dict()))
    for _, single in controls[~controls["drawn"].astype(bool)].iterrows():
        rows.append(row(str(single["role"]), single.to_dict(), single["cosine"]))
    return rows


def assumptions(verdict: Mapping[str, Any], config: Mapping[str, Any]) -> list[str]:
    """What nobody tested, and the numbers rest on."""
    prompt = config.get("prompt") or "the default"
    return [
        f"The wording of the prompt ({prompt}), the subject's weights and dtype, and the vector as it was extracted.",
        "Layer and magnitudes, which were chosen on the extraction and fitting questions without a look at any target.",
        "The panel's answers as they stand: one sample of each, unless it holds more, and gaps that are left out.",
        "Questions of one topic are alike; beyond that they count as independent.",
        "Targets of one base model are averaged first, and base models weigh alike.",
    ]


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


def factor_rows(factor: FactorModel, parabola: Simulated | None = None) -> Rows:
    """How much of the panel one shared difficulty explains, each share with its denominator.

    Args:
        parabola: the null of the loadings' R^2 on the thresholds, where it was simulated.
    """
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
        ("R² of the parabola of loading on threshold", number(factor.quadratic_fit.r2) + _beside_null(parabola)),
        ("root mean square residual correlation", number(factor.residual_rms)),
        ("Heywood cases", ", ".join(map(str, factor.heywood)) or "none"),
    ]


def vector_rows(
    own: Mapping[str, Any], vectors: Sequence[Mapping[str, Any]], found: Mapping[str, Any] | None, n_layers: Any
) -> Rows:
    """Name, place, making, reliability and length of what was swept.

    Args:
        own: entry of interventions.json. vectors: what their files say. found: the manifest's `vector`, the reliability
            by halves; None where it was not measured. n_layers: of the subject.
    """
    layers = ", ".join(str(layer) for layer in own["layers"])
    ends = min(own["magnitudes"]), max(own["magnitudes"])
    rows = [
        ("name", ", ".join(map(str, own["vectors"]))),
        ("layer", f"{layers} of {n_layers} (counted from 0)" if n_layers is not None else layers),
        ("done", f"{own['operator']} at positions {own['positions']}"),
        ("swept", f"{len(own['magnitudes'])} magnitudes from {number(ends[0])} to {number(ends[1])}"),
    ]
    for facts in vectors:
        where = f", layer {facts['layer']}" if len(vectors) > 1 else ""
        rows += [
            (
                f"made of{where}",
                f"{facts['n_yes']} questions on the side of yes and {facts['n_no']} on that of no "
                f"({facts['n_unread']} unread), by {str(facts['method']).replace('_', ' ')}",
            ),
            (
                f"length{where}",
                f"{number(facts['raw_norm'], 2)} as extracted, {number(facts['raw_norm'] / facts['residual_norm'])} of "
                f"the median residual norm {number(facts['residual_norm'], 1)}",
            ),
        ]
    if found is None:
        return [*rows, ("reliability", "not measured")]
    thirds = "; outer thirds of the margins, since one side had too few" if found.get("by_thirds") else ""
    return [
        *rows,
        ("unsteered answers behind it", f"{found['n_said_yes']} yes, {found['n_said_no']} no{thirds}"),
        (
            "reliability by halves",
            f"{number(found['reliability'], 2)} (cosine of the halves {number(found['half_cosine'], 2)} "
            f"{interval(found['low'], found['high'], 2)})",
        ),
    ]


def scale_sentence(factor: FactorModel, parabola: Simulated | None = None) -> str:
    """Whether one scale stands out, and whether loadings bend along the thresholds, in words, with what chance gives
    where that was simulated."""
    eigenvalues = factor.eigenvalues.to_numpy(float)
    size = len(eigenvalues)
    first, second = eigenvalues[0] / size, (eigenvalues[1] / size if size > 1 else float("nan"))
    said = f"The first eigenvalue holds {first:.0%} of the panel's variance, the second {second:.0%}"
    if factor.null is not None:
        upper = float(factor.null.upper[0])
        if eigenvalues[0] > upper:
            said += (
                f"; shuffled answers stay under {upper / size:.0%}, so that the targets answer alike; whether models "
                "share a scale, or only the framings of each one, experiments/fit_factor.py tells apart"
            )
        else:
            said += f"; shuffled answers reach {upper / size:.0%}, so no shared scale shows"
    if parabola is None:
        return (
            f"{said}. Whether one is enough, and whether the parabola is more than its correction makes, "
            "experiments/fit_factor.py tests."
        )
    upper = float(np.nanquantile(parabola.simulated, 0.95))
    null = (
        f"R² {number(parabola.observed, 2)}, and {number(parabola.mean, 2)} on average, under {number(upper, 2)} in 95 "
        f"of 100 panels in which loadings have nothing to do with thresholds (p = {p_value(parabola.p)})"
    )
    if parabola.p < LEVEL:
        said += f". The loadings bend along the thresholds more than chance has it: {null}"
    else:
        said += f". The parabola of the loadings along the thresholds is no more than its null: {null}"
    return f"{said}. Whether one scale is enough, experiments/fit_factor.py tests."


def _beside_null(parabola: Simulated | None) -> str:
    if parabola is None:
        return ""
    return (
        f" ({number(parabola.mean)} on average where the two are unrelated, p = {p_value(parabola.p)}, "
        f"{parabola.n_defined} panels drawn)"
    )


def limits(verdict: Mapping[str, Any], matches: pd.DataFrame, grid: SweepGrid) -> list[str]:
    """What the verdict does not say."""
    n_test = int(grid.rows(TEST).sum())
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
    if edge := int((matches["status"] == EDGE).sum()):
        rates = np.nanmean(grid.answers[grid.rows(FITTING)], axis=0)
        own = matches.loc[matches["status"] == EDGE, "yes_rate"]
        inside = int(own.between(rates.min(), rates.max()).sum())
        said.insert(
            1,
            f"{edge} of the {verdict['n_eligible']} judged targets are matched best at an end of the range, where the "
            f"subject says one thing to most questions; the dial reaches the yes rate of {inside} of these. There "
            "steering has nothing to gain over the majority answer, which draws G towards 0.",
        )
    if excluded:
        named = ", ".join(f"{target} ({status})" for target, status in excluded.items())
        said.insert(1, f"Left out of the verdict: {len(excluded)} of {verdict['n_targets']} targets: {named}.")
    return said
