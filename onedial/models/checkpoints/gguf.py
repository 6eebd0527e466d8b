"""Read GGUF files, models that llama.cpp's users quantised, back into ordinary floating-point weights.

A quantised block stores its weights as w = d * q (+ m): integers q of a few bits, half-precision scales d and m.
transformers multiplies that out in float32, which holds the result exactly; a shorter dtype rounds it.

The file's tokeniser is rebuilt as well. transformers leaves out two things that the original tokenisers do before
their merges, and these are put back: other tokens would be another prompt.
"""

import contextlib
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from tokenizers import normalizers, pre_tokenizers
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, GgufConfig

from onedial.core.errors import InputError
from onedial.models.checkpoints.fit import check_fit
from onedial.models.checkpoints.folders import attention_for

if TYPE_CHECKING:
    from gguf import GGUFReader, ReaderField

MAGIC = b"GGUF"


def check_gguf(path: Path) -> None:
    """Raise InputError unless `path` begins as a GGUF file does; `load_gguf` finds what else may be wrong."""
    with open(path, "rb") as file:
        magic = file.read(len(MAGIC))
    if magic != MAGIC:
        raise InputError(f"{path} does not begin with the bytes GGUF, so it is no GGUF file; download it again")


def load_gguf(path: Path, dtype: torch.dtype, device_map: str | dict[str, Any] | None = None) -> tuple[Any, Any]:
    """De-quantise a GGUF file.

    Returns:
        The Hugging Face model in eval mode and its tokeniser.

    Raises:
        InputError: the file is damaged or truncated, or its weights do not fit what it says of them.
        ValueError, NotImplementedError: transformers does not read this architecture or this quantisation.
    """
    config, tokenizer = load_gguf_config(path)
    with _no_bar_in_a_log():
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            path.parent,
            gguf_file=path.name,
            config=config,
            quantization_config=GgufConfig(dequantize=True),
            dtype=dtype,
            device_map=device_map,
            attn_implementation=attention_for(config),
            output_loading_info=True,
            ignore_mismatched_sizes=True,
        )
    model, report = loaded
    check_fit(model, report, path)
    model.config.architectures = [type(model).__name__]
    return model.eval(), tokenizer


def load_gguf_config(path: Path) -> tuple[Any, Any]:
    """The config and the tokeniser of a GGUF file, without its weights; raises as `load_gguf`."""
    header = _read_header(path)
    config = AutoConfig.from_pretrained(path.parent, gguf_file=path.name)
    tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    _restore_splitting(tokenizer, header.get_field("tokenizer.ggml.pre"))
    return config, tokenizer


def convert_gguf(path: Path, folder: Path, dtype: torch.dtype) -> None:
    """Write a GGUF file's weights, as `dtype`, with config and tokeniser into `folder`: safetensors and JSON."""
    model, tokenizer = load_gguf(path, dtype)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    for file in folder.iterdir():  # safetensors makes its files private; they shall be as readable as the folder
        file.chmod(folder.stat().st_mode & 0o666)


@contextlib.contextmanager
def _no_bar_in_a_log() -> Iterator[None]:
    """transformers draws the bar of its de-quantisation into files too, a line for every step."""
    aside = contextlib.nullcontext() if sys.stderr.isatty() else contextlib.redirect_stderr(io.StringIO())
    with aside:
        yield


def _read_header(path: Path) -> "GGUFReader":
    from gguf import GGUFReader

    try:
        header = GGUFReader(path)
    except (ValueError, IndexError, KeyError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is a damaged or truncated GGUF file ({error}); download it again") from error
    if header.get_field("general.architecture") is None or not header.tensors:
        raise InputError(f"{path} holds no language model (no architecture or no weights); give a model's GGUF file")
    return header


def _restore_splitting(tokenizer: Any, kind: "ReaderField | None") -> None:
    backend = tokenizer.backend_tokenizer
    name = None if kind is None else kind.contents()
    if name == "smollm":  # cuts out every digit first, so that "  7" is a double space and a 7, not two spaces and a 7
        backend.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        )
    elif name == "qwen2":
        backend.normalizer = normalizers.NFC()
