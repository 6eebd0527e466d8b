"""Every result of a sweep, in the order of its page: what is computed, how it is shown, and its pictures. A new one is
an entry here, and its words in words.yaml.

    SWEEP_RESULTS["longest questions"] = Result("The longest questions", rows=lambda _, stored: ...)
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from safetensors import SafetensorError, safe_open

from onedial.asking.yes_no import MASS_FLOOR
from onedial.core.errors import InputError
from onedial.core.files import json_value, sha256_of_text
from onedial.panels.splits import FITTING, TEST
from onedial.report import figures as draw
from onedial.report.contents import Contents
from onedial.report.explorer import explorer_of
from onedial.report.figures import unread_share
from onedial.report.meaning import findings, why_left_out
from onedial.report.remedies import what_to_try
from onedial.show import page
from onedial.show.columns import Column, digits, interval, like, number
from onedial.show.results import SURROUNDINGS, WARNINGS, Result, words_in
from onedial.show.run_tables import Rows
from onedial.verdict.baselines.facts import FactsResult
from onedial.verdict.criteria.status import EDGE
from onedial.verdict.judgement import Judgement
from onedial.verdict.prediction.prediction import OPEN_FLOOR, share_is_told, words_of_mark
from onedial.verdict.verdict import (
    ASKED_OTHERWISE,
    FLAGS,
    SURFACE_AS_GOOD,
    THIS_DIRECTION,
    UNREAD_DECIDE,
    UNTESTED,
    YES_BIAS,
)

WORDS = words_in(__file__)
SIDES = ("low", "high")
CHANCE = 0.5
"""Of the facts that are true."""
DRAWN_KINDS = ("random", "covariance", "shuffled")
"""Of the directions of an interchange or a mediation: what the others are ranked among."""
ABOUT = {YES_BIAS: "bias", UNREAD_DECIDE: "missing", SURFACE_AS_GOOD: "prediction", ASKED_OTHERWISE: "asked"}
"""Which result says more of a flag."""
FEWEST_MODELS = 5
"""Under which nothing is said of models like these."""
NAMED = 2
OVERVIEW = "bits_of_models"
"""The figure that is seen first."""


def named(names: Sequence[str]) -> str:
    """The first names, and how many more there are.

    >>> named(["a", "b", "c"])
    'a, b and 1 more'
    """
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


# ---- the verdict -----------------------------------------------------------------------------------------------------


def _flags(_: Any, stored: Contents) -> list[Any]:
    """What the verdict itself says that changes how it is read, most weighty first."""
    words, verdict = WORDS["verdict"], stored.verdict
    doubts: list[Any] = [] if verdict.is_judged else [(words["unjudged"], "remedies")]
    doubts += [words["falls"]] * stored.grid.dial.falls
    checks = {finding.check for finding in verdict.screening}
    flags = [flag for flag in FLAGS if flag in verdict.flags and flag not in checks]
    doubts += [(flag.capitalize(), ABOUT.get(flag, "verdict")) for flag in flags]
    return doubts + [words["no_gain"]] * (verdict.gain.low <= 0)


def _screened(_: Any, stored: Contents) -> list[str]:
    return [
        f"{finding.check.capitalize()}{': ' * bool(finding.about)}{named(finding.about)}"
        for finding in stored.verdict.screening
    ]


def _models(_: Any, stored: Contents) -> list[tuple[str, dict[str, Any]]]:
    """Each base model: what the dial predicts of it, and the verdict's numbers with it alone and without it."""
    prediction, rows = stored.verdict.prediction, []
    for name, numbers in stored.verdict.models.items():
        bits = prediction.models.get(name, {})
        share_is_known = share_is_told(bits.get("possible", 0.0), prediction.yes_rate)
        rows.append((name, {**bits, **numbers} | ({} if share_is_known else {"share": None})))
    return rows


def _about_models(_: Any, stored: Contents) -> list[Any]:
    needed = [name for name, model in stored.verdict.prediction.models.items() if model.get("needed")]
    words, n = WORDS["models"], len(stored.verdict.models)
    sentences = [words["needed"].format(names=named(needed))] if needed else []
    return sentences + [words["few"].format(n=n)] * (n < FEWEST_MODELS)


