"""Read how likely a model finds a text after a prompt, token by token, from one forward over both.

The text need not be its own: what another model wrote, or the same text after another prompt, is read in the same way.
Logits are taken in float32 from the final residual stream (`onedial.models.forward.readout`), a few positions at a
time, so that no table of position x vocabulary is ever held whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from onedial.asking.prompts import Prompt
from onedial.confidence.tokens import TokenStatistics
from onedial.core.errors import InputError
from onedial.models.forward.batches import batches_by_length, map_batches, questions_per_batch
from onedial.models.model import OpenModel
from onedial.models.tokens import pad_batch, tokenised


@dataclass(frozen=True)
class WrittenTokens:
    """One text after one prompt.

    Attributes:
        statistics: of each of its tokens.
        starts, ends: (token,) where each token stands in the text, in characters; a blank that a token begins with is
            its own.
    """

    statistics: TokenStatistics
    starts: tuple[int, ...]
    ends: tuple[int, ...]


def read_written(
    model: OpenModel, prompts: Sequence[Prompt], texts: Sequence[str], *, batch_size: int | None = None
) -> list[WrittenTokens]:
    """Token statistics of each text after its prompt, in their order.

    Prompt and text are tokenised together, as the model would read them; a text joins its prompt by a blank unless one
    stands there. The end token is not part of it. An empty text has no tokens.

    Args:
        prompts, texts: one text for each prompt. batch_size: by default what memory holds.

    Raises:
        InputError: other numbers of texts, a tokenizer that does not say where its tokens stand, or a prompt and text
            that exceed the model's context.
    """
    if len(prompts) != len(texts):
        raise InputError(f"{len(texts)} texts for {len(prompts)} prompts; give one for each")
    if not getattr(model.tokenizer, "is_fast", False):
        raise InputError(f"the tokenizer of {model.identity.name} does not say where its tokens stand; use a fast one")
    pieces = [_tokenised(model, model.render(prompt), text) for prompt, text in zip(prompts, texts, strict=True)]
    longest = max((len(ids) for ids, _ in pieces), default=0)
    if model.max_tokens and longest > model.max_tokens:
        raise InputError(
            f"a prompt and its text have {longest} tokens, but the model reads {model.max_tokens} at most; shorten them"
        )
    order = [index for index, (_, places) in enumerate(pieces) if places]

    @torch.inference_mode()
    def work(batch: list[int]) -> list[TokenStatistics]:
        chosen = [pieces[order[place]] for place in batch]
        final = model.final_residuals(pad_batch([ids for ids, _ in chosen], model.stack.pad_id).to(model.device))
        # Left-padded: the text's tokens are the last columns, and each is predicted by the column before it.
        return [
            _statistics(model, row[-len(places) - 1 : -1], ids[-len(places) :])
            for row, (ids, places) in zip(final, chosen, strict=True)
        ]

    size = batch_size or questions_per_batch(model.stack, longest)
    lengths, alone = [len(pieces[index][0]) for index in order], model.fast_paths_for(longest).requires_equal_length
    read = map_batches(batches_by_length(lengths, size, alone), work, share=False)
    done = dict(zip(order, read, strict=True))
    nothing = TokenStatistics(*(np.empty(0) for _ in range(4)))
    return [
        WrittenTokens(
            done.get(index, nothing),
            tuple(start for start, _ in places),
            tuple(end for _, end in places),
        )
        for index, (_, places) in enumerate(pieces)
    ]


def _tokenised(model: OpenModel, prompt: str, text: str) -> tuple[list[int], list[tuple[int, int]]]:
    """Token ids of prompt and text, and (start, end) in the text of each token of the text."""
    joint = "" if not text or prompt[-1:].isspace() or text[:1].isspace() else " "
    ids, spans = tokenised(model.tokenizer, prompt + joint + text, offsets=True)
    begin = len(prompt) + len(joint)
    if not text.strip():
        return ids, []
    # The blank that joins them belongs to the text, whether it is a token or part of one.
    places = [(start - begin, end - begin) for start, end in spans if end > len(prompt)]
    return ids, [(max(start, 0), end) for start, end in places]


def _statistics(model: OpenModel, final: Tensor, written: Sequence[int]) -> TokenStatistics:
    parts: list[list[Tensor]] = []
    for rows, log_p in model.readout.log_probs(final):
        written_ids = torch.tensor(list(written[rows]), device=log_p.device)
        top = log_p.topk(2, dim=-1).values
        parts.append(
            [
                log_p.gather(1, written_ids[:, None])[:, 0],
                -(log_p.exp() * log_p.clamp(min=torch.finfo(log_p.dtype).min)).sum(dim=-1),
                -np.log(model.readout.vocabulary) - log_p.mean(dim=-1),
                top[:, 0] - top[:, 1],
            ]
        )
    columns = torch.stack([torch.cat(column).double() for column in zip(*parts, strict=True)])
    return TokenStatistics(*columns.cpu().numpy())
