"""Read the questions of a table whose columns are known (`columns.QuestionColumns`).

A cell is taken for what its column is said to hold, or refused; it never tells what a column holds. Under canonical
names, which nobody has confirmed, more is refused: a worked solution as an answer, or a text that may be several.

Options keep their order. Where the right one is told from wrong ones, or by flags, the order is by a hash of question
and option: the right one stands anywhere, and always in the same place.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from onedial.asking.questions import LETTERS, Question, normalised_text, question_id, rendered
from onedial.asking.tables import Table, is_blank, listed, name_of, text_of
from onedial.core.errors import InputError
from onedial.core.files import sha256_of_text
from onedial.panels.grading.choice_grading import GRADERS
from onedial.panels.questions.cells import cells_of, clean_text, final_answer, is_empty, list_in_text, texts_in
from onedial.panels.questions.question_columns import QuestionColumns
from onedial.panels.spellings import TRUTH, word_of

LONGEST_ANSWER = 30
"""Words of an answer that nobody has confirmed to be one."""
_SEVERAL = re.compile(r"\w[^\S\n]*[;|][^\S\n]*\w|\w\s/\s\w|\w[^\S\n]*\n\s*\w")
_NUMBER = re.compile(r"-?\d+(?:\.0)?")
_LABEL = re.compile(r"\(?([A-Za-z]|\d{1,2})\s*[).:\uff0e\u3001]\s*")
_WITHIN = re.compile(r"(?:^|(?<=[\s,;]))\(?([A-Za-z]|\d{1,2})\s*[).:\uff0e\u3001]\s*(?=\S)")


class Unclear(InputError):
    """What somebody has to say before it can be read: a mapping would (`suggest.advice`)."""


@dataclass(frozen=True)
class Options:
    """The options of one question: those that are not blank.

    Attributes:
        texts: of each. labels: of each; letters where the file has none. places: of each in its list, from 0.
    """

    texts: tuple[str, ...]
    labels: tuple[str, ...]
    places: tuple[int, ...]

    @classmethod
    def of(cls, texts: Sequence[Any], labels: Sequence[Any] | None = None) -> "Options":
        """Those that are not blank."""
        names = list(LETTERS) if labels is None else [str(clean_text(label)) for label in labels]
        filled = [(place, text) for place, cell in enumerate(texts) if (text := clean_text(cell)) is not None]
        if len(names) < len(texts):
            raise ValueError(f"{len(texts)} options and {len(names)} labels")
        return cls(
            tuple(text for _, text in filled),
            tuple(names[place] for place, _ in filled),
            tuple(place for place, _ in filled),
        )


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

    def questions(self) -> list[Question]:
        texts = self.parsed("question", _question_text, "write the question as text")
        parts: dict[str, list[Any]] = {part: self.parsed(part, *how) for part, how in _CELLS.items()}
        ids = self.parsed("id", name_of, "give every question an id") if "id" in self.held else [None] * len(texts)
        texts, options, rights = self.options(texts)
        answers, graded = self.answers(texts, options)
        questions = []
        for row, text in enumerate(texts):
            own, key = options[row], answers[row]
            shown: tuple[str, ...] = () if own is None else own.texts
            if own is not None:
                key = choice_question(text, shown, rights[row], identity="", where=self.table.where(row)).answers
            more = {part: cells[row] for part, cells in parts.items()}
            more["grading"] = more["grading"] or graded
            name = ids[row] or question_id(rendered(text, shown))
            questions.append(Question(name, text, key, **more, options=shown, right_option=rights[row]))
        return questions

    def column(self, part: str) -> str:
        """The first column of a part, for messages."""
        return self.held[part][0]

    def parsed(self, part: str, parse: Callable[[Any], Any], wanted: str) -> list[Any]:
        """What the cells of a part mean (`Table.parse`); of a part that is not there as of blank ones."""
        if part not in self.held:
            return self.table.parse("", parse, wanted)
        column = self.column(part)
        frame = self.table.frame.assign(**{column: cells_of(self.table, column)}) if "." in column else self.table.frame
        return replace(self.table, frame=frame).parse(column, parse, wanted)

    def refuse(self, row: int, part: str, reason: str, confirmed: bool = True) -> InputError:
        """The error about a cell; `Unclear` where nobody has confirmed what its column holds."""
        kind = InputError if confirmed else Unclear
        return kind(f"{self.table.where(row, self.column(part))} {reason}")

    def is_mapped(self, part: str) -> bool:
        """Whether somebody has named the part's column."""
        return getattr(self.mapping, part) is not None

    # ---- options -----------------------------------------------------------------------------------------------------

    def options(self, texts: list[str]) -> tuple[list[str], list[Options | None], list[int | None]]:
        """The texts, the options of each row if it has any, and the place of the right one if it is known."""
        if "right" in self.held or "wrong" in self.held:
            options = self._right_and_wrong()
            return (texts, *self._by_hash(texts, options, [None if own is None else 0 for own in options]))
        if "options" not in self.held:
            return texts, [None] * len(texts), [None] * len(texts)
        if self.held["options"] == self.held["question"]:
            return self._within(texts)
        options = self._listed()
        self._refuse_shown(texts, options)
        rights = self._rights(options)
        return (
            texts,
            *(self._by_hash(texts, options, rights) if self.mapping.key_is == "flags" else (options, rights)),
        )

    def _listed(self) -> list[Options | None]:
        columns = [cells_of(self.table, column) for column in self.held["options"]]
        labels = cells_of(self.table, self.column("labels")) if "labels" in self.held else None
        is_labelled = self.held.get("labels") == self.held["options"]
        options: list[Options | None] = []
        for row in range(len(self.table.frame)):
            cells = [column[row] for column in columns]
            try:
                if all(map(is_empty, cells)):
                    options.append(None)
                elif len(cells) > 1:
                    options.append(Options.of(cells))
                else:
                    options.append(self._of_cell(cells[0], None if labels is None else labels[row], is_labelled))
            except (ValueError, TypeError) as error:
                reason = f"cannot be read as options ({error}); give a list, or an object by letter"
                raise self.refuse(row, "options", reason, self.is_mapped("options")) from error
        return options

    def _of_cell(self, cell: Any, labels: Any, is_labelled: bool) -> Options:
        value = list_in_text(cell)
        if is_labelled:
            pieces = _labelled(value)
            return Options.of([text for _, text in pieces], [label for label, _ in pieces])
        if isinstance(value, str) and self.mapping.split:
            value = value.split(self.mapping.split)
        if isinstance(value, list) and all(isinstance(each, dict) and len(each) == 1 for each in value):
            value = {label: text for each in value for label, text in each.items()}
        if isinstance(value, dict):
            if self.held.get("key") == self.held["options"]:  # target_scores of BIG-bench: the words, and their truth
                return Options.of(list(value))
            pairs = sorted(value.items(), key=lambda pair: pair[0].casefold()) if _are_labels(value) else value.items()
            return Options.of([text for _, text in pairs], [label for label, _ in pairs])
        if not isinstance(value, list):
            raise ValueError(f"{type(value).__name__} where a list is wanted")
        if labels is None and len(value) > 1 and all(isinstance(each, str) for each in value):
            heads = [_LABEL.match(each) for each in value]
            if [head and head[1].upper() for head in heads] == list(LETTERS[: len(value)]):
                raise ValueError("each begins with its letter: name the column as labels too, labels=options")
        return Options.of(value, None if labels is None else list_in_text(labels))

    def _within(self, texts: list[str]) -> tuple[list[str], list[Options | None], list[int | None]]:
        """Options that stand in the questions' text, which is cut off before them."""
        stems, options = [], []
        for row, text in enumerate(texts):
            try:
                stem, pieces = _shown(text)
            except ValueError as error:
                raise self.refuse(row, "options", f"shows no options ({error}); give them as a list") from error
            stems.append(stem)
            options.append(Options.of([words for _, words in pieces], [label for label, _ in pieces]))
        return stems, list(options), self._rights(list(options))

    def _refuse_shown(self, texts: Sequence[str], options: Sequence[Options | None]) -> None:
        """A text that shows its options would be asked with them twice."""
        for row, (text, own) in enumerate(zip(texts, options, strict=True)):
            first = own.texts[0] if own is not None and own.texts else ""
            if first and first in text and re.search(rf"\bA\s*[).:]\s*{re.escape(first)}", text):
                raise self.refuse(row, "question", "shows its options already; write the question without them")

    def _right_and_wrong(self) -> list[Options | None]:
        if not {"right", "wrong"} <= set(self.held):
            raise InputError(f"{self.table.path}: right and wrong go together; name the columns of both")
        rights = self.parsed("right", lambda cell: texts_in(cell, self.mapping.split), "give a text")
        columns = [cells_of(self.table, column) for column in self.held["wrong"]]
        options: list[Options | None] = []
        for row, right in enumerate(rights):
            try:
                wrong = [text for column in columns for text in texts_in(column[row], self.mapping.split)]
            except ValueError as error:
                raise self.refuse(row, "wrong", f"cannot be read ({error}); give a list of texts") from error
            if not right:
                raise self.refuse(row, "right", "is blank, beside wrong answers; give the right one")
            options.append(Options.of([right[0], *dict.fromkeys(text for text in wrong if text not in right)]))
        return options

    @staticmethod
    def _by_hash(
        texts: Sequence[str], options: Sequence[Options | None], rights: Sequence[int | None]
    ) -> tuple[list[Options | None], list[int | None]]:
        """The same in an order that does not tell the right one."""
        turned: list[Options | None] = []
        places: list[int | None] = []
        for text, own, right in zip(texts, options, rights, strict=True):
            words = () if own is None else own.texts
            order = sorted(words, key=lambda option, text=text: sha256_of_text(f"{text}\x1f{option}"))  # type: ignore[misc]
            turned.append(None if own is None else Options.of(order))
            places.append(None if right is None else order.index(words[right]))
        return turned, places

    # ---- which option is right ---------------------------------------------------------------------------------------

    def _rights(self, options: Sequence[Options | None]) -> list[int | None]:
        part = next((part for part in ("key", "answer", "answers") if part in self.held), None)
        if part is None:
            return [None] * len(options)
        if part == "key" and self.mapping.key_is is None:
            raise Unclear(f"{self.table.path}: say what the key {self.column('key')!r} is (key_is)")
        is_canonical = not any(map(self.is_mapped, ("key", "answer", "answers")))
        columns, rights = [cells_of(self.table, column) for column in self.held[part]], []
        for row, own in enumerate(options):
            try:
                rights.append(None if own is None else self._right(part, [column[row] for column in columns], own))
            except ValueError as error:
                value = columns[0][row]
                raise self.refuse(row, part, f"holds {value!r}, which {error}", not is_canonical) from error
        return rights

    def _right(self, part: str, cells: Sequence[Any], options: Options) -> int | None:
        values = [list_in_text(cell) for cell in cells if not is_empty(cell)]
        if part == "key" and self.mapping.key_is == "flags":
            flags = values[0] if values else []
            flags = list(flags.values()) if isinstance(flags, dict) else flags
            places = [options.places.index(place) for place, flag in enumerate(flags) if TRUTH.get(word_of(flag))]
            if len(places) != 1:
                raise ValueError(f"says of {len(places)} options that they are right; one is wanted")
            return places[0]
        keys = [key for value in values for key in (value if isinstance(value, list) else [value])]
        if not keys:
            return None
        places = list(dict.fromkeys(self._place(part, str(clean_text(str(key))), options) for key in keys))
        if len(places) > 1:
            raise ValueError("names several options; one is wanted")
        return places[0]

    def _place(self, part: str, key: str, options: Options) -> int:
        kind = self.mapping.key_is if part == "key" else None
        labels = [label.casefold() for label in options.labels]
        texts = [" ".join(text.casefold().split()) for text in options.texts]
        given = " ".join(key.casefold().split())
        if kind in ("from 0", "from 1"):
            place = int(float(key)) - int(kind == "from 1") if _NUMBER.fullmatch(key) else -1
            if place not in options.places:
                raise ValueError(f"is no place of its {len(texts)} options, counted {kind}")
            return options.places.index(place)
        by_label = labels.index(given) if given in labels else None
        if kind == "label" and by_label is None:
            by_label = self._with_words(given, labels, texts, options)
        by_text = texts.index(given) if given in texts else None
        if kind is None and _NUMBER.fullmatch(key) and (by_label is None or "labels" not in self.held):
            raise ValueError("is a number: say key_is=from 0, from 1 or text")
        if kind is None and None not in (by_label, by_text) and by_label != by_text:
            raise ValueError("is one option's label and another's words: say key_is=label or key_is=text")
        place_ = {"label": by_label, "text": by_text}.get(str(kind), by_label if by_text is None else by_text)
        if place_ is None:
            raise ValueError(f"is none of its {len(texts)} options: {listed(options.labels)} or their words")
        return place_

    def _with_words(self, key: str, labels: list[str], texts: list[str], options: Options) -> int | None:
        """The place of "(B)", "B. iron", or of the option's column, "option_b": what stands there must agree."""
        names = [name.casefold() for name in self.held["options"]]
        for place, text in enumerate(texts):
            for head in (key, key.removesuffix(text)):
                mark = head.strip(" ().:")
                if mark in (labels[place], names[options.places[place]] if len(names) > 1 else mark + "?"):
                    return place
        return None

    # ---- accepted answers of questions without options ---------------------------------------------------------------

    def answers(self, texts: Sequence[str], options: Sequence[Options | None]) -> tuple[list[tuple[str, ...]], str]:
        """The accepted answers of each row, () where it has options, and how they are graded."""
        rows = [row for row, own in enumerate(options) if own is None]
        if "key" in self.held and self.mapping.key_is == "truth":
            cells = self.parsed("key", _yes_or_no, "give true or false, or leave it blank")
            return [() if cell is None else (cell,) for cell in cells], "text"
        parts = [part for part in ("answers", "answer") if part in self.held]
        read: list[list[str]] = [[] for _ in texts]
        for part in parts if rows else ():
            for column in self.held[part]:
                cells = cells_of(self.table, column)
                for row in rows:
                    read[row] += self._accepted(part, row, cells[row])
        answers = [tuple(dict.fromkeys(own)) for own in read]
        letters = [len(own) == 1 and own[0] in "ABCDE" for row in rows for own in [answers[row]]]
        if letters and all(letters) and not any(map(self.is_mapped, parts)):
            raise Unclear(
                f"{self.table.path}: the column {self.column(parts[0])!r} holds letters, and there are no "
                "options; name their column, or give answers in words"
            )
        return answers, "number" if self.mapping.final else "text"

    def _accepted(self, part: str, row: int, cell: Any) -> Sequence[str]:
        """What one cell accepts; raises InputError where it is no answer, or may be several."""
        mark, confirmed, value = self.mapping.final, self.is_mapped(part), list_in_text(cell)
        if is_blank(value) or value in ([], {}):
            return ()
        if mark:
            if (final := final_answer(cell, mark)) is None:
                raise self.refuse(row, part, "boxes no answer" if mark == "boxed" else "has no answer after ####")
            return (final,)
        try:
            if part == "answers":
                texts = texts_in(cell, self.mapping.split)
            elif isinstance(value, list) and not confirmed:
                raise ValueError("a list: name the column as answers")
            else:
                texts = tuple(filter(None, [clean_text(cell)]))
        except ValueError as error:
            raise self.refuse(row, part, f"holds {cell!r} ({error}); give texts", confirmed) from error
        if not confirmed or "####" in str(cell):
            for text in texts:
                if reason := _doubt(text, isinstance(value, str)):
                    raise self.refuse(row, part, f"{reason}: {text[:60]!r}", confirmed)
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


