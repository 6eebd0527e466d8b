"""The sections of a probing report that go beyond one label at one layer: same direction, used, own, when settled.

Same signature as in `probes.show.probe_sections`, which lists them.
"""

import pandas as pd

from onedial.show import NOTHING, Section, TableRow, interval, number, p_value, page
from probes.show.probe_contents import ProbeContents


def facts(contents: ProbeContents) -> Section | None:
    """The truth of unrelated facts, at its best layer."""
    table = contents.table("chosen_facts")
    if table is None:
        return None
    words = (
        "Facts that have nothing to do with ability, half of them true, put to the subject as plain yes/no questions. "
        "They tell reading of ability apart from reading of truth, and from a lean towards yes. Facts come in pairs of "
        "nearly the same words of which one is true, both in one topic, so that words alone lie below .5 where they "
        "learn a pair's words."
    )
    columns = ("layer", "AUROC", "words", "shuffled", "1 : 0", "unknown")
    lines = [
        TableRow(
            str(row["label"]),
            [
                f"{row['layer']:.0f}",
                f"{number(row['auroc'], 2)} {interval(row['low'], row['high'], 2)}",
                number(row["text"], 2),
                number(row["shuffled"], 2),
                f"{row['n_positive']:.0f} : {row['n'] - row['n_positive']:.0f}",
                f"{row['n_unknown']:.0f}",
            ],
        )
        for _, row in table.iterrows()
    ]
    return Section(
        "Facts that have nothing to do with ability",
        [page.text(words), page.written_table("Facts", "label", columns, lines)],
    )


def without_labels(contents: ProbeContents) -> Section | None:
    """Truth of statements and their negations, found without labels."""
    table = contents.table("statements")
    if table is None:
        return None
    words = (
        f"The same facts as {table['n'].max():.0f} statements, as they stand and negated, each answered by yes and by "
        "no. CCS and CRC look for a direction along which the two answers contradict each other, without labels; the "
        "polar variant wants a statement and its negation to contradict each other too. supervised: what could be "
        "found with labels; its interval is too short, and p, reads is the share of labels shuffled within topics and "
        "read anew that come out as high. In the control a word without meaning stands in the place of not, and counts "
        "as if it negated: whatever reads truth must do worse there, and hurt says by how much. A method that reads "
        "statements as they stand and falls below .5 on negated ones does not understand the negation. polar gap: 0 "
        "where yes to a statement is read as no to its negation; contradiction: 0 where never both are affirmed, .5 "
        "where every probability is .5; opposite: share of pairs that lean to opposite sides."
    )
    columns = (
        "AUROC",
        "p, reads",
        "as it stands",
        "negated",
        "with nonsense",
        "hurt",
        "polar gap",
        "contradiction",
        "opposite",
    )
    lines = []
    for (layer, method), pair in table.groupby(["layer", "method"], sort=False):
        own, control = (pair[pair["marker"] == marker].iloc[0] for marker in ("negation", "nonsense"))
        lines.append(
            TableRow(
                f"L{layer}, {method}",
                [
                    f"{number(own['auroc'], 2)} {interval(own['low'], own['high'], 2)}",
                    p_value(own["p_reads"]) if "p_reads" in own else NOTHING,
                    number(own["as_it_stands"], 2),
                    number(own["negated"], 2),
                    number(control["auroc"], 2),
                    f"{number(own['hurt'], 2, signed=True)} "
                    f"{interval(own['hurt_low'], own['hurt_high'], 2, signed=True)}",
                    number(own["polar_gap"], 2),
                    number(own["contradiction"], 2),
                    number(own["opposite"], 2),
                ],
                faint=method == "random",
            )
        )
    blocks = [page.text(words), page.written_table("Statements", "layer, method", columns, lines)]
    return Section("Truth without labels", blocks + contents.figures("without_labels", "distraction"))


