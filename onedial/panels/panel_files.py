"""Load a panel: a wide or a long table of yes/no answers, with what is known of each respondent beside it.

Answers are 1/0, yes/no or true/false in any case; blank (also NA, N/A, null, None and -) is unread.
Other spellings are given in elicitation.yaml beside the panel (`onedial.asking.elicited`), which says how it was asked.
Anything else is refused: an answer that cannot be read must be seen, never counted as no. A panel of numbers, long or
wide, is cut into yes and no (`onedial.panels.cuts`); the numbers stay beside them.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from onedial.asking.elicited import ELICITATION_FILE, MEDIAN, NUMBER, Cut, Elicitation, elicitation_of, panel_and_cuts
from onedial.asking.named_data import NAMED_PANELS, embedded_file, say_what_it_is_about, unknown_name
from onedial.asking.questions import question_id, rendered
from onedial.asking.tables import Table, is_blank, listed, name_of, read_table, text_of, with_question
from onedial.asking.yes_no import MASS_FLOOR, is_read
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.core.suggestions import nearest
from onedial.panels.columns import Columns
from onedial.panels.cuts import panel_at_cuts
from onedial.panels.formats.plain_tables import ROLES, failures, refuse_ids_of_rows
from onedial.panels.keying import tells_keying, with_keying
from onedial.panels.panels import METADATA, SAMPLES, ResponseMatrix, panel_from_long, respondents_table
from onedial.panels.questions.cells import clean_text
from onedial.panels.spellings import Spellings
from onedial.panels.stated_numbers import PERCENT, refuse_mixed_scales, share, stated, tops_of
from onedial.panels.wide_tables import columns_of, melted, turned, without_summaries

RESPONDENTS_FILE = "respondents.csv"
_OF_RESPONDENTS = ("respondent", "model", "framing", "family", "model_sha256", "top")
"""Its columns that are read; others are kept as what is known of the respondents."""
_A_NUMBER, _A_TEXT = "give a number, or leave it blank", "give text, or leave it blank"
WANTED = (
    "answers are 1/0, yes/no or true/false, and blank where none was read; elicitation.yaml adds spellings of all three"
)
_WANTED_IN_A_CELL = (
    f"{WANTED}; numbers become a yes at a cut, which stands behind the panel's name (panel.csv:95); onedial factor "
    "reads them with --categories too"
)
_OF_ANSWERS = ("said_yes", "confidence", "margin", "mass", "answered_correctly", *sorted(SAMPLES))
"""Columns of a long table in which a word may stand for a blank."""


def load_panel(path: str | Path, respondents: str | Path | None = None, numbers: bool = False) -> ResponseMatrix:
    """Load a panel from CSV, JSONL or Parquet.

    Args:
        path: "embedded"; "frontier" (18 frontier models on 450 requests: about refusal, not ability);
            "frontier-confidence" (33 on 1500 questions: numbers, of which 95 of 100 or more are a yes; other cuts
            behind a colon, ":90", ":median", or several, ":90,95,100"); or a file, whose numbers are cut likewise
            (":8/10" where 10 stands for certain; else each respondent's scale is told by its own numbers).
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
    name, cuts, top = panel_and_cuts(str(path))
    with ExitStack() as stack:
        if name in NAMED_PANELS:
            say_what_it_is_about(name)
            source = embedded_file(NAMED_PANELS[name][0], stack)
        elif Path(name).suffix or Path(name).exists():
            source = Path(name)
        else:
            raise unknown_name("is no panel called", name, NAMED_PANELS, "a file (CSV, JSONL or Parquet)")
        if numbers and cuts:
            raise InputError(
                f"{source} is to be read in numbers, and cut at {listed(map(str, cuts))}; leave the cut out"
            )
        elicitation = elicitation_of(name)
        table = _in_our_words(read_table(source), {} if elicitation is None else elicitation.columns)
        spellings = Spellings.of(elicitation)
        table = without_summaries(turned(table, spellings.holds))
        beside = table.path.parent / RESPONDENTS_FILE
        is_beside = respondents is None and beside.exists() and not beside.samefile(table.path)
        file = beside if is_beside else respondents
        known = None if file is None else _read_respondents(Path(file))
        asked = _Asked(elicitation, spellings, cuts, top, numbers, known)
        told, wanted = None, WANTED
        if not {"respondent", "said_yes", "confidence"} & set(table.frame.columns):
            (table, told), wanted = _as_long(table, asked), _WANTED_IN_A_CELL
        panel, tops = _read(table, asked, told, wanted)
        panel = replace(panel, elicitation=elicitation)
        if elicitation is not None and elicitation.questions:
            panel = _with_questions(panel, [source.parent / file for file in elicitation.questions])
    panel = with_keying(panel)
    _say_whose_names_are_alike(list(panel.answers.columns), source)
    if known is not None:
        _say_who_is_not_described(list(known.index), list(panel.answers.columns), source, respondents)
    panel = _with_families(panel)
    if tops is None or numbers:
        return panel
    return panel_at_cuts(panel, cuts, asked.top_of_cuts(tops.values(), source))


Tops = dict[str, float] | None
"""What stands for certain for each respondent; None of a panel of yes and no."""


@dataclass(frozen=True)
class _Asked:
    """How a panel's cells are to be read.

    Attributes:
        elicitation: how it was asked, if that is known.
        spellings: of yes, no and nothing.
        cuts: of numbers; empty for that of the elicitation, if any.
        top: what stands for certain, if that is said.
        in_numbers: whether numbers stay uncut.
        known: the table of respondents.
    """

    elicitation: Elicitation | None
    spellings: Spellings
    cuts: tuple[Cut, ...]
    top: float | None
    in_numbers: bool
    known: pd.DataFrame | None

    @property
    def states_numbers(self) -> bool:
        """Whether numbers are meant, by the elicitation or by whoever names a cut."""
        of_numbers = self.elicitation is not None and self.elicitation.answer == NUMBER
        return self.in_numbers or bool(self.cuts) or of_numbers

    @property
    def answer(self) -> str:
        """The column of a long table in which an answer stands."""
        return "confidence" if self.states_numbers else "said_yes"

    @property
    def certain(self) -> float | None:
        """What stands for certain, where the user says so."""
        said = self.elicitation
        return said.top if self.top is None and said is not None and said.answer == NUMBER else self.top

    def top_of_cuts(self, tops: Collection[float], path: Path) -> float:
        """What stands for certain on the scale on which the cuts are named.

        Raises:
            InputError: a cut that may be a share or a percentage.
        """
        if self.certain is not None:
            return self.certain
        cuts = [float(cut) for cut in self.cuts if cut != MEDIAN]
        shares = [cut for cut in cuts if cut <= 1]
        if set(tops) <= {1.0} and len(shares) == len(cuts):
            return 1.0
        if shares and set(tops) != {1.0}:
            raise InputError(
                f"{path} holds numbers to 100, and a cut at {shares[0]:g}: name it as {shares[0] * 100:g}, or as "
                f"{shares[0]:g}/100 if that is meant"
            )
        return next(iter(tops)) if len(set(tops)) == 1 and 1.0 not in tops else PERCENT


# ---- the two shapes --------------------------------------------------------------------------------------------------


def _as_long(table: Table, asked: _Asked) -> tuple[Table, pd.DataFrame]:
    """A wide table with a row for each answer, and what it tells of its questions, by their ids."""
    about = () if asked.elicitation is None else asked.elicitation.about
    table = with_question(table)
    table.require(*about)
    held = set(table.frame.columns)
    if {"", "Unnamed: 0"} & held and not {"question_id", "id", "question"} & held:
        raise InputError(
            f"{table.path} has a column without a name; name it question_id if it holds the ids, "
            "else write the file without row names"
        )
    known = () if asked.known is None else asked.known.index
    names, of_questions = columns_of(table, asked.spellings.holds, about, known, asked.certain)
    ids = _question_ids(table)
    if not names:
        raise InputError(
            f"{table.path} has no respondent; add one column of answers per respondent, "
            "or the columns question_id, respondent and said_yes"
        )
    remedy = "keep one row of each question"
    if {"respondent", "model"} & held:
        remedy = "a row for each respondent has its answer in said_yes; elicitation.yaml names another column for it"
    _refuse_repeats(table, pd.DataFrame({"question": ids}), remedy)
    told = table.frame[list(of_questions)].set_axis(ids)
    if "topic" not in told and (topic := next((name for name in ("subject", "category") if name in told), None)):
        told = told.assign(topic=told[topic])
    if "question" in held:
        told["question"] = table.parse("question", clean_text, "write the question as text")
    return melted(table, names, pd.DataFrame({"question_id": ids}), asked.answer), told


def _read(table: Table, asked: _Asked, told: pd.DataFrame | None, wanted: str) -> tuple[ResponseMatrix, Tops]:
    """The panel of a long table, and what stands for certain where it holds numbers.

    Args:
        told: of the questions of a table that was wide. wanted: what an answer may be.
    """
    table = asked.spellings.without_blanks(table, _OF_ANSWERS)
    held = set(table.frame.columns)
    is_cut = asked.states_numbers or ("confidence" in held and "said_yes" not in held)
    if is_cut:
        table.require("respondent", "confidence")
        table = replace(table, frame=table.frame.assign(said_yes=None))
    table.require("respondent", "said_yes")
    rows, tops = table.frame.copy(), None
    rows["question_id"] = _question_ids(table)
    for column, parse, what in (
        ("respondent", name_of, "name the respondent"),
        ("said_yes", asked.spellings.said, wanted),
        *((column, _number, _A_NUMBER) for column in ("margin", "mass", *SAMPLES)),
        ("sample", text_of, "number the samples"),
        ("answered_correctly", Spellings().said, WANTED),
        *((column, text_of, _A_TEXT) for column in METADATA),
        ("question", clean_text, "write the question as text"),
    ):
        if column in rows.columns:
            rows[column] = table.parse(column, parse, what)
    if "confidence" in rows.columns:
        groups = rows.groupby("respondent", sort=False).indices
        tops, values = _shares(table, {str(name): list(own) for name, own in groups.items()}, asked)
        rows["confidence"] = np.nan
        for name, own in groups.items():
            rows.loc[own, "confidence"] = values[str(name)]
    if "mass" in rows.columns:
        unread = rows["mass"].notna() & ~is_read(rows["mass"]) & rows["said_yes"].notna()
        rows.loc[unread, "said_yes"] = np.nan
        if unread.any():
            notice(f"{table.path}: {unread.sum()} answers with mass below {MASS_FLOOR:g} count as unread")
    answers = [name for name in ("said_yes", "confidence") if name in rows]
    failing = pd.Series(failures(table), rows.index, dtype=object).where(rows[answers].notna().any(axis=1))
    if failing.notna().any():
        rows.loc[failing.notna(), answers] = np.nan
        notice(
            f"{table.path}: {failing.notna().sum()} answers count as unread, since the column "
            f"{listed(failing.dropna().unique())} says that they failed"
        )
    asked_as = Columns(table, ROLES).found.get("question")
    if asked_as is not None:
        refuse_ids_of_rows(table, list(rows["question_id"]), list(rows["respondent"]), list(rows[asked_as]))
    if "sample" in rows.columns:
        _refuse_repeats(table, rows[["sample", "respondent", "question_id"]], "keep one row per sample")
    else:
        _say_what_disagrees(table, rows)
    _refuse_two_values(table, rows, "respondent", METADATA)
    _refuse_two_values(table, rows, "question_id", ("question",))
    panel = panel_from_long(rows)
    respondents = panel.respondents
    if (known := asked.known) is not None:
        known = known.reindex(respondents.index)
        known = known.where(known.notna(), respondents.reindex(columns=known.columns))
        known = known.join(respondents[[column for column in METADATA if column not in known.columns]])
        respondents = respondents_table(list(respondents.index), known)
    if (about := told) is None:
        of_questions = [name for name in rows if name in ("question", "topic", "level") or tells_keying(str(name))]
        about = rows.groupby("question_id", sort=False)[of_questions].first()
    about = about.reindex(panel.answers.index)
    texts = about.pop("question") if "question" in about else None
    responses = rows if told is None or is_cut else None
    about_questions = about if len(about.columns) else None
    read = ResponseMatrix(panel.answers, respondents, texts, responses, about_questions=about_questions)
    return read, tops if is_cut else None


def _shares(
    table: Table, places: Mapping[str, Sequence[int]], asked: _Asked
) -> tuple[dict[str, float], dict[str, list[float]]]:
    """What stands for certain for each respondent, and its numbers as shares of that; as they are where they stay so.

    Args:
        places: respondent to the rows of its numbers.
    """
    cuts, certain = [float(cut) for cut in asked.cuts if cut != MEDIAN], asked.certain
    most = certain or (1.0 if cuts and len(cuts) == len(asked.cuts) and max(cuts) <= 1 else PERCENT)
    wanted = _A_NUMBER if asked.in_numbers else f"give a number from 0 to {most:g}, or leave it blank"
    cells = table.parse("confidence", stated, wanted)
    numbers = {name: [cells[row] for row in rows] for name, rows in places.items()}
    if asked.in_numbers:
        refuse_mixed_scales(numbers, table)
        return {}, {name: [number.value for number in own] for name, own in numbers.items()}
    given = dict.fromkeys(numbers, certain) if certain is not None else {}
    if not given and asked.known is not None and "top" in asked.known:
        given = {name: float(top) for name, top in asked.known["top"].dropna().items() if name in numbers}
    cut = f"{cuts[0]:g}" if cuts else "8"
    remedy = (
        f"Name what stands for certain behind the cut ({table.path}:{cut}/10 or {table.path}:{cut}/100), as top: in "
        f"{ELICITATION_FILE}, or of each respondent in a column top of {RESPONDENTS_FILE}"
    )
    tops = tops_of(numbers, given, table, remedy)
    values = {name: [share(number, tops[name]) for number in own] for name, own in numbers.items()}
    for name, rows in places.items():
        for row, value in zip(rows, values[name], strict=True):
            if value < 0 or value > 1:
                raise InputError(
                    f"{table.where(row, 'confidence')} holds {table.frame['confidence'].iloc[row]!r}; give a number "
                    f"from 0 to {tops[name]:g}, or leave it blank"
                )
    stands = {number.value for own in numbers.values() for number in own if number.value == number.value}
    if asked.cuts and certain is None and stands <= {0.0, 1.0}:
        raise InputError("the panel holds no numbers to cut (confidence), only yes and no; leave the cut out")
    return tops, values


# ---- names, and what stands beside -----------------------------------------------------------------------------------


def _in_our_words(table: Table, chosen: Mapping[str, str]) -> Table:
    """The table with its columns under our names: those that the elicitation names, and those of a long table that
    imports know too, which is said aloud."""
    table.require(*chosen.values())
    if taken := [ours for ours in chosen if ours in table.frame.columns]:
        raise InputError(
            f"{ELICITATION_FILE} renames a column to {taken[0]!r}, but {table.path} has one of that name already; "
            "rename that one first"
        )
    found = Columns(table, ROLES, chosen).found
    usual, is_framed = {}, False
    if found.keys() & {"said_yes", "confidence"} and "respondent" in found:
        wanted = ["said_yes", "confidence", "answered_correctly"]
        wanted += [] if found.keys() & {"question"} or "id" in table.frame else ["question_id"]
        is_framed = "framing" in found and found["respondent"] != "respondent" and "respondent" not in chosen
        wanted += ["framing" if is_framed else "respondent"]
        usual = {found[ours]: ours for ours in wanted if found.get(ours, ours) != ours and ours not in chosen}
    if usual:
        notice(f"{table.path}: {', '.join(f'the column {a!r} is taken for {b}' for a, b in usual.items())}")
    frame = table.frame.rename(columns=usual | {theirs: ours for ours, theirs in chosen.items()})
    if is_framed:
        frame = _with_framed_respondents(table, frame, found["respondent"])
    return replace(table, frame=frame)


def _with_framed_respondents(table: Table, frame: pd.DataFrame, model: str) -> pd.DataFrame:
    """A model under several framings is several respondents, named as imports name them; said aloud."""
    names = table.parse(model, name_of, "name the model")
    framings = [None if is_blank(cell) else str(cell).strip() for cell in frame["framing"]]
    pairs = zip(names, framings, strict=True)
    respondents = [name if framing is None else f"{name}: {framing}" for name, framing in pairs]
    notice(f"{table.path}: a respondent is a model under a framing ({respondents[0]!r} first)")
    return frame.rename(columns={model: "model"}).assign(respondent=respondents)


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
        left = [each for each in _OF_RESPONDENTS if each not in held]
        if name not in _OF_RESPONDENTS and (meant := nearest(name, left)):
            raise InputError(
                f"{path} has a column {name!r}, which is not known; did you mean {meant!r}? Rename it, or give the "
                f"table a column {meant!r} as well"
            )
    known = pd.DataFrame({column: table.parse(column, text_of, _A_TEXT) for column in held})
    names = table.parse("respondent", name_of, "name the respondent")
    _refuse_repeats(table, pd.DataFrame({"respondent": names}), "keep one row of each respondent")
    return known.assign(respondent=names).set_index("respondent")


# ---- what is asked of every table ------------------------------------------------------------------------------------


def _question_ids(table: Table) -> list[str]:
    columns = table.frame.columns
    if "question_id" not in columns and "id" not in columns and "question" in columns:
        texts = table.parse("question", clean_text, "write the question as text")
        if None in texts:
            raise InputError(f"{table.where(texts.index(None), 'question')} is blank; write the question as text")
        return [question_id(text) for text in texts]
    column = "id" if "id" in columns and "question_id" not in columns else "question_id"
    table.require(column)
    return table.parse(column, name_of, "give every question its id")


def _say_whose_names_are_alike(names: Sequence[str], path: Path) -> None:
    alike = pd.Series(names, dtype=object).groupby([" ".join(name.casefold().split()) for name in names]).agg(list)
    if twins := [own for own in alike if len(own) > 1]:
        notice(f"{path}: {listed(twins[0])} are taken for {len(twins[0])} respondents; give one of them one name")


def _refuse_repeats(table: Table, keys: pd.DataFrame, remedy: str) -> None:
    for row in np.flatnonzero(keys.duplicated()):
        what = ", ".join(f"the {str(name).removesuffix('_id')} {keys[name].iloc[row]!r}" for name in keys)
        raise InputError(f"{table.where(int(row))} repeats {what}; {remedy}")


def _refuse_two_values(table: Table, rows: pd.DataFrame, key: str, columns: tuple[str, ...]) -> None:
    for column in (column for column in columns if column in rows):
        first = rows.groupby(key)[column].transform("first")
        for row in np.flatnonzero(rows[column].notna() & (rows[column] != first)):
            raise InputError(
                f"{table.where(int(row), column)} holds {rows[column][row]!r}, but {key} {rows[key][row]!r} had "
                f"{first[row]!r} before; give each {key} one {column}"
            )


def _say_what_disagrees(table: Table, rows: pd.DataFrame) -> None:
    """Rows of one question and respondent that nobody has numbered as samples may be a mistake."""
    both = rows.dropna(subset="said_yes").groupby(["question_id", "respondent"], sort=False)["said_yes"].nunique()
    if n := int((both > 1).sum()):
        question, respondent = both.index[both > 1][0]
        notice(
            f"{table.path}: {n} answers stand there both as yes and as no, first {respondent!r} on {question!r}; such "
            "rows count as samples, of which more than half decide: give a column sample, or keep one row each"
        )


def _number(cell: Any) -> float:
    if isinstance(cell, bool | list | dict):
        raise ValueError("no number")
    return np.nan if is_blank(cell) else float(cell)