def _doubt(text: str, may_be_several: bool) -> str | None:
    """Why a text under a canonical name may be no answer; None where it may."""
    if "####" in text:
        return "is a worked solution, whose answer stands after ####"
    if "\\boxed{" in text:
        return "is a worked solution, whose answer is boxed"
    if len(text.split()) > LONGEST_ANSWER:
        return f"holds more than {LONGEST_ANSWER} words, and may be no answer"
    if text.casefold() in ("true", "false"):
        return "is a truth, which may stand for yes or no"
    return "may be several answers" if may_be_several and _SEVERAL.search(text) else None


def _are_labels(names: Mapping[str, Any]) -> bool:
    return all(re.fullmatch("[A-Za-z]", name) for name in names)


def _labelled(value: Any) -> list[tuple[str, str]]:
    """Label and words of options whose words stand behind their labels, in a list or in one text."""
    if isinstance(value, str):
        stem, pieces = _shown(value)
        if stem:
            raise ValueError(f"{stem[:30]!r} stands before the first label")
        return pieces
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ValueError(f"{type(value).__name__} where a list of texts is wanted")
    heads = [(each.strip(), _LABEL.match(each.strip())) for each in value]
    if without := next((each for each, head in heads if head is None), None):
        raise ValueError(f"{without!r} has no label")
    return [(head[1], each[head.end() :].strip()) for each, head in heads if head]


