"""The sections of a probing report that go beyond one label at one layer: same direction, used, own, when settled.

Same signature as in `probes.show.probe_sections`, which lists them.
"""

import pandas as pd

from onedial.show import Column, Section, count, digits, p_value, page
from probes.show.probe_contents import WORDS, ProbeContents, balance, of_table

_SIGNED = digits(2, signed=True)
_ENDS = ("low", "high")
_AUROC = Column("auroc", "AUROC", digits(2), _ENDS)
FACTS = (
    Column("layer", form=count),
    _AUROC,
    Column("text", "words", digits(2)),
    Column("shuffled", form=digits(2)),
    Column("balance", "1 : 0"),
    Column("n_unknown", "unknown", count),
)
STATEMENTS = (
    _AUROC,
    Column("p_reads", "p, reads", p_value),
    Column("as_it_stands", form=digits(2)),
    Column("negated", form=digits(2)),
    Column("nonsense", "with nonsense", digits(2)),
    Column("hurt", form=_SIGNED, ends=("hurt_low", "hurt_high")),
    Column("polar_gap", form=digits(2)),
    Column("contradiction", form=digits(2)),
    Column("opposite", form=digits(2)),
)
DIRECTIONS = (
    Column("cosine", form=_SIGNED, ends=_ENDS),
    Column("", "null", _SIGNED, ("null_low", "null_high")),
    Column("p", form=p_value),
    Column("reliability", "halves, first", digits(2)),
    Column("other_reliability", "halves, second", digits(2)),
    Column("cosine_corrected", "corrected", _SIGNED),
    Column("correlation", form=_SIGNED),
    Column("", "null", _SIGNED, ("correlation_null_low", "correlation_null_high")),
)
TRANSFER = (
    _AUROC,
    Column("", "null", digits(2), ("null_low", "null_high")),
    Column("p", form=p_value),
    Column("n", form=count),
)
ERASURE = (
    Column("before", form=digits(2)),
    Column("after", form=digits(2), ends=("after_low", "after_high")),
    Column("lost", form=_SIGNED, ends=("lost_low", "lost_high")),
    Column("lost_by_shuffled", "lost to a shuffled copy", _SIGNED),
)
EFFECTS = (
    Column("auroc", "AUROC", digits(2)),
    Column("effect", form=_SIGNED, ends=_ENDS),
    Column("p", form=p_value),
    Column("p_covariance", "p, covariance", p_value),
    Column("cosine_with_own", "cosine", _SIGNED),
    Column("n", form=count),
    Column("n_unread", "unread", count),
)
PATCHES = (
    Column("margin", "margin of the receivers", _SIGNED),
    Column("donor_margin", "of the donors", _SIGNED),
    Column("half", "half recovered from layer", count),
    Column("n", "pairs", count),
)
WRITING = (
    Column("auroc", "AUROC of the verdict, first tenth", digits(2), ("auroc_low", "auroc_high")),
    Column("last", "last tenth", digits(2), ("last_low", "last_high")),
    Column("far", form=digits(2)),
)
ELSEWHERE = (
    Column("at_home", form=digits(2)),
    Column("elsewhere", form=digits(2), ends=("elsewhere_low", "elsewhere_high")),
    Column("recentred", form=digits(2)),
    Column("far", form=digits(2)),
    Column("n", form=count),
)
TOKENS = (Column("raised"), Column("lowered"))
DIRECT = (Column("direct", form=_SIGNED), Column("whole", form=_SIGNED))


@of_table("chosen_facts")
def facts(contents: ProbeContents, table: pd.DataFrame) -> Section:
    """The truth of unrelated facts, at its best layer."""
    rows = table.assign(balance=balance(table)).set_index("label")
    return Section(
        "Facts that have nothing to do with ability",
        [page.text(WORDS["facts"]), page.table("Facts", "label", FACTS, rows)],
    )


@of_table("statements")
def without_labels(contents: ProbeContents, table: pd.DataFrame) -> Section:
    """Truth of statements and their negations, found without labels."""
    words = WORDS["without_labels"].format(n=table["n"].max())
    rows = []
    for (layer, method), pair in table.groupby(["layer", "method"], sort=False):
        own, control = (pair[pair["marker"] == marker].iloc[0] for marker in ("negation", "nonsense"))
        rows.append((f"L{layer}, {method}", {**own, "nonsense": control["auroc"]}))
    shown = page.table(
        "Statements", "layer, method", STATEMENTS, rows, faint=lambda row: bool(row["method"] == "random")
    )
    return Section("Truth without labels", [page.text(words), shown, *contents.figures("without_labels")])


@of_table("directions")
def same_direction(contents: ProbeContents, table: pd.DataFrame) -> Section:
    """Cosines, cross-evaluation, transfer to the facts."""
    words = WORDS["same_direction"].format(layer=_layer(table))
    pairs = table["label"] + " – " + table["other"] + ", " + table["method"].str.replace("_", " ")
    blocks = [
        page.text(words),
        page.table("Directions", "labels", DIRECTIONS, table.set_index(pairs)),
        *contents.figures("cross_map"),
    ]
    transfer = contents.table("transfer")
    if transfer is not None:
        blocks += [
            page.text(
                "Probes of the questions read on the facts, and the other way round, whole sets apart. The null are "
                "probes of the same questions fitted to shuffled labels; the interval is over the topics of the set "
                "that is read."
            ),
            page.table(
                "Transfer",
                "probe, read on",
                TRANSFER,
                transfer.set_index(transfer["probe"] + ", " + transfer["label"]),
            ),
        ]
    return Section("Is it the same direction?", blocks)


