"""The section of a probing report on whose ability it is that a stream gives away."""

import pandas as pd

from onedial.show import NOTHING, Section, TableRow, interval, number, p_value, page
from probes.show.probe_contents import ProbeContents


def own_or_shared(contents: ProbeContents) -> Section | None:
    """Own correctness beyond what is shared: the test that decides, and the nested models beside it."""
    table = contents.table("own")
    if table is None:
        return None
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
    columns = ("layer", "n", "reading", "base", "with reading", "gain", "p, nested", "beyond", "p", "own probe")
    lines = [
        TableRow(
            str(row["label"]),
            [
                f"{row['layer']:.0f}",
                f"{row['n_positive']:.0f} of {row['n']:.0f}",
                number(row["reading"], 2),
                number(row["base"], 2),
                number(row["both"], 2),
                f"{number(row['added'], 3, signed=True)} {interval(row['low'], row['high'], 3, signed=True)}",
                p_value(row["p"]),
                number(row["beyond"], 2, signed=True) if "beyond" in row else NOTHING,
                p_value(row["p_beyond"]) if "beyond" in row else NOTHING,
                number(row["by_own_probe"], 2) if not row["own"] else NOTHING,
            ],
        )
        for _, row in table.iterrows()
    ]
    said = [page.text(_of_its_own(row)) for _, row in table[table["own"]].iterrows() if "verdict" in row]
    blocks = [
        page.text(words),
        *said,
        page.written_table("Own or shared", "label", columns, lines),
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
