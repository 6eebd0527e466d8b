"""Load a panel: a wide or a long table of yes/no answers or numbers, and what is known of each respondent beside it.

Columns go by their exact names (`onedial.panels.answer_tables`), or by those that elicitation.yaml beside the panel
declares (`columns`, and `about`: what tells of the questions). Answers are yes or no by one table of words
(`onedial.panels.spellings`), or numbers whose scale and cut are declared (`panel.csv:95/100`). Anything else is
refused: an answer that cannot be read must be seen, never counted as no. One line says what was understood.
"""

import json
import reprlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from onedial.asking.elicited import NUMBER, Cut, Elicitation, elicitation_of, panel_and_cuts
from onedial.asking.named_data import NAMED_PANELS, embedded_file, say_what_it_is_about, unknown_name
from onedial.asking.questions import rendered
from onedial.asking.tables import Table, listed, name_of, read_table, text_of
from onedial.asking.yes_no import MASS_FLOOR, is_read
from onedial.core.calls import says_how
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.core.suggestions import nearest
from onedial.panels.answer_tables import (
    KEPT,
    long_table,
    question_ids,
    refuse_alike,
    refuse_ids_of_rows,
    refuse_repeats,
    refuse_two_values,
)
from onedial.panels.cuts import cut_in_words, declare_top, panel_at_cuts, shares
from onedial.panels.keying import with_keying
from onedial.panels.panels import METADATA, SAMPLES, ResponseMatrix, panel_from_long, respondents_table
from onedial.panels.questions.cells import clean_text
from onedial.panels.spellings import WANTED, WANTED_OF_ERRORS, WANTED_OF_TRUTHS, Spellings, is_error

RESPONDENTS_FILE = "respondents.csv"
ANSWERS = ("said_yes", "confidence")
"""Columns of a long table in which answers may stand."""
OF_RESPONDENTS = ("respondent", "model", "framing", "family", "model_sha256", "top")
"""Columns of a table of respondents that are read; others are kept as what is known of them."""
_IN_A_CELL = (
    f"{WANTED}; numbers become a yes at a cut on a scale (panel.csv:CUT/TOP); a column that tells of the questions is "
    "named: --about NAME"
)
_MOST_LISTED = 40


@dataclass(frozen=True)
class PanelSource:
    """A panel and what is said of it: the arguments of `load_panel`."""

    path: str
    respondents: str | Path | None = None
    declared: Mapping[str, Any] | None = None

    def load(self) -> ResponseMatrix:
        """As `load_panel`."""
        return load_panel(self.path, self.respondents, self.declared)


