"""Check that a folder can be read as a model. Only safetensors count as weights: a pickle can run code when opened."""

import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from transformers import AutoModelForCausalLM, AutoModelForImageTextToText
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
)

from onedial.core.errors import InputError
from onedial.core.files import json_value

SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
SHARDS = "model-*-of-*.safetensors"
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")
ADAPTER = "adapter_config.json"
PROCESSOR_FILES = ("chat_template.json", "processor_config.json", "preprocessor_config.json")
TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model", "tekken.json")


def check_folder(folder: Path, *, classifies: bool = False) -> None:
    """Raise InputError unless the folder holds a causal language model: config, tokeniser, whole safetensors.

    Every header is read and compared with its file's length; the weights themselves are not.

    Args:
        classifies: a model that classifies texts is wanted instead.
    """
    _check_config(folder, classifies)
    for file in _weight_files(folder):
        _check_safetensors(file)
    if not any((folder / name).is_file() for name in TOKENIZER_FILES):
        raise InputError(
            f"{folder} has no tokeniser ({', '.join(TOKENIZER_FILES[:3])}); "
            "copy the tokeniser's files of the original model into it"
        )
    for name in ("tokenizer.json", "tokenizer_config.json"):
        if (folder / name).is_file():
            _read_json(folder / name)


def is_whole(folder: Path, *, classifies: bool = False) -> bool:
    """Whether `check_folder` has nothing to object to."""
    try:
        check_folder(folder, classifies=classifies)
    except InputError:
        return False
    return True


def auto_class(model_type: str | None) -> Any:
    """The class of transformers that loads a model of this type, which may read pictures too; None where none does.

    >>> auto_class("mistral3").__name__
    'AutoModelForImageTextToText'
    """
    if model_type in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        return AutoModelForCausalLM
    return AutoModelForImageTextToText if model_type in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES else None


def attention_for(config: Any) -> str:
    """The attention to ask for: sdpa, but eager where sdpa leaves something out or transformers refuses it.

    Gemma 2 caps its attention logits; gpt-oss lets attention go to a sink.
    """
    capped = getattr(config.get_text_config(), "attn_logit_softcapping", None) is not None
    known = auto_class(config.model_type)
    model = None if known is None else known._model_mapping.get(type(config), None)
    return "eager" if capped or not getattr(model, "_supports_sdpa", True) else "sdpa"


def declared_tokenizer_class(folder: Path) -> str | None:
    """The class that tokenizer_config.json names."""
    path = folder / "tokenizer_config.json"
    return _read_json(path).get("tokenizer_class") if path.is_file() else None


def processor_template(folder: Path) -> Any:
    """The chat template of a processor, of which older checkpoints that read pictures keep none beside the tokeniser.

    Raises:
        InputError: its file is no JSON.
    """
    files = [folder / name for name in PROCESSOR_FILES]
    templates = (_read_json(file).get("chat_template") for file in files if file.is_file())
    return next((template for template in templates if template), None)


def check_no_adapter(folder: Path) -> None:
    """Raise InputError where an adapter lies beside a whole model's weights: was it merged into them, or is it to be?

    transformers adds it where peft is installed, and leaves it out where it is not.
    """
    if (folder / ADAPTER).is_file():
        raise InputError(
            f"{folder} holds a model's weights and an adapter beside them ({ADAPTER}), and does not say whether it was "
            f"merged into them; where it was, take {ADAPTER} out of the folder, else merge it (merge_and_unload) and "
            "save that in a folder of its own"
        )


def _check_config(folder: Path, classifies: bool) -> None:
    path = folder / "config.json"
    if not path.is_file():
        raise InputError(f"{folder} has no config.json, {_what_it_is_instead(folder)}")
    config = _read_json(path)
    kind = config.get("model_type")
    if (kind in MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES) if classifies else (auto_class(kind) is not None):
        return
    if "auto_map" in config:
        raise InputError(
            f"{folder} brings code of its own (model_type {kind!r}), which is never run; use a stock model"
        )
    wanted, instead = (
        ("model that classifies texts", "DeBERTa, RoBERTa or BERT")
        if classifies
        else ("causal language model", "Llama, Mistral, Qwen or Gemma")
    )
    raise InputError(
        f"{path} names model_type {kind!r}, which this version of transformers has no {wanted} for; use a {instead} "
        "model"
    )


def _what_it_is_instead(folder: Path) -> str:
    if (folder / ADAPTER).is_file():
        return "only an adapter's; merge the adapter into its model (merge_and_unload) and save that"
    ggufs = sorted(folder.glob("*.gguf"))
    if ggufs:
        return f"but a GGUF file; give the file itself: {ggufs[0]}"
    return "so it holds no model; give the folder that save_pretrained wrote"


def _weight_files(folder: Path) -> list[Path]:
    single = [folder / SINGLE] if (folder / SINGLE).is_file() else []
    if not (folder / INDEX).is_file():
        if not single:
            raise InputError(_no_safetensors(folder))
        return single
    shards = _read_json(folder / INDEX).get("weight_map")
    if not isinstance(shards, dict) or not shards:
        raise InputError(f"{folder / INDEX} lists no weights; download the model again")
    names = sorted({str(name) for name in shards.values()})
    here = [name for name in names if (folder / name).is_file()]
    if single and not here:  # an index that was left behind
        return single
    if stray := sorted({file.name for file in (*single, *folder.glob(SHARDS))} - set(names)):
        raise InputError(
            f"{folder} holds two sets of weights, {stray[0]} and what {INDEX} names ({names[0]} first); take those "
            "that are not the model's out of the folder"
        )
    missing = [name for name in names if name not in here]
    if missing:
        raise InputError(
            f"{folder} lacks {len(missing)} of {len(names)} weight files ({missing[0]} first); download the model again"
        )
    return [folder / name for name in names]


def _no_safetensors(folder: Path) -> str:
    pickles = sorted(file.name for pattern in PICKLES for file in folder.glob(pattern))
    if not pickles and (folder / ADAPTER).is_file():
        return f"{folder} holds no weights but {_what_it_is_instead(folder)}"
    if not pickles:
        return f"{folder} has no {SINGLE} and no {INDEX}; give a folder that holds the weights as safetensors"
    return (
        f"{folder} holds its weights as a pickle ({pickles[0]}), which can run code when it is read; if you trust it, "
        "convert it once with from_pretrained(folder).save_pretrained(new_folder) of its class in transformers"
    )


def _check_safetensors(file: Path) -> None:
    try:
        with safe_open(file, framework="pt") as tensors:
            if not tensors.keys():
                raise InputError(f"{file} holds no tensors; download the model again")
    except SafetensorError as error:
        raise InputError(f"{file} is damaged or truncated ({error}); download the model again") from error


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json_value(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid JSON ({error}); download the model again") from error
    if not isinstance(value, dict):
        raise InputError(f"{path} holds no JSON object; download the model again")
    return value
