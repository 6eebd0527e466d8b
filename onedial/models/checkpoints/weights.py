"""Find a model's weights and read them: safetensors and GGUF only, never a pickle, never code.

A name is, in this order: the embedded model's, a path, a hub id.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import torch
import transformers
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from tokenizers import Regex, pre_tokenizers
from transformers import AutoConfig, AutoTokenizer, PreTrainedTokenizerFast

from onedial.core.errors import InputError
from onedial.core.files import sha256_of_file
from onedial.core.notices import notice
from onedial.core.pulse import at_work
from onedial.models.checkpoints.embedded import EMBEDDED, LICENCE, SHA256, SOURCE, ensure_embedded
from onedial.models.checkpoints.fit import check_fit
from onedial.models.checkpoints.folders import (
    attention_for,
    auto_class,
    check_folder,
    check_no_adapter,
    declared_tokenizer_class,
    processor_template,
)
from onedial.models.checkpoints.gguf import check_gguf, load_gguf, load_gguf_config
from onedial.models.checkpoints.hub import cached_folder, hub_commit, hub_folder
from onedial.models.checkpoints.split import split_config
from onedial.models.processes import everyone, is_split

_CONVERTED_WITH = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
_TEKKEN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""Where Mistral's Tekken ends a word, and where transformers' conversion of it did for long
(huggingface/transformers#42131)."""
GENERIC_TOKENIZERS = ("TokenizersBackend", "PreTrainedTokenizerFast")
DEVICE_MAPS = ("auto", "balanced", "balanced_low_0", "sequential")


@dataclass(frozen=True)
class WeightsLocation:
    """One model's weights, found but not yet read.

    Attributes:
        kind: "folder" (safetensors), "gguf" (one file) or "hub".
        path: the folder, the file, or the hub id.
        source: where the weights come from, in words for people and manifests.
        licence: short name, where known; the model card says it for hub models.
        sha256: of the GGUF file that the weights are, or were converted from.
        commit: of a hub model.
    """

    kind: Literal["folder", "gguf", "hub"]
    path: str
    source: str
    licence: str | None = None
    sha256: str | None = None
    commit: str | None = None


def resolve_weights(name_or_path: str, revision: str | None = None) -> WeightsLocation:
    """Find the weights that `name_or_path` stands for, and check what can be checked without reading them.

    The embedded model is fetched and converted here where the cache has it not; a hub model is only looked up.

    Args:
        name_or_path: the embedded model's name, a folder, GGUF file, or hub id.
        revision: branch, tag or commit; only for hub ids.

    Raises:
        InputError: no such model, gated, no network, weights only as pickles, damaged files.
    """
    if name_or_path.lower() == EMBEDDED:
        _refuse_revision(revision, name_or_path)
        return WeightsLocation("folder", str(ensure_embedded()), SOURCE, LICENCE, SHA256)
    path = Path(name_or_path).expanduser()
    if path.exists() or _is_clearly_a_path(name_or_path):
        _refuse_revision(revision, name_or_path)
        return _from_path(path)
    commit = hub_commit(name_or_path, revision)
    return WeightsLocation("hub", name_or_path, f"Hugging Face hub {name_or_path}", commit=commit)


def weights_are_here(location: WeightsLocation) -> bool:
    """Whether the weights can be read without a download."""
    return location.kind != "hub" or cached_folder(location.path, location.commit) is not None


def load_config(location: WeightsLocation) -> tuple[Any, Any]:
    """The Hugging Face config and tokeniser, without the weights.

    Raises:
        InputError: as `load_weights`.
    """
    folder = Path(location.path)
    if location.kind == "hub":
        assert location.commit is not None
        folder = hub_folder(location.path, location.commit, weights=False)
    with _explained(location):
        if location.kind == "gguf":
            return load_gguf_config(folder)
        return AutoConfig.from_pretrained(folder, trust_remote_code=False), _load_tokenizer(folder)


def load_weights(
    location: WeightsLocation,
    dtype: torch.dtype | str,
    device: torch.device | str | None = None,
    device_map: str | None = None,
) -> tuple[Any, Any, dict[str, Any]]:
    """Read the weights.

    Args:
        dtype: of the loaded model; the word "auto" keeps the checkpoint's (float32 for a GGUF file).
        device: where the whole model goes; the CPU by default.
        device_map: "auto" and its kin spread the model over several devices (accelerate); then `device` is not used.

    Returns:
        The Hugging Face model in eval mode, its tokeniser, and the provenance: source, revision (commit or checksum),
        licence, sha256, commit, model_type, dtype, attention, versions.

    Raises:
        InputError: the checkpoint lacks weights, is damaged, does not fit the device, or transformers cannot read it.
    """
    if device_map is not None and device_map not in DEVICE_MAPS:
        raise InputError(f"device map {device_map!r} is not known; choose {', '.join(DEVICE_MAPS)}")
    if location.kind == "hub":
        assert location.commit is not None
        folder = hub_folder(location.path, location.commit)
        check_folder(folder)
        check_no_adapter(folder)
    else:
        folder = Path(location.path)
    if is_split() and location.kind == "gguf":
        raise InputError(f"{location.path} is a GGUF file, and --tensor-parallel splits safetensors; leave it out")
    placement = device_map or (None if device is None or torch.device(device).type == "cpu" else {"": device})
    with _explained(location, device_map or device), at_work(f"reading the weights of {location.path}", after=2):
        if location.kind == "gguf":
            exact = dtype if isinstance(dtype, torch.dtype) else torch.float32
            model, tokenizer = load_gguf(folder, exact, placement)
        else:
            model, tokenizer = _load_folder(folder, dtype, placement)
    return model, tokenizer, _provenance(location, model)


