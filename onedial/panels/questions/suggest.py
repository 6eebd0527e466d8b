"""What a table's columns may be meant for: mappings to choose from, for somebody to confirm. Nothing is read by these.

Names (suggested_names.yaml) and cells are looked at for two things: to refuse a table in which another column could be
meant than the one with the canonical name (`rivals`), and to print mappings that read it whole, the likeliest first
(`suggest`).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any

from onedial.asking.questions import LETTERS, Question
from onedial.asking.tables import Table
from onedial.core.errors import InputError
from onedial.core.files import packaged_yaml
from onedial.panels.questions.cells import cells_of, is_empty, list_in_text
from onedial.panels.questions.question_columns import CANONICAL, QuestionColumns, head_of, written
from onedial.panels.questions.question_table import read_questions
from onedial.panels.spellings import TRUTH, word_of

_FILE = packaged_yaml("onedial.panels.questions", "suggested_names.yaml")
NAMES = {part: names.split() for part, names in _FILE.items()}
_LIKE_ANSWERS = {name for part in ("answers", "aliases", "options", "wrong", "right") for name in NAMES[part]}
_NTH = r"(?:key|idx|index|id|letter|label|number|num|position)"
_KEY = re.compile(
    rf"(?:correct|right|gold)(?:_(?:answer|option|choice|alternative|ending)s?)?(?:_{_NTH})?(?:_s)?"
    rf"|(?:answer|ans)(?:_{_NTH}|key)?|answers|cop|label(?:_{_NTH}|_ix)?|target|key|solution"
)
_FAMILY = re.compile(r"([a-z_]*?)_?(\d{1,2}|[a-j])")
_WRONG_ONE = re.compile(r"(?:incorrect|wrong|false|falsch|distractor)(?:_(?:answer|option|choice))?_?\d+")
_LIKE = re.compile(r"ans|truth|true|gold|target|label|correct|solution|option|choice|distractor|alternative|wrong")
_CODE = {"entry_point", "test_list", "canonical_solution"}
_MARKS = ("|", ";", " / ", "\n")
_LOOKED_AT = 100
"""Rows from which it is told what columns may hold; whether they do is tried on all."""
_TRIED = 120
MOST = 3
"""Mappings that are printed."""


def rivals(table: Table, mapping: QuestionColumns) -> list[str]:
    """Columns that could be meant for answers, options or a key, hold something, and are not read.

    Where nothing is read as answers or options, a name that is only like theirs will do; beside answers also what tells
    that a model gave them.
    """
    names, held = [str(name) for name in table.frame.columns], mapping.held(table)
    taken = {head_of(column, names) for columns in held.values() for column in columns}
    is_panel = "said_yes" in names
    is_loose = not held.keys() & {"answers", "answer", "options", "key", "right"}

    def could_be(name: str) -> bool:
        is_one_more = re.sub(r"_?\d+$", "", name) in _LIKE_ANSWERS  # answer2
        is_named = (is_one_more and len(name) > 1) or _WRONG_ONE.fullmatch(name) or _KEY.fullmatch(name)
        return bool(is_named or (_LIKE.search(name) if is_loose else name in NAMES["graded"] and not is_panel))

    like = [name for name in names if could_be(simple(name))] + [name for family in _families(table) for name in family]
    return [name for name in dict.fromkeys(like) if name not in taken and _filled(table.frame[name])]


def are_ids(texts: Iterable[Any]) -> bool:
    """Whether texts only number questions: 1, Q1, q-001."""
    return all(re.fullmatch(r"[A-Za-z]{0,3}[-_. ]?\d+", str(text).strip()) for text in texts)


def advice(table: Table, in_python: bool, without: Mapping[str, Any] | None = None) -> str:
    """The remedy that ends a refusal: mappings to choose from, each with what row 1 would then read."""
    if _CODE & set(map(str, table.frame.columns)):
        return "code could only be graded by running it; give questions with answers"
    if row := next((name for name in map(str, table.frame.columns) if re.search(r"^#|[?.!]$", name)), None):
        return (
            f"{row[:60]!r} names none: if it is of the first row, write names above that (question, answer); if people "
            "stand in the rows and what they were asked in the columns, give it as --panel, with --turned COLUMN"
        )
    pairs = suggest(table, without)
    shown = [f"{written(mapping, in_python)} (row 1: {in_words(question)})" for mapping, question in pairs]
    if not shown:
        cell = "correct that cell, or leave its row out; or " if "question" in table.frame.columns else ""
        return f"{cell}say which column holds what: {written({'question': 'COLUMN', 'answers': 'COLUMN'}, in_python)}"
    return f"if that is meant, add {shown[0]}" if len(shown) == 1 else f"add what is meant: {'; or '.join(shown)}"


def in_words(question: Question) -> str:
    """A question and its answer, shortened."""
    answer = "no answer"
    if question.right_option is not None:
        answer = f"{question.answers[0]}) {_short(question.answers[1])}"
    elif question.answers:
        answer = " or ".join(f'"{_short(text)}"' for text in question.answers[:2])
    options = f", {len(question.options)} options" if question.options else ""
    return f'"{_short(question.text)}"{options} -> {answer}'


def suggest(table: Table, without: Mapping[str, Any] | None = None) -> list[tuple[dict[str, Any], Question]]:
    """Mappings that read all of the table, the likeliest first, each with row 1 as it would be read.

    Args:
        without: a mapping that was tried already.
    """
    read: list[tuple[dict[str, Any], list[Question]]] = []
    head = replace(table, frame=table.frame.head(_LOOKED_AT))
    for mapping in islice(_candidates(head), _TRIED):
        with suppress(InputError):
            questions = read_questions(head, QuestionColumns.of(mapping))
            if any(others[0].right_option is not None for _, others in read) and questions[0].right_option is None:
                continue  # without the key that another one reads
            if mapping != without and questions not in [others for _, others in read]:
                read_questions(table, QuestionColumns.of(mapping))
                read.append((mapping, questions))
        if len(read) == MOST:
            break
    return [(mapping, questions[0]) for mapping, questions in read]


# ---- candidates, the likeliest first: what cannot be read so is refused when it is tried ----------------------------


def _candidates(table: Table) -> Iterator[dict[str, Any]]:
    columns = [str(name) for name in table.frame.columns if name]
    for question in _questions(table, columns):
        left = _by_name(name for name in columns if name != head_of(question, columns))
        about = {part: name for part in ("id", "topic") if (name := _first(left, NAMES[f"{part}s"]))}
        base = {} if question == "question" else {"question": question}
        base |= {part: name for part, name in about.items() if CANONICAL.get(name) != part}
        base |= {"level": ""} if "level" in columns and _share(table.frame["level"], str.isalpha) else {}
        options = list(_options(table, left, question))
        yield from (base | parts for parts in _right_and_wrong(table, left))
        for held in options:
            several = held["options"] if isinstance(held["options"], tuple) else (held["options"],)
            heads = {head_of(each, columns) for each in several}
            others = {key: name for key, name in left.items() if name not in heads}
            yield from (base | held | key for key in ([{}] if "key_is" in held else _keys(table, others)))
        are_answers = [held for held in options if simple(str(held["options"][0]))[:3] == "ans"]
        yield from (base | {"answers": held["options"]} for held in are_answers)
        yield from (base | answers for answers in _answers(table, left))
        yield from (base | held for held in options)
        yield base or {"question": question}


def _questions(table: Table, columns: Sequence[str]) -> list[str]:
    """Columns, or paths, that may hold what is asked: no ids, and no two words such as "cause" and "effect"."""
    names = _by_name(columns)
    likely = [names[key] for key in NAMES["questions"] if key in names]
    asking = [name for name in columns if _share(table.frame[name], lambda text: text.rstrip().endswith("?")) > 0.5]
    paths: list[str] = []
    for name in dict.fromkeys([*likely, *asking]):
        cells = _filled(table.frame[name])
        if cells and isinstance(cells[0], dict):
            paths += [f"{name}.{key}" for key in ("stem", "text", "question") if key in cells[0]]
        elif not are_ids(cells) and (len(cells) < 4 or len(set(map(str, cells))) > 2):
            paths.append(name)
    return paths


def _right_and_wrong(table: Table, names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    several = sorted(
        (name for key, name in names.items() if _WRONG_ONE.fullmatch(key)), key=lambda name: (len(name), name)
    )
    wrong = [names[key] for key in NAMES["wrong"] if key in names][:1] or several
    right = _first(names, NAMES["right"])
    if wrong and right and right not in wrong:
        parts = {"right": right, "wrong": wrong[0] if len(wrong) == 1 else tuple(wrong)}
        yield from (parts | {"split": mark} for mark in _marks_in(table.frame[wrong[0]]) if len(wrong) == 1)
        yield parts


def _options(table: Table, names: Mapping[str, str], question: str) -> Iterator[dict[str, Any]]:
    """Where the options of each question may stand."""
    head = question.rpartition(".")[0]
    nested = [f"{head}.{key}" for key in NAMES["options"] if head]
    named = [names[key] for key in NAMES["options"] if key in names]
    for column in dict.fromkeys([*nested, *named]):
        if cells := _filled(cells_of(table, column)):
            yield from _options_in(column, cells)
    yield from ({"options": tuple(family)} for family in _families(table) if question not in family)
    yield {"options": question, "labels": question}


def _options_in(column: str, cells: Sequence[Any]) -> Iterator[dict[str, Any]]:
    first = cells[0][0] if isinstance(cells[0], list) else cells[0]
    if not isinstance(first, dict):
        yield {"options": column, "labels": column}
        yield {"options": column}
        yield from ({"options": column, "split": mark} for mark in _marks_in(cells, (*_MARKS, ",")))
        return
    kinds = (NAMES[f"option_{part}"] for part in ("text", "label", "flag"))
    text, label, flag = (next((key for key in known if key in first), None) for known in kinds)
    if text is None:
        are_flags = all(isinstance(value, int | float) for value in first.values() if value is not None)
        yield {"options": column} | ({"key": column, "key_is": "flags"} if are_flags else {})
        return
    yield from [{"options": f"{column}.{text}", "key": f"{column}.{flag}", "key_is": "flags"}] if flag else []
    yield from [{"options": f"{column}.{text}", "labels": f"{column}.{label}"}] if label else []
    yield {"options": f"{column}.{text}"}


def _keys(table: Table, names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """What may say which option is right, letters first; from where places are counted is for somebody to say."""
    columns = {name: _filled(table.frame[name]) for key, name in names.items() if _KEY.fullmatch(key)}
    for column in sorted(filter(columns.get, columns), key=lambda name: not all(map(_is_letter, columns[name]))):
        yield from [{"answer": column}] if column == "answer" else []
        yield from ({"key": column, "key_is": kind} for kind in ("flags", "label", "from 0", "from 1", "text"))


def _is_letter(cell: Any) -> bool:
    return bool(re.fullmatch(r"\(?[A-Ja-j]\)?\.?", str(cell)))


def _answers(table: Table, names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Which column may hold accepted answers."""
    likely = [names[key] for key in NAMES["answers"] if key in names]
    likely += [name for key, name in names.items() if _LIKE.search(key)]
    others = [name for key, name in names.items() if key not in {*NAMES["ids"], *NAMES["topics"], *NAMES["questions"]}]
    short = [name for name in others if _share(table.frame[name], lambda text: len(text.split()) < 9) > 0.8]
    aliases = _first(names, NAMES["aliases"])
    for column in [name for name in dict.fromkeys(likely) if _filled(table.frame[name])] or short:
        cells = _filled(table.frame[column])
        first = cells[0][0] if isinstance(cells[0], list) else cells[0]
        if isinstance(first, dict):
            paths = [f"{column}.{key}" for key in ("value", "text", "answer", "spans", "aliases") if key in first]
            yield from [{"answers": paths[0] if len(paths) == 1 else tuple(paths)}] if paths else []
            continue
        yield from ({"answers": column, "final": mark} for mark in ("####", "boxed"))
        yield {"key": column, "key_is": "truth"}
        yield from ({"answers": column, "split": mark} for mark in _marks_in(cells))
        yield from [{"answers": (column, aliases)}] if aliases and aliases != column else []
        yield {"answer" if all(isinstance(cell, str) for cell in cells) else "answers": column}
        yield {"answer": column}


