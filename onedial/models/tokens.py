"""Turn a prompt into token ids: one renderer, one tokeniser, so that nothing is ever tokenised in two ways.

A prompt is rendered through the model's chat template as text, the assistant's turn is begun with the prompt's
prefix, and the text is tokenised once with `add_special_tokens=False` (the template has put BOS there already; doing
it twice shifts every logit). Base models without a template get the plain text, and it begins with whatever tokens the
tokenizer puts before a text.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Int
from jinja2 import TemplateError
from torch import Tensor

from onedial.asking.prompts import Prompt
from onedial.asking.replies import THOUGHT_MARKS, without_thoughts
from onedial.core.cards import one_line
from onedial.core.errors import InputError

# Templates that print today's date would make the same prompt another one tomorrow; some ask for it by a function.
TODAY = "01 Jan 2025"
FIXED_TEMPLATE_ARGUMENTS: dict[str, Any] = {"date_string": TODAY, "enable_thinking": False}
FIXED_CLOCK = f"{{%- macro strftime_now(format) -%}}{TODAY}{{%- endmacro -%}}"
HARMONY_TURN = "<|start|>assistant"
HARMONY_ANSWER = "<|channel|>final<|message|>"
"""In gpt-oss' format a turn goes on with the name of a channel, and an answer stands in the final one."""
CONTENT_FORMS: tuple[frozenset[str], ...] = (
    frozenset(),
    frozenset({"user", "assistant"}),
    frozenset({"user"}),
    frozenset({"assistant"}),
)
"""Whose content a template takes as a list of parts; templates of models that read pictures loop over them."""


@dataclass(frozen=True)
class TokenBatch:
    """Token ids of several prompts, padded to one length.

    Attributes:
        input_ids: padded with an arbitrary real token; only `attention_mask` tells padding apart
            (on SmolLM2 the pad token is also the end-of-turn token, so ids can't).
        attention_mask: True at real tokens.
        position_ids: 0..T-1 over each row's real tokens, 0 on padding.
        padded: whether rows differ in length, known without asking the device.
    """

    input_ids: Int[Tensor, "question pos"]
    attention_mask: Bool[Tensor, "question pos"]
    position_ids: Int[Tensor, "question pos"]
    padded: bool = True

    __repr__ = one_line

    @property
    def lengths(self) -> Int[Tensor, " question"]:
        """Number of real tokens of each row."""
        return self.attention_mask.sum(dim=1)

    @property
    def last_index(self) -> Int[Tensor, " question"]:
        """Column of each row's last real token, for either side of padding."""
        columns = torch.arange(self.attention_mask.shape[1], device=self.attention_mask.device)
        return (columns * self.attention_mask).argmax(dim=1)

    def to(self, device: torch.device | str) -> "TokenBatch":
        """The same batch on another device."""
        ids, mask, positions = torch.stack([self.input_ids, self.attention_mask.long(), self.position_ids]).to(device)
        return TokenBatch(ids, mask.bool(), positions, self.padded)

    def mapped(self, change: Callable[[Tensor], Tensor]) -> "TokenBatch":
        """The same rows, more or fewer of them."""
        ids, mask, positions = map(change, (self.input_ids, self.attention_mask, self.position_ids))
        return TokenBatch(ids, mask, positions, self.padded)


def render(tokenizer: Any, prompt: Prompt) -> str:
    """Render the text that the model reads, up to the point where its answer begins.

    A template that leaves a thought open (`THOUGHT_MARKS`) has it closed, empty, before a prefix is put:
    what stands within a thought is no answer. Without a prefix the thought stays open, and the respondent thinks first.

    Raises:
        InputError: the chat template fails, there are several without a default, or the text that it makes does not
            hold everything that was said.
    """
    template = chat_template_of(tokenizer)
    if template is not None:
        both = ("user", "assistant")
        turns = [(role, text) for turn in prompt.earlier for role, text in zip(both, turn, strict=True)]
        text, places = conversation(tokenizer, template, [*turns, ("user", prompt.user)])
        if not prompt.assistant_prefix:
            return text
        end = places[-1][1]  # of the user's last words
        text = text[:end] + at_the_answer(text[end:])
        joint = "" if text[-1:].isspace() or text.endswith(HARMONY_ANSWER) else " "
        return text + joint + prompt.assistant_prefix
    earlier = "".join(f"{user}\n\n{assistant}\n\n" for user, assistant in prompt.earlier)
    user = f"{earlier}{prompt.user}"
    return f"{user}\n\n{prompt.assistant_prefix}".rstrip() if prompt.assistant_prefix else user


def chat_template_of(tokenizer: Any) -> str | None:
    """The template that conversations are put into; None for a base model.

    Raises:
        InputError: there are several, and none of them is the default.
    """
    templates = tokenizer.chat_template
    if isinstance(templates, dict):
        if "default" not in templates and len(templates) > 1:
            raise InputError(
                f"the tokenizer has the chat templates {', '.join(templates)}, and none is called default; save the "
                "one that is wanted as tokenizer.chat_template"
            )
        templates = templates.get("default") or next(iter(templates.values()), None)
    return templates or None


