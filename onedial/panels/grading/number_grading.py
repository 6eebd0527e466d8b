r"""Grade a final answer that is a number or an expression, in plain text or LaTeX ("\frac{3}{4}", "0.75", "(1, 2)").

What counts is what is boxed last; else what follows the last "answer is" or "answer:"; else the right side of the last
equation, or the first line. Two answers are equal where their values are (as exact fractions), else where they are
written alike: spaces, dollar signs, sizes of brackets and styles of fractions do not count, units do not where a bare
number is accepted. Nothing is calculated: "sqrt(4)" is not 2.
"""

import re
from fractions import Fraction
from typing import TYPE_CHECKING

from onedial.panels.grading.answer_text import first_statement, repeats_the_question
from onedial.panels.grading.grading import NO_ANSWER, UNGRADED, Grade

if TYPE_CHECKING:
    from onedial.asking.questions import Question

_MARKER = re.compile(r"\banswer\s*(?:is\b\s*:?|:)\s*", re.IGNORECASE)
_STYLE = re.compile(
    r"\\(?:left|right|bigl?|bigr?|displaystyle|!|,|;|:| |quad)(?![A-Za-z])|\$|\\[()\[\]]|\^\{?\\circ\}?|\\?°"
)
_WRAPPED = re.compile(r"\\(?:text|mathrm|mbox|textbf|mathbf)\s*\{([^{}]*)\}")
_THOUSANDS = re.compile(r"(?<=\d)(?:\{,\}|,)(?=\d{3}(?!\d))")
_NUMBER = re.compile(r"[-−+]?\s*(?:\d+(?:\.\d*)?|\.\d+)(?:\s*/\s*\d+(?:\.\d+)?)?")
_FRACTION = re.compile(r"([-−+]?)\\frac\{?([-−]?\d+)\}?\{?([-−]?\d+)\}?")
_LONGEST = 400


def grade_number(question: "Question", answer_text: str | None) -> Grade:
    """Grade one final answer. `exact`: written as an accepted one; `correct`: of its value. F1 is 1 or 0 here."""
    if answer_text is None or not question.answers:
        return UNGRADED
    given = final_answer(answer_text, question.text)
    if given is None:
        return NO_ANSWER
    accepted = [_plain(answer) for answer in question.answers]
    exact = _plain(given) in accepted
    values = {value for value in map(value_of, question.answers) if value is not None}
    is_right = exact or value_of(given) in values
    return Grade.of(is_right, exact)


def final_answer(text: str, question: str = "") -> str | None:
    """The part of a text that is its answer; None where there is none, or only the question again."""
    boxed = last_box(text)
    if boxed is not None:
        return boxed.strip() or None
    *_, marker = [None, *_MARKER.finditer(text)]
    statement = first_statement(text[marker.end() :] if marker else text, question)
    if not statement or repeats_the_question(statement, question):
        return None
    said = re.split(r"(?<![<>!])=", statement)[-1].strip()
    return said.rstrip(".").strip()[:_LONGEST] or None


def value_of(text: str) -> Fraction | None:
    """The one number in a text, as a fraction; None where there is none, or more than one."""
    plain = _THOUSANDS.sub("", _plain_spaced(text))
    whole = _FRACTION.fullmatch(plain.replace(" ", ""))
    if whole:
        sign, top, bottom = whole.groups()
        return _ratio(sign + top if not top.startswith(("-", "−")) else top, bottom)
    if "\\" in plain or "^" in plain:
        return None
    found = _NUMBER.findall(plain)
    if len(found) != 1 or re.search(r"[A-Za-z]\d|\d[A-Za-z(]|[(\[]", plain):
        return None
    top, _, bottom = found[0].replace(" ", "").partition("/")
    return _ratio(top, bottom or "1")


def _ratio(top: str, bottom: str) -> Fraction | None:
    try:
        return Fraction(top.replace("−", "-").replace("+", "")) / Fraction(bottom.replace("−", "-"))
    except (ValueError, ZeroDivisionError):
        return None


def _plain_spaced(text: str) -> str:
    plain = _WRAPPED.sub(r" \1 ", text)
    plain = re.sub(r"\\[dtc]frac", r"\\frac", _STYLE.sub("", plain))
    plain = re.sub(r"\\frac\s*(\d)\s*(\d)(?!\d)", r"\\frac{\1}{\2}", plain)
    return plain.replace("\\%", "").replace("%", "").replace("−", "-").strip().rstrip(".")


def _plain(text: str) -> str:
    return re.sub(r"\s+", "", _THOUSANDS.sub("", _plain_spaced(text)))


def last_box(text: str) -> str | None:
    r"""What stands in the last \boxed{...}, braces matched; None without one that is closed."""
    start = text.rfind("\\boxed{")
    if start < 0:
        return None
    depth = 0
    for position in range(start + len("\\boxed"), len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return text[start + len("\\boxed{") : position]
    return None