# ---- looking at names and cells --------------------------------------------------------------------------------------


def simple(name: str) -> str:
    """A column's name in lower case, its words with _ between.

    >>> simple("Correct Answer"), simple("correctAnswer")
    ('correct_answer', 'correct_answer')
    """
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", parted.lower()).strip("_")


def _families(table: Table) -> list[list[str]]:
    """Columns that are called alike up to a letter or number, in turn: option_a, option_b, ..."""
    held: dict[str, dict[str, str]] = {}
    for name in map(str, table.frame.columns):
        if match := _FAMILY.fullmatch(simple(name)):
            held.setdefault(match[1], {}).setdefault(match[2], name)
    families = []
    for prefix, members in held.items():
        starts = [["a", *LETTERS[1:].lower()]] + (
            [[str(start + n) for n in range(26)] for start in (0, 1)] if prefix else []
        )
        marks = next((marks for marks in starts if marks[0] in members), [])
        family = [members[mark] for mark in marks if mark in members]
        cells = [table.frame[name] for name in family]
        is_told = all(map(_are_words, cells)) if prefix else any(map(_are_no_truths, cells))
        if len(family) > 1 and (is_told or prefix in NAMES["families"]):
            families.append(family)
    return families


def _by_name(columns: Iterable[str]) -> dict[str, str]:
    """Simple name -> the first column that has it, in their order."""
    names: dict[str, str] = {}
    for name in columns:
        names.setdefault(simple(name), name)
    return names


