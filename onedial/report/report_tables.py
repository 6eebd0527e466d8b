"""What the report says besides the verdict, as rows of text: targets, missing answers, factor, provenance, limits."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from onedial.asking import MASS_FLOOR
from onedial.panels import FITTING, TEST
from onedial.report.figures.figures import unread_share
from onedial.scale import FactorModel, Simulated
from onedial.show import Column, Rows, between, count, digits, interval, number, p_value, yes_or_no
from onedial.stats import LEVEL
from onedial.verdict import EDGE, Case, share_is_told

CHANCE = 0.5
"""Of the facts that are true."""
DENOMINATORS = {
    "eigenvalue_of_total_variance": "first eigenvalue, of the total variance (unique variance included)",
    "squared_loadings_of_total_variance": "squared loadings, of the total variance",
    "squared_loadings_of_common_variance": "squared loadings, of the common variance",
}
SIDES = ("low", "high")
DRAWN_KINDS = ("random", "covariance", "shuffled")
"""Of the directions of an interchange or a mediation: what the others are ranked among."""
TARGETS = (
    Column("status", tip="whether it is judged, and why not"),
    Column("yes_rate", "yes rate", digits(2), short="yes", tip="how often the target says yes"),
    Column("magnitude", form=digits(3), short="dial", tip="the magnitude that was chosen for it"),
    Column("agreement", form=digits(2), ends=("agreement_low", "agreement_high"), short="agree",
           tip="how often the steered subject then answers as it does"),
    Column("majority", "majority answer", digits(2), short="major.",
           tip="how often its more frequent answer alone does"),
    Column("moved_cut", "moved cut", digits(2), short="cut",
           tip="how often the unsteered subject does with its cut moved"),
    Column("kappa", form=digits(2), ends=("kappa_low", "kappa_high"), short="kappa", tip="agreement beyond chance"),
    Column("threshold", form=digits(2), error="threshold_se", tip="Φ⁻¹ of its yes rate; higher is more often yes"),
    Column("n_test", "test answers", count),
    Column("n_unread", "unread", count),
    Column("missing", form=count),
)  # fmt: skip
SIDE_EFFECTS = (
    Column("accuracy", "accuracy on facts", digits(2), ends=("accuracy_low", "accuracy_high")),
    Column("negative_flips", "wrong after, right before", digits(2)),
    Column("kl", "KL (nats)", digits(3)),
    Column("perplexity", form=digits(1)),
    Column("mass", "mass on facts", digits(2)),
    Column("usable", form=yes_or_no),
)
REASONED = (
    Column("reasoned", "yes rate", digits(2), ends=("reasoned_low", "reasoned_high")),
    Column("direct", "first token's", digits(2), ends=("direct_low", "direct_high")),
    Column("kappa", form=digits(2)),
    Column("n_both", "read both ways", count),
    Column("n_unread", "unread", count),
    Column("n", "texts", count),
)
RIVALS = (
    Column("order"),
    Column("signal", "S", digits(3), ends=SIDES),
    Column("difference", "S of steering minus it", digits(3, signed=True), ends=("difference_low", "difference_high")),
    Column("n_targets", "targets", count),
)
PREDICTION = (
    Column("k", "placed by"),
    Column("bits", form=digits(3, signed=True), ends=SIDES),
    Column("", "95%, models like these", digits(3, signed=True), ends=("low_models", "high_models")),
    Column("share", form=digits(2), ends=("share_low", "share_high")),
    Column("n_unscored", "without a score", count),
)
PREDICTED = (
    Column("bits", form=digits(3, signed=True), ends=SIDES),
    Column("p_adjusted", "p, adjusted", p_value),
    Column("share", form=digits(2)),
    Column("predicted", form=yes_or_no),
    Column("needed", form=yes_or_no, tip="without it, it would not be reproduced"),
)
MODELS = (
    Column("n_targets", "targets", count),
    *(
        Column(name, heading, digits(3, signed))
        for own, signed in (("signal", False), ("gain", True), ("order", True))
        for name, heading in ((own, own), (f"without_{own}", "without it"))
    ),
)
BIAS = (
    Column("own", "the dial", digits(2), ends=("own_low", "own_high")),
    Column("yardstick", "Yes minus No", digits(2), ends=("yardstick_low", "yardstick_high")),
)
INTERCHANGE = (
    Column("pairs", "far apart by"),
    Column("share", form=digits(2), ends=SIDES),
    Column("p", "p, random", digits(3)),
    Column("p_covariance", "p, where streams differ", digits(3)),
    Column("gap", "logits between them", digits(2), ends=("gap_low", "gap_high")),
    Column("n", "pairs", count),
)
MEDIATION = (
    Column("layer", form=count),
    Column("auroc", "AUROC", digits(2)),
    Column("carried", form=digits(2), ends=("carried_low", "carried_high")),
    Column("removed", form=digits(2), ends=("removed_low", "removed_high")),
    Column("p", "p, random", digits(3)),
    Column("p_shuffled", "p, shuffled labels", digits(3)),
    Column("n", "questions", count),
)
KNOWING = (
    Column("n_graded", "graded", count),
    Column("target_correct", "correct", digits(2), ends=SIDES),
    Column("yes_within_right", "yes among right", digits(2), n="n_within_right"),
    Column("yes_within_wrong", "yes among wrong", digits(2), n="n_within_wrong"),
)


def _or_never(n: int) -> Callable[[Any], str]:
    return lambda value: "never" if value == float("inf") else number(value, n)


CONTROLS = (
    Column("signal", "S", digits(3)),
    Column("order_gain", "order", digits(3, signed=True)),
    Column("push", form=_or_never(2)),
    Column("kl", "KL", _or_never(3)),
    Column("turning", form=digits(2)),
    Column("cosine", form=digits(2, signed=True)),
)


def target_lines(matches: pd.DataFrame, panel: pd.DataFrame | None = None) -> pd.DataFrame:
    """The table of matches for `TARGETS`, from rarely yes to often yes; with the panel, how many answers it lacks."""
    lines = matches.assign(n_unread=matches["n_unread_fitting"] + matches["n_unread_test"])
    if panel is not None:
        missing = panel["said_yes"].isna().groupby(panel["respondent"]).sum()
        lines["missing"] = [missing.get(target, 0) for target in lines.index]
    return lines.sort_values("yes_rate", kind="stable")


def side_effect_lines(effects: pd.DataFrame, said: Mapping[str, Any]) -> pd.DataFrame:
    """At most eleven magnitudes from end to end, and 0, for `SIDE_EFFECTS`."""
    ordered = effects.sort_values("setting")
    wanted = {round(place * (len(ordered) - 1) / 10) for place in range(11)} | {
        int((ordered["setting"].to_numpy() == 0).argmax())
    }
    lines = ordered.iloc[sorted(wanted)]
    return at_magnitudes(lines.assign(usable=lines["setting"].between(said["low"], said["high"])), "setting")


def at_magnitudes(table: pd.DataFrame, name: str = "magnitude") -> pd.DataFrame:
    """The table with each row named by its magnitude."""
    return table.set_axis([number(value, 3, signed=True) for value in table[name]])


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


def rival_lines(rivals: pd.DataFrame) -> pd.DataFrame:
    """rivals.csv for `RIVALS`, the best first."""
    order = rivals["one_order"].map({True: "one for all", False: "of each target"})
    return rivals.assign(order=order).sort_values("signal", ascending=False, kind="stable")


def predicted_lines(found: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Each base model of a verdict's prediction for `PREDICTED`, without a share where next to nothing is to be had."""
    return [
        (name, own if share_is_told(own["possible"] or 0.0, found["yes_rate"]) else {**own, "share": None})
        for name, own in found["models"].items()
    ]


