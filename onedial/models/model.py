"""Hold an open-weight model whose residual stream can be read and edited."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import torch
from jaxtyping import Float
from torch import Tensor

from onedial.asking.instruments import YES_NO_TOKENS, TokenReader
from onedial.asking.prompts import METACOGNITIVE, Prompt
from onedial.core.calls import says_how
from onedial.core.errors import InputError
from onedial.core.notices import notice
from onedial.core.progress import shown
from onedial.core.pulse import at_work
from onedial.models.chat_turns import ChatTurns
from onedial.models.checkpoints.split import keep_own_part
from onedial.models.decoder import Decoder
from onedial.models.families import Family, decoder_of, forms_for
from onedial.models.forward.batches import Progress
from onedial.models.forward.path_proof import check_fast_paths
from onedial.models.forward.prefill_cache import PrefillCache
from onedial.models.forward.readout import AnswerTokens, Readout, find_answer_tokens
from onedial.models.forward.residual import (
    Edit,
    EditCount,
    Place,
    reading,
    take_positions,
)
from onedial.models.forward.runner import FastPaths, Runner, make_runner
from onedial.models.forward.sites import edited_at
from onedial.models.identity import ModelIdentity, fingerprint, sampled_fingerprint
from onedial.models.processes import as_first, everyone, is_split
from onedial.models.questions import Text, Texts, as_prompt, as_prompts
from onedial.models.threads import choose_threads_once, quiet_libraries
from onedial.models.tokens import TokenBatch, encode, pad_batch, pad_id, render
from onedial.models.writing import Decoding, Writer, pads_rightly, write_after

DEFAULT_MODEL = "smollm2-135m-instruct"
EXAMPLE = METACOGNITIVE.fill("Who wrote the letter?")
"""A prompt that a model in float16 is tried on when it is loaded."""
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


class Steering(Protocol):
    """What a model can be steered with while it writes, such as `steering.Push`."""

    def steer(self, model: "OpenModel") -> contextlib.AbstractContextManager[Any]:
        """A context in which the model is steered; raises InputError where it is of another model."""


class OpenModel:
    """A Hugging Face causal language model with its tokenizer, in evaluation mode, without gradients.

    Works on stock decoder stacks of any of the forms in `FAMILIES`. At the start one short forward
    checks that yes/no margins read from the residual stream equal the model's own logits; an architecture that does
    something else to its logits is refused, not silently misread.

    Args:
        hf: the model; it is used as it is, and left as it was found after every call.
        tokenizer: its tokenizer.
        name: for people; the identity rests on the weights.
        source, revision: where the weights came from, for the manifest.

    Attributes:
        writer: what writes in place of transformers, if anything does.
        turns: how its chat template takes turns.

    Raises:
        InputError: the architecture is not of that form, its chat template begins no answer, or its logits are not
            finite, as where float16 overflows.
    """

    def __init__(self, hf: Any, tokenizer: Any, name: str, source: str = "memory", revision: str = "") -> None:
        self.hf: Any = hf.eval().requires_grad_(False)
        self.tokenizer = tokenizer
        self.turns = ChatTurns.of(tokenizer, name)
        self._paths: dict[tuple[tuple[int, ...], bool], FastPaths] = {}
        self._cache: PrefillCache | None = None
        self._writes_padded: bool | None = None
        self.writer: Writer | None = None
        with at_work(f"trying {name} on four tokens", after=2):
            self.stack, self.readout = proven(hf, pad_id(tokenizer, hf.get_input_embeddings().weight.shape[0]), name)
        with at_work(f"adding up the weights of {name}, by which it is known", after=2):
            known_by = fingerprint(hf)
        self.identity = ModelIdentity(
            name=name,
            source=source,
            revision=revision,
            architecture=type(hf).__name__,
            n_layers=self.n_layers,
            d_model=self.d_model,
            fingerprint=known_by,
            sampled_fingerprint=sampled_fingerprint(hf),
        )
        if is_split():
            _check_same_bits(self.stack.tried.final, name)
            keep_own_part(hf)
        if self.dtype == torch.float16:  # a few tokens may stay below 65504 where a prompt does not
            ids = [token for token in encode(tokenizer, render(tokenizer, EXAMPLE)) if token < self.n_embedded]
            self.check_finite(self.final_residual(pad_batch([ids], self.stack.pad_id).to(self.device)))

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
    def n_embedded(self) -> int:
        """How many tokens the model has an embedding for."""
        return int(self.hf.get_input_embeddings().weight.shape[0])

    @property
    def max_tokens(self) -> int | None:
        """How many tokens the model reads at most, where its config says so."""
        return getattr(self.stack.config, "max_position_embeddings", None)

    # ---- prompts ----------------------------------------------------------------------------------------------------

    def render(self, prompt: Text) -> str:
        """The text that the model reads for a prompt, a text or a chat, chat template included.

        Raises:
            InputError: as `as_prompt`; or the chat template does not lead to where this prompt's answer begins, or
                reads part of it as a control token (`ChatTurns`).
        """
        asked = as_prompt(prompt)
        self.turns.check(asked)
        return render(self.tokenizer, asked)

    def token_ids(self, prompts: Texts) -> list[list[int]]:
        """Token ids of each rendered prompt, unpadded.

        Raises:
            InputError: a token that the model has no embedding for.
        """
        sequences = [encode(self.tokenizer, self.render(prompt)) for prompt in prompts]
        highest = max((token for ids in sequences for token in ids), default=0)
        if highest >= self.n_embedded:
            raise InputError(
                f"the tokenizer of {self.identity.name} makes of a prompt the token {highest} "
                f"({self.tokenizer.decode([highest])!r}), but the model's embedding has {self.n_embedded} rows; use "
                "the tokenizer that the model was trained with"
            )
        return sequences

    def tokenise(self, prompts: Texts, side: str = "left") -> TokenBatch:
        """Rendered, tokenised and padded prompts on the model's device."""
        return pad_batch(self.token_ids(prompts), self.stack.pad_id, side).to(self.device)

    def answer_tokens(self, prompt: Text, reader: TokenReader = YES_NO_TOKENS) -> AnswerTokens:
        """The tokens of each answer that can follow this prompt, by default those of yes and no.

        Raises:
            InputError: as `render`, or an answer has no token under this tokenizer, or shares one with another.
        """
        asked = as_prompt(prompt)
        self.turns.check(asked, reads=True)
        return find_answer_tokens(self.tokenizer, render(self.tokenizer, asked), reader)

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
        with reading(modules) as streams, self.stack.ending_after(max(layers)):
            self.stack.run(batch)
        kept = [stream.to(self.device) for stream in streams]
        if positions == "last":
            kept = [take_positions(stream, batch.last_index) for stream in kept]
        return torch.stack(kept, dim=1)

    @contextlib.contextmanager
    def edit_residual(self, place: Place, edit: Edit) -> Iterator[EditCount]:
        """While the context lasts, the residual stream after a layer is `edit(stream)`, or what is added to it at a
        site within one; see `residual.edited`."""
        self.check_layers([place if isinstance(place, int) else place.layer])
        with edited_at(self.stack, place, edit) as count:
            yield count

    @torch.inference_mode()
    def runner(
        self, sequences: Sequence[Sequence[int]], layers: Sequence[int] = (), at: str = "last", within: bool = False
    ) -> Runner:
        """What runs these prompts, unedited and edited; see `onedial.models.forward.runner`.

        Args:
            sequences: all prompts of the task, as token ids.
            layers: where the residual stream is kept: the lowest layer of every edit, and those that are to be read.
                -1, below layer 0, has no stream: an edit that goes on from there takes plain hooks.
            at: "last" or "all", where edits act. within: some act on what attention or MLP adds to the stream.
        """
        known = [layer for layer in layers if layer != -1]
        self.check_layers(known)
        longest = max(map(len, sequences), default=0)
        paths = self.fast_paths_for(longest, within)
        if -1 in layers:
            paths = replace(paths, allowed=frozenset())
        return make_runner(self.stack, paths, sequences, known, at, self._cache)

    @contextlib.contextmanager
    def caching_prefills(self) -> Iterator[PrefillCache]:
        """While the context lasts, runners run a batch once and keep it; see `onedial.models.forward.prefill_cache`.

        For a task in several stages that ask the same batches, with the same weights throughout.
        """
        self._cache = PrefillCache()
        try:
            yield self._cache
        finally:
            self._cache = None

    def fast_paths_for(self, longest: int, within: bool = False) -> FastPaths:
        """Which fast paths are right for prompts of which the longest has so many tokens.

        Found out once, and again at each length of the config that prompts cross (a sliding window, a chunk, the
        original context of a stretched rotary embedding); a notice where one of them is not.

        Args:
            within: edits act on what attention and MLP add to the stream; else on the stream alone.

        Raises:
            InputError: prompts at which the model's rotary embedding depends on others (dynamic NTK).
        """
        self.stack.refuse_dynamic_rope(longest)
        crossed = self.stack.crosses(longest)
        if within and not (outside := self.fast_paths_for(longest)).allowed:
            return outside
        if (crossed, within) not in self._paths:
            # Right above one length is not right around another: Llama 4 scales attention in steps of columns.
            proofs = [as_first(check_fast_paths(self.stack, length, within)) for length in crossed or (0,)]
            proofs += [outside] if within else []
            paths = self._paths[crossed, within] = FastPaths(
                frozenset.intersection(*(each.allowed for each in proofs)),
                next((each.reason for each in proofs if each.reason), ""),
                any(each.requires_equal_length for each in proofs),
            )
            where = f" at prompts of more than {max(crossed)} tokens" if crossed else ""
            where = f" where it is steered within a layer{where}" if within else where
            if paths.reason:
                notice(
                    f"{self.identity.name} is run by plain forwards{where}, one for each setting, which is right and "
                    f"slower, since {paths.reason}"
                )
            if paths.requires_equal_length:
                notice(
                    f"{self.identity.name} answers otherwise{where} where shorter prompts stand beside longer ones, so "
                    "that only prompts of one length are run together"
                )
        return self._paths[crossed, within]

    # ---- writing ----------------------------------------------------------------------------------------------------

    def writes_alone(self, longest: int) -> bool:
        """Whether only prompts of one length may be written to together, prompt and text being `longest` at most.

        Of a model that is not right by the fast paths, some tokens after padded prompts are compared once with what it
        says after each alone; a notice where they differ.
        """
        paths = self.fast_paths_for(longest)
        if paths.requires_equal_length or not paths.reason:
            return paths.requires_equal_length
        if self._writes_padded is None:
            self._writes_padded = as_first(pads_rightly(self))
            if not self._writes_padded:
                notice(
                    f"{self.identity.name} writes otherwise where shorter prompts stand beside longer ones, so that "
                    "only prompts of one length are written to together"
                )
        return not self._writes_padded

    @says_how
    def generate(
        self,
        prompts: Text | Texts,
        push: Steering | None = None,
        *,
        max_new_tokens: int = 64,
        temperature: float = 0.0,
        seed: int = 0,
        progress: Progress | bool = True,
        **hf: Any,
    ) -> Any:
        """What the model writes after one prompt, or after each of several.

            model.generate("Do you know the capital of Peru?", vector * 0.3, max_new_tokens=20)

        Args:
            prompts: texts, chats or `Prompt`s; a text is a whole user turn, put into the chat template.
            push: so much of a vector (`vector * 0.3`, see `steering.Push`); None writes unsteered.
            temperature: 0 takes the likeliest token each time; above 0 draws from the whole vocabulary.
            seed: of the draws.
            progress: is told how many texts were finished; True shows it where that takes over two seconds.
            hf: further arguments of Hugging Face's `generate`, such as `top_p` or `repetition_penalty`.

        Returns:
            A text (str) for one prompt, a list of them for a list; without special tokens.

        Raises:
            InputError: a vector without its magnitude, no prompts, one that with its answer exceeds the context, or
                logits that are not finite, as where float16 overflows.
        """
        if push is not None and (not callable(getattr(push, "steer", None)) or hasattr(push, "write")):
            raise InputError(
                f"push is a {type(push).__name__}; say how much of a vector the model is to be steered with, such as "
                "vector * 0.3"
            )
        asked = as_prompts(prompts)
        with shown(progress, len(asked), "texts written") as advance:
            how = Decoding(temperature, seed, hf=hf)
            written = write_after(self, asked, max_new_tokens, how, push=push, progress=advance)
        texts = [each.text for each in written]
        alone = isinstance(prompts, str | Prompt) or isinstance(prompts[0], Mapping)
        return texts[0] if alone else texts

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

    def check_finite(self, numbers: Float[Tensor, "prompt _"]) -> None:
        """Raise InputError unless what was computed of each prompt, unsteered, is finite; see `check_finite`."""
        check_finite(numbers, self.dtype, self.identity.name)

    def check_layers(self, layers: Sequence[Any]) -> None:
        """Raise InputError for what is no number in 0..n_layers-1."""
        self.stack.check_layers(layers)


