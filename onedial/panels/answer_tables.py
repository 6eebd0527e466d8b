"""Tables of answers, wide or long, as long tables under our names: a row for each answer of each respondent.

Long: a column `respondent` (or `model`) and one of answers. Wide: a row for each question and a column for each
respondent, which is every column that is not named here. Turned, as surveys are: a row for each respondent, named in
the column that is declared, and a column for each question. Nothing is told by a column's cells; what has another name
is declared (`columns`, and `about`: what is no answer).
"""

import json
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from onedial.asking.elicited import ELICITATION_FILE
from onedial.asking.questions import question_id
from onedial.asking.tables import Table, is_blank, listed, name_of, text_of
from onedial.core.errors import InputError
from onedial.panels.keying import KEYED, REVERSED
from onedial.panels.questions.cells import clean_text
from onedial.panels.questions.question_columns import CANONICAL
from onedial.panels.questions.suggest import NAMES as SUGGESTED
from onedial.panels.questions.suggest import simple
from onedial.panels.spellings import BLANKS, TRUTH, word_of

NAMES = {"question_id": "id", "respondent": "model", "said_yes": "answer", "answered_correctly": "correct"}
"""What a column of a long table is called, and how it may be called besides where there is none of the first name."""
KEPT = ("topic", "level", REVERSED, KEYED)
"""What is kept of each question beside its text."""
OF_QUESTIONS = (*CANONICAL, *KEPT, "split")
"""Names of what tells of a question: never a respondent of a wide table."""
OF_ANSWERS = ("said_yes", "confidence", "answered_correctly", "margin", "mass", "sample", "error", "framing", "family")
"""Names of what tells of an answer in a long table: never a respondent either."""
NOT_READ = ("raw_text", "n_yes", "n_read", "accepted", "stop_reason", "finish_reason")
"""Names in a long table of what else may differ from answer to answer."""
NOBODY = {*SUGGESTED["sums"], *SUGGESTED["measures"]}
"""Respondents that are asked back: what is called so has seldom answered itself."""
NO_QUESTIONS = {*NOBODY, *SUGGESTED["of_respondents"]}
"""What a row is called that is no question: it sums up others, measures them, or tells of the respondents."""
NO_RESPONDENTS = {name for names in SUGGESTED.values() for name in names if len(name) > 1} | NOBODY
"""Columns of a wide table that are asked back."""
_KEYS = {*SUGGESTED["answers"]} - {"answer", "answers", "correct", "response", "output", "outputs"}
_LIKE_A_QUESTION = re.compile(r"(?:(?:g\d+)?q|item|question)[ _-]?\d+")


_LISTED = "a respondents.csv beside it (column respondent)"


def long_table(
    table: Table,
    columns: Mapping[str, str],
    about: Sequence[str],
    answers: Collection[str],
    answer: str,
    known: Collection[str] = (),
    turned: str = "",
) -> tuple[Table, pd.DataFrame | None]:
    """A table of answers as a long table, and what it tells of its questions, by their ids, where it was wide.

    Args:
        columns: our name of a column to the table's. about: columns of a wide or turned table that are no answers.
        answers: names of columns in which answers of a long table may stand. answer: where those of a wide one go.
        known: respondents that are listed as such elsewhere, whatever they are called.
        turned: the column of the respondents, where they stand in the rows.

    Raises:
        InputError: a column that is named is not there; there is no respondent, id or answer; a row sums up others; a
            respondent is called like a question, what tells of one, or a sum.
    """
    turned = turned or next(iter(table.people), "")
    if turned and columns:
        raise InputError(f"{table.path} is turned, so that no other column has a part; leave columns out")
    if turned:
        return _turned(table, turned, [*about, *table.people], answer, known)
    table = _under_our_names(table, columns)
    held = set(table.frame.columns)
    has_ids = bool({"question_id", "id", "question", "prompt"} & held)
    if "model" in held and not has_ids:
        raise _no_ids(table)
    if {"respondent", "model"} & held:
        table = _long(table, answers)
        _refuse_divided(table, {*OF_QUESTIONS, *OF_ANSWERS, *NAMES, *answers, *about})
        _refuse_summaries(table)
        _refuse_nobody(table, table.parse("respondent", name_of, "name the respondent"), known)
        return table, None
    if answer_columns := [name for name in (*answers, *OF_ANSWERS) if name in held]:
        raise InputError(
            f"{table.path} has the column {answer_columns[0]!r}, but none for who answered (respondent, or model); it "
            f"holds {listed(map(str, table.frame.columns))}: rename or declare it, columns: {{respondent: COLUMN}}"
        )
    respondents, ids = _respondents_of(table, about), question_ids(table)
    _refuse_no_respondents(table, [name for name in respondents if name not in known])
    _refuse_summaries(table)
    _refuse_computed(table, [name for name in respondents if name not in known])
    is_named = bool({"question_id", "id"} & held)
    asked = ids if is_named else table.parse("question", clean_text, "write the question as text")
    refuse_repeats(table, pd.DataFrame({"question": asked}), "keep one row of each")
    of_questions = [name for name in table.frame.columns if name in (*OF_QUESTIONS, *about)]
    questions = table.frame[of_questions].set_axis(ids)
    if "question" in held:
        questions["question"] = table.parse("question", clean_text, "write the question as text")
    return _stacked(table, answer, respondents, {"question_id": ids}, "respondent"), questions


