"""An open-weight model whose residual stream can be read and edited."""

import contextlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from common import InputError
from elicitation.prompts import Prompt
from open_models.attention import SUPPORTED_LAYER_TYPES
from open_models.identity import ModelIdentity, fingerprint
from open_models.prefill import Prefilled, SharedPrefix, prefill, run_prefix, steer_all, steer_last
from open_models.readout import AnswerTokens, Readout, find_answer_tokens
from open_models.residual import Edit, EditCount, edited, only_layers_up_to, reading, take_positions
from open_models.tokens import TokenBatch, encode, pad_batch, render

DEFAULT_MODEL = "smollm2-135m-instruct"
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


class OpenModel:
    """A Hugging Face causal language model with its tokenizer, in evaluation mode, without gradients.

    Works on stock decoder stacks (`decoder.layers`, `decoder.norm`): Llama, Mistral, Qwen 2 and 3, Gemma 2 and 3 and
    their kin. At the start one short forward checks that yes/no margins read from the residual stream equal the
    model's own logits; an architecture that does something else to its logits is refused, not silently misread.

    Args:
        hf: the model; it is used as it is, and left as it was found after every call.
        tokenizer: its tokenizer.
        name: for people; the identity rests on the weights.
        source, revision: where the weights came from, for the manifest.

    Raises:
        InputError: the architecture is not of that form.
    """

    def __init__(self, hf: Any, tokenizer: Any, name: str, source: str = "memory", revision: str = "") -> None:
        self.hf: Any = hf.eval().requires_grad_(False)
        self.tokenizer = tokenizer
        self.text_config = hf.config.get_text_config()
        self.decoder = hf.get_decoder()
        _check_architecture(self.decoder, self.text_config, name)
        self.readout = Readout(
            self.norm, hf.get_output_embeddings(), getattr(self.text_config, "final_logit_softcapping", None)
        )
        self.identity = ModelIdentity(
            name=name,
            source=source,
            revision=revision,
            architecture=type(hf).__name__,
            n_layers=self.n_layers,
            d_model=self.d_model,
            fingerprint=fingerprint(hf),
        )
        self._check_readout()

    @property
    def layers(self) -> nn.ModuleList:
        """The decoder layers, 0 first."""
        return self.decoder.layers

    @property
    def norm(self) -> nn.Module:
        """The final norm."""
        return self.decoder.norm

    @property
    def n_layers(self) -> int:
        """Number of decoder layers; the last has index n_layers - 1."""
        return len(self.decoder.layers)

    @property
    def d_model(self) -> int:
        """Width of the residual stream."""
        return self.text_config.hidden_size

    @property
    def device(self) -> torch.device:
        """Where token ids go: the device of the input embedding."""
        return self.hf.get_input_embeddings().weight.device

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the weights and of the residual stream."""
        return self.hf.get_input_embeddings().weight.dtype

    @property
    def pad_id(self) -> int:
        """A token to fill rectangles with; it is always masked."""
        for candidate in (self.tokenizer.pad_token_id, self.tokenizer.eos_token_id):
            if candidate is not None:
                return candidate
        return 0

    def render(self, prompt: Prompt) -> str:
        """The text that the model reads for this prompt, chat template included."""
        return render(self.tokenizer, prompt)

    def token_ids(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Token ids of each rendered prompt, unpadded."""
        return [encode(self.tokenizer, self.render(prompt)) for prompt in prompts]

    def tokenise(self, prompts: Sequence[Prompt], side: str = "left") -> TokenBatch:
        """Rendered, tokenised and padded prompts on the model's device."""
        return pad_batch(self.token_ids(prompts), self.pad_id, side).to(self.device)

    def answer_tokens(self, prompt: Prompt) -> AnswerTokens:
        """The yes and no tokens that can follow this prompt."""
        return find_answer_tokens(self.tokenizer, self.render(prompt))

    @torch.inference_mode()
    def final_residual(self, batch: TokenBatch) -> Float[Tensor, "question d_model"]:
        """Residual stream after the last layer at each row's last token, by one plain forward.

        Edits that are in force (`edit_residual`) act on it: this is the plain path that the fast one must equal.
        """
        with reading([self.norm], inputs=True) as final:
            self._plain_forward(batch)
        return take_positions(final[0], batch.last_index)

    @torch.inference_mode()
    def read_residual(
        self, batch: TokenBatch, layers: Sequence[int], positions: str = "last"
    ) -> Float[Tensor, "question layer d_model"] | Float[Tensor, "question layer pos d_model"]:
        """The residual stream after each of `layers`.

        Args:
            positions: "last" (each row's last real token) or "all" (every column, padding included).

        Raises:
            InputError: a layer that the model has not.
        """
        self.check_layers(layers)
        with reading([self.layers[layer] for layer in layers]) as streams, only_layers_up_to(self.decoder, max(layers)):
            self._plain_forward(batch)
        kept = [stream.to(self.device) for stream in streams]
        if positions == "last":
            kept = [take_positions(stream, batch.last_index) for stream in kept]
        return torch.stack(kept, dim=1)

    @contextlib.contextmanager
    def edit_residual(self, layer: int, edit: Edit) -> Iterator[EditCount]:
        """While the context lasts, the residual stream after `layer` is `edit(stream)`; see `residual.edited`."""
        self.check_layers([layer])
        with edited(self.layers[layer], edit) as count:
            yield count

    @torch.inference_mode()
    def run_prefix(self, sequences: Sequence[Sequence[int]], layers: Sequence[int]) -> SharedPrefix:
        """See `prefill.run_prefix`."""
        return run_prefix(self, sequences, layers)

    @torch.inference_mode()
    def prefill(
        self, sequences: Sequence[Sequence[int]], layers: Sequence[int], prefix: SharedPrefix, *, whole: bool = False
    ) -> Prefilled:
        """See `prefill.prefill`."""
        return prefill(self, sequences, layers, prefix, whole=whole)

    @torch.inference_mode()
    def steer_last(
        self, prefilled: Prefilled, layer: int, additions: Float[Tensor, "question row d_model"]
    ) -> Float[Tensor, "question row d_model"]:
        """See `prefill.steer_last`."""
        return steer_last(self, prefilled, layer, additions)

    @torch.inference_mode()
    def steer_all(
        self, prefilled: Prefilled, layer: int, additions: Float[Tensor, "row d_model"]
    ) -> Float[Tensor, "question row d_model"]:
        """See `prefill.steer_all`."""
        return steer_all(self, prefilled, layer, additions)

    @cached_property
    def supports_partial_runs(self) -> bool:
        """Whether the decoder's layers are of the kinds that the fast paths know (full and sliding attention)."""
        kinds = set(getattr(self.text_config, "layer_types", None) or ["full_attention"])
        return kinds <= SUPPORTED_LAYER_TYPES

    def bridge(self) -> Any:
        """A TransformerLens `TransformerBridge` on a copy of this model.

        The bridge changes the model that it wraps in place, so it gets its own; its logits equal this model's under
        eager attention exactly. Needs memory for a second copy.

        Raises:
            InputError: the tokenizer did not come from a folder, a file or the hub.
        """
        import copy

        from transformer_lens.model_bridge import TransformerBridge

        if not self.tokenizer.init_kwargs.get("name_or_path"):  # TransformerLens reads the tokenizer again from there
            raise InputError(
                f"the tokenizer of {self.identity.name} was made in memory, and TransformerLens reads tokenizers from "
                "disk; save model and tokenizer with save_pretrained and load that folder"
            )
        twin = copy.deepcopy(self.hf)
        return TransformerBridge.boot_transformers(
            self.identity.name, hf_model=twin, tokenizer=self.tokenizer, dtype=self.dtype, device=str(self.device)
        )

    def check_layers(self, layers: Sequence[int]) -> None:
        """Raise InputError for a layer outside 0..n_layers-1."""
        for layer in layers:
            if not 0 <= layer < self.n_layers:
                raise InputError(
                    f"layer {layer} requested, but this model has layers 0-{self.n_layers - 1}; "
                    f"pass --layer {self.n_layers - 1} or less"
                )

    def _plain_forward(self, batch: TokenBatch) -> None:
        self.decoder(
            input_ids=batch.input_ids,
            attention_mask=batch.attention_mask.long(),
            position_ids=batch.position_ids,
            use_cache=False,
        )

    @torch.inference_mode()
    def _check_readout(self) -> None:
        ids = torch.arange(4, device=self.device)[None] % self.text_config.vocab_size
        batch = TokenBatch(ids, torch.ones_like(ids, dtype=torch.bool), torch.arange(4, device=self.device)[None])
        own = self.hf(input_ids=ids, use_cache=False).logits[0, -1].float()
        read = self.readout.logits(self.final_residual(batch), slice(None))[0].to(own.device)
        error = (own - read).abs().max().item()
        allowed = (1e-3 if self.dtype == torch.float32 else 0.05) * max(own.abs().max().item(), 1.0)
        if not error <= allowed:
            raise InputError(
                f"the logits of {self.identity.name} ({self.identity.architecture}) are not its unembedded final norm "
                f"(they differ by {error:.3g}), so margins can't be read; use a Llama, Mistral, Qwen or Gemma model"
            )


