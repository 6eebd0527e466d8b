"""What a cell holds, once it is said which part of a question stands in it."""

import ast
import html
import io
import json
import re
import tokenize
from collections.abc import Sequence
from typing import Any

import numpy as np

from onedial.asking.tables import Table, is_blank, listed, text_of
from onedial.panels.grading.number_grading import last_box
from onedial.panels.questions.question_columns import head_of

_ENTITY = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|[A-Za-z]\w*);")
_NOTHING = {"nan", "#n/a", "n/a", "<na>", "null"}
_LIST = re.compile(r"\s*(?:\[.*\]|\{.*\}|array\(.*\))\s*$", re.DOTALL)
_ARRAY = re.compile(r"\barray\((\[.*?\])(?:,\s*dtype=[\w<>']+)?\)", re.DOTALL)


def clean_text(cell: Any) -> str | None:
    """A text as it is asked: without outer white space, HTML entities as their characters; None where it is blank.

    Raises:
        ValueError: neither text nor a number.
    """
    text = text_of(cell)
    return None if text is None else _ENTITY.sub(lambda entity: html.unescape(entity[0]), text).strip()


def cells_of(table: Table, column: str) -> list[Any]:
    """The cells of a column, or what a path reaches in them: `a.text` in each of a list, `a.0.text` in its first."""
    head, steps = _path(table, column)
    cells = table.frame[head].tolist() if head in table.frame.columns else [None] * len(table.frame)
    return [_reached(list_in_text(cell), steps) for cell in cells] if steps else cells


def nowhere(table: Table, column: str) -> str | None:
    """What a column holds instead, where a path leads nowhere in all of its cells; None where it leads somewhere."""
    head, steps = _path(table, column)
    cells = [list_in_text(cell) for cell in table.frame[head] if not is_empty(cell)] if steps else []
    if not cells or any(_leads(cell, steps) for cell in cells):
        return None
    first = cells[0][0] if isinstance(cells[0], list) else cells[0]
    return f"{head!r} holds {listed(first) if isinstance(first, dict) else 'no objects'}"


def _path(table: Table, column: str) -> tuple[str, list[str]]:
    """The column in which a path begins, and its steps from there."""
    head = head_of(column, [str(name) for name in table.frame.columns]) or column
    return head, column[len(head) + 1 :].split(".") if column != head else []


def _leads(cell: Any, steps: Sequence[str]) -> bool:
    if isinstance(cell, list):
        return not cell or any(_leads(each, steps) for each in cell)
    return not steps or (isinstance(cell, dict) and steps[0] in cell and _leads(cell[steps[0]], steps[1:]))


def _reached(cell: Any, steps: Sequence[str]) -> Any:
    for place, step in enumerate(steps):
        if isinstance(cell, list) and not step.isdigit():
            return [_reached(each, steps[place:]) for each in cell]
        held = dict(zip(map(str, range(len(cell))), cell, strict=True)) if isinstance(cell, list) else cell
        cell = held.get(step) if isinstance(held, dict) else None
    return cell


def list_in_text(cell: Any) -> Any:
    """What a cell stands for: a list or object that was written as text, by JSON, Python or numpy; else itself.

    >>> list_in_text("['Danube' 'The Danube']"), list_in_text("[-2, 7]"), list_in_text("[sic]")
    (['Danube', 'The Danube'], [-2, 7], '[sic]')
    """
    if not isinstance(cell, str):
        return plain(cell)
    if not _LIST.match(cell):
        return cell
    text = _ARRAY.sub(r"\1", cell.strip())
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return plain(ast.literal_eval(_with_commas(text)))
    except (ValueError, SyntaxError, TypeError, tokenize.TokenError, MemoryError, RecursionError):
        return cell


def plain(cell: Any) -> Any:
    """Without numpy: lists, objects and plain values as JSON has them."""
    if isinstance(cell, np.ndarray | list | tuple):
        return [plain(each) for each in cell]
    if isinstance(cell, dict):
        return {str(name): plain(each) for name, each in cell.items()}
    return cell.item() if isinstance(cell, np.generic) else cell


def _with_commas(text: str) -> str:
    """A list with commas between its values, which numpy leaves out ("['a' 'b']" would be one text, 'ab')."""
    tokens, before = [], None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if not token.string.strip():
            continue
        if before in (tokenize.STRING, tokenize.NUMBER) and token.type == before:
            tokens.append(",")
        tokens.append(token.string)
        before = token.type
    return " ".join(tokens)


def texts_in(cell: Any, split: str | None = None) -> tuple[str, ...]:
    """The texts of a list, or the one text; blank ones are left out, repeats count once.

    Args:
        split: the mark between texts in one text.

    Raises:
        ValueError: the cell holds something else, or a text that may be a list or none ("[-2, 7]").

    >>> texts_in('["Danube", "The Danube"]'), texts_in("Danube|The Danube"), texts_in("a|b", "|")
    (('Danube', 'The Danube'), ('Danube|The Danube',), ('a', 'b'))
    """
    value = list_in_text(cell)
    if isinstance(value, str) and split:
        value = value.split(split)
    elif isinstance(value, list) and isinstance(cell, str) and not all(isinstance(each, str) for each in value):
        raise ValueError("a list without quotation marks")
    texts = (clean_text(each) for each in (value if isinstance(value, list) else [value]) if not is_empty(each))
    return tuple(dict.fromkeys(text for text in texts if text is not None))


def final_answer(cell: Any, mark: str) -> str | None:
    r"""The answer of a worked solution: what follows ####, is boxed last, or all of it; None where it is not there.

    >>> final_answer("10-3=7\n#### 7", "####"), final_answer(r"So it is \boxed{42}.", "boxed")
    ('7', '42')
    """
    if mark == "whole":
        return clean_text(cell)
    if not isinstance(cell, str):
        return None
    return last_box(cell) if mark == "boxed" else cell.rpartition("####")[2].strip() if "####" in cell else None


def is_empty(cell: Any) -> bool:
    """Blank, what programs write for a blank, or a list or object without anything in it, also as text."""
    value = list_in_text(cell)
    return (
        is_blank(value)
        or (isinstance(value, str) and value.strip().casefold() in _NOTHING)
        or (isinstance(value, list | dict) and not value)
    )