def check_is_model(given: Any) -> None:
    """Raise InputError for what `load_model` did not return."""
    if not isinstance(given, OpenModel):
        raise InputError(f"{type(given).__name__} stands where the model belongs; give what load_model returns")


def proven(hf: Any, pad_id: int, name: str) -> tuple[Decoder, Readout]:
    """The decoder in the form that a short forward of the model bears out, and how its answers are read.

    Of the forms that are known for its model type the first is taken whose logits are the model's own and whose blocks
    make the step that their parts write, else the first with the right logits.

    Raises:
        InputError: no form gives the model's own logits, none has a stack of layers with a final norm, or logits are
            not finite, as where 16 bits overflow.
    """
    stacks, nearest, unembedding = [], float("inf"), hf.get_output_embeddings()
    forms: list[Family | None] = [
        form for form in forms_for(hf.config.get_text_config().model_type) if form.fits(decoder_of(hf))
    ]
    if not is_split() and any(hasattr(weight, "to_local") for weight in hf.parameters()):
        raise InputError(
            f"the weights of {name} were split over processes by other hands; call "
            "start_processes(tensor_parallel=True) and load it with load_model"
        )
    if unembedding is None:
        raise InputError(f"{name} ({type(hf).__name__}) has no unembedding, so it writes no text; use another model")
    for form in forms or [None]:
        stack = Decoder(hf, pad_id, name, form)
        if unembedding.weight.shape[1] != stack.d_model:
            raise InputError(
                f"the unembedding of {name} reads {unembedding.weight.shape[1]} numbers, but its residual stream has "
                f"{stack.d_model}: something lies between them that onedial does not know; use another model"
            )
        cap = getattr(stack.config, "final_logit_softcapping", None)
        readout = Readout(stack.norm, unembedding, cap, stack.family.logit_scale(stack.config))
        true_logits = stack.tried.logits
        check_finite(true_logits[None], stack.dtype, name)
        with torch.inference_mode():
            read = readout.logits(stack.tried.final, slice(None))[0].to(true_logits.device)
        error = (true_logits - read).abs().max().item()
        if error <= (1e-3 if stack.dtype == torch.float32 else 0.05) * max(true_logits.abs().max().item(), 1.0):
            stacks.append((stack, readout))
            if all(stack.tried.steps):
                return stack, readout
        else:
            nearest = min(nearest, error)
    if stacks:
        return stacks[0]
    raise InputError(
        f"the logits of {name} ({type(hf).__name__}) are not its unembedded final norm, times any number that onedial "
        f"knows of (they differ by {nearest:.3g}), so margins can't be read; declare its form in a plugin "
        "(onedial.models.FAMILIES)"
    )


