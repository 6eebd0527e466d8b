"""The panel: which respondents said yes to which questions, with nothing filled in where no answer was read."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from onedial.asking.elicited import Elicitation
from onedial.asking.measuring import majority_of_samples, matrix_of
from onedial.asking.tables import listed
from onedial.core.cards import one_line
from onedial.core.errors import InputError
from onedial.core.suggestions import did_you_mean

METADATA = ("model", "framing", "family")
SAMPLES = {"n_yes", "n_read"}
"""Columns of a long table that counts the samples of each answer, in place of a row for each."""


@dataclass(frozen=True, eq=False)
class ResponseMatrix:
    """Questions x respondents.

    Attributes:
        answers: index question_id (unique), one column per respondent (unique); 1.0 yes, 0.0 no, nan unread.
        respondents: index respondent, in the order of the columns of `answers`; columns model, framing, family,
            and whatever else is known of them (model_sha256).
        question_texts: index question_id, in the order of `answers`; None where the panel gives no texts.
        responses: the long table from which the answers come, one row per sample, with margins, mass and the like;
            None for a wide panel.
        elicitation: how the panel was asked; None where nothing says so.
        about_questions: what else is known of the questions (topic, subject, ...), index question_id in the order of
            `answers`; None where nothing is.

    Raises:
        InputError: ids or respondents stand twice, a value is none of 1, 0, nan, or the tables do not fit together.
    """

    answers: pd.DataFrame
    respondents: pd.DataFrame
    question_texts: pd.Series | None = None
    responses: pd.DataFrame | None = None
    elicitation: Elicitation | None = None
    about_questions: pd.DataFrame | None = None

    __repr__ = one_line

    def __post_init__(self) -> None:
        for what, names in (("question", self.answers.index), ("respondent", self.answers.columns)):
            if names.has_duplicates:
                raise InputError(
                    f"the panel holds the {what} {listed(names[names.duplicated()].unique())} more than once; "
                    f"keep one of each {what}"
                )
        values = self.answers.to_numpy(dtype=float, na_value=np.nan)
        if not (np.isnan(values) | (values == 0) | (values == 1)).all():
            raise InputError("the panel's answers hold other numbers than 1 (yes), 0 (no) and nan (unread)")
        missing = [column for column in METADATA if column not in self.respondents.columns]
        if missing or list(self.respondents.index) != list(self.answers.columns):
            raise InputError(
                f"the table of respondents must list the panel's {self.answers.shape[1]} respondents in their order, "
                f"with the columns {', '.join(METADATA)}"
            )
        if self.question_texts is not None and list(self.question_texts.index) != list(self.answers.index):
            raise InputError("the panel's question texts must have the same ids as its answers, in the same order")
        if self.about_questions is not None and list(self.about_questions.index) != list(self.answers.index):
            raise InputError("what is known of the panel's questions must have the ids of its answers, in their order")

    def to_frame(self) -> pd.DataFrame:
        """The answers, question x respondent."""
        return self.answers

    def select(
        self, questions: Sequence[str] | None = None, respondents: Sequence[str] | None = None
    ) -> "ResponseMatrix":
        """The same panel with these questions and respondents only, in this order (None keeps all).

        Raises:
            InputError: one of them is not in the panel.
        """
        kept_questions = list(self.answers.index) if questions is None else list(questions)
        kept_respondents = list(self.answers.columns) if respondents is None else list(respondents)
        _require_known("question", kept_questions, self.answers.index)
        _require_known("respondent", kept_respondents, self.answers.columns)
        responses = self.responses
        if responses is not None:
            is_kept = responses["question_id"].isin(kept_questions) & responses["respondent"].isin(kept_respondents)
            responses = responses[is_kept].reset_index(drop=True)
        texts, about = self.question_texts, self.about_questions
        return ResponseMatrix(
            answers=self.answers.loc[kept_questions, kept_respondents],
            respondents=self.respondents.loc[kept_respondents],
            question_texts=None if texts is None else texts.loc[kept_questions],
            responses=responses,
            elicitation=self.elicitation,
            about_questions=None if about is None else about.loc[kept_questions],
        )


def nobodys_panel(questions: Sequence[str]) -> ResponseMatrix:
    """A panel of these questions that nobody has answered.

    >>> nobodys_panel(["q1", "q2"]).answers.shape
    (2, 0)
    """
    answers = pd.DataFrame(
        index=pd.Index(list(questions), dtype=object), columns=pd.Index([], dtype=object), dtype=float
    )
    return ResponseMatrix(answers, respondents_table([]))


def respondents_table(names: Sequence[str], known: pd.DataFrame | None = None) -> pd.DataFrame:
    """One row per respondent: what `known` (index respondent) says; else it is its own model, without framing.

    A respondent's model defaults to its name, framing and family to "".
    """
    table = pd.DataFrame({"respondent": list(names)}).set_index("respondent")
    table = table.join(known) if known is not None else table
    defaults = {"model": pd.Series(names, index=table.index, dtype=object), "framing": "", "family": ""}
    for column, default in defaults.items():
        given = table[column] if column in table.columns else pd.Series(np.nan, index=table.index, dtype=object)
        table[column] = given.astype(object).where(given.notna(), default)
    others = [column for column in table.columns if column not in METADATA]
    return table[[*METADATA, *others]]


def panel_long(panel: ResponseMatrix) -> pd.DataFrame:
    """The panel as rows question_id, respondent, said_yes (1, 0, nan), model, framing, family; unread answers too.

    Where it is known, also answered_correctly (1, 0, nan), and of answers that were asked for more than once how many
    samples said yes and were read, n_yes and n_read.

    >>> from onedial.panels import panel_from_long
    >>> rows = pd.DataFrame({"question_id": ["q1", "q1"], "respondent": ["a", "b"], "said_yes": [1, None]})
    >>> panel_long(panel_from_long(rows))["said_yes"].tolist()
    [1.0, nan]
    """
    long = panel.answers.rename_axis(index="question_id", columns=None).reset_index()
    long = long.melt(id_vars="question_id", var_name="respondent", value_name="said_yes")
    long = long.astype({"respondent": panel.respondents.index.dtype})  # of no respondents, melt makes numbers
    long = long.join(panel.respondents[list(METADATA)], on="respondent")
    if panel.responses is not None and "answered_correctly" in panel.responses:
        known = majority_of_samples(panel.responses, "answered_correctly")
        long = long.join(known.rename("answered_correctly"), on=["question_id", "respondent"])
    counts = counts_of_samples(panel, panel.answers.index)
    if counts is not None:  # in the order of the rows, respondent by respondent
        long["n_yes"], long["n_read"] = (of.T.ravel().astype(int) for of in counts)
    return long


def counts_of_samples(panel: ResponseMatrix, questions: pd.Index) -> tuple[np.ndarray, np.ndarray] | None:
    """question x respondent: how many samples of the answer said yes, and how many were read; None where no answer has
    two.

    Args:
        questions: in this order; those that the panel lacks have no sample.

    >>> from onedial.panels import panel_from_long
    >>> rows = pd.DataFrame({"question_id": ["q1"] * 3, "respondent": "a", "said_yes": [1, 0, None]})
    >>> [counts.tolist() for counts in counts_of_samples(panel_from_long(rows), pd.Index(["q1", "q2"]))]
    [[[1.0], [0.0]], [[2.0], [0.0]]]
    """
    rows = panel.responses
    if rows is None or "said_yes" not in rows:
        return None
    if SAMPLES - set(rows):
        said_yes = rows["said_yes"].astype(float)
        rows = rows.assign(n_yes=said_yes.fillna(0), n_read=said_yes.notna().astype(float))
    counts = rows.groupby(["question_id", "respondent"])[["n_yes", "n_read"]].sum()
    if not (counts["n_read"] > 1).any():
        return None
    yes, read = (
        counts[name].unstack("respondent").reindex(questions, columns=panel.answers.columns).fillna(0).to_numpy(float)
        for name in ("n_yes", "n_read")
    )
    return yes, read


def panel_from_long(frame: pd.DataFrame) -> ResponseMatrix:
    """The way back from `panel_long`; questions and respondents keep the order of their first row.

    Several rows of one question and respondent count as samples; see `measurements.majority_of_samples`.

    >>> rows = pd.DataFrame({"question_id": ["q1", "q1"], "respondent": ["a", "b"], "said_yes": [1, 0]})
    >>> panel_from_long(rows).answers.to_numpy().tolist()
    [[1.0, 0.0]]
    """
    answers = matrix_of(frame, "said_yes")
    columns = [column for column in METADATA if column in frame.columns]
    known = frame.groupby("respondent", sort=False)[columns].first() if columns else None
    more = "answered_correctly" in frame or set(frame) >= SAMPLES
    responses = frame if more or frame.duplicated(["question_id", "respondent"]).any() else None
    return ResponseMatrix(answers, respondents_table(list(answers.columns), known), responses=responses)


def _require_known(what: str, wanted: Sequence[str], known: pd.Index) -> None:
    unknown = [name for name in wanted if name not in known]
    if unknown:
        meant = did_you_mean(str(unknown[0]), map(str, known)) or ";"
        raise InputError(f"the panel has no {what} {listed(unknown)}{meant} it holds {listed(known)}")