def _sources(table: pd.DataFrame, stored: Contents) -> pd.DataFrame:
    """The best first; the ends are those that decide."""
    prediction = stored.verdict.prediction
    if prediction.by == "topics" and "low_topics" in table:
        table = table.assign(low=table["low_topics"], high=table["high_topics"])
    if not share_is_told(prediction.possible.value, prediction.yes_rate):
        table = table.assign(share=np.nan, share_low=np.nan, share_high=np.nan)
    return table.sort_values("bits", ascending=False, kind="stable").set_index("source")


def _said_of_mark(_: Any, stored: Contents) -> dict[str, Any]:
    prediction = stored.verdict.prediction
    values = {"yes_rate": number(prediction.yes_rate), "mark": prediction.mark, "floor": OPEN_FLOOR}
    return values | {"who": words_of_mark(prediction.mark), "by": prediction.by}


def lead_of_overview(stored: Contents) -> str:
    """What a row and a mark of the first figure are."""
    words, prediction = WORDS[OVERVIEW], stored.verdict.prediction
    marks = words["marks"].format(who=words_of_mark(prediction.mark))
    surface = f", the {prediction.surface} of the question" if prediction.surface else ""
    return words["lead"].format(marks=marks + surface)


def _ceiling(_: Any, stored: Contents) -> list[str]:
    if (ceiling := stored.verdict.ceiling) is None:
        return []
    shown = {"signal": number(ceiling.signal), "share": number(ceiling.share, 2)}
    return [WORDS["baselines"]["ceiling"].format(account=ceiling.account, **shown)]


# ---- targets and controls --------------------------------------------------------------------------------------------


def _targets(table: pd.DataFrame, stored: Contents) -> pd.DataFrame:
    """From rarely yes to often yes, with how many answers the panel lacks."""
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


def _pushes(table: pd.DataFrame, stored: Contents) -> list[tuple[str, dict[str, Any]]]:
    """The vector, median and best of each drawn kind, and each other contrast."""
    numbers = ["signal", "order_gain", "push", "kl", "turning"]
    table = table.assign(kl=table.get("kl", np.nan))  # runs before it was measured
    vector = stored.verdict.direction.vector
    lines: list[tuple[str, dict[Any, Any]]] = [
        ("the vector", {name: vector.get(name) for name in numbers} | {"cosine": 1.0})
    ]
    for kind, drawn in table[table["drawn"]].groupby("role", sort=False):
        best = drawn[numbers].max()
        best[["push", "kl", "turning"]] = drawn[["push", "kl", "turning"]].min()
        middle = drawn[numbers].median().to_dict() | {"cosine": drawn["cosine"].median()}
        lines += [
            (f"{kind}, median of {len(drawn)}", middle),
            (f"{kind}, best of {len(drawn)} in each", best.to_dict()),
        ]
    lines += [(str(row["role"]), row.to_dict()) for _, row in table[~table["drawn"].astype(bool)].iterrows()]
    return [(name, _never(row)) for name, row in lines]


def _never(row: dict[str, Any]) -> dict[str, Any]:
    """A push that is not there is one that never gets there, and costs without end where costs were measured."""
    if np.isfinite(row["push"]):
        return row
    kl = row.get("kl")
    return row | {"push": np.inf, "kl": np.inf if kl is not None and kl == kl else kl}


def _other_pushes(_: Any, stored: Contents) -> list[str]:
    push = stored.verdict.push
    return [] if push == THIS_DIRECTION else [WORDS["controls"]["untested" if push == UNTESTED else "as_good"]]


# ---- the vector, the panel's scale -----------------------------------------------------------------------------------


def vector_facts(file: Path) -> dict[str, Any]:
    """The metadata of a vector's file.

    Raises:
        InputError: the file is not one of vectors.
    """
    try:
        with safe_open(file, framework="np") as opened:
            metadata = dict(opened.metadata() or {})
        return {name: json_value(value) for name, value in metadata.items() if name != "format"}
    except (SafetensorError, json.JSONDecodeError) as error:
        raise InputError(f"{file} is no steering vector ({error}); restore it, or make the run again") from error


