"""Load a panel: a wide or a long table of yes/no answers, with what is known of each respondent beside it.

Answers are 1/0, yes/no or true/false in any case; blank (also NA and NaN, as R and pandas write it) is unread.
Other spellings are given in elicitation.yaml beside the panel (`onedial.asking.elicited`), which says how it was asked.
Anything else is refused: an answer that cannot be read must be seen, never counted as no. A panel of numbers, long or
wide, is cut into yes and no (`onedial.panels.cuts`); the numbers stay beside them.
"""

import numbers
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from onedial.asking import (
    ELICITATION_FILE,
    MASS_FLOOR,
    MEDIAN,
    NAMED_PANELS,
    NUMBER,
    Cut,
    Elicitation,
    Table,
    beside,
    elicitation_of,
    embedded_file,
    is_blank,
    is_read,
    listed,
    name_of,
    panel_and_cuts,
    question_id,
    read_table,
    say_what_it_is_about,
    text_of,
    unknown_name,
    with_question,
)
from onedial.core import InputError, notice
from onedial.panels.cuts import panel_at_cuts
from onedial.panels.formats.plain_tables import NAMES as OTHER_NAMES
from onedial.panels.panels import METADATA, SAMPLES, ResponseMatrix, panel_from_long, respondents_table

RESPONDENTS_FILE = "respondents.csv"
_ANSWERS = {"1": 1.0, "1.0": 1.0, "yes": 1.0, "true": 1.0, "0": 0.0, "0.0": 0.0, "no": 0.0, "false": 0.0}
_UNREAD = {"na", "nan"}
_Reader = tuple[Callable[[Any], float], str]
"""What a cell means, and what is wanted of it."""
_CERTAIN_IN_PERCENT = 100.0
_WANTED_NUMBER = "give a number, or leave it blank"
WANTED = "answers are 1/0, yes/no or true/false, and blank where none was read"
_WANTED_IN_A_CELL = (
    f"{WANTED}; numbers become a yes at a cut, which stands behind the panel's name (panel.csv:95); onedial factor "
    "reads them with --categories too"
)
# What a wide file may say of its questions; every other column is a respondent.
_ABOUT_QUESTIONS = (
    *("question_id", "id", "question", "text", "answers", "answer", "exact_answers"),
    *("topic", "level", "unknowable", "grading", "split", "wording_of"),
)


def load_panel(path: str | Path, respondents: str | Path | None = None, numbers: bool = False) -> ResponseMatrix:
    """Load a panel from CSV, JSONL or Parquet.

    Args:
        path: "embedded"; "frontier" (18 frontier models on 450 requests: about refusal, not ability);
            "frontier-confidence" (33 on 1500 questions: numbers, of which 95 of 100 or more are a yes; other cuts
            behind a colon, ":90", ":median", or several, ":90,95,100"); or a file, whose numbers are cut likewise.
            Wide: `question_id` (or `id`; else a hash of `question`), optionally `question` (or `text`) and what a
            question file may hold, and one column per respondent, of answers or of numbers. Long: `question_id,
            respondent, said_yes`, optionally `question, model, framing, family, margin, mass, confidence` (0 to 1; of a
            panel of numbers 0 to 1 or 0 to 100), `answered_correctly, sample` and more; `model` alone is the
            respondent, and `correct` is `answered_correctly`. Several long rows of one question and respondent are
            samples: the answer is what more than half of the read ones say, nan for a tie. A long row whose `mass` is
            below MASS_FLOOR counts as unread.
        respondents: table with `respondent` and optionally `model, framing, family, model_sha256`; by default the
            file respondents.csv beside the panel, where there is one. What it says goes before what the panel says.
            Where nothing tells of any family, models named OWNER/MODEL are of their owner's.
        numbers: leave numbers uncut: the cells of a wide file, or `confidence` of a long one, stand in `responses` as
            they are in the file (`stated_confidence` puts them into a matrix), and no answer is yes or no.

    Raises:
        InputError: an unusable file (`read_table`), a missing column, another answer than those above, a question
            or respondent that stands twice, no respondent at all.

    >>> panel = load_panel("embedded")
    >>> panel.answers.shape
    (533, 25)
    """
    name, cuts = panel_and_cuts(str(path))
    with ExitStack() as stack:
        if name in NAMED_PANELS:
            say_what_it_is_about(name)
            answers_file, respondents_file = NAMED_PANELS[name]

            def file_beside(file: str) -> Path:
                return embedded_file(beside(answers_file, file), stack)

            about = respondents or embedded_file(respondents_file, stack)
            return _load(embedded_file(answers_file, stack), about, elicitation_of(name), cuts, file_beside, numbers)
    if not Path(name).suffix and not Path(name).exists():
        raise unknown_name("is no panel called", name, NAMED_PANELS, "a file (CSV, JSONL or Parquet)")
    return _load(Path(name), respondents, elicitation_of(name), cuts, lambda file: Path(name).parent / file, numbers)


