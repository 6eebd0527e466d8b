"""Show every result of a probing run, in the order of its page, with its pictures. A new one is an entry of
`PROBE_RESULTS`, and its words in words.yaml.

The stages of the study have written the tables; what is shown is made of these files alone.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from onedial.show.columns import NOTHING, Column, count, digits, number, p_value
from onedial.show.ending import Opening
from onedial.show.figure_style import COLOURS, FAINT, MARKERS, Drawing
from onedial.show.labels import shortened_apart
from onedial.show.plots import Axis, Cells, Colours, Curve, Over, Panel, Points, curves, heatmap, scatter
from onedial.show.results import SURROUNDINGS, Result, Stored, words_in
from onedial.show.run_tables import flat_rows
from onedial.stats.level import LEVEL
from onedial.stats.multiple_tests import adjusted

WORDS = words_in(__file__)
NAMES = {
    "own yes": "its own yes",
    "own margin high": "its own margin",
    "own correct": "its own correctness",
    "easy for all": "what is easy for all",
}
"""The main labels, as a sentence calls them."""
FACTS = ("fact is true", "yes to a fact")
MOST_ROWS, MOST_LABELS = 40, 45
CHANCE = 0.5
RANDOM = "random"
VERDICTS = {"yes": COLOURS[0], "no": COLOURS[1], "unread": COLOURS[7]}


def opening_of(stored: Stored) -> Opening:
    """What stands first on the page of a probing run, of the tables that its stages have written.

    Raises:
        InputError: a table is missing or broken.

    >>> import tempfile
    >>> from onedial.core.run.run import Run
    >>> folder = tempfile.TemporaryDirectory()
    >>> run = Run.create(f"{folder.name}/run", "train_probes.py", {"method": ["logistic"]})
    >>> opening_of(Stored(run, PROBE_RESULTS, WORDS)).headline
    'Nothing was read.'
    """
    model = str(stored.manifest.facts.get("model", {}).get("name", ""))
    question, lead = f"What does the residual stream of {model} know about knowing?", WORDS["lead"]["text"]
    return Opening(question, headline_of(stored), lead, f"Probes of {model} {stored.run.path.resolve().name}")


def headline_of(stored: Stored) -> str:
    """What the subject's stream gives away of its own ability: what is read beyond chance, with p values adjusted for
    the number of labels, and what is not shown to be."""
    if "chosen" not in stored:
        return "Nothing was read."
    table, shown, not_shown = stored["chosen"], [], []
    reads, adds = (adjusted(table[name].to_numpy(float)) for name in ("p_reads", "p_adds"))
    for place, (label, row) in enumerate(table.iterrows()):
        if str(label) not in NAMES:
            continue
        words = f"{NAMES[str(label)]} at {number(row['auroc'], 2)} ({number(row['low'], 2)} to {number(row['high'], 2)}"
        if reads[place] > LEVEL or row["low"] <= CHANCE:
            not_shown.append(f"{words}; {row['n_positive']:.0f} of {row['n']:.0f} questions carry it)")
            continue
        beyond = "" if adds[place] <= LEVEL and row["over_text_low"] > 0 else "not clearly "
        shown.append(f"{words}; {beyond}more than words alone, {number(row['text'], 2)})")
    sentences = [f"The stream reads {', '.join(shown)}."] if shown else []
    sentences += [f"Not shown to be read, among {len(table)} labels: {', '.join(not_shown)}."] if not_shown else []
    return " ".join(sentences) or NOTHING


# ---- columns and rows ------------------------------------------------------------------------------------------------


def columns(*names: str, **headings: str) -> list[Column]:
    """Numbers of two digits; name+ with a sign, name# whole, name? a p value, name= as it is. `headings`: of some."""
    forms = {"+": digits(2, signed=True), "#": count, "?": p_value, "=": None}
    formatted = []
    for given in names:
        form = forms.get(given[-1], digits(2))
        name = given.rstrip("+#?=")
        column = Column(name, headings.get(name, name.replace("_", " ")))
        formatted.append(column if form is None else replace(column, form=form))
    return formatted


