"""Read the questions of a table whose columns are known (`question_columns.QuestionColumns`).

A cell is taken for what its column is said to hold, or refused; it never tells what a column holds. Under canonical
names, which nobody has confirmed, more is refused: a worked solution as an answer, or a text that may be several.

Options keep their order. Where the right one is told from wrong ones, or by flags, the order is by a hash of question
and option: the right one stands anywhere, and always in the same place.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from onedial.asking.questions import LETTERS, Question, normalised_text, question_id, rendered
from onedial.asking.tables import Table, is_blank, listed, name_of, text_of
from onedial.core.errors import InputError
from onedial.core.files import sha256_of_text
from onedial.panels.grading.choice_grading import GRADERS
from onedial.panels.questions.cells import cells_of, clean_text, final_answer, is_empty, list_in_text, nowhere, texts_in
from onedial.panels.questions.question_columns import QuestionColumns
from onedial.panels.spellings import TRUTH, word_of

LONGEST_ANSWER = 30
"""Words of an answer that nobody has confirmed to be one."""
_SEVERAL = re.compile(r"\w[^\S\n]*[;|][^\S\n]*\w|\w\s/\s\w|\w[^\S\n]*\n\s*\w|[\[(](?:or|accept|also)\b", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d+(?:\.0)?")
_LABEL = re.compile(r"\(?([A-Za-z]|\d{1,2})\s*[).:\uff0e\u3001]\s*")
_WITHIN = re.compile(rf"(?:^|(?<=[\s,;])){_LABEL.pattern}(?=\S)(?!(?<=[.:])\d)")
"""A label within a text, which the point in a number such as 1.5 is none of."""
_LETTER = re.compile(r"\(?[A-Ja-j][).]{0,2}")
_TRUTHS = {"true", "false", "t", "f", "wahr", "falsch"}
_COUNTED = {"from 0": 0, "from 1": 1}


class Unclear(InputError):
    """What somebody has to say before it can be read: a mapping would (`suggest.advice`)."""


class Options(NamedTuple):
    """The options of one question, what the file calls each (letters where it does not say), and its place there."""

    texts: tuple[str, ...]
    labels: tuple[str, ...]
    places: tuple[int, ...]
    n_places: int

    @classmethod
    def of(cls, cells: Iterable[Any], labels: Iterable[Any] = LETTERS, may_lack: bool = False) -> "Options":
        """Without the blank ones at the end; raises ValueError where one has no label, or, unless some may lack, one
        before another is blank."""
        texts = [None if is_empty(cell) else clean_text(cell) for cell in cells]
        places = [place for place, text in enumerate(texts) if text is not None]
        names = [str(clean_text(label)) for label in labels]
        if not may_lack and places != list(range(len(places))):
            raise ValueError(f"option {next(n for n, text in enumerate(texts, 1) if text is None)} is blank")
        if len(names) <= max(places, default=-1):
            raise ValueError(f"{len(places)} options and {len(names)} labels")
        kept = (tuple(str(texts[place]) for place in places), tuple(names[place] for place in places))
        return cls(*kept, tuple(places), len(texts))

    def at(self, place: int) -> int:
        """Which option stands at a place of the file, where blank ones count; raises ValueError where none does."""
        if place not in self.places:
            raise ValueError("names a blank option, or none")
        return self.places.index(place)


def read_questions(table: Table, mapping: QuestionColumns) -> list[Question]:
    """Every row as a question.

    Raises:
        InputError: a named column that is not there, or a cell that is not what its column is said to hold; named by
            its line. `Unclear`: a canonical name whose cells may be something else.
    """
    return _Reader(table, mapping).questions()


class _Reader:
    """A table with its columns by their parts."""

    def __init__(self, table: Table, mapping: QuestionColumns) -> None:
        self.table, self.mapping, self.held = table, mapping, mapping.held(table)
        if "question" not in self.held:
            raise Unclear(f"{table.path} has no column 'question'; it holds {listed(map(str, table.frame.columns))}")
        for part, columns in self.held.items():
            for column in columns:
                if (heads := nowhere(table, column)) is not None:
                    raise InputError(f"{table.path}: nothing stands at {column!r}, named for {part}; {heads}")
        if ("right" in self.held) != ("wrong" in self.held):
            raise InputError(f"{table.path}: right and wrong go together; name the columns of both")

    def questions(self) -> list[Question]:
        texts = self.parsed("question", _question_text, "write the question as text")
        parts: dict[str, list[Any]] = {part: self.parsed(part, *how) for part, how in _CELLS.items()}
        ids = self.parsed("id", name_of, "give every question an id") if "id" in self.held else [None] * len(texts)
        texts, options, rights = self.options(texts)
        answers = self.answers(options)
        questions = []
        for row, (text, shown_options, right) in enumerate(zip(texts, options, rights, strict=True)):
            shown: tuple[str, ...] = () if shown_options is None else shown_options.texts
            key = answers[row]
            if shown_options is not None:
                key = choice_question(text, shown, right, identity="", where=self.table.where(row)).answers
            more = {part: cells[row] for part, cells in parts.items()}
            more["grading"] = more["grading"] or ("number" if self.mapping.final and shown_options is None else "text")
            name = ids[row] or question_id(rendered(text, shown))
            questions.append(Question(name, text, key, **more, options=shown, right_option=right))
        return questions

    def cells(self, part: str) -> list[tuple[Any, ...]]:
        """The cells of a part's columns, row by row; () in each where it has none."""
        columns = [cells_of(self.table, column) for column in self.held.get(part, ())]
        return list(zip(*columns, strict=True)) if columns else [()] * len(self.table.frame)

    def parsed(self, part: str, parse: Callable[[Any], Any], wanted: str) -> list[Any]:
        """What the cells of a part's column mean (`Table.parse`); of a part that is not there as of blank ones."""
        frame = self.table.frame
        if part not in self.held:
            return [parse(None)] * len(frame)
        column = self.held[part][0]
        if column not in frame.columns:
            frame = frame.assign(**{column: cells_of(self.table, column)})
        return replace(self.table, frame=frame).parse(column, parse, wanted)

    def is_mapped(self, *parts: str) -> bool:
        """Whether somebody has named a column of one of these."""
        return any(getattr(self.mapping, part) is not None for part in parts)

    def refusal(self, row: int, part: str, reason: str, confirmed: bool) -> InputError:
        """The error about a cell; `Unclear` where nobody has confirmed what its column holds."""
        kind = InputError if confirmed else Unclear
        return kind(f"{self.table.where(row, self.held[part][0])} {reason}")

    # ---- options -----------------------------------------------------------------------------------------------------

    def options(self, texts: list[str]) -> tuple[list[str], list[Options | None], list[int | None]]:
        """The texts, the options of each row if it has any, and the place of the right one if it is known."""
        part = "wrong" if "wrong" in self.held else "options"
        parse = self._right_and_wrong if part == "wrong" else self._listed
        beside = self.cells("right" if part == "wrong" else "labels")
        stems: list[str] = []
        options: list[Options | None] = []
        for row, (text, cells, others) in enumerate(zip(texts, self.cells(part), beside, strict=True)):
            try:
                stem, read_options = parse(text, cells, others)
            except (ValueError, TypeError) as error:
                reason = f"cannot be read as options ({error}); give a list, or an object by letter"
                raise self.refusal(row, part, reason, self.is_mapped(part)) from error
            stems.append(stem)
            options.append(read_options)
        rights: list[int | None] = [0] * len(options) if part == "wrong" else self.rights(options)
        if part == "wrong" or self.mapping.key_is == "flags":
            for row, (stem, shown, right) in enumerate(zip(stems, options, rights, strict=True)):
                if shown is not None:
                    in_order = tuple(sorted(shown.texts, key=lambda text: sha256_of_text(f"{stem}\x1f{text}")))
                    options[row] = shown._replace(texts=in_order)
                    rights[row] = None if right is None else in_order.index(shown.texts[right])
        return stems, options, rights

    def _listed(self, text: str, cells: tuple[Any, ...], labels: tuple[Any, ...]) -> tuple[str, Options | None]:
        """The text without its options, and these."""
        columns = self.held.get("options", ())
        if columns == self.held["question"]:
            stem, pairs = _shown(text)
            if not stem:
                raise ValueError("no question stands before them")
            return stem, Options.of(pairs.values(), pairs)
        if all(map(is_empty, cells)):
            return text, None
        read_options = Options.of(cells) if len(cells) > 1 else self._of_cell(cells[0], labels)
        first = read_options.texts[0] if read_options.texts else ""
        if first and first in text and re.search(rf"\bA\s*[).:]\s*{re.escape(first)}", text):
            raise ValueError("the question shows them already: write it without them")
        return text, read_options

    def _of_cell(self, cell: Any, labels: tuple[Any, ...]) -> Options:
        value = list_in_text(cell)
        if self.held.get("labels") == self.held["options"]:
            before, pairs = _shown(value) if isinstance(value, str) else ("", _labelled(value))
            if before:
                raise ValueError(f"{before[:40]!r} stands before the first label")
            return Options.of(pairs.values(), pairs)
        if isinstance(value, str) and self.mapping.split:
            value = value.split(self.mapping.split)
        if isinstance(value, list) and all(isinstance(each, dict) and len(each) == 1 for each in value):
            value = {label: text for each in value for label, text in each.items()}
        if isinstance(value, dict):
            if self.held.get("key") == self.held["options"]:  # target_scores of BIG-bench: the words, and their truth
                return Options.of(value)
            pairs = value
            if self.mapping.key_is not in ("flags", *_COUNTED) and all(
                re.fullmatch("[A-Za-z]", each) for each in pairs
            ):
                pairs = dict(sorted(pairs.items(), key=lambda pair: pair[0].casefold()))
            return Options.of(pairs.values(), pairs, may_lack=True)
        if not isinstance(value, list):
            raise ValueError(f"{type(value).__name__} where a list is wanted")
        heads = [_LABEL.match(each) if isinstance(each, str) else None for each in value]
        if not labels and len(value) > 1 and "".join(head[1] for head in heads if head) == LETTERS[: len(value)]:
            raise ValueError("each begins with its letter: name the column as labels too, labels=options")
        return Options.of(value, list_in_text(labels[0]) if labels else LETTERS)

    def _right_and_wrong(self, text: str, cells: tuple[Any, ...], right: tuple[Any, ...]) -> tuple[str, Options]:
        """The text, and the right option before the wrong ones."""
        accepted = texts_in(right[0])
        if not accepted:
            raise ValueError("no right answer beside wrong ones")
        wrong = (each for cell in cells for each in texts_in(cell, self.mapping.split))
        return text, Options.of([accepted[0], *dict.fromkeys(each for each in wrong if each not in accepted)])

    # ---- which option is right ---------------------------------------------------------------------------------------

    def rights(self, options: Sequence[Options | None]) -> list[int | None]:
        """The place of the right option of each row, None where the key is blank, or there is no key."""
        part = next((part for part in ("key", "answer", "answers") if part in self.held), None)
        if part is None or not any(options):
            return [None] * len(options)
        if part == "key" and self.mapping.key_is is None:
            raise Unclear(f"{self.table.path}: say what the key {self.held['key'][0]!r} is (key_is)")
        rights: list[int | None] = []
        for row, (shown_options, cells) in enumerate(zip(options, self.cells(part), strict=True)):
            values = [list_in_text(cell) for cell in cells if not is_empty(cell)]
            try:
                rights.append(self._right(part, values, shown_options) if shown_options and values else None)
            except ValueError as error:
                confirmed = self.is_mapped("key", "answer", "answers")
                raise self.refusal(row, part, f"holds {cells[0]!r}, which {error}", confirmed) from error
        return rights

    def _right(self, part: str, values: Sequence[Any], options: Options) -> int:
        kind = self.mapping.key_is if part == "key" else None
        if kind == "flags":
            places = _flagged(values[0], options)
        else:
            keys = [key for value in values for key in (value if isinstance(value, list) else [value])]
            places = list(dict.fromkeys(self._place(str(clean_text(str(key))), kind, options) for key in keys))
        if len(places) != 1:
            raise ValueError(f"names {len(places)} options as right; one is wanted: leave its row out")
        return places[0]

    def _place(self, key: str, kind: str | None, options: Options) -> int:
        if kind in _COUNTED:
            place = int(float(key)) - _COUNTED[kind] if _NUMBER.fullmatch(key) else -1
            if not 0 <= place < options.n_places:
                raise ValueError(f"is no place of its {options.n_places} options, counted {kind}")
            return options.at(place)
        given, *texts = (" ".join(text.split()) for text in (key, *options.texts))
        columns = self.held["options"]

        def is_label(place: int) -> bool:
            """Of a key that is said to be one also "(B)", "B. iron", and the name of the option's column."""
            names = [options.labels[place], *([columns[options.places[place]]] if len(columns) > 1 else [])]
            marks, folded = [name.casefold() for name in names], given.casefold()
            return any(head.strip(" ().:") in marks for head in (folded, folded.removesuffix(texts[place].casefold())))

        by_label = None if kind == "text" else _one_of(given, options.labels)
        if kind == "label" and by_label is None:
            by_label = next(filter(is_label, range(len(texts))), None)
        by_text = None if kind == "label" else _one_of(given, texts)
        if kind is None and _NUMBER.fullmatch(key) and (by_label is None or "labels" not in self.held):
            raise ValueError("is a number: say key_is=from 0, from 1 or text")
        if kind is None and None not in (by_label, by_text) and by_label != by_text:
            raise ValueError("is one option's label and another's words: say key_is=label or key_is=text")
        place_ = {"label": by_label, "text": by_text}.get(str(kind), by_label if by_text is None else by_text)
        if place_ is None:
            raise ValueError(f"is none of its {len(texts)} options: {listed(options.labels)} or their words")
        return place_

    # ---- accepted answers of questions without options ---------------------------------------------------------------

    def answers(self, options: Sequence[Options | None]) -> list[tuple[str, ...]]:
        """The accepted answers of each row; () where it has options."""
        if self.mapping.key_is == "truth":
            cells = self.parsed("key", _yes_or_no, "give true or false, or leave it blank")
            return [() if cell is None else (cell,) for cell in cells]
        answers: list[tuple[str, ...]] = []
        for row, (shown_options, several, one) in enumerate(
            zip(options, self.cells("answers"), self.cells("answer"), strict=True)
        ):
            pairs = (
                [] if shown_options else [("answers", cell) for cell in several] + [("answer", cell) for cell in one]
            )
            answers.append(tuple(dict.fromkeys(text for pair in pairs for text in self._accepted(row, *pair))))
        if not self.is_mapped("answer", "answers"):
            alone = [accepted[0] for accepted in answers if len(accepted) == 1]
            if {text.casefold() for text in alone} in ({"0", "1"}, {"y", "n"}):
                raise Unclear(f"{self.table.path}: the answers {listed(sorted({*alone}))} may stand for yes and no")
            if letter := next((text for text in alone if _LETTER.fullmatch(text)), None):
                raise Unclear(
                    f"{self.table.path}: the answer {letter!r} is a letter without options; name their column"
                )
        return answers

    def _accepted(self, row: int, part: str, cell: Any) -> Sequence[str]:
        """What one cell accepts; raises InputError where it is no answer, or may be several."""
        mark, confirmed, value = self.mapping.final, self.is_mapped(part), list_in_text(cell)
        if is_empty(value) or str(value).strip() == "None":
            return ()
        if mark:
            if (final := final_answer(cell, mark)) is None:
                lack = "boxes no answer" if mark == "boxed" else "has no answer after ####"
                raise self.refusal(row, part, lack, confirmed=True)
            return (final,)
        try:
            if part == "answer" and isinstance(value, list) and not confirmed:
                raise ValueError("a list: name the column as answers")
            texts = texts_in(cell, self.mapping.split) if part == "answers" else [str(clean_text(cell))]
        except ValueError as error:
            raise self.refusal(row, part, f"holds {cell!r} ({error}); give texts", confirmed) from error
        if not confirmed or "####" in str(cell):
            for text in texts:
                if reason := _doubt(text, isinstance(value, str), len(texts) == 1):
                    raise self.refusal(row, part, f"{reason}: {text[:60]!r}", confirmed)
        return texts