def _load(
    path: Path,
    respondents: str | Path | None,
    elicitation: Elicitation | None,
    cuts: tuple[Cut, ...],
    file_beside: Callable[[str], Path],
    numbers: bool,
) -> ResponseMatrix:
    """See `load_panel`.

    Args:
        cuts: of numbers; empty for those that the elicitation names, if any.
        file_beside: the path of a file that lies beside the panel.
    """
    if numbers and cuts:
        raise InputError(f"{path} is to be read in numbers, and cut at {listed(map(str, cuts))}; leave the cut out")
    table = _by_usual_names(_in_our_words(read_table(path), elicitation))
    table_beside = table.path.parent / RESPONDENTS_FILE
    if respondents is not None:
        known = _read_respondents(Path(respondents))
    elif table_beside.exists() and not table_beside.samefile(table.path):
        known = _read_respondents(table_beside)
    else:
        known = None
    answer = answer_reader(elicitation)
    is_long = bool({"respondent", "said_yes"} & set(table.frame.columns))
    about = () if elicitation is None else elicitation.about
    numbers_top = _top_of_numbers(table, is_long, elicitation, cuts)
    stated = None if numbers_top is None else _share_of(numbers_top)
    if numbers:
        stated = _stated, _WANTED_NUMBER
    if is_long:
        panel = _read_long(table, known, answer, stated)
    else:
        panel = _read_wide(with_question(table), known, answer, about, stated)
    panel = replace(panel, elicitation=elicitation)
    if elicitation is not None and elicitation.questions:
        panel = _with_questions(panel, [file_beside(file) for file in elicitation.questions])
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
    panel = _with_families(panel)
    return panel if numbers or numbers_top is None else panel_at_cuts(panel, cuts, numbers_top)


def _with_families(panel: ResponseMatrix) -> ResponseMatrix:
    """Where nothing says which models are related: whose they are by their names, as in openai/gpt-5; said aloud."""
    known = panel.respondents
    owners = known["model"].str.split("/").str[-2]
    if (known["family"] != "").any() or owners.isna().any() or not 1 < owners.nunique() < known["model"].nunique():
        return panel
    notice(
        f"families are taken from the models' names ({listed(owners.unique())}), since nothing else tells of them; "
        f"{RESPONDENTS_FILE} beside the panel (respondent, family) goes before"
    )
    return replace(panel, respondents=known.assign(family=owners))


def _in_our_words(table: Table, elicitation: Elicitation | None) -> Table:
    """The table with the columns that the elicitation names under our names."""
    if elicitation is None or not elicitation.columns:
        return table
    table.require(*elicitation.columns.values())
    taken = [ours for ours in elicitation.columns if ours in table.frame.columns]
    if taken:
        raise InputError(
            f"{ELICITATION_FILE} renames a column to {taken[0]!r}, but {table.path} has one of that name already; "
            "rename that one first"
        )
    theirs = {theirs: ours for ours, theirs in elicitation.columns.items()}
    return replace(table, frame=table.frame.rename(columns=theirs))


def _by_usual_names(table: Table) -> Table:
    """A long table whose columns have names that imports know too under ours; said aloud."""
    columns = set(map(str, table.frame.columns))
    if not any(columns & {name, *OTHER_NAMES[name]} for name in ("said_yes", "confidence")):
        return table
    if not columns & {"respondent", *OTHER_NAMES["respondent"]}:
        return table
    wanted = ["said_yes", "confidence", "answered_correctly"]
    wanted += [] if columns & {"id", "question"} else ["question_id"]
    wanted += [] if "framing" in columns else ["respondent"]  # a model under several framings is several respondents
    taken = {}
    for ours in wanted:
        theirs = next((each for each in OTHER_NAMES[ours] if each in columns), None)
        if theirs is not None and ours not in columns:
            taken[theirs] = ours
    if taken:
        notice(f"{table.path}: {', '.join(f'the column {a!r} is taken for {b}' for a, b in taken.items())}")
    return replace(table, frame=table.frame.rename(columns=taken))


def _top_of_numbers(table: Table, is_long: bool, elicitation: Elicitation | None, cuts: Sequence[Cut]) -> float | None:
    """What stands for certain where the panel holds numbers, else None: 1 or 100, if nothing says so."""
    columns = set(table.frame.columns)
    if elicitation is not None and elicitation.answer == NUMBER:
        return elicitation.top
    if not cuts and not (is_long and "confidence" in columns and "said_yes" not in columns):
        return None
    about = () if elicitation is None else elicitation.about
    cells = table.frame[[each for each in columns & {"confidence"}] if is_long else _respondents_of(table, about)]
    percent = pd.to_numeric(cells.astype(str).stack().str.strip().str.removesuffix("%"), errors="coerce") > 1
    return _CERTAIN_IN_PERCENT if percent.any() or any(cut != MEDIAN and float(cut) > 1 for cut in cuts) else 1.0


