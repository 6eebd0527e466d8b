"""Measurements: one long table of who said what to which question, by which instrument; one schema for all of it.

| column | meaning |
| --- | --- |
| respondent | who was asked, by the name that it has in the panel |
| model, setting, model_sha256 | `Identity`: the model, what was done to it, the fingerprint of its weights |
| framing | name of the prompt template |
| instrument | name of the instrument |
| question_id, sample | what was asked, and which repeat (from 0) |
| value | the answer on the instrument's scale (`onedial.asking.instruments`); nan where unread, and for text |
| said_yes, margin, mass, confidence | see `Response`; nan where there is none |
| answered_correctly | 1, 0, nan where nothing was graded |
| raw_text, prompt_hash, tokens_in, tokens_out, error, unread | see `Response` |
| served_model, served_fingerprint, answered_at, seconds | see `Response`; of a model behind a provider or server |

The response matrix is the table's binary view (`matrix_of(..., "said_yes")`); confidence and correctness are others.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from onedial.asking.instruments import Instrument
from onedial.asking.respondents import Identity, Respondent, Response, answers_in_order
from onedial.asking.yes_no import is_read

MEASUREMENT_COLUMNS = [
    *("respondent", "model", "setting", "model_sha256", "framing", "instrument", "question_id", "sample"),
    *("value", "said_yes", "margin", "mass", "confidence", "answered_correctly"),
    *("raw_text", "prompt_hash", "tokens_in", "tokens_out", "error", "unread"),
    *("served_model", "served_fingerprint", "answered_at", "seconds"),
]
_OF_RESPONSE = [
    name for name in MEASUREMENT_COLUMNS[MEASUREMENT_COLUMNS.index("value") :] if name != "answered_correctly"
]
NUMBERS = [
    *("value", "said_yes", "margin", "mass", "confidence", "answered_correctly"),
    *("tokens_in", "tokens_out", "seconds"),
]
MANY_UNREAD = 0.05
"""Above this share of unread answers, a respondent is named."""


def measurements(
    respondent: str,
    identity: Identity,
    instrument: str,
    framing: str,
    question_ids: Sequence[str],
    responses: Iterable[Response],
    sample: int = 0,
) -> pd.DataFrame:
    """Responses as rows, in the order in which they came.

    Args:
        question_ids: of the prompts that were asked together; `Response.place` points into them.
    """
    rows = [
        measurement_row(respondent, identity, instrument, framing, question_ids[response.place], response, sample)
        for response in responses
    ]
    return pd.DataFrame(rows, columns=MEASUREMENT_COLUMNS).astype(dict.fromkeys(NUMBERS, "float64"))


def measurement_row(
    respondent: str,
    identity: Identity,
    instrument: str,
    framing: str,
    question_id: str,
    response: Response,
    sample: int = 0,
) -> dict[str, Any]:
    """One response as a row; what is not known is None or nan."""
    return {
        "respondent": respondent,
        "model": identity.model,
        "setting": identity.setting,
        "model_sha256": identity.fingerprint,
        "framing": framing,
        "instrument": instrument,
        "question_id": question_id,
        "sample": sample,
        **{name: getattr(response, name) for name in _OF_RESPONSE},
        "said_yes": None if response.said_yes is None else float(response.said_yes),
        "answered_correctly": None,
    }


def ask_table(respondent: Respondent, instrument: Instrument, slots: Iterable[Mapping[Any, str]]) -> pd.DataFrame:
    """Put an instrument to a respondent, once for each filling of its slots.

    Returns:
        index 0, 1, ..., in the order of the slots; said_yes (1 / 0), margin, value, expected (mean over the scale's
        numbers), stated: nan where unread; mass; text, the answer as written (`Instrument.said`); tokens (that were
        written, nan where nobody knows); failed (why there is no answer; "" where there is one), unread (why there is
        nothing in it to be read).
    """
    given = answers_in_order(respondent, [instrument.prompt(**each) for each in slots], instrument)
    rows = [
        (
            *(each.said_yes, each.margin, each.value, instrument.scale.expectation(each.probabilities)[0]),
            *(each.stated, each.mass, each.tokens_out, instrument.said(each.raw_text), each.error, each.unread),
        )
        for each in given
    ]
    numbers = ["said_yes", "margin", "value", "expected", "stated", "mass", "tokens"]
    table = pd.DataFrame(rows, columns=[*numbers, "text", "failed", "unread"]).astype(dict.fromkeys(numbers, float))
    read = is_read(table["mass"])
    return table.assign(margin=table["margin"].where(read), expected=table["expected"].where(read))


def majority_of_samples(rows: pd.DataFrame, value: str) -> pd.Series:
    """What more than half of the samples that were read say: 1.0 or 0.0, nan for a tie or where none was read.

    Args:
        rows: columns question_id, respondent and `value` (1, 0, nan), one row per sample.

    Returns:
        index (question_id, respondent), in the order of their first rows.
    """
    share = rows.groupby(["question_id", "respondent"], sort=False)[value].mean()
    return (share > 0.5).astype(float).where(share.notna() & (share != 0.5))


def matrix_of(rows: pd.DataFrame, value: str) -> pd.DataFrame:
    """Question x respondent, in the order of their first rows; nan where there is no answer.

    Args:
        value: `said_yes` and `answered_correctly` take the majority of the samples, other columns their mean.
    """
    if value in ("said_yes", "answered_correctly"):
        cells = majority_of_samples(rows, value)
    else:
        cells = rows.groupby(["question_id", "respondent"], sort=False)[value].mean()
    table = cells.unstack("respondent")
    table = table.reindex(index=rows["question_id"].unique(), columns=rows["respondent"].unique())
    return table.rename_axis(index="question_id", columns="respondent")