def choice_question(
    text: str, options: Sequence[str], right: int | None, topic: Any = None, identity: Any = None, where: str = ""
) -> Question:
    """A question with options; its answers are the right one's letter and words.

    Args:
        right: place of the right one, from 0; None where nobody knows.
        identity: its id; by default a hash of the text with its options, since data sets repeat a question with others.
        where: for messages.

    Raises:
        InputError: under 2 options or over 26, or the right one is none of them.

    >>> choice_question("Which is a metal?", ["neon", "iron"], 1).answers
    ('B', 'iron')
    """
    shown = tuple(options)
    if not 2 <= len(shown) <= len(LETTERS):
        raise InputError(f"{where or text!r} has {len(shown)} options; it needs 2 to {len(LETTERS)}")
    if right is not None and not 0 <= right < len(shown):
        raise InputError(f"{where or text!r} gives the right option {right}, which is none of its {len(shown)}, from 0")
    name = question_id(rendered(text, shown)) if identity is None else str(identity)
    answers = () if right is None else (LETTERS[right], shown[right])
    return Question(name, text, answers, topic, options=shown, right_option=right)


# ---- what cells mean -------------------------------------------------------------------------------------------------


def _doubt(text: str, may_be_several: bool, is_alone: bool) -> str | None:
    """Why a text under a canonical name may be no answer; None where it may. Beside others T may be tesla."""
    doubts = {
        "is a worked solution, whose answer stands after ####": "####" in text,
        "is a worked solution, whose answer is boxed": "\\boxed{" in text,
        f"holds more than {LONGEST_ANSWER} words, and may be no answer": len(text.split()) > LONGEST_ANSWER,
        "is a truth, which may stand for yes or no": text.casefold() in _TRUTHS and (is_alone or len(text) > 1),
        "may be several answers": may_be_several and bool(_SEVERAL.search(text)),
    }
    return next((reason for reason, holds in doubts.items() if holds), None)


