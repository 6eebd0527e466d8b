"""Load a panel: a wide or a long table of yes/no answers, with what is known of each respondent beside it.

Answers are 1/0, yes/no or true/false in any case; blank (also NA and NaN, as R and pandas write it) is unread.
Anything else is refused: an answer that cannot be read must be seen, never counted as no.
"""

import numbers
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from common import InputError, notice
from elicitation.named_data import NAMED_PANELS, embedded_file, say_what_it_is_about, unknown_name
from elicitation.panels import METADATA, ResponseMatrix, panel_from_long, respondents_table
from elicitation.questions import question_id
from elicitation.tables import Table, is_blank, listed, name_of, read_table, text_of, with_question
from elicitation.yes_no import MASS_FLOOR, is_read

RESPONDENTS_FILE = "respondents.csv"
_ANSWERS = {"1": 1.0, "1.0": 1.0, "yes": 1.0, "true": 1.0, "0": 0.0, "0.0": 0.0, "no": 0.0, "false": 0.0}
_UNREAD = {"na", "nan"}
_WANTED = "answers are 1/0, yes/no or true/false, and blank where none was read"
# What a wide file may say of its questions; every other column is a respondent.
_ABOUT_QUESTIONS = (
    *("question_id", "id", "question", "text", "answers", "answer", "exact_answers"),
    *("topic", "level", "unknowable", "grading", "split"),
)


def load_panel(path: str | Path, respondents: str | Path | None = None) -> ResponseMatrix:
    """Load a panel from CSV, JSONL or Parquet.

    Args:
        path: "embedded"; "frontier" (18 frontier models on 450 requests: about refusal, not ability); or a file.
            Wide: `question_id` (or `id`; else a hash of `question`), optionally `question` (or `text`) and what a
            question file may hold, and one column per respondent. Long: `question_id, respondent, said_yes`, optionally
            `question, model, framing, family, margin, mass, confidence` (0 to 1), `answered_correctly, sample` and
            more. Several long rows of one question and respondent are samples: the answer is what more than half of the
            read ones say, nan for a tie. A long row whose `mass` is below MASS_FLOOR counts as unread.
        respondents: table with `respondent` and optionally `model, framing, family, model_sha256`; by default the
            file respondents.csv beside the panel, where there is one. What it says goes before what the panel says.

    Raises:
        InputError: an unusable file (`read_table`), a missing column, another answer than those above, a question
            or respondent that stands twice, no respondent at all.
    """
    if str(path) in NAMED_PANELS:
        say_what_it_is_about(str(path))
        answers_file, respondents_file = NAMED_PANELS[str(path)]
        with ExitStack() as stack:
            about = respondents or embedded_file(respondents_file, stack)
            return load_panel(embedded_file(answers_file, stack), about)
    if not Path(path).suffix and not Path(path).exists():
        raise unknown_name("is no panel called", str(path), NAMED_PANELS, "a file (CSV, JSONL or Parquet)")
    table = read_table(path)
    beside = table.path.parent / RESPONDENTS_FILE
    if respondents is not None:
        known = _read_respondents(Path(respondents))
    elif beside.exists() and not beside.samefile(table.path):
        known = _read_respondents(beside)
    else:
        known = None
    is_long = {"respondent", "said_yes"} & set(table.frame.columns)
    panel = _read_long(table, known) if is_long else _read_wide(with_question(table), known)
    if respondents is not None and known is not None and not set(known.index) & set(panel.answers.columns):
        raise InputError(
            f"{respondents} describes {listed(known.index)}, none of which is in {path}, "
            f"which holds {listed(panel.answers.columns)}; use the same names in both"
        )
    if known is not None and (others := [name for name in known.index if name not in panel.answers.columns]):
        unsaid = [name for name in panel.answers.columns if name not in known.index]
        if unsaid:
            notice(
                f"the table of respondents describes {listed(others)}, which the panel does not hold, and says nothing "
                f"of {listed(unsaid)}; check the names, since the base models that are counted come from there"
            )
    return panel


def _read_wide(table: Table, known: pd.DataFrame | None) -> ResponseMatrix:
    names = [column for column in table.frame.columns if column not in _ABOUT_QUESTIONS]
    if "" in names:
        raise InputError(
            f"{table.path} has a column without a name; name it question_id if it holds the ids, "
            "else write the file without row names"
        )
    ids = _question_ids(table)
    if not names:
        raise InputError(
            f"{table.path} has no respondent; add one column of answers per respondent, "
            "or the columns question_id, respondent and said_yes"
        )
    for row in _true_rows(pd.Index(ids).duplicated()):
        raise InputError(f"{table.where(row)} repeats the question {ids[row]!r}; keep one row per question")
    index = pd.Index(ids, name="question_id")
    answers = pd.DataFrame(
        {name: table.parse(name, _answer, _WANTED) for name in names}, index=index, dtype=float
    ).rename_axis(columns="respondent")
    texts = pd.Series(table.parse("question", text_of, "write the question as text"), index=index, dtype=object)
    return ResponseMatrix(
        answers, respondents_table(names, known), texts if "question" in table.frame.columns else None
    )