def _stacked(table: Table, answer: str, columns: Sequence[str], rows: Mapping[str, Sequence[str]], what: str) -> Table:
    """A row for each cell of these columns, which `what` names; its answer, and what tells one row from another."""
    frames = [pd.DataFrame({**rows, what: name, answer: table.frame[name]}) for name in columns]
    stood_in = [name for name in columns for _ in table.places]
    places = table.places * len(columns)
    return replace(table, frame=pd.concat(frames, ignore_index=True), places=places, stood_in=stood_in)


def _turned(
    table: Table, column: str, about: Sequence[str], answer: str, known: Collection[str]
) -> tuple[Table, pd.DataFrame]:
    """A table with a row for each respondent; headers of several words are the questions' texts."""
    ours = {theirs: name for name, theirs in table.theirs.items()}
    about = [ours.get(name, name) for name in about]
    table.require(column, *about)
    respondents = table.parse(column, name_of, "name the respondent")
    refuse_repeats(table, pd.DataFrame({"respondent": respondents}), "keep one row of each respondent")
    _refuse_nobody(table, respondents, known)
    ids = [str(name) for name in table.frame.columns if name not in (column, *about)]
    if not ids:
        raise InputError(f"{table.path} has no question besides {listed([column, *about])}; leave some out of --about")
    if others := [name for name in ids if not name or simple(name) in NO_QUESTIONS]:
        raise InputError(
            f"{table.path} has the columns {listed(others)}, which are called like what sums up answers or tells of "
            f"respondents; say so: --about {shlex.quote(','.join([*about, *others]))}"
        )
    questions = pd.DataFrame({"question": ids} if all(" " in name for name in ids) else None, index=ids)
    return _stacked(table, answer, ids, {"respondent": respondents}, "question_id"), questions


def _refuse_nobody(table: Table, respondents: Sequence[str], known: Collection[str]) -> None:
    names = [name for name in dict.fromkeys(respondents) if name not in known]
    if nobody := [name for name in names if simple(name) in NOBODY]:
        raise InputError(
            f"{table.path} has the respondents {listed(nobody)}, which are called like what is made of others' "
            f"answers, or measures them; delete their rows, or list who did answer in {_LISTED}"
        )


def question_ids(table: Table) -> list[str]:
    """The id of each row's question: `question_id`, `id`, or a hash of `question`."""
    columns = table.frame.columns
    if "question_id" not in columns and "id" not in columns and "question" in columns:
        texts = table.parse("question", clean_text, "write the question as text")
        if None in texts:
            raise InputError(f"{table.where(texts.index(None), 'question')} is blank; write the question as text")
        ids = [question_id(text) for text in texts]
        first = {name: text for name, text in zip(reversed(ids), reversed(texts), strict=True)}
        for row, (name, text) in enumerate(zip(ids, texts, strict=True)):
            if text != first[name]:
                raise InputError(
                    f"{table.where(row, 'question')} holds {text!r}, which is {first[name]!r} but for capitals and "
                    "signs, so that both get one id; write them alike, or add a column question_id"
                )
        return ids
    column = "id" if "id" in columns and "question_id" not in columns else "question_id"
    if column not in columns:
        raise _no_ids(table)
    return table.parse(column, name_of, "give every question its id")


