"""Find where activations are read: sites named as in TransformerLens, at some positions of each prompt.

    resid   blocks.L.hook_out        the residual stream after block L (earlier hook_resid_post)
    attn    blocks.L.hook_attn_out   what the attention of block L writes into the stream
    mlp     blocks.L.hook_mlp_out    what the MLP of block L writes into the stream

What is written is what is added: behind a norm that a decoder puts last (Gemma 2 and 3, OLMo 2, GLM-4), and times what
it multiplies it by (Granite). A short forward at load shows whether both parts make up the block's step
(`onedial.models.families`); where they do not, `attn` and `mlp` are refused.

    last       the last token of the prompt, at which the answer is read
    question   the token that holds the question's last letter
"""

import contextlib
import functools
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor, nn

from onedial.core.errors import InputError
from onedial.models.decoder import Decoder
from onedial.models.forward.residual import SITES, Edit, EditCount, Place, Site, edited, stream_of

POSITIONS = ("last", "question")


def sites_at(kinds: Sequence[str], layers: Sequence[int]) -> list[Site]:
    """Every kind at every layer.

    Raises:
        InputError: an unknown kind.
    """
    if unknown := [kind for kind in kinds if kind not in SITES]:
        raise InputError(f"the site {unknown[0]!r} is not known; choose among {', '.join(SITES)}")
    return [Site(kind, layer) for kind in dict.fromkeys(kinds) for layer in layers]


def module_at(stack: Decoder, site: Site) -> nn.Module:
    """The module whose output, times `times_at`, is what stands at a site.

    Raises:
        InputError: this decoder's blocks have no such part, or theirs do not make up the block's step.
    """
    block = stack.layers[site.layer]
    if site.kind == "resid":
        return block
    module = stack.family.part_of(block, site.kind)
    if module is None:
        names = " or ".join(getattr(stack.family, site.kind))
        raise InputError(f"block {site.layer} of this model has no {names}; read the site resid instead")
    if not stack.tried.steps[site.layer]:
        raise InputError(
            f"what attention and MLP of block {site.layer} put out is not what this model adds to its residual stream, "
            f"so the site {site.kind} can neither be read nor steered; read the site resid instead"
        )
    return module


def times_at(stack: Decoder, site: Site) -> float:
    """What the output of `module_at` is multiplied by on its way into the stream."""
    return 1.0 if site.kind == "resid" else stack.family.times(stack.config)


@contextlib.contextmanager
def edited_at(stack: Decoder, place: Place, edit: Edit) -> Iterator[EditCount]:
    """While the context lasts, a layer's output is `edit(output)`, or what is added to the stream at a site within it.

    Raises:
        InputError: as `module_at`; or a part puts out the tokens of all rows as one.
    """
    site = Site("resid", place) if isinstance(place, int) else place
    times = times_at(stack, site)

    def within(output: Tensor) -> Tensor:
        if output.dim() != 3:
            raise InputError(
                f"block {site.layer} of this model puts out the tokens of all rows as one at the site {site.kind}, so "
                "that none can be told from another there; steer the site resid instead"
            )
        if times == 1.0:
            return edit(output)
        written = output * times
        return output + (edit(written) - written) / times  # where nothing is changed, bit for bit

    with edited(module_at(stack, site), edit if site.kind == "resid" else within) as count:
        yield count


Places = dict[str, list[int]]
"""Position -> of each question, how many columns it lies from the right end of a left-padded batch."""


@contextlib.contextmanager
def capturing(stack: Decoder, sites: Sequence[Site], places: Places) -> Iterator[dict[tuple[Site, str], Tensor]]:
    """A forward of a left-padded batch in this context leaves what is wanted in the dictionary, on the CPU.

    Each block's stream is let go as soon as the wanted rows are taken; they leave the device together, when the context
    ends.
    """
    kept: dict[tuple[Site, str], Tensor] = {}
    left: dict[tuple[torch.device, torch.dtype], dict[tuple[Site, str], Tensor]] = {}
    n_questions = len(next(iter(places.values())))

    @functools.cache
    def columns(width: int, device: torch.device) -> dict[str, Int[Tensor, " question"]]:
        return {position: width - 1 - torch.tensor(back, device=device) for position, back in places.items()}

    def hook_for(site: Site) -> Any:
        times = times_at(stack, site)

        def hook(module: nn.Module, args: Any, output: Any) -> None:
            stream = stream_of(output)
            if stream.dim() == 2:  # some put the tokens of all questions in one row
                stream = stream.unflatten(0, (n_questions, -1))
            for position, column in columns(stream.shape[1], stream.device).items():
                rows = stream[torch.arange(n_questions, device=stream.device), column]
                rows = rows if times == 1.0 else rows * times
                left.setdefault((rows.device, rows.dtype), {})[site, position] = rows

        return hook

    handles = [module_at(stack, site).register_forward_hook(hook_for(site)) for site in sites]
    try:
        yield kept
    finally:
        for handle in handles:
            handle.remove()
    for rows_of_type in left.values():
        together = torch.stack(list(rows_of_type.values())).cpu()
        kept |= {name: rows.clone() for name, rows in zip(rows_of_type, together, strict=True)}