@says_how
def load_panel(
    path: str | Path, respondents: str | Path | None = None, declared: Mapping[str, Any] | None = None
) -> ResponseMatrix:
    """Load a panel from CSV, JSON, JSONL, Parquet or Excel.

    Args:
        path: "embedded"; "frontier" (18 frontier models on 450 requests: about refusal, not ability);
            "frontier-confidence" (33 on 1500 questions: numbers, of which 95 of 100 or more are a yes; other cuts
            behind a colon, ":90", ":median", or several, ":90,95,100"); or a file, whose numbers are cut likewise,
            with what stands for certain (":95/100", ":0.5/1", ":8/10") unless `top` is declared or the cut is median.
            Wide: `question_id` (or `id`; else a hash of `question`), optionally what a question file holds, and one
            column per respondent, which is every other column. Long: `question_id, respondent, said_yes`, optionally
            `question, topic, level, model, framing, family, margin, mass, confidence, answered_correctly, error,
            sample` and more, which is kept (`answer_tables.NAMES`: other names). Several long rows of one question and
            respondent are samples: the answer is what more than half of the read ones say, nan for a tie. A long row
            whose `mass` is below MASS_FLOOR, or which has an `error`, counts as unread.
        respondents: table with `respondent` and optionally `model, framing, family, model_sha256, top`; by default the
            file respondents.csv beside the panel, where there is one. What it says goes before what the panel says.
        declared: by the keys of elicitation.yaml, before which it goes: `about`, `columns`, `yes`, `no`, `blank`, ...

    Raises:
        InputError: an unusable file (`read_table`), a missing column, another answer than those above, numbers without
            a scale, a question or respondent that stands twice, no respondent at all.

    >>> panel = load_panel("embedded")
    >>> panel.answers.shape
    (533, 25)
    """
    name, cuts, top = panel_and_cuts(str(path))
    with ExitStack() as stack:
        if name in NAMED_PANELS:
            say_what_it_is_about(name)
            source = embedded_file(NAMED_PANELS[name][0], stack)
        elif Path(name).suffix or Path(name).exists():
            source = Path(name)
        else:
            raise unknown_name("is no panel called", name, NAMED_PANELS, "a file (CSV, JSONL or Parquet)")
        table = read_table(source)
        beside = table.path.parent / RESPONDENTS_FILE
        is_beside = respondents is None and beside.exists() and not beside.samefile(table.path)
        file = beside if is_beside else respondents
        known = None if file is None else _read_respondents(Path(file))
        elicitation = elicitation_of(name, declared)
        elicitation_given = elicitation or Elicitation()
        cuts = cuts or (() if elicitation_given.cut is None else (elicitation_given.cut,))
        reading = _Reading(elicitation_given, cuts, elicitation_given.top if top is None else top, known)
        where = "confidence" if reading.states_numbers else "said_yes"
        listed_ones = () if known is None else set(known.index)
        declaration = (elicitation_given.columns, elicitation_given.about, ANSWERS, where, listed_ones)
        read = _read(*long_table(table, *declaration, elicitation_given.turned), reading)
        panel = replace(read.panel, elicitation=elicitation)
        if elicitation_given.questions:
            panel = _with_questions(panel, [source.parent / file for file in elicitation_given.questions])
    panel = with_keying(panel)
    if known is not None:
        _say_who_is_not_described(list(known.index), list(panel.respondents.index), source, respondents)
    if read.is_number:
        panel = panel_at_cuts(panel, reading.cuts, reading.top)
    if name not in NAMED_PANELS or read.is_number:
        notice(f"{name}: {_in_a_line(panel, read, reading)}")
    return panel


@dataclass(frozen=True)
class _Reading:
    """How a panel's cells are to be read.

    Attributes:
        declared: here or beside the panel.
        cuts: of numbers. top: what stands for certain; None where that is not said.
        known: the table of respondents.
    """

    declared: Elicitation
    cuts: tuple[Cut, ...]
    top: float | None
    known: pd.DataFrame | None

    @property
    def states_numbers(self) -> bool:
        """Whether numbers are meant, by the elicitation or by whoever names a cut."""
        return bool(self.cuts) or self.declared.answer == NUMBER

    @property
    def tops(self) -> Mapping[str, float]:
        """What stands for certain of single respondents."""
        stated = [] if self.known is None or "top" not in self.known else self.known["top"].dropna().items()
        return {str(name): float(top) for name, top in stated}


class _Read(NamedTuple):
    """A panel before its numbers are cut, whether it holds such, and how many answers count as unread, why."""

    panel: ResponseMatrix
    is_number: bool
    unread: dict[str, int]