def spanning(name: str, heading: str, low: str, high: str, signed: bool = False) -> Column:
    """A column of a number (none where the name is "") with its ends in brackets."""
    return Column(name, heading, digits(2, signed=signed), (low, high))


AUROC = spanning("auroc", "AUROC", "low", "high")
LABELS = (
    *columns("layer#"), AUROC, *columns("p_reads?", "text", p_reads="p, reads", text="words"),
    spanning("over_text", "over words", "over_text_low", "over_text_high", signed=True),
    *columns("shuffled", "control", "p_adds?", "balance=", "n_unknown#", p_adds="p, adds", balance="1 : 0",
             n_unknown="unknown"),
)  # fmt: skip


def balanced(table: pd.DataFrame, _: Stored) -> pd.DataFrame:
    """How many questions carry a label of 1, and how many of 0."""
    no = table["n"] - table["n_positive"]
    return table.assign(balance=table["n_positive"].map("{:.0f} : ".format) + no.map("{:.0f}".format)).head(MOST_ROWS)


def both(first: str, second: str, between: str = ", ") -> Any:
    """Rows that are named by two columns."""
    return lambda table, _: table.set_index(table[first].astype(str) + between + table[second].astype(str))


def at_layer(table: pd.DataFrame, _: Stored) -> dict[str, Any]:
    """What stands for {...} in words: the layer, and the greatest number of questions."""
    return {"layer": int(table["layer"].iloc[0]), "n": table["n"].max() if "n" in table else 0}


def pairs_of_labels(table: pd.DataFrame, _: Stored) -> pd.DataFrame:
    """A row for two labels and a method."""
    return table.set_index(table["label"] + " – " + table["other"] + ", " + table["method"].str.replace("_", " "))


def halves(table: pd.DataFrame, _: Stored) -> pd.DataFrame:
    """A row for a kind of patch: its margins, and from which layer on half of the way is gone."""
    rows = table.groupby("kind", sort=False)[["margin", "donor_margin", "n"]].first()
    rows["half"] = table[table["recovered"] >= 0.5].groupby("kind", sort=False)["layer"].first()
    return rows


def ends_of_answers(table: pd.DataFrame, _: Stored) -> pd.DataFrame:
    """A row for a label: how well its reading tells the verdict at the beginning and at the end of an answer."""
    by_label = table.sort_values("progress").groupby("label", sort=False)
    area = ["auroc", "auroc_low", "auroc_high"]
    rows = by_label[area].first()
    rows[["last", "last_low", "last_high"]] = by_label[area].last()
    return rows


def counts_of_verdicts(table: pd.DataFrame, stored: Stored) -> dict[str, Any]:
    """How many answers ended how."""
    counts = table.groupby("verdict")["n"].max()
    return at_layer(table, stored) | {"said": ", ".join(f"{name} {n:.0f}" for name, n in counts.items()) or "none"}


def own_rows(table: pd.DataFrame, _: Stored) -> pd.DataFrame:
    """A row for each label of correctness."""
    of = [f"{row['n_positive']:.0f} of {row['n']:.0f}" for _, row in table.iterrows()]
    return table.set_index("label").assign(of=of, by_own_probe=table["by_own_probe"].mask(table["own"]).to_numpy())


def of_its_own(table: pd.DataFrame, __: Stored) -> list[str]:
    """What the subject's rows say, in sentences."""
    sentences = []
    for _, row in table[table["own"]].iterrows():
        beyond, p = number(row["beyond"], 2, signed=True), p_value(row["p_beyond"])
        where = f"At layer {row['layer']:.0f} (beyond {beyond}, p {p})"
        sentences.append(WORDS["verdicts"][str(row["verdict"])].format(where=where))
    return sentences


# ---- figures ---------------------------------------------------------------------------------------------------------


