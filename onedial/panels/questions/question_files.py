"""Load questions: the embedded set, a public data set, the user's own file, or rows that are in memory."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from onedial.asking.named_data import NAMED_QUESTIONS, embedded_file, say_what_it_is_about, unknown_name
from onedial.asking.questions import Question, sample_questions, without_repeats
from onedial.asking.tables import SUFFIXES, Table, read_table
from onedial.core.calls import says_how
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.panels.questions.cells import is_empty, list_in_text
from onedial.panels.questions.hub_datasets import hub_tables
from onedial.panels.questions.question_columns import (
    Given,
    Preset,
    QuestionColumns,
    beside_file,
    head_of,
    preset_of,
    presets,
)
from onedial.panels.questions.question_table import Unclear, read_questions
from onedial.panels.questions.suggest import NAMES, advice, are_ids, in_words, rivals, simple

Rows = pd.DataFrame | Sequence[str | Mapping[str, Any]]
"""Questions that are in memory: a data frame, texts, or rows such as those of a JSONL file."""
_GIVEN = "what was given"
_OF_A_PANEL = ("question_id", "id", "question", "topic", "level", "unknowable", "wording_of", "options", "answers")


@says_how
def load_questions(
    source: str | Path | Rows, n: int | None = None, seed: int = 0, columns: Given = None, preset: str | None = None
) -> list[Question]:
    """Load the questions of a source, in its order. What was read from where is noticed in one line.

        load_questions(["Who sang Hurt first?", "What is 7 times 8?"])
        load_questions("quiz.csv", columns={"question": "prompt", "answers": "target"})
        load_questions("arc.jsonl", preset="arc")

    Args:
        source: "embedded"; "development" (on which wordings are chosen; no run uses it); "frontier" or
            "frontier-safe" (requests that a model may refuse: about refusal, not ability); a public data set by the
            short name or hub id of its preset ("arc", "openai/gsm8k"), any other as OWNER/NAME or
            OWNER/NAME:CONFIGURATION:SPLIT with `columns`; a folder in the hub's layout; or the path of a JSONL, JSON,
            CSV, Excel or Parquet file. Or a list of texts, a list of rows, or a data frame.
        n: how many to draw (`sample_questions`); None takes all.
        seed: of the draw.
        columns: which column holds what (`QuestionColumns`), where it is not called by the canonical name.
        preset: read the source as this public data set is read.

    Rows without an id that are asked alike up to blanks are one question, with the accepted answers of all; how many
    were merged is noticed.

    Raises:
        InputError: an unknown source; a table that nothing says how to read, with the mappings that would; an empty,
            truncated or undecodable file; a blank question; an id that stands twice; more questions requested than
            there are.

    >>> load_questions(["Who wrote Emma?", "What is the capital of Peru?"])[1].text
    'What is the capital of Peru?'
    """
    if columns is not None and preset is not None:
        raise InputError("--columns and --as exclude each other; leave one of them out")
    mapping = None if columns is None else QuestionColumns.of(columns)
    like = None if preset is None else preset_of(preset)
    if not isinstance(source, str | Path):
        tables, name = [_table_of(source)], _GIVEN
    else:
        name = str(source)
        if name in NAMED_QUESTIONS:
            if mapping is not None or like is not None:
                raise InputError(f"{name} comes with the project; leave --columns and --as out")
            say_what_it_is_about(name)
            return _whole(name, packaged_questions(NAMED_QUESTIONS[name]), True, n, seed)
        tables, mapping, like = _tables(name, mapping, like)
    if like is not None and mapping is None:
        mapping = like.columns
    read = [_read(table, mapping, in_python=not isinstance(source, str | Path)) for table in tables]
    has_ids = len(read) == 1 and read[0][1]
    return _whole(name, [question for questions, _ in read for question in questions], has_ids, n, seed)


def questions_of_panel(path: str | Path, columns: Mapping[str, str], texts: pd.Series) -> list[Question]:
    """The questions that a panel file holds, wide or long: its canonical columns, beside those of respondents.

    Args:
        columns: canonical name -> what the file calls it, as elicitation.yaml has it.
        texts: by their ids, where no column holds them: of a turned table, or from files beside it.
    """
    table = read_table(path)
    if columns.get("question", "question") not in table.frame.columns:
        return [Question(str(name), text) for name, text in texts.dropna().items()]
    theirs = {name: canonical for canonical, name in (columns or {}).items()}
    table = replace(table, frame=table.frame.rename(columns=theirs))
    kept = list(_OF_A_PANEL)
    if not {"respondent", "model"} & set(table.frame.columns) or "said_yes" in table.frame.columns:
        kept.append("answer")
    table = replace(table, frame=table.frame[[name for name in table.frame.columns if name in kept]])
    mapping = QuestionColumns(answer="answer" if "answer" in table.frame else None)
    read = list(dict.fromkeys(read_questions(table, mapping)))
    return _whole(str(path), read, bool({"id", "question_id"} & set(table.frame.columns)), None, 0)


def _read(table: Table, mapping: QuestionColumns | None, in_python: bool) -> tuple[list[Question], bool]:
    """The questions of a table, and whether it gives their ids; says what was read from where."""
    table = _as_stored(table)
    given = mapping or QuestionColumns()
    names = set(table.frame.columns)
    is_long = {"respondent", "model"} & names and {"said_yes", "confidence", "answered_correctly"} & names
    try:
        held = given.held(table)
        unmapped = {part for part in ("answers", "answer", "options") if part in held and getattr(given, part) is None}
        if (mapping is None or unmapped) and "question" in held and (others := rivals(table, given)):
            both = [column for part in sorted(unmapped) for column in held[part]] + others
            meant = "could be meant" if len(both) == 1 else "could each be meant"
            raise Unclear(f"{table.path}: {', '.join(map(repr, both[:6]))} {meant} for answers, options or a key")
        questions = read_questions(table, given)
        texts = {question.text for question in questions}
        if mapping is None and not is_long and len(questions) >= 4 and len(texts) <= 2:
            raise Unclear(f"{table.path}: the column 'question' holds only {' and '.join(map(repr, sorted(texts)))}")
        if given.question is None and are_ids(texts) and {simple(name) for name in names} & {*NAMES["questions"][1:]}:
            raise Unclear(f"{table.path}: the column 'question' only numbers them, as {questions[0].text!r}")
        _refuse_other_rows(table, questions, given)
        if "id" not in held:
            _refuse_contexts(table, questions)
    except Unclear as error:
        raise InputError(f"{error}; {advice(table, in_python, given.mapped())}") from None
    if is_long:
        questions = list(dict.fromkeys(questions))
    if not (mapping is None and list(table.frame.columns) == ["question"]):
        notice(_in_a_line(table, given, questions))
    return questions, "id" in held


def _refuse_other_rows(table: Table, questions: Sequence[Question], given: QuestionColumns) -> None:
    """Raise InputError at a row that is called like a sum, or, where nobody has named the answers, at the only row that
    asks nothing and has nothing else in it."""
    rest = table.frame.drop(columns=list(given.held(table)["question"]), errors="ignore").map(is_empty).all(axis=1)
    is_remark = [alone and not question.text.endswith("?") for alone, question in zip(rest, questions, strict=True)]
    for row, question in enumerate(questions):
        if simple(question.text) in NAMES["sums"]:
            raise InputError(f"{table.where(row)} sums up others ({question.text!r}); delete the row")
        if is_remark[row] and rest.sum() == 1 and len(questions) > 2 and not given.mapped():
            raise Unclear(f"{table.where(row)} holds {question.text[:60]!r} alone; delete the row if it is a remark")


def _refuse_contexts(table: Table, questions: Sequence[Question]) -> None:
    """Raise InputError where one question has other answers beside another text that it is about: nobody is shown it.

    Yes and no are told apart where repeats are merged (`without_repeats`).
    """
    for name in (name for name in table.frame.columns if simple(name) in NAMES["contexts"]):
        firsts: dict[str, tuple[Question, str]] = {}
        for question, cell in zip(questions, map(str, table.frame[name]), strict=True):
            first, context = firsts.setdefault(question.rendered, (question, cell))
            is_other = context != cell and set(first.answers) != set(question.answers)
            if is_other and not {*first.answers, *question.answers} <= {"yes", "no"}:
                raise InputError(
                    f"{table.path} asks {question.text[:60]!r} under more than one {name!r}; write that into the "
                    "question"
                )


def _in_a_line(table: Table, mapping: QuestionColumns, questions: Sequence[Question]) -> str:
    """How many questions were read from where, the first of them, and what was not read."""
    held, names = mapping.held(table), list(map(str, table.frame.columns))
    parts = [
        part if columns == (part,) else f"{part} from {' and '.join(columns)}"
        for part, columns in held.items()
        if part not in ("key", "labels")
    ]
    if "key" in held:
        parts.append(f"key {held['key'][0]} ({mapping.key_is})")
    unknown = sum(not question.answers and not question.unknowable for question in questions)
    used = {head_of(column, names) for columns in held.values() for column in columns}
    unread = [name for name in names if name and name not in used]
    line = [f"{table.path}: {len(questions)} questions", *parts, f"row 1: {in_words(questions[0])}"]
    line += [f"of {unknown} no answer is known"] if 0 < unknown < len(questions) else []
    shown = ", ".join(unread[:6]) + (f" and {len(unread) - 6} more" if len(unread) > 6 else "")
    return "; ".join(line + ([f"not read: {shown}"] if unread else []))


# ---- sources ---------------------------------------------------------------------------------------------------------


def _tables(
    name: str, mapping: QuestionColumns | None, like: Preset | None
) -> tuple[list[Table], QuestionColumns | None, Preset | None]:
    """The tables of a file, folder or data set, and how they are to be read."""
    path, is_folder = Path(name), bool(name) and Path(name).is_dir()  # Path("") would be the working directory
    if path.is_file() or (not is_folder and path.suffix in (*SUFFIXES, ".gz")):
        beside = beside_file(path) if mapping is None and like is None else mapping
        return [read_table(name)], beside, like
    if is_folder and path.name in ("", ".."):
        raise InputError(f"{name} names no file of questions; give the file, or the folder of a data set by its name")
    known = presets()
    of_name = known.get(path.name if is_folder else name) or next((p for p in known.values() if name == p.hub), None)
    if is_folder:
        like = like or (of_name if mapping is None else None)
        return hub_tables(name, like), mapping, like
    if of_name is not None and of_name.hub:
        return hub_tables(of_name.hub, of_name), mapping, like or of_name
    if name.count("/") == 1 and " " not in name and all(name.partition(":")[0].split("/")):
        return hub_tables(name, like), mapping, like
    if len(name.split()) > 2:
        raise InputError(f"{name[:60]!r} is one text; put it into a list to ask it, as load_questions([text])")
    raise unknown_name("are no questions called", name, [*NAMED_QUESTIONS, *known], "a folder or a file")


def packaged_questions(file: str) -> list[Question]:
    """The questions of a file in onedial/panels/data, whose options are asked to the byte as they stand."""
    with ExitStack() as stack:
        table = read_table(embedded_file(file, stack))
    questions = read_questions(table, QuestionColumns())
    cells = map(list_in_text, table.frame["options"]) if "options" in table.frame else [None] * len(questions)
    return [
        replace(question, options=(*shown[:-1], shown[-1].rstrip())) if question.options else question
        for question, shown in zip(questions, cells, strict=True)
    ]


def _table_of(rows: Rows) -> Table:
    """Questions in memory as what a file gives; a complaint about a row counts from 1.

    Raises:
        InputError: none, or what is neither text nor row.
    """
    if not isinstance(rows, pd.DataFrame):
        given = list(rows)
        if not all(isinstance(each, str | Mapping) for each in given):
            wrong = next(each for each in given if not isinstance(each, str | Mapping))
            raise InputError(
                f"questions hold a {type(wrong).__name__}: {str(wrong)[:40]!r}; give texts, rows with `question`, or a "
                "data frame"
            )
        rows = pd.DataFrame([{"question": each} if isinstance(each, str) else dict(each) for each in given])
    if rows.empty:
        raise InputError("no questions were given; give at least one text or row")
    frame = rows.rename(columns=str).astype(object).reset_index(drop=True)
    return Table(Path(_GIVEN), frame, list(range(1, len(frame) + 1)), "row")


def _as_stored(table: Table) -> Table:
    """A run's own questions.parquet: there `question` is the text as it was asked, and `stem` that without options."""
    if not {"question", "stem", "options", "right_option"} <= set(table.frame.columns):
        return table
    frame = table.frame.assign(question=table.frame["stem"])
    return replace(table, frame=frame.drop(columns=["stem", "right_option"]))


# ---- all of them together --------------------------------------------------------------------------------------------


def _whole(name: str, questions: list[Question], has_ids: bool, n: int | None, seed: int) -> list[Question]:
    """Without repeats, and as many as were asked for."""
    if has_ids:
        _refuse_repeated_ids(name, questions)
    else:
        questions, n_merged = without_repeats(questions)
        if n_merged:
            notice(f"{name}: {n_merged} repeated questions merged, {len(questions)} remain")
    return questions if n is None else sample_questions(questions, n, seed)


def _refuse_repeated_ids(name: str, questions: Iterable[Question]) -> None:
    texts: dict[str, str] = {}
    for question in questions:
        if question.id in texts:
            raise InputError(
                f"{name} holds the id {question.id!r} twice, for {texts[question.id]!r} and {question.text!r}; "
                "give each question its own id"
            )
        texts[question.id] = question.text
