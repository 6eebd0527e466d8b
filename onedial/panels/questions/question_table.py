"""How people write questions, their options and their keys, told from the columns: files and folders may have any name.

    question    `COLUMNS` lists the names under which each part is found, in any case and spelling ("Correct Answer",
                correctAnswer); a question that is an object holds them itself ({"stem": ..., "choices": [...]})
    options     one column: a list; an object by label; {"text": [...], "label": [...]}; objects with a label and a
                text; text with | between, or lettered; a list that was written as text. Or a column for each
                (option_a, opa, choice1, A). Or the right answer and wrong ones. Or in the question: "(A) iron (B) wood"
    key         the option's label, its text, or its place from 0 or 1: whatever fits all rows of the column
    answers     a list, text with | between, a list that was written as text, {"text": [...]}, {"value": ..., "aliases":
                [...]}; of a worked solution what follows #### or is boxed last (graded as a number)

Options come in the order of their labels and are asked as lines "A) ...". Where the right answer is told from wrong
ones, the order is by a hash of question and option: the right one stands anywhere, and always in the same place. Where
a key can be read in two ways, which one was taken is said. Columns that look like options and are not understood are
refused, and so is code (HumanEval, MBPP): what a program does shows only when it runs, and nothing that a model wrote
is run here. A passage stays out, which is said.

What is written otherwise takes a function from a row to a question, and an entry of `layouts.LAYOUTS` in a plugin.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from onedial.asking.questions import Question, normalised_text, question_id
from onedial.asking.tables import Table, is_blank, listed, name_of, text_of
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.panels.grading.choice_grading import GRADERS, options_shown
from onedial.panels.questions.cells import answers_of, clean_text, final_answer_of, is_empty, list_in_text
from onedial.panels.questions.options import (
    Options,
    choice_question,
    key_of,
    labelled,
    options_in,
    options_within,
    refuse_keys,
    right_places,
)
from onedial.panels.questions.prompts import PROMPTS, bare_questions, say_what_may_be_shared

_NAMES = {
    "question": (
        "question problem questions question_text question_stem stem query goal sentence ctx startphrase front input "
        "prompt text"
    ),
    "id": "id question_id qid record_id unique_id uid",
    "answers": (
        "answers answer possible_answers best_answer correct_answers correct_answer right_answer gold_answer "
        "ground_truth target back solution"
    ),
    "aliases": "aliases answer_aliases correct_answers",
    "options": (
        "choices options mc1_targets endings answer_choices answer_options alternatives possible_choices target_scores "
        "candidates all_answers"
    ),
    "right": "correct_answer best_answer right_answer correct correct_answers answer",
    "wrong": "incorrect_answers wrong_answers distractors incorrect incorrect_options wrong",
    "topic": "topic subject category subject_name topic_name high_level_domain",
    "level": "level difficulty",
    "key": (
        "answer_key answer_idx answer_index answer_id answer_letter answer_label correct_index correct_idx "
        "correct_answer_index correct_answer_idx correct_option correct_option_index correct_choice correct_letter "
        "correct_label cop gold gold_index gold_idx label answer answers correct_answer correct_answers "
        "correct_answer_s correct right_answer target key"
    ),
    "of a long panel": (
        "id question_id question text answers answer exact_answers topic level unknowable grading wording_of"
    ),
}
COLUMNS = {part: tuple(names.split()) for part, names in _NAMES.items()}
"""What a question has, and the names of columns that hold it (see `_simple`): the first that is there."""
COLUMNS |= {name: (name,) for name in ("solution", "exact_answers", "unknowable", "grading", "wording_of")}
_KEYS, _OF_A_LONG_PANEL = COLUMNS.pop("key"), COLUMNS.pop("of a long panel")
_NAMES_OF_OPTIONS = {*COLUMNS["options"], *COLUMNS["wrong"], *_KEYS} - {"label", "correct", "key", "target"}
_COUNTS_FROM_0 = re.compile(r"(?:_|^)(?:index|idx|label|gold|cop)$")
"""Names of keys that count places, also where the options' columns are numbered from 1 (PIQA)."""
_FAMILY = re.compile(r"(option|choice|ending|alternative|answer|ans|opt|op|sol|)_?(\d{1,2}|[a-z])")
_OPTIONS_WITHOUT_A_KEY = ("option", "choice", "ending", "alternative", "sol")
_WRONG = re.compile(r"(?:(?:incorrect|wrong|false)(?:_(?:answer|option|choice))?|distractor)_?\d+")
_LIKE_OPTIONS = re.compile(
    r"option|choice|distractor|alternative|incorrect|wrong|candidate|^(?:opt?|answer)_?[a-e1-9]$|^[a-d]$"
)
_LIKE_KEYS = re.compile(r"correct|(?:^|_)(?:key|gold|label|cop)$|answer_?(?:key|idx|index|id)$")
_PASSAGES = ("context", "passage", "article", "premise", "image", "images", "audio")
_LEVELS = {"easy": 1, "medium": 2, "hard": 3}
_TRUTH = {"true": True, "yes": True, "1": True, "1.0": True, "false": False, "no": False, "0": False, "0.0": False}
_TOPIC_IN_TEXT = re.compile(r"['\"]topic['\"]\s*:\s*['\"]([^'\"]+)['\"]")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_SEVERAL = re.compile(r"\w\s*;\s*\w|\w\s+(?:/|\|\||or|aka)\s+\w|\w[^\S\n]*\n\s*\w")
_WANTED_ANSWERS = "give a list of texts, or one text with | between answers"