def of_method(table: pd.DataFrame, stored: Stored) -> pd.DataFrame:
    """The rows of the run's first method."""
    return table[table["method"] == stored.run.config["methods"][0]]


def layer_curves(table: pd.DataFrame, stored: Stored) -> Drawing | None:
    """A panel for each main label: AUROC over layers with its interval, and what it is held against."""
    panels, of_first = [], of_method(table, stored)
    shown = of_first[of_first["label"].isin(list(NAMES))]
    for label in [label for label in NAMES if label in set(shown["label"])]:
        curve = shown[shown["label"] == label].sort_values("layer")
        held_against = {
            "words alone": ("text", COLOURS[1], "--"),
            "shuffled within topics": ("shuffled", FAINT, "-"),
            "control: opening word": ("control", COLOURS[2], ":"),
        }
        x, first = curve["layer"], curve.iloc[0]
        lines = [Curve(x, curve["auroc"], "probe, 95% over topics", COLOURS[0], curve["low"], curve["high"])]
        lines += [
            Curve(x, curve[column], name, colour, look={"linestyle": dashes})
            for name, (column, colour, dashes) in held_against.items()
        ]
        title = f"{label}: {first['n_positive']:.0f} of {first['n']:.0f} questions, {first['n_unknown']:.0f} unknown"
        low = max(0.0, min(0.4, float(shown["low"].min())))
        panels.append(Panel(lines, "AUROC", (low, 1.01), title, rules=(0.5,)))
    return curves(panels, "layer", zero=False, inch=1.5, below=True) if panels else None