def _one_of(key: str, names: Sequence[str]) -> int | None:
    """The place of a name as it is written, else the only one that is so but for its case; None where there is none.

    Raises:
        ValueError: several are.
    """
    for written in (str, str.casefold):
        places = [place for place, name in enumerate(names) if written(name) == written(key)]
        if len(places) > 1:
            raise ValueError(f"is {len(places)} of its options alike")
        if places:
            return places[0]
    return None


def _flagged(flags: Any, options: Options) -> list[int]:
    """The options whose flag is true; flags under the options' labels go by these, others by their places.

    Raises:
        ValueError: no list or object of truths, one for each option.
    """
    if isinstance(flags, dict):
        by_label = [flags.get(label) for label in options.labels]
        if flags.keys() >= set(options.labels) and len(flags) == options.n_places:
            return [place for place, flag in enumerate(by_label) if _yes_or_no(flag) == "yes"]
        flags = list(flags.values())
    if not isinstance(flags, list) or len(flags) != options.n_places:
        raise ValueError(f"is no list of {options.n_places} truths, one for each option")
    return [options.at(place) for place, flag in enumerate(flags) if _yes_or_no(flag) == "yes"]


def _labelled(value: Any) -> Mapping[str, str]:
    """Label -> words of a list of options whose words stand behind their labels."""
    heads = [(each, _LABEL.match(each)) for each in map(str.strip, value)]
    if without := next((each for each, head in heads if head is None), None):
        raise ValueError(f"{without!r} has no label")
    labels = {head[1]: each[head.end() :].strip() for each, head in heads if head}
    if len(labels) < len(heads):
        raise ValueError("a label stands twice")
    return labels