def same_direction(contents: ProbeContents) -> Section | None:
    """Cosines, cross-evaluation, transfer to the facts."""
    table = contents.table("directions")
    if table is None:
        return None
    words = (
        f"All at layer {_layer(table)}. Cosines of probes lie off 0 by themselves where they are fitted to the same "
        "questions: the null is the cosine with directions of labels shuffled within topics; the interval beside the "
        "cosine leaves out topics one at a time. halves: cosine of a "
        "label's own directions from two halves of the topics, the first label's and the second's; where these are "
        "small, a small cosine means noise and not another direction, and the corrected cosine (cosine over the root "
        "of their product) is rough. correlation: of the two readings over questions."
    )
    columns = ("cosine", "null", "p", "halves", "corrected", "correlation", "null")
    lines = [
        TableRow(
            f"{row['label']} – {row['other']}, {str(row['method']).replace('_', ' ')}",
            [
                f"{number(row['cosine'], 2, signed=True)} {interval(row['low'], row['high'], 2, signed=True)}",
                interval(row["null_low"], row["null_high"], 2, signed=True),
                p_value(row["p"]),
                f"{number(row['reliability'], 2)}, {number(row['other_reliability'], 2)}",
                number(row["cosine_corrected"], 2, signed=True),
                number(row["correlation"], 2, signed=True),
                interval(row["correlation_null_low"], row["correlation_null_high"], 2, signed=True),
            ],
        )
        for _, row in table.iterrows()
    ]
    blocks = [
        page.text(words),
        page.written_table("Directions", "labels", columns, lines),
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
            page.written_table(
                "Transfer",
                "probe, read on",
                ("AUROC", "null", "p", "n"),
                [
                    TableRow(
                        f"{row['probe']}, {row['label']}",
                        [
                            f"{number(row['auroc'], 2)} {interval(row['low'], row['high'], 2)}",
                            interval(row["null_low"], row["null_high"], 2),
                            p_value(row["p"]),
                            f"{row['n']:.0f}",
                        ],
                    )
                    for _, row in transfer.iterrows()
                ],
            ),
        ]
    return Section("Is it the same direction?", blocks)


def erasure(contents: ProbeContents) -> Section | None:
    """What goes when one label is taken out."""
    table = contents.table("erasure")
    if table is None:
        return None
    words = (
        f"At layer {_layer(table)} one label is taken out of the activations (LEACE: the smallest change after which "
        "no linear probe of the training questions reads it), and the others are read again. The label itself then "
        "reads at .5 by construction. What else is lost shared its direction, or goes with it over questions; the last "
        "column is what is lost when a shuffled copy of the label is erased."
    )
    columns = ("before", "after", "lost", "lost to a shuffled copy")
    lines = [
        TableRow(
            f"without {row['erased']}: {row['label']}",
            [
                number(row["before"], 2),
                f"{number(row['after'], 2)} {interval(row['after_low'], row['after_high'], 2)}",
                f"{number(row['lost'], 2, signed=True)} {interval(row['lost_low'], row['lost_high'], 2, signed=True)}",
                number(row["lost_by_shuffled"], 2, signed=True),
            ],
            faint=row["erased"] == row["label"],
        )
        for _, row in table.iterrows()
    ]
    return Section(
        "What goes when one is erased", [page.text(words), page.written_table("Erasure", "label", columns, lines)]
    )


def angles(contents: ProbeContents) -> Section | None:
    """Principal angles between the targets' directions and the main ones."""
    table = contents.table("angles")
    if table is None:
        return None
    words = (
        "Principal angles between the span of the main labels' directions and the span of each base model's targets', "
        "smallest first. The null is the 5% point of the angle with the targets' labels shuffled within topics: a "
        "smaller angle shares more than chance at this covariance gives."
    )
    columns = ("targets", "angle", "degrees", "null, 5%", "p")
    lines = [
        TableRow(
            str(row["group"]),
            [f"{row['n_labels']:.0f}", f"{row['angle']:.0f}", number(row["degrees"], 0), number(row["null_low"], 0),
             p_value(row["p"])],
        )
        for _, row in table.iterrows()
    ]  # fmt: skip
    return Section(
        "Subspaces", [page.text(words), page.written_table("Angles", "base model", columns, lines)], folded=True
    )