def _vector(_: Any, stored: Contents) -> Rows:
    """Name, place, making, reliability and length of what was swept."""
    entry, n_layers = stored.entry, stored.model.get("n_layers", stored.model.get("layers"))
    layers = ", ".join(map(str, entry["layers"]))
    ends = [number(end(entry["magnitudes"])) for end in (min, max)]
    rows = [
        ("name", ", ".join(map(str, entry["vectors"]))),
        ("layer", f"{layers} of {n_layers} (counted from 0)" if n_layers is not None else layers),
        ("done", f"{entry['operator']} at positions {entry['positions']}"),
        ("swept", f"{len(entry['magnitudes'])} magnitudes from {ends[0]} to {ends[1]}"),
    ]
    files = [stored.run.path / stored.sweep.vector_file(str(name)) for name in entry["vectors"]]
    for facts in (vector_facts(file) for file in files if file.is_file()):
        where = f", layer {facts['layer']}" if len(entry["vectors"]) > 1 else ""
        share = number(facts["raw_norm"] / facts["residual_norm"])
        method = str(facts["method"]).replace("_", " ")
        made = f"{facts['n_yes']} questions on the side of yes and {facts['n_no']} on that of no"
        rows.append((f"made of{where}", f"{made} ({facts['n_unread']} unread), by {method}"))
        length = f"{number(facts['raw_norm'], 2)} as extracted, {share} of the median residual norm"
        rows.append((f"length{where}", f"{length} {number(facts['residual_norm'], 1)}"))
    if (vector := stored.manifest.facts.get("vector")) is None:
        return [*rows, ("reliability", "not measured")]
    thirds = "; outer thirds of the margins, since one side had too few" if vector.get("by_thirds") else ""
    halves = f"by halves of them {number(vector['half_cosine'], 2)} {interval(vector['low'], vector['high'], 2)}"
    return [
        *rows,
        ("unsteered answers behind it", f"{vector['n_said_yes']} yes, {vector['n_said_no']} no{thirds}"),
        ("cosine to what as many other questions would give", f"{number(vector['reliability'], 2)} ({halves})"),
    ]


def pushed(stored: Contents) -> str:
    """What was pushed, in a sentence: the layer, and the unsteered answers that the direction was made of."""
    words, facts, layers = WORDS["pushed"], stored.manifest.facts.get("vector"), stored.entry["layers"]
    where = words["where"].format(layers=" and ".join(map(str, layers)), of=stored.model.get("n_layers", "?"))
    if facts is None:
        return f"{where}."
    n = facts["n_said_yes"] + facts["n_said_no"]
    made = words["thirds" if facts.get("by_thirds") else "sides"].format(n=n, yes=facts["n_said_yes"])
    return f"{where}, {made}."


def _scale(_: Any, stored: Contents) -> list[str]:
    """Whether one scale stands out beside what chance gives."""
    factor, words = stored.factor, WORDS["factor"]
    assert factor is not None
    first, second, *_ = [*factor.eigenvalues.to_numpy(float) / len(factor.eigenvalues), np.nan]
    upper = None if factor.null is None else float(factor.null.upper[0]) / len(factor.eigenvalues)
    stands = "unknown" if upper is None else "shared" if first > upper else "no_scale"
    return [words[key].format(first=first, second=second, upper=upper) for key in ("eigenvalues", stands, "more")]


def _factor(_: Any, stored: Contents) -> Rows:
    """How much of the panel one shared difficulty explains, each share with its denominator."""
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


# ---- what the dial moves besides -------------------------------------------------------------------------------------


def _bias(_: Any, stored: Contents) -> list[tuple[str, dict[str, Any]]]:
    """What the push does to either wording, beside Yes minus No in the unembedding where that was asked."""
    bias = stored.verdict.bias
    slopes = {} if bias is None else {"dial": bias.dial, "yardstick": bias.yardstick}
    rows = []
    for name, words in WORDS["biases"].items():
        columns = (getattr(of, name).columns(who) for who, of in slopes.items() if of is not None)
        rows.append((words, {key: value for each in columns for key, value in each.items()}))
    return rows


