"""The section of a probing report on whose ability it is that a stream gives away."""

import pandas as pd

from onedial.show import Column, Section, count, digits, number, p_value, page
from probes.show.probe_contents import ProbeContents, of_table

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
    words = (
        "Does the stream predict the subject's own correctness beyond the question's words, the panel's difficulty and "
        "the share of other models that were right? And does it predict another model's correctness as well? Held "
        "constant, as in the nested models (base, with reading, gain, p nested), difficulty counts as exactly known; a "
        "stream that holds what is hard for all, and nothing else, then adds something, to the subject's correctness "
        "and to others'. beyond: correlation of what a probe reads with what is left of the correctness when what "
        "others share is taken off, within topics; bad measurement makes that noisier and adds nothing. Its p comes "
        "from shuffling what is left and fitting everything again, and it alone decides. A kind of question at which "
        "the subject is good would be enough for it."
    )
    rows = table.set_index("label").assign(
        of=[f"{row['n_positive']:.0f} of {row['n']:.0f}" for _, row in table.iterrows()],
        by_own_probe=table["by_own_probe"].mask(table["own"]).to_numpy(),
    )
    said = [page.text(_of_its_own(row)) for _, row in table[table["own"]].iterrows() if "verdict" in row]
    blocks = [
        page.text(words),
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