def used(contents: ProbeContents) -> Section | None:
    """Effect of each direction against its reading."""
    table = contents.table("effects")
    if table is None:
        return None
    own = table[table["kind"] == "probe"]
    words = (
        f"Each direction of layer {_layer(table)} is added to the stream at the answer position, "
        f"{table['step'].iloc[0]:.2g} residual norms to either side, on {own['n'].max():.0f} questions of all topics. "
        "The effect is the slope of the yes/no margin, per residual norm; positive raises yes. p: share of random "
        "directions with at least such an effect, drawn evenly, and with the covariance of the streams. cosine: with "
        "the difference of means of the first label, the direction that steering would add."
    )
    columns = ("AUROC", "effect", "p", "p, covariance", "cosine", "n", "unread")
    lines = [
        TableRow(
            f"{row['label']}, {str(row['method']).replace('_', ' ')}",
            [
                number(row["auroc"], 2),
                f"{number(row['effect'], 2, signed=True)} {interval(row['low'], row['high'], 2, signed=True)}",
                p_value(row["p"]),
                p_value(row["p_covariance"]),
                number(row["cosine_with_own"], 2, signed=True),
                f"{row['n']:.0f}",
                f"{row['n_unread']:.0f}",
            ],
        )
        for _, row in own.iterrows()
    ]
    blocks = [
        page.text(words),
        page.written_table("Effects", "direction", columns, lines),
        *contents.figures("reading_and_use"),
    ]
    return Section("Is what reads also used?", blocks)


def where(contents: ProbeContents) -> Section | None:
    """Layer by position, and patches of the last token."""
    table = contents.table("patching")
    blocks = contents.figures("where", "patching")
    if table is None or not blocks:
        return None
    words = (
        "The stream of the last token after each layer is taken from another question: of the easiest for all into the "
        "hardest, and the other way round. recovered: the share of the way from the receiver's margin to the donor's; "
        "where most of it is reached, what decides between the two has come to the last token."
    )
    lines = []
    for kind, own in table.groupby("kind", sort=False):
        half = own[own["recovered"] >= 0.5]
        lines.append(
            TableRow(
                str(kind),
                [
                    number(own["margin"].iloc[0], 2, signed=True),
                    number(own["donor_margin"].iloc[0], 2, signed=True),
                    f"{half['layer'].iloc[0]:.0f}" if len(half) else NOTHING,
                    f"{own['n'].iloc[0]:.0f}",
                ],
            )
        )
    columns = ("margin of the receivers", "of the donors", "half recovered from layer", "pairs")
    return Section(
        "Where in the prompt?", [*blocks, page.text(words), page.written_table("Patches", "kind", columns, lines)]
    )


def replacement(contents: ProbeContents) -> Section | None:
    """The words alone in the place of a dial."""
    table = contents.table("replacement")
    if table is None:
        return None
    words = (
        "If targets share one difficulty and only draw the line elsewhere, then words that tell difficulty and one "
        "threshold per target do what a dial does. The text is trained on the difficulty that the other base models "
        "share, on other topics, and cut at the target's yes rate there; other orders of the questions are cut in the "
        "same way. Mean over targets, base models counted alike, 95% over topics. The majority answer has a kappa of 0 "
        "by definition; where most targets nearly always say the same, its agreement is hard to reach. shared "
        "difficulty needs other models' answers to the very question and replaces nothing: a perfect reader of "
        "difficulty would do as well."
    )
    columns = ("kappa", "agreement", "kappa over text", "targets", "missing answers")
    lines = [
        TableRow(
            str(row["order"]),
            [
                f"{number(row['kappa'], 2)} {interval(row['low'], row['high'], 2)}",
                f"{number(row['agreement'], 2)} {interval(row['agreement_low'], row['agreement_high'], 2)}",
                f"{number(row['over_text'], 2, signed=True)} "
                f"{interval(row['over_text_low'], row['over_text_high'], 2, signed=True)}",
                f"{row['n_targets']:.0f}",
                f"{row['n_missing']:.0f}",
            ],
            faint=row["order"] in ("majority", "shared difficulty"),
        )
        for _, row in table.iterrows()
    ]
    blocks = [page.text(words), page.written_table("Replacement", "order of the questions", columns, lines)]
    return Section("Would the words do?", blocks + contents.figures("replacement"))


def writing(contents: ProbeContents) -> Section | None:
    """Readings while the model reasons."""
    table = contents.table("writing")
    if table is None:
        return None
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
    lines = []
    for label, own in table.groupby("label", sort=False):
        ends = own.sort_values("progress")
        first, last = (ends[ends["progress"] == at].iloc[0] for at in (ends["progress"].min(), ends["progress"].max()))
        lines.append(
            TableRow(
                str(label),
                [
                    *(
                        f"{number(each['auroc'], 2)} {interval(each['auroc_low'], each['auroc_high'], 2)}"
                        for each in (first, last)
                    ),
                    number(own["far"].mean(), 2),
                ],
            )
        )
    columns = ("AUROC of the verdict, first tenth", "last tenth", "far")
    shown = page.written_table("Writing", "label", columns, lines)
    return Section("While it writes", [page.text(words), shown, *contents.figures("writing", "writing_one")])