def _read(table: Table, questions: pd.DataFrame | None, reading: _Reading) -> _Read:
    """The panel of a long table.

    Args:
        questions: what a table that was wide tells of its questions, by their ids.
    """
    columns = set(table.frame.columns)
    is_number = reading.states_numbers or "said_yes" not in columns
    if reading.states_numbers and {"said_yes", "confidence"} <= columns:
        raise InputError(
            f"{table.path} has answers ({table.theirs.get('said_yes', 'said_yes')}) and the confidence in them, which "
            f"is not cut into other answers; leave the cut (or answer: number) out, and {declare_top(table)}; to cut "
            "it all the same, leave the answers out of the table"
        )
    if is_number:
        table.require("respondent", "confidence")
        table = replace(table, frame=table.frame.assign(said_yes=None))
    rows = table.frame.copy()
    rows["question_id"] = question_ids(table)
    for column, parse, what in (
        ("respondent", name_of, "name the respondent"),
        ("said_yes", Spellings.of(reading.declared).said, WANTED if questions is None else _IN_A_CELL),
        *((column, _number, "give a number, or leave it blank") for column in ("margin", "mass", *SAMPLES)),
        ("sample", text_of, "number the samples"),
        ("answered_correctly", Spellings().said, WANTED_OF_TRUTHS),
        *((column, text_of, "give text, or leave it blank") for column in METADATA),
        ("question", clean_text, "write the question as text"),
    ):
        if column in rows.columns:
            rows[column] = table.parse(column, parse, what)
    if "confidence" in columns:
        rows["confidence"] = shares(table, Spellings.of(reading.declared), reading.cuts, reading.top, reading.tops)
    refuse_alike(list(rows["respondent"]), "respondents", table)
    refuse_alike(list(rows["question_id"]), "ids", table)
    answers = [name for name in ("said_yes", "confidence") if name in rows]
    unread = {}
    if "mass" in rows:
        is_unread = rows["mass"].notna() & ~is_read(rows["mass"]) & rows["said_yes"].notna()
        rows.loc[is_unread, "said_yes"] = np.nan
        unread[f"of mass below {MASS_FLOOR:g}"] = int(is_unread.sum())
    if "error" in rows:
        failed = pd.Series(table.parse("error", is_error, WANTED_OF_ERRORS), rows.index, dtype=bool)
        is_unread = failed & rows[answers].notna().any(axis=1)
        rows.loc[is_unread, answers] = np.nan
        unread["with an error"] = int(is_unread.sum())
    if "question" in columns:
        refuse_ids_of_rows(table, list(rows["question_id"]), list(rows["respondent"]), list(rows["question"]))
    if "sample" in rows.columns:
        refuse_repeats(table, rows[["sample", "respondent", "question_id"]], "keep one row per sample")
    refuse_two_values(table, rows, "respondent", METADATA)
    refuse_two_values(table, rows, "question_id", ("question",))
    panel = panel_from_long(rows)
    respondents = panel.respondents
    if (known := reading.known) is not None:
        known = known.reindex(index=respondents.index, columns=list(dict.fromkeys([*known, *METADATA])))
        respondents = respondents_table(list(known.index), known.fillna(respondents))
    if questions is None:
        table.require(*reading.declared.about)
    given = rows if questions is None else questions
    kept = list(dict.fromkeys(name for name in ("question", *KEPT, *reading.declared.about) if name in given))
    about = rows.groupby("question_id", sort=False)[kept].first() if questions is None else questions[kept]
    about = about.reindex(panel.answers.index)
    texts = about.pop("question") if "question" in about else None
    responses = rows if questions is None or is_number else None
    about_questions = about if len(about.columns) else None
    read = ResponseMatrix(panel.answers, respondents, texts, responses, about_questions=about_questions)
    return _Read(read, is_number, unread)


def _number(cell: Any) -> float:
    return Spellings().number(cell).value


def _top(cell: Any) -> float:
    if (top := _number(cell)) <= 0:
        raise ValueError("not above 0")
    return top