def check_finite(numbers: Float[Tensor, "prompt _"], dtype: torch.dtype, name: str) -> None:
    """Raise InputError unless what a model computes of each prompt, unsteered, is finite, as where 16 bits overflow.

    Such an answer is not one that can't be read: asking other questions, or in other words, is no remedy.
    """
    n_bad = int((~numbers.isfinite()).any(dim=1).sum())
    if n_bad:
        which = str(dtype).removeprefix("torch.")
        remedy = "its weights are damaged, or hold no numbers; download the model again"
        if dtype != torch.float32:
            remedy = f"choose another dtype, such as {'bfloat16 or ' if dtype == torch.float16 else ''}float32"
        to = f" to {n_bad} of {len(numbers)} prompts, however they are worded" if len(numbers) > 1 else ""
        raise InputError(f"{name} gives no finite logits in {which}{to}; {remedy}")


def _check_same_bits(final: Tensor, name: str) -> None:
    """Raise InputError unless a short forward of a split model came out alike in all processes, to the last bit."""
    if any(not torch.equal(final.cpu(), other) for other in everyone(final.cpu())):
        raise InputError(
            f"the processes that hold {name} together get other last digits from the same forward, as on GPUs of "
            "different kinds, so that they could decide otherwise; start them on GPUs of one kind"
        )