def layer_label(table: pd.DataFrame, stored: Stored) -> Drawing:
    """AUROC of every label at every layer as a map; the words alone in a column at the left."""
    if "facts" in stored:
        table = pd.concat([table, stored["facts"]], ignore_index=True)
    of_first = of_method(table, stored)
    wide = of_first.pivot(index="label", columns="layer", values="auroc")
    first = [label for label in (*NAMES, *FACTS) if label in wide.index]
    others = wide.drop(index=first).mean(axis=1).sort_values(ascending=False).index.tolist()
    labels = [*first, *others][:MOST_LABELS][::-1]
    words, edges = of_first.groupby("label")["text"].first()[labels], np.arange(len(labels) + 1)
    cells = [
        Cells([0.0, 1.0], edges, words.to_numpy(dtype=float)[:, None]),
        Cells(np.arange(len(wide.columns) + 1) + 1.5, edges, wide.loc[labels].to_numpy(dtype=float)),
    ]
    step = max(1, len(wide.columns) // 10)
    layers = {place + 2.0: str(layer) for place, layer in enumerate(wide.columns) if place % step == 0}
    names = dict(zip(edges[:-1] + 0.5, shortened_apart(labels, 26), strict=True))
    return heatmap(
        cells, Axis("layer", ticks={0.5: "words"} | layers), Axis(ticks=names),
        Colours(limits=(0.4, 1.0), label="AUROC on held-out topics"), Over(bold=shortened_apart(first, 26)),
        height=1.5 + 0.21 * len(labels),
    )  # fmt: skip


def cross_map(cross: pd.DataFrame, stored: Stored) -> Drawing:
    """How well the probe of one label ranks another, as a map; probes in rows, labels in columns."""
    names = [label for label in dict.fromkeys(cross["probe"]) if label not in FACTS]
    table = cross[cross["label"].isin([*names, *FACTS])]
    if "transfer" in stored:
        table = pd.concat([table, stored["transfer"]])
        names += [label for label in FACTS if label in set(stored["transfer"]["label"])]
    cells = table.pivot(index="probe", columns="label", values="auroc").reindex(index=names[::-1], columns=names)
    edges, short = np.arange(len(names) + 1), shortened_apart(names, 14)
    return heatmap(
        [Cells(edges, edges, cells.to_numpy(dtype=float))],
        Axis("label that is ranked", ticks=dict(zip(edges[:-1] + 0.5, short, strict=True))),
        Axis("probe that ranks", ticks=dict(zip(edges[:-1] + 0.5, short[::-1], strict=True))),
        Colours("Blues", label="AUROC on topics not seen"), Over(written=True), height=1.9 + 0.42 * len(names),
    )  # fmt: skip


def reading_and_use(table: pd.DataFrame, _: Stored) -> Drawing:
    """Effect of a push along each direction against how well the direction reads its label."""
    probes = table[table["kind"] == "probe"].rename(columns={"low": "effect_low", "high": "effect_high"})
    furthest = table["effect"].abs().groupby(table["kind"]).max()
    most = float(furthest.get(RANDOM, np.nan))
    return scatter(
        probes.set_index(probes["label"] + ", " + probes["method"]), "auroc", "effect",
        Axis("AUROC of the reading on held-out topics"),
        Axis("effect on the margin, per residual norm",
             rules=dict.fromkeys((0, *(sign * most for sign in (-1, 1) if most == most)), "-")),
        Points(by="label", hollow=probes["method"] != probes["method"].iloc[0]),
        lines=[Curve([0.5, 0.5], [-most, most], colour=FAINT)] if most == most else [],
        remark="lines: the furthest random pushes; hollow: the difference of means",
    )  # fmt: skip


def without_labels(table: pd.DataFrame, _: Stored) -> Drawing:
    """AUROC of each method over layers; the dashed one had the labels."""
    lines = []
    for place, (method, of_this) in enumerate(table.groupby("method")):
        of_this = of_this.sort_values("layer")
        look = {"linestyle": "--" if method == "supervised" else "-", "marker": MARKERS[place], "markersize": 3}
        lines.append(
            Curve(
                of_this["layer"], of_this["auroc"], str(method), COLOURS[place], of_this["low"], of_this["high"], look
            )
        )
    panel = Panel(lines, "AUROC, topics not seen", rules=(0.5,))
    return curves([panel], "layer", zero=False, below=True)


def patching(table: pd.DataFrame, _: Stored) -> Drawing:
    """Share of the way to the donor's margin over the layers of the patch."""
    lines = [
        Curve(of_kind["layer"], of_kind["recovered"], str(kind), COLOURS[place], of_kind["low"], of_kind["high"])
        for place, (kind, of_kind) in enumerate(table.groupby("kind", sort=False))
    ]
    title = f"{table['n'].iloc[0]:.0f} pairs; 95% over pairs"
    panel = Panel(lines, "share of the way to the donor", (-0.3, 1.4), title, rules=(0, 1))
    return curves([panel], "layer of the patch", zero=False)


def writing(table: pd.DataFrame, _: Stored) -> Drawing | None:
    """For each label, mean readings along the text by verdict, with bands over questions."""
    panels = [
        Panel(
            [
                Curve(
                    of_verdict["progress"],
                    of_verdict["mean"],
                    str(verdict),
                    VERDICTS[str(verdict)],
                    of_verdict["low"],
                    of_verdict["high"],
                )
                for verdict, of_verdict in of_label.groupby("verdict", sort=False)
            ],
            "reading, SD",
            title=str(label),
            rules=(0,),
        )
        for label, of_label in table.groupby("label", sort=False)
    ]
    return curves(panels, "share of the text that is written", zero=False, inch=1.6, below=True) if panels else None


# ---- the page --------------------------------------------------------------------------------------------------------


def shown(title: str, *names: Column, **more: Any) -> Result:
    """A result whose table a stage of the study has written, open on the page."""
    return Result(title, written=True, columns=names, **({"folded": False} | more))


def kept(**more: Any) -> Result:
    """A table that only serves figures or other tables."""
    return Result(written=True, **more)


PROBE_RESULTS: dict[str, Result] = {
    "summary": Result(compute=lambda stored: {"sentence": headline_of(stored)}),
    "chosen": shown("What reads, at its best layer", *LABELS, index="label", lines=balanced),
    "probes": shown("Where it reads", figures={"layer_curves": layer_curves, "layer_label": layer_label}),
    "facts": kept(),
    "chosen_facts": shown(
        "Facts that have nothing to do with ability", *LABELS, index="label", lines=balanced
    ),
    "statements": shown(
        "Truth without labels", AUROC, *columns("p_reads?", "as_it_stands", "negated", p_reads="p, reads"),
        *columns("polar_gap", "contradiction"), first="layer, method", lines=both("layer", "method"), fill=at_layer,
        figures={"without_labels": without_labels},
    ),
    "directions": shown(
        "Is it the same direction?", *columns("cosine+"),
        spanning("", "null", "null_low", "null_high", signed=True),
        *columns("p?", "reliability", "other_reliability", "cosine_corrected+", "correlation+",
                 reliability="halves, first", other_reliability="halves, second", cosine_corrected="corrected"),
        spanning("", "null", "correlation_null_low", "correlation_null_high", signed=True),
        first="labels", lines=pairs_of_labels, fill=at_layer,
    ),
    "cross": shown("", figures={"cross_map": cross_map}),
    "transfer": shown(
        "Does it carry to the facts?", AUROC, spanning("", "null", "null_low", "null_high"), *columns("p?", "n#"),
        first="probe, read on", lines=both("probe", "label"),
    ),
    "erasure": shown(
        "What goes when one is erased", *columns("before"), spanning("after", "after", "after_low", "after_high"),
        spanning("lost", "lost", "lost_low", "lost_high", signed=True),
        *columns("lost_by_shuffled+", lost_by_shuffled="lost to a shuffled copy"), first="without: label",
        lines=both("erased", "label", ": "), fill=at_layer, faint=lambda row: row["erased"] == row["label"],
    ),
    "effects": shown(
        "Is what reads also used?", *columns("auroc", auroc="AUROC"),
        spanning("effect", "effect", "low", "high", signed=True),
        *columns("p?", "p_covariance?", "cosine_with_own+", "n#", "n_unread#", p_covariance="p, covariance",
                 cosine_with_own="cosine", n_unread="unread"),
        first="direction", lines=lambda table, _: both("label", "method")(table[table["kind"] == "probe"], _),
        fill=lambda table, stored: at_layer(table, stored) | {"step": table["step"].iloc[0]},
        figures={"reading_and_use": reading_and_use},
    ),
    "own": shown(
        "Its own ability, or what is hard for all?", *columns("layer#", "of=", "reading", "by_own_probe", "beyond+",
        "beyond_null+", "p_beyond?", of="n", by_own_probe="own probe", beyond_null="95% by chance", p_beyond="p"),
        first="label", lines=own_rows, items=of_its_own,
    ),
    "patching": shown(
        "When does the last token decide?",
        *columns("margin+", "donor_margin+", "half#", "n#", margin="margin of the receivers",
                 donor_margin="of the donors", half="half recovered from layer", n="pairs"),
        first="kind", lines=halves, figure=patching,
    ),
    "writing": shown(
        "While it writes", spanning("auroc", "AUROC of the verdict, first tenth", "auroc_low", "auroc_high"),
        spanning("last", "last tenth", "last_low", "last_high"), first="label",
        lines=ends_of_answers, fill=counts_of_verdicts, figure=writing,
    ),
    "elsewhere": shown(
        "On another checkpoint", *columns("at_home", "elsewhere", "recentred", "n#"), index="label",
        fill=lambda table, _: {"model": table["model"].iloc[0]},
    ),
    "methods": shown("Methods", index="label", folded=True),
    "limits": Result("What this does not say", items=lambda *_: WORDS["limits"]["items"], folded=False),
    **SURROUNDINGS,
    "subject": Result("Subject", rows=lambda _, stored: flat_rows(stored.manifest.facts.get("model", {}))),
}  # fmt: skip