def _first(names: Mapping[str, str], known: Iterable[str]) -> str | None:
    return next((names[key] for key in known if key in names), None)


def _filled(cells: Iterable[Any]) -> list[Any]:
    """What the cells hold that hold something; lists that were written as text as lists."""
    return [list_in_text(cell) for cell in cells if not is_empty(cell)]


def _are_words(cells: Iterable[Any]) -> bool:
    """Whether cells hold texts that are neither numbers nor a yes or no."""
    texts = [str(cell).strip().casefold() for cell in _filled(cells)]
    return any(not re.fullmatch(r"[-\d.]+", text) and text not in TRUTH for text in texts)


def _are_no_truths(cells: Iterable[Any]) -> bool:
    """Whether cells hold what is neither a yes nor a no, as respondents called A and B would give it."""
    return any(word_of(cell) not in TRUTH for cell in _filled(cells))


def _marks_in(cells: Iterable[Any], marks: Sequence[str] = _MARKS) -> list[str]:
    """The marks that stand between words of some text."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    return [mark for mark in marks if any(re.search(rf"\w\s*{re.escape(mark)}\s*\w", text) for text in texts)]


def _share(cells: Iterable[Any], holds: Callable[[str], bool]) -> float:
    """Of the cells that hold something, the share that are texts of which this holds."""
    filled = _filled(cells)
    return sum(isinstance(cell, str) and holds(cell) for cell in filled) / len(filled) if filled else 0.0


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:57]}..."
