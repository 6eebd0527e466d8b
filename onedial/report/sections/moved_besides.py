"""What the dial moves besides the answer: yes-bias, unrelated facts, what lies on the way, correctness."""

from typing import Any

import numpy as np
import pandas as pd

from onedial.asking.sweep_tables import DRAWN_ROLES
from onedial.report.contents import Contents
from onedial.report.meaning import WORDS
from onedial.show.columns import SIDES, Column, digits, like, number
from onedial.show.results import Make, Result
from onedial.show.run_tables import Rows

CHANCE = 0.5
"""Of the facts that are true."""
"""Of the directions of an interchange or a mediation: what the others are ranked among."""


def _bias(_: Any, stored: Contents) -> list[tuple[str, dict[str, Any]]]:
    """List what the push does to either wording, beside Yes minus No in the unembedding where that was asked."""
    bias = stored.verdict.bias
    slopes = {} if bias is None else {"dial": bias.dial, "yardstick": bias.yardstick}
    rows = []
    for name, words in WORDS["biases"].items():
        columns = (getattr(of, name).columns(who) for who, of in slopes.items() if of is not None)
        rows.append((words, {key: value for each in columns for key, value in each.items()}))
    return rows


def _words_of_bias(_: Any, stored: Contents) -> list[str]:
    words, bias = WORDS["bias"], stored.verdict.bias
    if bias is None:
        return []
    sentences = [words["share"].format(share=bias.dial.share.value)] * bool(np.isfinite(bias.dial.share.value))
    return sentences + [words["not_read"]] * (bias.dial.alike.low > 0)


def _facts(_: Any, stored: Contents) -> Rows:
    """List what the dial does to unrelated facts."""
    facts = stored.verdict.facts
    assert facts is not None  # else there is no such section
    accuracy = f"{facts.accuracy:.2f}" + ("; " + WORDS["facts"]["guessed"]) * (facts.accuracy.low <= CHANCE)
    return [
        ("facts asked", f"{facts.n}, of which {facts.n_unread} were not read unsteered"),
        ("shift of their yes rate, as a share of the question's own", f"{facts.share:.2f}"),
        ("answered rightly, unsteered", accuracy),
        ("loss at the worst magnitude", f"{facts.loss:.2f}"),
        ("median |margin| at its smallest, of the unsteered one", number(facts.shrink, 2)),
        ("between magnitudes", f"{number(facts.from_magnitude)} and {number(facts.to_magnitude)}"),
    ]


def _causes(by: str, *shares: str) -> Make:
    """Make the rows of an intervention on causes: meant directions, then the median size of those drawn by chance."""

    def lines(table: pd.DataFrame, _: Contents) -> pd.DataFrame:
        drawn = table[table["kind"].isin(DRAWN_ROLES)]
        sizes = drawn.assign(**{name: drawn[name].abs() for name in shares})
        middle = sizes.groupby([by, "kind"], sort=False)[list(shares)].median().reset_index()
        middle["direction"] = [f"{kind}, median size" for kind in middle["kind"]]
        meant = table[~table["kind"].isin(DRAWN_ROLES)]
        return pd.concat([meant, middle]).sort_values(by, kind="stable").set_index("direction")

    return lines


MOVED_BESIDES: dict[str, Result] = {
    "bias": Result(
        "Yes-bias or confidence?",
        columns=(Column("dial", "the dial", digits(2)), "yardstick"),
        lines=_bias,
        first="logits per residual norm",
        items=_words_of_bias,
        fill=lambda _, stored: vars(stored.verdict.bias.dial),
        when=lambda _, stored: stored.verdict.bias,
        terminal=True,
    ),
    "facts": Result(
        "Is it about knowing? Unrelated facts",
        rows=_facts,
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
    "knowing": Result(
        "Is it about knowing? Correct answers",
        lambda judged: judged.knowing,
        index="respondent",
        columns=("n_graded", like("target_correct", ends=SIDES), "yes_within_right", "yes_within_wrong"),
        first="whose answers",
    ),
}