def elsewhere(contents: ProbeContents) -> Section | None:
    """Far from the training questions: distance, other questions, another checkpoint."""
    table = contents.table("distance")
    if table is None:
        return None
    columns = ("all", "nearer half", "farther half", "nearer minus farther")
    lines = [
        TableRow(
            str(row["label"]),
            [
                number(row["auroc"], 2),
                *(f"{number(row[n], 2)} {interval(row[f'{n}_low'], row[f'{n}_high'], 2)}" for n in ("near", "far")),
                f"{number(row['gap'], 2, signed=True)} {interval(row['gap_low'], row['gap_high'], 2, signed=True)}",
            ],
        )
        for _, row in table.iterrows()
    ]
    blocks = [
        page.text(
            f"Layer {_layer(table)}. Each question's distance from the training questions of the other topics: are "
            "probes worth less on the farther half?"
        ),
        page.written_table("Distance", "label", columns, lines),
    ]
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
        lines = [
            TableRow(
                str(row["label"]),
                [
                    number(row["at_home"], 2),
                    f"{number(row['elsewhere'], 2)} {interval(row['elsewhere_low'], row['elsewhere_high'], 2)}",
                    number(row["recentred"], 2),
                    number(row["far"], 2),
                    f"{row['n']:.0f}",
                ],
            )
            for _, row in other.iterrows()
        ]
        blocks += [
            page.text(
                f"The probes on the same layer of {other['model'].iloc[0]}, topics held out on both sides; its own "
                "answers are its own labels there. recentred: each checkpoint's mean is taken off first. far: share "
                "of its questions on which the reader would abstain."
            ),
            page.written_table("Elsewhere", "label", ("at home", "elsewhere", "recentred", "far", "n"), lines),
        ]
    return Section("Far from home", blocks)


def lens(contents: ProbeContents) -> Section | None:
    """What each layer would answer, and where the directions point."""
    blocks = contents.figures("lens_curves")
    tokens = contents.table("tokens")
    if tokens is not None:
        lines = [TableRow(str(row["label"]), [str(row["raised"]), str(row["lowered"])]) for _, row in tokens.iterrows()]
        blocks += [
            page.text(
                f"Tokens whose logits the directions of layer {_layer(tokens)} raise and lower most, if they went "
                "straight to the unembedding."
            ),
            page.written_table("Tokens", "direction", ("raised", "lowered"), lines),
        ]
    direct = contents.table("direct")
    if direct is not None:
        effects = contents.table("effects")
        whole: dict[str, float] = {}
        if effects is not None:
            own = effects[effects["method"] == effects["method"].iloc[0]].drop_duplicates("label")
            whole = dict(zip(own["label"], own["effect"], strict=True))
        lines = [
            TableRow(
                str(row["label"]),
                [
                    number(row["direct"], 2, signed=True),
                    number(whole.get(str(row["label"]), float("nan")), 2, signed=True),
                ],
            )
            for _, row in direct.iterrows()
        ]
        blocks += [
            page.text(
                "Direct: what a push along the direction does to the margin by the unembedding alone, per residual "
                "norm. Beside it the whole effect of a push; what lies between is made by the layers above."
            ),
            page.written_table("Direct effects", "direction", ("direct", "whole"), lines),
        ]
    each = contents.table("tokens_by_layer")
    if each is not None:
        lines = [
            TableRow(f"{row['label']}, L{row['layer']:.0f}", [str(row["raised"]), str(row["lowered"])])
            for _, row in each.sort_values(["label", "layer"], kind="stable").iterrows()
        ]
        blocks += [
            page.text("The same for the probes of other layers, each through the unembedding."),
            page.written_table("Tokens by layer", "direction", ("raised", "lowered"), lines),
        ]
    return Section("What each layer would answer", blocks) if blocks else None


def _layer(table: pd.DataFrame) -> str:
    return f"{table['layer'].iloc[0]:.0f}"
