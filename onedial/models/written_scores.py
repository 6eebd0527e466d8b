"""How likely a model finds a text after a prompt, token by token, from one forward over both.

The text need not be its own: what another model wrote, or the same text after another prompt, is read in the same way.
Logits are taken in float32 from the final residual stream (`onedial.models.forward.readout`), a few positions at a
time, so that no table of position x vocabulary is ever held whole.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from onedial.asking.prompts import Prompt
from onedial.confidence.tokens import TokenStatistics
from onedial.core.errors import InputError
from onedial.models.forward.batches import Progress, batches_by_length, map_batches, questions_per_batch
from onedial.models.model import OpenModel
from onedial.models.tokens import TokenBatch, pad_batch, tokenised

FinalStreams = Callable[[TokenBatch, Int[Tensor, " row"]], Iterable[Float[Tensor, "row pos d_model"]]]
"""From a batch of prompts with their texts, and where in each row (padding not counted) its text begins, to the
residual stream after the last layer: one for each way in which the batch is to be read."""


@dataclass(frozen=True)
class WrittenTokens:
    """One text after one prompt.

    Attributes:
        statistics: of each of its tokens.
        token_ids: of the text. starts, ends: (token,) where each token stands in the text, in characters; a blank that
            a token begins with is its own.
    """

    statistics: TokenStatistics
    token_ids: tuple[int, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]


def read_written(
    model: OpenModel,
    prompts: Sequence[Prompt],
    texts: Sequence[str],
    *,
    batch_size: int | None = None,
    progress: Progress | None = None,
) -> list[WrittenTokens]:
    """Token statistics of each text after its prompt, in their order.

    Prompt and text are tokenised together, as the model would read them; a text joins its prompt by a blank unless one
    stands there. The end token is not part of it. An empty text has no tokens.

    Args:
        prompts, texts: one text for each prompt. batch_size: by default what memory holds. progress: is told after each
            batch how many texts were read.

    Raises:
        InputError: other numbers of texts, a tokenizer that does not say where its tokens stand, or a prompt and text
            that exceed the model's context.
    """
    (by_way,) = read_written_in_ways(
        model,
        prompts,
        texts,
        1,
        lambda tokens, begins: [model.final_residuals(tokens)],
        batch_size=batch_size,
        progress=progress,
    )
    return by_way


def read_written_in_ways(
    model: OpenModel,
    prompts: Sequence[Prompt],
    texts: Sequence[str],
    n_ways: int,
    streams: FinalStreams,
    *,
    batch_size: int | None = None,
    share: bool = False,
    progress: Progress | None = None,
) -> list[list[WrittenTokens]]:
    """The same of `n_ways` streams of the same texts, such as those of a model at several settings of a dial.

    Args:
        streams: gives a batch's streams, `n_ways` of them; each is read before the next is asked for. share: several
            processes share the texts. The others: as in `read_written`.

    Returns:
        For each way the texts in their order.

    Raises:
        InputError: as `read_written`.
    """
    if len(prompts) != len(texts):
        raise InputError(f"{len(texts)} texts for {len(prompts)} prompts; give one for each")
    if not getattr(model.tokenizer, "is_fast", False):
        raise InputError(f"the tokenizer of {model.identity.name} does not say where its tokens stand; use a fast one")
    pieces = [_tokenised(model, model.render(prompt), text) for prompt, text in zip(prompts, texts, strict=True)]
    longest = max((len(ids) for ids, *_ in pieces), default=0)
    if model.max_tokens and longest > model.max_tokens:
        raise InputError(
            f"a prompt and its text have {longest} tokens, but the model reads {model.max_tokens} at most; shorten them"
        )
    order = [index for index, piece in enumerate(pieces) if piece[1]]

    @torch.inference_mode()
    def work(batch: list[int]) -> list[list[TokenStatistics]]:
        chosen = [pieces[order[place]] for place in batch]
        tokens = pad_batch([ids for ids, _ in chosen], model.stack.pad_id).to(model.device)
        begins = torch.tensor([len(ids) - len(places) for ids, places in chosen], device=model.device)
        statistics: list[list[TokenStatistics]] = [[] for _ in chosen]
        for final in streams(tokens, begins):
            width = final.shape[1]
            for row, (ids, places) in enumerate(chosen):
                n = len(places)
                # Left-padded: the text's tokens are the last n columns, and each is predicted by the column before it.
                stream = final[row, width - n - 1 : width - 1]
                statistics[row].append(_statistics(model, stream, ids[len(ids) - n :]))
        return statistics

    size = batch_size or questions_per_batch(model.stack, longest)
    lengths, alone = [len(pieces[index][0]) for index in order], model.fast_paths_for(longest).requires_equal_length
    read = map_batches(batches_by_length(lengths, size, alone), work, share=share, progress=progress)
    done = dict(zip(order, read, strict=True))
    nothing = [TokenStatistics(*(np.empty(0) for _ in range(4)))] * n_ways
    return [
        [
            WrittenTokens(
                done.get(index, nothing)[way],
                tuple(ids[len(ids) - len(places) :]) if places else (),
                tuple(start for start, _ in places),
                tuple(end for _, end in places),
            )
            for index, (ids, places) in enumerate(pieces)
        ]
        for way in range(n_ways)
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
