"""The panel that a collection gives: its tables, and what the manifest says of where they come from."""

from typing import Any

import pandas as pd

from onedial.asking.measuring import MANY_UNREAD
from onedial.core.files import sha256_of_text
from onedial.panels.collecting.collection import Collection, instruments_of

PANEL_COLUMNS = [
    *("question_id", "respondent", "said_yes", "margin", "mass"),
    *("sample", "prompt_hash", "answered_correctly", "raw_text"),
]
FROM_PROVIDERS = ["tokens_in", "tokens_out", "served_model", "answered_at", "error", "unread"]
"""Columns that a panel has besides where some of its models were asked elsewhere."""


def panel_table(collection: Collection, answers: pd.DataFrame) -> pd.DataFrame:
    """The long panel (docs/own.md) of the answers of yes or no, as `Collection.rows` has them.

    >>> collection = Collection(models=[], questions=[], store=None, seed=0, closed_book=False)
    >>> list(panel_table(collection, pd.DataFrame(columns=[*PANEL_COLUMNS, "label"])))[:3]
    ['question_id', 'respondent', 'said_yes']
    """
    elsewhere = any(model.provider is not None for model in collection.models)
    return answers[[*PANEL_COLUMNS, *(FROM_PROVIDERS if elsewhere else [])]]


def respondents_table(collection: Collection, answers: pd.DataFrame) -> pd.DataFrame:
    """respondent, model, framing, family, model_sha256 (the fingerprint of its weights, where they are here).

    >>> from onedial.asking import CAN_YOU_ANSWER
    >>> from onedial.panels import RespondentModel
    >>> models = [RespondentModel("org/gpt-x", (CAN_YOU_ANSWER.template,), family="GPT")]
    >>> collection = Collection(models, questions=[], store=None, seed=0, closed_book=False)
    >>> respondents_table(collection, pd.DataFrame(columns=["respondent", "model_sha256"])).iloc[0].tolist()
    ['gpt-x: neutral', 'gpt-x', 'neutral', 'GPT', '']
    """
    fingerprints = answers.drop_duplicates("respondent").set_index("respondent")["model_sha256"]
    table = [
        {
            "respondent": entry.respondent(template),
            "model": entry.short_name,
            "framing": template.name + (", reasoned" if entry.instrument == "reasoned" else ""),
            "family": entry.family,
            "model_sha256": fingerprints.get(entry.respondent(template), ""),
        }
        for entry in collection.models
        for template in entry.framings
        if entry.instrument != "closed book"
    ]
    return pd.DataFrame(table, columns=["respondent", "model", "framing", "family", "model_sha256"])


def where_it_comes_from(collection: Collection, rows: pd.DataFrame, source: str) -> dict[str, Any]:
    """What a manifest says of a panel, beside what every run's does: questions, models, prompts.

    Args:
        rows: as `Collection.rows` has them.
        source: name or file of the questions.

    >>> from onedial.panels import load_questions
    >>> collection = Collection([], load_questions(["Who wrote Emma?"]), store=None, seed=0, closed_book=False)
    >>> where_it_comes_from(collection, pd.DataFrame({"label": []}), "my.csv")["questions"]["n"]
    1
    """
    answers = rows.drop_duplicates("label").set_index("label")
    about = ["source", "revision", "model_sha256", "dtype", "setting"]
    asked = {
        f"{each.template.name}, reasoned" if each.name == "reasoned" else each.template.name: each.template
        for entry in collection.models
        for each in instruments_of(entry, collection.closed_book)
    }
    texts = "\n".join(f"{question.id} {question.rendered}" for question in collection.questions)
    return {
        "questions": {"source": source, "n": len(collection.questions), "sha256": sha256_of_text(texts)},
        "models": {
            entry.label: (answers.loc[entry.label, about].to_dict() if entry.label in answers.index else {})
            | {"n_questions": entry.n_questions or len(collection.questions)}
            for entry in collection.models
        },
        "prompts": {name: {"user": t.user, "assistant_prefix": t.assistant_prefix} for name, t in asked.items()},
    }


def failures(rows: pd.DataFrame) -> dict[str, bool]:
    """A sentence for each respondent of which requests failed, and whether all of them did.

    Args:
        rows: respondent, error; one row per answer.

    >>> failures(pd.DataFrame({"respondent": ["m", "m"], "error": ["timeout", None]}))
    {'m: 1 of 2 requests failed (1: timeout); they are blank, and --resume asks again': False}
    """
    sentences = {}
    for name, part in rows.groupby("respondent", sort=False):
        if n := int((part["error"].fillna("") != "").sum()):
            words = f"{name}: {n} of {len(part)} requests failed{reasons_of(part['error'])}"
            sentences[f"{words}; they are blank, and --resume asks again"] = n == len(part)
    return sentences


def often_unread(answers: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The unread answers of each respondent of which more than 5% are, under a sentence that says how many.

    Args:
        answers: question_id, respondent, said_yes, mass, raw_text, error; what has a mass is unread for want of it,
            which is told elsewhere.

    >>> answers = pd.DataFrame({"question_id": ["q1", "q2"], "said_yes": [1.0, None], "raw_text": ["Yes.", "Hm."]})
    >>> list(often_unread(answers.assign(respondent="m", mass=float("nan"), error=None)))
    ['m: 1 of 2 answers (50%) could not be read']
    """
    sentences = {}
    came = answers[answers["error"].fillna("") == ""]
    for name, part in came.groupby("respondent", sort=False):
        unread = part[part["said_yes"].isna() & part["mass"].isna()]
        if len(unread) > MANY_UNREAD * len(part):
            share = f"{len(unread)} of {len(part)} answers ({len(unread) / len(part):.0%})"
            words = reasons_of(unread["unread"]) if "unread" in unread else ""
            sentences[f"{name}: {share} could not be read{words}"] = unread[["question_id", "raw_text"]]
    return sentences


def reasons_of(why: pd.Series) -> str:
    """How many have which reason, in brackets; "" where none has one.

    >>> reasons_of(pd.Series(["cut off", "", "cut off", None]))
    ' (2: cut off)'
    """
    counts = why[why.fillna("") != ""].value_counts()
    return f" ({'; '.join(f'{n}: {reason}' for reason, n in counts.items())})" if len(counts) else ""
