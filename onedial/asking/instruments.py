"""Instruments: what is asked, and how the answer is read.

An instrument joins a prompt template, a scale and a reader. Any respondent can be asked with any instrument, a steered
subject included; a framing is another template for the same instrument (`Instrument.framed`).

    can you answer   "Can you answer this question correctly?"      yes/no from the logits of the next token
    confidence in numbers   two digits, 00 to 99                    deciles from the logits of the first digit
    confidence in words     one of five words                       the words from the logits of the next token
    closed book      the question itself                            free text, its first line
    reasoned         reasoning first, "Answer: Yes" or "No" last    yes/no from the text
    fact             a yes/no question about the world              yes/no from the logits of the next token

Scales, and what an answer's `value` is on them:

    yes/no           1 for yes, 0 for no
    probability      a number between 0 and 1; read from logits, that of the likeliest option
    categories       the place of the category, from 0, lowest first
    options          the place of the option, from 0, in the order in which they are named; the order means nothing
    text             none: the text is the answer
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from onedial.asking.prompts import FRAMINGS, Prompt, PromptTemplate
from onedial.asking.replies import spoken, without_thoughts
from onedial.asking.reply_forms import PERCENT, SHORT, YES_OR_NO_LAST, ReplyForm
from onedial.asking.yes_no import NO_VARIANTS, YES_VARIANTS, parse_yes_no

KINDS = ("yes/no", "probability", "categories", "options", "text")


@dataclass(frozen=True)
class Scale:
    """What an answer can be.

    Attributes:
        kind: one of `KINDS`.
        options: names of the categories or options; ("yes", "no") for yes/no.
        values: the number that each option stands for; empty where they stand for none.
    """

    kind: str
    options: tuple[str, ...] = ()
    values: tuple[float, ...] = ()

    def expectation(self, probabilities: Sequence[float]) -> tuple[float, float]:
        """Mean and standard deviation of the numbers that the options stand for; nan where they stand for none.

        Formula: E = sum_k p_k v_k, spread = sqrt(sum_k p_k (v_k - E)^2): what all number tokens say together, where
        the likeliest alone may stay the same while its rivals change.
        """
        if not self.values or len(probabilities) != len(self.values):
            return math.nan, math.nan
        pairs = list(zip(probabilities, self.values, strict=True))
        mean = sum(p * value for p, value in pairs)
        return mean, math.sqrt(sum(p * (value - mean) ** 2 for p, value in pairs))


YES_NO, TEXT = Scale("yes/no", ("yes", "no")), Scale("text")


@dataclass(frozen=True)
class TokenReader:
    """Reads the logits at the answer position: nothing is generated.

    An option's probability is that of all tokens which begin one of its spellings there. Together they are the answer's
    mass; below `MASS_FLOOR` it counts as unread.

    Attributes:
        spellings: option -> how it may be written, in the order of the scale's options.
    """

    spellings: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class TextReader:
    """Reads what the respondent writes.

    Attributes:
        parse: the text's value on the instrument's scale; None where it cannot be read.
        max_new_tokens: at most so many are written.
        stop: given the text so far, whether it is done.
        trim: the part of the text that is the answer, and is kept.
        must_finish: a text that was cut off at `max_new_tokens` counts as unread, since what it says on the way is not
            its answer.
        temperature: 0 takes the likeliest token each time.
    """

    parse: Callable[[str], float | None]
    max_new_tokens: int
    stop: Callable[[str], bool] | None = None
    trim: Callable[[str], str] = str.strip
    must_finish: bool = False
    temperature: float = 0.0


@dataclass(frozen=True)
class Instrument:
    """One way of asking; see the module's text.

    Attributes:
        name: stands in every measurement.
        template: what is asked; its own name is the framing.
        scale, reader: what the answer can be, and how it is read.
        form: how a text is asked for so that it can be read; None for in the template's words alone.
    """

    name: str
    template: PromptTemplate
    scale: Scale
    reader: TokenReader | TextReader
    form: ReplyForm | None = None

    def framed(self, template: PromptTemplate) -> "Instrument":
        """The same instrument in other words."""
        return replace(self, template=template)

    def prompt(self, question: str | None = None, **slots: str) -> Prompt:
        """What is shown for one question; see `PromptTemplate.fill`."""
        return self.template.fill(question, **slots)

    def said(self, text: str) -> str:
        """The answer in a reply, as its reader is to read it."""
        return self.form.said(text) if self.form else text


# ---- reading texts -------------------------------------------------------------------------------------------------

# At the beginning of a line, since small models repeat the instruction ('I will end with "Answer: Yes" or ...'), and
# with what follows the word, since "Answer: No" may still become "Answer: None of them".
_ANSWER_LINE = re.compile(
    r"^[\s*_#>\"']*answer[\s*_]*:[\s*_\"']*(?:yes|no)[*_\"']*[.,;!\n]", re.IGNORECASE | re.MULTILINE
)


def answer_stands(text: str) -> bool:
    """Whether the text holds a complete line `Answer: Yes` or `Answer: No`."""
    return _ANSWER_LINE.search(text) is not None


def holds_a_line(text: str) -> bool:
    """Whether a first line is complete."""
    return "\n" in without_thoughts(text + "x")


def first_line(text: str) -> str:
    """The first line that says something (`spoken`)."""
    return next(iter(spoken(text).splitlines()), "")


def _yes_no_value(text: str) -> float | None:
    said_yes = parse_yes_no(text)
    return None if said_yes is None else float(said_yes)


def _no_value(text: str) -> None:
    """Free text has no value."""


# ---- the instruments -----------------------------------------------------------------------------------------------

_REASON_FIRST = (
    'Think about it in two or three sentences. Then write a last line that says only "Answer: Yes" or "Answer: No".'
)

YES_NO_TOKENS = TokenReader({"yes": YES_VARIANTS, "no": NO_VARIANTS})

CAN_YOU_ANSWER = Instrument("can you answer", FRAMINGS["neutral"], YES_NO, YES_NO_TOKENS)

# Worked examples in the user's turn, as a base model needs them: without, it repeats the request or falls silent. They
# are development questions of unlike topics, levels and kinds of answer.
_WORKED = (
    ("What is a very young dog called?", "puppy"),
    ("Name the great river that waters Cairo.", "Nile"),
    ("A right angle measures how many degrees?", "90"),
    ("Who wrote The Old Man and the Sea?", "Ernest Hemingway"),
)

CLOSED_BOOK_PROMPTS = {
    "closed book": PromptTemplate(
        name="closed book",
        user=(
            "Answer this question of general knowledge in as few words as possible, without a sentence around them.\n\n"
            "Question: {question}"
        ),
        assistant_prefix="Answer:",
    ),
    "closed book, examples": PromptTemplate(
        name="closed book, examples",
        user=(
            "Answer each question of general knowledge in as few words as possible, without a sentence around them."
            "\n\n"
            + "".join(f"Question: {asked}\n\nAnswer: {answer}\n\n" for asked, answer in _WORKED)
            + "Question: {question}"
        ),
        assistant_prefix="Answer:",
    ),
}
"""The ways in which a respondent is asked the question itself, by name."""

CLOSED_BOOK = Instrument(
    "closed book",
    CLOSED_BOOK_PROMPTS["closed book"],
    TEXT,
    TextReader(_no_value, max_new_tokens=24, stop=holds_a_line, trim=first_line),
    SHORT,
)

REASONED = Instrument(
    "reasoned",
    PromptTemplate(
        name="reasoned",
        user=(
            "Here is a question of general knowledge.\n\nQuestion: {question}\n\n"
            f"Do you think you can answer this question correctly? {_REASON_FIRST}"
        ),
        assistant_prefix="Reasoning:",
    ),
    YES_NO,
    TextReader(_yes_no_value, max_new_tokens=160, stop=answer_stands, trim=str, must_finish=True),
    YES_OR_NO_LAST,
)

FACT = Instrument(
    "fact",
    PromptTemplate("Answer this question with yes or no.\n\nQuestion: {question}", "Answer:", "fact"),
    YES_NO,
    YES_NO_TOKENS,
)


def reasoned(template: PromptTemplate) -> Instrument:
    """`REASONED` in the words of a framing that asks for yes or no: the framing, then the request to reason first.

    The template keeps the framing's name.
    """
    words = PromptTemplate(
        f"{template.user}\n\n{_REASON_FIRST}", "Reasoning:", template.name, template.slots, template.earlier
    )
    return REASONED.framed(words)


DECILES = tuple(f"{ten}0-{ten}9" for ten in range(10))

CONFIDENCE_IN_NUMBERS = Instrument(
    "confidence in numbers",
    # The blank stands in the prefix, so that the next token is a digit under tokenizers that part blanks and digits,
    # and a number under those that take two digits for one token; either way its spellings begin the decile.
    PromptTemplate(
        "Question: {question}\n\nHow likely is it that you answer this question correctly? Give the percentage in two "
        "digits, from 00 (impossible) to 99 (certain).",
        "Answer: ",
        "confidence in numbers",
    ),
    Scale("probability", DECILES, tuple(round(0.045 + ten / 10, 3) for ten in range(10))),
    TokenReader({name: tuple(f"{ten}{one}" for one in range(10)) for ten, name in enumerate(DECILES)}),
    PERCENT,
)

CONFIDENCE_IN_WORDS = Instrument(
    "confidence in words",
    PromptTemplate(
        "Question: {question}\n\nHow confident are you that you can answer this question correctly? Choose one word: "
        "none, low, medium, high or full.",
        "Answer:",
        "confidence in words",
    ),
    Scale("categories", ("none", "low", "medium", "high", "full"), (0.0, 0.25, 0.5, 0.75, 1.0)),
    TokenReader({word: (f" {word}", f" {word.capitalize()}") for word in ("none", "low", "medium", "high", "full")}),
)

INSTRUMENTS: dict[str, Instrument] = {
    instrument.name: instrument
    for instrument in (CAN_YOU_ANSWER, CLOSED_BOOK, REASONED, FACT, CONFIDENCE_IN_NUMBERS, CONFIDENCE_IN_WORDS)
}