def _respondents_of(table: Table, about: Sequence[str]) -> list[str]:
    """The columns of a wide table that hold answers."""
    return [column for column in table.frame.columns if column not in (*_ABOUT_QUESTIONS, *about)]


def _with_questions(panel: ResponseMatrix, files: Sequence[Path]) -> ResponseMatrix:
    """What the files say of the panel's questions: `question` is their text, everything else what is known of them."""
    frames = []
    for file in files:
        table = with_question(read_table(file))
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
    return replace(panel, question_texts=texts, about_questions=about)


def _read_wide(
    table: Table,
    known: pd.DataFrame | None,
    answer: Callable[[Any], float],
    about: Sequence[str],
    stated: _Reader | None,
) -> ResponseMatrix:
    table.require(*about)
    names = _respondents_of(table, about)
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
    read, wanted = stated or (answer, _WANTED_IN_A_CELL)
    answers = pd.DataFrame(
        {name: table.parse(name, read, wanted) for name in names}, index=index, dtype=float
    ).rename_axis(columns="respondent")
    responses = None
    if stated is not None:
        responses = answers.reset_index().melt("question_id", value_name="confidence")
        answers = answers * np.nan
    texts = pd.Series(table.parse("question", text_of, "write the question as text"), index=index, dtype=object)
    return ResponseMatrix(
        answers,
        respondents_table(names, known),
        texts if "question" in table.frame.columns else None,
        responses,
        about_questions=table.frame[list(about)].set_axis(index) if about else None,
    )


def _read_long(
    table: Table,
    known: pd.DataFrame | None,
    answer: Callable[[Any], float],
    stated: _Reader | None,
) -> ResponseMatrix:
    if stated is not None:
        table.require("respondent", "confidence")
        table = replace(table, frame=table.frame.assign(said_yes=None))
    table.require("respondent", "said_yes")
    responses = table.frame.copy()
    responses["question_id"] = _question_ids(table)
    responses["respondent"] = table.parse("respondent", name_of, "name the respondent")
    responses["said_yes"] = table.parse("said_yes", answer, WANTED)
    for column in ("margin", "mass", *SAMPLES):
        if column in responses.columns:
            responses[column] = table.parse(column, _number, _WANTED_NUMBER)
    if "confidence" in responses.columns:
        responses["confidence"] = table.parse("confidence", *(stated or _share_of(1.0)))
    if "sample" in responses.columns:
        responses["sample"] = table.parse("sample", text_of, "number the samples")
    if "answered_correctly" in responses.columns:
        responses["answered_correctly"] = table.parse("answered_correctly", _answer, WANTED)
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


def answer_reader(elicitation: Elicitation | None) -> Callable[[Any], float]:
    """What a cell of answers means, with the spellings that the elicitation adds."""
    spelt = dict(_ANSWERS)
    if elicitation is not None:
        for word, value in [*((each, 1.0) for each in elicitation.yes), *((each, 0.0) for each in elicitation.no)]:
            if spelt.setdefault(word.lower(), value) != value:
                raise InputError(f"{ELICITATION_FILE} gives {word!r} as a spelling of yes and of no; give it to one")
    return lambda cell: _answer(cell, spelt)


def _answer(cell: Any, spelt: Mapping[str, float] = _ANSWERS) -> float:
    if is_blank(cell):
        return np.nan
    if isinstance(cell, str):
        word = cell.strip().lower()
        if word in spelt:
            return spelt[word]
        if word in _UNREAD:
            return np.nan
    elif isinstance(cell, bool | np.bool_ | numbers.Real) and cell in (0, 1):
        return float(cell)
    raise ValueError("no answer")


def _share_of(top: float) -> _Reader:
    """A reader of numbers from 0 to `top`, as shares of it, and what it wants."""

    def share(cell: Any) -> float:
        value = _stated(cell) / top
        if value < 0 or value > 1:
            raise ValueError("outside")
        return value

    return share, f"give a {'number' if top != 1 else 'probability'} from 0 to {top:g}, or leave it blank"


def _stated(cell: Any) -> float:
    """A number that may be written in percent."""
    return _number(cell.strip().removesuffix("%") if isinstance(cell, str) else cell)


def _number(cell: Any) -> float:
    if is_blank(cell):
        return np.nan
    if isinstance(cell, bool | list | dict):
        raise ValueError("no number")
    return float(cell)