def _no_ids(table: Table) -> InputError:
    return InputError(
        f"{table.path} has no column question_id, id or question; it holds {listed(map(str, table.frame.columns))}: "
        "rename or declare the one that is meant (columns: {question_id: COLUMN} in elicitation.yaml, or --columns "
        f"question_id=COLUMN of an import){_how_to_turn(table)}"
    )


def _under_our_names(table: Table, columns: Mapping[str, str]) -> Table:
    """Under the names that are declared; without those that are declared as nothing."""
    unread = {other for name, theirs in columns.items() if not theirs for other in (name, NAMES.get(name))}
    unread -= {*columns.values()}
    table = replace(table, frame=table.frame.drop(columns=[name for name in table.frame if name in unread]))
    columns = {ours: theirs for ours, theirs in columns.items() if theirs}
    table.require(*columns.values())
    if taken := [ours for ours in columns if ours in table.frame.columns and columns[ours] != ours]:
        raise InputError(
            f"a column of {table.path} is declared as {taken[0]!r}, but it has one of that name already; rename that "
            "one first"
        )
    return table.renamed({theirs: ours for ours, theirs in columns.items()})


def _long(table: Table, answers: Collection[str]) -> Table:
    """Under the first names of `NAMES`; a model under several framings is several respondents."""
    frame = table.frame
    if {"respondent", "framing"} <= set(frame.columns) and "model" not in frame.columns:
        under = frame["framing"].map(lambda cell: "" if is_blank(cell) else str(cell))
        if (under.groupby(frame["respondent"].map(str)).nunique() > 1).any():
            table = table.renamed({"respondent": "model"})
            frame = table.frame
    if {"model", "framing"} <= set(frame.columns) and "respondent" not in frame.columns:
        names = table.parse("model", name_of, "name the model")
        framings = table.parse("framing", text_of, "give text, or leave it blank")
        pairs = zip(names, framings, strict=True)
        frame = frame.assign(respondent=[name if framing is None else f"{name}: {framing}" for name, framing in pairs])
    usual = {other: name for name, other in NAMES.items() if other in frame.columns and name not in frame.columns}
    table = replace(table, frame=frame).renamed(usual)
    keys = [name for name in map(str, frame.columns) if simple(name) in _KEYS]
    if keys and usual.get("answer") == "said_yes" and "raw_text" not in answers:
        raise InputError(
            f"{table.path} has {keys[0]!r} beside answer, which may answer the question itself; rename answer to "
            "said_yes if it says whether the question can be answered, or use onedial panel import (--asked question)"
        )
    if not {*answers} & set(table.frame.columns):
        raise InputError(
            f"{table.path} has a row for each answer (a column respondent or model), but no column of answers "
            f"({', '.join(answers)}); it holds {listed(map(str, frame.columns))}: rename or declare the one that is "
            "meant, columns: {said_yes: COLUMN} in elicitation.yaml, or --columns said_yes=COLUMN of onedial panel "
            "import, which reads texts too (raw_text)"
        )
    return table


def _refuse_divided(table: Table, known: Collection[str]) -> None:
    """Raise InputError where another column than the known ones parts a respondent's answers to one question, which
    then are not simply samples, unless they are numbered."""
    frame = table.frame
    asked = next((name for name in ("question_id", "question", "prompt") if name in frame.columns), None)
    if asked is None or "sample" in frame.columns:
        return
    keys = [frame["respondent"].map(str), frame[asked].map(str)]
    others = [name for name in frame.columns if name not in (*known, *NOT_READ, "respondent", asked)]
    for name in others if pd.concat(keys, axis=1).duplicated().any() else ():
        cells = frame[name].map(lambda cell: "" if is_blank(cell) else str(cell))
        differs = np.flatnonzero(cells.groupby(keys).transform("nunique") > 1)
        if len(differs):
            theirs = table.theirs.get(name, name)
            raise InputError(
                f"{table.where(int(differs[0]))}: {keys[0][differs[0]]!r} answers {keys[1][differs[0]]!r} more than "
                f"once, with other values of {theirs!r}; declare it as sample if these are samples of one answer, or "
                f"as framing if each is a respondent (columns: {{sample: {theirs}}} in elicitation.yaml, or --columns "
                f"sample={theirs} of an import), or leave the column out"
            )