def prediction_lines(prediction: pd.DataFrame, found: Mapping[str, Any]) -> pd.DataFrame:
    """prediction.csv for `PREDICTION`: the best first within each number of answers, the whole fitting split first.

    Args:
        found: of the verdict; where its best account predicts next to nothing no share is shown.
    """
    if not share_is_told(found["possible"]["value"] or 0.0, found["yes_rate"]):
        prediction = prediction.assign(share=np.nan, share_low=np.nan, share_high=np.nan)
    sizes = {str(size): place for place, size in enumerate(prediction["k"].unique())}
    lines = prediction.assign(place=prediction["k"].astype(str).map(sizes))
    lines = lines.sort_values(["place", "bits"], ascending=[False, False], kind="stable").set_index("source")
    return lines.assign(k=[f"{k} of its answers" for k in lines["k"]])


def facts_rows(found: Mapping[str, Any]) -> Rows:
    """What the dial does to unrelated facts."""
    return [
        ("facts asked", f"{found['n']}, of which {found['n_unread']} were not read unsteered"),
        (
            "shift of their yes rate, as a share of the question's own",
            between(found["share"], 2),
        ),
        (
            "answered rightly, unsteered",
            between(found["accuracy"], 2)
            + ("; no better than guessing, so the loss below says nothing" if _guessed(found) else ""),
        ),
        (
            "loss at the worst magnitude",
            between(found["loss"], 2),
        ),
        ("median |margin| at its smallest, of the unsteered one", number(found["shrink"], 2)),
        ("between magnitudes", f"{number(found['from_magnitude'])} and {number(found['to_magnitude'])}"),
    ]


