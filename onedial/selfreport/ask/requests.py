"""A request that is both predicted and made, so that one cannot be asked about and another graded.

What a reply does is read from the reply, by the functions of `onedial.asking.readers` or of the test.
"""

from dataclasses import dataclass, replace

from onedial.asking.instruments import YES_NO, YES_NO_TOKENS, Instrument, Scale, TextReader
from onedial.asking.prompts import PromptTemplate, Turns
from onedial.asking.questions import Question
from onedial.asking.replies import spoken
from onedial.asking.reply_forms import ReplyForm
from onedial.panels.grading.choice_grading import grade_answer
from onedial.panels.grading.grading import outcome_as_number


def no_value(text: str) -> None:
    """Give no value: a text is parsed, and several ratings are no one value."""


def writes(
    name: str,
    user: str,
    slots: tuple[str, ...],
    n_tokens: int,
    prefix: str = "",
    earlier: Turns = (),
    form: ReplyForm | None = None,
) -> Instrument:
    """Make an instrument whose answer is a text of at most so many tokens."""
    template = PromptTemplate(user, prefix, name, slots, earlier)
    return Instrument(name, template, Scale("text"), TextReader(no_value, n_tokens, trim=spoken), form)


def drawn(instrument: Instrument, temperature: float = 1.0) -> Instrument:
    """Have the text of an instrument drawn at this temperature."""
    assert isinstance(instrument.reader, TextReader)
    return replace(instrument, reader=replace(instrument.reader, temperature=temperature))


def once_more(instrument: Instrument) -> Instrument:
    """Have a second reply to the same request drawn, beside the likeliest one."""
    return replace(drawn(instrument), name=f"{instrument.name}, again")


def correct(question: Question, text: str) -> float:
    """Grade an answer: 1 right, 0 wrong, nan for none."""
    return outcome_as_number(grade_answer(question, text).outcome)


@dataclass(frozen=True)
class Request:
    """One request.

    Attributes:
        made: the instrument by which it is made; its reply is what a prediction is graded against.
    """

    made: Instrument

    def would(self, name: str, question: str, slots: tuple[str, ...] = ()) -> Instrument:
        """Yes or no: would the reply to this request, word for word as it will be made, do this?

        Args:
            question: about "your reply". slots: of the question, beside those of the request.
        """
        template = self.made.template
        begun = (
            f' Your reply is what you would write after "{template.assistant_prefix.strip()}".'
            if template.assistant_prefix
            else ""
        )
        asked = PromptTemplate(
            f"Suppose that you were given this request:\n\n{template.user}\n\n{question}{begun} Yes or No?",
            "Answer:",
            name,
            (*template.slots, *slots),
        )
        return Instrument(name, asked, YES_NO, YES_NO_TOKENS)
