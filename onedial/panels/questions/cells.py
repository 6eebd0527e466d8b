"""What a cell of a table of questions means: a text, a list that was written as text, accepted answers."""

import ast
import html
import io
import json
import re
import tokenize
from collections.abc import Iterable
from typing import Any

import numpy as np

from onedial.asking.tables import is_blank, text_of
from onedial.panels.grading.number_grading import last_box

TRUTH = {"true": True, "yes": True, "1": True, "1.0": True, "false": False, "no": False, "0": False, "0.0": False}
_ENTITY = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|[A-Za-z]\w*);")
_ARRAY = re.compile(r"\barray\((\[.*?\])(?:,\s*dtype=[\w<>']+)?\)", re.DOTALL)
_SOLVED = re.compile(r"####\s*(.+?)\s*$", re.DOTALL)
_HIDDEN = "<unk>"
"""What stands for the answers of a split that keeps them back (TriviaQA)."""


def clean_text(cell: Any) -> str | None:
    """A text as it is asked: without outer white space, HTML entities as their characters; None where it is blank.

    Raises:
        ValueError: neither text nor a number.
    """
    text = text_of(cell)
    return None if text is None else _ENTITY.sub(lambda entity: html.unescape(entity[0]), text).strip()


def plain(cell: Any) -> Any:
    """Without numpy: lists, objects and plain values as JSON has them."""
    if isinstance(cell, np.ndarray | list | tuple):
        return [plain(each) for each in cell]
    if isinstance(cell, dict):
        return {str(name): plain(each) for name, each in cell.items()}
    return cell.item() if isinstance(cell, np.generic) else cell


def list_in_text(cell: Any) -> Any:
    """What a cell stands for: a list or object that was written as text, by JSON, Python or numpy; else itself.

    >>> list_in_text("['Danube' 'The Danube']"), list_in_text("[-2, 7]"), list_in_text("[sic]")
    (['Danube', 'The Danube'], [-2, 7], '[sic]')
    """
    if not isinstance(cell, str):
        return plain(cell)
    text = _ARRAY.sub(r"\1", cell.strip())
    if (text[:1], text[-1:]) not in (("[", "]"), ("{", "}")):
        return cell
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return plain(ast.literal_eval(_with_commas(text)))
    except (ValueError, SyntaxError, TypeError, tokenize.TokenError, MemoryError, RecursionError):
        return cell


def _with_commas(text: str) -> str:
    """A list with commas between its values, which numpy leaves out ("['a' 'b']" would be one text, 'ab')."""
    written, before = [], None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if not token.string.strip():
            continue
        if before in (tokenize.STRING, tokenize.NUMBER) and token.type == before:
            written.append(",")
        written.append(token.string)
        before = token.type
    return " ".join(written)


def answers_of(cell: Any) -> tuple[str, ...]:
    """Accepted answers, however a cell writes them: a list, one text with | between, {"text": [...]}, {"value": ...}.

    Raises:
        ValueError: the cell holds something else.

    >>> answers_of('["Danube", "The Danube"]'), answers_of("Danube|The Danube"), answers_of("[-2, 7]")
    (('Danube', 'The Danube'), ('Danube', 'The Danube'), ('[-2, 7]',))
    """
    found = list_in_text(cell)
    if isinstance(cell, bool):
        return (str(cell),)
    if isinstance(found, dict):
        found = found.get("text") if "value" not in found else _value_and_aliases(found)
        if not isinstance(found, list):
            raise ValueError("an object without a list of texts")
    elif isinstance(found, list) and isinstance(cell, str) and not all(isinstance(each, str | dict) for each in found):
        found = [cell]  # an interval, [-2, 7], is one answer
    elif isinstance(found, str):
        found = found.split("|")
    given = found if isinstance(found, Iterable) else [found]
    given = [_value_and_aliases(each)[0] if isinstance(each, dict) else each for each in given]
    texts = (clean_text(answer) for answer in given)
    return tuple(dict.fromkeys(text for text in texts if text not in (None, _HIDDEN)))


def _value_and_aliases(found: dict[str, Any]) -> list[Any]:
    if not {"value", "text"} & found.keys():
        raise ValueError("an object without a text or value")
    return [found.get("value", found.get("text")), *(found.get("aliases") or ())]


def final_answer_of(cell: Any) -> str | None:
    r"""The answer at the end of a worked solution: what follows ####, or is boxed last; None where there is neither.

    >>> final_answer_of("10-3=7\n#### 7"), final_answer_of(r"So it is \boxed{42}."), final_answer_of("42")
    ('7', '42', None)
    """
    if not isinstance(cell, str):
        return None
    solved = _SOLVED.search(cell)
    return solved[1] if solved else last_box(cell)


def is_empty(cell: Any) -> bool:
    """Blank, or a list or object without anything in it, also as text."""
    found = list_in_text(cell)
    return is_blank(found) or (isinstance(found, list | dict) and not found)
