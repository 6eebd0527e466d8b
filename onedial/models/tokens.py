"""From a prompt to token ids: one renderer, one tokeniser, so that nothing is ever tokenised in two ways.

A prompt is rendered through the model's chat template as text, the assistant's turn is begun with the prompt's
prefix, and the text is tokenised once with `add_special_tokens=False` (the template has put BOS there already; doing
it twice shifts every logit). Base models without a template get the plain text, with BOS where the tokenizer adds one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from onedial.asking import Prompt
from onedial.core import InputError, one_line

# Templates that print today's date would make the same prompt another one tomorrow; some ask for it by a function.
TODAY = "01 Jan 2025"
FIXED_TEMPLATE_ARGUMENTS: dict[str, Any] = {"date_string": TODAY, "enable_thinking": False}
FIXED_CLOCK = f"{{%- macro strftime_now(format) -%}}{TODAY}{{%- endmacro -%}}"
OPEN_THOUGHT, CLOSED_THOUGHT = "<think>", "</think>"


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
    """The text that the model reads, from BOS to the point where its answer begins.

    A template that leaves a thought open (`<think>`) has it closed, empty, before a prefix is put: what stands within a
    thought is no answer. Without a prefix the thought stays open, and the respondent thinks first.
    """
    if tokenizer.chat_template:
        said = [*prompt.earlier, (prompt.user, None)]
        messages = [
            {"role": role, "content": content}
            for user, assistant in said
            for role, content in (("user", user), ("assistant", assistant))
            if content is not None
        ]
        text = tokenizer.apply_chat_template(
            messages,
            tokenize=False,
            add_generation_prompt=True,
            chat_template=_with_a_fixed_clock(tokenizer.get_chat_template()),
            **FIXED_TEMPLATE_ARGUMENTS,
        )
        if prompt.assistant_prefix and opens_a_thought(text):
            text = f"{text.rstrip()}\n\n{CLOSED_THOUGHT}\n\n"
        joint = "" if text[-1:].isspace() or not prompt.assistant_prefix else " "
        return text + joint + prompt.assistant_prefix
    bos = tokenizer.bos_token if _adds_bos(tokenizer) else ""
    earlier = "".join(f"{user}\n\n{assistant}\n\n" for user, assistant in prompt.earlier)
    user = f"{bos}{earlier}{prompt.user}"
    return f"{user}\n\n{prompt.assistant_prefix}".rstrip() if prompt.assistant_prefix else user


def _with_a_fixed_clock(template: str) -> str:
    return FIXED_CLOCK + template if "strftime_now" in template else template


def opens_a_thought(text: str) -> bool:
    """Whether the text ends within a thought that was begun and not ended."""
    return text.rfind(OPEN_THOUGHT) > text.rfind(CLOSED_THOUGHT)


def pad_id(tokenizer: Any) -> int:
    """A token to fill rectangles with; it is always masked."""
    candidates = (tokenizer.pad_token_id, tokenizer.eos_token_id)
    return next((candidate for candidate in candidates if candidate is not None), 0)


def encode(tokenizer: Any, text: str) -> list[int]:
    """Token ids of rendered text; special tokens stand in the text already."""
    return tokenizer.encode(text, add_special_tokens=False)


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


def _adds_bos(tokenizer: Any) -> bool:
    ids = tokenizer.encode("a")
    return bool(ids) and tokenizer.bos_token_id is not None and ids[0] == tokenizer.bos_token_id