def _said_of_bias(_: Any, stored: Contents) -> list[str]:
    words, bias = WORDS["bias"], stored.verdict.bias
    if bias is None:
        return []
    sentences = [words["share"].format(share=bias.dial.share.value)] * bool(np.isfinite(bias.dial.share.value))
    return sentences + [words["not_read"]] * (bias.dial.alike.low > 0)


def facts_rows(facts: FactsResult) -> Rows:
    """What the dial does to unrelated facts."""
    accuracy = f"{facts.accuracy:.2f}" + ("; " + WORDS["facts"]["guessed"]) * (facts.accuracy.low <= CHANCE)
    return [
        ("facts asked", f"{facts.n}, of which {facts.n_unread} were not read unsteered"),
        ("shift of their yes rate, as a share of the question's own", f"{facts.share:.2f}"),
        ("answered rightly, unsteered", accuracy),
        ("loss at the worst magnitude", f"{facts.loss:.2f}"),
        ("median |margin| at its smallest, of the unsteered one", number(facts.shrink, 2)),
        ("between magnitudes", f"{number(facts.from_magnitude)} and {number(facts.to_magnitude)}"),
    ]


def _causes(by: str, *shares: str) -> Any:
    """Each direction that is meant, then those that chance has drawn in one line: the median of their sizes."""

    def lines(table: pd.DataFrame, _: Contents) -> pd.DataFrame:
        drawn = table[table["kind"].isin(DRAWN_KINDS)]
        sizes = drawn.assign(**{name: drawn[name].abs() for name in shares})
        middle = sizes.groupby([by, "kind"], sort=False)[list(shares)].median().reset_index()
        middle["direction"] = [f"{kind}, median size" for kind in middle["kind"]]
        meant = table[~table["kind"].isin(DRAWN_KINDS)]
        return pd.concat([meant, middle]).sort_values(by, kind="stable").set_index("direction")

    return lines


def at_magnitudes(table: pd.DataFrame, name: str = "magnitude") -> pd.DataFrame:
    """The table with each row named by its magnitude."""
    return table.set_axis(_signed(table[name]))


def _reasoned(numbers: Mapping[str, Any], stored: Contents) -> Rows:
    verdict = numbers["verdict"]["sentence"] if numbers["verdict"] else WORDS["reasoned"]["unjudged"]
    return [("by the first token", stored.verdict.sentence), ("after reasoning", verdict)]


def _reasoned_dials(judged: Judgement) -> pd.DataFrame | None:
    """What is judged of either dial, each by its own answers; None where nothing is judged of the written ones."""
    if judged.reasoned is None or judged.reasoned.judgement is None:
        return None
    verdicts = {"first token": judged.verdict, "after reasoning": judged.reasoned.judgement.verdict}
    return pd.DataFrame({name: verdict.row() for name, verdict in verdicts.items()}).T.drop(columns="dial")