class QuestionTable:
    """One table, and which of its columns were read."""

    def __init__(self, table: Table) -> None:
        self.table = _unnested(table)
        names = [str(name) for name in self.table.frame.columns]
        self.column = {_simple(name): name for name in reversed(names)} | {name: name for name in names}
        found = {part: next(filter(self.column.get, known), None) for part, known in COLUMNS.items()}
        self.found = {part: self.column[name] for part, name in found.items() if name is not None}
        self.read_columns: set[str] = set()

    def read(self) -> tuple[list[Question], bool]:
        """Every row as a question, and whether the table gives their ids; raises InputError (`questions_of`)."""
        if "question" not in self.found:
            raise InputError(
                f"{self.table.path} has no column 'question'; it holds {listed(map(str, self.table.frame.columns))}: "
                "rename the column that is meant, or add a layout (--plugin)"
            )
        if _simple(self.found["question"]) not in ("question", "problem"):
            notice(f"{self.table.path}: the column {self.found['question']!r} is taken for the questions' text")
        texts = self.parse("question", _question_text, f"write the question as text, or remove the {self.table.unit}")
        if _simple(self.found["question"]) in PROMPTS:
            texts, template = bare_questions(texts)
            if shared := [part for part in (template.before, template.after) if part]:
                notice(f"{self.table.path}: all prompts share {listed(shared)}, which is taken away")
            say_what_may_be_shared(str(self.table.path), texts)
        ids = None
        if "id" in self.found:
            ids = self.parse("id", name_of, "give every question an id (text or a number), or leave the column out")
        texts, options = self.options(texts)
        questions = self.open_questions(texts) if options is None else self.choices(texts, options)
        known: dict[str, list[Any]] = {"topic": self.topics(), "level": self.levels()}
        known |= {part: self.parse(part, *how) for part, how in _PARTS.items()}
        known["grading"] = [given or own.grading for given, own in zip(known["grading"], questions, strict=True)]
        known |= {} if ids is None else {"id": ids}
        self.say_what_stays_out(texts)
        return [
            replace(question, **{name: cells[row] for name, cells in known.items()})
            for row, question in enumerate(questions)
        ], ids is not None

    def parse(self, part: str, parse_cell: Callable[[Any], Any], wanted: str) -> list[Any]:
        """A part of every question, by the table's own words for what is wrong."""
        name = self.found.get(part, part)
        self.read_columns.add(name)
        return self.table.parse(name, parse_cell, wanted)

    def cells(self, name: str) -> list[Any]:
        """A column's cells; None where they are blank."""
        self.read_columns.add(name)
        return [None if is_empty(cell) else cell for cell in self.table.frame[name]]

    def options(self, texts: list[str]) -> tuple[list[str], list[Options] | None]:
        """The questions without options within their texts, and the options of each; None where there are none."""
        for read in (self.listed_options, self.options_in_columns, self.right_and_wrong):
            if (options := read()) is not None:
                return texts, options
        self.refuse_what_looks_like_options()
        within = [found for found in map(options_within, texts) if found is not None]
        if len(within) == len(texts):
            stems, options = [stem for stem, _ in within], [own for _, own in within]
            keys = (self.keys(name) for name in self.key_columns())
            if any(right_places(own, options, None, self.found["question"]) for own in keys):
                return stems, options
        return texts, None

    def listed_options(self) -> list[Options] | None:
        name = self.found.get("options")
        if name is None or all(map(is_empty, self.table.frame[name])):
            return None
        found = []
        for row, cell in enumerate(self.cells(name)):
            try:
                found.append(Options(()) if cell is None else options_in(cell))
            except (ValueError, TypeError) as error:
                raise InputError(
                    f"{self.table.where(row, name)} cannot be read as options ({error}); give a list, an object by "
                    "letter, or text with | between"
                ) from error
        return found

    def options_in_columns(self) -> list[Options] | None:
        """A column for each option, whose label is the end of its name."""
        families: dict[str, dict[str, str]] = defaultdict(dict)
        for name, column in self.column.items():
            if (match := _FAMILY.fullmatch(name)) and column not in families[match[1]].values():
                families[match[1]][match[2]] = column
        for prefix, columns in families.items():
            start = next((start for start in ("a", "0", "1") if start in columns), None)
            run = [] if start is None else [_after(start, place) for place in range(len(columns))]
            members = {label: columns[label] for label in run if label in columns}
            cells = [self.table.parse(column, clean_text, "give an option as text") for column in members.values()]
            options = [labelled(list(zip(members, own, strict=True))) for own in zip(*cells, strict=True)]
            if len(members) > 1 and (prefix in _OPTIONS_WITHOUT_A_KEY or self.have_a_key(prefix, members, options)):
                self.read_columns.update(members.values())
                self.numbered = prefix if start == "1" else ""
                return options
        return None

    def have_a_key(self, prefix: str, members: Mapping[str, str], options: Sequence[Options]) -> bool:
        """Whether some column is a key to these, which may be kept back; columns A and B may be respondents."""
        if not any(self.column.get(name) not in (None, *members.values()) for name in _KEYS):
            return False
        keys = [self.keys(name) for name in self.key_columns() if name not in members.values()]
        if prefix or not keys:
            return bool(prefix) or all(_has_words(self.table.frame[column]) for column in members.values())
        given = [{str(key).casefold() for key in own if key is not None} for own in keys]
        return any(own <= {label.casefold() for label in members} for own in given) or any(
            right_places(own, options, None, str(self.table.path)) for own in keys
        )

    numbered = ""
    """What the columns of options are called, where they are numbered from 1."""

    def right_and_wrong(self) -> list[Options] | None:
        one = self.found.get("wrong")
        several = [column for name, column in sorted(self.column.items()) if _WRONG.fullmatch(name)]
        right = self.found.get("right")
        if right in (None, one) or not (one or several):
            return None
        wrong = [self.cells(name) for name in dict.fromkeys([one] if one else several)]
        self.read_columns.add(self.found.get("aliases", ""))
        found = []
        for row, own in enumerate(self.parse("right", answers_of, _WANTED_ANSWERS)):
            if not own:
                raise InputError(f"{self.table.where(row, right)} is blank, beside wrong answers; give the right one")
            try:
                others = [text for cells in wrong for text in _wrong_answers(cells[row], bool(one)) if text not in own]
            except ValueError as error:
                raise InputError(
                    f"{self.table.where(row, one)} {error}; give a list, or one text with | between"
                ) from error
            found.append(Options((own[0], *dict.fromkeys(others)), right=0))
        return found

    def key_columns(self) -> list[str]:
        """The columns that are called like a key, and hold something."""
        names = dict.fromkeys(self.column[name] for name in _KEYS if name in self.column)
        return [name for name in names if any(key is not None for key in self.keys(name))]

    def keys(self, name: str) -> list[str | int | None]:
        return [key_of(cell) for cell in self.table.frame[name]]

    def choices(self, texts: Sequence[str], options: Sequence[Options]) -> list[Question]:
        """The questions with their options, and the right one where it is told."""
        if all(each.right is None for each in options):
            options = [replace(own, right=right) for own, right in zip(options, self.rights(options), strict=True)]
        else:
            options = [own.in_an_order_that_does_not_tell(text) for own, text in zip(options, texts, strict=True)]
        if without := sum(each.right is None for each in options):
            notice(f"{self.table.path}: of {without} of {len(options)} questions the right option is not told")
        return [
            choice_question(text, own.texts, own.right, where=self.table.where(row))
            for row, (text, own) in enumerate(zip(texts, options, strict=True))
        ]

    def rights(self, options: Sequence[Options]) -> list[int | None]:
        """The right option of each row by the columns of keys that are understood, which must agree."""
        names = [name for name in self.key_columns() if name not in self.read_columns]
        known: dict[str, list[int | None]] = {}
        for name in names:
            counts = self.numbered and _COUNTS_FROM_0.search(_simple(name))
            first = "as a place, from 0" if counts else None
            places = right_places(self.keys(name), options, first, f"{self.table.path}: the key {name!r}")
            if places is not None:
                known[name] = places
        if names and not known:
            refuse_keys(list(self.table.frame[names[0]]), options, self.table.where, names[0])
        self.read_columns.update(known)
        found: list[int | None] = []
        for row, own in enumerate(options):
            told = {place: name for name, places in reversed(known.items()) if (place := places[row]) is not None}
            if len(told) > 1:
                both = " and ".join(f"{own.texts[place]!r} ({name})" for place, name in reversed(told.items()))
                raise InputError(
                    f"{self.table.where(row)} gives two right options, {both}; correct one, or leave out its column"
                )
            found.append(next(iter(told), None))
        return found

    def unread(self, read: Collection[str], *likely: re.Pattern[str]) -> list[str]:
        """The columns with words whose names are like these, and that are not read."""
        columns = [column for name, column in self.column.items() if any(each.search(name) for each in likely)]
        held = [name for name in map(str, self.table.frame.columns) if name in columns and name not in read]
        return [name for name in held if _has_words(self.table.frame[name])]

    def refuse_what_looks_like_options(self) -> None:
        """Asked without its options a question is another one."""
        if names := self.unread(set(self.found.values()), _LIKE_OPTIONS):
            raise InputError(
                f"{self.table.path} has columns that look like options, but are not understood "
                f"({listed(names)}): give `options` (a list, or text with | between) and `answer`, or "
                "leave these columns out to ask the bare questions"
            )

    def open_questions(self, texts: Sequence[str]) -> list[Question]:
        """Questions without options, with their accepted answers."""
        name = self.found.get("answers")
        ends = [None] * len(texts) if name is None else [final_answer_of(cell) for cell in self.table.frame[name]]
        solved = [final_answer_of(cell) for cell in self.parse("solution", text_of, "give the solution as text")]
        if name is not None and "problem" in self.column and name == self.found.get("solution") and None in ends:
            raise InputError(f"{self.table.where(ends.index(None))} has no answer: its solution boxes none")
        if any(ends) or any(solved):  # |x| is one answer, not three
            answers = self.parse(
                "answers", lambda cell: _whole(final_answer_of(cell) or cell), "give the answer as text"
            )
        else:
            answers = self.parse("answers", answers_of, _WANTED_ANSWERS)
            self.say_what_may_be_several(answers)
        more = self.parse("aliases", answers_of, _WANTED_ANSWERS)
        self.refuse_keys_without_options(answers, texts)
        is_truth = _are_true_or_false(answers, texts)
        if is_truth:
            notice(f"{self.table.path}: the answers true and false are taken for yes and no")
        questions = []
        for row, text in enumerate(texts):
            own = tuple(dict.fromkeys(answers[row] + more[row])) or ((solved[row],) if solved[row] else ())
            grading = "number" if ends[row] or solved[row] else "text"
            if is_truth and own:
                own = ("yes" if own[0].casefold() == "true" else "no",)
            elif len(own) == 1 and own[0] in options_shown(text):
                grading = "choice"
            questions.append(Question(question_id(text), text, own, grading=grading))
        return questions

    def say_what_may_be_several(self, answers: Sequence[tuple[str, ...]]) -> None:
        """Lone answers with another mark between texts than |, as in "Ann; Anna"."""
        several = [own[0] for own in answers if len(own) == 1 and _SEVERAL.search(own[0])]
        if several:
            notice(
                f"{self.table.path}: {len(several)} of {len(answers)} answers may be several, such as {several[0]!r}; "
                "each is taken for one: write | between answers, or a list"
            )

    def refuse_keys_without_options(self, answers: Sequence[tuple[str, ...]], texts: Sequence[str]) -> None:
        """Letters alone, or a column that is called like a key, belong to options, if not to some in the texts."""
        given = [answer for own in answers for answer in own]
        names = [name for name in self.key_columns() if _simple(name) in _KEYS[: _KEYS.index("label")]]
        if any(options_shown(text) for text in texts):
            return
        if names and not given:
            name = names[0]
        elif len(answers) > 1 and len(given) == len(answers) and all(len(own) == 1 and own in "ABCDE" for own in given):
            name = self.found["answers"]
        else:
            return
        raise InputError(
            f"{self.table.path}: the column {name!r} is a key to options, and none are found; give `options` (a list, "
            "or text with | between), or answers in words"
        )

    def topics(self) -> list[str | None]:
        """The topic's name; None where there is none."""
        name = self.found.get("topic") or (self.column.get("type") if "problem" in self.column else None)
        if name is None and "metadata" in self.column:
            found = [_TOPIC_IN_TEXT.search(str(cell)) for cell in self.table.frame[self.column["metadata"]]]
            return [None if match is None else match[1] for match in found]
        if name is None or name == "topic":
            return self.parse("topic", text_of, "give text, or leave it blank")
        return [None if isinstance(cell, bool | list | dict) else text_of(cell) for cell in self.table.frame[name]]

    def levels(self) -> list[int | None]:
        """Whole numbers; easy, medium and hard as 1 to 3; other words are left out. What words became is said."""
        name = self.found.get("level", "level")
        cells: Iterable[Any] = self.table.frame.get(name, [])
        words = {cell.strip().casefold() for cell in cells if isinstance(cell, str) and not is_blank(cell)}
        words = {word for word in words if not _is_number(word)}
        known = {word: int(match[1]) for word in words if (match := re.fullmatch(r"(?:level|grade)\s*(\d+)", word))}
        if words and words <= set(_LEVELS):
            known = {word: _LEVELS[word] for word in words}
            notice(
                f"{self.table.path}: the levels are {', '.join(f'{word} = {known[word]}' for word in sorted(words))}"
            )
        if words - set(known):
            notice(
                f"{self.table.path}: the column {name!r} holds words whose order is not known "
                f"({listed(sorted(words - set(known)), 3)}); no levels are taken from it"
            )
        if words - set(known) or (not words and _simple(name) == "difficulty"):
            return [None] * len(self.table.frame)
        wanted = "give a whole number, or leave it blank"
        return self.table.parse(name, lambda cell: _level(cell, known), wanted)

    def say_what_stays_out(self, texts: Sequence[str]) -> None:
        """Passages, columns that look like keys or options, and HTML."""
        where, columns = self.table.path, self.column.items()
        passages = dict.fromkeys(column for name, column in columns if name in _PASSAGES)
        if passages:
            notice(f"{where}: the passages ({listed(passages)}) stay out; questions are asked without them")
        if unread := self.unread(self.read_columns, _LIKE_OPTIONS, _LIKE_KEYS):
            notice(f"{where}: the columns {listed(unread)} look like options or keys, and are not read")
        if tagged := sum(bool(_TAG.search(text)) for text in texts):
            notice(f"{where}: {tagged} of {len(texts)} questions hold HTML, which is asked as it stands")


