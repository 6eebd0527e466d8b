"""Whether the model behind a name is still the same: by what the server calls it, and by questions asked again."""

import pandas as pd

from onedial.asking.instruments import TEXT, Instrument, TextReader
from onedial.asking.prompts import PromptTemplate
from onedial.asking.questions import Question

_SAID = {"served_model": "the server calls it", "served_fingerprint": "the server's fingerprint is"}

PROBE = Instrument(
    "probe",
    PromptTemplate("{question}", "", "probe"),
    TEXT,
    TextReader(lambda text: None, max_new_tokens=64),
)
"""Asked of every provider's model at each start; answered otherwise than at the first one, it may be another model."""
PROBES = [
    Question("probe-1", "Write the word tree ten times, with a comma between two of them, and nothing else."),
    Question("probe-2", "Which number comes next: 2, 4, 8, 16? Write the number alone."),
    Question("probe-3", "Complete in one sentence: The old lighthouse keeper opened the door and"),
]


def changes_of_model(rows: pd.DataFrame) -> list[str]:
    """One sentence for each name behind which there may have been more than one model.

    Args:
        rows: measurements of models behind providers, the probes among them (instrument "probe", sample = start).
    """
    answered = rows[rows["error"].fillna("") == ""]
    sentences = []
    for model, own in answered.groupby("model", sort=False):
        for column, what in _SAID.items():
            named = own[own[column].fillna("") != ""]
            since = named.groupby(column, sort=False)["answered_at"].agg(["min", "size"]).sort_values("min")
            if len(since) > 1:
                told = ", then ".join(f"{name} ({n} answers from {first})" for name, first, n in since.itertuples())
                sentences.append(f"{model} may have changed: {what} {told}")
        probes = own[own["instrument"] == PROBE.name].pivot_table(
            index=["respondent", "question_id"], columns="sample", values="raw_text", aggfunc="first"
        )
        if probes.shape[1] > 1:
            differ = probes[probes.columns[-1]].ne(probes[probes.columns[0]]) & probes.notna().all(axis=1)
            if differ.any():
                sentences.append(
                    f"{model} answers {int(differ.sum())} of {len(differ)} probe questions otherwise than at the first "
                    "start: it may have changed, or it draws its answers (temperature above 0)"
                )
    return sentences
