"""The tables of a sweep, written by `steering` and read by all that comes after it: what stands in which column.

sweep          one row per question, intervention and magnitude: the steered subject's answer
controls       as sweep, along each control: a few magnitudes, enough to see where the answers turn
reasoned       as sweep, of answers that were written after a reasoning: what was said, and the whole text
facts          as sweep, of yes/no facts that have nothing to do with ability, with their truth
wordings       as sweep, of a few questions asked as they are and reversed, along the intervention under test and along
               Yes minus No in the unembedding
instructed     one row per question and level: the unsteered subject told to say yes only if it is at least so sure
texts          one row per intervention and magnitude: KL on neutral text, mean over passages with its 95% interval
interventions  one row per intervention: what was done to the residual stream, and at which magnitudes
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from onedial.asking.yes_no import is_read

SWEEP_COLUMNS = ["question_id", "intervention_id", "magnitude", "margin", "mass"]
SWEEP_KEY = ["intervention_id", "question_id", "magnitude"]

TEXT_COLUMNS = ["intervention_id", "magnitude", "kl", "kl_low", "kl_high", "n_passages"]
INSTRUCTED_COLUMNS = ["question_id", "level", "margin", "mass"]
INSTRUCTED_KEY = ["question_id", "level"]
FACTS_COLUMNS = [*SWEEP_COLUMNS, "truth"]
WORDING_COLUMNS = [*SWEEP_COLUMNS, "wording"]
WORDING_KEY = [*SWEEP_KEY, "wording"]
AS_ASKED, REVERSED_WORDING = "as asked", "reversed"
"""Of `wording`."""

REASONED_COLUMNS = [*SWEEP_KEY, "said_yes", "tokens_out", "text"]
"""said_yes: 1, 0, nan where the text holds no clear yes or no, or was cut off."""

INTERVENTION_COLUMNS = [
    *("intervention_id", "role", "operator", "positions", "unit", "layers", "vectors", "magnitudes"),
    *("norms_per_unit", "cosine"),
]
"""`layers`: those that are edited, ascending; `vectors`: the vector at each of them; `magnitudes`: those swept;
`norms_per_unit`: residual norms that a magnitude of 1 is, at the
lowest layer; `cosine`: with the intervention under test, nan where it is not known."""

_UNKNOWN = {"norms_per_unit": float("nan"), "cosine": float("nan")}

VECTOR = "vector"
"""The role of the intervention that a run is about; every other role is a kind of control."""
DRAWN_ROLES = ("random", "covariance", "shuffled", "orthogonal")
"""Controls that chance has drawn, many of a kind: the vector is ranked among them."""
ROLES = (VECTOR, *DRAWN_ROLES, "unembedding", "length")
"""The last two are controls of which there is one: Yes minus No in the unembedding, long questions minus short ones."""


def interventions_table(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Interventions as a table, in the order given; entries beside `INTERVENTION_COLUMNS` are left aside."""
    return pd.DataFrame([_UNKNOWN | {name: row[name] for name in INTERVENTION_COLUMNS if name in row} for row in rows])


def margins_by(table: pd.DataFrame, setting: str = "magnitude") -> pd.DataFrame:
    """Question x setting of one intervention's answers: the margins, nan where the answer counts as unread."""
    read = table.assign(margin=table["margin"].where(is_read(table["mass"])))
    return read.pivot(index="question_id", columns=setting, values="margin")


def under_test(interventions: pd.DataFrame) -> str:
    """The identifier of the intervention that a run is about."""
    return str(interventions.loc[interventions["role"] == VECTOR, "intervention_id"].iloc[0])


def controls_of(interventions: pd.DataFrame) -> pd.DataFrame:
    """The controls, index intervention_id."""
    return interventions.loc[interventions["role"] != VECTOR].set_index("intervention_id")