_BIAS = {
    "as_asked": "margin as asked",
    "reversed": "margin of the reversed wording",
    "facts": "margin of unrelated facts",
    "preferences": "margin of preferences, half of them reversed",
    "bias": "yes-bias: half their sum",
    "confidence": "confidence: half their difference",
    "share": "yes-bias, as a share of the shift as asked",
    "facts_share": "facts, as a share of the shift as asked",
    "preferences_share": "preferences, as a share of the shift as asked",
    "answer_bias": "of the shifts of single questions: answer bias (every yes alike)",
    "threshold": 'threshold (every "able" alike)',
    "order": "order (questions against each other)",
    "alike": "correlation of the unsteered margins of both wordings",
}


def bias_lines(found: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """What the push does to either wording, beside Yes minus No in the unembedding where that was asked."""

    def told(name: str) -> dict[str, Any]:
        slopes = {who: (found[who] or {}).get(name) or {} for who in ("own", "yardstick")}
        ends = {f"{who}_{end}": own.get(end) for who, own in slopes.items() for end in SIDES}
        return {who: own.get("value") for who, own in slopes.items()} | ends

    return [(words, told(name)) for name, words in _BIAS.items()]


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


def cause_lines(table: pd.DataFrame, by: str, shares: Sequence[str]) -> pd.DataFrame:
    """interchange.csv or mediation.csv: each direction that is meant, then those that chance has drawn in one line.

    Args:
        by: the column that tells several tests apart. shares: of the drawn ones the median absolute value is given.
    """
    meant = table[~table["kind"].isin(DRAWN_KINDS)]
    sizes = table.assign(**{name: table[name].abs() for name in shares})
    drawn = sizes[sizes["kind"].isin(DRAWN_KINDS)].groupby([by, "kind"], sort=False)[list(shares)]
    lines = drawn.median().reset_index()
    lines["direction"] = [f"{kind}, median size" for kind in lines["kind"]]
    both = pd.concat([meant, lines]).sort_values(by, kind="stable")
    return both.set_index("direction")


def _guessed(found: Mapping[str, Any]) -> bool:
    """Whether the unsteered subject may know nothing of the facts."""
    return found["accuracy"]["low"] is not None and found["accuracy"]["low"] <= CHANCE


def control_lines(controls: pd.DataFrame, own: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The vector, median and best of each drawn kind, and each other contrast, for `CONTROLS`."""

    def line(name: str, values: Mapping[Any, Any], cosine: float | None = None) -> tuple[str, dict[str, Any]]:
        push, kl = values["push"], values.get("kl")
        never = push is None or push == float("inf")
        return name, {
            **{each: values[each] for each in ("signal", "order_gain", "turning")},
            "push": float("inf") if never else push,
            "kl": float("inf") if never and kl is not None and kl == kl else kl,
            "cosine": cosine,
        }

    controls = controls.assign(kl=controls["kl"] if "kl" in controls else float("nan"))  # runs before it was measured
    lines = [line("the vector", own, 1.0)]
    for kind, drawn in controls[controls["drawn"]].groupby("role", sort=False):
        numbers = drawn[["signal", "order_gain", "push", "kl", "turning"]]
        lines.append(line(f"{kind}, median of {len(drawn)}", numbers.median().to_dict(), drawn["cosine"].median()))
        best = numbers.max()
        best[["push", "kl", "turning"]] = numbers[["push", "kl", "turning"]].min()
        lines.append(line(f"{kind}, best of {len(drawn)} in each", best.to_dict()))
    for _, single in controls[~controls["drawn"].astype(bool)].iterrows():
        lines.append(line(str(single["role"]), single.to_dict(), single["cosine"]))
    return lines


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
                "share a scale, or only the framings of each one, experiments/study_panel.py --deep tells apart"
            )
        else:
            said += f"; shuffled answers reach {upper / size:.0%}, so no shared scale shows"
    if parabola is None:
        return (
            f"{said}. Whether one is enough, and whether the parabola is more than its correction makes, "
            "experiments/study_panel.py --deep tests."
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
    return f"{said}. Whether one scale is enough, experiments/study_panel.py --deep tests."


def _beside_null(parabola: Simulated | None) -> str:
    if parabola is None:
        return ""
    return (
        f" ({number(parabola.mean)} on average where the two are unrelated, p = {p_value(parabola.p)}, "
        f"{parabola.n_defined} panels drawn)"
    )


def limits(verdict: Mapping[str, Any], matches: pd.DataFrame, grid: Case) -> list[str]:
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
