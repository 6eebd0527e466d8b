"""GGUF files: models that llama.cpp's users quantised, read back into ordinary floating-point weights.

A quantised block stores its weights as w = d * q (+ m): integers q of a few bits, half-precision scales d and m.
transformers multiplies that out in float32, which holds the result exactly; a shorter dtype rounds it.

The file's tokeniser is rebuilt as well. transformers leaves out two things that the original tokenisers do before
their merges, and these are put back: other tokens would be another prompt.
"""

from pathlib import Path
from typing import Any

import torch
from gguf import GGUFReader
from tokenizers import normalizers, pre_tokenizers
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

from common import InputError

MAGIC = b"GGUF"


def check_gguf(path: Path) -> None:
    """Raise InputError unless `path` is a complete GGUF file of a language model."""
    with open(path, "rb") as file:
        magic = file.read(len(MAGIC))
    if magic != MAGIC:
        raise InputError(f"{path} does not begin with the bytes GGUF, so it is no GGUF file; download it again")
    try:
        architecture = _field(GGUFReader(path), "general.architecture")
    except (ValueError, IndexError, KeyError) as error:
        raise InputError(f"{path} is a damaged or truncated GGUF file ({error}); download it again") from error
    if architecture is None:
        raise InputError(f"{path} names no architecture, so it holds no language model; give a model's GGUF file")


def load_gguf(
    path: Path,
    dtype: torch.dtype,
    device_map: str | dict[str, Any] | None = None,
    attn_implementation: str | None = "sdpa",
) -> tuple[Any, Any]:
    """De-quantise a GGUF file.

    Returns:
        The Hugging Face model in eval mode and its tokeniser.

    Raises:
        ValueError, NotImplementedError: transformers does not read this architecture or this quantisation.
    """
    model = AutoModelForCausalLM.from_pretrained(
        path.parent,
        gguf_file=path.name,
        quantization_config=GgufConfig(dequantize=True),
        dtype=dtype,
        device_map=device_map,
        attn_implementation=attn_implementation,
    )
    model.config.architectures = [type(model).__name__]
    tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    _restore_splitting(tokenizer, _field(GGUFReader(path), "tokenizer.ggml.pre"))
    return model.eval(), tokenizer


def convert_gguf(path: Path, folder: Path, dtype: torch.dtype) -> None:
    """Write a GGUF file's weights, as `dtype`, with config and tokeniser into `folder`: safetensors and JSON."""
    model, tokenizer = load_gguf(path, dtype)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    for file in folder.iterdir():  # safetensors makes its files private; they shall be as readable as the folder
        file.chmod(folder.stat().st_mode & 0o666)


def _restore_splitting(tokenizer: Any, kind: str | None) -> None:
    backend = tokenizer.backend_tokenizer
    if kind == "smollm":  # cuts out every digit first, so that "  7" is a double space and a 7, not two spaces and a 7
        backend.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        )
    elif kind == "qwen2":
        backend.normalizer = normalizers.NFC()


def _field(reader: GGUFReader, name: str) -> str | None:
    field = reader.get_field(name)
    return None if field is None else field.contents()
