"""The sections of a probing report, from top to bottom. A new one is a function here, and a line in `PROBE_SECTIONS`.

Every section has one signature:

    section(contents) -> Section, or None where the run holds nothing to say

It reads the run's tables (`ProbeContents`) and says what they hold, in the blocks of `onedial.show.page`.

The section of a probing report on whose ability it is that a stream gives away.
"""

import pandas as pd

from onedial.show import (
    NOTHING,
    Column,
    Section,
    count,
    digits,
    flat_rows,
    number,
    p_value,
    page,
    stage_rows,
    surroundings,
)
from onedial.stats import LEVEL
from probes.show import probe_direction_sections as more
from probes.show.probe_contents import WORDS, Make, ProbeContents, balance, of_table

OWN = (
    Column("layer", form=count),
    Column("of", "n"),
    Column("reading", form=digits(2)),
    Column("base", form=digits(2)),
    Column("both", "with reading", digits(2)),
    Column("added", "gain", digits(3, signed=True), ("low", "high")),
    Column("p", "p, nested", p_value),
    Column("beyond", form=digits(2, signed=True)),
    Column("p_beyond", "p", p_value),
    Column("by_own_probe", "own probe", digits(2)),
)


@of_table("own")
def own_or_shared(contents: ProbeContents, table: pd.DataFrame) -> Section:
    """Own correctness beyond what is shared: the test that decides, and the nested models beside it."""
    rows = table.set_index("label").assign(
        of=[f"{row['n_positive']:.0f} of {row['n']:.0f}" for _, row in table.iterrows()],
        by_own_probe=table["by_own_probe"].mask(table["own"]).to_numpy(),
    )
    said = [page.text(_of_its_own(row)) for _, row in table[table["own"]].iterrows()]
    blocks = [
        page.text(WORDS["own_or_shared"]),
        *said,
        page.table("Own or shared", "label", OWN, rows),
        *contents.figures("own_and_shared"),
    ]
    return Section("Its own ability, or what is hard for all?", blocks)


def _of_its_own(row: pd.Series) -> str:
    """What the subject's row says, in a sentence."""
    found = (
        f"At layer {row['layer']:.0f} (beyond {number(row['beyond'], 2, signed=True)}, p {p_value(row['p_beyond'])})"
    )
    return {
        "its own": f"{found} the stream tells where the subject does better or worse than what others share would "
        "have it.",
        "shared, or measured badly": f"{found} what the stream adds to the nested model (p {p_value(row['p'])}) cannot "
        "be told apart from difficulty that the panel measures badly.",
        "nothing found": f"{found} nothing of the subject's own was found; that is no proof that there is none.",
    }[str(row["verdict"])]


_SHOWN_TARGETS = 40
CHOSEN = (
    Column("layer", form=count),
    Column("auroc", "AUROC", digits(2), ("low", "high")),
    Column("p_reads", "p, reads", p_value),
    Column("text", "words", digits(2)),
    Column("over_text", "over words", digits(2, signed=True), ("over_text_low", "over_text_high")),
    Column("shuffled", form=digits(2)),
    Column("control", form=digits(2)),
    Column("p_adds", "p, adds", p_value),
    Column("balance", "1 : 0"),
    Column("n_unknown", "unknown", count),
)
NAMES = {
    "own yes": "its own yes",
    "own margin high": "its own margin",
    "own correct": "its own correctness",
    "easy for all": "what is easy for all",
}


@of_table("chosen")
def chosen_layers(contents: ProbeContents, table: pd.DataFrame) -> Section:
    """Each label at its best layer, chosen without the questions that judge it."""
    rows = table.assign(balance=balance(table)).set_index("label").head(_SHOWN_TARGETS)
    return Section(
        "What reads, at its best layer",
        [page.text(WORDS["chosen_layers"]), page.table("Labels", "label", CHOSEN, rows)],
    )