def _read_long(table: Table, known: pd.DataFrame | None) -> ResponseMatrix:
    table.require("respondent", "said_yes")
    responses = table.frame.copy()
    responses["question_id"] = _question_ids(table)
    responses["respondent"] = table.parse("respondent", name_of, "name the respondent")
    responses["said_yes"] = table.parse("said_yes", _answer, _WANTED)
    for column in ("margin", "mass"):
        if column in responses.columns:
            responses[column] = table.parse(column, _number, "give a number, or leave it blank")
    if "confidence" in responses.columns:
        wanted = "give a probability from 0 to 1, or leave it blank"
        responses["confidence"] = table.parse("confidence", _share, wanted)
    if "sample" in responses.columns:
        responses["sample"] = table.parse("sample", text_of, "number the samples")
    if "answered_correctly" in responses.columns:
        responses["answered_correctly"] = table.parse("answered_correctly", _answer, _WANTED)
    if "mass" in responses.columns:
        unread = responses["mass"].notna() & ~is_read(responses["mass"]) & responses["said_yes"].notna()
        responses.loc[unread, "said_yes"] = np.nan
        if unread.any():
            notice(f"{table.path}: {unread.sum()} answers with mass below {MASS_FLOOR:g} count as unread")
    _refuse_repeated_samples(table, responses)
    for column in METADATA:
        if column in responses.columns:
            responses[column] = table.parse(column, text_of, "give text, or leave it blank")
    _refuse_two_values(table, responses, "respondent", METADATA)
    _say_what_disagrees(table, responses)
    panel = panel_from_long(responses)
    if known is not None:
        said = panel.respondents
        known = known.reindex(said.index)
        known = known.where(known.notna(), said.reindex(columns=known.columns))
        known = known.join(said[[column for column in METADATA if column not in known.columns]])
        panel = ResponseMatrix(panel.answers, respondents_table(list(said.index), known))
    texts = None
    if "question" in responses.columns:
        responses["question"] = table.parse("question", text_of, "write the question as text")
        _refuse_two_values(table, responses, "question_id", ("question",))
        texts = responses.groupby("question_id", sort=False)["question"].first().reindex(panel.answers.index)
    return ResponseMatrix(panel.answers, panel.respondents, texts, responses)


def _question_ids(table: Table) -> list[str]:
    columns = table.frame.columns
    if "question_id" not in columns and "id" not in columns and "question" in columns:
        texts = table.parse("question", name_of, "write the question as text")
        return [question_id(text) for text in texts]
    column = "id" if "id" in columns and "question_id" not in columns else "question_id"
    table.require(column)
    return table.parse(column, name_of, "give every question its id")


def _refuse_repeated_samples(table: Table, responses: pd.DataFrame) -> None:
    if "sample" not in responses.columns:
        return
    key = ["question_id", "respondent", "sample"]
    for row in _true_rows(responses.duplicated(key)):
        question, respondent, sample = (responses[column][row] for column in key)
        raise InputError(
            f"{table.where(row)} repeats sample {sample!r} of {respondent!r} on question {question!r}; "
            "keep one row per sample"
        )


def _say_what_disagrees(table: Table, responses: pd.DataFrame) -> None:
    """Rows of one question and respondent that nobody has numbered as samples may be a mistake."""
    if "sample" in responses.columns:
        return
    read = responses.dropna(subset="said_yes")
    both = read.groupby(["question_id", "respondent"], sort=False)["said_yes"].nunique()
    if n := int((both > 1).sum()):
        question, respondent = both.index[both > 1][0]
        notice(
            f"{table.path}: {n} answers stand there both as yes and as no, first {respondent!r} on {question!r}; such "
            "rows count as samples, of which more than half decide: give a column sample, or keep one row each"
        )


def _refuse_two_values(table: Table, responses: pd.DataFrame, key: str, columns: tuple[str, ...]) -> None:
    for column in columns:
        if column not in responses.columns:
            continue
        first = responses.groupby(key)[column].transform("first")
        for row in _true_rows(responses[column].notna() & (responses[column] != first)):
            raise InputError(
                f"{table.where(row, column)} holds {responses[column][row]!r}, but {key} "
                f"{responses[key][row]!r} had {first[row]!r} before; give each {key} one {column}"
            )


def _true_rows(flags: Any) -> list[int]:
    return [int(row) for row in np.flatnonzero(flags)]


def _read_respondents(path: Path) -> pd.DataFrame:
    table = read_table(path)
    table.require("respondent")
    known = table.frame.copy()
    for column in known.columns:
        known[column] = table.parse(column, text_of, "give text, or leave it blank")
    names = table.parse("respondent", name_of, "name the respondent")
    for row in _true_rows(pd.Index(names).duplicated()):
        raise InputError(f"{table.where(row)} repeats the respondent {names[row]!r}; keep one row of each")
    return known.assign(respondent=names).set_index("respondent")


def _answer(cell: Any) -> float:
    if is_blank(cell):
        return np.nan
    if isinstance(cell, str):
        word = cell.strip().lower()
        if word in _UNREAD:
            return np.nan
        if word in _ANSWERS:
            return _ANSWERS[word]
    elif isinstance(cell, bool | np.bool_ | numbers.Real) and cell in (0, 1):
        return float(cell)
    raise ValueError("no answer")


def _share(cell: Any) -> float:
    value = _number(cell)
    if value < 0 or value > 1:
        raise ValueError("no probability")
    return value


def _number(cell: Any) -> float:
    if is_blank(cell):
        return np.nan
    if isinstance(cell, bool | list | dict):
        raise ValueError("no number")
    return float(cell)