def _shown(text: str) -> tuple[str, Mapping[str, str]]:
    """What stands before the options that a text shows, and label -> words of each: marks of one style, in order.

    Raises:
        ValueError: no labels, labels in two styles, or such as stand twice or out of order.

    >>> _shown("Which is a metal? (A) wood (B) iron")
    ('Which is a metal?', {'A': 'wood', 'B': 'iron'})
    """
    styles: dict[tuple[bool, str, bool], list[re.Match[str]]] = {}
    for match in _WITHIN.finditer(text):
        styles.setdefault((match[0][0] == "(", match[0].strip()[-1], match[1].isdigit()), []).append(match)
    whole = [marks for marks in styles.values() if len(marks) > 1 and marks[0][1] in ("A", "a", "1")]
    if len(whole) != 1:
        raise ValueError(f"{len(whole)} kinds of labels, such as (A) and (B); one is wanted")
    (marks,) = whole
    names = [mark[1].upper() for mark in marks]
    if names != (list(LETTERS) if names[0] == "A" else [str(n) for n in range(1, 1 + len(names))])[: len(names)]:
        raise ValueError(f"its labels are {', '.join(names)}, not each once and in order")
    ends = [match.start() for match in marks[1:]] + [len(text)]
    words = [text[mark.end() : end].strip(" \t\n,;") for mark, end in zip(marks, ends, strict=True)]
    if below := next((each for each in words if "\n" in each), None):
        raise ValueError(f"the option {below[:60]!r} runs over several lines: take out what is none of it")
    return text[: marks[0].start()].strip(), dict(zip((mark[1] for mark in marks), words, strict=True))