def of_a_long_panel(table: Table) -> list[str]:
    """The columns of a long panel that tell of its questions: known ones, and options that are alike in all rows of
    a question."""
    frame = table.frame
    key = next((name for name in ("question_id", "id", "question", "text") if name in frame), None)
    likely = [
        name for name in map(str, frame) if _LIKE_OPTIONS.search(_simple(name)) or _simple(name) in _NAMES_OF_OPTIONS
    ]
    if key is None or not frame[key].astype(str).duplicated().any():
        likely = []
    alike = [name for name in likely if (frame[name].astype(str).groupby(frame[key].astype(str)).nunique() == 1).all()]
    return [name for name in map(str, frame) if name in (*_OF_A_LONG_PANEL, *alike)]


def _simple(name: str) -> str:
    """A column's name in lower case, its words with _ between: "Correct Answer", correctAnswer."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", parted.lower()).strip("_")


def _after(start: str, place: int) -> str:
    """The label so many places after the first."""
    return str(int(start) + place) if start.isdigit() else chr(ord(start) + place)


def _unnested(table: Table) -> Table:
    """The table with the parts of questions that are objects as its own columns."""
    name = next((name for name in table.frame.columns if _simple(str(name)) == "question"), None)
    cells = [] if name is None else [list_in_text(cell) for cell in table.frame[name]]
    if not cells or not all(isinstance(cell, dict) for cell in cells):
        return table
    parts = pd.DataFrame(cells, dtype=object)
    frame = table.frame.drop(columns=name)
    added = parts[[column for column in parts.columns if column not in frame.columns]]
    return replace(table, frame=pd.concat([frame, added], axis=1))


def _has_words(cells: Iterable[Any]) -> bool:
    """Whether a column holds lists, or texts that are neither a number nor a yes or no."""
    return any(
        not isinstance(cell, str | int | float)
        or (isinstance(cell, str) and not (_is_number(cell) or cell.strip().casefold() in _TRUTH))
        for cell in cells
        if not is_empty(cell)
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _are_true_or_false(answers: Sequence[tuple[str, ...]], texts: Sequence[str]) -> bool:
    """Whether true and false are all that is answered, and no question asks for these words."""
    given = {answer.casefold() for own in answers for answer in own}
    return bool(given) and given <= {"true", "false"} and not any(re.search(r"(?i)\btrue\b", text) for text in texts)


def _question_text(cell: Any) -> str:
    text = clean_text(cell) if isinstance(cell, str) else None
    if text is None or not normalised_text(text):
        raise ValueError("no text, or text without words")
    return text


def _wrong_answers(cell: Any, are_several: bool) -> Sequence[str]:
    """The wrong answers of a cell; of a column of several at once they may stand with semicolons between."""
    found = answers_of(cell)
    if not are_several or len(found) != 1 or not isinstance(cell, str):
        return found
    if ";" in found[0]:
        return [text.strip() for text in found[0].split(";") if text.strip()]
    if "," in found[0]:
        raise ValueError(f"holds {found[0]!r}, which may be one answer or several")
    return found


def _whole(cell: Any) -> tuple[str, ...]:
    text = clean_text(cell)
    return () if text is None else (text,)


def _level(cell: Any, words: Mapping[str, int]) -> int | None:
    if is_blank(cell):
        return None
    if isinstance(cell, str) and cell.strip().casefold() in words:
        return words[cell.strip().casefold()]
    if isinstance(cell, bool | list | dict) or not float(cell).is_integer():
        raise ValueError("not a whole number")
    return int(float(cell))


def _unknowable(cell: Any) -> bool:
    if is_blank(cell):
        return False
    value = _TRUTH.get(str(cell).strip().lower())
    if value is None:
        raise ValueError("neither true nor false")
    return value


def _grading(cell: Any) -> str | None:
    name = text_of(cell)
    if name is not None and name not in GRADERS:
        raise ValueError("no such grader")
    return name


_PARTS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "unknowable": (_unknowable, "give true or false, or leave it blank"),
    "exact_answers": (answers_of, _WANTED_ANSWERS),
    "wording_of": (text_of, "give a name that the wordings of one question share, or leave it blank"),
    "grading": (_grading, f"give {', '.join(GRADERS)}, or leave it blank for text"),
}
"""How the cells of a part are read that has one name only, and what to give instead."""