@says_how
def load_model(
    name_or_path: str = DEFAULT_MODEL,
    *,
    revision: str | None = None,
    dtype: str = "auto",
    device: str | None = None,
    device_map: str | None = None,
) -> OpenModel:
    """Load an open-weight model: a built-in name, a hub id, a local folder, or a GGUF file.

    After `start_processes(tensor_parallel=True)` it is split over the processes, all of which load it and ask it alike.
    The first load of a process measures on how many CPU threads it works fastest beside whatever else runs, unless
    `OMP_NUM_THREADS` says so.

    Args:
        revision: branch, tag or commit of a hub id.
        dtype: "auto" is the checkpoint's own on CUDA and float32 on the CPU; else float32, bfloat16 or float16.
        device: "cuda", "cuda:1", "cpu"; by default CUDA where there is one.
        device_map: "auto" spreads a model over several GPUs (accelerate); not together with `device`.

    Raises:
        InputError: no such model, gated, weights only as pickles, unknown dtype or device, or one that can't be split.

    >>> model = load_model("smollm2-135m-instruct")
    >>> type(model).__name__
    'OpenModel'
    """
    from onedial.models.checkpoints.weights import load_weights, resolve_weights

    if dtype not in ("auto", *DTYPES):
        raise InputError(f"dtype {dtype!r} is not known; choose auto, {', '.join(DTYPES)}")
    target = _check_device(device)
    choose_threads_once()
    quiet_libraries()
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