def layers(contents: ProbeContents) -> Section | None:
    """Every label at every layer."""
    blocks = contents.figures("layer_curves", "layer_label")
    return Section("Where it reads", blocks) if blocks else None


@of_table("methods")
def methods(contents: ProbeContents, table: pd.DataFrame) -> Section:
    """Do the methods agree?"""
    rows = table.set_index("label")
    columns = [Column(name, name, digits(2)) for name in rows.columns]
    return Section("Methods", [page.text(WORDS["methods"]), page.table("Methods", "label", columns, rows)], folded=True)


def notes(contents: ProbeContents) -> Section | None:
    """What the run came upon."""
    return Section("Notes of the run", [page.items(contents.manifest.notes)]) if contents.manifest.notes else None


def limits(contents: ProbeContents) -> Section:
    """What the numbers leave open."""
    said = [
        "One subject, one prompt, one set of questions; intervals are over the topics, the probes as they are.",
        "A label that reads off the stream is not thereby used: a probe finds what is there, an intervention what "
        "acts.",
        "The words baseline sees words and pairs of words. What it misses (a synonym, a name that is rarer than its "
        "letters) a probe may read without any knowledge of the subject's own.",
        "The panel's difficulty is an estimate from a few respondents. What a stream predicts beyond it may be "
        "difficulty that the panel measures badly.",
        "p values are per label and layer; among twenty labels one below .05 is expected by chance.",
        "A push shows what a direction does at one layer, at the answer position, for a small step; larger pushes are "
        "no longer like any stream that the subject has seen.",
    ]
    return Section("What this does not say", [page.items(said)])


def again(contents: ProbeContents) -> Section:
    """The command that makes this run anew."""
    manifest = contents.manifest
    checkout = f"git checkout {manifest.commit}\n" if manifest.commit else ""
    return Section("Do it again", [page.code(f"{checkout}{manifest.command}")])


def configuration(contents: ProbeContents) -> Section:
    """Every option."""
    return Section("Configuration", [page.rows(flat_rows(contents.run.config))], folded=True)


def subject(contents: ProbeContents) -> Section:
    """The model that was read."""
    return Section("Subject", [page.rows(flat_rows(contents.manifest.facts.get("model", {})))], folded=True)


def provenance(contents: ProbeContents) -> Section:
    """When, where and with what."""
    return Section("Versions, machine, seeds", [page.rows(surroundings(contents.manifest))], folded=True)


def stages(contents: ProbeContents) -> Section:
    """Where the time went."""
    return Section("Time per stage", [page.rows(stage_rows(contents.manifest.stages))], folded=True, unfolded=True)


PROBE_SECTIONS: dict[str, Make] = {
    "chosen layers": chosen_layers,
    "layers": layers,
    "facts": more.facts,
    "without labels": more.without_labels,
    "same direction": more.same_direction,
    "erasure": more.erasure,
    "used": more.used,
    "own or shared": own_or_shared,
    "where": more.where,
    "writing": more.writing,
    "elsewhere": more.elsewhere,
    "lens": more.lens,
    "methods": methods,
    "notes": notes,
    "limits": limits,
    "again": again,
    "configuration": configuration,
    "subject": subject,
    "provenance": provenance,
    "stages": stages,
}


def headline_of(contents: ProbeContents) -> str:
    """The report's headline: what the subject's stream gives away of its own ability."""
    table = contents.table("chosen")
    if table is None:
        return "Nothing was read."
    rows = {str(row["label"]): row for _, row in table.iterrows()}
    said = []
    for label, words in NAMES.items():
        if label in rows:
            row = rows[label]
            adds = row["over_text"] > 0 and row["p_adds"] <= LEVEL
            beyond = "words alone" if adds else "not clearly more than words alone,"
            said.append(f"{words} at {number(row['auroc'], 2)} ({beyond} {number(row['text'], 2)})")
    return f"The stream reads {', '.join(said)}." if said else NOTHING
