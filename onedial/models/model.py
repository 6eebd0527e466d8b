"""An open-weight model whose residual stream can be read and edited."""

import contextlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from onedial.asking import YES_NO_TOKENS, Prompt, TokenReader
from onedial.core import InputError, notice
from onedial.models.decoder import Decoder
from onedial.models.forward.readout import AnswerTokens, Readout, find_answer_tokens
from onedial.models.forward.residual import (
    Edit,
    EditCount,
    edited,
    only_layers_above,
    only_layers_up_to,
    reading,
    take_positions,
)
from onedial.models.forward.runner import FastPaths, Runner, check_fast_paths, make_runner
from onedial.models.identity import ModelIdentity, fingerprint, sampled_fingerprint
from onedial.models.tokens import TokenBatch, encode, pad_batch, pad_id, render

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
        self.stack = Decoder(hf, pad_id(tokenizer), name)
        self.readout = Readout(
            self.stack.norm, hf.get_output_embeddings(), getattr(self.stack.config, "final_logit_softcapping", None)
        )
        self.identity = ModelIdentity(
            name=name,
            source=source,
            revision=revision,
            architecture=type(hf).__name__,
            n_layers=self.n_layers,
            d_model=self.d_model,
            fingerprint=fingerprint(hf),
            sampled_fingerprint=sampled_fingerprint(hf),
        )
        self._check_readout()

    def __repr__(self) -> str:
        return (
            f"OpenModel({self.identity.name}, {self.n_layers} layers, d_model {self.d_model}, "
            f"{str(self.dtype).removeprefix('torch.')} on {self.device})"
        )

    @property
    def n_layers(self) -> int:
        """Number of decoder layers; the last has index n_layers - 1."""
        return self.stack.n_layers

    @property
    def d_model(self) -> int:
        """Width of the residual stream."""
        return self.stack.d_model

    @property
    def device(self) -> torch.device:
        """Where token ids go: the device of the input embedding."""
        return self.stack.device

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the weights and of the residual stream."""
        return self.stack.dtype

    @property
    def max_tokens(self) -> int | None:
        """How many tokens the model reads at most, where its config says so."""
        return getattr(self.stack.config, "max_position_embeddings", None)

    # ---- prompts ----------------------------------------------------------------------------------------------------

    def render(self, prompt: Prompt) -> str:
        """The text that the model reads for this prompt, chat template included.

        Raises:
            InputError: it is no prompt, but for example a text.
        """
        if not isinstance(prompt, Prompt):
            raise InputError(
                f"a prompt was given as {type(prompt).__name__}: {str(prompt)[:40]!r}; make it a Prompt, by "
                "PromptTemplate.fill or onedial.asking.Prompt(text)"
            )
        return render(self.tokenizer, prompt)

    def token_ids(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Token ids of each rendered prompt, unpadded."""
        return [encode(self.tokenizer, self.render(prompt)) for prompt in prompts]

    def tokenise(self, prompts: Sequence[Prompt], side: str = "left") -> TokenBatch:
        """Rendered, tokenised and padded prompts on the model's device."""
        return pad_batch(self.token_ids(prompts), self.stack.pad_id, side).to(self.device)

    def answer_tokens(self, prompt: Prompt, reader: TokenReader = YES_NO_TOKENS) -> AnswerTokens:
        """The tokens of each answer that can follow this prompt, by default those of yes and no.

        Raises:
            InputError: an answer has no token under this tokenizer, or shares one with another.
        """
        return find_answer_tokens(self.tokenizer, self.render(prompt), reader)

    def spell(self, tokens: AnswerTokens) -> list[list[str]]:
        """The answer tokens as text, option by option, for people."""
        return [[self.tokenizer.decode([token]) for token in group] for group in tokens.groups]

    # ---- running ----------------------------------------------------------------------------------------------------

    @torch.inference_mode()
    def final_residual(self, batch: TokenBatch) -> Float[Tensor, "question d_model"]:
        """Residual stream after the last layer at each row's last token, by one plain forward.

        Edits that are in force (`edit_residual`) act on it: this is the plain path that the fast one must equal.
        """
        return self.stack.final_residual(batch)

    @torch.inference_mode()
    def final_residuals(self, batch: TokenBatch) -> Float[Tensor, "question pos d_model"]:
        """Residual stream after the last layer at every column, padding included, by one plain forward.

        Edits that are in force act on it, as on `final_residual`.
        """
        with reading([self.stack.norm], inputs=True) as final:
            self.stack.run(batch)
        return final[0]

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
        modules = [self.stack.layers[layer] for layer in layers]
        with reading(modules) as streams, only_layers_up_to(self.stack.module, max(layers)):
            self.stack.run(batch)
        kept = [stream.to(self.device) for stream in streams]
        if positions == "last":
            kept = [take_positions(stream, batch.last_index) for stream in kept]
        return torch.stack(kept, dim=1)

    @contextlib.contextmanager
    def edit_residual(self, layer: int, edit: Edit) -> Iterator[EditCount]:
        """While the context lasts, the residual stream after `layer` is `edit(stream)`; see `residual.edited`."""
        self.check_layers([layer])
        with edited(self.stack.layers[layer], edit) as count:
            yield count

    @contextlib.contextmanager
    def resumed_after(self, layer: int, stream: Float[Tensor, "row pos d_model"]) -> Iterator[None]:
        """While the context lasts, forwards of the same rows start with `stream` as the output of `layer`.

        The layers below cost nothing then. Where this model is right by plain forwards alone (`fast_paths`), they are
        run as ever.
        """
        self.check_layers([layer])
        if "all" not in self.fast_paths.allowed:
            yield
            return
        with only_layers_above(self.stack.module, layer, stream):
            yield

    @torch.inference_mode()
    def runner(self, sequences: Sequence[Sequence[int]], layers: Sequence[int] = (), at: str = "last") -> Runner:
        """What runs these prompts, unedited and edited; see `onedial.models.forward.runner`.

        Args:
            sequences: all prompts of the task, as token ids.
            layers: where the residual stream is kept: the lowest layer of every edit, and those that are to be read.
            at: "last" or "all", where edits act.
        """
        self.check_layers(layers)
        return make_runner(self.stack, self.fast_paths, sequences, layers, at)

    @cached_property
    def fast_paths(self) -> FastPaths:
        """Which fast paths are right for this model, found out once; a notice where one of them is not."""
        paths = check_fast_paths(self.stack)
        if paths.reason:
            notice(
                f"{self.identity.name} is run by plain forwards, one for each setting, which is right and slower, "
                f"since {paths.reason}"
            )
        return paths

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
        self.stack.check_layers(layers)

    @torch.inference_mode()
    def _check_readout(self) -> None:
        ids = torch.arange(4, device=self.device)[None] % self.stack.config.vocab_size
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
    from onedial.models.checkpoints.weights import load_weights, resolve_weights

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