def _respondents_of(table: Table, about: Sequence[str]) -> list[str]:
    names = [str(name) for name in table.frame.columns]
    table.require(*about)
    left = [name for name in names if name not in (*OF_QUESTIONS, *about)]
    if nameless := [name for name in left if name == "" or name.startswith("Unnamed: ")]:
        left_out = f"--about {nameless[0]!r}, or pandas: index=False" if nameless[0] else "pandas: index=False"
        raise InputError(
            f"{table.path} has a column without a name ({nameless[0]!r}); name it question_id if it holds the ids, "
            f"leave it out if it numbers the rows ({left_out}){_how_to_turn(table)}"
        )
    if not left:
        raise InputError(
            f"{table.path} has no respondent; add one column of answers per respondent, "
            "or the columns question_id, respondent and said_yes"
        )
    return left


def _refuse_no_respondents(table: Table, names: Sequence[str]) -> None:
    """Columns that are called like questions, or like what tells of them or sums up answers, are no respondents."""
    asking = [name for name in names if name.endswith(("?", "?]"))]
    if asking or (names and all(_LIKE_A_QUESTION.fullmatch(name.casefold()) for name in names)):
        raise InputError(
            f"{table.path} has columns called like questions ({listed(asking or names, 3)}), but in a wide table a "
            f"column is a respondent; name them by who answered, or list them in {_LISTED}{_how_to_turn(table)}"
        )
    heads = {f"{simple(name)}_" for name in names}
    others = [name for name in names if simple(name) in NO_RESPONDENTS]
    others += [  # gpt_correct beside gpt
        name
        for name in names
        for word in (NO_RESPONDENTS | {*OF_ANSWERS})
        if simple(name).endswith(f"_{word}") and simple(name).removesuffix(word) in heads
    ]
    if others:
        raise InputError(
            f"{table.path} has the columns {listed(others)}, which are called like what tells of questions or sums up "
            f"answers; say so: --about {shlex.quote(','.join(others))}, or list who did answer in {_LISTED}; if every "
            "row is one answer, name who gave it (columns: {respondent: COLUMN}, or --columns respondent=COLUMN of an "
            f"import){_how_to_turn(table)}"
        )


def _how_to_turn(table: Table) -> str:
    """What to declare where respondents stand in the rows, as far as that can be seen."""
    if {"question_id", "question"} & set(table.frame.columns):
        return ""
    frame = table.frame.map(word_of)
    names = [str(name) for name in frame.columns]
    answers = [name for name in names if frame[name].any() and frame[name].isin(["", *TRUTH, *BLANKS]).all()]
    if len(answers) < 2:  # else they are numbers or other words, which come again
        answers = [name for name in names if 1 < frame[name].nunique() < len(frame)]
    others = [name for name in names if name not in answers]
    column = next((name for name in others if frame[name].all() and table.frame[name].map(str).is_unique), None)
    if not column or len(answers) < 2:
        return "; where respondents stand in the rows, give each a name, and that column by --turned COLUMN"
    others.remove(column)
    declared = {"turned": table.theirs.get(column, column)}
    if any("," in name for name in others):
        content = json.dumps({**declared, "about": others}, ensure_ascii=False)
        return f"; where respondents stand in the rows, write into {ELICITATION_FILE} beside it: {content}"
    about = f" --about {shlex.quote(','.join(others))}" if others else ""
    return f"; where respondents stand in the rows, add --turned {shlex.quote(declared['turned'])}{about}"


def _refuse_summaries(table: Table) -> None:
    """A row without a text that has the name of a summary is no question, nor is a text of that name."""
    frame = table.frame
    ids = next((frame[name] for name in ("question_id", "id") if name in frame), pd.Series(None, frame.index, object))
    texts = frame["question"] if "question" in frame else pd.Series(None, frame.index, object)
    for row, (name, text) in enumerate(zip(ids, texts, strict=True)):
        called = name if is_blank(text) else text
        if simple(str(called)) in NO_QUESTIONS:
            raise InputError(
                f"{table.where(row)} is called {called!r}, like what sums up answers or tells of respondents; delete "
                "it, or give the question another id"
            )