def load_model(
    name_or_path: str = DEFAULT_MODEL,
    *,
    revision: str | None = None,
    dtype: str = "auto",
    device: str | None = None,
    device_map: str | None = None,
) -> OpenModel:
    """Load an open-weight model: a built-in name, a hub id, a local folder, or a GGUF file.

    Args:
        revision: branch, tag or commit of a hub id.
        dtype: "auto" is the checkpoint's own on CUDA and float32 on the CPU; else float32, bfloat16 or float16.
        device: "cuda", "cuda:1", "cpu"; by default CUDA where there is one.
        device_map: "auto" spreads a model over several GPUs (accelerate); not together with `device`.

    Raises:
        InputError: no such model, gated, weights only as pickles, unknown dtype or device.
    """
    from open_models.weights import load_weights, resolve_weights

    if dtype not in ("auto", *DTYPES):
        raise InputError(f"dtype {dtype!r} is not known; choose auto, {', '.join(DTYPES)}")
    target = _check_device(device)
    location = resolve_weights(name_or_path, revision)
    wanted = DTYPES.get(dtype) or ("auto" if target.type == "cuda" or device_map else torch.float32)
    hf, tokenizer, provenance = load_weights(location, wanted, None if device_map else target, device_map)
    return OpenModel(
        hf,
        tokenizer,
        name=name_or_path,
        source=str(provenance.get("source", name_or_path)),
        revision=str(provenance.get("revision", "") or ""),
    )


def _check_device(device: str | None) -> torch.device:
    if device is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        target = torch.device(device)
    except RuntimeError as error:
        raise InputError(f"device {device!r} is not known; choose cpu, cuda or cuda:N") from error
    if target.type == "cuda" and (target.index or 0) >= torch.cuda.device_count():
        raise InputError(f"device {device!r} was asked for, but {torch.cuda.device_count()} CUDA devices are here")
    return target


def _check_architecture(decoder: Any, config: Any, name: str) -> None:
    if not isinstance(getattr(decoder, "layers", None), nn.ModuleList) or not hasattr(decoder, "norm"):
        raise InputError(
            f"{name} ({type(decoder).__name__}) is no stack of decoder layers with a final norm; "
            "use a Llama, Mistral, Qwen or Gemma model"
        )
    if len(decoder.layers) != config.num_hidden_layers:
        raise InputError(
            f"{name} names {config.num_hidden_layers} layers in its config but holds {len(decoder.layers)}; "
            "the checkpoint is damaged"
        )