def conversation(
    tokenizer: Any, template: str, turns: Sequence[tuple[str, str]], *, begin: bool = True
) -> tuple[str, list[tuple[int, int]]]:
    """Put a conversation into a template, and find where in that each of its texts begins and ends.

    A template may loop over the content's parts where another wants a text. Given the wrong one, it says nothing of it
    and leaves out what was said; so that what it made is searched for that.

    Args:
        turns: role and text of each turn. begin: ask the template to begin the assistant's turn.

    Raises:
        InputError: the template fails, or leaves out what was said.
    """
    failed = None
    clock = FIXED_CLOCK if "strftime_now" in template else ""
    for parted in CONTENT_FORMS:
        messages = [
            {"role": role, "content": [{"type": "text", "text": text}] if role in parted else text}
            for role, text in turns
        ]
        try:
            text: str = tokenizer.apply_chat_template(
                messages,
                tokenize=False,
                add_generation_prompt=begin,
                chat_template=clock + template,
                **FIXED_TEMPLATE_ARGUMENTS,
            )
        except (TemplateError, TypeError, ValueError, LookupError, AttributeError) as error:
            failed = failed or error
            continue
        places = _places(text, turns)
        if places is not None:
            return text, places
    if failed is not None:
        raise InputError(
            f"the chat template of this tokenizer fails ({str(failed).splitlines()[0]}); use another model, or mend "
            "tokenizer.chat_template"
        ) from failed
    raise InputError(
        f"the chat template of this tokenizer leaves out what it is to say, given as text and as a list of parts: of a "
        f"prompt with {turns[-1][1].strip()[:60]!r} it makes {text[:120]!r}; use another model, or mend "
        "tokenizer.chat_template"
    )


def _places(text: str, turns: Sequence[tuple[str, str]]) -> list[tuple[int, int]] | None:
    """Where each text begins and ends, where all of them stand in the text one after the other; else None.

    White space may differ, since templates trim, and thoughts of earlier answers may be left out.
    """
    places, start = [], 0
    for role, words in turns:
        either = [words.strip(), *([without_thoughts(words)] if role == "assistant" else [])]
        patterns = [*map(re.escape, either), *(r"\s+".join(map(re.escape, bare.split())) for bare in either)]
        match = next((match for pattern in patterns if (match := re.compile(pattern).search(text, start))), None)
        if match is None:
            return None
        places.append(match.span())
        start = match.end()
    return places


def at_the_answer(begun: str) -> str:
    """Go on with the beginning of an assistant's turn to where its answer begins."""
    if mark := open_thought(begun):
        close = THOUGHT_MARKS[mark]
        begun = begun.rstrip() + (f"\n\n{close}\n\n" if close.startswith("</") else close)
        if close == "<|end|>":
            begun += HARMONY_TURN
    return begun + HARMONY_ANSWER if begun.endswith(HARMONY_TURN) else begun


def open_thought(begun: str) -> str | None:
    """The mark by which the beginning of an assistant's turn opens a thought that it does not close."""
    opened = {
        mark: begun.rfind(mark) for mark, close in THOUGHT_MARKS.items() if begun.rfind(mark) > begun.rfind(close)
    }
    return max(opened, key=lambda mark: opened[mark], default=None)


def pad_id(tokenizer: Any, n_embedded: int) -> int:
    """A token to fill rectangles with; it is always masked.

    Args:
        n_embedded: rows of the embedding. A padding token that was added to the tokenizer alone has none.
    """
    candidates = (tokenizer.pad_token_id, tokenizer.eos_token_id)
    return next((each for each in candidates if each is not None and 0 <= each < n_embedded), 0)


def encode(tokenizer: Any, text: str) -> list[int]:
    """Token ids of a rendered prompt, or of one with what follows it; see `tokenised`."""
    return tokenised(tokenizer, text)[0]


def tokenised(tokenizer: Any, text: str, offsets: bool = False) -> tuple[list[int], list[tuple[int, int]]]:
    """Token ids of rendered text, and where in it each of them begins and ends (with `offsets`, else none).

    Under a chat template special tokens stand in the text already. Else the tokenizer puts its own before it, such as
    BOS, as it does for whoever calls it; what it puts after a text would end it, and is left out.
    """
    templated = chat_template_of(tokenizer) is not None
    encoded = tokenizer(
        text,
        add_special_tokens=not templated,
        return_special_tokens_mask=not templated,
        return_offsets_mapping=offsets,
    )
    ids, spans = encoded["input_ids"], encoded["offset_mapping"] if offsets else []
    n = len(ids)
    while n and not templated and encoded["special_tokens_mask"][n - 1] and len(ids) > 1:
        n -= 1
    return ids[:n], spans[:n]


def pad_batch(sequences: Sequence[Sequence[int]], pad_id: int, side: str = "left") -> TokenBatch:
    """Pad token sequences to a rectangle.

    Args:
        sequences: at least one, none of them empty.
        pad_id: any id of the vocabulary; it is masked.
        side: "left" keeps the answer position in the last column, "right" is the other convention.
    """
    if not sequences or any(len(sequence) == 0 for sequence in sequences):
        raise InputError("a prompt came out with no tokens at all; give each question some text")
    width = max(len(sequence) for sequence in sequences)
    ids = torch.full((len(sequences), width), pad_id, dtype=torch.long)
    mask = torch.zeros((len(sequences), width), dtype=torch.bool)
    for row, sequence in enumerate(sequences):
        place = slice(width - len(sequence), width) if side == "left" else slice(0, len(sequence))
        ids[row, place] = torch.tensor(list(sequence), dtype=torch.long)
        mask[row, place] = True
    padded = any(len(sequence) < width for sequence in sequences)
    return TokenBatch(ids, mask, (mask.cumsum(dim=1) - 1).clamp(min=0), padded)


def common_prefix_length(sequences: Sequence[Sequence[int]]) -> int:
    """How many leading tokens all sequences share, leaving each at least one token of its own."""
    shortest = min(len(sequence) for sequence in sequences) - 1
    first = sequences[0]
    for index in range(shortest):
        if any(sequence[index] != first[index] for sequence in sequences):
            return index
    return shortest