def _refuse_computed(table: Table, respondents: Sequence[str]) -> None:
    """Raise InputError at a row or column of numbers that is the mean or the sum of all others, whatever its name.

    Every number has to be that, and three of them such as stand nowhere else in their column (or row).
    """
    cells = table.frame[list(respondents)].map(lambda cell: str(cell).rstrip(" %").replace(",", "."))
    numbers = cells.apply(pd.to_numeric, errors="coerce").to_numpy(float)
    if min(numbers.shape) < 3 or len(np.unique(numbers[~np.isnan(numbers)])) < 4:
        return
    spread = float(np.nanmax(numbers) - np.nanmin(numbers))
    close = 0.5 if spread > 20 else 0.005 * spread
    for values, is_row in ((numbers, True), (numbers.T, False)):
        others = np.nansum(values, axis=0) - values
        n = (~np.isnan(values)).sum(axis=0) - 1
        alone = pd.DataFrame(values).apply(lambda column: ~column.duplicated(keep=False)).to_numpy()
        for made in (others / np.maximum(n, 1), others):
            is_made = np.abs(made - values) <= close
            whole = (is_made | np.isnan(values)).all(axis=1) & ((is_made & alone).sum(axis=1) >= 3)
            for place in np.flatnonzero(whole):
                where = table.where(int(place)) if is_row else f"{table.path}, column {respondents[int(place)]!r}"
                raise InputError(f"{where} is the mean or sum of all others; leave it out")


def refuse_ids_of_rows(table: Table, ids: Sequence[Any], respondents: Sequence[Any], texts: Sequence[Any]) -> None:
    """Raise InputError where ids number the answers: each stands once, though the texts come again."""
    rows = pd.DataFrame({"id": list(ids), "respondent": list(respondents), "text": list(texts)}).dropna()
    times = rows.groupby(rows["text"].astype(str))["respondent"].agg(["size", "nunique"])
    if rows.empty or rows["id"].duplicated().any() or not ((times["nunique"] > 1).any() or (times["size"] > 1).all()):
        return
    theirs = table.theirs.get("question_id", "question_id")
    raise InputError(
        f"{table.path} gives every answer an id of its own, though {(times['size'] > 1).sum()} texts come again; let "
        f"questions go by their texts (--columns question_id=,sample={theirs} of an import, or without that column) or "
        "declare the column of their ids (--columns question_id=COLUMN, or columns: in elicitation.yaml)"
    )


def refuse_repeats(table: Table, keys: pd.DataFrame, remedy: str) -> None:
    """Raise InputError at the first row whose keys stood there before."""
    for row in np.flatnonzero(keys.duplicated()):
        what = ", ".join(f"the {str(name).removesuffix('_id')} {keys[name].iloc[row]!r}" for name in keys)
        raise InputError(f"{table.where(int(row))} repeats {what}; {remedy}")


def refuse_two_values(table: Table, rows: pd.DataFrame, key: str, columns: Sequence[str]) -> None:
    """Raise InputError where what tells of a question or respondent differs between its rows."""
    for column in (column for column in columns if column in rows):
        first = rows.groupby(key)[column].transform("first")
        for row in np.flatnonzero(rows[column].notna() & (rows[column] != first)):
            raise InputError(
                f"{table.where(int(row), column)} holds {rows[column][row]!r}, but {key} {rows[key][row]!r} had "
                f"{first[row]!r} before; give each {key} one {column}"
            )


def refuse_alike(names: Sequence[str], what: str, table: Table) -> None:
    """Raise InputError where two respondents or ids differ by case or white space alone; of ids, by zeros before, or
    whole numbers by zeros behind (1.0)."""
    alike: dict[str, str] = {}
    for name in dict.fromkeys(names):
        bare = bare_id(name) if what == "ids" else " ".join(name.casefold().split())
        if (other := alike.setdefault(bare, name)) != name:
            raise InputError(f"{table.path} holds the {what} {listed([other, name])}; write both in the same way")


def bare_id(name: str) -> str:
    """An id without what a spreadsheet changes: capitals, blanks, zeros before a number and behind a whole one.

    >>> bare_id("Q 007"), bare_id("7.0")
    ('q 7', '7')
    """
    bare = " ".join(name.casefold().split())
    return re.sub(r"(?<!\d)0+(?=\d)", "", re.sub(r"^(\d+)\.0+$", r"\1", bare))
