"""Check what a chat template writes before an answer, once, when a model is loaded.

An answer is read right after what the template writes behind the question. That is compared with what it writes
between a question and an answer that is there already, white space at the end and thoughts that are closed left out:

    the same                                                          right
    less, whether an answer is asked for or not                       no turn of the assistant is begun: refused
    more, with what ends the assistant's turn                         the turn is closed before its answer: refused
    less although a turn is begun, or more                            maybe a thought left open: refused where a prompt
                                                                      has an assistant prefix that does not go on
                                                                      from there
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from onedial.asking.prompts import Prompt
from onedial.asking.replies import THOUGHT_MARKS
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.models.tokens import at_the_answer, chat_template_of, conversation

QUESTION, ANSWER = "Who wrote the letter?", "Nobody knows."
_THOUGHT = re.compile(
    "|".join(f"{re.escape(opens)}.*?{re.escape(closes)}" for opens, closes in THOUGHT_MARKS.items()), re.DOTALL
)
_TAG = re.compile(r"([<\[]\|?)([^\s<>\[\]|/]+)(\|?[>\]])")


@dataclass(frozen=True)
class ChatTurns:
    """What a model's tokenizer and chat template make of prompts.

    Attributes:
        tokenizer: the model's. name: of the model, for messages.
        unfinished: what an answer is begun with and should not be left at; "" where it is begun rightly.
        needed: what goes on from there to where an answer begins; "" where that is not known.
    """

    tokenizer: Any
    name: str
    unfinished: str = ""
    needed: str = ""

    @classmethod
    def of(cls, tokenizer: Any, name: str) -> "ChatTurns":
        """Look at a tokenizer's chat template.

        Raises:
            InputError: it fails, begins no turn of the assistant, or closes the turn that it begins.
        """
        template = chat_template_of(tokenizer)
        if template is None:
            return cls(tokenizer, name)
        asked, answered = [("user", QUESTION)], [("user", QUESTION), ("assistant", ANSWER)]
        text, places = conversation(tokenizer, template, asked)
        begun = _without_thoughts(at_the_answer(text[places[-1][1] :]))
        try:
            whole, (question, answer) = conversation(tokenizer, template, answered, begin=False)
            honours = conversation(tokenizer, template, asked, begin=False)[0] != text
        except InputError:  # a template for questions alone says no more
            return cls(tokenizer, name)
        between, after = whole[question[1] : answer[0]], whole[answer[1] :].strip()
        before, space = _without_thoughts(between), between[len(between.rstrip()) :]
        what = f"the chat template of {name}"
        if begun == before:
            return cls(tokenizer, name)
        if before.startswith(begun):
            if honours:
                return cls(tokenizer, name, begun, before[len(begun) :].strip())
            raise InputError(
                f"{what} begins no turn of the assistant: after a question it writes {begun!r}, and before an answer "
                f"{before!r}; add {{% if add_generation_prompt %}}{{{{ {before[len(begun) :].lstrip() + space!r} }}}}"
                "{% endif %} to its end (in the model's folder)"
            )
        if not begun.startswith(before):
            notice(f"{what} begins an answer with {begun!r}, and writes {before!r} before one that is there; check it")
            return cls(tokenizer, name)
        more, end = begun[len(before) :].strip(), tokenizer.eos_token
        if (after and more.startswith(after)) or (end and end in more):
            raise InputError(
                f"{what} closes the assistant's turn before its answer: after a question it writes {begun!r}; take "
                f"{more!r} out of what it writes for add_generation_prompt"
            )
        tag = _TAG.fullmatch(more)
        return cls(tokenizer, name, begun, f"{tag[1]}/{tag[2]}{tag[3]}" if tag else "")

    def check(self, prompt: Prompt, reads: bool = False) -> None:
        """Look at one prompt.

        Args:
            reads: the next token is read as its answer, be there an assistant prefix or none.

        Raises:
            InputError: the user says a control token, or the answer would not stand where answers begin.
        """
        if chat_template_of(self.tokenizer) is not None:
            for text in (prompt.user, *(user for user, _ in prompt.earlier)):
                self.check_text(text)
        prefix = prompt.assistant_prefix.lstrip()
        if self.unfinished and (prefix or reads) and not (self.needed and prefix.startswith(self.needed)):
            how = f"begin the prompt's assistant_prefix with {self.needed!r}" if self.needed else "mend the template"
            raise InputError(
                f"the chat template of {self.name} leaves off at {self.unfinished!r}, which is not where it puts "
                f"answers, so that none would begin there; {how}"
            )

    def check_text(self, text: str) -> None:
        """Raise InputError where a text that is asked holds a special token of the tokenizer."""
        if self._controls is not None and (held := self._controls.search(text)):
            raise InputError(
                f"{self.name} reads {held[0]!r} as a control token, and not as text, in {text.strip()[:60]!r}; write "
                "it otherwise (with a blank within), or leave that text out"
            )

    @cached_property
    def _controls(self) -> re.Pattern[str] | None:
        added = getattr(self.tokenizer, "added_tokens_decoder", {}).values()
        names = {*self.tokenizer.all_special_tokens, *(token.content for token in added if token.special)}
        longer = sorted((name for name in names if len(name.strip()) > 1), key=len, reverse=True)
        return re.compile("|".join(map(re.escape, longer))) if longer else None


def _without_thoughts(text: str) -> str:
    return _THOUGHT.sub("", text).rstrip()