@contextmanager
def _explained(location: WeightsLocation, place: Any = None) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except torch.OutOfMemoryError as error:
        raise InputError(
            f"{location.path} does not fit into the memory of {place}; "
            "take dtype bfloat16, spread it over GPUs (device map auto), or take a smaller model"
        ) from error
    except (SafetensorError, StrictDataclassError, ValueError, RuntimeError, ImportError, OSError) as error:
        reason = str(error).strip().split("\n")[0]
        raise InputError(f"transformers cannot read {location.path}: {reason}") from error


def _load_folder(folder: Path, dtype: torch.dtype | str, placement: Any) -> tuple[Any, Any]:
    config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
    _forget_padding_without_embedding(config.get_text_config())
    spread: dict[str, Any] = {"device_map": placement}
    if is_split():  # transformers takes the launcher's devices
        spread = {"distributed_config": split_config(config, folder.name, len(everyone(folder)))}
    loaded: Any = auto_class(config.model_type).from_pretrained(
        folder,
        config=config,
        dtype=dtype,
        **spread,
        use_safetensors=True,
        trust_remote_code=False,
        attn_implementation=attention_for(config),
        output_loading_info=True,
        ignore_mismatched_sizes=True,  # they are refused by name
    )
    model, report = loaded
    check_fit(model, report, folder)
    return model.eval(), _load_tokenizer(folder)


def _forget_padding_without_embedding(config: Any) -> None:
    """Where a config names a padding token that it has no embedding for, torch makes none; padding is masked."""
    token = getattr(config, "pad_token_id", None)
    if token is not None and not 0 <= token < config.vocab_size:
        config.pad_token_id = None


def _load_tokenizer(folder: Path) -> Any:
    """The tokeniser as the folder states it, with the chat template that may lie beside it.

    AutoTokenizer puts a model type's own class over a tokenizer.json that names no particular one (for qwen2), and
    Mistral's package, where installed, over the file that the model came with; both would change the token ids.
    """
    if (folder / "tokenizer.json").is_file() and declared_tokenizer_class(folder) in GENERIC_TOKENIZERS:
        tokenizer: Any = PreTrainedTokenizerFast.from_pretrained(folder)
    else:
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, mistral_format=False)
    tokenizer.chat_template = tokenizer.chat_template or processor_template(folder)
    _restore_tekken(tokenizer, folder)
    return tokenizer


def _restore_tekken(tokenizer: Any, folder: Path) -> None:
    """Let a converted Tekken end words where Mistral's models were trained to."""
    parts = getattr(getattr(tokenizer, "backend_tokenizer", None), "pre_tokenizer", None)
    if not isinstance(parts, pre_tokenizers.Sequence) or "[INST]" not in tokenizer.get_added_vocab():
        return
    first = json.loads(parts.__getstate__())["pretokenizers"][0]
    if first.get("pattern", {}).get("Regex") == _CONVERTED_WITH:
        parts[0] = pre_tokenizers.Split(Regex(_TEKKEN), behavior="isolated")
        notice(f"{folder}: its tokeniser was converted with a pattern that is not Tekken's; Tekken's own is used")


def _from_path(path: Path) -> WeightsLocation:
    if path.is_dir():
        check_folder(path)
        check_no_adapter(path)
        return WeightsLocation(kind="folder", path=str(path.resolve()), source=f"local folder {path.resolve()}")
    if not path.exists():
        raise InputError(f"{path} does not exist; give a folder with config.json and safetensors, or a GGUF file")
    if path.suffix.lower() != ".gguf":
        raise InputError(f"{path} is a file but no GGUF file; give a .gguf file or the folder that holds the model")
    check_gguf(path)
    source = f"local GGUF file {path.resolve()}"
    return WeightsLocation(kind="gguf", path=str(path.resolve()), source=source, sha256=sha256_of_file(path))


def _is_clearly_a_path(name: str) -> bool:
    return name.startswith(("/", ".", "~")) or name.count("/") > 1 or name.lower().endswith(".gguf")


def _refuse_revision(revision: str | None, name: str) -> None:
    if revision is not None:
        raise InputError(f"--revision {revision} was given, but {name} is no hub id; leave --revision out")


def _provenance(location: WeightsLocation, model: Any) -> dict[str, Any]:
    return {
        **asdict(location),
        "revision": location.commit or (f"sha256:{location.sha256}" if location.sha256 else None),
        "model_type": model.config.model_type,
        "dtype": str(model.dtype).removeprefix("torch."),
        "attention": model.config.get_text_config()._attn_implementation,
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
    }
