r"""Grade a final answer that is a number or an expression, in plain text or LaTeX ("\frac{3}{4}", "0.75", "(1, 2)").

1. What is boxed last counts; else the sentence behind the last "####", "answer is" or "Answer:"; else the last sentence
   with a number of the last line with a number.
2. Of a sentence what stands right of its last "=", without brackets; numbers of the question do not count beside
   others.
3. It is right where it is written as an accepted answer, or where its one number has the value of one (as exact
   fractions; "four" is 4). Units, spaces, dollar signs and styles of LaTeX do not count.
4. No number, several, one within an expression ("2x") or in several words ("twenty-four"), or one behind a "not" in its
   clause is no answer.

Nothing is calculated: "sqrt(4)" is not 2.
"""

import re
from fractions import Fraction
from typing import TYPE_CHECKING

from onedial.asking.replies import first_turn, is_denied, spoken, unmarked
from onedial.panels.grading.grading import NO_ANSWER, UNGRADED, Grade

if TYPE_CHECKING:
    from onedial.asking.questions import Question

_MARKER = re.compile(r".*(?:####|\banswer\s*(?:is\b|:)\s*:?)(?=.*\S)", re.IGNORECASE | re.DOTALL)
_STYLE = re.compile(r"\\(?:left|right|displaystyle|!|,|;|:| |quad)(?![A-Za-z])|\$|\\[()\[\]]|\^\{?\\circ\}?|\\?°|\\?%")
_WRAPPED = re.compile(r"\\(?:text|mathrm|mbox|textbf|mathbf)\s*\{([^{}]*)\}")
_THOUSANDS = re.compile(r"(?<=\d)(?:\{,\}|,)(?=\d{3}(?!\d))")
_NUMERALS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBER = re.compile(
    r"(?<![\w.\\{])(-?)(?:\\frac\{(-?\d+)\}\{(\d+)\}|(?:(\d+) )?(\d+(?:\.\d+)?|\.\d+)(?:\s*/\s*(\d+))?)"
    r"(?![\d(]|\.\d|\s*[\\^]|[A-Za-z])"
)


def grade_number(question: "Question", answer_text: str | None) -> Grade:
    """Grade one final answer, by the rules above."""
    if answer_text is None or not question.answers:
        return UNGRADED
    given, is_boxed = final_answer(answer_text)
    accepted = [_plain(answer) for answer in question.answers]
    if given and _bare(given) in map(_bare, accepted):
        return Grade.of(True)
    numbers = set(_numbers(given))
    if not is_boxed:
        numbers = numbers - set(_numbers(_plain(question.text))) or numbers
    if len(numbers) != 1:
        return NO_ANSWER
    return Grade.of(any(_numbers(answer) == [*numbers] for answer in accepted))


def final_answer(text: str) -> tuple[str, bool]:
    r"""The part of a text that is its answer, in plain signs, and whether it is boxed; "" where there is none.

    >>> final_answer(r"6 x 7 = 42, so it is \boxed{42}."), final_answer("6 x 7 = 42")
    (('42', True), ('42', False))
    """
    spoken_text = first_turn(spoken(text))
    boxed = last_box(spoken_text)
    if boxed is not None:
        return _plain(boxed), True
    marked = _MARKER.match(spoken_text)
    lines = _plain(unmarked(spoken_text[marked.end() :] if marked else spoken_text)).splitlines()
    with_numbers = [line for line in lines if _numbers(line)] or lines or [""]
    line = lines[0] if marked and lines else with_numbers[-1]
    bare = re.sub(r"(?<=\w)\s*\([^()]*\)", "", line)
    sentences = [each for each in re.split(r"(?<!\d)[.!?]\s+|(?<=\d)\.\s+(?=[A-Z])", bare) if _numbers(each)] or [bare]
    sentence = sentences[0 if marked else -1]
    return sentence.rpartition("=")[2].strip().rstrip(".") or sentence, False


def _numbers(plain: str) -> list[Fraction]:
    """All numbers in a text that it does not deny, as exact fractions."""
    numbers = []
    for match in _NUMBER.finditer(plain):
        if is_denied(plain[: match.start()]):
            continue
        sign, top, bottom, whole, number, below = match.groups()
        parts = (top, bottom) if top else (number, below or "1")
        if int(parts[1]):
            value = Fraction(parts[0]) / int(parts[1]) + int(whole or 0)
            numbers.append(-value if sign else value)
    return numbers


def _plain(text: str) -> str:
    r"""Without styles of LaTeX and thousands separators; a number in words in digits."""
    plain = _STYLE.sub("", _WRAPPED.sub(r" \1 ", text.replace("\u2212", "-")))
    plain = re.sub(r"\\[dtc]?frac\s*\{?(-?\d)\}?\s*\{?(\d)\}?(?!\d)", r"\\frac{\1}{\2}", plain)
    plain = re.sub(r"\\[dtc]frac", r"\\frac", _THOUSANDS.sub("", plain))
    plain = re.sub(
        rf"(?<![-\w])({'|'.join(_NUMERALS)})\b(?!-|\s+(?:hundred|thousand|\w+illion)\b)",
        lambda match: str(_NUMERALS.index(match[0].lower())),
        plain,
        flags=re.IGNORECASE,
    )
    return re.sub(r"\b(?:minus|negative) (?=\d)", "-", plain).strip()


def _bare(plain: str) -> str:
    return re.sub(r"\s", "", plain).rstrip(".")


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