def _shown(text: str) -> tuple[str, list[tuple[str, str]]]:
    """What stands before the options that a text shows, and label and words of each: A, B, ... or 1, 2, ... in turn.

    >>> _shown("Which is a metal? (A) wood (B) iron")
    ('Which is a metal?', [('A', 'wood'), ('B', 'iron')])
    """
    marks: list[re.Match[str]] = []
    for match in _WITHIN.finditer(text):
        wanted = (LETTERS[len(marks)], str(len(marks) + 1)) if len(marks) < len(LETTERS) else ()
        if match[1].upper() in wanted and (not marks or match[1].isdigit() == marks[0][1].isdigit()):
            marks.append(match)
    if len(marks) < 2:
        raise ValueError("fewer than two labels, such as (A) and (B)")
    ends = [match.start() for match in marks[1:]] + [len(text)]
    pieces = [(match[1], text[match.end() : end].strip(" \t\n,;")) for match, end in zip(marks, ends, strict=True)]
    return text[: marks[0].start()].strip(), pieces


def _question_text(cell: Any) -> str:
    text = clean_text(cell) if isinstance(list_in_text(cell), str) else None
    if text is None or not normalised_text(text):
        raise ValueError("no text, or text without words")
    return text


def _level(cell: Any) -> int | None:
    text = text_of(cell)
    if text is None:
        return None
    number = float(text.casefold().removeprefix("level"))
    if not number.is_integer():
        raise ValueError("no whole number")
    return int(number)


def _truth(cell: Any) -> bool | None:
    if is_blank(cell):
        return None
    if (value := TRUTH.get(word_of(cell))) is None:
        raise ValueError("neither true nor false")
    return value


def _yes_or_no(cell: Any) -> str | None:
    value = _truth(cell)
    return None if value is None else "yes" if value else "no"


def _grading(cell: Any) -> str | None:
    name = text_of(cell)
    if name is not None and name not in GRADERS:
        raise ValueError("no such grader")
    return name


_CELLS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "topic": (text_of, "give text, or leave it blank"),
    "level": (_level, "give a whole number, or leave it blank"),
    "unknowable": (lambda cell: bool(_truth(cell)), "give true or false, or leave it blank"),
    "exact_answers": (texts_in, "give a list of texts"),
    "grading": (_grading, f"give {', '.join(GRADERS)}, or leave it blank; what has options is graded by its letter"),
    "wording_of": (text_of, "give a name that the wordings of one question share, or leave it blank"),
}
"""How the cells of a part are read, and what to give instead."""
