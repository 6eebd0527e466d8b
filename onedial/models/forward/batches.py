"""Batch questions of like length, as many as memory holds, and half of them where it holds fewer.

The size of a batch moves margins by rounding alone (about 1e-5 in float32), never by what is computed.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TypeVar

import torch

from onedial.core.errors import InputError
from onedial.models.decoder import Decoder
from onedial.models.forward.readout import VOCABULARY_CHUNK
from onedial.models.processes import everyone, gather, is_split, own_share

QUESTIONS_PER_BATCH = {"cpu": 16, "cuda": 64}
"""At most: larger batches gain little, for these fill the device."""
SHARE_OF_FREE = 0.5
"""Of the free memory, for what is reckoned; the rest is for what is not: fragments, copies, kernels' workspaces."""

Progress = Callable[[int], None]
"""Is told how many questions more were done."""

T = TypeVar("T")


def map_batches(
    batches: Sequence[list[int]],
    work: Callable[[list[int]], Sequence[T]],
    *,
    only: Collection[int] | None = None,
    share: bool = True,
    sink: Callable[[list[int], Sequence[T]], None] | None = None,
    progress: Progress | None = None,
) -> list[T]:
    """What `work` makes of every question, batch by batch, each halved for as long as it does not fit into memory.

    Args:
        batches: places of the questions, the same in every process; an interrupted task that is given the same ones
            again ends with the same bits.
        work: gives one result for each place of a batch, in its order.
        only: places that are asked; the others were done before.
        share: each process takes every n-th batch, and all of them get everything; else each does all of it.
        sink: is given the places and results of what was finished (of this process's share), and nothing is kept then.

    Returns:
        Results in the order of the places; nothing with a sink.

    Raises:
        InputError: not even one question fits into memory.

    >>> map_batches([[2, 0], [1]], lambda batch: [place * 10 for place in batch])
    [0, 10, 20]
    """
    wanted = batches if only is None else [[place for place in batch if place in only] for batch in batches]
    todo = [batch for batch in wanted if batch]
    placed: list[tuple[int, T]] = []
    for places, results in finished_parts(own_share(todo) if share else todo, work, progress):
        if sink is not None:
            sink(places, results)
        else:
            placed += zip(places, results, strict=True)
    if sink is not None:
        return []
    return [
        result for _, result in sorted(gather(placed) if share else placed, key=lambda placed_result: placed_result[0])
    ]


def finished_parts(
    batches: Iterable[list[int]], work: Callable[[list[int]], Sequence[T]], progress: Progress | None = None
) -> Iterator[tuple[list[int], Sequence[T]]]:
    """Places and results as they are finished, batch by batch, for whoever hands them on one by one.

    Raises:
        InputError: not even one question fits into memory.
    """
    for batch in batches:
        for part in halving_on_out_of_memory(lambda places: (places, work(places)), batch):
            yield part
            if progress:
                progress(len(part[0]))


def batches_by_length(
    lengths: Sequence[int], size: int, equal_length: bool = False, parts: Sequence[str] = ()
) -> list[list[int]]:
    """Indices in batches of neighbours in length, longest first: the first batch is the one that needs most memory.

    Args:
        equal_length: put only equal lengths into one batch, so that nothing is padded.
        parts: of each; only those of one part are put into one batch.
    """

    def kind(index: int) -> tuple[str, int]:
        return parts[index] if parts else "", lengths[index] if equal_length else 0

    order = sorted(range(len(lengths)), key=lambda index: (kind(index), -lengths[index], index))
    runs = [list(run) for _, run in groupby(order, key=kind)]
    batches = [run[start : start + size] for run in runs for start in range(0, len(run), size)]
    return sorted(batches, key=lambda batch: -lengths[batch[0]])


def halved(work: Callable[[list[int]], T], batch: list[int]) -> Iterator[T]:
    """Run `work` on a batch; if the device's memory is too small for it, on its halves, and so on.

    Raises:
        torch.OutOfMemoryError: a batch of one does not fit, or any that several processes work on together.
    """
    try:
        result = work(batch)
    except torch.OutOfMemoryError:
        if len(batch) == 1 or is_split():  # the others are in the midst of it
            raise
    else:
        yield result
        return
    # Out of the handler: as long as the error lives, its traceback holds the tensors of the failed attempt.
    torch.cuda.empty_cache()
    middle = len(batch) // 2
    yield from halved(work, batch[:middle])
    yield from halved(work, batch[middle:])


def halving_on_out_of_memory(work: Callable[[list[int]], T], batch: list[int]) -> Iterator[T]:
    """Run `work` on a batch of questions, halved for as long as it does not fit into memory.

    Raises:
        InputError: not even one question fits.
    """
    try:
        yield from halved(work, batch)
    except torch.OutOfMemoryError as error:
        if is_split():
            raise InputError(
                f"a batch of {len(batch)} questions does not fit into the device's memory, and processes that hold one "
                "model together can't try a smaller one; start more of them, or load it in a smaller dtype"
            ) from error
        raise InputError(
            "one question alone does not fit into the device's memory; load the model in a smaller dtype, "
            "spread it over GPUs (device map auto), or try fewer magnitudes"
        ) from error


def questions_per_batch(stack: Decoder, longest: int, rows: int = 1) -> int:
    """Questions per batch to begin with: 16 on a CPU; on CUDA 64, or fewer where the free memory is small.

    Free memory is not the same in every run, so a run that is resumed on a nearly full GPU may be batched otherwise
    than it began.

    Args:
        longest: tokens of the longest prompt, and of what is to be written after it.
        rows: steered rows of one question that run side by side.
    """
    most = QUESTIONS_PER_BATCH.get(stack.device.type, 16)
    if stack.device.type != "cuda":
        return most
    free = min(everyone(_free_bytes(stack))) if is_split() else _free_bytes(stack)
    return max(1, min(most, int(SHARE_OF_FREE * free) // bytes_per_question(stack, longest, rows)))


def bytes_per_question(stack: Decoder, n_tokens: int, rows: int = 1) -> int:
    """Memory that one question needs while it runs, from above: what it keeps, what a layer passes on, its logits.

    Keys and values of every layer stand there twice while those of prompts and prefix are joined. Attention is taken
    to write out its scores in float32 beside their softmax, as the plain implementation does. Of a split model each
    process needs less.
    """
    config = stack.config
    heads = config.num_attention_heads
    head_width = getattr(config, "head_dim", None) or stack.d_model // heads
    key_width = (getattr(config, "num_key_value_heads", None) or heads) * head_width
    mlp_width = getattr(config, "intermediate_size", None) or 4 * stack.d_model
    running, seen = max(n_tokens, rows), n_tokens + rows
    kept = 2 * (2 * key_width * seen * stack.n_layers)
    activations = running * (2 * mlp_width + 4 * stack.d_model + 2 * heads * head_width) + 2 * seen * heads * head_width
    scores = 2 * heads * running * seen
    logits = 2 * max(rows * min(config.vocab_size, VOCABULARY_CHUNK), config.vocab_size)
    return (kept + activations) * stack.dtype.itemsize + (scores + logits) * torch.float32.itemsize


def _free_bytes(stack: Decoder) -> int:
    """On the fullest of the model's GPUs, with what PyTorch holds there and does not use."""
    devices = {stack.device} | {weights.device for weights in stack.hf.parameters() if weights.device.type == "cuda"}
    return min(
        torch.cuda.mem_get_info(device)[0] + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        for device in devices
    )