def _question_text(cell: Any) -> str:
    text = clean_text(cell) if isinstance(list_in_text(cell), str) else None
    if text is None or not normalised_text(text):
        raise ValueError("no text, or text without words")
    return text


def _level(cell: Any) -> int | None:
    if (text := text_of(cell)) is None:
        return None
    number = float(text.casefold().removeprefix("level"))
    if not number.is_integer():
        raise ValueError("no whole number")
    return int(number)


def _yes_or_no(cell: Any) -> str | None:
    if is_blank(cell):
        return None
    if (value := TRUTH.get(word_of(cell))) is None:
        raise ValueError("is neither true nor false in each place")
    return "yes" if value else "no"


def _grading(cell: Any) -> str | None:
    if (name := text_of(cell)) is not None and name not in GRADERS:
        raise ValueError("no such grader")
    return name


_CELLS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "topic": (text_of, "give text, or leave it blank"),
    "level": (_level, "give a whole number, or leave the column unread (--columns level=)"),
    "unknowable": (lambda cell: _yes_or_no(cell) == "yes", "give true or false, or leave it blank"),
    "exact_answers": (texts_in, "give a list of texts"),
    "grading": (_grading, f"give {', '.join(GRADERS)}, or leave it blank; what has options is graded by its letter"),
    "wording_of": (text_of, "give a name that the wordings of one question share, or leave it blank"),
}
"""How the cells of a part are read, and what to give instead."""