@of_table("erasure")
def erasure(contents: ProbeContents, table: pd.DataFrame) -> Section:
    """What goes when one label is taken out."""
    words = WORDS["erasure"].format(layer=_layer(table))
    rows = table.set_index("without " + table["erased"] + ": " + table["label"])
    shown = page.table("Erasure", "label", ERASURE, rows, faint=lambda row: bool(row["erased"] == row["label"]))
    return Section("What goes when one is erased", [page.text(words), shown])


@of_table("effects")
def used(contents: ProbeContents, table: pd.DataFrame) -> Section:
    """Effect of each direction against its reading."""
    own = table[table["kind"] == "probe"]
    words = WORDS["used"].format(layer=_layer(table), step=table["step"].iloc[0], n=own["n"].max())
    rows = own.set_index(own["label"] + ", " + own["method"].str.replace("_", " "))
    shown = page.table("Effects", "direction", EFFECTS, rows)
    return Section("Is what reads also used?", [page.text(words), shown, *contents.figures("reading_and_use")])


def where(contents: ProbeContents) -> Section | None:
    """Layer by position, and patches of the last token."""
    table = contents.table("patching")
    blocks = contents.figures("where", "patching")
    if table is None or not blocks:
        return None
    rows = table.groupby("kind", sort=False)[["margin", "donor_margin", "n"]].first()
    rows["half"] = table[table["recovered"] >= 0.5].groupby("kind", sort=False)["layer"].first()
    return Section(
        "Where in the prompt?", [*blocks, page.text(WORDS["where"]), page.table("Patches", "kind", PATCHES, rows)]
    )


@of_table("writing")
def writing(contents: ProbeContents, table: pd.DataFrame) -> Section:
    """Readings while the model reasons."""
    counts = table.groupby("verdict")["n"].max()
    said = ", ".join(f"{name} {n:.0f}" for name, n in counts.items()) or "none"
    words = (
        f"The probes of layer {_layer(table)} while the model reasons before it answers: does the reading tell the "
        f"verdict before it is written? Questions by verdict: {said} (unread: no verdict could be read). Readings are "
        "in standard deviations of what the probe reads of ordinary questions. far: share of tokens that lie farther "
        "off than 95% of questions of other topics; a reading there is no more than a number, since the probe was "
        "fitted at the end of a prompt and not in written text."
        if len(table)
        else "The model wrote nothing that could be read."
    )
    ends = table.sort_values("progress").groupby("label", sort=False)
    last = ends[["auroc", "auroc_low", "auroc_high"]].last()
    rows = ends[["auroc", "auroc_low", "auroc_high"]].first().assign(far=ends["far"].mean())
    rows[["last", "last_low", "last_high"]] = last
    shown = page.table("Writing", "label", WRITING, rows)
    return Section("While it writes", [page.text(words), shown, *contents.figures("writing", "writing_one")])


def elsewhere(contents: ProbeContents) -> Section | None:
    """Far from the training questions: other questions, another checkpoint."""
    blocks = []
    readings = contents.table("readings")
    if readings is not None:
        blocks.append(
            page.text(
                "On the unrelated facts, put in another prompt, the reader abstains from "
                f"{readings['reading'].isna().mean():.0%} of its readings: so many lie farther off than 95% of "
                "held-out questions do."
            )
        )
    other = contents.table("elsewhere")
    if other is not None:
        blocks += [
            page.text(
                f"The probes on the same layer of {other['model'].iloc[0]}, topics held out on both sides; its own "
                "answers are its own labels there. recentred: each checkpoint's mean is taken off first. far: share "
                "of its questions on which the reader would abstain."
            ),
            page.table("Elsewhere", "label", ELSEWHERE, other.set_index("label")),
        ]
    return Section("Far from home", blocks) if blocks else None


def lens(contents: ProbeContents) -> Section | None:
    """What each layer would answer, and where the directions point."""
    blocks = contents.figures("lens_curves")
    tokens = contents.table("tokens")
    if tokens is not None:
        blocks += [
            page.text(
                f"Tokens whose logits the directions of layer {_layer(tokens)} raise and lower most, if they went "
                "straight to the unembedding."
            ),
            page.table("Tokens", "direction", TOKENS, tokens.set_index("label")),
        ]
    direct = contents.table("direct")
    if direct is not None:
        effects = contents.table("effects")
        rows = direct.set_index("label")
        if effects is not None:
            own = effects[effects["method"] == effects["method"].iloc[0]].drop_duplicates("label")
            rows["whole"] = own.set_index("label")["effect"]
        blocks += [
            page.text(
                "Direct: what a push along the direction does to the margin by the unembedding alone, per residual "
                "norm. Beside it the whole effect of a push; what lies between is made by the layers above."
            ),
            page.table("Direct effects", "direction", DIRECT, rows),
        ]
    return Section("What each layer would answer", blocks) if blocks else None


def _layer(table: pd.DataFrame) -> str:
    return f"{table['layer'].iloc[0]:.0f}"