def _texts(_: Any, stored: Contents) -> list[Any]:
    """What was written, reasons first, to one question at three settings, and how it was read.

    The question is the one that was read at most settings, of several the first.
    """
    if (texts := stored.sweep.parts["reasoned"].read()).empty:
        return []
    read = texts["said_yes"].notna().groupby(texts["question_id"]).sum()
    chosen = str(read.index[int(read.to_numpy().argmax())])
    rows = texts[texts["question_id"] == chosen].sort_values("magnitude")
    rows = rows.iloc[sorted({0, len(rows) // 2, len(rows) - 1})]
    words = rows["said_yes"].map({1: "yes", 0: "no"}).fillna("not read")
    heads = [f"magnitude {at}, read as {word}" for at, word in zip(_signed(rows["magnitude"]), words, strict=True)]
    return _said_to(stored, chosen, heads, rows["text"])


def _written(table: pd.DataFrame, stored: Contents) -> list[Any]:
    """Question by question what the subject wrote at each setting."""
    tables = [rows for _, rows in table.sort_values("yes_rate", kind="stable").groupby("question_id", sort=False)]
    return [block for rows in tables for block in _said_to(stored, *_heads(rows))]


def _heads(rows: pd.DataFrame) -> tuple[str, list[str], pd.Series]:
    """A question's id, what stands above each text that was written to it, and the texts."""
    rates = rows["yes_rate"].map(lambda rate: number(rate, 2))
    about = zip(rates, _signed(rows["magnitude"]), strict=True)
    return str(rows["question_id"].iloc[0]), [f"yes rate {rate} (magnitude {at})" for rate, at in about], rows["text"]


def written_to_one(stored: Contents) -> list[Any]:
    """The same for one question, in a box for the first screen: the one with the most different texts, of several the
    first; nothing where nothing was written."""
    if "written" not in stored:
        return []
    table = stored["written"].sort_values("yes_rate", kind="stable")
    different = table.groupby("question_id", sort=False)["text"].nunique()
    asked, shown_texts = _said_to(stored, *_heads(table[table["question_id"] == different.idxmax()]))
    return [page.box(WORDS["written"]["title"], [asked, shown_texts])]


def _signed(magnitudes: pd.Series) -> list[str]:
    return [number(value, 3, signed=True) for value in magnitudes]


def _said_to(stored: Contents, question: str, heads: Sequence[str], texts: pd.Series) -> list[Any]:
    """A question, and under each head what was written to it."""
    asked = stored.questions.set_index("id")["question"].get(question, question)
    shown_texts = [str(text).strip() for text in texts.fillna("")]
    return [
        page.text(asked),
        page.rows([(head, text or "(nothing)") for head, text in zip(heads, shown_texts, strict=True)]),
    ]


# ---- what is open ----------------------------------------------------------------------------------------------------


def _asked(_: Any, stored: Contents) -> Rows:
    asked = stored.sweep.asked()
    about = {name: asked["panel"][name] for name in ("source", "licence") if asked["panel"].get(name)}
    return [("the panel was", asked["panel_in_words"]), *about.items()]


def _otherwise(_: Any, stored: Contents) -> list[str]:
    return stored.sweep.asked()["otherwise"] or ["The subject is asked the same question."]


def missing_rows(dose: pd.DataFrame, panel: pd.DataFrame, questions: pd.DataFrame, overflowed: int = 0) -> Rows:
    """How many answers were not there, or could not be read, on either side; overflowed: of the subject's unread ones,
    those that are no number.
    """
    unread, total = int(dose["n_unread"].sum()), int(dose["n_read"].sum() + dose["n_unread"].sum())
    unsteered = dose[dose["magnitude"] == 0]
    share = unread_share(dose.groupby("magnitude")[["n_read", "n_unread"]].sum())
    gaps, counts = int(panel["said_yes"].isna().sum()), questions["split"].value_counts()
    worst = f"{share.max():.1%} at magnitude {number(float(share.index[int(share.argmax())]))}"
    return [
        ("questions", ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))),
        ("panel: missing answers", f"{gaps} of {len(panel)} ({gaps / max(len(panel), 1):.1%})"),
        (
            f"subject: unread answers (mass under {MASS_FLOOR:g})",
            f"{unread} of {total} ({unread / max(total, 1):.1%}) over all magnitudes",
        ),
        *[("of these, overflowed (no finite logits)", str(overflowed))] * (overflowed > 0),
        (
            "subject, unsteered: unread answers",
            f"{unsteered['n_unread'].sum()} of {unsteered['n_read'].sum() + unsteered['n_unread'].sum()}",
        ),
        ("most unread", worst if share.max() > 0 else "none anywhere"),
    ]


def _unread(_: Any, stored: Contents) -> list[str]:
    share = unread_share(stored.dose_response.groupby("magnitude")[["n_read", "n_unread"]].sum())
    most = float(np.nanmax(share))
    overflowed, words = len(stored.sweep.overflowed()), WORDS["missing"]
    sentences = [words["overflowed"].format(n=overflowed)] * (overflowed > 0)
    return sentences + [words["most"].format(most=most)] * (most > draw.UNREADABLE)


def _limits(_: Any, stored: Contents) -> list[str]:
    """What the verdict does not say."""
    words, grid, matches, excluded = WORDS["limits"], stored.grid, stored["matches"], stored.verdict.excluded
    sentences = [words["one"].format(n=int(grid.rows(TEST).sum()))]
    if excluded:
        left = ", ".join(f"{target} ({status})" for target, status in excluded.items())
        sentences.append(words["excluded"].format(n=len(excluded), of=stored.verdict.n_targets, left=left))
    if edge := int((matches["status"] == EDGE).sum()):
        rates = np.nanmean(grid.answers[grid.rows(FITTING)], axis=0)
        inside = matches.loc[matches["status"] == EDGE, "yes_rate"].between(rates.min(), rates.max()).sum()
        sentences.append(words["edge"].format(n=edge, of=stored.verdict.n_eligible, inside=int(inside)))
    return sentences + [words[key] for key in ("questions", "claim", "line")]


def _prompt(_: Any, stored: Contents) -> list[Any]:
    rendered = stored.sweep.prompt()
    return [page.code(rendered), page.small(f"SHA-256 {sha256_of_text(rendered)}")]


def _better(table: pd.DataFrame | None, _: Contents) -> list[str]:
    if table is None:
        return []
    better = table.index[table["difference_high"] < 0][:NAMED]
    return [WORDS["baselines"]["better"].format(name=name) for name in better]


def _orders(table: pd.DataFrame, _: Contents) -> pd.DataFrame:
    """The best first, each with whether it has one order for all targets."""
    order = table["one_order"].map({True: "one for all", False: "of each target"})
    return table.assign(order=order).sort_values("signal", ascending=False, kind="stable")


SWEEP_RESULTS: dict[str, Result] = {
    "verdict": Result(
        "The verdict's numbers",
        lambda judged: judged.verdict.to_dict(),
        cards=lambda _, stored: findings(stored.verdict),
        doubts=_flags,
        folded=False,
    ),
    OVERVIEW: Result(
        compute=lambda judged: pd.DataFrame(judged.verdict.prediction.sources),
        index="model",
        figure=draw.bits_of_models,
        fill=_said_of_mark,
    ),
    "screening": Result(
        "Before judging",
        items=lambda _, stored: [finding.sentence for finding in stored.verdict.screening],
        doubts=_screened,
        folded=False,
        terminal=True,
    ),
    "remedies": Result(
        "What keeps it from being judged, and what to try",
        items=lambda _, stored: what_to_try(stored.verdict, stored.grid, stored["matches"]),
        when=lambda _, stored: not stored.verdict.is_judged,
        folded=False,
    ),
    **WARNINGS,
    "dial": Result(
        "Turn the dial, browse the questions",
        blocks=lambda _, stored: [page.explorer(explorer_of(stored))],
        folded=False,
    ),
    "prediction": Result(
        "How much is predicted?",
        lambda judged: judged.prediction,
        columns=(
            like("bits", ends=SIDES),
            Column("", "95%, models like these", like("bits").form, ("low_models", "high_models")),
            "share",
            "n_unscored",
        ),
        lines=_sources,
        first="source",
        faint=lambda row: bool(row["low"] <= 0),
        hidden=True,
        figure=draw.sources,
        fill=_said_of_mark,
        folded=False,
    ),
    "baselines": Result(
        "What does as well without steering?",
        lambda judged: judged.baselines,
        index="baseline",
        columns=(Column("order"), like("signal", ends=SIDES), "difference", "n_targets"),
        lines=_orders,
        first="without steering",
        faint=lambda row: not row["n_targets"] > 0,
        hidden=True,
        figure=draw.baselines,
        items=_ceiling,
        doubts=_better,
        when=lambda baselines, _: baselines is not None and (baselines["n_targets"] > 0).any(),
        folded=False,
    ),
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
        fill=_said_of_mark,
        doubts=_about_models,
        when=lambda _, stored: stored.verdict.models,
    ),
    "controls": Result(
        "Would any push do?",
        lambda judged: judged.controls,
        index="intervention_id",
        columns=("signal", "order_gain", "push", "kl", "turning", "cosine"),
        lines=_pushes,
        first="direction",
        figure=draw.pushes,
        doubts=_other_pushes,
    ),
    "vector": Result(
        "The vector",
        rows=_vector,
        figures={"layer_map": draw.layers},
        fill=lambda *_: {"limit": f"{draw.UNREADABLE:.0%}"},
    ),
    "dose": Result(
        "Dose-response",
        figures={"dose_response": draw.dose},
        fill=lambda *_: {"floor": f"{MASS_FLOOR:g}"},
    ),
    "written": Result("What it writes", written=True, blocks=_written),
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
    "bias": Result(
        "Yes-bias or confidence?",
        columns=(Column("dial", "the dial", digits(2)), "yardstick"),
        lines=_bias,
        first="logits per residual norm",
        items=_said_of_bias,
        fill=lambda _, stored: vars(stored.verdict.bias.dial),
        when=lambda _, stored: stored.verdict.bias,
        terminal=True,
    ),
    "facts": Result(
        "Is it about knowing? Unrelated facts",
        rows=lambda _, stored: facts_rows(stored.verdict.facts),
        items=lambda _, stored: [] if stored.verdict.bias else [WORDS["facts"]["alone"]],
        when=lambda _, stored: stored.verdict.facts,
    ),
    "interchange": Result(
        "Does the answer hang on what lies along the vector?",
        written=True,
        columns=(
            *("pairs", like("share", ends=SIDES), like("p", heading="p, random"), "p_covariance", "gap"),
            like("n", heading="pairs"),
        ),
        lines=_causes("pairs", "share"),
        first="what is swapped",
    ),
    "mediation": Result(
        "Through what does the push go?",
        written=True,
        columns=(
            *("layer", "auroc", "carried", "removed", like("p", heading="p, random"), "p_shuffled"),
            like("n", heading="questions"),
        ),
        lines=_causes("layer", "carried", "removed"),
        first="what is held",
    ),
    "reasoned": Result(
        "After reasoning",
        lambda judged: judged.reasoned and judged.reasoned.numbers(),
        columns=(
            *("reasoned", "direct", "kappa", "n_both", "n_unread"),
            like("n", heading="questions"),
        ),
        lines=lambda _, stored: at_magnitudes(stored["reasoned_settings"]),
        first="magnitude",
        items=lambda numbers, _: [numbers["sentence"]],
        rows=_reasoned,
        figure=draw.reasoned_rates,
        blocks=_texts,
        terminal=True,
    ),
    "reasoned_dials": Result(
        "After reasoning: what either dial is worth",
        _reasoned_dials,
        index="dial",
        columns=(
            "reproduced",
            *(like(name, ends=(f"{name}_low", f"{name}_high")) for name in ("bits", "signal", "gain", "order_gain")),
            *("share", "rho_dial"),
        ),
        terminal=True,
    ),
    "reasoned_settings": Result(compute=lambda judged: judged.reasoned and judged.reasoned.comparison.settings),
    "knowing": Result(
        "Is it about knowing? Correct answers",
        lambda judged: judged.knowing,
        index="respondent",
        columns=("n_graded", like("target_correct", ends=SIDES), "yes_within_right", "yes_within_wrong"),
        first="whose answers",
    ),
    "asked": Result(
        lambda _, stored: WORDS["asked"]["otherwise" if stored.sweep.asked()["otherwise"] else "alike"],
        rows=_asked,
        items=_otherwise,
        when=lambda _, stored: stored.sweep.asked().get("panel_in_words"),
    ),
    "missing": Result(
        "Missing and unread answers",
        rows=lambda _, stored: missing_rows(
            stored.dose_response, stored.panel, stored.questions, len(stored.sweep.overflowed())
        ),
        doubts=_unread,
    ),
    "limits": Result("What the verdict does not say", items=_limits),
    "prompt": Result("Prompt, as the subject read it", blocks=_prompt),
    **SURROUNDINGS,
}
"""By its name in the contents and in the page's address."""
