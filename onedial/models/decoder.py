"""Run the stack of decoder layers, whole or in part, without a tokenizer."""

import contextlib
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from onedial.core.errors import InputError
from onedial.models.families import Family, decoder_of, forms_for
from onedial.models.forward.residual import PassThrough, reading, stream_of, take_positions
from onedial.models.tokens import TokenBatch

THRESHOLDS = {
    "sliding_window": 0,
    "attention_chunk_size": 0,
    "original_max_position_embeddings": 0,
    "index_topk": 0,
    "floor_scale": 64,
}
"""Of a config, or of its rotary embedding: a prompt is run in another way above so many tokens, less so many columns;
where columns are counted and not positions, steered rows that stand side by side after the prompt count as well."""


class Decoder:
    """The decoder of a Hugging Face causal language model: its layers, final norm, where and in what they compute.

    Args:
        hf: the whole model.
        pad_id: a token to fill rectangles with; it is always masked.
        name: for error messages.
        family: how it is built; by default the first form known for its model type that it has.

    Raises:
        InputError: no stack of decoder layers with a final norm, or not as many layers as the config says.
    """

    def __init__(self, hf: Any, pad_id: int, name: str, family: Family | None = None) -> None:
        self.hf = hf
        self.module = decoder_of(hf)
        self.config = hf.config.get_text_config()
        self.pad_id, self.name = pad_id, name
        forms = [family] if family else forms_for(self.config.model_type)
        fitting = [form for form in forms if form.fits(self.module)]
        if not fitting:
            raise InputError(
                f"{name} ({type(self.module).__name__}) is no stack of decoder layers with a final norm, under any "
                "name that onedial knows; declare its form in a plugin (onedial.models.FAMILIES)"
            )
        self.family = fitting[0]
        self.computes_in: torch.dtype | None = None
        if len(self.layers) != self.config.num_hidden_layers:
            raise InputError(
                f"{name} counts {self.config.num_hidden_layers} layers in its config, but its decoder is "
                f"{len(self.layers)} blocks, so that the number of a layer would mean two things; use another model"
            )

    @property
    def layers(self) -> nn.ModuleList:
        """The decoder layers, 0 first."""
        return getattr(self.module, self.family.layers)

    @contextlib.contextmanager
    def beginning_after(self, layer: int, stream: Float[Tensor, "row pos d_model"]) -> Iterator[None]:
        """While the context lasts, a forward of the decoder starts with `stream` as the output of layer `layer`.

        Layers 0..layer cost nothing; those above are the model's own, at their own indices, so that caches, masks and
        rotary embeddings that depend on the index stay right.
        """
        blocks = self.layers
        skipped = [self._passed(block) for block in blocks[:layer]]
        with self._layers_are([*skipped, self._passed(blocks[layer], stream), *blocks[layer + 1 :]]):
            yield

    @contextlib.contextmanager
    def ending_after(self, layer: int) -> Iterator[None]:
        """While the context lasts, a forward of the decoder ends after layer `layer` (then final norm)."""
        blocks = self.layers
        with self._layers_are([*blocks[: layer + 1], *(self._passed(block) for block in blocks[layer + 1 :])]):
            yield

    def _passed(self, block: nn.Module, stream: Tensor | None = None) -> nn.Module:
        return PassThrough(block, stream, self.tried.gives_tuples)

    @contextlib.contextmanager
    def _layers_are(self, layers: Sequence[nn.Module]) -> Iterator[None]:
        original = self.layers
        setattr(self.module, self.family.layers, nn.ModuleList(layers))
        try:
            yield
        finally:
            setattr(self.module, self.family.layers, original)

    @property
    def norm(self) -> nn.Module:
        """The final norm."""
        return getattr(self.module, self.family.norm)

    @property
    def n_layers(self) -> int:
        """Number of decoder layers; the last has index n_layers - 1."""
        return len(self.layers)

    @property
    def d_model(self) -> int:
        """Width of the residual stream."""
        return self.config.hidden_size

    @property
    def device(self) -> torch.device:
        """Where token ids go: the device of the input embedding, or where it computes if its weights are offloaded."""
        embedding = self.hf.get_input_embeddings()
        of_weight = embedding.weight.device
        return torch.device(embedding._hf_hook.execution_device) if of_weight.type == "meta" else of_weight

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the residual stream: that of the weights, unless they are widened as they run."""
        return self.computes_in or self.hf.get_input_embeddings().weight.dtype

    def check_layers(self, layers: Sequence[Any]) -> None:
        """Raise InputError for what is no number in 0..n_layers-1."""
        for layer in layers:
            if not isinstance(layer, int | np.integer):
                raise InputError(
                    f"layer {layer!r} is no whole number; give one, or several where several are taken: all are "
                    f"range({self.n_layers})"
                )
            if not 0 <= layer < self.n_layers:
                raise InputError(
                    f"layer {layer} requested, but this model has layers 0-{self.n_layers - 1}; "
                    f"give layer {self.n_layers - 1} or less"
                )

    def crosses(self, length: int) -> tuple[int, ...]:
        """The lengths that this one exceeds, of those above which the config has a prompt run in another way.

        They are sliding windows, chunks of attention, the original context of a stretched rotary embedding, how many
        keys an indexer picks, and the steps at which attention is scaled with the position (`THRESHOLDS`).
        """
        config = self.config.to_dict()
        borders = {
            int(value)
            for entries in (config, *_rope_parameters(config))
            for name, columns in THRESHOLDS.items()
            if isinstance(value := entries.get(name), int | float) and 0 < value < length + columns
        }
        return tuple(sorted(borders))

    def refuse_dynamic_rope(self, length: int) -> None:
        """Raise InputError where dynamic NTK would turn positions by the longest prompt read at once or before, so that
        an answer depended on the others.
        """
        kinds = [
            parameters.get("rope_type", parameters.get("type"))
            for parameters in _rope_parameters(self.config.to_dict())
        ]
        if "dynamic" in kinds and length > self.config.max_position_embeddings:
            raise InputError(
                f"{self.name} turns positions by other angles beyond {self.config.max_position_embeddings} tokens, by "
                f"the longest prompt beside or before (dynamic NTK), and one has {length}; shorten the prompts"
            )

    @cached_property
    def rope_switch(self) -> int | None:
        """The length above which longrope turns every position by other angles; None for any other embedding."""
        limits = [
            original
            for parameters in _rope_parameters(self.config.to_dict())
            if parameters.get("rope_type", parameters.get("type")) == "longrope"
            and (original := parameters.get("original_max_position_embeddings"))
        ]
        return min(limits, default=None)

    def run(self, batch: TokenBatch) -> None:
        """One plain forward; hooks that are in force see it."""
        positions = {"position_ids": batch.position_ids} if self._takes_positions else {}
        with self.turned_by_row():
            self.module(
                input_ids=batch.input_ids, attention_mask=batch.attention_mask.long(), use_cache=False, **positions
            )

    @contextlib.contextmanager
    def turned_by_row(self) -> Iterator[None]:
        """While the context lasts, longrope chooses each row's angles by that row's own length.

        transformers chooses them for the whole batch by its longest row, so that a prompt's answer would depend on
        which others stand beside it.
        """
        turning = [module for module in self.module.modules() if getattr(module, "rope_type", None) == "longrope"]
        handles = [module.register_forward_hook(self._short_rows, with_kwargs=True) for module in turning]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def _short_rows(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> Any:
        stream, *rest = args
        position_ids = kwargs["position_ids"] if "position_ids" in kwargs else rest[0]
        assert self.rope_switch is not None
        short = position_ids.max(dim=1).values < self.rope_switch
        if short.all() or not short.any():
            return output
        angles = module.forward(stream[:1], position_ids[short])
        if isinstance(output, Tensor):  # cosines and sines as one complex number
            return output.index_put((short,), angles)
        return tuple(
            long.masked_scatter(short[:, None, None], angle) for long, angle in zip(output, angles, strict=True)
        )

    def final_residual(self, batch: TokenBatch) -> Float[Tensor, "question d_model"]:
        """Residual stream after the last layer at each row's last token, by one plain forward."""
        with reading([self.norm], inputs=True) as final:
            self.run(batch)
        return take_positions(final[0], batch.last_index)

    @cached_property
    def _takes_positions(self) -> bool:
        """A decoder whose attention knows distances alone (ALiBi) takes no position ids."""
        return "position_ids" in inspect.signature(self.module.forward).parameters

    @cached_property
    def cache_argument(self) -> str:
        """What forwards call the keys and values of before: transformers has renamed them in 5.24."""
        return "cache" if "cache" in inspect.signature(self.module.forward).parameters else "past_key_values"

    @cached_property
    @torch.inference_mode()
    def tried(self) -> "Tried":
        """What a forward of four tokens shows of the decoder's form, see `onedial.models.families`."""
        ids = torch.arange(4, device=self.device)[None] % self.config.vocab_size
        parts = [[self.family.part_of(block, kind) for kind in ("attn", "mlp")] for block in self.layers]
        before: dict[int, Tensor] = {}
        after: dict[int, Tensor] = {}
        written: dict[int, list[Tensor]] = {number: [] for number in range(self.n_layers)}
        tuples: set[bool] = set()

        def at_block(number: int, block: nn.Module) -> Iterator[Any]:
            def begin(module: Any, args: Any, kwargs: Any) -> None:
                before[number] = (args[0] if args else kwargs["hidden_states"]).clone()

            def end(module: Any, args: Any, output: Any) -> None:
                tuples.add(isinstance(output, tuple))
                after[number] = stream_of(output).clone()

            yield block.register_forward_pre_hook(begin, with_kwargs=True)
            yield block.register_forward_hook(end)
            for part in parts[number]:
                if part is not None:
                    # A copy: Falcon adds its attention to what the MLP has put out, in place.
                    yield part.register_forward_hook(lambda *seen: written[number].append(stream_of(seen[-1]).clone()))

        handles = [handle for number, block in enumerate(self.layers) for handle in at_block(number, block)]
        try:
            logits = self.hf(input_ids=ids, use_cache=False).logits[0, -1].float()
        except torch.OutOfMemoryError:
            raise
        except (RuntimeError, ValueError, TypeError, AttributeError, IndexError, KeyError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise InputError(
                f"transformers can't run {self.name} on four tokens ({reason}); see whether its config fits its "
                "weights, or use another model"
            ) from error
        finally:
            for handle in handles:
                handle.remove()
        if passed := [str(number) for number in range(self.n_layers) if number not in after]:
            raise InputError(
                f"{self.name} passes over its blocks {', '.join(passed)} where it reads text alone, so that an edit "
                "there would do nothing; use another model"
            )
        if any(stream.numel() != ids.numel() * self.d_model for stream in after.values()):
            raise InputError(
                f"{self.name} hands on several streams from block to block ({tuple(after[0].shape)} for four tokens), "
                "and onedial reads and steers one; use another model"
            )
        batch = TokenBatch(ids, torch.ones_like(ids, dtype=torch.bool), torch.arange(4, device=self.device)[None])
        times = self.family.times(self.config)
        steps = tuple(
            None not in parts[number] and _is_the_step(before[number], after[number], written[number], times)
            for number in range(self.n_layers)
        )
        return Tried(logits, self.final_residual(batch), steps, True in tuples)


@dataclass(frozen=True)
class Tried:
    """A short forward of a decoder.

    Attributes:
        logits: the model's own, at the last of four tokens. final: the stream after the last layer there.
        steps: for each block, whether what its attention and its MLP write makes up its step.
        gives_tuples: whether a block gives its stream as the first entry of a tuple.
    """

    logits: Float[Tensor, " token"]
    final: Float[Tensor, "1 d_model"]
    steps: tuple[bool, ...]
    gives_tuples: bool


def _is_the_step(before: Tensor, after: Tensor, written: Sequence[Tensor], times: float) -> bool:
    """Up to rounding: of the parts themselves, and of the stream that they are added to."""
    if len(written) != 2 or any(part.numel() != after.numel() for part in written):
        return False
    step = (after - before.to(after.device)).float()
    foretold = times * sum(part.to(after.device).reshape(after.shape).float() for part in written)
    coarse = torch.finfo(after.dtype).eps
    allowed = max(1e-3, 2 * coarse) * step.norm(dim=-1) + coarse * after.float().norm(dim=-1)
    return bool(((step - foretold).norm(dim=-1) <= allowed).all())


def _rope_parameters(config: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Of the rotary embedding, or of each kind of layer's."""
    parameters = config.get("rope_parameters") or config.get("rope_scaling") or {}
    return [parameters, *(entry for entry in parameters.values() if isinstance(entry, dict))]