def _in_a_line(panel: ResponseMatrix, read: _Read, reading: _Reading) -> str:
    """What was understood: how many questions, which respondents, the scale, the counts, the first question."""
    answers, words = panel.answers, {1.0: "yes", 0.0: "no"}
    if read.is_number:
        scale = "numbers" + ("" if reading.top is None else f" from 0 to {reading.top:g}")
        scale += "".join(f", {cut_in_words(cut)} is a yes" for cut in reading.cuts)
    else:
        scale = "yes or no"
    numbers = [(answers == 1).to_numpy().sum(), (answers == 0).to_numpy().sum(), answers.isna().to_numpy().sum()]
    counts = ", ".join(f"{n} {what}" for n, what in zip(numbers, ("yes", "no", "blank"), strict=True))
    counts += "".join(f" ({n} {why})" for why, n in read.unread.items() if n)
    models, names = panel.respondents["model"].nunique(), listed(answers.columns, _MOST_LISTED)
    about = "" if panel.about_questions is None else f"; of the questions: {listed(map(str, panel.about_questions))}"
    text = "" if panel.question_texts is None else f" {reprlib.repr(panel.question_texts.iloc[0])}"
    first_row = ", ".join(f"{name} {words.get(answer, 'blank')}" for name, answer in answers.iloc[0].head(3).items())
    return (
        f"{len(answers)} questions; {answers.shape[1]} respondents of {models} base models: {names}{about}; {scale}: "
        f"{counts}; first {answers.index[0]!r}{text}: {first_row}"
    )


# ---- what stands beside ----------------------------------------------------------------------------------------------


def _say_who_is_not_described(known: list[str], held: list[str], path: Path, given: str | Path | None) -> None:
    others, unsaid = [name for name in known if name not in held], [name for name in held if name not in known]
    if given is not None and len(others) == len(known):
        raise InputError(
            f"{given} describes {listed(known)}, none of which is in {path}, which holds {listed(held)}; use the same "
            "names in both"
        )
    if others and unsaid:
        notice(
            f"the table of respondents describes {listed(others)}, which the panel does not hold, and says nothing "
            f"of {listed(unsaid)}; check the names, since the base models that are counted come from there"
        )


def _with_questions(panel: ResponseMatrix, files: Sequence[Path]) -> ResponseMatrix:
    """What the files say of the panel's questions: `question` is their text, everything else what is known of them."""
    frames = []
    for file in files:
        table = read_table(file)
        table.require("question_id")
        ids = table.parse("question_id", name_of, "give every question its id")
        frames.append(table.frame.assign(question_id=ids).set_index("question_id"))
    about = pd.concat(frames)
    if about.index.has_duplicates:
        twice = about.index[about.index.duplicated()]
        raise InputError(f"{listed(map(str, files))} hold the question {twice[0]!r} twice; keep one of each")
    about = about.reindex(panel.answers.index)
    texts = panel.question_texts
    if "question" in about.columns:
        texts = about.pop("question").where(lambda text: text.notna(), None)
        if "options" in about.columns:
            shown = about.pop("options")
            pairs = zip(texts, shown, strict=True)
            asked = [
                rendered(text, json.loads(options)) if isinstance(options, str) else text for text, options in pairs
            ]
            texts = pd.Series(asked, texts.index, dtype=object)
    return replace(panel, question_texts=texts, about_questions=about)


def _read_respondents(path: Path) -> pd.DataFrame:
    """The table of respondents, by their names; base models are counted by it, so a column that is nearly called like
    one that is read is asked back."""
    table = read_table(path)
    table.require("respondent")
    held = [str(name) for name in table.frame.columns]
    for name in held:
        left = [each for each in OF_RESPONDENTS if each not in held]
        if name not in OF_RESPONDENTS and (meant := nearest(name, left)):
            raise InputError(
                f"{path} has a column {name!r}, which is not known; did you mean {meant!r}? Rename it, or give the "
                f"table a column {meant!r} as well"
            )
    known = pd.DataFrame({column: table.parse(column, text_of, "give text, or leave it blank") for column in held})
    if "top" in held:
        known["top"] = table.parse("top", _top, "give a number above 0")
    names = table.parse("respondent", name_of, "name the respondent")
    refuse_repeats(table, pd.DataFrame({"respondent": names}), "keep one row of each respondent")
    return known.assign(respondent=names).set_index("respondent")
